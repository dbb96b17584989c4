// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/floats.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "backends/onednn/check.hpp"
#include "davit/testing/detail/reduced_program.hpp"

using namespace davit;
using onednn_check::numbers_at;
using onednn_ops::Builder;
using onednn_ops::Code;
using onednn_ops::DataType;
using onednn_ops::Place;
using onednn_ops::plain;
using onednn_ops::strided;
using support::Net;

TEST_CASE("a value of another dtype is float32 where it is needed so, a constant if at all") {
  for (const ScalarType dtype : {ScalarType::bfloat16, ScalarType::float16}) {
    Net net;
    const ValueId x = net.input("x", {2, 3}), y = net.input("y", {2, 3});
    GraphModule graph = net.draft.b.module();
    for (const ValueId v : {x, y}) graph.values[v].dtype = dtype;
    Code code;
    Builder builder(graph.view(), code, false);
    Tensor numbers = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{2, 3});
    for (int i = 0; i < 6; ++i) numbers.view().as<float>()[i] = static_cast<float>(i + 1);
    builder.place(x, builder.add_constant(onednn_ops::plain_of(graph.view(), x),
                                          testing::as_reduced(std::move(numbers), dtype).storage));
    const Place floats = onednn_ops::floats(builder, x);
    CHECK(floats.md == plain({2, 3}, DataType::f32));
    CHECK(code.constants[code.storages[floats.storage].index].size() == 0);
    CHECK(numbers_at(builder, builder.reordered(floats, strided({2, 3}, {1, 2}, DataType::f32))) ==
          std::vector<float>{1, 4, 2, 5, 3, 6});
    CHECK(code.constants[code.storages[floats.storage].index].size() == 0);
    CHECK(numbers_at(builder, floats) == std::vector<float>{1, 2, 3, 4, 5, 6});
    CHECK(code.steps.empty());
    builder.begin_step(no_debug_handle, "aten.relu.default", 1);
    onednn_ops::place_floats(builder, y, builder.add_scratch(plain({2, 3}, DataType::f32)));
    CHECK(builder.place_of(y).md.get_size() == 12);
    CHECK(code.steps.size() == 1);
    CHECK(onednn_ops::type_of(builder.reordered(onednn_ops::floats(builder, y), plain({2, 3}, DataType::f32)).md) ==
          DataType::f32);
    CHECK(code.steps.size() == 2);
  }
}

TEST_CASE("values that the library converts in a reorder keep their layout") {
  if (!onednn_ops::has_wide_vectors()) return;
  Net net;
  const ValueId x = net.input("x", {2, 3});
  GraphModule graph = net.draft.b.module();
  graph.values[x].dtype = ScalarType::bfloat16;
  Code code;
  Builder builder(graph.view(), code, false);
  builder.place(x, builder.add_scratch(strided({2, 3}, {1, 2}, DataType::bf16)));
  CHECK(onednn_ops::floats(builder, x).md == builder.place_of(x).md);
  CHECK(code.steps.empty());
}
