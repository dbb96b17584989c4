// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "davit/backend/embed_contract.hpp"
#include "davit/backends/portable/int8/elementwise.hpp"
#include "davit/backends/portable/int8/fold_requantize.hpp"
#include "davit/program/operators/binary.hpp"
#include "davit/program/operators/movement.hpp"

namespace davit::int8_fold {

struct int8_rescale {
  using Params = int8_kernels::Rescale;
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, const T* x) noexcept {
    int8_kernels::rescale(x, y, p);
  }
};
struct int8_copy {
  using Params = int8_kernels::Blocks;
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, const T* x) noexcept {
    int8_kernels::copy_blocks(x, y, p);
  }
};
struct int8_permute {
  using Params = int8_kernels::Permute;
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, const T* x) noexcept {
    int8_kernels::permute(x, y, p);
  }
};
struct int8_add {
  using Params = int8_kernels::Add;
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, const T* a, const T* b) noexcept {
    int8_kernels::add(a, b, y, p);
  }
};
struct int8_mul {
  using Params = int8_kernels::Mul;
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, const T* a, const T* b) noexcept {
    int8_kernels::mul(a, b, y, p);
  }
};
struct int8_lookup {
  struct Params {
    std::int32_t count;
  };
  template <class T>
  [[gnu::always_inline]] static constexpr void run(const Params& p, T* y, const T* x,
                                                   const std::int8_t* table) noexcept {
    int8_kernels::lookup(x, table, y, p.count);
  }
};

using int8_elementwise_kernels = kernel_list<int8_rescale, int8_copy, int8_permute, int8_add, int8_mul, int8_lookup>;

