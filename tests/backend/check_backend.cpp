// SPDX-License-Identifier: MIT
#include "davit/backend/check_backend.hpp"

#include <doctest/doctest.h>

#include "davit/backend/archetype.hpp"

using namespace davit;

namespace {

using Archetype = archetype::backend;

struct no_name {};
struct runtime_name {
  static std::string_view name() { return "x"; }
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
struct loads_alone : Archetype {
  static Result<Processed> load(std::span<const std::byte>);
};
struct vague_worth : Archetype {
  static int is_profitable(GraphModuleView, std::span<const NodeId>);
};
struct vague_cost : Archetype {
  static long offload_cost(GraphModuleView, std::span<const NodeId>);
};
struct is_worthwhile_only : Archetype {  // its former name
  static bool is_worthwhile(GraphModuleView, std::span<const NodeId>);
};
struct offload_costs_only : Archetype {
  static double offload_costs(GraphModuleView, std::span<const NodeId>);
};
struct variable_views : Archetype {
  inline static bool never_views_inputs = true;
};
struct may_view : Archetype {
  static constexpr bool never_views_inputs = false;
};
struct filling : Archetype {
  static Result<std::size_t> prepare(const Handle&, std::span<const EValue>, std::span<const EValue>, std::monostate&);
};
struct overwrites_alone : Archetype {
  static bool may_overwrite(const Handle&, std::size_t, std::size_t);
};
struct overwrites : filling {
  static bool may_overwrite(const Handle&, std::size_t, std::size_t);
};
struct updates_alone : Archetype {
  static bool updates_input(const Handle&, std::size_t, std::size_t);
};
struct vague_updates : filling {
  static bool updates_input(std::size_t, std::size_t);
};
struct vague_scratch : Archetype {
  static std::size_t scratch_bytes(const Handle&);
};
struct preprocesses_alone : Archetype {
  static std::vector<Processed> preprocess_all(std::span<const Method>, std::span<const CompileSpec>,
                                               DebugHandleRecorder&);
};
struct preprocesses_together : Archetype {
  static Result<std::vector<Processed>> preprocess_all(std::span<const Method>, std::span<const CompileSpec>,
                                                       DebugHandleRecorder&);
};
/// Its Preprocessor is used.
struct preprocesses_elsewhere : archetype::split_backend {
  static Result<std::vector<Processed>> preprocess_all(std::span<const Method>, std::span<const CompileSpec>,
                                                       DebugHandleRecorder&);
};

class all_private {
  static constexpr std::string_view name = "npu";
};
class half_private : Archetype {
 public:
  using Archetype::name, Archetype::CompileSpec, Archetype::Processed, Archetype::Handle;
};
struct private_refuses : Archetype {
 private:
  static const char* refuses(GraphModuleView, NodeId);
};
struct private_type : Archetype {
 private:
  struct Handle {};
};
/// A class with public functions, and other private names.
class open_class : Archetype {
  void helper() const {}

 public:
  using Archetype::name, Archetype::CompileSpec, Archetype::Processed, Archetype::Handle, Archetype::is_available,
      Archetype::compile, Archetype::execute, Archetype::preprocess;
};
struct last final : Archetype {};

struct refuse_alone : Archetype {
  static const char* refuse(GraphModuleView, NodeId);
};
struct refuse_too : refuse_alone {
  static const char* refuses(GraphModuleView, NodeId);
};
struct update_inputs : Archetype {
  static bool updates_inputs(const Handle&, std::size_t, std::size_t);
  static const char* rejects(GraphModuleView, NodeId);
};
struct workspaces : Archetype {
  struct WorkSpace {};
};
static_assert(detail::misspelt<refuse_alone>() == BackendRule::refuses &&
              detail::misspelt<refuse_too>() == BackendRule::none);
static_assert(detail::misspelt<update_inputs>() == BackendRule::refuses &&
              detail::misspelt<workspaces>() == BackendRule::workspace);
static_assert(detail::misspelt<is_worthwhile_only>() == BackendRule::is_profitable &&
              detail::misspelt<offload_costs_only>() == BackendRule::offload_cost &&
              detail::misspelt<archetype::estimating_backend>() == BackendRule::none);
static_assert(detail::misspelt<Archetype>() == BackendRule::none && detail::misspelt<int>() == BackendRule::none);

template <class B>
constexpr BackendRule broken = detail::broken_rule<B>();
using enum BackendRule;

static_assert(broken<all_private> == accessible && broken<half_private> == accessible &&
              broken<private_refuses> == accessible);
static_assert(broken<private_type> == accessible && broken<open_class> == none && broken<last> == none);
static_assert(broken<no_name> == name && broken<int> == name && broken<runtime_name> == name);
static_assert(broken<no_spec> == compile_spec && broken<no_processed> == processed && broken<no_handle> == handle);
static_assert(broken<no_availability> == is_available && broken<vague_availability> == is_available);
static_assert(broken<no_compile> == compile && broken<compiles_to_nothing> == compile_result);
static_assert(broken<no_execute> == execute && broken<executes_to_nothing> == execute_result);
static_assert(broken<archetype::runtime_backend> == preprocess && broken<preprocesses_to_nothing> == preprocess_result);
static_assert(broken<vague_refuses> == refuses && broken<vague_prepare> == prepare && broken<saves_alone> == save);
static_assert(broken<loads_alone> == load && broken<vague_worth> == is_profitable &&
              broken<vague_cost> == offload_cost && broken<variable_views> == never_views_inputs);
static_assert(broken<overwrites_alone> == may_overwrite && broken<updates_alone> == updates_input &&
              broken<vague_updates> == updates_input);
static_assert(broken<vague_scratch> == scratch_bytes && broken<preprocesses_alone> == preprocess_all &&
              broken<preprocesses_elsewhere> == preprocess_all);
static_assert(broken<may_view> == none && broken<overwrites> == none && broken<preprocesses_together> == none);
static_assert(broken<archetype::split_backend> == none && broken<archetype::selecting_backend> == none &&
              broken<archetype::saving_backend> == none && broken<archetype::estimating_backend> == none);
static_assert(detail::broken_runtime_rule<archetype::runtime_backend>() == none);

}  // namespace

TEST_CASE("the first rule that a type breaks is found, and a backend breaks none") {
  CHECK(check_backend<Archetype>());
  CHECK(check_runtime_backend<archetype::preparing_backend>());
  CHECK(detail::broken_rule<saves_alone>() == save);
}
