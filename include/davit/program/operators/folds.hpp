// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/program/operators/bounds.hpp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/quantization.hpp"

/// Patterns in which a node can become part of its neighbour, for any backend. O(1) each, given the uses of a graph's
/// values.
namespace davit::operators {

/// A graph of calls: a program's (ProgramCalls), or a static program's (EmbedGraph).
/// - `call(node)`: its arguments.
/// - `foldable_producer(value)`: the producer, if the caller may fold it into another node; else no_id.
/// - `is_single(value)`: true if the value has exactly one use.
template <class G>
concept CallGraph = requires(const G& g, NodeId n, ValueId v) {
  requires CallArguments<std::remove_cvref_t<decltype(g.call(n))>>;
  { g.foldable_producer(v) } -> std::same_as<NodeId>;
  { g.is_single(v) } -> std::same_as<bool>;
};

/// Returns the foldable producer of a value with a single use, if the value is its first output; else no_id. An element
/// of a list, as split has it, is no output of its own.
template <CallGraph G>
[[nodiscard]] constexpr NodeId inner_producer(const G& g, ValueId v) noexcept {
  const NodeId n = v != no_id && g.is_single(v) ? g.foldable_producer(v) : no_id;
  return n != no_id && g.call(n).output() == v ? n : no_id;
}

/// Reads a zero padding of the spatial dimensions that the convolution of `v` can absorb, if `v` has no other use.
template <CallGraph G>
[[nodiscard]] constexpr bool read_inner_padding(const G& g, ValueId v, PadView& view) noexcept {
  const NodeId n = inner_producer(g, v);
  if (n == no_id || read_pad(g.call(n), view) || view.value != 0 || view.rank < 3) return false;
  for (std::size_t d = 0; d < view.rank; ++d)
    if (view.before[d] < 0 || view.after[d] < 0 || (d < 2 && (view.before[d] != 0 || view.after[d] != 0))) return false;
  return true;
}

/// Skips relu, clamp and the like backwards from `v`, the input of a quantize: at most `most` nodes with a single use,
/// whose bounds narrow the quantize's low and high. Returns the value before them.
template <CallGraph G>
[[nodiscard]] constexpr ValueId through_bounds(const G& g, ValueId v, QuantizationView& quantize,
                                               std::uint32_t most) noexcept {
  for (; most > 0; --most) {
    const NodeId n = inner_producer(g, v);
    ClampView bounds;
    if (n == no_id || read_clamp(g.call(n), bounds) || !narrow(quantize, bounds)) break;
    v = bounds.input;
  }
  return v;
}

/// Reads the per-tensor dequantize that produces `v`, past operators that keep the order of elements if
/// `through_views`. Read sizes from `v`.
template <CallGraph G>
[[nodiscard]] constexpr bool read_dequantized(const G& g, ValueId v, bool through_views,
                                              QuantizationView& view) noexcept {
  while (v != no_id) {
    const NodeId n = g.foldable_producer(v);
    if (n == no_id) return false;
    const auto call = g.call(n);
    if (!read_quantization(call, view)) return !view.quantizes && view.scales == no_id;
    if (!through_views) return false;
    v = read_same_elements(call);
  }
  return false;
}

/// Reads the dequantize that produces the weights `v` of a product, per tensor or per channel of dimension 0; if
/// `transposed`, past the transposition of the matrix.
template <CallGraph G>
[[nodiscard]] constexpr bool read_weights(const G& g, ValueId v, bool transposed, QuantizationView& view) noexcept {
  if (transposed) {
    const NodeId n = v == no_id ? no_id : g.foldable_producer(v);
    PermutationView moved;
    if (n == no_id || read_permutation(g.call(n), moved) || moved.rank != 2 || moved.from[0] != 1) return false;
    v = moved.input;
  }
  const NodeId n = v == no_id ? no_id : g.foldable_producer(v);
  return n != no_id && !read_quantization(g.call(n), view) && !view.quantizes && view.axis == 0 &&
         (view.scales == no_id || view.per_channel);
}

}  // namespace davit::operators
