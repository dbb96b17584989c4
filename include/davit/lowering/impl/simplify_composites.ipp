// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "davit/lowering/impl/simplifier.ipp"
#include "davit/program/operators/movement.hpp"
#include "davit/program/operators/softmax.hpp"

/// The rules of operators that are whole again.
namespace davit::detail {

// -- products ---------------------------------------------------------------------------------------------------------

/// The matrix whose transpose a value is; no_id if it is none.
ValueId Simplifier::untransposed(ValueId v) {
  operators::PermutationView permutation;
  return permuted(v, permutation) && permutation.rank == 2 && permutation.from[0] == 1 ? permutation.input : no_id;
}

bool Simplifier::product(std::string_view target, const Node& node, ValueId out) {
  const auto tensor = [](ValueId v) { return Item::of(GraphBuilder::value(v)); };
  const std::span<const Argument> inputs = view().inputs(node);
  const auto value_at = [&](std::size_t i) {
    return i < inputs.size() && inputs[i].is_value() ? inputs[i].value() : no_id;
  };
  if (target == "aten.addmm.default") {
    const ValueId bias = value_at(0), x = value_at(1), weight = untransposed(value_at(2));
    if (inputs.size() != 3 || weight == no_id || x == no_id || bias == no_id || sizes(bias).size() != 1 ||
        !same(sizes(bias)[0], sizes(out)[1]))
      return false;
    const NamedItem arguments[] = {{"input", tensor(x)}, {"weight", tensor(weight)}, {"bias", tensor(bias)}};
    return compose(node, "aten.linear.default", arguments);
  }
  const ValueId a = value_at(0), b = value_at(1);
  if (a == no_id || b == no_id) return false;
  if (target == "aten.bmm.default") {
    const ValueId whole = stripped(b), one = before(whole, "aten.expand.default");  // one matrix for all
    const auto ends_in_it = [&](ValueId v) { return sizes(v).size() > 1 && same(sizes(one), sizes(v).last(2)); };
    return batched(node, a, one != b && sizes(one).size() == 2 && ends_in_it(whole) && ends_in_it(b) ? one : b, out);
  }
  if (target == "aten.matmul.default") return batched(node, a, b, out);
  const ValueId weight = untransposed(b);
  if (weight == no_id) return false;
  const NamedItem arguments[] = {{"input", tensor(a)}, {"weight", tensor(weight)}};
  return compose(node, "aten.linear.default", arguments);
}

/// A product of any ranks: by a constant, an attention's last, or as it is.
bool Simplifier::batched(const Node& node, ValueId a, ValueId b, ValueId out) {
  const auto tensor = [](ValueId v) { return Item::of(GraphBuilder::value(v)); };
  if (const ValueId weight = untransposed(b);
      weight != no_id && sizes(a).size() == sizes(out).size() && sizes(a).size() > 1) {
    const NamedItem arguments[] = {{"input", tensor(a)}, {"weight", tensor(weight)}};
    return compose(node, "aten.linear.default", arguments);
  }
  if (attention(node, a, b)) return true;
  const std::span<const Argument> inputs = view().inputs(node);
  const std::string_view target = view().target(node);
  if ((target == "aten.bmm.default" || target == "aten.matmul.default") && inputs[0].value() == a &&
      inputs[1].value() == b)
    return false;
  const NamedItem arguments[] = {{"self", tensor(a)}, {"other", tensor(b)}};
  return compose(node, "aten.matmul.default", arguments);
}

/// softmax(q f (k f)^T + mask) v, where rows of which nothing is left are zero.
/// Source: torch's _scaled_dot_product_attention_math.
bool Simplifier::attention(const Node& node, ValueId p, ValueId v) {
  const NodeId softmax = maker(p, "aten._safe_softmax.default");
  if (softmax == no_id || !used_once(p) || sizes(p).size() < sizes(v).size()) return false;
  operators::SoftmaxView lines;
  if (operators::read_softmax(of(softmax), lines) || lines.dim + 1 != sizes(p).size()) return false;
  ValueId scores = lines.input, mask = no_id;
  if (value(scores).dtype != value(p).dtype) return false;
  if (const NodeId sum = maker(scores, "aten.add.Tensor"); sum != no_id) {
    mask = argument(sum, 1);
    scores = argument(sum, 0);
    if (mask == no_id || scores == no_id || value(mask).dtype != value(scores).dtype ||
        view().inputs(emit_.module().nodes[sum]).size() != 2)
      return false;
  }
  NodeId n = maker(scores, "aten.matmul.default");
  if (n == no_id) n = maker(scores, "aten.bmm.default");
  if (n == no_id) return false;
  double factor = 1;
  const auto scaled = [&](ValueId x) {
    const NodeId by = maker(x, "aten.mul.Scalar");
    double f = 0;
    if (by == no_id || !operators::NodeArguments::read_number(view().inputs(emit_.module().nodes[by])[1], f))
      return no_id;
    factor *= f;
    return argument(by, 0);
  };
  const ValueId q = scaled(argument(n, 0)), k = scaled(argument(n, 1));
  if (q == no_id || k == no_id || sizes(q).size() != sizes(k).size()) return false;
  if (sizes(v).size() < sizes(p).size()) {
    TensorMeta meta{.dtype = value(v).dtype, .sizes = std::vector<Dim>(sizes(p).size() - sizes(v).size(), Dim{1})};
    meta.sizes.insert(meta.sizes.end(), sizes(v).begin(), sizes(v).end());
    v = reshaped(v, meta);
  }
  if (v == no_id || sizes(q).size() != sizes(v).size()) return false;
  const std::size_t rank = sizes(k).size();
  if (rank < 2 || rank > operators::most_moved_dims) return false;
  operators::PermutationView turn{k, rank, {}}, first;
  for (std::size_t d = 0; d < rank; ++d)
    turn.from[d] = static_cast<std::uint8_t>(d + 2 == rank ? d + 1 : d + 1 == rank ? d - 1 : d);
  TensorMeta meta{.dtype = value(k).dtype, .sizes = std::vector<Dim>(sizes(k).begin(), sizes(k).end())};
  std::swap(meta.sizes[rank - 2], meta.sizes[rank - 1]);
  // the keys as they were before they were transposed
  if (permuted(k, first)) turn = turn.after(first);
  ValueId base = turn.input;
  if (!turn.is_identity()) base = emit_.call("aten.permute.default", permute_call(turn), {&meta, 1}, false).value();
  const Dim width = sizes(q).back();
  const bool usual = width.is_static() && std::fabs(factor * std::sqrt(static_cast<double>(width.value)) - 1) < 1e-9;
  std::vector<NamedItem> arguments{{"query", Item::of(GraphBuilder::value(q))},
                                   {"key", Item::of(GraphBuilder::value(base))},
                                   {"value", Item::of(GraphBuilder::value(v))}};
  if (mask != no_id) arguments.push_back({"attn_mask", Item::of(GraphBuilder::value(mask))});
  if (!usual) arguments.push_back({"scale", Item::of(GraphBuilder::real(factor))});
  return compose(node, "aten.scaled_dot_product_attention.default", arguments, true);
}

bool Simplifier::add_bias(const Node& node, ValueId out) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() != 2 || !inputs[0].is_value() || !inputs[1].is_value()) return false;
  const ValueId x = inputs[0].value(), bias = inputs[1].value();
  const NodeId n = maker(x, "aten.linear.default");
  if (n == no_id || sizes(x).empty() || !used_once(x) || argument(n, 2) != no_id || !is_constant(bias) ||
      value(bias).dtype != value(x).dtype)
    return false;
  if (sizes(bias).size() != 1 || !same(sizes(bias)[0], sizes(x).back()) || !same(sizes(x), sizes(out))) return false;
  const NamedItem arguments[] = {{"input", Item::of(GraphBuilder::value(argument(n, 0)))},
                                 {"weight", Item::of(GraphBuilder::value(argument(n, 1)))},
                                 {"bias", Item::of(GraphBuilder::value(bias))}};
  return compose(node, "aten.linear.default", arguments);
}

