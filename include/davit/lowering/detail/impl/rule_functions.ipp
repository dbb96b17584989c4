// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "davit/core/promote.hpp"
#include "davit/lowering/detail/rule_functions.hpp"

namespace davit::detail {

using Items = std::vector<Item>;

[[nodiscard]] Item type_item(ScalarType type) { return Item::of(GraphBuilder::scalar_type(type)); }

/// Casts the tensor to that dtype; returns it unchanged if it has the dtype.
[[nodiscard]] Item cast_to(RuleEvaluator& r, const Item& x, ScalarType type) {
  return !r.is_tensor(x) || r.dtype(x) == type ? x
                                               : r.call("aten._to_copy.default", {{"", x}, {"dtype", type_item(type)}});
}
/// The dtype in which torch computes with these operands.
[[nodiscard]] ScalarType promoted(RuleEvaluator& r, const Items& a) {
  PromotedType type;
  for (const Item& x : a) {
    ScalarType& of = !r.is_tensor(x) ? type.number : r.rank(x) == 0 ? type.zero : type.dimensioned;
    of = promote(of, r.dtype(x));
  }
  return type.get();
}
[[nodiscard]] Item where(RuleEvaluator& r, const Items& a) {
  if (a.size() != 3) return r.fail("where needs a condition and two values");
  const ScalarType type = promoted(r, {a[1], a[2]});
  const auto operand = [&](const Item& x) {
    if (r.is_tensor(x)) return cast_to(r, x, type);
    return r.call("aten.full.default", {{"", Item::list({})}, {"", x}, {"dtype", type_item(type)}});
  };
  const Item yes = operand(a[1]), no = operand(a[2]);
  return r.call("aten.where.self", {{"", a[0]}, {"", yes}, {"", no}});
}

/// torch.einsum, pair by pair from the left. A label that neither a later operand nor the output has is summed as early
/// as possible.
class Einsum {
 public:
  explicit Einsum(RuleEvaluator& r) : r_(r) {}
  [[nodiscard]] Item run(std::string_view equation, const Items& operands) {
    std::vector<std::string> labels(1);
    std::string result;
    bool arrow = false;
    for (std::size_t i = 0; i < equation.size(); ++i) {
      const char c = equation[i];
      if (c == ' ') continue;
      if (equation.substr(i).starts_with("->")) {
        arrow = true;
        ++i;
      } else if (c == ',' && !arrow) {
        labels.emplace_back();
      } else if (equation.substr(i).starts_with("...")) {
        (arrow ? result : labels.back()) += '.';
        i += 2;
      } else {
        (arrow ? result : labels.back()) += c;
      }
    }
    if (labels.size() != operands.size()) return r_.fail("einsum has another number of operands than its equation");
    std::size_t most = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto rank = static_cast<std::size_t>(r_.rank(operands[i]));
      const std::size_t at = labels[i].find('.');
      if (at == std::string::npos ? labels[i].size() != rank : labels[i].size() > rank + 1)
        return r_.fail("an operand of einsum has another rank");
      if (at == std::string::npos) continue;
      const std::size_t dots = rank + 1 - labels[i].size();
      most = std::max(most, dots);
      labels[i].replace(at, 1, ellipsis(dots));
    }
    if (arrow) {
      if (const std::size_t at = result.find('.'); at != std::string::npos) result.replace(at, 1, ellipsis(most));
    } else {
      std::string all;
      for (const std::string& each : labels) all += each;
      result = ellipsis(most);
      std::string once;
      for (const char c : all)
        if (c > ' ' && std::ranges::count(all, c) == 1) once += c;
      std::ranges::sort(once);
      result += once;
    }
    Item left;
    std::string have;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      Item x = diagonals(operands[i], labels[i]);
      std::string later = result;
      for (std::size_t k = i + 1; k < operands.size(); ++k) later += labels[k];
      drop(x, labels[i], later + have);
      if (i == 0) {
        left = std::move(x);
        have = labels[i];
      } else {
        left = pair(std::move(left), have, std::move(x), labels[i], later);
      }
    }
    std::string wanted = result;
    for (std::size_t i = wanted.size(); i-- > 0;)
      if (!have.contains(wanted[i])) return r_.fail("einsum's output has a label that no operand has");
    return permuted(left, have, wanted);
  }

 private:
  /// The labels of an ellipsis of n dimensions: control characters, numbered from the right.
  [[nodiscard]] static std::string ellipsis(std::size_t n) {
    std::string out;
    for (std::size_t i = std::min<std::size_t>(n, 30); i-- > 0;) out += static_cast<char>(1 + i);
    return out;
  }
  [[nodiscard]] Item ints(const std::vector<std::int64_t>& list) {
    Items out;
    for (const std::int64_t i : list) out.push_back(Item::integer(i));
    return Item::list(std::move(out));
  }
  [[nodiscard]] Item diagonals(Item x, std::string& labels) {
    for (std::size_t i = 0; i < labels.size(); ++i)
      for (std::size_t k = labels.find(labels[i], i + 1); k != std::string::npos; k = labels.find(labels[i], i + 1)) {
        const auto d = [](std::size_t at) { return Item::integer(static_cast<std::int64_t>(at)); };
        Items sizes;
        for (std::size_t s = 0; s < labels.size(); ++s)
          if (s != i && s != k) sizes.push_back(r_.emit.item(r_.emit.sizes(x.value())[s]));
        sizes.push_back(r_.emit.item(r_.emit.sizes(x.value())[i]));
        x = r_.call("aten.diagonal.default", {{"", x},
                                              {"", Item::integer(0)},
                                              {"", d(i)},
                                              {"", d(k)},
                                              {"sizes", Item::list(sizes)},
                                              {"as", type_item(r_.dtype(x))}});
        if (r_.emit.fault != nullptr) return x;
        labels += labels[i];
        labels.erase(k, 1);
        labels.erase(i, 1);
        k = labels.find(labels[i], i + 1);
      }
    return x;
  }
  /// Sums the dimensions whose labels are not needed any more.
  void drop(Item& x, std::string& labels, const std::string& needed) {
    std::vector<std::int64_t> gone;
    std::string rest;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (needed.contains(labels[i]))
        rest += labels[i];
      else
        gone.push_back(static_cast<std::int64_t>(i));
    }
    if (gone.empty()) return;
    x = r_.call("aten.sum.dim_IntList",
                {{"", x}, {"", ints(gone)}, {"keepdim", Item::boolean(false)}, {"dtype", type_item(r_.dtype(x))}});
    labels = rest;
  }
  [[nodiscard]] Item permuted(const Item& x, const std::string& from, const std::string& to) {
    if (from == to) return x;
    std::vector<std::int64_t> order;
    for (const char c : to) order.push_back(static_cast<std::int64_t>(from.find(c)));
    return r_.call("aten.permute.default", {{"", x}, {"", ints(order)}});
  }
  [[nodiscard]] bool is_one(const Item& x, const std::string& labels, char c) {
    const std::size_t at = labels.find(c);
    if (at == std::string::npos || r_.emit.fault != nullptr) return false;
    const Dim d = r_.emit.sizes(x.value())[at];
    return d.is_static() && d.value == 1;
  }
  [[nodiscard]] Item pair(Item a, std::string& have, Item b, std::string other, const std::string& later) {
    // an operand with a broadcast dimension of size 1 drops it; the other operand has it
    for (const char c : std::string(have)) {
      if (!other.contains(c) || is_one(a, have, c) == is_one(b, other, c)) continue;
      std::string rest = is_one(a, have, c) ? have : other;
      std::erase(rest, c);
      if (is_one(a, have, c))
        drop(a, have, rest);
      else
        drop(b, other, rest);
    }
    std::string batch, contracted, of_a, of_b;
    for (const char c : have) (!other.contains(c) ? of_a : later.contains(c) ? batch : contracted) += c;
    for (const char c : other)
      if (!have.contains(c)) of_b += c;
    std::string joint = batch + of_a + of_b;
    if (contracted.empty()) {
      if (std::string in_order;
          std::ranges::all_of(joint, [&](char c) { return later.contains(c); })) {  // in the order of the result
        for (const char c : later)
          if (joint.contains(c) && !in_order.contains(c)) in_order += c;
        joint = in_order;
      }
      const auto aligned = [&](const Item& x, const std::string& labels) {
        std::string order;
        for (const char c : joint)
          if (labels.contains(c)) order += c;
        Item out = permuted(x, labels, order);
        for (std::size_t i = 0; i < joint.size(); ++i)
          if (!labels.contains(joint[i]))
            out = r_.call("aten.unsqueeze.default", {{"", out}, {"", Item::integer(static_cast<std::int64_t>(i))}});
        return out;
      };
      const Item x = aligned(a, have), y = aligned(b, other);
      have = joint;
      return r_.binary("*", x, y);
    }
    const auto size_of_label = [&](char c) {
      const std::size_t at = have.find(c);
      return at != std::string::npos ? r_.size(a, static_cast<std::int64_t>(at))
                                     : r_.size(b, static_cast<std::int64_t>(other.find(c)));
    };
    const auto all = [&](const std::string& labels) {
      Item out = Item::integer(1);
      for (const char c : labels) out = r_.binary("*", out, size_of_label(c));
      return out;
    };
    const Item batches = all(batch), middle = all(contracted), rows = all(of_a), columns = all(of_b);
    Items sizes;
    for (const char c : joint) sizes.push_back(size_of_label(c));
    const Item x = r_.call("aten.reshape.default", {{"", permuted(a, have, batch + of_a + contracted)},
                                                    {"", Item::list({batches, rows, middle})}});
    const Item y = r_.call("aten.reshape.default", {{"", permuted(b, other, batch + contracted + of_b)},
                                                    {"", Item::list({batches, middle, columns})}});
    have = joint;
    return r_.call("aten.view.default",
                   {{"", r_.call("aten.bmm.default", {{"", x}, {"", y}})}, {"", Item::list(sizes)}});
  }

  RuleEvaluator& r_;
};

