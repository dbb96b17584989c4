// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/parameter.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Reductions.
inline constexpr OperatorRow reductions[] = {
    // clang-format off
    {.rule = R"(aten._is_all_true.default(self): logical_not(any(logical_not(self))))"sv},
    {.rule = R"(aten._is_any_true.default(self): any(self))"sv},
    {.rule = R"(aten.all.default(self): $truth(logical_not(any(logical_not(self))), dtype(self)))"sv,
     .complex_rule = R"(aten.all.default(self): all($is_nonzero(self)))"sv,
     .form = "aten.all.all_out = aten.all.default"sv},
    {.rule = R"(aten.all.dim(self, dim, keepdim=false):
       $truth(logical_not(any.dim(logical_not(self), dim, keepdim)), dtype(self)))"sv,
     .complex_rule = R"(aten.all.dim(self, dim, keepdim=false): all.dim($is_nonzero(self), dim, keepdim))"sv,
     .form = "aten.all.out = aten.all.dim"sv},
    {.rule = R"(aten.all.dims(self, dim=none, keepdim=false):
       $truth(logical_not(any.dims(logical_not(self), dim == none ? range(0, rank(self)) : dim, keepdim)),
           dtype(self)))"sv},
    {.schema = "aten.amax.default(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"sv},
    {.schema = "aten.amin.default(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"sv},
    {.rule = R"(aten.aminmax.default(self, dim=none, keepdim=false):
       d = dim == none ? range(0, rank(self)) : [dim];
       [amin(self, d, keepdim), amax(self, d, keepdim)])"sv},
    {.schema = "aten.any.default(Tensor self) -> Tensor"sv,
     .complex_rule = R"(aten.any.default(self): any($is_nonzero(self)))"sv,
     .form = "aten.any.all_out = aten.any.default"sv},
    {.schema = "aten.any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor"sv,
     .complex_rule = R"(aten.any.dim(self, dim, keepdim=false): any.dim($is_nonzero(self), dim, keepdim))"sv,
     .form = "aten.any.out = aten.any.dim"sv},
    {.schema = "aten.any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor"sv,
     .complex_rule = R"(aten.any.dims(self, dim=none, keepdim=false): any.dims($is_nonzero(self), dim, keepdim))"sv},
    {.schema = "aten.argmax.default(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"sv},
    {.schema = "aten.argmin.default(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"sv},
    {.rule = R"(aten.count_nonzero.default(self, dim=none):
       dim == none ? sum(self != 0) : sum.dim_IntList(self != 0, [dim]))"sv},
    {.rule = R"(aten.count_nonzero.dim_IntList(self, dim): sum.dim_IntList(self != 0, dim))"sv},
    {.rule = R"(aten.logsumexp.default(self, dim, keepdim=false)^:
       x = isint(self) ? cast(self, float32) : self;
       d = $dims(self, rank(self) == 0 ? [] : dim);
       y = atleast(product([i in d: size(x, i)]), 1) ? x : $and_one(x, wrap(d[0], rank(x)), -inf);
       m = amax(y, d, true);
       s = where(abs(m) == inf, 0, m);
       log(sum.dim_IntList(exp(x - s), d, keepdim)) + (keepdim ? s : squeeze.dims(s, d)))"sv},
    {.schema = "aten.max.default(Tensor self) -> Tensor"sv,
     .form = "aten.max.unary_out = aten.max.default"sv},
    {.schema = "aten.max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"sv},
    {.rule = R"(aten.max.other = aten.maximum.default)"sv,
     .form = "aten.max.out = aten.max.other"sv},
    {.schema = "aten.mean.default(Tensor self, *, ScalarType? dtype=None) -> Tensor"sv,
     .complex_rule = R"(aten.mean.default(self, dtype=none): mean.dim(self, range(0, rank(self))))"sv,
     .form = "aten.mean.dtype_out = aten.mean.default"sv},
    {.schema = "aten.mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"sv,
     .complex_rule = R"(aten.mean.dim(self, dim, keepdim=false, dtype=none):
       rank(self) == 0 ? clone(self) :
         view_as_complex(mean.dim(view_as_real(self), wrap($dims(self, dim), rank(self)), keepdim)))"sv,
     .form = "aten.mean.out = aten.mean.dim"sv},
    {.schema = "aten.min.default(Tensor self) -> Tensor"sv,
     .form = "aten.min.unary_out = aten.min.default"sv},
    {.schema = "aten.min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"sv},
    {.rule = R"(aten.min.other = aten.minimum.default)"sv,
     .form = "aten.min.out = aten.min.other"sv},
    {.rule = R"(aten.nanmean.default(self, dim=none, keepdim=false, dtype=none)^:
       x = cast(self, dtype);
       d = $dims(self, dim);
       sum.dim_IntList(where(isnan(x), 0, x), d, keepdim) / sum.dim_IntList(logical_not(isnan(x)), d, keepdim))"sv},
    {.rule = R"(aten.nansum.default(self, dim=none, keepdim=false, dtype=none):
       sum.dim_IntList(isint(self) ? self : where(isnan(self), 0, self), $dims(self, dim), keepdim, dtype=dtype))"sv},
    {.rule = R"(aten.norm.Scalar(self, p=2): linalg_vector_norm(self, p))"sv},
    {.rule = R"(aten.norm.ScalarOpt_dim(self, p, dim, keepdim=false):
       linalg_vector_norm(self, p == none ? 2 : p, dim, keepdim))"sv,
     .form = "aten.norm.out = aten.norm.ScalarOpt_dim"sv},
    {.rule = R"(aten.norm.ScalarOpt_dim_dtype(self, p, dim, keepdim, dtype):
       linalg_vector_norm(self, p == none ? 2 : p, dim, keepdim, dtype))"sv,
     .form = "aten.norm.dtype_out = aten.norm.ScalarOpt_dim_dtype"sv},
    {.rule = R"(aten.norm.ScalarOpt_dtype(self, p, dtype):
       linalg_vector_norm(self, p == none ? 2 : p, none, false, dtype))"sv},
    {.schema = "aten.prod.default(Tensor self, *, ScalarType? dtype=None) -> Tensor"sv,
     .complex_rule = R"(aten.prod.default(self, dtype=none): polar(prod(abs(self)), sum(angle(self))))"sv},
    {.schema = "aten.prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"sv,
     .complex_rule = R"(aten.prod.dim_int(self, dim, keepdim=false, dtype=none):
       polar(prod.dim_int(abs(self), dim, keepdim), sum.dim_IntList(angle(self), [dim], keepdim)))"sv,
     .form = "aten.prod.int_out = aten.prod.dim_int"sv},
    {.rule = R"(aten.special_logsumexp.default = aten.logsumexp.default)"sv},
    {.schema = "aten.std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
               "bool keepdim=False) -> Tensor"sv,
     .rule = R"(aten.std.correction(self, dim=none, correction=none, keepdim=false):
       $root_of_variance(self, dim, correction, keepdim))"sv},
    {.schema = "aten.std.default(Tensor self, bool unbiased=True) -> Tensor"sv,
     .rule = R"(aten.std.default(self, unbiased=true): $root_of_variance(self, none, unbiased ? 1 : 0, false))"sv},
    {.schema = "aten.std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor"sv,
     .rule = R"(aten.std.dim(self, dim, unbiased=true, keepdim=false):
       $root_of_variance(self, dim, unbiased ? 1 : 0, keepdim))"sv,
     .form = "aten.std.out = aten.std.dim"sv},
    {.schema = "aten.std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
               "bool keepdim=False) -> (Tensor, Tensor)"sv,
     .rule = R"(aten.std_mean.correction(self, dim=none, correction=none, keepdim=false):
       [$root_of_variance(self, dim, correction, keepdim), mean.dim(self, $dims(self, dim), keepdim)])"sv},
    {.schema = "aten.std_mean.default(Tensor self, bool unbiased=True) -> (Tensor, Tensor)"sv,
     .rule = R"(aten.std_mean.default(self, unbiased=true):
       std_mean.correction(self, none, unbiased ? 1 : 0, false))"sv},
    {.schema = "aten.std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, "
               "Tensor)"sv,
     .rule = R"(aten.std_mean.dim(self, dim, unbiased=true, keepdim=false):
       std_mean.correction(self, dim, unbiased ? 1 : 0, keepdim))"sv},
    {.schema = "aten.sum.default(Tensor self, *, ScalarType? dtype=None) -> Tensor"sv,
     .complex_rule = R"(aten.sum.default(self, dtype=none): sum.dim_IntList(self, range(0, rank(self))))"sv},
    {.schema = "aten.sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) "
               "-> Tensor"sv,
     .complex_rule = R"(aten.sum.dim_IntList(self, dim=none, keepdim=false, dtype=none):
       rank(self) == 0 ? clone(self) :
         view_as_complex(sum.dim_IntList(view_as_real(self), wrap($dims(self, dim), rank(self)), keepdim)))"sv,
     .form = "aten.sum.IntList_out = aten.sum.dim_IntList"sv},
    {.rule = R"(aten.sum_to_size.default(self, size):
       k = rank(self) - len(size);
       d = compact([i in range(0, rank(self)): i < k || (size[i - k] == 1 && size(self, i) != 1) ? i : none]);
       len(d) == 0 ? view(self, size) : view(sum.dim_IntList(self, d, true, dtype=dtype(self)), size))"sv},
    {.schema = "aten.var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
               "bool keepdim=False) -> Tensor"sv,
     .rule = R"(aten.var.correction(self, dim=none, correction=none, keepdim=false)!:
       d = wrap($dims(self, dim), rank(self));
       n = fold(a: 1; i in d: a * size(self, i));
       c = correction == none ? 1 : correction;
       x = self - mean.dim(self, d, true);
       sum.dim_IntList(x * x, d, keepdim) / (c == int(c) ? float(max(n - int(c), 0)) : max(float(n) - c, 0.0)))"sv,
     .complex_rule = R"(aten.var.correction(self, dim=none, correction=none, keepdim=false):
       var.correction($re(self), dim, correction=correction, keepdim=keepdim)
           + var.correction($im(self), dim, correction=correction, keepdim=keepdim))"sv},
    {.rule = R"(aten.var.default(self, unbiased=true): var.correction(self, none, correction=unbiased ? 1 : 0))"sv},
    {.schema = "aten.var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor"sv,
     .rule = R"(aten.var.dim(self, dim, unbiased=true, keepdim=false):
       var.correction(self, dim, correction=unbiased ? 1 : 0, keepdim=keepdim))"sv,
     .form = "aten.var.out = aten.var.dim"sv},
    {.rule = R"(aten.var_mean.correction(self, dim=none, correction=none, keepdim=false):
       $var_mean(self, dim, correction, keepdim))"sv},
    {.rule = R"(aten.var_mean.default(self, unbiased=true): $var_mean(self, none, unbiased ? 1 : 0, false))"sv},
    {.rule = R"(aten.var_mean.dim(self, dim, unbiased=true, keepdim=false):
       $var_mean(self, dim, unbiased ? 1 : 0, keepdim))"sv},

    // shared sub-rules
    {.rule = R"($root_of_variance(x, dim, c, keepdim):
       iscomplex(x) ? sqrt(var.correction(x, dim, correction=c, keepdim=keepdim)) :
         cast(sqrt(var.correction(cast(x, float64), dim, correction=c, keepdim=keepdim)), outtype))"sv},
    {.rule = R"($truth(x, t): t == uint8 ? cast(x, uint8) : x)"sv},
    {.rule = R"($var_mean(self, dim, correction, keepdim):
       [var.correction(self, dim, correction=correction, keepdim=keepdim),
           mean.dim(self, $dims(self, dim), keepdim)])"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts reductions_facts[] = {
    // clang-format off
    {.name = "aten.all"sv, .result = ResultRule::boolean},
    {.name = "aten.amax"sv, .shape = ShapeRule::reduced, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .result = ResultRule::promoted},
    {.name = "aten.amin"sv, .shape = ShapeRule::reduced, .range = RangeBound::maximum, .keeps_nonfinite = true,
     .result = ResultRule::promoted},
    {.name = "aten.any"sv, .shape = ShapeRule::reduced_to_bool, .result = ResultRule::boolean},
    {.name = "aten.argmax"sv, .shape = ShapeRule::reduced_to_index, .result = ResultRule::index},
    {.name = "aten.argmin"sv, .shape = ShapeRule::reduced_to_index, .result = ResultRule::index},
    {.name = "aten.count_nonzero"sv, .result = ResultRule::index},
    {.name = "aten.max"sv, .shape = ShapeRule::reduced_with_index, .result = ResultRule::promoted_and_index},
    {.name = "aten.mean"sv, .shape = ShapeRule::reduced, .range = RangeBound::maximum},
    {.name = "aten.min"sv, .shape = ShapeRule::reduced_with_index, .result = ResultRule::promoted_and_index},
    {.name = "aten.prod"sv, .shape = ShapeRule::summed, .result = ResultRule::dtype_argument,
     .autocast = AutocastPolicy::full},
    {.name = "aten.sum"sv, .shape = ShapeRule::summed, .range = RangeBound::reduced_sum, .keeps_nonfinite = true,
     .result = ResultRule::dtype_argument},
    {.name = "aten.sum_to_size"sv, .view = ViewKind::unknown, .apart = true, .computes = true},
    {.name = "aten.var"sv, .shape = ShapeRule::reduced},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

