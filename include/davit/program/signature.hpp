// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/program/input_spec.hpp"
#include "davit/program/name_map.hpp"
#include "davit/program/output_spec.hpp"

namespace davit {

/// The torch version whose signature class is followed where versions differ.
enum class SignatureSemantics : std::uint8_t {
  newest,  ///< torch 2.6 and later
  legacy,  ///< torch 2.3: user outputs exclude the loss; renaming affects only tensor, SymInt and custom object names
};

/// The op of a node in an fx graph.
enum class NodeOp : std::uint8_t { placeholder, get_attr, call_function, call_method, call_module, input, output };

struct ReplaceHookOptions {
  bool replace_inputs = false;  ///< also act when the replaced node is a graph input
  SignatureSemantics semantics = SignatureSemantics::newest;
};

/// The loss output and its gradients. Source: torch.export.graph_signature.ExportBackwardSignature.
struct ExportBackwardSignature {
  NameMap gradients_to_parameters;
  NameMap gradients_to_user_inputs;
  Name loss_output;
  friend constexpr bool operator==(const ExportBackwardSignature&, const ExportBackwardSignature&) = default;
};

class ReplaceHook;

namespace detail {

template <class = void>
constexpr ConstantValue name_or_value(const UserArgument& argument) {
  if (const auto* constant = std::get_if<ConstantArgument>(&argument)) return constant->value;
  return arg_name(argument);
}

/// Returns the targets of the specs of one kind.
template <class Spec, class Specs>
constexpr std::vector<Name> targets_of(const Specs& specs) {
  std::vector<Name> found;
  for (const auto& spec : specs)
    if (const auto* s = std::get_if<Spec>(&spec)) found.push_back(s->target);
  return found;
}

/// Returns the argument names of the specs of one kind.
template <class Spec, class Specs>
constexpr std::vector<Name> names_of(const Specs& specs) {
  std::vector<Name> found;
  for (const auto& spec : specs)
    if (const auto* s = std::get_if<Spec>(&spec)) found.push_back(s->arg.name);
  return found;
}

/// Maps argument names to targets, for the specs of one kind.
template <class Spec, class Specs>
constexpr NameMap map_of(const Specs& specs) {
  NameMap pairs;
  for (const auto& spec : specs)
    if (const auto* s = std::get_if<Spec>(&spec)) pairs.push_back({s->arg.name, s->target});
  return as_dict(pairs);
}

template <class Argument>
constexpr bool is_renamed(SignatureSemantics semantics) noexcept {
  if (std::is_same_v<Argument, ConstantArgument>) return false;
  return semantics == SignatureSemantics::newest || std::is_same_v<Argument, TensorArgument> ||
         std::is_same_v<Argument, SymIntArgument> || std::is_same_v<Argument, CustomObjArgument>;
}

}  // namespace detail

/// Specs of a graph's inputs and outputs, in their order.
///
/// Torch emits inputs as tokens, parameters, buffers, tensor constants, custom objects, user inputs, and outputs as
/// tokens, mutations, user outputs, gradients. Every query scans one list: O(specs), mappings O(specs log specs).
/// Mappings are ordered like Python dicts. Source: torch.export.graph_signature.ExportGraphSignature.
struct ExportGraphSignature {
  std::vector<InputSpec> input_specs;
  std::vector<OutputSpec> output_specs;
  /// Parameters, buffers and constants that are mutable state without a mutation output, found by lowering: operators
  /// write to them in place, or another method changes them.
  std::vector<Name> unlisted_state{};

  friend constexpr bool operator==(const ExportGraphSignature&, const ExportGraphSignature&) = default;

  /// @name Targets, by kind of input.
  template <class = void>
  [[nodiscard]] constexpr std::vector<Name> parameters() const {
    return detail::targets_of<InputToParameterSpec>(input_specs);
  }
  template <class = void>
  [[nodiscard]] constexpr std::vector<Name> buffers() const {
    return detail::targets_of<InputToBufferSpec>(input_specs);
  }
  template <class = void>
  [[nodiscard]] constexpr std::vector<Name> non_persistent_buffers() const {
    std::vector<Name> found;
    for (const InputSpec& spec : input_specs)
      if (persistent(spec) == false) found.push_back(*target(spec));
    return found;
  }
  template <class = void>
  [[nodiscard]] constexpr std::vector<Name> lifted_tensor_constants() const {
    return detail::targets_of<InputToTensorConstantSpec>(input_specs);
  }
  template <class = void>
  [[nodiscard]] constexpr std::vector<Name> lifted_custom_objs() const {
    return detail::targets_of<InputToCustomObjSpec>(input_specs);
  }

