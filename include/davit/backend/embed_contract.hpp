// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include "davit/backend/embed_graph.hpp"
#include "davit/backend/step_writer.hpp"
#include "davit/core/error.hpp"

/// Contract of a backend for static programs (firmware): the requirements of a type in davit::static_module<Program,
/// Backends...>.
///
///   struct my_backend {
///     static constexpr std::string_view name = "my_backend";
///     struct relu {                                        // a kernel
///       struct Params { std::int32_t count; };             // only int32_t and float members; may be empty
///       static constexpr void run(const Params& p, float* y, const float* x) noexcept {
///         for (std::int32_t i = 0; i < p.count; ++i) y[i] = x[i] < 0 ? 0 : x[i];
///       }
///     };
///     using Kernels = davit::kernel_list<relu>;
///     static constexpr const char* embed(const davit::EmbedNode& n, davit::StepWriter& steps) {
///       if (!n.is("aten.relu.default")) return "not a relu";
///       if (n.g.dtype(n.output()) != davit::ScalarType::float32) return "not float32";
///       const davit::ValueId x = n.value("self");
///       steps.step<relu>({static_cast<std::int32_t>(n.g.numel(x))}).out(n.output()).in(x).overwrites(x);
///       return nullptr;
///     }
///   };
///
/// `embed` runs in constant evaluation. It writes the node's steps and returns nullptr, or returns the reason why it
/// refuses the node. The compiler calls it in two passes:
///
/// - The first pass assigns nodes: for every live node it calls `embed` of each backend in the order of the list, and
///   the first that returns nullptr gets the node. `n.g.is_assigned(...)` is false for every node in this pass, so
///   `embed` judges the node alone, and its steps are discarded. If the backend has `static constexpr const char*
///   refuses(const EmbedNode&)`, the first pass calls that instead.
/// - The second pass visits the nodes from LAST TO FIRST and calls `embed` for those whose outputs are needed. `in(v)`
///   and `alias` make v needed. So the last node of a folded pattern writes it: `embed` of quantize_per_tensor follows
///   `n.g.producer(v)`, `n.g.is_assigned(node, "aten.relu.default")` and `EmbedNode{n.g, node}` backwards, and if the
///   pattern matches writes one int8 step that reads the int8 values before it. The inner nodes are then computed only
///   if other nodes need them. Check `n.g.users(v) == 1` where a second computation would be a waste.
/// - A step must write every output of the node that is used, or the output must be an alias.
///
/// Operands are pointers in the order of out()/in()/scratch()/table(), typed by the value's dtype (T* out, const T*
/// in), to contiguous row-major elements (unless the backend gave the value a tag, see StepWriter::tag). A constant of
/// layout `output_inner` is passed in that layout: check `n.g.constant(v)->layout`. Under for_speed `run` gets
/// davit::Constant<Params{...}>, which converts to `const Params&`: a `run` that is a template on the type of its
/// parameters can use `P::value` in constant expressions. If g++ 12 cannot bit_cast int32 to Params (an empty member),
/// the kernel needs `static constexpr Params decode(const std::array<std::int32_t, N>& encoded)`.
///
/// `run` may be a template, should be [[gnu::always_inline]], returns void, or ErrorCode if it can fail, and must not
/// let pointers escape. It must be constexpr for programs that run in static_assert. `embed` can read constants of rank
/// 0 or 1 (biases, scales) of up to 4 KiB: `n.g.elements<float>(v)`; for int8 weights of any size
/// `n.g.constant(v)->sums` holds the sum per output channel. Pass numbers computed from them to a kernel with
/// `table(...)`. Cost: embed must be O(arguments of the pattern).
///
/// Devices. A kernel that runs on a device has these functions in place of `run`:
///
///     static void start(const Params&, operands...) noexcept;         // gives the command to the device, and returns
///     static bool done() noexcept;                                    // true when the device has finished
///     static ErrorCode finish(const Params&, operands...) noexcept;   // optional, runs once after that: the status
///
/// `start` may return ErrorCode too: a command with an error was not started. The optional `static void wait()
/// noexcept` of the backend runs between two calls of `done()` that return false, and may sleep. The module has
/// `forward_start` (with several methods `start<M>`), `step` and `done`; `forward` starts and waits.
///
/// - Order: one command at a time. The module runs nothing between `start` and `done`, so memory that the device reads
///   or writes has no other use meanwhile: the memory plan is that of a CPU. Commands may occur in control flow.
/// - Cache: if a backend has `static void clean(const void* first, std::size_t bytes)` and `static void
///   invalidate(void* first, std::size_t bytes)`, the module calls them with the ranges of operands. Before `start` it
///   cleans every operand in the arena, the state or the caller's tensors (inputs, so that the device sees them;
///   outputs and scratch, so that no dirty line overwrites them later); after `done` and before `finish` it invalidates
///   the memory that the device may have written. Constants and tables are never written: start-up code that copies
///   them to RAM must clean them. Blocks of the arena may share a cache line: that is safe, as no code writes them
///   between clean and invalidate. A module's own arena shares no line with other memory (lines of up to 64 bytes); for
///   an external arena and for output tensors the caller must ensure that.
/// - Interrupts: the device's handler acknowledges the interrupt and leaves the flag that `done` reads (a volatile or
///   an atomic), or calls the module's `step`, which then runs the kernels up to the next command in the handler.
///   Handlers and threads of one CPU may call `step` and `done` concurrently: a `step` that interrupts another one
///   returns `running` and does nothing, and the interrupted one checks the device again before it returns. `forward`,
///   `forward_start` and `reset` belong to one thread, and must not run in handlers. A `wait` that sleeps must not miss
///   an interrupt between `done` and the sleep: on a Cortex-M `cpsid i; if not done: wfi; cpsie i` (a masked interrupt
///   wakes the CPU too), or wfe.
///
/// Compilers. Work that needs a heap or a whole weight (re-encoding, a command stream) runs on the host when the model
/// is embedded, in the `preprocess` of a run-time backend (backend/contract.hpp) of the same name:
/// formats::embed_delegates, or `davit embed --backends NAME`. The static backend then gets a delegate call in place of
/// the nodes, and passes the blob to its kernel: see backend/embed_delegate.hpp.
///
/// Portable's static backend (backends/portable/embed.hpp) is a sorted table of EmbedRow{operator, embed function}. A
/// family header (static/*.hpp, int8/fold_*.hpp) has `using x_kernels = kernel_list<...>` of the kernels that
/// it calls and `inline constexpr std::array x_rows{EmbedRow{"aten.relu.default", lower_relu}, ...}`; embed.hpp joins
/// them. An operator has one row; an operator that ends int8 patterns has a second row, which is tried first.
namespace davit {

/// A row of a table-driven static backend: an operator and its `embed` function.
struct EmbedRow {
  const char* name;
  const char* (*embed)(const EmbedNode&, StepWriter&) = nullptr;
  bool last = true;  ///< no other row of the operator follows; set when families are joined
};

/// Policy of a static backend: generates a kernel's code once (for_size) or for each step (for_speed).
struct for_size {
  /// One function per kernel and pointer types; gets its parameters by reference.
  template <class Kernel>
  static constexpr bool specialise = false;
};
struct for_speed {
  /// Inlines the kernel's body into each step, with parameters as constants.
  template <class Kernel>
  static constexpr bool specialise = true;
};

/// A backend with another policy: tuned<portable, for_speed>.
template <class B, class Policy>
struct tuned {
  using Backend = B;
};

/// The static backend of a type, and its policy. Specialise it in a light header if the backend's full type is heavy.
template <class B>
struct static_backend_of {
  using type = B;
  using policy = for_size;
};
template <class B, class Policy>
struct static_backend_of<tuned<B, Policy>> {
  using type = typename static_backend_of<B>::type;
  using policy = Policy;
};

/// A kernel that runs on a device: `start` and `done` in place of `run`. See "Devices" above.
template <class K>
concept DeviceKernel = requires {
  { K::done() } -> std::same_as<bool>;
};
/// A backend whose device accesses memory behind the CPU's data cache.
template <class B>
concept MaintainsCache = requires(const void* first, void* written, std::size_t bytes) {
  B::clean(first, bytes);
  B::invalidate(written, bytes);
};

/// A backend for static programs.
template <class B>
concept StaticBackend = requires(const EmbedNode& node, StepWriter& steps) {
  { B::name } -> std::convertible_to<std::string_view>;
  { B::Kernels::size } -> std::convertible_to<std::size_t>;
  { B::embed(node, steps) } -> std::same_as<const char*>;
};

}  // namespace davit
