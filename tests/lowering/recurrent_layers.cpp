// SPDX-License-Identifier: MIT
#include "davit/lowering/recurrent_layers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/simplify.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/verify.hpp"
#include "davit/testing/eager.hpp"
#include "support/net.hpp"

using namespace davit;
using support::Net;

namespace {

using Texts = std::vector<std::string>;
const DecomposeOptions portable_takes{.backends = BackendList<portable>::tables()};

Texts targets(const ExportedProgram& program) {
  Texts out;
  for (const Node& node : program.view().nodes) out.emplace_back(program.view().target(node));
  return out;
}

/// The program with whole recurrent layers; nothing if it has none.
std::optional<ExportedProgram> whole(const ExportedProgram& program, const DecomposeOptions& options = portable_takes) {
  std::optional<ExportedProgram> simple = simplified(program, &portable_takes, true);
  std::optional<ExportedProgram> made = with_recurrent_layers(simple ? *simple : program, options);
  if (!made) return made;
  CHECK(verify(*made).empty());
  if (std::optional<ExportedProgram> again = simplified(*made, &portable_takes, true)) made = std::move(again);
  CHECK(verify(*made).empty());
  return made;
}

/// The results of a program, node by node.
std::vector<std::vector<float>> run(const ExportedProgram& program, const Net& n) {
  const auto outputs = testing::EagerProgram(program, BackendList<portable>::tables()).run(n.sample());
  REQUIRE(outputs);
  std::vector<std::vector<float>> out;
  for (const testing::EagerValue& each : *outputs) out.push_back(support::elements(each.value()));
  return out;
}
/// True if both give the same results, up to rounding.
bool agree(const ExportedProgram& a, const ExportedProgram& b, const Net& n) {
  const auto x = run(a, n), y = run(b, n);
  bool good = x.size() == y.size();
  for (std::size_t i = 0; good && i < x.size(); ++i) {
    good = x[i].size() == y[i].size();
    for (std::size_t k = 0; good && k < x[i].size(); ++k) good = std::fabs(x[i][k] - y[i][k]) < 1e-5f;
  }
  return good;
}

/// A layer with 3 rows, a batch of 2, 4 features and 5 hidden units.
struct Layers {
  std::string_view target = "aten.lstm.input";
  std::int64_t count = 1;
  bool both = false, biased = true, batch_first = false;
  std::int64_t given = 5;  ///< an LSTM's projection of the hidden units

