// SPDX-License-Identifier: MIT
#include "davit/lowering/detail/constant_computation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "../../support/draft.hpp"
#include "davit/backends/portable.hpp"

using namespace davit;
using davit::detail::compute_constants;
using davit::detail::row_cut;
using davit::detail::RowCut;
using support::Draft;

namespace {

constexpr auto f32 = ScalarType::float32, u8 = ScalarType::uint8;

/// Weights (6, 8) of nibbles (6, 4) and scales (6, 2), as models write them; `sum` mixes rows.
struct Nibbles {
  Draft d;
  ValueId weight = no_id;
  ExportedProgram program;

  explicit Nibbles(std::string_view last = "aten.view.default") {
    Tensor bytes = Tensor::zeros(u8, std::vector<std::int64_t>{6, 4});
    for (std::size_t i = 0; i < 24; ++i) bytes.view().as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 37 + 5);
    Tensor scales = Tensor::zeros(f32, std::vector<std::int64_t>{6, 2});
    for (std::size_t i = 0; i < 12; ++i) scales.view().as<float>()[i] = 0.25f * static_cast<float>(i + 1);
    const ValueId q = d.parameter("q", bytes), s = d.parameter("s", scales);
    const auto call = [&](std::string_view target, std::initializer_list<Arg> arguments, std::string_view name,
                          ScalarType type, std::initializer_list<std::int64_t> sizes) {
      return d.b.call(target, arguments, name, type, sizes);
    };
    const ValueId low =
        call("aten.bitwise_and.Scalar", {{"self", d.b.value(q)}, {"other", d.b.integer(15)}}, "low", u8, {6, 4});
    const ValueId high =
        call("aten.__rshift__.Scalar", {{"self", d.b.value(q)}, {"other", d.b.integer(4)}}, "high", u8, {6, 4});
    const ValueId pairs = call("aten.stack.default", {{"tensors", d.b.tensors({low, high})}, {"dim", d.b.integer(-1)}},
                               "pairs", u8, {6, 4, 2});
    const ValueId floats = call("aten._to_copy.default", {{"self", d.b.value(pairs)}, {"dtype", d.b.scalar_type(f32)}},
                                "floats", f32, {6, 4, 2});
    const ValueId groups = call("aten.view.default", {{"self", d.b.value(floats)}, {"size", d.b.ints({6, 2, -1})}},
                                "groups", f32, {6, 2, 4});
    const ValueId column =
        call("aten.unsqueeze.default", {{"self", d.b.value(s)}, {"dim", d.b.integer(-1)}}, "column", f32, {6, 2, 1});
    const ValueId scaled =
        call("aten.mul.Tensor", {{"self", d.b.value(groups)}, {"other", d.b.value(column)}}, "scaled", f32, {6, 2, 4});
    weight = call(last, {{"self", d.b.value(scaled)}, {"size", d.b.ints({6, 8})}}, "weight", f32, {6, 8});
    d.output(weight);
    program = d.finish();
  }
};
/// The elements of the weight, all or those of a cut.
std::vector<float> elements(const Nibbles& of, const RowCut* cut) {
  const std::vector<std::uint8_t> all(of.program.view().nodes.size(), 1);
  std::vector<float> out;
  const auto take = [&](std::span<const TensorView> made) {
    out.assign(made[0].as<float>(), made[0].as<float>() + made[0].numel());
    return true;
  };
  CHECK(compute_constants(of.program, backend_table<portable>, all, {&of.weight, 1}, cut, take));
  return out;
}

}  // namespace

TEST_CASE("row_cut: rows of unpacked nibbles are computed some at a time") {
  const Nibbles of;
  const std::vector<std::uint8_t> all(of.program.view().nodes.size(), 1);
  std::optional<RowCut> cut = row_cut(of.program.view(), all, of.weight);
  REQUIRE(cut);
  const std::vector<float> whole = elements(of, nullptr);
  REQUIRE(whole.size() == 48);
  for (const std::int64_t count : {1, 2, 4, 6})
    for (cut->first = 0; cut->first < 6; cut->first += cut->count) {
      cut->count = std::min<std::int64_t>(count, 6 - cut->first);
      const std::vector<float> part = elements(of, &*cut);
      REQUIRE(part.size() == static_cast<std::size_t>(cut->count * 8));
      CHECK(std::equal(part.begin(), part.end(), whole.begin() + cut->first * 8));
    }
}
TEST_CASE("row_cut: operators that may mix rows, and single rows, are none") {
  const Nibbles of("aten.expand.default");
  const std::vector<std::uint8_t> all(of.program.view().nodes.size(), 1);
  CHECK_FALSE(row_cut(of.program.view(), all, of.weight));
  Draft d;
  const ValueId row = d.parameter("row", Tensor::zeros(f32, std::vector<std::int64_t>{1, 8}));
  const ValueId one = d.b.call("aten.neg.default", {{"self", d.b.value(row)}}, "one", f32, {1, 8});
  d.output(one);
  const ExportedProgram program = d.finish();
  CHECK_FALSE(row_cut(program.view(), std::vector<std::uint8_t>{1}, one));
}
TEST_CASE("row_cut: a value that one node takes by rows and another whole is none") {
  Draft d;
  const ValueId square = d.parameter("square", Tensor::zeros(f32, std::vector<std::int64_t>{8, 8}));
  const ValueId row = d.parameter("row", Tensor::zeros(f32, std::vector<std::int64_t>{8}));
  const ValueId twice =
      d.b.call("aten.add.Tensor", {{"self", d.b.value(row)}, {"other", d.b.value(row)}}, "twice", f32, {8});
  const ValueId column =
      d.b.call("aten.view.default", {{"self", d.b.value(twice)}, {"size", d.b.ints({8, 1})}}, "column", f32, {8, 1});
  const ValueId sum =
      d.b.call("aten.add.Tensor", {{"self", d.b.value(square)}, {"other", d.b.value(twice)}}, "sum", f32, {8, 8});
  const ValueId both =
      d.b.call("aten.mul.Tensor", {{"self", d.b.value(sum)}, {"other", d.b.value(column)}}, "both", f32, {8, 8});
  d.output(both);
  const ExportedProgram program = d.finish();
  CHECK_FALSE(row_cut(program.view(), std::vector<std::uint8_t>(4, 1), both));
}
