// SPDX-License-Identifier: MIT
#include "davit/formats/embed_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../programs.hpp"
#include "cases/embed/digits_cnn_b1.hpp"
#include "cases/embed/digits_mlp_b1.hpp"
#include "cases/embed/packed_firmware.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/runtime/session.hpp"
#include "support/data.hpp"

namespace {

using namespace davit;
using formats::EmbedOptions;

/// Embeds the model of tests/cases/models as its header in tests/cases/embed was.
Result<formats::EmbeddedProgram> embed_case(const std::string& name) {
  const auto program = formats::read_pt2(test_data("models/" + name + "/program.pt2"));
  if (!program) return std::unexpected(program.error());
  return formats::embed_program(*program,
                                {.name = name, .layout = WeightLayout::output_inner, .weights_as_array = true});
}

/// True if results have the same bits, or, where the session's kernels fuse multiplications with additions and the
/// static module's do not, if they are close.
bool equal_results(const std::array<float, 10>& a, const float* b) {
  if (kernels::widest_vectors() == kernels::vector_bytes) return std::memcmp(a.data(), b, sizeof a) == 0;
  float largest = 0, gap = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::fabs(b[i]));
    gap = std::max(gap, std::fabs(a[i] - b[i]));
  }
  return gap <= 1e-6f * largest;
}

/// Runs the model's recorded inputs on the static module and on portable's session: true if all results are equal.
template <class Module>
bool equals_session(const std::string& name) {
  const auto program = formats::read_pt2(test_data("models/" + name + "/program.pt2"));
  REQUIRE(program.has_value());
  const auto lowered = to_backend<portable>(*program);
  REQUIRE(lowered.has_value());
  Session session = *Session::make(*lowered);
  static Module module;
  int runs = 0;
  bool equal = true;
  for (; runs < 4; ++runs) {
    const auto image = formats::read_npy(test_data("models/" + name + "/r" + std::to_string(runs) + "_in0.npy"));
    REQUIRE(image.has_value());
    const EValue input(image->view());
    const auto outputs = session.run("forward", std::span(&input, 1));
    REQUIRE(outputs.has_value());
    const TensorView& expected = (*outputs)[0]->tensor();
    std::array<float, 10> scores{};
    REQUIRE(module.forward(std::span<const float, 64>(image->view().template as<float>(), 64), scores).has_value());
    equal = equal && equal_results(scores, expected.as<float>());
  }
  return equal;
}

using MlpBySize = static_module<digits_mlp_b1, portable>;
using MlpForSpeed = static_module<digits_mlp_b1, tuned<portable, for_speed>>;
using CnnBySize = static_module<digits_cnn_b1, portable>;
using CnnForSpeed = static_module<digits_cnn_b1, tuned<portable, for_speed>>;
static_assert(MlpBySize::ram_bytes <= 512 && CnnBySize::ram_bytes <= 4096);
static_assert(CnnBySize::operators().size() == 8);

std::string place_of(const Result<formats::EmbeddedProgram>& result) {
  return result ? std::string() : std::string(result.error().where.view());
}

/// A program that asserts x, or `holds`.
Result<formats::EmbeddedProgram> embed_assertion(std::string_view target, bool of_data, bool holds) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::bool_, {});
  const Argument in[] = {of_data ? b.value(x) : b.boolean(holds), b.string("x must hold")};
  b.node(target, in, {});
  b.end_graph({x});
  return formats::embed_program(programs::user_program(std::move(b).finish()));
}

}  // namespace

TEST_CASE("digits models give the results of portable's session, the same bits on one instruction set") {
  CHECK(equals_session<MlpBySize>("digits_mlp_b1"));
  CHECK(equals_session<MlpForSpeed>("digits_mlp_b1"));
  CHECK(equals_session<CnnBySize>("digits_cnn_b1"));
  CHECK(equals_session<CnnForSpeed>("digits_cnn_b1"));
}

TEST_CASE("the carried headers equal the embedded models") {
  for (const std::string name : {"digits_mlp_b1", "digits_cnn_b1"}) {
    const auto embedded = embed_case(name);
    REQUIRE(embedded.has_value());
    CHECK(embedded->header == test_file("embed/" + name + ".hpp"));
    CHECK(embedded->blob.empty());
  }
}

