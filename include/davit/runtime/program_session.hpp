// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "davit/lowering/lowered_program.hpp"
#include "davit/runtime/method_frame.hpp"
#include "davit/runtime/prepare_delegate.hpp"
#include "davit/runtime/program_plan.hpp"
#include "davit/runtime/results.hpp"
#include "davit/runtime/value_sizes.hpp"

namespace davit {

namespace detail {

/// What a session keeps for one partition. Inputs and outputs lie in the session's slots where those are neighbours, and
/// are gathered from or scattered to them where they are not.
template <class B>
struct DelegateState {
  DelegateState(const LoweredMethod<B>& lowered, const Name& tag_)
      : unknown(lowered.interface.exprs), method(&lowered), handle(lowered.handle ? &*lowered.handle : nullptr), tag(&tag_),
        dynamic(!lowered.interface.is_static()) {
    unknown.settle();
    for (const OutputPort& port : lowered.interface.outputs) checks.add(port.type, false);
  }
  /// Ties the partition to the slots of its call.
  void connect(std::span<EValue> values, std::span<const std::uint32_t> in, std::span<const std::uint32_t> out) {
    inputs = neighbours(in) ? values.subspan(in.empty() ? 0 : in[0], in.size()) : own(own_inputs, in.size());
    outputs = neighbours(out) ? values.subspan(out.empty() ? 0 : out[0], out.size()) : own(own_outputs, out.size());
    outputs_end = outputs.data() + outputs.size();
    if (!own_inputs.empty()) input_slots = in;
    if (!own_outputs.empty()) output_slots = out;
  }

  bool direct = false;                ///< prepared, sizes do not change from call to call, and nothing to gather or scatter
  bool ready = false;                 ///< prepared
  EValue* outputs_end = nullptr;
  bool planned = false;               ///< outputs have destinations and scratch is lent from the session's arena
  std::span<EValue> inputs;
  std::span<EValue> outputs;
  std::span<const std::uint32_t> input_slots;   ///< what to gather; empty: nothing
  std::span<const std::uint32_t> output_slots;  ///< where to scatter; empty: nowhere
  PortChecks checks;
  SymbolValues unknown;               ///< the symbols' values where nothing is known of them
  const LoweredMethod<B>* method;
  const typename B::Handle* handle;   ///< nullptr if it was not compiled
  const Name* tag;
  bool dynamic;                       ///< sizes may change from call to call
  SizeMemory sizes;
  std::vector<EValue> own_inputs;
  std::vector<EValue> own_outputs;
  std::vector<EValue> destinations;   ///< of a planned partition: per output, a tensor or none
  std::span<std::byte> scratch;
  workspace_of<B> workspace{};
  Scratch own_scratch;

 private:
  [[nodiscard]] static bool neighbours(std::span<const std::uint32_t> slots) noexcept {
    for (std::size_t i = 1; i < slots.size(); ++i)
      if (slots[i] != slots[i - 1] + 1) return false;
    return true;
  }
  [[nodiscard]] static std::span<EValue> own(std::vector<EValue>& values, std::size_t count) {
    values.resize(count);
    return values;
  }
};

template <class List>
struct DelegateStates;
template <class... Bs>
struct DelegateStates<BackendList<Bs...>> {
  using type = std::tuple<std::vector<DelegateState<Bs>>...>;
};

/// What a session keeps for one loop.
struct LoopState {
  std::vector<Tensor> carried[2];  ///< written in turn: a body may read what the one before it wrote
  std::vector<Tensor> stacked;
  std::vector<std::int64_t> dims;  ///< sizes and strides of slices
  std::vector<EValue> values;
};

}  // namespace detail

/// Limits of what a session lets a program do.
struct RunLimits {
  std::int64_t max_loop_iterations = std::int64_t{1} << 32;
};

/// Runs a lowered program: owns the mutable state and the working memory, shares everything else.
///
/// Outputs of a run are views that hold until the next run. Mutations of buffers and of user inputs are written back at the
/// end of a successful run; a failed one leaves them alone. Not for use from several threads at once; sessions of one
/// program are independent of each other. No heap memory is taken in steady state if all shapes are static.
template <class List, Tracer T = NullTracer>
class ProgramSession {
 public:
  explicit ProgramSession(LoweredProgram<List> program, T tracer = {}, RunLimits limits = {})
      : program_(std::move(program)), tracer_(std::move(tracer)), limits_(limits), state_(copy_state(program_.state())) {
    methods_.reserve(program_.methods().size());
    for (const PartitionedMethod<List>& method : program_.methods()) methods_.emplace_back(method, state_);
  }
  ProgramSession(ProgramSession&&) = default;
  ProgramSession& operator=(ProgramSession&&) = default;

  [[nodiscard]] const LoweredProgram<List>& program() const noexcept { return program_; }
  [[nodiscard]] T& tracer() noexcept { return tracer_; }
  /// The session's buffers, by name.
  [[nodiscard]] std::span<const NamedTensor> state() const noexcept { return state_; }
  /// Where the values and the scratch of method `index` lie; without sizes until its first run. A partition whose backend
  /// does not fill destinations, or whose sizes depend on data, keeps memory of its own and is not in it.
  [[nodiscard]] const ProgramPlan& plan(std::size_t index) const noexcept { return methods_[index].plan; }

