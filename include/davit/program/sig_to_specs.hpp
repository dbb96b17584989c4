// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/program/signature.hpp"

namespace davit {

/// Names and mappings that determine the specs of a graph's inputs and outputs: AOTAutograd's graph signature.
struct SignatureNames {
  std::vector<Name> user_inputs;
  NameMap inputs_to_parameters;
  NameMap inputs_to_buffers;
  std::vector<Name> non_persistent_buffers;  ///< targets
  std::vector<Name> user_outputs;
  NameMap buffer_mutations;
  NameMap parameter_mutations;  ///< newer than torch 2.6
  NameMap user_input_mutations;
  NameMap gradients_to_parameters;
  NameMap gradients_to_user_inputs;
  std::optional<Name> loss_output;
  std::vector<Name> input_tokens;
  std::vector<Name> output_tokens;
};

namespace detail {

/// A NameMap with an index.
template <class = void>
class NameLookup {
 public:
  constexpr explicit NameLookup(const NameMap& map) : map_(map), index_(map) {}
  [[nodiscard]] constexpr const Name* find(std::string_view name) const noexcept {
    const std::size_t at = index_.last(name);
    return at == NameIndex::not_found ? nullptr : &map_[at].value;
  }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return index_.distinct(); }

 private:
  const NameMap& map_;
  NameIndex index_;
};

template <class = void>
constexpr std::unexpected<Error> spec_error(std::string_view place, std::string_view name, Name what,
                                            std::string_view fix) {
  return std::unexpected(Error{.code = ErrorCode::invalid_program,
                               .stage = Stage::verify,
                               .where = concat(place, " ", name),
                               .what = std::move(what),
                               .fix = fix});
}

/// Converts an argument that is neither a tensor nor a token to the argument of a user input or output.
template <class = void>
constexpr UserArgument to_user_argument(const ArgumentSpec& argument) {
  return std::visit(
      []<class Argument>(const Argument& a) -> UserArgument {
        if constexpr (std::is_same_v<Argument, TokenArgument>) {
          return TensorArgument{a.name};
        } else {
          return a;
        }
      },
      argument);
}

template <class = void>
constexpr Result<std::vector<InputSpec>> to_input_specs(const SignatureNames& names,
                                                        std::span<const ArgumentSpec> inputs) {
  const NameIndex user_inputs(names.user_inputs);
  const NameLookup<> parameters(names.inputs_to_parameters);
  const NameLookup<> buffers(names.inputs_to_buffers);
  const NameIndex non_persistent(names.non_persistent_buffers);
  std::vector<InputSpec> specs;
  for (const ArgumentSpec& input : inputs) {
    const auto* tensor = std::get_if<TensorArgument>(&input);
    if (const auto* token = std::get_if<TokenArgument>(&input)) {
      specs.push_back(InputTokenSpec{*token});
    } else if (!tensor || user_inputs.contains(tensor->name)) {
      specs.push_back(UserInputSpec{to_user_argument(input)});
    } else if (const Name* parameter = parameters.find(tensor->name)) {
      specs.push_back(InputToParameterSpec(*tensor, *parameter));
    } else if (const Name* buffer = buffers.find(tensor->name)) {
      specs.push_back(InputToBufferSpec(*tensor, *buffer, !non_persistent.contains(*buffer)));
    } else {
      return spec_error("input", tensor->name, concat("Unknown tensor input kind: ", tensor->name),
                        "name it in user_inputs, inputs_to_parameters or inputs_to_buffers");
    }
  }
  return specs;
}

template <class = void>
class OutputClassifier {
 public:
  constexpr OutputClassifier(const SignatureNames& names, SignatureSemantics semantics)
      : semantics_(semantics),
        user_outputs_(names.user_outputs),
        buffers_(names.buffer_mutations),
        parameters_(names.parameter_mutations),
        inputs_(names.user_input_mutations),
        parameter_gradients_(names.gradients_to_parameters),
        input_gradients_(names.gradients_to_user_inputs),
        loss_(names.loss_output),
        mutations_(buffers_.size() + parameters_.size() + inputs_.size() + names.output_tokens.size()) {}

