// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/shapes.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "support/any_size.hpp"

using namespace davit;
using onednn_ops::Shapes;

namespace {

[[nodiscard]] std::shared_ptr<const ProgramBody> function_of_any_size() {
  auto body = std::make_shared<ProgramBody>();
  body->graph = support::tanh_of_any_size().graph_module;
  body->roles = {InputRole::user};
  body->handles.resize(1);
  return body;
}
struct Call {
  Tensor tensor;
  EValue input;
  ShapeKey key;
  explicit Call(std::int64_t n, ScalarType dtype = ScalarType::float32)
      : tensor(Tensor::zeros(dtype, std::vector<std::int64_t>{n})), input(tensor.view()) {
    shape_key({&input, 1}, key);
  }
};

}  // namespace

TEST_CASE("a code is made once for each size; the oldest go") {
  Shapes shapes(function_of_any_size(), {});
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

TEST_CASE("a file may lie about its inputs") {
  Shapes shapes(function_of_any_size(), {});
  const Call bytes(5, ScalarType::int8);
  CHECK(shapes.code_for(bytes.key, {&bytes.input, 1}) == nullptr);
}
