// SPDX-License-Identifier: MIT
#include "davit/lowering/fold_constants.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "../support/draft.hpp"
#include "davit/backends/portable.hpp"
#include "davit/program/verify.hpp"

using namespace davit;
using support::Draft;

namespace {

std::vector<std::string_view> targets(const ExportedProgram& program) {
  std::vector<std::string_view> out;
  for (const Node& node : program.view().nodes) out.push_back(program.view().target(node));
  return out;
}
/// weight.permute(1, 0), a parameter of 2 x 3.
ValueId permuted(Draft& d, ValueId weight) {
  return d.b.call("aten.permute.default", {{"self", d.b.value(weight)}, {"dims", d.b.ints({1, 0})}}, "permute",
                  ScalarType::float32, {3, 2});
}

}  // namespace

TEST_CASE("fold_constants: a view of a weight becomes a constant in its storage, a computed value one of its own") {
  Draft d;
  const ValueId weight = d.parameter("w", programs::tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  const ValueId x = d.user("x", {3, 2});
  const ValueId view = permuted(d, weight);
  const ValueId negative =
      d.b.call("aten.neg.default", {{"self", d.b.value(view)}}, "neg", ScalarType::float32, {3, 2});
  const ValueId sum = d.b.call("aten.add.Tensor", {{"self", d.b.value(x)}, {"other", d.b.value(view)}}, "sum",
                               ScalarType::float32, {3, 2});
  d.output(d.b.call("aten.add.Tensor", {{"self", d.b.value(sum)}, {"other", d.b.value(negative)}}, "out",
                    ScalarType::float32, {3, 2}));
  const ExportedProgram program = d.finish();
  const auto folded = fold_constants(program, backend_table<portable>);
  REQUIRE(folded);
  CHECK(verify(*folded).empty());
  CHECK(targets(*folded) == std::vector<std::string_view>{"aten.add.Tensor", "aten.add.Tensor"});
  const Tensor* shared = folded->tensor_named("_folded_permute");
  const Tensor* own = folded->tensor_named("_folded_neg");
  REQUIRE(shared != nullptr);
  REQUIRE(own != nullptr);
  CHECK(shared->storage.data() == program.state_dict[0].tensor.storage.data());
  CHECK(shared->strides == std::vector<std::int64_t>{1, 3});
  CHECK(own->view().as<float>()[0] == -1);
}
TEST_CASE("fold_constants: values that depend on inputs, outputs, random values and in-place writes stay") {
  const auto stays = [](auto&& build) {
    Draft d;
    const ValueId weight = d.parameter("w", programs::tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
    const ValueId x = d.user("x", {2, 3});
    d.output(build(d, weight, x));
    return !fold_constants(d.finish(), backend_table<portable>);
  };
  CHECK(stays([](Draft& d, ValueId, ValueId x) {
    return d.b.call("aten._to_copy.default", {{"self", d.b.value(x)}, {"dtype", d.b.scalar_type(ScalarType::float64)}},
                    "cast", ScalarType::float64, {2, 3});
  }));
  CHECK(stays([](Draft& d, ValueId weight, ValueId) { return permuted(d, weight); }));
  CHECK(stays([](Draft& d, ValueId, ValueId x) {
    const ValueId noise =
        d.b.call("aten.rand.default", {{"size", d.b.ints({2, 3})}}, "rand", ScalarType::float32, {2, 3});
    return d.b.call("aten.add.Tensor", {{"self", d.b.value(x)}, {"other", d.b.value(noise)}}, "sum",
                    ScalarType::float32, {2, 3});
  }));
  CHECK(stays([](Draft& d, ValueId weight, ValueId x) {
    const ValueId negative =
        d.b.call("aten.neg.default", {{"self", d.b.value(weight)}}, "neg", ScalarType::float32, {2, 3});
    return d.b.call("aten.add_.Tensor", {{"self", d.b.value(negative)}, {"other", d.b.value(x)}}, "add_",
                    ScalarType::float32, {2, 3});
  }));
}
TEST_CASE("fold_constants: a result larger than declared is not folded, and takes no memory") {
  for (const std::int64_t size : {std::int64_t{8}, std::int64_t{1} << 33}) {
    Draft d;
    const ValueId x = d.user("x", {4});
    const ValueId full = d.b.call("aten.full.default", {{"size", d.b.ints({size})}, {"fill_value", d.b.real(1)}},
                                  "full", ScalarType::float32, {4});
    const ValueId view = d.b.call("aten.neg.default", {{"self", d.b.value(full)}}, "neg", ScalarType::float32, {4});
    d.output(d.b.call("aten.add.Tensor", {{"self", d.b.value(x)}, {"other", d.b.value(view)}}, "sum",
                      ScalarType::float32, {4}));
    CHECK(!fold_constants(d.finish(), backend_table<portable>));
  }
}
TEST_CASE("fold_constants: a backend that refuses a node, or cannot run, folds nothing") {
  Draft d;
  const ValueId weight = d.parameter("w", programs::tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  const ValueId x = d.user("x", {3, 2});
  const ValueId view = permuted(d, weight);
  d.output(d.b.call("aten.add.Tensor", {{"self", d.b.value(x)}, {"other", d.b.value(view)}}, "sum", ScalarType::float32,
                    {3, 2}));
  const ExportedProgram program = d.finish();
  BackendTable refuses = backend_table<portable>;
  refuses.refuses = [](GraphModuleView, NodeId) { return "no"; };
  CHECK(!fold_constants(program, refuses));
  BackendTable absent = backend_table<portable>;
  absent.is_available_fn = [] { return false; };
  CHECK(!fold_constants(program, absent));
}