  /// Runs method `index` on its user inputs, in order. Answers all outputs of the program, mutations included, in its order.
  ///
  /// Errors: not_available; invalid_argument, invalid_dtype, invalid_shape for inputs that do not fit (before anything
  /// runs) and for what a backend answers; out_of_range for a loop without end; what a backend reports, with source line.
  [[nodiscard]] Result<std::span<const EValue>> run(std::size_t index, std::span<const EValue> user_inputs) {
    MethodState& m = methods_[index];
    std::span<const EValue> inputs = user_inputs;
    if (m.frame.gathers()) {
      if (Result<void> gathered = m.frame.gather(user_inputs, state_); !gathered)
        return std::unexpected(std::move(gathered.error()));
      inputs = m.frame.inputs();
    }
    bool changed = !m.planned;
    if (!m.frame.inputs_fit(inputs)) {
      const Result<bool> checked = m.frame.check_inputs(user_inputs, inputs);
      if (!checked) return std::unexpected(checked.error());
      changed = changed || *checked;
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) m.slots[m.schedule->input_slots[i]] = inputs[i];
    Error error;
    if (changed)
      if (!plan(m, error)) return std::unexpected(std::move(error));
    if (!run_graph(m, root_graph, 0, error)) return std::unexpected(std::move(error));
    const std::span<EValue> outputs = m.frame.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = m.slots[m.schedule->output_slots[i]];
    if (!m.frame.outputs_fit())
      if (Result<void> checked = m.frame.check_outputs(); !checked) return std::unexpected(std::move(checked.error()));
    if (m.frame.writes_back())
      if (Result<void> written = m.frame.write_back(inputs, state_); !written) return std::unexpected(std::move(written.error()));
    return std::span<const EValue>(outputs);
  }

  /// Runs the method of that name. Inputs may also be given by name; inputs that the export fixed may be left out.
  [[nodiscard]] Result<std::span<const EValue>> run(std::string_view name, std::span<const EValue> args,
                                                    std::span<const NamedValue> kwargs = {}) {
    const Result<std::size_t> index = program_.find_method(name);
    if (!index) return std::unexpected(index.error());
    if (kwargs.empty()) return run(*index, args);
    Result<std::vector<EValue>> all = methods_[*index].frame.arrange(args, kwargs);
    if (!all) return std::unexpected(std::move(all.error()));
    return run(*index, *all);
  }

  /// Runs a method and converts its user outputs, as Session::call does.
  template <class R, class... Args>
  [[nodiscard]] Result<R> call(std::string_view name, const Args&... args) {
    const EValue values[sizeof...(Args) + 1] = {EValue(args)...};
    const Result<std::size_t> index = program_.find_method(name);
    if (!index) return std::unexpected(index.error());
    Result<std::span<const EValue>> outputs = run(*index, std::span<const EValue>(values, sizeof...(Args)));
    if (!outputs) return std::unexpected(std::move(outputs.error()));
    return convert_outputs<R>(program_.methods()[*index].interface, *outputs);
  }

 private:
  static constexpr int max_depth = 64;  ///< of control flow in control flow
  static constexpr std::size_t most_arena_bytes = std::size_t{1} << 30;  ///< for upper bounds; larger arenas follow the actual sizes

  struct MethodState {
    MethodState(const PartitionedMethod<List>& lowered, std::span<NamedTensor> state)
        : method(&lowered), schedule(&lowered.schedule), frame(lowered.name, {}, lowered.interface, state) {
      List::for_each([&]<class B, std::size_t I>() { std::get<I>(delegates).reserve(std::get<I>(lowered.rows).size()); });
      std::vector<std::uint32_t> rows(List::size, 0);
      for (const DelegateEntry& entry : lowered.delegates)
        List::visit(entry.backend, [&]<class B, std::size_t I>() {
          std::get<I>(delegates).emplace_back(std::get<I>(lowered.rows)[entry.index], entry.tag);
          places.push_back({static_cast<std::uint32_t>(I), rows[I]++});
        });
      loops.resize(schedule->steps.size());
      slots.resize(schedule->slot_count);
      if (!lowered.storage_matters) plan = plan_lifetimes(lowered.schedule);
      calls.assign(schedule->steps.size(), {List::size, nullptr});
      for (const ScheduleStep& step : schedule->steps)
        if (step.kind == StepKind::call_delegate) connect(step);
      fill_slots();
    }

    void connect(const ScheduleStep& step) {
      const Place place = places[step.delegate];
      List::visit(place.backend, [&]<class B, std::size_t I>() {
        detail::DelegateState<B>& state = std::get<I>(delegates)[place.row];
        state.connect(slots, schedule->at(step.inputs), schedule->at(step.outputs));
        calls[static_cast<std::size_t>(&step - schedule->steps.data())] = {place.backend, &state};
      });
    }

