// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "davit/backends/portable/static/computed.hpp"
#include "davit/backends/portable/static/walk.hpp"
#include "davit/core/error.hpp"
#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/kernels/parameters.hpp"
#include "davit/kernels/vectors.hpp"

/// Functions of kernels/ on tensors. Elements are converted to the compute type, and results to the result's type;
/// float32 uses packs for functions of few instructions.
namespace davit::static_kernels {

/// Parameters with the numbers of a function, such as the two bounds of kernels::Hardtanh.
template <class Base, std::size_t Numbers>
struct WithNumbers : Base {
  std::array<NumberParam, Numbers> numbers{};
};
template <class Base>
struct WithNumbers<Base, 0> : Base {
  static constexpr std::array<NumberParam, 0> numbers{};
};
struct Count {
  std::int32_t count = 0;
};
/// A number in place of the second operand, or of the first.
struct CountAndNumber {
  std::int32_t count = 0;
  std::int32_t first = 0;  ///< nonzero: the number is the first operand
  NumberParam number{};
};
struct Broadcast {
  Walk<2> walk{};
};

namespace detail {

template <template <class> class F, template <class> class... Of>
inline constexpr bool is_any = (std::is_same_v<F<float>, Of<float>> || ...);
/// True if a function of float is applied to packs.
template <template <class> class F>
inline constexpr bool on_packs =
    is_any<F, kernels::Negate, kernels::Add, kernels::Subtract, kernels::Multiply, kernels::Divide> ||
    (kernels::compares_vectors && is_any<F, kernels::Relu, kernels::Maximum, kernels::Minimum, kernels::Hardtanh,
                                         kernels::Hardsigmoid, kernels::Hardswish>);

/// A function of kernels/ for elements of T and results of R.
template <template <class> class F, class T, class R>
class Function {
  using C = Computed<T>;
  static constexpr bool has_parameters = std::is_constructible_v<F<C>, kernels::Parameters&>;

 public:
  static constexpr bool on_packs = std::is_same_v<T, float> && std::is_same_v<R, float> && detail::on_packs<F>;

  template <std::size_t N>
  [[gnu::always_inline]] explicit constexpr Function(const std::array<NumberParam, N>& numbers) noexcept
      : f_(made(parameters_, numbers)) {}
  Function(const Function&) = delete;

  template <class... V>
  [[nodiscard, gnu::always_inline]] constexpr R operator()(V... operands) const noexcept {
    return kernels::convert<R>(f_(operands...));
  }
  /// Applies the function to one pack of each operand.
  template <Index N, class... V>
  [[nodiscard, gnu::always_inline]] constexpr Pack<N> packs(const V&... operands) const noexcept {
    if constexpr (N == 1) {
      return f_(operands...);
    } else {
      Pack<N> result;
      f_(operands..., result);
      return result;
    }
  }
  /// The function's result code: an ErrorCode for integers (a divisor of zero, ...), nothing for floats.
  [[gnu::always_inline]] constexpr auto result() const noexcept {
    if constexpr (has_parameters && std::is_integral_v<C>) return ErrorCode{parameters_.code};
  }

 private:
  [[nodiscard, gnu::always_inline]] static constexpr F<C> made([[maybe_unused]] kernels::Parameters& parameters,
                                                               std::span<const NumberParam> numbers) noexcept {
    if constexpr (has_parameters) {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        parameters.integers[i] = std::bit_cast<std::int64_t>(numbers[i]);
        if constexpr (!std::is_integral_v<C>) parameters.reals[i] = static_cast<double>(number_from<C>(numbers[i]));
      }
      return F<C>(parameters);
    } else {
      return {};
    }
  }
  kernels::Parameters parameters_{};
  F<C> f_;
};

/// y[i] = f(a[i * step_a], b[i * step_b]), with steps 0 or 1.
template <bool Unrolled, class F, class T, class R>
[[gnu::always_inline]] constexpr void binary_row(const F& f, Index count, R* y, const T* a, Index step_a, const T* b,
                                                 Index step_b) noexcept {
  if constexpr (F::on_packs) {
    if (step_a == 1 && step_b == 1)
      return for_packs<Unrolled>(count, [&]<Index N>(Index i) __attribute__((always_inline)) {
        store<N>(y + i, f.template packs<N>(load<N>(a + i), load<N>(b + i)));
      });
    if (step_a == 1)
      return for_packs<Unrolled>(count, [&]<Index N>(Index i) __attribute__((always_inline)) {
        store<N>(y + i, f.template packs<N>(load<N>(a + i), Pack<N>(*b - Pack<N>{})));
      });
    if (step_b == 1)
      return for_packs<Unrolled>(count, [&]<Index N>(Index i) __attribute__((always_inline)) {
        store<N>(y + i, f.template packs<N>(Pack<N>(*a - Pack<N>{}), load<N>(b + i)));
      });
  }
  for (Index i = 0; i < count; ++i) y[i] = f(loaded(a[i * step_a]), loaded(b[i * step_b]));
}

}  // namespace detail

/// y[i] = f(x[i]); `y` may be `x` if their elements have one width. Errors: those of f. O(count).
template <template <class> class F, std::size_t Numbers>
struct map_one {
  using Params = WithNumbers<Count, Numbers>;
  template <class P, class R, class T>
  [[gnu::always_inline]] static constexpr auto run(const P& params, R* y, const T* x) noexcept {
    const auto& p = numbers_of(params);
    detail::Function<F, T, R> f(p.numbers);
    if constexpr (f.on_packs) {
      for_packs<is_constant<P>>(p.count, [&]<Index N>(Index i) __attribute__((always_inline)) {
        store<N>(y + i, f.template packs<N>(load<N>(x + i)));
      });
    } else {
      for (Index i = 0; i < p.count; ++i) y[i] = f(loaded(x[i]));
    }
    return f.result();
  }
};

