// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "davit/kernels/arithmetic.hpp"
#include "davit/kernels/blocks.hpp"
#include "davit/kernels/walk.hpp"

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

/// Works n elements that lie `step` bytes apart into what is accumulated, one after another.
using ReduceLoop = void (*)(const std::byte* from, std::int64_t step, std::int64_t n, Accumulated& so_far);

/// The loops of a reduction over elements of these types, as in `Loops`.
struct ReduceLoops {
  ReduceLoop float32 = nullptr;
  ReduceLoop float64 = nullptr;
  ReduceLoop int64 = nullptr;
};

namespace detail {

/// Floats are accumulated in double, integers in wrapping 64 bits.
template <template <class> class F, class T>
void fold_loop(const std::byte* from, std::int64_t step, std::int64_t n, Accumulated& so_far) {
  using A = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
  A sum = so_far.of<T>();
  for (; n > 0; --n, from += step) sum = F<A>{}(sum, static_cast<A>(*reinterpret_cast<const T*>(from)));
  so_far.of<T>() = sum;
}
template <class T>
void squared_deviation_loop(const std::byte* from, std::int64_t step, std::int64_t n, Accumulated& so_far) {
  double sum = so_far.real;
  const double center = so_far.center;
  for (; n > 0; --n, from += step) {
    const double d = static_cast<double>(*reinterpret_cast<const T*>(from)) - center;
    sum += d * d;
  }
  so_far.real = sum;
}
/// The largest (or smallest) element and where it is; NaN wins, the first of equals counts.
template <class T, bool Largest>
void extreme_loop(const std::byte* from, std::int64_t step, std::int64_t n, Accumulated& so_far) {
  std::int64_t i = 0;
  std::int64_t found_at = so_far.found_at - so_far.seen;
  T best = static_cast<T>(so_far.of<T>());
  if (so_far.seen == 0) {
    best = *reinterpret_cast<const T*>(from);
    from += step;
    found_at = 0;
    i = 1;
  }
  for (; i < n && best == best; ++i, from += step) {
    const T v = *reinterpret_cast<const T*>(from);
    if (v != v || (Largest ? v > best : v < best)) {
      best = v;
      found_at = i;
    }
  }
  so_far.of<T>() = best;
  so_far.found_at = found_at + so_far.seen;
  so_far.seen += n;
}
/// Whether any element's bits but `integer`, a float's sign, are set; found_at is 1 then.
template <class Bits>
void any_loop(const std::byte* from, std::int64_t step, std::int64_t n, Accumulated& so_far) {
  const auto counted = static_cast<Bits>(~so_far.integer);
  for (; n > 0 && so_far.found_at == 0; --n, from += step) {
    Bits bits;
    std::memcpy(&bits, from, sizeof bits);
    if ((bits & counted) != 0) so_far.found_at = 1;
  }
}

}  // namespace detail

template <template <class> class F>
inline constexpr ReduceLoops fold_loops{detail::fold_loop<F, float>, detail::fold_loop<F, double>,
                                        detail::fold_loop<F, std::int64_t>};
template <bool Largest>
inline constexpr ReduceLoops extreme_loops{detail::extreme_loop<float, Largest>, detail::extreme_loop<double, Largest>,
                                           detail::extreme_loop<std::int64_t, Largest>};
inline constexpr ReduceLoops squared_deviation_loops{detail::squared_deviation_loop<float>,
                                                     detail::squared_deviation_loop<double>, nullptr};

/// A tensor's groups of elements, each of which is reduced to one.
class Groups {
 public:
  /// `kept` are the dimensions that name a group, `reduced` those inside; strides are in elements.
  Groups(const TensorView& x, std::span<const std::int64_t> kept, std::span<const std::int64_t> kept_strides,
         std::span<const std::int64_t> reduced, std::span<const std::int64_t> reduced_strides) noexcept
      : data_(static_cast<const std::byte*>(x.data)), element_(size_of(x.dtype)), outer_(kept), inner_(reduced) {
    outer_.add(kept_strides, element_).collapse();
    inner_.add(reduced_strides, element_).collapse();
  }

  /// Calls each(first element) for every group in order.
  template <class F>
  void for_each(F&& each) const {
    if (outer_.count == 0) return;
    const std::int64_t step = outer_.strides[0][0];
    outer_.for_each_row([&](const auto& at) {
      const std::byte* first = data_ + at[0];
      for (std::int64_t i = 0; i < outer_.sizes[0]; ++i, first += step) each(first);
    });
  }
  /// Works the elements of a group, converted, into what is accumulated; the loop is that of what they are converted
  /// to.
  [[gnu::noinline]] void reduce(const std::byte* first, const Conversion& conversion, ReduceLoop loop,
                                Accumulated& so_far) const {
    if (inner_.count == 0) return;
    const std::int64_t step = inner_.strides[0][0];
    if (conversion.count == 0) {
      if (inner_.rank == 1) return loop(first, step, inner_.sizes[0], so_far);
      return inner_.for_each_row([&](const auto& at) { loop(first + at[0], step, inner_.sizes[0], so_far); });
    }
    Block own;
    Block scratch;
    BlockReader reader;
    reader.start(inner_, 0, first, element_, conversion);
    for (std::int64_t left = inner_.count; left > 0;) {
      const std::int64_t n = std::min(left, block_length);
      const auto* block = static_cast<const std::byte*>(reader.next(n, own, scratch));
      loop(block, static_cast<std::int64_t>(conversion.element), n, so_far);
      left -= n;
    }
  }

 private:
  const std::byte* data_;
  std::size_t element_;
  Walk outer_;
  Walk inner_;
};

/// Writes what groups were reduced to one after another into a contiguous tensor, converted by blocks.
class ResultWriter {
 public:
  /// `integers`: what was accumulated in integers, else in double.
  ResultWriter(const TensorView& out, bool integers) noexcept
      : to_(static_cast<std::byte*>(out.data)),
        store_(Conversion::between(integers ? ScalarType::int64 : ScalarType::float64, out.dtype)),
        integers_(integers) {}
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;
  ~ResultWriter() { flush(); }
  void push(const Accumulated& result) noexcept {
    if (integers_)
      values_[used_++] = static_cast<std::uint64_t>(result.integer);
    else
      values_[used_++] = std::bit_cast<std::uint64_t>(result.real);
    if (used_ == values_.size()) flush();
  }

 private:
  std::byte* to_;
  Conversion store_;
  bool integers_;
  std::size_t used_ = 0;
  std::array<std::uint64_t, static_cast<std::size_t>(block_length)> values_;

  [[gnu::noinline]] void flush() noexcept {
    if (used_ == 0) return;
    Block scratch;
    if (store_.count == 0) std::memcpy(to_, values_.data(), used_ * sizeof(std::uint64_t));
    store_.run(values_.data(), to_, scratch.bytes.data(), static_cast<std::int64_t>(used_));
    to_ += used_ * store_.element;
    used_ = 0;
  }
};

}  // namespace davit::kernels
