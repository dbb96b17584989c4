// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/kernels/constant_math.hpp"
#include "davit/kernels/functions.hpp"

/// Recurrent layers of one direction.
namespace davit::static_kernels {

enum class Cell : std::int32_t { gru, lstm, tanh, relu };

/// Gates of a cell, as torch orders them: reset, update, new of a GRU; input, forget, cell, output of an LSTM.
[[nodiscard]] constexpr Index gates_of(Cell cell) noexcept {
  return cell == Cell::gru ? 3 : cell == Cell::lstm ? 4 : 1;
}

/// x (steps, batch, features) or (batch, steps, features): the distances of its and the result's steps and rows.
struct Recurrent {
  std::int32_t steps = 0, batch = 0, features = 0, units = 0;
  std::int32_t x_step = 0, x_row = 0, y_step = 0, y_row = 0;
};

/// What a recurrent layer reads and writes. Weights are (gates * units, features) and (gates * units, units), biases
/// (gates * units) or nullptr; states (batch, units); `gates` is room for twice the gates of a row. Only an LSTM has
/// cells.
struct RecurrentData {
  float *y, *h, *c, *gates;
  const float *x, *h0, *c0, *input_weight, *hidden_weight, *input_bias, *hidden_bias;
};

namespace detail {

/// y[j] = bias[j] + the products of w[j] and x, four rows at a time.
[[gnu::always_inline]] constexpr void weigh(const float* w, const float* bias, Index rows, Index depth, const float* x,
                                            float* y) noexcept {
  Index j = 0;
  for (; j + 4 <= rows; j += 4) {
    const float* const row = w + j * depth;
    float a = 0, b = 0, c = 0, d = 0;
    for (Index k = 0; k < depth; ++k) {
      const float v = x[k];
      a += row[k] * v;
      b += row[depth + k] * v;
      c += row[2 * depth + k] * v;
      d += row[3 * depth + k] * v;
    }
    y[j] = a + (bias == nullptr ? 0 : bias[j]);
    y[j + 1] = b + (bias == nullptr ? 0 : bias[j + 1]);
    y[j + 2] = c + (bias == nullptr ? 0 : bias[j + 2]);
    y[j + 3] = d + (bias == nullptr ? 0 : bias[j + 3]);
  }
  for (; j < rows; ++j) {
    float a = 0;
    for (Index k = 0; k < depth; ++k) a += w[j * depth + k] * x[k];
    y[j] = a + (bias == nullptr ? 0 : bias[j]);
  }
}
[[nodiscard, gnu::always_inline]] constexpr float sigmoid_of(float v) noexcept { return kernels::Sigmoid<float>{}(v); }

/// The new state of unit i; `in` and `own` are what the input and the state give to the gates.
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

/// All steps of a layer; `h` and `c` become the last states. O(steps * batch * gates * units * (features + units)).
/// Source: at::gru.input, at::lstm.input, at::rnn_tanh.input and at::rnn_relu.input.
template <Cell cell, class P>
[[gnu::always_inline]] constexpr void recurrent(const P& params, const RecurrentData& d) noexcept {
  const Recurrent& p = numbers_of(params);
  const Index units = p.units, gates = gates_of(cell) * units;
  for (Index n = 0; n < p.batch; ++n) {
    float* const h = d.h + n * units;
    float* const c = d.c == nullptr ? nullptr : d.c + n * units;
    for (Index i = 0; i < units; ++i) h[i] = d.h0[n * units + i];
    if constexpr (cell == Cell::lstm)
      for (Index i = 0; i < units; ++i) c[i] = d.c0[n * units + i];
    for (Index t = 0; t < p.steps; ++t) {
      detail::weigh(d.input_weight, d.input_bias, gates, p.features, d.x + t * p.x_step + n * p.x_row, d.gates);
      detail::weigh(d.hidden_weight, d.hidden_bias, gates, units, h, d.gates + gates);
      float* const y = d.y + t * p.y_step + n * p.y_row;
      for (Index i = 0; i < units; ++i) {
        h[i] = detail::next_state<cell>(d.gates, d.gates + gates, units, i, h[i], c);
        y[i] = h[i];
      }
    }
  }
}

}  // namespace davit::static_kernels
