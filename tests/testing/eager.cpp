// SPDX-License-Identifier: MIT
#include "davit/testing/eager.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../support/draft.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/backend_list.hpp"

using namespace davit;
using testing::EagerProgram;
using testing::EagerValue;

namespace {

const BackendTables kernels = BackendList<portable>::tables();

std::vector<float> elements(const EagerValue& value) {
  const Tensor& t = *value.tensor;
  REQUIRE(t.view().is_contiguous());
  const float* data = t.view().as<float>();
  return {data, data + t.numel()};
}

}  // namespace

TEST_CASE("EagerProgram: buffers change from run to run, and state() shows them") {
  const ExportedProgram program = programs::counter(5);
  EagerProgram eager(program, kernels);
  const Tensor x = programs::scalar(2);
  const EValue inputs[] = {x};
  CHECK(programs::item((*eager.run(inputs))[1].value()) == 7);
  CHECK(programs::item((*eager.run(inputs))[1].value()) == 9);
  REQUIRE(eager.state().size() == 1);
  CHECK(programs::item(EValue(eager.state()[0].tensor)) == 9);
  CHECK(programs::item(EValue(program.state_dict[0].tensor)) == 5);
}
TEST_CASE("EagerProgram: a write through a view reaches the input and every other view of it") {
  support::Draft d;
  const ValueId x = d.user("x", {2, 2});
  const ValueId row = d.b.call("aten.select.int", {{"self", d.b.value(x)}, {"dim", d.b.integer(0)}, {"index", d.b.integer(1)}}, "row", ScalarType::float32, {2});
  const ValueId before = d.b.call("aten.neg.default", {{"self", d.b.value(x)}}, "before", ScalarType::float32, {2, 2});
  d.b.call("aten.add_.Tensor", {{"self", d.b.value(row)}, {"other", d.b.real(10)}}, "add_", ScalarType::float32, {2});
  const ValueId after = d.b.call("aten.neg.default", {{"self", d.b.value(x)}}, "after", ScalarType::float32, {2, 2});
  d.output(before);
  d.output(after);
  const ExportedProgram program = d.finish();
  EagerProgram eager(program, kernels);
  const Tensor given = programs::tensor({2, 2}, {1, 2, 3, 4});
  const EValue inputs[] = {given};
  const auto outputs = eager.run(inputs);
  REQUIRE(outputs);
  CHECK(elements((*outputs)[0]) == std::vector<float>{-1, -2, -3, -4});
  CHECK(elements((*outputs)[1]) == std::vector<float>{-1, -2, -13, -14});
  CHECK(given.view().as<float>()[2] == 13);
}
TEST_CASE("EagerProgram: a run that fails leaves inputs and state alone and names the node") {
  support::Draft d;
  const ValueId x = d.user("x", {2});
  d.b.call("aten.add_.Tensor", {{"self", d.b.value(x)}, {"other", d.b.real(10)}}, "add_", ScalarType::float32, {2});
  const ValueId far = d.b.call("aten.select.int", {{"self", d.b.value(x)}, {"dim", d.b.integer(0)}, {"index", d.b.integer(7)}}, "far", ScalarType::float32, {});
  d.output(far);
  const ExportedProgram program = d.finish();
  EagerProgram eager(program, kernels);
  const Tensor given = programs::tensor({2}, {1, 2});
  const EValue inputs[] = {given};
  const auto outputs = eager.run(inputs);
  REQUIRE(!outputs);
  CHECK(outputs.error().where == "node 'far' (aten.select.int)");
  CHECK(given.view().as<float>()[0] == 1);
}
TEST_CASE("EagerProgram: an operator without a kernel is an Error") {
  const ExportedProgram program = programs::echo();
  EagerProgram eager(program, kernels);
  const Tensor x = programs::scalar(1);
  const EValue inputs[] = {x};
  const auto outputs = eager.run(inputs);
  REQUIRE(!outputs);
  CHECK(outputs.error().code == ErrorCode::unsupported_operator);
}
