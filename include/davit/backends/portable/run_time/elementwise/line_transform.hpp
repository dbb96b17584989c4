// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "davit/kernels/vectors.hpp"

/// Fourier transforms of lines of numbers in double, several lines at a time.
namespace davit::portable_kernels::detail {

enum class Transform : std::uint8_t { complex_to_complex, real_to_complex, complex_to_real };

/// exp(-2 pi i k / n), 0 <= k < n <= 2^60.
[[nodiscard]] inline std::complex<double> root_of_one(std::int64_t k, std::int64_t n) noexcept {
  const double angle = 1.5707963267948966 * (static_cast<double>(4 * k % n) / static_cast<double>(n));
  const double c = std::cos(angle), s = std::sin(angle);
  switch (4 * k / n) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}
[[nodiscard]] inline std::complex<double> product(std::complex<double> a, std::complex<double> b) noexcept {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
/// The n roots of unity, most of them as products of a few. O(n).
inline void fill_roots(std::int64_t n, std::complex<double>* to) noexcept {
  std::int64_t step = 1;
  while (step * step < n) step *= 2;
  for (std::int64_t k = 0; k < n && k < step; ++k) to[k] = root_of_one(k, n);
  for (std::int64_t first = step; first < n; first += step) {
    const std::complex<double> turn = root_of_one(first, n);
    for (std::int64_t k = 0; k < step && first + k < n; ++k) to[first + k] = product(turn, to[k]);
  }
}

/// The plan of a transform of lines of n numbers. An even number of real numbers is transformed as half as many complex
/// ones; a length with a prime factor above `largest_factor` by a convolution with a chirp, of a length without such a
/// factor. Source: Bluestein, IEEE Trans. Audio Electroacoust. 18 (1970).
struct LinePlan {
  static constexpr std::int64_t largest_factor = 47;

  Transform kind;
  bool two_sided = false;  ///< real_to_complex returns all n numbers, not n / 2 + 1
  bool halved;
  std::int64_t n;
  std::int64_t length;  ///< of the complex transform
  std::int64_t inner;   ///< of the transform by factors
  std::int64_t turn;    ///< roots[k * turn] = exp(-2 pi i k / length)
  std::int64_t inner_turn;
  std::complex<double>* roots = nullptr;        ///< length * turn
  std::complex<double>* inner_roots = nullptr;  ///< of `inner`; equals roots unless it is chirped
  std::complex<double>* chirp = nullptr;        ///< length
  std::complex<double>* spectrum = nullptr;     ///< inner

  /// Of 1 <= numbers <= 2^40.
  LinePlan(Transform of, std::int64_t numbers) noexcept
      : kind(of),
        halved(of != Transform::complex_to_complex && numbers % 2 == 0),
        n(numbers),
        length(halved ? n / 2 : n),
        inner(length) {
    std::int64_t rest = length;
    for (std::int64_t factor = 2; factor <= largest_factor; ++factor)
      while (rest % factor == 0) rest /= factor;
    if (rest != 1) {
      for (inner = 8; inner < 2 * length - 1;) inner *= 2;
      for (const std::int64_t less : {inner / 8 * 6, inner / 8 * 5})
        if (less >= 2 * length - 1) inner = less;
    }
    turn = halved || rest != 1 ? 2 : 1;
    inner_turn = rest != 1 ? 1 : turn;
  }
  [[nodiscard]] bool is_chirped() const noexcept { return inner != length; }
  /// Complex numbers in the tables.
  [[nodiscard]] std::int64_t table_size() const noexcept {
    return length * turn + (is_chirped() ? 2 * inner + length : 0);
  }
  /// Complex numbers of work space per line, which is needed twice.
  [[nodiscard]] std::int64_t line_size() const noexcept { return std::max(inner, two_sided ? n : length + 1); }
};

/// Complex numbers, one per lane of V.
template <class V>
struct Pair {
  V re, im;
};
template <class V>
[[gnu::always_inline]] inline void turn_pair(const Pair<V>& x, const std::complex<double>& w, Pair<V>& to) noexcept {
  const V re = x.re * w.real() - x.im * w.imag();
  to.im = x.re * w.imag() + x.im * w.real();
  to.re = re;
}
template <class V>
[[gnu::always_inline]] inline void sum_and_difference(const Pair<V>& a, const Pair<V>& b, Pair<V>& sum,
                                                      Pair<V>& difference) noexcept {
  const Pair<V> rest{a.re - b.re, a.im - b.im};
  sum = Pair<V>{a.re + b.re, a.im + b.im};
  difference = rest;
}
/// a - i b and a + i b.
template <class V>
[[gnu::always_inline]] inline void quarter_turns(const Pair<V>& a, const Pair<V>& b, Pair<V>& back,
                                                 Pair<V>& forth) noexcept {
  back = Pair<V>{a.re + b.im, a.im - b.re};
  forth = Pair<V>{a.re - b.im, a.im + b.re};
}

/// The transform of R numbers.
template <std::size_t R, class V>
[[gnu::always_inline]] inline void transform_few(Pair<V> (&x)[R]) noexcept {
  if constexpr (R == 2) {
    sum_and_difference(x[0], x[1], x[0], x[1]);
  } else if constexpr (R == 3) {
    Pair<V> sum, difference;
    sum_and_difference(x[1], x[2], sum, difference);
    const Pair<V> middle{x[0].re - 0.5 * sum.re, x[0].im - 0.5 * sum.im};
    x[0] = Pair<V>{x[0].re + sum.re, x[0].im + sum.im};
    constexpr double s = 0.86602540378443864676;
    quarter_turns(middle, Pair<V>{s * difference.re, s * difference.im}, x[1], x[2]);
  } else if constexpr (R == 4) {
    Pair<V> even, odd, even_rest, odd_rest;
    sum_and_difference(x[0], x[2], even, even_rest);
    sum_and_difference(x[1], x[3], odd, odd_rest);
    sum_and_difference(even, odd, x[0], x[2]);
    quarter_turns(even_rest, odd_rest, x[1], x[3]);
  } else {
    static_assert(R == 5);
    constexpr double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410, s1 = 0.95105651629515357212,
                     s2 = 0.58778525229247312917;
    Pair<V> a, b, da, db;
    sum_and_difference(x[1], x[4], a, da);
    sum_and_difference(x[2], x[3], b, db);
    const Pair<V> first{x[0].re + c1 * a.re + c2 * b.re, x[0].im + c1 * a.im + c2 * b.im};
    const Pair<V> second{x[0].re + c2 * a.re + c1 * b.re, x[0].im + c2 * a.im + c1 * b.im};
    x[0] = Pair<V>{x[0].re + a.re + b.re, x[0].im + a.im + b.im};
    quarter_turns(first, Pair<V>{s1 * da.re + s2 * db.re, s1 * da.im + s2 * db.im}, x[1], x[4]);
    quarter_turns(second, Pair<V>{s2 * da.re - s1 * db.re, s2 * da.im - s1 * db.im}, x[2], x[3]);
  }
}

/// One factor of a transform of factor * rest * done numbers; `done` is the product of the earlier factors. Source:
/// FFTPACK's passes, which keep the numbers in order.
struct Pass {
  std::int64_t done, rest;
  const std::complex<double>* roots;
  std::int64_t step;  ///< roots[k * step] = exp(-2 pi i k / (factor * rest))

  template <std::size_t R, class V>
  [[gnu::always_inline]] void run(const Pair<V>* from, Pair<V>* to) const noexcept {
    const std::int64_t apart = rest * done;
    for (std::int64_t k = 0; k < done; ++k, from += static_cast<std::int64_t>(R - 1) * rest) {
      for (std::int64_t i = 0; i < rest; ++i, ++from, ++to) {
        Pair<V> x[R];
#pragma GCC unroll 5
        for (std::size_t j = 0; j < R; ++j) x[j] = from[static_cast<std::int64_t>(j) * rest];
        transform_few(x);
        to[0] = x[0];
#pragma GCC unroll 5
        for (std::size_t j = 1; j < R; ++j) {
          const auto at = static_cast<std::int64_t>(j);
          if (rest == 1)
            to[at * apart] = x[j];
          else
            turn_pair(x[j], roots[at * i * step], to[at * apart]);
        }
      }
    }
  }
  /// An odd prime factor <= LinePlan::largest_factor.
  template <class V>
  [[gnu::always_inline]] void run_odd(std::int64_t factor, const Pair<V>* from, Pair<V>* to) const noexcept {
    constexpr std::size_t most = LinePlan::largest_factor / 2 + 1;
    const std::int64_t apart = rest * done, half = factor / 2;
    std::complex<double> own[2 * most];
    for (std::int64_t j = 0; j < factor; ++j) own[j] = roots[j * rest * step];
    for (std::int64_t k = 0; k < done; ++k, from += (factor - 1) * rest) {
      for (std::int64_t i = 0; i < rest; ++i, ++from, ++to) {
        Pair<V> sums[most], differences[most];
        Pair<V> sum = from[0];
        for (std::int64_t j = 1; j <= half; ++j) {
          sum_and_difference(from[j * rest], from[(factor - j) * rest], sums[j], differences[j]);
          sum = Pair<V>{sum.re + sums[j].re, sum.im + sums[j].im};
        }
        to[0] = sum;
        for (std::int64_t q = 1; q <= half; ++q) {
          Pair<V> even = from[0], odd{};
          for (std::int64_t j = 1, at = q; j <= half; ++j) {
            even = Pair<V>{even.re + sums[j].re * own[at].real(), even.im + sums[j].im * own[at].real()};
            odd = Pair<V>{odd.re - differences[j].re * own[at].imag(), odd.im - differences[j].im * own[at].imag()};
            at += q;
            if (at >= factor) at -= factor;
          }
          Pair<V> first, second;
          quarter_turns(even, odd, first, second);
          turn_pair(first, roots[q * i * step], to[q * apart]);
          turn_pair(second, roots[(factor - q) * i * step], to[(factor - q) * apart]);
        }
      }
    }
  }
};

/// The inverse of real_to_complex's last step: n real numbers, in pairs, from the first n / 2 + 1 of a transform.
template <class V>
[[gnu::always_inline]] inline void whole_of_half(const LinePlan& plan, const Pair<V>* x, Pair<V>* to) {
  const std::int64_t h = plan.n / 2;
  if (!plan.halved) {
    to[0] = Pair<V>{V{}, x[0].re};
    for (std::int64_t k = 1; k <= h; ++k) {
      to[k] = Pair<V>{x[k].im, x[k].re};
      to[plan.n - k] = Pair<V>{-x[k].im, x[k].re};
    }
    return;
  }
  to[0] = Pair<V>{x[0].re - x[h].re, x[0].re + x[h].re};
  for (std::int64_t k = 1; k < h; ++k) {
    Pair<V> sum, turned;
    sum_and_difference(x[k], Pair<V>{x[h - k].re, -x[h - k].im}, sum, turned);
    turn_pair(turned, std::conj(plan.roots[k]), turned);
    to[k] = Pair<V>{sum.im + turned.re, sum.re - turned.im};
  }
}
/// The last step of real_to_complex: the transform of n real numbers from that of their n / 2 pairs.
template <class V>
[[gnu::always_inline]] inline void half_of_whole(const LinePlan& plan, const Pair<V>* x, Pair<V>* to) {
  const std::int64_t h = plan.n / 2;
  to[0].re = x[0].re + x[0].im;
  to[h] = Pair<V>{x[0].re - x[0].im, V{}};
  for (std::int64_t k = 1; k < h; ++k) {
    Pair<V> sum, turned;
    sum_and_difference(x[k], Pair<V>{x[h - k].re, -x[h - k].im}, sum, turned);
    turn_pair(turned, plan.roots[k], turned);
    to[k] = Pair<V>{0.5 * (sum.re + turned.im), 0.5 * (sum.im - turned.re)};
  }
  for (std::int64_t k = 1; plan.two_sided && k < h; ++k) to[plan.n - k] = Pair<V>{to[k].re, -to[k].im};
}

/// Transforms Bytes / 8 lines at a time: number k of line l has its real part in a[2 * k * lanes + l], its imaginary
/// part in a[(2 * k + 1) * lanes + l].
///
/// `b` is work space; returns a or b, whichever holds the result. Complex numbers are transformed forward;
/// complex_to_real takes the first n / 2 + 1, and its result has real and imaginary parts exchanged. O(n log n).
template <std::size_t Bytes>
[[nodiscard, gnu::noinline]] double* transform_lines(const LinePlan& plan, double* a, double* b) {
  // NOLINTNEXTLINE(modernize-type-traits): both choices have a member type
  using V = typename std::conditional_t<Bytes == sizeof(double), std::type_identity<double>,
                                        kernels::VectorOf<double, Bytes>>::type;
  auto* from = reinterpret_cast<Pair<V>*>(a);
  auto* to = reinterpret_cast<Pair<V>*>(b);
  const std::int64_t length = plan.length, inner = plan.inner;
  if (plan.kind == Transform::complex_to_real) {
    whole_of_half(plan, from, to);
    std::swap(from, to);
  }
  if (plan.is_chirped()) {
    for (std::int64_t k = 0; k < length; ++k) turn_pair(from[k], plan.chirp[k], from[k]);
    for (std::int64_t k = length; k < inner; ++k) from[k] = Pair<V>{};
  }
  for (int round = 0; round <= static_cast<int>(plan.is_chirped()); ++round) {
    for (std::int64_t k = 0; round == 1 && k < inner; ++k) {
      turn_pair(from[k], plan.spectrum[k], from[k]);
      from[k] = Pair<V>{from[k].im, from[k].re};  // exchanged parts make the transform its inverse
    }
    for (std::int64_t done = 1, factor = 1; done < inner; done *= factor) {
      const std::int64_t left = inner / done;
      for (factor = left % 4 == 0 ? 4 : 2; left % factor != 0;) ++factor;
      const Pass pass{done, left / factor, plan.inner_roots, done * plan.inner_turn};
      switch (factor) {
        case 2: pass.run<2>(from, to); break;
        case 3: pass.run<3>(from, to); break;
        case 4: pass.run<4>(from, to); break;
        case 5: pass.run<5>(from, to); break;
        default: pass.run_odd(factor, from, to);
      }
      std::swap(from, to);
    }
  }
  for (std::int64_t k = 0; plan.is_chirped() && k < length; ++k)
    turn_pair(Pair<V>{from[k].im, from[k].re}, plan.chirp[k], from[k]);
  if (plan.kind == Transform::real_to_complex) {
    if (plan.halved) {
      half_of_whole(plan, from, to);
      std::swap(from, to);
    }
    from[0].im = V{};
  }
  return reinterpret_cast<double*>(from);
}

/// Fills the tables of a plan: `tables` has room for table_size() numbers, `room` for twice line_size(). O(n log n).
inline void fill_tables(LinePlan& plan, std::complex<double>* tables, std::complex<double>* room) noexcept {
  plan.roots = plan.inner_roots = tables;
  const std::int64_t all = plan.length * plan.turn;
  fill_roots(all, plan.roots);
  if (!plan.is_chirped()) return;
  plan.inner_roots = tables + all;
  plan.spectrum = plan.inner_roots + plan.inner;
  plan.chirp = plan.spectrum + plan.inner;
  fill_roots(plan.inner, plan.inner_roots);
  for (std::int64_t k = 0; k < plan.inner; ++k) room[k] = 0;
  for (std::int64_t k = 0, square = 0; k < plan.length; ++k) {  // k * k modulo 2 * length
    plan.chirp[k] = plan.roots[square];
    room[k] = std::conj(plan.chirp[k]);
    if (k != 0) room[plan.inner - k] = room[k];
    square += 2 * k + 1;
    while (square >= all) square -= all;
  }
  LinePlan whole(Transform::complex_to_complex, plan.inner);
  whole.roots = whole.inner_roots = plan.inner_roots;
  auto* const a = reinterpret_cast<double*>(room);
  const double* const made = transform_lines<sizeof(double)>(whole, a, a + 2 * plan.inner);
  for (std::int64_t k = 0; k < plan.inner; ++k)
    plan.spectrum[k] = std::complex<double>(made[2 * k], made[2 * k + 1]) / static_cast<double>(plan.inner);
}

}  // namespace davit::portable_kernels::detail
