// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "davit/backend/embed_graph.hpp"
#include "davit/core/table.hpp"

namespace davit {

namespace detail {
template <class K>
inline constexpr char kernel_tag = 0;
}  // namespace detail

/// Identifies a kernel type in constant evaluation.
using KernelId = const char*;
template <class K>
inline constexpr KernelId kernel_id = &detail::kernel_tag<K>;

/// The kernels of a static backend, as types.
template <class... Ks>
struct kernel_list {
  static constexpr std::size_t size = sizeof...(Ks);
  static constexpr std::array<KernelId, sizeof...(Ks)> ids{kernel_id<Ks>...};
};

namespace detail {
template <class... Lists>
struct JoinedKernels;
template <class... As>
struct JoinedKernels<kernel_list<As...>> {
  using type = kernel_list<As...>;
};
template <class... As, class... Bs, class... Rest>
struct JoinedKernels<kernel_list<As...>, kernel_list<Bs...>, Rest...>
    : JoinedKernels<kernel_list<As..., Bs...>, Rest...> {};
}  // namespace detail

/// Concatenation of several kernel lists.
template <class... Lists>
using joined_kernels = typename detail::JoinedKernels<Lists...>::type;

/// A kernel's parameters as a type, passed to `run` under a policy that specialises the kernel. It converts to Params,
/// for a `run` that takes `const Params&`; a `run` that takes `const P&` for any P may use `P::value` as a constant.
template <auto Numbers>
struct Constant {
  static constexpr auto value = Numbers;
  constexpr operator const decltype(Numbers) & () const noexcept { return value; }
};

/// One pointer operand of a kernel.
struct StepOperand {
  enum class Kind : std::uint8_t { output, input, temporary, table, none };
  Kind kind = Kind::none;
  ScalarType dtype = ScalarType::undefined;
  std::uint16_t reserved = 0;
  std::uint32_t id = 0;  ///< value, temporary, or first element of a table
};

/// Kind of a row in a static program's steps.
enum class StaticControl : std::uint8_t {
  none,       ///< a call of a kernel
  nothing,    ///< a call that was found to be unnecessary
  branch,     ///< reads a bool; if it is false, continues after `otherwise`
  otherwise,  ///< ends the first side of a branch
  join,       ///< ends the second
  loop,       ///< begins a while loop
  test,       ///< reads a bool; if it is false, continues after `repeat`
  count,      ///< begins a loop of a known number of iterations, which it counts
  repeat,     ///< ends a loop: continues after its `loop` or `count`
};

/// A call of a kernel, or a step of control flow.
struct StaticStep {
  KernelId kernel = nullptr;
  NodeId node = no_id;
  Range operands{};
  Range params{};                                   ///< int32 numbers
  std::array<ValueId, 2> overwrites{no_id, no_id};  ///< inputs that the first output may overwrite
  std::uint8_t backend = 0;
  StaticControl control = StaticControl::none;
};

/// Temporary memory of one node's steps.
struct StaticTemporary {
  ScalarType dtype = ScalarType::undefined;
  std::uint32_t count = 0;
};

/// States that `value` has the elements of `source` in the same order.
struct StaticAlias {
  ValueId value = no_id;
  ValueId source = no_id;
};

/// Numbers that backends compute from small constants: one array per element type.
struct StaticTables {
  Table<std::int8_t> i8;
  Table<std::int16_t> i16;
  Table<std::int32_t> i32;
  Table<float> f32;

  template <class T>
  [[nodiscard]] constexpr Table<T>& of() noexcept {
    if constexpr (std::is_same_v<T, std::int8_t>)
      return i8;
    else if constexpr (std::is_same_v<T, std::int16_t>)
      return i16;
    else if constexpr (std::is_same_v<T, std::int32_t>)
      return i32;
    else
      return f32;
  }
};

/// Output of the backends: steps and the tables they refer to. Nodes are visited last to first, so each node's steps
/// form a group.
struct StepTables {
  Table<StaticStep> steps;
  Table<Range> groups;
  Table<StepOperand> operands;
  Table<std::int32_t> params;
  Table<StaticTemporary> temporaries;
  Table<StaticAlias> aliases;
  StaticTables tables;
  enum Need : std::uint8_t { unneeded, needed_by_some, written };
  Table<std::uint8_t> needs;  ///< per value: a Need
  Table<std::uint8_t> tags;   ///< per value: the backend's own tag

  constexpr void need(ValueId v) noexcept {
    if (needs[v] == unneeded) needs[v] = needed_by_some;
  }
};

/// Adds operands to a step, in the order of the kernel's parameters.
class StepOperands {
 public:
  constexpr StepOperands(StepTables& tables, std::size_t step, const EmbedGraph& graph) noexcept
      : tables_(&tables), step_(step), graph_(&graph) {}

