// SPDX-License-Identifier: MIT
#include "davit/testing/detail/snapshot.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

using namespace davit;
using testing::Snapshot;

namespace {

Snapshot of(const EValue& value) { return Snapshot(std::span(&value, 1)); }

}  // namespace

TEST_CASE("values of other kinds, or other bits, differ") {
  const EValue list_items[] = {EValue(std::int64_t{1}), EValue(2.0)};
  const EValue values[] = {EValue(),
                           EValue(std::int64_t{1}),
                           EValue(std::int64_t{2}),
                           EValue(1.0),
                           EValue(0.0),
                           EValue(-0.0),
                           EValue(true),
                           EValue(false),
                           EValue("text"),
                           EValue("test"),
                           EValue(std::span<const EValue>(list_items))};
  for (const EValue& a : values)
    for (const EValue& b : values) CHECK((of(a) == of(b)) == (&a == &b));
}
TEST_CASE("elements behind a list are not part of it") {
  const EValue numbers[] = {EValue(1), EValue(2)};
  const EValue one_inside[] = {EValue(std::span(numbers, 1)), EValue(2)};
  const EValue both_inside[] = {EValue(std::span<const EValue>(numbers))};
  CHECK(Snapshot(one_inside) != Snapshot(both_inside));
}
TEST_CASE("tensors are compared by dtype, sizes and elements, for any strides") {
  std::array<float, 4> rows{1, 2, 3, 4};
  std::array<float, 4> columns{1, 3, 2, 4};
  constexpr std::array<std::int64_t, 2> sizes{2, 2}, row_major{2, 1}, column_major{1, 2};
  constexpr std::array<std::int64_t, 1> flat{4}, step{1};
  const Snapshot first = of(TensorView{rows.data(), sizes.data(), row_major.data(), 2, ScalarType::float32});
  CHECK(first == of(TensorView{columns.data(), sizes.data(), column_major.data(), 2, ScalarType::float32}));
  CHECK(first != of(TensorView{rows.data(), flat.data(), step.data(), 1, ScalarType::float32}));
  CHECK(first != of(TensorView{rows.data(), sizes.data(), row_major.data(), 2, ScalarType::int32}));
  rows[3] = 5;
  CHECK(first != of(TensorView{rows.data(), sizes.data(), row_major.data(), 2, ScalarType::float32}));
}
TEST_CASE("a snapshot keeps old values") {
  float number = 1;
  const EValue value = TensorView{&number, nullptr, nullptr, 0, ScalarType::float32};
  const Snapshot before = of(value);
  CHECK(before == of(value));
  number = 2;
  CHECK(before != of(value));
  CHECK(Snapshot() == Snapshot(std::span<const EValue>()));
}
