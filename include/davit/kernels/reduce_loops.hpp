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

/// Reductions of rows, and of adjacent columns.
namespace davit::kernels {

/// The accumulator of a reduction.
struct Accumulated {
  double real = 0;            ///< of floats
  std::int64_t integer = 0;   ///< of integers, modulo 2^64
  double center = 0;          ///< the mean to subtract for deviations
  std::int64_t seen = 0;      ///< elements before these, for indices of extremes
  std::int64_t found_at = 0;  ///< index of the extreme among all elements

  template <class T>
  [[nodiscard]] auto& of() noexcept {
    if constexpr (std::is_integral_v<T>)
      return integer;
    else
      return real;
  }
};

/// The accumulators of several groups, whose elements are columns.
struct AccumulatedColumns {
  static constexpr std::size_t most = 256;
  alignas(64) std::array<double, most> real{};
  alignas(64) std::array<std::int64_t, most> integer{};
  alignas(64) std::array<double, most> center{};
  alignas(64) std::array<std::int64_t, most> found_at{};
  std::int64_t seen = 0;
  std::int64_t count = 0;

  /// Begins n groups; centers and indices stay.
  void start(std::size_t n) noexcept {
    seen = 0;
    count = static_cast<std::int64_t>(n);
  }
  /// Begins n groups with a value, for floats or for integers.
  void start(std::size_t n, double value) noexcept {
    start(n);
    if (value == 0)
      std::memset(real.data(), 0, n * sizeof value);  // std::fill_n stores elements one by one
    else
      std::fill_n(real.begin(), n, value);
  }
  void start(std::size_t n, std::int64_t value) noexcept {
    start(n);
    std::fill_n(integer.begin(), n, value);
  }
  /// Divides accumulated floats: by a multiplication, which may be off by a unit in the last place, or exactly.
  inline void divide(double divisor, bool exact) noexcept;
  [[nodiscard]] Accumulated first() const noexcept { return {real[0], integer[0], center[0], seen, found_at[0]}; }
  void set_first(const Accumulated& group) noexcept {
    real[0] = group.real;
    integer[0] = group.integer;
    found_at[0] = group.found_at;
    seen = group.seen;
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
  /// Reduces n adjacent elements into the accumulator.
  void (*row)(const std::byte* from, std::int64_t n, Accumulated& so_far) = nullptr;
  /// Reduces n rows, `step` bytes apart, of one element per column into the accumulators.
  void (*columns)(const std::byte* from, std::int64_t step, std::int64_t n, AccumulatedColumns& so_far) = nullptr;
};

/// The loops of a reduction per element type, as in `Loops`.
struct ReduceLoops {
  ReduceLoop float32;
  ReduceLoop float64;
  ReduceLoop int64;
};

namespace detail {

/// The accumulator's type for elements of T.
template <class T>
using AccumulatedIn = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

/// Adds the elements of a float vector to two vectors of doubles.
template <std::size_t Bytes>
[[gnu::always_inline]] inline void add_halves(const Vector<float, Bytes>& v, Vector<double, Bytes>* sums) noexcept {
  for (std::size_t half = 0; half < 2; ++half) {
    Vector<float, Bytes / 2> part;
    std::memcpy(&part, reinterpret_cast<const char*>(&v) + half * sizeof part, sizeof part);
    sums[half] += __builtin_convertvector(part, Vector<double, Bytes>);
  }
}

/// Folds all elements with F, one after the other.
template <template <class> class F, class T>
void fold_row(const std::byte* from, std::int64_t n, Accumulated& so_far) {
  using A = AccumulatedIn<T>;
  const auto* const x = reinterpret_cast<const T*>(from);
  A result = so_far.of<T>();
  for (std::int64_t i = 0; i < n; ++i) result = F<A>{}(result, static_cast<A>(x[i]));
  so_far.of<T>() = result;
}
/// Floats that are added in float before their sum is added to a double: as precise as PyTorch's cascade sums, and
/// twice as fast as sums in double.
inline constexpr std::int64_t floats_in_a_sum = 8;

/// The sum of deviations from the center to a power, as several sums at once.
template <int Power>
struct PowerSum {
  template <std::size_t Bytes, class T>
  [[gnu::always_inline]] static double run(const T* x, std::int64_t n, double center) noexcept {
    if constexpr (Power == 1 && std::is_same_v<T, float> && walks_vectors<Bytes>) {
      const std::int64_t blocked = n / block * block;
      return sum_of_blocks<Bytes>(x, blocked) + sum_of_powers<1, Bytes, double>(x + blocked, n - blocked, center);
    } else {
      return sum_of_powers<Power, Bytes, double>(x, n, center);
    }
  }

