// SPDX-License-Identifier: MIT
#include "davit/core/tensor_view.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

using namespace davit;

namespace {

static_assert(std::is_trivially_copyable_v<TensorView>);

constexpr std::int64_t wrapped(std::int64_t dim, std::size_t rank) { return wrap_dim(dim, rank) ? dim : -100; }
static_assert(wrapped(-1, 3) == 2 && wrapped(2, 3) == 2 && wrapped(3, 3) == -100 && wrapped(-4, 3) == -100);
static_assert(wrapped(0, 0) == 0 && wrapped(-1, 0) == 0 && wrapped(1, 0) == -100 && wrapped(INT64_MIN, 3) == -100);

template <std::size_t N>
constexpr bool contiguous(std::array<std::int64_t, N> sizes, std::array<std::int64_t, N> strides) {
  return TensorView{nullptr, sizes.data(), strides.data(), N, ScalarType::float32}.is_contiguous();
}
constexpr bool check_contiguous() {
  return contiguous<2>({2, 3}, {3, 1}) && !contiguous<2>({2, 3}, {1, 2}) && contiguous<2>({1, 3}, {99, 1}) &&
         !contiguous<2>({2, 3}, {4, 1}) && !contiguous<1>({2}, {0}) && contiguous<0>({}, {});
}
static_assert(check_contiguous());

constexpr bool check_empty() {  // as in torch: a tensor without elements is contiguous with any strides
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

constexpr bool check_numel() {
  constexpr auto numel = [](std::initializer_list<std::int64_t> sizes, std::int64_t most = INT64_MAX / 64) {
    return checked_numel({sizes.begin(), sizes.size()}, most);
  };
  return numel({}) == 1 && numel({2, 3}) == 6 && numel({5, 0, 3}) == 0 && numel({2, -1}) == -1 &&
         numel({0, -1}) == -1 && numel({3, 6148914691236517206}) == -1 &&   // wraps to 2
         numel({std::int64_t{1} << 40, std::int64_t{1} << 40, 0}) == -1 &&  // the product of some of the sizes wraps
         numel({1, INT64_MAX / 64}) == INT64_MAX / 64 && numel({4, 5}, 20) == 20 && numel({3, 7}, 20) == -1;
}
static_assert(check_numel());

}  // namespace

TEST_CASE("channels last: dimension 1 is the innermost, if there are more than two") {
  static constexpr auto strides_of = [](auto sizes) {
    std::array<std::int64_t, sizes.size()> strides{};
    channels_last_strides(sizes, strides);
    return strides;
  };
  static_assert(strides_of(std::array<std::int64_t, 4>{2, 3, 4, 5}) == std::array<std::int64_t, 4>{60, 1, 15, 3});
  CHECK(strides_of(std::array<std::int64_t, 4>{2, 3, 4, 5}) == std::array<std::int64_t, 4>{60, 1, 15, 3});
  CHECK(strides_of(std::array<std::int64_t, 3>{2, 0, 5}) == std::array<std::int64_t, 3>{5, 1, 1});
  CHECK(strides_of(std::array<std::int64_t, 2>{3, 4}) == std::array<std::int64_t, 2>{4, 1});
  constexpr std::int64_t most = INT64_MAX;
  CHECK(strides_of(std::array<std::int64_t, 3>{2, most, 7})[2] == most);
  CHECK(strides_of(std::array<std::int64_t, 4>{2, most / 2, 7, 9})[2] == most);
}

TEST_CASE("negative dimensions count from the end") {
  CHECK(wrapped(-1, 3) == 2);
  CHECK(wrapped(3, 3) == -100);
  CHECK(wrapped(-1, 0) == 0);
}
TEST_CASE("contiguity looks only at dimensions that matter") { CHECK(check_contiguous()); }
TEST_CASE("a tensor without elements is contiguous, with any strides") { CHECK(check_empty()); }
TEST_CASE("sizes whose product no tensor has are found, whichever of them comes first") { CHECK(check_numel()); }
TEST_CASE("row-major strides are torch's") { CHECK(check_strides()); }
