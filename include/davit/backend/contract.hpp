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

/// Input of a backend's preprocess: a method's name and its program.
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

/// Per-session data of a method of a backend: `B::Workspace`, or an empty type.
template <class B>
using workspace_of = typename detail::WorkspaceOf<B>::type;

/// The part of a backend that ships to the target.
///
/// A delegate call is functional. `inputs` are the mutable buffers that the method reads, then its user inputs, in
/// signature order, as tensors of any strides; `outputs` are the graph's outputs, in order. On entry each tensor output
/// holds a destination if the caller planned one, else none; execute fills the destination, or replaces it by a view
/// whose storage outlives the run (an input's, the workspace's, the handle's). davit checks inputs before the call and
/// outputs after it: kinds, dtypes, sizes, and that there is memory (but not that the pointers to sizes and strides are
/// valid). An exception of any function here becomes an Error of its stage with the partition's name; a typed method
/// inlines execute, so there the exception propagates. A session calls is_available before each run. Laws: see
/// davit/testing/backend_laws.hpp.
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

/// The type with the backend's preprocess: the backend itself, or its `Preprocessor` if host headers must not reach the
/// target.
template <class B>
using preprocessor_of = typename detail::PreprocessorOf<B>::type;

/// A type whose preprocess turns a method into the Processed of `B`.
template <class P, class B>
concept PreprocessorFor = RuntimeBackend<B> && requires(const Method& method, const typename B::CompileSpec& spec,
                                                        DebugHandleRecorder& debug_handles) {
  { P::preprocess(method, spec, debug_handles) } -> std::same_as<Result<typename B::Processed>>;
};

/// A backend: a runtime part and a preprocess.
template <class B>
concept Backend = RuntimeBackend<B> && PreprocessorFor<preprocessor_of<B>, B>;

/// A backend that selects its nodes: `refuses` returns nullptr if it takes the node, else the reason.
template <class B>
concept SelectsNodes = RuntimeBackend<B> && requires(GraphModuleView graph, NodeId node) {
  { B::refuses(graph, node) } -> std::same_as<const char*>;
};

/// A backend with custom operators beside ATen's: `operator_schema` returns their schemas as torch writes them, and an
/// empty string for other names.
///
/// An operator that writes to arguments, "Tensor(a!) x", reaches the backend in functional form, as
/// `higher_order.auto_functionalized`: its arguments are the operator's name and the operator's arguments by name; its
/// results are the operator's results (None if it has none), then the new value of each written argument. Source:
/// torch._higher_order_ops.auto_functionalize.
template <class B>
concept HasOperators = RuntimeBackend<B> && requires(std::string_view target) {
  { B::operator_schema(target) } -> std::same_as<std::string_view>;
};

/// A backend that decides which regions of a program gain by running on it; other regions go to the next backend. In
/// addition, a region of only views, copies and arithmetic on sizes goes to the last backend that takes it. The nodes
/// ascend; the view has uses and constants.
template <class B>
concept JudgesRegions = RuntimeBackend<B> && requires(GraphModuleView graph, std::span<const NodeId> nodes) {
  { B::is_profitable(graph, nodes) } -> std::same_as<bool>;
};

/// A backend that estimates the run time of a region, in nanoseconds on one thread, with the transfer of its inputs and
/// outputs. If several such backends of a list take the same region, the cheapest gets it; backends without an estimate
/// are preferred in the order of the list. The nodes ascend and need not be connected; the view has uses and constants;
/// symbolic sizes have their example values.
template <class B>
concept EstimatesOffloadCost = RuntimeBackend<B> && requires(GraphModuleView graph, std::span<const NodeId> nodes) {
  { B::offload_cost(graph, nodes) } -> std::same_as<double>;
};

