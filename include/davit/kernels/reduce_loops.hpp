// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/row_moments.hpp"
#include "davit/kernels/vectors.hpp"

/// Reductions of rows, and of columns that lie side by side.
namespace davit::kernels {

/// What a reduction knows of the elements that it has seen.
struct Accumulated {
  double real = 0;            ///< of floats
  std::int64_t integer = 0;   ///< of integers, modulo 2^64
  double center = 0;          ///< what deviations are taken from
  std::int64_t seen = 0;      ///< elements before these, for extremes
  std::int64_t found_at = 0;  ///< which of all elements the extreme is

  template <class T>
  [[nodiscard]] auto& of() noexcept {
    if constexpr (std::is_integral_v<T>)
      return integer;
    else
      return real;
  }
};

/// The same of groups whose elements lie side by side, in columns.
struct AccumulatedColumns {
  static constexpr std::size_t most = 64;
  alignas(64) std::array<double, most> real;
  std::array<std::int64_t, most> integer;
  std::array<double, most> center;
  std::array<std::int64_t, most> found_at;
  std::int64_t seen;
  std::int64_t count;

  explicit AccumulatedColumns(std::span<const Accumulated> groups) noexcept
      : seen(groups[0].seen), count(static_cast<std::int64_t>(groups.size())) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      real[i] = groups[i].real;
      integer[i] = groups[i].integer;
      center[i] = groups[i].center;
      found_at[i] = groups[i].found_at;
    }
  }
  void store(std::span<Accumulated> groups) const noexcept {
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = {real[i], integer[i], center[i], seen, found_at[i]};
  }
  template <class T>
  [[nodiscard]] auto* of() noexcept {
    if constexpr (std::is_integral_v<T>)
      return integer.data();
    else
      return real.data();
  }
};

/// A reduction of elements of one type.
struct ReduceLoop {
  /// Works n elements that lie `step` bytes apart into what is accumulated.
  void (*row)(const std::byte* from, std::int64_t step, std::int64_t n, Accumulated& so_far) = nullptr;
  /// Works n rows, `step` bytes apart, of one element of each column into what is accumulated.
  void (*columns)(const std::byte* from, std::int64_t step, std::int64_t n, AccumulatedColumns& so_far) = nullptr;
};

/// The loops of a reduction over elements of these types, as in `Loops`.
struct ReduceLoops {
  ReduceLoop float32;
  ReduceLoop float64;
  ReduceLoop int64;
};