  constexpr Result<OutputSpec> classify(std::size_t index, const ArgumentSpec& output) const {
    if (const auto* token = std::get_if<TokenArgument>(&output)) return OutputTokenSpec{*token};
    const auto* tensor = std::get_if<TensorArgument>(&output);
    if (!tensor) return other(output);
    if (index < mutations_) return mutation(*tensor);
    return value(*tensor);
  }

 private:
  constexpr Result<OutputSpec> other(const ArgumentSpec& output) const {
    const bool old_kind =
        std::holds_alternative<SymIntArgument>(output) || std::holds_alternative<ConstantArgument>(output);
    if (semantics_ == SignatureSemantics::legacy && !old_kind) {
      return spec_error("output", arg_name(output), concat("a ", type_name(output), " cannot be an output"),
                        "use SignatureSemantics::newest");
    }
    return UserOutputSpec{to_user_argument(output)};
  }
  constexpr Result<OutputSpec> mutation(const TensorArgument& tensor) const {
    if (const Name* buffer = buffers_.find(tensor.name)) return BufferMutationSpec(tensor, *buffer);
    if (const Name* parameter = parameters_.find(tensor.name)) return ParameterMutationSpec(tensor, *parameter);
    if (const Name* input = inputs_.find(tensor.name)) return UserInputMutationSpec(tensor, *input);
    return spec_error("output", tensor.name, concat("Unknown tensor mutation kind: ", tensor.name),
                      "put tokens and mutations before all other outputs");
  }
  constexpr Result<OutputSpec> value(const TensorArgument& tensor) const {
    if (user_outputs_.contains(tensor.name)) return UserOutputSpec{tensor};
    if (const Name* parameter = parameter_gradients_.find(tensor.name)) {
      return GradientToParameterSpec(tensor, *parameter);
    }
    if (const Name* input = input_gradients_.find(tensor.name)) return GradientToUserInputSpec(tensor, *input);
    if (loss_ && *loss_ == tensor.name) return LossOutputSpec{tensor};
    return spec_error("output", tensor.name, concat("Unknown tensor output kind: ", tensor.name),
                      "name it in user_outputs, the gradients or loss_output");
  }

  SignatureSemantics semantics_;
  NameIndex user_outputs_;
  NameLookup<> buffers_;
  NameLookup<> parameters_;
  NameLookup<> inputs_;
  NameLookup<> parameter_gradients_;
  NameLookup<> input_gradients_;
  const std::optional<Name>& loss_;
  std::size_t mutations_;
};

}  // namespace detail

/// Makes the specs of a graph with these inputs and outputs. Error: the first input or output whose kind is
/// undetermined.
///
/// A tensor among the first (mutations + tokens) outputs must be a mutation, a later one must not. The legacy class
/// rejects outputs that are custom objects, SymFloat or SymBool. O(n log n). Source: _convert_to_export_graph_signature
/// of torch 2.6 and later, _sig_to_specs before.
template <class = void>
[[nodiscard]] constexpr Result<ExportGraphSignature> sig_to_specs(
    const SignatureNames& names, std::span<const ArgumentSpec> inputs, std::span<const ArgumentSpec> outputs,
    SignatureSemantics semantics = SignatureSemantics::newest) {
  Result<std::vector<InputSpec>> input_specs = detail::to_input_specs(names, inputs);
  if (!input_specs) return error_of(std::move(input_specs));
  ExportGraphSignature signature{.input_specs = *std::move(input_specs), .output_specs = {}};
  const detail::OutputClassifier<> classifier(names, semantics);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    Result<OutputSpec> spec = classifier.classify(i, outputs[i]);
    if (!spec) return error_of(std::move(spec));
    signature.output_specs.push_back(*std::move(spec));
  }
  return signature;
}

}  // namespace davit