TEST_CASE("a program whose weights have 4 bits gives torch's results: behind bytes and floats, per channel and group") {
  using Module = static_module<packed_firmware, portable>;
  static_assert(Module::step_count == 14);  // nothing unpacks weights
  static Module module;
  for (int run = 0; run < 3; ++run) {
    const std::string base = "models/packed_firmware/r" + std::to_string(run);
    const auto x = formats::read_npy(test_data(base + "_in0.npy"));
    REQUIRE(x.has_value());
    std::array<float, 42> third{};
    std::array<float, 22> head{};
    std::array<float, 20> last{};
    REQUIRE(module.forward(std::span<const float, 128>(x->view().as<float>(), 128), third, head, last).has_value());
    const auto is_close = [&](int output, std::span<const float> y) {
      const auto expected = formats::read_npy(test_data(base + "_out" + std::to_string(output) + ".npy"));
      REQUIRE(expected.has_value());
      const float* const e = expected->view().as<float>();
      return std::ranges::equal(y, std::span(e, y.size()),
                                [](float a, float b) { return std::fabs(a - b) <= 1e-5f + 1e-4f * std::fabs(b); });
    };
    CHECK(is_close(0, third));
    CHECK(is_close(1, head));
    CHECK(is_close(2, last));
  }
}

TEST_CASE("large weights go to a blob that the assembler includes") {
  const auto program = formats::read_pt2(test_data("models/digits_mlp_b1/program.pt2"));
  REQUIRE(program.has_value());
  const auto embedded = formats::embed_program(*program, {.name = "mlp"});
  REQUIRE(embedded.has_value());
  CHECK(embedded->blob.size() == 4 * (32 * 64 + 32 * 32 + 10 * 32));
  CHECK(embedded->header.find(".incbin \"mlp.bin\", 0, ") != std::string::npos);
  const Tensor* weight = program->tensor_named("1.weight");
  REQUIRE(weight != nullptr);
  CHECK(std::memcmp(embedded->blob.data(), weight->view().data, 64) == 0);
  CHECK(embedded->header.find("File \"") == std::string::npos);
  const auto with_lines = formats::embed_program(*program, {.name = "mlp", .source_lines = true});
  REQUIRE(with_lines.has_value());
  CHECK(with_lines->header.find("// File \"") != std::string::npos);
}

TEST_CASE("weights go to the section that is asked for") {
  const auto program = formats::read_pt2(test_data("models/digits_mlp_b1/program.pt2"));
  REQUIRE(program.has_value());
  const auto plain = formats::embed_program(*program, {.name = "mlp"});
  REQUIRE(plain.has_value());
  CHECK(plain->header.find(".pushsection .rodata.davit.weights.mlp, ") != std::string::npos);
  for (const bool as_array : {false, true}) {
    const auto embedded =
        formats::embed_program(*program, {.name = "mlp", .weights_as_array = as_array, .section = ".xip_flash.mlp-1"});
    REQUIRE(embedded.has_value());
    CHECK(embedded->header.find(as_array ? "[[gnu::section(\".xip_flash.mlp-1\")]]"
                                         : ".pushsection .xip_flash.mlp-1, ") != std::string::npos);
    CHECK(embedded->header.find(".rodata") == std::string::npos);
  }
  CHECK(place_of(formats::embed_program(*program, {.section = ".x, \"ax\""})) == "the section '.x, \"ax\"'");
}

TEST_CASE("a long literal of weights does not warn under -Wpedantic") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId w = b.input("w", ScalarType::float32, {128, 128}), x = b.input("x", ScalarType::float32, {128, 128});
  b.end_graph(
      {b.call("aten.mul.Tensor", {{"self", b.value(x)}, {"other", b.value(w)}}, "y", ScalarType::float32, {128, 128})});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.signature = {.input_specs = {InputToParameterSpec({"w"}, "w"), UserInputSpec{TensorArgument{"x"}}},
                       .output_specs = {UserOutputSpec{TensorArgument{"y"}}}};
  program.state_dict.push_back({"w", Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{128, 128})});
  const auto embedded = formats::embed_program(program, {.weights_as_array = true});
  REQUIRE(embedded.has_value());
  CHECK(embedded->header.find("ignored \"-Woverlength-strings\"") != std::string::npos);
  CHECK(test_file("embed/digits_cnn_b1.hpp").find("-Woverlength-strings") == std::string::npos);
}

