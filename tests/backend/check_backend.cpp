// SPDX-License-Identifier: MIT
#include "davit/backend/check_backend.hpp"

#include <doctest/doctest.h>

#include "davit/backend/archetype.hpp"

using namespace davit;

namespace {

using Archetype = archetype::backend;

struct no_name {};
struct runtime_name {
  static std::string_view name();
};
struct no_spec {
  static constexpr std::string_view name = "x";
};
struct no_processed : no_spec {
  struct CompileSpec {};
};
struct no_handle : no_processed {
  struct Processed {};
};
struct no_availability : no_handle {
  struct Handle {};
};
struct vague_availability : no_availability {
  static int is_available();
};
struct no_compile : no_availability {
  static bool is_available();
};
struct compiles_to_nothing : no_compile {
  static bool compile(const Processed&, const CompileSpec&);
};
struct no_execute : no_compile {
  static Result<Handle> compile(const Processed&, const CompileSpec&);
};
struct executes_to_nothing : no_execute {
  static void execute(const Handle&, std::span<const EValue>, std::span<EValue>, auto&);
};
struct preprocesses_to_nothing : archetype::runtime_backend {
  static Processed preprocess(const Method&, const CompileSpec&, DebugHandleRecorder&);
};
struct vague_refuses : Archetype {
  static bool refuses(GraphModuleView, NodeId);
};
struct vague_prepare : Archetype {
  static std::size_t prepare(const Handle&, std::span<const EValue>, std::monostate&);
};
struct saves_alone : Archetype {
  static std::vector<std::byte> save(const Processed&);
};

template <class B>
constexpr BackendRule broken = detail::broken_rule<B>();
using enum BackendRule;

static_assert(broken<no_name> == name && broken<int> == name && broken<runtime_name> == name);
static_assert(broken<no_spec> == compile_spec && broken<no_processed> == processed && broken<no_handle> == handle);
static_assert(broken<no_availability> == is_available && broken<vague_availability> == is_available);
static_assert(broken<no_compile> == compile && broken<compiles_to_nothing> == compile_result);
static_assert(broken<no_execute> == execute && broken<executes_to_nothing> == execute_result);
static_assert(broken<archetype::runtime_backend> == preprocess && broken<preprocesses_to_nothing> == preprocess_result);
static_assert(broken<vague_refuses> == refuses && broken<vague_prepare> == prepare && broken<saves_alone> == save);
static_assert(broken<archetype::split_backend> == none && broken<archetype::selecting_backend> == none && broken<archetype::saving_backend> == none);
static_assert(detail::broken_runtime_rule<archetype::runtime_backend>() == none);

}  // namespace

TEST_CASE("the first rule that a type breaks is found, and a backend breaks none") {
  CHECK(check_backend<Archetype>());
  CHECK(check_runtime_backend<archetype::preparing_backend>());
  CHECK(detail::broken_rule<saves_alone>() == save);
}
