// SPDX-License-Identifier: MIT
#include "davit/testing/detail/reduced_program.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "davit/program/verify.hpp"
#include "support/net.hpp"

using namespace davit;
using support::Net;

TEST_CASE("numbers are rounded to bfloat16 or float16; integers stay") {
  std::vector<float> numbers{1, 1.00390625f, 1.01f, -2};  // the second is a tie, rounded to even
  Tensor t = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{2, 2});
  for (std::size_t i = 0; i < 4; ++i) t.view().as<float>()[i] = numbers[i];
  const Tensor half = testing::as_reduced(t, ScalarType::bfloat16);
  CHECK(half.dtype == ScalarType::bfloat16);
  CHECK(half.sizes == t.sizes);
  const BFloat16* const x = half.view().as<BFloat16>();
  CHECK(float{x[0]} == 1);
  CHECK(float{x[1]} == 1);
  CHECK(float{x[2]} == 1.0078125f);
  CHECK(float{x[3]} == -2);
  const Tensor other = testing::as_reduced(t, ScalarType::float16);
  CHECK(other.dtype == ScalarType::float16);
  CHECK(float{other.view().as<Half>()[1]} == 1.00390625f);
  CHECK(float{other.view().as<Half>()[2]} == 1.009765625f);
  const Tensor whole = Tensor::zeros(ScalarType::int64, std::vector<std::int64_t>{3});
  CHECK(testing::as_reduced(whole, ScalarType::bfloat16).dtype == ScalarType::int64);
}

TEST_CASE("a program of float32 becomes one of 16 bits: values, state and the dtypes that arguments name") {
  for (const ScalarType dtype : {ScalarType::bfloat16, ScalarType::float16}) {
    Net n;
    const auto x = n.input("x", {2, 3});
    const auto w = n.weight("w", {3});
    const auto y =
        n.op("aten._to_copy.default", "y", {2, 3},
             {{"self", n.v(n.add("sum", x, w, {2, 3}))}, {"dtype", GraphBuilder::scalar_type(ScalarType::float32)}});
    ExportedProgram program = n.finish({y});
    testing::make_reduced(program, dtype);
    CHECK(verify(program).empty());
    for (const ValueId v : {x, w, y}) CHECK(program.view().values[v].dtype == dtype);
    CHECK(program.state_dict[0].tensor.dtype == dtype);
    CHECK(program.view().find_input(program.view().nodes[1], "dtype")->payload == static_cast<std::int64_t>(dtype));
  }
}
