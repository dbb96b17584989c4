// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
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
///    first gets the node. In the trial `n.g.mine(...)` is false for every node, so only the node itself is judged, and
///    what is written is thrown away. A backend that also has `static constexpr const char* refuses(const EmbedNode&)`
///    is asked that instead.
///  - Then nodes are visited LAST TO FIRST and embed is called for those whose outputs are needed. `in(v)` and `alias`
///  make
///    v needed. So a folded pattern is written by its last node: `embed` of quantize_per_tensor looks back through
///    `n.g.producer(v)`, `n.g.mine(node, "aten.relu.default")` and `EmbedNode{n.g, node}`, and if it all fits writes
///    one int8 step that reads the int8 values before the pattern. The nodes inside are then computed only if someone
///    else needs them. Check `n.g.users(v) == 1` where computing twice would be a waste.
///  - Every output of the node that is used must be written by a step or made an alias.
/// Operands: pointers in the order of out()/in()/scratch()/table(), typed by the value's dtype (T* out, const T* in),
/// to contiguous row-major elements (unless the backend gave the value a tag, see StepWriter::tag). A constant of
/// layout `output_inner` comes in that layout: ask `n.g.constant(v)->layout`. Under for_speed `run` gets
/// davit::Constant<Params{...}>, which converts to `const Params&`: a `run` that is a template on the type of its
/// parameters can use `P::value` in constant expressions. If g++ 12 cannot bit_cast words to Params (an empty member),
/// the kernel has `static constexpr Params decode(const std::array<std::int32_t, N>& words)`.
/// `run` may be a template, is best [[gnu::always_inline]], returns void, or ErrorCode if it can fail, and never lets
/// pointers escape. It is constexpr if programs with it shall run in static_assert. Constants of rank 0 or 1 (biases,
/// scales) of up to 4 KiB can be read while planning: `n.g.elements<float>(v)`; of int8 weights `n.g.constant(v)->sums`
/// holds the sum per output channel, whatever their size. What is computed from them goes to a kernel by `table(...)`.
/// Cost: embed must be O(arguments of the pattern).
///
/// Portable's own face (backends/portable/embed.hpp) is a sorted table of EmbedRow{operator, embed function}. A family
/// header (static/embed_*.hpp, int8/fold_*.hpp) defines kernel types, `using x_kernels = kernel_list<...>` and `inline
/// constexpr std::array x_rows{EmbedRow{"aten.relu.default", embed_relu}, ...}`; embed.hpp joins them. Two rows of one
/// operator are tried in the order of the families in embed.hpp (int8 patterns stand before plain ones).
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
struct static_face {
  using type = B;
  using policy = for_size;
};
template <class B, class Policy>
struct static_face<tuned<B, Policy>> {
  using type = typename static_face<B>::type;
  using policy = Policy;
};

/// A type that static programs can be lowered onto.
template <class B>
concept StaticBackend = requires(const EmbedNode& node, StepWriter& steps) {
  { B::name } -> std::convertible_to<std::string_view>;
  { B::Kernels::size } -> std::convertible_to<std::size_t>;
  { B::embed(node, steps) } -> std::same_as<const char*>;
};

}  // namespace davit
