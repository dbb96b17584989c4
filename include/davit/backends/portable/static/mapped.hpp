// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/backends/portable/static/walk.hpp"
#include "davit/core/error.hpp"
#include "davit/kernels/convert.hpp"
#include "davit/kernels/parameters.hpp"

/// Elementwise functions of kernels/ on elements of any type: they are loaded into what the type is computed in, and
/// what comes out is stored as the result's type.
namespace davit::static_kernels {

/// What elements of T are computed in: float, double or, for all integers and bools, int64.
template <class T>
using Computed = std::conditional_t<
    std::is_same_v<T, double>, double,
    std::conditional_t<std::is_same_v<T, float> || kernels::is_reduced_float<T>, float, std::int64_t>>;

/// A double or an int64, whichever the elements are computed in, as parameters may hold it, in int32.
using NumberParam = std::array<std::int32_t, 2>;

template <class C>
[[nodiscard]] constexpr C number_from(const NumberParam& encoded) noexcept {
  if constexpr (std::is_integral_v<C>)
    return std::bit_cast<std::int64_t>(encoded);
  else
    return static_cast<C>(std::bit_cast<double>(encoded));
}

namespace detail {

/// A functor of kernels/ on the type that it computes in, with its numbers.
template <template <class> class F, class C>
[[nodiscard, gnu::always_inline]] constexpr F<C> function_of(
    [[maybe_unused]] kernels::Parameters& parameters, [[maybe_unused]] std::span<const NumberParam> numbers) noexcept {
  if constexpr (std::is_constructible_v<F<C>, kernels::Parameters&>) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      parameters.integers[i] = std::bit_cast<std::int64_t>(numbers[i]);
      parameters.reals[i] = std::bit_cast<double>(numbers[i]);
    }
    return F<C>(parameters);
  } else {
    return {};
  }
}
template <class T>
[[nodiscard, gnu::always_inline]] constexpr Computed<T> loaded(T v) noexcept {
  return kernels::convert<Computed<T>>(v);
}

}  // namespace detail

/// y[i] = f(x[i]).
template <std::size_t Numbers>
struct MapOne {
  std::int32_t count = 0;
  std::array<NumberParam, Numbers> numbers{};
};
template <>
struct MapOne<0> {
  std::int32_t count = 0;
  static constexpr std::array<NumberParam, 0> numbers{};
};
/// Errors: those of F. O(count). `y` may be `x` if their elements have the same width.
template <template <class> class F, class P, class T, class R>
[[gnu::always_inline]] constexpr ErrorCode map_one(const P& params, const T* x, R* y) noexcept {
  const auto& p = numbers_of(params);
  kernels::Parameters parameters;
  const auto f = detail::function_of<F, Computed<T>>(parameters, p.numbers);
  for (Index i = 0; i < p.count; ++i) y[i] = kernels::convert<R>(f(detail::loaded(x[i])));
  return parameters.code;
}

/// y[i] = f(x[i], number), or f(number, x[i]).
template <std::size_t Numbers>
struct MapWithNumber {
  std::int32_t count = 0;
  std::int32_t first = 0;  ///< not 0: the number stands first
  NumberParam number{};
  std::array<NumberParam, Numbers> numbers{};
};
template <>
struct MapWithNumber<0> {
  std::int32_t count = 0;
  std::int32_t first = 0;
  NumberParam number{};
  static constexpr std::array<NumberParam, 0> numbers{};
};
/// Errors: those of F. O(count). `y` may be `x` if their elements have the same width.
template <template <class> class F, class P, class T, class R>
[[gnu::always_inline]] constexpr ErrorCode map_with_number(const P& params, const T* x, R* y) noexcept {
  const auto& p = numbers_of(params);
  kernels::Parameters parameters;
  const auto f = detail::function_of<F, Computed<T>>(parameters, p.numbers);
  const auto number = number_from<Computed<T>>(p.number);
  if (p.first != 0) {
    for (Index i = 0; i < p.count; ++i) y[i] = kernels::convert<R>(f(number, detail::loaded(x[i])));
  } else {
    for (Index i = 0; i < p.count; ++i) y[i] = kernels::convert<R>(f(detail::loaded(x[i]), number));
  }
  return parameters.code;
}

/// y = f(a, b), broadcast.
template <std::size_t Numbers>
struct MapTwo {
  Walk<2> walk{};
  std::array<NumberParam, Numbers> numbers{};
};
template <>
struct MapTwo<0> {
  Walk<2> walk{};
  static constexpr std::array<NumberParam, 0> numbers{};
};
/// Errors: those of F. O(elements of y).
template <template <class> class F, class P, class T, class R>
[[gnu::always_inline]] constexpr ErrorCode map_two(const P& params, const T* a, const T* b, R* y) noexcept {
  const auto& p = numbers_of(params);
  kernels::Parameters parameters;
  const auto f = detail::function_of<F, Computed<T>>(parameters, p.numbers);
  detail::walk_each(p.walk, [&](const std::array<Index, 2>& at) __attribute__((always_inline)) {
    *y++ = kernels::convert<R>(f(detail::loaded(a[at[0]]), detail::loaded(b[at[1]])));
  });
  return parameters.code;
}

/// y = condition ? a : b, broadcast.
struct Choose {
  Walk<3> walk{};
};
/// O(elements of y). Source: at::where.
template <class P, class C, class T>
[[gnu::always_inline]] constexpr void choose(const P& params, const C* condition, const T* a, const T* b,
                                             T* y) noexcept {
  detail::walk_each(numbers_of(params).walk, [&](const std::array<Index, 3>& at) __attribute__((always_inline)) {
    *y++ = condition[at[0]] != C{} ? a[at[1]] : b[at[2]];
  });
}

/// y[i] = x[i] as y's type.
struct Convert {
  std::int32_t count = 0;
};
/// O(count). Source: at::to.
template <class P, class T, class R>
[[gnu::always_inline]] constexpr void convert(const P& params, const T* x, R* y) noexcept {
  const Convert& p = numbers_of(params);
  for (Index i = 0; i < p.count; ++i) y[i] = kernels::convert<R>(x[i]);
}

/// y[i] = first + i * step, in double or int64.
struct Sequence {
  std::int32_t count = 0;
  NumberParam first{}, step{};
};
/// O(count). Source: at::arange, at::full.
template <class P, class R>
[[gnu::always_inline]] constexpr void sequence(const P& params, R* y) noexcept {
  using C = std::conditional_t<std::is_same_v<Computed<R>, std::int64_t>, std::int64_t, double>;
  const Sequence& p = numbers_of(params);
  const C first = number_from<C>(p.first), step = number_from<C>(p.step);
  for (Index i = 0; i < p.count; ++i)
    y[i] = kernels::convert<R>(static_cast<Computed<R>>(first + static_cast<C>(i) * step));
}

}  // namespace davit::static_kernels
