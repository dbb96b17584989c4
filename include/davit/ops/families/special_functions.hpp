// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Special functions: torch.special, and the gamma, zeta and Bessel functions.
inline constexpr OperatorRow special_functions[] = {
    // clang-format off
    {.schema = "aten.digamma.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.erf.default(Tensor self) -> Tensor"sv, .group = OperatorGroup::float_inference},
    {.schema = "aten.erfc.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.erfinv.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.i0.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.igamma.default(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.igammac.default(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.lgamma.default(Tensor self) -> Tensor"sv},
    {.rule = R"(aten.mvlgamma.default(self, p):
       fold(a: float(p) * (p - 1) * 0.28618247146235004; j in range(0, p): a + lgamma(self - j / 2.0)))"sv},
    {.schema = "aten.polygamma.default(int n, Tensor self) -> Tensor"sv},
    {.rule = R"(aten.sinc.default(self)^:
       x = (isint(self) ? cast(self, float32) : self) * 3.141592653589793;
       where(x == 0, 1, sin(x) / x))"sv},
    {.schema = "aten.special_airy_ai.default(Tensor x) -> Tensor"sv},
    {.schema = "aten.special_bessel_j0.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.special_bessel_j1.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.special_bessel_y0.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.special_bessel_y1.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_t.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_u.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_v.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_w.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.rule = R"(aten.special_digamma.default = aten.digamma.default)"sv},
    {.rule = R"(aten.special_entr.default(self)^:
       x = $of_floats(self);
       where(isnan(x), x, where(x > 0, -x * log(x), where(x == 0, 0, -inf))))"sv},
    {.rule = R"(aten.special_erf.default = aten.erf.default)"sv},
    {.rule = R"(aten.special_erfc.default = aten.erfc.default)"sv},
    {.schema = "aten.special_erfcx.default(Tensor self) -> Tensor"sv},
    {.rule = R"(aten.special_erfinv.default = aten.erfinv.default)"sv},
    {.rule = R"(aten.special_exp2.default = aten.exp2.default)"sv},
    {.rule = R"(aten.special_expit.default = aten.sigmoid.default)"sv},
    {.rule = R"(aten.special_expm1.default = aten.expm1.default)"sv},
    {.rule = R"(aten.special_gammainc.default = aten.igamma.default)"sv},
    {.rule = R"(aten.special_gammaincc.default = aten.igammac.default)"sv},
    {.rule = R"(aten.special_gammaln.default = aten.lgamma.default)"sv},
    {.schema = "aten.special_hermite_polynomial_h.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_hermite_polynomial_h.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_hermite_polynomial_he.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_hermite_polynomial_he.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.rule = R"(aten.special_i0.default = aten.i0.default)"sv},
    {.schema = "aten.special_i0e.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.special_i1.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.special_i1e.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.special_laguerre_polynomial_l.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_laguerre_polynomial_l.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_legendre_polynomial_p.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_legendre_polynomial_p.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.rule = R"(aten.special_log1p.default = aten.log1p.default)"sv},
    {.rule = R"(aten.special_log_ndtr.default(self)^:
       x = isint(self) ? cast(self, float32) : self;
       where(x < -1, log(special_erfcx(x * -0.7071067811865476) * 0.5) - x * x * 0.5,
           log1p(erfc(x * 0.7071067811865476) * -0.5)))"sv},
    {.rule = R"(aten.special_logit.default = aten.logit.default)"sv},
    {.schema = "aten.special_modified_bessel_i0.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.special_modified_bessel_i1.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.special_modified_bessel_k0.default(Tensor self) -> Tensor"sv},
    {.schema = "aten.special_modified_bessel_k1.default(Tensor self) -> Tensor"sv},
    {.rule = R"(aten.special_multigammaln.default = aten.mvlgamma.default)"sv},
    {.rule = R"(aten.special_ndtr.default(self)^: erfc(self * -0.7071067811865476) * 0.5)"sv},
    {.schema = "aten.special_ndtri.default(Tensor self) -> Tensor"sv},
    {.rule = R"(aten.special_polygamma.default = aten.polygamma.default)"sv},
    {.rule = R"(aten.special_psi.default = aten.digamma.default)"sv},
    {.rule = R"(aten.special_round.default = aten.round.default)"sv},
    {.schema = "aten.special_scaled_modified_bessel_k0.default(Tensor x) -> Tensor"sv},
    {.schema = "aten.special_scaled_modified_bessel_k1.default(Tensor x) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_t.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_t.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_u.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_u.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_v.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_v.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_w.default(Tensor x, Tensor n) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor"sv},
    {.schema = "aten.special_shifted_chebyshev_polynomial_w.x_scalar(Scalar x, Tensor n) -> Tensor"sv},
    {.rule = R"(aten.special_sinc.default = aten.sinc.default)"sv},
    {.schema = "aten.special_spherical_bessel_j0.default(Tensor x) -> Tensor"sv},
    {.rule = R"(aten.special_xlog1py.default(self, other)^:
       where(isnan(other), nan, where(self == 0, 0, self * log1p(other))))"sv},
    {.rule = R"(aten.special_xlog1py.other_scalar(self, other):
       special_xlog1py.default(self, full([], other, dtype=isfloat(self) ? dtype(self) : float32)))"sv},
    {.rule = R"(aten.special_xlog1py.self_scalar(self, other):
       special_xlog1py.default(full([], self, dtype=isfloat(other) ? dtype(other) : float32), other))"sv},
    {.rule = R"(aten.special_xlogy.default = aten.xlogy.Tensor)"sv},
    {.rule = R"(aten.special_xlogy.other_scalar = aten.xlogy.Scalar_Other)"sv},
    {.rule = R"(aten.special_xlogy.self_scalar = aten.xlogy.Scalar_Self)"sv},
    {.schema = "aten.special_zeta.default(Tensor self, Tensor other) -> Tensor"sv},
    {.schema = "aten.special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor"sv},
    {.schema = "aten.special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor"sv},
    {.rule = R"(aten.xlogy.Scalar_Other(self, other)^: $xlogy(isint(self) ? cast(self, float32) : self, other))"sv},
    {.rule = R"(aten.xlogy.Scalar_Self(self, other)^:
       o = isint(other) ? cast(other, float32) : other;
       self == 0 ? where(isnan(o), nan, zeros_like(o)) : log(o) * self)"sv},
    {.rule = R"(aten.xlogy.Tensor(self, other)^: $xlogy(self, other))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts special_functions_facts[] = {
    // clang-format off
    {.name = "aten.digamma"sv, .shape = ShapeRule::floating, .result = ResultRule::floating},
    {.name = "aten.erf"sv, .shape = ShapeRule::floating, .range = RangeBound::unit, .keeps_nonfinite = true},
    {.name = "aten.erfc"sv, .shape = ShapeRule::floating},
    {.name = "aten.erfinv"sv, .shape = ShapeRule::floating},
    {.name = "aten.i0"sv, .result = ResultRule::floating},
    {.name = "aten.igamma"sv, .promotes = true},
    {.name = "aten.igammac"sv, .promotes = true},
    {.name = "aten.lgamma"sv, .shape = ShapeRule::floating, .result = ResultRule::floating},
    {.name = "aten.polygamma"sv, .result = ResultRule::floating},
    {.name = "aten.special_erfcx"sv, .shape = ShapeRule::floating},
    {.name = "aten.xlogy"sv, .promotes = true},
    // clang-format on
};

}  // namespace davit::operator_families
