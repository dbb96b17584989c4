// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/promote.hpp"
#include "davit/lowering/detail/infer_outputs.hpp"
#include "davit/ops/facts.hpp"
#include "davit/ops/operator_facts.hpp"

namespace davit::detail {

[[nodiscard]] TensorMeta meta(RuleEvaluator& r, const Item& tensor) {
  if (!r.is_tensor(tensor)) {
    (void)r.fail("an operator needs a tensor");
    return {};
  }
  const Value& v = r.emit.module().values[tensor.value()];
  const auto list = [&](Range range) {
    return std::vector<Dim>(r.emit.view().dims_of(range).begin(), r.emit.view().dims_of(range).end());
  };
  return {v.dtype, list(v.sizes), list(v.strides)};
}

[[nodiscard]] TensorMeta broadcast(RuleEvaluator& r, std::span<const NamedItem> arguments) {
  TensorMeta out;
  PromotedType type;
  for (const NamedItem& each : arguments) {
    if (each.name == "alpha" || each.name == "rounding_mode") continue;
    if (r.is_tensor(each.item)) {
      const std::span<const Dim> sizes = r.emit.sizes(each.item.value());
      ScalarType& of = sizes.empty() ? type.zero : type.dimensioned;
      of = promote(of, r.dtype(each.item));
      if (sizes.size() > out.sizes.size()) out.sizes.insert(out.sizes.begin(), sizes.size() - out.sizes.size(), Dim{1});
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        Dim& to = out.sizes[out.sizes.size() - sizes.size() + d];
        if ((to.is_static() && to.value == 1) || (!to.is_static() && sizes[d].is_static() && sizes[d].value != 1))
          to = sizes[d];
      }
    } else if (r.is_number(each.item)) {
      type.number = promote(type.number, r.dtype(each.item));
    }
  }
  out.dtype = type.get();
  return out;
}

