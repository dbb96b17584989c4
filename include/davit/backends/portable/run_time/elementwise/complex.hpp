// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/walk.hpp"
#include "davit/kernels/elementwise.hpp"
#include "davit/kernels/functions.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/move.hpp"
#include "davit/kernels/vectors.hpp"

/// Complex numbers: views of pairs of floats, and arithmetic.
namespace davit::portable_kernels {

namespace detail {

/// Pairs along the last dimension as complex numbers. Pairs that are not adjacent, which torch refuses, are copied:
/// lowering may have removed the copy that made them adjacent. Source: at::view_as_complex.
[[nodiscard]] inline ErrorCode view_as_complex(KernelCall& call) {
  TensorView x = call.tensor(0);
  if (x.dtype != ScalarType::float32 && x.dtype != ScalarType::float64)
    return call.refuse(ErrorCode::invalid_dtype, "view_as_complex takes float32 and float64");
  if (x.rank == 0 || x.size(x.rank - 1) != 2)
    return call.refuse(ErrorCode::invalid_shape, "view_as_complex needs pairs along the last dimension");
  Sizes sizes;
  Sizes strides;
  bool fits = x.stride(x.rank - 1) == 1;
  for (std::size_t d = 0; d + 1 < x.rank; ++d) {
    fits = fits && x.stride(d) % 2 == 0;
    (void)sizes.push(x.size(d));
    (void)strides.push(x.stride(d) / 2);
  }
  if (!fits) {
    if (const ErrorCode code = call.make(0, complex_of(x.dtype), sizes); code != ErrorCode::ok) return code;
    Sizes side_by_side(x.sizes());
    contiguous_strides(x.sizes(), std::span(side_by_side.values).first(x.rank));
    copy_tensor(x, TensorView{call.output(0).data, x.sizes_data, side_by_side.values.data(), x.rank, x.dtype});
    return ErrorCode::ok;
  }
  x.dtype = complex_of(x.dtype);
  x.storage_offset /= 2;
  return call.alias(0, x, sizes, strides);
}
/// Source: at::view_as_real.
[[nodiscard]] inline ErrorCode view_as_real(KernelCall& call) {
  TensorView x = call.tensor(0);
  if (!is_whole_complex(x.dtype)) return call.refuse(ErrorCode::invalid_dtype, "view_as_real takes complex numbers");
  Sizes sizes(x.sizes());
  Sizes strides = strides_of(x);
  for (std::size_t d = 0; d < x.rank; ++d) strides[d] *= 2;
  if (!sizes.push(2) || !strides.push(1))
    return call.refuse(ErrorCode::invalid_shape, "the tensor has too many dimensions");
  x.dtype = real_of(x.dtype);
  x.storage_offset *= 2;
  return call.alias(0, x, sizes, strides);
}

/// Converts a row of n numbers of another real or complex dtype; `step` is in bytes. O(n).
[[gnu::noinline]] inline void read_numbers(ScalarType type, const std::byte* from, std::int64_t step, ScalarType taken,
                                           std::byte* to, std::int64_t n) noexcept {
  const auto size = static_cast<std::int64_t>(size_of(taken));
  const std::int64_t count = step == 0 ? 1 : n;
  if (type == taken) {
    kernels::move_row(size_of(taken), from, step, to, size, count);
  } else {
    const std::size_t part = size_of(real_of(type)), written = size_of(real_of(taken));
    const std::int64_t apart = step / static_cast<std::int64_t>(part), width = is_complex(taken) ? 2 : 1;
    if (is_complex(taken) && !is_complex(type)) std::memset(to, 0, static_cast<std::size_t>(count * size));
    for (std::size_t p = 0; p < (is_complex(type) ? 2u : 1u); ++p)
      (void)kernels::convert_elements({&count, 1}, from + p * part, real_of(type), {&apart, 1}, to + p * written,
                                      real_of(taken), {&width, 1});
  }
  if (step == 0) kernels::fill_row(size_of(taken), to, to, n);
}

/// Computes output 0 with the loop over broadcast operands, as rows of complex or real numbers of dtype `taken`. The
/// loop's n counts the floats or doubles of a row. O(elements).
[[nodiscard, gnu::noinline]] inline ErrorCode map_complex(KernelCall& call, ScalarType type, const TensorView& a,
                                                          const TensorView& b, ScalarType taken,
                                                          const kernels::Loops& loops,
                                                          kernels::Parameters parameters = {}) {
  Sizes sizes;
  if (!broadcast(a.sizes(), b.sizes(), sizes))
    return call.refuse(ErrorCode::invalid_shape, "the sizes of the operands do not broadcast");
  if (const ErrorCode code = call.make(0, type, sizes); code != ErrorCode::ok) return code;
  const std::array<const TensorView*, 2> operands{&a, &b};
  Walk walk(sizes);
  for (const TensorView* t : operands) {
    if (!is_whole_complex(t->dtype) && !kernels::is_real(t->dtype)) return ErrorCode::invalid_dtype;
    walk.add(broadcast_strides(*t, sizes), size_of(t->dtype));
  }
  if (real_of(taken) != ScalarType::float32 && real_of(taken) != ScalarType::float64) return ErrorCode::invalid_dtype;
  if (walk.count == 0) return ErrorCode::ok;
  walk.collapse();
  const kernels::BlockLoop loop = loops.of(kernels::compute_of(real_of(taken)));
  const std::size_t size = size_of(taken);
  constexpr std::int64_t block = 256;
  struct alignas(64) Block {
    std::array<std::byte, static_cast<std::size_t>(block) * sizeof(std::complex<double>)> bytes;
  };
  std::array<Block, 2> blocks;
  const std::int64_t row = walk.sizes[0];
  std::array<bool, 2> in_place;
  for (std::size_t k = 0; k < 2; ++k)
    in_place[k] = operands[k]->dtype == taken && walk.strides[k][0] == static_cast<std::int64_t>(size);
  const std::int64_t limit = in_place[0] && in_place[1] ? row : block;
  auto* to = static_cast<std::byte*>(call.output(0).data);
  walk.for_each_row([&](const std::array<std::int64_t, Walk::max_operands>& at) {
    for (std::int64_t done = 0; done < row;) {
      const std::int64_t n = std::min(row - done, limit);
      std::array<const void*, 2> in;
      for (std::size_t k = 0; k < 2; ++k) {
        const std::int64_t step = walk.strides[k][0];
        const std::byte* const from = static_cast<const std::byte*>(operands[k]->data) + at[k] + done * step;
        in[k] = in_place[k] ? static_cast<const void*>(from) : blocks[k].bytes.data();
        if (!in_place[k] && (step != 0 || done == 0))
          read_numbers(operands[k]->dtype, from, step, taken, blocks[k].bytes.data(), n);
      }
      loop(in.data(), to, is_complex(taken) ? 2 * n : n, parameters);
      to += static_cast<std::size_t>(n) * size_of(type);
      done += n;
    }
  });
  return ErrorCode::ok;
}

/// Products of complex numbers, each made of four rounded products as in torch: without fused operations, so that a
/// number times its conjugate has no imaginary part.
template <class T>
struct ComplexProducts {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const T* a, const T* b, T* to, std::int64_t n) noexcept {
    constexpr std::size_t width = Bytes > sizeof(T) ? Bytes : 2 * sizeof(T);
    constexpr std::int64_t step = kernels::lanes<T, width>;
    constexpr auto indices = std::make_index_sequence<static_cast<std::size_t>(step)>();
    std::int64_t i = 0;
    for (; i + step <= n; i += step) multiply<width>(a + i, b + i, to + i, indices);
    if (i == n) return;
    T rest[3][static_cast<std::size_t>(step)] = {};
    for (std::int64_t k = 0; k < n - i; ++k) {
      rest[0][k] = a[i + k];
      rest[1][k] = b[i + k];
    }
    multiply<width>(rest[0], rest[1], rest[2], indices);
    for (std::int64_t k = 0; k < n - i; ++k) to[i + k] = rest[2][k];
  }

