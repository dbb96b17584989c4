// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "davit/embed/freeze_plan.hpp"
#include "davit/embed/static_program.hpp"
#include "davit/embed/static_state.hpp"

namespace davit::detail {

/// The plan of one size, whatever its type: what is compared with those of other sizes.
struct PlanView {
  const FrozenStep* steps;
  std::size_t step_count;
  const std::uint64_t* codes;
  const std::int32_t* params;
  const StaticCopy* copies;
  std::size_t copy_count;
  const StaticInput* inputs;
  std::size_t input_count;

  [[nodiscard]] constexpr std::uint64_t code(std::size_t step, std::size_t operand) const noexcept {
    return codes[steps[step].first_operand + operand];
  }
  [[nodiscard]] constexpr std::int32_t word(std::size_t step, std::size_t at) const noexcept { return params[steps[step].first_param + at]; }
};
template <class P, class Planned>
[[nodiscard]] consteval PlanView view_of_plan() noexcept {
  const auto& f = Planned::frozen;
  return {f.steps, Planned::sizes.steps, f.codes, f.params, f.copies, Planned::sizes.copies, P::inputs.data(), P::inputs.size()};
}

/// True if the two plans are the same code but for numbers: of parameters, and of where operands lie.
[[nodiscard]] constexpr bool same_code(const PlanView& a, const PlanView& b) noexcept {
  const auto same_kind = [](std::uint64_t x, std::uint64_t y) { return static_cast<std::uint32_t>(x) == static_cast<std::uint32_t>(y); };
  if (a.step_count != b.step_count || a.copy_count != b.copy_count || a.input_count != b.input_count) return false;
  for (std::size_t i = 0; i < a.input_count; ++i)
    if (a.inputs[i].role != b.inputs[i].role || !same_data(a.inputs[i].data, b.inputs[i].data)) return false;
  for (std::size_t i = 0; i < a.step_count; ++i) {
    const FrozenStep &s = a.steps[i], &t = b.steps[i];
    if (s.kernel != t.kernel || s.operand_count != t.operand_count || s.param_count != t.param_count || s.node != t.node) return false;
    for (std::size_t o = 0; o < s.operand_count; ++o)
      if (!same_kind(a.code(i, o), b.code(i, o))) return false;
  }
  for (std::size_t i = 0; i < a.copy_count; ++i)
    if (!same_kind(operand_code(a.copies[i].from), operand_code(b.copies[i].from)) || !same_kind(operand_code(a.copies[i].to), operand_code(b.copies[i].to)))
      return false;
  return true;
}

/// A number of a plan that differs from size to size, and its column: what it is for each.
struct SizedNumber {
  std::uint32_t at = 0;  ///< word of the step's parameters
  std::uint32_t column = 0;
};
/// What plans of the same code differ in.
struct PlanDifferences {
  static constexpr std::uint32_t none = no_id;  ///< no column: the same for all
  std::vector<Range> words_of;                  ///< per step, into `words`
  std::vector<SizedNumber> words;
  std::vector<std::uint32_t> offsets;           ///< per step and operand, of `width` each: the column
  std::vector<std::uint32_t> copies;            ///< per copy: from, to, count
  std::vector<std::vector<std::int32_t>> columns;

  constexpr PlanDifferences(const std::vector<PlanView>& plans, const std::vector<std::array<std::uint32_t, 4>>& table_bases, std::size_t width) {
    const PlanView& one = plans[0];
    const auto offset = [&](std::size_t plan, std::uint64_t code) {
      const bool is_table = static_cast<StaticPlace>(code >> 16 & 0xff) == StaticPlace::table;
      return static_cast<std::int32_t>(code >> 32) +
             (is_table ? static_cast<std::int32_t>(table_bases[plan][table_number(static_cast<ScalarType>(code >> 8 & 0xff))]) : 0);
    };
    std::vector<std::int32_t> numbers;
    const auto each = [&](const auto& number) {
      numbers.clear();
      for (std::size_t p = 0; p < plans.size(); ++p) numbers.push_back(number(p));
      return column_of(numbers);
    };
    for (std::size_t i = 0; i < one.step_count; ++i) {
      words_of.push_back({static_cast<std::uint32_t>(words.size()), 0});
      for (std::size_t w = 0; w < one.steps[i].param_count; ++w)
        if (const std::uint32_t column = each([&](std::size_t p) { return plans[p].word(i, w); }); column != none)
          words.push_back({static_cast<std::uint32_t>(w), column});
      words_of.back().count = static_cast<std::uint32_t>(words.size()) - words_of.back().first;
      for (std::size_t o = 0; o < width; ++o)
        offsets.push_back(o < one.steps[i].operand_count ? each([&](std::size_t p) { return offset(p, plans[p].code(i, o)); }) : none);
    }
    for (std::size_t i = 0; i < one.copy_count; ++i) {
      copies.push_back(each([&](std::size_t p) { return offset(p, operand_code(plans[p].copies[i].from)); }));
      copies.push_back(each([&](std::size_t p) { return offset(p, operand_code(plans[p].copies[i].to)); }));
      copies.push_back(each([&](std::size_t p) { return static_cast<std::int32_t>(plans[p].copies[i].count); }));
    }
  }
  [[nodiscard]] static constexpr std::size_t table_number(ScalarType type) noexcept {
    return type == ScalarType::int8 ? 0 : type == ScalarType::int16 ? 1 : type == ScalarType::int32 ? 2 : 3;
  }

