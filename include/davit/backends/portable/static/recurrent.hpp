// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "davit/backends/portable/static/operands.hpp"
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

/// Static lowering of recurrent layers of one layer and direction; rules decompose all others into these.
namespace davit::static_lowering {

template <sf::Cell cell>
constexpr const char* lower_recurrence(const EmbedNode& n, StepWriter& steps) {
  constexpr bool is_lstm = cell == sf::Cell::lstm;
  const ValueId x = n.value({"input", 0});
  const auto item = [&](std::span<const StaticArgument> list, std::size_t i) {
    return i < list.size() && list[i].kind == ArgumentKind::value ? list[i].value() : no_id;
  };
  const std::span<const StaticArgument> states = n.items("hx"), params = n.items("params");
  const ValueId h0 = is_lstm ? item(states, 0) : n.value({"hx", 1}), c0 = is_lstm ? item(states, 1) : h0;
  const bool has_biases = n.flag("has_biases"), batch_first = n.flag("batch_first");
  if (n.integer("num_layers") != 1 || n.flag("bidirectional")) return "it is of several layers or directions";
  if (params.size() != (has_biases ? 4u : 2u)) return "it projects its units, or lacks parameters";
  const ValueId w = item(params, 0), u = item(params, 1), input_bias = has_biases ? item(params, 2) : no_id,
                hidden_bias = has_biases ? item(params, 3) : no_id;
  for (const ValueId v : {x, h0, c0, w, u, n.output(), n.output(1), is_lstm ? n.output(2) : n.output(1)}) {
    if (v == no_id) return "an operand or a result is missing";
    if (n.g.dtype(v) != ScalarType::float32) return "not all of it is float32";
  }
  if (n.g.rank(x) != 3 || n.g.rank(h0) != 3 || n.g.rank(w) != 2 || n.g.rank(u) != 2)
    return "its input or states are not of three dimensions";
  if (const char* why = not_walkable(n, {w, u, input_bias, hidden_bias})) return why;
  const std::int64_t count = n.g.size(x, batch_first ? 1 : 0), batch = n.g.size(x, batch_first ? 0 : 1),
                     features = n.g.size(x, 2), units = n.g.size(h0, 2), gates = sf::gates_of(cell) * units;
  if (count == 1) return "of one step its parts are as good";
  if (n.g.numel(h0) != batch * units || n.g.numel(c0) != batch * units || n.g.numel(w) != gates * features ||
      n.g.numel(u) != gates * units || n.g.numel(n.output()) != count * batch * units ||
      (has_biases && (n.g.numel(input_bias) != gates || n.g.numel(hidden_bias) != gates)))
    return "its sizes do not fit";
  const auto far = [&](std::int64_t width, bool step) {
    return int32(width * (step == batch_first ? 1 : step ? batch : count));
  };
  sf::Recurrent p{.steps = int32(count), .batch = int32(batch), .features = int32(features), .units = int32(units)};
  p.x_step = far(features, true);
  p.x_row = far(features, false);
  p.y_step = far(units, true);
  p.y_row = far(units, false);
  const std::uint32_t room = steps.temporary(ScalarType::float32, 2 * gates);
  steps.step<sf::recurrence<cell>>(p)
      .out(n.output())
      .out(n.output(1))
      .out(n.output(is_lstm ? 2 : 1))
      .scratch(room)
      .in(x)
      .in(h0)
      .in(c0)
      .in(w)
      .in(u)
      .in(input_bias)
      .in(hidden_bias);
  return nullptr;
}

using recurrent_kernels = kernel_list<sf::recurrence<sf::Cell::gru>, sf::recurrence<sf::Cell::lstm>,
                                      sf::recurrence<sf::Cell::tanh>, sf::recurrence<sf::Cell::relu>>;

inline constexpr std::array recurrent_rows{
    EmbedRow{"aten.gru.input", lower_recurrence<sf::Cell::gru>},
    EmbedRow{"aten.lstm.input", lower_recurrence<sf::Cell::lstm>},
    EmbedRow{"aten.rnn_tanh.input", lower_recurrence<sf::Cell::tanh>},
    EmbedRow{"aten.rnn_relu.input", lower_recurrence<sf::Cell::relu>},
};

}  // namespace davit::static_lowering
