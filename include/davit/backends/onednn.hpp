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

/// Runs float32, bfloat16, float16 and int8 programs on x86-64 and AArch64 CPUs through oneDNN 2.6 or later, also 3
/// (link with -ldnnl).
///
/// A convolution or matrix product, its batch norm, bias, activation and residual sum become one primitive. Weights are
/// laid out once, when compiling, and shared by sessions; activations stay in the library's layouts between nodes. For
/// symbolic sizes, code is compiled at the first call with a set of sizes and kept for later calls (some dozens of
/// sets); values that depend on sizes alone, such as positions and masks, are computed then, and all codes share the
/// weights. Execute takes no heap memory of its own. Sessions may run from several threads at once.
///
/// Debian's oneDNN runs its threads with libgomp, whose threads spin for some 15 ms while they wait for work, and every
/// primitive waits for all of them. If another process needs one of the CPUs, a run with several threads can take a
/// hundred times as long; GOMP_SPINCOUNT=1000 in the environment (50 us) avoids the worst. On an otherwise idle machine
/// OMP_PROC_BIND=true keeps two threads from sharing a CPU. In a child of fork libgomp waits for ever for the parent's
/// threads: run on one thread there, or fork before the first run.
///
/// NaN and infinities are torch's. oneDNN's relu, clamp, maximum, pooling, softmax and Winograd convolutions lose some,
/// in 3.7 as in 2.6; so their inputs are checked, and intermediate results that may have overflowed. A run that finds a
/// NaN, an infinity or a magnitude above 1e9 there is repeated on the portable backend's kernels: slower, and with heap
/// memory the first time. Infinities that masks put into softmax are allowed. `fast_math` drops the checks;
/// benchmarks/forms.cpp measures their cost for a model. Sums are taken in another order than torch's. Some operators
/// run on portable's kernels inside the partition (refuses_as_kernel): log and log_softmax, because oneDNN's are off by
/// 1e-6 where the exact result is near 0; exp, because masks make infinities of it; arithmetic on integers; and
/// operators that the library lacks (sin, lookups, comparisons, sorting, ...) or has in other forms only. Regions of
/// such operators alone are left to portable.
///
/// Int8 programs (PT2E: dequantize, compute, quantize) keep their bytes in convolutions of images and products with a
/// constant matrix, with relu and clamps, in sums and in maxima. oneDNN computes them on a CPU with VNNI; without VNNI,
/// on x86-64 with AVX2, davit's own kernels do (for lines, images and matrices, in one group or one channel per group),
/// the same as portable's, and regions of these alone are left to portable. On other CPUs, and with `int8_kernels` off,
/// they are computed in float, as by portable. Products are added without rounding, and the bias and the scales are
/// floats: a result differs from PyTorch's by one step where float rounding decides, as often as two float convolutions
/// differ.
///
/// Programs of bfloat16 compute in bfloat16 where the library has code for it, on CPUs with AVX-512. One primitive (a
/// convolution, its batch norm, bias and activation) rounds once, where PyTorch rounds after each operator; sums are
/// float32, as PyTorch's. On CPUs that multiply pairs of bfloat16 no faster than float32, products are computed in
/// float32. On other CPUs, and for float16, the library computes only products, in float32, and portable's kernels do
/// the rest. Products and convolutions whose tensors have several dtypes are left to portable.
struct onednn {
  static constexpr std::string_view name = "onednn";
  static constexpr bool never_views_inputs = true;  ///< for outputs with a destination

  struct CompileSpec {
    std::uint32_t threads = 0;  ///< of one run; 0: the default of set_threads at compile time
    bool fast_math = false;     ///< results may lose NaN and infinities, also if set_fast_math allows it
    bool int8_kernels = true;   ///< compute int8 programs in int8: see above
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
    Name why;  ///< why the last failed run failed
  };

  /// Sets the threads of one run for programs compiled from now on whose spec gives no number; the default is 1.
  static void set_threads(std::uint32_t threads) noexcept;
  /// Allows programs compiled from now on to lose NaN and infinities.
  static void set_fast_math(bool may) noexcept;

  /// True if the loaded library fits the headers and has a CPU engine.
  [[nodiscard]] static bool is_available() noexcept;

  /// Returns nullptr if oneDNN takes the node, else the reason.
  [[nodiscard]] static const char* refuses(GraphModuleView graph, NodeId node);
  /// False for regions of views, copies and arithmetic alone, and for regions that lose more at their border than they
  /// gain inside: see offload_cost.hpp.
  [[nodiscard]] static bool is_profitable(GraphModuleView graph, std::span<const NodeId> nodes);
  /// Estimates a run of the region in nanoseconds: see estimated_ns in offload_cost.hpp.
  [[nodiscard]] static double offload_cost(GraphModuleView graph, std::span<const NodeId> nodes);

  /// Errors: unsupported_operator for the first node that refuses() refuses; not_found for a constant.
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec& spec,
                                                    DebugHandleRecorder& debug_handles);

  /// Errors: not_available; unsupported_operator, invalid_program or failed for declarations of a damaged file.
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
  static const BackendTable table;  // defined in the library
};

}  // namespace davit
