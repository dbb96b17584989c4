// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/copy_tensor.hpp"
#include "davit/core/catch_bad_alloc.hpp"
#include "davit/runtime/detail/plan_run.hpp"
#include "davit/runtime/detail/run_graph.hpp"
#include "davit/runtime/method_state.hpp"
#include "davit/runtime/session.hpp"

namespace davit {

struct Session::State {
  explicit State(LoweredProgram lowered, std::vector<NamedTensor> buffers, SessionOptions options)
      : program(std::move(lowered)), state(std::move(buffers)) {
    context.debug_map = &program.debug_map();
    context.limits = options.limits;
    if (options.tracer) context.tracer = std::make_unique<TracerRef>(*options.tracer);
    methods.reserve(program.methods().size());
    for (const LoweredMethod& method : program.methods())
      methods.emplace_back(program.backends(), method, state, context);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  LoweredProgram program;
  std::vector<NamedTensor> state;
  detail::RunContext context;
  std::vector<detail::MethodState> methods;
};

Session::Session(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::make(LoweredProgram program, SessionOptions options) {
  return davit::detail::catch_bad_alloc(Stage::execute, [&]() -> Result<Session> {
    Result<std::vector<NamedTensor>> state = copy_state(program.state(), options.limits.max_memory);
    if (!state) return error_of(std::move(state));
    return Session(std::make_unique<State>(std::move(program), *std::move(state), options));
  });
}

const LoweredProgram& Session::program() const noexcept { return state_->program; }
std::span<const NamedTensor> Session::state() const noexcept { return state_->state; }
void Session::reset() noexcept {
  for (std::size_t i = 0; i < state_->state.size(); ++i)
    copy_tensor(state_->program.state()[i].tensor.view(), state_->state[i].tensor.view());
}
const ProgramPlan& Session::plan(std::size_t index) const noexcept { return state_->methods[index].plan; }

namespace detail {

/// Runs a method that is no single prepared call: plans again if sizes changed, and runs the schedule over the slots.
[[nodiscard, gnu::noinline]] Result<void> run_schedule(MethodState& m, std::span<const EValue> inputs, bool changed) {
  const std::span<EValue> outputs = m.frame.outputs();
  Error error;
  for (const DelegateState* const d : m.asked)
    if (d->call.handle != nullptr && !is_there(m, *d, error)) return std::unexpected(std::move(error));
  if (m.only != nullptr)
    m.only->connect(m.slots, m.schedule->at(m.schedule->steps[0].inputs), m.schedule->at(m.schedule->steps[0].outputs));
  for (std::size_t i = 0; i < inputs.size(); ++i) m.slots[m.schedule->input_slots[i]] = inputs[i];
  struct Restore {  // resets the output location for later calls, also after a failure
    ~Restore() {
      if (only != nullptr) only->call.outputs = outputs;
    }
    DelegateState* only;
    std::span<EValue> outputs;
  };
  {
    const Restore restore{m.only, outputs};
    if (changed && !plan_run(m, error)) return std::unexpected(std::move(error));
    if (!run_graph(m, root_graph, 0, error)) return std::unexpected(std::move(error));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = m.slots[m.schedule->output_slots[i]];
  return {};
}

/// Checks the outputs of a run. Errors: types that differ from the program's; tensors without memory.
[[nodiscard]] Result<void> check_outputs(MethodState& m) {
  if (!m.frame.outputs_fit())
    if (Result<void> checked = m.frame.check_outputs(); !checked) return checked;
  if (have_memory(m.frame.outputs())) return {};
  return std::unexpected(without_memory(m.only != nullptr ? place_of(m, *m.only) : concat(m.method->name, "()")));
}

/// Finishes a single-call run off the fast path: the backend failed, or returned values of other types or addresses
/// than in the last run.
[[nodiscard, gnu::noinline]] Result<Outputs> answer(MethodState& m, const DelegateState& d, Status status,
                                                    std::span<const EValue> inputs) {
  if (!status) {
    Error error;
    fault(m, d, status.error(), error);
    return std::unexpected(std::move(error));
  }
  if (Result<void> checked = check_outputs(m); !checked) return error_of(std::move(checked));
  m.overwritten.note(inputs, inputs, m.frame.outputs());
  return Outputs(m.frame.outputs().data(), m.frame.interface());
}

/// Runs a method off the fast path: it has state, new sizes, or a schedule.
[[nodiscard, gnu::noinline]] Result<Outputs> run_method(MethodState& m, std::span<NamedTensor> state,
                                                        std::span<const EValue> passed) {
  if (m.context->is_running)
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .stage = Stage::execute,
                                 .where = concat(m.method->name, "()"),
                                 .what = "the session is running: a tracer or a backend of its run called it",
                                 .fix = "run it when that run has ended, or make another session of the program"});
  m.ready_call = nullptr;
  for (std::size_t i = 0; i < passed.size(); ++i)
    if (const TensorView* tensor = passed[i].tensor_if();
        tensor != nullptr && tensor->data == nullptr && tensor->numel() != 0)
      return std::unexpected(
          Error{.code = ErrorCode::invalid_argument,
                .stage = Stage::execute,
                .where = concat("argument ", i, " of ", m.method->name, "()"),
                .what = concat("it has ", tensor->numel(), " elements, and no memory: its data is null"),
                .fix = "pass a tensor with memory for its elements"});
  struct Running {
    explicit Running(RunContext& shared) noexcept : context(shared) { context.is_running = true; }
    ~Running() {  // after a successful run there is nothing to undo
      context.undo.restore();
      context.is_running = false;
    }
    RunContext& context;
  };
  const Running running(*m.context);
  std::span<const EValue> user_inputs = passed;
  if (m.overwritten.may_hold(passed)) {
    const std::optional<std::span<const EValue>> own = m.overwritten.replace(passed);
    if (!own)
      return std::unexpected(Error{.code = ErrorCode::out_of_memory,
                                   .stage = Stage::execute,
                                   .where = concat("arguments of ", m.method->name, "()"),
                                   .what = "no memory for a copy of an argument that is an output of the run before",
                                   .fix = "run with smaller inputs"});
    user_inputs = *own;
  }
  std::span<const EValue> inputs = user_inputs;
  if (m.frame.gathers()) {
    if (Result<void> gathered = m.frame.gather(user_inputs, state); !gathered) return error_of(std::move(gathered));
    inputs = m.frame.inputs();
  }
  bool changed = !m.planned;
  if (!m.frame.inputs_fit(inputs)) {
    const Result<bool> checked = m.frame.check_inputs(user_inputs, inputs);
    if (!checked) return error_of(checked);
    changed = changed || *checked;
  }
  if (DelegateState* const only = m.only; only != nullptr && only->direct && !changed) {
    if (Error error; !is_there(m, *only, error)) return std::unexpected(std::move(error));
    only->call.inputs = inputs;
    if (const Status status = execute(*only); !status) return answer(m, *only, status, inputs);
  } else if (Result<void> run = run_schedule(m, inputs, changed); !run) {
    return error_of(std::move(run));
  }
  if (Result<void> checked = check_outputs(m); !checked) return error_of(std::move(checked));
  if (m.frame.writes_back())
    if (Result<void> written = m.frame.write_back(inputs, state); !written) return error_of(std::move(written));
  m.context->undo.clear();
  m.overwritten.note(passed, user_inputs, m.frame.outputs());
  if (m.can_be_ready()) m.ready_call = m.only;
  return Outputs(m.frame.outputs().data(), m.frame.interface());
}

}  // namespace detail

Result<Outputs> Session::run(std::size_t index, std::span<const EValue> user_inputs) {
  return davit::detail::catch_bad_alloc(Stage::execute, [&]() __attribute__((always_inline)) -> Result<Outputs> {
    detail::MethodState& m = state_->methods[index];
    detail::DelegateState* const ready = m.ready_call;
    const PortChecks& checks = m.frame.input_checks();
    if (ready == nullptr || user_inputs.size() != checks.count() ||
        !checks.match_all(user_inputs.data(), [&memory = m.overwritten](const TensorView& input) {
          return memory.is_apart(input);
        })) [[unlikely]]
      return detail::run_method(m, state_->state, user_inputs);
    // fast path: the call uses the caller's inputs and the method's outputs directly
    ready->call.inputs = user_inputs;
    const Status status = detail::execute(*ready);
    const void* const* place = m.overwritten.places();
    if (!status || !ready->checks.match_tensors(ready->call.outputs.data(), [&place](const TensorView& output) {
          return output.data == *place++;
        })) [[unlikely]]
      return detail::answer(m, *ready, status, user_inputs);
    return Outputs(ready->call.outputs.data(), m.frame.interface());
  });
}

Result<Outputs> Session::run(std::string_view name, std::span<const EValue> args, std::span<const NamedValue> kwargs) {
  return davit::detail::catch_bad_alloc(Stage::execute, [&]() -> Result<Outputs> {
    const Result<std::size_t> index = state_->program.find_method(name);
    if (!index) return error_of(index);
    if (kwargs.empty()) return run(*index, args);
    Result<std::vector<EValue>> all = state_->methods[*index].frame.arrange(args, kwargs);
    if (!all) return error_of(std::move(all));
    return run(*index, *all);
  });
}

}  // namespace davit
