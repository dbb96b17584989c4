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

/// The plan of one size, type-erased for comparisons.
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
};
template <class P, class Planned>
[[nodiscard]] consteval PlanView view_of_plan() noexcept {
  const auto& f = Planned::frozen;
  return {f.steps,  Planned::sizes.steps,  f.codes,          f.params,
          f.copies, Planned::sizes.copies, P::inputs.data(), P::inputs.size()};
}

/// True if two plans have the same code, up to numbers: parameters and operands' offsets.
[[nodiscard]] constexpr bool same_code(const PlanView& a, const PlanView& b) noexcept {
  const auto same_kind = [](std::uint64_t x, std::uint64_t y) {
    return static_cast<std::uint32_t>(x) == static_cast<std::uint32_t>(y);
  };
  if (a.step_count != b.step_count || a.copy_count != b.copy_count || a.input_count != b.input_count) return false;
  for (std::size_t i = 0; i < a.input_count; ++i)
    if (a.inputs[i].role != b.inputs[i].role || !same_data(a.inputs[i].data, b.inputs[i].data)) return false;
  for (std::size_t i = 0; i < a.step_count; ++i) {
    const FrozenStep &s = a.steps[i], &t = b.steps[i];
    if (s.kernel != t.kernel || s.operand_count != t.operand_count || s.param_count != t.param_count ||
        s.node != t.node)
      return false;
    for (std::size_t o = 0; o < s.operand_count; ++o)
      if (!same_kind(a.code(i, o), b.code(i, o))) return false;
  }
  for (std::size_t i = 0; i < a.copy_count; ++i)
    if (!same_kind(operand_code(a.copies[i].from), operand_code(b.copies[i].from)) ||
        !same_kind(operand_code(a.copies[i].to), operand_code(b.copies[i].to)))
      return false;
  return true;
}

/// A number of a plan that differs between sizes, and its column of values.
struct SizedNumber {
  std::uint32_t at = 0;  ///< index of the int32 in the step's parameters
  std::uint32_t column = 0;
};
/// The differences of plans with the same code.
struct PlanDifferences {
  static constexpr std::uint32_t none = no_id;  ///< the same for all sizes
  std::vector<Range> params_of;                 ///< per step: rows of `sized_params`
  std::vector<SizedNumber> sized_params;
  std::vector<std::uint32_t> offsets;  ///< per step and operand, of `width` each: a column
  std::vector<std::uint32_t> copies;   ///< per copy: from, to, count
  std::vector<std::int32_t> columns;   ///< columns, one after the other: a number per plan

