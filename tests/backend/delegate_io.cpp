// SPDX-License-Identifier: MIT
#include "davit/backend/delegate_io.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "../programs.hpp"

using namespace davit;

namespace {

constexpr bool check_roles() {
  ExportGraphSignature s = programs::seed_signature();
  using enum InputRole;
  if (input_roles(s) != std::vector<InputRole>{constant, constant, state, user, user}) return false;
  s.input_specs.push_back(InputTokenSpec{TokenArgument{"token"}});
  s.input_specs.push_back(InputToCustomObjSpec({"obj", "C"}, "obj"));
  s.input_specs.push_back(InputToTensorConstantSpec({"c_k"}, "k"));
  s.output_specs.push_back(ParameterMutationSpec({"new"}, "my_parameter"));
  if (input_roles(s) != std::vector<InputRole>{state, constant, state, user, user, token, object, constant})
    return false;
  s.unlisted_state = {"my_buffer1", "k"};
  return input_roles(s) == std::vector<InputRole>{state, state, state, user, user, token, object, state};
}
static_assert(check_roles());

}  // namespace

TEST_CASE("values that a method changes are passed at each call; values that it only reads are known to preprocess") {
  CHECK(check_roles());
}
