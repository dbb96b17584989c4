// SPDX-License-Identifier: MIT
#include "davit/backend/debug_handles.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "../programs.hpp"

using namespace davit;

namespace {

constexpr auto f32 = ScalarType::float32;

/// y = x + 1; if p { y + 2; if q { y + 3 } } else { y + 4 }; for { y + 5 }; y + 6
constexpr GraphModule control_flow() {
  GraphBuilder b;
  const auto plus = [&](ValueId y, std::int64_t n, std::string_view name) {
    return b.call("aten.add.Tensor", {{"self", b.value(y)}, {"other", b.integer(n)}}, name, f32, {});
  };
  const auto cond = [&](ValueId p, GraphId yes, GraphId no, ValueId y, std::string_view name) {
    return b.call("higher_order.cond",
                  {{"", b.value(p)}, {"", b.subgraph(yes)}, {"", b.subgraph(no)}, {"", b.tensors({y})}}, name, f32, {});
  };
  b.begin_graph();
  const auto x = b.input("x", f32, {});
  const auto p = b.input("p", ScalarType::bool_, {});
  const auto y = plus(x, 1, "plus1");
  const GraphId yes = b.begin_graph("yes");
  const auto y2 = plus(b.input("y", f32, {}), 2, "plus2");
  const GraphId inner_yes = b.begin_graph("inner_yes");
  b.end_graph({plus(b.input("y", f32, {}), 3, "plus3")});
  const GraphId inner_no = b.begin_graph("inner_no");
  b.end_graph({b.input("y", f32, {})});
  b.end_graph({cond(p, inner_yes, inner_no, y2, "inner_if")});
  const GraphId no = b.begin_graph("no");
  b.end_graph({plus(b.input("y", f32, {}), 4, "plus4")});
  const auto chosen = cond(p, yes, no, y, "if");
  const GraphId body = b.begin_graph("body");
  b.end_graph({plus(b.input("y", f32, {}), 5, "plus5")});
  const auto looped =
      b.call("higher_order.map_impl", {{"", b.subgraph(body)}, {"", b.tensors({chosen})}}, "loop", f32, {});
  b.end_graph({plus(looped, 6, "plus6")});
  return std::move(b).finish();
}

constexpr bool check_order() {
  const GraphModule module = control_flow();
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", module.view());
  const std::vector<DebugHandle> handles = recorder.handle_all();
  const std::string_view expected[] = {"plus1", "if", "loop", "plus6", "plus5", "plus4", "plus2", "inner_if", "plus3"};
  if (map.size() != 9 || handles.size() != 9) return false;
  for (DebugHandle h = 0; h < 9; ++h) {
    DebugInfo info;
    if (!map.find(h, info) || info.node != expected[h] || info.method != "forward") return false;
  }
  for (NodeId id = 0; id < 9; ++id) {
    DebugInfo info;
    if (!map.find(handles[id], info) || info.target != module.view().target(module.nodes[id])) return false;
  }
  return true;
}
static_assert(check_order());

constexpr bool check_repeated() {
  const ProgramTables program = programs::add();
  DebugMap map;
  DebugHandleRecorder recorder(map);
  if (!map.empty()) return false;
  recorder.begin_method("forward", program.view());
  recorder.handle_all();
  recorder.handle_all();
  recorder.begin_method("other", program.view());
  const DebugHandle third = recorder.handle(0);
  DebugInfo info;
  return map.size() == 3 && third == 2 && map.find(1, info) && info.node == "result" && map.find(2, info) &&
         info.method == "other" && !map.find(3, info) && !map.find(-1, info);
}
static_assert(check_repeated());

constexpr std::string_view deep_stack =
    "L__self__,,__main__.C;L__self___B0,B0,__main__.B;L__self___B0_A0,B0.A0,__main__.A";

constexpr bool check_hierarchy() {
  return module_hierarchy(deep_stack) == "top(C) > B0(B) > B0.A0(A)" && module_hierarchy("").empty() &&
         module_hierarchy("k,getattr(self, 'x,y').z,pkg.M") == "getattr(self, 'x,y').z(M)";
}
static_assert(check_hierarchy());

constexpr bool check_caret() {
  return source_with_caret(programs::trace_of_add) ==
             "  File \"/home/user/model.py\", line 5, in forward\n    return x + h\n    ~~~~~~~~~~~~ <--- HERE" &&
         source_with_caret("").empty() && source_with_caret("no frame").empty() &&
         source_with_caret("  File \"m.py\", line 1, in f") == "  File \"m.py\", line 1, in f";
}
static_assert(check_caret());

constexpr bool check_explain() {
  const ProgramTables program = programs::add();
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", program.view());
  const Error known = map.explain({.debug_handle = recorder.handle(0), .what = "w"});
  const Error unknown = map.explain({.debug_handle = 9999});
  const Error none = map.explain({.where = "elsewhere"});
  return known.where == "method 'forward', node 'result' (aten.add.Tensor), module hierarchy top(M)" &&
         known.what == "w" && !known.source.empty() &&
         unknown.where == "debug handle 9999 (no debug information for it)" && unknown.source.empty() &&
         none.where == "elsewhere";
}
static_assert(check_explain());

}  // namespace

TEST_CASE("G02: handles of a graph's nodes in order, then those of the last sub-graph, and so on inwards") {
  CHECK(check_order());
}

TEST_CASE("G03: every request makes a new handle, and all of them are in the map") { CHECK(check_repeated()); }

TEST_CASE("G04: a backend that asks for no handle leaves an empty map") {
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", {});
  CHECK(map.empty());
  CHECK(map.entries().empty());
}

TEST_CASE("G05: a handle knows the source line, the operator and the modules around it") {
  GraphBuilder b;
  b.begin_graph();
  const auto x = b.input("x", f32, {});
  const auto row = b.metadata("File \"m.py\", line 3, in forward\n    return x + y\n", deep_stack);
  b.end_graph({b.call("aten.add.Tensor", {{"self", b.value(x)}, {"other", b.value(x)}}, "add", f32, {}, row)});
  const GraphModule module = std::move(b).finish();
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", module.view());
  DebugInfo info;
  REQUIRE(map.find(recorder.handle(0), info));
  CHECK(info.target == "aten.add.Tensor");
  CHECK(info.stack_trace == "File \"m.py\", line 3, in forward\n    return x + y\n");
  CHECK(module_hierarchy(info.nn_module_stack) == "top(C) > B0(B) > B0.A0(A)");
  CHECK(check_hierarchy());
}

TEST_CASE("G06: a node without metadata has a handle and no source") {
  const GraphModule module = control_flow();
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", module.view());
  DebugInfo info;
  REQUIRE(map.find(recorder.handle(0), info));
  CHECK(info.stack_trace.empty());
  CHECK(map.explain({.debug_handle = 0}).source.empty());
}

TEST_CASE("G07: torch.export has no calls of submodules left to inline, so that every operator has its handle") {
  const GraphModule module = control_flow();
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", module.view());
  for (const DebugHandle handle : recorder.handle_all()) CHECK(handle != no_debug_handle);
}

TEST_CASE("H10: an error names a module hierarchy of any depth, and an unknown handle") {
  CHECK(check_explain());
  CHECK(check_caret());
}

TEST_CASE("texts that several nodes share are kept once") {
  const ProgramTables program = programs::add();
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", program.view());
  recorder.handle(0);
  const std::size_t before = map.text().size();
  recorder.handle(0);
  CHECK(map.text().size() < before + programs::trace_of_add.size());
}