 private:
  static constexpr std::int64_t columns = 32;  ///< the same for vectors of every width, so that the sums round alike
  static constexpr std::int64_t block = columns * floats_in_a_sum;

  template <std::size_t Bytes>
  [[gnu::always_inline]] static double sum_of_blocks(const float* x, std::int64_t n) noexcept {
    constexpr std::int64_t lane = lanes<float, Bytes>, vectors = columns / lane;
    Vector<double, Bytes> sums[2 * vectors]{};
    for (const float* const end = x + n; x != end; x += block) {
#pragma GCC unroll 8
      for (std::int64_t k = 0; k < vectors; ++k) {
        Vector<float, Bytes> v = vector_at<Bytes>(x + k * lane);
#pragma GCC unroll 8
        for (std::int64_t i = 1; i < floats_in_a_sum; ++i) v += vector_at<Bytes>(x + i * columns + k * lane);
        add_halves<Bytes>(v, sums + 2 * k);
      }
    }
    for (std::int64_t k = 1; k < 2 * vectors; ++k) sums[0] += sums[k];
    return sum_of<double, Bytes>(sums[0]);
  }
};
template <int Power, class T>
void power_row(const std::byte* from, std::int64_t n, Accumulated& so_far) {
  const double center = Power == 2 ? so_far.center : 0;
  so_far.real += run_widest_for<T, PowerSum<Power>>(reinterpret_cast<const T*>(from), n, center);
}

enum class ColumnWork : std::uint8_t { sum, product, squared_deviation };
/// Adds, multiplies, or adds squared deviations from the centers, row by row; integers are modulo 2^64.
template <ColumnWork Work, class T>
struct FoldColumns {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const std::byte* from, std::int64_t step, std::int64_t n,
                                         AccumulatedColumns* to) noexcept {
    std::int64_t first = 0;
    if constexpr (walks_vectors<Bytes> && std::is_floating_point_v<T>) {
      constexpr std::int64_t lane = lanes<double, Bytes>;
      if constexpr (Work == ColumnWork::sum && std::is_same_v<T, float>) {
        for (; first + 8 * lane <= to->count; first += 8 * lane) float_strip<Bytes, 4>(from, step, n, *to, first);
        for (; first + 2 * lane <= to->count; first += 2 * lane) float_strip<Bytes, 1>(from, step, n, *to, first);
      }
      for (; first + 8 * lane <= to->count; first += 8 * lane) strip<Bytes, 8>(from, step, n, *to, first);
      for (; first + lane <= to->count; first += lane) strip<Bytes, 1>(from, step, n, *to, first);
    }
    if (first == to->count) return;
    auto* const __restrict so_far = to->of<T>();
    for (; n > 0; --n, from += step)
      for (std::int64_t i = first; i < to->count; ++i) {
        const T v = reinterpret_cast<const T*>(from)[i];
        if constexpr (Work == ColumnWork::sum) {
          so_far[i] = wrap_add(so_far[i], static_cast<AccumulatedIn<T>>(v));
        } else if constexpr (Work == ColumnWork::product) {
          so_far[i] = wrap_mul(so_far[i], static_cast<AccumulatedIn<T>>(v));
        } else {
          const double d = static_cast<double>(v) - to->center[static_cast<std::size_t>(i)];
          so_far[i] += d * d;
        }
      }
  }

