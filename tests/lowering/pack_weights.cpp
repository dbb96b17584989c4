// SPDX-License-Identifier: MIT
#include "davit/lowering/pack_weights.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "../support/draft.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/operator_call.hpp"

using namespace davit;
using support::Draft;

namespace {

constexpr auto f32 = ScalarType::float32;

std::vector<std::string_view> targets(const ExportedProgram& program) {
  std::vector<std::string_view> out;
  for (const Node& node : program.view().nodes) out.push_back(program.view().target(node));
  return out;
}
Tensor bytes(std::initializer_list<std::int64_t> sizes, std::int64_t divisor = 1) {
  Tensor t = Tensor::zeros(ScalarType::int8, std::vector<std::int64_t>(sizes));
  for (std::int64_t i = 0; i < t.numel(); ++i)
    t.view().as<std::int8_t>()[i] = static_cast<std::int8_t>((i * 37 % 251 - 125) / divisor);
  return t;
}
Tensor scales(std::int64_t count) {
  Tensor t = Tensor::zeros(f32, std::vector<std::int64_t>{count});
  for (std::int64_t i = 0; i < count; ++i) t.view().as<float>()[i] = 0.01f * static_cast<float>(i + 1);
  return t;
}
/// Bytes (4, 8) with a scale per channel, as floats.
ValueId channels(Draft& d, std::int64_t axis = 0, std::string_view name = "w", std::int64_t divisor = 1) {
  const ValueId q = d.parameter("q", bytes({4, 8}, divisor)), s = d.parameter("s", scales(axis == 0 ? 4 : 8));
  return d.b.call("quantized_decomposed.dequantize_per_channel.default",
                  {{"input", d.b.value(q)},
                   {"scales", d.b.value(s)},
                   {"zero_points", d.b.none()},
                   {"axis", d.b.integer(axis)},
                   {"quant_min", d.b.integer(-128)},
                   {"quant_max", d.b.integer(127)},
                   {"dtype", d.b.scalar_type(ScalarType::int8)}},
                  name, f32, {4, 8});
}
ValueId linear(Draft& d, ValueId x, ValueId w, std::string_view name = "linear") {
  return d.b.call("aten.linear.default", {{"input", d.b.value(x)}, {"weight", d.b.value(w)}}, name, f32, {2, 4});
}
/// A backend that takes all nodes, and computes nothing: like that of static programs.
constexpr BackendTable taker{.name = "taker",
                             .refuses = [](GraphModuleView, NodeId) -> const char* { return nullptr; }};
const BackendTable* const taker_alone[] = {&taker};
const PackOptions in_rows{.layout = PackedLayout::rows, .computes = &backend_table<portable>};
const BackendTable* const portable_alone[] = {&backend_table<portable>};
const DecomposeOptions takers{.backends = BackendTables(portable_alone)};

}  // namespace