namespace detail {

/// Finds the rescaling of bytes of `in` to bytes of `out`. False if the scales are too far apart.
[[nodiscard]] constexpr bool find_rescale(const Quantized& in, const Quantized& out,
                                          int8_kernels::Rescale& p) noexcept {
  if (in.dtype != out.dtype || !(out.scale > 0)) return false;
  const int8_kernels::Multiplier m = int8_kernels::multiplier_of(in.scale / out.scale, 22);
  if (m.shift < 0) return false;
  p.multiplier = m.multiplier;
  p.shift = m.shift;
  p.input_zero_point = in.zero_point;
  p.output_zero_point = out.zero_point;
  p.low = out.low;
  p.high = out.high;
  return true;
}
[[nodiscard]] constexpr bool is_copy(const Quantized& in, const Quantized& out) noexcept {
  return in.same_numbers(out) && out.low <= in.low && out.high >= in.high;
}

/// The operands of a binary operator: of one size, or one of them a single element.
struct Operands {
  Quantized a, b;
  std::int32_t a_step = 1, b_step = 1;
  bool good = false;
};
[[nodiscard]] constexpr Operands operands_of(const EmbedNode& n, const operators::BinaryView& v,
                                             const Quantized& out) noexcept {
  const EmbedGraph& g = n.g;
  const ValueId a = v.left, b = v.right;
  Operands o{source_of(g, a), source_of(g, b)};
  if (!o.a.found() || !o.b.found() || o.a.dtype != out.dtype || o.b.dtype != out.dtype || !(out.scale > 0)) return o;
  const ValueId y = n.output();
  o.a_step = g.same_sizes(a, y) ? 1 : 0;
  o.b_step = g.same_sizes(b, y) ? 1 : 0;
  o.good = (o.a_step == 1 || g.numel(a) == 1) && (o.b_step == 1 || g.numel(b) == 1);
  return o;
}

constexpr void write_operands(StepOperands step, const Quantized& out, const Operands& o) {
  step.out(out.value).in(o.a.value).in(o.b.value);
  if (o.a_step == 1) step.overwrites(o.a.value);
  if (o.b_step == 1) step.overwrites(o.b.value);
}
[[nodiscard]] constexpr bool fold_add(const EmbedNode& n, const Quantized& out, const Operands& o, StepWriter& steps) {
  const double a = o.a.scale / out.scale;
  const double b = o.b.scale / out.scale;
  const double largest = a > b ? a : b;
  std::int32_t shift = 23;
  while (shift > 0 && largest * int8_kernels::power_of_two(shift) >= 2097152.0) --shift;
  if (shift < 8 || !(a > 0) || !(b > 0)) return false;
  const double unit = int8_kernels::power_of_two(shift);
  int8_kernels::Add p{
      .count = static_cast<std::int32_t>(n.g.numel(n.output())), .a_step = o.a_step, .b_step = o.b_step};
  p.a_multiplier = static_cast<std::int32_t>(int8_kernels::nearest_even(a * unit));
  p.b_multiplier = static_cast<std::int32_t>(int8_kernels::nearest_even(b * unit));
  const std::int64_t initial = (std::int64_t{out.zero_point} << shift) + (std::int64_t{1} << (shift - 1)) -
                               std::int64_t{o.a.zero_point} * p.a_multiplier -
                               std::int64_t{o.b.zero_point} * p.b_multiplier;
  const std::int64_t reach = std::int64_t{128} * (p.a_multiplier + p.b_multiplier);
  if (initial + reach > 2147483647 || initial - reach < -2147483647) return false;
  p.initial = static_cast<std::int32_t>(initial);
  p.shift = shift;
  p.low = out.low;
  p.high = out.high;
  write_operands(steps.step<int8_add>(p), out, o);
  return true;
}

[[nodiscard]] constexpr bool fold_mul(const EmbedNode& n, const Quantized& out, const Operands& o, StepWriter& steps) {
  const int8_kernels::Multiplier m = int8_kernels::multiplier_of(o.a.scale * o.b.scale / out.scale, 14);
  if (m.shift < 0) return false;
  const int8_kernels::Mul p{.count = static_cast<std::int32_t>(n.g.numel(n.output())),
                            .a_step = o.a_step,
                            .b_step = o.b_step,
                            .a_zero_point = o.a.zero_point,
                            .b_zero_point = o.b.zero_point,
                            .output_zero_point = out.zero_point,
                            .multiplier = m.multiplier,
                            .shift = m.shift,
                            .low = out.low,
                            .high = out.high};
  write_operands(steps.step<int8_mul>(p), out, o);
  return true;
}

enum class Unary : std::uint8_t { unknown, sigmoid, tanh, silu, hardsigmoid, hardswish, neg, abs };

/// The function of one number that the node computes.
[[nodiscard]] constexpr Unary unary_of(const EmbedNode& n) noexcept {
  constexpr const char* targets[]{"aten.sigmoid.default",     "aten.tanh.default",      "aten.silu.default",
                                  "aten.hardsigmoid.default", "aten.hardswish.default", "aten.neg.default",
                                  "aten.abs.default"};
  std::uint8_t function = 0;
  for (const char* target : targets) {
    ++function;
    if (n.is(target)) return static_cast<Unary>(function);
  }
  return Unary::unknown;
}
[[nodiscard]] constexpr double unary(Unary function, double x) noexcept {
  const auto sigmoid = [](double v) { return v < -60 ? 0.0 : v > 60 ? 1.0 : 1 / (1 + int8_kernels::exponential(-v)); };
  const auto clip = [](double v) { return v < 0 ? 0.0 : v > 6 ? 1.0 : v / 6; };
  switch (function) {
    case Unary::sigmoid: return sigmoid(x);
    case Unary::tanh: return 2 * sigmoid(2 * x) - 1;
    case Unary::silu: return x * sigmoid(x);
    case Unary::hardsigmoid: return clip(x + 3);
    case Unary::hardswish: return x * clip(x + 3);
    case Unary::neg: return -x;
    case Unary::abs: return x < 0 ? -x : x;
    case Unary::unknown: break;
  }
  return 0;
}

}  // namespace detail

/// dequantize -> add or mul -> [bounds] -> quantize.
[[nodiscard]] constexpr bool fold_binary(const EmbedNode& n, const Quantized& out, StepWriter& steps) {
  operators::BinaryView v;
  if (operators::read_binary(n, v) || v.alpha != 1) return false;
  const bool adds = v.function == operators::BinaryFunction::add;
  if (!adds && v.function != operators::BinaryFunction::multiply) return false;
  const detail::Operands o = detail::operands_of(n, v, out);
  if (!o.good) return false;
  return adds ? detail::fold_add(n, out, o, steps) : detail::fold_mul(n, out, o, steps);
}

