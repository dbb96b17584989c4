// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/backend/check_backend.hpp"
#include "davit/backend/run_events.hpp"
#include "davit/backends/xnnpack/definitions.hpp"
#include "davit/core/config.hpp"

namespace davit {

struct ProgramBody;
namespace xnnpack_parts {
struct Code;
struct Workspace;
}  // namespace xnnpack_parts

/// Runs convolutional and dense networks through Google's XNNPACK: float32 and int8 programs.
///
/// Between nodes images are in NHWC order; they are reordered where a partition begins and ends. Batch norms, biases,
/// zero padding and clamps (relu, hardtanh, clamp) become part of the neighbouring operator; parts of a concatenation
/// of channels are computed in place. Sizes may be symbolic, numbers of channels may not.
///
/// It uses the operator interface, not XNNPACK's subgraphs: only operators take memory from outside (so that a
/// session's scratch is planned with everything else), write with a stride (which makes concatenations free) and work
/// on sizes that change from run to run.
///
/// Operators keep weights and pointers in one object. compile() makes one set of them, which the sessions of a process
/// share; overlapping runs get a set of their own up to `concurrent_runs`, and wait beyond that. In steady state davit
/// takes no heap memory in execute; XNNPACK itself does when sizes change, and for a matrix or a kernel that is no
/// constant, which it packs at every call.
///
/// Numbers: sums have another order than torch's, and fused multiply-adds; exp, sigmoid and the like are within some
/// units in the last place. NaN and infinities are torch's. XNNPACK's clamps, pooling and softmax lose some; so their
/// inputs are checked, and intermediate results that may have overflowed. A run that finds a NaN, an infinity or a
/// magnitude above 1e9 there is repeated on the portable backend's kernels: slower, and with heap memory the first
/// time. `fast_math` drops the checks.
///
/// Int8 programs (PT2E: dequantize, compute, quantize) keep their bytes where numbers only move or are compared, and,
/// on a CPU with AVX2 and with fixed sizes, in products and sums, which are davit's own kernels; other operators
/// compute in float. Both give torch's int8 results. With `int8_kernels` XNNPACK's int8 arithmetic computes the
/// products, on any CPU. A result may then be one step off, and later layers may amplify that: torch adds a float bias
/// to dequantized products and rounds once, XNNPACK first rounds the bias to the products' unit.
///
/// XNNPACK computes convolutions, products with constant weights, and poolings; portable's kernels run the other nodes
/// of a partition (refuses_as_kernel). The library is of 2022-02 (Debian 12) or 2024-11 (Debian 13).
struct xnnpack {
  static constexpr std::string_view name = "xnnpack";
  static constexpr bool never_views_inputs = true;  ///< for outputs with a destination

  struct CompileSpec {
    std::uint32_t threads = 0;          ///< for one operator; 0: the default of set_threads, or 1
    std::uint32_t concurrent_runs = 4;  ///< the most; each needs a copy of the packed weights
    bool int8_kernels = false;          ///< compute int8 programs in XNNPACK's int8: see above
    bool fast_math = false;             ///< results may lose NaN and infinities, also if set_fast_math allows it
    friend constexpr bool operator==(const CompileSpec&, const CompileSpec&) = default;
  };
  struct Processed {
    std::shared_ptr<const ProgramBody> body;
  };
  struct Handle {
    std::shared_ptr<xnnpack_parts::Code> code;
  };
  struct Workspace {
    std::unique_ptr<xnnpack_parts::Workspace, void (*)(xnnpack_parts::Workspace*)> state{nullptr, nullptr};
    Name why;  ///< why the last failed run failed
  };

  /// Sets the threads of methods that are compiled from now on and whose spec gives no number.
  static void set_threads(std::uint32_t threads) noexcept;
  /// Allows programs compiled from now on to lose NaN and infinities.
  static void set_fast_math(bool may) noexcept;

  /// True if XNNPACK runs on this machine.
  [[nodiscard]] static bool is_available() noexcept;

  /// Returns nullptr if the backend takes the node, else the reason.
  [[nodiscard]] static const char* refuses(GraphModuleView graph, NodeId node);
  /// False for regions of views, copies and arithmetic alone, and for regions that lose more at their border than they
  /// gain inside: see offload_cost.hpp.
  [[nodiscard]] static bool is_profitable(GraphModuleView graph, std::span<const NodeId> nodes);
  /// Estimates a run of the region in nanoseconds: see estimated_ns in offload_cost.hpp.
  [[nodiscard]] static double offload_cost(GraphModuleView graph, std::span<const NodeId> nodes);

  /// Errors: unsupported_operator for nodes that `refuses` refuses, not_found for constants that the program lacks.
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec& spec,
                                                    DebugHandleRecorder& debug_handles);

  /// Packs the weights. Errors: not_available; unsupported_argument for arguments that XNNPACK refuses; corrupt_data.
  [[nodiscard]] static Result<Handle> compile(const Processed& processed, const CompileSpec& spec);

  [[nodiscard]] static Result<std::size_t> prepare(const Handle& handle, std::span<const EValue> inputs,
                                                   std::span<const EValue> outputs, Workspace& ws);
  template <class Context>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      Context& context) {
    Workspace& ws = context.workspace();
    const Status done =
        run(handle, inputs, outputs, ws, context.scratch().data(), context.max_memory(), RunEvents(context));
    if (!done) [[unlikely]]
      return context.fail(done.error().code(), done.error().debug_handle(), ws.why);
    return done;
  }

  [[nodiscard]] static std::vector<std::byte> save(const Processed& processed, SegmentWriter& segments);
  [[nodiscard]] static Result<Processed> load(std::span<const std::byte> bytes, const SegmentReader& segments);
  [[nodiscard]] static std::vector<std::byte> save_spec(const CompileSpec& spec);
  [[nodiscard]] static Result<CompileSpec> load_spec(std::span<const std::byte> bytes);

 private:
  [[nodiscard]] static Status run(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                  Workspace& ws, std::byte* scratch, std::uint64_t max_memory, RunEvents events);
};

static_assert(check_backend<xnnpack>() && SelectsNodes<xnnpack> && FillsDestinations<xnnpack> &&
              SavesSegments<xnnpack>);

template <>
struct detail::TableOf<xnnpack> {
  static const BackendTable table;  // defined in the library
};

}  // namespace davit