/// True if a tensor's recorded strides are dense with the dimensions in that order, outermost first.
[[nodiscard]] bool lies_in_order(RuleEvaluator& r, const Item& x, std::span<const std::size_t> order) {
  const Value& v = r.emit.module().values[x.value()];
  if (v.strides.count != v.sizes.count) return false;
  const std::span<const Dim> sizes = r.emit.view().dims_of(v.sizes), strides = r.emit.view().dims_of(v.strides);
  std::int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t d = order[i];
    if (sizes[d].value != 1 && strides[d].value != step) return false;
    if (__builtin_mul_overflow(step, sizes[d].value, &step)) return false;
  }
  return true;
}

inline constexpr RuleFunctionRow rule_functions[] = {
    {"rank", 1, [](RuleEvaluator& r, const Items& a) { return Item::integer(r.rank(a[0])); }},
    {"size", 2, [](RuleEvaluator& r, const Items& a) { return r.size(a[0], r.integer(a[1])); }},
    {"sizes", 1,
     [](RuleEvaluator& r, const Items& a) {
       Items out;
       for (std::int64_t d = 0; d < r.rank(a[0]); ++d) out.push_back(r.size(a[0], d));
       return Item::list(std::move(out));
     }},
    {"dims", 1,
     [](RuleEvaluator& r, const Items& a) {  // the argument of `sizes=`: expressions without nodes
       Items out;
       if (r.is_tensor(a[0]))
         for (const Dim& d : std::vector<Dim>(r.emit.sizes(a[0].value()).begin(), r.emit.sizes(a[0].value()).end()))
           out.push_back(r.emit.item(d));
       return Item::list(std::move(out));
     }},
    {"dtype", 1, [](RuleEvaluator& r, const Items& a) { return type_item(r.dtype(a[0])); }},
    {"promote", 2, [](RuleEvaluator& r, const Items& a) { return type_item(promoted(r, a)); }},
    {"rounded", 2,
     [](RuleEvaluator& r,
        const Items& a) {  // a number as torch's Scalar.to<scalar_t> converts it: rounded to a 16-bit dtype
       if (!r.is_static(a[0]) || size_of(r.dtype(a[1])) != 2 || !is_floating(r.dtype(a[1]))) return a[0];
       return Item::of(GraphBuilder::real(rounded_to(r.dtype(a[1]), r.number(a[0]))));
     }},
    {"epsilon", 1,
     [](RuleEvaluator& r, const Items& a) { return Item::of(GraphBuilder::real(epsilon_of(r.dtype(a[0])))); }},
    {"isfloat", 1, [](RuleEvaluator& r, const Items& a) { return Item::boolean(is_floating(r.dtype(a[0]))); }},
    {"isint", 1, [](RuleEvaluator& r, const Items& a) { return Item::boolean(is_integral(r.dtype(a[0]))); }},
    {"iscomplex", 1, [](RuleEvaluator& r, const Items& a) { return Item::boolean(is_complex(r.dtype(a[0]))); }},
    {"istensor", 1, [](RuleEvaluator& r, const Items& a) { return Item::boolean(r.is_tensor(a[0])); }},
    {"islist", 1, [](RuleEvaluator&, const Items& a) { return Item::boolean(a[0].is_list()); }},
    {"isfixed", 1, [](RuleEvaluator& r, const Items& a) { return Item::boolean(r.is_static(a[0])); }},
    {"atleast", 2,
     [](RuleEvaluator& r, const Items& a) {  // true for all values of the symbols
       return Item::boolean(r.less(a[1], a[0], true).value_or(false));
     }},
    {"len", 1,
     [](RuleEvaluator&, const Items& a) { return Item::integer(static_cast<std::int64_t>(a[0].items.size())); }},
    {"int", 1,
     [](RuleEvaluator& r, const Items& a) {
       if (!a[0].is(ArgumentKind::float_)) return a[0];
       const double x = r.number(a[0]);
       if (!(x > -0x1p62 && x < 0x1p62)) return r.fail("a number cannot be a size");
       return Item::integer(static_cast<std::int64_t>(x));
     }},
    {"truncated", 2,
     [](RuleEvaluator& r, const Items& a) {  // a symbolic number as the size of a declared dimension
       const NamedItem inputs[] = {{"a", a[0]}};
       return r.emit.symbolic("torch.sym_int", inputs, ValueKind::sym_int, r.emit.dim(a[1]));
     }},
    {"float", 1,
     [](RuleEvaluator& r, const Items& a) {
       return a[0].is_value() ? a[0] : Item::of(GraphBuilder::real(r.number(a[0])));
     }},
    {"sqrt_of", 1,
     [](RuleEvaluator& r, const Items& a) {
       const NamedItem inputs[] = {{"a", a[0]}};
       return r.is_static(a[0]) ? Item::of(GraphBuilder::real(std::sqrt(r.number(a[0]))))
                                : r.emit.symbolic("torch.sym_sqrt", inputs, ValueKind::sym_float, {});
     }},
    {"log_of", 1,
     [](RuleEvaluator& r, const Items& a) {
       return r.is_static(a[0]) ? Item::of(GraphBuilder::real(std::log(r.number(a[0]))))
                                : r.fail("a decomposition takes the logarithm of a symbolic size");
     }},
    {"range", 2,
     [](RuleEvaluator& r, const Items& a) {
       Items out;
       const std::int64_t first = r.integer(a[0]), last = r.integer(a[1]);
       if (!r.is_static(a[0]) || !r.is_static(a[1]))
         return r.fail("a decomposition needs a fixed size of a symbolic dimension");
       std::int64_t count = 0;
       if (__builtin_sub_overflow(last, first, &count) || count > 65536)
         return r.fail("a decomposition into more than 65536 steps");
       for (std::int64_t i = first; i < last; ++i) out.push_back(Item::integer(i));
       return Item::list(std::move(out));
     }},
    {"wrap", 2,
     [](RuleEvaluator& r, const Items& a) {
       if (!a[0].is_list()) return Item::integer(r.wrap(a[0], r.integer(a[1])));
       Items out;
       for (const Item& d : a[0].items) out.push_back(Item::integer(r.wrap(d, r.integer(a[1]))));
       return Item::list(std::move(out));
     }},
    {"product", 1,
     [](RuleEvaluator& r, const Items& a) {
       Item out = Item::integer(1);
       for (const Item& d : a[0].items) out = r.binary("*", out, d);
       return out;
     }},
    {"min", 2, [](RuleEvaluator& r, const Items& a) { return r.extreme(a[0], a[1], false); }},
    {"max", 2, [](RuleEvaluator& r, const Items& a) { return r.extreme(a[0], a[1], true); }},
    {"has", 2,
     [](RuleEvaluator& r, const Items& a) {
       return Item::boolean(std::ranges::any_of(a[0].items, [&](const Item& x) { return r.equal(x, a[1]); }));
     }},
    {"reversed", 1,
     [](RuleEvaluator&, const Items& a) { return Item::list({a[0].items.rbegin(), a[0].items.rend()}); }},
    {"sorted", 1,
     [](RuleEvaluator& r, const Items& a) {
       Items out = a[0].items;
       std::ranges::sort(out, {}, [&](const Item& x) { return r.integer(x); });
       return Item::list(std::move(out));
     }},
    {"flat", 1,
     [](RuleEvaluator&, const Items& a) {
       Items out;
       for (const Item& each : a[0].items) {
         if (each.is_list())
           out.insert(out.end(), each.items.begin(), each.items.end());
         else
           out.push_back(each);
       }
       return Item::list(std::move(out));
     }},
    {"times", 2,
     [](RuleEvaluator& r, const Items& a) {  // a list of n items: the list itself, or its only item n times
       Item one = a[0].is_list() && a[0].items.size() == 1 ? a[0].items[0] : a[0];
       if (one.is_list()) return one;
       return Item::list(Items(static_cast<std::size_t>(std::clamp<std::int64_t>(r.integer(a[1]), 0, 64)), one));
     }},
    {"compact", 1,
     [](RuleEvaluator&, const Items& a) {  // the items that are not None
       Items out = a[0].items;
       std::erase_if(out, [](const Item& x) { return x.is_none(); });
       return Item::list(std::move(out));
     }},
    {"joint", 2,
     [](RuleEvaluator& r, const Items& a) {  // the broadcast sizes of tensors without the last n
       std::int64_t most = 0;
       for (const Item& x : a[0].items) most = std::max(most, r.rank(x));
       const std::int64_t last = r.integer(a[1]);
       Items out;
       for (std::int64_t d = most; d > last; --d) {
         const Item* from = nullptr;
         const auto fixed = [&](const Item& x) {
           return r.emit.sizes(x.value())[static_cast<std::size_t>(r.rank(x) - d)];
         };
         for (const Item& x : a[0].items) {
           if (r.rank(x) < d) continue;
           if (from == nullptr || fixed(*from).value == 1 ||
               (!fixed(*from).is_static() && fixed(x).is_static() && fixed(x).value != 1))
             from = &x;
         }
         out.push_back(r.size(*from, -d));
       }
       return Item::list(std::move(out));
     }},
    {"moved", 3,
     [](RuleEvaluator& r, const Items& a) {  // the permutation that moves dimensions to other positions
       const std::int64_t n = r.integer(a[0]);
       std::vector<std::int64_t> order(static_cast<std::size_t>(std::max<std::int64_t>(n, 0)), -1);
       std::vector<bool> used(order.size(), false);
       if (a[1].items.size() != a[2].items.size()) return r.fail("as many sources as destinations are needed");
       for (std::size_t i = 0; i < a[1].items.size() && r.emit.fault == nullptr; ++i) {
         const auto from = static_cast<std::size_t>(r.wrap(a[1].items[i], n)),
                    to = static_cast<std::size_t>(r.wrap(a[2].items[i], n));
         if (r.emit.fault != nullptr || from >= order.size() || to >= order.size()) break;
         order[to] = static_cast<std::int64_t>(from);
         used[from] = true;
       }
       std::size_t next = 0;
       Items out;
       for (const std::int64_t each : order) {
         while (each < 0 && next < used.size() && used[next]) ++next;
         out.push_back(Item::integer(each >= 0 ? each : static_cast<std::int64_t>(next++)));
       }
       return Item::list(std::move(out));
     }},
    {"set", 3,
     [](RuleEvaluator& r, const Items& a) {
       Item out = a[0];
       const auto at = static_cast<std::size_t>(r.integer(a[1]));
       if (at >= out.items.size()) return r.fail("an index out of range");
       out.items[at] = a[2];
       return out;
     }},
    {"cast", 2,
     [](RuleEvaluator& r, const Items& a) { return a[1].is_none() ? a[0] : cast_to(r, a[0], r.dtype(a[1])); }},
    {"where", 3, &where},
    {"symbool", 1,
     [](RuleEvaluator& r, const Items& a) {  // a bool as a sym_bool value
       const NamedItem inputs[] = {{"a", Item::integer(1)}, {"b", Item::integer(r.truth(a[0]) ? 1 : 0)}};
       return r.emit.symbolic("_operator.eq", inputs, ValueKind::sym_bool, {.value = r.truth(a[0]) ? 1 : 0});
     }},
    {"fail", 1,
     [](RuleEvaluator& r, const Items&) { return r.fail("the operator cannot be decomposed with these arguments"); }},
    {"einsum", 2,
     [](RuleEvaluator& r, const Items& a) {
       const std::string equation(r.emit.text(a[0]));
       return Einsum(r).run(equation, a[1].items);
     }},
    {"storageoffset", 1,
     [](RuleEvaluator& r, const Items& a) {
       return Item::integer(r.is_tensor(a[0]) ? r.emit.module().values[a[0].value()].constant : 0);
     }},
    {"iscontiguous", 2,
     [](RuleEvaluator& r, const Items& a) {
       if (!r.is_tensor(a[0])) return Item::boolean(false);
       std::vector<std::size_t> order(static_cast<std::size_t>(r.rank(a[0])));
       for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
       const auto format = a[1].is(ArgumentKind::memory_format) ? static_cast<MemoryFormat>(a[1].argument.payload)
                                                                : MemoryFormat::contiguous;
       if (format == MemoryFormat::preserve) return Item::boolean(true);
       if (format != MemoryFormat::contiguous && order.size() > 2)
         std::rotate(order.begin() + 1, order.begin() + 2, order.end());
       return Item::boolean(lies_in_order(r, a[0], order));
     }},
};

const RuleFunctionRow* find_rule_function(std::string_view name) {
  const auto row = std::ranges::find(rule_functions, name, &RuleFunctionRow::name);
  return row == std::end(rule_functions) ? nullptr : &*row;
}

}  // namespace davit::detail
