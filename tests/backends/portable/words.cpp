// SPDX-License-Identifier: MIT
#include "davit/backends/portable/words.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace davit;
using namespace davit::portable_kernels;

namespace {

constexpr bool check_truth() {
  const Word<std::uint32_t> top{0x80000000u};
  const Word<std::uint16_t> nan{0xfe00u};
  return !top.is_true(sign_of(ScalarType::float32)) && top.is_true(sign_of(ScalarType::int32)) &&
         nan.is_true(sign_of(ScalarType::float16)) && !Word<std::uint64_t>{0}.is_true(sign_of(ScalarType::int64)) &&
         sign_of(ScalarType::float64) == 0x8000000000000000u;
}
static_assert(check_truth());

}  // namespace

TEST_CASE("an element is true unless all its bits but a float's sign are zero") {
  CHECK(check_truth());
}
TEST_CASE("words are as wide as the elements; complex ones have none") {
  const auto width = [](ScalarType type) {
    std::size_t bytes = 0;
    (void)dispatch_word(type, [&]<class W>() {
      bytes = sizeof(W);
      return ErrorCode::ok;
    });
    return bytes;
  };
  CHECK(width(ScalarType::bool_) == 1);
  CHECK(width(ScalarType::bfloat16) == 2);
  CHECK(width(ScalarType::uint32) == 4);
  CHECK(width(ScalarType::float64) == 8);
  CHECK(width(ScalarType::complex64) == 0);
  CHECK(width(ScalarType::undefined) == 0);
}
TEST_CASE("a cell holds one converted element for any sizes") {
  const std::int64_t minus_one = -1;
  const TensorView from{const_cast<std::int64_t*>(&minus_one), nullptr, nullptr, 0, ScalarType::int64};
  Cell cell;
  REQUIRE(cell.set(ScalarType::uint8, from) == ErrorCode::ok);
  const std::array<std::int64_t, 2> sizes{2, 3};
  const TensorView seen = cell.view(sizes);
  CHECK(seen.numel() == 6);
  CHECK(seen.stride(1) == 0);
  CHECK(*seen.as<std::uint8_t>() == 255);
}