    /// Sets what neither callers nor steps set: constants that the parent kept, and literals.
    void fill_slots() {
      const ExportedProgram& parent = method->parent;
      const std::vector<InputSpec>& specs = parent.signature.input_specs;
      const std::span<const std::uint32_t> in = schedule->at(schedule->graphs[root_graph].inputs);
      for (std::size_t i = 0; i < specs.size(); ++i) {
        const InputRole role = input_role(parent.signature, specs[i]);
        if (role != InputRole::constant) continue;
        if (const Tensor* tensor = parent.tensor_named(*target(specs[i]))) slots[in[i]] = EValue(tensor->view());
      }
      for (const Schedule::Literal& literal : schedule->literals) slots[literal.slot] = literal_value(literal.argument);
    }
    [[nodiscard]] EValue literal_value(const Argument& a) const noexcept {
      switch (a.kind) {
        case ArgumentKind::int_: return a.payload;
        case ArgumentKind::float_: return a.float_value();
        case ArgumentKind::bool_: return a.payload != 0;
        case ArgumentKind::string: return method->parent.view().string(a);
        default: return {};
      }
    }

    struct Place {
      std::uint32_t backend = 0;
      std::uint32_t row = 0;
    };
    struct Call {
      std::size_t backend = List::size;  ///< List::size: the step is control flow
      void* state = nullptr;             ///< the DelegateState of that backend
    };
    const PartitionedMethod<List>* method;
    const Schedule* schedule;
    MethodFrame frame;
    typename detail::DelegateStates<List>::type delegates;
    std::vector<Place> places;  ///< per delegate number
    std::vector<Call> calls;    ///< per step
    std::vector<detail::LoopState> loops;  ///< per step
    std::vector<EValue> slots;
    ProgramPlan plan;
    bool planned = false;            ///< for the sizes of the last run
    Scratch arena;
    std::vector<std::int64_t> dims;  ///< sizes and strides of planned values
  };

  // -- memory ------------------------------------------------------------------------------------------------------

  /// Sizes every value and every scratch that can be known before the run, places them, and tells the partitions.
  [[nodiscard, gnu::noinline]] bool plan(MethodState& m, Error& error) {
    m.planned = false;
    if (m.plan.blocks.empty()) {
      m.planned = true;
      return true;
    }
    const GraphModuleView graph = m.method->parent.view();
    for (PlannedBlock& block : m.plan.blocks) block.shares = no_id;
    // first as large as they may get, so that the arena need not grow; if that is too much, as large as they are
    std::vector<std::size_t> most(m.plan.blocks.size(), 0);
    if (const SymbolValues bounds = upper_bounds(m.method->parent); bounds_known(graph, bounds)) {
      Error ignored;
      std::vector<std::int64_t> dims;
      if (size_blocks(m, bounds, dims, true, ignored) && m.plan.total_bytes() <= most_arena_bytes)
        for (std::size_t b = 0; b < most.size(); ++b) most[b] = m.plan.blocks[b].life.bytes;
    }
    if (!size_blocks(m, sizes_of_inputs(m, graph), m.dims, false, error)) return false;
    for (std::size_t b = 0; b < most.size(); ++b) m.plan.blocks[b].life.bytes = std::max(m.plan.blocks[b].life.bytes, most[b]);
    reuse_inputs(m);
    place_blocks(m.plan);
    if (!m.arena.reserve(m.plan.arena_bytes)) {
      error = Error{.code = ErrorCode::out_of_memory, .stage = Stage::execute, .where = concat("method '", m.method->name, "'"),
                    .what = concat("no memory for an arena of ", m.plan.arena_bytes, " bytes"), .fix = "run with smaller inputs"};
      return false;
    }
    for (const PlannedBlock& block : m.plan.blocks) {
      const typename MethodState::Call& c = m.calls[block.step];
      std::byte* const at = m.arena.span().data() + block.offset;
      List::visit(c.backend, [&]<class B, std::size_t>() { place(m, *static_cast<detail::DelegateState<B>*>(c.state), block, at); });
    }
    m.planned = true;
    return true;
  }

