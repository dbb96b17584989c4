// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/static/product.hpp"
#include "davit/kernels/constant_math.hpp"
#include "davit/kernels/functions.hpp"

/// Recurrent layers of one direction.
namespace davit::static_kernels {

enum class Cell : std::int32_t { gru, lstm, tanh, relu };

/// The number of a cell's gates, in torch's order: reset, update, new for a GRU; input, forget, cell, output for an
/// LSTM.
[[nodiscard]] constexpr Index gates_of(Cell cell) noexcept {
  return cell == Cell::gru ? 3 : cell == Cell::lstm ? 4 : 1;
}

/// x (steps, batch, features) or (batch, steps, features): the strides of its and the result's steps and rows.
struct Recurrent {
  std::int32_t steps = 0, batch = 0, features = 0, units = 0;
  std::int32_t x_step = 0, x_row = 0, y_step = 0, y_row = 0;
};

namespace detail {

[[nodiscard, gnu::always_inline]] constexpr float sigmoid_of(float v) noexcept { return kernels::Sigmoid<float>{}(v); }

/// The new state of unit i; `in` and `own` are the contributions of the input and the state to the gates.
template <Cell cell>
[[nodiscard, gnu::always_inline]] constexpr float next_state(const float* in, const float* own, Index units, Index i,
                                                             float h, float* c) noexcept {
  if constexpr (cell == Cell::gru) {
    const float reset = sigmoid_of(in[i] + own[i]), update = sigmoid_of(in[units + i] + own[units + i]);
    const float fresh = kernels::tanh(in[2 * units + i] + reset * own[2 * units + i]);
    return (h - fresh) * update + fresh;
  } else if constexpr (cell == Cell::lstm) {
    const auto gate = [&](Index k) __attribute__((always_inline)) { return in[k * units + i] + own[k * units + i]; };
    c[i] = sigmoid_of(gate(1)) * c[i] + sigmoid_of(gate(0)) * kernels::tanh(gate(2));
    return sigmoid_of(gate(3)) * kernels::tanh(c[i]);
  } else {
    const float v = in[i] + own[i];
    if constexpr (cell == Cell::tanh) return kernels::tanh(v);
    return v < 0 ? 0 : v;
  }
}

}  // namespace detail

/// All steps of a layer; `h` and `c` become the last states. Weights are (gates * units, features) and (gates * units,
/// units), biases (gates * units) or nullptr; states (batch, units); `gates` is work space for twice the gates of a
/// row. Only an LSTM uses `c` and `c0`, its cells. O(steps * batch * gates * units * (features + units)). Source:
/// at::gru.input, at::lstm.input, at::rnn_tanh.input and at::rnn_relu.input.
template <Cell cell>
struct recurrence {
  using Params = Recurrent;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& params, float* y, float* h, float* c, float* gates,
                                                   const float* x, const float* h0, const float* c0, const float* w,
                                                   const float* u, const float* input_bias,
                                                   const float* hidden_bias) noexcept {
    const Params& p = numbers_of(params);
    const Index units = p.units, rows = gates_of(cell) * units;
    for (Index n = 0; n < p.batch; ++n, h += units, c += units) {
      for (Index i = 0; i < units; ++i) h[i] = h0[n * units + i];
      if constexpr (cell == Cell::lstm)
        for (Index i = 0; i < units; ++i) c[i] = c0[n * units + i];
      for (Index t = 0; t < p.steps; ++t) {
        detail::product_by_dots(p.features, x + t * p.x_step + n * p.x_row, w, rows, input_bias, gates);
        detail::product_by_dots(units, h, u, rows, hidden_bias, gates + rows);
        float* const out = y + t * p.y_step + n * p.y_row;
        for (Index i = 0; i < units; ++i) {
          h[i] = detail::next_state<cell>(gates, gates + rows, units, i, h[i], c);
          out[i] = h[i];
        }
      }
    }
  }
};

}  // namespace davit::static_kernels
