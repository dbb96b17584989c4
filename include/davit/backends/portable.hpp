// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/backend/run_events.hpp"
#include "davit/backends/portable/groups.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/core/config.hpp"

namespace davit {

struct ProgramBody;
namespace portable_kernels {
struct Code;
struct RunState;
}  // namespace portable_kernels

/// The backend that runs all remaining nodes: plain C++ kernels for core ATen, on any machine, without dependencies.
///
/// Execute takes no heap memory for programs of static shape; outputs with data-dependent sizes do. Outputs may view
/// inputs, constants and the session's scratch: they are valid until the next run.
///
/// With `threads` above 1 (capped at the machine's CPUs and at 64) large operators are split over that many threads:
/// the thread that runs a session, and helpers that it keeps until it ends, for all its sessions. Beside a library in
/// the list the library's threads are the helpers. The calling thread does the work that no helper takes up. Results
/// are bit-identical for any number of threads.
struct portable {
  static constexpr std::string_view name = "portable";
  static constexpr bool never_views_inputs = true;  ///< for outputs with a destination

  struct CompileSpec {
    std::uint32_t threads = 0;  ///< of one run; 0: the default of set_threads at compile time
    friend constexpr bool operator==(const CompileSpec&, const CompileSpec&) = default;
  };
  struct Processed {
    std::shared_ptr<const ProgramBody> body;
  };
  struct Handle {
    std::shared_ptr<const portable_kernels::Code> code;
  };
  struct Workspace {
    std::unique_ptr<portable_kernels::RunState, void (*)(portable_kernels::RunState*)> state{nullptr, nullptr};
    Name why;  ///< why the last failed run failed
  };

  /// Sets the threads of one run for programs compiled from now on whose spec gives no number; the default is 1.
  static void set_threads(std::uint32_t threads) noexcept;

  [[nodiscard]] static constexpr bool is_available() noexcept { return true; }

  /// The operators of the backend.
  static constexpr portable_kernels::OpSet operators{};

  /// Returns nullptr if portable takes the node, else the reason.
  [[nodiscard]] static const char* refuses(GraphModuleView graph, NodeId node) noexcept {
    return refuses_with(operators, graph, node);
  }
  /// Errors: unsupported_operator, with every node without a kernel.
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec&,
                                                    DebugHandleRecorder& debug_handles) {
    return preprocess_with(operators, method, debug_handles);
  }
  [[nodiscard]] static Result<Handle> compile(const Processed& processed, const CompileSpec& spec) {
    return compile_with(operators, processed, spec);
  }

  /// @name The same with other operators: some groups, or your own.
  [[nodiscard]] static const char* refuses_with(const portable_kernels::OpSet& set, GraphModuleView graph,
                                                NodeId node) noexcept;
  [[nodiscard]] static Result<Processed> preprocess_with(const portable_kernels::OpSet& set, const Method& method,
                                                         DebugHandleRecorder& debug_handles);
  [[nodiscard]] static Result<Handle> compile_with(const portable_kernels::OpSet& set, const Processed& processed,
                                                   const CompileSpec& spec);

  [[nodiscard]] static Result<std::size_t> prepare(const Handle& handle, std::span<const EValue> inputs,
                                                   std::span<const EValue> outputs, Workspace& ws);
  /// True for index_put, slice_scatter and select_scatter on an input that no later step of the partition reads.
  [[nodiscard]] static bool updates_input(const Handle& handle, std::size_t input, std::size_t output) noexcept;
  template <class Context>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      Context& context) {
    Workspace& ws = context.workspace();
    const Status done = run(handle, inputs, outputs, ws, context.scratch().data(), context.max_memory(), context.undo(),
                            RunEvents(context));
    if (!done) [[unlikely]]
      return context.fail(done.error().code(), done.error().debug_handle(), ws.why);
    return done;
  }

  [[nodiscard]] static std::vector<std::byte> save(const Processed& processed, SegmentWriter& segments);
  [[nodiscard]] static Result<Processed> load(std::span<const std::byte> bytes, const SegmentReader& segments);
  [[nodiscard]] static std::vector<std::byte> save_spec(const CompileSpec& spec);
  /// Errors: corrupt_data.
  [[nodiscard]] static Result<CompileSpec> load_spec(std::span<const std::byte> bytes);

 private:
  [[nodiscard]] static Status run(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                  Workspace& ws, std::byte* scratch, std::uint64_t max_memory, UndoLog* undo,
                                  RunEvents events);
};

