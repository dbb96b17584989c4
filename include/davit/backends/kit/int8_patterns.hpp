// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "davit/backends/kit/finite_guard.hpp"
#include "davit/core/tensor.hpp"
#include "davit/kernels/byte_convolution.hpp"
#include "davit/kernels/convert.hpp"
#include "davit/kernels/function_ref.hpp"
#include "davit/kernels/quantize.hpp"
#include "davit/program/operators/folds.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/operators/quantization.hpp"
#include "davit/program/same_sizes.hpp"

/// dequantize, an operator, quantize, as PT2E writes them, for backends that compute the operator on bytes.
namespace davit {

/// The tensor of a value that is a constant of the partition, or nullptr.
using ConstantOf = kernels::FunctionRef<const Tensor*(ValueId)>;

/// Scales and ranges of a product or a sum of bytes.
struct Int8Parameters {
  kernels::ByteScale source{};
  kernels::ByteScale other{};          ///< of a sum: of the second operand
  std::vector<float> weight_scales{};  ///< of a product: one, or one per channel
  kernels::ByteRange range{};          ///< of the result

  /// The real value of one step of a product's int32 sums.
  [[nodiscard]] float unit(std::size_t channel) const noexcept {
    return source.scale * weight_scales[weight_scales.size() == 1 ? 0 : channel];
  }
};

/// Fills in the lists of a kernels::ByteResult for a product, scales then biases: `bias` has a number per channel;
/// nullptr: zeros.
inline void fill_channels(const kernels::ByteConvolution& c, const Int8Parameters& q, const float* bias, float* to) {
  const auto padded = static_cast<std::size_t>(kernels::padded_channels(c));
  std::fill_n(to, 2 * padded, 0.0f);
  for (std::size_t o = 0; o < static_cast<std::size_t>(c.out_channels); ++o) {
    to[o] = q.unit(o);
    if (bias != nullptr) to[padded + o] = bias[o];
  }
}

/// A quantize to bytes with one scale, and the clamps before it.
struct Int8Result {
  operators::QuantizationView quantize;
  ValueId bytes = no_id;
  ValueId value = no_id;  ///< the value before the clamps
  kernels::ByteRange range;

  [[nodiscard]] bool is_bounded() const noexcept { return value != quantize.input; }
};

/// An operator between dequantize and quantize, on bytes.
struct Int8Operation {
  ValueId first = no_id;   ///< the source, or the first operand
  ValueId second = no_id;  ///< the weights, or the second operand
  Int8Parameters parameters;
};

/// Finds Int8Results and Int8Operations in a program's calls.
class Int8Patterns {
 public:
  using View = operators::QuantizationView;

  /// The arguments must outlive it.
  Int8Patterns(const operators::ProgramCalls& calls, ConstantOf constant_of)
      : calls_(calls), constant_of_(constant_of) {}

  /// The quantize at `node`; nothing for other nodes, and for numbers that float arithmetic cannot hold.
  [[nodiscard]] std::optional<Int8Result> result_of(NodeId node) const {
    Int8Result made;
    const operators::NodeArguments call = calls_.call(node);
    View& q = made.quantize;
    if (calls_.has_effects(node) || operators::read_quantization(call, q) || !q.quantizes || q.scales != no_id ||
        !is_float(q.input))
      return {};
    made.bytes = call.output();
    if (made.bytes == no_id || !fits(q, made.bytes)) return {};
    const std::int64_t least = least_of(made.bytes);
    if (q.low < least || q.high > least + 255) return {};
    View bounded = q;
    made.value = operators::through_bounds(calls_, q.input, bounded, 1);
    if (bounded.low > bounded.high) return {};
    made.range = {static_cast<float>(1.0 / q.scale), static_cast<std::int32_t>(q.zero_point),
                  static_cast<std::int32_t>(bounded.low), static_cast<std::int32_t>(bounded.high)};
    return made;
  }
  /// The dequantize from bytes, with one scale, that makes a value.
  [[nodiscard]] std::optional<View> bytes_of(ValueId v) const {
    View view;
    return v != no_id && is_float(v) && operators::read_dequantized(calls_, v, false, view) && fits(view, view.input)
               ? std::optional(view)
               : std::nullopt;
  }
  /// True if both sides have the same scale, zero point and dtype, so that no rounding lies between them.
  [[nodiscard]] bool is_same(const View& from, const Int8Result& to) const noexcept {
    const std::int64_t least = least_of(to.bytes);
    return from.scale == to.quantize.scale && from.zero_point == to.quantize.zero_point &&
           least_of(from.input) == least && to.quantize.low == least && to.quantize.high == least + 255;
  }
  /// Reads the sum of two tensors with the result's sizes and dtype.
  [[nodiscard]] std::optional<Int8Operation> sum(const Int8Result& to, ValueId a, ValueId b) const {
    const std::optional<View> first = bytes_of(a), second = bytes_of(b);
    for (const std::optional<View>* x : {&first, &second})
      if (!*x || calls_.graph.values[(*x)->input].dtype != calls_.graph.values[to.bytes].dtype ||
          !has_sizes_of((*x)->input, to.bytes))
        return {};
    return Int8Operation{
        first->input, second->input, {.source = scale_of(*first), .other = scale_of(*second), .range = to.range}};
  }
  /// Reads the product of a source with constant weights, with one scale or one per index of the first dimension.
  /// `permuted`: the weights are a matrix that is transposed after its dequantize. The bias is no_id or finite float32
  /// constants.
  [[nodiscard]] std::optional<Int8Operation> product(const Int8Result& to, ValueId source, ValueId weights,
                                                     bool permuted, ValueId bias) const {
    const std::optional<View> x = bytes_of(source);
    View w;
    Int8Operation made;
    if (!x || !operators::read_weights(calls_, weights, permuted, w) || !read_scales(w, made.parameters.weight_scales))
      return {};
    made.first = x->input;
    made.second = w.input;
    made.parameters.source = scale_of(*x);
    made.parameters.range = to.range;
    if (const Tensor* const b = bias == no_id ? nullptr : constant_of_(bias);
        bias != no_id && (b == nullptr || b->dtype != ScalarType::float32 || !passes_guard(*b)))
      return {};
    for (std::size_t c = 0; c < made.parameters.weight_scales.size(); ++c)
      if (const float unit = made.parameters.unit(c);
          !(unit > 1e-20f && unit * to.range.inverse > 1e-9f && unit * to.range.inverse < 256.0f))
        return {};
    return made;
  }
  /// True if `convolve_bytes` may compute the product: no sum overflows.
  [[nodiscard]] bool sums_fit(const kernels::ByteConvolution& c, const Int8Parameters& q, ValueId bias) const {
    const Tensor* const b = bias == no_id ? nullptr : constant_of_(bias);
    const auto channels = static_cast<std::size_t>(c.out_channels);
    if ((b != nullptr && (b->sizes.size() != 1 || b->sizes[0] != c.out_channels)) ||
        (q.weight_scales.size() != 1 && q.weight_scales.size() != channels))
      return false;
    for (std::size_t o = 0; o < channels; ++o)
      if (!kernels::sums_fit(c, q.unit(o), b == nullptr ? 0.0f : *static_cast<const float*>(element(*b, o)), q.range))
        return false;
    return true;
  }

