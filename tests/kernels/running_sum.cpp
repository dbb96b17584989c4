// SPDX-License-Identifier: MIT
#include "davit/kernels/running_sum.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

using namespace davit;
using Integers = std::vector<std::int64_t>;

namespace {

template <class From, class To>
std::vector<To> rows(const std::vector<From>& data, std::int64_t length) {
  const auto count = static_cast<std::int64_t>(data.size()) / length;
  const Integers sizes{count, length};
  const Integers strides{length, 1};
  std::vector<To> out(data.size());
  const TensorView x{const_cast<From*>(data.data()), sizes.data(), strides.data(), 2, scalar_type_of<From>};
  const TensorView to{out.data(), sizes.data(), strides.data(), 2, scalar_type_of<To>};
  Walk lines(Integers{count});
  lines.add(Integers{length}, sizeof(From)).add(Integers{length}, sizeof(To)).collapse();
  CHECK(kernels::running_sums(lines, length, x, 1, to, 1));
  return out;
}

}  // namespace

TEST_CASE("running sums of lines, in the type of the result") {
  CHECK(rows<float, float>({1, 2, 3, 4}, 2) == std::vector<float>{1, 3, 3, 7});
  CHECK(rows<std::int64_t, std::int64_t>({1, 2, 3, 4}, 4) == std::vector<std::int64_t>{1, 3, 6, 10});
  CHECK(rows<std::int8_t, std::int64_t>(std::vector<std::int8_t>(1200, 100), 1200).back() == 120000);
  CHECK(rows<double, float>({0.5, 0.5}, 2) == std::vector<float>{0.5f, 1});
}