/// A sum of products: of a matrix and a vector, or of matrices.
bool Simplifier::sum(const Node& node) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() != 2 || !inputs[0].is_value() || !inputs[1].is_list() || inputs[1].items.count == 0) return false;
  const ValueId x = inputs[0].value();
  const NodeId n = maker(x, "aten.mul.Tensor");
  const std::size_t rank = sizes(x).size();
  if (n == no_id || !used_once(x) || value(x).dtype != ScalarType::float32) return false;
  std::vector<std::int64_t> dims;
  for (const Argument& d : view().args(inputs[1].items))
    dims.push_back(d.payload < 0 ? d.payload + static_cast<std::int64_t>(rank) : d.payload);
  const ValueId a = argument(n, 0), b = argument(n, 1);
  if (a == no_id || b == no_id || value(a).dtype != value(b).dtype || value(a).dtype != value(x).dtype) return false;
  const auto tensor = [](ValueId v) { return Item::of(GraphBuilder::value(v)); };
  if (rank == 2) {
    if (dims != std::vector<std::int64_t>{1} || sizes(b).size() != 1 || !same(sizes(a), sizes(x)) ||
        !same(sizes(b)[0], sizes(x)[1]))
      return false;
    const NamedItem arguments[] = {{"self", tensor(a)}, {"vec", tensor(b)}};
    return compose(node, "aten.mv.default", arguments, true);
  }
  // the value with those of its dimensions; no_id if another is not of size one
  const auto with = [&](ValueId v, std::initializer_list<std::size_t> kept) {
    if (v == no_id || value(v).dtype != value(x).dtype) return no_id;
    TensorMeta meta{.dtype = value(v).dtype, .sizes = {}};
    const std::span<const Dim> own = sizes(v);
    for (std::size_t d = 0; d < rank; ++d) {
      const Dim size = d + own.size() < rank ? Dim{1} : own[d + own.size() - rank];
      if (std::ranges::find(kept, d) != kept.end())
        meta.sizes.push_back(size);
      else if (!is(size, 1))
        return no_id;
    }
    return reshaped(v, meta);
  };
  if (rank != 4 || dims != std::vector<std::int64_t>{2}) return false;
  const ValueId left = with(a, {0, 1, 2}), right = with(b, {0, 2, 3});
  if (left == no_id || right == no_id || !same(sizes(left)[2], sizes(right)[1])) return false;
  const NamedItem arguments[] = {{"self", tensor(left)}, {"other", tensor(right)}};
  return compose(node, "aten.matmul.default", arguments, true);
}

