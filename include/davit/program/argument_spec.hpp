// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

#include "davit/core/name.hpp"

namespace davit {

/// A graph input or output that is a tensor.
struct TensorArgument {
  Name name;
  friend constexpr bool operator==(const TensorArgument&, const TensorArgument&) = default;
};

/// A graph input or output that is a run-time integer.
struct SymIntArgument {
  Name name;
  friend constexpr bool operator==(const SymIntArgument&, const SymIntArgument&) = default;
};

/// A graph input or output that is a run-time float.
struct SymFloatArgument {
  Name name;
  friend constexpr bool operator==(const SymFloatArgument&, const SymFloatArgument&) = default;
};

/// A graph input or output that is a run-time bool.
struct SymBoolArgument {
  Name name;
  friend constexpr bool operator==(const SymBoolArgument&, const SymBoolArgument&) = default;
};

/// The value of a constant argument: None, int, float, bool or str. Equal values have equal type and value.
using ConstantValue = std::variant<std::monostate, std::int64_t, double, bool, Name>;

/// A graph input or output whose value the export fixed. Outputs have an empty name.
struct ConstantArgument {
  Name name;
  ConstantValue value;
  friend constexpr bool operator==(const ConstantArgument&, const ConstantArgument&) = default;
};

/// A graph input or output that is an object of a class registered with torch.
struct CustomObjArgument {
  Name name;
  Name class_fqn;  ///< such as "__torch__.torch.classes.ns.Foo"
  friend constexpr bool operator==(const CustomObjArgument&, const CustomObjArgument&) = default;
};

/// A graph input or output that only orders side effects.
struct TokenArgument {
  Name name;
  friend constexpr bool operator==(const TokenArgument&, const TokenArgument&) = default;
};

/// The kind of a graph input or output. Source: torch.export.graph_signature.ArgumentSpec.
using ArgumentSpec = std::variant<TensorArgument, SymIntArgument, SymFloatArgument, SymBoolArgument, ConstantArgument,
                                  CustomObjArgument, TokenArgument>;

/// The kind of a user input or user output: any argument except a token.
using UserArgument = std::variant<TensorArgument, SymIntArgument, SymFloatArgument, SymBoolArgument, ConstantArgument,
                                  CustomObjArgument>;

/// Returns the name of an argument's value in the graph; empty for a constant output.
template <class... Arguments>
[[nodiscard]] constexpr const Name& arg_name(const std::variant<Arguments...>& argument) noexcept {
  const Name* name = nullptr;  // cheaper to compile than std::visit
  (void)((std::get_if<Arguments>(&argument) != nullptr &&
          (name = &std::get_if<Arguments>(&argument)->name) != nullptr) ||
         ...);
  return *name;
}

/// Converts a user argument to an ArgumentSpec.
template <std::same_as<UserArgument> Argument>
[[nodiscard]] constexpr ArgumentSpec to_argument_spec(const Argument& argument) {
  return std::visit([](const auto& a) { return ArgumentSpec(a); }, argument);
}

/// Returns the argument's class name in torch.export.
[[nodiscard]] constexpr std::string_view type_name(const ArgumentSpec& argument) noexcept {
  constexpr std::string_view names[] = {"TensorArgument",   "SymIntArgument",    "SymFloatArgument", "SymBoolArgument",
                                        "ConstantArgument", "CustomObjArgument", "TokenArgument"};
  return names[argument.index()];
}

namespace detail {

/// A graph input or output of kind `k`; the kinds that differ in more are structs of their own.
template <auto k, class Arg>
struct Spec {
  static constexpr auto kind = k;
  Arg arg;
  friend constexpr bool operator==(const Spec&, const Spec&) = default;
};
/// Likewise, for what `target` names.
template <auto k, class Arg = TensorArgument>
struct TargetSpec {
  static constexpr auto kind = k;
  Arg arg;
  Name target;
  constexpr TargetSpec(Arg a, Name t) noexcept : arg(std::move(a)), target(std::move(t)) {}
  friend constexpr bool operator==(const TargetSpec&, const TargetSpec&) = default;
};

// Members common to input and output specs: `arg`, and `target` for the kinds that have one.

template <class Spec>
constexpr ArgumentSpec spec_arg(const Spec& spec) {
  if constexpr (requires { to_argument_spec(spec.arg); }) {
    return to_argument_spec(spec.arg);
  } else {
    return spec.arg;
  }
}

// Functions over the alternatives of a variant of specs; cheaper to compile than std::visit.

template <class Kind, class... Specs>
constexpr Kind spec_kind(const std::variant<Specs...>& spec) noexcept {
  constexpr Kind kinds[] = {Specs::kind...};
  return kinds[spec.index()];
}

template <class... Specs>
constexpr const Name& spec_arg_name(const std::variant<Specs...>& spec) noexcept {
  const Name* name = nullptr;
  const auto look = [&name](const auto* s) {
    if (s == nullptr) return;
    if constexpr (requires { s->arg.name; }) {
      name = &s->arg.name;
    } else {
      name = &arg_name(s->arg);
    }
  };
  (look(std::get_if<Specs>(&spec)), ...);
  return *name;
}

template <class... Specs>
constexpr const Name* spec_target(const std::variant<Specs...>& spec) noexcept {
  const Name* target = nullptr;
  const auto look = [&target](const auto* s) {
    if constexpr (requires { s->target; })
      if (s != nullptr) target = &s->target;
  };
  (look(std::get_if<Specs>(&spec)), ...);
  return target;
}

}  // namespace detail

}  // namespace davit
