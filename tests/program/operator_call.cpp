// SPDX-License-Identifier: MIT
#include "davit/program/operator_call.hpp"

#include <doctest/doctest.h>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;

namespace {

constexpr bool check_plain() {
  const ProgramTables program = programs::add();
  const GraphModuleView graph = program.view();
  const OperatorCall call = operator_call(graph, graph.nodes[0]);
  return call.target == "aten.add.Tensor" && call.inputs.size() == 2 && call.outputs.size() == 1 &&
         call.token == nullptr;
}
static_assert(check_plain());

constexpr bool check_effect() {
  Draft d;
  const ValueId t = d.token("t");
  const auto [next, sum] = d.effect("next", "sum", t, d.user("x"), 1.0);
  d.output_token(next);
  d.output(sum);
  const ProgramTables program = d.finish();
  const GraphModuleView graph = program.view();
  const OperatorCall call = operator_call(graph, graph.nodes[0]);
  return call.target == "toy.note.default" && call.inputs.size() == 2 && call.outputs.size() == 1 &&
         call.token->value() == next;
}
static_assert(check_effect());

constexpr bool check_names() {
  using enum InPlace;
  return in_place("aten.add_.Tensor") == self && in_place("aten.add.Tensor") == no &&
         in_place("aten.atan2.out") == out && in_place("my.op_.default") == self &&
         in_place("aten.__and__.Tensor") == no && in_place("_operator.and_") == no && in_place("") == no &&
         in_place("add_") == no && in_place(".out") == no && in_place("higher_order.cond") == no &&
         in_place("aten.__iand__.Tensor") == self && in_place("aten.__ilshift__.Scalar") == self &&
         in_place("aten.pow.Tensor_Scalar_out") == out && in_place("aten.max.dim_max") == out &&
         in_place("aten.sort.values_stable") == out && in_place("aten._slow_conv2d_backward.output_mask") == no &&
         in_place("mine.op.values") == no;
}

bool matters(std::string_view target) { return storage_matters(programs::binary(target).view()); }

/// The number of arguments that a batch norm of this name writes; `trains` is the value of its flag, if it has one.
constexpr int statistics(std::string_view target, bool trains) {
  Draft d;
  const ValueId x = d.user("x", {2, 1}), mean = d.user("mean", {1}), variance = d.user("variance", {1});
  const ValueId out = d.like(x, "out");
  d.node(target, {d.b.value(x), d.b.none(), d.b.none(), d.b.value(mean), d.b.value(variance), d.b.boolean(trains)},
         {out});
  d.output(out);
  const ProgramTables program = d.finish();
  const GraphModuleView graph = program.view();
  int written = 0;
  for_each_written(graph, operator_call(graph, graph.nodes[0]),
                   [&](const Argument& a) { written += a.value() == mean || a.value() == variance ? 1 : 10; });
  return writes_in_place(graph) == (written != 0) ? written : -1;
}
constexpr bool check_statistics() {
  for (const std::string_view target : {"aten.batch_norm.default", "aten._native_batch_norm_legit.default",
                                        "aten.native_batch_norm.default", "aten.instance_norm.default"})
    if (statistics(target, true) != 2 || statistics(target, false) != 0) return false;
  return statistics("aten._batch_norm_with_update.default", false) == 2 &&
         statistics("aten._native_batch_norm_legit_functional.default", true) == 0;
}
static_assert(check_statistics());

}  // namespace

TEST_CASE("normalizations that train write to their running statistics, which their names do not say") {
  CHECK(check_statistics());
}

TEST_CASE("a node's operator is its own, or the one that with_effects wraps") {
  CHECK(check_plain());
  CHECK(check_effect());
}

TEST_CASE("in-place and out= forms are known by their names") { CHECK(check_names()); }

TEST_CASE("storage matters to operators that write, and to those that read strides") {
  for (const std::string_view target :
       {"aten.add_.Tensor", "aten.atan2.out", "aten.as_strided.default", "aten.sym_stride.int",
        "aten.sym_storage_offset.default", "aten.is_contiguous.default"})
    CHECK(matters(target));
  for (const std::string_view target :
       {"aten.add.Tensor", "aten.view.default", "aten.__and__.Tensor", "noname", ".out"})
    CHECK(!matters(target));
}
