// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/run_time/elementwise/binary.hpp"
#include "davit/backends/portable/run_time/elementwise/unary.hpp"
#include "davit/kernels/special_families.hpp"

namespace davit::portable_kernels {

namespace detail {

template <kernels::Special which>
[[nodiscard]] ErrorCode special(KernelCall& call) {
  return real_function(call, kernels::float_loops<kernels::SpecialFunction, 1>,
                       {.integers = {static_cast<std::int64_t>(which)}});
}
/// polygamma(n, self).
[[nodiscard]] inline ErrorCode polygamma(KernelCall& call) {
  const std::int64_t order = call.integer(0);
  if (order < 0) return call.refuse(ErrorCode::out_of_range, "polygamma does not take a negative order");
  const TensorView& x = call.tensor(1);
  const ScalarType type = float_type(x.dtype);
  if (const ErrorCode code = call.make(0, type, x.sizes()); code != ErrorCode::ok) return code;
  Parameters parameters{.integers = {static_cast<std::int64_t>(kernels::Special::polygamma), order}};
  return run_loops(call, std::array{&x}, type, kernels::float_loops<kernels::SpecialFunction, 1>, parameters);
}

[[nodiscard, gnu::noinline]] inline ErrorCode special_pair(KernelCall& call, kernels::SpecialPair which,
                                                           std::int64_t kind = 0, bool shifted = false) {
  return arithmetic(call, Numbers::to_float, kernels::float_loops<kernels::SpecialPairFunction, 2>,
                    {.integers = {static_cast<std::int64_t>(which), kind, shifted}});
}
template <kernels::SpecialPair which>
[[nodiscard]] ErrorCode special_pair(KernelCall& call) {
  return special_pair(call, which);
}
template <kernels::Polynomial kind, bool shifted = false>
[[nodiscard]] ErrorCode polynomial(KernelCall& call) {
  return special_pair(call, kernels::SpecialPair::polynomial, static_cast<std::int64_t>(kind), shifted);
}
/// The overloads of a family of polynomials.
template <davit::detail::FixedString name, kernels::Polynomial kind, bool shifted = false>
[[nodiscard]] consteval auto polynomials() {
  return pairs<name, "default", "n_scalar", "x_scalar">(polynomial<kind, shifted>);
}
[[nodiscard]] inline ErrorCode nextafter(KernelCall& call) {
  const ScalarType type = ResultType().add(call.arg(0)).add(call.arg(1)).get();
  if (!is_floating(type)) return call.refuse(ErrorCode::invalid_dtype, "nextafter takes floats only");
  return special_pair(call, kernels::SpecialPair::nextafter,
                      type == ScalarType::bfloat16  ? 8
                      : type == ScalarType::float16 ? 16
                                                    : 0);
}

}  // namespace detail

/// Special functions of torch.special without loops of their own: (self), (self, other) and (x, n).
inline constexpr auto elementwise_special_ops = joined_rows(
    detail::polynomials<"aten.special_chebyshev_polynomial_t", kernels::Polynomial::chebyshev_t>(),
    detail::polynomials<"aten.special_chebyshev_polynomial_u", kernels::Polynomial::chebyshev_u>(),
    detail::polynomials<"aten.special_chebyshev_polynomial_v", kernels::Polynomial::chebyshev_v>(),
    detail::polynomials<"aten.special_chebyshev_polynomial_w", kernels::Polynomial::chebyshev_w>(),
    detail::polynomials<"aten.special_hermite_polynomial_h", kernels::Polynomial::hermite_h>(),
    detail::polynomials<"aten.special_hermite_polynomial_he", kernels::Polynomial::hermite_he>(),
    detail::polynomials<"aten.special_laguerre_polynomial_l", kernels::Polynomial::laguerre_l>(),
    detail::polynomials<"aten.special_legendre_polynomial_p", kernels::Polynomial::legendre_p>(),
    detail::polynomials<"aten.special_shifted_chebyshev_polynomial_t", kernels::Polynomial::chebyshev_t, true>(),
    detail::polynomials<"aten.special_shifted_chebyshev_polynomial_u", kernels::Polynomial::chebyshev_u, true>(),
    detail::polynomials<"aten.special_shifted_chebyshev_polynomial_v", kernels::Polynomial::chebyshev_v, true>(),
    detail::polynomials<"aten.special_shifted_chebyshev_polynomial_w", kernels::Polynomial::chebyshev_w, true>(),
    detail::pairs<"aten.special_zeta", "default", "other_scalar", "self_scalar">(
        detail::special_pair<kernels::SpecialPair::zeta>),
    std::to_array<OpRow>({
        {"aten.igamma.default", detail::special_pair<kernels::SpecialPair::igamma>, Aliasing::none, true},
        {"aten.igammac.default", detail::special_pair<kernels::SpecialPair::igammac>, Aliasing::none, true},
        {"aten.nextafter.default", detail::nextafter, Aliasing::none, true},
        {"aten.polygamma.default", detail::polygamma},
        {"aten.special_airy_ai.default", detail::special<kernels::Special::airy_ai>},
        {"aten.special_bessel_j0.default", detail::special<kernels::Special::bessel_j0>},
        {"aten.special_bessel_j1.default", detail::special<kernels::Special::bessel_j1>},
        {"aten.special_bessel_y0.default", detail::special<kernels::Special::bessel_y0>},
        {"aten.special_bessel_y1.default", detail::special<kernels::Special::bessel_y1>},
        {"aten.special_i0e.default", detail::special<kernels::Special::i0e>},
        {"aten.special_i1.default", detail::special<kernels::Special::i1>},
        {"aten.special_i1e.default", detail::special<kernels::Special::i1e>},
        {"aten.special_modified_bessel_i0.default", detail::real_op<kernels::BesselI0>},
        {"aten.special_modified_bessel_i1.default", detail::special<kernels::Special::i1>},
        {"aten.special_modified_bessel_k0.default", detail::special<kernels::Special::k0>},
        {"aten.special_modified_bessel_k1.default", detail::special<kernels::Special::k1>},
        {"aten.special_scaled_modified_bessel_k0.default", detail::special<kernels::Special::scaled_k0>},
        {"aten.special_scaled_modified_bessel_k1.default", detail::special<kernels::Special::scaled_k1>},
        {"aten.special_spherical_bessel_j0.default", detail::special<kernels::Special::spherical_bessel_j0>},
    }));

}  // namespace davit::portable_kernels
