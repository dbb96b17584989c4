// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/json/json.hpp"
#include "davit/formats/pt2/schema_enums.hpp"
#include "davit/formats/pt2/value_scope.hpp"
#include "davit/program/check_tables.hpp"
#include "davit/program/graph_builder.hpp"

namespace davit::formats {

/// Normalizes the name of an operator: removes "torch.ops.", and names torch's functions on symbolic numbers
/// "torch.sym_not" and so on, whatever module the file prints.
[[nodiscard]] inline std::string normalized_target(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.";
  if (target.starts_with(prefix)) return std::string(target.substr(prefix.size()));
  if (!target.starts_with("torch.")) return std::string(target);
  std::string_view function = target.substr(target.rfind('.') + 1);
  if (function.starts_with("_sym_")) function.remove_prefix(1);
  return function.starts_with("sym_") ? "torch." + std::string(function) : std::string(target);
}

/// Reads `Argument` objects except sub-graphs: operands and results of nodes, inputs and outputs of graphs.
///
/// The tag follows the Python value: `2` passed for a float is an int. Bind arguments by the operator's schema. Source:
/// torch._export.serde.schema.Argument.
class ArgumentReader {
 public:
  ArgumentReader(GraphBuilder& builder, ValueReader& values, ValueScope& scope) noexcept
      : builder_(builder), values_(values), scope_(scope) {}

  /// Reads an argument that uses defined values.
  [[nodiscard]] Result<Argument> use(Json json) { return tagged(json, false); }
  /// Reads an argument that defines values.
  [[nodiscard]] Result<Argument> define(Json json) { return tagged(json, true); }
  /// Reads an array of tensors, `[{"name": ...}]`, and defines them.
  [[nodiscard]] Result<std::vector<Argument>> define_tensors(Json json) {
    is_definition_ = true;
    return items(json, &ArgumentReader::tensor);
  }

 private:
  [[nodiscard]] Result<Argument> tagged(Json json, bool defines) {
    const Result<JsonMember> member = json.tagged();
    if (!member) return error_of(member);
    is_definition_ = defines;
    return argument(*member, 0);
  }

  [[nodiscard]] Result<Argument> argument(const JsonMember& member, int depth) {
    const auto& [tag, value] = member;
    using Kind = ArgumentKind;
    if (tag == "as_tensor") return tensor(value);
    if (tag == "as_tensors") return list(value, Kind::value, &ArgumentReader::tensor);
    if (tag == "as_int") return integer(value);
    if (tag == "as_ints") return list(value, Kind::int_, &ArgumentReader::integer);
    if (tag == "as_float") return real(value);
    if (tag == "as_floats") return list(value, Kind::float_, &ArgumentReader::real);
    if (tag == "as_bool") return boolean(value);
    if (tag == "as_bools") return list(value, Kind::bool_, &ArgumentReader::boolean);
    if (tag == "as_none") return GraphBuilder::none();
    if (tag == "as_string") return string(value);
    if (tag == "as_strings") return list(value, Kind::string, &ArgumentReader::string);
    if (tag == "as_sym_int") return sym_int(value);
    if (tag == "as_sym_ints") return list(value, Kind::int_, &ArgumentReader::sym_int);
    if (tag == "as_sym_float") return sym_float(value);
    if (tag == "as_sym_floats") return list(value, Kind::float_, &ArgumentReader::sym_float);
    if (tag == "as_sym_bool") return sym_bool(value);
    if (tag == "as_sym_bools") return list(value, Kind::bool_, &ArgumentReader::sym_bool);
    if (tag == "as_optional_tensor") return optional_tensor(value);
    if (tag == "as_optional_tensors") return list(value, Kind::value, &ArgumentReader::optional_tensor);
    if (tag == "as_nested_tensors") return list(value, Kind::list, &ArgumentReader::tensors);
    if (tag == "as_int_lists") return list(value, Kind::list, &ArgumentReader::integers);
    if (tag == "as_float_lists") return list(value, Kind::list, &ArgumentReader::reals);
    if (tag == "as_custom_obj") return named(value, ValueKind::custom_obj);
    if (tag == "as_string_to_argument") return dictionary(value, depth);
    return constant(member);
  }

  /// Reads an argument that is neither a number nor a value.
  [[nodiscard]] Result<Argument> constant(const JsonMember& member) {
    const auto& [tag, value] = member;
    if (tag == "as_scalar_type") return enumerator(read_scalar_type(value), ArgumentKind::scalar_type);
    if (tag == "as_layout") return enumerator(read_layout(value), ArgumentKind::layout);
    if (tag == "as_memory_format") return enumerator(read_memory_format(value), ArgumentKind::memory_format);
    if (tag == "as_device") return device(value);
    if (tag == "as_operator") return operator_name(value);
    if (tag == "as_complex") return complex(value);
    if (tag == "as_graph") return value.error("a sub-graph cannot stand here");
    return value.error(concat("arguments of kind ", in_quotes(tag), " are not known"));
  }

  template <class Enum>
  [[nodiscard]] static Result<Argument> enumerator(const Result<Enum>& number, ArgumentKind kind) {
    if (!number) return error_of(number);
    return Argument{.payload = static_cast<std::int64_t>(*number), .kind = kind};
  }

