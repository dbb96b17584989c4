// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string_view>

namespace davit {

/// Schemas of the special functions of torch.special that are operators of their own, and of nextafter. Sorted by name.
/// Source: as operator_schemas.
inline constexpr auto special_operator_schemas = [] {
  using namespace std::string_view_literals;
  return std::to_array<std::string_view>({
      // clang-format off
    "aten.igamma.default(Tensor self, Tensor other) -> Tensor"sv,
    "aten.igammac.default(Tensor self, Tensor other) -> Tensor"sv,
    "aten.nextafter.default(Tensor self, Tensor other) -> Tensor"sv,
    "aten.polygamma.default(int n, Tensor self) -> Tensor"sv,
    "aten.special_airy_ai.default(Tensor x) -> Tensor"sv,
    "aten.special_bessel_j0.default(Tensor self) -> Tensor"sv,
    "aten.special_bessel_j1.default(Tensor self) -> Tensor"sv,
    "aten.special_bessel_y0.default(Tensor self) -> Tensor"sv,
    "aten.special_bessel_y1.default(Tensor self) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_t.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_u.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_v.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_w.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_hermite_polynomial_h.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_hermite_polynomial_he.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_i0e.default(Tensor self) -> Tensor"sv,
    "aten.special_i1.default(Tensor self) -> Tensor"sv,
    "aten.special_i1e.default(Tensor self) -> Tensor"sv,
    "aten.special_laguerre_polynomial_l.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_legendre_polynomial_p.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_modified_bessel_i0.default(Tensor self) -> Tensor"sv,
    "aten.special_modified_bessel_i1.default(Tensor self) -> Tensor"sv,
    "aten.special_modified_bessel_k0.default(Tensor self) -> Tensor"sv,
    "aten.special_modified_bessel_k1.default(Tensor self) -> Tensor"sv,
    "aten.special_scaled_modified_bessel_k0.default(Tensor x) -> Tensor"sv,
    "aten.special_scaled_modified_bessel_k1.default(Tensor x) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_t.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_u.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_v.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_w.default(Tensor x, Tensor n) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor"sv,
    "aten.special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor"sv,
    "aten.special_spherical_bessel_j0.default(Tensor x) -> Tensor"sv,
    "aten.special_zeta.default(Tensor self, Tensor other) -> Tensor"sv,
    "aten.special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor"sv,
    "aten.special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor"sv,
      // clang-format on
  });
}();

}  // namespace davit