/// portable with some groups of operators: `portable_of<ops::float_inference, ops::recurrent>`; ops::movement is always
/// included. It links no kernels of other groups if groups are compiled separately, as in the libraries, or in a
/// program that includes `backends/portable/GROUP_implementation.hpp` for the groups that it names.
///
/// Its name in packages is "portable": a package that was lowered for portable loads here if its operators are
/// included. `davit operators --groups MODEL` prints the type that a model needs. Errors, when lowering and when
/// loading: unsupported_operator with the missing groups.
template <class... Groups>
struct portable_of : portable {
  static_assert((OperatorGroupType<Groups> && ...),
                "davit: portable_of<...> takes groups of operators, such as davit::ops::float_inference; "
                "davit/backends/portable/groups.hpp lists them, and an operator of yours goes in portable_with");

  static constexpr portable_kernels::OpSet operators{{}, &portable_kernels::op_tables<Groups...>};

  [[nodiscard]] static const char* refuses(GraphModuleView graph, NodeId node) noexcept {
    return refuses_with(operators, graph, node);
  }
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec&,
                                                    DebugHandleRecorder& debug_handles) {
    return preprocess_with(operators, method, debug_handles);
  }
  [[nodiscard]] static Result<Handle> compile(const Processed& processed, const CompileSpec& spec) {
    return compile_with(operators, processed, spec);
  }
};

/// portable, or a portable_of, with operators of your own. `Custom::operators` is a constexpr array of CustomOperator
/// with new names.
///
/// A kernel writes only to arguments that its schema declares as written, "Tensor(a!) x": these are copies of the
/// program's values, and later nodes see them.
template <class Custom, class Portable = portable>
struct portable_with : Portable {
  static_assert(portable_kernels::are_complete(Custom::operators),
                "davit: an operator of portable_with needs a kernel, and its name with its types as torch writes them: "
                "{{\"ns.op.default\", kernel}, \"ns.op.default(Tensor(a!) x, float by=1.0) -> Tensor\"}");
  static_assert(std::derived_from<Portable, portable>,
                "davit: portable_with<Custom, Portable> adds operators to davit::portable or to a portable_of<...>");

  [[nodiscard]] static portable_kernels::OpSet all_operators() noexcept {
    return {Custom::operators, Portable::operators.tables};
  }
  [[nodiscard]] static constexpr std::string_view operator_schema(std::string_view target) noexcept {
    for (const portable_kernels::CustomOperator& op : Custom::operators)
      if (op.row.name == target) return op.schema;
    return {};
  }
  [[nodiscard]] static const char* refuses(GraphModuleView graph, NodeId node) noexcept {
    return portable::refuses_with(all_operators(), graph, node);
  }
  [[nodiscard]] static Result<portable::Processed> preprocess(const Method& method, const portable::CompileSpec&,
                                                              DebugHandleRecorder& debug_handles) {
    return portable::preprocess_with(all_operators(), method, debug_handles);
  }
  [[nodiscard]] static Result<portable::Handle> compile(const portable::Processed& processed,
                                                        const portable::CompileSpec& spec) {
    return portable::compile_with(all_operators(), processed, spec);
  }
};

template <>
struct detail::TableOf<portable> {
  static const BackendTable table;  // defined in the library
};

}  // namespace davit
