// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <span>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/core/copy_tensor.hpp"

/// Complex numbers: views of pairs of floats, arithmetic, and Fourier transforms.
namespace davit::portable_kernels {

namespace detail {

/// Pairs along the last dimension as complex numbers: a copy where they do not lie side by side, which torch refuses, but lowering
/// may have taken away the copy that would have put them there. Source: at::view_as_complex.
[[nodiscard]] inline ErrorCode view_as_complex(KernelCall& call) {
  TensorView x = call.tensor(0);
  if (x.dtype != ScalarType::float32 && x.dtype != ScalarType::float64)
    return call.refuse(ErrorCode::invalid_dtype, "view_as_complex takes float32 and float64");
  if (x.rank == 0 || x.size(x.rank - 1) != 2) return call.refuse(ErrorCode::invalid_shape, "view_as_complex needs pairs along the last dimension");
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
  if (!sizes.push(2) || !strides.push(1)) return call.refuse(ErrorCode::invalid_shape, "the tensor has too many dimensions");
  x.dtype = real_of(x.dtype);
  x.storage_offset *= 2;
  return call.alias(0, x, sizes, strides);
}

/// Output 0 = f(a, scale * b) over broadcast operands, computed in double. O(elements).
[[nodiscard]] inline ErrorCode map_complex(KernelCall& call, ScalarType type, const TensorView& a, const TensorView& b,
                                           std::complex<double> (*f)(std::complex<double>, std::complex<double>), double scale = 1) {
  Sizes sizes;
  if (!broadcast(a.sizes(), b.sizes(), sizes))
    return call.refuse(ErrorCode::invalid_shape, "the sizes of the operands do not broadcast");
  if (const ErrorCode code = call.make(0, type, sizes); code != ErrorCode::ok) return code;
  for (const TensorView* t : {&a, &b})
    if (!is_whole_complex(t->dtype) && !kernels::is_real(t->dtype)) return ErrorCode::invalid_dtype;
  const TensorView& out = call.output(0);
  std::int64_t i = 0;
  if (out.numel() != 0)
    for_each_index<2>(sizes, {broadcast_strides(a, sizes), broadcast_strides(b, sizes)},
                      [&](std::int64_t at_a, std::int64_t at_b) { store_complex(out, i++, f(complex_at(a, at_a), scale * complex_at(b, at_b))); });
  return ErrorCode::ok;
}
/// polar(abs, angle) and complex(real, imag).
template <auto f>
[[nodiscard]] ErrorCode from_two_reals(KernelCall& call) {
  const TensorView& a = call.tensor(0);
  if (a.dtype != call.tensor(1).dtype || (a.dtype != ScalarType::float32 && a.dtype != ScalarType::float64))
    return call.refuse(ErrorCode::invalid_dtype, "both operands must be float32, or float64");
  return map_complex(call, complex_of(a.dtype), a, call.tensor(1), f);
}
inline std::complex<double> polar_form(std::complex<double> a, std::complex<double> b) noexcept {
  return {a.real() * std::cos(b.real()), a.real() * std::sin(b.real())};
}
inline std::complex<double> cartesian_form(std::complex<double> a, std::complex<double> b) noexcept {
  return {a.real(), b.real()};
}

/// A Fourier transform of n numbers `step` apart, in order, by the prime factors of n: O(n * sum of these). `sign` is that of
/// the exponent; roots[k] = exp(sign * 2 pi i k / total).
inline void transform(const std::complex<double>* from, std::int64_t step, std::complex<double>* to, std::int64_t n,
                      const std::complex<double>* roots, std::int64_t total, std::complex<double>* work) noexcept {
  if (n == 1) {
    *to = *from;
    return;
  }
  std::int64_t factor = 2;
  while (n % factor != 0) factor = factor * factor > n ? n : factor + 1;
  const std::int64_t part = n / factor;
  for (std::int64_t r = 0; r < factor; ++r) transform(from + r * step, step * factor, to + r * part, part, roots, total, work);
  const std::int64_t turn = total / n;
  for (std::int64_t k = 0; k < part; ++k) {
    for (std::int64_t r = 0; r < factor; ++r) work[r] = to[r * part + k];
    for (std::int64_t q = 0; q < factor; ++q) {
      std::complex<double> sum = work[0];
      const std::int64_t angle = (k + q * part) % n;
      for (std::int64_t r = 1, at = angle; r < factor; ++r, at = (at + angle) % n) {
        const std::complex<double> w = roots[at * turn];
        sum += std::complex<double>(work[r].real() * w.real() - work[r].imag() * w.imag(),
                                    work[r].real() * w.imag() + work[r].imag() * w.real());
      }
      to[k + q * part] = sum;
    }
  }
}

enum class Transform : std::uint8_t { complex_to_complex, real_to_complex, complex_to_real };

/// _fft_c2c(self, dim, normalization, forward), _fft_r2c(self, dim, normalization, onesided) and _fft_c2r(self, dim,
/// normalization, last_dim_size): along each of `dim`. Computed in double. Normalization: 0 none, 1 by sqrt(n), 2 by n.
/// Source: at::_fft_c2c and its neighbours.
template <Transform kind>
[[nodiscard]] ErrorCode fourier(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  constexpr bool from_real = kind == Transform::real_to_complex;
  constexpr bool to_real = kind == Transform::complex_to_real;
  if (from_real ? x.dtype != ScalarType::float32 && x.dtype != ScalarType::float64 : !is_whole_complex(x.dtype))
    return call.refuse(ErrorCode::invalid_dtype, "the transform does not take this dtype");
  const bool forward = kind == Transform::complex_to_complex ? call.boolean(3) : from_real;
  Sizes dims;
  if (!ints_of(call.list(1), dims)) return call.refuse(ErrorCode::invalid_argument, "dimensions must be integers");
  Sizes sizes(x.sizes());  // of the transform
  double count = 1;
  for (std::size_t i = 0; i < dims.rank; ++i) {
    if (!wrap_dim(dims[i], x.rank) || x.rank == 0) return call.refuse(ErrorCode::out_of_range, "a dimension is outside the tensor's rank");
    const auto d = static_cast<std::size_t>(dims[i]);
    if (to_real && i + 1 == dims.rank) sizes[d] = call.integer(3);
    if (sizes[d] < 1) return call.refuse(ErrorCode::invalid_shape, "a transform needs at least one element");
    count *= static_cast<double>(sizes[d]);
  }
  const bool halves = from_real && call.boolean(3) && dims.rank != 0;
  Sizes made = sizes;
  if (halves) made[static_cast<std::size_t>(dims[dims.rank - 1])] = sizes[static_cast<std::size_t>(dims[dims.rank - 1])] / 2 + 1;
  const ScalarType type = to_real ? real_of(x.dtype) : complex_of(x.dtype);
  if (const ErrorCode code = call.make(0, type, made); code != ErrorCode::ok) return code;
  const std::int64_t total = davit::checked_numel(sizes.span(), max_numel / 64);
  if (total < 0) return call.refuse(ErrorCode::out_of_memory, "the transform is too large");
  if (total == 0) return ErrorCode::ok;
  std::int64_t longest = 1;
  for (std::size_t d = 0; d < sizes.rank; ++d) longest = std::max(longest, sizes[d]);
  auto* const all = call.temporary<std::complex<double>>(static_cast<std::size_t>(total + 4 * longest));
  if (all == nullptr) return call.refuse(ErrorCode::out_of_memory, "no memory for a transform");
  std::complex<double>* const line = all + total;
  std::complex<double>* const result = line + longest;
  std::complex<double>* const roots = result + longest;
  std::complex<double>* const work = roots + longest;
  Sizes dense(sizes);
  contiguous_strides(sizes, {dense.values.data(), dense.rank});
  // what the input has of each line; a half line of the last dimension is completed below
  const std::size_t last = dims.rank == 0 ? 0 : static_cast<std::size_t>(dims[dims.rank - 1]);
  Sizes present(sizes);
  if (to_real && dims.rank != 0) present[last] = std::min(x.size(last), sizes[last] / 2 + 1);
  for (std::int64_t i = 0; i < total; ++i) all[i] = 0;
  for_each_index<2>(present, {strides_of(x), dense},
                    [&](std::int64_t from, std::int64_t to) { all[to] = complex_at(x, from); });
  for (std::size_t i = 0; i < dims.rank; ++i) {  // the last dimension last for c2r: what comes before it is complex
    const auto d = static_cast<std::size_t>(dims[i]);
    const std::int64_t n = sizes[d];
    for (std::int64_t k = 0; k < n; ++k) {
      const double angle = (forward ? -2 : 2) * 3.141592653589793238 * static_cast<double>(k) / static_cast<double>(n);
      roots[k] = {std::cos(angle), std::sin(angle)};
    }
    Sizes lines(sizes);
    lines[d] = 1;
    for_each_index<1>(lines, {dense}, [&](std::int64_t at) {
      for (std::int64_t k = 0; k < n; ++k) line[k] = all[at + k * dense[d]];
      if (to_real && i + 1 == dims.rank) {
        line[0] = line[0].real();
        if (n % 2 == 0) line[n / 2] = line[n / 2].real();
        for (std::int64_t k = n / 2 + 1; k < n; ++k) line[k] = std::conj(line[n - k]);
      }
      transform(line, 1, result, n, roots, n, work);
      for (std::int64_t k = 0; k < n; ++k) all[at + k * dense[d]] = result[k];
    });
  }
  const std::int64_t how = call.integer(2);
  const double factor = how == 2 ? 1 / count : how == 1 ? 1 / std::sqrt(count) : 1;
  const TensorView& out = call.output(0);
  std::int64_t i = 0;
  for_each_index<1>(made, {dense}, [&](std::int64_t at) { store_complex(out, i++, all[at] * factor); });
  return ErrorCode::ok;
}

}  // namespace detail

inline constexpr auto complex_ops = std::to_array<OpRow>({
    {"aten._fft_c2c.default", detail::fourier<detail::Transform::complex_to_complex>},
    {"aten._fft_c2r.default", detail::fourier<detail::Transform::complex_to_real>},
    {"aten._fft_r2c.default", detail::fourier<detail::Transform::real_to_complex>},
    {"aten.complex.default", detail::from_two_reals<detail::cartesian_form>},
    {"aten.polar.default", detail::from_two_reals<detail::polar_form>},
    {"aten.view_as_complex.default", detail::view_as_complex, Aliasing::may_alias},
    {"aten.view_as_real.default", detail::view_as_real, Aliasing::may_alias},
});

}  // namespace davit::portable_kernels