  /// Asks every partition for its scratch, and sizes what it makes, for these values of the symbols.
  [[nodiscard]] bool size_blocks(MethodState& m, const SymbolValues& symbols, std::vector<std::int64_t>& dims, bool bounds, Error& error) {
    const GraphModuleView graph = m.method->parent.view();
    const ValueSizes sizes(graph, symbols, dims);
    std::vector<EValue> known(m.slots);  // what is there when the run begins, and the sizes of what will be
    for (ValueId v = 0; v < graph.values.size(); ++v)
      if (graph.values[v].producer != no_id || graph.values[v].graph != root_graph) known[v] = sizes.value(v);
    for (const std::uint32_t slot : m.schedule->input_slots)
      if (bounds && slot < graph.values.size() && (known[slot].is_tensor() || graph.values[slot].expr != no_id)) known[slot] = sizes.value(slot);
    for (const Schedule::MovedBuffer& buffer : m.schedule->buffers) {
      if (buffer.result == buffer.slot) continue;
      known[buffer.result] = known[buffer.slot];
      if (known[buffer.result].is_tensor()) known[buffer.result].tensor().data = nullptr;
    }
    bool good = true;
    std::vector<EValue> inputs;
    for (std::size_t b = 0; b < m.plan.blocks.size() && good; ++b) {
      const PlannedBlock& scratch = m.plan.blocks[b];
      if (scratch.kind != PlannedBlock::Kind::scratch) continue;
      const typename MethodState::Call& c = m.calls[scratch.step];
      inputs.clear();
      bool all_known = true;
      for (const std::uint32_t slot : m.schedule->at(m.schedule->steps[scratch.step].inputs)) {
        inputs.push_back(known[slot]);
        all_known = all_known && (!known[slot].is_none() || is_optional(graph, slot));
      }
      List::visit(c.backend, [&]<class B, std::size_t>() {
        good = size_delegate(m, *static_cast<detail::DelegateState<B>*>(c.state), b, inputs, all_known, known, error);
      });
    }
    return good;
  }

  /// The symbols at the upper ends of their ranges.
  [[nodiscard]] static SymbolValues upper_bounds(const ExportedProgram& parent) {
    constexpr std::int64_t large = std::int64_t{1} << 32;  // torch's "no bound" is larger
    const GraphModuleView graph = parent.view();
    SymbolValues symbols(graph.exprs);
    for (const RangeConstraint& range : parent.range_constraints)
      for (ExprId e = 0; range.max && *range.max >= 0 && *range.max < large && e < graph.exprs.size(); ++e)
        if (graph.exprs[e].op == ExprOp::symbol && graph.str(graph.exprs[e].name) == range.symbol) (void)symbols.bind(e, *range.max);
    symbols.settle();
    return symbols;
  }
  [[nodiscard]] static bool bounds_known(GraphModuleView graph, const SymbolValues& bounds) noexcept {
    for (ExprId e = 0; e < graph.exprs.size(); ++e)
      if (graph.exprs[e].op == ExprOp::symbol && bounds.value(e)) return true;
    return false;
  }

  /// The values of the parent's symbols, from the sizes of the inputs that lie in the slots.
  [[nodiscard]] static SymbolValues sizes_of_inputs(const MethodState& m, GraphModuleView graph) {
    SymbolValues symbols(graph.exprs);
    for (int pass = 0; pass < 2; ++pass) {
      for (const std::uint32_t slot : m.schedule->input_slots) {
        if (slot >= graph.values.size()) continue;
        const Value& v = graph.values[slot];
        if (m.slots[slot].is_int() && v.expr != no_id) (void)symbols.bind(v.expr, m.slots[slot].as_int());
        const TensorView* tensor = m.slots[slot].tensor_if();
        const std::span<const Dim> dims = graph.dims_of(v.sizes);
        for (std::size_t d = 0; tensor != nullptr && d < dims.size() && d < tensor->rank; ++d)
          if (!dims[d].is_static() && (pass == 1 || graph.exprs[dims[d].expr].op == ExprOp::symbol))
            (void)symbols.bind(dims[d].expr, tensor->size(d));
      }
      symbols.settle();
    }
    return symbols;
  }
  /// True for a slot that may rightly hold nothing: a token, a custom object, a literal None.
  [[nodiscard]] static bool is_optional(GraphModuleView graph, std::uint32_t slot) noexcept {
    if (slot >= graph.values.size()) return true;
    return graph.values[slot].kind == ValueKind::token || graph.values[slot].kind == ValueKind::custom_obj;
  }

