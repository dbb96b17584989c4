// SPDX-License-Identifier: MIT
#include "davit/embed/control_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "support/static_control.hpp"

namespace {

using namespace davit;
using namespace static_control;
using One = std::array<float, 1>;
using Two = std::array<float, 2>;
using Six = std::array<float, 6>;

template <auto make, class... Options>
using module_of = static_module<static_program_of<make>, Options..., portable>;

constexpr bool branches(float p, float q, Two y, Two z) {
  module_of<make_branches> module;
  Two made{}, other{};
  return module.forward(One{p}, One{q}, Two{1, 2}, made, other).has_value() && made == y && other == z;
}
constexpr bool takes_branches() {
  return branches(1, 1, {4, 7}, {1, 2}) && branches(1, 0, {3, 5}, {1, 2}) && branches(0, 1, {3, 5}, {2, 3}) &&
         branches(0, 0, {3, 5}, {2, 3});
}
static_assert(takes_branches());

constexpr bool loops() {
  module_of<make_loop> module;
  Two a{}, last{};
  bool ok =
      module.forward(One{0}, Two{1, 2}, Two{10, 20}, a, last).has_value() && a == Two{1, 2} && last == Two{12, 23};
  ok = ok && module.forward(One{1}, Two{1, 2}, Two{10, 20}, a, last).has_value() && a == Two{10, 20} &&
       last == Two{15, 28};
  // 1 10 13 25 40: t is 2
  return ok && module.forward(One{3}, Two{1, 2}, Two{10, 20}, a, last).has_value() && a == Two{25, 48} &&
         last == Two{42, 79};
}
static_assert(loops());

constexpr bool scans() {
  module_of<make_scan<false>> forwards;
  module_of<make_scan<true>> backwards;
  const Six x{1, 2, 3, 10, 20, 30};
  Two last{};
  Six sums{}, rows{};
  bool ok = forwards.forward(Two{100, 200}, x, Two{5, 7}, last, sums, rows).has_value();
  ok = ok && last == Two{106, 260} && sums == Six{100, 200, 101, 210, 103, 230} && rows == Six{6, 17, 7, 27, 8, 37};
  ok = ok && backwards.forward(Two{100, 200}, x, Two{5, 7}, last, sums, rows).has_value();
  return ok && last == Two{106, 260} && sums == Six{105, 250, 103, 230, 100, 200} && rows == Six{6, 17, 7, 27, 8, 37};
}
static_assert(scans());

constexpr bool swaps() {
  module_of<make_swap> module;
  Two a{}, b{};
  Six rows{};
  return module.forward(Two{100, 200}, Two{7, 8}, Six{1, 2, 3, 4, 5, 6}, a, b, rows).has_value() && a == Two{7, 8} &&
         b == Two{100, 200} && rows == Six{102, 204, 13, 16, 110, 212};
}
static_assert(swaps());

/// A constant predicate takes one branch: the other costs nothing.
constexpr GraphModule make_known() {
  GraphModule module = make_branches();
  for (Argument& a : module.arguments)
    if (a.is_value() && module.view().name(a.value()) == "if_p") a = GraphBuilder::boolean(true);
  return module;
}
constexpr bool takes_the_known_branch() {
  using Module = module_of<make_known>;
  Module module;
  Two y{}, z{};
  return Module::step_count < module_of<make_branches>::step_count &&
         module.forward(One{0}, One{1}, Two{1, 2}, y, z).has_value() && y == Two{4, 7} && z == Two{1, 2};
}

constexpr bool maps() {
  module_of<make_map> module;
  Six y{};
  return module.forward(Six{3, 1, -1, 5, 10, 10}, Six{1, 1, 1, 1, 4, 3}, y).has_value() &&
         y == Six{0, -2, -1, 5, -2, 1};
}
static_assert(maps());

constexpr bool asserts() {
  module_of<make_asserting> module;
  Two y{};
  const bool ok = module.forward(One{1}, Two{1, 2}, y).has_value() && y == Two{2, 4};
  const Status failed = module.forward(One{0}, Two{1, 2}, y);
  return ok && !failed && failed.error() == Fault(ErrorCode::assertion_failed, 1);
}
static_assert(asserts());

struct Nobody {
  static constexpr std::string_view name = "nobody";
  using Kernels = kernel_list<>;
  static constexpr const char* embed(const EmbedNode&, StepWriter&) { return "not is_assigned"; }
};

struct Counter {
  static inline std::array<int, 16> of{};
  static void after(const StepInfo& step) { ++of[step.index]; }
};

/// The reason of select_steps for the program's last node.
std::string_view refusal_of(GraphModule module) {
  const StaticGraphRows rows(module.view());
  const std::vector<StaticInput> inputs(rows.inputs.size());
  const std::vector<StaticOutput> outputs(rows.outputs.size());
  const SelectedSteps selected = select_steps<portable_static>(rows.view(), inputs.data(), outputs.data());
  return selected.orphans.empty() ? "" : selected.orphans[0].reasons[0];
}
/// A while loop whose body returns these sizes and whose condition this dtype.
GraphModule loop_with(std::initializer_list<std::int64_t> made, ScalarType condition_type, bool same_graph = false) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {2});
  const GraphId condition = b.begin_graph("condition");
  b.input("x1", f32, {2});
  b.end_graph({b.call("aten.zeros.default", {{"size", b.ints({})}}, "zero", condition_type, {})});
  const GraphId body = b.begin_graph("body");
  b.input("x2", f32, {2});
  b.end_graph({b.call("aten.zeros.default", {{"size", b.ints(made)}}, "zeros", f32, made)});
  const ValueId y = b.tensor("y", f32, {2});
  node(b, "higher_order.while_loop",
       {b.subgraph(condition), b.subgraph(same_graph ? condition : body), b.tensors({x}), b.tensors({})}, {y});
  b.end_graph({y});
  return std::move(b).finish();
}

}  // namespace

