// SPDX-License-Identifier: MIT
#include "davit/program/check_tables.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "../programs.hpp"

using namespace davit;

namespace {

/// True if the example, changed by `damage`, is refused with this place and this text.
template <class Damage>
constexpr bool refused(std::string_view where, std::string_view what, Damage damage) {
  GraphModule m = programs::add({2, 3}).graph_module;
  damage(m);
  const Result<void> checked = check_tables(m.view());
  return !checked && checked.error().code == ErrorCode::corrupt_data && checked.error().where == where &&
         checked.error().what == what;
}

constexpr bool check_references() {
  return refused("table 'values', row 0", "text outside the table",
                 [](GraphModule& m) { m.values[0].name.size = 1u << 31; }) &&
         refused("table 'values', row 0", "text outside the table",
                 [](GraphModule& m) { m.values[0].name = {0xfffffff0u, 0x20}; }) &&
         refused("table 'values', row 1", "dims outside the table",
                 [](GraphModule& m) { m.values[1].sizes = {0xffffffffu, 2}; }) &&
         refused("table 'values', row 1", "the numbers of sizes and strides differ",
                 [](GraphModule& m) { m.values[1].strides.count = 1; }) &&
         refused("table 'values', row 1", "a value that is no tensor has sizes",
                 [](GraphModule& m) { m.values[1].kind = ValueKind::sym_int; }) &&
         refused("table 'values', row 0", "unknown graph", [](GraphModule& m) { m.values[0].graph = 1; }) &&
         refused("table 'values', row 2", "unknown producer", [](GraphModule& m) { m.values[2].producer = 1; }) &&
         refused("table 'values', row 2", "unknown expression", [](GraphModule& m) { m.values[2].expr = 0; }) &&
         refused("table 'values', row 2", "unknown kind",
                 [](GraphModule& m) { m.values[2].kind = static_cast<ValueKind>(9); }) &&
         refused("table 'dims', row 0", "unknown expression", [](GraphModule& m) { m.dims[0].expr = 3; }) &&
         refused("table 'arguments', row 1", "unknown value", [](GraphModule& m) { m.arguments[1].payload = -1; }) &&
         refused("table 'arguments', row 1", "unknown kind",
                 [](GraphModule& m) { m.arguments[1].kind = static_cast<ArgumentKind>(99); }) &&
         refused("table 'nodes', row 0", "arguments outside the table",
                 [](GraphModule& m) { m.nodes[0].inputs.count = 99; }) &&
         refused("table 'nodes', row 0", "unknown metadata row", [](GraphModule& m) { m.nodes[0].metadata = 1; }) &&
         refused("table 'nodes', row 0", "is not in the graph that lists it",
                 [](GraphModule& m) { m.nodes[0].graph = 1; }) &&
         refused("table 'graphs', row 0", "nodes outside the table",
                 [](GraphModule& m) { m.graphs[0].nodes.count = 2; }) &&
         refused("table 'graphs', row 0", "inputs or outputs outside the table",
                 [](GraphModule& m) { m.graphs[0].outputs.first = 99; }) &&
         refused("table 'nodes', row 0", "nodes outside every graph",
                 [](GraphModule& m) { m.graphs[0].nodes.count = 0; }) &&
         refused("table 'graphs', row 0", "there is no root graph",
                 [](GraphModule& m) {
                   m.graphs.clear(), m.values.clear();
                   m.arguments.clear();
                 }) &&
         refused("table 'metadata', row 0", "text outside the table",
                 [](GraphModule& m) { m.metadata[0].custom.size = 1u << 30; }) &&
         refused("table 'metadata', row 0", "a merged row is no earlier row, or a node has too many",
                 [](GraphModule& m) { m.metadata[0].merged = 0; }) &&
         refused("table 'metadata', row 16", "a merged row is no earlier row, or a node has too many",
                 [](GraphModule& m) {
                   for (std::uint32_t row = 0; row < 16; ++row) m.metadata.push_back({.merged = row});
                 });
}
static_assert(check_references());

constexpr bool check_lists_and_exprs() {
  const auto list = [](std::uint32_t first, std::uint32_t count) {
    return [=](GraphModule& m) { m.arguments.push_back({.items = {first, count}, .kind = ArgumentKind::list}); };
  };
  const std::size_t size = programs::add({2, 3}).graph_module.arguments.size();
  const Name row = concat("table 'arguments', row ", size);
  return refused(row, "list items must precede the list", list(static_cast<std::uint32_t>(size), 1)) &&
         refused("table 'arguments', row 0", "unknown sub-graph",
                 [](GraphModule& m) { m.arguments[0] = {.payload = 0, .kind = ArgumentKind::graph}; }) &&
         refused("table 'exprs', row 0", "an operand does not precede its use",
                 [](GraphModule& m) { m.exprs.push_back({.op = ExprOp::add, .a = 0, .b = 0}); }) &&
         refused("table 'exprs', row 0", "unknown operator",
                 [](GraphModule& m) { m.exprs.push_back({.op = static_cast<ExprOp>(999)}); }) &&
         refused("table 'graphs', row 1", "a sub-graph that nothing uses",
                 [](GraphModule& m) { m.graphs.push_back({}); }) &&
         refused(concat("table 'arguments', row ", size + 5), "lists are nested too deeply", [&](GraphModule& m) {
           m.arguments.push_back({.kind = ArgumentKind::none});
           for (std::uint32_t i = 0; i < 6; ++i)
             m.arguments.push_back({.items = {static_cast<std::uint32_t>(size) + i, 1}, .kind = ArgumentKind::list});
         });
}
static_assert(check_lists_and_exprs());

/// Each argument row has one owner: a walk over lists that share rows might never end.
constexpr bool check_owners() {
  const std::size_t size = programs::add({2, 3}).graph_module.arguments.size();
  const auto first = static_cast<std::uint32_t>(size);
  return refused(concat("table 'arguments', row ", size + 2), "an item that belongs to two lists",
                 [=](GraphModule& m) {
                   m.arguments.push_back({.kind = ArgumentKind::none});
                   for (int i = 0; i < 2; ++i) m.arguments.push_back({.items = {first, 1}, .kind = ArgumentKind::list});
                 }) &&
         refused("table 'graphs', row 0", "an argument that belongs to two owners",
                 [](GraphModule& m) { m.graphs[0].outputs = m.graphs[0].inputs; }) &&
         refused("table 'nodes', row 0", "an argument that belongs to two owners",
                 [](GraphModule& m) { m.nodes[0].inputs = m.graphs[0].inputs; }) &&
         refused("table 'exprs', row 0", "an operand does not precede its use",
                 [](GraphModule& m) { m.exprs.push_back({.op = ExprOp::rational, .a = 7, .c = 3}); });
}
static_assert(check_owners());

constexpr bool check_enumerators() {
  return refused("table 'values', row 0", "unknown dtype",
                 [](GraphModule& m) { m.values[0].dtype = static_cast<ScalarType>(99); }) &&
         refused("table 'values', row 0", "unknown layout, or a bool that is neither 0 nor 1",
                 [](GraphModule& m) { m.values[0].requires_grad = 2; }) &&
         refused("table 'arguments', row 0", "a bool that is neither 0 nor 1",
                 [](GraphModule& m) { m.arguments[0] = {.payload = 7, .kind = ArgumentKind::bool_}; }) &&
         refused("table 'arguments', row 0", "unknown dtype",
                 [](GraphModule& m) { m.arguments[0] = {.payload = 256, .kind = ArgumentKind::scalar_type}; }) &&
         refused("table 'arguments', row 0", "unknown layout",
                 [](GraphModule& m) { m.arguments[0] = {.payload = -1, .kind = ArgumentKind::layout}; }) &&
         refused("table 'graphs', row 0", "a bool that is neither 0 nor 1",
                 [](GraphModule& m) { m.graphs[0].is_single_tensor_return = 2; });
}
static_assert(check_enumerators());

}  // namespace

TEST_CASE("every reference of every table must stay inside the tables") { CHECK(check_references()); }
TEST_CASE("an argument belongs to one list, node or graph") { CHECK(check_owners()); }
TEST_CASE("enumerators and bools have valid values") { CHECK(check_enumerators()); }
TEST_CASE("lists and expressions point backwards, sub-graphs form a tree") { CHECK(check_lists_and_exprs()); }
