// SPDX-License-Identifier: MIT
#include "davit/backend/static_constant.hpp"

#include <doctest/doctest.h>

namespace {

using namespace davit;

inline constexpr std::array<std::int64_t, 3> zero_points{1, 2, 3};
constexpr StaticInput constant = constant_input(zero_points);
static_assert(constant.role == StaticRole::constant && constant.data.is_array() && constant.data.bytes() == 24);
static_assert(constant.data.as<std::int64_t>()[2] == 3);
static_assert(ConstantData::in_blob(ScalarType::int8, 10, 32).bytes() == 10);
static_assert(state_input().data.place == ConstantData::Place::none);
static_assert(mutation_of(3).role == StaticOutputRole::mutation && mutation_of(3).target == 3);

}  // namespace

TEST_CASE("constants are read by their type") {
  static constexpr std::array<float, 2> floats{1, 2};
  static constexpr std::array<bool, 2> bools{false, true};
  CHECK(ConstantData::in_array(floats).as<float>()[1] == 2.0f);
  CHECK(ConstantData::in_array(bools).as<bool>()[1]);
}