TEST_CASE("symbolic sizes need numbers") {
  const auto program = formats::read_pt2(test_data("models/digits_mlp/program.pt2"));
  REQUIRE(program.has_value());
  const auto refused = formats::embed_program(*program);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().fix.view().find("s0") != std::string_view::npos);
  const auto bound = formats::embed_program(*program, {.symbols = {{"s0", 2}}});
  REQUIRE(bound.has_value());
  CHECK(bound->header.find("input float32 [2, 1, 8, 8]") != std::string::npos);
  CHECK(place_of(formats::embed_program(*program, {.symbols = {{"s0", 2}, {"s9", 3}}})) == "symbol s9");
}

TEST_CASE("sizes that break a guard are no programs") {
  const auto program = formats::read_pt2(test_data("guards/even.pt2"));
  REQUIRE(program.has_value());
  const auto embed = [&](std::int64_t first, std::int64_t last) {
    return formats::embed_program(*program, {.symbols = {{"s0", first, last}}});
  };
  const auto several = embed(2, 5);
  REQUIRE(several.has_value());
  CHECK(several->header.find("// Holds: x.shape[0] % 2 == 0\n") != std::string::npos);
  CHECK(several->header.find("// Left out: s0=3: x.shape[0] % 2 == 0 does not hold: x.shape[0] is 3\n") !=
        std::string::npos);
  CHECK(several->header.find("static_sizes<at_2, at_4>;") != std::string::npos);
  const auto one = embed(3, 4);  // its calls still have with_dims
  REQUIRE(one.has_value());
  CHECK(one->header.find("static_sizes<at_4>;") != std::string::npos);
  const auto none = embed(3, 3);
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == ErrorCode::invalid_shape);
  CHECK(none.error().what == "x.shape[0] % 2 == 0 does not hold: x.shape[0] is 3");
}

TEST_CASE("a symbolic size of several numbers is a program for each") {
  const auto program = formats::read_pt2(test_data("models/digits_mlp/program.pt2"));
  REQUIRE(program.has_value());
  const auto embed = [&](std::vector<formats::EmbedSymbol> symbols) {
    return formats::embed_program(
        *program, {.name = "any", .symbols = std::move(symbols), .plan = &plan_static<portable_static>});
  };
  const auto embedded = embed({{"s0", 2, 8, 3}});
  REQUIRE(embedded.has_value());
  const auto has = [&](const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; };
  CHECK(has(embedded->header, "/// forward: with_dims(s0), input float32 [2, 1, 8, 8]"));
  CHECK(has(embedded->header, "/// to input float32 [8, 1, 8, 8]"));
  CHECK(has(embedded->header, "static constexpr std::array<std::int64_t, 1> symbols{5};"));
  CHECK(has(embedded->header, "using sizes = davit::static_sizes<at_2, at_5, at_8>;"));
  CHECK(embedded->blob == embed({{"s0", 1}})->blob);
  CHECK(has(embedded->c_header, "(int64_t s0, const float* input, "));
  CHECK(place_of(embed({{"s0", 3, 2}})) == "symbol s0");
  CHECK(place_of(embed({{"s0", 1, 9, 0}})) == "symbol s0");
  CHECK(embed({{"s0", 1, 1000}}).error().fix ==
        "give a narrower range, or every Nth number of it: --dim s0=FIRST..LAST:N");
  CHECK(place_of(embed({{"s0", INT64_MIN, INT64_MAX}})) == "symbol s0");
  CHECK(place_of(embed({{"s0", -1, 2}})) == "symbol s0");
  CHECK(place_of(embed({{"s0", 0, 2}})) == "with s0=0, symbol s0");
  CHECK(has(embed({{"forward.s0", 1, 2}, {"s0", 4}})->header, "static_sizes<at_1, at_2>"));
}

