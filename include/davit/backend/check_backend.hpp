// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "davit/backend/contract.hpp"

namespace davit {

/// The rules of the contract, in its order.
enum class BackendRule : std::uint8_t {
  accessible,
  name,
  compile_spec,
  processed,
  handle,
  is_available,
  compile,
  compile_result,
  execute,
  execute_result,
  execute_context,
  workspace,
  preprocess,
  preprocess_result,
  refuses,
  operator_schema,
  is_profitable,
  offload_cost,
  prepare,
  never_views_inputs,
  may_overwrite,
  updates_input,
  save,
  load,
  scratch_bytes,
  preprocess_all,
  none,
};

namespace detail {

template <class B>
concept HasConstantName = requires { typename std::bool_constant<(std::string_view(B::name).size() > 0)>; };
/// A backend whose execute accepts the context of a session without tracer and report.
template <class B>
concept CanExecute = requires(
    const typename B::Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
    ExecuteContext<NullTracer, NoReport, workspace_of<B>>& context) { B::execute(handle, inputs, outputs, context); };
/// A backend whose execute accepts the context of a session with tracer and report.
template <class B>
concept CanExecuteTraced = requires(
    const typename B::Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
    ExecuteContext<TracerRef, TextReport, workspace_of<B>>& context) { B::execute(handle, inputs, outputs, context); };
template <class P, class B>
concept CanPreprocess = requires(const Method& method, const typename B::CompileSpec& spec,
                                 DebugHandleRecorder& debug_handles) { P::preprocess(method, spec, debug_handles); };
template <class B>
concept SaysWhetherItViewsInputs = requires { typename std::bool_constant<bool{B::never_views_inputs}>; };

/// One member per name of the contract. If a backend has a member of that name, private or not, the name is ambiguous
/// in BackendAndNames.
struct ContractNames {
  // NOLINTNEXTLINE(readability-identifier-naming): the contract's names
  int name, CompileSpec, Processed, Handle, is_available, refuses, operator_schema, is_profitable, offload_cost,
      never_views_inputs, may_overwrite, updates_input;
};
template <class B>
struct BackendAndNames : B, ContractNames {};

/// True if B has a member of the contract that is private, as in a `class` without `public:`.
template <class B>
[[nodiscard]] consteval bool hides_members() {
  if constexpr (!requires { sizeof(B); }) {
    return false;
  } else if constexpr (std::is_class_v<B> && !std::is_final_v<B>) {
    using Both = BackendAndNames<B>;
    // clang-format off
    return (!requires { &Both::name; } && !requires { &B::name; } && !requires { B::name; }) ||
           (!requires { &Both::CompileSpec; } && !requires { typename B::CompileSpec; } &&
            !requires { &B::CompileSpec; }) ||
           (!requires { &Both::Processed; } && !requires { typename B::Processed; } && !requires { &B::Processed; }) ||
           (!requires { &Both::Handle; } && !requires { typename B::Handle; } && !requires { &B::Handle; }) ||
           (!requires { &Both::is_available; } && !requires { &B::is_available; } &&
            !requires { B::is_available(); }) ||
           (!requires { &Both::refuses; } && !requires { &B::refuses; } && !SelectsNodes<B>) ||
           (!requires { &Both::operator_schema; } && !requires { &B::operator_schema; } && !HasOperators<B>) ||
           (!requires { &Both::is_profitable; } && !requires { &B::is_profitable; } && !JudgesRegions<B>) ||
           (!requires { &Both::offload_cost; } && !requires { &B::offload_cost; } && !EstimatesOffloadCost<B>) ||
           (!requires { &Both::never_views_inputs; } && !requires { &B::never_views_inputs; }) ||
           (!requires { &Both::may_overwrite; } && !requires { &B::may_overwrite; } && !OverwritesInputs<B>) ||
           (!requires { &Both::updates_input; } && !requires { &B::updates_input; } && !UpdatesInputs<B>);
    // clang-format on
  } else {
    return false;
  }
}

/// @name True if B misspells an optional member of the contract, so that davit would never call it.
/// @{
// clang-format off
template <class B>
concept MisspeltRefuses = !requires { &B::refuses; } &&
    (requires { &B::refuse; } || requires { &B::refused; } || requires { &B::refuses_node; } ||
     requires { &B::reject; } || requires { &B::rejects; } || requires { &B::Refuses; });
template <class B>
concept MisspeltOperatorSchema = !requires { &B::operator_schema; } &&
    (requires { &B::operator_schemas; } || requires { &B::operators_schema; } || requires { &B::op_schema; } ||
     requires { &B::operatorSchema; });
template <class B>
concept MisspeltIsProfitable = !requires { &B::is_profitable; } &&
    (requires { &B::is_worthwhile; } || requires { &B::profitable; } || requires { &B::is_profitably; } ||
     requires { &B::isProfitable; });
template <class B>
concept MisspeltOffloadCost = !requires { &B::offload_cost; } &&
    (requires { &B::offload_costs; } || requires { &B::offloading_cost; } || requires { &B::cost; } ||
     requires { &B::offloadCost; });
template <class B>
concept MisspeltPrepare = !Prepares<B> && !requires { &B::prepare; } &&
    (requires { &B::prepares; } || requires { &B::prepared; } || requires { &B::Prepare; });
template <class B>
concept MisspeltNeverViewsInputs = !requires { &B::never_views_inputs; } &&
    (requires { &B::never_view_inputs; } || requires { &B::never_views_input; } ||
     requires { &B::never_view_input; } || requires { &B::neverViewsInputs; });
template <class B>
concept MisspeltMayOverwrite = !requires { &B::may_overwrite; } &&
    (requires { &B::may_overwrites; } || requires { &B::may_over_write; } || requires { &B::can_overwrite; } ||
     requires { &B::may_overwrite_input; } || requires { &B::mayOverwrite; });
template <class B>
concept MisspeltUpdatesInput = !requires { &B::updates_input; } &&
    (requires { &B::updates_inputs; } || requires { &B::update_input; } || requires { &B::update_inputs; } ||
     requires { &B::updatesInput; });
template <class B>
concept MisspeltSave = !SavesProcessed<B> &&
    (requires { &B::saves; } || requires { &B::loads; } || requires { &B::save_specs; } ||
     requires { &B::load_specs; } || requires { &B::save_processed; } || requires { &B::load_processed; } ||
     requires { &B::saveSpec; } || requires { &B::loadSpec; });
template <class B>
concept MisspeltScratchBytes = !requires { &B::scratch_bytes; } &&
    (requires { &B::scratch_byte; } || requires { &B::scratchBytes; });
template <class B>
concept MisspeltPreprocessAll = !requires { &preprocessor_of<B>::preprocess_all; } &&
    (requires { &preprocessor_of<B>::preprocesses_all; } || requires { &preprocessor_of<B>::preprocess_alls; } ||
     requires { &preprocessor_of<B>::preprocessAll; });
template <class B>
concept MisspeltWorkspace = !requires { typename B::Workspace; } &&
    (requires { typename B::WorkSpace; } || requires { typename B::Workspaces; } ||
     requires { typename B::workspace; });
// clang-format on
/// @}
/// Returns the rule of the first misspelt member of B.
template <class B>
[[nodiscard]] consteval BackendRule misspelt() {
  if constexpr (!requires { sizeof(B); })
    return BackendRule::none;
  else if constexpr (MisspeltRefuses<B>)
    return BackendRule::refuses;
  else if constexpr (MisspeltOperatorSchema<B>)
    return BackendRule::operator_schema;
  else if constexpr (MisspeltIsProfitable<B>)
    return BackendRule::is_profitable;
  else if constexpr (MisspeltOffloadCost<B>)
    return BackendRule::offload_cost;
  else if constexpr (MisspeltPrepare<B>)
    return BackendRule::prepare;
  else if constexpr (MisspeltNeverViewsInputs<B>)
    return BackendRule::never_views_inputs;
  else if constexpr (MisspeltMayOverwrite<B>)
    return BackendRule::may_overwrite;
  else if constexpr (MisspeltUpdatesInput<B>)
    return BackendRule::updates_input;
  else if constexpr (MisspeltSave<B>)
    return BackendRule::save;
  else if constexpr (MisspeltScratchBytes<B>)
    return BackendRule::scratch_bytes;
  else if constexpr (MisspeltPreprocessAll<B>)
    return BackendRule::preprocess_all;
  else if constexpr (MisspeltWorkspace<B>)
    return BackendRule::workspace;
  else
    return BackendRule::none;
}

/// Returns the first rule of the runtime part that B breaks. An optional part counts if B has a member of its name.
template <class B>
[[nodiscard]] consteval BackendRule broken_runtime_rule() {
  if constexpr (hides_members<B>()) {
    return BackendRule::accessible;
  } else if constexpr (!requires { requires std::convertible_to<decltype((B::name)), std::string_view>; } ||
                       !HasConstantName<B>) {
    return BackendRule::name;
  } else if constexpr (!requires { typename B::CompileSpec; }) {
    return BackendRule::compile_spec;
  } else if constexpr (!requires { typename B::Processed; }) {
    return BackendRule::processed;
  } else if constexpr (!requires { typename B::Handle; }) {
    return BackendRule::handle;
  } else if constexpr (!requires {
                         { B::is_available() } -> std::same_as<bool>;
                       }) {
    return BackendRule::is_available;
  } else if constexpr (!requires(const typename B::Processed& processed, const typename B::CompileSpec& spec) {
                         B::compile(processed, spec);
                       }) {
    return BackendRule::compile;
  } else if constexpr (!requires(const typename B::Processed& processed, const typename B::CompileSpec& spec) {
                         { B::compile(processed, spec) } -> std::same_as<Result<typename B::Handle>>;
                       }) {
    return BackendRule::compile_result;
  } else if constexpr (!CanExecute<B>) {
    return BackendRule::execute;
  } else if constexpr (!RuntimeBackend<B>) {
    return BackendRule::execute_result;
  } else if constexpr (!CanExecuteTraced<B>) {
    return BackendRule::execute_context;
  } else if constexpr (!std::default_initializable<workspace_of<B>>) {
    return BackendRule::workspace;
  } else if constexpr (requires { &B::refuses; } && !SelectsNodes<B>) {
    return BackendRule::refuses;
  } else if constexpr (requires { &B::operator_schema; } && !HasOperators<B>) {
    return BackendRule::operator_schema;
  } else if constexpr (requires { &B::is_profitable; } && !JudgesRegions<B>) {
    return BackendRule::is_profitable;
  } else if constexpr (requires { &B::offload_cost; } && !EstimatesOffloadCost<B>) {
    return BackendRule::offload_cost;
  } else if constexpr (requires { &B::prepare; } && !Prepares<B>) {
    return BackendRule::prepare;
  } else if constexpr (requires { &B::never_views_inputs; } && !SaysWhetherItViewsInputs<B>) {
    return BackendRule::never_views_inputs;
  } else if constexpr (requires { &B::may_overwrite; } && !OverwritesInputs<B>) {
    return BackendRule::may_overwrite;
  } else if constexpr (requires { &B::updates_input; } && !UpdatesInputs<B>) {
    return BackendRule::updates_input;
  } else if constexpr (requires { &B::save; } && !SavesProcessed<B>) {
    return BackendRule::save;
  } else if constexpr (requires { &B::load; } && !SavesProcessed<B>) {
    return BackendRule::load;
  } else if constexpr (requires { &B::scratch_bytes; } && !SizesStaticScratch<B>) {
    return BackendRule::scratch_bytes;
  } else {
    return BackendRule::none;
  }
}

template <class B>
[[nodiscard]] consteval BackendRule broken_rule() {
  constexpr BackendRule broken = broken_runtime_rule<B>();
  if constexpr (broken != BackendRule::none) {
    return broken;
  } else if constexpr (!CanPreprocess<preprocessor_of<B>, B>) {
    return BackendRule::preprocess;
  } else if constexpr (!Backend<B>) {
    return BackendRule::preprocess_result;
  } else if constexpr ((
                           requires { &B::preprocess_all; } || requires { &preprocessor_of<B>::preprocess_all; }) &&
                       !PreprocessesTogether<preprocessor_of<B>, B>) {
    return BackendRule::preprocess_all;
  } else {
    return BackendRule::none;
  }
}

/// Asserts every rule; at most one assertion fails.
template <class B, BackendRule broken>
consteval void assert_rules() {
  using enum BackendRule;
  static_assert(
      broken != accessible,
      "davit: this backend hides members that the contract names, as those of a class are private; make them public: "
      "write struct in place of class, or public: before them");
  static_assert(broken != name, "davit: a backend needs a name: static constexpr std::string_view name = \"npu\";");
  static_assert(broken != compile_spec,
                "davit: a backend needs a type CompileSpec, what its user may ask for: struct CompileSpec {};");
  static_assert(broken != processed,
                "davit: a backend needs a type Processed, what preprocess makes and what ships: struct Processed {};");
  static_assert(broken != handle,
                "davit: a backend needs a type Handle, what compile makes on the target: struct Handle {};");
  static_assert(broken != is_available, "davit: a backend needs static bool is_available();");
  static_assert(broken != compile,
                "davit: a backend needs static davit::Result<Handle> compile(const Processed&, const CompileSpec&);");
  static_assert(broken != compile_result,
                "davit: a backend's compile(processed, spec) must return davit::Result<Handle>");
  static_assert(broken != execute,
                "davit: a backend needs template <class Context> static davit::Status execute(const Handle&, "
                "std::span<const davit::EValue> "
                "inputs, std::span<davit::EValue> outputs, Context& context);");
  static_assert(broken != execute_result,
                "davit: a backend's execute(handle, inputs, outputs, context) must return davit::Status");
  static_assert(broken != execute_context,
                "davit: a backend's execute must take every davit::ExecuteContext: template <class Context> static "
                "davit::Status execute(..., Context& context);");
  static_assert(broken != workspace,
                "davit: a backend's type Workspace must be made without arguments: prepare fills it");
  static_assert(
      broken != preprocess,
      "davit: a backend needs static davit::Result<Processed> preprocess(const davit::Method&, const CompileSpec&, "
      "davit::DebugHandleRecorder&), in itself or in its type Preprocessor");
  static_assert(broken != preprocess_result,
                "davit: a backend's preprocess(method, spec, debug_handles) must return davit::Result<Processed>");
  static_assert(broken != refuses,
                "davit: this backend's refuses would not be called; it must be "
                "static const char* refuses(davit::GraphModuleView, davit::NodeId)");
  static_assert(broken != operator_schema,
                "davit: this backend's operator_schema would not be called; it must be "
                "static std::string_view operator_schema(std::string_view target)");
  static_assert(broken != is_profitable,
                "davit: this backend's is_profitable would not be called; it must be "
                "static bool is_profitable(davit::GraphModuleView, std::span<const davit::NodeId>)");
  static_assert(broken != offload_cost,
                "davit: this backend's offload_cost would not be called; it must be "
                "static double offload_cost(davit::GraphModuleView, std::span<const davit::NodeId>)");
  static_assert(broken != prepare,
                "davit: this backend's prepare would not be called; it must be "
                "static davit::Result<std::size_t> prepare(const Handle&, std::span<const davit::EValue> inputs, "
                "std::span<const davit::EValue> outputs, Workspace&), or that without outputs");
  static_assert(broken != never_views_inputs,
                "davit: this backend's never_views_inputs would not be read; it must be "
                "static constexpr bool never_views_inputs = true;");
  static_assert(broken != may_overwrite,
                "davit: this backend's may_overwrite would not be called; it must be static bool may_overwrite(const "
                "Handle&, std::size_t "
                "input, std::size_t output), beside a prepare with outputs");
  static_assert(broken != updates_input,
                "davit: this backend's updates_input would not be called; it must be static bool updates_input(const "
                "Handle&, std::size_t "
                "input, std::size_t output), beside a prepare with outputs");
  static_assert(broken != save,
                "davit: this backend's save would not be called; it needs save, load, save_spec and load_spec, as "
                "davit::SavesProcessed says");
  static_assert(broken != load,
                "davit: this backend's load would not be called; it needs save, load, save_spec and load_spec, as "
                "davit::SavesProcessed says");
  static_assert(broken != scratch_bytes,
                "davit: this backend's scratch_bytes would not be called; it must be "
                "static std::size_t scratch_bytes(const Processed&)");
  static_assert(broken != preprocess_all,
                "davit: this backend's preprocess_all would not be called; it must be static "
                "davit::Result<std::vector<Processed>> "
                "preprocess_all(std::span<const davit::Method>, std::span<const CompileSpec>, "
                "davit::DebugHandleRecorder&), beside preprocess");
}

template <class B>
consteval bool check_whole_backend() {
  assert_rules<B, broken_rule<B>()>();
  return true;
}

}  // namespace detail

/// Asserts the contract, in order, up to the first broken rule: the compiler's first lines name the rule and the fix.
/// Always returns true: write `static_assert(davit::check_backend<npu>());` beside the type.
template <class B>
consteval bool check_backend() {
  return detail::check_whole_backend<B>();
}
/// @name check_backend with a warning, for a backend that misspells an optional member.
/// @{
template <class B>
  requires(detail::misspelt<B>() == BackendRule::refuses)
[[deprecated(
    "davit: a member of this backend is named nearly as refuses, and would not be used: static const char* "
    "refuses(davit::GraphModuleView, davit::NodeId)")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
template <class B>
  requires(detail::misspelt<B>() == BackendRule::operator_schema)
[[deprecated(
    "davit: a member of this backend is named nearly as operator_schema, and would not be used: static "
    "std::string_view operator_schema(std::string_view target)")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
template <class B>
  requires(detail::misspelt<B>() == BackendRule::is_profitable)
[[deprecated(
    "davit: a member of this backend is named nearly as is_profitable, and would not be used: static bool "
    "is_profitable(davit::GraphModuleView, std::span<const davit::NodeId>)")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
template <class B>
  requires(detail::misspelt<B>() == BackendRule::offload_cost)
[[deprecated(
    "davit: a member of this backend is named nearly as offload_cost, and would not be used: static double "
    "offload_cost(davit::GraphModuleView, std::span<const davit::NodeId>)")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
template <class B>
  requires(detail::misspelt<B>() == BackendRule::prepare)
[[deprecated(
    "davit: a member of this backend is named nearly as prepare, and would not be used: static "
    "davit::Result<std::size_t> prepare(const Handle&, std::span<const davit::EValue>, Workspace&)")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
template <class B>
  requires(detail::misspelt<B>() == BackendRule::never_views_inputs)
[[deprecated(
    "davit: a member of this backend is named nearly as never_views_inputs, and would not be used: static constexpr "
    "bool never_views_inputs = true;")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
template <class B>
  requires(detail::misspelt<B>() == BackendRule::may_overwrite)
[[deprecated(
    "davit: a member of this backend is named nearly as may_overwrite, and would not be used: static bool "
    "may_overwrite(const Handle&, std::size_t input, std::size_t output)")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
template <class B>
  requires(detail::misspelt<B>() == BackendRule::updates_input)
[[deprecated(
    "davit: a member of this backend is named nearly as updates_input, and would not be used: static bool "
    "updates_input(const Handle&, std::size_t input, std::size_t output)")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
template <class B>
  requires(detail::misspelt<B>() == BackendRule::save)
[[deprecated(
    "davit: a member of this backend is named nearly as save, load, save_spec and load_spec, and would not be used: "
    "see davit::SavesProcessed")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
template <class B>
  requires(detail::misspelt<B>() == BackendRule::scratch_bytes)
[[deprecated(
    "davit: a member of this backend is named nearly as scratch_bytes, and would not be used: static std::size_t "
    "scratch_bytes(const Processed&)")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
template <class B>
  requires(detail::misspelt<B>() == BackendRule::preprocess_all)
[[deprecated(
    "davit: a member of this backend is named nearly as preprocess_all, and would not be used: see "
    "davit::PreprocessesTogether")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
template <class B>
  requires(detail::misspelt<B>() == BackendRule::workspace)
[[deprecated(
    "davit: a member of this backend is named nearly as Workspace, and would not be used: what a session keeps for "
    "each method")]] consteval bool
check_backend() {
  return detail::check_whole_backend<B>();
}
/// @}

/// Asserts the contract of the part that ships to the target.
template <class B>
consteval bool check_runtime_backend() {
  detail::assert_rules<B, detail::broken_runtime_rule<B>()>();
  return true;
}

}  // namespace davit