enum class ReductionFunction : std::uint8_t {
  sum,
  mean,
  product,
  any,
  maximum,
  minimum,
  argument_of_maximum,
  argument_of_minimum
};

/// One of ATen's reductions: self, dim, keepdim, dtype, or self, dtype over all dimensions.
struct ReductionOperator {
  const char* target;
  ReductionFunction function;
  bool all = false;    ///< has neither dim nor keepdim
  bool typed = false;  ///< has dtype
  [[nodiscard]] constexpr Parameter dtype() const noexcept { return {"dtype", all ? 1u : 3u}; }
};

inline constexpr std::array reduction_operators{
    ReductionOperator{"aten.mean.dim", ReductionFunction::mean, false, true},
    ReductionOperator{"aten.sum.dim_IntList", ReductionFunction::sum, false, true},
    ReductionOperator{"aten.amax.default", ReductionFunction::maximum},
    ReductionOperator{"aten.amin.default", ReductionFunction::minimum},
    ReductionOperator{"aten.argmax.default", ReductionFunction::argument_of_maximum},
    ReductionOperator{"aten.argmin.default", ReductionFunction::argument_of_minimum},
    ReductionOperator{"aten.mean.default", ReductionFunction::mean, true, true},
    ReductionOperator{"aten.sum.default", ReductionFunction::sum, true, true},
    ReductionOperator{"aten.max.dim", ReductionFunction::maximum},
    ReductionOperator{"aten.min.dim", ReductionFunction::minimum},
    ReductionOperator{"aten.max.default", ReductionFunction::maximum, true},
    ReductionOperator{"aten.min.default", ReductionFunction::minimum, true},
    ReductionOperator{"aten.any.dim", ReductionFunction::any},
    ReductionOperator{"aten.any.dims", ReductionFunction::any},
    ReductionOperator{"aten.any.default", ReductionFunction::any, true},
    ReductionOperator{"aten.prod.dim_int", ReductionFunction::product, false, true},
    ReductionOperator{"aten.prod.default", ReductionFunction::product, true, true},
};

}  // namespace davit::operators