namespace detail {

/// What elements are accumulated in.
template <class T>
using AccumulatedIn = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

/// F of all, one after another.
template <template <class> class F, class T>
void fold_row(const std::byte* from, std::int64_t step, std::int64_t n, Accumulated& so_far) {
  using A = AccumulatedIn<T>;
  A result = so_far.of<T>();
  for (; n > 0; --n, from += step) result = F<A>{}(result, static_cast<A>(*reinterpret_cast<const T*>(from)));
  so_far.of<T>() = result;
}
/// The sum of deviations from the center to a power; several sums at once where the elements lie side by side.
template <int Power>
struct PowerSum {
  template <std::size_t Bytes, class T>
  [[gnu::always_inline]] static double run(const T* x, std::int64_t n, double center) noexcept {
    return sum_of_powers<Power, Bytes, double>(x, n, center);
  }
};
template <int Power, class T>
void power_row(const std::byte* from, std::int64_t step, std::int64_t n, Accumulated& so_far) {
  const double center = Power == 2 ? so_far.center : 0;
  double sum = so_far.real;
  if (step == static_cast<std::int64_t>(sizeof(T))) {
    sum += run_widest_for<T, PowerSum<Power>>(reinterpret_cast<const T*>(from), n, center);
    n = 0;
  }
  for (; n > 0; --n, from += step) {
    const double d = static_cast<double>(*reinterpret_cast<const T*>(from)) - center;
    sum += Power == 2 ? d * d : d;
  }
  so_far.real = sum;
}

struct SumColumns {
  template <class T, class A>
  [[gnu::always_inline]] static void run(const T* x, std::int64_t n, A* so_far, const double*) noexcept {
    for (std::int64_t i = 0; i < n; ++i) so_far[i] = wrap_add(so_far[i], static_cast<A>(x[i]));
  }
};
struct SquaredDeviationColumns {
  template <class T>
  [[gnu::always_inline]] static void run(const T* x, std::int64_t n, double* so_far, const double* center) noexcept {
    for (std::int64_t i = 0; i < n; ++i) {
      const double d = static_cast<double>(x[i]) - center[i];
      so_far[i] += d * d;
    }
  }
};
/// What is done to a row of n columns, done to each row.
template <class Kernel, class T>
struct EachRow {
  template <std::size_t>
  [[gnu::always_inline]] static void run(const std::byte* from, std::int64_t step, std::int64_t n,
                                         AccumulatedColumns* to) noexcept {
    auto* const __restrict so_far = to->of<T>();
    constexpr auto most = static_cast<std::int64_t>(AccumulatedColumns::most);
    for (; n > 0; --n, from += step) {
      const auto* const row = reinterpret_cast<const T*>(from);
      if (to->count == most)
        Kernel::run(row, most, so_far, to->center.data());  // a count that the compiler knows
      else
        Kernel::run(row, to->count, so_far, to->center.data());
    }
  }
};
template <class Kernel, class T>
void each_row(const std::byte* from, std::int64_t step, std::int64_t n, AccumulatedColumns& so_far) {
  run_widest_for<T, EachRow<Kernel, T>>(from, step, n, &so_far);
}

/// How many elements, or rows, are counted in them at once.
inline constexpr std::int64_t most_places = std::int64_t{1} << 30;

/// Where the largest (or smallest) of a row is, the first of equals; a NaN if there is one.
template <bool Largest>
struct RowExtreme {
  template <std::size_t Bytes, class T>
  [[gnu::always_inline]] static std::int64_t run(const T* x, std::int64_t n) noexcept {
    const T extreme = extreme_of<Largest, Bytes>(x, n, std::int64_t{1});
    std::int64_t i = 0;
    if constexpr (walks_vectors<Bytes>) {
      constexpr std::int64_t lane = lanes<T, Bytes>;
      for (const std::int64_t end = n / (4 * lane) * (4 * lane); i < end;
           i += 4 * lane) {  // finds the four vectors that hold it
        Vector<PlaceOf<T>, Bytes> found{};
        for (std::int64_t k = 0; k < 4; ++k) {
          const Vector<T, Bytes> v = vector_at<Bytes>(x + i + k * lane);
          Vector<PlaceOf<T>, Bytes> equal = v == extreme, nan = v != v;
          keep_bits(equal);
          keep_bits(nan);
          found |= equal | nan;
        }
        if (sum_of<PlaceOf<T>, Bytes>(found) != 0) break;
      }
    }
    while (i + 1 < n && x[i] != extreme && x[i] == x[i]) ++i;
    return i;
  }
};
/// The largest (or smallest) element and where it is; NaN wins, the first of equals counts.
template <class T, bool Largest>
void extreme_row(const std::byte* from, std::int64_t step, std::int64_t n, Accumulated& so_far) {
  const auto at = [&](std::int64_t i) { return *reinterpret_cast<const T*>(from + i * step); };
  T best = static_cast<T>(so_far.of<T>());
  const auto wins = [&](T v) { return v != v || (Largest ? v > best : v < best); };
  std::int64_t place = -1;
  if (step == static_cast<std::int64_t>(sizeof(T))) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, T, float>;  // for int64 too
    const std::int64_t extreme = run_widest_for<Wide, RowExtreme<Largest>>(reinterpret_cast<const T*>(from), n);
    if (so_far.seen == 0 || (best == best && wins(at(extreme)))) place = extreme;
    if (place >= 0) best = at(place);
  } else {
    if (so_far.seen == 0) {
      best = at(0);
      place = 0;
    }
    for (std::int64_t i = place + 1; i < n && best == best; ++i)
      if (wins(at(i))) {
        best = at(i);
        place = i;
      }
  }
  so_far.of<T>() = best;
  if (place >= 0) so_far.found_at = place + so_far.seen;
  so_far.seen += n;
}
template <class T, bool Largest>
struct ExtremeColumns {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const std::byte* from, std::int64_t step, std::int64_t n,
                                         AccumulatedColumns* to) noexcept {
    constexpr std::size_t most = AccumulatedColumns::most;
    alignas(64) std::array<T, most> best;
    alignas(64) std::array<PlaceOf<T>, most> place;  // the row, or -1
    const auto count = static_cast<std::size_t>(to->count);
    const bool begins = to->seen == 0;
    for (std::size_t i = 0; i < count; ++i) {
      best[i] = begins ? reinterpret_cast<const T*>(from)[i] : static_cast<T>(to->of<T>()[i]);
      place[i] = begins ? 0 : -1;
    }
    for (std::int64_t r = begins; r < n; ++r) {
      const auto* const row = reinterpret_cast<const T*>(from + r * step);
      std::size_t i = 0;
      if constexpr (walks_vectors<Bytes>)
        for (constexpr std::size_t lane = Bytes / sizeof(T); i + lane <= count; i += lane) {
          const Vector<T, Bytes> v = vector_at<Bytes>(row + i), old = vector_at<Bytes>(best.data() + i);
          Vector<PlaceOf<T>, Bytes> ordered = old == old, stays = Largest ? v <= old : v >= old;
          keep_bits(ordered);
          keep_bits(stays);
          const Vector<PlaceOf<T>, Bytes> wins = ordered & ~stays, places = vector_at<Bytes>(place.data() + i);
          Vector<T, Bytes> result;
          take_where(wins, v, old, result);
          vector_at<Bytes>(best.data() + i) = result;
          vector_at<Bytes>(place.data() + i) = (static_cast<PlaceOf<T>>(r) & wins) | (places & ~wins);
        }
      for (; i < count; ++i) {
        if (best[i] != best[i] || (Largest ? row[i] <= best[i] : row[i] >= best[i])) continue;
        best[i] = row[i];
        place[i] = static_cast<PlaceOf<T>>(r);
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      to->of<T>()[i] = best[i];
      if (place[i] >= 0) to->found_at[i] = to->seen + place[i];
    }
    to->seen += n;
  }
};
template <class T, bool Largest>
void extreme_columns(const std::byte* from, std::int64_t step, std::int64_t n, AccumulatedColumns& so_far) {
  for (std::int64_t some; n > 0; n -= some, from += some * step) {
    some = std::min(n, most_places);
    run_widest_for<T, ExtremeColumns<T, Largest>>(from, step, some, &so_far);
  }
}

