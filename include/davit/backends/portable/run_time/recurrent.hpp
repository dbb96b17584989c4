// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/multiply.hpp"
#include "davit/kernels/vector_math.hpp"

namespace davit::portable_kernels {

namespace detail {

/// A checked call of gru.
struct Recurrence {
  std::int64_t steps = 0, batch = 0, features = 0, hidden = 0, layers = 0, directions = 1;
  bool has_biases = false;
  bool batch_first = false;

  [[nodiscard]] std::size_t tensors_per_cell() const noexcept { return has_biases ? 4 : 2; }
  [[nodiscard]] std::int64_t width() const noexcept { return directions * hidden; }  ///< of an output step
  [[nodiscard]] std::int64_t layer_features(std::int64_t layer) const noexcept { return layer == 0 ? features : width(); }
};

/// The weights of a layer in one direction.
template <class C>
struct GruCell {
  const C* input = nullptr;        ///< (3 hidden, features): reset, update, new
  const C* recurrent = nullptr;    ///< (3 hidden, hidden)
  const C* input_bias = nullptr;   ///< (3 hidden) or nullptr
  const C* hidden_bias = nullptr;  ///< likewise
};

/// out (m, n) = x (m, k) * weight (n, k)^T + bias.
template <class C>
void affine(std::int64_t m, std::int64_t n, std::int64_t k, const C* x, const C* weight, const C* bias, C* work, C* out) {
  multiply<C>(m, n, k, {x, k, 1}, {weight, 1, k}, work, out, n);
  for (std::int64_t i = 0; bias != nullptr && i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) out[i * n + j] += bias[j];
}

/// The new state of `n` units from what input and state give to the reset, update and new gates, `n` of each.
struct GruStep {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const C* in, const C* own, C* state, C* out, std::int64_t n) {
    std::int64_t h = 0;
    if constexpr (std::is_same_v<C, float>) {
      using V = Vector<float, Bytes>;
      for (; h + lanes<float, Bytes> <= n; h += lanes<float, Bytes>) {
        V reset = kernels::vector_at<Bytes>(in + h) + kernels::vector_at<Bytes>(own + h);
        V update = kernels::vector_at<Bytes>(in + n + h) + kernels::vector_at<Bytes>(own + n + h);
        kernels::vector_sigmoid<V>(reset, reset);
        kernels::vector_sigmoid<V>(update, update);
        V fresh = kernels::vector_at<Bytes>(in + 2 * n + h) + reset * kernels::vector_at<Bytes>(own + 2 * n + h);
        kernels::vector_tanh<V>(fresh, fresh);
        const V now = (kernels::vector_at<Bytes>(state + h) - fresh) * update + fresh;
        kernels::vector_at<Bytes>(state + h) = now;
        kernels::vector_at<Bytes>(out + h) = now;
      }
    }
    const auto logistic = [](C x) __attribute__((always_inline)) { return C{1} / (C{1} + std::exp(-x)); };
    for (; h < n; ++h) {
      const C reset = logistic(in[h] + own[h]);
      const C update = logistic(in[n + h] + own[n + h]);
      const C fresh = std::tanh(in[2 * n + h] + reset * own[2 * n + h]);
      state[h] = (state[h] - fresh) * update + fresh;
      out[h] = state[h];
    }
  }
};

/// Runs one layer in one direction over time: `state` (batch, hidden) is read and left at its last value; step t's
/// states go to out + (t * batch + n) * row.
template <class C>
void run_gru_cell(const Recurrence& r, std::int64_t features, bool backwards, const GruCell<C>& cell, const C* x,
                  C* state, C* from_input, C* from_state, C* work, C* out, std::int64_t row) {
  const std::int64_t gates = 3 * r.hidden;
  affine(r.steps * r.batch, gates, features, x, cell.input, cell.input_bias, work, from_input);
  for (std::int64_t s = 0; s < r.steps; ++s) {
    const std::int64_t t = backwards ? r.steps - 1 - s : s;
    affine(r.batch, gates, r.hidden, state, cell.recurrent, cell.hidden_bias, work, from_state);
    for (std::int64_t n = 0; n < r.batch; ++n)
      kernels::run_widest_for<C, GruStep>(static_cast<const C*>(from_input + (t * r.batch + n) * gates),
                                          static_cast<const C*>(from_state + n * gates), state + n * r.hidden,
                                          out + (t * r.batch + n) * row, r.hidden);
  }
}

template <class C>
[[nodiscard]] ErrorCode compute_gru(KernelCall& call, const Recurrence& r) {
  const std::span<const EValue> parameters = call.list(2);
  const TensorView& input = call.tensor(0);
  const TensorView& hx = call.tensor(1);
  std::array<std::int64_t, 3> sizes{r.steps, r.batch, r.features};
  std::array<std::int64_t, 3> strides{input.stride(0), input.stride(1), input.stride(2)};
  if (r.batch_first) std::swap(strides[0], strides[1]);
  const std::int64_t gates = 3 * r.hidden;
  const std::int64_t widest = std::max(r.features, r.width());
  ComputeBuffers<C> buffers(call);
  const auto x_id = buffers.read({input.data, sizes.data(), strides.data(), 3, input.dtype});
  const auto hx_id = buffers.read(hx);
  const auto out_id = buffers.write(0);
  const auto last_id = call.wants(1) ? buffers.write(1) : buffers.buffer(hx.numel());
  const std::array<std::size_t, 2> sequences{buffers.buffer({r.steps, r.batch, r.width()}),
                                             buffers.buffer({r.steps, r.batch, r.width()})};
  const auto from_input = buffers.buffer({r.steps, r.batch, gates});
  const auto from_state = buffers.buffer({r.batch, gates});
  const std::array<std::size_t, 4> weights{buffers.buffer({gates, widest}), buffers.buffer({gates, r.hidden}),
                                           buffers.buffer(gates), buffers.buffer(gates)};
  const auto work = buffers.buffer(std::max(multiply_work<C>(r.steps * r.batch, gates), multiply_work<C>(r.batch, gates)));
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  const std::int64_t state_size = r.batch * r.hidden;
  C* last = buffers.out(last_id);
  std::copy_n(buffers.in(hx_id), hx.numel(), last);
  const C* x = buffers.in(x_id);
  for (std::int64_t layer = 0; layer < r.layers; ++layer) {
    C* out = buffers.out(sequences[static_cast<std::size_t>(layer % 2)]);
    for (std::int64_t d = 0; d < r.directions; ++d) {
      const std::int64_t index = layer * r.directions + d;
      std::array<const C*, 4> loaded{};
      for (std::size_t i = 0; i < r.tensors_per_cell(); ++i) {
        const TensorView& t = parameters[static_cast<std::size_t>(index) * r.tensors_per_cell() + i].tensor();
        loaded[i] = t.as<C>();
        if (t.dtype == scalar_type_of<C> && t.is_contiguous()) continue;
        if (kernels::compute_of(t.dtype) == kernels::Compute::none) return ErrorCode::invalid_dtype;
        (void)convert_elements(t, scalar_type_of<C>, buffers.out(weights[i]));
        loaded[i] = buffers.out(weights[i]);
      }
      run_gru_cell(r, r.layer_features(layer), d == 1, GruCell<C>{loaded[0], loaded[1], loaded[2], loaded[3]}, x,
                   last + index * state_size, buffers.out(from_input), buffers.out(from_state), buffers.out(work),
                   out + d * r.hidden, r.width());
    }
    x = out;
  }
  C* result = buffers.out(out_id);
  for (std::int64_t i = 0; i < r.steps * r.batch; ++i) {
    const std::int64_t to = r.batch_first ? i % r.batch * r.steps + i / r.batch : i;
    std::copy_n(x + i * r.width(), r.width(), result + to * r.width());
  }
  return buffers.finish();
}

[[nodiscard]] inline ErrorCode check_gru_parameters(KernelCall& call, const Recurrence& r) {
  const std::span<const EValue> parameters = call.list(2);
  const std::size_t cells = static_cast<std::size_t>(r.layers * r.directions);
  if (parameters.size() != cells * r.tensors_per_cell())
    return call.refuse(ErrorCode::invalid_argument, "gru: the number of parameters does not fit the layers");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].is_tensor()) return call.refuse(ErrorCode::invalid_argument, "gru: a parameter is not a tensor");
    const TensorView& t = parameters[i].tensor();
    const std::size_t kind = i % r.tensors_per_cell();
    const auto layer = static_cast<std::int64_t>(i / r.tensors_per_cell()) / r.directions;
    const std::array<std::int64_t, 2> expected{3 * r.hidden, kind == 0 ? r.layer_features(layer) : r.hidden};
    if (!std::ranges::equal(t.sizes(), std::span(expected).first(kind < 2 ? 2 : 1)))
      return call.refuse(ErrorCode::invalid_shape, "gru: a parameter's sizes do not fit input and hidden state");
    if (t.dtype != call.tensor(0).dtype)
      return call.refuse(ErrorCode::invalid_dtype, "gru: the parameters must have the input's dtype");
  }
  return ErrorCode::ok;
}

}  // namespace detail