  // -- values ---------------------------------------------------------------------------------------------------
  [[nodiscard]] Result<Argument> value(Json name, ValueKind kind) {
    const Result<std::string_view> text = name.string();
    if (!text) return error_of(text);
    const Result<ValueId> id = is_definition_ ? scope_.define(*text, name, values_, builder_) : scope_.use(*text, name);
    if (!id) return error_of(id);
    const ValueKind found = builder_.module().values[*id].kind;
    const bool is_token = kind == ValueKind::tensor && found == ValueKind::token;
    if (found != kind && !is_token) return name.error(concat("value ", in_quotes(*text), " is of another kind"));
    return GraphBuilder::value(*id);
  }
  [[nodiscard]] Result<Argument> named(Json json, ValueKind kind) {
    const Result<Json> name = json.at("name");
    if (!name) return error_of(name);
    return value(*name, kind);
  }
  [[nodiscard]] Result<Argument> tensor(Json json) { return named(json, ValueKind::tensor); }
  [[nodiscard]] Result<Argument> tensors(Json json) { return list(json, ArgumentKind::value, &ArgumentReader::tensor); }
  [[nodiscard]] Result<Argument> optional_tensor(Json json) {
    const Result<JsonMember> member = json.tagged();
    if (!member) return error_of(member);
    if (member->key == "as_none") return GraphBuilder::none();
    if (member->key == "as_tensor") return tensor(member->value);
    return member->value.error("expected a tensor or none");
  }

  // -- numbers --------------------------------------------------------------------------------------------------
  [[nodiscard]] Result<Argument> integer(Json json) {
    const Result<std::int64_t> number = json.integer();
    if (!number) return error_of(number);
    return GraphBuilder::integer(*number);
  }
  [[nodiscard]] Result<Argument> integers(Json json) {
    return list(json, ArgumentKind::int_, &ArgumentReader::integer);
  }
  [[nodiscard]] Result<Argument> real(Json json) {
    const Result<double> number = json.number();
    if (!number) return error_of(number);
    return GraphBuilder::real(*number);
  }
  [[nodiscard]] Result<Argument> reals(Json json) { return list(json, ArgumentKind::float_, &ArgumentReader::real); }
  [[nodiscard]] Result<Argument> boolean(Json json) {
    const Result<bool> truth = json.boolean();
    if (!truth) return error_of(truth);
    return GraphBuilder::boolean(*truth);
  }
  using Read = Result<Argument> (ArgumentReader::*)(Json);
  /// Reads `{"as_name": "s"}`, or a constant under `tag`.
  [[nodiscard]] Result<Argument> symbol(Json json, ValueKind kind, std::string_view tag, Read read) {
    const Result<JsonMember> member = json.tagged();
    if (!member) return error_of(member);
    if (member->key == "as_name") return value(member->value, kind);
    if (member->key == tag) return (this->*read)(member->value);
    return member->value.error(concat("expected as_name or ", tag));
  }
  [[nodiscard]] Result<Argument> sym_int(Json json) {
    return symbol(json, ValueKind::sym_int, "as_int", &ArgumentReader::integer);
  }
  [[nodiscard]] Result<Argument> sym_float(Json json) {
    return symbol(json, ValueKind::sym_float, "as_float", &ArgumentReader::real);
  }
  [[nodiscard]] Result<Argument> sym_bool(Json json) {
    return symbol(json, ValueKind::sym_bool, "as_bool", &ArgumentReader::boolean);
  }
  [[nodiscard]] Result<Argument> complex(Json json) {
    const Result<double> re = json.number("real");
    if (!re) return error_of(re);
    const Result<double> im = json.number("imag");
    if (!im) return error_of(im);
    const auto bits = std::bit_cast<std::uint64_t>(*im);
    return Argument{.payload = std::bit_cast<std::int64_t>(*re),
                    .items = {static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits)},
                    .kind = ArgumentKind::complex_};
  }

  // -- texts and lists ------------------------------------------------------------------------------------------
  [[nodiscard]] Result<Argument> string(Json json) {
    const Result<std::string_view> text = json.string();
    if (!text) return error_of(text);
    return builder_.string(*text);
  }
  [[nodiscard]] Result<Argument> device(Json json) {
    const Result<std::string> name = read_device(json);
    if (!name) return error_of(name);
    return builder_.string(*name, ArgumentKind::device);
  }
  [[nodiscard]] Result<Argument> operator_name(Json json) {
    const Result<std::string_view> target = json.string();
    if (!target) return error_of(target);
    return builder_.string(normalized_target(*target), ArgumentKind::operator_name);
  }
  [[nodiscard]] Result<std::vector<Argument>> items(Json json, Read read) {
    const Result<JsonArray> array = json.array();
    if (!array) return error_of(array);
    std::vector<Argument> list;
    list.reserve(array->size());
    for (const Json item : *array) {
      const Result<Argument> argument = (this->*read)(item);
      if (!argument) return error_of(argument);
      list.push_back(*argument);
    }
    return list;
  }
  [[nodiscard]] Result<Argument> list(Json json, ArgumentKind element, Read read) {
    const Result<std::vector<Argument>> list = items(json, read);
    if (!list) return error_of(list);
    return builder_.list(*list, element);
  }
  /// Reads a dictionary as a list of named items.
  [[nodiscard]] Result<Argument> dictionary(Json json, int depth) {
    if (depth + 1 >= max_list_depth) return json.error("dictionaries are nested too deeply");
    const Result<JsonObject> object = json.object();
    if (!object) return error_of(object);
    std::vector<Argument> items;
    for (const JsonMember member : *object) {
      const Result<JsonMember> tagged = member.value.tagged();
      if (!tagged) return error_of(tagged);
      Result<Argument> item = argument(*tagged, depth + 1);
      if (!item) return item;
      item->name = builder_.intern(member.key);
      items.push_back(*item);
    }
    return builder_.list(items, ArgumentKind::none);
  }

  GraphBuilder& builder_;
  ValueReader& values_;
  ValueScope& scope_;
  bool is_definition_ = false;
};

}  // namespace davit::formats
