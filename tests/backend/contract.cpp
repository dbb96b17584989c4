// SPDX-License-Identifier: MIT
#include "davit/backend/contract.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <variant>

#include "../programs.hpp"
#include "davit/backend/archetype.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/mock_backend.hpp"
#include "support/saved_program.hpp"

using namespace davit;

namespace {

// backends that lack one requirement of the contract each
struct no_name : archetype::backend {
  void name();
};
struct no_spec : archetype::backend {
 private:
  struct CompileSpec;
};
struct no_processed : archetype::backend {
 private:
  struct Processed;
};
struct no_handle : archetype::backend {
 private:
  struct Handle;
};
struct no_availability : archetype::backend {
  static int is_available();
};
struct no_compile : archetype::backend {
  static Handle compile(const Processed&, const CompileSpec&);
};
struct no_execute : archetype::backend {
  static void execute();
};
struct bad_status : archetype::backend {
  template <class Context>
  static bool execute(const Handle&, std::span<const EValue>, std::span<EValue>, Context&);
};
struct no_preprocess : archetype::backend {
  void preprocess();
};
struct preprocess_alone {
  static Result<int> preprocess(const Method&, const int&, DebugHandleRecorder&);
};
static_assert(RuntimeBackend<archetype::backend> && Backend<archetype::backend>);
static_assert(!RuntimeBackend<no_name>);
static_assert(!RuntimeBackend<no_spec>);
static_assert(!RuntimeBackend<no_processed>);
static_assert(!RuntimeBackend<no_handle>);
static_assert(!RuntimeBackend<no_availability>);
static_assert(!RuntimeBackend<no_compile>);
static_assert(!RuntimeBackend<no_execute>);
static_assert(!RuntimeBackend<bad_status>);
static_assert(RuntimeBackend<no_preprocess> && !Backend<no_preprocess>);
static_assert(!RuntimeBackend<preprocess_alone> && !Backend<preprocess_alone>);

static_assert(std::is_same_v<preprocessor_of<archetype::backend>, archetype::backend>);
static_assert(std::is_same_v<preprocessor_of<archetype::split_backend>, archetype::host_part>);
static_assert(std::is_same_v<workspace_of<archetype::backend>, std::monostate>);
static_assert(std::is_same_v<workspace_of<archetype::preparing_backend>, archetype::preparing_backend::Workspace>);

struct Tag {};
using one = testing::mock_backend<Tag>;
struct two : one {
  static constexpr std::string_view name = "bad-name two";
};

}  // namespace

TEST_CASE(
    "H02: a type without the functions of a backend, or without preprocess, is none; lowering to it does not compile "
    "(compile_errors/H02*)") {
  CHECK(!Backend<int>);
  CHECK(!Backend<no_preprocess>);
}

TEST_CASE("H03: a preprocess without a backend class is no backend (compile_errors/H03)") {
  CHECK(!Backend<preprocess_alone>);
}

TEST_CASE(
    "H04: nothing is registered, so nothing can be registered twice; defining a type twice does not compile "
    "(compile_errors/H04)") {
  CHECK(Backend<one>);
}

TEST_CASE(
    "H05: two backends of equal functions are two types with their own names; the original ignores the second name") {
  testing::MockScript script;
  one::script = &script;
  const auto first = to_backend<one>(programs::echo());
  const auto second = to_backend<two>(programs::echo());
  REQUIRE((first && second));
  script.available = false;
  CHECK(support::loaded<one>(support::saved(*first)).error().what == "backend mock is not available");
  CHECK(support::loaded<two>(support::saved(*second)).error().what == "backend bad-name two is not available");
  one::script = nullptr;
}

TEST_CASE(
    "H06: a backend's name is data and may hold any character; its type is an identifier, which the compiler checks") {
  testing::MockScript script;
  one::script = &script;
  const auto lowered = to_backend<two>(programs::echo());
  REQUIRE(lowered);
  CHECK(support::loaded<two>(support::saved(*lowered)));
  one::script = nullptr;
}
