// SPDX-License-Identifier: MIT
#include "davit/training/replace_weights.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "../support/draft.hpp"
#include "../support/error_in.hpp"

using namespace davit;
using support::Draft;
using support::error_in;

namespace {

/// x + a + b + c, whose parameter `b` has the second name `tied`.
ExportedProgram program() {
  Draft d;
  const ValueId a = d.parameter("a", 1), b = d.parameter("b", 2);
  const ValueId c = d.buffer("c", 3, false);
  d.output(d.add("z", d.add("y", d.add("w", d.user("x"), a), b), c));
  ProgramTables tables = d.finish();
  tables.state_dict.push_back({"tied", tables.state_dict[1].tensor});
  return tables;
}
float item(const ExportedProgram& program, std::string_view name) {
  return programs::item(EValue(program.tensor_named(name)->view()));
}

}  // namespace

TEST_CASE("weights go to the parameters and buffers of their names, ties included") {
  ExportedProgram p = program();
  const NamedTensor weights[] = {
      {"b", programs::scalar(20)}, {"c", programs::scalar(30)}, {"optimizer.exp_avg.b", programs::scalar(40)}};
  CHECK(replace_weights(p, weights) == std::size_t{3});
  CHECK(item(p, "a") == 1);
  CHECK(item(p, "b") == 20);
  CHECK(item(p, "tied") == 20);
  CHECK(item(p, "c") == 30);
}

TEST_CASE("a prefix names the module that holds the program's") {
  ExportedProgram p = program();
  const NamedTensor weights[] = {{"model.a", programs::scalar(10)}, {"b", programs::scalar(20)}};
  CHECK(replace_weights(p, weights, "model.") == std::size_t{1});
  CHECK(item(p, "a") == 10);
  CHECK(item(p, "b") == 2);
  const NamedTensor others[] = {{"model.a", programs::scalar(11)}};
  const Error error = error_in(replace_weights(p, others));
  CHECK(error.code == ErrorCode::not_found);
  CHECK(error.fix == "the prefix 'model.' fits 'a'");
  CHECK(error_in(replace_weights(p, others, "net.")).code == ErrorCode::not_found);
  CHECK(error_in(replace_weights(p, {})).code == ErrorCode::not_found);
}

TEST_CASE("tensors that do not fit are an error, and the program does not change") {
  ExportedProgram p = program();
  std::vector<NamedTensor> weights{{"a", programs::scalar(10)}, {"b", Tensor::zeros(ScalarType::float64, {})}};
  Error error = error_in(replace_weights(p, weights));
  CHECK(error.code == ErrorCode::invalid_dtype);
  CHECK(error.where == "weights, 'b'");
  const std::int64_t sizes[] = {1};
  weights[1].tensor = Tensor::zeros(ScalarType::float32, sizes);
  error = error_in(replace_weights(p, weights));
  CHECK(error.code == ErrorCode::invalid_shape);
  CHECK(error.stage == Stage::load);
  CHECK(item(p, "a") == 1);
}

TEST_CASE("tensors whose elements are not there are an error, and the program does not change") {
  ExportedProgram p = program();
  Tensor none = programs::scalar(20), beyond = none, more_strides = none;
  none.storage = {};
  beyond.storage_offset = 1;
  more_strides.strides = {1};
  for (const Tensor& bad : {none, beyond, more_strides}) {
    const NamedTensor weights[] = {{"a", programs::scalar(10)}, {"b", bad}};
    const Error error = error_in(replace_weights(p, weights));
    CHECK(error.code == ErrorCode::invalid_argument);
    CHECK(error.where == "weights, 'b'");
    CHECK(item(p, "a") == 1);
    CHECK(item(p, "b") == 2);
  }
}
