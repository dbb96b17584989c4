// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/recurrent.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/portable/embed.hpp"
#include "support/static_both.hpp"

namespace {

namespace sf = davit::static_kernels;
using namespace davit;
using static_both::BothWays;
constexpr auto f32 = ScalarType::float32;

constexpr std::int64_t steps = 3, batch = 2, features = 3, units = 5;

/// A layer of three steps, with or without biases; all its results are outputs.
template <sf::Cell cell, bool batch_first>
constexpr GraphModule make_layer() {
  constexpr std::string_view target = cell == sf::Cell::gru    ? "aten.gru.input"
                                      : cell == sf::Cell::lstm ? "aten.lstm.input"
                                      : cell == sf::Cell::tanh ? "aten.rnn_tanh.input"
                                                               : "aten.rnn_relu.input";
  constexpr std::int64_t gates = sf::gates_of(cell) * units;
  constexpr bool has_biases = !batch_first;
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {batch_first ? batch : steps, batch_first ? steps : batch, features}),
                h = b.input("h", f32, {1, batch, units}), c = b.input("c", f32, {1, batch, units}),
                w = b.input("w", f32, {gates, features}), u = b.input("u", f32, {gates, units}),
                p = b.input("p", f32, {gates}), q = b.input("q", f32, {gates});
  const auto list = [&](std::vector<Argument> items) { return b.list(items, ArgumentKind::value); };
  const ValueId y = b.tensor("y", f32, {batch_first ? batch : steps, batch_first ? steps : batch, units}),
                last = b.tensor("last", f32, {1, batch, units});
  const std::pair<std::string_view, Argument> named[] = {
      {"input", b.value(x)},
      {"hx", cell == sf::Cell::lstm ? list({b.value(h), b.value(c)}) : b.value(h)},
      {"params", has_biases ? list({b.value(w), b.value(u), b.value(p), b.value(q)}) : list({b.value(w), b.value(u)})},
      {"has_biases", b.boolean(has_biases)},
      {"num_layers", b.integer(1)},
      {"dropout", b.real(0)},
      {"train", b.boolean(false)},
      {"bidirectional", b.boolean(false)},
      {"batch_first", b.boolean(batch_first)}};
  std::vector<Argument> arguments;
  for (const auto& [name, argument] : named) {
    arguments.push_back(argument);
    arguments.back().name = b.intern(name);
  }
  std::vector<Argument> results{b.value(y), b.value(last)};
  if (cell == sf::Cell::lstm) results.push_back(b.value(b.tensor("cells", f32, {1, batch, units})));
  b.node(target, arguments, results);
  b.end_graph(results);
  return std::move(b).finish();
}

template <std::size_t N>
constexpr std::array<float, N> numbers(std::uint32_t seed) {
  std::array<float, N> all{};
  for (float& v : all) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<float>(seed >> 16) / 65536.0f - 0.5f;
  }
  return all;
}
template <sf::Cell cell>
constexpr auto inputs() {
  constexpr std::size_t gates = static_cast<std::size_t>(sf::gates_of(cell) * units);
  return typename BothWays<make_layer<cell, true>>::Inputs{numbers<steps * batch * features>(1),
                                                           numbers<batch * units>(2),
                                                           numbers<batch * units>(3),
                                                           numbers<gates * features>(4),
                                                           numbers<gates * units>(5),
                                                           numbers<gates>(6),
                                                           numbers<gates>(7)};
}
template <sf::Cell cell>
void check() {
  CHECK(BothWays<make_layer<cell, true>>::differences(inputs<cell>(), 1e-6) == "");
  CHECK(BothWays<make_layer<cell, false>>::differences(inputs<cell>(), 1e-6) == "");
}

constexpr bool runs_when_compiled() {
  bool ok = false;
  (void)BothWays<make_layer<sf::Cell::lstm, false>>::run_static(inputs<sf::Cell::lstm>(), ok);
  return ok;
}
static_assert(runs_when_compiled());

}  // namespace

TEST_CASE("static recurrent layers equal portable's at run time") {
  check<sf::Cell::gru>();
  check<sf::Cell::lstm>();
  check<sf::Cell::tanh>();
  check<sf::Cell::relu>();
}
