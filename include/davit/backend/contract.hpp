// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "davit/backend/debug_handles.hpp"
#include "davit/backend/execute_context.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/segments.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// What a backend's preprocess gets: a method's name and its program.
struct Method {
  std::string_view name;
  const ExportedProgram* program = nullptr;
  template <class Self = Method>
  [[nodiscard]] constexpr GraphModuleView view() const noexcept {
    return static_cast<const Self&>(*this).program->view();
  }
};

namespace detail {
template <class B>
struct WorkspaceOf {
  using type = std::monostate;
};
template <class B>
  requires requires { typename B::Workspace; }
struct WorkspaceOf<B> {
  using type = typename B::Workspace;
};
}  // namespace detail

/// What a session keeps for each method of a backend: `B::Workspace`, or nothing.
template <class B>
using workspace_of = typename detail::WorkspaceOf<B>::type;

/// The part of a backend that ships to the target.
///
/// A delegate call is functional: `inputs` are the mutable buffers the method reads, then its user inputs, in signature
/// order, tensors of any strides; `outputs` are the graph's outputs, in order. On entry each tensor output holds a
/// destination if the caller planned one (else none); execute fills it, or replaces it by a view whose storage outlives
/// the run (an input's, the workspace's, the handle's). Inputs were checked before; outputs are checked after: kinds,
/// dtypes, sizes, and that there is memory (but not that the sizes' and strides' own pointers are good). An exception
/// of any function here is an Error of its stage with the partition's name; of a typed method, which inlines execute,
/// it passes through. A session asks is_available before each run. Laws: see davit/testing/backend_laws.hpp.
template <class B>
concept RuntimeBackend =
    requires {
      { B::name } -> std::convertible_to<std::string_view>;
      typename B::CompileSpec;
      typename B::Processed;
      typename B::Handle;
      { B::is_available() } -> std::same_as<bool>;
    } && requires(const typename B::Processed& processed, const typename B::CompileSpec& spec,
                  const typename B::Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                  ExecuteContext<NullTracer, NoReport, workspace_of<B>>& context) {
      { B::compile(processed, spec) } -> std::same_as<Result<typename B::Handle>>;
      { B::execute(handle, inputs, outputs, context) } -> std::same_as<Status>;
    };

namespace detail {
template <class B>
struct PreprocessorOf {
  using type = B;
};
template <class B>
  requires requires { typename B::Preprocessor; }
struct PreprocessorOf<B> {
  using type = typename B::Preprocessor;
};
}  // namespace detail

/// Where a backend's preprocess lives: the type itself, or its `Preprocessor` where host headers must not reach the
/// target.
template <class B>
using preprocessor_of = typename detail::PreprocessorOf<B>::type;

/// A type whose preprocess turns a method into what `B` compiles.
template <class P, class B>
concept PreprocessorFor = RuntimeBackend<B> && requires(const Method& method, const typename B::CompileSpec& spec,
                                                        DebugHandleRecorder& debug_handles) {
  { P::preprocess(method, spec, debug_handles) } -> std::same_as<Result<typename B::Processed>>;
};

/// A backend: a runtime part and a preprocess.
template <class B>
concept Backend = RuntimeBackend<B> && PreprocessorFor<preprocessor_of<B>, B>;

/// A backend that says which nodes it takes: nullptr if it takes the node, else the reason it does not.
template <class B>
concept SelectsNodes = RuntimeBackend<B> && requires(GraphModuleView graph, NodeId node) {
  { B::refuses(graph, node) } -> std::same_as<const char*>;
};

/// A backend with operators of its own beside ATen's: it answers their schemas as torch writes them, and nothing for
/// others.
///
/// An operator that writes to arguments, "Tensor(a!) x", reaches it as a functional one:
/// `higher_order.auto_functionalized`, whose arguments are the operator's name and the operator's arguments by their
/// names, and whose results are the operator's (None if it has none) and then what each written argument becomes.
/// Source: torch._higher_order_ops.auto_functionalize.
template <class B>
concept HasOperators = RuntimeBackend<B> && requires(std::string_view target) {
  { B::operator_schema(target) } -> std::same_as<std::string_view>;
};

/// A backend that says which regions of a program gain by running on it; those that do not go to the next one. Beside
/// this no region of nothing but views, copies and arithmetic on sizes goes to any backend before the last that takes
/// it. The nodes ascend; the view knows uses and constants.
template <class B>
concept JudgesRegions = RuntimeBackend<B> && requires(GraphModuleView graph, std::span<const NodeId> nodes) {
  { B::is_worthwhile(graph, nodes) } -> std::same_as<bool>;
};

/// A backend that estimates how many nanoseconds a run of a region takes on it, on one thread, with what enters and
/// leaves. Where several backends of a list say this and take the same region, the one with the least gets it; backends
/// that say nothing are preferred in the order of the list. The nodes ascend and need not be connected; the view knows
/// uses and constants; symbolic sizes count as their examples.
template <class B>
concept EstimatesOffloadCost = RuntimeBackend<B> && requires(GraphModuleView graph, std::span<const NodeId> nodes) {
  { B::offload_cost(graph, nodes) } -> std::same_as<double>;
};

