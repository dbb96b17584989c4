// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/windows/max_pool.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "davit/kernels/thread_team.hpp"
#include "support/kernel_test.hpp"

using namespace davit;
using namespace davit::portable_kernels;

namespace {

/// Runs a window over random planes with some NaN and runs of equal numbers, in both ways.
void check_window(std::mt19937& random, bool with_indices) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
  PoolWindow w;
  w.dims = 3;
  w.planes = 1 + below(4);
  for (std::size_t d = 0; d < 3; ++d) {
    w.kernel[d] = 1 + below(4);
    w.padding[d] = below(static_cast<std::uint32_t>(w.kernel[d] / 2 + 1));
    w.stride[d] = 1 + below(3);
    w.dilation[d] = 1 + below(2);
    const std::int64_t reach = (w.kernel[d] - 1) * w.dilation[d] + 1;
    w.in[d] = reach + below(d == 0 ? 3 : 20);
    w.out[d] = (w.in[d] + 2 * w.padding[d] - reach) / w.stride[d] + 1;
    if (random() % 2 == 0 && w.out[d] * w.stride[d] < w.in[d] + w.padding[d]) ++w.out[d];  // ceil_mode
  }
  INFO("kernel " << w.kernel[0] << "x" << w.kernel[1] << "x" << w.kernel[2] << " stride " << w.stride[1] << "x"
                 << w.stride[2] << " in " << w.in[1] << "x" << w.in[2]);
  std::vector<float> x(static_cast<std::size_t>(w.planes * volume(w.in))),
      y(static_cast<std::size_t>(w.planes * volume(w.out)));
  std::vector<std::int64_t> found(y.size());
  const auto range = 1 + below(1000);
  for (float& v : x)
    v = random() % 40 == 0 ? std::numeric_limits<float>::quiet_NaN()
                           : static_cast<float>(below(static_cast<std::uint32_t>(range))) - 500;
  const std::array<std::int64_t, 4> in{w.planes, w.in[0], w.in[1], w.in[2]},
      in_strides{volume(w.in), w.in[1] * w.in[2], w.in[2], 1};
  const std::array<EValue, 1> arguments{TensorView{x.data(), in.data(), in_strides.data(), 4, ScalarType::float32}};
  std::array<EValue, 2> outputs{};
  std::array<std::int64_t, 4 * max_rank> dims{};
  const std::array<OutputPlace, 2> places{
      {{dims.data(), dims.data() + max_rank, max_rank, reinterpret_cast<std::byte*>(y.data()), y.size() * 4},
       {dims.data() + 2 * max_rank, dims.data() + 3 * max_rank, max_rank, reinterpret_cast<std::byte*>(found.data()),
        found.size() * 8}}};
  KernelMemory memory;
  KernelCall call(arguments, outputs, places, memory);
  const std::array<std::int64_t, 4> out{w.planes, w.out[0], w.out[1], w.out[2]};
  REQUIRE(call.make(0, ScalarType::float32, out) == ErrorCode::ok);
  REQUIRE(call.make(1, ScalarType::int64, out) == ErrorCode::ok);
  REQUIRE(portable_kernels::detail::compute_largest<float>(call, w, with_indices) == ErrorCode::ok);
  std::vector<float> expected(static_cast<std::size_t>(volume(w.out)));
  std::vector<std::int64_t> indices(expected.size());
  for (std::int64_t p = 0; p < w.planes; ++p) {
    portable_kernels::detail::max_pool_plane(w, x.data() + p * volume(w.in), -std::numeric_limits<float>::infinity(),
                                             expected.data(), indices.data());
    bool equal = true;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::size_t at = static_cast<std::size_t>(p) * expected.size() + i;
      equal = equal && (std::isnan(expected[i]) ? std::isnan(y[at]) : y[at] == expected[i]) &&
              (!with_indices || found[at] == indices[i]);
    }
    CHECK(equal);
  }
}

}  // namespace

TEST_CASE("the largest elements are the same by windows and by vectors") {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) check_window(random, i % 2 == 0);
}

TEST_CASE("threads share the largest elements") {
  kernels::ThreadTeam team(3, 1);
  const kernels::TeamScope scope(&team);
  std::mt19937 random(2);
  for (int i = 0; i < 200; ++i) check_window(random, i % 2 == 0);
}

TEST_CASE(
    "portable: of several NaN in a cell of an adaptive maximum the last has the index, of equal numbers the first") {
  KernelTest test;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const EValue x = test.tensor(ScalarType::float32, {1, 3, 4}, {1, nan, 7, 7, nan, 0, 7, 7, 2, 2, 1, 7});
  CHECK(test.run(max_pool_ops, "aten.adaptive_max_pool2d.default", {x, test.list({EValue(2), EValue(2)})}, 2) ==
        ErrorCode::ok);
  CHECK(test.values(1) == KernelTest::Numbers{4, 2, 4, 6});
  CHECK(std::isnan(test.values(0)[0]));
}
