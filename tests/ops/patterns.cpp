// SPDX-License-Identifier: MIT
#include "davit/ops/patterns.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/core/tensor.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/lowering/detail/pattern.hpp"
#include "davit/lowering/detail/simplifier.hpp"
#include "davit/lowering/rule_evaluator.hpp"
#include "davit/ops/families/attention.hpp"
#include "davit/ops/families/resizing.hpp"
#include "davit/program/verify.hpp"
#include "support/draft.hpp"

using namespace davit;

namespace {

std::vector<const PatternRow*> all_patterns() {
  std::vector<const PatternRow*> rows{&operator_families::linear_step};
  for (const std::span<const PatternRow> family : pattern_tables)
    for (const PatternRow& row : family) rows.push_back(&row);
  for (const PatternRow& row : operator_families::attention_scores) rows.push_back(&row);
  return rows;
}

/// Parses "(x: [2, 3], w: constant[4, 3]) linear(x, w)" to a program; an empty program and the reason if it cannot.
std::pair<ExportedProgram, std::string> program_of(std::string_view example) {
  support::Draft draft;
  std::vector<NamedItem> arguments;
  std::string rule = "test.example(";
  std::string_view list = example.substr(1, example.find(") ") - 1);
  while (!list.empty()) {
    const std::size_t colon = list.find(':'), open = list.find('['), close = list.find(']');
    const std::string_view name = list.substr(0, colon);
    std::vector<std::int64_t> sizes;
    for (std::string_view rest = list.substr(open + 1, close - open - 1); !rest.empty();) {
      sizes.push_back(std::stoll(std::string(rest)));
      const std::size_t comma = rest.find(", ");
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 2);
    }
    ValueId v = no_id;
    if (list.substr(colon, open - colon).find("constant") != std::string_view::npos) {
      v = draft.parameter(name, Tensor::zeros(ScalarType::float32, sizes));
    } else {
      std::vector<Dim> dims, strides(sizes.size(), Dim{1});
      for (const std::int64_t size : sizes) dims.push_back({size});
      for (std::size_t d = sizes.size(); d-- > 1;) strides[d - 1] = {strides[d].value * sizes[d]};
      v = draft.b.declare({.name = draft.b.text(name),
                           .sizes = draft.b.dims(dims),
                           .strides = draft.b.dims(strides),
                           .dtype = ScalarType::float32});
      draft.b.input(GraphBuilder::value(v));
      draft.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{Name::own(name)}});
    }
    arguments.push_back({"", Item::of(GraphBuilder::value(v))});
    (rule += name) += ", ";
    list = list.substr(std::min(close + 3, list.size()));
  }
  draft.output(draft.op("aten.relu.default", "unused", arguments[0].item.value()));
  ExportedProgram program = draft.finish();
  rule.replace(rule.size() - 2, 2, "): ");
  rule += example.substr(example.find(") ") + 2);
  GraphEmitter emit(program.graph_module);
  RuleEvaluator rules(emit);
  rules.keeps = [](const void*, GraphModuleView, NodeId, bool) { return true; };  // composites are not decomposed
  emit.begin(root_graph);
  const Item result = rules.run(rule, arguments);
  if (emit.fault != nullptr) return {ExportedProgram(), emit.fault};
  if (!result.is_value()) return {ExportedProgram(), "the example answers no tensor"};
  emit.module().graphs[root_graph].outputs = emit.list({&result.argument, 1});
  const Name name = Name::own(emit.view().name(result.value()));
  program.graph_module = emit.finish();
  program.signature.output_specs[0] = UserOutputSpec{TensorArgument{name}};
  return {std::move(program), ""};
}
std::ptrdiff_t count_of(GraphModuleView graph, std::string_view written) {
  return std::ranges::count_if(graph.nodes,
                               [&](const Node& node) { return detail::is_written_as(graph.target(node), written); });
}

}  // namespace

TEST_CASE("patterns can be parsed, and use their own names") {
  for (const PatternRow* row : all_patterns()) {
    CAPTURE(row->pattern);
    const detail::Pattern pattern = detail::parse_pattern(*row);
    CHECK(std::string(pattern.mistake == nullptr ? "" : pattern.mistake).empty());
    CHECK(std::ranges::any_of(row->pattern, [](char c) { return c == '('; }));
  }
}

TEST_CASE("a pattern that needs no other one before it has an example") {
  std::size_t without = 0;
  for (const std::span<const PatternRow> family : pattern_tables)
    for (const PatternRow& row : family) without += row.example.empty() ? 1 : 0;
  CHECK(without == 6);  // rows of zeros and ones with unknown sizes, two each
}

TEST_CASE("the example of each pattern becomes the call") {
  const DecomposeOptions portable_takes{.backends = BackendList<portable>::tables()};
  for (const PatternRow* row : all_patterns()) {
    if (row->example.empty()) continue;
    CAPTURE(row->example);
    CAPTURE(row->pattern);
    auto [program, fault] = program_of(row->example);
    REQUIRE(fault == "");
    REQUIRE(verify(program, {.allow_unknown_operators = true}).empty());
    const std::string_view root = detail::pattern_root(row->pattern);
    const std::ptrdiff_t before = count_of(program.view(), root);
    CHECK(before > 0);
    ExportedProgram made = program;
    made.graph_module = detail::Simplifier(program, &portable_takes, true).run();
    CHECK(verify(made, {.allow_unknown_operators = true}).empty());
    CHECK(count_of(made.view(), root) < before);
    const std::string_view call = detail::parse_pattern(*row).call;
    if (call.find('(') != std::string_view::npos) CHECK(count_of(made.view(), call.substr(0, call.find('('))) >= 1);
  }
}
