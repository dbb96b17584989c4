// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/convolve.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "support/convolution_products.hpp"

using namespace davit;
using namespace davit::portable_kernels;

namespace {

/// Small integers: sums of their products are exact in any order, fused or not.
template <class C>
std::vector<C> numbers(std::mt19937& random, std::int64_t count) {
  std::vector<C> result(static_cast<std::size_t>(count));
  for (C& x : result) x = static_cast<C>(static_cast<std::int64_t>(random() % 15) - 7);
  return result;
}

ConvolutionMap random_map(std::mt19937& random) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(n));
  };
  ConvolutionMap m;
  m.batch = 1 + below(3);
  m.groups = below(3) == 0 ? 1 + below(4) : 1;
  m.channels = m.groups * (below(3) == 0 ? 1 : 1 + below(5));
  m.filters = m.groups * (1 + below(below(2) == 0 ? 3 : 12));
  const bool deep = below(5) == 0;
  for (std::size_t d = 0; d < 3; ++d) {
    const bool flat = d == 0 && !deep;
    m.kernel[d] = flat || below(4) == 0 ? 1 : 1 + below(4);
    m.stride[d] = flat || below(2) == 0 ? 1 : 1 + below(3);
    m.dilation[d] = flat || below(3) != 0 ? 1 : 1 + below(3);
    m.padding[d] = flat || below(3) == 0 ? 0 : below(below(6) == 0 ? 40 : 3);
    const std::int64_t reach = (m.kernel[d] - 1) * m.dilation[d] + 1;
    m.image[d] = flat ? 1 : 1 + below(deep ? 6 : 20);
    const std::int64_t padded = m.image[d] + 2 * m.padding[d] + (flat ? 0 : below(2));  // sometimes more at the end
    if (padded < reach) m.image[d] += reach - padded;
    m.places[d] = (m.image[d] + 2 * m.padding[d] - reach) / m.stride[d] + 1;
  }
  return m;
}

std::string text(const ConvolutionMap& m) {
  std::string s = "batch " + std::to_string(m.batch) + " groups " + std::to_string(m.groups) + " channels " +
                  std::to_string(m.channels) + " filters " + std::to_string(m.filters);
  for (std::size_t d = 0; d < 3; ++d)
    s += " | " + std::to_string(m.image[d]) + " -> " + std::to_string(m.places[d]) + " kernel " +
         std::to_string(m.kernel[d]) + " stride " + std::to_string(m.stride[d]) + " padding " +
         std::to_string(m.padding[d]) + " dilation " + std::to_string(m.dilation[d]);
  return s;
}

template <class C>
void check_convolution(std::uint32_t seed, std::mt19937& random, const ConvolutionMap& m) {
  INFO("seed " << seed << ": " << text(m));
  const auto image = numbers<C>(random, m.batch * m.channels * volume(m.image));
  const auto weight = numbers<C>(random, m.filters * m.taps());
  const auto responses = numbers<C>(random, m.batch * m.filters * volume(m.places));
  const auto bias = numbers<C>(random, std::max(m.filters, m.channels));
  const C* added = seed % 3 == 0 ? nullptr : bias.data();
  std::vector<C> work(static_cast<std::size_t>(convolution_work<C>(m)));

  std::vector<C> out(responses.size()), expected(responses.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (added != nullptr)
      expected[i] = bias[i / static_cast<std::size_t>(volume(m.places)) % static_cast<std::size_t>(m.filters)];
  support::each_product(
      m, [&](auto x, auto y, auto w) { expected[std::size_t(y)] += image[std::size_t(x)] * weight[std::size_t(w)]; });
  convolve<C>(m, image.data(), weight.data(), added, work.data(), out.data());
  CHECK(out == expected);
  if constexpr (std::is_same_v<C, float>) {
    const auto factors = numbers<C>(random, m.filters), shifts = numbers<C>(random, m.filters);
    portable_kernels::RowEpilogue epilogue{.low = -20, .high = 30};
    if (seed % 4 != 0) epilogue.factors = factors.data(), epilogue.shifts = shifts.data(), epilogue.rows = m.filters;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::size_t filter = i / static_cast<std::size_t>(volume(m.places)) % static_cast<std::size_t>(m.filters);
      if (epilogue.factors != nullptr) expected[i] = expected[i] * factors[filter] + shifts[filter];
      expected[i] = std::min(std::max(expected[i], epilogue.low), epilogue.high);
    }
    convolve<C>(m, image.data(), weight.data(), added, work.data(), out.data(), epilogue);
    CHECK(out == expected);
  }

  std::vector<C> back(image.size()), expected_back(image.size());
  for (std::size_t i = 0; i < back.size(); ++i)
    if (added != nullptr)
      expected_back[i] = bias[i / static_cast<std::size_t>(volume(m.image)) % static_cast<std::size_t>(m.channels)];
  support::each_product(m, [&](auto x, auto y, auto w) {
    expected_back[std::size_t(x)] += responses[std::size_t(y)] * weight[std::size_t(w)];
  });
  convolve_adjoint<C>(m, responses.data(), weight.data(), added, work.data(), back.data());
  CHECK(back == expected_back);

  std::vector<C> gradient(weight.size()), expected_gradient(weight.size());
  support::each_product(m, [&](auto x, auto y, auto w) {
    expected_gradient[std::size_t(w)] += responses[std::size_t(y)] * image[std::size_t(x)];
  });
  convolve_weights<C>(m, image.data(), responses.data(), work.data(), gradient.data());
  CHECK(gradient == expected_gradient);
}
template <class C>
void check_random(std::uint32_t seed) {
  std::mt19937 random(seed);
  const ConvolutionMap m = random_map(random);
  check_convolution<C>(seed, random, m);
}

}  // namespace

TEST_CASE("convolutions, their adjoints and gradients are the sums of products that define them") {
  for (std::uint32_t seed = 0; seed < 150; ++seed) check_random<float>(seed);
  for (std::uint32_t seed = 1000; seed < 1030; ++seed) check_random<double>(seed);
  for (std::uint32_t seed = 2000; seed < 2030; ++seed) check_random<std::uint64_t>(seed);
}

TEST_CASE("windows of 3 x 3 per channel, and many filters of few places") {
  std::mt19937 random(7);
  for (const std::int64_t side : {5, 7, 9, 14, 20, 31})
    for (const std::int64_t stride : {1, 2}) {
      ConvolutionMap m;
      m.batch = 2;
      m.channels = m.filters = m.groups = 3;
      m.image = {1, side, side + 3};
      m.kernel = {1, 3, 3};
      m.padding = {0, 1, 1};
      m.stride = {1, stride, stride};
      m.places = {1, (side - 1) / stride + 1, (side + 2) / stride + 1};
      for (std::uint32_t seed = 0; seed < 4; ++seed) check_convolution<float>(seed, random, m);
      check_convolution<double>(0, random, m);
      m.groups = 1;
      m.filters = 37;  // tiles of five, four, two and one rows
      for (std::uint32_t seed = 0; seed < 4; ++seed) check_convolution<float>(seed, random, m);
      check_convolution<double>(0, random, m);
    }
}

TEST_CASE("threads share convolutions") {
  kernels::ThreadTeam team(3, 1);
  const kernels::TeamScope scope(&team);
  for (std::uint32_t seed = 0; seed < 150; ++seed) check_random<float>(seed);
  for (std::uint32_t seed = 2000; seed < 2030; ++seed) check_random<std::uint64_t>(seed);
}