// -- functions and norms ----------------------------------------------------------------------------------------------

/// where(): a softmax whose lines may have nothing left, a prelu, or an elu.
bool Simplifier::choose(const Node& node) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() != 3 || !std::ranges::all_of(inputs, &Argument::is_value)) return false;
  const ValueId condition = inputs[0].value(), yes = inputs[1].value(), no = inputs[2].value();
  if (const NodeId softmax = maker(no, "aten._softmax.default"); softmax != no_id) {
    NodeId n = maker(condition, "aten.logical_not.default");
    const NodeId any = n == no_id ? no_id : maker(argument(n, 0), "aten.any.dim");
    n = any == no_id ? no_id : maker(argument(any, 0), "aten.logical_not.default");
    n = n == no_id ? no_id : maker(argument(n, 0), "aten.eq.Scalar");
    double zero = 1;
    operators::SoftmaxView lines;
    if (operators::read_softmax(of(softmax), lines)) return false;
    const ValueId x = lines.input;
    if (n == no_id || argument(n, 0) != x || !is_number(given(n, 1), -std::numeric_limits<double>::infinity()) ||
        !read_fill(yes, zero) || zero != 0)
      return false;
    std::size_t reduced = 0;
    const ValueId out = view().outputs(node)[0].value();
    if (sizes(x).empty() || sizes(condition).size() != sizes(x).size() || !same(sizes(out), sizes(x)) ||
        value(out).dtype != value(x).dtype)
      return false;
    if (!same(sizes(argument(any, 0)), sizes(x)) ||
        operators::read_dim(of(any), {"dim", 1}, sizes(x).size(), reduced) || reduced != lines.dim ||
        !is(sizes(condition)[lines.dim], 1))
      return false;
    const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(x))},
                                   {"dim", Item::integer(static_cast<std::int64_t>(lines.dim))}};
    return compose(node, "aten._safe_softmax.default", arguments, true);
  }
  // x > 0 ? x * scale : expm1(x * input_scale) * (alpha * scale)
  const NodeId above = maker(condition, "aten.gt.Scalar");
  if (above == no_id || !is_number(given(above, 1), 0)) return false;
  if (const NodeId product = maker(no, "aten.mul.Tensor");
      product != no_id && yes == argument(above, 0)) {  // x > 0 ? x : x * weight
    const ValueId weight = argument(product, argument(product, 0) == yes ? 1 : 0),
                  out = view().outputs(node)[0].value();
    if ((argument(product, 0) == yes || argument(product, 1) == yes) && weight != no_id && keeps_dtype(yes, node) &&
        value(weight).dtype == value(yes).dtype && same(sizes(yes), sizes(out))) {
      const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(yes))},
                                     {"weight", Item::of(GraphBuilder::value(weight))}};
      return compose(node, "aten._prelu_kernel.default", arguments);
    }
  }
  // a value without its factor
  const auto without = [&](ValueId v, double& factor) {
    factor = 1;
    const NodeId n = maker(v, "aten.mul.Tensor");
    return n != no_id && given(n, 1) != nullptr && operators::NodeArguments::read_number(*given(n, 1), factor)
               ? argument(n, 0)
               : v;
  };
  double alpha = 1, scale = 1, in_scale = 1;
  const ValueId x = argument(above, 0);
  const NodeId exp = maker(without(no, alpha), "aten.expm1.default");
  if (exp == no_id || without(yes, scale) != x || without(argument(exp, 0), in_scale) != x || scale == 0 ||
      !keeps_dtype(x, node))
    return false;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(x))},
                                 {"alpha", Item::of(GraphBuilder::real(alpha / scale))},
                                 {"scale", Item::of(GraphBuilder::real(scale))},
                                 {"input_scale", Item::of(GraphBuilder::real(in_scale))}};
  return compose(node, "aten.elu.default", arguments);
}