bool infer_outputs(RuleEvaluator& r, std::string_view target, std::span<const NamedItem> a,
                   std::vector<TensorMeta>& result) {
  const ShapeRule rule = facts_of(target).shape;
  if (rule == ShapeRule::unknown) return false;
  const auto argument = [&](std::string_view n) -> const Item* {
    for (const NamedItem& each : a)
      if (each.name == n && !each.item.is_none()) return &each.item;
    return nullptr;
  };
  const auto at = [&](std::size_t i) -> const Item& {
    static const Item none;
    return i < a.size() ? a[i].item : none;
  };
  const auto as_float = [](ScalarType t) { return is_integral(t) ? ScalarType::float32 : t; };
  TensorMeta m;
  std::size_t first = 0;
  while (first < a.size() && !r.is_tensor(a[first].item)) ++first;
  const auto is_one_of = [&](std::initializer_list<ShapeRule> rules) {
    return std::ranges::find(rules, rule) != rules.end();
  };
  using enum ShapeRule;
  const bool needs_tensor =
      !is_one_of({factory, filled, scalar, arange, concatenated, stacked, promoted, quotient, where});
  if (needs_tensor) {
    if (first == a.size()) return false;
    m = meta(r, a[first].item);
  }
  const auto rank = static_cast<std::int64_t>(m.sizes.size());
  // a dimension's index; `rank` if it is out of range, as dim 0 of a tensor without dimensions is
  const auto index = [&](const Item& item) {
    const std::int64_t d = r.wrap(item, rank);
    return static_cast<std::size_t>(r.emit.fault == nullptr ? d : rank);
  };
  const auto mark = [&](std::vector<bool>& dimensions, const Item& item) {
    for (const Item& dim : item.is_list() ? std::span<const Item>(item.items) : std::span(&item, 1))
      if (const std::size_t d = index(dim); d < dimensions.size()) dimensions[d] = true;
  };
  const bool layout = is_one_of(
      {pairs_of_complex, permuted, transposed, matrix_transposed, unsqueezed, squeezed, selected, sliced, expanded});
  const bool strided = layout && m.strides.size() == m.sizes.size();
  if (!strided) m.strides.clear();
  switch (rule) {
    case promoted:
    case quotient:
    case comparison:
      m = broadcast(r, a);
      if (rule == quotient && !target.ends_with("_mode")) m.dtype = as_float(m.dtype);
      if (rule == comparison) m.dtype = ScalarType::bool_;
      break;
    case where: {
      m = broadcast(r, a.subspan(1));
      const ScalarType type = m.dtype;
      m = broadcast(r, a);
      m.dtype = type;
      break;
    }
    case same: break;
    case predicate: m.dtype = ScalarType::bool_; break;
    case absolute:
      if (is_complex(m.dtype)) m.dtype = m.dtype == ScalarType::complex128 ? ScalarType::float64 : ScalarType::float32;
      break;
    case cumulative:
      if (is_integral(m.dtype)) m.dtype = ScalarType::int64;
      break;
    case floating: m.dtype = as_float(m.dtype); break;
    case batch_norm:
    case layer_norm: {
      result.push_back(m);
      TensorMeta stats{.dtype = m.dtype};
      if (rule == layer_norm) {
        stats.sizes = m.sizes;
        if (at(1).items.size() > m.sizes.size()) return false;
        for (std::size_t d = 0; d < at(1).items.size(); ++d) stats.sizes[stats.sizes.size() - 1 - d] = {1};
      } else {
        stats.sizes = {Dim{0}};
      }
      result.push_back(stats);
      result.push_back(stats);
      return true;
    }
    case sorted:
    case topk: {
      if (rule == topk && !m.sizes.empty()) {
        const Item* dim = argument("dim");
        const std::size_t d = dim == nullptr ? m.sizes.size() - 1 : index(*dim);
        if (d < m.sizes.size()) m.sizes[d] = r.emit.dim(at(1));
      }
      result.push_back(m);
      m.dtype = ScalarType::int64;
      break;
    }
    case reduced:
    case summed:
    case reduced_to_bool:
    case reduced_to_index:
    case reduced_with_index: {
      const Item* keep = argument("keepdim");
      const Item* dim = argument("dim");
      const bool kept = keep != nullptr && r.truth(*keep);
      std::vector<bool> gone(m.sizes.size(), dim == nullptr || (dim->is_list() && dim->items.empty()));
      if (dim != nullptr && !m.sizes.empty()) mark(gone, *dim);
      std::vector<Dim> sizes;
      for (std::size_t d = 0; d < m.sizes.size(); ++d)
        if (!gone[d] || kept) sizes.push_back(gone[d] ? Dim{1} : m.sizes[d]);
      m.sizes = std::move(sizes);
      if (rule == reduced_to_index) m.dtype = ScalarType::int64;
      if (rule == reduced_to_bool) m.dtype = ScalarType::bool_;
      if (rule == summed && is_integral(m.dtype)) m.dtype = ScalarType::int64;
      if (rule == reduced_with_index && target.ends_with(".dim")) {
        result.push_back(m);
        m.dtype = ScalarType::int64;
      }
      break;
    }
    case viewed:
    case repeated:
    case expanded: {
      const std::vector<Dim> to = r.dims(at(1));
      const std::vector<Dim> from = m.sizes;
      const std::vector<Dim> from_strides = m.strides;
      if (rule == viewed) {
        m.sizes = to;
        for (std::size_t d = 0; d < to.size(); ++d) {
          if (!to[d].is_static() || to[d].value != -1) continue;
          Dim rest{1};
          for (std::size_t other = 0; other < to.size(); ++other)
            if (other != d) rest = r.emit.arithmetic(ExprOp::mul, rest, to[other]);
          m.sizes[d] = r.emit.arithmetic(ExprOp::floor_div, r.emit.product(from), rest.value == 0 ? Dim{1} : rest);
        }
        break;
      }
      if (to.size() < from.size()) return false;
      m.sizes = to;
      m.strides.clear();
      for (std::size_t d = 0; d < to.size(); ++d) {
        const bool old = d + from.size() >= to.size();
        const Dim size = old ? from[d + from.size() - to.size()] : Dim{1};
        if (rule == repeated) m.sizes[d] = r.emit.arithmetic(ExprOp::mul, size, to[d]);
        if (rule == expanded && to[d].is_static() && to[d].value == -1) m.sizes[d] = size;
        if (rule == expanded && strided)
          m.strides.push_back(!old || (size.is_static() && size.value == 1 && m.sizes[d].value != 1)
                                  ? Dim{0}
                                  : from_strides[d + from.size() - to.size()]);
      }
      break;
    }
    case factory:
    case filled:
      m.sizes = r.dims(at(0));
      m.dtype = rule == filled ? r.dtype(at(1)) : ScalarType::float32;
      if (rule == filled && at(1).is(ArgumentKind::float_)) m.dtype = as_float(m.dtype);
      break;
    case scalar: m.dtype = ScalarType::float32; break;
    case arange: {  // start, end, step
      const Item* step = argument("step");
      const std::vector<Dim> d = {r.emit.dim(at(0)), r.emit.dim(at(1)), step == nullptr ? Dim{1} : r.emit.dim(*step)};
      const Dim span = r.emit.arithmetic(ExprOp::add, d[1], r.emit.arithmetic(ExprOp::mul, {-1}, d[0]));
      const Dim ends = r.emit.arithmetic(
          ExprOp::mul, {-1}, r.emit.arithmetic(ExprOp::floor_div, r.emit.arithmetic(ExprOp::mul, {-1}, span), d[2]));
      m = {.dtype = ScalarType::int64, .sizes = {d[2].value == 1 && d[2].is_static() ? span : ends}};
      if (r.emit.fault != nullptr) return false;
      break;
    }
    case permuted:
    case transposed:
    case matrix_transposed: {
      std::vector<std::size_t> order(m.sizes.size());
      for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
      if (rule == permuted) {
        if (at(1).items.size() != order.size()) return false;
        for (std::size_t d = 0; d < order.size(); ++d) order[d] = index(at(1).items[d]);
      } else if (order.size() > 1) {
        const bool t = rule == matrix_transposed;
        const std::size_t one = t ? 0 : index(at(1)), other = t ? 1 : index(at(2));
        if (r.emit.fault != nullptr) return false;
        std::swap(order[one], order[other]);
      }
      const TensorMeta old = m;
      if (r.emit.fault != nullptr) return false;
      for (std::size_t d = 0; d < order.size(); ++d) {
        m.sizes[d] = old.sizes[order[d]];
        if (strided) m.strides[d] = old.strides[order[d]];
      }
      break;
    }
    case unsqueezed: {
      const auto d = static_cast<std::ptrdiff_t>(r.wrap(at(1), rank + 1));
      if (r.emit.fault != nullptr) return false;
      if (strided)
        m.strides.insert(m.strides.begin() + d,
                         d < rank ? r.emit.arithmetic(ExprOp::mul, m.strides[static_cast<std::size_t>(d)],
                                                      m.sizes[static_cast<std::size_t>(d)])
                                  : Dim{1});
      m.sizes.insert(m.sizes.begin() + d, Dim{1});
      break;
    }
    case squeezed:
    case selected: {
      std::vector<bool> gone(m.sizes.size(), false);
      if (m.sizes.empty()) break;
      mark(gone, at(1));
      for (std::size_t d = m.sizes.size(); d-- > 0;) {
        if (!gone[d] || (rule == squeezed && !(m.sizes[d].is_static() && m.sizes[d].value == 1))) continue;
        m.sizes.erase(m.sizes.begin() + static_cast<std::ptrdiff_t>(d));
        if (strided) m.strides.erase(m.strides.begin() + static_cast<std::ptrdiff_t>(d));
      }
      break;
    }
    case sliced: {
      const Item* dim = argument("dim");
      const std::size_t d = dim == nullptr ? 0 : index(*dim);
      if (d >= m.sizes.size() || r.emit.fault != nullptr) return false;
      const Dim size = m.sizes[d];
      const auto bound = [&](std::string_view n, Dim otherwise) {
        const Item* given = argument(n);
        if (given == nullptr) return otherwise;
        Dim b = r.emit.dim(*given);
        if (b.value < 0) b = r.emit.arithmetic(ExprOp::add, size, b);
        if (b.value < 0) return Dim{0};
        return b.value > size.value ? size : b;
      };
      const Dim begin = bound("start", {0}), end = bound("end", size);
      Dim span = r.emit.arithmetic(ExprOp::add, end, r.emit.arithmetic(ExprOp::mul, {-1}, begin));
      if (span.value < 0) span = {0};
      if (const Item* step = argument("step")) {
        const Dim by = r.emit.dim(*step);
        if (!by.is_static() || by.value != 1)
          span = r.emit.arithmetic(ExprOp::floor_div,
                                   r.emit.arithmetic(ExprOp::add, span, r.emit.arithmetic(ExprOp::add, by, {-1})), by);
        if (strided) m.strides[d] = r.emit.arithmetic(ExprOp::mul, m.strides[d], by);
      }
      m.sizes[d] = span;
      break;
    }
    case concatenated:
    case stacked: {
      if (at(0).items.empty()) return false;
      std::vector<NamedItem> parts;
      for (const Item& each : at(0).items) parts.push_back({"", each});
      const ScalarType type = broadcast(r, parts).dtype;
      m = meta(r, parts[0].item);
      for (const NamedItem& each : parts)  // cat accepts an empty tensor of rank 1 beside tensors of any rank
        if (static_cast<std::size_t>(r.rank(each.item)) > m.sizes.size()) m = meta(r, each.item);
      m.strides.clear();
      m.dtype = type;
      const Item* dim = argument("dim");
      const auto d = static_cast<std::size_t>(
          dim == nullptr ? 0 : r.wrap(*dim, static_cast<std::int64_t>(m.sizes.size()) + (rule == stacked ? 1 : 0)));
      if (r.emit.fault != nullptr) return false;
      if (rule == stacked) {
        m.sizes.insert(m.sizes.begin() + static_cast<std::ptrdiff_t>(d), Dim{static_cast<std::int64_t>(parts.size())});
        break;
      }
      if (d >= m.sizes.size()) return false;
      m.sizes[d] = {0};
      for (const NamedItem& each : parts)
        if (r.rank(each.item) == static_cast<std::int64_t>(m.sizes.size()))
          m.sizes[d] = r.emit.arithmetic(ExprOp::add, m.sizes[d], r.emit.sizes(each.item.value())[d]);
      break;
    }
    case padded: {
      const std::vector<Dim> pads = r.dims(at(1));
      for (std::size_t i = 0; i + 1 < pads.size() && i / 2 < m.sizes.size(); i += 2) {
        Dim& size = m.sizes[m.sizes.size() - 1 - i / 2];
        size = r.emit.arithmetic(ExprOp::add, size, r.emit.arithmetic(ExprOp::add, pads[i], pads[i + 1]));
      }
      break;
    }
    case gathered: m.sizes = meta(r, at(2)).sizes; break;
    case index_selected:
      if (const std::size_t d = index(at(1)); d < m.sizes.size()) m.sizes[d] = r.emit.product(meta(r, at(2)).sizes);
      break;
    case embedded: {
      if (m.sizes.empty()) return false;
      const Dim width = m.sizes.back();
      (m.sizes = meta(r, at(1)).sizes).push_back(width);
      break;
    }
    case indexed: {
      std::vector<NamedItem> indices;
      std::size_t before = 0, position = 0;
      bool apart = false, closed = false;
      std::vector<Dim> rest;
      for (std::size_t d = 0; d < m.sizes.size(); ++d) {
        const bool used = d < at(1).items.size() && !at(1).items[d].is_none();
        if (!used) {
          rest.push_back(m.sizes[d]);
          closed = !indices.empty();
          continue;
        }
        if (indices.empty()) before = position = rest.size();
        apart = apart || closed;
        indices.push_back({"", at(1).items[d]});
        if (r.dtype(at(1).items[d]) == ScalarType::bool_) return false;
      }
      const std::vector<Dim> joint = broadcast(r, indices).sizes;
      rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(apart ? 0 : before), joint.begin(), joint.end());
      m.sizes = std::move(rest);
      break;
    }
    case matrix_product:
    case batched_product:
    case product:
    case product_added: {
      TensorMeta left = meta(r, at(rule == product_added ? 1 : 0)), right = meta(r, at(rule == product_added ? 2 : 1));
      if (left.sizes.size() < 2 || right.sizes.size() < 2) return false;
      m = left;
      m.strides.clear();
      if (right.sizes.size() > left.sizes.size())
        m.sizes.insert(m.sizes.begin(), right.sizes.begin(),
                       right.sizes.end() - static_cast<std::ptrdiff_t>(left.sizes.size()));
      m.sizes.back() = right.sizes.back();
      break;
    }
    case complex_of_parts:
      m = broadcast(r, a);
      m.dtype = m.dtype == ScalarType::float64 ? ScalarType::complex128 : ScalarType::complex64;
      break;
    case pairs_of_complex:
      for (Dim& d : m.strides) d = r.emit.arithmetic(ExprOp::mul, d, {2});
      if (strided) m.strides.push_back({1});
      m.sizes.push_back({2});
      m.dtype = m.dtype == ScalarType::complex128 ? ScalarType::float64 : ScalarType::float32;
      break;
    case complex_of_pairs:
      if (m.sizes.empty()) return false;
      m.sizes.pop_back();
      m.strides.clear();
      m.dtype = m.dtype == ScalarType::float64 ? ScalarType::complex128 : ScalarType::complex64;
      break;
    case linear: {
      const std::vector<Dim> weight = meta(r, at(1)).sizes;
      if (m.sizes.empty() || weight.empty()) return false;
      m.sizes.pop_back();
      if (weight.size() > 1) m.sizes.push_back(weight.front());
      break;
    }
    case unknown: return false;
  }
  if (const Item* type = argument("dtype")) m.dtype = r.dtype(*type);
  result.push_back(std::move(m));
  return r.emit.fault == nullptr;
}

}  // namespace davit::detail