TEST_CASE("sub-graphs of control flow are written with the program, and judged by static portable") {
  const auto cond = formats::read_pt2(test_data("pt2/cond_nested.pt2"));
  REQUIRE(cond.has_value());
  const auto embedded = formats::embed_program(*cond, {.select = &select_steps<portable_static>});
  REQUIRE_MESSAGE(embedded.has_value(), (embedded ? std::string() : to_string(embedded.error())));
  CHECK(embedded->header.find("      .graphs = {{\n") != std::string::npos);
  CHECK(embedded->header.find(", kind::graph, 1},") != std::string::npos);
}

TEST_CASE("a program with hostile names is a header of its own names") {
  ExportedProgram program = programs::identity({2});
  const auto embedded = formats::embed_program(program, {.name = "new \"class\"\n--x"});
  REQUIRE(embedded.has_value());
  CHECK(embedded->header.find("struct new_class_x {") != std::string::npos);
  CHECK(embedded->header.find("name = \"new \\\"class\\\"\\n--x\"") != std::string::npos);
}

TEST_CASE("texts of the model cannot leave the comments and literals of the header") {
  constexpr std::string_view evil = "a\\\n#error X\n*/ \"); int y; //\x1b[2J\\";
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x\\", ScalarType::float32, {2});
  const ValueId w = b.input(evil, ScalarType::float32, {2}),
                v = b.input("a_error X_int y_ 2J_", ScalarType::float32, {2});
  const std::uint32_t line = b.metadata("  File \"m.py\", line 1, in forward\n    return x \\\n#error Y\\");
  const ValueId y = b.call(evil, {{"self\\", b.value(x)}, {evil, b.value(w)}, {"z", b.string(evil)}}, "y\\",
                           ScalarType::float32, {2}, line);
  b.end_graph(
      {b.call("aten.add.Tensor", {{"self", b.value(y)}, {"other", b.value(v)}}, "z", ScalarType::float32, {2})});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.torch_version = "2.6\n#error X\n//\\";
  program.signature = {.input_specs = {UserInputSpec{TensorArgument{"x\\"}}, InputToParameterSpec({Name(evil)}, "w"),
                                       InputToParameterSpec({"a_error X_int y_ 2J_"}, "v")},
                       .output_specs = {UserOutputSpec{TensorArgument{"z"}}}};
  const float one[] = {1, 2}, two[] = {3, 4};  // constants whose names become one identifier
  program.state_dict.push_back({"w", *tensor(one, {2})});
  program.state_dict.push_back({"v", *tensor(two, {2})});
  const auto embedded = formats::embed_program(program, {.name = "m\\\n#error N", .source_lines = true});
  REQUIRE(embedded.has_value());
  CHECK(embedded->header.find("\n#error") == std::string::npos);
  CHECK(embedded->header.find("\\\n") == std::string::npos);
  for (const char c : embedded->header) CHECK((c == '\n' || (c >= ' ' && c <= '~')));
  CHECK(embedded->header.find("> a_error_X_int_y_2J_{") != std::string::npos);
  CHECK(embedded->header.find("> a_error_X_int_y_2J__2{") != std::string::npos);
}

TEST_CASE("a constant has the sizes that the graph says, and no value has more elements than a plan can hold") {
  const auto embed = [](std::int64_t declared, std::vector<std::int64_t> sizes) {
    GraphBuilder b;
    b.begin_graph();
    const ValueId w = b.input("w", ScalarType::float32, {declared}), x = b.input("x", ScalarType::float32, {declared});
    b.end_graph({b.call("aten.mul.Tensor", {{"self", b.value(x)}, {"other", b.value(w)}}, "y", ScalarType::float32,
                        {declared})});
    ExportedProgram program;
    program.graph_module = std::move(b).finish();
    program.signature = {.input_specs = {InputToParameterSpec({"w"}, "w"), UserInputSpec{TensorArgument{"x"}}},
                         .output_specs = {UserOutputSpec{TensorArgument{"y"}}}};
    program.state_dict.push_back({"w", Tensor::zeros(ScalarType::float32, sizes)});
    return place_of(formats::embed_program(program));
  };
  CHECK(embed(48, {48}).empty());
  CHECK(embed(4800, {48}) == "input w");
  CHECK(embed(48, {6, 8}) == "input w");
  CHECK(embed(INT32_MAX, {48}) == "value w");
}

