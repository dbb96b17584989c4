// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <expected>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/json/json.hpp"
#include "davit/program/signature.hpp"

namespace davit::formats {

namespace detail {

/// Reads an argument of the form `{"name": ...}`.
template <class Argument>
Result<Argument> read_named(Json json) {
  const Result<std::string_view> name = json.string("name");
  if (!name) return error_of(name);
  return Argument{*name};
}

template <>
inline Result<CustomObjArgument> read_named<CustomObjArgument>(Json json) {
  const Result<std::string_view> name = json.string("name");
  if (!name) return error_of(name);
  const Result<std::string_view> class_fqn = json.string("class_fqn");
  if (!class_fqn) return error_of(class_fqn);
  return CustomObjArgument{*name, *class_fqn};
}

/// Reads the member "arg" of a spec.
template <class Argument>
Result<Argument> read_arg(Json spec) {
  const Result<Json> arg = spec.at("arg");
  if (!arg) return error_of(arg);
  return read_named<Argument>(*arg);
}

/// Reads a spec that holds only its argument.
template <class Spec>
Result<Spec> read_plain(Json json) {
  auto arg = read_arg<decltype(Spec::arg)>(json);
  if (!arg) return error_of(std::move(arg));
  return Spec{*std::move(arg)};
}

/// Reads a spec with a target, whose key in the file is `target_key`.
template <class Spec>
Result<Spec> read_targeted(Json json, std::string_view target_key) {
  auto arg = read_arg<decltype(Spec::arg)>(json);
  if (!arg) return error_of(std::move(arg));
  const Result<std::string_view> target = json.string(target_key);
  if (!target) return error_of(target);
  return Spec(*std::move(arg), *target);
}

inline Result<InputToBufferSpec> read_buffer(Json json) {
  auto arg = read_arg<TensorArgument>(json);
  if (!arg) return error_of(std::move(arg));
  const Result<std::string_view> target = json.string("buffer_name");
  if (!target) return error_of(target);
  const Result<bool> persistent = json.boolean("persistent");
  if (!persistent) return error_of(persistent);
  return InputToBufferSpec(*std::move(arg), *target, *persistent);
}

template <class T>
Result<ConstantValue> to_constant(const Result<T>& value) {
  if (!value) return error_of(value);
  if constexpr (std::is_same_v<T, std::string_view>) {
    return Name::own(*value);
  } else {
    return *value;
  }
}

/// Reads a constant: `{"as_int": 3}` and so on.
inline Result<ConstantValue> read_constant(const JsonMember& tagged) {
  const auto& [tag, value] = tagged;
  if (tag == "as_none") return ConstantValue();
  if (tag == "as_int") return to_constant(value.integer());
  if (tag == "as_float") return to_constant(value.number());
  if (tag == "as_bool") return to_constant(value.boolean());
  if (tag == "as_string") return to_constant(value.string());
  return value.error("a user input or output cannot be of this kind");
}

template <class Argument>
Result<UserArgument> read_symbol(Json json) {
  const Result<std::string_view> name = json.string("as_name");
  if (!name) return error_of(name);
  return Argument{*name};
}

template <class Argument>
Result<UserArgument> read_user_named(Json json) {
  auto argument = read_named<Argument>(json);
  if (!argument) return error_of(std::move(argument));
  return *std::move(argument);
}

inline Result<UserArgument> read_user_argument(Json spec) {
  const Result<JsonMember> tagged = spec.tagged("arg");
  if (!tagged) return error_of(tagged);
  const auto& [tag, value] = *tagged;
  if (tag == "as_tensor") return read_user_named<TensorArgument>(value);
  if (tag == "as_custom_obj") return read_user_named<CustomObjArgument>(value);
  if (tag == "as_sym_int") return read_symbol<SymIntArgument>(value);
  if (tag == "as_sym_float") return read_symbol<SymFloatArgument>(value);
  if (tag == "as_sym_bool") return read_symbol<SymBoolArgument>(value);
  Result<ConstantValue> constant = read_constant(*tagged);
  if (!constant) return error_of(std::move(constant));
  return ConstantArgument{.name = {}, .value = *std::move(constant)};
}

template <class Spec>
Result<Spec> read_user(Json json) {
  Result<UserArgument> argument = read_user_argument(json);
  if (!argument) return error_of(std::move(argument));
  return Spec{*std::move(argument)};
}

inline Result<UserInputSpec> read_constant_input(Json json) {
  const Result<std::string_view> name = json.string("name");
  if (!name) return error_of(name);
  const Result<JsonMember> tagged = json.tagged("value");
  if (!tagged) return error_of(tagged);
  Result<ConstantValue> value = read_constant(*tagged);
  if (!value) return error_of(std::move(value));
  return UserInputSpec{ConstantArgument{*name, *std::move(value)}};
}

inline Result<InputSpec> read_input_spec(Json json) {
  const Result<JsonMember> tagged = json.tagged();
  if (!tagged) return error_of(tagged);
  const auto& [kind, spec] = *tagged;
  if (kind == "user_input") return read_user<UserInputSpec>(spec);
  if (kind == "constant_input") return read_constant_input(spec);
  if (kind == "parameter") return read_targeted<InputToParameterSpec>(spec, "parameter_name");
  if (kind == "buffer") return read_buffer(spec);
  if (kind == "tensor_constant") return read_targeted<InputToTensorConstantSpec>(spec, "tensor_constant_name");
  if (kind == "custom_obj") return read_targeted<InputToCustomObjSpec>(spec, "custom_obj_name");
  if (kind == "token") return read_plain<InputTokenSpec>(spec);
  return spec.error("this kind of input is not known");
}

inline Result<OutputSpec> read_output_spec(Json json) {
  const Result<JsonMember> tagged = json.tagged();
  if (!tagged) return error_of(tagged);
  const auto& [kind, spec] = *tagged;
  if (kind == "user_output") return read_user<UserOutputSpec>(spec);
  if (kind == "loss_output") return read_plain<LossOutputSpec>(spec);
  if (kind == "buffer_mutation") return read_targeted<BufferMutationSpec>(spec, "buffer_name");
  if (kind == "parameter_mutation") return read_targeted<ParameterMutationSpec>(spec, "parameter_name");
  if (kind == "gradient_to_parameter") return read_targeted<GradientToParameterSpec>(spec, "parameter_name");
  if (kind == "gradient_to_user_input") return read_targeted<GradientToUserInputSpec>(spec, "user_input_name");
  if (kind == "user_input_mutation") return read_targeted<UserInputMutationSpec>(spec, "user_input_name");
  if (kind == "token") return read_plain<OutputTokenSpec>(spec);
  return spec.error("this kind of output is not known");
}

template <class Spec>
Result<std::vector<Spec>> read_specs(Json signature, std::string_view key, Result<Spec> (*read)(Json)) {
  const Result<JsonArray> array = signature.array(key);
  if (!array) return error_of(array);
  std::vector<Spec> specs;
  specs.reserve(array->size());
  for (const Json json : *array) {
    Result<Spec> spec = read(json);
    if (!spec) return error_of(std::move(spec));
    specs.push_back(*std::move(spec));
  }
  return specs;
}

}  // namespace detail

/// Reads the `signature` object of a program's JSON (schema 8); unknown keys are ignored.
///
/// Constants keep their type: `as_int`, `as_float`, `as_bool`, `as_string`, `as_none`. Errors name the place. O(size).
/// Source: torch._export.serde.serialize.GraphModuleDeserializer.deserialize_signature.
[[nodiscard]] inline Result<ExportGraphSignature> read_signature(Json json) {
  auto inputs = detail::read_specs<InputSpec>(json, "input_specs", detail::read_input_spec);
  if (!inputs) return error_of(std::move(inputs));
  auto outputs = detail::read_specs<OutputSpec>(json, "output_specs", detail::read_output_spec);
  if (!outputs) return error_of(std::move(outputs));
  return ExportGraphSignature{.input_specs = *std::move(inputs), .output_specs = *std::move(outputs)};
}

}  // namespace davit::formats
