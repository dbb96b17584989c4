// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/norm.hpp"

#include <doctest/doctest.h>

#include <array>

#include "davit/backend/step_writer.hpp"
#include "davit/backends/portable/run_time/reductions/softmax.hpp"
#include "support/static_kernels_test.hpp"

namespace {

namespace sf = davit::static_kernels;
using davit::ErrorCode;
using davit::EValue;
using davit::portable_kernels::softmax_ops;

constexpr bool check_in_constant_evaluation() {
  const std::array<float, 4> x{3, 3, 3, 3};
  std::array<float, 4> y{};
  sf::softmax<false>::run(sf::Softmax{1, 4, 1}, y.data(), x.data());
  if (y != std::array<float, 4>{0.25f, 0.25f, 0.25f, 0.25f}) return false;
  sf::softmax<true>::run(sf::Softmax{2, 1, 2}, y.data(), x.data());
  return y == std::array<float, 4>{};
}
static_assert(check_in_constant_evaluation());

}  // namespace

TEST_CASE("static softmax: small ones, also in constant evaluation") { CHECK(check_in_constant_evaluation()); }

TEST_CASE("static softmax and log_softmax equal portable's, whose sums are of wide vectors") {
  StaticFloatTest test;
  for (int i = 0; i < 200; ++i) {
    const sf::Softmax p{test.pick(1, 3), test.pick(0, 9) == 0 ? 600 : test.pick(1, 40),
                        test.pick(0, 1) == 0 ? 1 : test.pick(1, 4)};
    const EValue x = test.random_tensor({p.outer, p.count, p.inner});
    CAPTURE(i);
    REQUIRE(test.run(softmax_ops, "aten._softmax.default", {x, EValue(1), EValue(false)}) == ErrorCode::ok);
    std::vector<float> y = test.room();
    sf::softmax<false>::run(p, y.data(), floats(x));
    CHECK(test.far(y) == 0);
    REQUIRE(test.run(softmax_ops, "aten._log_softmax.default", {x, EValue(1), EValue(false)}) == ErrorCode::ok);
    sf::softmax<true>::run(p, y.data(), floats(x));
    CHECK(test.far(y) == 0);
  }
}
