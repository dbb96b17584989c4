// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "davit/backends/portable/static/lowering/operands.hpp"
#include "davit/backends/portable/static/recurrent.hpp"

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
