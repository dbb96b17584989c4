// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Losses, and distances between rows.
inline constexpr OperatorRow losses[] = {
    // clang-format off
    {.rule = R"(aten._cdist_backward.default(grad, x1, x2, p, cdist)^:
       d = unsqueeze(x1, -2) - unsqueeze(x2, -3);
       a = abs(d);
       n = unsqueeze(cdist, -1);
       g = unsqueeze(grad, -1);
       s = p == 0 || p == inf ? fail(0) :
         p == 1 ? sign(d) * g :
         p == 2 ? where(n == 0, 0, d / n * g) :
         where(n == 0, 0, sign(d) * pow.Tensor_Scalar(a, p - 1.0) * g / pow.Tensor_Scalar(n, p - 1.0));
       sum.dim_IntList(s, [-2]))"sv},
    {.schema = "aten._cdist_forward.default(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor"sv,
     .rule = R"(aten._cdist_forward.default(x1, x2, p, compute_mode)!:
       d = abs(unsqueeze(x1, -2) - unsqueeze(x2, -3));
       p == 2 ? sqrt(sum.dim_IntList(d * d, [-1])) :
         p == 1 ? sum.dim_IntList(d, [-1]) :
         p == 0 ? sum.dim_IntList(cast(d != 0, dtype(d)), [-1]) :
         p == inf ? amax(d, [-1]) :
         pow.Tensor_Scalar(sum.dim_IntList(pow.Tensor_Scalar(d, p), [-1]), 1.0 / p))"sv},
    {.rule = R"(aten._euclidean_dist.default(x1, x2):
       a = sum.dim_IntList(pow.Tensor_Scalar(x1, 2), [-1], true);
       b = sum.dim_IntList(pow.Tensor_Scalar(x2, 2), [-1], true);
       sqrt(clamp(matmul(cat([x1 * -2, a, ones_like(a)], -1), transpose.int(cat([x2, ones_like(b), b], -1), -2, -1)),
           0)))"sv},
    {.schema = "aten._pdist_forward.default(Tensor self, float p=2.) -> Tensor"sv},
    {.rule = R"(aten.binary_cross_entropy.default(self, target, weight=none, reduction=1)^:
       l = (target - 1) * clamp(log1p(-self), -100) - target * clamp(log(self), -100);
       $sure($reduce(weight == none ? l : l * weight, reduction),
           logical_and($between(self, 0, 1), $between(target, 0, 1))))"sv},
    {.rule = R"(aten.binary_cross_entropy_backward.default(grad_output, self, target, weight=none, reduction=1)^:
       g = grad_output * (self - target) / clamp(self * (1 - self), 1e-12);
       w = weight == none ? g : g * weight;
       reduction == 1 ? w / float(product(sizes(self))) : w)"sv},
    {.rule = R"(aten.binary_cross_entropy_with_logits.default(self, target, weight=none, pos_weight=none, reduction=1)^:
       s = minimum(self, zeros_like(self)) - log1p(exp(-abs(self)));
       l = pos_weight == none ? (1 - target) * self - s : (1 - target) * self - ((pos_weight - 1) * target + 1) * s;
       $reduce(weight == none ? l : l * weight, reduction))"sv},
    {.rule = R"(aten.cdist.default(x1, x2, p=2, compute_mode=none):
       p == 2 && (compute_mode == 1 || (compute_mode != 2
           && ((isfixed(size(x1, -2)) && size(x1, -2) > 25) || (isfixed(size(x2, -2)) && size(x2, -2) > 25)))) ?
           _euclidean_dist(x1, x2) :
         _cdist_forward(x1, x2, float(p), compute_mode, sizes=out, as=outtype))"sv},
    {.rule = R"(aten.cosine_embedding_loss.default(input1, input2, target, margin=0.0, reduction=1)^:
       d = [rank(target)];
       e = rounded(1e-12, outtype);
       p = sum.dim_IntList(input1 * input2, d);
       c = p / sqrt((sum.dim_IntList(input1 * input1, d) + e) * (sum.dim_IntList(input2 * input2, d) + e));
       z = zeros_like(c);
       $reduce(where(target == 1, 1 - c, z) + where(target == -1, clamp(c - margin, 0), z), reduction))"sv},
    {.rule = R"(aten.cosine_similarity.default(x1, x2, dim=1, eps=1e-08)^:
       s = joint([x1, x2], 0);
       k = dims(x1) == dims(x2);
       x = k ? x1 : expand(x1, s);
       y = k ? x2 : expand(x2, s);
       d = [wrap(dim, len(s))];
       e = rounded(eps, outtype);
       a = linalg_vector_norm(x, 2, d, true);
       b = linalg_vector_norm(y, 2, d, true);
       sum.dim_IntList(x / clamp(a, e) * (y / clamp(b, e)), d))"sv},
    {.rule = R"(aten.cross_entropy_loss.default(self, target, weight=none, reduction=1, ignore_index=-100,
           label_smoothing=0.0)^:
       d = rank(self) == 1 ? 0 : 1;
       l = _log_softmax(self, d, false);
       c = size(self, d);
       w = weight == none ? none : view(weight, rank(self) == 1 ? [c] : [1, c] + [i in range(2, rank(self)): 1]);
       isfloat(target) ? $soft(l, target, w, reduction, label_smoothing, d) :
         label_smoothing == 0 ? $nll(l, target, weight, reduction, ignore_index) :
         $smooth(l, target, weight, w, reduction, ignore_index, label_smoothing, d))"sv},
    {.rule = R"(aten.dist.default(self, other, p=2): linalg_vector_norm(self - other, p))"sv},
    {.rule = R"(aten.hinge_embedding_loss.default(self, target, margin=1.0, reduction=1)^:
       z = zeros_like(self);
       m = clamp(margin - self, 0);
       $reduce(where(target != 1, m, z) + where(target != -1, self, z), reduction))"sv},
    {.rule = R"(aten.huber_loss.default(self, target, reduction=1, delta=1.0)^:
       d = abs(self - target);
       $reduce(where(d < delta, d * 0.5 * d, (d - 0.5 * delta) * delta), reduction))"sv},
    {.rule = R"(aten.huber_loss_backward.default(grad_output, self, target, reduction, delta)^:
       $mean_of(clamp(self - target, -delta, delta) * grad_output, self, reduction))"sv},
    {.rule = R"(aten.kl_div.default(self, target, reduction=1, log_target=false)^:
       $reduce(log_target ? exp(target) * (target - self) : $xlogy(target, target) - target * self, reduction))"sv},
    {.rule = R"(aten.l1_loss.default(self, target, reduction=1)^: $reduce(abs(self - target), reduction))"sv},
    {.rule = R"(aten.margin_ranking_loss.default(input1, input2, target, margin=0.0, reduction=1)^:
       $reduce(clamp(-target * (input1 - input2) + margin, 0), reduction))"sv},
    {.rule = R"(aten.mse_loss.default(self, target, reduction=1)^: d = self - target; $reduce(d * d, reduction))"sv},
    {.rule = R"(aten.mse_loss_backward.default(grad_output, self, target, reduction)^:
       $mean_of((self - target) * grad_output * 2, self, reduction))"sv},
    {.rule = R"(aten.multi_margin_loss.default(self, target, p=1, margin=1, weight=none, reduction=1)^:
       x = rank(self) < 2 ? reshape(self, [1, product(sizes(self))]) : self;
       t = reshape(target, [size(x, 0), 1]);
       m = clamp(margin - gather(x, 1, t) + x, 0);
       q = p == 1 ? m : pow.Tensor_Scalar(m, p);
       w = weight == none ? q : q * gather(expand(weight, sizes(x)), 1, t);
       n = size(x, 1);
       r = $reduce(sum.dim_IntList(where(arange.start_step(0, n) == t, 0.0, w), [1]) / float(n), reduction);
       rank(self) < 2 ? reshape(r, out) : r)"sv},
    {.rule = R"(aten.multilabel_margin_loss.default(self, target, reduction=1):
       x = rank(self) == 0 ? reshape(self, [1]) : self;
       t = rank(self) == 0 ? reshape(target, [1]) : target;
       $reduce($label_margins(x, t, $labelled(x, t)), reduction))"sv},
    {.rule = R"(aten.multilabel_margin_loss_forward.default(self, target, reduction):
       t = $labelled(self, target);
       [$reduce($label_margins(self, target, t), reduction), cast(t, dtype(self))])"sv},
    {.rule = R"(aten.nll_loss.default(self, target, weight=none, reduction=1, ignore_index=-100)^:
       $nll(self, target, weight, reduction, ignore_index))"sv},
    {.rule = R"(aten.nll_loss2d.default(self, target, weight=none, reduction=1, ignore_index=-100)^:
       $nll(self, target, weight, reduction, ignore_index))"sv},
    {.rule = R"(aten.nll_loss2d_backward.default = aten.nll_loss_backward.default)"sv},
    {.rule = R"(aten.nll_loss2d_forward.default = aten.nll_loss_forward.default)"sv},
    {.rule = R"(aten.nll_loss_backward.default(grad_output, self, target, weight, reduction, ignore_index,
           total_weight)^:
       d = rank(self) == 1 ? 0 : 1;
       t = unsqueeze(target, d);
       k = t != ignore_index;
       h = scatter.value(zeros_like(self), d, where(k, t, 0), -1.0);
       g = reduction == 1 ? grad_output / total_weight : grad_output;
       s = rank(self) > rank(g) && rank(g) > 0 ? unsqueeze(g, d) : g;
       w = weight == none ? s : s * $per_channel(self, weight, d);
       where(k, h * w, 0))"sv},
    {.rule = R"(aten.nll_loss_forward.default(self, target, weight, reduction, ignore_index)^:
       k = target != ignore_index;
       [$nll(self, target, weight, reduction, ignore_index),
           reduction == 0 ? full([], 0, dtype=dtype(self)) : weight == none ? cast(sum(k), dtype(self)) :
           sum(where(k, index_select(weight, 0, reshape(where(k, target, 0), [product(sizes(target))])) , 0))])"sv},
    {.rule = R"(aten.nll_loss_nd.default(self, target, weight=none, reduction=1, ignore_index=-100)^:
       $nll(self, target, weight, reduction, ignore_index))"sv},
    {.rule = R"(aten.pairwise_distance.default(x1, x2, p=2, eps=1e-06, keepdim=false):
       linalg_vector_norm(x1 - x2 + eps, p, [-1], keepdim))"sv},
    {.rule = R"(aten.pdist.default(self, p=2): _pdist_forward(self, float(p), sizes=out, as=outtype))"sv},
    {.rule = R"(aten.poisson_nll_loss.default(input, target, log_input, full, eps, reduction)^:
       l = log_input ? exp(input) - target * input : input - target * log(input + rounded(eps, outtype));
       s = full ? l + where(target <= 1, 0, target * log(target) - target + 0.5 * log(target * 6.283185307179586)) : l;
       $reduce(s, reduction))"sv},
    {.rule = R"(aten.smooth_l1_loss.default(self, target, reduction=1, beta=1.0)^:
       d = abs(self - target);
       $reduce(beta == 0 ? d : where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta), reduction))"sv},
    {.rule = R"(aten.smooth_l1_loss_backward.default(grad_output, self, target, reduction, beta)^:
       x = self - target;
       $mean_of((beta == 0 ? sign(x) : clamp(x / beta, -1, 1)) * grad_output, self, reduction))"sv},
    {.rule = R"(aten.soft_margin_loss.default(self, target, reduction=1)^:
       $reduce(log1p(exp(-self * target)), reduction))"sv},
    {.rule = R"(aten.triplet_margin_loss.default(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=false,
           reduction=1)^:
       a = pairwise_distance(anchor, positive, p, eps);
       b = pairwise_distance(anchor, negative, p, eps);
       c = swap ? minimum(b, pairwise_distance(positive, negative, p, eps)) : b;
       $reduce(clamp(a + margin - c, 0), reduction))"sv},

    // shared sub-rules
    {.rule = R"($label_margins(x, target, own):
       k = $labels(target);
       g = gather(x, -1, where(k, target, 0));
       m = clamp(1 - unsqueeze(g, -1) + unsqueeze(x, -2), 0);
       n = logical_and(unsqueeze(k, -1), unsqueeze(logical_not(own), -2));
       sum.dim_IntList(where(n, m, 0.0), [-2, -1]) / float(size(x, -1)))"sv},
    {.rule = R"($labelled(x, target):
       k = unsqueeze($labels(target), -1);
       any.dim(logical_and(k, unsqueeze(target, -1) == arange.start_step(0, size(x, -1))), -2))"sv},
    {.rule = R"($labels(target): cumsum(cast(target < 0, int64), -1) == 0)"sv},
    {.rule = R"($mean_of(x, self, reduction): reduction == 1 ? x / float(product(sizes(self))) : x)"sv},
    {.rule = R"($nll(x, target, weight, reduction, ignore):
       d = rank(x) == 1 ? 0 : 1;
       t = unsqueeze(target, d);
       g = where(t != ignore, t, 0);
       p = -squeeze.dims(gather(x, d, g), [d]);
       k = target != ignore;
       w = weight == none ? none :
         squeeze.dims(gather(expand(view(weight,
           rank(x) == 1 ? [size(weight, 0)] : [1, size(weight, 0)] + [i in range(2, rank(x)): 1]), sizes(x)), d, g),
           [d]);
       l = where(k, w == none ? p : p * w, 0);
       n = w == none ? cast(sum(k), dtype(x)) : sum(where(k, w, 0));
       reduction == 0 ? l : reduction == 2 ? sum(l) : sum(l) / n)"sv},
    {.rule = R"($reduce(x, r): r == 1 ? mean(x) : r == 2 ? sum(x) : x)"sv},
    {.rule = R"($smooth(l, target, weight, w, reduction, ignore, e, d):
       n = $nll(l, target, weight, reduction, ignore);
       k = target != ignore;
       s = where(k, -sum.dim_IntList(w == none ? l : l * w, [d]), 0);
       m = reduction == 0 ? s :
         reduction == 2 ? sum(s) :
         sum(s) / (weight == none ? cast(sum(k), dtype(l)) :
           sum(where(k, squeeze.dims(gather(expand(w, sizes(l)), d, unsqueeze(where(k, target, 0), d)), [d]), 0)));
       n * (1 - e) + m * (e / float(size(l, d))))"sv},
    {.rule = R"($soft(l, target, w, reduction, e, d):
       t = e == 0 ? target : target * (1 - e) + e / float(size(l, d));
       p = w == none ? l * t : l * t * w;
       n = product(compact([i in range(0, rank(l)): i == d ? none : size(l, i)]));
       reduction == 0 ? -sum.dim_IntList(p, [d]) : reduction == 2 ? -sum(p) : -sum(p) / n)"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts losses_facts[] = {
    // clang-format off
    {.name = "aten.binary_cross_entropy"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.binary_cross_entropy_with_logits"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.cdist"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.cosine_embedding_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.cross_entropy_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.ctc_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.hinge_embedding_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.huber_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.kl_div"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.l1_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.margin_ranking_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.mse_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.multi_margin_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.multilabel_margin_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.nll_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.nll_loss2d"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.poisson_nll_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.smooth_l1_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.soft_margin_loss"sv, .autocast = AutocastPolicy::full},
    {.name = "aten.triplet_margin_loss"sv, .autocast = AutocastPolicy::full},
    // clang-format on
};

}  // namespace davit::operator_families
