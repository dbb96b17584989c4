// SPDX-License-Identifier: MIT
#include "davit/kernels/softmax.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "davit/kernels/instruction_set.hpp"

using namespace davit::kernels;

namespace {

/// Runs a line on elements `step` apart.
template <class Line, class... More>
std::vector<float> line(const std::vector<float>& x, std::int64_t step, More... more) {
  std::vector<float> y = x;
  run_widest<Line>(static_cast<const float*>(y.data()), static_cast<std::int64_t>(x.size()) / step, step, y.data(),
                   more...);
  return y;
}
constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("softmax and its logarithm of lines of every length, in place") {
  for (const std::int64_t step : {1, 3})
    for (const std::int64_t count : {1, 2, 7, 16, 37, 256, 300, 1025}) {
      CAPTURE(count);
      std::vector<float> x(static_cast<std::size_t>(count * step), 5);
      double sum = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        x[static_cast<std::size_t>(i * step)] = static_cast<float>((i * 7919) % 1009) / 100 - 3;
        sum += std::exp(static_cast<double>(x[static_cast<std::size_t>(i * step)]));
      }
      const std::vector<float> y = line<SoftmaxLine<double>>(x, step, false),
                               logs = line<LogSoftmaxLine<double>>(x, step);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double v = static_cast<double>(x[i]);
        const bool walked = i % static_cast<std::size_t>(step) == 0;
        CHECK(std::fabs(static_cast<double>(y[i]) - (walked ? std::exp(v) / sum : v)) < 1e-6);
        CHECK(std::fabs(static_cast<double>(logs[i]) - (walked ? v - std::log(sum) : v)) < 3e-6);
      }
    }
}
TEST_CASE("softmax across adjacent lines equals that of each line, on every instruction set, in place") {
  for (const std::int64_t inner : {2, 4, 15, 16, 37, 64, 70, 131})
    for (const std::int64_t count : {1, 2, 7, 300})
      for (const bool safe : {false, true}) {
        CAPTURE(inner);
        CAPTURE(count);
        const std::int64_t outer = 2;
        std::vector<float> x(static_cast<std::size_t>(outer * count * inner)), expected;
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 7919) % 1009) / 100 - 3;
        const auto column = [&](std::int64_t at, float v) {
          for (std::int64_t r = 0; r < count; ++r) x[static_cast<std::size_t>(r * inner + at)] = v;
        };
        column(1, -infinity);
        x[0] = std::nanf("");
        expected = x;
        std::vector<float> logs = x;
        run_widest<MiddleLines<SoftmaxLine<double>>>(static_cast<const float*>(expected.data()), outer, count, inner,
                                                     expected.data(), safe);
        run_widest<MiddleLines<LogSoftmaxLine<double>>>(static_cast<const float*>(logs.data()), outer, count, inner,
                                                        logs.data());
        const auto same = [](const std::vector<float>& y, const std::vector<float>& wanted) {
          bool all = true;
          for (std::size_t i = 0; i < y.size(); ++i)
            all = all && (std::isnan(wanted[i]) ? std::isnan(y[i])
                                                : y[i] == wanted[i] || std::fabs(y[i] - wanted[i]) <=
                                                                           1e-6f * std::fabs(wanted[i]) + 1e-9f);
          return all;
        };
        const auto across = [&]<std::size_t Bytes>() {
          if (Bytes > widest_vectors()) return;
          std::vector<float> y = x;
          run_on<SoftmaxAcross<double>, Bytes>(static_cast<const float*>(y.data()), outer, count, inner, y.data(),
                                               safe);
          CHECK(same(y, expected));
          y = x;
          run_on<SoftmaxAcross<double, true>, Bytes>(static_cast<const float*>(y.data()), outer, count, inner, y.data(),
                                                     false);
          CHECK(same(y, logs));
        };
        across.operator()<vector_bytes>();
#if DAVIT_WIDER_VECTORS
        if constexpr (vector_bytes < 32) across.operator()<32>();
        across.operator()<64>();
#endif
      }
}
TEST_CASE("log_softmax of a row of one is 0, also for -0; small powers count beside the largest") {
  for (const float x : {-0.0f, 0.0f, 2.5f, -1e30f}) {
    const float y = line<LogSoftmaxLine<double>>({x}, 1)[0];
    CHECK(y == 0);
    CHECK_FALSE(std::signbit(y));
  }
  const float nearly_0 = line<LogSoftmaxLine<double>>({0, -20}, 1)[0];
  CHECK(std::fabs(static_cast<double>(nearly_0) + std::exp(-20.0)) < 1e-14);
  std::vector<float> many(64, -25);
  many[0] = 0;
  CHECK(std::fabs(static_cast<double>(line<LogSoftmaxLine<double>>(many, 1)[0]) + 63 * std::exp(-25.0)) < 1e-14);
}
TEST_CASE("NaN makes a line NaN; a line of minus infinity is zeros if it is to be safe") {
  for (const std::int64_t step : {1, 2})
    for (std::size_t at = 0; at < 40; at += 2) {
      std::vector<float> x(40, 1);
      x[at] = std::nanf("");
      for (const std::vector<float>& y :
           {line<SoftmaxLine<double>>(x, step, false), line<LogSoftmaxLine<double>>(x, step)})
        for (std::size_t i = 0; i < x.size(); i += static_cast<std::size_t>(step)) CHECK(std::isnan(y[i]));
    }
  const std::vector<float> masked(37, -infinity);
  CHECK(line<SoftmaxLine<double>>(masked, 1, true) == std::vector<float>(37, 0));
  CHECK(std::isnan(line<SoftmaxLine<double>>(masked, 1, false)[36]));
}