  /// Returns the names of the user inputs; for a constant its value.
  template <class = void>
  [[nodiscard]] constexpr std::vector<ConstantValue> user_inputs() const {
    std::vector<ConstantValue> found;
    for (const InputSpec& spec : input_specs)
      if (const auto* user = std::get_if<UserInputSpec>(&spec)) found.push_back(detail::name_or_value(user->arg));
    return found;
  }

  /// Returns the names of the user outputs, the loss included; for a constant its value.
  template <class = void>
  [[nodiscard]] constexpr std::vector<ConstantValue> user_outputs() const {
    std::vector<ConstantValue> found;
    for (const OutputSpec& spec : output_specs) {
      if (const auto* user = std::get_if<UserOutputSpec>(&spec)) found.push_back(detail::name_or_value(user->arg));
      if (const auto* loss = std::get_if<LossOutputSpec>(&spec)) found.push_back(loss->arg.name);
    }
    return found;
  }
  /// As above; the legacy class excludes the loss, and rejects outputs that are neither tensor, SymInt nor constant.
  template <class = void>
  [[nodiscard]] constexpr Result<std::vector<ConstantValue>> user_outputs(SignatureSemantics semantics) const;

  /// @name Names of graph inputs, mapped to their targets.
  template <class = void>
  [[nodiscard]] constexpr NameMap inputs_to_parameters() const {
    return detail::map_of<InputToParameterSpec>(input_specs);
  }
  template <class = void>
  [[nodiscard]] constexpr NameMap inputs_to_buffers() const {
    return detail::map_of<InputToBufferSpec>(input_specs);
  }
  template <class = void>
  [[nodiscard]] constexpr NameMap inputs_to_lifted_tensor_constants() const {
    return detail::map_of<InputToTensorConstantSpec>(input_specs);
  }
  template <class = void>
  [[nodiscard]] constexpr NameMap inputs_to_lifted_custom_objs() const {
    return detail::map_of<InputToCustomObjSpec>(input_specs);
  }

  /// @name Names of graph outputs, mapped to the targets they mutate.
  template <class = void>
  [[nodiscard]] constexpr NameMap buffers_to_mutate() const {
    return detail::map_of<BufferMutationSpec>(output_specs);
  }
  template <class = void>
  [[nodiscard]] constexpr NameMap parameters_to_mutate() const {
    return detail::map_of<ParameterMutationSpec>(output_specs);
  }
  template <class = void>
  [[nodiscard]] constexpr NameMap user_inputs_to_mutate() const {
    return detail::map_of<UserInputMutationSpec>(output_specs);
  }

  /// Returns the loss and its gradients; nullopt without a loss output. Errors: two loss outputs.
  template <class = void>
  [[nodiscard]] constexpr Result<std::optional<ExportBackwardSignature>> backward_signature() const;

  /// Always nullopt, as in torch.
  [[nodiscard]] constexpr std::optional<std::vector<std::pair<std::int64_t, Name>>> assertion_dep_token() const {
    return std::nullopt;
  }

  template <class = void>
  [[nodiscard]] constexpr std::vector<Name> input_tokens() const {
    return detail::names_of<InputTokenSpec>(input_specs);
  }
  template <class = void>
  [[nodiscard]] constexpr std::vector<Name> output_tokens() const {
    return detail::names_of<OutputTokenSpec>(output_specs);
  }

  /// Renames every argument named `old_name`; constants and targets stay unchanged. O(specs).
  template <class = void>
  constexpr void replace_all_uses(Name old_name, Name new_name,
                                  SignatureSemantics semantics = SignatureSemantics::newest);