  struct Operands {
    std::vector<Argument> weights{}, states{};
  };
  /// Its weights and initial states.
  [[nodiscard]] Operands operands(Net& n, std::int64_t features = 4, const std::string& name = "w",
                                  ValueId begin = no_id) const {
    const std::int64_t gates = 5 * (target == "aten.lstm.input"  ? 4
                                    : target == "aten.gru.input" ? 3
                                                                 : 1),
                       directions = both ? 2 : 1;
    Operands out;
    std::string next = name;
    for (std::int64_t k = 0; k < count * directions; ++k) {
      out.weights.push_back(n.v(n.weight(next += '_', {gates, k < directions ? features : given * directions}, 0.6)));
      out.weights.push_back(n.v(n.weight(next += '_', {gates, given}, 0.6)));
      for (int b = 0; biased && b < 2; ++b) out.weights.push_back(n.v(n.weight(next += '_', {gates}, 0.6)));
      if (given != 5) out.weights.push_back(n.v(n.weight(next += '_', {given, 5}, 0.6)));
    }
    out.states.push_back(n.v(begin != no_id ? begin : n.input(name + "h", {count * directions, 2, given})));
    if (target == "aten.lstm.input") out.states.push_back(n.v(n.input(name + "c", {count * directions, 2, 5})));
    return out;
  }
  /// Emits the layer; returns its results.
  [[nodiscard]] std::vector<ValueId> call(Net& n, ValueId x, const Operands& with, const std::string& name) const {
    const std::int64_t directions = both ? 2 : 1;
    std::vector<std::int64_t> rows{3, 2, given * directions}, ends{count * directions, 2, given};
    if (batch_first) std::swap(rows[0], rows[1]);
    std::vector<ValueId> made{n.draft.b.tensor(name + "y", ScalarType::float32, rows)};
    made.push_back(n.draft.b.tensor(name + "e", ScalarType::float32, ends));
    ends[2] = 5;
    if (with.states.size() == 2) made.push_back(n.draft.b.tensor(name + "f", ScalarType::float32, ends));
    std::vector<Argument> outputs;
    for (const ValueId v : made) outputs.push_back(n.v(v));
    const std::pair<std::string_view, Argument> arguments[] = {
        {"input", n.v(x)},
        {"hx", with.states.size() == 2 ? n.draft.b.list(with.states, ArgumentKind::value) : with.states[0]},
        {"params", n.draft.b.list(with.weights, ArgumentKind::value)},
        {"has_biases", GraphBuilder::boolean(biased)},
        {"num_layers", n.i(count)},
        {"dropout", GraphBuilder::real(0)},
        {"train", GraphBuilder::boolean(false)},
        {"bidirectional", GraphBuilder::boolean(both)},
        {"batch_first", GraphBuilder::boolean(batch_first)}};
    std::vector<Argument> inputs;
    for (const auto& [parameter, argument] : arguments) {
      inputs.push_back(argument);
      inputs.back().name = n.draft.b.text(parameter);
    }
    n.draft.b.node(target, inputs, outputs, n.draft.metadata);
    return made;
  }
  [[nodiscard]] std::vector<ValueId> emit(Net& n, ValueId x, std::int64_t features = 4, const std::string& name = "w",
                                          ValueId begin = no_id) const {
    return call(n, x, operands(n, features, name, begin), name);
  }
};

/// Three handmade steps of tanh(state + row), with one property changed.
struct ByHand {
  std::vector<std::int64_t> rows{0, 1, 2};
  std::vector<std::size_t> joined{0, 1, 2};
  bool other_weight = false, shows_inside = false, shows_state = false, no_bias = false, adds_twice = false;
  std::int64_t all = 3;  ///< number of rows

  [[nodiscard]] ExportedProgram program() const {
    Net n;
    const ValueId x = n.input("x", {all, 2, 4}), h = n.input("h", {1, 2, 5});
    const ValueId w = n.weight("w", {5, 4}), b = n.weight("b", {5}), u = n.weight("u", {5, 5}),
                  other = n.weight("other", {5, 5}), c = n.weight("c", {5});
    const ValueId gates =
        n.op("aten.linear.default", "gates", {all, 2, 5}, {{"input", n.v(x)}, {"weight", n.v(w)}, {"bias", n.v(b)}});
    ValueId state = h;
    std::vector<ValueId> states, outputs;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string name = std::to_string(i);
      const ValueId row = n.op("aten.select.int", "row" + name, {2, 5},
                               {{"self", n.v(gates)}, {"dim", n.i(0)}, {"index", n.i(rows[i])}});
      const ValueId own = n.op("aten.linear.default", "own" + name, {1, 2, 5},
                               {{"input", n.v(state)},
                                {"weight", n.v(other_weight && i == 1 ? other : u)},
                                {"bias", no_bias ? Argument{} : n.v(c)}});
      ValueId sum = n.add("sum" + name, own, row, {1, 2, 5});
      if (adds_twice && i == 1) sum = n.add("twice", sum, row, {1, 2, 5});
      state = n.op("aten.tanh.default", "state" + name, {1, 2, 5}, {{"self", n.v(sum)}});
      if (i == 1 && shows_inside) outputs.push_back(sum);
      if (i == 1 && shows_state) outputs.push_back(state);
      states.push_back(state);
    }
    std::vector<Argument> parts;
    for (const std::size_t i : joined) parts.push_back(n.v(states[i]));
    outputs.push_back(n.op("aten.cat.default", "all", {static_cast<std::int64_t>(parts.size()), 2, 5},
                           {{"tensors", n.draft.b.list(parts, ArgumentKind::value)}, {"dim", n.i(0)}}));
    outputs.push_back(state);
    for (const ValueId v : outputs) n.draft.output(v);
    return n.draft.finish();
  }
};

}  // namespace