  /// Asks a partition for its scratch and gives its outputs their sizes. The blocks of its outputs follow its scratch's.
  template <class B>
  [[nodiscard]] bool size_delegate(MethodState& m, detail::DelegateState<B>& d, std::size_t block, std::span<const EValue> inputs,
                                   bool all_known, std::span<const EValue> known, Error& error) {
    std::vector<PlannedBlock>& blocks = m.plan.blocks;
    const std::span<const std::uint32_t> out = m.schedule->at(m.schedule->steps[blocks[block].step].outputs);
    for (std::size_t k = 0; k <= out.size(); ++k) blocks[block + k].life.bytes = 0;
    d.planned = false;
    if constexpr (FillsDestinations<B>) {
      d.ready = d.direct = false;
      if (!all_known || d.handle == nullptr || !B::is_available()) return true;
      const std::vector<OutputPort>& ports = d.method->interface.outputs;
      for (std::size_t k = 0; k < out.size(); ++k)  // what has no destination would lie in scratch, which is only lent
        if (ports[k].type.tag == EValue::Tag::tensor && !known[out[k]].is_tensor()) return true;
      d.destinations.assign(out.size(), EValue());
      for (std::size_t k = 0; k < out.size(); ++k) {
        if (!known[out[k]].is_tensor()) continue;
        d.destinations[k] = known[out[k]];
        blocks[block + 1 + k].life.bytes = known[out[k]].tensor().nbytes();
      }
      Result<std::size_t> bytes = scratch_for<B>(*d.handle, inputs, d.destinations, d.workspace);
      if (!bytes) {
        error = std::move(bytes.error());
        if (error.where.empty()) error.where = place_of(m, d);
        return false;
      }
      blocks[block].life.bytes = *bytes;
      d.planned = true;
      d.ready = true;
      d.direct = d.input_slots.empty() && d.output_slots.empty() && d.checks.is_static();
    }
    return true;
  }
  /// Lets an output lie where an input lay that nobody needs any more, if the backend can compute it there.
  void reuse_inputs(MethodState& m) const {
    for (std::size_t b = 0; b < m.plan.blocks.size(); ++b) {
      const PlannedBlock& scratch = m.plan.blocks[b];
      if (scratch.kind != PlannedBlock::Kind::scratch) continue;
      const ScheduleStep& step = m.schedule->steps[scratch.step];
      List::visit(m.calls[scratch.step].backend, [&]<class B, std::size_t>() {
        if constexpr (OverwritesInputs<B>) {
          const auto& d = *static_cast<const detail::DelegateState<B>*>(m.calls[scratch.step].state);
          if (d.planned)
            overwrite_inputs(m.plan, b, m.schedule->at(step.inputs), m.schedule->at(step.outputs).size(),
                             [&](std::size_t in, std::size_t out) { return B::may_overwrite(*d.handle, in, out); });
        }
      });
    }
  }
  template <class B>
  static void place(MethodState& m, detail::DelegateState<B>& d, const PlannedBlock& block, std::byte* at) {
    if (!d.planned) return;
    if (block.kind == PlannedBlock::Kind::scratch) {
      d.scratch = std::span(at, block.life.bytes);
      return;
    }
    const std::span<const std::uint32_t> out = m.schedule->at(m.schedule->steps[block.step].outputs);
    for (std::size_t k = 0; k < out.size(); ++k)
      if (out[k] == block.slot && d.destinations[k].is_tensor()) d.destinations[k].tensor().data = at;
  }

  [[nodiscard]] bool run_graph(MethodState& m, GraphId graph, int depth, Error& error) {
    const Range steps = m.schedule->graphs[graph].steps;
    const typename MethodState::Call* c = m.calls.data() + steps.first;
    for (const typename MethodState::Call* const end = c + steps.count; c != end; ++c) {
      if (!run_step(m, *c, depth, error)) [[unlikely]]
        return false;
    }
    return true;
  }

  template <std::size_t I = 0>
  [[nodiscard, gnu::always_inline]] bool run_step(MethodState& m, const typename MethodState::Call& c, int depth, Error& error) {
    if constexpr (I == List::size) {
      return control_flow(m, m.schedule->steps[static_cast<std::size_t>(&c - m.calls.data())], depth, error);
    } else {
      if (c.backend == I) return call_delegate(m, *static_cast<detail::DelegateState<typename List::template at<I>>*>(c.state), error);
      return run_step<I + 1>(m, c, depth, error);
    }
  }

  template <class B>
  [[nodiscard, gnu::always_inline]] bool call_delegate(MethodState& m, detail::DelegateState<B>& d, Error& error) {
    if (!d.direct) [[unlikely]]
      return gather_and_call(m, d, error);
    if (!execute(m, d, error)) [[unlikely]]
      return false;
    return d.checks.match_all(d.outputs.data()) || check_outputs(m, d, error);
  }

  /// A call whose values are not where the backend needs them, or that may have to be prepared.
  template <class B>
  [[nodiscard, gnu::noinline]] bool gather_and_call(MethodState& m, detail::DelegateState<B>& d, Error& error) {
    EValue* const values = m.slots.data();
    for (std::size_t i = 0; i < d.input_slots.size(); ++i) d.inputs[i] = values[d.input_slots[i]];
    if (!d.ready || (d.dynamic && !d.planned))
      if (!prepare(m, d, error)) return false;
    if (!execute(m, d, error)) return false;
    if (!d.checks.match(d.outputs))
      if (!check_outputs(m, d, error)) return false;
    for (std::size_t i = 0; i < d.output_slots.size(); ++i) values[d.output_slots[i]] = d.outputs[i];
    return true;
  }

  template <class B>
  [[nodiscard, gnu::always_inline]] bool execute(MethodState& m, detail::DelegateState<B>& d, Error& error) {
    if constexpr (FillsDestinations<B>) {
      if (d.planned) {
        std::ranges::copy(d.destinations, d.outputs.begin());
      } else {
        for (EValue& output : d.outputs) output.clear();
      }
    } else {
      for (EValue* output = d.outputs.data(); output != d.outputs_end; ++output) output->clear();
    }
    if constexpr (requires { tracer_.begin_delegate(std::string_view(), std::string_view()); }) tracer_.begin_delegate(*d.tag, B::name);
    ExecuteContext<T, TextReport, workspace_of<B>> context(tracer_, report_, d.workspace, d.scratch);
    const Status status = B::execute(*d.handle, std::span<const EValue>(d.inputs), d.outputs, context);
    if constexpr (requires { tracer_.end_delegate(std::string_view(), std::string_view()); }) tracer_.end_delegate(*d.tag, B::name);
    if (!status) [[unlikely]] {
      fault(m, d, status.error(), error);
      return false;
    }
    if constexpr (requires { tracer_.delegate_outputs(std::string_view(), std::span<const EValue>()); })
      tracer_.delegate_outputs(*d.tag, d.outputs);
    return true;
  }

