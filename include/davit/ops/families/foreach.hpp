// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Elementwise operators over lists of tensors, which optimizers leave in a program.
inline constexpr OperatorRow foreach[] = {
    // clang-format off
    {.rule = R"(aten._foreach_abs.default(self): [x in self: abs(x)])"sv},
    {.rule = R"(aten._foreach_add.List(self, other, alpha=1):
       [i in range(0, len(self)): add.Tensor(self[i], other[i], alpha)])"sv},
    {.rule = R"(aten._foreach_add.Scalar(self, scalar): [x in self: x + scalar])"sv},
    {.rule = R"(aten._foreach_add.ScalarList(self, scalars): [i in range(0, len(self)): self[i] + scalars[i]])"sv},
    {.rule = R"(aten._foreach_addcdiv.Scalar(self, tensor1, tensor2, value=1):
       [i in range(0, len(self)): addcdiv(self[i], tensor1[i], tensor2[i], value)])"sv},
    {.rule = R"(aten._foreach_addcmul.Scalar(self, tensor1, tensor2, value=1):
       [i in range(0, len(self)): addcmul(self[i], tensor1[i], tensor2[i], value)])"sv},
    {.rule = R"(aten._foreach_ceil.default(self): [x in self: ceil(x)])"sv},
    {.rule = R"(aten._foreach_clamp_max.Scalar(self, scalar): [x in self: clamp(x, none, scalar)])"sv},
    {.rule = R"(aten._foreach_clamp_min.Scalar(self, scalar): [x in self: clamp(x, scalar)])"sv},
    {.rule = R"(aten._foreach_cos.default(self): [x in self: cos(x)])"sv},
    {.rule = R"(aten._foreach_div.List(self, other): [i in range(0, len(self)): self[i] / other[i]])"sv},
    {.rule = R"(aten._foreach_div.Scalar(self, scalar): [x in self: x / scalar])"sv},
    {.rule = R"(aten._foreach_div.ScalarList(self, scalars): [i in range(0, len(self)): self[i] / scalars[i]])"sv},
    {.rule = R"(aten._foreach_div.Tensor(self, other): [x in self: x / other])"sv},
    {.rule = R"(aten._foreach_erf.default(self): [x in self: erf(x)])"sv},
    {.rule = R"(aten._foreach_exp.default(self): [x in self: exp(x)])"sv},
    {.rule = R"(aten._foreach_expm1.default(self): [x in self: expm1(x)])"sv},
    {.rule = R"(aten._foreach_floor.default(self): [x in self: floor(x)])"sv},
    {.rule = R"(aten._foreach_lerp.Scalar(self, tensors1, weight):
       [i in range(0, len(self)): lerp.Scalar(self[i], tensors1[i], weight)])"sv},
    {.rule = R"(aten._foreach_log.default(self): [x in self: log(x)])"sv},
    {.rule = R"(aten._foreach_log10.default(self): [x in self: log10(x)])"sv},
    {.rule = R"(aten._foreach_log1p.default(self): [x in self: log1p(x)])"sv},
    {.rule = R"(aten._foreach_log2.default(self): [x in self: log2(x)])"sv},
    {.rule = R"(aten._foreach_maximum.List(self, other): [i in range(0, len(self)): maximum(self[i], other[i])])"sv},
    {.rule = R"(aten._foreach_minimum.List(self, other): [i in range(0, len(self)): minimum(self[i], other[i])])"sv},
    {.rule = R"(aten._foreach_mul.List(self, other): [i in range(0, len(self)): self[i] * other[i]])"sv},
    {.rule = R"(aten._foreach_mul.Scalar(self, scalar): [x in self: x * scalar])"sv},
    {.rule = R"(aten._foreach_mul.ScalarList(self, scalars): [i in range(0, len(self)): self[i] * scalars[i]])"sv},
    {.rule = R"(aten._foreach_mul.Tensor(self, other): [x in self: x * other])"sv},
    {.rule = R"(aten._foreach_neg.default(self): [x in self: neg(x)])"sv},
    {.rule = R"(aten._foreach_norm.Scalar(self, ord=2, dtype=none):
       [x in self: linalg_vector_norm(x, ord, none, false, dtype)])"sv},
    {.rule = R"(aten._foreach_pow.Scalar(self, exponent): [x in self: pow.Tensor_Scalar(x, exponent)])"sv},
    {.rule = R"(aten._foreach_reciprocal.default(self): [x in self: reciprocal(x)])"sv},
    {.rule = R"(aten._foreach_round.default(self): [x in self: round(x)])"sv},
    {.rule = R"(aten._foreach_rsqrt.default(self): [x in self: rsqrt(x)])"sv},
    {.rule = R"(aten._foreach_sigmoid.default(self): [x in self: sigmoid(x)])"sv},
    {.rule = R"(aten._foreach_sign.default(self): [x in self: sign(x)])"sv},
    {.rule = R"(aten._foreach_sin.default(self): [x in self: sin(x)])"sv},
    {.rule = R"(aten._foreach_sqrt.default(self): [x in self: sqrt(x)])"sv},
    {.rule = R"(aten._foreach_sub.List(self, other, alpha=1):
       [i in range(0, len(self)): sub.Tensor(self[i], other[i], alpha)])"sv},
    {.rule = R"(aten._foreach_sub.Scalar(self, scalar): [x in self: x - scalar])"sv},
    {.rule = R"(aten._foreach_sub.ScalarList(self, scalars): [i in range(0, len(self)): self[i] - scalars[i]])"sv},
    {.rule = R"(aten._foreach_tanh.default(self): [x in self: tanh(x)])"sv},
    {.rule = R"(aten._foreach_trunc.default(self): [x in self: trunc(x)])"sv},
    // clang-format on
};

}  // namespace davit::operator_families