 private:
  template <std::size_t Bytes, std::size_t... I>
  [[gnu::always_inline]] static void multiply(const T* a, const T* b, T* to, std::index_sequence<I...>) noexcept {
    using V = kernels::Vector<T, Bytes>;
    const V x = kernels::vector_at<Bytes>(a), y = kernels::vector_at<Bytes>(b);
    const V same = x * y;                                           // real * real, imaginary * imaginary
    const V other = x * __builtin_shufflevector(y, y, (I ^ 1)...);  // real * imaginary, imaginary * real
    constexpr V signs{(I % 2 == 0 ? T{-1} : T{1})...};
    kernels::vector_at<Bytes>(to) =
        __builtin_shufflevector(same, other, (I % 2 == 0 ? I : I - 1 + sizeof...(I))...) +
        __builtin_shufflevector(same, other, (I % 2 == 0 ? I + 1 : I + sizeof...(I))...) * signs;
  }
};
template <class T>
void complex_products(const void* const* in, void* out, std::int64_t n, kernels::Parameters&) {
  kernels::run_widest_for<T, ComplexProducts<T>>(static_cast<const T*>(in[0]), static_cast<const T*>(in[1]),
                                                 static_cast<T*>(out), n);
}
inline constexpr kernels::Loops complex_product_loops{complex_products<float>, complex_products<double>, nullptr};

/// Quotients of complex numbers, in double; for a real divisor each part is divided. Source: c10::complex's operator/=.
template <class T>
void complex_quotients(const void* const* in, void* out, std::int64_t n, kernels::Parameters&) {
  const auto* const x = static_cast<const T*>(in[0]);
  const auto* const y = static_cast<const T*>(in[1]);
  for (std::int64_t i = 0; i < n; i += 2) {
    const double a = x[i], b = x[i + 1], c = y[i], d = y[i + 1];
    double re = a, im = b, by = c;
    if (d != 0 && sizeof(T) < sizeof(double)) {  // no product overflows
      re = a * c + b * d, im = b * c - a * d, by = c * c + d * d;
    } else if (d != 0 && std::fabs(c) >= std::fabs(d)) {
      re = a + b * (d / c), im = b - a * (d / c), by = c + d * (d / c);
    } else if (d != 0) {
      re = a * (c / d) + b, im = b * (c / d) - a, by = c * (c / d) + d;
    }
    static_cast<T*>(out)[i] = static_cast<T>(re / by);
    static_cast<T*>(out)[i + 1] = static_cast<T>(im / by);
  }
}
inline constexpr kernels::Loops complex_quotient_loops{complex_quotients<float>, complex_quotients<double>, nullptr};

/// Absolute values of complex numbers.
template <class T>
void complex_distances(const void* const* in, void* out, std::int64_t n, kernels::Parameters&) {
  const auto* const z = static_cast<const T*>(in[0]);
  for (std::int64_t i = 0; i < n; i += 2) {
    const double a = z[i], b = z[i + 1];
    if (sizeof(T) < sizeof(double) && a * a + b * b < std::numeric_limits<double>::infinity())  // no square overflows
      static_cast<T*>(out)[i / 2] = static_cast<T>(std::sqrt(a * a + b * b));
    else
      static_cast<T*>(out)[i / 2] = static_cast<T>(std::hypot(a, b));
  }
}
inline constexpr kernels::Loops complex_distance_loops{complex_distances<float>, complex_distances<double>, nullptr};

/// Complex numbers of distances and angles.
template <class T>
void polar_forms(const void* const* in, void* out, std::int64_t n, kernels::Parameters& parameters) {
  constexpr std::int64_t block = 256;
  std::array<T, block> c, s;
  auto* to = static_cast<T*>(out);
  for (std::int64_t done = 0; done < n; done += block) {
    const std::int64_t some = std::min(n - done, block);
    const T* const distance = static_cast<const T*>(in[0]) + done;
    const void* const angle = static_cast<const T*>(in[1]) + done;
    kernels::float_loops<kernels::Cos, 1>.of(kernels::compute_of(scalar_type_of<T>))(&angle, c.data(), some,
                                                                                     parameters);
    kernels::float_loops<kernels::Sin, 1>.of(kernels::compute_of(scalar_type_of<T>))(&angle, s.data(), some,
                                                                                     parameters);
    for (std::int64_t i = 0; i < some; ++i, to += 2) {
      to[0] = distance[i] * c[static_cast<std::size_t>(i)];
      to[1] = distance[i] * s[static_cast<std::size_t>(i)];
    }
  }
}
inline constexpr kernels::Loops polar_loops{polar_forms<float>, polar_forms<double>, nullptr};
/// Complex numbers of real and imaginary parts.
template <class T>
void cartesian_forms(const void* const* in, void* out, std::int64_t n, kernels::Parameters&) {
  auto* to = static_cast<T*>(out);
  for (std::int64_t i = 0; i < n; ++i, to += 2) {
    to[0] = static_cast<const T*>(in[0])[i];
    to[1] = static_cast<const T*>(in[1])[i];
  }
}
inline constexpr kernels::Loops cartesian_loops{cartesian_forms<float>, cartesian_forms<double>, nullptr};

/// polar(abs, angle) and complex(real, imag).
template <const kernels::Loops& loops>
[[nodiscard]] ErrorCode from_two_reals(KernelCall& call) {
  const TensorView& a = call.tensor(0);
  if (a.dtype != call.tensor(1).dtype || (a.dtype != ScalarType::float32 && a.dtype != ScalarType::float64))
    return call.refuse(ErrorCode::invalid_dtype, "both operands must be float32, or float64");
  return map_complex(call, complex_of(a.dtype), a, call.tensor(1), a.dtype, loops);
}

}  // namespace detail

inline constexpr auto complex_ops = std::to_array<OpRow>({
    {"aten.complex.default", detail::from_two_reals<detail::cartesian_loops>},
    {"aten.polar.default", detail::from_two_reals<detail::polar_loops>},
    {"aten.view_as_complex.default", detail::view_as_complex, Aliasing::may_alias},
    {"aten.view_as_real.default", detail::view_as_real, Aliasing::may_alias},
});

}  // namespace davit::portable_kernels
