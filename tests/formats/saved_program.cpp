// SPDX-License-Identifier: MIT
#include "davit/formats/package.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "../programs.hpp"
#include "support/compiler_demo.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/mock_backend.hpp"
#include "support/saved_program.hpp"

using namespace davit;
using programs::item;
using programs::scalar;

namespace {

struct Tag {};
using Mock = testing::mock_backend<Tag>;
struct Script : testing::MockScript {
  Script() { Mock::script = this; }
  Script(const Script&) = delete;
  ~Script() { Mock::script = nullptr; }
};
/// A backend with another name and the same functions.
struct Other : Mock {
  static constexpr std::string_view name = "other";
};

LoweredProgram lowered_echo() {
  const ExportedProgram program = programs::echo();
  const ProgramMethod method{"forward", &program};
  const MethodCompileSpec<Mock> spec{"forward", {"opt_forward"}};
  return *to_backend<Mock>(std::span(&method, 1), std::span(&spec, 1));
}

}  // namespace

TEST_CASE("B07: lowered while unavailable, saved, loaded where available: it is compiled there and runs") {
  Script script;
  script.available = false;
  const std::vector<std::byte> bytes = support::saved(lowered_echo());
  script.available = true;
  (void)script.take_log();
  const auto loaded = support::loaded<Mock>(bytes);
  REQUIRE(loaded);
  CHECK(script.take_log() == "is_available compile");
  Session session = *Session::make(*loaded);
  const Tensor four = scalar(4);
  const auto result = session.call<TensorView>("forward", four);
  REQUIRE(result);
  CHECK(*result->as<float>() == 4);
}

TEST_CASE("B08: loading where the backend is unavailable is an error that names it, and compiles nothing") {
  Script script;
  const std::vector<std::byte> bytes = support::saved(lowered_echo());
  script.available = false;
  (void)script.take_log();
  const auto loaded = support::loaded<Mock>(bytes);
  REQUIRE(!loaded);
  CHECK(loaded.error().code == ErrorCode::not_available);
  CHECK(loaded.error().stage == Stage::load);
  CHECK(loaded.error().what == "backend mock is not available");
  CHECK(script.take_log() == "is_available");
}

TEST_CASE("B09: a backend is a type: no object is made or destroyed, and handles go with their modules") {
  Script script;
  auto first = std::make_unique<LoweredProgram>(lowered_echo());
  const LoweredProgram second = lowered_echo();
  first.reset();
  CHECK(second.methods()[0].delegates[0].handle != nullptr);
  CHECK(script.take_log() == "preprocess is_available compile preprocess is_available compile");
}

TEST_CASE("F01: the saved state is spec, blob and flag of each method; saving asks the backend nothing and repeats") {
  Script script;
  const LoweredProgram module = lowered_echo();
  (void)script.take_log();
  const std::vector<std::byte> bytes = support::saved(module);
  CHECK(script.take_log().empty());
  CHECK(support::saved(module) == bytes);
  const auto loaded = support::loaded<Mock>(bytes);
  REQUIRE(loaded);
  CHECK(loaded->methods()[0].name == "forward");
  CHECK(spec_of<Mock>(loaded->methods()[0].delegates[0]).text == "opt_forward");
  CHECK(processed_of<Mock>(loaded->methods()[0].delegates[0]).blob == "blob");
  CHECK(support::saved(*loaded) == bytes);
}

TEST_CASE("F02: loading checks availability once, then compiles each method with its own spec") {
  Script script;
  const ExportedProgram program = programs::echo();
  const ProgramMethod methods[] = {{"a", &program}, {"b", &program}};
  const MethodCompileSpec<Mock> specs[] = {{"b", {"opt_b"}}, {"a", {"opt_a"}}};
  const auto module = to_backend<Mock>(methods, specs);
  REQUIRE(module);
  const auto bytes = support::saved(*module);
  script.compiled_specs.clear();
  (void)script.take_log();
  REQUIRE(support::loaded<Mock>(bytes));
  CHECK(script.take_log() == "is_available compile compile");
  CHECK(script.compiled_specs == std::vector<Name>{"opt_b", "opt_a"});
}

TEST_CASE("F04: a loaded module has no debug map; errors then say the handle") {
  Script script;
  const auto loaded = support::loaded<Mock>(support::saved(lowered_echo()));
  REQUIRE(loaded);
  CHECK(loaded->debug_map().empty());
}

TEST_CASE("F05: modules with equal names of methods live side by side, saved and loaded too: (5 + 2) * (5 - 2) = 21") {
  const auto add = to_backend<compiler_demo>(programs::add());
  const auto sub = to_backend<compiler_demo>(programs::binary("aten.sub.Tensor"));
  REQUIRE((add && sub));
  const auto product = [](const LoweredProgram& a, const LoweredProgram& b) {
    Session first = *Session::make(a);
    Session second = *Session::make(b);
    const Tensor five = scalar(5);
    const Tensor two = scalar(2);
    const auto x = first.call<TensorView>("forward", five, two);
    const auto y = second.call<TensorView>("forward", five, two);
    return x && y ? *x->as<float>() * *y->as<float>() : 0;
  };
  CHECK(product(*add, *sub) == 21);
  const auto loaded_add = support::loaded<compiler_demo>(support::saved(*add));
  const auto loaded_sub = support::loaded<compiler_demo>(support::saved(*sub));
  REQUIRE((loaded_add && loaded_sub));
  CHECK(product(*loaded_add, *loaded_sub) == 21);
}

TEST_CASE("F06: a copy shares everything and asks the backend nothing; the original cannot clone") {
  Script script;
  const LoweredProgram module = lowered_echo();
  (void)script.take_log();
  const LoweredProgram copy = module;
  CHECK(copy.methods().data() == module.methods().data());
  CHECK(copy.shared_debug_map() == module.shared_debug_map());
  CHECK(script.take_log().empty());
}

TEST_CASE("F07: the debug map is kept beside the module and can be given to the loaded one") {
  Script script;
  const LoweredProgram module = *to_backend<Mock>(programs::add());
  const auto loaded = support::loaded<Mock>(support::saved(module));
  REQUIRE(loaded);
  script.fault = ErrorCode::failed;
  script.fault_handle = 0;
  const Tensor x = scalar(1);
  Session bare = *Session::make(*loaded);
  const auto without = bare.call<TensorView>("forward", x, x);
  REQUIRE(!without);
  CHECK(without.error().where == "debug handle 0 (no debug information for it)");
  CHECK(without.error().source.empty());
  Session explained = *Session::make(loaded->with_debug_map(module.shared_debug_map()));
  const auto with = explained.call<TensorView>("forward", x, x);
  REQUIRE(!with);
  CHECK(with.error().source.view().find("return x + h") != std::string_view::npos);
}

TEST_CASE("bytes that are no package, of another version or another backend are refused") {
  Script script;
  std::vector<std::byte> bytes = support::saved(lowered_echo());
  const auto other = support::loaded<Other>(bytes);
  REQUIRE(!other);
  CHECK(other.error().what == "the program was lowered for backend 'mock', which is not in this program's list");
  bytes[8] = std::byte{77};
  CHECK(support::loaded<Mock>(bytes).error().code == ErrorCode::version_mismatch);
  bytes[0] = std::byte{0};
  CHECK(support::loaded<Mock>(bytes).error().code == ErrorCode::corrupt_data);
  CHECK(support::loaded<Mock>({}).error().code == ErrorCode::corrupt_data);
}