 private:
  /// Reduces the columns of `Vectors` vectors of floats from `first` on.
  template <std::size_t Bytes, std::int64_t Vectors>
  [[gnu::always_inline]] static void float_strip(const std::byte* from, std::int64_t step, std::int64_t n,
                                                 AccumulatedColumns& to, std::int64_t first) noexcept {
    constexpr std::int64_t lane = lanes<double, Bytes>;
    double* const so_far = to.real.data() + first;
    Vector<double, Bytes> sums[2 * Vectors];
#pragma GCC unroll 8
    for (std::int64_t k = 0; k < 2 * Vectors; ++k) sums[k] = vector_at<Bytes>(so_far + k * lane);
    const auto at = [&](std::int64_t row, std::int64_t k) __attribute__((always_inline)) {
      return reinterpret_cast<const float*>(from + row * step) + first + 2 * k * lane;
    };
    for (std::int64_t some; n > 0; n -= some, from += some * step) {
      some = std::min(n, floats_in_a_sum);
      Vector<float, Bytes> v[Vectors];
#pragma GCC unroll 4
      for (std::int64_t k = 0; k < Vectors; ++k) v[k] = vector_at<Bytes>(at(0, k));
      for (std::int64_t i = 1; i < some; ++i)
#pragma GCC unroll 4
        for (std::int64_t k = 0; k < Vectors; ++k) v[k] += vector_at<Bytes>(at(i, k));
#pragma GCC unroll 4
      for (std::int64_t k = 0; k < Vectors; ++k) add_halves<Bytes>(v[k], sums + 2 * k);
    }
#pragma GCC unroll 8
    for (std::int64_t k = 0; k < 2 * Vectors; ++k) vector_at<Bytes>(so_far + k * lane) = sums[k];
  }
  /// Reduces the columns of `Vectors` vectors from `first` on, with results in registers.
  template <std::size_t Bytes, std::int64_t Vectors>
  [[gnu::always_inline]] static void strip(const std::byte* from, std::int64_t step, std::int64_t n,
                                           AccumulatedColumns& to, std::int64_t first) noexcept {
    using V = Vector<double, Bytes>;
    constexpr std::int64_t lane = lanes<double, Bytes>;
    V sums[Vectors];
    for (std::int64_t k = 0; k < Vectors; ++k) sums[k] = vector_at<Bytes>(to.real.data() + first + k * lane);
    for (; n > 0; --n, from += step) {
      const T* const row = reinterpret_cast<const T*>(from) + first;
#pragma GCC unroll 8
      for (std::int64_t k = 0; k < Vectors; ++k) {
        V v = __builtin_convertvector((vector_at<Bytes * sizeof(T) / sizeof(double)>(row + k * lane)), V);
        if constexpr (Work == ColumnWork::squared_deviation) {
          v -= vector_at<Bytes>(to.center.data() + first + k * lane);
          v *= v;
        }
        if constexpr (Work == ColumnWork::product)
          sums[k] *= v;
        else
          sums[k] += v;
      }
    }
    for (std::int64_t k = 0; k < Vectors; ++k) vector_at<Bytes>(to.real.data() + first + k * lane) = sums[k];
  }
};
template <ColumnWork Work, class T>
void fold_columns(const std::byte* from, std::int64_t step, std::int64_t n, AccumulatedColumns& so_far) {
  run_widest_for<T, FoldColumns<Work, T>>(from, step, n, &so_far);
}

/// Divides or multiplies sums of floats by a number.
template <bool Divides>
struct ScaleColumns {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(AccumulatedColumns* to, double by) noexcept {
    double* const sums = to->real.data();
    std::int64_t i = 0;
    if constexpr (walks_vectors<Bytes>) {
      for (; i + lanes<double, Bytes> <= to->count; i += lanes<double, Bytes>) {
        if constexpr (Divides)
          vector_at<Bytes>(sums + i) /= by;
        else
          vector_at<Bytes>(sums + i) *= by;
      }
    }
    for (; i < to->count; ++i) sums[i] = Divides ? sums[i] / by : sums[i] * by;
  }
};

/// The most elements, or rows, whose indices are counted in one go.
inline constexpr std::int64_t max_places = std::int64_t{1} << 30;

/// The index of the largest (or smallest) element of a row, the first of equal ones, or of a NaN.
template <bool Largest>
struct RowExtreme {
  template <std::size_t Bytes, class T>
  [[gnu::always_inline]] static std::int64_t run(const T* x, std::int64_t n) noexcept {
    const T extreme = extreme_of<Largest, Bytes>(x, n, std::int64_t{1});
    std::int64_t i = 0;
    if constexpr (walks_vectors<Bytes>) {
      constexpr std::int64_t lane = lanes<T, Bytes>;
      for (const std::int64_t end = n / (4 * lane) * (4 * lane); i < end;
           i += 4 * lane) {  // finds the four vectors with the element
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
/// The largest (or smallest) element of a row, or a NaN.
template <bool Largest>
struct RowExtremeValue {
  template <std::size_t Bytes, class T>
  [[gnu::always_inline]] static T run(const T* x, std::int64_t n) noexcept {
    return extreme_of<Largest, Bytes>(x, n, std::int64_t{1});
  }
};
/// The largest (or smallest) element and, with `Places`, its index; NaN wins, and of equal elements the first.
template <class T, bool Largest, bool Places>
void extreme_row(const std::byte* from, std::int64_t n, Accumulated& so_far) {
  const auto* const x = reinterpret_cast<const T*>(from);
  const T best = static_cast<T>(so_far.of<T>());
  const auto wins = [&](T v) {
    return so_far.seen == 0 || (best == best && (v != v || (Largest ? v > best : v < best)));
  };
  using Wide = std::conditional_t<std::is_same_v<T, double>, T, float>;  // also for int64
  if constexpr (Places) {
    const std::int64_t place = run_widest_for<Wide, RowExtreme<Largest>>(x, n);
    if (wins(x[place])) {
      so_far.of<T>() = x[place];
      so_far.found_at = place + so_far.seen;
    }
  } else {
    const T extreme = run_widest_for<Wide, RowExtremeValue<Largest>>(x, n);
    if (wins(extreme)) so_far.of<T>() = extreme;
  }
  so_far.seen += n;
}
template <class T, bool Largest, bool Places>
struct ExtremeColumns {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const std::byte* from, std::int64_t step, std::int64_t n,
                                         AccumulatedColumns* to) noexcept {
    std::int64_t first = 0;
    if constexpr (walks_vectors<Bytes>) {
      constexpr std::int64_t lane = lanes<T, Bytes>;
      for (; first + 4 * lane <= to->count; first += 4 * lane) strip<Bytes, 4>(from, step, n, *to, first);
      for (; first + lane <= to->count; first += lane) strip<Bytes, 1>(from, step, n, *to, first);
    }
    for (; first < to->count; ++first) {
      const auto at = [&](std::int64_t r) { return reinterpret_cast<const T*>(from + r * step)[first]; };
      T best = to->seen == 0 ? at(0) : static_cast<T>(to->of<T>()[first]);
      std::int64_t place = to->seen == 0 ? 0 : -1;
      for (std::int64_t r = 0; r < n && best == best; ++r)
        if (!(Largest ? at(r) <= best : at(r) >= best)) {
          best = at(r);
          place = r;
        }
      to->of<T>()[first] = best;
      if (Places && place >= 0) to->found_at[static_cast<std::size_t>(first)] = to->seen + place;
    }
    to->seen += n;
  }

 private:
  /// Reduces the columns of `Vectors` vectors from `first` on, in registers.
  template <std::size_t Bytes, std::int64_t Vectors>
  [[gnu::always_inline]] static void strip(const std::byte* from, std::int64_t step, std::int64_t n,
                                           AccumulatedColumns& to, std::int64_t first) noexcept {
    using V = Vector<T, Bytes>;
    using P = Vector<PlaceOf<T>, Bytes>;
    constexpr std::int64_t lane = lanes<T, Bytes>;
    auto* const so_far = to.of<T>() + first;
    using A = AccumulatedIn<T>;
    constexpr std::int64_t wide = lanes<A, Bytes>;
    constexpr std::size_t part = Bytes * sizeof(T) / sizeof(A);
    using Wide = Vector<A, Bytes>;
    using Narrow = Vector<T, part>;
    V best[Vectors];
    P place[Vectors];  // the row's index, or -1
    alignas(64) T values[Vectors * lane];
    if (to.seen == 0)
      std::memcpy(values, reinterpret_cast<const T*>(from) + first, sizeof values);
    else
      for (std::int64_t i = 0; i < Vectors * lane; i += wide)
        vector_at<part>(values + i) = __builtin_convertvector((vector_at<Bytes>(so_far + i)), Narrow);
    for (std::int64_t k = 0; k < Vectors; ++k) {
      best[k] = vector_at<Bytes>(values + k * lane);
      place[k] = P{} - static_cast<PlaceOf<T>>(to.seen == 0 ? 0 : 1);
    }
    for (std::int64_t r = to.seen == 0; r < n; ++r) {
      const T* const row = reinterpret_cast<const T*>(from + r * step) + first;
#pragma GCC unroll 4
      for (std::int64_t k = 0; k < Vectors; ++k) {
        const V v = vector_at<Bytes>(row + k * lane), old = best[k];
        P ordered = old == old, stays = Largest ? v <= old : v >= old;
        keep_bits(ordered);
        keep_bits(stays);
        const P wins = ordered & ~stays;
        take_where(wins, v, old, best[k]);
        if constexpr (Places) place[k] = (static_cast<PlaceOf<T>>(r) & wins) | (place[k] & ~wins);
      }
    }
    for (std::int64_t k = 0; k < Vectors; ++k) {
      vector_at<Bytes>(values + k * lane) = best[k];
      if constexpr (Places)
        for (std::int64_t i = 0; i < lane; ++i)
          if (place[k][i] >= 0) to.found_at[static_cast<std::size_t>(first + k * lane + i)] = to.seen + place[k][i];
    }
    for (std::int64_t i = 0; i < Vectors * lane; i += wide)
      vector_at<Bytes>(so_far + i) = __builtin_convertvector((vector_at<part>(values + i)), Wide);
  }
};
template <class T, bool Largest, bool Places>
void extreme_columns(const std::byte* from, std::int64_t step, std::int64_t n, AccumulatedColumns& so_far) {
  for (std::int64_t some; n > 0; n -= some, from += some * step) {
    some = std::min(n, max_places);
    run_widest_for<T, ExtremeColumns<T, Largest, Places>>(from, step, some, &so_far);
  }
}

/// Sets found_at to 1 if an element has a bit other than those of `integer`, a float's sign.
template <class Bits>
void any_row(const std::byte* from, std::int64_t n, Accumulated& so_far) {
  const auto counted = static_cast<Bits>(~so_far.integer);
  for (; n > 0 && so_far.found_at == 0; --n, from += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, from, sizeof bits);
    if ((bits & counted) != 0) so_far.found_at = 1;
  }
}

/// any_row per column.
template <class Bits>
void any_columns(const std::byte* from, std::int64_t step, std::int64_t n, AccumulatedColumns& so_far) {
  alignas(64) std::array<Bits, AccumulatedColumns::most> any{};
  for (; n > 0; --n, from += step) {
    const auto* const row = reinterpret_cast<const Bits*>(from);
    std::int64_t i = 0;
    if constexpr (walks_vectors<vector_bytes>)
      for (; i + lanes<Bits> <= so_far.count; i += lanes<Bits>) vector_at(any.data() + i) |= vector_at(row + i);
    for (; i < so_far.count; ++i) any[static_cast<std::size_t>(i)] |= row[i];
  }
  const auto counted = static_cast<Bits>(~so_far.integer[0]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(so_far.count); ++i)
    so_far.found_at[i] |= (any[i] & counted) != 0 ? 1 : 0;
}

template <class T>
inline constexpr ReduceLoop sum_loop{power_row<1, T>, fold_columns<ColumnWork::sum, T>};
template <class T>
inline constexpr ReduceLoop product_loop{fold_row<Multiply, T>, fold_columns<ColumnWork::product, T>};
template <class T>
inline constexpr ReduceLoop squared_deviation_loop{power_row<2, T>, fold_columns<ColumnWork::squared_deviation, T>};
template <class T, bool Largest, bool Places>
inline constexpr ReduceLoop extreme_loop{extreme_row<T, Largest, Places>, extreme_columns<T, Largest, Places>};

}  // namespace detail

inline void AccumulatedColumns::divide(double divisor, bool exact) noexcept {
  if (exact)
    run_widest_for<float, detail::ScaleColumns<true>>(this, divisor);
  else
    run_widest_for<float, detail::ScaleColumns<false>>(this, 1 / divisor);
}

/// Sums, products, largest or smallest elements (with `Places` also their indices), and sums of squared deviations.
/// Floats are accumulated in double (sums of float32 first in eights), integers in wrapping 64 bits.
inline constexpr ReduceLoops sum_loops{
    detail::sum_loop<float>,
    detail::sum_loop<double>,
    {detail::fold_row<Add, std::int64_t>, detail::fold_columns<detail::ColumnWork::sum, std::int64_t>}};
inline constexpr ReduceLoops product_loops{detail::product_loop<float>, detail::product_loop<double>,
                                           detail::product_loop<std::int64_t>};
template <bool Largest, bool Places = true>
inline constexpr ReduceLoops extreme_loops{detail::extreme_loop<float, Largest, Places>,
                                           detail::extreme_loop<double, Largest, Places>,
                                           detail::extreme_loop<std::int64_t, Largest, Places>};
inline constexpr ReduceLoops squared_deviation_loops{
    detail::squared_deviation_loop<float>, detail::squared_deviation_loop<double>, {}};

}  // namespace davit::kernels