TEST_CASE("control flow runs as it does in constant evaluation") {
  CHECK(takes_branches());
  CHECK(loops());
  CHECK(scans());
  CHECK(swaps());
  CHECK(takes_the_known_branch());
  CHECK(maps());
  CHECK(asserts());
}

TEST_CASE("control flow belongs to no backend, and contains other backends' steps") {
  static_module<static_program_of<make_branches>, Nobody, portable> module;
  Two y{}, z{};
  REQUIRE(module.forward(One{1}, One{1}, Two{1, 2}, y, z).has_value());
  CHECK(y == Two{4, 7});
  CHECK(decltype(module)::operators() ==
        std::array<std::string_view, 3>{"aten.add.Scalar", "aten.add.Tensor", "aten.gt.Scalar"});
}

TEST_CASE("tensors of control flow may be in the arena, and a hook counts the iterations") {
  static module_of<make_loop, tensors_in_arena, step_hook<Counter>> module;
  module.input<0>()[0] = 3;
  std::ranges::copy(Two{1, 2}, module.input<1>().begin());
  std::ranges::copy(Two{10, 20}, module.input<2>().begin());
  REQUIRE(module.forward().has_value());
  CHECK(module.output<0>()[0] == 25);
  CHECK(module.output<1>()[1] == 79);
  CHECK(Counter::of[0] == 1);
  CHECK(std::ranges::count(Counter::of, 3) >= 3);  // the body's node
  CHECK(std::ranges::count(Counter::of, 4) == 1);  // the condition's node
  CHECK(Counter::of[decltype(module)::step_count] == 0);
}

TEST_CASE("programs that cannot be planned are refused with a reason") {
  CHECK(refusal_of(loop_with({2}, b8)).empty());
  CHECK(refusal_of(loop_with({3}, b8)) ==
        "a carried value is not a tensor, or changes its sizes, which are fixed in a static program");
  CHECK(refusal_of(loop_with({2}, f32)) == "its condition is no bool tensor of one element");
  CHECK(refusal_of(loop_with({2}, b8, true)) == "a sub-graph of it does not fit, or is called elsewhere too");
}
