// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/promote.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/testing/detail/random_values.hpp"

namespace davit::testing {

/// Steps of a random program: products, integers and bools, symbolic sizes, effects, copies into fresh tensors.
class RandomSteps : protected RandomValues {
 protected:
  using RandomValues::RandomValues;

  /// Usually float32.
  [[nodiscard]] ScalarType some_dtype() {
    constexpr ScalarType types[] = {ScalarType::int64, ScalarType::int32, ScalarType::int8, ScalarType::uint8,
                                    ScalarType::bool_};
    return random_.one_in(3) ? types[random_.below(std::size(types))] : ScalarType::float32;
  }

  /// Fills a fresh tensor with another value's elements: whole, by parts, or expanded.
  void fill_fresh() {
    const Known x = some_value();
    std::vector<Dim> sizes = x.sizes;
    if (random_.one_in(4) && sizes.size() < 5) sizes.insert(sizes.begin(), dim(2));
    keep(copied(x, std::move(sizes), random_.below(4)));
  }
  /// Copies x, broadcast, to a fresh tensor of these sizes.
  Known copied(const Known& x, const std::vector<Dim>& sizes, std::size_t way) {
    const bool fixed = std::ranges::all_of(sizes, &Dim::is_static);
    Known made;
    std::vector<Argument> items;
    for (const Dim& d : sizes) items.push_back(i(d.value));
    const Argument size = b_.list(items, ArgumentKind::int_);
    if (way == 0 && fixed) {
      made = emit("aten.zeros.default", {size, b_.scalar_type(x.dtype)}, sizes, x.dtype);
    } else if (way == 1 && fixed) {
      made = filled(size, i(1), sizes, x.dtype);
    } else {
      if (!same(sizes, x.sizes)) return copied(x, x.sizes, way);
      made = way == 2 ? emit("aten.full_like.default", {v(x), i(1)}, sizes, x.dtype)
                      : emit("aten.zeros_like.default", {v(x)}, sizes, x.dtype);
    }
    if (fixed && !sizes.empty() && way < 2 && sizes[0].value > 0 &&
        random_.one_in(3)) {  // a part, or the whole as a part
      const std::int64_t start =
          same(sizes, x.sizes) ? 0 : static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(sizes[0].value)));
      const Known part = sliced(made, 0, start, sizes[0].value - start);
      const Known written = emit("aten.copy_.default", {v(part), v(x)}, part.sizes, x.dtype);
      return random_.one_in(2) ? written : made;
    }
    return emit("aten.copy_.default", {v(made), v(x)}, sizes, x.dtype);
  }

  /// Adds a matrix product, a linear layer or a convolution; false if no values fit.
  bool product() {
    const bool may_be_matrix = random_.one_in(2);
    const auto x = some([&](const Known& k) { return k.sizes.size() == 2 || (!may_be_matrix && k.sizes.size() == 3); });
    if (!x) return false;
    const std::size_t rank = x->sizes.size();
    const Dim inner = x->sizes[rank == 3 ? 1 : rank - 1];
    const auto y = some([&](const Known& k) {
      const std::size_t at = rank == 3 || !may_be_matrix ? 1 : 0;
      return k.sizes.size() == rank && k.sizes[0].is_static() && k.sizes[at].is_static() && inner.is_static() &&
             k.sizes[at].value == inner.value &&
             (rank == 2 || (k.sizes[0].value > 0 && k.sizes[2].is_static() && x->sizes[2].is_static() &&
                            k.sizes[2].value > 0 && k.sizes[2].value <= x->sizes[2].value && inner.value > 0));
    });
    if (!y) return false;
    if (rank == 2 && may_be_matrix) {
      keep(emit("aten.mm.default", {v(*x), v(*y)}, {x->sizes[0], y->sizes[1]}));
      return true;
    }
    if (rank == 2) {
      keep(emit("aten.linear.default", {v(*x), v(*y)}, {x->sizes[0], y->sizes[0]}));
      return true;
    }
    const bool transposed = random_.one_in(4);
    const Known filters =
        transposed ? emit("aten.transpose.int", {v(*y), i(0), i(1)}, {y->sizes[1], y->sizes[0], y->sizes[2]}) : *y;
    const Known image = unsqueezed(*x, 3);
    const Known weight = unsqueezed(filters, 3);
    const std::int64_t stride = transposed ? 1 + static_cast<std::int64_t>(random_.below(2)) : 1;
    const std::int64_t length =
        transposed ? (x->sizes[2].value - 1) * stride + y->sizes[2].value : x->sizes[2].value - y->sizes[2].value + 1;
    keep(emit("aten.convolution.default",
              {v(image), v(weight), b_.none(), b_.ints({stride, 1}), b_.ints({0, 0}), b_.ints({1, 1}),
               b_.boolean(transposed), b_.ints({0, 0}), i(1)},
              {x->sizes[0], y->sizes[0], dim(length), dim(1)}));
    return true;
  }

  /// Adds arithmetic, comparisons, choices and conversions of integers; false if there are none.
  bool integers() {
    const auto is_integer = [](const Known& k) { return k.dtype != ScalarType::float32; };
    const auto x = some_of_all(is_integer);
    if (!x) return false;
    const Known y = *some_of_all([&](const Known& k) { return is_integer(k) && broadcast(x->sizes, k.sizes); });
    const std::vector<Dim> both = *broadcast(x->sizes, y.sizes);
    PromotedType promoted;
    for (const Known* k : {&*x, &y}) {
      ScalarType& of = k->sizes.empty() ? promoted.zero : promoted.dimensioned;
      of = promote(of, k->dtype);
    }
    const ScalarType dtype = promoted.get();
    const bool has_bool = x->dtype == ScalarType::bool_ || y.dtype == ScalarType::bool_;
    constexpr std::string_view arithmetic[] = {
        "aten.add.Tensor",        "aten.mul.Tensor",         "aten.maximum.default",    "aten.minimum.default",
        "aten.bitwise_or.Tensor", "aten.bitwise_and.Tensor", "aten.bitwise_xor.Tensor", "aten.sub.Tensor"};
    constexpr std::string_view comparisons[] = {"aten.eq.Tensor", "aten.ne.Tensor", "aten.lt.Tensor",
                                                "aten.le.Tensor", "aten.gt.Tensor", "aten.ge.Tensor"};
    constexpr std::string_view unary[] = {"aten.logical_not.default", "aten.bitwise_not.default", "aten.neg.default",
                                          "aten.abs.default"};
    switch (random_.below(10)) {
      case 0:
      case 1:
      case 2:
        keep(emit(arithmetic[random_.below(std::size(arithmetic) - (has_bool ? 1 : 0))], {v(*x), v(y)}, both, dtype));
        break;
      case 3:
        keep(emit(comparisons[random_.below(std::size(comparisons))], {v(*x), v(y)}, both, ScalarType::bool_));
        break;
      case 4: {
        const Known mask = emit("aten.ne.Scalar", {v(*x), i(1)}, x->sizes, ScalarType::bool_);
        keep(emit("aten.where.self", {v(mask), v(*x), v(y)}, both, dtype));
        break;
      }
      case 5: {
        const std::size_t at = random_.below(x->dtype == ScalarType::bool_ ? 2 : std::size(unary));
        keep(emit(unary[at], {v(*x)}, x->sizes, at == 0 ? ScalarType::bool_ : x->dtype));
        break;
      }
      case 6: {
        const ScalarType to = some_dtype();
        keep(converted_to(*x, to));
        break;
      }
      case 7: {
        if (x->sizes.empty()) return false;
        keep(emit("aten.sum.dim_IntList", {v(*x), b_.ints({0})}, without(x->sizes, 0), ScalarType::int64));
        break;
      }
      case 8: {
        const auto f = some([&](const Known& k) { return broadcast(x->sizes, k.sizes).has_value(); });
        if (!f) return false;
        keep(emit("aten.mul.Tensor", {v(*f), v(*x)}, *broadcast(f->sizes, x->sizes)));
        break;
      }
      default:
        keep(emit("aten.add.Scalar", {v(*x), i(3)}, x->sizes,
                  x->dtype == ScalarType::bool_ ? ScalarType::int64 : x->dtype));
        break;
    }
    return true;
  }

  /// Adds the symbolic size as a number, and an operator on it; false if no value has it.
  bool symbolic_size() {
    const auto x = some(
        [&](const Known& k) { return !k.sizes.empty() && !k.sizes[0].is_static() && k.sizes[0].expr == batch_.expr; });
    if (!x) return false;
    const ValueId size = number("aten.sym_size.int", {v(*x), i(0)}, batch_.expr);
    std::vector<Dim> sizes = x->sizes;
    sizes[0] = twice_;
    switch (random_.below(4)) {
      case 0: keep(emit("aten.mul.Scalar", {v(*x), b_.value(size)}, x->sizes)); break;
      case 1: {
        const Argument items[] = {b_.value(size), i(2)};
        keep(filled(b_.list(items, ArgumentKind::value), b_.real(0.75), {batch_, dim(2)}));
        break;
      }
      case 2: {
        const Argument items[] = {b_.value(number("_operator.mul", {b_.value(size), i(2)}, twice_.expr))};
        keep(filled(b_.list(items, ArgumentKind::value), b_.real(-1.5), {twice_}));
        break;
      }
      default: keep(joined(*x, *x, 0, std::move(sizes))); break;
    }
    return true;
  }

  /// Adds an operator that a token orders behind the previous one; false if the program has no tokens.
  bool effect() {
    if (token_ == no_id) return false;
    const Known x = some_float();
    const auto y = some([&](const Known& k) { return same(k.sizes, x.sizes); });
    const Known out{.id = declare(fresh("effect"), x.sizes), .sizes = x.sizes};
    const Argument in[] = {b_.value(token_), b_.string("aten.add.Tensor", ArgumentKind::operator_name), v(x), v(*y)};
    token_ = new_token(fresh("token"));
    const Argument made[] = {b_.value(token_), v(out)};
    b_.node("higher_order.with_effects", in, made);
    keep(out);
    return true;
  }
  [[nodiscard]] ValueId new_token(const Name& name) {
    return b_.declare({.name = b_.text(name), .kind = ValueKind::token});
  }

  Dim twice_{};            ///< of the symbolic size
  ValueId token_ = no_id;  ///< the last token

 private:
  [[nodiscard]] ValueId number(std::string_view target, std::initializer_list<Argument> arguments, ExprId expr) {
    const ValueId out = b_.declare({.name = b_.text(fresh("number")), .expr = expr, .kind = ValueKind::sym_int});
    const Argument made = b_.value(out);
    node(target, arguments, {&made, 1});
    return out;
  }
};

}  // namespace davit::testing
