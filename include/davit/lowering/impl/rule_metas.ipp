// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "davit/core/promote.hpp"
#include "davit/lowering/rule_evaluator.hpp"

namespace davit {

namespace detail {

/// How the outputs of an operator follow from its arguments.
struct MetaRow {
  std::string_view name;
  char kind;
};
/// By name without "aten." and, where all overloads agree, without the overload.
inline constexpr MetaRow meta_rows[] = {
    // p: dtype promoted and sizes broadcast; d: the same, a float; b: the same, a bool
    {"add", 'p'},
    {"sub", 'p'},
    {"mul", 'p'},
    {"maximum", 'p'},
    {"minimum", 'p'},
    {"fmod", 'p'},
    {"remainder", 'p'},
    {"pow", 'p'},
    {"bitwise_and", 'p'},
    {"bitwise_or", 'p'},
    {"bitwise_xor", 'p'},
    {"gcd", 'p'},
    {"div.Tensor_mode", 'p'},
    {"div.Scalar_mode", 'p'},
    {"clamp", 'p'},
    {"where", 'w'},
    {"div", 'd'},
    {"atan2", 'd'},
    {"copysign", 'd'},
    {"eq", 'b'},
    {"ne", 'b'},
    {"lt", 'b'},
    {"le", 'b'},
    {"gt", 'b'},
    {"ge", 'b'},
    {"logical_and", 'b'},
    {"logical_or", 'b'},
    {"logical_xor", 'b'},
    {"logical_not", 'b'},
    {"isnan", 'b'},
    {"isinf", 'b'},
    // s: like the first tensor; f: the same, a float
    {"abs", 's'},
    {"neg", 's'},
    {"relu", 's'},
    {"sign", 's'},
    {"floor", 's'},
    {"ceil", 's'},
    {"round", 's'},
    {"trunc", 's'},
    {"hardtanh", 's'},
    {"bitwise_not", 's'},
    {"leaky_relu", 's'},
    {"elu", 's'},
    {"gelu", 's'},
    {"clone", 's'},
    {"flip", 's'},
    {"roll", 's'},
    {"_softmax", 's'},
    {"_safe_softmax", 's'},
    {"_log_softmax", 's'},
    {"softmax", 's'},
    {"log_softmax", 's'},
    {"scatter", 's'},
    {"scatter_add", 's'},
    {"scatter_reduce", 's'},
    {"index_put", 's'},
    {"slice_scatter", 's'},
    {"select_scatter", 's'},
    {"masked_scatter", 's'},
    {"copy", 's'},
    {"alias", 's'},
    {"layer_norm", 's'},
    {"fill", 's'},
    {"_native_batch_norm_legit_no_training", 'n'},
    {"native_layer_norm", 'n'},
    {"cumprod", 's'},
    {"logcumsumexp", 's'},
    {"hardswish", 's'},
    {"_prelu_kernel", 's'},
    {"hardsigmoid", 's'},
    {"silu", 's'},
    {"triu", 's'},
    {"tril", 's'},
    {"empty_like", 'k'},
    {"zeros_like", 'k'},
    {"ones_like", 'k'},
    {"full_like", 'k'},
    {"_to_copy", 'k'},
    {"cumsum", 'i'},
    {"exp", 'f'},
    {"expm1", 'f'},
    {"log", 'f'},
    {"log1p", 'f'},
    {"log2", 'f'},
    {"log10", 'f'},
    {"sqrt", 'f'},
    {"rsqrt", 'f'},
    {"sin", 'f'},
    {"cos", 'f'},
    {"tan", 'f'},
    {"tanh", 'f'},
    {"sigmoid", 'f'},
    {"erf", 'f'},
    {"reciprocal", 'f'},
    {"sinh", 'f'},
    {"cosh", 'f'},
    {"asin", 'f'},
    {"acos", 'f'},
    {"atan", 'f'},
    {"asinh", 'f'},
    {"acosh", 'f'},
    {"atanh", 'f'},
    {"erfc", 'f'},
    {"erfinv", 'f'},
    {"lgamma", 'f'},
    {"digamma", 'f'},
    {"special_erfcx", 'f'},
    // r: reduced over dims
    {"sum", 'r'},
    {"mean", 'r'},
    {"amax", 'r'},
    {"amin", 'r'},
    {"prod", 'r'},
    {"any", 'r'},
    {"argmax", 'r'},
    {"argmin", 'r'},
    {"var", 'r'},
    {"max", 'r'},
    {"min", 'r'},
    {"sort", 'o'},
    {"topk", 'o'},
    // v: sizes are an argument
    {"view", 'v'},
    {"reshape", 'v'},
    {"_unsafe_view", 'v'},
    {"expand", 'e'},
    {"repeat", 'R'},
    {"full", 'F'},
    {"zeros", 'F'},
    {"ones", 'F'},
    {"empty", 'F'},
    {"rand", 'F'},
    {"randn", 'F'},
    {"scalar_tensor", '0'},
    {"arange", 'A'},
    // layout, joining, indices, products
    {"permute", 't'},
    {"transpose", 't'},
    {"t", 't'},
    {"unsqueeze", 'u'},
    {"squeeze", 'q'},
    {"select", 'l'},
    {"slice", 'c'},
    {"cat", 'j'},
    {"stack", 'J'},
    {"diagonal", 'D'},
    {"constant_pad_nd", 'P'},
    {"gather", 'g'},
    {"index_select", 'x'},
    {"embedding", 'E'},
    {"index", 'X'},
    {"mm", 'm'},
    {"bmm", 'm'},
    {"matmul", 'm'},
    {"addmm", 'M'},
    {"linear", 'L'},
    // complex numbers: of two parts, as pairs, of pairs
    {"complex", 'z'},
    {"polar", 'z'},
    {"view_as_real", 'V'},
    {"view_as_complex", 'W'}};

[[nodiscard]] inline char meta_kind(std::string_view name) noexcept {
  const std::string_view base = name.substr(0, name.find('.'));
  char found = 0;
  for (const MetaRow& row : meta_rows) {
    if (row.name == name) return row.kind;
    if (row.name == base) found = row.kind;
  }
  return found;
}

}  // namespace detail

TensorMeta RuleEvaluator::meta(const Item& tensor) {
  if (!is_tensor(tensor)) {
    (void)fail("an operator needs a tensor");
    return {};
  }
  const Value& v = emit.module().values[tensor.value()];
  const auto list = [&](Range r) {
    return std::vector<Dim>(emit.view().dims_of(r).begin(), emit.view().dims_of(r).end());
  };
  return {v.dtype, list(v.sizes), list(v.strides)};
}

TensorMeta RuleEvaluator::broadcast(std::span<const NamedItem> arguments) {
  TensorMeta out;
  PromotedType type;
  for (const NamedItem& each : arguments) {
    if (each.name == "alpha" || each.name == "rounding_mode") continue;
    if (is_tensor(each.item)) {
      const std::span<const Dim> sizes = emit.sizes(each.item.value());
      ScalarType& of = sizes.empty() ? type.zero : type.dimensioned;
      of = promote(of, dtype(each.item));
      if (sizes.size() > out.sizes.size()) out.sizes.insert(out.sizes.begin(), sizes.size() - out.sizes.size(), Dim{1});
      for (std::size_t d = 0; d < sizes.size(); ++d) {
        Dim& to = out.sizes[out.sizes.size() - sizes.size() + d];
        if ((to.is_static() && to.value == 1) || (!to.is_static() && sizes[d].is_static() && sizes[d].value != 1))
          to = sizes[d];
      }
    } else if (is_number(each.item)) {
      type.number = promote(type.number, dtype(each.item));
    }
  }
  out.dtype = type.get();
  return out;
}

bool RuleEvaluator::infer(std::string_view name, std::span<const NamedItem> a, std::vector<TensorMeta>& result) {
  const char kind = detail::meta_kind(name);
  if (kind == 0) return false;
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
  while (first < a.size() && !is_tensor(a[first].item)) ++first;
  const bool needs_tensor = kind != 'F' && kind != '0' && kind != 'A' && kind != 'j' && kind != 'J' && kind != 'p' &&
                            kind != 'd' && kind != 'w';
  if (needs_tensor) {
    if (first == a.size()) return false;
    m = meta(a[first].item);
  }
  const auto rank = static_cast<std::int64_t>(m.sizes.size());
  // a dimension; `rank` where it is none, which a tensor without dimensions has at 0
  const auto index = [&](const Item& item) {
    const std::int64_t d = wrap(item, rank);
    return static_cast<std::size_t>(emit.fault == nullptr ? d : rank);
  };
  const auto mark = [&](std::vector<bool>& dimensions, const Item& item) {
    for (const Item& dim : item.is_list() ? std::span<const Item>(item.items) : std::span(&item, 1))
      if (const std::size_t d = index(dim); d < dimensions.size()) dimensions[d] = true;
  };
  const bool layout = kind == 'V' || kind == 't' || kind == 'u' || kind == 'q' || kind == 'l' || kind == 'c' ||
                      kind == 'e' || kind == 'D';
  const bool strided = layout && m.strides.size() == m.sizes.size();
  if (!strided) m.strides.clear();
  switch (kind) {
    case 'p':
    case 'd':
    case 'b':
      m = broadcast(a);
      if (kind == 'd') m.dtype = as_float(m.dtype);
      if (kind == 'b') m.dtype = ScalarType::bool_;
      break;
    case 'w': {
      m = broadcast(a.subspan(1));
      const ScalarType type = m.dtype;
      m = broadcast(a);
      m.dtype = type;
      break;
    }
    case 's':
      if (is_complex(m.dtype) && name.starts_with("abs"))
        m.dtype = m.dtype == ScalarType::complex128 ? ScalarType::float64 : ScalarType::float32;
      break;
    case 'i':
      if (is_integral(m.dtype)) m.dtype = ScalarType::int64;
      break;
    case 'f': m.dtype = as_float(m.dtype); break;
    case 'k': break;
    case 'n': {
      result.push_back(m);
      TensorMeta stats{.dtype = m.dtype};
      if (name.starts_with("native_layer_norm")) {
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
    case 'o': {
      if (name.starts_with("topk") && !m.sizes.empty()) {
        const Item* dim = argument("dim");
        const std::size_t d = dim == nullptr ? m.sizes.size() - 1 : index(*dim);
        if (d < m.sizes.size()) m.sizes[d] = emit.dim(at(1));
      }
      result.push_back(m);
      m.dtype = ScalarType::int64;
      break;
    }
    case 'r': {
      const Item* keep = argument("keepdim");
      const Item* dim = argument("dim");
      const bool kept = keep != nullptr && truth(*keep);
      std::vector<bool> gone(m.sizes.size(), dim == nullptr || (dim->is_list() && dim->items.empty()));
      if (dim != nullptr && !m.sizes.empty()) mark(gone, *dim);
      std::vector<Dim> sizes;
      for (std::size_t d = 0; d < m.sizes.size(); ++d)
        if (!gone[d] || kept) sizes.push_back(gone[d] ? Dim{1} : m.sizes[d]);
      m.sizes = std::move(sizes);
      const bool values = name == "max.dim" || name == "min.dim";
      if (name.starts_with("arg")) m.dtype = ScalarType::int64;
      if (name.starts_with("any")) m.dtype = ScalarType::bool_;
      if ((name.starts_with("sum") || name.starts_with("prod")) && is_integral(m.dtype)) m.dtype = ScalarType::int64;
      if (values) {
        result.push_back(m);
        m.dtype = ScalarType::int64;
      }
      break;
    }
    case 'v':
    case 'R':
    case 'e': {
      const std::vector<Dim> to = dims(at(1));
      const std::vector<Dim> from = m.sizes;
      const std::vector<Dim> from_strides = m.strides;
      if (kind == 'v') {
        m.sizes = to;
        for (std::size_t d = 0; d < to.size(); ++d) {
          if (!to[d].is_static() || to[d].value != -1) continue;
          Dim rest{1};
          for (std::size_t other = 0; other < to.size(); ++other)
            if (other != d) rest = emit.arithmetic(ExprOp::mul, rest, to[other]);
          m.sizes[d] = emit.arithmetic(ExprOp::floor_div, emit.product(from), rest.value == 0 ? Dim{1} : rest);
        }
        break;
      }
      if (to.size() < from.size()) return false;
      m.sizes = to;
      m.strides.clear();
      for (std::size_t d = 0; d < to.size(); ++d) {
        const bool old = d + from.size() >= to.size();
        const Dim size = old ? from[d + from.size() - to.size()] : Dim{1};
        if (kind == 'R') m.sizes[d] = emit.arithmetic(ExprOp::mul, size, to[d]);
        if (kind == 'e' && to[d].is_static() && to[d].value == -1) m.sizes[d] = size;
        if (kind == 'e' && strided)
          m.strides.push_back(!old || (size.is_static() && size.value == 1 && m.sizes[d].value != 1)
                                  ? Dim{0}
                                  : from_strides[d + from.size() - to.size()]);
      }
      break;
    }
    case 'F':
      m.sizes = dims(at(0));
      m.dtype = name.starts_with("full") ? as_float(dtype(at(1))) : ScalarType::float32;
      if (name.starts_with("full") && !at(1).is(ArgumentKind::float_)) m.dtype = dtype(at(1));
      break;
    case '0': m.dtype = ScalarType::float32; break;
    case 'A': {  // start, end, step
      const Item* step = argument("step");
      const std::vector<Dim> d = {emit.dim(at(0)), emit.dim(at(1)), step == nullptr ? Dim{1} : emit.dim(*step)};
      const Dim span = emit.arithmetic(ExprOp::add, d[1], emit.arithmetic(ExprOp::mul, {-1}, d[0]));
      const Dim ends = emit.arithmetic(
          ExprOp::mul, {-1}, emit.arithmetic(ExprOp::floor_div, emit.arithmetic(ExprOp::mul, {-1}, span), d[2]));
      m = {.dtype = ScalarType::int64, .sizes = {d[2].value == 1 && d[2].is_static() ? span : ends}};
      if (emit.fault != nullptr) return false;
      break;
    }
    case 't': {
      std::vector<std::size_t> order(m.sizes.size());
      for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
      if (name.starts_with("permute")) {
        if (at(1).items.size() != order.size()) return false;
        for (std::size_t d = 0; d < order.size(); ++d) order[d] = index(at(1).items[d]);
      } else if (order.size() > 1) {
        const bool t = name.starts_with("t.");
        const std::size_t one = t ? 0 : index(at(1)), other = t ? 1 : index(at(2));
        if (emit.fault != nullptr) return false;
        std::swap(order[one], order[other]);
      }
      const TensorMeta old = m;
      if (emit.fault != nullptr) return false;
      for (std::size_t d = 0; d < order.size(); ++d) {
        m.sizes[d] = old.sizes[order[d]];
        if (strided) m.strides[d] = old.strides[order[d]];
      }
      break;
    }
    case 'u': {
      const auto d = static_cast<std::ptrdiff_t>(wrap(at(1), rank + 1));
      if (emit.fault != nullptr) return false;
      if (strided)
        m.strides.insert(m.strides.begin() + d,
                         d < rank ? emit.arithmetic(ExprOp::mul, m.strides[static_cast<std::size_t>(d)],
                                                    m.sizes[static_cast<std::size_t>(d)])
                                  : Dim{1});
      m.sizes.insert(m.sizes.begin() + d, Dim{1});
      break;
    }
    case 'q':
    case 'l': {
      std::vector<bool> gone(m.sizes.size(), false);
      if (m.sizes.empty()) break;
      mark(gone, at(1));
      for (std::size_t d = m.sizes.size(); d-- > 0;) {
        if (!gone[d] || (kind == 'q' && !(m.sizes[d].is_static() && m.sizes[d].value == 1))) continue;
        m.sizes.erase(m.sizes.begin() + static_cast<std::ptrdiff_t>(d));
        if (strided) m.strides.erase(m.strides.begin() + static_cast<std::ptrdiff_t>(d));
      }
      break;
    }
    case 'c': {
      const Item* dim = argument("dim");
      const std::size_t d = dim == nullptr ? 0 : index(*dim);
      if (d >= m.sizes.size() || emit.fault != nullptr) return false;
      const Dim size = m.sizes[d];
      const auto bound = [&](std::string_view n, Dim otherwise) {
        const Item* given = argument(n);
        if (given == nullptr) return otherwise;
        Dim b = emit.dim(*given);
        if (b.value < 0) b = emit.arithmetic(ExprOp::add, size, b);
        if (b.value < 0) return Dim{0};
        return b.value > size.value ? size : b;
      };
      const Dim begin = bound("start", {0}), end = bound("end", size);
      Dim span = emit.arithmetic(ExprOp::add, end, emit.arithmetic(ExprOp::mul, {-1}, begin));
      if (span.value < 0) span = {0};
      if (const Item* step = argument("step")) {
        const Dim by = emit.dim(*step);
        if (!by.is_static() || by.value != 1)
          span = emit.arithmetic(ExprOp::floor_div,
                                 emit.arithmetic(ExprOp::add, span, emit.arithmetic(ExprOp::add, by, {-1})), by);
        if (strided) m.strides[d] = emit.arithmetic(ExprOp::mul, m.strides[d], by);
      }
      m.sizes[d] = span;
      break;
    }
    case 'j':
    case 'J': {
      if (at(0).items.empty()) return false;
      std::vector<NamedItem> parts;
      for (const Item& each : at(0).items) parts.push_back({"", each});
      const ScalarType type = broadcast(parts).dtype;
      m = meta(parts[0].item);
      for (const NamedItem& each : parts)  // an empty tensor of rank 1 joins anything
        if (static_cast<std::size_t>(this->rank(each.item)) > m.sizes.size()) m = meta(each.item);
      m.strides.clear();
      m.dtype = type;
      const Item* dim = argument("dim");
      const auto d = static_cast<std::size_t>(
          dim == nullptr ? 0 : wrap(*dim, static_cast<std::int64_t>(m.sizes.size()) + (kind == 'J' ? 1 : 0)));
      if (emit.fault != nullptr) return false;
      if (kind == 'J') {
        m.sizes.insert(m.sizes.begin() + static_cast<std::ptrdiff_t>(d), Dim{static_cast<std::int64_t>(parts.size())});
        break;
      }
      if (d >= m.sizes.size()) return false;
      m.sizes[d] = {0};
      for (const NamedItem& each : parts)
        if (this->rank(each.item) == static_cast<std::int64_t>(m.sizes.size()))
          m.sizes[d] = emit.arithmetic(ExprOp::add, m.sizes[d], emit.sizes(each.item.value())[d]);
      break;
    }
    case 'P': {
      const std::vector<Dim> pads = dims(at(1));
      for (std::size_t i = 0; i + 1 < pads.size() && i / 2 < m.sizes.size(); i += 2) {
        Dim& size = m.sizes[m.sizes.size() - 1 - i / 2];
        size = emit.arithmetic(ExprOp::add, size, emit.arithmetic(ExprOp::add, pads[i], pads[i + 1]));
      }
      break;
    }
    case 'D': return false;
    case 'g': m.sizes = meta(at(2)).sizes; break;
    case 'x':
      if (const std::size_t d = index(at(1)); d < m.sizes.size()) m.sizes[d] = emit.product(meta(at(2)).sizes);
      break;
    case 'E': {
      if (m.sizes.empty()) return false;
      const Dim width = m.sizes.back();
      (m.sizes = meta(at(1)).sizes).push_back(width);
      break;
    }
    case 'X': {
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
        if (dtype(at(1).items[d]) == ScalarType::bool_) return false;
      }
      const std::vector<Dim> joint = broadcast(indices).sizes;
      rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(apart ? 0 : before), joint.begin(), joint.end());
      m.sizes = std::move(rest);
      break;
    }
    case 'm':
    case 'M': {
      TensorMeta left = meta(at(kind == 'M' ? 1 : 0)), right = meta(at(kind == 'M' ? 2 : 1));
      if (left.sizes.size() < 2 || right.sizes.size() < 2) return false;
      m = left;
      m.strides.clear();
      if (right.sizes.size() > left.sizes.size())
        m.sizes.insert(m.sizes.begin(), right.sizes.begin(),
                       right.sizes.end() - static_cast<std::ptrdiff_t>(left.sizes.size()));
      m.sizes.back() = right.sizes.back();
      break;
    }
    case 'z':
      m = broadcast(a);
      m.dtype = m.dtype == ScalarType::float64 ? ScalarType::complex128 : ScalarType::complex64;
      break;
    case 'V':
      for (Dim& d : m.strides) d = emit.arithmetic(ExprOp::mul, d, {2});
      if (strided) m.strides.push_back({1});
      m.sizes.push_back({2});
      m.dtype = m.dtype == ScalarType::complex128 ? ScalarType::float64 : ScalarType::float32;
      break;
    case 'W':
      if (m.sizes.empty()) return false;
      m.sizes.pop_back();
      m.strides.clear();
      m.dtype = m.dtype == ScalarType::float64 ? ScalarType::complex128 : ScalarType::complex64;
      break;
    case 'L': {
      const std::vector<Dim> weight = meta(at(1)).sizes;
      if (m.sizes.empty() || weight.empty()) return false;
      m.sizes.pop_back();
      if (weight.size() > 1) m.sizes.push_back(weight.front());
      break;
    }
    default: return false;
  }
  if (const Item* type = argument("dtype")) m.dtype = dtype(*type);
  result.push_back(std::move(m));
  return emit.fault == nullptr;
}

}  // namespace davit
