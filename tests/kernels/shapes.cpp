// SPDX-License-Identifier: MIT
#include "davit/kernels/shapes.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

using namespace davit;
using kernels::Sizes;

namespace {

constexpr bool check_broadcast() {
  constexpr std::array<std::int64_t, 3> a{2, 1, 4};
  constexpr std::array<std::int64_t, 2> b{3, 1};
  constexpr std::array<std::int64_t, 1> c{5};
  Sizes sizes;
  if (!kernels::broadcast(a, b, sizes) || sizes.rank != 3 || sizes[0] != 2 || sizes[1] != 3 || sizes[2] != 4)
    return false;
  return !kernels::broadcast(a, c, sizes);
}
static_assert(check_broadcast());

}  // namespace

TEST_CASE("sizes broadcast as torch's do, with stride 0 where a tensor repeats") {
  CHECK(check_broadcast());
  const std::array<std::int64_t, 2> own{3, 1};
  const std::array<std::int64_t, 2> strides{1, 7};
  const TensorView t{nullptr, own.data(), strides.data(), 2, ScalarType::float32};
  const std::array<std::int64_t, 3> to{2, 3, 4};
  const Sizes walked = kernels::broadcast_strides(t, to);
  CHECK(std::vector<std::int64_t>(walked.span().begin(), walked.span().end()) == std::vector<std::int64_t>{0, 1, 0});
}
TEST_CASE("every index once, in row-major order") {
  const std::array<std::int64_t, 2> sizes{2, 2};
  const std::array<std::int64_t, 2> turned{1, 2};
  std::vector<std::int64_t> seen;
  kernels::for_each_index<1>(sizes, {Sizes(turned)}, [&](std::int64_t at) { seen.push_back(at); });
  CHECK(seen == std::vector<std::int64_t>{0, 2, 1, 3});
}