  /// Returns a callable for graph rewrites that updates this signature, which must outlive it.
  template <class = void>
  [[nodiscard]] constexpr ReplaceHook get_replace_hook(ReplaceHookOptions options = {}) &;
};

/// Callback for node replacements: renames the node in the signature if the rewrite touches the graph's inputs or
/// outputs.
///
/// Newest torch renames if the user is the graph's output, or with replace_inputs if the old node is a placeholder; the
/// legacy class if the user is a graph output or input. Source: ExportGraphSignature.get_replace_hook.
class ReplaceHook {
 public:
  constexpr ReplaceHook(ExportGraphSignature& signature, ReplaceHookOptions options) noexcept
      : signature_(&signature), options_(options) {}

  template <class = void>
  constexpr void operator()(Name old_name, NodeOp old_op, Name new_name, NodeOp user_op) const {
    if (acts(old_op, user_op))
      signature_->replace_all_uses(std::move(old_name), std::move(new_name), options_.semantics);
  }

 private:
  [[nodiscard]] constexpr bool acts(NodeOp old_op, NodeOp user_op) const noexcept {
    if (user_op == NodeOp::output) return true;
    if (options_.semantics == SignatureSemantics::legacy) return user_op == NodeOp::input;
    return options_.replace_inputs && old_op == NodeOp::placeholder;
  }

  ExportGraphSignature* signature_;
  ReplaceHookOptions options_;
};

template <class>
constexpr ReplaceHook ExportGraphSignature::get_replace_hook(ReplaceHookOptions options) & {
  return {*this, options};
}

template <class>
constexpr Result<std::vector<ConstantValue>> ExportGraphSignature::user_outputs(SignatureSemantics semantics) const {
  if (semantics == SignatureSemantics::newest) return user_outputs();
  std::vector<ConstantValue> found;
  for (const OutputSpec& spec : output_specs) {
    const auto* user = std::get_if<UserOutputSpec>(&spec);
    if (!user) continue;
    const bool listed = std::holds_alternative<TensorArgument>(user->arg) ||
                        std::holds_alternative<SymIntArgument>(user->arg) ||
                        std::holds_alternative<ConstantArgument>(user->arg);
    if (!listed) {
      return std::unexpected(Error{.code = ErrorCode::invalid_program,
                                   .stage = Stage::verify,
                                   .where = concat("output ", arg_name(user->arg)),
                                   .what = concat(type_name(arg(spec)), " is not a valid user output"),
                                   .fix = "ask with SignatureSemantics::newest"});
    }
    found.push_back(detail::name_or_value(user->arg));
  }
  return found;
}

template <class>
constexpr Result<std::optional<ExportBackwardSignature>> ExportGraphSignature::backward_signature() const {
  const Name* loss = nullptr;
  for (const OutputSpec& spec : output_specs) {
    const auto* found = std::get_if<LossOutputSpec>(&spec);
    if (!found) continue;
    if (loss) {
      return std::unexpected(Error{.code = ErrorCode::invalid_program,
                                   .stage = Stage::verify,
                                   .where = concat("output ", found->arg.name),
                                   .what = concat("a second loss output, after ", *loss),
                                   .fix = "keep one LOSS_OUTPUT"});
    }
    loss = &found->arg.name;
  }
  if (!loss) return std::nullopt;
  return ExportBackwardSignature{detail::map_of<GradientToParameterSpec>(output_specs),
                                 detail::map_of<GradientToUserInputSpec>(output_specs), *loss};
}

template <class>
constexpr void ExportGraphSignature::replace_all_uses(Name old_name, Name new_name, SignatureSemantics semantics) {
  const auto rename = [&]<class Argument>(Argument& argument) {
    if (detail::is_renamed<Argument>(semantics) && argument.name == old_name) argument.name = new_name;
  };
  const auto visit_spec = [&](auto& spec) {
    if constexpr (requires { spec.arg.name; }) {
      rename(spec.arg);
    } else {
      std::visit(rename, spec.arg);
    }
  };
  for (OutputSpec& spec : output_specs) std::visit(visit_spec, spec);
  for (InputSpec& spec : input_specs) std::visit(visit_spec, spec);
}

}  // namespace davit
