// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/elementwise/line_transform.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/movement/views.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/kernels/vectors.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

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
