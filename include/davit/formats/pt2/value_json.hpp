// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/formats/json/json.hpp"
#include "davit/formats/pt2/file_tensor.hpp"
#include "davit/formats/pt2/schema_enums.hpp"
#include "davit/formats/pt2/sympy.hpp"
#include "davit/program/graph_builder.hpp"

namespace davit::formats {

/// Reads the description of a value in a program's JSON: a TensorMeta, a SymInt, SymFloat or SymBool, or a custom
/// object.
///
/// The example value of an expression is its hint; 0 if the file has none (data-dependent sizes). Sizes and strides are
/// in elements. Source: torch._export.serde.schema.
class ValueReader {
 public:
  /// The JSON document must outlive the reader.
  explicit ValueReader(GraphBuilder& builder) noexcept : builder_(builder), exprs_(builder) {}

  /// Reads a value of this kind, without name and graph. Errors name the place in the JSON.
  [[nodiscard]] Result<Value> read(ValueKind kind, Json json) {
    switch (kind) {
      case ValueKind::tensor:
      case ValueKind::token: return tensor(json);
      case ValueKind::custom_obj: return custom_object(json);
      case ValueKind::sym_int:
      case ValueKind::sym_float:
      case ValueKind::sym_bool: break;
    }
    const Result<Dim> symbol = number(kind, json);
    if (!symbol) return error_of(symbol);
    return Value{.constant = symbol->value, .expr = symbol->expr, .kind = kind};
  }

 private:
  [[nodiscard]] Result<Value> tensor(Json json) {
    const Result<Json> dtype = json.at("dtype");
    if (!dtype) return error_of(dtype);
    const Result<ScalarType> type = read_scalar_type(*dtype);
    if (!type) return error_of(type);
    Value value{.kind = ValueKind::tensor, .dtype = *type};
    if (Result<void> read = dims(json, "sizes", value.sizes); !read) return error_of(std::move(read));
    if (Result<void> read = dims(json, "strides", value.strides); !read) return error_of(std::move(read));
    if (Result<void> read = placement(json, value); !read) return error_of(std::move(read));
    if (Result<void> fits = check_extent(json, value); !fits) return error_of(std::move(fits));
    return value;
  }

  /// Checks that later products and sums of sizes do not overflow.
  [[nodiscard]] Result<void> check_extent(Json json, const Value& value) const {
    const std::span<const Dim> dims(builder_.module().dims);
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    for (const Dim& size : dims.subspan(value.sizes.first, value.sizes.count)) sizes.push_back(size.value);
    for (const Dim& stride : dims.subspan(value.strides.first, value.strides.count)) strides.push_back(stride.value);
    if (!strides.empty() && strides.size() != sizes.size())
      return json.error(concat("there are ", sizes.size(), " sizes but ", strides.size(), " strides"));
    if (strides.empty()) strides.resize(sizes.size());
    if (checked_numel(sizes) < 0 || storage_extent(sizes, strides, value.constant, size_of(value.dtype)) < 0)
      return json.error("sizes, strides or offset are negative or too large");
    return {};
  }

  /// Reads offset, device, layout and requires_grad of a tensor.
  [[nodiscard]] Result<void> placement(Json json, Value& value) {
    const Result<Json> offset = json.at("storage_offset");
    if (!offset) return error_of(offset);
    const Result<Dim> elements = number(ValueKind::sym_int, *offset);
    if (!elements) return error_of(elements);
    value.constant = elements->value;
    const Result<Json> device = json.at("device");
    if (!device) return error_of(device);
    const Result<std::string> name = read_device(*device);
    if (!name) return error_of(name);
    value.device = builder_.intern(*name);
    const Result<Json> layout = json.at("layout");
    if (!layout) return error_of(layout);
    const Result<Layout> number = read_layout(*layout);
    if (!number) return error_of(number);
    value.layout = *number;
    const Result<bool> requires_grad = json.boolean("requires_grad");
    if (!requires_grad) return error_of(requires_grad);
    value.requires_grad = *requires_grad ? 1 : 0;
    return {};
  }

  [[nodiscard]] Result<void> dims(Json json, std::string_view key, Range& range) {
    const Result<JsonArray> array = json.array(key);
    if (!array) return error_of(array);
    if (array->size() > max_rank)
      return json.error(concat("a tensor of ", array->size(), " dimensions; at most ", max_rank, " are supported"));
    std::vector<Dim> list;
    for (const Json item : *array) {
      const Result<Dim> dim = number(ValueKind::sym_int, item);
      if (!dim) return error_of(dim);
      if (dim->value < 0) return item.error("it is negative");
      list.push_back(*dim);
    }
    range = builder_.dims(list);
    return {};
  }

  [[nodiscard]] Result<Value> custom_object(Json json) {
    const Result<std::string_view> class_fqn = json.string("class_fqn");
    if (!class_fqn) return error_of(class_fqn);
    return Value{.class_fqn = builder_.intern(*class_fqn), .kind = ValueKind::custom_obj};
  }

  /// Reads a number or an expression: `{"as_int": 3}`, `{"as_expr": {"expr_str": ..., "hint": ...}}`.
  [[nodiscard]] Result<Dim> number(ValueKind kind, Json json) {
    const Result<JsonMember> tagged = json.tagged();
    if (!tagged) return error_of(tagged);
    if (tagged->key == "as_expr") return expression(kind, tagged->value);
    const Result<std::int64_t> value = constant(kind, *tagged);
    if (!value) return error_of(value);
    return Dim{.value = *value};
  }

  [[nodiscard]] Result<Dim> expression(ValueKind kind, Json json) {
    const Result<Json> text = json.at("expr_str");
    if (!text) return error_of(text);
    const Result<std::string_view> srepr = text->string();
    if (!srepr) return error_of(srepr);
    const Result<ExprId> expr = exprs_.read(*srepr);
    if (!expr) {
      std::unexpected<Error> error = text->error(concat(expr.error().where, ": ", expr.error().what), expr.error().fix);
      error.error().code = expr.error().code;
      return error;
    }
    const auto hint = json.find("hint");
    if (!hint) return error_of(hint);
    Dim dim{.expr = *expr};
    if (!*hint) return dim;
    const Result<JsonMember> tagged = (*hint)->tagged();
    if (!tagged) return error_of(tagged);
    const Result<std::int64_t> value = constant(kind, *tagged);
    if (!value) return error_of(value);
    dim.value = *value;
    return dim;
  }

  /// Reads an int, a bool as 0 or 1, or the bits of a float.
  [[nodiscard]] static Result<std::int64_t> constant(ValueKind kind, const JsonMember& tagged) {
    const auto& [tag, value] = tagged;
    if (kind == ValueKind::sym_int && tag == "as_int") return value.integer();
    if (kind == ValueKind::sym_bool && tag == "as_bool") {
      const Result<bool> boolean = value.boolean();
      if (!boolean) return error_of(boolean);
      return *boolean ? 1 : 0;
    }
    if (kind == ValueKind::sym_float && (tag == "as_float" || tag == "as_int")) {
      const Result<double> real = value.number();
      if (!real) return error_of(real);
      return std::bit_cast<std::int64_t>(*real);
    }
    return value.error("a symbolic number cannot be of this kind");
  }

  GraphBuilder& builder_;
  SympyReader exprs_;
};

}  // namespace davit::formats