  constexpr PlanDifferences(const std::vector<PlanView>& plans,
                            const std::vector<std::array<std::uint32_t, 4>>& table_bases, std::size_t width) {
    // constant evaluation pays for every call: plain loops, and equal numbers without a list
    const PlanView& one = plans[0];
    const std::size_t count = plans.size();
    std::vector<std::int32_t> numbers;
    const auto each = [&](const auto& number) {
      const std::int32_t first = number(0);
      std::size_t p = 1;
      while (p < count && number(p) == first) ++p;
      if (p == count) return none;
      numbers.clear();
      for (p = 0; p < count; ++p) numbers.push_back(number(p));
      return column_of(numbers.data(), count);
    };
    const auto offset = [&](std::size_t plan, std::uint64_t code) {
      const bool is_table = static_cast<StaticPlace>(code >> 16 & 0xff) == StaticPlace::table;
      return static_cast<std::int32_t>(code >> 32) +
             (is_table ? static_cast<std::int32_t>(
                             table_bases[plan][table_number(static_cast<ScalarType>(code >> 8 & 0xff))])
                       : 0);
    };
    std::vector<const std::int32_t*> params;
    for (std::size_t i = 0; i < one.step_count; ++i) {
      params.clear();
      for (std::size_t p = 0; p < count; ++p) params.push_back(plans[p].params + plans[p].steps[i].first_param);
      const std::int32_t* const* const from = params.data();
      params_of.push_back({static_cast<std::uint32_t>(sized_params.size()), 0});
      for (std::uint32_t k = 0; k < one.steps[i].param_count; ++k)
        if (const std::uint32_t column = each([&](std::size_t p) { return from[p][k]; }); column != none)
          sized_params.push_back({k, column});
      params_of.back().count = static_cast<std::uint32_t>(sized_params.size()) - params_of.back().first;
      for (std::size_t o = 0; o < width; ++o)
        offsets.push_back(o < one.steps[i].operand_count
                              ? each([&](std::size_t p) { return offset(p, plans[p].code(i, o)); })
                              : none);
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
  /// Interns a column of per-size values; equal columns are shared.
  [[nodiscard]] constexpr std::uint32_t column_of(const std::int32_t* numbers, std::size_t count) {
    const std::int32_t* known = columns.data();
    const std::size_t columns_count = columns.size() / count;
    for (std::uint32_t c = 0; c < columns_count; ++c, known += count) {
      std::size_t i = 0;
      while (i < count && known[i] == numbers[i]) ++i;
      if (i == count) return c;
    }
    columns.insert(columns.end(), numbers, numbers + count);
    return static_cast<std::uint32_t>(columns_count);
  }
};

/// The merged table of numbers that backends computed for several plans, each once.
template <class T>
struct JoinedTable {
  std::vector<T> all;
  std::vector<std::uint32_t> bases;  ///< per plan: the index of its first number

  constexpr void add(const T* own, std::size_t count) {
    for (const std::uint32_t base : bases)
      if (base + count <= all.size() && std::equal(own, own + count, all.data() + base, same_bits))
        return bases.push_back(base);
    bases.push_back(static_cast<std::uint32_t>(all.size()));
    all.insert(all.end(), own, own + count);
  }
  [[nodiscard]] static constexpr bool same_bits(T a, T b) noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
    else
      return a == b;
  }
};

/// The plans of several sizes with the same code as one plan for StepCode: the rows of the first, and columns of the
/// differences. Programs are StaticPrograms, each with its planned_for. O(sizes * (steps * operands + parameters)).
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
    for (std::uint32_t i = 0; i < sizes.steps; ++i)
      all.like[i] = i;  // steps that are equal in one size may differ in another
    return all;
  }();
  template <class K, std::uint32_t First>
  static constexpr typename K::Params params = One::template params<K, First>;

 private:
  using TableTypes = std::tuple<std::int8_t, std::int16_t, std::int32_t, float>;
  template <std::size_t T>
  static constexpr auto join() {
    JoinedTable<std::tuple_element_t<T, TableTypes>> table;
    const auto add = [&]<class One>() {
      if constexpr (T == 0) table.add(One::frozen.i8, One::sizes.i8);
      if constexpr (T == 1) table.add(One::frozen.i16, One::sizes.i16);
      if constexpr (T == 2) table.add(One::frozen.i32, One::sizes.i32);
      if constexpr (T == 3) table.add(One::frozen.f32, One::sizes.f32);
    };
    (add.template operator()<Planned>(), ...);
    return table;
  }
  template <std::size_t T>
  static constexpr std::size_t joined_size = join<T>().all.size();
  /// Per plan, the beginning of its tables in the merged ones.
  template <std::size_t T>
  static constexpr std::array<std::uint32_t, count> bases_of = [] {
    const auto table = join<T>();
    std::array<std::uint32_t, count> all{};
    std::copy(table.bases.begin(), table.bases.end(), all.begin());
    return all;
  }();
  static constexpr PlanDifferences differences() {
    std::vector<std::array<std::uint32_t, 4>> bases;
    for (std::size_t p = 0; p < count; ++p)
      bases.push_back({bases_of<0>[p], bases_of<1>[p], bases_of<2>[p], bases_of<3>[p]});
    return PlanDifferences({view_of_plan<Ps, Planned>()...}, bases, One::rows.width);
  }
  struct Counts {
    std::size_t params, columns;
  };
  static constexpr Counts counts = [] {
    const PlanDifferences d = differences();
    return Counts{d.sized_params.size(), d.columns.size() / count};
  }();
  struct Numbers {
    std::array<Range, sizes.steps + 1> params_of{};
    std::array<SizedNumber, counts.params + 1> sized_params{};
    std::array<std::uint32_t, sizes.steps * One::rows.width + 1> offsets{};
    std::array<std::uint32_t, sizes.copies * 3 + 1> copies{};
    std::array<std::array<std::int32_t, count>, counts.columns + 1> columns{};
  };
  static constexpr Numbers numbers = [] {
    const PlanDifferences d = differences();
    Numbers all{};
    std::copy(d.params_of.begin(), d.params_of.end(), all.params_of.begin());
    std::copy(d.sized_params.begin(), d.sized_params.end(), all.sized_params.begin());
    std::copy(d.offsets.begin(), d.offsets.end(), all.offsets.begin());
    std::copy(d.copies.begin(), d.copies.end(), all.copies.begin());
    for (std::size_t i = 0; i < d.columns.size(); ++i) all.columns[i / count][i % count] = d.columns[i];
    return all;
  }();
  template <std::size_t T>
  alignas(16) static constexpr auto joined_table = [] {
    std::array<std::tuple_element_t<T, TableTypes>, joined_size<T> + 1> out{};
    const auto table = join<T>();
    std::copy(table.all.begin(), table.all.end(), out.begin());
    return out;
  }();
  template <std::uint32_t Column>
  static constexpr std::array<std::int32_t, count> column =
      numbers.columns[Column];  // an image holds only columns that are read
  template <std::uint32_t I>
  static constexpr auto params_of_first = [] {
    std::array<std::int32_t, frozen.steps[I].param_count> encoded{};
    for (std::size_t i = 0; i < encoded.size(); ++i) encoded[i] = frozen.params[frozen.steps[I].first_param + i];
    return encoded;
  }();

 public:
  /// Bytes of tables and columns.
  static constexpr std::size_t table_bytes =
      joined_size<0> + 2 * joined_size<1> + 4 * (joined_size<2> + joined_size<3> + counts.columns * count);
  template <class T>
  [[nodiscard]] static constexpr const T* table() noexcept {
    return joined_table<PlanDifferences::table_number(scalar_type_of<T>)>.data();
  }
  /// The offset of operand O of step I in that size.
  template <std::uint32_t I, std::size_t O>
  [[nodiscard, gnu::always_inline]] static constexpr std::uint32_t offset(std::uint32_t size) noexcept {
    return number<numbers.offsets[I * One::rows.width + O]>(
        size, static_cast<std::uint32_t>(One::rows.codes[I * One::rows.width + O] >> 32));
  }
  /// A number of copy I: source (0), destination (1), elements (2).
  template <std::size_t I, std::size_t What>
  [[nodiscard, gnu::always_inline]] static constexpr std::uint32_t copy_number(std::uint32_t size) noexcept {
    constexpr StaticCopy c = frozen.copies[I];
    return number<numbers.copies[I * 3 + What]>(size, What == 0 ? c.from.offset : What == 1 ? c.to.offset : c.count);
  }
  /// The parameters of step I, whose kernel is K, in that size.
  template <class K, std::uint32_t I>
  [[nodiscard, gnu::always_inline]] static constexpr decltype(auto) params_in(std::uint32_t size) noexcept {
    if constexpr (numbers.params_of[I].count == 0) {
      return (params<K, frozen.steps[I].first_param>);
    } else {
      const auto encoded = encoded_params_in<I>(size);
      return params_from<K>(encoded.data());
    }
  }
  /// The first parameter of step I in that size: a loop's iterations.
  template <std::uint32_t I>
  [[nodiscard, gnu::always_inline]] static constexpr std::int32_t first_param_in(std::uint32_t size) noexcept {
    return encoded_params_in<I>(size)[0];
  }

 private:
  template <std::uint32_t Column>
  [[nodiscard, gnu::always_inline]] static constexpr std::uint32_t number(std::uint32_t size,
                                                                          std::uint32_t same) noexcept {
    if constexpr (Column == PlanDifferences::none)
      return same;
    else
      return static_cast<std::uint32_t>(column<Column>.data()[size]);
  }
  template <std::uint32_t I>
  [[nodiscard, gnu::always_inline]] static constexpr auto encoded_params_in(std::uint32_t size) noexcept {
    constexpr Range range = numbers.params_of[I];
    auto encoded = params_of_first<I>;
    [&]<std::size_t... N>(std::index_sequence<N...>) {
      ((encoded[numbers.sized_params[range.first + N].at] =
            column<numbers.sized_params[range.first + N].column>.data()[size]),
       ...);
    }(std::make_index_sequence<range.count>{});
    return encoded;
  }
};

}  // namespace davit::detail