TEST_CASE("a size that depends on data has no number") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {4});
  const Dim sizes[] = {{.value = 2, .expr = b.symbol("u0")}, {.value = 1}};
  const ValueId y = b.declare({.name = b.text("y"), .sizes = b.dims(sizes), .dtype = ScalarType::int64});
  const Argument in[] = {b.value(x)}, out[] = {b.value(y)};
  b.node("aten.nonzero.default", in, out);
  b.end_graph({y});
  const ExportedProgram program = programs::user_program(std::move(b).finish());
  CHECK(place_of(formats::embed_program(program)) == "value y");
  CHECK(formats::embed_program(program).error().what == "its size depends on data, so that no number stands for it");
  const auto refused = formats::embed_program(program, {.symbols = {{"u0", 2}}});
  CHECK(place_of(refused) == "symbol u0");
  CHECK(refused.error().what == "it depends on data, so that no number stands for it");
}

TEST_CASE("a program that writes in place is refused: static programs have values and no storages") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {2});
  const ValueId all =
      b.call("aten.as_strided.default", {{"self", b.value(x)}, {"size", b.ints({2})}, {"stride", b.ints({1})}}, "all",
             ScalarType::float32, {2});
  const ValueId y =
      b.call("aten.add.Tensor", {{"self", b.value(all)}, {"other", b.value(all)}}, "y", ScalarType::float32, {2});
  b.call("aten.relu_.default", {{"self", b.value(all)}}, "written", ScalarType::float32, {2});
  b.end_graph({y});
  const ExportedProgram program = programs::user_program(std::move(b).finish());
  CHECK(place_of(formats::embed_program(program)) == "node 2 (aten.relu_.default)");
}

TEST_CASE("the model's assertions about numbers are checked, those about data are listed") {
  const auto embed = embed_assertion;
  CHECK(embed("aten._assert_scalar.default", false, true)->unchecked.empty());
  CHECK(place_of(embed("aten._assert_scalar.default", false, false)) == "node 0 (aten._assert_scalar.default)");
  const auto told = embed("aten._assert_scalar.default", true, true);
  REQUIRE(told.has_value());
  REQUIRE(told->unchecked.size() == 1);
  CHECK(told->unchecked[0] == "node 0 (aten._assert_scalar.default): x must hold");
  CHECK(told->header.find("// Not checked: node 0 (aten._assert_scalar.default): x must hold\n") != std::string::npos);
}

TEST_CASE("the model's assertion about a tensor is a step") {
  const auto stepped = embed_assertion("aten._assert_async.msg", true, true);
  REQUIRE(stepped.has_value());
  CHECK(stepped->unchecked.empty());
  CHECK(stepped->header.find("{\"aten._assert_async.msg\", ") != std::string::npos);
}

TEST_CASE("weights are found in one pass, however often they are transposed") {
  GraphBuilder b;
  b.begin_graph();
  ValueId w = b.input("w", ScalarType::float32, {2, 2});
  for (int i = 0; i < 100; ++i)  // two arguments each: 2^100 paths
    w = b.call("aten.t.default", {{"self", b.value(w)}, {"again", b.value(w)}}, concat("t", i), ScalarType::float32,
               {2, 2});
  const ValueId x = b.input("x", ScalarType::float32, {2, 2});
  b.end_graph(
      {b.call("aten.mm.default", {{"self", b.value(x)}, {"mat2", b.value(w)}}, "y", ScalarType::float32, {2, 2})});
  ExportedProgram program;
  program.graph_module = std::move(b).finish();
  program.signature = {.input_specs = {InputToParameterSpec({"w"}, "w"), UserInputSpec{TensorArgument{"x"}}},
                       .output_specs = {UserOutputSpec{TensorArgument{"y"}}}};
  program.state_dict.push_back({"w", Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{2, 2})});
  const auto embedded = formats::embed_program(program, {.layout = WeightLayout::output_inner});
  REQUIRE(embedded.has_value());
  CHECK(embedded->header.find("output_inner") != std::string::npos);
}