TEST_CASE("layers that were taken apart are whole again, and compute the same") {
  for (const std::string_view target :
       {"aten.lstm.input", "aten.gru.input", "aten.rnn_tanh.input", "aten.rnn_relu.input"})
    for (int k = 0; k < (target == "aten.lstm.input" ? 32 : 16); ++k) {
      const Layers layers{.target = target,
                          .count = 1 + k % 2,
                          .both = k / 2 % 2 != 0,
                          .biased = k / 4 % 2 != 0,
                          .batch_first = k / 8 % 2 != 0,
                          .given = k < 16 ? 5 : 2};
      CAPTURE(target);
      CAPTURE(k);
      Net n;
      const ValueId x = layers.batch_first ? n.input("x", {2, 3, 4}) : n.input("x", {3, 2, 4});
      const std::vector<ValueId> made = layers.emit(n, x);
      for (const ValueId v : made) n.draft.output(v);
      const ExportedProgram program = n.draft.finish(), apart = run_decompositions(program);
      REQUIRE(targets(apart).size() > 10);
      const std::optional<ExportedProgram> again = whole(apart);
      REQUIRE(again);
      CHECK(targets(*again) == Texts{std::string(target)});
      CHECK(agree(program, apart, n));
      CHECK(agree(program, *again, n));
      const operators::NodeArguments call(again->view(), 0);
      CHECK(call.flag({"batch_first", 8}, false) == layers.batch_first);
      CHECK(call.integer({"num_layers", 4}, 0) == layers.count);
    }
}

TEST_CASE("layers of which a part alone is needed, and that something comes between, are whole") {
  for (const bool both : {false, true}) {
    CAPTURE(both);
    const std::int64_t directions = both ? 2 : 1;
    Net n;
    const Layers layers{.count = 2, .both = both};
    const std::vector<ValueId> first = layers.emit(n, n.input("x", {3, 2, 4}));
    const ValueId relu = n.relu("relu", first[0], {3, 2, 5 * directions});
    const std::vector<ValueId> second = layers.emit(n, relu, 5 * directions, "v");
    const ValueId end = n.op("aten.select.int", "end", {2, 5},
                             {{"self", n.v(second[1])}, {"dim", n.i(0)}, {"index", n.i(2 * directions - 1)}});
    const ValueId cell =
        n.op("aten.select.int", "cell", {2, 5}, {{"self", n.v(first[2])}, {"dim", n.i(0)}, {"index", n.i(0)}});
    const ExportedProgram program = n.finish({end, cell}), apart = run_decompositions(program);
    const std::optional<ExportedProgram> again = whole(apart);
    REQUIRE(again);
    const Texts left = targets(*again);
    CHECK(std::ranges::count(left, "aten.lstm.input") == 2);
    CHECK(left.size() <= 7);
    CHECK(agree(program, *again, n));
  }
}

TEST_CASE("a layer takes the rows of another one with batch_first, as they are or transposed") {
  for (const bool batch_first : {false, true}) {
    CAPTURE(batch_first);
    Net n;
    const std::vector<ValueId> first =
        Layers{.target = "aten.gru.input", .batch_first = true}.emit(n, n.input("x", {2, 3, 4}));
    ValueId rows = first[0];
    if (!batch_first)
      rows = n.op("aten.permute.default", "turned", {3, 2, 5}, {{"self", n.v(rows)}, {"dims", n.ints({1, 0, 2})}});
    const std::vector<ValueId> second = Layers{.batch_first = batch_first}.emit(n, rows, 5, "v");
    const ExportedProgram program = n.finish({first[0], second[0]});
    const std::optional<ExportedProgram> again = whole(run_decompositions(program));
    REQUIRE(again);
    const Texts left = targets(*again);
    CHECK(std::ranges::count(left, "aten.gru.input") == 1);
    CHECK(std::ranges::count(left, "aten.lstm.input") == 1);
    CHECK(left.size() == (batch_first ? 2u : 3u));
    CHECK(agree(program, *again, n));
  }
}

