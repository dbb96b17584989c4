// SPDX-License-Identifier: MIT
#include "davit/formats/embed/state.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/embed_program.hpp"
#include "davit/program/graph_builder.hpp"

namespace {

using namespace davit;
using formats::EmbedState;

/// A method that adds its input to a buffer, or only reads the buffer.
ExportedProgram adder(std::string_view buffer, ScalarType dtype, std::initializer_list<std::int64_t> sizes, float first,
                      bool changes) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId s = b.input("s", dtype, sizes), x = b.input("x", dtype, sizes);
  const ValueId y = b.call("aten.add.Tensor", {{"self", b.value(s)}, {"other", b.value(x)}}, "y", dtype, sizes);
  if (changes)
    b.end_graph({y, y});
  else
    b.end_graph({y});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.signature.input_specs = {InputToBufferSpec({"s"}, Name::own(buffer), true),
                                   UserInputSpec{TensorArgument{"x"}}};
  if (changes) program.signature.output_specs.push_back(BufferMutationSpec{{"y"}, Name::own(buffer)});
  program.signature.output_specs.push_back(UserOutputSpec{TensorArgument{"y"}});
  Tensor initial = Tensor::zeros(dtype, std::vector<std::int64_t>(sizes));
  if (dtype == ScalarType::float32) initial.view().as<float>()[0] = first;
  program.state_dict.push_back({Name::own(buffer), std::move(initial)});
  return program;
}
Result<EmbedState> state_of(const ExportedProgram& a, const ExportedProgram& b) {
  const std::array<ProgramMethod, 2> methods{{{"go", &a}, {"look", &b}}};
  return EmbedState::make(methods);
}
std::string text_of(const Result<EmbedState>& state) {
  return state ? std::string() : std::string(concat(state.error().where, ": ", state.error().what).view());
}
constexpr auto f32 = ScalarType::float32;

}  // namespace

TEST_CASE("a buffer that one method changes is state of all that have it, from one element on") {
  const ExportedProgram a = adder("a", f32, {3}, 0, true), b = adder("b", f32, {2, 2}, 0, true),
                        c = adder("c", ScalarType::int64, {5}, 0, true);
  const ExportedProgram read = adder("b", f32, {2, 2}, 0, false), other = adder("d", f32, {7}, 0, false);
  const std::array<ProgramMethod, 5> methods{{{"a", &a}, {"read", &read}, {"b", &b}, {"c", &c}, {"other", &other}}};
  const Result<EmbedState> state = EmbedState::make(methods);
  REQUIRE(state.has_value());
  const auto first = [&](const ExportedProgram& program) { return state->first(program.signature.input_specs[0]); };
  CHECK(first(a) == 0);
  CHECK(first(b) == 3);
  CHECK(first(read) == 3);
  CHECK(first(c) == 0);  // the first int64
  CHECK_FALSE(state->has(other.signature.input_specs[0]));
  CHECK_FALSE(state->has(a.signature.input_specs[1]));
}

TEST_CASE("state of one name is the same in all methods") {
  const ExportedProgram zeros = adder("cache.k", f32, {3}, 0, true);
  CHECK(state_of(zeros, adder("cache.k", f32, {3}, 0, false)).has_value());
  CHECK(state_of(zeros, adder("k", f32, {4}, 1, true)).has_value());
  for (const bool changes : {false, true}) {
    CHECK(text_of(state_of(zeros, adder("cache.k", f32, {1, 3}, 0, changes))) ==
          "state cache.k: methods share state by name: 'go' has it as float32 [3], 'look' has it as float32 [1, 3]");
    CHECK(text_of(state_of(zeros, adder("cache.k", ScalarType::int32, {3}, 0, changes))) ==
          "state cache.k: methods share state by name: 'go' has it as float32 [3], 'look' has it as int32 [3]");
    CHECK(text_of(state_of(zeros, adder("cache.k", f32, {3}, 1, changes))) ==
          "state cache.k: methods 'go' and 'look' share it by name, and have other initial values for it");
  }
  // constants, which no method changes
  CHECK(state_of(adder("c", f32, {3}, 0, false), adder("c", f32, {3}, 1, false)).has_value());
}

TEST_CASE("the error reaches the caller of embed") {
  const ExportedProgram a = adder("s", f32, {3}, 0, true), b = adder("s", f32, {3}, 1, false);
  const std::array<ProgramMethod, 2> methods{{{"go", &a}, {"look", &b}}};
  const auto refused = formats::embed_program(methods, {.name = "p"});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().where == "state s");
  CHECK(refused.error().stage == Stage::save);
}
