// SPDX-License-Identifier: MIT
#include "davit/core/evalue.hpp"

#include <doctest/doctest.h>

#include <cassert>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "davit/core/static_tensor.hpp"
#include "davit/core/tensor.hpp"

using namespace davit;

namespace {

static_assert(std::is_trivially_copyable_v<EValue>);

constexpr bool check_tags() {
  const EValue items[] = {1, 2.0, true};
  return EValue().is_none() && EValue(1).is_int() && EValue(std::int64_t{1} << 40).as_int() == std::int64_t{1} << 40 &&
         EValue(0.5).as_float() == 0.5 && EValue(true).is_bool() && EValue("text").as_string() == "text" &&
         EValue(TensorView{}).is_tensor() && EValue(std::span<const EValue>(items)).as_list().size() == 3 &&
         items[1].tensor_if() == nullptr && EValue(TensorView{.rank = 3}).tensor_if()->rank == 3;
}
static_assert(check_tags());

constexpr bool check_numbers() {
  return EValue(3).number() == 3.0 && EValue(true).number() == 1.0 && EValue(2.75).integer() == 2 &&
         EValue(-2.75).integer() == -2 && EValue(true).integer() == 1 && EValue(1e300).integer() == INT64_MAX &&
         EValue(-1e300).integer() == INT64_MIN &&
         EValue(std::numeric_limits<double>::quiet_NaN()).integer() == INT64_MIN && EValue(1).is_number() &&
         EValue(false).is_number() && !EValue("1").is_number() && !EValue().is_number();
}
static_assert(check_numbers());

constexpr bool check_conversions() {
  const StaticTensor<float, 2, 3> tensor{};
  const char literal[] = "text";
  return EValue(short{1}).is_int() && EValue(1u).as_int() == 1 && EValue(2ll).as_int() == 2 &&
         EValue(std::int8_t{-1}).as_int() == -1 && EValue(std::uint32_t{UINT32_MAX}).as_int() == UINT32_MAX &&
         EValue(false).is_bool() && EValue(0.5f).as_float() == 0.5 && EValue(literal).as_string() == "text" &&
         EValue("a\0b").as_string() == "a" && EValue(tensor).tensor().rank == 2 &&
         EValue(StaticTensor<float>{}).is_tensor();
}
static_assert(check_conversions());
static_assert(std::is_convertible_v<const Tensor&, EValue> && std::is_convertible_v<unsigned char, EValue>);
static_assert(!std::is_convertible_v<std::vector<float>, EValue> && !std::is_convertible_v<ScalarType, EValue>);

constexpr bool check_names() {
  for (int tag = 0; tag <= static_cast<int>(EValue::Tag::list); ++tag)
    if (name_of(static_cast<EValue::Tag>(tag)) == "?") return false;
  return name_of(EValue::Tag::int_) == "int";
}
static_assert(check_names());

template <auto Call, bool = (static_cast<void>(Call()), true)>
constexpr bool is_constant(int) {
  return true;
}
template <auto Call>
constexpr bool is_constant(long) {
  return false;
}
constexpr EValue none_at_all, number = 1;
constexpr bool asserts = !is_constant<[] { assert(false); }>(0);
static_assert(is_constant<[] { static_cast<void>(EValue(TensorView{}).tensor()); }>(0));
static_assert(!asserts || !is_constant<[] { static_cast<void>(none_at_all.tensor()); }>(0));
static_assert(!asserts || !is_constant<[] { static_cast<void>(number.tensor()); }>(0));

}  // namespace

TEST_CASE("a value knows its kind") { CHECK(check_tags()); }
TEST_CASE("numbers convert, and floats outside int64 go to the nearest end") { CHECK(check_numbers()); }
TEST_CASE("every integer type that fits an int64, literals and types with a view convert") {
  CHECK(check_conversions());
  const Tensor tensor = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{2});
  CHECK(EValue(tensor).tensor().data == tensor.view().data);
}
TEST_CASE("kinds are named as Python names them") { CHECK(check_names()); }
