// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/shapes.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "support/draft.hpp"

using namespace davit;
using onednn_ops::ShapeKey;
using onednn_ops::Shapes;

namespace {

/// tanh(x) of s0 elements.
[[nodiscard]] std::shared_ptr<const ProgramBody> function_of_any_size() {
  support::Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ValueId x = d.user("x", s0);
  const ValueId y = d.sized("y", s0);
  const Argument in = GraphBuilder::value(x), out = GraphBuilder::value(y);
  d.b.node("aten.tanh.default", {&in, 1}, {&out, 1}, d.metadata);
  d.output(y);
  auto body = std::make_shared<ProgramBody>();
  body->graph = d.finish().graph_module;
  body->roles = {InputRole::user};
  body->handles.resize(1);
  return body;
}
struct Call {
  Tensor tensor;
  EValue input;
  ShapeKey key;
  explicit Call(std::int64_t n) : tensor(Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{n})), input(tensor.view()) {
    onednn_ops::shape_key({&input, 1}, key);
  }
};

}  // namespace

TEST_CASE("a code is made once for each size; the oldest go") {
  Shapes shapes(function_of_any_size(), 1, true);
  const Call five(5), six(6), none(0);
  CHECK(five.key == ShapeKey{5});
  const auto first = shapes.code_for(five.key, {&five.input, 1});
  REQUIRE(first != nullptr);
  CHECK(shapes.code_for(six.key, {&six.input, 1}) != first);
  CHECK(shapes.code_for(five.key, {&five.input, 1}) == first);
  CHECK(shapes.code_for(none.key, {&none.input, 1}) == nullptr);  // the library takes no empty tensors
  for (std::int64_t n = 10; n < 10 + static_cast<std::int64_t>(Shapes::most); ++n) {
    const Call call(n);
    CHECK(shapes.code_for(call.key, {&call.input, 1}) != nullptr);
  }
  CHECK(shapes.code_for(five.key, {&five.input, 1}) != first);
}
