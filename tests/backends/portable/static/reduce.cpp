// SPDX-License-Identifier: MIT
#include "davit/backends/portable/static/reduce.hpp"

#include <doctest/doctest.h>

#include <array>

#include "davit/backend/step_writer.hpp"
#include "davit/backends/portable/run_time/reductions/reductions.hpp"
#include "support/static_kernels_test.hpp"

namespace {

namespace sf = davit::static_kernels;
using davit::ErrorCode;
using davit::EValue;
using davit::portable_kernels::reduction_ops;

/// The reduction of a contiguous tensor over the dimensions of a mask.
constexpr sf::Reduce reduction(const std::array<std::int32_t, 4>& sizes, unsigned mask) {
  sf::Reduce r;
  for (std::size_t d = 0; d < 4; ++d) {
    std::int32_t stride = 1;
    for (std::size_t e = d + 1; e < 4; ++e) stride *= sizes[e];
    (void)((mask >> d & 1) != 0 ? r.group : r.kept).push(sizes[d], {stride});
  }
  return r;
}

constexpr bool check_in_constant_evaluation() {
  const std::array<float, 6> x{1, 2, 3, 4, 9, 6};
  const sf::Reduce rows = reduction({1, 1, 2, 3}, 8);
  std::array<float, 2> y{};
  sf::mean(rows, x.data(), y.data());
  if (y[0] != 2 || y[1] < 6.33f || y[1] > 6.34f) return false;
  std::array<std::int64_t, 2> at{};
  sf::arg_extreme<true>(rows, x.data(), at.data());
  std::array<float, 3> columns{};
  sf::sum(reduction({1, 1, 2, 3}, 4), x.data(), columns.data());
  return at == std::array<std::int64_t, 2>{2, 1} && columns == std::array<float, 3>{5, 11, 9};
}
static_assert(check_in_constant_evaluation());

}  // namespace

TEST_CASE("static reductions: small ones, also in constant evaluation") { CHECK(check_in_constant_evaluation()); }

TEST_CASE("static reductions: the bits of portable's") {
  StaticFloatTest test;
  for (unsigned mask = 1; mask < 16; ++mask) {
    const std::array<std::int32_t, 4> sizes{test.pick(1, 3), test.pick(1, 5), test.pick(1, 6), test.pick(1, 20)};
    const EValue x = test.random_tensor({sizes[0], sizes[1], sizes[2], sizes[3]});
    if (mask % 4 == 0) floats_of(x)[0] = __builtin_nanf("");
    const sf::Reduce r = reduction(sizes, mask);
    std::vector<EValue> dims;
    for (int d = 0; d < 4; ++d)
      if ((mask >> d & 1) != 0) dims.push_back(EValue(d - 4));
    const EValue list = std::span<const EValue>(dims);
    CAPTURE(mask);
    const auto check = [&](std::string_view name, auto&& kernel) {
      std::vector<EValue> arguments{x, list, EValue(false)};
      if (name != "aten.amax.default" && name != "aten.amin.default") arguments.push_back(EValue());
      REQUIRE(test.run(reduction_ops, name, arguments) == ErrorCode::ok);
      std::vector<float> y = test.room();
      kernel(y.data());
      CHECK(test.differences(y) == 0);
    };
    check("aten.mean.dim", [&](float* y) { sf::mean(r, floats(x), y); });
    check("aten.sum.dim_IntList", [&](float* y) { sf::sum(r, floats(x), y); });
    check("aten.amax.default", [&](float* y) { sf::extreme<true>(r, floats(x), y); });
    check("aten.amin.default", [&](float* y) { sf::extreme<false>(r, floats(x), y); });
    if (dims.size() != 1) continue;
    REQUIRE(test.run(reduction_ops, "aten.argmax.default", {x, dims[0], EValue(false)}) == ErrorCode::ok);
    std::vector<std::int64_t> at(static_cast<std::size_t>(test.outputs[0].tensor().numel()));
    sf::arg_extreme<true>(r, floats(x), at.data());
    CHECK(std::equal(at.begin(), at.end(), test.outputs[0].tensor().as<std::int64_t>()));
  }
}
