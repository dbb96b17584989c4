// SPDX-License-Identifier: MIT
#include "davit/ops/operators.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "davit/ops/operator_row.hpp"
#include "davit/ops/operator_schema.hpp"

using namespace davit;

namespace {

constexpr bool check_find() {
  for (const std::string_view name : {"", "aten.add", "aten.add.Tensor(", "aten.add.Tensors", "zzz", "$reduce",
                                      "aten.concat.default"})  // an alias of another operator, which no backend takes
    if (!find_operator(name).empty()) return false;
  const std::string_view last = operator_tables.back().back().schema;
  return find_operator("aten.add.Tensor") ==
             "aten.add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor" &&
         find_operator("aten.std.dim").starts_with("aten.std.dim(Tensor self, int[1]? dim, bool unbiased=True") &&
         find_operator("aten.special_zeta.default") ==
             "aten.special_zeta.default(Tensor self, Tensor other) -> Tensor" &&
         find_operator(operator_name(last)) == last;
}
static_assert(check_find());
static_assert(operator_name("aten.a.out(Tensor self) -> Tensor") == "aten.a.out");
static_assert(operator_name("aten.a.default = aten.b.default") == "aten.a.default");
static_assert(operator_name("aten.a.default") == "aten.a.default" && operator_name("").empty());

std::vector<OperatorRow> all_rows() {
  std::vector<OperatorRow> rows;
  for (const auto family : operator_tables) rows.insert(rows.end(), family.begin(), family.end());
  return rows;
}

}  // namespace

TEST_CASE("operators are found by their full name") { CHECK(check_find()); }
TEST_CASE("each row has texts of one operator, and each operator one row") {
  std::map<std::string_view, std::size_t> rows;
  for (const OperatorRow& row : all_rows()) {
    std::string_view name;
    for (const std::string_view text : {row.schema, row.rule, row.complex_rule}) {
      if (text.empty()) continue;
      CAPTURE(text);
      CHECK((name.empty() || name == operator_name(text)));
      name = operator_name(text);
    }
    CHECK(!name.empty());
    CAPTURE(name);
    CHECK(++rows[name] == 1);
  }
  CHECK(rows.size() > 1000);
}
TEST_CASE("every schema parses, is found, and every parameter has a type and a name of its own") {
  std::size_t count = 0;
  for (const OperatorRow& row : all_rows()) {
    if (row.schema.empty()) continue;
    ++count;
    CAPTURE(row.schema);
    CHECK(find_operator(operator_name(row.schema)) == row.schema);
    const OperatorSchema schema = parse_schema(row.schema);
    CHECK(schema.name == operator_name(row.schema));
    bool keywords = false;
    for (std::size_t i = 0; i < schema.parameters.size(); ++i) {
      const SchemaParameter& p = schema.parameters[i];
      CHECK(!p.type.empty());
      CHECK(!p.name.empty());
      CHECK(p.type.find('(') == std::string_view::npos);
      CHECK(schema.index_of(p.name) == i);
      CHECK((!keywords || p.keyword_only));
      keywords = p.keyword_only;
    }
  }
  CHECK(count > 430);
}
