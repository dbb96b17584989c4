// SPDX-License-Identifier: MIT
#include "davit/kernels/layer_norm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/kernels/instruction_set.hpp"

using namespace davit::kernels;

namespace {

/// The largest difference from rows normalized in double, with sums in type Sum.
template <class Sum>
double error(std::int64_t rows, std::int64_t length, bool weighs, bool shifts) {
  const auto at = [&](std::int64_t row, std::int64_t i) { return static_cast<std::size_t>(row * length + i); };
  std::vector<float> x(at(rows, 0)), y(x.size()), weight(at(1, 0)), bias(at(1, 0)),
      means(static_cast<std::size_t>(rows)), factors(means.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009) / 100 + 3;
  for (std::size_t i = 0; i < weight.size(); ++i)
    weight[i] = static_cast<float>(i % 7) - 2, bias[i] = static_cast<float>(i % 5);
  run_widest<LayerNormRows<Sum>>(rows, length, Sum(1e-5), static_cast<const float*>(x.data()),
                                 weighs ? static_cast<const float*>(weight.data()) : nullptr,
                                 shifts ? static_cast<const float*>(bias.data()) : nullptr, y.data(), means.data(),
                                 factors.data());
  double worst = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    double mean = 0, squares = 0;
    for (std::int64_t i = 0; i < length; ++i) mean += static_cast<double>(x[at(row, i)]) / static_cast<double>(length);
    for (std::int64_t i = 0; i < length; ++i) squares += std::pow(static_cast<double>(x[at(row, i)]) - mean, 2);
    const double factor = 1 / std::sqrt(squares / static_cast<double>(length) + 1e-5);
    worst = std::fmax(worst, std::fabs(static_cast<double>(means[static_cast<std::size_t>(row)]) - mean));
    worst = std::fmax(worst, std::fabs(static_cast<double>(factors[static_cast<std::size_t>(row)]) / factor - 1));
    for (std::int64_t i = 0; i < length; ++i) {
      const double scale = weighs ? static_cast<double>(weight[at(0, i)]) : 1,
                   shift = shifts ? static_cast<double>(bias[at(0, i)]) : 0;
      worst = std::fmax(worst, std::fabs(static_cast<double>(y[at(row, i)]) -
                                         ((static_cast<double>(x[at(row, i)]) - mean) * factor * scale + shift)));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("rows of every length are normalised, with and without weight and bias, summed in double and in float") {
  for (const std::int64_t length : {2, 3, 7, 8, 15, 31, 64, 100, 1000})
    for (const bool weighs : {false, true})
      for (const bool shifts : {false, true}) {
        CAPTURE(length);
        CHECK(error<double>(3, length, weighs, shifts) < 1e-5);
        CHECK(error<float>(3, length, weighs, shifts) < 1e-5);
      }
}
TEST_CASE("a row of one element is its bias") {
  const float x = 3, bias = 2;
  float y = 0;
  run_widest<LayerNormRows<double>>(std::int64_t{1}, std::int64_t{1}, 1e-5, &x, static_cast<const float*>(nullptr),
                                    &bias, &y, static_cast<float*>(nullptr), static_cast<float*>(nullptr));
  CHECK(y == 2);
}
TEST_CASE("groups of channels are normalised like rows of the same elements") {
  constexpr std::int64_t channels = 3;
  for (const std::int64_t plane : {1, 3, 4, 8, 19, 32, 100})
    for (const bool given : {false, true}) {
      CAPTURE(plane);
      std::vector<float> x(static_cast<std::size_t>(channels * plane)), y(x.size() + 1, -1), row(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009) / 100 + 3;
      const float weight[channels]{-2, 0.5f, 3}, bias[channels]{1, 0, -4};
      float mean = 0, inverse = 0;
      run_widest<GroupNorm>(channels, plane, 1e-5, static_cast<const float*>(x.data()), given ? weight : nullptr,
                            given ? bias : nullptr, y.data(), &mean, &inverse);
      run_widest<LayerNormRows<double>>(std::int64_t{1}, channels * plane, 1e-5, static_cast<const float*>(x.data()),
                                        static_cast<const float*>(nullptr), static_cast<const float*>(nullptr),
                                        row.data(), static_cast<float*>(nullptr), static_cast<float*>(nullptr));
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t c = i / static_cast<std::size_t>(plane);
        CHECK(std::fabs((x[i] - mean) * inverse - row[i]) < 1e-5f);
        CHECK(std::fabs(y[i] - (row[i] * (given ? weight[c] : 1) + (given ? bias[c] : 0))) < 2e-5f);
      }
      CHECK(y.back() == -1);
    }
}
