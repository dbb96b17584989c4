// SPDX-License-Identifier: MIT
#include "davit/embed/static_state.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace {

using namespace davit;

inline constexpr std::array<float, 2> ones{1, 1}, twos{2, 2};
constexpr StaticStateRow row(std::uint32_t first, std::uint32_t count, ScalarType dtype = ScalarType::float32,
                             ConstantData data = {}) {
  return {.first = first, .count = count, .dtype = dtype, .data = data};
}
template <class... Methods>
using Shared = detail::SharedStaticState<Methods...>;
template <class... Methods>
constexpr bool agree = detail::agree(Shared<Methods...>::rows.data(), Shared<Methods...>::rows.size());
template <class... Methods>
constexpr bool has_initial =
    detail::have_initial_value(Shared<Methods...>::rows.data(), Shared<Methods...>::rows.size());

constexpr auto one = ConstantData::in_array(ones), two = ConstantData::in_array(twos);
static_assert(detail::same_data(one, one) && !detail::same_data(one, two) && !detail::same_data(one, {}) &&
              detail::same_data({}, {}));
static_assert(detail::same_data(ConstantData::in_blob(ScalarType::int8, 4, 16),
                                ConstantData::in_blob(ScalarType::int8, 4, 16)));
static_assert(!detail::same_data(ConstantData::in_blob(ScalarType::int8, 4, 16),
                                 ConstantData::in_blob(ScalarType::int8, 4, 32)));

template <StatePools pools, std::size_t count>
struct Rows {
  static constexpr std::size_t state_count = count;
  static constexpr StatePools state_pools = pools;
};
struct Two : Rows<StatePools{{2, 0, 0, 0, 0, 0, 1, 0}}, 2> {
  static constexpr std::array<StaticStateRow, 2> state_rows{row(0, 2, ScalarType::float32, one),
                                                            row(0, 1, ScalarType::int64)};
};
struct Behind : Rows<StatePools{{5, 0, 0, 0, 0, 0, 0, 0}}, 2> {
  static constexpr std::array<StaticStateRow, 2> state_rows{row(2, 3), row(0, 2, ScalarType::float32, one)};
};
struct Overlapping : Rows<StatePools{{3, 0, 0, 0, 0, 0, 0, 0}}, 1> {
  static constexpr std::array<StaticStateRow, 1> state_rows{row(1, 2, ScalarType::float32, one)};
};
struct OfTwos : Rows<StatePools{{2, 0, 0, 0, 0, 0, 0, 0}}, 1> {
  static constexpr std::array<StaticStateRow, 1> state_rows{row(0, 2, ScalarType::float32, two)};
};
struct Empty : Rows<StatePools{{1, 0, 0, 0, 0, 0, 0, 0}}, 1> {
  static constexpr std::array<StaticStateRow, 1> state_rows{row(1, 0)};
};

}  // namespace

TEST_CASE("state of methods is one where it begins at one element, and as large as the largest end") {
  using Both = Shared<Two, Behind>;
  static_assert(agree<Two, Behind> && has_initial<Two, Behind> && !has_initial<Empty>);
  static_assert(Both::pools.bytes() == 5 * 4 + 8);
  static_assert(!detail::is_repeated(Both::rows.data(), 0) && !detail::is_repeated(Both::rows.data(), 1) &&
                !detail::is_repeated(Both::rows.data(), 2) && detail::is_repeated(Both::rows.data(), 3));
  CHECK(Both::rows.size() == 4);
}

TEST_CASE("overlapping state, or state with other initial values, does not agree") {
  CHECK(agree<Two, Two>);
  CHECK(agree<Two, Empty>);
  CHECK_FALSE(agree<Two, Overlapping>);
  CHECK_FALSE(agree<Two, OfTwos>);
}

TEST_CASE("constants count once, however often they are added") {
  constexpr auto bytes = [] {
    detail::DistinctConstants seen;
    std::array<std::size_t, 4> added{};
    std::size_t at = 0;
    for (const ConstantData& data : {one, two, one, ConstantData::in_blob(ScalarType::int8, 5, 16)})
      added[at++] = seen.add(data);
    return added;
  };
  static_assert(bytes() == std::array<std::size_t, 4>{8, 8, 0, 5});
  CHECK(bytes() == std::array<std::size_t, 4>{8, 8, 0, 5});
}
