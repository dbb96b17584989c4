// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cassert>

#include "davit/core/copy_tensor.hpp"
#include "davit/core/catch_bad_alloc.hpp"
#include "davit/core/segments.hpp"
#include "davit/program/name_map.hpp"
#include "davit/runtime/detail/plan_run.hpp"
#include "davit/runtime/detail/run_graph.hpp"
#include "davit/runtime/method_state.hpp"
#include "davit/runtime/session.hpp"

namespace davit {

namespace detail {

[[nodiscard]] std::unexpected<Error> moved_from() {
  return std::unexpected(Error{.code = ErrorCode::not_available,
                               .stage = Stage::execute,
                               .where = "session",
                               .what = "it has been moved from, and holds no program",
                               .fix = "use the session that it was moved to"});
}
[[nodiscard]] std::unexpected<Error> is_running(Name where) {
  return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                               .stage = Stage::execute,
                               .where = std::move(where),
                               .what = "the session is running: a tracer or a backend of its run called it",
                               .fix = "call it when that run has ended, or use another session of the program"});
}

}  // namespace detail

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

  /// Copies `from(i)` to buffer i, for all buffers. Buffers that are shared get memory of their own, or none does.
  template <class From>
  [[nodiscard]] Result<void> set_state(From&& from) {
    if (context.is_running) return detail::is_running("state");
    if (std::ranges::any_of(state, [](const NamedTensor& buffer) { return buffer.tensor.storage.is_shared(); })) {
      std::vector<SharedBytes> own(state.size());
      for (std::size_t i = 0; i < own.size(); ++i) {
        const SharedBytes& old = state[i].tensor.storage;
        if (old.is_shared()) own[i] = SharedBytes::uninitialized(old.size());
        if (old.is_shared() && own[i].empty())
          return std::unexpected(Error{.code = ErrorCode::out_of_memory,
                                       .stage = Stage::execute,
                                       .where = concat("buffer '", state[i].name, "'"),
                                       .what = "no memory for its new value: a fork of the session shares the buffer",
                                       .fix = "keep fewer forks, or a smaller model"});
      }
      for (std::size_t i = 0; i < own.size(); ++i)
        if (!own[i].empty()) state[i].tensor.storage = std::move(own[i]);
      ++context.state_version;
    }
    for (std::size_t i = 0; i < state.size(); ++i) copy_tensor(from(i), state[i].tensor.view());
    return {};
  }

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

const LoweredProgram& Session::program() const noexcept {
  assert(state_ != nullptr && "davit: the session has been moved from");
  return state_->program;
}
std::span<const NamedTensor> Session::state() const noexcept {
  return state_ == nullptr ? std::span<const NamedTensor>() : state_->state;
}
std::size_t Session::shared_state_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const NamedTensor& buffer : state())
    if (buffer.tensor.storage.is_shared()) bytes += buffer.tensor.storage.size();
  return bytes;
}

Result<void> Session::reset() noexcept {
  if (state_ == nullptr) return detail::moved_from();
  return davit::detail::catch_bad_alloc(Stage::execute, [&]() -> Result<void> {
    return state_->set_state([&](std::size_t i) { return state_->program.state()[i].tensor.view(); });
  });
}

Result<void> Session::load_state(std::span<const NamedTensor> values) {
  if (state_ == nullptr) return detail::moved_from();
  return davit::detail::catch_bad_alloc(Stage::execute, [&]() -> Result<void> {
    const NameIndex names(values, [](const NamedTensor& entry) { return entry.name.view(); });
    std::vector<TensorView> from;
    for (const NamedTensor& buffer : state_->state) {
      const std::size_t at = names.first(buffer.name);
      const auto refuse = [&](ErrorCode code, std::string_view what) {
        return std::unexpected(Error{.code = code,
                                     .stage = Stage::load,
                                     .where = concat("state '", buffer.name, "'"),
                                     .what = Name::own(what),
                                     .fix = "load what a session of this program saved"});
      };
      if (at == NameIndex::not_found) return refuse(ErrorCode::not_found, "the checkpoint has no tensor of that name");
      if (values[at].tensor.dtype != buffer.tensor.dtype)
        return refuse(ErrorCode::invalid_dtype, "the checkpoint's tensor has another dtype");
      if (values[at].tensor.sizes != buffer.tensor.sizes)
        return refuse(ErrorCode::invalid_shape, "the checkpoint's tensor has other sizes");
      if (!is_stored(values[at].tensor)) return refuse(ErrorCode::invalid_argument, not_stored);
      from.push_back(values[at].tensor.view());
    }
    return state_->set_state([&](std::size_t i) { return from[i]; });
  });
}

Result<Session> Session::fork() const {
  if (state_ == nullptr) return detail::moved_from();
  return davit::detail::catch_bad_alloc(Stage::execute, [&]() -> Result<Session> {
    if (state_->context.is_running) return detail::is_running("fork");
    return Session(std::make_unique<State>(state_->program, state_->state, SessionOptions{state_->context.limits, {}}));
  });
}

