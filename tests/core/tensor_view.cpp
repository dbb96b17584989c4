// SPDX-License-Identifier: MIT
#include "davit/core/tensor_view.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <type_traits>

using namespace davit;

namespace {

static_assert(std::is_trivially_copyable_v<TensorView>);

template <std::size_t N>
constexpr bool contiguous(std::array<std::int64_t, N> sizes, std::array<std::int64_t, N> strides) {
  return TensorView{nullptr, sizes.data(), strides.data(), N, ScalarType::float32}.is_contiguous();
}
constexpr bool check_contiguous() {
  return contiguous<2>({2, 3}, {3, 1}) && !contiguous<2>({2, 3}, {1, 2}) && contiguous<2>({1, 3}, {99, 1}) &&
         !contiguous<2>({2, 3}, {4, 1}) && !contiguous<1>({2}, {0}) && contiguous<0>({}, {});
}
static_assert(check_contiguous());

constexpr bool check_empty() {  // as torch: no element can lie in the wrong place
  return contiguous<1>({0}, {5}) && contiguous<2>({3, 0}, {7, 7}) && contiguous<2>({0, 3}, {1, 2}) &&
         contiguous<3>({2, 0, 3}, {-1, 0, 9}) && contiguous<2>({1, 0}, {0, 0});
}
static_assert(check_empty());

constexpr bool check_strides() {
  constexpr std::array<std::int64_t, 4> sizes{2, 0, 3, 1};
  std::array<std::int64_t, 4> strides{};
  contiguous_strides(sizes, strides);
  const TensorView t{nullptr, sizes.data(), strides.data(), 4, ScalarType::float64};
  constexpr std::array<std::int64_t, 2> two{2, 3};
  return strides == std::array<std::int64_t, 4>{3, 3, 1, 1} && t.numel() == 0 && t.nbytes() == 0 && t.size(2) == 3 &&
         t.stride(0) == 3 && TensorView{nullptr, two.data(), two.data(), 2, ScalarType::int64}.nbytes() == 48 &&
         TensorView{}.numel() == 1;
}
static_assert(check_strides());

}  // namespace

TEST_CASE("contiguity looks only at dimensions that matter") {
  CHECK(check_contiguous());
}
TEST_CASE("a tensor without elements is contiguous, whatever its strides") {
  CHECK(check_empty());
}
TEST_CASE("row-major strides are torch's") {
  CHECK(check_strides());
}
