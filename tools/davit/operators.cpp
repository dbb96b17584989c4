// SPDX-License-Identifier: MIT
#include "davit/ops/operators.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "commands.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backend/program_body.hpp"
#include "davit/lowered/lowered_program.hpp"
#include "davit/lowered/text_table.hpp"
#include "davit/ops/operator_group.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/rules.hpp"
#include "davit/program/operator_call.hpp"
#include "runner.hpp"
#include "static_ir.hpp"
#include "suggestion.hpp"
#ifdef DAVIT_WITH_ONEDNN
#include "davit/backends/onednn/op_table.hpp"
#endif
#ifdef DAVIT_WITH_XNNPACK
#include "davit/backends/xnnpack/op_table.hpp"
#endif

namespace tool {

namespace {

using namespace davit;

/// True if one of the rows has this operator.
[[nodiscard]] bool has(const auto& rows, std::string_view name) {
  return std::ranges::any_of(rows, [&](const auto& row) { return row.name == name; });
}

/// Notes the groups of the kernels that a lowered program's partitions on portable call.
void add_groups(const LoweredProgram& program, std::array<bool, operator_group_count>& groups) {
  for (const LoweredMethod& method : program.methods())
    for (const LoweredDelegate& delegate : method.delegates) {
      if (!program.backends().name(delegate.backend).starts_with(portable::name)) continue;
      const GraphModuleView graph =
          static_cast<const portable::Processed*>(delegate.processed.get())->body->graph.view();
      for (NodeId n = 0; n < graph.nodes.size(); ++n) {
        const auto found =
            portable_kernels::find_op(portable_kernels::OpSet{}, graph, n, called_operator(graph, graph.nodes[n]));
        groups[static_cast<std::size_t>(found.group)] = true;
      }
    }
}

/// Prints the type that models need: portable_of<...>.
int print_groups(const std::vector<std::string>& models) {
  std::array<bool, operator_group_count> groups{};
  for (const std::string& model : models) {
    Result<Runner> runner = Runner::open(model, {});
    if (!runner) {
      std::fprintf(stderr, "davit: %s\n", to_string(runner.error()).c_str());
      return 2;
    }
    add_groups(runner->program(), groups);
  }
  std::string type;
  for (std::size_t g = 0; g < groups.size(); ++g)  // those that every portable_of has are not named
    if (groups[g] && OperatorGroup{static_cast<std::uint8_t>(g)} > OperatorGroup::movement)
      type.append(type.empty() ? "" : ", ").append("davit::ops::").append(operator_group_names[g]);
  print("davit::portable_of<%s>\n", type.c_str());
  return 0;
}

}  // namespace

std::string backend_names() {
  std::string names;
  Backends::for_each([&]<class B, std::size_t>() {
    if constexpr (!std::same_as<B, Second>) names += (names.empty() ? "" : ", ") + std::string(B::name);
  });
  return names;
}
std::string version() { return std::string("davit ") + DAVIT_VERSION + ", backends: " + backend_names(); }

int operators(const OperatorsCommand& options) {
  if (!options.models.empty()) return print_groups(options.models);
  std::set<std::string> names;
  for (const auto family : operator_tables)
    for (const OperatorRow& row : family)
      for (const std::string_view text : {row.schema, row.rule})
        if (!text.empty() && !text.starts_with('$')) names.emplace(operator_name(text));
  TextTable table{{"operator", "portable", "static", "int8"}, {false, false, false, false}, {}};
#ifdef DAVIT_WITH_ONEDNN
  table.headline.push_back("onednn");
#endif
#ifdef DAVIT_WITH_XNNPACK
  table.headline.push_back("xnnpack");
#endif
  table.numeric.resize(table.headline.size(), false);
  for (const std::string& name : names) {
    if (!name.contains(options.part)) continue;
    const bool whole = portable_kernels::find_op(name) != nullptr;
    const StaticOperator fixed = static_operator(name);
    std::vector<std::string> row{name,
                                 whole                              ? "yes"
                                 : find_decomposition(name).empty() ? ""
                                                                    : "parts",
                                 fixed.any ? "yes" : "", fixed.int8 ? "yes" : ""};
#ifdef DAVIT_WITH_ONEDNN
    row.push_back(has(onednn_ops::op_table, name) ? "yes" : "");
#endif
#ifdef DAVIT_WITH_XNNPACK
    row.push_back(xnnpack_parts::find_rule(name) != nullptr ? "yes" : "");
#endif
    table.rows.push_back(std::move(row));
  }
  if (table.rows.empty()) {
    std::vector<std::string> known(names.begin(), names.end());
    for (const std::string& name : names)
      if (const std::size_t from = name.find('.') + 1; from != 0)
        known.push_back(name.substr(from, name.find('.', from) - from));
    const std::string nearest = nearest_word(options.part, known);
    std::fprintf(stderr, "davit: there is no operator with '%s' in its name%s\n", printable(options.part).c_str(),
                 nearest.empty() ? "; davit operators lists all" : ("; did you mean '" + nearest + "'?").c_str());
    return 2;
  }
  print("%s%zu operators; parts: it is taken apart into others\n", table.print().c_str(), table.rows.size());
  return 0;
}

}  // namespace tool