TEST_CASE("pack_weights: bytes with a scale per channel become packed weights, once for all that take them") {
  Draft d;
  const ValueId w = channels(d), x = d.user("x", {2, 8}), i = d.user("i", {3});
  d.b.module().values[i].dtype = ScalarType::int64;
  const ValueId rows =
      d.b.call("aten.embedding.default", {{"weight", d.b.value(w)}, {"indices", d.b.value(i)}}, "rows", f32, {3, 8});
  d.output(linear(d, x, w));
  d.output(linear(d, x, w, "again"));
  d.output(rows);
  const ExportedProgram program = d.finish();
  const std::optional<ExportedProgram> packed = pack_weights(program, takers);
  REQUIRE(packed);
  CHECK(to_backend<portable>(program).has_value());
  CHECK(targets(*packed) == std::vector<std::string_view>{"davit.embedding_packed.default",
                                                          "davit.linear_packed.default",
                                                          "davit.linear_packed.default"});
  REQUIRE(packed->tensor_named("_packed_w_words") != nullptr);
  CHECK(packed->tensor_named("_packed_w_words")->sizes == std::vector<std::int64_t>{1, 2, 16});
  CHECK(packed->tensor_named("_packed_w_scales")->sizes == std::vector<std::int64_t>{1, 1, 16});
  CHECK(packed->constants.size() == 2);
}
TEST_CASE("pack_weights: scales of inputs are none of outputs: the product stays, and a sentence says so") {
  Draft d;
  const ValueId w = channels(d, 1), x = d.user("x", {2, 8});
  d.output(linear(d, x, w));
  std::vector<Name> unpacked;
  CHECK_FALSE(pack_weights(d.finish(), takers, &unpacked));
  REQUIRE(unpacked.size() == 1);
  CHECK(unpacked[0].view().find("node 'linear' (aten.linear.default): its weight is made of integers") == 0);
}
TEST_CASE("pack_weights: products of bytes with constant parameters, and weights that are inputs, stay") {
  const auto stays = [](bool static_bytes) {
    Draft d;
    const ValueId w = static_bytes ? channels(d) : no_id;
    const ValueId x = d.user("x", {2, 8}), other = d.user("other", {4, 8});
    d.b.module().values[x].dtype = static_bytes ? ScalarType::int8 : f32;
    const ValueId floats = !static_bytes ? x
                                         : d.b.call("quantized_decomposed.dequantize_per_tensor.default",
                                                    {{"input", d.b.value(x)},
                                                     {"scale", d.b.real(0.5)},
                                                     {"zero_point", d.b.integer(0)},
                                                     {"quant_min", d.b.integer(-128)},
                                                     {"quant_max", d.b.integer(127)},
                                                     {"dtype", d.b.scalar_type(ScalarType::int8)}},
                                                    "floats", f32, {2, 8});
    d.output(linear(d, floats, static_bytes ? w : other));
    return !pack_weights(d.finish(), takers);
  };
  CHECK(stays(true));
  CHECK(stays(false));
}
TEST_CASE("pack_weights: a backend that takes the integers, but no packed weights, gets them") {
  Draft d;
  const ValueId w = channels(d), x = d.user("x", {2, 8});
  d.output(linear(d, x, w));
  const ExportedProgram program = d.finish();
  BackendTable first = backend_table<portable>;
  first.refuses = [](GraphModuleView graph, NodeId n) -> const char* {
    return graph.target(graph.nodes[n]).starts_with("davit.") ? "no" : nullptr;
  };
  const BackendTable* const both[] = {&first, &backend_table<portable>};
  CHECK_FALSE(pack_weights(program, {.backends = BackendTables(both)}));
  CHECK(pack_weights(program, {.backends = BackendTables(both), .order = {1}}));
  const BackendTable* const alone[] = {&first};
  CHECK_FALSE(pack_weights(program, {.backends = BackendTables(alone)}));
  CHECK_FALSE(pack_weights(program, {}));
}
TEST_CASE("pack_weights: sizes that a file says as it likes cost no memory") {
  Draft d;
  const ValueId q = d.parameter("q", bytes({4, 8})), x = d.user("x", {2, 8});
  const std::int64_t huge = std::int64_t{1} << 40;
  const ValueId wide = d.b.call("aten.expand.default", {{"self", d.b.value(q)}, {"size", d.b.ints({huge, 4, 8})}},
                                "wide", ScalarType::int8, {huge, 4, 8});
  const ValueId w =
      d.b.call("aten._to_copy.default", {{"self", d.b.value(wide)}, {"dtype", d.b.scalar_type(f32)}}, "w", f32, {4, 8});
  d.output(linear(d, x, w));
  CHECK_FALSE(pack_weights(d.finish(), takers));
}
TEST_CASE("pack_weights: rows for static programs, which also read them behind bytes, if they have 4 bits or groups") {
  enum class Kind { floats, bytes, halves_behind_bytes };
  const auto made = [](Kind kind) {
    Draft d;
    const ValueId w = channels(d, 0, "w", kind == Kind::halves_behind_bytes ? 16 : 1), x = d.user("x", {2, 8});
    ValueId floats = x;
    if (kind != Kind::floats) {
      d.b.module().values[x].dtype = ScalarType::int8;
      floats = d.b.call("quantized_decomposed.dequantize_per_tensor.default",
                        {{"input", d.b.value(x)},
                         {"scale", d.b.real(0.5)},
                         {"zero_point", d.b.integer(0)},
                         {"quant_min", d.b.integer(-128)},
                         {"quant_max", d.b.integer(127)},
                         {"dtype", d.b.scalar_type(ScalarType::int8)}},
                        "floats", f32, {2, 8});
    }
    d.output(linear(d, floats, w));
    return d.finish();
  };
  const DecomposeOptions alone{.backends = BackendTables(taker_alone)};
  const std::optional<ExportedProgram> of_floats = pack_weights(made(Kind::floats), alone, nullptr, in_rows);
  REQUIRE(of_floats);
  CHECK(targets(*of_floats) == std::vector<std::string_view>{"davit.linear_packed.rows"});
  CHECK(of_floats->tensor_named("_packed_w_words")->dtype == ScalarType::int8);
  CHECK(of_floats->tensor_named("_packed_w_words")->sizes == std::vector<std::int64_t>{4, 8});
  CHECK(of_floats->tensor_named("_packed_w_scales")->sizes == std::vector<std::int64_t>{4});
  CHECK_FALSE(pack_weights(made(Kind::bytes), alone, nullptr, in_rows));
  const std::optional<ExportedProgram> of_halves =
      pack_weights(made(Kind::halves_behind_bytes), alone, nullptr, in_rows);
  REQUIRE(of_halves);
  CHECK(of_halves->tensor_named("_packed_w_words")->dtype == ScalarType::uint8);
  CHECK(of_halves->tensor_named("_packed_w_words")->sizes == std::vector<std::int64_t>{4, 4});
  CHECK_FALSE(pack_weights(made(Kind::halves_behind_bytes), takers));
}
TEST_CASE("pack_weights: rows are not made of a table of embeddings, whose integers would be kept twice") {
  Draft d;
  const ValueId w = channels(d), x = d.user("x", {2, 8}), i = d.user("i", {3});
  d.b.module().values[i].dtype = ScalarType::int64;
  d.output(linear(d, x, w));
  d.output(
      d.b.call("aten.embedding.default", {{"weight", d.b.value(w)}, {"indices", d.b.value(i)}}, "rows", f32, {3, 8}));
  CHECK_FALSE(pack_weights(d.finish(), {.backends = BackendTables(taker_alone)}, nullptr, in_rows));
}