  /// Adds a value that the kernel writes: T*.
  constexpr StepOperands& out(ValueId v) {
    tables_->needs[v] = StepTables::written;
    return add({StepOperand::Kind::output, graph_->dtype(v), 0, v});
  }
  /// Adds a value that the kernel reads: const T*. no_id adds a null pointer of type const float*.
  constexpr StepOperands& in(ValueId v) {
    if (v == no_id) return none(ScalarType::float32);
    tables_->need(v);
    return add({StepOperand::Kind::input, graph_->dtype(v), 0, v});
  }
  /// Adds a null pointer to elements of that type.
  constexpr StepOperands& none(ScalarType dtype) { return add({StepOperand::Kind::none, dtype, 0, 0}); }
  /// Adds temporary memory of this node's steps: T*. See StepWriter::temporary.
  constexpr StepOperands& scratch(std::uint32_t temporary) {
    return add({StepOperand::Kind::temporary, tables_->temporaries[temporary].dtype, 0, temporary});
  }
  /// Adds numbers that become a constant of the program: const T*.
  template <class T>
  constexpr StepOperands& table(std::span<const T> numbers) {
    Table<T>& pool = tables_->tables.template of<T>();
    const auto first = static_cast<std::uint32_t>(pool.size());
    pool.append(numbers.data(), numbers.size());
    return add({StepOperand::Kind::table, scalar_type_of<T>, 0, first});
  }
  /// Allows the first output to overwrite `input` if the input has no later reader. Both have the same element count
  /// and width, or the output is smaller.
  constexpr StepOperands& overwrites(ValueId input) {
    auto& slots = tables_->steps[step_].overwrites;
    slots[slots[0] == no_id ? 0 : 1] = input;
    return *this;
  }

 private:
  constexpr StepOperands& add(StepOperand operand) {
    tables_->operands.push_back(operand);
    ++tables_->steps[step_].operands.count;
    return *this;
  }

  StepTables* tables_;
  std::size_t step_;
  const EmbedGraph* graph_;
};

/// Writes the steps of a node; argument of `embed`.
class StepWriter {
 public:
  constexpr StepWriter(StepTables& tables, const EmbedGraph& graph, NodeId node) noexcept
      : tables_(&tables), graph_(&graph), node_(node) {}

  /// Adds a call of kernel K with these parameters, after the node's earlier steps. Add the operands to the returned
  /// object.
  template <class K>
  constexpr StepOperands step(const typename K::Params& params) {
    using Params = typename K::Params;
    StaticStep s{.kernel = kernel_id<K>, .node = node_, .backend = graph_->self};
    s.operands.first = static_cast<std::uint32_t>(tables_->operands.size());
    if constexpr (!std::is_empty_v<Params>) {
      static_assert(std::is_trivially_copyable_v<Params> && sizeof(Params) % 4 == 0,
                    "davit: a kernel's Params are a struct of int32 and float members");
      const auto encoded = std::bit_cast<std::array<std::int32_t, sizeof(Params) / 4>>(params);
      s.params = {params_like(s.kernel, encoded.data(), encoded.size()), encoded.size()};
    }
    tables_->steps.push_back(s);
    return {*tables_, tables_->steps.size() - 1, *graph_};
  }
  /// Declares that `value` has the elements of `source` in the same order: no step, no memory.
  constexpr void alias(ValueId value, ValueId source) {
    tables_->need(source);
    tables_->needs[value] = StepTables::written;
    tables_->aliases.push_back({value, source});
  }
  /// Allocates temporary memory of `count` elements for this node's steps.
  constexpr std::uint32_t temporary(ScalarType dtype, std::int64_t count) {
    tables_->temporaries.push_back({dtype, static_cast<std::uint32_t>(count)});
    return static_cast<std::uint32_t>(tables_->temporaries.size() - 1);
  }
  /// The backend's own tag of a value (such as a memory layout), initially 0. Nodes are visited last to first: the
  /// reader of a value sets the tag before the writer of the value reads it. Only values with is_private() may have
  /// one.
  [[nodiscard]] constexpr std::uint8_t tag(ValueId v) const noexcept { return tables_->tags[v]; }
  constexpr void set_tag(ValueId v, std::uint8_t tag) noexcept { tables_->tags[v] = tag; }
  /// True if this backend computes the value and it is not a graph output (other backends may still read it).
  [[nodiscard]] constexpr bool is_private(ValueId v) const noexcept {
    return graph_->is_assigned(graph_->producer(v)) && graph_->is_output[v] == 0;
  }

 private:
  /// Returns the position of these parameters in the table; reuses those of a recent call of the kernel if they are
  /// equal.
  constexpr std::uint32_t params_like(KernelId kernel, const std::int32_t* encoded, std::uint32_t count) {
    const StaticStep* const steps = tables_->steps.data();
    const std::size_t size = tables_->steps.size();
    for (std::size_t i = size; i-- > 0 && i + 8 >= size;) {
      if (steps[i].kernel != kernel) continue;
      const std::int32_t* const known = tables_->params.data() + steps[i].params.first;
      std::uint32_t same = 0;
      while (same < count && known[same] == encoded[same]) ++same;
      if (same == count) return steps[i].params.first;
    }
    const auto first = static_cast<std::uint32_t>(tables_->params.size());
    tables_->params.append(encoded, count);
    return first;
  }

  StepTables* tables_;
  const EmbedGraph* graph_;
  NodeId node_;
};

}  // namespace davit
