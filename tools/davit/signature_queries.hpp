// SPDX-License-Identifier: MIT
#pragma once

#include <rapidjson/rapidjson.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/program/python_repr.hpp"
#include "davit/program/signature.hpp"

namespace davit::formats {

namespace detail {

template <class Writer>
void write_string(Writer& writer, std::string_view text) {
  writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

template <class Writer>
void write_key(Writer& writer, std::string_view key) {
  writer.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
}

/// Writes a float like Python's json module: 1.0, 1e-05, NaN, -Infinity.
template <class Writer>
void write_float(Writer& writer, double value) {
  std::string text;
  if (std::isfinite(value)) {
    davit::detail::append_python_float(text, value);
  } else {
    text = std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
  }
  writer.RawValue(text.data(), text.size(), rapidjson::kNumberType);
}

template <class Writer>
void write(Writer& writer, const Name& name) {
  write_string(writer, name);
}

template <class Writer>
void write(Writer& writer, const ConstantValue& value) {
  std::visit(
      [&writer]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, std::monostate>) {
          writer.Null();
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          writer.Int64(v);
        } else if constexpr (std::is_same_v<T, double>) {
          write_float(writer, v);
        } else if constexpr (std::is_same_v<T, bool>) {
          writer.Bool(v);
        } else {
          write_string(writer, v);
        }
      },
      value);
}

template <class Writer>
void write(Writer& writer, const NamePair& pair) {
  writer.StartArray();
  write_string(writer, pair.key);
  write_string(writer, pair.value);
  writer.EndArray();
}

template <class Writer, class T>
void write(Writer& writer, const std::vector<T>& list) {
  writer.StartArray();
  for (const T& item : list) write(writer, item);
  writer.EndArray();
}

template <class Writer>
void write(Writer& writer, const std::optional<ExportBackwardSignature>& backward) {
  if (!backward) {
    writer.Null();
    return;
  }
  writer.StartObject();
  write_key(writer, "loss_output");
  write(writer, backward->loss_output);
  write_key(writer, "gradients_to_parameters");
  write(writer, backward->gradients_to_parameters);
  write_key(writer, "gradients_to_user_inputs");
  write(writer, backward->gradients_to_user_inputs);
  writer.EndObject();
}

}  // namespace detail

/// Writes the results of all signature queries as one JSON object: mappings as ordered [key, value] pairs, floats as in
/// Python.
///
/// `writer` is a rapidjson::Writer or PrettyWriter. Omits an empty `parameters_to_mutate`, which torch 2.6 does not
/// have. Errors: a signature with two losses; nothing is written then.
template <class Writer>
[[nodiscard]] Result<void> write_signature_queries(Writer& writer, const ExportGraphSignature& signature) {
  const auto backward = signature.backward_signature();
  if (!backward) return error_of(backward);
  const auto entry = [&writer](std::string_view key, const auto& answer) {
    detail::write_key(writer, key);
    detail::write(writer, answer);
  };
  writer.StartObject();
  entry("parameters", signature.parameters());
  entry("buffers", signature.buffers());
  entry("non_persistent_buffers", signature.non_persistent_buffers());
  entry("lifted_tensor_constants", signature.lifted_tensor_constants());
  entry("lifted_custom_objs", signature.lifted_custom_objs());
  entry("user_inputs", signature.user_inputs());
  entry("user_outputs", signature.user_outputs());
  entry("inputs_to_parameters", signature.inputs_to_parameters());
  entry("inputs_to_buffers", signature.inputs_to_buffers());
  entry("buffers_to_mutate", signature.buffers_to_mutate());
  if (const NameMap mutated = signature.parameters_to_mutate(); !mutated.empty()) {
    entry("parameters_to_mutate", mutated);
  }
  entry("user_inputs_to_mutate", signature.user_inputs_to_mutate());
  entry("inputs_to_lifted_tensor_constants", signature.inputs_to_lifted_tensor_constants());
  entry("inputs_to_lifted_custom_objs", signature.inputs_to_lifted_custom_objs());
  entry("backward_signature", *backward);
  detail::write_key(writer, "assertion_dep_token");
  writer.Null();
  entry("input_tokens", signature.input_tokens());
  entry("output_tokens", signature.output_tokens());
  writer.EndObject();
  return {};
}

/// Returns the results of all signature queries as one line of JSON: mappings as ordered [key, value] pairs, floats as
/// in Python.
///
/// Omits an empty `parameters_to_mutate`, which torch 2.6 does not have. Errors: a signature with two losses.
[[nodiscard]] inline Result<std::string> signature_queries_json(const ExportGraphSignature& signature) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  const Result<void> written = write_signature_queries(writer, signature);
  if (!written) return error_of(written);
  return std::string(buffer.GetString(), buffer.GetSize());
}

}  // namespace davit::formats
