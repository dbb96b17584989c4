// SPDX-License-Identifier: MIT
#include "davit/embed/static_program.hpp"

#include <doctest/doctest.h>

#include <string_view>

#include "support/static_toy.hpp"

namespace {

using namespace davit;

constexpr auto text = static_text(
    "aten"
    "relu");
static_assert(std::string_view(text.data(), text.size()) == "atenrelu");
static_assert(static_text("").empty());

static_assert(StaticProgram<static_toy::residual>);
static_assert(StaticProgram<static_program_of<static_toy::make_residual>>);
static_assert(!StaticProgram<int>);
static_assert(static_program_of<static_toy::make_residual>::inputs.size() == 2);
static_assert(static_program_of<static_toy::make_running_total>::outputs.size() == 2);

}  // namespace

TEST_CASE("a hand-written program has its constants") {
  const StaticInput& bias = static_toy::residual::inputs[0];
  CHECK(bias.role == StaticRole::constant);
  CHECK(bias.data.as<float>()[1] == -2.0f);
}