  template <class B>
  [[gnu::noinline]] void fault(const MethodState& m, const detail::DelegateState<B>& d, Fault status, Error& error) {
    error = program_.debug_map().explain(Error{.code = status.code(), .stage = Stage::execute, .debug_handle = status.debug_handle(),
                                               .backend = B::name, .what = std::exchange(report_.text, {})});
    if (error.where.empty()) error.where = place_of(m, d);
  }
  template <class B>
  [[nodiscard]] static Name place_of(const MethodState& m, const detail::DelegateState<B>& d) {
    return concat("method '", m.method->name, "', partition '", *d.tag, "'");
  }
  template <class B>
  [[nodiscard, gnu::noinline]] static bool prepare(MethodState& m, detail::DelegateState<B>& d, Error& error) {
    if (d.handle == nullptr) {
      error = Error{.code = ErrorCode::not_available, .stage = Stage::execute, .backend = B::name, .where = place_of(m, d),
                    .what = concat("the partition was lowered while backend ", B::name, " was not available, and so is not compiled"),
                    .fix = "save the program and load it where the backend is available"};
      return false;
    }
    if (!B::is_available()) {
      error = detail::not_available<B>(Stage::execute);
      error.where = place_of(m, d);
      return false;
    }
    const bool changed = d.sizes.changed(d.method->interface.inputs, d.inputs);
    if (d.ready && !changed) return true;
    d.ready = false;
    for (EValue& output : d.outputs) output.clear();  // no destinations
    if (Result<void> prepared = prepare_delegate<B>(*d.handle, d.inputs, d.outputs, d.workspace, d.own_scratch); !prepared) {
      error = std::move(prepared.error());
      if (error.where.empty()) error.where = place_of(m, d);
      return false;
    }
    d.scratch = d.own_scratch.span();
    d.ready = true;
    d.direct = !d.dynamic && d.checks.is_static() && d.input_slots.empty() && d.output_slots.empty();
    return true;
  }
  /// Sizes that are symbolic are left to the consumers' kernels and to the method's own outputs.
  template <class B>
  [[nodiscard, gnu::noinline]] static bool check_outputs(MethodState& m, detail::DelegateState<B>& d, Error& error) {
    Result<void> checked = check_values(m.method->name, B::name, "output", d.method->interface.outputs, d.outputs, d.unknown);
    if (checked) return true;
    error = std::move(checked.error());
    error.where = concat(error.where, ", partition '", *d.tag, "'");
    return false;
  }

  // -- control flow ------------------------------------------------------------------------------------------------

  [[nodiscard]] static bool fail(const MethodState& m, const ScheduleStep& step, ErrorCode code, Name what, Error& error) {
    const GraphModuleView graph = m.method->parent.view();
    const Node& node = graph.nodes[step.node];
    error = Error{.code = code, .stage = Stage::execute,
                  .where = concat("method '", m.method->name, "', node '", node_label(graph, step.node), "' (", graph.target(node), ")"),
                  .what = std::move(what)};
    if (node.metadata < graph.metadata.size()) error.source = source_with_caret(graph.str(graph.metadata[node.metadata].stack_trace));
    return false;
  }

  [[nodiscard, gnu::noinline]] bool control_flow(MethodState& m, const ScheduleStep& step, int depth, Error& error) {
    if (depth >= max_depth) return fail(m, step, ErrorCode::out_of_range, "control flow is nested too deeply", error);
    switch (step.kind) {
      case StepKind::cond: return cond(m, step, depth, error);
      case StepKind::while_loop: return while_loop(m, step, depth, error);
      case StepKind::map:
      case StepKind::scan: return scan(m, step, depth, error);
      case StepKind::call_delegate: break;
    }
    return false;
  }