/// x == inf ? posinf : x == -inf ? neginf : isnan(x) ? nan : x
bool Simplifier::choose_numbers(const Node& node) {
  const auto tested = [&](ValueId condition, double against) {
    const NodeId n = maker(condition, "aten.eq.Scalar");
    return n != no_id && is_number(given(n, 1), against) ? argument(n, 0) : no_id;
  };
  const auto number = [&](ValueId v, double& to) { return v != no_id && sizes(v).empty() && read_fill(v, to); };
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() != 3 || !std::ranges::all_of(inputs, &Argument::is_value)) return false;
  const double inf = std::numeric_limits<double>::infinity();
  const NodeId inner = maker(inputs[2].value(), "aten.where.self"),
               last = inner == no_id ? no_id : maker(argument(inner, 2), "aten.where.self");
  if (last == no_id) return false;
  const ValueId x = argument(last, 2);
  double posinf = 0, neginf = 0, nan = 0;
  if (x == no_id || tested(inputs[0].value(), inf) != x || tested(argument(inner, 0), -inf) != x ||
      before(argument(last, 0), "aten.isnan.default") != x)
    return false;
  if (!number(inputs[1].value(), posinf) || !number(argument(inner, 1), neginf) || !number(argument(last, 1), nan) ||
      !keeps_dtype(x, node))
    return false;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(x))},
                                 {"nan", Item::of(GraphBuilder::real(nan))},
                                 {"posinf", Item::of(GraphBuilder::real(posinf))},
                                 {"neginf", Item::of(GraphBuilder::real(neginf))}};
  return compose(node, "aten.nan_to_num.default", arguments, true);
}

bool Simplifier::multiply(const Node& node) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() != 2 || !inputs[0].is_value() || !inputs[1].is_value()) return false;
  const ValueId a = inputs[0].value(), b = inputs[1].value();
  for (const auto& [x, gate] : {std::pair(a, b), std::pair(b, a)}) {
    const NodeId n = maker(gate, "aten.sigmoid.default");
    if (n == no_id || argument(n, 0) != x || !used_once(gate) || !keeps_dtype(x, node)) continue;
    const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(x))}};
    return compose(node, "aten.silu.default", arguments);
  }
  // x * tanh(x > 20 ? x : log1p(exp(x)))
  const NodeId tanh = maker(b, "aten.tanh.default");
  const NodeId plus = tanh == no_id ? no_id : maker(argument(tanh, 0), "aten.where.self");
  const NodeId above = plus == no_id ? no_id : maker(argument(plus, 0), "aten.gt.Scalar");
  const NodeId log = plus == no_id ? no_id : maker(argument(plus, 2), "aten.log1p.default");
  const NodeId exp = log == no_id ? no_id : maker(argument(log, 0), "aten.exp.default");
  if (above == no_id || exp == no_id || !keeps_dtype(a, node) || argument(exp, 0) != a || argument(plus, 1) != a ||
      argument(above, 0) != a || !is_number(given(above, 1), 20))
    return false;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(a))}};
  return compose(node, "aten.mish.default", arguments);
}