TEST_CASE("a layer that runs twice becomes two operators, although both begin with the same state") {
  for (const std::string_view target : {"aten.lstm.input", "aten.gru.input"}) {
    CAPTURE(target);
    Net n;
    const Layers layer{.target = target, .biased = false};
    const ValueId x = n.input("x", {3, 2, 4}), y = n.input("y", {3, 2, 4});
    const Layers::Operands same = layer.operands(n);
    const std::vector<ValueId> one = layer.call(n, x, same, "one"), two = layer.call(n, y, same, "two");
    const ExportedProgram program = n.finish({one[0], two[0]});
    const std::optional<ExportedProgram> again = whole(run_decompositions(program));
    REQUIRE(again);
    CHECK(targets(*again) == Texts(2, std::string(target)));
    CHECK(agree(program, *again, n));
  }
}

TEST_CASE("initial states that are not slices of one tensor are joined") {
  Net n;
  const ValueId x = n.input("x", {3, 2, 4});
  ValueId input = x;
  std::vector<ValueId> ends;
  for (const std::string name : {"a", "b"}) {
    const Layers one{.target = "aten.gru.input"};
    const std::vector<ValueId> made = one.emit(n, input, name == "a" ? 4 : 5, name);
    input = made[0];
    ends.push_back(made[1]);
  }
  const ExportedProgram program = n.finish({input, ends[0], ends[1]});
  const std::optional<ExportedProgram> again = whole(run_decompositions(program));
  REQUIRE(again);
  CHECK(targets(*again) == Texts{"aten.cat.default", "aten.gru.input", "aten.slice.Tensor", "aten.slice.Tensor"});
  CHECK(agree(program, *again, n));
}

TEST_CASE("a layer that begins with another's last state is not part of the same operator") {
  Net n;
  const Layers one{.target = "aten.gru.input"};
  const std::vector<ValueId> first = one.emit(n, n.input("x", {3, 2, 4}));
  const std::vector<ValueId> second = one.emit(n, first[0], 5, "v", first[1]);
  const ExportedProgram program = n.finish({second[0], second[1]});
  if (const std::optional<ExportedProgram> again = whole(run_decompositions(program))) CHECK(agree(program, *again, n));
}

TEST_CASE("two layers, one of which begins with the other's last state, become operators") {
  Net n;
  const Layers one{.target = "aten.gru.input"};
  const std::vector<ValueId> first = one.emit(n, n.input("x", {3, 2, 4}));
  const std::vector<ValueId> second = one.emit(n, n.input("y", {3, 2, 4}), 4, "v", first[1]);
  const ExportedProgram program = n.finish({first[0], second[0]});
  const std::optional<ExportedProgram> again = whole(run_decompositions(program));
  REQUIRE(again);
  CHECK(targets(*again) == Texts(2, "aten.gru.input"));
  CHECK(agree(program, *again, n));
}

TEST_CASE("programs without layers stay") {
  CHECK(whole(ByHand().program()));
  CHECK(whole(ByHand{.joined = {2, 0}}.program()) == std::nullopt);                        // a state has another user
  CHECK(whole(ByHand{.rows = {2, 1, 0}, .joined = {2, 1, 0}}.program()) == std::nullopt);  // backwards alone
  CHECK(whole(ByHand{.rows = {0, 2, 1}}.program()) == std::nullopt);
  CHECK(whole(ByHand{.rows = {0, 1, 1}}.program()) == std::nullopt);
  CHECK(whole(ByHand{.joined = {1, 0, 2}}.program()) == std::nullopt);
  CHECK(whole(ByHand{.all = 4}.program()) == std::nullopt);
  CHECK(whole(ByHand{.rows = {0}, .joined = {0}, .all = 1}.program()) == std::nullopt);
  CHECK(whole(ByHand{.other_weight = true}.program()) == std::nullopt);
  CHECK(whole(ByHand{.shows_inside = true}.program()) == std::nullopt);
  CHECK(whole(ByHand{.shows_state = true}.program()) == std::nullopt);
  CHECK(whole(ByHand{.no_bias = true}.program()) == std::nullopt);
  CHECK(whole(ByHand{.adds_twice = true}.program()) == std::nullopt);
}

TEST_CASE("without a backend that takes the layer it stays unrolled") {
  CHECK(whole(ByHand().program(), {}) == std::nullopt);
}
