// SPDX-License-Identifier: MIT
#include "davit/lowering/pack_weights.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../support/draft.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/runtime/session.hpp"

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
/// (bytes - zero points) * scales as aten writes it, with scales of these sizes.
ValueId dequantized(Draft& d, ValueId bytes, std::initializer_list<std::int64_t> sizes,
                    std::initializer_list<std::int64_t> of_scales, ScalarType steps = ScalarType::int64) {
  const ValueId s = d.user("scales", of_scales), z = d.user("zeros", of_scales);
  d.b.module().values[z].dtype = steps;
  const ValueId from =
      d.b.call("aten.sub.Tensor", {{"self", d.b.value(bytes)}, {"other", d.b.value(z)}}, "from", steps, sizes);
  return d.b.call("aten.mul.Tensor", {{"self", d.b.value(s)}, {"other", d.b.value(from)}}, "floats", f32, sizes);
}
ValueId user_bytes(Draft& d, std::initializer_list<std::int64_t> sizes, ScalarType type = ScalarType::int8) {
  const ValueId x = d.user("x", sizes);
  d.b.module().values[x].dtype = type;
  return x;
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
TEST_CASE("pack_weights: bytes that are known at run time stay bytes, and their floats go if nothing else needs them") {
  for (const bool seen : {false, true}) {
    Draft d;
    const ValueId w = channels(d), x = user_bytes(d, {2, 8}, ScalarType::uint8);
    const ValueId floats = dequantized(d, x, {2, 8}, {2, 1});
    d.output(linear(d, floats, w));
    d.output(linear(d, floats, w, "again"));
    if (seen) d.output(floats);
    const ExportedProgram program = d.finish();
    const std::optional<ExportedProgram> packed = pack_weights(program, takers);
    REQUIRE(packed);
    const std::string_view product = "davit.linear_packed_bytes.default";
    CHECK(targets(*packed) ==
          (seen ? std::vector<std::string_view>{"aten.sub.Tensor", "aten.mul.Tensor", product, product}
                : std::vector<std::string_view>{product, product}));
    CHECK(packed->constants.size() == 3);
    REQUIRE(packed->tensor_named("_packed_w_sums") != nullptr);
    CHECK(packed->tensor_named("_packed_w_sums")->sizes == std::vector<std::int64_t>{1, 1, 16});
    CHECK(to_backend<portable>(program).has_value());
  }
}
TEST_CASE("pack_weights: bytes are found through views and dtypes, with one scale, without zero points") {
  const auto target = [](auto floats_of, std::initializer_list<std::int64_t> sizes = {2, 8}) {
    Draft d;
    const ValueId w = channels(d), x = user_bytes(d, sizes);
    d.output(linear(d, floats_of(d, x), w));
    const std::optional<ExportedProgram> packed = pack_weights(d.finish(), takers);
    REQUIRE(packed);
    return std::string(targets(*packed).back());
  };
  const auto cast = [](Draft& d, ValueId v, ScalarType type, std::string_view name,
                       std::initializer_list<std::int64_t> sizes) {
    return d.b.call("aten._to_copy.default", {{"self", d.b.value(v)}, {"dtype", d.b.scalar_type(type)}}, name, type,
                    sizes);
  };
  const auto view = [](Draft& d, ValueId v, ScalarType type, std::string_view name,
                       std::initializer_list<std::int64_t> sizes) {
    return d.b.call("aten.view.default", {{"self", d.b.value(v)}, {"size", d.b.ints(sizes)}}, name, type, sizes);
  };
  const auto times = [](Draft& d, ValueId v, std::initializer_list<std::int64_t> of_scales,
                        std::initializer_list<std::int64_t> sizes, ScalarType type = f32) {
    return d.b.call("aten.mul.Tensor", {{"self", d.b.value(v)}, {"other", d.b.value(d.user("s", of_scales))}}, "times",
                    type, sizes);
  };
  const std::string bytes = "davit.linear_packed_bytes.default", floats = "davit.linear_packed.default";
  CHECK(target([&](Draft& d, ValueId x) {  // as torchao: in blocks
          const ValueId blocks = view(d, x, ScalarType::int8, "blocks", {2, 1, 1, 8});
          const ValueId wide = cast(d, blocks, f32, "wide", {2, 1, 1, 8});
          return view(d, dequantized(d, wide, {2, 1, 1, 8}, {2, 1, 1, 1}, f32), f32, "rows", {2, 8});
        }) == bytes);
  CHECK(target([&](Draft& d, ValueId x) { return times(d, x, {1}, {2, 8}); }) == bytes);
  CHECK(target([&](Draft& d, ValueId x) { return cast(d, x, f32, "wide", {2, 8}); }) == bytes);
  CHECK(target([&](Draft& d, ValueId x) { return times(d, cast(d, x, f32, "wide", {2, 8}), {2, 1}, {2, 8}); }) ==
        bytes);
  CHECK(target([&](Draft& d, ValueId x) {  // in double
          return cast(d, times(d, x, {2, 1}, {2, 8}, ScalarType::float64), f32, "narrow", {2, 8});
        }) == bytes);
  CHECK(target([&](Draft& d, ValueId x) {  // by a row that was rounded to 16 bits
          return cast(d, times(d, x, {2, 1}, {2, 8}, ScalarType::float16), f32, "narrow", {2, 8});
        }) == floats);
  CHECK(target([&](Draft& d, ValueId x) { return times(d, x, {8}, {2, 8}); }) == floats);     // a scale per input
  CHECK(target([&](Draft& d, ValueId x) { return times(d, x, {1, 8}, {2, 8}); }) == floats);  // likewise
  CHECK(target([&](Draft& d, ValueId x) { return times(d, x, {2, 8}, {2, 8}); }) == floats);
  CHECK(target([&](Draft& d, ValueId x) { return dequantized(d, x, {2, 8}, {2, 1}, ScalarType::int8); }) ==
        bytes);  // a difference of 8 bits, which wraps, is bytes
  CHECK(target(
            [&](Draft& d, ValueId x) {  // other rows than those of the scales
              return view(d, times(d, x, {4, 1}, {4, 4}), f32, "rows", {2, 8});
            },
            {4, 4}) == floats);
  CHECK(target([&](Draft& d, ValueId x) {  // likewise, of the same bytes
          const ValueId square = view(d, x, ScalarType::int8, "square", {4, 4});
          return view(d, times(d, square, {4, 1}, {4, 4}), f32, "rows", {2, 8});
        }) == floats);
  CHECK(target([&](Draft& d, ValueId x) {  // unsigned bytes of signed ones
          const ValueId turned = view(d, x, ScalarType::int8, "turned", {2, 1, 8});
          const ValueId other = cast(d, turned, ScalarType::uint8, "other", {2, 1, 8});
          return view(d, times(d, other, {2, 1, 1}, {2, 1, 8}), f32, "rows", {2, 8});
        }) == floats);
}
TEST_CASE("pack_weights: _int_mm of bytes stays one of bytes, exact, in parts of 1,024") {
  for (const std::int64_t inner : {8, 1024, 2052}) {
    CAPTURE(inner);
    Draft d;
    Tensor weights = Tensor::zeros(ScalarType::int8, std::vector<std::int64_t>{inner, 4});
    for (std::int64_t i = 0; i < weights.numel(); ++i)  // large, so that sums of all would not fit a float
      weights.view().as<std::int8_t>()[i] = static_cast<std::int8_t>(127 - i * 37 % 3);
    const ValueId w = d.parameter("w", weights), x = user_bytes(d, {2, inner});
    d.output(d.b.call("aten._int_mm.default", {{"self", d.b.value(x)}, {"mat2", d.b.value(w)}}, "sums",
                      ScalarType::int32, {2, 4}));
    const ExportedProgram program = d.finish();
    const std::optional<ExportedProgram> packed = pack_weights(run_decompositions(program, takers), takers);
    REQUIRE(packed);
    CHECK(std::ranges::count(targets(*packed), "davit.linear_packed_bytes.default") == (inner + 1023) / 1024);
    CHECK(std::ranges::count(targets(*packed), "aten.mm.default") == 0);
    const auto lowered = to_backend<portable>(program);
    REQUIRE(lowered);
    Session session = *Session::make(*lowered);
    Tensor input = Tensor::zeros(ScalarType::int8, std::vector<std::int64_t>{2, inner});
    std::vector<std::int32_t> expected(8);
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t k = 0; k < inner; ++k) {
        const auto value = static_cast<std::int8_t>(r == 0 ? 127 - k % 2 : k * 91 % 256 - 128);
        input.view().as<std::int8_t>()[r * inner + k] = value;
        for (std::int64_t n = 0; n < 4; ++n)
          expected[static_cast<std::size_t>(r * 4 + n)] +=
              value * std::int32_t{weights.view().as<std::int8_t>()[k * 4 + n]};
      }
    const auto sums = session.run("forward", input);
    REQUIRE(sums);
    CHECK(std::ranges::equal(*(*sums)[0].as<std::int32_t>(), expected));
  }
}
TEST_CASE("pack_weights: a backend that takes packed weights, but no bytes, gets floats") {
  Draft d;
  const ValueId w = channels(d), x = user_bytes(d, {2, 8});
  d.output(linear(d, dequantized(d, x, {2, 8}, {2, 1}), w));
  const ExportedProgram program = d.finish();
  BackendTable first = backend_table<portable>;
  first.refuses = [](GraphModuleView graph, NodeId n) -> const char* {
    return graph.target(graph.nodes[n]) != "davit.linear_packed.default" ? "no" : nullptr;
  };
  const BackendTable* const both[] = {&first, &backend_table<portable>};
  const std::optional<ExportedProgram> packed = pack_weights(program, {.backends = BackendTables(both)});
  REQUIRE(packed);
  CHECK(targets(*packed).back() == "davit.linear_packed.default");
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
