// SPDX-License-Identifier: MIT
#include "davit/embed/freeze_plan.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string_view>

#include "support/static_toy.hpp"

namespace {

using namespace davit;
using namespace static_toy;

using Good = planned<residual, calculator>;
static_assert(Good::sizes.steps == 2 && Good::sizes.width == 3 && Good::sizes.problem == 0);
static_assert(Good::rows.kernels[0] == 1 && Good::rows.kernels[1] == 0 && Good::rows.nodes[1] == 3);
static_assert(Good::rows.codes[0] != 0 && Good::rows.codes[2] != 0 && Good::rows.codes[3] == 0);
static_assert(Good::params<add_kernel, Good::frozen.steps[1].first_param>.count == 4);

using Bad = planned<residual, adder>;
constexpr auto problem = Bad::problem();
static_assert(std::string_view(problem.data(), problem.size()) == "active = aten.relu.default (adder: no addition)");

/// Writes a table that exceeds the estimated size.
struct big_table {
  static constexpr std::string_view name = "big_table";
  struct kernel {
    struct Params {};
    static constexpr void run(const Params&, float* y, const float*, const std::int16_t* table) noexcept {
      y[0] = table[999];
    }
  };
  using Kernels = kernel_list<kernel>;
  static constexpr const char* embed(const EmbedNode& n, StepWriter& steps) {
    std::array<std::int16_t, 1000> numbers{};
    numbers[999] = 7;
    steps.step<kernel>({}).out(n.output()).in(n.value("self")).table<std::int16_t>(numbers);
    return nullptr;
  }
};
using Big = planned<static_program_of<make_chain<1>>, big_table>;
static_assert(!Big::sizes.fits(Big::room));
static_assert(Big::sizes.i16 == 1000 && Big::table<std::int16_t>()[999] == 7);

}  // namespace

TEST_CASE("operand codes tell operands apart and are never 0") {
  CHECK(operand_code({}) != 0);
  CHECK(operand_code({.place = StaticPlace::arena, .offset = 16}) !=
        operand_code({.place = StaticPlace::arena, .offset = 32}));
  CHECK(operand_code({.place = StaticPlace::arena, .writable = 1}) != operand_code({.place = StaticPlace::arena}));
}