/// Whether any element's bits but `integer`, a float's sign, are set; found_at is 1 then.
template <class Bits>
void any_row(const std::byte* from, std::int64_t step, std::int64_t n, Accumulated& so_far) {
  const auto counted = static_cast<Bits>(~so_far.integer);
  for (; n > 0 && so_far.found_at == 0; --n, from += step) {
    Bits bits;
    std::memcpy(&bits, from, sizeof bits);
    if ((bits & counted) != 0) so_far.found_at = 1;
  }
}

template <int Power, class T>
inline constexpr ReduceLoop power_loop{
    power_row<Power, T>, each_row<std::conditional_t<Power == 1, SumColumns, SquaredDeviationColumns>, T>};
template <class T, bool Largest>
inline constexpr ReduceLoop extreme_loop{extreme_row<T, Largest>, extreme_columns<T, Largest>};

}  // namespace detail

/// Sums, products, the largest or the smallest, and sums of squared deviations. Floats are accumulated in double,
/// integers in wrapping 64 bits.
inline constexpr ReduceLoops sum_loops{
    detail::power_loop<1, float>,
    detail::power_loop<1, double>,
    {detail::fold_row<Add, std::int64_t>, detail::each_row<detail::SumColumns, std::int64_t>}};
inline constexpr ReduceLoops product_loops{{detail::fold_row<Multiply, float>},
                                           {detail::fold_row<Multiply, double>},
                                           {detail::fold_row<Multiply, std::int64_t>}};
template <bool Largest>
inline constexpr ReduceLoops extreme_loops{detail::extreme_loop<float, Largest>, detail::extreme_loop<double, Largest>,
                                           detail::extreme_loop<std::int64_t, Largest>};
inline constexpr ReduceLoops squared_deviation_loops{detail::power_loop<2, float>, detail::power_loop<2, double>, {}};

}  // namespace davit::kernels
