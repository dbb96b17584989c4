// SPDX-License-Identifier: MIT
#include "davit/embed/select_steps.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;

template <class Program, class... Bs>
constexpr SelectedSteps select() {
  return select_steps<Bs...>(Program::tables.view(), Program::inputs.data(), Program::outputs.data());
}

constexpr bool folds_patterns() {
  const SelectedSteps s = select<residual, calculator>();
  return s.orphans.empty() && s.unwritten.empty() && s.tables.steps.size() == 2 &&
         s.tables.steps[0].kernel == kernel_id<add_relu_kernel> && s.tables.steps[0].node == 2 &&
         s.tables.steps[1].kernel == kernel_id<add_kernel> && s.tables.steps[1].node == 3;
}
static_assert(folds_patterns());

constexpr bool gives_nodes_to_the_first_that_takes_them() {
  const SelectedSteps s = select<residual, adder, calculator>();
  return s.backend_of[0] == 0 && s.backend_of[1] == EmbedGraph::unassigned && s.backend_of[2] == 1 &&
         s.backend_of[3] == 0 && s.tables.steps.size() == 3 &&
         s.tables.steps[1].backend == 1;  // the pattern crosses backends: not folded
}
static_assert(gives_nodes_to_the_first_that_takes_them());

constexpr bool names_orphans() {
  const SelectedSteps s = select<residual, adder>();
  return s.orphans.size() == 1 && s.orphans[0].node == 2 && std::string_view(s.orphans[0].reasons[0]) == "no addition";
}
static_assert(names_orphans());

/// Takes all nodes and writes none.
struct lazy {
  [[maybe_unused]] static constexpr std::string_view name = "lazy";
  using Kernels = kernel_list<>;
  static constexpr const char* embed(const EmbedNode&, StepWriter&) { return nullptr; }
};
constexpr bool sees_what_is_not_written() { return select<residual, lazy>().unwritten.size() == 1; }
static_assert(sees_what_is_not_written());

/// Refuses nodes by `refuses`.
struct says : adder {
  static constexpr const char* refuses(const EmbedNode& n) {
    return n.is("aten.add.Tensor") ? nullptr : "only additions";
  }
};
constexpr bool asks_refuses() {
  const SelectedSteps s = select<residual, says, calculator>();
  return s.backend_of[0] == 0 && s.backend_of[2] == 1;
}
static_assert(asks_refuses());

constexpr bool shares_equal_parameters() {
  const SelectedSteps s = select<static_program_of<make_chain<20>>, calculator>();
  return s.tables.steps.size() == 10 && s.tables.params.size() == 1;
}
static_assert(shares_equal_parameters());

/// An unknown operator, on empty tensors.
constexpr GraphModule make_empty() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {0, 3});
  const ValueId r = b.call("aten.relu.default", {{"self", b.value(x)}}, "r", ScalarType::float32, {0, 3});
  b.end_graph({b.call("is_assigned.unknown.default", {{"self", b.value(r)}}, "y", ScalarType::float32, {0, 3})});
  return std::move(b).finish();
}
constexpr bool leaves_out_what_has_no_elements() {
  const SelectedSteps s = select<static_program_of<make_empty>, adder, calculator>();
  const SelectedSteps one = select<static_program_of<make_empty>, adder>();
  return s.orphans.empty() && s.unwritten.empty() && s.tables.steps.size() == 0 &&
         s.backend_of[0] == EmbedGraph::unassigned && s.backend_of[1] == EmbedGraph::unassigned &&
         one.orphans.empty() && one.tables.steps.size() == 0;
}
static_assert(leaves_out_what_has_no_elements());

}  // namespace

TEST_CASE("steps are selected at run time as in constant evaluation") {
  CHECK(folds_patterns());
  CHECK(gives_nodes_to_the_first_that_takes_them());
  CHECK(names_orphans());
  CHECK(sees_what_is_not_written());
  CHECK(asks_refuses());
  CHECK(shares_equal_parameters());
  CHECK(leaves_out_what_has_no_elements());
}
