// SPDX-License-Identifier: MIT
#include "davit/formats/embed_program.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../programs.hpp"
#include "cases/embed/digits_cnn_b1.hpp"
#include "cases/embed/digits_mlp_b1.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "davit/formats/npy.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/runtime/session.hpp"
#include "support/data.hpp"

namespace {

using namespace davit;
using formats::EmbedOptions;

/// The model of tests/cases/models, embedded as its header in tests/cases/embed was.
Result<formats::EmbeddedProgram> embed_case(const std::string& name) {
  const auto program = formats::read_pt2(test_data("models/" + name + "/program.pt2"));
  if (!program) return std::unexpected(program.error());
  return formats::embed_program(*program,
                                {.name = name, .layout = WeightLayout::output_inner, .weights_as_array = true});
}

/// Runs the model's recorded inputs on the static module and on portable's session: true if all results have the same
/// bits.
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
    equal = equal && std::memcmp(scores.data(), expected.data, sizeof scores) == 0;
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

}  // namespace

TEST_CASE("digits models give the bits of portable's session") {
  CHECK(equals_session<MlpBySize>("digits_mlp_b1"));
  CHECK(equals_session<MlpForSpeed>("digits_mlp_b1"));
  CHECK(equals_session<CnnBySize>("digits_cnn_b1"));
  CHECK(equals_session<CnnForSpeed>("digits_cnn_b1"));
}

TEST_CASE("the carried headers are what the models are embedded as") {
  for (const std::string name : {"digits_mlp_b1", "digits_cnn_b1"}) {
    const auto embedded = embed_case(name);
    REQUIRE(embedded.has_value());
    CHECK(embedded->header == test_file("embed/" + name + ".hpp"));
    CHECK(embedded->blob.empty());
  }
}

TEST_CASE("large weights go to a blob that the assembler includes") {
  const auto program = formats::read_pt2(test_data("models/digits_mlp_b1/program.pt2"));
  REQUIRE(program.has_value());
  const auto embedded = formats::embed_program(*program, {.name = "mlp"});
  REQUIRE(embedded.has_value());
  CHECK(embedded->blob.size() == 4 * (32 * 64 + 32 * 32 + 10 * 32));
  CHECK(embedded->header.find(".incbin \"mlp.bin\"") != std::string::npos);
  const Tensor* weight = program->tensor_named("1.weight");
  REQUIRE(weight != nullptr);
  CHECK(std::memcmp(embedded->blob.data(), weight->view().data, 64) == 0);
  CHECK(embedded->header.find("File \"") == std::string::npos);
  const auto with_lines = formats::embed_program(*program, {.name = "mlp", .source_lines = true});
  REQUIRE(with_lines.has_value());
  CHECK(with_lines->header.find("// File \"") != std::string::npos);
}

TEST_CASE("a long literal of weights does not warn under -Wpedantic") {
  GraphBuilder b;
  b.begin_graph();
  const ValueId w = b.input("w", ScalarType::float32, {128, 128}), x = b.input("x", ScalarType::float32, {128, 128});
  b.end_graph({b.call("aten.mul.Tensor", {{"self", b.value(x)}, {"other", b.value(w)}}, "y", ScalarType::float32, {128, 128})});
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

TEST_CASE("what static programs do not have is refused") {
  const auto cond = formats::read_pt2(test_data("pt2/cond_nested.pt2"));
  REQUIRE(cond.has_value());
  CHECK(place_of(formats::embed_program(*cond)) == "the program");
}

TEST_CASE("a program with hostile names is a header of its own names") {
  ExportedProgram program = programs::identity({2});
  const auto embedded = formats::embed_program(program, {.name = "new \"class\"\n--x"});
  REQUIRE(embedded.has_value());
  CHECK(embedded->header.find("struct new_class_x {") != std::string::npos);
  CHECK(embedded->header.find("name = \"new \\\"class\\\"\\n--x\"") != std::string::npos);
}