 private:
  [[nodiscard]] bool is_float(ValueId v) const noexcept { return calls_.graph.values[v].dtype == ScalarType::float32; }
  /// The smallest value of a byte dtype; the largest is 255 above.
  [[nodiscard]] std::int64_t least_of(ValueId v) const noexcept {
    return calls_.graph.values[v].dtype == ScalarType::int8 ? -128 : 0;
  }
  /// True for bytes with scale and zero point that float arithmetic can hold.
  [[nodiscard]] bool fits(const View& view, ValueId bytes) const noexcept {
    const ScalarType type = calls_.graph.values[bytes].dtype;
    const std::int64_t least = least_of(bytes);
    return (type == ScalarType::int8 || type == ScalarType::uint8) && view.scale > 1e-30 && view.scale < 1e30 &&
           view.zero_point >= least && view.zero_point <= least + 255;
  }
  [[nodiscard]] bool has_sizes_of(ValueId v, ValueId other) const {
    const GraphModuleView g = calls_.graph;
    return same_sizes(g, g.dims_of(g.values[v].sizes), g.dims_of(g.values[other].sizes));
  }
  [[nodiscard]] static kernels::ByteScale scale_of(const View& view) noexcept {
    return {static_cast<float>(view.scale), static_cast<float>(view.zero_point)};
  }
  /// Reads the scales of int8 constants with zero point 0: one, or one per index of the first dimension.
  [[nodiscard]] bool read_scales(const View& view, std::vector<float>& scales) const {
    const Tensor* const w = constant_of_(view.input);
    if (w == nullptr || w->dtype != ScalarType::int8 || w->sizes.empty()) return false;
    if (view.scales == no_id) {
      scales = {static_cast<float>(view.scale)};
      return view.zero_point == 0;
    }
    const Tensor* const s = constant_of_(view.scales);
    const Tensor* const z = view.zero_points == no_id ? nullptr : constant_of_(view.zero_points);
    const auto is_list = [&](const Tensor* t) {
      return t != nullptr && t->sizes.size() == 1 && t->sizes[0] == w->sizes[0];
    };
    if (!is_list(s) || s->dtype != ScalarType::float32 || (view.zero_points != no_id && !is_list(z))) return false;
    for (std::size_t c = 0; c < static_cast<std::size_t>(w->sizes[0]); ++c) {
      std::int64_t zero = 0;
      if (z != nullptr && (!kernels::load_element(element(*z, c), z->dtype, zero) || zero != 0)) return false;
      scales.push_back(*static_cast<const float*>(element(*s, c)));
    }
    return !scales.empty();
  }
  [[nodiscard]] static const void* element(const Tensor& t, std::size_t i) {
    const TensorView view = t.view();
    return static_cast<const std::byte*>(view.data) +
           i * static_cast<std::size_t>(view.stride(0)) * size_of(view.dtype);
  }

  const operators::ProgramCalls& calls_;
  ConstantOf constant_of_;
};

}  // namespace davit