/// y[i] = f(x[i], number), or f(number, x[i]); `y` may be `x` if their elements have one width. Errors: those of f.
/// O(count).
template <template <class> class F, std::size_t Numbers>
struct map_with_number {
  using Params = WithNumbers<CountAndNumber, Numbers>;
  template <class P, class R, class T>
  [[gnu::always_inline]] static constexpr auto run(const P& params, R* y, const T* x) noexcept {
    const auto& p = numbers_of(params);
    detail::Function<F, T, R> f(p.numbers);
    const auto number = number_from<Computed<T>>(p.number);
    if constexpr (f.on_packs) {
      for_packs<is_constant<P>>(p.count, [&]<Index N>(Index i) __attribute__((always_inline)) {
        const Pack<N> v = load<N>(x + i), other = number - Pack<N>{};
        store<N>(y + i, p.first != 0 ? f.template packs<N>(other, v) : f.template packs<N>(v, other));
      });
    } else {
      for (Index i = 0; i < p.count; ++i) y[i] = p.first != 0 ? f(number, loaded(x[i])) : f(loaded(x[i]), number);
    }
    return f.result();
  }
};

/// y[i] = f(a[i], b[i]); `y` may be `a` or `b` if their elements have one width. Errors: those of f. O(count).
template <template <class> class F, std::size_t Numbers>
struct map_pairs {
  using Params = WithNumbers<Count, Numbers>;
  template <class P, class R, class T>
  [[gnu::always_inline]] static constexpr auto run(const P& params, R* y, const T* a, const T* b) noexcept {
    const auto& p = numbers_of(params);
    detail::Function<F, T, R> f(p.numbers);
    detail::binary_row<is_constant<P>>(f, p.count, y, a, 1, b, 1);
    return f.result();
  }
};

/// y = f(a, b), broadcast; `y` may be an operand with its sizes and element width. Errors: those of f. O(elements of
/// y).
template <template <class> class F, std::size_t Numbers>
struct map_two {
  using Params = WithNumbers<Broadcast, Numbers>;
  template <class P, class R, class T>
  [[gnu::always_inline]] static constexpr auto run(const P& params, R* y, const T* a, const T* b) noexcept {
    const auto& p = numbers_of(params);
    detail::Function<F, T, R> f(p.numbers);
    const Walk<2>& walk = p.walk;
    if (walk.rank < 2) {
      const Index count = walk.rank == 0 ? 1 : walk.sizes[0];
      detail::binary_row<is_constant<P>>(f, count, y, a, walk.strides[0][0], b, walk.strides[1][0]);
    } else {
      detail::walk_rows(walk, [&](const std::array<Index, 2>& at, Index count,
                                  std::size_t inner) __attribute__((always_inline)) {
        detail::binary_row<false>(f, count, y, a + at[0], walk.strides[0][inner], b + at[1], walk.strides[1][inner]);
        y += count;
      });
    }
    return f.result();
  }
};

/// y = condition ? a : b, broadcast. O(elements of y). Source: at::where.
struct choose {
  struct Params {
    Walk<3> walk{};
  };
  template <class P, class T, class C>
  [[gnu::always_inline]] static constexpr void run(const P& params, T* y, const C* condition, const T* a,
                                                   const T* b) noexcept {
    detail::walk_each(numbers_of(params).walk, [&](const std::array<Index, 3>& at) __attribute__((always_inline)) {
      *y++ = condition[at[0]] != C{} ? a[at[1]] : b[at[2]];
    });
  }
};

/// y[i] = x[i], converted to y's type. O(count). Source: at::to.
struct convert {
  using Params = Count;
  template <class P, class R, class T>
  [[gnu::always_inline]] static constexpr void run(const P& params, R* y, const T* x) noexcept {
    const Count& p = numbers_of(params);
    for (Index i = 0; i < p.count; ++i) y[i] = kernels::convert<R>(x[i]);
  }
};

/// y[i] = number. O(count). Source: at::full.
struct fill {
  struct Params {
    std::int32_t count = 0;
    NumberParam number{};
  };
  template <class P, class R>
  [[gnu::always_inline]] static constexpr void run(const P& params, R* y) noexcept {
    const Params& p = numbers_of(params);
    const auto number = kernels::convert<R>(number_from<Computed<R>>(p.number));
    if constexpr (std::is_same_v<R, float>)
      for_packs<false>(p.count,
                       [&]<Index N>(Index i) __attribute__((always_inline)) { store<N>(y + i, number - Pack<N>{}); });
    else
      for (Index i = 0; i < p.count; ++i) y[i] = number;
  }
};

/// y[i] = first + i * step, computed in double or int64, whichever encodes `first` and `step`. O(count). Source:
/// at::arange.
struct sequence {
  struct Params {
    std::int32_t count = 0;
    NumberParam first{}, step{};
  };
  template <class P, class R>
  [[gnu::always_inline]] static constexpr void run(const P& params, R* y) noexcept {
    using C = std::conditional_t<std::is_integral_v<Computed<R>>, std::int64_t, double>;
    const Params& p = numbers_of(params);
    const C first = number_from<C>(p.first), step = number_from<C>(p.step);
    for (Index i = 0; i < p.count; ++i)
      y[i] = kernels::convert<R>(static_cast<Computed<R>>(first + static_cast<C>(i) * step));
  }
};

}  // namespace davit::static_kernels
