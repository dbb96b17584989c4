// SPDX-License-Identifier: MIT
#include "davit/lowering/prepare_program.hpp"

#include <doctest/doctest.h>

#include <string>

#include "../support/toy_backend.hpp"
#include "davit/program/verify.hpp"

using namespace davit;
using support::Draft;

namespace {

std::string targets(const ExportedProgram& program) {
  std::string all;
  const GraphModuleView graph = program.view();
  for (const Node& node : graph.nodes) all += std::string(all.empty() ? "" : " ") + std::string(graph.target(node));
  return all;
}

}  // namespace

TEST_CASE("a program that is prepared already is not copied") {
  Draft d;
  d.output(d.relu("r", d.user("x")));
  const auto prepared = prepare_program(d.finish(), {});
  REQUIRE(prepared);
  CHECK(!*prepared);
}

TEST_CASE("a program becomes functional, and its composite operators are taken apart") {
  Draft d;
  const ValueId a = d.add("a", d.user("x", {2}), 1.0);
  d.op("aten.relu_.default", "relu_", a);
  d.output(d.op("aten.softplus.default", "s", a));
  const auto prepared = prepare_program(d.finish(), {});
  REQUIRE(prepared);
  REQUIRE(*prepared);
  const std::string made = targets(**prepared);
  CHECK(made.starts_with("aten.add.Tensor aten.relu.default "));
  CHECK(made.find("softplus") == std::string::npos);
  CHECK(verify(**prepared).empty());
}

TEST_CASE("violations that verify finds are errors if validate is set") {
  Draft d;
  d.output(d.relu("r", d.user("x")));
  ExportedProgram program = d.finish();
  program.signature.output_specs.clear();
  program.signature.input_specs.clear();
  const auto prepared = prepare_program(program, {});
  REQUIRE(!prepared);
  CHECK(prepared.error().stage == Stage::verify);
  CHECK(prepared.error().what.view().find(" more)") != std::string_view::npos);
  CHECK(prepare_program(program, {}, false).has_value());
}

TEST_CASE("tensors whose layout differs from torch's are neither viewed by as_strided nor written") {
  // in torch t = x.t() * 2 has the layout of x.t()
  const auto prepared = [](bool contiguous, bool writes) {
    Draft d;
    const auto value = [&](std::string_view name, std::int64_t first, std::int64_t second) {
      const Dim sizes[] = {{.value = 3}, {.value = 2}}, strides[] = {{.value = first}, {.value = second}};
      return d.b.declare({.name = d.b.text(name),
                          .sizes = d.b.dims(sizes),
                          .strides = d.b.dims(strides),
                          .dtype = ScalarType::float32});
    };
    const ValueId x = d.user("x", {2, 3});
    const ValueId turned = value("turned", 1, 3);
    d.node("aten.t.default", {d.b.value(x)}, {turned});
    const ValueId t = contiguous ? value("t", 2, 1) : value("t", 1, 3);
    d.node("aten.mul.Tensor", {d.b.value(turned), d.b.real(2)}, {t});
    const ValueId part = d.b.tensor("part", ScalarType::float32, {2});
    d.node("aten.as_strided.default", {d.b.value(t), d.b.ints({2}), d.b.ints({2}), d.b.integer(0)}, {part});
    if (writes) d.op("aten.add_.Tensor", "add_", part, {1.0});
    d.output(writes ? t : part);
    return prepare_program(d.finish(), {});
  };
  for (const bool writes : {false, true}) {
    CHECK(prepared(true, writes).has_value());
    const auto refused = prepared(false, writes);
    REQUIRE(!refused);
    CHECK(refused.error().what == "it views the storage of a tensor that is not contiguous in torch");
  }
}

TEST_CASE("a loop that returns its operand is refused if the operand is written and visible elsewhere") {
  const auto prepared = [](bool hands_on, bool own) {
    Draft d;
    const ValueId i = d.user("i"), x = d.user("x");
    const GraphId go_on = d.branch("go_on", 2, [&](auto in) { return d.lt("less", in[0], 3.0); }, {});
    const GraphId body =
        d.branch("body", 2,
                 [&](auto in) {
                   return std::vector{d.add("next", in[0], 1.0), hands_on ? d.op("aten.detach.default", "same", in[1])
                                                                          : d.mul("twice", in[1], 2.0)};
                 },
                 {});
    const ValueId given = own ? d.mul("own", x, 1.0) : x;
    const ValueId last = d.like(i, "last"), y = d.like(x, "y");
    d.node("higher_order.while_loop",
           {d.b.subgraph(go_on), d.b.subgraph(body), d.b.tensors({i, given}), d.b.tensors({})}, {last, y});
    d.op("aten.add_.Tensor", "add_", y, {1.0});
    d.output(y);
    const auto made = prepare_program(d.finish(), {});
    return made ? Name() : made.error().what;
  };
  for (const bool own : {false, true}) CHECK(prepared(false, own) == "");
  CHECK(prepared(true, true) == "");
  CHECK(prepared(true, false) == "its result is written in place, and its body returns its operand");
}
