// SPDX-License-Identifier: MIT
#include "davit/lowering/rule_evaluator.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../programs.hpp"

using namespace davit;

namespace {

struct Rules {
  GraphEmitter emit{programs::identity({2, 3}).graph_module};
  RuleEvaluator rules{emit};
  Item x = Item::of(GraphBuilder::value(0));
  Rules() { emit.begin(root_graph); }

  Item eval(std::string_view body) { return rules.run(concat("f(x): ", body), {{"x", x}}); }
  std::int64_t integer(std::string_view body) {
    const Item item = eval(body);
    REQUIRE(emit.fault == nullptr);
    return rules.integer(item);
  }
};

}  // namespace

TEST_CASE("arithmetic of a rule: precedence, lists, conditions, folds") {
  Rules r;
  CHECK(r.integer("1 + 2 * 3 - 8 // 3") == 5);
  CHECK(r.integer("-7 // 2 + -7 % 2") == -3);
  CHECK(r.integer("a = [1, 2, 3]; a[-1] + len(a[1:]) + len(a[:-1] + a)") == 10);
  CHECK(r.integer("rank(x) == 2 && !(size(x, 1) < 3) || fail(0) ? 1 : fail(0)") == 1);
  CHECK(r.integer("fold(a: 0; i in range(1, 5): a * 10 + i)") == 1234);
  CHECK(r.integer("fold(a: 7; i in []: fail(i))") == 7);
  CHECK(r.integer("l = scan(a: 0; i in range(1, 5): a * 10 + i); l[0] + l[2] + l[-1]") == 1 + 123 + 1234);
  CHECK(r.integer("len(scan(a: 7; i in []: fail(i)))") == 0);
  CHECK(r.integer("product([d in sizes(x): d + 1])") == 12);
  CHECK(r.integer("len([d in []: fail(d)])") == 0);
  CHECK(r.integer("compact([none, 4, none])[0]") == 4);
  CHECK(r.integer("'a' == 'b' ? 1 : dtype(x) == float32 ? 2 : 3") == 2);
  CHECK(r.emit.view().nodes.empty());
}

TEST_CASE("numbers of a dtype: rounded to 16 bits, its epsilon") {
  Rules r;
  const auto number = [&](std::string_view body) {
    const Item item = r.eval(body);
    REQUIRE(r.emit.fault == nullptr);
    return r.rules.number(item);
  };
  CHECK(number("rounded(0.1, bfloat16)") == 0.10009765625);
  CHECK(number("rounded(1e-08, float16)") == 0);
  CHECK(number("rounded(0.1, float32)") == 0.1);
  CHECK(number("rounded(7, int64)") == 7);
  CHECK(number("epsilon(bfloat16)") == 0.0078125);
  CHECK(number("epsilon(dtype(x))") == 0x1p-23);
  CHECK(r.emit.view().nodes.empty());
}

TEST_CASE("a branch that is not taken emits nothing") {
  Rules r;
  (void)r.eval("true ? neg(x) : relu(x)");
  REQUIRE(r.emit.fault == nullptr);
  REQUIRE(r.emit.view().nodes.size() == 1);
  CHECK(r.emit.view().target(r.emit.view().nodes[0]) == "aten.neg.default");
}

