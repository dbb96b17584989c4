// SPDX-License-Identifier: MIT
#include "davit/embed/static_argument.hpp"

#include <doctest/doctest.h>

#include <array>
#include <span>
#include <vector>

namespace {

using namespace davit;

constexpr bool has(const ArgumentShape& s, bool flat, std::initializer_list<std::int64_t> sizes) {
  if (!s.known || s.is_flat != flat || s.rank != sizes.size()) return false;
  std::size_t d = 0;
  for (const std::int64_t size : sizes)
    if (s.sizes[d++] != size) return false;
  return true;
}
static_assert(has(argument_shape<std::array<float, 6>&>, true, {6}));
static_assert(has(argument_shape<std::span<const int, 6>>, true, {6}));
static_assert(has(argument_shape<const float (&)[6]>, true, {6}));
static_assert(has(argument_shape<std::array<std::array<float, 3>, 2>>, false, {2, 3}));
static_assert(has(argument_shape<float[2][3][4]>, false, {2, 3, 4}));
static_assert(has(argument_shape<StaticTensor<float, 2, 3>>, false, {2, 3}));
static_assert(has(argument_shape<StaticTensor<float>>, false, {}));
static_assert(argument_shape<std::array<float, 6>&>.writable && !argument_shape<const std::array<float, 6>&>.writable);
static_assert(!argument_shape<std::span<const float, 6>>.writable &&
              argument_shape<const std::span<float, 6>>.writable);
static_assert(argument_shape<std::array<std::int8_t, 2>>.dtype == ScalarType::int8);
static_assert(!argument_shape<std::span<float>>.known && !argument_shape<std::vector<float>>.known &&
              !argument_shape<int>.known);

}  // namespace

TEST_CASE("the first element of nested arrays") {
  std::array<std::array<float, 3>, 2> nested{};
  float plain[2][2]{};
  CHECK(detail::first_element(nested) == &nested[0][0]);
  CHECK(detail::first_element(plain) == &plain[0][0]);
  StaticTensor<float, 2, 2> tensor{&plain[0][0]};
  CHECK(detail::first_element(tensor) == &plain[0][0]);
}
