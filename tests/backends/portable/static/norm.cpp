// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/norm.hpp"

#include <doctest/doctest.h>

#include <array>

#include "davit/backend/step_writer.hpp"
#include "davit/backends/portable/run_time/reductions/batch_norm.hpp"
#include "davit/backends/portable/run_time/reductions/layer_norm.hpp"
#include "support/static_kernels_test.hpp"

namespace {

namespace sf = davit::static_kernels;
using davit::ErrorCode;
using davit::EValue;
using davit::portable_kernels::batch_norm_ops;
using davit::portable_kernels::layer_norm_ops;

const float* floats_or_null(const EValue& v) { return v.is_tensor() ? floats(v) : nullptr; }

constexpr bool check_in_constant_evaluation() {
  const std::array<float, 4> x{1, 3, 5, 7};
  const float* const none = nullptr;
  std::array<float, 4> y{};
  sf::layer_norm::run(sf::layer_norm::Params{2, 2, sf::wide_param(0)}, y.data(), x.data(), none, none);
  if (y != std::array<float, 4>{-1, 1, -1, 1}) return false;
  const std::array<float, 2> mean{1, 5}, variance{4, 1}, weight{2, 3}, bias{0, 1};
  sf::batch_norm::run(sf::batch_norm::Params{1, 2, 2, sf::wide_param(0)}, y.data(), x.data(), weight.data(),
                      bias.data(), mean.data(), variance.data());
  if (y != std::array<float, 4>{0, 2, 1, 7}) return false;
  const std::array<double, 4> wide{1, 3, 5, 7};
  const std::array<double, 2> means{1, 5}, variances{0.25, 4}, bias_of{0, 1};
  std::array<double, 4> z{};
  const sf::batch_norm::Params p{1, 2, 2, sf::number_param(davit::ScalarType::float64, 0, 0)};
  sf::batch_norm::run(p, z.data(), wide.data(), none, bias_of.data(), means.data(), variances.data());
  return z == std::array<double, 4>{0, 4, 1, 2};
}
static_assert(check_in_constant_evaluation());

}  // namespace

TEST_CASE("static normalisation: small ones, also in constant evaluation") { CHECK(check_in_constant_evaluation()); }

TEST_CASE("static layer_norm: the bits of portable's") {
  StaticFloatTest test;
  for (int i = 0; i < 200; ++i) {
    const sf::layer_norm::Params p{test.pick(1, 5), test.pick(1, 70), sf::wide_param(1e-5)};
    const EValue x = test.random_tensor({p.rows, p.length});
    const EValue weight = test.pick(0, 2) == 0 ? EValue() : test.random_tensor({p.length});
    const EValue bias = test.pick(0, 2) == 0 ? EValue() : test.random_tensor({p.length});
    REQUIRE(test.run(layer_norm_ops, "aten.layer_norm.default",
                     {x, test.list({EValue(p.length)}), weight, bias, EValue(1e-5), EValue(true)}) == ErrorCode::ok);
    std::vector<float> y = test.room();
    sf::layer_norm::run(p, y.data(), floats(x), floats_or_null(weight), floats_or_null(bias));
    CAPTURE(i);
    CHECK(test.differences(y) == 0);
  }
}

TEST_CASE("static batch_norm: the bits of portable's in inference") {
  StaticFloatTest test;
  for (int i = 0; i < 100; ++i) {
    const sf::batch_norm::Params p{test.pick(1, 3), test.pick(1, 9), test.pick(1, 40), sf::wide_param(1e-3)};
    const EValue x = test.random_tensor({p.batch, p.channels, p.plane});
    const EValue weight = test.pick(0, 2) == 0 ? EValue() : test.random_tensor({p.channels});
    const EValue bias = test.pick(0, 2) == 0 ? EValue() : test.random_tensor({p.channels});
    const EValue mean = test.random_tensor({p.channels});
    const EValue variance = test.random_tensor({p.channels});
    for (std::int32_t c = 0; c < p.channels; ++c) floats_of(variance)[c] = __builtin_fabsf(floats(variance)[c]);
    REQUIRE(test.run(batch_norm_ops, "aten._native_batch_norm_legit_no_training.default",
                     {x, weight, bias, mean, variance, EValue(0.1), EValue(1e-3)}, 3) == ErrorCode::ok);
    std::vector<float> y = test.room();
    sf::batch_norm::run(p, y.data(), floats(x), floats_or_null(weight), floats_or_null(bias), floats(mean),
                        floats(variance));
    CAPTURE(i);
    CHECK(test.differences(y) == 0);
  }
}
