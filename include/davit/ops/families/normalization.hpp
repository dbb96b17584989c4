// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"
#include "davit/ops/pattern_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Normalization by the statistics of batches, layers, groups and instances, and of weights.
inline constexpr OperatorRow normalization[] = {
    // clang-format off
    {.rule = R"(aten._batch_norm_with_update.default(input, weight, bias, running_mean, running_var, momentum, eps):
       $keeping(input, weight, bias, running_mean, running_var, momentum, eps) + [full([0], 0, dtype=uint8)])"sv},
    {.rule = R"(aten._fused_rms_norm.default(input, normalized_shape, weight=none, eps=none)^:
       d = range(rank(input) - len(normalized_shape), rank(input));
       s = rsqrt(mean.dim(input * input, d, true)
           + (eps == none ? (dtype(input) == float64 ? 2.220446049250313e-16 : 1.1920928955078125e-07) : eps));
       [weight == none ? input * s : input * s * weight, s])"sv},
    {.schema = "aten._native_batch_norm_legit.default(Tensor input, Tensor? weight, Tensor? bias, "
               "Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) "
               "-> (Tensor, Tensor, Tensor)"sv,
     .rule = R"(aten._native_batch_norm_legit.default(input, weight, bias, running_mean, running_var, training,
           momentum, eps):
       training ? $keeping(input, weight, bias, running_mean, running_var, momentum, eps) : fail(0))"sv},
    {.schema = "aten._native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, "
               "float momentum, float eps) -> (Tensor, Tensor, Tensor)"sv,
     .rule = R"(aten._native_batch_norm_legit.no_stats(input, weight, bias, training, momentum, eps)^!:
       d = [0] + range(2, rank(input));
       k = [i in range(0, rank(input)): i == 1 ? size(input, 1) : 1];
       m = mean.dim(input, d);
       x = input - view(m, k);
       i = rsqrt(mean.dim(x * x, d) + eps);
       y = x * view(i, k);
       w = weight == none ? y : y * view(weight, k);
       [bias == none ? w : w + view(bias, k), m, i])"sv},
    {.schema = "aten._native_batch_norm_legit_functional.default(Tensor input, Tensor? weight, Tensor? bias, "
               "Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, "
               "Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)"sv,
     .rule = R"(aten._native_batch_norm_legit_functional.default(input, weight, bias, running_mean, running_var,
           training, momentum, eps)^!:
       d = [0] + range(2, rank(input));
       n = product(sizes(input)) // size(input, 1);
       k = [i in range(0, rank(input)): i == 1 ? size(input, 1) : 1];
       m = mean.dim(input, d);
       x = input - view(m, k);
       v = mean.dim(x * x, d);
       i = rsqrt(v + eps);
       y = x * view(i, k);
       w = weight == none ? y : y * view(weight, k);
       training ? [bias == none ? w : w + view(bias, k), m, i, running_mean * (1 - momentum) + m * momentum,
           running_var * (1 - momentum) + v * (n * momentum / (n - 1.0))] :
         fail(0))"sv},
    {.schema = "aten._native_batch_norm_legit_no_training.default(Tensor input, Tensor? weight, Tensor? bias, "
               "Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)"sv},
    {.rule = R"(aten._weight_norm.default(v, g, dim=0): v * (g / norm_except_dim(v, 2, dim)))"sv},
    {.rule = R"(aten._weight_norm_interface.default(v, g, dim=0): n = norm_except_dim(v, 2, dim); [v * (g / n), n])"sv},
    {.schema = "aten.batch_norm.default(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
               "Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor"sv,
     .rule = R"(aten.batch_norm.default(input, weight, bias, running_mean, running_var, training, momentum, eps,
           cudnn_enabled):
       training ? (running_mean == none ? fail(0) :
           $keeping(input, weight, bias, running_mean, running_var, momentum, eps)[0]) :
         _native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum, eps)[0])"sv},
    {.rule = R"(aten.group_norm.default(input, num_groups, weight=none, bias=none, eps=1e-05, cudnn_enabled=true):
       $group(input, weight, bias, num_groups, eps))"sv},
    {.rule = R"(aten.instance_norm.default(input, weight, bias, running_mean, running_var, use_input_stats, momentum,
           eps, cudnn_enabled):
       use_input_stats ? (running_mean == none ?
           (eps > 0 ? $group(input, weight, bias, max(size(input, 1), 1), eps) : $each(input, weight, bias, eps)) :
           $keeping_each(input, weight, bias, running_mean, running_var, momentum, eps)) :
         batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps, true))"sv},
    {.schema = "aten.layer_norm.default(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
               "Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor"sv,
     .rule = R"(aten.layer_norm.default(input, normalized_shape, weight=none, bias=none, eps=1e-05, cudnn_enable=true):
       native_layer_norm(input, normalized_shape, weight, bias, eps)[0])"sv},
    {.rule = R"(aten.native_batch_norm.default(input, weight, bias, running_mean, running_var, training, momentum, eps):
       training ? (running_mean == none ? _native_batch_norm_legit.no_stats(input, weight, bias, true, momentum, eps) :
           $keeping(input, weight, bias, running_mean, running_var, momentum, eps)) :
         _native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum, eps))"sv},
    {.rule = R"(aten.native_batch_norm_backward.default(grad_out, input, weight, running_mean, running_var, save_mean,
           save_invstd, train, eps, output_mask)^:
       d = [0] + range(2, rank(input));
       k = [i in range(0, rank(input)): i == 1 ? size(input, 1) : 1];
       n = float(product(sizes(input)) // size(input, 1));
       m = view(train ? save_mean : running_mean, k);
       r = train ? save_invstd : rsqrt(running_var + eps);
       x = input - m;
       b = sum.dim_IntList(grad_out, d);
       p = sum.dim_IntList(grad_out * x, d);
       f = view(weight == none ? r : r * weight, k);
       [train ? (grad_out - x * view(p / n * r * r, k) - view(b / n, k)) * f : grad_out * f, p * r, b])"sv},
    {.schema = "aten.native_group_norm.default(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, "
               "SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)"sv,
     .rule = R"(aten.native_group_norm.default(input, weight, bias, N, C, HxW, group, eps)^!:
       x = reshape(input, [N, group, C // group * HxW]);
       m = mean.dim(x, [2], true);
       z = x - m;
       r = rsqrt(mean.dim(z * z, [2], true) + eps);
       y = reshape(z * r, sizes(input));
       k = [i in range(0, rank(input)): i == 1 ? C : 1];
       w = weight == none ? y : y * view(weight, k);
       [bias == none ? w : w + view(bias, k), view(m, [N, group]), view(r, [N, group])])"sv},
    {.schema = "aten.native_group_norm_backward.default(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, "
               "Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, "
               "Tensor)"sv, .group = OperatorGroup::gradients},
    {.schema = "aten.native_layer_norm.default(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, "
               "float eps) -> (Tensor, Tensor, Tensor)"sv,
     .rule = R"(aten.native_layer_norm.default(input, normalized_shape, weight, bias, eps)^!:
       d = range(rank(input) - len(normalized_shape), rank(input));
       m = mean.dim(input, d, true);
       x = input - m;
       r = rsqrt(mean.dim(x * x, d, true) + eps);
       y = x * r;
       w = weight == none ? y : y * weight;
       [bias == none ? w : w + bias, m, r])"sv},
    {.schema = "aten.native_layer_norm_backward.default(Tensor grad_out, Tensor input, SymInt[] normalized_shape, "
               "Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, "
               "Tensor)"sv, .group = OperatorGroup::gradients},
    {.rule = R"(aten.norm_except_dim.default(v, pow=2, dim=0):
       dim == -1 ? linalg_vector_norm(v, pow) :
         linalg_vector_norm(v, pow, compact([d in range(0, rank(v)): d == wrap(dim, rank(v)) ? none : d]), true))"sv},
    {.rule = R"(aten.renorm.default(self, p, dim, maxnorm)^:
       n = linalg_vector_norm(self, p, compact([d in range(0, rank(self)): d == wrap(dim, rank(self)) ? none : d]),
           true);
       self * where(n > maxnorm, maxnorm / (n + 1e-07), 1.0))"sv},
    {.rule = R"(aten.rms_norm.default(input, normalized_shape, weight=none, eps=none)^:
       d = range(rank(input) - len(normalized_shape), rank(input));
       r = input * rsqrt(mean.dim(input * input, d, true) + (eps == none ? epsilon(outtype) : rounded(eps, outtype)));
       weight == none ? r : r * weight)"sv},

    // shared sub-rules
    {.rule = R"($each(x, w, b, eps):
       s = sizes(x);
       n = [s[0]];
       c = [s[0] * s[1]];
       a = [1] + c + s[2:];
       r = _native_batch_norm_legit.no_stats(reshape(x, a), w == none ? none : repeat(w, n),
           b == none ? none : repeat(b, n), true, 0.1, eps, sizes=[a, c, c], as=dtype(x));
       view(r[0], s))"sv},
    {.rule = R"($group(x, w, b, g, eps):
       native_group_norm(x, w, b, size(x, 0), size(x, 1), product(sizes(x)[2:]), g, eps,
           sizes=[dims(x), [size(x, 0), g], [size(x, 0), g]], as=dtype(x))[0])"sv},
    {.rule = R"($keeping(x, w, b, m, v, momentum, eps):
       c = [size(x, 1)];
       t = dtype(m);
       r = _native_batch_norm_legit_functional(x, w, b, m, v, true, momentum, eps, sizes=[sizes(x), c, c, c, c],
           as=[dtype(x), t, t, t, t]);
       p = copy_(m, r[3], sizes=c, as=t);
       q = copy_(v, r[4], sizes=c, as=t);
       r[:3])"sv},
    {.rule = R"($keeping_each(x, w, b, m, v, momentum, eps):
       s = sizes(x);
       n = [s[0]];
       c = [s[0] * s[1]];
       t = dtype(m);
       a = [1] + c + s[2:];
       r = _native_batch_norm_legit_functional(reshape(x, a), w == none ? none : repeat(w, n),
           b == none ? none : repeat(b, n), repeat(m, n), repeat(v, n), true, momentum, eps, sizes=[a, c, c, c, c],
           as=[dtype(x), t, t, t, t]);
       p = copy_(m, mean.dim(view(r[3], s[:2]), [0]), sizes=[s[1]], as=t);
       q = copy_(v, mean.dim(view(r[4], s[:2]), [0]), sizes=[s[1]], as=t);
       view(r[0], s))"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts normalization_facts[] = {
    // clang-format off
    {.name = "aten._native_batch_norm_legit_no_training"sv, .shape = ShapeRule::batch_norm,
     .range = RangeBound::batch_norm, .keeps_nonfinite = true},
    {.name = "aten.batch_norm"sv, .range = RangeBound::batch_norm, .keeps_nonfinite = true},
    {.name = "aten.layer_norm"sv, .shape = ShapeRule::same, .range = RangeBound::layer_norm, .keeps_nonfinite = true},
    {.name = "aten.native_group_norm"sv, .range = RangeBound::group_norm},
    {.name = "aten.native_layer_norm"sv, .shape = ShapeRule::layer_norm, .range = RangeBound::layer_norm,
     .keeps_nonfinite = true},
    // clang-format on
};

/// Forms in which programs write these operators, and others that become simpler.
inline constexpr PatternRow normalization_patterns[] = {
    // clang-format off
    // of one item each channel has its own statistics: an instance norm is written so. Without epsilon a batch norm
    // makes 0 of a constant channel, and a group norm NaN
    {.example = R"((x: [1, 2, 5, 5]) exp(_native_batch_norm_legit.no_stats(x, none, none, true, 0.1, 0.5,
       sizes=[dims(x), [2], [2]], as=float32)[0]))"sv,
     .pattern = R"(_native_batch_norm_legit.no_stats(x, weight, bias, _, _, #eps)
       => native_group_norm(x, weight, bias, 1, size(x, 1), product(sizes(x)[2:]), size(x, 1), eps,
            sizes=[dims(x), [1, size(x, 1)], [1, size(x, 1)]], as=outtype)
       if fixed(x) && rank(x) > 2 && unit(x, 0) && eps > 0 && alone(out))"sv,
     .use = PatternUse::composite, .worth_a_pass = true},
    // clang-format on
};

}  // namespace davit::operator_families

