// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <string_view>

#include "davit/backend/embed_graph.hpp"
#include "davit/backend/step_writer.hpp"
#include "davit/core/error.hpp"

/// The contract of a backend for static programs (firmware): what a type needs to be named in
/// davit::static_module<Program, Backends...>.
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
/// `embed` is called in constant evaluation. It returns nullptr and has written the node's steps, or a reason why not.
///  - It is called first as a trial, for every live node and each backend in the order of the list: who answers nullptr
///    first gets the node. In the trial `n.g.is_assigned(...)` is false for every node, so only the node itself is
///    judged, and what is written is thrown away. A backend that also has `static constexpr const char* refuses(const
///    EmbedNode&)` is asked that instead.
///  - Then nodes are visited LAST TO FIRST and embed is called for those whose outputs are needed. `in(v)` and `alias`
///  make
///    v needed. So a folded pattern is written by its last node: `embed` of quantize_per_tensor looks back through
///    `n.g.producer(v)`, `n.g.is_assigned(node, "aten.relu.default")` and `EmbedNode{n.g, node}`, and if it all fits
///    writes one int8 step that reads the int8 values before the pattern. The nodes inside are then computed only if
///    someone else needs them. Check `n.g.users(v) == 1` where computing twice would be a waste.
///  - Every output of the node that is used must be written by a step or made an alias.
/// Operands: pointers in the order of out()/in()/scratch()/table(), typed by the value's dtype (T* out, const T* in),
/// to contiguous row-major elements (unless the backend gave the value a tag, see StepWriter::tag). A constant of
/// layout `output_inner` comes in that layout: ask `n.g.constant(v)->layout`. Under for_speed `run` gets
/// davit::Constant<Params{...}>, which converts to `const Params&`: a `run` that is a template on the type of its
/// parameters can use `P::value` in constant expressions. If g++ 12 cannot bit_cast int32 to Params (an empty member),
/// the kernel has `static constexpr Params decode(const std::array<std::int32_t, N>& encoded)`.
/// `run` may be a template, is best [[gnu::always_inline]], returns void, or ErrorCode if it can fail, and never lets
/// pointers escape. It is constexpr if programs with it shall run in static_assert. Constants of rank 0 or 1 (biases,
/// scales) of up to 4 KiB can be read while planning: `n.g.elements<float>(v)`; of int8 weights `n.g.constant(v)->sums`
/// holds the sum per output channel, whatever their size. What is computed from them goes to a kernel by `table(...)`.
/// Cost: embed must be O(arguments of the pattern).
///
/// Devices. A kernel that a device carries out has, in place of `run`,
///
///     static void start(const Params&, operands...) noexcept;         // gives the command to the device, and returns
///     static bool done() noexcept;                                    // whether the device has carried it out
///     static ErrorCode finish(const Params&, operands...) noexcept;   // optional, called once when it has: its status
///
/// `start` may return ErrorCode too: then a command that it refuses was not started. `static void wait() noexcept` of
/// the backend, if there is one, is called between two `done()` that answer false, and may sleep. The module has
/// `forward_start` (of several methods `start<M>`), `step` and `done`; `forward` starts and waits.
///  - Order: one command at a time. Nothing of the module runs between `start` and `done`, so no memory that the device
///    reads or writes is used for anything else meanwhile: the plan is that of a CPU. Commands may stand in control
///    flow.
///  - Cache: a backend with `static void clean(const void* first, std::size_t bytes)` and `static void invalidate(void*
///    first, std::size_t bytes)` has them called with operands' ranges: before `start`, clean of all that lie in the
///    arena, the state or the caller's tensors (inputs, so that the device sees them; outputs and scratch, so that no
///    dirty line is written over them later); after `done` and before `finish`, invalidate of what the device may have
///    written. Constants and tables are never written: if start-up code copies them to RAM, it cleans them. Blocks of
///    the arena may share a line: that is safe, as nobody writes them between clean and invalidate. A module's own
///    arena shares none with anything else (lines of up to 64 bytes); the caller sees to it for an external arena and
///    for the outputs that it passes.
///  - Interrupts: the device's handler acknowledges the interrupt and leaves what `done` reads (a volatile or an
///  atomic), or
///    calls the module's `step`, which then runs the kernels up to the next command in the handler. `step` and `done`
///    may be called from handlers and from threads of one CPU at once: a `step` that meets another one answers
///    `running` and does nothing, and the other looks again whether the device is done before it returns. `forward`,
///    `forward_start` and `reset` belong to one of them, and are not for handlers. A `wait` that sleeps must not miss
///    an interrupt between `done` and the sleep: on a Cortex-M `cpsid i; if not done: wfi; cpsie i` (a masked interrupt
///    wakes the CPU too), or wfe.
///
/// A backend's compiler. What needs a heap or all of a weight (re-encoding, a command stream) is done on the host when
/// the model is embedded, by the `preprocess` of a run-time backend (backend/contract.hpp) of the same name:
/// formats::embed_delegates, or `davit embed --backends NAME`. The static backend then finds a call of a delegate in
/// place of the nodes, and gives its kernel the blob: see backend/embed_delegate.hpp.
///
/// portable's static backend (backends/portable/embed.hpp) is a sorted table of EmbedRow{operator, embed function}. A
/// header of a family (static/lowering/*.hpp, int8/fold_*.hpp) has `using x_kernels = kernel_list<...>` of the kernels
/// that it calls and `inline constexpr std::array x_rows{EmbedRow{"aten.relu.default", lower_relu}, ...}`; embed.hpp
/// joins them. An operator has one row, and a second one where int8 patterns end with it, which is tried first.
namespace davit {

/// One operator of a static backend that is a table: its name and what `embed` does for it.
struct EmbedRow {
  const char* name;
  const char* (*embed)(const EmbedNode&, StepWriter&) = nullptr;
  bool last = true;  ///< no other row of the operator follows; joining families sets it
};

/// Whether a kernel's code is generated for each step or once: a policy for static backends.
struct for_size {
  /// One function per kernel and pointer types; parameters are constants it gets a reference to.
  template <class Kernel>
  static constexpr bool specialise = false;
};
struct for_speed {
  /// The kernel's body is inlined into each step and sees its parameters as constants.
  template <class Kernel>
  static constexpr bool specialise = true;
};

/// A backend under another policy, such as tuned<portable, for_speed>.
template <class B, class Policy>
struct tuned {
  using Backend = B;
};

/// The static face of a backend, and its policy. A backend whose full type is heavy specialises it in a light header.
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

/// A kernel that has `start` and `done` in place of `run`: a device's. See "Devices" above.
template <class K>
concept DeviceKernel = requires {
  { K::done() } -> std::same_as<bool>;
};
/// A backend whose device reads and writes memory behind the CPU's data cache.
template <class B>
concept MaintainsCache = requires(const void* first, void* written, std::size_t bytes) {
  B::clean(first, bytes);
  B::invalidate(written, bytes);
};

/// A type that static programs can be lowered onto.
template <class B>
concept StaticBackend = requires(const EmbedNode& node, StepWriter& steps) {
  { B::name } -> std::convertible_to<std::string_view>;
  { B::Kernels::size } -> std::convertible_to<std::size_t>;
  { B::embed(node, steps) } -> std::same_as<const char*>;
};

}  // namespace davit
