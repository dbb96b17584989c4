// SPDX-License-Identifier: MIT
#include "davit/kernels/vector_math.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "davit/kernels/instruction_set.hpp"

using namespace davit;

namespace {

enum class Function { exp, expm1, sigmoid, tanh, erf, round, log, log1p, sin, cos, exp2 };

template <Function F>
struct Apply {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const float* x, float* y, std::int64_t n) {
    using V = kernels::Vector<float, Bytes>;
    for (std::int64_t i = 0; i < n; i += kernels::lanes<float, Bytes>) {
      const V v = kernels::vector_at<Bytes>(x + i);
      V result;
      if constexpr (F == Function::exp) kernels::vector_exp(v, result);
      if constexpr (F == Function::expm1) kernels::vector_expm1(v, result);
      if constexpr (F == Function::sigmoid) kernels::vector_sigmoid(v, result);
      if constexpr (F == Function::tanh) kernels::vector_tanh(v, result);
      if constexpr (F == Function::erf) kernels::vector_erf(v, result);
      if constexpr (F == Function::exp2) kernels::vector_exp2(v, result);
      if constexpr (F == Function::round) kernels::vector_round(v, result);
      if constexpr (F == Function::log) kernels::vector_log(v, result);
      if constexpr (F == Function::log1p) kernels::vector_log1p(v, result);
      if constexpr (F == Function::sin) kernels::vector_sin(v, result);
      if constexpr (F == Function::cos) kernels::vector_cos(v, result);
      kernels::vector_at<Bytes>(y + i) = result;
    }
  }
};

double exact(Function f, double x) {
  switch (f) {
    case Function::exp: return std::exp(x);
    case Function::expm1: return std::expm1(x);
    case Function::sigmoid: return 1 / (1 + std::exp(-x));
    case Function::tanh: return std::tanh(x);
    case Function::erf: return std::erf(x);
    case Function::exp2: return std::exp2(x);
    case Function::round: return std::nearbyint(x);
    case Function::log: return std::log(x);
    case Function::log1p: return std::log1p(x);
    case Function::sin: return std::sin(x);
    case Function::cos: return std::cos(x);
  }
  return 0;
}

/// The largest difference from the exact values in [low, high], in units in the last place.
template <Function F, std::size_t Bytes>
double largest_gap(float low, float high) {
  constexpr std::int64_t count = 1 << 14;
  std::vector<float> x(count), y(count);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = low + (high - low) * (static_cast<float>(i) / static_cast<float>(count));
  kernels::run_on<Apply<F>, Bytes>(static_cast<const float*>(x.data()), y.data(), count);
  double gap = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(F, static_cast<double>(x[i]));
    const float nearest = F == Function::sin || F == Function::cos
                              ? std::max(std::fabs(static_cast<float>(expected)), 0.25f)
                              : std::fabs(static_cast<float>(expected));
    const double unit = static_cast<double>(std::nextafter(nearest, std::numeric_limits<float>::infinity()) - nearest);
    gap = std::max(gap, std::fabs(static_cast<double>(y[i]) - expected) / unit);
  }
  return gap;
}

template <Function F, std::size_t Bytes>
std::vector<float> of(std::vector<float> x) {
  x.resize(16);
  std::vector<float> y(16);
  kernels::run_on<Apply<F>, Bytes>(static_cast<const float*>(x.data()), y.data(), 16);
  return y;
}

