// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/ops/operator_schema.hpp"
#include "davit/ops/operators.hpp"
#include "davit/program/exported_program.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/testing/detail/program_recipe.hpp"

namespace davit::testing {

/// Operators of random programs that return their first argument itself; kernels for them are optional. The last ones
/// drop elements in training.
inline constexpr auto identities = std::to_array<std::string_view>(
    {"aten.detach.default", "aten.positive.default", "aten.lift_fresh.default", "aten.resolve_conj.default",
     "aten.resolve_neg.default", "aten.conj.default", "aten.real.default", "aten.dropout.default",
     "aten.feature_dropout.default", "aten.alpha_dropout.default", "aten.feature_alpha_dropout.default"});

/// The values of a random program so far, and helpers that make more.
class RandomValues {
 protected:
  struct Known {
    ValueId id = 0;
    ScalarType dtype = ScalarType::float32;
    std::vector<Dim> sizes{};
    bool overlaps = false;  ///< elements share memory, as in expand: not writable
    bool fixed = false;     ///< a parameter: not writable
    std::uint64_t key = 0;  ///< identifies its step, independently of the rest of the recipe
  };

  explicit RandomValues(const ProgramRecipe& recipe) : random_(recipe.seed) {}

  [[nodiscard]] Tensor tensor(std::span<const std::int64_t> sizes, Random& random,
                              ScalarType dtype = ScalarType::float32) const {
    Tensor out = Tensor::zeros(dtype, sizes);
    const auto fill = [&]<class T>(T* at, auto&& next) {
      for (T* const end = at + out.numel(); at != end; ++at) *at = static_cast<T>(next());
    };
    const auto integer = [&] { return static_cast<int>(random.below(65)) - 32; };
    switch (dtype) {
      case ScalarType::int64: fill(out.view().as<std::int64_t>(), integer); break;
      case ScalarType::int32: fill(out.view().as<std::int32_t>(), integer); break;
      case ScalarType::int8: fill(out.view().as<std::int8_t>(), integer); break;
      case ScalarType::uint8: fill(out.view().as<std::uint8_t>(), integer); break;
      case ScalarType::bool_: fill(out.view().as<bool>(), [&] { return random.one_in(2); }); break;
      default:
        fill(out.view().as<float>(), [&] {
          const float number = static_cast<float>(integer()) / 8;
          if (!strange_ || !random.one_in(9)) return number;
          constexpr float infinity = std::numeric_limits<float>::infinity();
          return random.one_in(2) ? std::numeric_limits<float>::quiet_NaN() : random.one_in(2) ? -infinity : infinity;
        });
    }
    return out;
  }
  [[nodiscard]] Dim dim(std::int64_t size) const { return {.value = size}; }
  [[nodiscard]] std::vector<Dim> sizes(bool may_be_symbolic) {
    std::vector<Dim> out;
    for (std::size_t rank = random_.below(4); rank > 0; --rank)
      out.push_back(dim(random_.one_in(30) ? 0 : 1 + static_cast<std::int64_t>(random_.below(4))));
    if (symbolic_ && may_be_symbolic && !out.empty() && !random_.one_in(3)) out[0] = batch_;
    return out;
  }
  [[nodiscard]] static std::vector<std::int64_t> numbers(const std::vector<Dim>& dims) {
    std::vector<std::int64_t> out;
    for (const Dim& d : dims) out.push_back(d.value);
    return out;
  }
  [[nodiscard]] Name fresh(std::string_view word) { return concat(word, "_", count_++); }
  [[nodiscard]] ValueId declare(const Name& name, const std::vector<Dim>& sizes,
                                ScalarType dtype = ScalarType::float32) {
    return b_.declare({.name = b_.text(name), .sizes = b_.dims(sizes), .device = b_.intern("cpu"), .dtype = dtype});
  }

  [[nodiscard]] static bool same(const std::vector<Dim>& a, const std::vector<Dim>& b) {
    return std::ranges::equal(a, b, [](const Dim& x, const Dim& y) { return x.value == y.value && x.expr == y.expr; });
  }

  /// Chooses one of the fitting values. The choice does not depend on the other values, so that a recipe without some
  /// step gives an otherwise equal program.
  template <class Fits>
  [[nodiscard]] std::optional<Known> some_of_all(Fits&& fits) {
    const std::uint64_t draw = random_.next();
    const Known* best = nullptr;
    std::uint64_t most = 0;
    for (const Known& k : known_) {
      if (!fits(k)) continue;
      const std::uint64_t score = Random(draw ^ k.key).next();
      if (best == nullptr || score > most) {
        best = &k;
        most = score;
      }
    }
    return best == nullptr ? std::nullopt : std::optional(*best);
  }
  /// Chooses one of the fitting float values.
  template <class Fits>
  [[nodiscard]] std::optional<Known> some(Fits&& fits) {
    return some_of_all([&](const Known& k) { return k.dtype == ScalarType::float32 && fits(k); });
  }
  [[nodiscard]] Known some_value() {
    return *some_of_all([](const Known&) { return true; });
  }
  [[nodiscard]] Known some_float() {
    return *some([](const Known&) { return true; });
  }
  [[nodiscard]] static std::optional<std::vector<Dim>> broadcast(const std::vector<Dim>& a, const std::vector<Dim>& b) {
    std::vector<Dim> out = a.size() >= b.size() ? a : b;
    const std::vector<Dim>& less = a.size() >= b.size() ? b : a;
    for (std::size_t i = 0; i < less.size(); ++i) {
      Dim& d = out[out.size() - 1 - i];
      const Dim& other = less[less.size() - 1 - i];
      if (d.value == other.value && d.expr == other.expr) continue;
      if (d.is_static() && d.value == 1) {
        d = other;
      } else if (!other.is_static() || other.value != 1) {
        return std::nullopt;
      }
    }
    return out;
  }