 private:
  /// The column of these numbers, which others may have too.
  [[nodiscard]] constexpr std::uint32_t column_of(const std::vector<std::int32_t>& numbers) {
    if (std::all_of(numbers.begin(), numbers.end(), [&](std::int32_t n) { return n == numbers[0]; })) return none;
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c] == numbers) return static_cast<std::uint32_t>(c);
    columns.push_back(numbers);
    return static_cast<std::uint32_t>(columns.size() - 1);
  }
};

/// A table of numbers that backends computed, of several plans: each once.
template <class T>
struct JoinedTable {
  std::vector<T> all;
  std::vector<std::uint32_t> bases;  ///< per plan, where its own begins

  constexpr void add(const T* own, std::size_t count) {
    std::size_t at = 0;
    while (at + count <= all.size() && !std::equal(own, own + count, all.begin() + static_cast<std::ptrdiff_t>(at), same_bits)) ++at;
    if (at + count > all.size()) at = all.size();
    bases.push_back(static_cast<std::uint32_t>(at));
    if (at == all.size()) all.insert(all.end(), own, own + count);
  }
  [[nodiscard]] static constexpr bool same_bits(T a, T b) noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    else
      return a == b;
  }
};

/// The plans of sizes that are the same code, as one that StepCode takes: the first one's rows, and columns of what differs.
/// Programs are StaticPrograms, each with its planned_for. O(sizes * (steps * operands + parameters)).
template <class Programs, class Plans>
struct SizedPlan;
template <class... Ps, class... Planned>
struct SizedPlan<std::tuple<Ps...>, std::tuple<Planned...>> {
  using One = std::tuple_element_t<0, std::tuple<Planned...>>;
  static constexpr std::size_t count = sizeof...(Ps);

  static constexpr const auto& sizes = One::sizes;
  static constexpr const auto& frozen = One::frozen;
  static constexpr auto rows = [] {
    auto all = One::rows;
    for (std::uint32_t i = 0; i < sizes.steps; ++i) all.like[i] = i;  // what is alike in one size may differ in another
    return all;
  }();
  template <class K, std::uint32_t First>
  static constexpr typename K::Params params = One::template params<K, First>;

