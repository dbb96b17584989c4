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

/// Convolutional and dense networks through Google's XNNPACK: float32, and int8 programs.
///
/// Between its nodes images lie in NHWC order; they are reordered where a partition begins and ends. Batch norms,
/// biases, zero padding and clamps (relu, hardtanh, clamp) go into the operator before or after them; parts of a
/// concatenation of channels are computed in place. Sizes may be symbolic, numbers of channels not.
///
/// It uses the operator interface, not XNNPACK's subgraphs: only operators take memory from outside (so that a
/// session's scratch is planned with everything else), write with a stride (which makes concatenations free) and work
/// on sizes that change from run to run.
///
/// Operators keep weights and pointers in one object. compile() makes one set of them, which the sessions of a process
/// share; runs that overlap in time get a set of their own when `concurrent_runs` allows it, and wait their turn beyond
/// that. Execute takes no heap memory of davit's in steady state; XNNPACK itself does when sizes change, and where a
/// matrix or a kernel is no constant: it is packed at every call.
///
/// Numbers: sums are in another order than torch's and with fused multiply-adds; exp, sigmoid and the like are within
/// some units in the last place. NaN and infinities are torch's. XNNPACK's clamps, pooling and softmax lose some; so
/// inputs are looked at before they reach one, and results in between that may have overflowed. A run that meets a NaN,
/// an infinity or a magnitude above 1e9 there is done again by the portable backend's kernels: slower, and with heap
/// memory the first time. `fast_math` gives that up.
///
/// Int8 programs (PT2E: dequantize, compute, quantize) stay int8 where numbers only move or are compared, and, where
/// the CPU has AVX2 and sizes are fixed, in products and sums, which are davit's own kernels; what else computes with
/// them does so in float. Both give torch's int8 results. With `int8_kernels` XNNPACK's int8 arithmetic does the
/// products, on any CPU. A result may then be one step off, and later layers may carry that on: torch adds a float bias
/// to dequantized products and rounds once, XNNPACK rounds the bias to the products' unit first.
///
/// XNNPACK does convolutions and products with constant weights, and poolings; what else a partition holds, portable's
/// kernels do (refuses_as_kernel). The library is of 2022-02 (Debian 12) or 2024-11 (Debian 13).
struct xnnpack {
  static constexpr std::string_view name = "xnnpack";
  static constexpr bool never_views_inputs = true;  ///< where an output has a destination

  struct CompileSpec {
    std::uint32_t threads = 0;          ///< that work on one operator; 0: what set_threads said, or 1
    std::uint32_t concurrent_runs = 4;  ///< at most; each needs a copy of the packed weights
    bool int8_kernels = false;          ///< int8 programs in XNNPACK's int8 arithmetic: see above
    bool fast_math = false;             ///< NaN and infinities may get lost; so they may where set_fast_math said so
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
    Name why;  ///< what was wrong with the last run that failed
  };

  /// How many threads methods that are compiled from now on may use, where their spec does not say.
  static void set_threads(std::uint32_t threads) noexcept;
  /// Whether NaN and infinities may get lost in programs that are compiled from now on.
  static void set_fast_math(bool may) noexcept;

  /// True if XNNPACK runs on this machine.
  [[nodiscard]] static bool is_available() noexcept;

  /// nullptr if the backend takes the node, else why not.
  [[nodiscard]] static const char* refuses(GraphModuleView graph, NodeId node);
  /// Regions of nothing but views, copies and arithmetic are left to other backends, and those that lose more at their
  /// border than they gain: see offload_cost.hpp.
  [[nodiscard]] static bool is_profitable(GraphModuleView graph, std::span<const NodeId> nodes);
  /// Nanoseconds: estimated_ns of offload_cost.hpp.
  [[nodiscard]] static double offload_cost(GraphModuleView graph, std::span<const NodeId> nodes);

  /// Errors: unsupported_operator for nodes that `refuses` refuses, not_found for constants that the program does not
  /// hold.
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec& spec,
                                                    DebugHandleRecorder& debug_handles);

  /// Packs the weights. Errors: not_available; unsupported_argument for what XNNPACK refuses; corrupt_data.
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
  static const BackendTable table;  // made in the library
};

}  // namespace davit