  /// Adds a call whose arguments are the operator's first parameters, named as in its row.
  void node(std::string_view target, std::initializer_list<Argument> arguments, std::span<const Argument> outputs) {
    std::string_view text = find_operator(target);
    for (const std::span<const OperatorRow> family : operator_tables)  // without a schema, from the rule
      for (const OperatorRow& row : family)
        if (text.empty() && operator_name(row.rule) == target) text = row.rule;
    std::string_view parameters = text.substr(std::min(target.size() + 1, text.size()));
    std::vector<Argument> in(arguments);
    for (Argument& argument : in) {
      if (target.starts_with("_operator.")) break;  // Python's operators have no parameter names
      std::string_view parameter = davit::detail::take_parameter(parameters);
      if (parameter == "*") parameter = davit::detail::take_parameter(parameters);
      parameter = parameter.substr(0, std::min({parameter.find('='), parameter.find(") ->"), parameter.find("):")}));
      argument.name = b_.intern(parameter.substr(parameter.rfind(' ') + 1));
    }
    b_.node(target, in, outputs);
  }
  Known emit(std::string_view target, std::initializer_list<Argument> arguments, std::vector<Dim> sizes,
             ScalarType dtype = ScalarType::float32) {
    const std::size_t dot = target.find('.') + 1;
    Known out{.dtype = dtype, .sizes = std::move(sizes)};
    out.id = declare(fresh(target.substr(dot, target.find('.', dot) - dot)), out.sizes, dtype);
    const Argument made = b_.value(out.id);
    node(target, arguments, {&made, 1});
    return out;
  }
  void keep(Known k) {
    k.key = step_ + kept_++;
    known_.push_back(std::move(k));
  }
  [[nodiscard]] static Argument v(const Known& k) { return GraphBuilder::value(k.id); }
  [[nodiscard]] static Argument i(std::int64_t number) { return GraphBuilder::integer(number); }
  [[nodiscard]] static Argument dim_of(std::size_t d) { return i(static_cast<std::int64_t>(d)); }
  [[nodiscard]] static std::vector<Dim> without(std::vector<Dim> sizes, std::size_t at) {
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(at));
    return sizes;
  }

  /// @name Calls of several steps.
  /// @{
  Known sliced(const Known& x, std::size_t at, std::int64_t start, std::int64_t length, std::int64_t end = INT64_MAX,
               std::int64_t step = 1) {
    std::vector<Dim> sizes = x.sizes;
    sizes[at] = dim(length);
    return emit("aten.slice.Tensor", {v(x), dim_of(at), i(start), i(end), i(step)}, std::move(sizes), x.dtype);
  }
  Known selected(const Known& x, std::size_t at, std::int64_t index) {
    return emit("aten.select.int", {v(x), dim_of(at), i(index)}, without(x.sizes, at), x.dtype);
  }
  Known unsqueezed(const Known& x, std::size_t at) {
    std::vector<Dim> sizes = x.sizes;
    sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(at), dim(1));
    return emit("aten.unsqueeze.default", {v(x), dim_of(at)}, std::move(sizes), x.dtype);
  }
  /// Concatenates two values along a dimension.
  Known joined(const Known& x, const Known& y, std::size_t at, std::vector<Dim> sizes) {
    return emit("aten.cat.default", {b_.tensors({x.id, y.id}), dim_of(at)}, std::move(sizes), x.dtype);
  }
  Known filled(Argument size, Argument value, std::vector<Dim> sizes, ScalarType dtype = ScalarType::float32) {
    return emit("aten.full.default", {size, value, b_.scalar_type(dtype)}, std::move(sizes), dtype);
  }
  Known converted_to(const Known& x, ScalarType dtype) {
    return emit("aten._to_copy.default", {v(x), b_.scalar_type(dtype)}, x.sizes, dtype);
  }
  Known negated(const Known& x) { return emit("aten.neg.default", {v(x)}, x.sizes); }
  /// @}

  [[nodiscard]] std::size_t static_dim(const Known& x) {  // rank() if there is none
    for (int k = 0; k < 4 && !x.sizes.empty(); ++k)
      if (const std::size_t d = random_.below(x.sizes.size()); x.sizes[d].is_static()) return d;
    return x.sizes.size();
  }

  Random random_;
  bool symbolic_ = false;
  bool strange_ = false;
  Dim batch_{};
  GraphBuilder b_;
  std::vector<Known> known_;
  std::uint64_t step_ = 0;
  std::uint64_t kept_ = 0;
  std::size_t count_ = 0;
};

}  // namespace davit::testing
