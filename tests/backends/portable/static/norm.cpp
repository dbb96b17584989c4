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
  std::array<float, 4> y{};
  sf::layer_norm(sf::LayerNorm{2, 2, 0}, x.data(), nullptr, nullptr, y.data());
  if (y != std::array<float, 4>{-1, 1, -1, 1}) return false;
  const std::array<float, 2> mean{1, 5}, variance{4, 1}, weight{2, 3}, bias{0, 1};
  sf::batch_norm(sf::BatchNorm{1, 2, 2, 0}, x.data(), weight.data(), bias.data(), mean.data(), variance.data(),
                 y.data());
  return y == std::array<float, 4>{0, 2, 1, 7};
}
static_assert(check_in_constant_evaluation());

}  // namespace

TEST_CASE("static normalisation: small ones, also in constant evaluation") { CHECK(check_in_constant_evaluation()); }

TEST_CASE("static layer_norm: the bits of portable's") {
  StaticFloatTest test;
  for (int i = 0; i < 200; ++i) {
    const sf::LayerNorm p{test.pick(1, 5), test.pick(1, 70), 1e-5};
    const EValue x = test.random_tensor({p.rows, p.length});
    const EValue weight = test.pick(0, 2) == 0 ? EValue() : test.random_tensor({p.length});
    const EValue bias = test.pick(0, 2) == 0 ? EValue() : test.random_tensor({p.length});
    REQUIRE(test.run(layer_norm_ops, "aten.layer_norm.default",
                     {x, test.list({EValue(p.length)}), weight, bias, EValue(1e-5), EValue(true)}) == ErrorCode::ok);
    std::vector<float> y = test.room();
    sf::layer_norm(p, floats(x), floats_or_null(weight), floats_or_null(bias), y.data());
    CAPTURE(i);
    CHECK(test.differences(y) == 0);
  }
}

TEST_CASE("static batch_norm: the bits of portable's in inference") {
  StaticFloatTest test;
  for (int i = 0; i < 100; ++i) {
    const sf::BatchNorm p{test.pick(1, 3), test.pick(1, 9), test.pick(1, 40), 1e-3};
    const EValue x = test.random_tensor({p.batch, p.channels, p.plane});
    const EValue weight = test.pick(0, 2) == 0 ? EValue() : test.random_tensor({p.channels});
    const EValue bias = test.pick(0, 2) == 0 ? EValue() : test.random_tensor({p.channels});
    const EValue mean = test.random_tensor({p.channels});
    const EValue variance = test.random_tensor({p.channels});
    for (std::int32_t c = 0; c < p.channels; ++c) floats_of(variance)[c] = __builtin_fabsf(floats(variance)[c]);
    REQUIRE(test.run(batch_norm_ops, "aten._native_batch_norm_legit_no_training.default",
                     {x, weight, bias, mean, variance, EValue(0.1), EValue(1e-3)}, 3) == ErrorCode::ok);
    std::vector<float> y = test.room();
    sf::batch_norm(p, floats(x), floats_or_null(weight), floats_or_null(bias), floats(mean), floats(variance),
                   y.data());
    CAPTURE(i);
    CHECK(test.differences(y) == 0);
  }
}
