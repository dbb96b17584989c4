// SPDX-License-Identifier: MIT
#include "davit/formats/embed/numbers.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "davit/formats/embed_program.hpp"
#include "davit/formats/pt2.hpp"
#include "support/data.hpp"

namespace {

using namespace davit;
using formats::EmbedNumbers;

}  // namespace

TEST_CASE("sizes are numbers once every symbol has one") {
  const auto program = formats::read_pt2(test_data("models/digits_mlp/program.pt2"));
  REQUIRE(program.has_value());
  EmbedNumbers unbound(*program, {{"s9", 3}});
  CHECK(unbound.has("s0"));
  CHECK_FALSE(unbound.has("s9"));
  CHECK(unbound.symbol_list() == "its symbols are s0");
  CHECK(unbound.bind().error().fix == "give numbers by --dim SYMBOL=N; its symbols are s0");
  EmbedNumbers numbers(*program, {{"s0", 5}});
  REQUIRE(numbers.bind().has_value());
  const GraphModuleView graph = program->view();
  const Argument& input = graph.args(graph.root().inputs).back();
  CHECK(numbers.sizes_of(graph.values[input.value()])[0] == 5);
  EmbedNumbers outside(*program, {{"s0", 5000}});
  CHECK(outside.bind().error().where == "symbol s0");
}

TEST_CASE("guards hold of the numbers") {
  const auto program = formats::read_pt2(test_data("guards/relation.pt2"));
  REQUIRE(program.has_value());
  const auto checked = [&](std::int64_t s0, std::int64_t s1) {
    EmbedNumbers numbers(*program, {{"s0", s0}, {"s1", s1}});
    REQUIRE(numbers.bind().has_value());
    return numbers.check_guards();
  };
  CHECK(checked(3, 7).has_value());
  const Result<void> broken = checked(7, 3);
  REQUIRE_FALSE(broken.has_value());
  CHECK(broken.error().code == ErrorCode::invalid_shape);
  CHECK(broken.error().stage == Stage::save);
  CHECK(broken.error().what == "x.shape[0] < y.shape[0] does not hold: x.shape[0] is 7, y.shape[0] is 3");
}

TEST_CASE("guards ask for strides of contiguous tensors, and for fixed inputs") {
  auto program = formats::read_pt2(test_data("models/primitive_inputs/program.pt2"));
  REQUIRE(program.has_value());
  const std::vector<GuardInput> inputs = guard_inputs(*program);
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    program->guards = {};
    if (inputs[i].is_tensor) {
      program->guards.nodes.push_back({.op = GuardOp::storage_offset, .a = i});
      for (std::uint32_t d = 0; d < inputs[i].rank; ++d) {
        program->guards.nodes.push_back({.op = GuardOp::stride, .a = i, .b = d});
        program->guards.nodes.push_back({.op = GuardOp::size, .a = i, .b = d});
      }
    } else if (inputs[i].is_number) {
      program->guards.nodes.push_back({.op = GuardOp::input, .a = i});
    }
    const auto count = static_cast<std::uint32_t>(program->guards.nodes.size());
    for (std::uint32_t node = 0; node < count; ++node) {
      program->guards.nodes.push_back({.value = -1'000'000});
      program->guards.nodes.push_back({.op = GuardOp::greater, .a = node, .b = count + 2 * node});
      program->guards.roots.push_back(count + 2 * node + 1);
    }
    EmbedNumbers numbers(*program, {{"s0", 2}});
    REQUIRE(numbers.bind().has_value());
    CHECK(numbers.check_guards().has_value());
  }
}

TEST_CASE("a symbol is one of all methods that have it, or of one") {
  const auto program = formats::read_pt2(test_data("models/digits_mlp/program.pt2"));
  REQUIRE(program.has_value());
  const std::array<ProgramMethod, 2> methods{{{"one", &*program}, {"many", &*program}}};
  const auto embed = [&](std::vector<formats::EmbedSymbol> symbols) {
    return formats::embed_program(methods, {.name = "p", .symbols = std::move(symbols)});
  };
  const auto both = embed({{"s0", 2}, {"many.s0", 7}});
  REQUIRE(both.has_value());
  CHECK(both->header.find("/// one: input float32 [2, 1, 8, 8]") != std::string::npos);
  CHECK(both->header.find("/// many: input float32 [7, 1, 8, 8]") != std::string::npos);
  CHECK(embed({{"one.s0", 2}}).error().where.view().starts_with("method 'many', value "));
  for (const std::string wrong : {"s9", "one.s9", "few.s0", "one.", "ones0"}) {
    const auto refused = embed({{"s0", 2}, {wrong, 3}});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().where.view() == "symbol " + wrong);
    CHECK(refused.error().fix == "of 'one' its symbols are s0; of 'many' its symbols are s0");
  }
}