  /// Runs a sub-graph on `inputs`; false if the number of inputs does not fit.
  [[nodiscard]] bool run_body(MethodState& m, const ScheduleStep& step, GraphId graph, std::span<const EValue> inputs, int depth,
                              Error& error) {
    const std::span<const std::uint32_t> in = m.schedule->at(m.schedule->graphs[graph].inputs);
    if (in.size() != inputs.size())
      return fail(m, step, ErrorCode::invalid_program, concat("its sub-graph takes ", in.size(), " values, not ", inputs.size()), error);
    for (std::size_t i = 0; i < in.size(); ++i) m.slots[in[i]] = inputs[i];
    return run_graph(m, graph, depth + 1, error);
  }
  [[nodiscard]] std::span<const std::uint32_t> outputs_of(const MethodState& m, GraphId graph) const noexcept {
    return m.schedule->at(m.schedule->graphs[graph].outputs);
  }
  detail::LoopState& loop_of(MethodState& m, const ScheduleStep& step) const noexcept {
    return m.loops[static_cast<std::size_t>(&step - m.schedule->steps.data())];
  }
  [[nodiscard]] static bool truth(const EValue& value, bool& out) noexcept {
    if (value.is_number()) {
      out = value.number() != 0;
      return true;
    }
    const TensorView* tensor = value.tensor_if();
    if (tensor == nullptr || tensor->numel() != 1 || tensor->dtype != ScalarType::bool_) return false;
    out = *static_cast<const unsigned char*>(tensor->data) != 0;
    return true;
  }

  [[nodiscard]] bool cond(MethodState& m, const ScheduleStep& step, int depth, Error& error) {
    const std::span<const std::uint32_t> in = m.schedule->at(step.inputs);
    bool chosen = false;
    if (!truth(m.slots[in[0]], chosen))
      return fail(m, step, ErrorCode::invalid_dtype, "the predicate is no bool and no bool tensor of one element", error);
    const GraphId graph = chosen ? step.graph : step.other;
    std::vector<EValue>& values = loop_of(m, step).values;
    values.clear();
    for (const std::uint32_t slot : in.subspan(1)) values.push_back(m.slots[slot]);
    if (!run_body(m, step, graph, values, depth, error)) return false;
    const std::span<const std::uint32_t> from = outputs_of(m, graph);
    const std::span<const std::uint32_t> to = m.schedule->at(step.outputs);
    if (from.size() != to.size()) return fail(m, step, ErrorCode::invalid_program, "its branches return another number of values", error);
    for (std::size_t i = 0; i < to.size(); ++i) m.slots[to[i]] = m.slots[from[i]];
    return true;
  }

  /// Copies a value that a body made into the loop's own storage, so that the body may run again.
  [[nodiscard]] bool carry(MethodState& m, const ScheduleStep& step, const EValue& made, Tensor& into, EValue& value, Error& error) {
    const TensorView* tensor = made.tensor_if();
    if (tensor == nullptr) {
      value = made;
      return true;
    }
    if (!reuse_tensor(into, tensor->dtype, tensor->sizes()))
      return fail(m, step, ErrorCode::out_of_memory, "no memory for a value that the loop carries", error);
    copy_tensor(*tensor, into.view());
    value = EValue(into.view());
    return true;
  }

  [[nodiscard]] bool while_loop(MethodState& m, const ScheduleStep& step, int depth, Error& error) {
    detail::LoopState& loop = loop_of(m, step);
    const std::span<const std::uint32_t> in = m.schedule->at(step.inputs);
    loop.values.clear();
    for (const std::uint32_t slot : in) loop.values.push_back(m.slots[slot]);
    for (auto& side : loop.carried) side.resize(step.carried);
    for (std::int64_t i = 0;; ++i) {
      if (!run_body(m, step, step.graph, loop.values, depth, error)) return false;
      bool go_on = false;
      const std::span<const std::uint32_t> answer = outputs_of(m, step.graph);
      if (answer.size() != 1 || !truth(m.slots[answer[0]], go_on))
        return fail(m, step, ErrorCode::invalid_dtype, "the condition answers no bool and no bool tensor of one element", error);
      if (!go_on) break;
      if (i == limits_.max_loop_iterations) return fail(m, step, ErrorCode::out_of_range, concat("the loop did not end in ", i, " iterations"), error);
      if (!run_body(m, step, step.other, loop.values, depth, error)) return false;
      const std::span<const std::uint32_t> made = outputs_of(m, step.other);
      if (made.size() != step.carried) return fail(m, step, ErrorCode::invalid_program, "its body returns another number of values than it carries", error);
      for (std::size_t k = 0; k < made.size(); ++k)
        if (!carry(m, step, m.slots[made[k]], loop.carried[i & 1][k], loop.values[k], error)) return false;
    }
    const std::span<const std::uint32_t> to = m.schedule->at(step.outputs);
    for (std::size_t k = 0; k < to.size() && k < step.carried; ++k) m.slots[to[k]] = loop.values[k];
    return true;
  }