/// gru(input (T, N, I), hx (layers * directions, N, H), params, has_biases, num_layers, dropout, train, bidirectional,
/// batch_first) -> (output (T, N, directions * H), last states like hx). Dropout is not supported.
/// Source: at::gru.input and torch.nn.GRU.
[[nodiscard]] inline ErrorCode gru(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  const TensorView& hx = call.tensor(1);
  detail::Recurrence r;
  if (input.rank != 3 || hx.rank != 3)
    return call.refuse(ErrorCode::invalid_shape, "gru: input and hx must have three dimensions");
  if (checked_numel(input) < 0 || checked_numel(hx) < 0)
    return call.refuse(ErrorCode::out_of_memory, "gru: an operand is too large");
  r.has_biases = call.boolean(3);
  r.layers = call.integer(4);
  r.directions = call.boolean(7) ? 2 : 1;
  r.batch_first = call.boolean(8);
  r.steps = input.size(r.batch_first ? 1 : 0);
  r.batch = input.size(r.batch_first ? 0 : 1);
  r.features = input.size(2);
  r.hidden = hx.size(2);
  if (r.layers < 1 || r.layers > static_cast<std::int64_t>(call.list(2).size()) || r.steps < 1)
    return call.refuse(ErrorCode::invalid_argument, "gru: the number of layers or of steps is out of range");
  if (hx.size(0) != r.layers * r.directions || hx.size(1) != r.batch || hx.dtype != input.dtype)
    return call.refuse(ErrorCode::invalid_shape, "gru: hx does not fit the input and the number of layers");
  if (call.boolean(6) && call.number(5) != 0 && r.layers > 1)
    return call.refuse(ErrorCode::unsupported_argument, "gru: dropout between layers is not supported");
  if (const ErrorCode code = detail::check_gru_parameters(call, r); code != ErrorCode::ok) return code;
  const std::array<std::int64_t, 3> sizes{input.size(0), input.size(1), r.width()};
  if (const ErrorCode code = call.make(0, input.dtype, sizes); code != ErrorCode::ok) return code;
  if (call.wants(1))
    if (const ErrorCode code = call.make_like(1, hx); code != ErrorCode::ok) return code;
  return dispatch_floating(call, input.dtype, [&]<class C>() { return detail::compute_gru<C>(call, r); });
}

inline constexpr auto recurrent_ops = std::to_array<OpRow>({
    {"aten.gru.input", gru},
});

}  // namespace davit::portable_kernels
