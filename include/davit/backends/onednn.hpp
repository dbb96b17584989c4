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
#include "davit/backends/onednn/definitions.hpp"
#include "davit/core/config.hpp"

namespace davit {

struct ProgramBody;
namespace onednn_ops {
struct Code;
class Shapes;
class PartitionSession;
}  // namespace onednn_ops

/// Runs float32, bfloat16, float16 and int8 programs on x86-64 and AArch64 CPUs through oneDNN 2.6 or later, 3 too
/// (link with -ldnnl).
///
/// A convolution or matrix product takes batch norm, bias, activation and residual sum into one primitive. Weights are
/// laid out once, when compiling, and shared by sessions; activations stay in the library's layouts between nodes.
/// Where sizes are symbolic, code is made at the first call with a set of sizes and kept for the next (some dozens of
/// sets), and what depends on sizes alone, such as positions and masks, is computed then; weights are laid out once for
/// all. Execute takes no heap memory of its own. Sessions may run from several threads at once.
///
/// Debian's oneDNN runs its threads with libgomp, whose threads spin for some 15 ms for their next work, and every
/// primitive waits for all of them. Where something else wants one of the CPUs, a run with several threads can take a
/// hundred times as long; GOMP_SPINCOUNT=1000 in the environment (50 us) avoids the worst of that. On a machine that is
/// otherwise idle OMP_PROC_BIND=true keeps two threads from sharing a CPU. In a child of fork libgomp waits for the
/// parent's threads for ever: run there on one thread, or fork before the first run.
///
/// NaN and infinities are torch's. oneDNN's relu, clamp, maximum, pooling, softmax and Winograd convolutions lose some,
/// in 3.7 as in 2.6; so inputs are looked at before they reach one, and results in between that may have overflowed. A
/// run that meets a NaN, an infinity or a magnitude above 1e9 there is done again by the portable backend's kernels:
/// slower, and with heap memory the first time. Infinities that masks put into softmax are ordinary. `fast_math` gives
/// the looking up; benchmarks/forms.cpp measures what it costs a model. Sums are taken in another order than torch's.
/// log and log_softmax, of which oneDNN's are off by 1e-6 where the exact result is near 0, exp, whose infinities are
/// masks', and what it lacks (sin, lookups, comparisons, sorting, ...) or has in other forms only, arithmetic on
/// integers too, run on portable's kernels inside the partition (refuses_as_kernel); regions of nothing else are left
/// to portable.
///
/// Int8 programs (PT2E: dequantize, compute, quantize) keep their bytes: convolutions of images and products with a
/// constant matrix, with relu and clamps, sums and maxima. On a CPU with VNNI oneDNN computes them; else, on x86-64
/// with AVX2, kernels of davit's own do (of lines, images and matrices, of one group or of one channel each), the same
/// as portable's: regions of nothing else are left to it. Elsewhere, and with `int8_kernels` off, they are computed in
/// float, as by portable. Products are added without rounding, the bias and the scales are floats: a result is one step
/// off PyTorch's where float rounding decides, as often as those of two float convolutions differ.
///
/// Programs of bfloat16 run so where the library has code for it, on CPUs with AVX-512. What one primitive takes (a
/// convolution, its batch norm, bias and activation) is rounded once, where PyTorch rounds after each; sums are of
/// float32, as PyTorch's. On CPUs that multiply pairs of bfloat16 no faster than float32, products are computed in
/// float32. Elsewhere, and in float16, that is done with products alone, and portable's kernels do the rest. Products
/// and convolutions whose tensors have several dtypes are left to portable.
struct onednn {
  static constexpr std::string_view name = "onednn";
  static constexpr bool never_views_inputs = true;  ///< where an output has a destination

  struct CompileSpec {
    std::uint32_t threads = 0;  ///< of one run; 0: what set_threads said when the program is compiled
    bool fast_math = false;     ///< NaN and infinities may get lost; so they may where set_fast_math said so
    bool int8_kernels = true;   ///< int8 programs in int8 arithmetic: see above
    friend constexpr bool operator==(const CompileSpec&, const CompileSpec&) = default;
  };
  struct Processed {
    std::shared_ptr<const ProgramBody> body;
  };
  struct Handle {
    std::shared_ptr<const onednn_ops::Code> code;  ///< of static sizes; or
    std::shared_ptr<onednn_ops::Shapes> shapes{};  ///< of symbolic ones
  };
  struct Workspace {
    std::unique_ptr<onednn_ops::PartitionSession, void (*)(onednn_ops::PartitionSession*)> state{nullptr, nullptr};
    Name why;  ///< what was wrong with the last run that failed
  };

  /// Threads of one run of programs compiled from now on, unless their spec says another number; 1 if never called.
  static void set_threads(std::uint32_t threads) noexcept;
  /// Whether NaN and infinities may get lost in programs that are compiled from now on.
  static void set_fast_math(bool may) noexcept;

  /// True if the library that was loaded fits the headers and has a CPU engine.
  [[nodiscard]] static bool is_available() noexcept;

  /// nullptr if oneDNN takes the node, else why not.
  [[nodiscard]] static const char* refuses(GraphModuleView graph, NodeId node);
  /// Regions of nothing but views, copies and arithmetic are left to other backends, and those that lose more at their
  /// border than they gain: see offload_cost.hpp.
  [[nodiscard]] static bool is_profitable(GraphModuleView graph, std::span<const NodeId> nodes);
  /// Nanoseconds: estimated_ns of offload_cost.hpp.
  [[nodiscard]] static double offload_cost(GraphModuleView graph, std::span<const NodeId> nodes);

  /// Errors: unsupported_operator for the first node that refuses() refuses; not_found for a constant.
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec& spec,
                                                    DebugHandleRecorder& debug_handles);

  /// Errors: not_available; unsupported_operator, invalid_program, failed for what a damaged file declares.
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
  /// Errors: corrupt_data.
  [[nodiscard]] static Result<CompileSpec> load_spec(std::span<const std::byte> bytes);

 private:
  [[nodiscard]] static Status run(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                  Workspace& ws, std::byte* scratch, std::uint64_t max_memory, RunEvents events);
};

static_assert(check_backend<onednn>() && SelectsNodes<onednn> && FillsDestinations<onednn> && SavesSegments<onednn>);

template <>
struct detail::TableOf<onednn> {
  static const BackendTable table;  // made in the library
};

}  // namespace davit