Result<void> Session::rewind(std::string_view counter, std::int64_t length) {
  if (state_ == nullptr) return detail::moved_from();
  return davit::detail::catch_bad_alloc(Stage::execute, [&]() -> Result<void> {
    const auto is_counter = [](const NamedTensor& buffer) {
      return buffer.tensor.dtype == ScalarType::int64 || buffer.tensor.dtype == ScalarType::int32;
    };
    const auto refuse = [&](ErrorCode code, Name what, Name fix) {
      return std::unexpected(Error{.code = code,
                                   .stage = Stage::execute,
                                   .where = concat("rewind of buffer '", counter, "'"),
                                   .what = std::move(what),
                                   .fix = std::move(fix)});
    };
    if (state_->context.is_running) return detail::is_running("rewind");
    const auto found = std::ranges::find(state_->state, counter, [](const NamedTensor& b) { return b.name.view(); });
    if (found == state_->state.end()) {
      Name names;
      for (const NamedTensor& buffer : state_->state)
        if (is_counter(buffer)) names = concat(names, names.empty() ? "" : ", ", "'", buffer.name, "'");
      return refuse(ErrorCode::not_found, "the session has no buffer of that name",
                    names.empty() ? Name("no buffer holds integers: run the program with an earlier position")
                                  : concat("the buffers of integers are ", names));
    }
    if (!is_counter(*found))
      return refuse(ErrorCode::invalid_dtype, concat("it holds ", name_of(found->tensor.dtype)),
                    "name a buffer of int64 or int32 that counts");
    const auto set = [&]<class T>(std::type_identity<T>) -> Result<void> {
      const auto elements = [&] {
        return std::span<T>(found->tensor.view().as<T>(), static_cast<std::size_t>(found->tensor.numel()));
      };
      for (const T old : elements())
        if (length < 0 || length > old)
          return refuse(ErrorCode::out_of_range, concat("the length ", length, " is not in 0..", std::int64_t{old}),
                        "rewind goes back only: run the program to go on");
      const bool moves = found->tensor.storage.is_shared();
      if (!own_memory(found->tensor))
        return refuse(ErrorCode::out_of_memory, "no memory for a copy: a fork of the session shares it", {});
      if (moves) ++state_->context.state_version;
      std::ranges::fill(elements(), static_cast<T>(length));
      return {};
    };
    return found->tensor.dtype == ScalarType::int64 ? set(std::type_identity<std::int64_t>())
                                                    : set(std::type_identity<std::int32_t>());
  });
}

void Session::stop_when(const StopCondition& condition) noexcept {
  if (state_ == nullptr || state_->context.is_running) return;
  state_->context.stop = condition;
  for (detail::MethodState& method : state_->methods) method.set_stop();
}

const ProgramPlan& Session::plan(std::size_t index) const noexcept {
  assert(state_ != nullptr && "davit: the session has been moved from");
  return state_->methods[index].plan;
}

namespace detail {

/// Runs a method that is no single prepared call: plans again if sizes changed, passes on the addresses of buffers that
/// moved, and runs the schedule over the slots.
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
    if (m.moved) assign_addresses(m);
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
  if (m.context->is_running) return is_running(concat(m.method->name, "()"));
  m.ready_call = nullptr;
  if (m.context->stop.is_set()) [[unlikely]] {
    Error error;
    if (!may_go_on(m, [&] { return concat(m.method->name, "()"); }, error)) return std::unexpected(std::move(error));
  }
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
  m.follow_state(state);
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
  if (m.frame.writes_back()) {
    if (Result<void> own = m.frame.own_state(state); !own) return error_of(std::move(own));
    m.follow_state(state);
  }
  if (DelegateState* const only = m.only; only != nullptr && only->direct && !changed && !m.moved) {
    if (Error error; !is_there(m, *only, error)) return std::unexpected(std::move(error));
    only->call.inputs = inputs;
    if (const Status status = execute(*only); !status) return answer(m, *only, status, inputs);
  } else if (Result<void> run = run_schedule(m, inputs, changed); !run) {
    return error_of(std::move(run));
  }
  if (Result<void> checked = check_outputs(m); !checked) return error_of(std::move(checked));
  if (m.frame.writes_back())
    if (Result<void> written = m.frame.write_back(inputs, state); !written) return error_of(std::move(written));
  if (m.frame.writes_back()) m.note_moved();
  m.context->undo.clear();
  m.overwritten.note(passed, user_inputs, m.frame.outputs());
  if (m.can_be_ready()) m.ready_call = m.only;
  return Outputs(m.frame.outputs().data(), m.frame.interface());
}

}  // namespace detail

Result<Outputs> Session::run(std::size_t index, std::span<const EValue> user_inputs) {
  return davit::detail::catch_bad_alloc(Stage::execute, [&]() __attribute__((always_inline)) -> Result<Outputs> {
    assert(state_ != nullptr && "davit: the session has been moved from");
    assert(index < state_->methods.size() && "davit: the program has no method of that index");
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
    if (state_ == nullptr) return detail::moved_from();
    const Result<std::size_t> index = state_->program.find_method(name);
    if (!index) return error_of(index);
    if (kwargs.empty()) return run(*index, args);
    Result<std::vector<EValue>> all = state_->methods[*index].frame.arrange(args, kwargs);
    if (!all) return error_of(std::move(all));
    return run(*index, *all);
  });
}

}  // namespace davit
