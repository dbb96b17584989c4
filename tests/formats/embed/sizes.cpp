// SPDX-License-Identifier: MIT
#include "davit/formats/embed/sizes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "../../programs.hpp"
#include "davit/backends/portable.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/lowered/backend_list.hpp"
#include "davit/program/graph_builder.hpp"

namespace {

using namespace davit;

std::string refused(const ExportedProgram& program) {
  const auto made = formats::embed_program(program, {.kernels = BackendList<portable>::tables()});
  return made ? "" : std::string(made.error().where.view()) + ": " + std::string(made.error().what.view());
}

/// x[0:2], declared with these sizes and type.
ExportedProgram slice(std::initializer_list<std::int64_t> from, std::initializer_list<std::int64_t> declared,
                      ScalarType dtype = ScalarType::float32) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, from);
  b.end_graph({b.call("aten.slice.Tensor",
                      {{"self", b.value(x)}, {"dim", b.integer(0)}, {"start", b.integer(0)}, {"end", b.integer(2)}},
                      "y", dtype, declared)});
  return programs::user_program(std::move(b).finish());
}

}  // namespace

TEST_CASE(
    "a node that is declared with other sizes than it gives is refused: kernels of static programs believe them") {
  CHECK(refused(slice({5, 3}, {2, 3})) == "");
  const std::string other =
      "node 0 (aten.slice.Tensor): output 0 does not have the sizes or the dtype that the program declares";
  CHECK(refused(slice({5, 3}, {4, 3})) == other);
  CHECK(refused(slice({5, 3}, {2})).starts_with("node 0 (aten.slice.Tensor): "));
  CHECK(refused(slice({5, 3}, {2, 3}, ScalarType::int64)) == other);
  CHECK(refused(slice({}, {2})).starts_with("node 0 (aten.slice.Tensor): "));
  CHECK(refused(slice({3, 40'000'000}, {2, 40'000'000})) ==
        "node 0 (aten.slice.Tensor): 'y' is larger than static programs take");
}

TEST_CASE("a result larger than declared is not computed") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {1, 1, 2, 2});
  b.end_graph({b.call("aten.upsample_nearest2d.vec",
                      {{"input", b.value(x)}, {"output_size", b.ints({7000, 7000})}, {"scale_factors", b.none()}}, "y",
                      ScalarType::float32, {1, 1, 4, 4})});
  CHECK(refused(programs::user_program(std::move(b).finish())) ==
        "node 0 (aten.upsample_nearest2d.vec): an output is larger than the program declares");
}

TEST_CASE("operands that do not fit each other are refused") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {2}), y = b.input("y", ScalarType::float32, {3});
  b.end_graph(
      {b.call("aten.mul.Tensor", {{"self", b.value(x)}, {"other", b.value(y)}}, "z", ScalarType::float32, {3})});
  CHECK(refused(programs::user_program(std::move(b).finish())).starts_with("node 0 (aten.mul.Tensor): "));
}

TEST_CASE("dependence on data is no reason to refuse: a matrix of zeros has no inverse") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {2, 2});
  b.end_graph({b.call("aten.inverse.default", {{"self", b.value(x)}}, "y", ScalarType::float32, {2, 2})});
  CHECK(refused(programs::user_program(std::move(b).finish())) == "");
}
