// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/static/computed.hpp"
#include "davit/backends/portable/static/operands.hpp"
#include "davit/backends/portable/static/packs.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/kernels/layer_norm.hpp"
#include "davit/kernels/row_moments.hpp"
#include "davit/kernels/softmax.hpp"
#include "davit/kernels/vectors.hpp"
#include "davit/program/operators/normalization.hpp"
#include "davit/program/operators/softmax.hpp"

namespace davit::static_kernels {

/// Softmax over the middle dimension of (outer, count, inner).
struct Softmax {
  std::int32_t outer = 1, count = 1, inner = 1;
};

/// y = softmax(x), or its logarithm; `y` may be `x`. A NaN makes its line NaN. O(numel). Source: at::_softmax,
/// at::_log_softmax.
template <bool Logarithm>
struct softmax {
  using Params = Softmax;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, const float* x) noexcept {
    const Params& p = numbers_of(params);
    constexpr std::size_t bytes = kernels::vector_bytes;
    if constexpr (Logarithm)
      kernels::MiddleLines<kernels::LogSoftmaxLine<Wide>>::run<bytes>(x, Index{p.outer}, Index{p.count}, Index{p.inner},
                                                                      y);
    else
      kernels::MiddleLines<kernels::SoftmaxLine<Wide>>::run<bytes>(x, Index{p.outer}, Index{p.count}, Index{p.inner}, y,
                                                                   false);
  }
};

/// y = (x - mean) / sqrt(variance + eps) * weight + bias, row by row; weight and bias have `length` elements or are
/// nullptr, `y` may be `x`. O(rows * length). Source: at::layer_norm.
struct layer_norm {
  struct Params {
    std::int32_t rows = 1, length = 1;
    NumberParam eps = wide_param(1e-5);
  };
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, const float* x, const float* weight,
                                                   const float* bias) noexcept {
    const Params& p = numbers_of(params);
    kernels::LayerNormRows<Wide>::run<kernels::vector_bytes>(Index{p.rows}, Index{p.length}, number_from<Wide>(p.eps),
                                                             x, weight, bias, y, static_cast<float*>(nullptr),
                                                             static_cast<float*>(nullptr));
  }
};

/// y = (x - mean) / sqrt(variance + eps) * weight + bias over (batch, channels, plane) with the running statistics;
/// weight, bias and the statistics have one element per channel, weight and bias may be nullptr, `y` may be `x`. Types
/// other than float32 are rounded after each operation. O(numel). Source: at::_native_batch_norm_legit_no_training.
struct batch_norm {
  struct Params {
    std::int32_t batch = 1, channels = 1, plane = 1;
    NumberParam eps = wide_param(1e-5);  ///< for float32 by wide_param, else by number_param
  };
  template <class P, class T, class W, class B>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const T* x, const W* weight, const B* bias,
                                                   const T* mean, const T* variance) noexcept {
    const Params& p = numbers_of(params);
    for (Index c = 0; c < p.channels; ++c)
      if constexpr (std::is_same_v<T, float>) {
        const auto inverse = static_cast<float>(
            kernels::Moments<Wide>{0, static_cast<Wide>(variance[c])}.inverse_deviation(number_from<Wide>(p.eps)));
        const float factor = weight != nullptr ? inverse * weight[c] : inverse;
        const float shift = (bias != nullptr ? bias[c] : 0.0f) - mean[c] * factor;
        for (Index n = 0; n < p.batch; ++n) {
          const Index at = (n * p.channels + c) * p.plane;
          for_packs<false>(p.plane, [&]<Index N>(Index i) __attribute__((always_inline)) {
            store<N>(y + at + i, load<N>(x + at + i) * factor + shift);
          });
        }
      } else {
        using C = Computed<T>;
        const auto rounded = [](C v) { return loaded(kernels::convert<T>(v)); };
        const C inverse = rounded(kernels::Rsqrt<C>{}(rounded(loaded(variance[c]) + number_from<C>(p.eps))));
        for (Index n = 0; n < p.batch; ++n)
          for (Index i = 0; i < p.plane; ++i) {
            const Index at = (n * p.channels + c) * p.plane + i;
            C v = rounded(rounded(loaded(x[at]) - loaded(mean[c])) * inverse);
            if (weight != nullptr) v = rounded(v * kernels::convert<C>(weight[c]));
            if (bias != nullptr) v = rounded(v + kernels::convert<C>(bias[c]));
            y[at] = kernels::convert<T>(v);
          }
      }
  }
};

}  // namespace davit::static_kernels

