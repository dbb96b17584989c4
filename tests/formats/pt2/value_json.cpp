// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/value_json.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support/program_json.hpp"

using namespace davit;
using namespace davit::formats;

namespace {

struct Read {
  Read(ValueKind kind, const std::string& text) {
    auto parsed = parse_json(text, "meta");
    REQUIRE(parsed);
    document = *std::move(parsed);
    ValueReader reader(builder);
    value = reader.read(kind, document.root());
  }
  [[nodiscard]] GraphModuleView view() const { return builder.module().view(); }
  GraphBuilder builder;
  JsonDocument document;
  Result<Value> value;
};

void check_refused(ValueKind kind, const std::string& text, std::string_view where, std::string_view what) {
  const Read read(kind, text);
  REQUIRE(!read.value);
  CHECK(read.value.error().where == where);
  CHECK_MESSAGE(read.value.error().what.view().find(what) != std::string_view::npos, to_string(read.value.error()));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("a tensor has type, sizes, strides and place") {
  const Read read(ValueKind::tensor, program_json::meta("2, 3", "1, 2", "5"));
  REQUIRE(read.value);
  const Value& v = *read.value;
  CHECK(v.kind == ValueKind::tensor);
  CHECK(v.dtype == ScalarType::int64);
  CHECK(read.view().dims_of(v.sizes)[1].value == 3);
  CHECK(read.view().dims_of(v.strides)[1].value == 2);
  CHECK(read.view().dims_of(v.sizes)[1].is_static());
  CHECK(read.view().str(v.device) == "cpu");
  CHECK(v.layout == Layout::strided);
  CHECK(v.requires_grad == 0);
}

TEST_CASE("sizes may be expressions, with or without an example") {
  const std::string symbol = R"json({"as_expr": {"expr_str": "Symbol('s0')", "hint": {"as_int": 5}}})json";
  const std::string unbacked = R"json({"as_expr": {"expr_str": "Symbol('u0')", "hint": null}})json";
  std::string text = program_json::meta("2, 3", "3, 1");
  text = replaced(text, R"({"as_int": 2})", symbol);
  const Read read(ValueKind::tensor, replaced(text, R"({"as_int": 3})", unbacked));
  REQUIRE(read.value);
  const auto dims = read.view().dims_of(read.value->sizes);
  CHECK(dims[0].value == 5);
  CHECK(read.view().str(read.view().exprs[dims[0].expr].name) == "s0");
  CHECK(dims[1].value == 0);
  CHECK(!dims[1].is_static());
}

TEST_CASE("symbolic numbers and custom objects") {
  CHECK(Read(ValueKind::sym_int, R"({"as_int": -4})").value->constant == -4);
  CHECK(Read(ValueKind::sym_bool, R"({"as_bool": true})").value->constant == 1);
  CHECK(Read(ValueKind::sym_float, R"({"as_float": 1.5})").value->constant == std::bit_cast<std::int64_t>(1.5));
  const Read read(
      ValueKind::sym_bool,
      R"json({"as_expr": {"expr_str": "LessThan(Symbol('u0'), Integer(5))", "hint": {"as_bool": true}}})json");
  REQUIRE(read.value);
  CHECK(read.value->kind == ValueKind::sym_bool);
  CHECK(read.value->constant == 1);
  CHECK(read.view().exprs[read.value->expr].op == ExprOp::le);
  const Read object(ValueKind::custom_obj, R"({"name": "o", "class_fqn": "ns.Foo"})");
  CHECK(object.view().str(object.value->class_fqn) == "ns.Foo");
}

TEST_CASE("damaged descriptions are refused with their place") {
  using program_json::meta;
  check_refused(ValueKind::tensor, "3", "meta", "expected an object");
  check_refused(ValueKind::tensor, meta("2", "1", "99"), "meta.dtype", "scalar type 99");
  check_refused(ValueKind::tensor, meta("-2", "1"), "meta.sizes[0]", "negative");
  check_refused(ValueKind::tensor, meta("2", "-1"), "meta.strides[0]", "negative");
  check_refused(ValueKind::tensor, meta("2, 3", "1"), "meta", "2 sizes but 1 strides");
  check_refused(ValueKind::tensor, meta("1099511627776, 1099511627776", "1, 1"), "meta", "too large");
  check_refused(ValueKind::tensor, meta("2, 2", "1, 9223372036854775807"), "meta", "too large");
  check_refused(ValueKind::tensor,
                replaced(meta("2", "1"), R"("storage_offset": {"as_int": 0})", R"("storage_offset": {"as_int": -1})"),
                "meta", "negative");
  check_refused(ValueKind::tensor, replaced(meta("2", "1"), "\"layout\": 7", "\"layout\": 9"), "meta.layout",
                "layout 9");
  check_refused(ValueKind::tensor, replaced(meta("2", "1"), "\"cpu\"", "4"), "meta.device.type", "expected a string");
  check_refused(ValueKind::tensor, replaced(meta("2", "1"), "as_int", "as_float"), "meta.sizes[0].as_float", "kind");
  check_refused(ValueKind::tensor, meta("1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1", "1"), "meta",
                "17 dimensions");
  check_refused(ValueKind::sym_int, R"json({"as_expr": {"expr_str": "Foo(Integer(1))"}})json", "meta.as_expr.expr_str",
                "function 'Foo' is not known");
  check_refused(ValueKind::sym_int, R"json({"as_expr": {"expr_str": "Integer(1)", "hint": {"as_bool": true}}})json",
                "meta.as_expr.hint.as_bool", "kind");
  check_refused(ValueKind::sym_int, R"({"as_int": 1, "as_expr": 2})", "meta", "exactly one key");
  check_refused(ValueKind::custom_obj, R"({"name": "o"})", "meta.class_fqn", "missing");
}