// how calls are read
namespace davit::operators {

/// The new running statistics of a batch norm in training.
enum class RunningStatistics : std::uint8_t { none, in_place, outputs };

/// One of ATen's batch norms: input, weight, bias, running_mean, running_var, training, momentum, eps, as far as it has
/// them.
struct BatchNormOperator {
  const char* target;
  bool has_running = true;
  bool has_training = true;
  RunningStatistics running = RunningStatistics::in_place;
  bool saves = true;  ///< outputs 1 and 2: mean and 1 / deviation of what it normalized with, empty in evaluation
};

inline constexpr std::array batch_norm_operators{
    BatchNormOperator{"aten._native_batch_norm_legit_no_training.default", true, false, RunningStatistics::none},
    BatchNormOperator{"aten.batch_norm.default", true, true, RunningStatistics::in_place, false},
    BatchNormOperator{"aten._native_batch_norm_legit.default"},
    BatchNormOperator{"aten._native_batch_norm_legit.no_stats", false, true, RunningStatistics::none},
    BatchNormOperator{"aten._native_batch_norm_legit_functional.default", true, true, RunningStatistics::outputs},
};

/// One of ATen's layer norms: input, normalized_shape, weight, bias, eps.
struct LayerNormOperator {
  const char* target;
  bool saves = false;  ///< outputs 1 and 2: mean and 1 / deviation
};

inline constexpr std::array layer_norm_operators{
    LayerNormOperator{"aten.native_layer_norm.default", true},
    LayerNormOperator{"aten.layer_norm.default"},
};

}  // namespace davit::operators