/// Static lowering of normalization and softmax.
namespace davit::static_lowering {

/// Batch norms with running statistics.
constexpr const char* lower_batch_norm(const EmbedNode& n, StepWriter& steps) {
  operators::BatchNormView v;
  if (const operators::Refusal wrong = operators::read_batch_norm(n, v)) return wrong.what;
  if (v.training) return "it trains";
  if (const char* why = not_of_one_type(n, v.input, v.mean)) return why;
  if (n.uses_output(1) || n.uses_output(2)) return "its batch statistics are used";
  const ScalarType type = n.g.dtype(v.input);
  if (!is_floating(type)) return "it is of integers";
  const int32 batch = int32(n.g.size(v.input, 0)), channels = int32(n.g.size(v.input, 1));
  for (const ValueId each : {v.weight, v.bias, v.variance})
    if (each != no_id && (n.g.dtype(each) != type || n.g.numel(each) != channels))
      return "its factors are not one number per channel";
  steps
      .step<sf::batch_norm>({batch, channels, int32(n.g.numel(v.input) / (batch * channels)),
                             type == ScalarType::float32 ? sf::wide_param(v.eps) : number_operand(v.eps).param(type)})
      .out(n.output())
      .in(v.input)
      .in(v.weight)
      .in(v.bias)
      .in(v.mean)
      .in(v.variance)
      .overwrites(v.input);
  return nullptr;
}
constexpr const char* write_layer_norm(const EmbedNode& n, StepWriter& steps, ValueId x, std::int64_t rows, double eps,
                                       ValueId weight, ValueId bias) {
  if (const char* why = not_float(n, x)) return why;
  if (n.uses_output(1) || n.uses_output(2)) return "its statistics are used";
  if (rows < 1 || n.g.numel(x) % rows != 0) return "its sizes do not fit";
  steps.step<sf::layer_norm>({int32(rows), int32(n.g.numel(x) / rows), sf::wide_param(eps)})
      .out(n.output())
      .in(x)
      .in(weight)
      .in(bias)
      .overwrites(x);
  return nullptr;
}
constexpr const char* lower_layer_norm(const EmbedNode& n, StepWriter& steps) {
  operators::LayerNormView v;
  if (const operators::Refusal wrong = operators::read_layer_norm(n, v)) return wrong.what;
  std::int64_t rows = 1;
  for (std::size_t d = 0; d < n.g.rank(v.input) - v.dims; ++d) rows *= n.size(v.input, d);
  return write_layer_norm(n, steps, v.input, rows, v.eps, v.weight, v.bias);
}
/// Normalizes rows, then applies each channel's factor and summand: y is (batch, channels, plane).
constexpr const char* write_channel_norm(const EmbedNode& n, StepWriter& steps, ValueId x, std::int64_t rows,
                                         double eps, ValueId weight, ValueId bias, std::int64_t batch,
                                         std::int64_t channels) {
  if (batch < 1 || channels < 1) return "its sizes do not fit";
  if (const char* why = write_layer_norm(n, steps, x, rows, eps, no_id, no_id)) return why;
  const ValueId y = n.output();
  const std::int64_t plane = n.g.numel(y) / (batch * channels);
  sf::map_two<kernels::Add, 0>::Params p;
  if (!p.walk.push(batch, {channels * plane, 0}) || !p.walk.push(channels, {plane, 1}) || !p.walk.push(plane, {1, 0}))
    return too_many_dims;
  for (const ValueId v : {weight, bias})
    if (v != no_id && (n.g.dtype(v) != ScalarType::float32 || n.g.numel(v) != channels))
      return "its factors are not one number per channel";
  if (weight != no_id) steps.step<sf::map_two<kernels::Multiply, 0>>(p).out(y).out(y).in(weight);
  if (bias != no_id) steps.step<sf::map_two<kernels::Add, 0>>(p).out(y).out(y).in(bias);
  return nullptr;
}
constexpr const char* lower_group_norm(const EmbedNode& n, StepWriter& steps) {
  operators::GroupNormView v;
  if (const operators::Refusal wrong = operators::read_group_norm(n, v)) return wrong.what;
  return write_channel_norm(n, steps, v.input, v.batch * v.groups, v.eps, v.weight, v.bias, v.batch, v.channels);
}
/// An instance norm, as the batch norm of one batch with its own statistics.
constexpr const char* lower_instance_norm(const EmbedNode& n, StepWriter& steps) {
  operators::BatchNormView v;
  if (const operators::Refusal wrong = operators::read_batch_norm(n, v)) return wrong.what;
  if (n.g.size(v.input, 0) != 1) return "it is of several batches";
  if (!(v.eps > 0)) return "it has no epsilon";
  const std::int64_t channels = n.g.size(v.input, 1);
  return write_channel_norm(n, steps, v.input, channels, v.eps, v.weight, v.bias, 1, channels);
}
constexpr const char* lower_softmax(const EmbedNode& n, StepWriter& steps) {
  operators::SoftmaxView v;
  if (const operators::Refusal wrong = operators::read_softmax(n, v)) return wrong.what;
  if (const char* why = not_float(n, v.input)) return why;
  if (n.g.rank(v.input) == 0) return "it has no dimension";
  sf::Softmax p;
  split_at(n, v.input, v.dim, p.outer, p.count, p.inner);
  (v.logarithm ? steps.step<sf::softmax<true>>(p) : steps.step<sf::softmax<false>>(p))
      .out(n.output())
      .in(v.input)
      .overwrites(v.input);
  return nullptr;
}

using norm_kernels = kernel_list<sf::layer_norm, sf::batch_norm, sf::softmax<true>, sf::softmax<false>>;

inline constexpr std::array norm_rows{
    EmbedRow{"aten._native_batch_norm_legit_no_training.default", lower_batch_norm},
    EmbedRow{"aten.batch_norm.default", lower_batch_norm},
    EmbedRow{"aten._native_batch_norm_legit.no_stats", lower_instance_norm},
    EmbedRow{"aten.native_layer_norm.default", lower_layer_norm},
    EmbedRow{"aten.layer_norm.default", lower_layer_norm},
    EmbedRow{"aten.native_group_norm.default", lower_group_norm},
    EmbedRow{"aten._softmax.default", lower_softmax},
    EmbedRow{"aten.softmax.int", lower_softmax},
    EmbedRow{"aten._log_softmax.default", lower_softmax},
    EmbedRow{"aten.log_softmax.int", lower_softmax},
};

}  // namespace davit::static_lowering
