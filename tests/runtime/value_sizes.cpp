// SPDX-License-Identifier: MIT
#include "davit/runtime/value_sizes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "../support/draft.hpp"

using namespace davit;
using support::Draft;

namespace {

std::vector<std::int64_t> sizes_of(const EValue& value) {
  if (!value.is_tensor()) return {-1};
  return {value.tensor().sizes().begin(), value.tensor().sizes().end()};
}

}  // namespace

TEST_CASE(
    "static sizes, symbolic ones and expressions of them are known once the symbols are; tensors are contiguous and "
    "have no data") {
  Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ExprId two = d.b.expr({.op = ExprOp::integer, .value = 2});
  const ExprId twice = d.b.expr({.op = ExprOp::mul, .a = s0, .b = two});
  const ExprId u0 = d.b.symbol("u0");
  const ValueId fixed = d.user("fixed", {2, 3});
  const ValueId x = d.user("x", s0);
  const ValueId y = d.sized("y", twice);
  const ValueId unknown = d.sized("unknown", u0);
  const ValueId number = d.b.declare({.name = d.b.text("number"), .expr = twice, .kind = ValueKind::sym_int});
  const ValueId open = d.b.declare({.name = d.b.text("open"), .expr = u0, .kind = ValueKind::sym_int});
  const ValueId real = d.b.declare({.name = d.b.text("real"), .kind = ValueKind::sym_float});
  const ValueId token = d.new_token("token");
  d.output(x);
  const ExportedProgram program = d.finish();
  SymbolValues symbols(program.view().exprs);
  REQUIRE(symbols.bind(s0, 5));
  symbols.settle();
  std::vector<std::int64_t> dims{1, 2, 3};
  const ValueSizes sizes(program.view(), symbols, dims);
  CHECK(sizes_of(sizes.value(fixed)) == std::vector<std::int64_t>{2, 3});
  CHECK(sizes.value(fixed).tensor().is_contiguous());
  CHECK(sizes.value(fixed).tensor().data == nullptr);
  CHECK(sizes.value(fixed).tensor().dtype == ScalarType::float32);
  CHECK(sizes_of(sizes.value(x)) == std::vector<std::int64_t>{5});
  CHECK(sizes_of(sizes.value(y)) == std::vector<std::int64_t>{10});
  CHECK(sizes.value(number).as_int() == 10);
  for (const ValueId v : {unknown, open, real, token}) CHECK(sizes.value(v).is_none());
}

TEST_CASE("a size that is negative, or bytes that no machine has, are not known") {
  Draft d;
  const ExprId s0 = d.b.symbol("s0");
  const ValueId x = d.user("x", s0);
  const ValueId scalar = d.user("scalar");
  const ValueId none = d.user("none", {0, 4});
  const ValueId huge = d.user("huge", {std::int64_t{1} << 40, std::int64_t{1} << 40});
  const ValueId much = d.user("much", {std::int64_t{1} << 30, std::int64_t{1} << 30});
  d.output(x);
  const ExportedProgram program = d.finish();
  const auto known = [&](std::int64_t size, ValueId v) {
    SymbolValues symbols(program.view().exprs);
    (void)symbols.bind(s0, size);
    symbols.settle();
    std::vector<std::int64_t> dims;
    return sizes_of(ValueSizes(program.view(), symbols, dims).value(v));
  };
  CHECK(known(-1, x) == std::vector<std::int64_t>{-1});
  CHECK(known(0, x) == std::vector<std::int64_t>{0});
  CHECK(known(std::int64_t{1} << 44, x) == std::vector<std::int64_t>{std::int64_t{1} << 44});
  CHECK(known(INT64_MAX / 64 + 1, x) == std::vector<std::int64_t>{-1});
  CHECK(known(1, scalar).empty());
  CHECK(known(1, none) == std::vector<std::int64_t>{0, 4});
  CHECK(known(1, huge) == std::vector<std::int64_t>{-1});
  CHECK(known(1, much) == std::vector<std::int64_t>{-1});
}

TEST_CASE("a rank above the limit and an undefined dtype are not known") {
  Draft d;
  std::vector<Dim> dims(max_rank + 1, Dim{.value = 1});
  const ValueId deep = d.b.declare({.name = d.b.text("deep"), .sizes = d.b.dims(dims), .dtype = ScalarType::float32});
  const ValueId undefined = d.b.declare({.name = d.b.text("undefined"), .dtype = ScalarType::undefined});
  d.output(d.user("x"));
  const ExportedProgram program = d.finish();
  const SymbolValues symbols(program.view().exprs);
  std::vector<std::int64_t> storage;
  const ValueSizes sizes(program.view(), symbols, storage);
  CHECK(sizes.value(deep).is_none());
  CHECK(sizes.value(undefined).is_none());
}
