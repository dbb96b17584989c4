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
#include "davit/runtime/results.hpp"

namespace davit {

namespace detail {

/// What a session keeps for one partition. Inputs and outputs lie in the session's slots where those are neighbours, and
/// are gathered from or scattered to them where they are not.
template <class B>
struct DelegateState {
  DelegateState(const LoweredMethod<B>& lowered, const Name& tag_)
      : method(&lowered), handle(lowered.handle ? &*lowered.handle : nullptr), tag(&tag_), dynamic(!lowered.interface.is_static()) {
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
  std::span<EValue> inputs;
  std::span<EValue> outputs;
  std::span<const std::uint32_t> input_slots;   ///< what to gather; empty: nothing
  std::span<const std::uint32_t> output_slots;  ///< where to scatter; empty: nowhere
  PortChecks checks;
  const LoweredMethod<B>* method;
  const typename B::Handle* handle;   ///< nullptr if it was not compiled
  const Name* tag;
  bool dynamic;                       ///< sizes may change from call to call
  SizeMemory sizes;
  std::vector<EValue> own_inputs;
  std::vector<EValue> own_outputs;
  workspace_of<B> workspace{};
  Scratch scratch;

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
    if (!m.frame.inputs_fit(inputs))
      if (const Result<bool> checked = m.frame.check_inputs(user_inputs, inputs); !checked)
        return std::unexpected(checked.error());
    for (std::size_t i = 0; i < inputs.size(); ++i) m.slots[m.schedule->input_slots[i]] = inputs[i];
    Error error;
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
  };

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
    if (!d.ready || d.dynamic)
      if (!prepare(m, d, error)) return false;
    if (!execute(m, d, error)) return false;
    if (!d.checks.match(d.outputs))
      if (!check_outputs(m, d, error)) return false;
    for (std::size_t i = 0; i < d.output_slots.size(); ++i) values[d.output_slots[i]] = d.outputs[i];
    return true;
  }

  template <class B>
  [[nodiscard, gnu::always_inline]] bool execute(MethodState& m, detail::DelegateState<B>& d, Error& error) {
    for (EValue* output = d.outputs.data(); output != d.outputs_end; ++output) output->clear();
    if constexpr (requires { tracer_.begin_delegate(std::string_view(), std::string_view()); }) tracer_.begin_delegate(*d.tag, B::name);
    ExecuteContext<T, TextReport, workspace_of<B>> context(tracer_, report_, d.workspace, d.scratch.span());
    const Status status = B::execute(*d.handle, std::span<const EValue>(d.inputs), d.outputs, context);
    if constexpr (requires { tracer_.end_delegate(std::string_view(), std::string_view()); }) tracer_.end_delegate(*d.tag, B::name);
    if (!status) [[unlikely]] {
      fault(m, d, status.error(), error);
      return false;
    }
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
    if (Result<void> prepared = prepare_delegate<B>(*d.handle, d.inputs, d.workspace, d.scratch); !prepared) {
      error = std::move(prepared.error());
      if (error.where.empty()) error.where = place_of(m, d);
      return false;
    }
    d.ready = true;
    d.direct = !d.dynamic && d.checks.is_static() && d.input_slots.empty() && d.output_slots.empty();
    return true;
  }
  /// Sizes that are symbolic are left to the consumers' kernels and to the method's own outputs.
  template <class B>
  [[nodiscard, gnu::noinline]] static bool check_outputs(MethodState& m, detail::DelegateState<B>& d, Error& error) {
    SymbolValues unknown(d.method->interface.exprs);
    unknown.settle();
    Result<void> checked = check_values(m.method->name, B::name, "output", d.method->interface.outputs, d.outputs, unknown);
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
