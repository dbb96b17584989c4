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

#include "davit/testing/detail/random_steps.hpp"

namespace davit::testing {

/// Steps of a random program that gather, scatter, concatenate, repeat and sort elements, or scan a dimension.
class RandomMoves : protected RandomSteps {
 protected:
  using RandomSteps::RandomSteps;

  /// Adds one of these steps; false if no values fit.
  bool move() {
    switch (random_.below(8)) {
      case 0: return by_index();
      case 1: return to_index();
      case 2:
      case 3: return view_of_dims();
      case 4: return repeated();
      case 5: return along();
      case 6: return statistics();
      default: return arithmetic();
    }
  }
  /// True for inputs, which are unrounded: results that depend on their order or on their integers are the same
  /// everywhere.
  [[nodiscard]] bool is_given(const Known& k) const { return k.id < given_; }

  /// A value with that type and those sizes that is not an input.
  [[nodiscard]] std::optional<Known> like(const Known& other) {
    return some_of_all(
        [&](const Known& k) { return !is_given(k) && k.dtype == other.dtype && same(k.sizes, other.sizes); });
  }
  /// Changes some elements of a buffer, as cache updates do; false if no values fit.
  bool update(const Known& buffer) {
    const auto at = std::ranges::find_if(buffer.sizes, [](const Dim& d) { return d.is_static() && d.value > 0; });
    return buffer.dtype == ScalarType::float32 && at != buffer.sizes.end() &&
           put(buffer, static_cast<std::size_t>(at - buffer.sizes.begin()));
  }
  /// The new value of a buffer: its update if there is one, else any value like it.
  [[nodiscard]] std::optional<Known> next_state(const Known& buffer) {
    const auto made = std::ranges::find(updated_, buffer.id, &std::pair<ValueId, Known>::first);
    return made != updated_.end() && random_.one_in(2) ? made->second : like(buffer);
  }