 private:
  static constexpr auto join_tables() {
    std::tuple<JoinedTable<std::int8_t>, JoinedTable<std::int16_t>, JoinedTable<std::int32_t>, JoinedTable<float>> tables;
    (std::get<0>(tables).add(Planned::frozen.i8, Planned::sizes.i8), ...);
    (std::get<1>(tables).add(Planned::frozen.i16, Planned::sizes.i16), ...);
    (std::get<2>(tables).add(Planned::frozen.i32, Planned::sizes.i32), ...);
    (std::get<3>(tables).add(Planned::frozen.f32, Planned::sizes.f32), ...);
    return tables;
  }
  static constexpr PlanDifferences differences() {
    const auto tables = join_tables();
    std::vector<std::array<std::uint32_t, 4>> bases;
    for (std::size_t p = 0; p < count; ++p)
      bases.push_back({std::get<0>(tables).bases[p], std::get<1>(tables).bases[p], std::get<2>(tables).bases[p], std::get<3>(tables).bases[p]});
    return PlanDifferences({view_of_plan<Ps, Planned>()...}, bases, One::rows.width);
  }
  struct Counts {
    std::size_t words, columns;
  };
  static constexpr Counts counts = [] {
    const PlanDifferences d = differences();
    return Counts{d.words.size(), d.columns.size()};
  }();
  struct Numbers {
    std::array<Range, sizes.steps + 1> words_of{};
    std::array<SizedNumber, counts.words + 1> words{};
    std::array<std::uint32_t, sizes.steps * One::rows.width + 1> offsets{};
    std::array<std::uint32_t, sizes.copies * 3 + 1> copies{};
    std::array<std::array<std::int32_t, count>, counts.columns + 1> columns{};
  };
  static constexpr Numbers numbers = [] {
    const PlanDifferences d = differences();
    Numbers all{};
    std::copy(d.words_of.begin(), d.words_of.end(), all.words_of.begin());
    std::copy(d.words.begin(), d.words.end(), all.words.begin());
    std::copy(d.offsets.begin(), d.offsets.end(), all.offsets.begin());
    std::copy(d.copies.begin(), d.copies.end(), all.copies.begin());
    for (std::size_t c = 0; c < counts.columns; ++c) std::copy(d.columns[c].begin(), d.columns[c].end(), all.columns[c].begin());
    return all;
  }();
  template <std::size_t T>
  static consteval auto joined() {
    using Element = std::tuple_element_t<T, std::tuple<std::int8_t, std::int16_t, std::int32_t, float>>;
    constexpr std::size_t n = std::get<T>(join_tables()).all.size();
    std::array<Element, n + 1> out{};
    const auto tables = join_tables();
    std::copy(std::get<T>(tables).all.begin(), std::get<T>(tables).all.end(), out.begin());
    return out;
  }
  template <std::size_t T>
  alignas(16) static constexpr auto joined_table = joined<T>();
  template <std::uint32_t Column>
  static constexpr std::array<std::int32_t, count> column = numbers.columns[Column];  // an image holds those that are read
  template <std::uint32_t I>
  static constexpr auto words_of_one = [] {
    std::array<std::int32_t, frozen.steps[I].param_count> words{};
    for (std::size_t w = 0; w < words.size(); ++w) words[w] = frozen.params[frozen.steps[I].first_param + w];
    return words;
  }();

 public:
  /// Bytes of tables and columns.
  static constexpr std::size_t table_bytes =
      joined<0>().size() - 1 + 2 * (joined<1>().size() - 1) + 4 * (joined<2>().size() - 1 + joined<3>().size() - 1 + counts.columns * count);
  template <class T>
  [[nodiscard]] static constexpr const T* table() noexcept {
    return joined_table<PlanDifferences::table_number(scalar_type_of<T>)>.data();
  }
  /// Where operand O of step I lies in that size.
  template <std::uint32_t I, std::size_t O>
  [[nodiscard, gnu::always_inline]] static constexpr std::uint32_t offset(std::uint32_t size) noexcept {
    return number<numbers.offsets[I * One::rows.width + O]>(size, static_cast<std::uint32_t>(One::rows.codes[I * One::rows.width + O] >> 32));
  }
  /// Of copy I: where it comes from (0), where it goes (1), how many elements it has (2).
  template <std::size_t I, std::size_t What>
  [[nodiscard, gnu::always_inline]] static constexpr std::uint32_t copy_number(std::uint32_t size) noexcept {
    constexpr StaticCopy c = frozen.copies[I];
    return number<numbers.copies[I * 3 + What]>(size, What == 0 ? c.from.offset : What == 1 ? c.to.offset : c.count);
  }
  /// The parameters of step I, whose kernel is K, in that size.
  template <class K, std::uint32_t I>
  [[nodiscard, gnu::always_inline]] static constexpr decltype(auto) params_in(std::uint32_t size) noexcept {
    if constexpr (numbers.words_of[I].count == 0) {
      return (params<K, frozen.steps[I].first_param>);
    } else {
      const auto words = words_in<I>(size);
      return params_from<K>(words.data());
    }
  }
  /// The first parameter of step I in that size: the rounds of a loop.
  template <std::uint32_t I>
  [[nodiscard, gnu::always_inline]] static constexpr std::int32_t first_word(std::uint32_t size) noexcept {
    return words_in<I>(size)[0];
  }

 private:
  template <std::uint32_t Column>
  [[nodiscard, gnu::always_inline]] static constexpr std::uint32_t number(std::uint32_t size, std::uint32_t same) noexcept {
    if constexpr (Column == PlanDifferences::none) return same;
    else return static_cast<std::uint32_t>(column<Column>.data()[size]);
  }
  template <std::uint32_t I>
  [[nodiscard, gnu::always_inline]] static constexpr auto words_in(std::uint32_t size) noexcept {
    constexpr Range range = numbers.words_of[I];
    auto words = words_of_one<I>;
    [&]<std::size_t... N>(std::index_sequence<N...>) {
      ((words[numbers.words[range.first + N].at] = column<numbers.words[range.first + N].column>.data()[size]), ...);
    }(std::make_index_sequence<range.count>{});
    return words;
  }
};

}  // namespace davit::detail