/// x * clamp(x + 3, 0, 6) / 6
bool Simplifier::divide(const Node& node) {
  const std::span<const Argument> inputs = view().inputs(node);
  if (inputs.size() != 2 || !inputs[0].is_value() || !is_number(&inputs[1], 6)) return false;
  const NodeId product = maker(inputs[0].value(), "aten.mul.Tensor");
  const NodeId high = product == no_id ? no_id : maker(argument(product, 1), "aten.clamp.default");
  const NodeId low = high == no_id ? no_id : maker(argument(high, 0), "aten.clamp.default");
  const NodeId sum = low == no_id ? no_id : maker(argument(low, 0), "aten.add.Tensor");
  if (sum == no_id || view().inputs(emit_.module().nodes[sum]).size() != 2 || argument(sum, 0) == no_id ||
      argument(sum, 0) != argument(product, 0) || !is_number(given(sum, 1), 3) || !is_number(given(low, 1), 0))
    return false;
  const Argument* const most = view().find_input(emit_.module().nodes[high], "max");
  if (!keeps_dtype(argument(sum, 0), node) || given(low, 2) != nullptr || !is_number(most, 6) ||
      (given(high, 1) != most && given(high, 1) != nullptr))
    return false;
  const NamedItem arguments[] = {{"self", Item::of(GraphBuilder::value(argument(sum, 0)))}};
  return compose(node, "aten.hardswish.default", arguments);
}

/// A batch norm over one item, each channel by its own statistics: an instance norm is written so. Without epsilon a
/// batch norm makes 0 of a constant channel, and a group norm NaN.
bool Simplifier::normalize(const Node& node, ValueId out) {
  const std::span<const Argument> inputs = view().inputs(node), outputs = view().outputs(node);
  if (whole_ == nullptr || inputs.size() != 6 || !inputs[0].is_value()) return false;
  for (std::size_t i = 1; i < outputs.size(); ++i)
    if (outputs[i].is_value() && (uses_[outputs[i].value()] != 0 || is_output_[outputs[i].value()] != 0)) return false;
  const ValueId x = inputs[0].value();
  const std::span<const Dim> dims = sizes(x);
  std::int64_t inner = 1;
  for (const Dim& d : dims) {
    if (!d.is_static()) return false;
    inner *= &d - dims.data() < 2 ? 1 : d.value;
  }
  if (dims.size() < 3 || dims[0].value != 1 || inputs[5].kind != ArgumentKind::float_ || !(inputs[5].float_value() > 0))
    return false;
  const std::int64_t channels = dims[1].value;
  std::vector<NamedItem> arguments{{"input", Item::of(inputs[0])},     {"weight", Item::of(inputs[1])},
                                   {"bias", Item::of(inputs[2])},      {"N", Item::integer(1)},
                                   {"C", Item::integer(channels)},     {"HxW", Item::integer(inner)},
                                   {"group", Item::integer(channels)}, {"eps", Item::of(inputs[5])}};
  std::vector<TensorMeta> metas{{.dtype = value(out).dtype, .sizes = std::vector<Dim>(dims.begin(), dims.end())}};
  metas.resize(3, {.dtype = value(out).dtype, .sizes = {Dim{1}, Dim{channels}}});
  const GraphEmitter::Mark mark = emit_.mark();
  const ValueId made = emit_.call("aten.native_group_norm.default", arguments, metas, true).items[0].value();
  if (taker_of(static_cast<NodeId>(emit_.mark().nodes - 1)) < taker_count(*whole_)) return forward(out, made);
  emit_.roll_back(mark);
  return false;
}

}  // namespace davit::detail