TEST_CASE("dtype, sizes and strides of emitted nodes") {
  Rules r;
  const auto shape = [&](std::string_view body) {
    const Item item = r.eval(body);
    CAPTURE(body);
    REQUIRE(r.emit.fault == nullptr);
    REQUIRE(r.rules.is_tensor(item));
    const Value& v = r.emit.module().values[item.value()];
    std::vector<std::int64_t> out;
    for (const Range range : {v.sizes, v.strides})
      for (const Dim& d : r.emit.view().dims_of(range)) out.push_back(d.value);
    out.push_back(static_cast<std::int64_t>(v.dtype));
    return out;
  };
  using Is = std::vector<std::int64_t>;
  constexpr std::int64_t f32 = 6, i64 = 4, b8 = 11;
  CHECK(shape("permute(x, [1, 0])") == Is{3, 2, 1, 3, f32});
  CHECK(shape("unsqueeze(x, 1) * x") == Is{2, 2, 3, 6, 3, 1, f32});
  CHECK(shape("expand(unsqueeze(x, 0), [4, -1, 3])") == Is{4, 2, 3, 0, 3, 1, f32});
  CHECK(shape("slice.Tensor(x, 1, 0, 9223372036854775807, 2)") == Is{2, 2, 3, 2, f32});
  CHECK(shape("slice.Tensor(x, 1, -2)") == Is{2, 2, 3, 1, f32});
  CHECK(shape("select.int(x, -1, 0)") == Is{2, 3, f32});
  CHECK(shape("squeeze.dims(unsqueeze(x, -1), [-1])") == Is{2, 3, 3, 1, f32});
  CHECK(shape("sum.dim_IntList(x > 0, [0], true)") == Is{1, 3, 3, 1, i64});
  CHECK(shape("mean(x)") == Is{f32});
  CHECK(shape("argmax(x, 1)") == Is{2, 1, i64});
  CHECK(shape("max.dim(x, 1)[1]") == Is{2, 1, i64});
  CHECK(shape("cat([x, x], -1)") == Is{2, 6, 6, 1, f32});
  CHECK(shape("view(x, [3, -1])") == Is{3, 2, 2, 1, f32});
  CHECK(shape("mm(x, permute(x, [1, 0]))") == Is{2, 2, 2, 1, f32});
  CHECK(shape("constant_pad_nd(x, [1, 2, 0, 1])") == Is{3, 6, 6, 1, f32});
  CHECK(shape("arange.start_step(0, 7, 2)") == Is{4, 1, i64});
  CHECK(shape("full([2], true, dtype=bool)") == Is{2, 1, b8});
  CHECK(shape("index.Tensor(x, [none, argmax(x, 1)])") == Is{2, 2, 2, 1, f32});
  CHECK(shape("where(x > 0, x, 1)") == Is{2, 3, 3, 1, f32});
  CHECK(shape("einsum('ij,kj->ik', [x, x])") == Is{2, 2, 2, 1, f32});
  CHECK(shape("topk(mean(x), 1, -1)[1]") == Is{i64});
  CHECK(shape("repeat(x, [2, 2, 2])") == Is{2, 4, 6, 24, 6, 1, f32});
}

TEST_CASE("a malformed rule is a fault, not a crash") {
  for (const std::string_view body : {"",
                                      "(",
                                      "[",
                                      "[1",
                                      "f(",
                                      "x[",
                                      "x[5]",
                                      "[1][1]",
                                      "1 ? 2",
                                      "a = 1",
                                      "y",
                                      "nosuch(x)",
                                      "size(x)",
                                      "size(x, 7)",
                                      "range(0, 1000000000)",
                                      "mm(x, x, x, x)",
                                      "fold(",
                                      "scan(a: 1; i",
                                      "scan(a: 1; i in []: a)[0]",
                                      "fold(a: 1",
                                      "'a",
                                      "1 2",
                                      "x + 'a'",
                                      "view(x, [0 - 5 // 0])",
                                      "permute(x, [0])",
                                      "moved(2, [0], [])",
                                      "einsum('ij', [x, x])",
                                      "einsum('ijk', [x])",
                                      "unsqueeze(x, 5)",
                                      "unsqueeze(mean(x), 1)",
                                      "stack([x], 9)",
                                      "transpose.int(x, 0, 9)",
                                      "squeeze.dim(x, 7)",
                                      "embedding(mean(x), argmax(x, 1))",
                                      "linear(mean(x), x)",
                                      "linear(x, mean(x))"}) {
    CAPTURE(body);
    Rules r;
    (void)r.eval(body);
    CHECK(r.emit.fault != nullptr);
  }
}

TEST_CASE("a dimension out of range in a file is a fault, for every operator") {
  for (const std::string_view body : {"any.dim(x, 1000000000000)",
                                      "any.dim(x, -1000000000000)",
                                      "sum.dim_IntList(x, [7])",
                                      "var.correction(x, [0, 64])",
                                      "index_select(x, 9, x)",
                                      "squeeze.dims(x, [3000])",
                                      "squeeze.dim(x, 3000)",
                                      "select.int(x, 1000000000000, 0)",
                                      "unsqueeze(x, 99)",
                                      "unsqueeze(x, -99)",
                                      "topk(x, 1, 99)",
                                      "slice.Tensor(x, 9, 0, 1)",
                                      "cat([x, x], 9)",
                                      "transpose.int(x, 1000000000000, 0)",
                                      "permute(x, [0, 9])",
                                      "linear(sum(x), x)",
                                      "linear(x, sum(x))",
                                      "embedding(sum(x), x)",
                                      "flip(x, range(-9223372036854775807, 9223372036854775807))",
                                      "range(0, int(inf))",
                                      "[1][int(nan)]"}) {
    CAPTURE(body);
    Rules r;
    (void)r.eval(body);
    CHECK(r.emit.fault != nullptr);
  }
  Rules r;  // of a tensor without dimensions, 0 is valid
  CHECK(r.integer("rank(topk(sum(x), 1, 0)[0])") == 0);
  CHECK(r.integer("rank(sum.dim_IntList(sum(x), [0]))") == 0);
  CHECK(r.integer("rank(linear(x, select.int(x, 0, 0)))") == 1);
}