/// A preprocess that sees all partitions of a method at once, so that they can share weights: it answers one result per
/// method, in order, and announces each method to the recorder before asking for its handles.
template <class P, class B>
concept PreprocessesTogether =
    RuntimeBackend<B> && requires(std::span<const Method> methods, std::span<const typename B::CompileSpec> specs,
                                  DebugHandleRecorder& debug_handles) {
      { P::preprocess_all(methods, specs, debug_handles) } -> std::same_as<Result<std::vector<typename B::Processed>>>;
    };

/// A backend that writes its outputs to destinations: `prepare` is told which outputs will have one (a tensor of the
/// right sizes, its data still null), and scratch then holds no output. Such a backend's scratch is lent to others
/// between calls.
template <class B>
concept FillsDestinations =
    RuntimeBackend<B> && requires(const typename B::Handle& handle, std::span<const EValue> inputs,
                                  std::span<const EValue> outputs, workspace_of<B>& workspace) {
      { B::prepare(handle, inputs, outputs, workspace) } -> std::same_as<Result<std::size_t>>;
    };

/// A backend whose sessions prepare: `prepare` sizes the workspace for these inputs and answers the bytes of scratch
/// that execute needs. Called before the first execute and whenever an input's sizes changed, with tensors that may
/// have no data yet (null), and first with the largest sizes that a run may ask for where the program says them. The
/// workspace stays at its address for as long as it lives.
template <class B>
concept Prepares =
    FillsDestinations<B> || (RuntimeBackend<B> && requires(const typename B::Handle& handle,
                                                           std::span<const EValue> inputs, workspace_of<B>& workspace) {
      { B::prepare(handle, inputs, workspace) } -> std::same_as<Result<std::size_t>>;
    });

/// A backend that says `static constexpr bool never_views_inputs = true`: no output of its execute views an input (if
/// it fills destinations: no output that has one), so that the session may use the input's memory again while the
/// output lives.
template <class B>
concept NeverViewsInputs = requires {
  requires bool { B::never_views_inputs };
};

/// A backend that can compute an output over an input that is not needed any more (both of the same size).
template <class B>
concept OverwritesInputs =
    FillsDestinations<B> && requires(const typename B::Handle& handle, std::size_t input, std::size_t output) {
      { B::may_overwrite(handle, input, output) } -> std::same_as<bool>;
    };

/// A backend of which an output may be an input with new numbers in some places (a row of a cache). Where nobody needs
/// the input after the call and the output is its new value, the destination is the input's own memory: execute then
/// writes what is new, after context.undo() has kept what was there.
template <class B>
concept UpdatesInputs =
    FillsDestinations<B> && requires(const typename B::Handle& handle, std::size_t input, std::size_t output) {
      { B::updates_input(handle, input, output) } -> std::same_as<bool>;
    };

/// A backend that saves its Processed to bytes, and loads it back.
template <class B>
concept SavesBytes =
    RuntimeBackend<B> && requires(const typename B::Processed& processed, std::span<const std::byte> bytes) {
      { B::save(processed) } -> std::same_as<std::vector<std::byte>>;
      { B::load(bytes) } -> std::same_as<Result<typename B::Processed>>;
    };

/// A backend that saves large tensors as segments of the file, apart from its own bytes: equal ones are kept once, and
/// a loaded Processed may view the mapped file.
template <class B>
concept SavesSegments = RuntimeBackend<B> && requires(const typename B::Processed& processed, SegmentWriter& writer,
                                                      const SegmentReader& reader, std::span<const std::byte> bytes) {
  { B::save(processed, writer) } -> std::same_as<std::vector<std::byte>>;
  { B::load(bytes, reader) } -> std::same_as<Result<typename B::Processed>>;
};

/// A backend whose Processed, in one of the two ways, and CompileSpec can be saved and loaded back.
template <class B>
concept SavesProcessed = (SavesSegments<B> || SavesBytes<B>) &&
                         requires(const typename B::CompileSpec& spec, std::span<const std::byte> bytes) {
                           { B::save_spec(spec) } -> std::same_as<std::vector<std::byte>>;
                           { B::load_spec(bytes) } -> std::same_as<Result<typename B::CompileSpec>>;
                         };

/// A backend whose Processed ships in static programs too (backend/embed_delegate.hpp) says how much memory a run of it
/// needs there beside inputs and outputs. `static constexpr std::int32_t blob_version` beside it is raised when what
/// `save` writes changes: the static backend of that name has the same, or does not compile with the blob.
template <class B>
concept SizesStaticScratch = RuntimeBackend<B> && requires(const typename B::Processed& processed) {
  { B::scratch_bytes(processed) } -> std::convertible_to<std::size_t>;
};

}  // namespace davit
