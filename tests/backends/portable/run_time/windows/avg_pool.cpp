// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/windows/avg_pool.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "support/kernel_test.hpp"

using davit::EValue;
using davit::ScalarType;
using Numbers = KernelTest::Numbers;
using namespace davit::portable_kernels;

namespace {

/// Checks a window over one to three dimensions of random planes, by rows against window by window.
void check_window(std::mt19937& random, ScalarType dtype) {
  KernelTest test;
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
  const auto dims = static_cast<std::size_t>(1 + below(3));
  PoolWindow w;
  w.planes = 1 + below(3);
  w.in = w.out = w.kernel = w.stride = {1, 1, 1};
  w.padding = {};
  const bool ceil = random() % 2 == 0;
  for (std::size_t d = 3 - dims; d < 3; ++d) {
    w.kernel[d] = 1 + below(4);
    w.padding[d] = below(static_cast<std::uint32_t>(w.kernel[d] / 2 + 1));
    w.stride[d] = 1 + below(3);
    w.in[d] = w.kernel[d] + below(d == 2 ? 40 : 5);
    const std::int64_t room = w.in[d] + 2 * w.padding[d] - w.kernel[d];
    w.out[d] = room / w.stride[d] + 1;
    if (ceil && room % w.stride[d] != 0 && w.out[d] * w.stride[d] < w.in[d] + w.padding[d]) ++w.out[d];
  }
  const davit::portable_kernels::detail::AverageRule rule{random() % 2 == 0,
                                                          dims > 1 && random() % 3 == 0 ? 1 + below(9) : 0};
  Numbers values(static_cast<std::size_t>(w.planes * volume(w.in)));
  for (double& v : values) v = static_cast<double>(static_cast<float>(below(100000)) / 1000 - 50);
  std::vector<std::int64_t> sizes{1, w.planes};
  sizes.insert(sizes.end(), w.in.end() - static_cast<std::ptrdiff_t>(dims), w.in.end());
  const auto numbers = [&](const Spatial& s) {
    if (dims == 1) return test.list({EValue(s[2])});
    return dims == 2 ? test.list({EValue(s[1]), EValue(s[2])}) : test.list({EValue(s[0]), EValue(s[1]), EValue(s[2])});
  };
  std::vector<EValue> arguments{
      test.tensor(dtype, sizes, values), numbers(w.kernel), numbers(w.stride), numbers(w.padding), EValue(ceil),
      EValue(rule.count_include_pad)};
  if (dims > 1) arguments.push_back(rule.divisor == 0 ? EValue() : EValue(rule.divisor));
  const char* const names[]{"aten.avg_pool1d.default", "aten.avg_pool2d.default", "aten.avg_pool3d.default"};
  REQUIRE(test.run(avg_pool_ops, names[dims - 1], arguments) == davit::ErrorCode::ok);
  const Numbers made = test.values();
  Numbers expected;
  const auto by_windows = [&]<class C>(C) {
    const std::vector<C> x(values.begin(), values.end());
    for (std::int64_t p = 0; p < w.planes; ++p)
      for_each_window(w, sliding_span, [&](std::int64_t, const Box& box) {
        const C* const plane = x.data() + p * volume(w.in);
        expected.push_back(
            box.empty() ? 0 : static_cast<double>(sum_box(plane, w.in, box) / static_cast<C>(rule.divisor_of(box))));
      });
  };
  if (dtype == ScalarType::float32)
    by_windows(float{});
  else
    by_windows(double{});
  CHECK(made == expected);
}

}  // namespace

TEST_CASE("averages by rows have the bits of averages window by window") {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) check_window(random, i % 2 == 0 ? ScalarType::float32 : ScalarType::float64);
}