TEST_CASE("a rule emits no more nodes than a program may have") {
  Rules r;
  r.emit.max_nodes = 1000;
  (void)r.eval("fold(a: x; i in range(0, 1000): a + 1)");
  CHECK(r.emit.fault == nullptr);
  (void)r.eval("fold(a: x; i in range(0, 1000): a + 1)");
  CHECK(r.emit.fault != nullptr);
}

namespace {

/// Rules for x of [s0, 3] with the example 4; s0 is in [2, 10], or unbounded.
struct SymbolicRules {
  static GraphModule of(ValueId& x) {
    GraphBuilder b;
    b.begin_graph();
    const Dim sizes[] = {{4, b.symbol("s0")}, {3}};
    x = b.declare({.name = b.text("x"), .sizes = b.dims(sizes), .dtype = ScalarType::float32});
    b.input(b.value(x));
    b.end_graph({x});
    return std::move(b).finish();
  }
  ValueId id = no_id;
  std::vector<RangeConstraint> ranges;
  GraphEmitter emit{of(id)};
  RuleEvaluator rules;
  explicit SymbolicRules(bool bounded = true)
      : ranges(bounded ? std::vector<RangeConstraint>{{"s0", 2, 10}} : std::vector<RangeConstraint>{}),
        rules(emit, ranges) {
    emit.begin(root_graph);
  }

  Item eval(std::string_view body) {
    return rules.run(concat("f(x): n = size(x, 0); ", body), {{"x", Item::of(GraphBuilder::value(id))}});
  }
};

}  // namespace

TEST_CASE("comparisons of sizes are decided by their ranges, not by the exported example") {
  const auto decided = [](std::string_view body, bool bounded = true) -> std::optional<bool> {
    SymbolicRules r(bounded);
    const Item item = r.eval(body);
    if (r.emit.fault != nullptr) return std::nullopt;
    return r.rules.truth(item);
  };
  for (const std::string_view body :
       {"n > 1", "n >= 2", "1 < n", "n <= 10", "n < 11", "n * n >= 4", "n + 1 <= 11", "n // 2 >= 1", "n % 4 < 4",
        "n - 1 >= 1", "n <= n", "n > 0.5", "n * n + n // 3 > 3"}) {
    CAPTURE(body);
    CHECK(decided(body) == true);
    CHECK(decided(concat("!(", body, ")").view()) == false);
  }
  for (const std::string_view body : {"n > 2", "n >= 3", "n < 10", "5 < n", "n // 2 > 1", "n % 4 > 0", "n > 3.5",
                                      "n / 2 > 0", "0 - n < -3", "n / 2 == 2.0", "(n / 2) ? 1 : 2", "log_of(n)"}) {
    CAPTURE(body);
    CHECK(!decided(body).has_value());
  }
  CHECK(decided("n >= 0", false) == true);  // n is a size
  CHECK(!decided("n - 1 >= 0", false).has_value());
  CHECK(decided("n == 4") == true);
  CHECK(decided("n == 1") == false);
}

TEST_CASE("the smaller and the larger of sizes that only a run tells, and roots of them, are symbolic numbers") {
  const auto emitted = [](std::string_view body, std::int64_t example = 0) {
    SymbolicRules r;
    const Item item = r.eval(body);
    CAPTURE(body);
    REQUIRE(r.emit.fault == nullptr);
    std::vector<std::string> out;
    for (const Node& node : r.emit.view().nodes) out.emplace_back(r.emit.view().target(node));
    if (example != 0) CHECK(r.rules.integer(item) == example);
    return out;
  };
  using Texts = std::vector<std::string>;
  CHECK(emitted("max(n, 3)", 4) == Texts{"aten.sym_size.int", "torch.sym_max"});
  CHECK(emitted("min(n, 5) + min(n, 5)", 8) == Texts{"aten.sym_size.int", "torch.sym_min", "_operator.add"});
  CHECK(emitted("max(n, 1)", 4) == Texts{"aten.sym_size.int"});
  CHECK(emitted("min(n, 1)", 1) == Texts{"aten.sym_size.int"});
  CHECK(emitted("max(n / 2, 1.0)") == Texts{"aten.sym_size.int", "_operator.truediv", "torch.sym_max"});
  CHECK(emitted("1.0 / sqrt_of(n)") == Texts{"aten.sym_size.int", "torch.sym_sqrt", "_operator.truediv"});
  CHECK(emitted("sqrt_of(9.0)") == Texts{"aten.sym_size.int"});
  CHECK(emitted("min(dims(x)[0], 5)", 4) == Texts{"aten.sym_size.int"});  // as sizes of a result, which need no value
}
