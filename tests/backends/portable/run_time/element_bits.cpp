// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/element_bits.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace davit;
using namespace davit::portable_kernels;

namespace {

static_assert(sign_bit(ScalarType::float64) == 0x8000000000000000u && sign_bit(ScalarType::bfloat16) == 0x8000u &&
              sign_bit(ScalarType::int32) == 0);

}  // namespace

TEST_CASE("a cell holds one converted element for any sizes") {
  const std::int64_t minus_one = -1;
  const TensorView from{const_cast<std::int64_t*>(&minus_one), nullptr, nullptr, 0, ScalarType::int64};
  ScalarTensor cell;
  REQUIRE(cell.set(ScalarType::uint8, from) == ErrorCode::ok);
  const std::array<std::int64_t, 2> sizes{2, 3};
  const TensorView seen = cell.view(sizes);
  CHECK(seen.numel() == 6);
  CHECK(seen.stride(1) == 0);
  CHECK(*seen.as<std::uint8_t>() == 255);
}