/// A preprocess that gets all partitions of a method at once, so that they can share weights. It returns one result per
/// method, in order, and calls begin_method of the recorder for each before it requests handles.
template <class P, class B>
concept PreprocessesTogether =
    RuntimeBackend<B> && requires(std::span<const Method> methods, std::span<const typename B::CompileSpec> specs,
                                  DebugHandleRecorder& debug_handles) {
      { P::preprocess_all(methods, specs, debug_handles) } -> std::same_as<Result<std::vector<typename B::Processed>>>;
    };

/// A backend that writes its outputs to destinations: `prepare` gets the outputs that will have one (a tensor of the
/// right sizes with null data), and scratch then holds no output. A session shares such a backend's scratch with others
/// between calls.
template <class B>
concept FillsDestinations =
    RuntimeBackend<B> && requires(const typename B::Handle& handle, std::span<const EValue> inputs,
                                  std::span<const EValue> outputs, workspace_of<B>& workspace) {
      { B::prepare(handle, inputs, outputs, workspace) } -> std::same_as<Result<std::size_t>>;
    };

/// A backend whose sessions prepare: `prepare` sizes the workspace for these inputs and returns the bytes of scratch
/// that execute needs. It runs before the first execute and after each change of input sizes, with tensors whose data
/// may be null, and first with the largest sizes of the program if they are known. The address of the workspace never
/// changes.
template <class B>
concept Prepares =
    FillsDestinations<B> || (RuntimeBackend<B> && requires(const typename B::Handle& handle,
                                                           std::span<const EValue> inputs, workspace_of<B>& workspace) {
      { B::prepare(handle, inputs, workspace) } -> std::same_as<Result<std::size_t>>;
    });

/// A backend with `static constexpr bool never_views_inputs = true`: no output of its execute views an input (if it
/// fills destinations: no output with a destination). The session may then reuse an input's memory while the output
/// lives.
template <class B>
concept NeverViewsInputs = requires {
  requires bool { B::never_views_inputs };
};

/// A backend that can write an output over an input of the same size that has no later use.
template <class B>
concept OverwritesInputs =
    FillsDestinations<B> && requires(const typename B::Handle& handle, std::size_t input, std::size_t output) {
      { B::may_overwrite(handle, input, output) } -> std::same_as<bool>;
    };

/// A backend with an output that is an input with some elements replaced (a row of a cache). If the input has no later
/// use and the output is its new value, the destination is the input's own memory: execute then writes only the new
/// elements, after it has saved the old ones with context.undo().
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

/// A backend that saves large tensors as segments of the file, apart from its own bytes: the file stores equal segments
/// once, and a loaded Processed may view the mapped file.
template <class B>
concept SavesSegments = RuntimeBackend<B> && requires(const typename B::Processed& processed, SegmentWriter& writer,
                                                      const SegmentReader& reader, std::span<const std::byte> bytes) {
  { B::save(processed, writer) } -> std::same_as<std::vector<std::byte>>;
  { B::load(bytes, reader) } -> std::same_as<Result<typename B::Processed>>;
};

/// A backend that can save and load its Processed (in one of the two ways) and its CompileSpec.
template <class B>
concept SavesProcessed = (SavesSegments<B> || SavesBytes<B>) &&
                         requires(const typename B::CompileSpec& spec, std::span<const std::byte> bytes) {
                           { B::save_spec(spec) } -> std::same_as<std::vector<std::byte>>;
                           { B::load_spec(bytes) } -> std::same_as<Result<typename B::CompileSpec>>;
                         };

/// A backend whose Processed also ships in static programs (backend/embed_delegate.hpp): `scratch_bytes` returns the
/// memory that a run there needs beside inputs and outputs. Raise `static constexpr std::int32_t blob_version` when the
/// bytes of `save` change: the static backend of that name must have the same number to compile with the blob.
template <class B>
concept SizesStaticScratch = RuntimeBackend<B> && requires(const typename B::Processed& processed) {
  { B::scratch_bytes(processed) } -> std::convertible_to<std::size_t>;
};

}  // namespace davit
