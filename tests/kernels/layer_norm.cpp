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

/// The largest distance from rows that are normalised in double, summed in type Sum.
template <class Sum>
double error(std::int64_t rows, std::int64_t length, bool weighs, bool shifts) {
  const auto at = [&](std::int64_t row, std::int64_t i) { return static_cast<std::size_t>(row * length + i); };
  std::vector<float> x(at(rows, 0)), y(x.size()), weight(at(1, 0)), bias(at(1, 0)), means(static_cast<std::size_t>(rows)), factors(means.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009) / 100 + 3;
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i % 7) - 2, bias[i] = static_cast<float>(i % 5);
  run_widest<LayerNormRows<Sum>>(rows, length, Sum(1e-5), static_cast<const float*>(x.data()), weighs ? static_cast<const float*>(weight.data()) : nullptr,
                                 shifts ? static_cast<const float*>(bias.data()) : nullptr, y.data(), means.data(), factors.data());
  double worst = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    double mean = 0, squares = 0;
    for (std::int64_t i = 0; i < length; ++i) mean += static_cast<double>(x[at(row, i)]) / static_cast<double>(length);
    for (std::int64_t i = 0; i < length; ++i) squares += std::pow(static_cast<double>(x[at(row, i)]) - mean, 2);
    const double factor = 1 / std::sqrt(squares / static_cast<double>(length) + 1e-5);
    worst = std::fmax(worst, std::fabs(static_cast<double>(means[static_cast<std::size_t>(row)]) - mean));
    worst = std::fmax(worst, std::fabs(static_cast<double>(factors[static_cast<std::size_t>(row)]) / factor - 1));
    for (std::int64_t i = 0; i < length; ++i) {
      const double scale = weighs ? static_cast<double>(weight[at(0, i)]) : 1, shift = shifts ? static_cast<double>(bias[at(0, i)]) : 0;
      worst = std::fmax(worst, std::fabs(static_cast<double>(y[at(row, i)]) - ((static_cast<double>(x[at(row, i)]) - mean) * factor * scale + shift)));
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
  run_widest<LayerNormRows<double>>(std::int64_t{1}, std::int64_t{1}, 1e-5, &x, static_cast<const float*>(nullptr), &bias, &y, static_cast<float*>(nullptr),
                                    static_cast<float*>(nullptr));
  CHECK(y == 2);
}
TEST_CASE("groups of channels that lie side by side are normalised like rows of the same elements") {
  constexpr std::int64_t pixels = 5;
  for (const std::int64_t width : {1, 3, 4, 8, 19, 32, 100})
    for (const bool given : {false, true}) {
      CAPTURE(width);
      const std::int64_t pitch = width + 3;
      std::vector<float> x(static_cast<std::size_t>(pixels * pitch)), y(x.size(), -1), weight(static_cast<std::size_t>(width)), bias(weight.size()), row;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009) / 100 + 3;
      for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i % 7) - 2, bias[i] = static_cast<float>(i % 5);
      for (std::int64_t p = 0; p < pixels; ++p)
        for (std::int64_t c = 0; c < width; ++c) row.push_back(x[static_cast<std::size_t>(p * pitch + c)]);
      run_widest<GroupNormPixels>(pixels, width, pitch, 1e-5, static_cast<const float*>(x.data()), given ? static_cast<const float*>(weight.data()) : nullptr,
                                  given ? static_cast<const float*>(bias.data()) : nullptr, y.data());
      run_widest<LayerNormRows<double>>(std::int64_t{1}, pixels * width, 1e-5, static_cast<const float*>(row.data()), static_cast<const float*>(nullptr),
                                        static_cast<const float*>(nullptr), row.data(), static_cast<float*>(nullptr), static_cast<float*>(nullptr));
      for (std::int64_t p = 0; p < pixels; ++p)
        for (std::int64_t c = 0; c < pitch; ++c) {
          const auto at = static_cast<std::size_t>(p * pitch + c), channel = static_cast<std::size_t>(c);
          const float wanted = c >= width ? -1 : row[static_cast<std::size_t>(p * width + c)] * (given ? weight[channel] : 1) + (given ? bias[channel] : 0);
          CHECK(std::fabs(y[at] - wanted) < 1e-5f);
        }
    }
}
