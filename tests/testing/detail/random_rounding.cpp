// SPDX-License-Identifier: MIT
#include "davit/testing/detail/random_rounding.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "programs.hpp"

using namespace davit;

TEST_CASE("random rounding: fractions are slightly off, small integers, NaN and infinities stay") {
  testing::RandomRounding rounding(7);
  const Tensor x = programs::tensor({4}, {3, 0.3f, -5, INFINITY});
  bool moved = false;
  for (int i = 0; i < 20; ++i) {
    rounding.round(x);
    const float* at = x.view().as<float>();
    CHECK(at[0] == 3);
    CHECK(at[2] == -5);
    CHECK(at[3] == INFINITY);
    CHECK(std::fabs(at[1] - 0.3f) < 2e-5f);
    moved = moved || at[1] != 0.3f;
  }
  CHECK(moved);
  CHECK(!rounding.met_large_numbers());
  rounding.round(programs::tensor({1}, {1e20f}));
  CHECK(rounding.met_large_numbers());
}

TEST_CASE_TEMPLATE("random rounding: any 16-bit number is off by at most two units", T, BFloat16, Half) {
  testing::RandomRounding rounding(7);
  const float unit = std::is_same_v<T, Half> ? 0x1p-9f : 0x1p-6f;
  bool up = false, down = false, same = false;
  for (int i = 0; i < 50; ++i) {
    const Tensor x = Tensor::zeros(scalar_type_of<T>, std::vector<std::int64_t>{2});
    T* const at = x.view().as<T>();
    at[0] = T(3.0f);
    rounding.round(x);
    CHECK(at[1] == 0);
    (at[0] > 3 ? up : at[0] < 3 ? down : same) = true;
    CHECK(std::fabs(at[0] - 3) <= 2 * unit);
  }
  CHECK((up && down && same));
  CHECK(!rounding.met_large_numbers());
}

TEST_CASE("random rounding: the sign of a chosen zero, and the remainder of gelu far below 0") {
  testing::RandomRounding rounding(7);
  bool minus = false, plus = false;
  float least = 1, most = -1;
  for (int i = 0; i < 50; ++i) {
    const Tensor zero = programs::tensor({1}, {0});
    rounding.after("aten.relu_.default", zero, {});
    (std::signbit(*zero.view().as<float>()) ? minus : plus) = true;
    const Tensor kept = programs::tensor({1}, {0});
    rounding.after("aten.add.Tensor", kept, {});
    CHECK(!std::signbit(*kept.view().as<float>()));
    const Tensor made = programs::tensor({1}, {-1e-5f}), input = programs::tensor({1}, {-4});
    const EValue inputs[] = {input};
    rounding.after("aten.gelu.default", made, inputs);
    least = std::min(least, *made.view().as<float>());
    most = std::max(most, *made.view().as<float>());
  }
  CHECK(minus);
  CHECK(plus);
  CHECK(most - least > 1e-7f);
  CHECK(most - least < 1e-5f);
}
