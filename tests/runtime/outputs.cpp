// SPDX-License-Identifier: MIT
#include "davit/runtime/outputs.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace davit;
using enum OutputKind;

namespace {

const std::int64_t sizes[] = {2, 3};
const std::int64_t rows[] = {3, 1};
const std::int64_t columns[] = {1, 2};

/// A method with every kind of output, and its values.
struct Run {
  float numbers[6] = {0, 1, 2, 3, 4, 5};
  std::int64_t counts[6] = {5, 4, 3, 2, 1, 0};
  MethodInterface interface;
  std::vector<EValue> values;
  Run() {
    add({.name = "token", .kind = token}, {});
    add({.name = "add_1", .kind = buffer_mutation, .target = "total"},
        TensorView{numbers, sizes, rows, 2, ScalarType::float32});
    add({.name = "mul_1", .kind = user_input_mutation, .target = "x"},
        TensorView{counts, sizes, rows, 2, ScalarType::int64});
    add({.name = "logits"}, TensorView{numbers, sizes, rows, 2, ScalarType::float32});
    add({.name = "turned"}, TensorView{numbers, sizes, columns, 2, ScalarType::float32});
    add({.name = "loss", .kind = loss_output}, 7);
    add({.name = "grad", .kind = gradient_to_parameter}, 1);
  }
  void add(OutputPort port, EValue value) {
    interface.outputs.push_back(std::move(port));
    values.push_back(value);
  }
  [[nodiscard]] Outputs outputs() const { return {values.data(), interface}; }
};

}  // namespace

TEST_CASE("where forward() returns a dict, its keys name the outputs") {
  Run run;
  run.interface.outputs[3].keys = "past.0";
  const Outputs outputs = run.outputs();
  CHECK(outputs[0].name() == "past.0");
  CHECK(outputs["past.0"].as<float>()->size() == 6);
  CHECK(outputs["logits"].as<float>().error().fix == "the outputs are 'past.0', 'turned', 'loss'");
}

TEST_CASE("outputs are forward()'s results, by number and by name; mutations are separate") {
  const Run run;
  const Outputs outputs = run.outputs();
  CHECK(outputs.size() == 3);
  CHECK(outputs.all().size() == 7);
  CHECK(outputs[0].name() == "logits");
  CHECK(outputs["loss"]->as_int() == 7);
  CHECK(outputs[2].value().as_int() == 7);
  std::string names;
  for (const Output output : outputs) names += output.name();
  CHECK(names == "logitsturnedloss");
  const Mutations mutations = outputs.mutations();
  CHECK(mutations.size() == 2);
  CHECK(mutations[1].name() == "x");
  CHECK(mutations["total"].as<float>()->size() == 6);
  CHECK(mutations["x"].as<std::int64_t>()->front() == 5);
  const MethodInterface nothing;
  CHECK(Outputs(nullptr, nothing).empty());
}

TEST_CASE("elements are of exactly the type asked for, or an Error says of which") {
  const Run run;
  const Outputs outputs = run.outputs();
  const auto logits = outputs["logits"].as<float>();
  REQUIRE(logits);
  CHECK(logits->size() == 6);
  CHECK((*logits)[4] == 4);
  const Error dtype = outputs[0].as<std::int32_t>().error();
  CHECK(dtype.code == ErrorCode::invalid_dtype);
  CHECK(dtype.what == "output 'logits' has elements of float32, not of int32");
  CHECK(outputs["turned"].as<float>().error().code == ErrorCode::invalid_shape);
  CHECK(outputs["loss"].as<float>().error().what == "output 'loss' is of type 'int', not a tensor");
}

TEST_CASE("an unknown output is an Error that lists the existing ones") {
  const Run run;
  const Outputs outputs = run.outputs();
  CHECK(outputs[3]->is_none());
  CHECK(outputs["total"]->is_none());
  const Error name = outputs["scores"].as<float>().error();
  CHECK(name.code == ErrorCode::not_found);
  CHECK(name.what == "there is no output 'scores'");
  CHECK(name.fix == "the outputs are 'logits', 'turned', 'loss'");
  CHECK(outputs[3].clone().error().what == "there is no output 3");
  CHECK(outputs.mutations()["y"].as<float>().error().fix == "the mutations are 'total', 'x'");
  const MethodInterface nothing;
  CHECK(Outputs(nullptr, nothing).mutations()[0].clone().error().fix == "the method has no mutations");
}

TEST_CASE("a clone outlives its original, and is contiguous") {
  Tensor turned;
  {
    const Run run;
    turned = *run.outputs()["turned"].clone();
    CHECK(run.outputs()["loss"].clone().error().code == ErrorCode::invalid_argument);
  }
  const auto elements = turned.as<float>();
  REQUIRE(elements);
  CHECK(std::vector<float>(elements->begin(), elements->end()) == std::vector<float>{0, 2, 4, 1, 3, 5});
}

namespace {
template <class Element, class List>
auto elements_of(const List& outputs) {
  return as<Element>(outputs[0]);
}
}  // namespace

TEST_CASE("as<T>(output) equals its member, and needs no `template` in a template") {
  const Run run;
  CHECK((*elements_of<float>(run.outputs()))[5] == 5);
  CHECK(elements_of<double>(run.outputs()).error().code == ErrorCode::invalid_dtype);
}
