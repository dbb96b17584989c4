// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Random numbers: operators that draw them.
inline constexpr OperatorRow random[] = {
    // clang-format off
    {.rule = R"(aten.alpha_dropout.default(input, p, train):
       !train || p == 0 ? input : p == 1 ? input * 0 : $alpha_dropped(input, p, $chance(input, 1 - p)))"sv},
    {.rule = R"(aten.bernoulli.Tensor(self, p): $chance(self, p))"sv},
    {.rule = R"(aten.bernoulli.default(self): $sure($chance(self, self), $between(self, 0, 1)))"sv},
    {.rule = R"(aten.bernoulli.float(self, p=0.5): $chance(self, p))"sv},
    {.rule = R"(aten.bernoulli.p(self, p): $chance(self, p))"sv},
    {.rule = R"(aten.cauchy.default(self, median=0, sigma=1):
       tan((rand(sizes(self), dtype=dtype(self)) - 0.5) * 3.141592653589793) * sigma + median)"sv},
    {.schema = "aten.dropout.default(Tensor input, float p, bool train) -> Tensor"sv,
     .rule = R"(aten.dropout.default(input, p, train): !train || p == 0 ? input : fail(0))"sv},
    {.schema = "aten.dropout_.default(Tensor(a!) self, float p, bool train) -> Tensor(a!)"sv},
    {.rule = R"(aten.exponential.default(self, lambd=1): -log1p(-rand(sizes(self), dtype=dtype(self))) / lambd)"sv},
    {.rule = R"(aten.feature_alpha_dropout.default(input, p, train):
       !train || p == 0 ? input : p == 1 ? input * 0 : $alpha_dropped(input, p, $chance($features(input), 1 - p)))"sv},
    {.rule = R"(aten.feature_dropout.default(input, p, train):
       !train || p == 0 ? input : p == 1 ? input * 0 : input * ($chance($features(input), 1 - p) / (1 - p)))"sv},
    {.rule = R"(aten.geometric.default(self, p):
       r = ceil(log1p(-rand(sizes(self), dtype=float32)) / log_of(1 - p));
       cast(clamp(r, 1), dtype(self)))"sv},
    {.rule = R"(aten.log_normal.default(self, mean=1, std=2):
       exp(randn(sizes(self), dtype=dtype(self)) * std + mean))"sv},
    {.rule = R"(aten.multinomial.default(self, num_samples, replacement=false):
       replacement ? $drawn(self, num_samples) :
         topk(self / -log1p(-rand(sizes(self), dtype=dtype(self))), num_samples, -1)[1])"sv},
    {.schema = "aten.native_dropout.default(Tensor input, float p, bool? train) -> (Tensor, Tensor)"sv},
    {.rule = R"(aten.normal.Tensor_Tensor(mean, std): randn(out, dtype=outtype) * std + mean)"sv},
    {.rule = R"(aten.normal.Tensor_float(mean, std=1): randn(out, dtype=outtype) * std + mean)"sv},
    {.rule = R"(aten.normal.default(self, mean=0, std=1): randn(out, dtype=outtype) * std + mean)"sv},
    {.rule = R"(aten.normal.float_Tensor(mean, std): randn(out, dtype=outtype) * std + mean)"sv},
    {.rule = R"(aten.normal.float_float(mean, std, size, dtype=none): randn(out, dtype=outtype) * std + mean)"sv},
    {.rule = R"(aten.normal_functional.default(self, mean=0, std=1): randn(out, dtype=outtype) * std + mean)"sv},
    {.schema = "aten.rand.default(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
               "bool? pin_memory=None) -> Tensor"sv},
    {.rule = R"(aten.rand_like.default(self, dtype=none): rand(out, dtype=outtype))"sv},
    {.rule = R"(aten.randint.default(high, size, dtype=none): $integers(0, high, out, outtype))"sv},
    {.rule = R"(aten.randint.low(low, high, size, dtype=none): $integers(low, high, out, outtype))"sv},
    {.rule = R"(aten.randint_like.default(self, high, dtype=none): $integers(0, high, out, outtype))"sv},
    {.rule = R"(aten.randint_like.low_dtype(self, low, high, dtype=none): $integers(low, high, out, outtype))"sv},
    {.schema = "aten.randn.default(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
               "Device? device=None, bool? pin_memory=None) -> Tensor"sv},
    {.rule = R"(aten.randn_like.default(self, dtype=none): randn(out, dtype=outtype))"sv},
    {.rule = R"(aten.random.from(self, from, to): to == none ? fail(0) : $integers(from, to, out, outtype))"sv},
    {.rule = R"(aten.random.to(self, to): $integers(0, to, out, outtype))"sv},
    {.schema = "aten.randperm.default(SymInt n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, "
               "bool? pin_memory=None) -> Tensor"sv},
    {.rule = R"(aten.rrelu.default(self, lower=0.125, upper=0.3333333333333333, training=false, generator=none):
       training ? where(self > 0, self, self * (rand(sizes(self), dtype=dtype(self)) * (upper - lower) + lower)) :
         leaky_relu(self, (lower + upper) / 2))"sv},
    {.rule = R"(aten.rrelu_with_noise_functional.default(self, noise, lower=0.125, upper=0.3333333333333333,
           training=false, generator=none):
       training ? fail(0) : [leaky_relu(self, (lower + upper) / 2.0), noise])"sv},
    {.rule = R"(aten.uniform.default(self, from=0, to=1): rand(out, dtype=outtype) * (to - from) + from)"sv},

    // shared sub-rules
    {.rule = R"($alpha_dropped(x, p, keep):
       s = 1.7580993408473766;
       a = 1.0 / sqrt_of((s * s * p + 1) * (1 - p));
       x * (keep * a) + ((keep - 1) * (s * a) + s * a * p))"sv},
    {.rule = R"($chance(x, p): cast(rand(sizes(x), dtype=float32) < p, dtype(x)))"sv},
    {.rule = R"($drawn(p, n):
       c = cumsum(p, -1);
       u = rand(sizes(p)[:-1] + [n], dtype=dtype(p)) * slice.Tensor(c, -1, size(c, -1) - 1, size(c, -1));
       clamp(searchsorted.Tensor(c, u, right=true, sizes=out, as=int64), 0, size(p, -1) - 1))"sv},
    {.rule = R"($features(x): full(sizes(x)[:2] + [i in range(2, rank(x)): 1], 0, dtype=dtype(x)))"sv},
    {.rule = R"($integers(low, high, s, type):
       cast(clamp(floor(rand(s, dtype=float64) * (high - low)) + low, low, high - 1), type))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts random_facts[] = {
    // clang-format off
    {.name = "aten.alpha_dropout"sv, .view = ViewKind::unknown, .apart = true, .random = true},
    {.name = "aten.bernoulli"sv, .random = true},
    {.name = "aten.cauchy"sv, .random = true},
    {.name = "aten.dropout"sv, .view = ViewKind::unknown, .apart = true, .range = RangeBound::maximum,
     .keeps_nonfinite = true, .random = true},
    {.name = "aten.exponential"sv, .random = true},
    {.name = "aten.feature_alpha_dropout"sv, .view = ViewKind::unknown, .apart = true, .random = true},
    {.name = "aten.feature_dropout"sv, .view = ViewKind::unknown, .apart = true, .random = true},
    {.name = "aten.geometric"sv, .random = true},
    {.name = "aten.log_normal"sv, .random = true},
    {.name = "aten.multinomial"sv, .random = true},
    {.name = "aten.native_dropout"sv, .random = true},
    {.name = "aten.normal"sv, .random = true},
    {.name = "aten.normal_functional"sv, .random = true},
    {.name = "aten.poisson"sv, .random = true},
    {.name = "aten.rand"sv, .shape = ShapeRule::factory, .random = true},
    {.name = "aten.rand_like"sv, .random = true},
    {.name = "aten.randint"sv, .random = true},
    {.name = "aten.randint_like"sv, .random = true},
    {.name = "aten.randn"sv, .shape = ShapeRule::factory, .random = true},
    {.name = "aten.randn_like"sv, .random = true},
    {.name = "aten.random"sv, .random = true},
    {.name = "aten.randperm"sv, .random = true},
    {.name = "aten.rrelu"sv, .random = true},
    {.name = "aten.rrelu_with_noise"sv, .random = true},
    {.name = "aten.rrelu_with_noise_functional"sv, .random = true},
    {.name = "aten.uniform"sv, .random = true},
    // clang-format on
};

}  // namespace davit::operator_families
