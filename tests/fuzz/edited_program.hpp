// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/ops/operator_row.hpp"
#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/testing/random_program.hpp"

/// Programs with consistent tables that declare wrong facts: a random program of the judge's, in which an input's bytes
/// change sizes, types, arguments, operators, lists and weights. Changed bytes of a file seldom get that far.
namespace fuzz {

using namespace davit;

class EditedProgram {
 public:
  /// Input: two bytes for the program's seed, one for its number of steps, then edits of eight bytes each: what, where
  /// (2), how (5).
  explicit EditedProgram(std::span<const std::byte> bytes) : bytes_(bytes) {
    testing::ProgramRecipe recipe = testing::ProgramRecipe::of(take(2));
    const std::size_t steps = 1 + static_cast<std::size_t>(take(1)) % 6;
    if (recipe.steps.size() > steps) recipe.steps.resize(steps);
    program_ = testing::RandomProgram(recipe).program();
    for (int k = 0; k < 16 && bytes_.size() >= 8; ++k) edit();
  }
  [[nodiscard]] const ExportedProgram& program() const noexcept { return program_; }

 private:
  std::uint64_t take(std::size_t count) {
    std::uint64_t out = 0;
    const std::size_t most = std::min(count, bytes_.size());
    std::memcpy(&out, bytes_.data(), most);
    bytes_ = bytes_.subspan(most);
    return out;
  }
  /// Selects a row; nullptr if there are none.
  template <class Row>
  static Row* row(std::vector<Row>& rows, std::uint64_t where) {
    return rows.empty() ? nullptr : &rows[where % rows.size()];
  }
  /// A number as in hostile files: small numbers, powers of two and their neighbours.
  static std::int64_t number(std::uint64_t how) {
    const std::uint64_t kind = how & 0xff, rest = how >> 8;
    if (kind < 160) return static_cast<std::int64_t>(kind % 20) - 4;
    const auto power = std::int64_t{1} << (rest % 63);
    return kind < 192 ? power : kind < 208 ? power - 1 : kind < 224 ? -power : static_cast<std::int64_t>(rest);
  }
  void edit() {
    GraphModule& g = program_.graph_module;
    const std::uint64_t what = take(1), where = take(2), how = take(5);
    const auto edit = [&](auto* at, auto&& change) {
      if (at != nullptr) change(*at);
    };
    switch (what % 16) {
      case 0:
      case 1: return edit(row(g.dims, where), [&](Dim& d) { d.value = number(how); });
      case 2:
        return edit(row(g.dims, where), [&](Dim& d) {
          d.expr = d.is_static() && !g.exprs.empty() ? static_cast<ExprId>(how % g.exprs.size()) : no_id;
        });
      case 3: return edit(row(g.values, where), [&](Value& v) { v.sizes = g.values[how % g.values.size()].sizes; });
      case 4: return edit(row(g.values, where), [&](Value& v) { v.dtype = static_cast<ScalarType>(1 + how % 16); });
      case 5: return edit(row(g.values, where), [&](Value& v) { v.kind = static_cast<ValueKind>(how % 6); });
      case 6:
      case 7: return edit(row(g.arguments, where), [&](Argument& a) { change(a, how); });
      case 8:
        return edit(row(g.arguments, where), [&](Argument& a) {
          if (a.is_list() && a.items.count > 0) --a.items.count;
        });
      case 9: return edit(row(g.nodes, where), [&](Node& n) { n.target = g.nodes[how % g.nodes.size()].target; });
      case 10: return edit(row(g.nodes, where), [&](Node& n) { retarget(n, how); });
      case 11:
        return edit(row(g.nodes, where), [&](Node& n) {
          if (n.inputs.count > 0) --n.inputs.count;
        });
      case 12:
        return edit(row(g.exprs, where), [&](Expr& e) {
          if (how & 1)
            e.value = number(how >> 1);
          else
            e.op = static_cast<ExprOp>((how >> 1) % (static_cast<std::uint64_t>(ExprOp::real) + 1));
        });
      case 13:
        return edit(row(program_.state_dict, where),
                    [&](NamedTensor& t) { t.tensor = program_.state_dict[how % program_.state_dict.size()].tensor; });
      case 14:
        return edit(row(g.graphs, where), [&](Graph& graph) {
          Range& list = how & 1 ? graph.inputs : graph.outputs;
          if (list.count > 0) --list.count;
        });
      default:
        return edit(row(program_.range_constraints, where),
                    [&](RangeConstraint& r) { (how & 1 ? r.min : r.max) = number(how >> 1); });
    }
  }
  /// Another number, or another value or graph.
  void change(Argument& a, std::uint64_t how) {
    const GraphModule& g = program_.graph_module;
    switch (a.kind) {
      case ArgumentKind::value: a.payload = static_cast<std::int64_t>(how % g.values.size()); break;
      case ArgumentKind::graph: a.payload = static_cast<std::int64_t>(how % g.graphs.size()); break;
      case ArgumentKind::bool_: a.payload ^= 1; break;
      case ArgumentKind::int_: a.payload = number(how); break;
      case ArgumentKind::float_: {
        constexpr double numbers[] = {0.0, -0.0, 1e300, -1e300, 1e-300, 0.5, -3, 1e19};
        a.payload = std::bit_cast<std::int64_t>(numbers[how % std::size(numbers)]);
        break;
      }
      case ArgumentKind::none: a.kind = how & 1 ? ArgumentKind::int_ : ArgumentKind::bool_; break;
      case ArgumentKind::scalar_type: a.payload = static_cast<std::int64_t>(how % 20); break;
      default: break;
    }
  }
  /// Any existing operator, with the node's arguments, by position or by the operator's own names.
  void retarget(Node& n, std::uint64_t how) {
    GraphModule& g = program_.graph_module;
    static const std::vector<std::string_view> schemas = [] {
      std::vector<std::string_view> all;
      for (const auto family : operator_tables)
        for (const OperatorRow& row : family)
          if (!row.schema.empty()) all.push_back(row.schema);
      return all;
    }();
    const OperatorSchema schema = parse_schema(schemas[how % schemas.size()]);
    const auto text = [&](std::string_view word) {
      const Text out{static_cast<std::uint32_t>(g.text.size()), static_cast<std::uint32_t>(word.size())};
      g.text.insert(g.text.end(), word.begin(), word.end());
      return out;
    };
    n.target = text(schema.name);
    for (std::uint32_t i = 0; i < n.inputs.count; ++i)
      g.arguments[n.inputs.first + i].name =
          i < schema.parameters.size() && (how >> 32 & 1) ? text(schema.parameters[i].name) : Text{};
  }

  std::span<const std::byte> bytes_;
  ExportedProgram program_;
};

}  // namespace fuzz