template <std::size_t Bytes>
void check() {
  if (Bytes > kernels::widest_vectors()) return;
  CAPTURE(Bytes);
  CHECK(largest_gap<Function::exp, Bytes>(-104.0f, 88.7f) < 2);
  CHECK(largest_gap<Function::expm1, Bytes>(-104.0f, 88.7f) < 4);
  for (const float end : {1.0f, 0.4f, 1e-3f, 1e-30f}) CHECK(largest_gap<Function::expm1, Bytes>(-end, end) < 5);
  CHECK(std::signbit(of<Function::expm1, Bytes>({-0.0f})[0]));
  CHECK(of<Function::expm1, Bytes>(
            {-200.0f, -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()}) ==
        std::vector<float>{-1, -1, std::numeric_limits<float>::infinity(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(std::isnan(of<Function::expm1, Bytes>({std::nanf("")})[0]));
  CHECK(largest_gap<Function::exp, Bytes>(-1.0f, 1.0f) < 2);
  CHECK(largest_gap<Function::sigmoid, Bytes>(-80.0f, 80.0f) < 4);
  CHECK(largest_gap<Function::tanh, Bytes>(-12.0f, 12.0f) < 2);
  CHECK(largest_gap<Function::tanh, Bytes>(-0.7f, 0.7f) < 2);
  CHECK(largest_gap<Function::erf, Bytes>(-5.0f, 5.0f) < 3);
  CHECK(largest_gap<Function::erf, Bytes>(-1.0f, 1.0f) < 3);
  CHECK(largest_gap<Function::exp2, Bytes>(-149.0f, 127.9f) < 2);
  CHECK(largest_gap<Function::exp2, Bytes>(-1.0f, 1.0f) < 2);
  const auto exp2 =
      of<Function::exp2, Bytes>({std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                                 std::nanf(""), 128.0f, -150.0f, 3.0f});
  CHECK((std::isinf(exp2[0]) && exp2[1] == 0 && std::isnan(exp2[2]) && std::isinf(exp2[3]) && exp2[4] == 0 &&
         exp2[5] == 8));
  CHECK(largest_gap<Function::round, Bytes>(-20.0f, 20.0f) == 0);
  CHECK(largest_gap<Function::round, Bytes>(-3e7f, 3e7f) == 0);
  for (const float end : {1e-40f, 1e-20f, 0.9f, 1.1f, 2.0f, 1e10f, 3e38f})
    CHECK(largest_gap<Function::log, Bytes>(end * 0.5f, end) < 3);
  for (const float end : {1e-30f, 1e-4f, 0.5f, 2.0f, 1e6f, 1e20f})
    CHECK(largest_gap<Function::log1p, Bytes>(end < 1 ? -end : 0.0f, end) < 3);
  for (const float end : {1e-20f, 1.0f, 7.0f, 100.0f, 4095.0f, 1e8f}) {
    CHECK(largest_gap<Function::sin, Bytes>(-end, end) < 2);
    CHECK(largest_gap<Function::cos, Bytes>(-end, end) < 2);
  }
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> logs =
      of<Function::log, Bytes>({0.0f, -0.0f, -1.0f, infinity, -infinity, std::nanf(""), 1.0f});
  CHECK((logs[0] == -infinity && logs[1] == -infinity && std::isnan(logs[2]) && logs[3] == infinity &&
         std::isnan(logs[4]) && std::isnan(logs[5]) && logs[6] == 0));
  const std::vector<float> log1ps = of<Function::log1p, Bytes>({-0.0f, -1.0f, -1.5f, infinity, 2e38f, std::nanf("")});
  CHECK((log1ps[0] == 0 && std::signbit(log1ps[0]) && log1ps[1] == -infinity && std::isnan(log1ps[2]) &&
         log1ps[3] == infinity && log1ps[4] == infinity && std::isnan(log1ps[5])));
  for (const auto& sines : {of<Function::sin, Bytes>({infinity, -infinity, std::nanf("")}),
                            of<Function::cos, Bytes>({infinity, -infinity, std::nanf("")})})
    CHECK((std::isnan(sines[0]) && std::isnan(sines[1]) && std::isnan(sines[2])));
  CHECK(std::signbit(of<Function::sin, Bytes>({-0.0f})[0]));
  const std::vector<float> rounded = of<Function::round, Bytes>({-0.3f, 0.5f, 1.5f, -infinity, std::nanf("")});
  CHECK((std::signbit(rounded[0]) && rounded[1] == 0 && rounded[2] == 2 && rounded[3] == -infinity &&
         std::isnan(rounded[4])));
  const std::vector<float> ends{infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), -0.0f, 0.0f,
                                200.0f,   -200.0f};
  const auto exp = of<Function::exp, Bytes>(ends);
  CHECK((exp[0] == infinity && exp[1] == 0 && std::isnan(exp[2]) && exp[3] == 1 && exp[4] == 1 && exp[5] == infinity &&
         exp[6] == 0));
  const auto sigmoid = of<Function::sigmoid, Bytes>(ends);
  CHECK((sigmoid[0] == 1 && sigmoid[1] == 0 && std::isnan(sigmoid[2]) && sigmoid[4] == 0.5f && sigmoid[5] == 1 &&
         sigmoid[6] == 0));
  for (const auto& odd : {of<Function::tanh, Bytes>(ends), of<Function::erf, Bytes>(ends)}) {
    CHECK((odd[0] == 1 && odd[1] == -1 && std::isnan(odd[2]) && odd[3] == 0 && std::signbit(odd[3]) && odd[5] == 1 &&
           odd[6] == -1));
  }
}

struct ExpShifted {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const float* x, float* y, std::int64_t n) {
    static_cast<void>(kernels::exp_shifted_on<double, Bytes>(x, 0.0f, y, n, std::int64_t{1}));
  }
};

/// Whether an element is zero does not depend on its position in the row.
template <std::size_t Bytes>
void check_floor() {
  if (Bytes > kernels::widest_vectors()) return;
  CAPTURE(Bytes);
  for (const float v :
       {kernels::exp_floor, std::nextafter(kernels::exp_floor, -100.0f), -87.2f, -87.5f, -95.0f, -1000.0f}) {
    CAPTURE(v);
    const std::vector<float> x(19, v);  // vectors and a remainder
    std::vector<float> y(19);
    kernels::run_on<ExpShifted, Bytes>(x.data(), y.data(), std::int64_t{19});
    for (const float e : y) CHECK((e == 0) == (v < kernels::exp_floor));
  }
}

/// Calls f.operator()<Bytes>() for the build's vectors and wider ones; f skips those that this CPU lacks.
template <class F>
void for_each_width(F f) {
  f.template operator()<kernels::vector_bytes>();
#if DAVIT_WIDER_VECTORS
  if constexpr (kernels::vector_bytes < 32) f.template operator()<32>();
  f.template operator()<64>();
#endif
}

}  // namespace

TEST_CASE("functions on vectors are right to a few units in the last place, on every instruction set of this CPU") {
  for_each_width([]<std::size_t Bytes>() { check<Bytes>(); });
}

TEST_CASE("exponentials of a softmax are zero below one floor, in vectors and in the remainder of a row") {
  for_each_width([]<std::size_t Bytes>() { check_floor<Bytes>(); });
}