  /// Makes indices below `limit` from fitting integers, or two equal indices.
  template <class Fits>
  [[nodiscard]] std::optional<Known> indices(std::int64_t limit, bool may_be_new, Fits&& fits) {
    const auto x = some_of_all(
        [&](const Known& k) { return k.dtype != ScalarType::float32 && k.dtype != ScalarType::bool_ && fits(k); });
    if (!x && !may_be_new) return std::nullopt;
    if (!x) {
      const auto value = static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(limit)));
      return filled(b_.ints({2}), i(value), {dim(2)}, ScalarType::int64);
    }
    const Known wide = x->dtype == ScalarType::int64 ? *x : converted_to(*x, ScalarType::int64);
    return emit("aten.remainder.Scalar", {v(wide), i(limit)}, x->sizes, ScalarType::int64);
  }

  std::size_t given_ = 0;  ///< ids of inputs are below it

 private:
  static Known view_like(Known made, const Known& of) {
    made.overlaps = of.overlaps;
    made.fixed = of.fixed;
    return made;
  }
  [[nodiscard]] static bool is_in(const Dim& part, const Dim& whole) {
    return part.is_static() && whole.is_static() ? part.value <= whole.value
                                                 : part.value == whole.value && part.expr == whole.expr;
  }
  /// A value with a static dimension of at least `least` elements, and the dimension.
  [[nodiscard]] std::optional<std::pair<Known, std::size_t>> with_dim(std::int64_t least, bool any_dtype = true) {
    const auto has = [&](const Known& k) {
      return std::ranges::any_of(k.sizes, [&](const Dim& d) { return d.is_static() && d.value >= least; });
    };
    const auto x = any_dtype ? some_of_all(has) : some(has);
    if (!x) return std::nullopt;
    std::size_t at = random_.below(x->sizes.size());
    while (!x->sizes[at].is_static() || x->sizes[at].value < least) at = (at + 1) % x->sizes.size();
    return std::pair(*x, at);
  }
  /// Makes indices for gather and scatter along `at`: in other dimensions no larger than x.
  [[nodiscard]] std::optional<Known> indices_into(const Known& x, std::size_t at) {
    return indices(x.sizes[at].value, false, [&](const Known& k) {
      if (k.sizes.size() != x.sizes.size()) return false;
      for (std::size_t d = 0; d < x.sizes.size(); ++d)
        if (d != at && !is_in(k.sizes[d], x.sizes[d])) return false;
      return true;
    });
  }

  void put_back(const Known& x, Known made) {
    updated_.emplace_back(x.id, made);
    keep(std::move(made));
  }
  bool by_index() {
    const auto found = with_dim(1);
    if (!found) return false;
    const auto& [x, at] = *found;
    switch (random_.below(3)) {
      case 0: {
        const Known index = *indices(x.sizes[at].value, true, [](const Known& k) { return k.sizes.size() == 1; });
        std::vector<Dim> sizes = x.sizes;
        sizes[at] = index.sizes[0];
        keep(emit("aten.index_select.default", {v(x), dim_of(at), v(index)}, std::move(sizes), x.dtype));
        return true;
      }
      case 1: {
        const auto index = indices_into(x, at);
        if (!index) return false;
        keep(emit("aten.gather.default", {v(x), dim_of(at), v(*index)}, index->sizes, x.dtype));
        return true;
      }
      default: {
        if (at != 0 || x.sizes.size() > 3) return false;
        const Known index = *indices(x.sizes[0].value, true, [](const Known& k) { return k.sizes.size() <= 2; });
        std::vector<Dim> sizes = index.sizes;
        sizes.insert(sizes.end(), x.sizes.begin() + 1, x.sizes.end());
        const bool embeds = x.sizes.size() == 2 && x.dtype == ScalarType::float32 && random_.one_in(2);
        keep(embeds ? emit("aten.embedding.default", {v(x), v(index)}, std::move(sizes))
                    : emit("aten.index.Tensor", {v(x), b_.tensors({index.id})}, std::move(sizes), x.dtype));
        return true;
      }
    }
  }
  bool to_index() {
    const auto found = with_dim(1, false);
    return found && put(found->first, found->second);
  }
  /// Changes some elements of x along `at`; false if no values fit.
  bool put(const Known& x, std::size_t at) {
    const std::size_t kind = random_.below(4);
    if (kind < 2) {
      const auto start = static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(x.sizes[at].value)));
      const Argument end = i(INT64_MAX);
      if (kind == 0)
        put_back(x, emit("aten.select_scatter.default",
                         {v(x), v(negated(selected(x, at, start))), dim_of(at), i(start)}, x.sizes));
      else
        put_back(x, emit("aten.slice_scatter.default",
                         {v(x), v(negated(sliced(x, at, start, (x.sizes[at].value - start + 1) / 2, INT64_MAX, 2))),
                          dim_of(at), i(start), end, i(2)},
                         x.sizes));
      return true;
    }
    if (kind == 2) {
      if (at != 0) return false;
      const Known index = *indices(x.sizes[0].value, true, [](const Known& k) { return k.sizes.size() == 1; });
      std::vector<Dim> sizes = x.sizes;
      sizes[0] = index.sizes[0];
      const auto values = some([&](const Known& k) {
        const auto all = broadcast(sizes, k.sizes);
        return all && same(*all, sizes);
      });
      if (!values) return false;
      put_back(x, emit("aten.index_put.default",
                       {v(x), b_.tensors({index.id}), v(*values), b_.boolean(random_.one_in(2))}, x.sizes));
      return true;
    }
    const auto index = indices_into(x, at);
    if (!index) return false;
    const auto source = some([&](const Known& k) { return same(k.sizes, index->sizes); });
    if (!source) return false;
    put_back(x, emit(random_.one_in(2) ? "aten.scatter_add.default" : "aten.scatter.src",
                     {v(x), dim_of(at), v(*index), v(*source)}, x.sizes));
    return true;
  }
  bool view_of_dims() {
    const auto found = some_of_all([](const Known& k) { return !k.sizes.empty(); });
    if (!found) return false;
    const Known& x = *found;
    std::vector<Dim> sizes = x.sizes;
    const std::size_t at = random_.below(sizes.size()), other = random_.below(sizes.size());
    switch (random_.below(5)) {
      case 0:
        std::swap(sizes[at], sizes[other]);
        keep(view_like(
            emit("aten.transpose.int",
                 {v(x), dim_of(at), i(static_cast<std::int64_t>(other) - static_cast<std::int64_t>(sizes.size()))},
                 std::move(sizes), x.dtype),
            x));
        return true;
      case 1:
        if (!sizes[at].is_static()) return false;
        keep(view_like(
            emit("aten.squeeze.dim", {v(x), dim_of(at)}, sizes[at].value == 1 ? without(sizes, at) : sizes, x.dtype),
            x));
        return true;
      case 2: {
        if (at == other || !sizes[at].is_static() || !sizes[other].is_static()) return false;
        const std::int64_t count = std::min(sizes[at].value, sizes[other].value);
        sizes = without(without(sizes, std::max(at, other)), std::min(at, other));
        sizes.push_back(dim(count));
        keep(view_like(
            emit("aten.diagonal.default", {v(x), i(0), dim_of(at), dim_of(other)}, std::move(sizes), x.dtype), x));
        return true;
      }
      case 3: {
        if (sizes.size() > 4 || !sizes[at].is_static() || sizes[at].value < 2) return false;
        sizes[at] = dim(sizes[at].value - 1);
        sizes.push_back(dim(2));
        Known made =
            view_like(emit("aten.unfold.default", {v(x), dim_of(at), i(2), i(1)}, std::move(sizes), x.dtype), x);
        made.overlaps = true;
        keep(std::move(made));
        return true;
      }
      default: {
        if (!sizes[at].is_static() || sizes[at].value < 2) return false;
        const bool unbinds = random_.one_in(2);
        const std::int64_t half = (sizes[at].value + 1) / 2;
        std::vector<Known> made;
        for (std::int64_t k = 0; k < (unbinds ? sizes[at].value : 2); ++k) {
          std::vector<Dim> own = unbinds ? without(sizes, at) : sizes;
          if (!unbinds) own[at] = dim(k == 0 ? half : sizes[at].value - half);
          Known part{.id = declare(fresh("part"), own, x.dtype), .dtype = x.dtype, .sizes = own};
          made.push_back(view_like(std::move(part), x));
        }
        std::vector<Argument> items;
        for (const Known& k : made) items.push_back(v(k));
        const Argument all = b_.list(items, ArgumentKind::value);
        if (unbinds)
          node("aten.unbind.int", {v(x), dim_of(at)}, {&all, 1});
        else
          node("aten.chunk.default", {v(x), i(2), dim_of(at)}, {&all, 1});
        keep(made.front());
        keep(made.back());
        return true;
      }
    }
  }
  bool repeated() {
    const auto found = some_of_all([](const Known& k) { return !k.sizes.empty() && k.sizes.size() < 5; });
    if (!found) return false;
    const Known& x = *found;
    std::vector<Dim> sizes = x.sizes;
    const std::size_t at = random_.below(sizes.size());
    switch (random_.below(5)) {
      case 0:
        keep(emit("aten.flip.default", {v(x), b_.ints({static_cast<std::int64_t>(at)})}, std::move(sizes), x.dtype));
        return true;
      case 1: {
        const auto shift = static_cast<std::int64_t>(random_.below(7)) - 3;
        keep(emit("aten.roll.default", {v(x), b_.ints({shift}), b_.ints({static_cast<std::int64_t>(at)})},
                  std::move(sizes), x.dtype));
        return true;
      }
      case 2: {
        const auto y = some_of_all([&](const Known& k) { return k.dtype == x.dtype && same(k.sizes, x.sizes); });
        sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(at), dim(2));
        keep(emit("aten.stack.default", {b_.tensors({x.id, y->id}), dim_of(at)}, std::move(sizes), x.dtype));
        return true;
      }
      case 3: {
        std::vector<Argument> times;
        for (Dim& d : sizes) {
          const std::int64_t count =
              d.is_static() && d.value <= 4 ? 1 + static_cast<std::int64_t>(random_.below(2)) : 1;
          times.push_back(i(count));
          d.value *= count;
        }
        keep(emit("aten.repeat.default", {v(x), b_.list(times, ArgumentKind::int_)}, std::move(sizes), x.dtype));
        return true;
      }
      default: {
        if (x.dtype != ScalarType::float32 || !sizes.back().is_static() || sizes.back().value < 1) return false;
        const std::int64_t before = static_cast<std::int64_t>(random_.below(3)) - 1,
                           after = static_cast<std::int64_t>(random_.below(3));
        if (sizes.back().value + before + after < 0) return false;
        sizes.back().value += before + after;
        keep(emit("aten.constant_pad_nd.default", {v(x), b_.ints({before, after}), b_.real(0.5)}, std::move(sizes)));
        return true;
      }
    }
  }
  bool along() {
    const auto found = some([](const Known& k) { return !k.sizes.empty(); });
    if (!found) return false;
    const std::size_t at = random_.below(found->sizes.size());
    switch (random_.below(4)) {
      case 0: keep(emit("aten.cumsum.default", {v(*found), dim_of(at)}, found->sizes)); return true;
      case 1: keep(emit("aten.cumprod.default", {v(*found), dim_of(at)}, found->sizes)); return true;
      default: break;
    }
    const auto given = some([&](const Known& k) {
      return is_given(k) && !k.sizes.empty() && k.sizes.back().is_static() && k.sizes.back().value > 0;
    });
    if (!given) return false;
    std::vector<Dim> sizes = given->sizes;
    if (random_.one_in(3)) {
      keep(emit("aten.argmax.default", {v(*given), i(-1), b_.boolean(false)}, without(sizes, sizes.size() - 1),
                ScalarType::int64));
      return true;
    }
    const bool some_only = random_.one_in(2);
    if (some_only)
      sizes.back().value = 1 + static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(sizes.back().value)));
    const Known values{.id = declare(fresh("sorted"), sizes), .sizes = sizes};
    const Known order{
        .id = declare(fresh("order"), sizes, ScalarType::int64), .dtype = ScalarType::int64, .sizes = sizes};
    const Argument made[] = {v(values), v(order)};
    const Argument down = b_.boolean(random_.one_in(2));
    if (some_only)
      node("aten.topk.default", {v(*given), i(sizes.back().value), i(-1), down}, made);
    else
      node("aten.sort.default", {v(*given), i(-1), down}, made);
    keep(values);
    keep(order);
    return true;
  }
  bool statistics() {
    const auto found = with_dim(2, false);
    if (!found) return false;
    const auto& [x, at] = *found;
    const bool keeps = random_.one_in(2);
    std::vector<Dim> sizes = without(x.sizes, at);
    if (keeps) sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(at), dim(1));
    const Argument dims = b_.ints({static_cast<std::int64_t>(at)}), keepdim = b_.boolean(keeps);
    switch (random_.below(5)) {
      case 0: keep(emit("aten.prod.dim_int", {v(x), dim_of(at), keepdim}, std::move(sizes))); break;
      case 1:
        keep(emit("aten.var.correction", {v(x), dims, i(random_.one_in(2) ? 0 : 1), keepdim}, std::move(sizes)));
        break;
      case 2: keep(emit("aten.amin.default", {v(x), dims, keepdim}, std::move(sizes))); break;
      case 3: keep(emit("aten.mean.default", {v(x)}, {})); break;
      default: keep(emit("aten.sum.default", {v(x)}, {})); break;
    }
    return true;
  }
  bool arithmetic() {
    const Known x = some_float();
    const auto y = some([&](const Known& k) { return broadcast(x.sizes, k.sizes).has_value(); });
    switch (random_.below(5)) {
      case 0: keep(emit("aten.pow.Tensor_Scalar", {v(x), random_.one_in(2) ? i(2) : i(3)}, x.sizes)); return true;
      case 1: keep(emit("aten.div.Tensor", {v(x), v(*y)}, *broadcast(x.sizes, y->sizes))); return true;
      case 2: {
        const auto given = some([&](const Known& k) { return is_given(k); });
        constexpr std::string_view targets[] = {"aten.floor.default", "aten.ceil.default", "aten.round.default",
                                                "aten.trunc.default", "aten.sign.default"};
        keep(emit(targets[random_.below(std::size(targets))], {v(*given)}, given->sizes));
        return true;
      }
      case 3: {
        const Known size = emit("aten.abs.default", {v(x)}, x.sizes);
        constexpr std::string_view targets[] = {"aten.sqrt.default",        "aten.log1p.default",
                                                "aten.sin.default",         "aten.cos.default",
                                                "aten.mish.default",        "aten.special_i0e.default",
                                                "aten.special_i1e.default", "aten.special_bessel_j0.default"};
        keep(emit(targets[random_.below(std::size(targets))], {v(size)}, size.sizes));
        return true;
      }
      default: {
        if (x.sizes.size() < 2) return false;
        const std::size_t rank = x.sizes.size();
        const auto z = some([&](const Known& k) {
          const std::size_t own = k.sizes.size();
          if (own < 2 || k.sizes[own - 2].value != x.sizes[rank - 1].value ||
              k.sizes[own - 2].expr != x.sizes[rank - 1].expr)
            return false;
          return broadcast({x.sizes.begin(), x.sizes.end() - 2}, {k.sizes.begin(), k.sizes.end() - 2}).has_value();
        });
        if (!z) return false;
        std::vector<Dim> sizes =
            *broadcast({x.sizes.begin(), x.sizes.end() - 2}, {z->sizes.begin(), z->sizes.end() - 2});
        sizes.push_back(x.sizes[rank - 2]);
        sizes.push_back(z->sizes.back());
        keep(emit("aten.matmul.default", {v(x), v(*z)}, std::move(sizes)));
        return true;
      }
    }
  }

  std::vector<std::pair<ValueId, Known>> updated_;  ///< an updated value, and its new value
};

}  // namespace davit::testing
