// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "davit/program/python_repr.hpp"
#include "davit/program/signature_printer.hpp"

namespace davit {

namespace detail {

void append_python(std::string& out, const ConstantValue& value) {
  std::visit(
      [&out]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, std::monostate>) {
          out += "None";
        } else if constexpr (std::is_same_v<T, bool>) {
          out += v ? "True" : "False";
        } else if constexpr (std::is_same_v<T, double>) {
          append_python_float(out, v);
        } else if constexpr (std::is_same_v<T, Name>) {
          append_python_str(out, v);
        } else {
          out += std::to_string(v);
        }
      },
      value);
}

void append_python(std::string& out, const ArgumentSpec& argument) {
  (out += type_name(argument)) += "(name=";
  append_python_str(out, arg_name(argument));
  if (const auto* constant = std::get_if<ConstantArgument>(&argument)) {
    out += ", value=";
    append_python(out, constant->value);
  }
  if (const auto* object = std::get_if<CustomObjArgument>(&argument)) {
    out += ", class_fqn=";
    append_python_str(out, object->class_fqn);
    out += ", fake_val=None";
  }
  out += ')';
}

/// Appends the common part of input and output specs, up to the target.
template <class Spec>
void append_python_head(std::string& out, std::string_view spec_type, std::string_view kind_type, const Spec& spec) {
  (((((out += spec_type) += "(kind=<") += kind_type) += '.') += name_of(kind(spec))) += ": ";
  (out += std::to_string(static_cast<int>(kind(spec)))) += ">, arg=";
  append_python(out, arg(spec));
  out += ", target=";
  if (const Name* named = target(spec)) {
    append_python_str(out, *named);
  } else {
    out += "None";
  }
}

template <class T>
std::string python_list(const std::vector<T>& items) {
  std::string out = "[";
  for (const T& item : items) {
    if (out.size() > 1) out += ", ";
    out += to_string(item);
  }
  return out += ']';
}

}  // namespace detail

std::string to_string(const ArgumentSpec& argument) {
  std::string out;
  detail::append_python(out, argument);
  return out;
}

std::string to_string(const InputSpec& spec) {
  std::string out;
  detail::append_python_head(out, "InputSpec", "InputKind", spec);
  const std::optional<bool> flag = persistent(spec);
  out += ", persistent=";
  out += !flag ? "None" : *flag ? "True" : "False";
  return out += ')';
}

std::string to_string(const OutputSpec& spec) {
  std::string out;
  detail::append_python_head(out, "OutputSpec", "OutputKind", spec);
  return out += ')';
}

std::string to_string(const ExportGraphSignature& signature) {
  return "ExportGraphSignature(input_specs=" + detail::python_list(signature.input_specs) +
         ", output_specs=" + detail::python_list(signature.output_specs) + ')';
}

}  // namespace davit
