// SPDX-License-Identifier: MIT
#include "davit/formats/embed/method.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../programs.hpp"
#include "cases/embed/tracker.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "davit/formats/embed_program.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/data.hpp"

namespace {

using namespace davit;
using Four = std::array<float, 4>;
using Steps = std::array<std::int64_t, 1>;

/// The methods of cases/embed/tracker.hpp: `stream` changes the level and counts, `read` reads both.
struct Tracker {
  ExportedProgram stream, read;
  std::array<ProgramMethod, 2> methods{{{"stream", &stream}, {"read", &read}}};

  static Result<ExportedProgram> load(const std::string& name) {
    return formats::read_pt2(test_data("embed/tracker_" + name + ".pt2"));
  }
  Tracker() : stream(*load("stream")), read(*load("read")) {}
  Tracker(const Tracker&) = delete;
};

std::string place_of(const Result<formats::EmbeddedProgram>& result) {
  return result ? std::string() : std::string(result.error().where.view());
}

using Module = static_module<tracker, portable>;
static_assert(Module::state_bytes == 4 * 4 + 8, "the level and the number of steps, once");
static_assert(Module::arena_bytes ==
              std::max(Module::method<tracker::stream>::arena_bytes, Module::method<tracker::read>::arena_bytes));
static_assert(Module::method<tracker::stream>::state_pools.bytes() == Module::state_bytes);
static_assert(Module::weight_bytes <
              Module::method<tracker::stream>::weight_bytes + Module::method<tracker::read>::weight_bytes);
static_assert(Module::step_count ==
              Module::method<tracker::stream>::step_count + Module::method<tracker::read>::step_count);
static_assert(std::ranges::find(Module::method<tracker::stream>::operators(), "aten.relu.default") !=
              Module::method<tracker::stream>::operators().end());

}  // namespace

TEST_CASE("methods over one state give the results of a session") {
  const Tracker tracker_methods;
  const auto lowered = to_backend(std::span<const ProgramMethod>(tracker_methods.methods),
                                  CapabilityPartitioner<BackendList<portable>>{});
  REQUIRE_MESSAGE(lowered.has_value(), (lowered ? std::string() : to_string(lowered.error())));
  static Module module;
  for (int round = 0; round < 2; ++round) {  // the second round begins with the initial values again
    Session session = *Session::make(*lowered);
    module.reset();
    for (int i = 0; i < 6; ++i) {
      const auto f = static_cast<float>(i);
      const Four x{f, 1 - f, 0.25f * f, 2};
      const auto same = [&](const Four& own, const TensorView& expected) {
        bool all = true;
        for (std::size_t k = 0; k < 4; ++k) all = all && std::fabs(own[k] - expected.as<float>()[k]) <= 1e-6f;
        return all;
      };
      Four y{};
      Steps steps{};
      if (i % 3 == 2) {
        const auto expected = session.run("stream", tensor(std::span(x), {4}));
        REQUIRE(expected.has_value());
        REQUIRE(module.stream(x, y).has_value());
        CHECK(same(y, (*expected)[0]->tensor()));
      } else {
        const auto expected = session.run("read", tensor(std::span(x), {4}));
        REQUIRE(expected.has_value());
        REQUIRE(module.read(x, y, steps).has_value());
        CHECK(same(y, (*expected)[0]->tensor()));
        CHECK(steps[0] == (*expected)[1]->tensor().as<std::int64_t>()[0]);
        CHECK(steps[0] == i / 3);
      }
    }
  }
}

TEST_CASE("the carried header equals the embedded methods, with equal weights once") {
  const Tracker methods;
  const auto embedded = formats::embed_program(methods.methods, {.name = "tracker", .weights_as_array = true});
  REQUIRE_MESSAGE(embedded.has_value(), (embedded ? std::string() : to_string(embedded.error())));
  CHECK(embedded->header == test_file("embed/tracker.hpp"));
  const auto with_blob = formats::embed_program(methods.methods, {.name = "tracker"});
  REQUIRE(with_blob.has_value());
  CHECK(with_blob->blob.size() == 4 * 4 * 4);
}

TEST_CASE("C has a function for each method, and one arena") {
  const Tracker methods;
  const auto embedded =
      formats::embed_program(methods.methods, {.name = "tracker", .plan = &plan_static<portable_static>});
  REQUIRE(embedded.has_value());
  for (const std::string_view line : {"int tracker_stream(const float* x, float* relu);",
                                      "int tracker_read(const float* gain, float* mul, int64_t* mul_1);",
                                      "void tracker_reset(void);", "#define TRACKER_READ_GAIN_COUNT 4\n"})
    CHECK_MESSAGE(embedded->c_header.find(line) != std::string::npos, embedded->c_header);
  CHECK(embedded->c_header.find("#define TRACKER_ARENA_BYTES " + std::to_string(Module::arena_bytes) + "\n") !=
        std::string::npos);
}

TEST_CASE("methods have names of their own") {
  const Tracker t;
  const auto embed = [&](Name first, Name second) {
    const std::array<ProgramMethod, 2> methods{{{std::move(first), &t.stream}, {std::move(second), &t.read}}};
    return formats::embed_program(methods, {.name = "tracker"});
  };
  CHECK(place_of(embed("a", "b")).empty());
  CHECK(place_of(embed("a-b", "a_b")) == "method 'a_b'");
  CHECK(place_of(embed("a", "reset")) == "method 'reset'");
  CHECK(place_of(embed("tracker", "b")) == "method 'tracker'");
  const auto hostile = embed("if", "x\"\n#error y\\");
  REQUIRE(hostile.has_value());
  CHECK(hostile->header.find("\n#error") == std::string::npos);
  CHECK(hostile->header.find("struct if_ {") != std::string::npos);
  CHECK(hostile->header.find("if_(Tensors&&... tensors)") != std::string::npos);
  CHECK(place_of(formats::embed_program(std::span<const ProgramMethod>(), {.name = "tracker"})) == "the program");
}

TEST_CASE("a method's errors say which it is") {
  const ExportedProgram one = programs::identity({2});
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.declare({.name = b.text("n"), .kind = ValueKind::sym_float});
  b.end_graph({x});
  ExportedProgram number;
  number.graph_module = std::move(b).finish();
  number.signature.output_specs.push_back(UserOutputSpec{SymIntArgument{"n"}});
  const std::array<ProgramMethod, 2> methods{{{"one", &one}, {"number", &number}}};
  CHECK(place_of(formats::embed_program(methods, {.name = "p"})) == "method 'number', output n");
}

TEST_CASE("outputs that are numbers, which sizes make, are members of the program") {
  const auto program = formats::read_pt2(test_data("pt2/dyn_two_dims_arith.pt2"));
  REQUIRE(program.has_value());
  const auto embedded = formats::embed_program(*program, {.symbols = {{"s0", 4, 5}, {"s1", 3}}});
  REQUIRE_MESSAGE(embedded.has_value(), to_string(embedded ? Error{} : embedded.error()));
  const auto has = [&](std::string_view part) { return embedded->header.find(part) != std::string::npos; };
  CHECK(has("static constexpr std::int64_t output_3 = 7;  // add_3\n"));
  CHECK(has("static constexpr std::int64_t output_3 = 8;  // add_3\n"));
  CHECK(has("static constexpr std::int64_t output_4 = 2;  // floordiv\n"));
  CHECK(has("static constexpr std::int64_t output_4 = 3;  // floordiv\n"));
}