/// dequantize -> sigmoid, tanh and the like -> [bounds] -> quantize, by a table of 256 bytes of the float operators'
/// results.
[[nodiscard]] constexpr bool fold_unary(const EmbedNode& n, const Quantized& out, StepWriter& steps) {
  const detail::Unary function = detail::unary_of(n);
  if (function == detail::Unary::unknown || !(out.scale > 0)) return false;
  const Quantized in = source_of(n.g, n.value("self"));
  if (!in.found() || in.dtype != out.dtype || !(in.scale < 1e30)) return false;
  const std::int32_t flip = flip_of(in.dtype);
  std::array<std::int8_t, 256> table{};
  for (std::int32_t i = 0; i < 256; ++i) {
    const std::int32_t byte = flip != 0 ? i - 128 : i < 128 ? i : i - 256;
    const std::int32_t result = out.byte_of(detail::unary(function, double{in.number_of(byte)}));
    table[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(result ^ (flip != 0 ? -128 : 0));
  }
  steps.step<int8_lookup>({static_cast<std::int32_t>(n.g.numel(n.output()))})
      .out(out.value)
      .in(in.value)
      .table(std::span<const std::int8_t>(table))
      .overwrites(in.value);
  return true;
}

/// dequantize -> [views, bounds] -> quantize: nothing, or a rescaling.
[[nodiscard]] constexpr bool fold_copy(const EmbedGraph& g, ValueId v, const Quantized& out, StepWriter& steps) {
  const Quantized in = source_of(g, v);
  if (!in.found()) return false;
  if (detail::is_copy(in, out)) {
    steps.alias(out.value, in.value);
    return true;
  }
  const auto count = static_cast<std::int32_t>(g.numel(v));
  int8_kernels::Rescale p{.blocks = {.block = count}};
  if (!detail::find_rescale(in, out, p)) return false;
  steps.step<int8_rescale>(p).out(out.value).in(in.value).overwrites(in.value);
  return true;
}

/// dequantize (each) -> cat -> [bounds] -> quantize: every part is copied or rescaled into the result.
[[nodiscard]] constexpr bool fold_cat(const EmbedNode& n, const Quantized& out, StepWriter& steps) {
  const EmbedGraph& g = n.g;
  const ValueId y = n.output();
  const std::int64_t rank = g.rank(y);
  std::size_t axis = 0;
  if (operators::read_cat(n, g.rank(y), axis)) return false;
  const auto dim = static_cast<std::int64_t>(axis);
  int8_kernels::Blocks blocks;
  std::int64_t inner = 1;
  for (std::int64_t d = 0; d < rank; ++d) {
    if (d < dim) blocks.count *= static_cast<std::int32_t>(g.size(y, d));
    if (d > dim) inner *= g.size(y, d);
  }
  blocks.stride = static_cast<std::int32_t>(inner * g.size(y, dim));
  int8_kernels::Rescale p;
  for (const StaticArgument& a : n.items("tensors")) {
    const Quantized in = a.is_value() ? source_of(g, a.value()) : Quantized{};
    if (!in.found() || g.rank(a.value()) != rank || (!detail::is_copy(in, out) && !detail::find_rescale(in, out, p)))
      return false;
  }
  for (const StaticArgument& a : n.items("tensors")) {
    const Quantized in = source_of(g, a.value());
    blocks.block = static_cast<std::int32_t>(inner * g.size(a.value(), dim));
    if (detail::is_copy(in, out)) {
      steps.step<int8_copy>(blocks).out(out.value).in(in.value);
    } else {
      (void)detail::find_rescale(in, out, p);
      p.blocks = blocks;
      steps.step<int8_rescale>(p).out(out.value).in(in.value);
    }
    blocks.offset += blocks.block;
  }
  return true;
}

/// dequantize -> permute or transpose -> quantize with the same scale and zero point, up to four dimensions.
[[nodiscard]] constexpr bool fold_permute(const EmbedNode& n, const Quantized& out, StepWriter& steps) {
  operators::PermutationView v;
  if (operators::read_permutation(n, v)) return false;
  const EmbedGraph& g = n.g;
  const ValueId x = v.input;
  const Quantized in = source_of(g, x);
  if (!in.found() || !detail::is_copy(in, out) || v.rank > 4) return false;
  int8_kernels::Permute p;
  for (std::size_t d = 0; d < v.rank; ++d) {
    const std::size_t at = 4 - v.rank + d;
    std::int64_t stride = 1;
    for (std::size_t e = v.from[d] + std::size_t{1}; e < v.rank; ++e) stride *= n.size(x, e);
    p.sizes[at] = static_cast<std::int32_t>(n.size(x, v.from[d]));
    p.strides[at] = static_cast<std::int32_t>(stride);
  }
  steps.step<int8_permute>(p).out(out.value).in(in.value);
  return true;
}

}  // namespace davit::int8_fold