  /// map and scan: a body over slices; what it makes beyond the carried values is stacked in a new first dimension.
  /// Source: torch._higher_order_ops.map and generic_scan of torch._higher_order_ops.scan.
  [[nodiscard]] bool scan(MethodState& m, const ScheduleStep& step, int depth, Error& error) {
    detail::LoopState& loop = loop_of(m, step);
    const std::span<const std::uint32_t> in = m.schedule->at(step.inputs);
    const std::span<const std::uint32_t> to = m.schedule->at(step.outputs);
    if (step.sliced == 0 || in.size() < step.carried + step.sliced || to.size() < step.carried)
      return fail(m, step, ErrorCode::invalid_program, "it has nothing to run over", error);
    loop.values.clear();
    for (const std::uint32_t slot : in) loop.values.push_back(m.slots[slot]);
    for (auto& side : loop.carried) side.resize(step.carried);
    loop.stacked.resize(to.size() - step.carried);
    std::int64_t count = 0;
    std::size_t dims = 0;
    for (std::uint32_t k = 0; k < step.sliced; ++k) {
      const TensorView* whole = m.slots[in[step.carried + k]].tensor_if();
      const std::int64_t dim = whole == nullptr ? 0 : step.dim < 0 ? step.dim + whole->rank : step.dim;
      if (whole == nullptr || dim < 0 || dim >= whole->rank)
        return fail(m, step, ErrorCode::invalid_shape, "what it runs over has no such dimension", error);
      if (k == 0) count = whole->size(static_cast<std::size_t>(dim));
      if (whole->size(static_cast<std::size_t>(dim)) != count)
        return fail(m, step, ErrorCode::invalid_shape, "the tensors it runs over have different lengths", error);
      dims += 2 * whole->rank;
    }
    if (count == 0) return fail(m, step, ErrorCode::invalid_shape, "the length of what it runs over is 0", error);
    if (count > limits_.max_loop_iterations) return fail(m, step, ErrorCode::out_of_range, "it runs over too many slices", error);
    loop.dims.resize(dims);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = step.reverse != 0 ? count - 1 - i : i;
      std::int64_t* own = loop.dims.data();
      for (std::uint32_t k = 0; k < step.sliced; ++k)
        loop.values[step.carried + k] = slice(m.slots[in[step.carried + k]].tensor(), step.dim, at, own);
      if (!run_body(m, step, step.graph, loop.values, depth, error)) return false;
      const std::span<const std::uint32_t> made = outputs_of(m, step.graph);
      if (made.size() != to.size()) return fail(m, step, ErrorCode::invalid_program, "its body returns another number of values", error);
      for (std::size_t k = 0; k < made.size(); ++k) {
        const EValue& value = m.slots[made[k]];
        const bool good = k < step.carried ? carry(m, step, value, loop.carried[i & 1][k], loop.values[k], error)
                                           : stack(m, step, value, loop.stacked[k - step.carried], i == 0, count, at, error);
        if (!good) return false;
      }
    }
    for (std::size_t k = 0; k < to.size(); ++k)
      m.slots[to[k]] = k < step.carried ? loop.values[k] : EValue(loop.stacked[k - step.carried].view());
    return true;
  }

  /// Row `at` of a tensor along a dimension, as a view whose sizes and strides lie at `own`, which is moved on.
  [[nodiscard]] static EValue slice(const TensorView& whole, std::int64_t dim, std::int64_t at, std::int64_t*& own) noexcept {
    const auto d = static_cast<std::size_t>(dim < 0 ? dim + whole.rank : dim);
    std::int64_t* const sizes = own;
    std::int64_t* const strides = own + whole.rank - 1;
    for (std::size_t i = 0, k = 0; i < whole.rank; ++i) {
      if (i == d) continue;
      sizes[k] = whole.size(i);
      strides[k++] = whole.stride(i);
    }
    own += 2 * (whole.rank - 1);
    auto* data = static_cast<std::byte*>(whole.data);
    if (data != nullptr) data += at * whole.stride(d) * static_cast<std::int64_t>(size_of(whole.dtype));
    return EValue(TensorView{data, sizes, strides, static_cast<std::uint8_t>(whole.rank - 1), whole.dtype});
  }

  [[nodiscard]] bool stack(MethodState& m, const ScheduleStep& step, const EValue& made, Tensor& into, bool first, std::int64_t count,
                           std::int64_t at, Error& error) {
    const TensorView* row = made.tensor_if();
    if (row == nullptr || row->rank >= max_rank) return fail(m, step, ErrorCode::invalid_argument, "its body returns something that is no tensor", error);
    if (first) {
      std::int64_t sizes[max_rank] = {count};
      for (std::size_t d = 0; d < row->rank; ++d) sizes[d + 1] = row->size(d);
      if (!reuse_tensor(into, row->dtype, std::span<const std::int64_t>(sizes, row->rank + 1u)))
        return fail(m, step, ErrorCode::out_of_memory, "no memory for the rows it stacks", error);
    }
    TensorView all = into.view();
    if (row->dtype != all.dtype || !std::ranges::equal(row->sizes(), all.sizes().subspan(1)))
      return fail(m, step, ErrorCode::invalid_shape, "its body returns rows of different sizes", error);
    auto* data = static_cast<std::byte*>(all.data);
    if (data != nullptr) data += at * all.stride(0) * static_cast<std::int64_t>(size_of(all.dtype));
    copy_tensor(*row, TensorView{data, all.sizes_data + 1, all.strides_data + 1, row->rank, all.dtype});
    return true;
  }

  LoweredProgram<List> program_;
  T tracer_;
  TextReport report_;
  RunLimits limits_;
  std::vector<NamedTensor> state_;
  std::vector<MethodState> methods_;
};

}  // namespace davit
