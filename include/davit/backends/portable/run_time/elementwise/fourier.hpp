// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/kernels/vectors.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

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

/// Fourier transforms along dimensions of tensors.
namespace davit::portable_kernels {

namespace detail {

/// The lines of a tensor along one dimension, as pairs of floats or doubles.
struct LinesOf {
  static constexpr std::size_t most = kernels::vector_bytes / sizeof(double);

  std::int64_t count;   ///< pairs per line
  std::int64_t step;    ///< between pairs, in floats
  std::int64_t second;  ///< between the two parts of a pair
  bool is_double;
  bool has_second;  ///< else the second part is 0
  bool exchanged;   ///< the first part is the imaginary one

  /// The lines of complex numbers, or of real numbers, which may be taken in pairs.
  LinesOf(const TensorView& t, std::size_t d, std::int64_t numbers, bool two_by_two, bool exchange) noexcept
      : is_double(size_of(real_of(t.dtype)) == sizeof(double)), exchanged(exchange) {
    const bool complex = is_whole_complex(t.dtype);
    count = two_by_two ? numbers / 2 : numbers;
    step = t.stride(d) * (complex || two_by_two ? 2 : 1);
    second = complex ? 1 : t.stride(d);
    has_second = complex || two_by_two;
  }

  /// Reads `lanes` lines in the order of transform_lines; lines beyond `used` repeat the first.
  template <class T>
  void read(const TensorView& t, const std::array<std::int64_t, most>& at, std::size_t used, std::size_t lanes,
            double* to) const noexcept {
    const std::int64_t unit = is_whole_complex(t.dtype) ? 2 : 1;
    std::array<const T*, most> from;
    for (std::size_t l = 0; l < lanes; ++l) from[l] = static_cast<const T*>(t.data) + at[l < used ? l : 0] * unit;
    double* const firsts = to + (exchanged ? lanes : 0);
    double* const seconds = to + (exchanged ? 0 : lanes);
    for (std::int64_t k = 0; k < count; ++k)
      for (std::size_t l = 0; l < lanes; ++l) {
        const std::size_t i = static_cast<std::size_t>(2 * k) * lanes + l;
        firsts[i] = static_cast<double>(from[l][k * step]);
        seconds[i] = has_second ? static_cast<double>(from[l][k * step + second]) : 0;
      }
  }
  /// Writes `used` lines, times a factor.
  template <class T>
  void write(const TensorView& t, const std::array<std::int64_t, most>& at, std::size_t used, std::size_t lanes,
             const double* from, double factor) const noexcept {
    const std::int64_t unit = is_whole_complex(t.dtype) ? 2 : 1;
    const double* const firsts = from + (exchanged ? lanes : 0);
    const double* const seconds = from + (exchanged ? 0 : lanes);
    for (std::int64_t k = 0; k < count; ++k)
      for (std::size_t l = 0; l < used; ++l) {
        const std::size_t i = static_cast<std::size_t>(2 * k) * lanes + l;
        T* const to = static_cast<T*>(t.data) + at[l] * unit + k * step;
        to[0] = static_cast<T>(firsts[i] * factor);
        if (has_second) to[second] = static_cast<T>(seconds[i] * factor);
      }
  }
};

/// Transforms the lines of x along dimension d into the lines of `out`, times a factor. `room` holds twice a plan's
/// line_size() times `lanes`, for each thread of the team.
[[gnu::noinline]] inline void transform_along(const LinePlan& plan, const TensorView& x, const TensorView& out,
                                              std::size_t d, bool forward, double factor, std::complex<double>* room,
                                              std::size_t lanes) noexcept {
  const bool to_real = plan.kind == Transform::complex_to_real, from_real = plan.kind == Transform::real_to_complex;
  const std::int64_t spectrum = plan.n / 2 + 1;
  const LinesOf source(x, d, to_real ? std::min(x.size(d), spectrum) : plan.n, from_real && plan.halved,
                       !to_real && !forward);
  const LinesOf target(out, d, from_real && !plan.two_sided ? spectrum : plan.n, to_real && plan.halved, !forward);
  const std::size_t numbers = 2 * static_cast<std::size_t>(plan.line_size()) * lanes;
  using Places = std::array<std::int64_t, LinesOf::most>;
  const auto run = [&](double* a, const Places& from, const Places& to, std::size_t used) {
    if (used == 0) return;
    double* const b = a + numbers;
    source.is_double ? source.read<double>(x, from, used, lanes, a) : source.read<float>(x, from, used, lanes, a);
    if (to_real)
      std::fill(a + 2 * static_cast<std::size_t>(source.count) * lanes,
                a + 2 * static_cast<std::size_t>(spectrum) * lanes, 0.0);
    const double* const made =
        lanes == 1 ? transform_lines<sizeof(double)>(plan, a, b) : transform_lines<kernels::vector_bytes>(plan, a, b);
    target.is_double ? target.write<double>(out, to, used, lanes, made, factor)
                     : target.write<float>(out, to, used, lanes, made, factor);
  };
  Sizes lines(out.sizes());
  lines[d] = 1;
  const std::array strides{strides_of(x), strides_of(out)};
  kernels::walk_in_parallel(kernels::walk_over(lines, strides), 1, kernels::operations(plan.inner, 64),
                            [&](std::size_t number, const kernels::WalkPart& part) {
                              double* const a = reinterpret_cast<double*>(room) + number * 2 * numbers;
                              Places from{}, to{};
                              std::size_t used = 0;
                              for_each_index<2>(part.walk, [&](std::int64_t from_at, std::int64_t to_at) {
                                from[used] = part.at[0] + from_at;
                                to[used] = part.at[1] + to_at;
                                if (++used < lanes) return;
                                run(a, from, to, used);
                                used = 0;
                              });
                              run(a, from, to, used);
                            });
}

/// _fft_c2c(self, dim, normalization, forward), _fft_r2c(self, dim, normalization, onesided) and _fft_c2r(self, dim,
/// normalization, last_dim_size): along each of `dim`. Computed in double. Normalization: 0 none, 1 by sqrt(n), 2 by n.
/// O(elements * log n). Source: at::_fft_c2c and its neighbours.
[[nodiscard, gnu::noinline]] inline ErrorCode fourier(KernelCall& call, Transform kind) {
  const TensorView& x = call.tensor(0);
  const bool from_real = kind == Transform::real_to_complex, to_real = kind == Transform::complex_to_real;
  if (from_real ? x.dtype != ScalarType::float32 && x.dtype != ScalarType::float64 : !is_whole_complex(x.dtype))
    return call.refuse(ErrorCode::invalid_dtype, "the transform does not take this dtype");
  const bool forward = kind == Transform::complex_to_complex ? call.boolean(3) : from_real;
  Sizes dims;
  if (!ints_of(call.list(1), dims)) return call.refuse(ErrorCode::invalid_argument, "dimensions must be integers");
  Sizes sizes(x.sizes());  // of the transform
  double numbers = 1;
  for (std::size_t i = 0; i < dims.rank; ++i) {
    if (!wrap_dim(dims[i], x.rank) || x.rank == 0)
      return call.refuse(ErrorCode::out_of_range, "a dimension is outside the tensor's rank");
    for (std::size_t k = 0; k < i; ++k)
      if (dims[k] == dims[i])
        return call.refuse(ErrorCode::invalid_argument, "a transform has the same dimension twice");
    const auto d = static_cast<std::size_t>(dims[i]);
    if (to_real && i + 1 == dims.rank) sizes[d] = call.integer(3);
    if (sizes[d] < 1) return call.refuse(ErrorCode::invalid_shape, "a transform needs at least one element");
    numbers *= static_cast<double>(sizes[d]);
  }
  const std::int64_t total = davit::checked_numel(sizes.span(), max_numel / 64);
  if (total < 0) return call.refuse(ErrorCode::out_of_memory, "the transform is too large");
  const ScalarType type = to_real ? real_of(x.dtype) : complex_of(x.dtype);
  if (dims.rank == 0) {
    if (const ErrorCode code = call.make(0, type, sizes); code != ErrorCode::ok) return code;
    return convert_elements(x, type, call.output(0).data);
  }
  // the dimension that is real on one side is transformed first or last
  const auto last = static_cast<std::size_t>(dims[dims.rank - 1]);
  if (from_real) std::rotate(&dims[0], &dims[dims.rank - 1], &dims[dims.rank - 1] + 1);
  const std::size_t real_pass = from_real ? 0 : to_real ? dims.rank - 1 : dims.rank;
  const bool two_sided = from_real && !call.boolean(3);
  Sizes made = sizes;
  if (from_real && !two_sided) made[last] = sizes[last] / 2 + 1;
  Sizes between = made;  // sizes between the passes
  if (to_real) between[last] = std::min(x.size(last), sizes[last] / 2 + 1);
  if (const ErrorCode code = call.make(0, type, made); code != ErrorCode::ok) return code;
  if (total == 0) return ErrorCode::ok;

  const auto plan_of = [&](std::size_t pass) {
    LinePlan plan(pass == real_pass ? kind : Transform::complex_to_complex,
                  sizes[static_cast<std::size_t>(dims[pass])]);
    plan.two_sided = two_sided;
    return plan;
  };
  constexpr std::int64_t longest_of_several = 8192;  // fits in a cache
  const auto lanes_of = [&](const LinePlan& plan) {
    return total == plan.n || plan.inner > longest_of_several ? std::size_t{1} : LinesOf::most;
  };
  std::int64_t tables = 0, room = 0;
  for (std::size_t pass = 0; pass < dims.rank; ++pass) {
    const LinePlan plan = plan_of(pass);
    tables = std::max(tables, plan.table_size());
    room = std::max(room, 2 * plan.line_size() * static_cast<std::int64_t>(lanes_of(plan)) * kernels::team_size());
  }
  const std::int64_t kept = dims.rank == 1 ? 0 : davit::checked_numel(between.span(), max_numel / 64);
  auto* const memory = call.temporary<std::complex<double>>(static_cast<std::size_t>(room + tables + kept));
  if (memory == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for a transform");
  Sizes dense(between);
  contiguous_strides(between, {dense.values.data(), dense.rank});
  const TensorView middle{memory + room + tables, between.values.data(), dense.values.data(), x.rank,
                          ScalarType::complex128};

  const std::int64_t how = call.integer(2);
  const double factor = how == 2 ? 1 / numbers : how == 1 ? 1 / std::sqrt(numbers) : 1;
  LinePlan plan = plan_of(0);
  for (std::size_t pass = 0; pass < dims.rank; ++pass) {
    const LinePlan next = plan_of(pass);
    if (pass == 0 || next.n != plan.n || next.kind != plan.kind) {
      plan = next;
      fill_tables(plan, memory + room, memory);
    }
    const bool final = pass + 1 == dims.rank;
    transform_along(plan, pass == 0 ? x : middle, final ? call.output(0) : middle, static_cast<std::size_t>(dims[pass]),
                    forward, final ? factor : 1, memory, lanes_of(plan));
  }
  return ErrorCode::ok;
}
template <Transform kind>
[[nodiscard]] ErrorCode fourier(KernelCall& call) {
  return fourier(call, kind);
}

}  // namespace detail

inline constexpr auto fourier_ops = std::to_array<OpRow>({
    {"aten._fft_c2c.default", detail::fourier<detail::Transform::complex_to_complex>},
    {"aten._fft_c2r.default", detail::fourier<detail::Transform::complex_to_real>},
    {"aten._fft_r2c.default", detail::fourier<detail::Transform::real_to_complex>},
});

}  // namespace davit::portable_kernels
