// SPDX-License-Identifier: MIT
#include "davit/program/exported_program.hpp"

#include <doctest/doctest.h>

#include "../programs.hpp"

using namespace davit;

namespace {

constexpr bool check_lookup() {
  ProgramTables p = programs::seed();
  p.constants.push_back({"k", {.dtype = ScalarType::int64, .sizes = {}, .strides = {}, .storage = {}}});
  p.constants.push_back({"my_parameter", {.dtype = ScalarType::int64, .sizes = {}, .strides = {}, .storage = {}}});
  const ProgramTables copy = p;
  return copy.tensor_named("my_parameter") == &copy.state_dict[0].tensor &&
         copy.tensor_named("k") == &copy.constants[0].tensor && copy.tensor_named("nosuch") == nullptr &&
         copy.signature == p.signature && copy.view().nodes.size() == 5;
}
static_assert(check_lookup());

}  // namespace

TEST_CASE("tensors are looked up in the state dict, then among the constants") { CHECK(check_lookup()); }

TEST_CASE("a copy of a program shares its weights") {
  const ExportedProgram program = programs::counter(3);
  const ExportedProgram copy = program;
  CHECK(copy.state_dict[0].tensor.storage.data() == program.state_dict[0].tensor.storage.data());
}
