// SPDX-License-Identifier: MIT
#include "model.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>
#include <variant>

#include "davit/core/copy_tensor.hpp"
#include "davit/formats/checkpoint.hpp"
#include "davit/formats/package.hpp"
#include "source.hpp"
#include "tensor.hpp"

namespace davit::python {

namespace {

/// A method of a model or of a session, which Python calls.
struct Method {
  std::shared_ptr<Model> model;
  std::shared_ptr<Running> running;  ///< null: a session of the model
  std::size_t index = 0;
};
/// A session as Python has it.
struct PythonSession {
  std::shared_ptr<Model> model;
  std::shared_ptr<Running> running;
};

/// True if a run writes to this user input.
[[nodiscard]] bool is_written(const MethodInterface& interface, const InputPort& port) {
  return port.written || std::ranges::any_of(interface.outputs, [&](const OutputPort& output) {
           return output.kind == OutputKind::user_input_mutation && output.target == port.name;
         });
}

/// The session of one call: the given one, or one of the model's, which it gives back.
class Turn {
 public:
  Turn(Model& model, std::shared_ptr<Running> running)
      : model_(model), own_(running != nullptr), running_(own_ ? std::move(running) : model.take()) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (!own_) model_.give_back(std::move(running_));
  }
  [[nodiscard]] const std::shared_ptr<Running>& running() const noexcept { return running_; }

 private:
  Model& model_;
  bool own_;
  std::shared_ptr<Running> running_;
};

/// The arguments of a call. Shares in memory are given up at its end.
class Arguments {
 public:
  explicit Arguments(Model& model) : model_(model), memory_(model.take_memory()) {}
  Arguments(Model& model, const PythonMethod& method, const py::tuple& args, const py::dict& kwargs)
      : Arguments(model) {  // so that the destructor runs if an argument is refused
    for (std::size_t i = 0; i < args.size(); ++i)
      memory_->values.push_back(read(PyTuple_GET_ITEM(args.ptr(), static_cast<Py_ssize_t>(i)), method, i));
    for (const auto& [key, value] : kwargs) {
      const std::string_view name = utf8_of(key, "the name of an argument");
      const auto at = std::ranges::find(method.inputs, name, [](const InputPort* port) { return port->name.view(); });
      memory_->named.push_back({name, read(value, method, static_cast<std::size_t>(at - method.inputs.begin()))});
    }
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    for (std::size_t i = 0; i < used_; ++i) memory_->arguments[i]->release();
    memory_->values.clear();
    memory_->named.clear();
    model_.give_back(std::move(memory_));
  }

  [[nodiscard]] std::span<const EValue> values() const noexcept { return memory_->values; }
  [[nodiscard]] std::span<const NamedValue> named() const noexcept { return memory_->named; }
  /// True if a tensor lies in the memory of an argument.
  [[nodiscard]] bool hold(const TensorView& view) const noexcept {
    const MemoryRange range = memory_range(view);
    return std::ranges::any_of(std::span(memory_->arguments).first(used_), [&](const auto& each) {
      return each->value().is_tensor() && overlap(range, memory_range(each->value().tensor()));
    });
  }

 private:
  [[nodiscard]] EValue read(py::handle object, const PythonMethod& method, std::size_t input) {
    if (used_ == memory_->arguments.size()) memory_->arguments.push_back(std::make_unique<Argument>());
    Argument& argument = *memory_->arguments[used_++];
    const bool exists = input < method.inputs.size();
    argument.read(object, exists ? method.inputs[input] : nullptr, exists && method.writes[input],
                  exists ? std::string_view(method.places[input]) : "an argument");
    return argument.value();
  }

  Model& model_;
  std::unique_ptr<CallMemory> memory_;
  std::size_t used_ = 0;
};

/// Makes the stop condition of a session's runs: its token, and its timeout from now on. None costs nothing.
void set_stop(Running& running) {
  using Clock = std::chrono::steady_clock;
  if (running.timeout <= 0)
    return running.session.stop_when(running.cancellable ? StopCondition(running.cancel) : StopCondition());
  const auto time = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(running.timeout));
  running.session.stop_when(StopCondition(running.cancel, Clock::now() + time));
}

/// Runs a method on Python's arguments. If `lends`, tensors stay in the session's memory, unless they are views of
/// arguments.
[[nodiscard]] py::object run(Model& model, const std::shared_ptr<Running>& session, std::size_t index, py::tuple args,
                             py::dict kwargs, bool lends) {
  const PythonMethod& method = model.methods()[index];
  if (!method.flatten.is_none()) {
    args = py::tuple(method.flatten(args, kwargs));
    kwargs = py::dict();
  }
  const Arguments arguments(model, method, args, kwargs);  // before the session is held: __dlpack__ is a user's code
  const Turn turn(model, session);
  py::list values;
  {
    Running& running = *turn.running();
    const Hold hold(running);
    require_none_lent(running);
    running.cancel.requested.store(false, std::memory_order_relaxed);
    if (running.timeout > 0) set_stop(running);
    Result<Outputs> outputs = [&] {
      const py::gil_scoped_release unlocked;
      return arguments.named().empty()
                 ? running.session.run(index, arguments.values())
                 : running.session.run(method.lowered->name.view(), arguments.values(), arguments.named());
    }();
    if (!outputs) throw Failure(std::move(outputs).error());
    Lend lend;
    const std::shared_ptr<Running>& keeper = turn.running();
    if (lends)
      lend = [&](const TensorView& view) -> std::shared_ptr<void> {
        if (arguments.hold(view)) return nullptr;
        ++running.lent;
        return std::shared_ptr<void>(static_cast<void*>(&running),
                                     [held = std::shared_ptr<Running>(keeper)](void*) { --held->lent; });
      };
    if (method.unflatten.is_none()) return to_python((*outputs)[0].value(), lend);
    for (const Output output : *outputs) values.append(to_python(output.value(), lend));
  }
  return method.unflatten(values);
}

/// Runs a session's method `count` times on the same arguments, as C++ does: benchmarks compare it with calls.
void repeat(const Method& method, const py::tuple& values, std::size_t count) {
  Running& running = *method.running;
  const Arguments arguments(*method.model, method.model->methods()[method.index], values, py::dict());
  const Hold hold(running);
  for (std::size_t i = 0; i < count; ++i)
    if (Result<Outputs> outputs = running.session.run(method.index, arguments.values()); !outputs)
      throw Failure(std::move(outputs).error());
}

[[nodiscard]] py::object size_of_port(const MethodInterface& interface, const Dim& dim) {
  if (dim.is_static()) return py::int_(dim.value);
  return text_of(size_text(interface, dim));
}

/// Describes an input or output: (name, type, dtype, sizes, has a constant, the constant).
[[nodiscard]] py::tuple describe(const MethodInterface& interface, std::string_view name, const PortType& type,
                                 const std::optional<ConstantValue>& constant) {
  py::list sizes;
  for (const Dim& dim : type.dims) sizes.append(size_of_port(interface, dim));
  py::object value = py::none();
  if (constant)
    value = std::visit(
        []<class T>(const T& each) -> py::object {
          if constexpr (std::is_same_v<T, std::monostate>)
            return py::none();
          else if constexpr (std::is_same_v<T, Name>)
            return text_of(each);
          else
            return py::cast(each);
        },
        *constant);
  const bool is_tensor = type.tag == EValue::Tag::tensor;
  return py::make_tuple(text_of(name), text_of(type_text(interface, type)),
                        is_tensor ? py::object(text_of(name_of(type.dtype))) : py::object(py::none()),
                        is_tensor ? py::object(py::tuple(sizes)) : py::object(py::none()), constant.has_value(), value);
}

[[nodiscard]] py::list inputs_of(const PythonMethod& method) {
  py::list out;
  for (const InputPort* port : method.inputs)
    out.append(describe(method.lowered->interface, port->name, port->type, port->constant));
  return out;
}
[[nodiscard]] py::list outputs_of(const PythonMethod& method) {
  py::list out;
  for (const OutputPort& port : method.lowered->interface.outputs)
    if (port.is_returned()) out.append(describe(method.lowered->interface, port.user_name(), port.type, std::nullopt));
  return out;
}

/// Returns the specifications of a method's inputs and outputs, and the names of its arguments; None for a package,
/// which has none.
[[nodiscard]] py::object specification(const PythonMethod& method) {
  for (const ModuleCallEntry& entry : method.lowered->parent.module_call_graph) {
    if (!entry.fqn.empty() || !entry.has_signature) continue;
    py::list names;
    for (const Name& name : entry.forward_arg_names) names.append(text_of(name));
    return py::make_tuple(text_of(entry.in_spec), text_of(entry.out_spec), names);
  }
  return py::none();
}

[[nodiscard]] std::size_t find(const Model& model, const py::str& name) {
  return value_of(model.program().find_method(utf8_of(name, "method")));
}

[[nodiscard]] py::object example_inputs(const Model& model, std::size_t method) {
  if (method >= model.examples.size() || !model.examples[method]) return py::none();
  py::list out;
  for (const ExampleInput& input : *model.examples[method])
    out.append(std::visit(
        []<class T>(const T& value) -> py::object {
          if constexpr (std::is_same_v<T, std::monostate>)
            return py::none();
          else if constexpr (std::is_same_v<T, Name>)
            return to_python(EValue(value.view()));
          else
            return to_python(EValue(value));
        },
        input));
  return out;
}

/// Returns the state's tensor of that name. Throws: not_found.
[[nodiscard]] const Tensor& state_tensor(std::span<const NamedTensor> state, std::string_view name) {
  Name names;
  for (const NamedTensor& entry : state) {
    if (entry.name == name) return entry.tensor;
    names = concat(names, names.empty() ? "" : ", ", entry.name);
  }
  throw refusal(ErrorCode::not_found, "state", concat("there is no buffer '", name, "'"),
                names.empty() ? Name("the model has no state") : concat("there are: ", names));
}

void set_state(Running& running, std::string_view name, py::handle value) {
  const std::string place = "state '" + std::string(name) + "'";
  Argument argument;
  InputPort port;
  port.type = {.tag = EValue::Tag::tensor, .dtype = state_tensor(running.session.program().state(), name).dtype};
  argument.read(value, &port, false, place);
  const Hold hold(running);
  require_none_lent(running);
  if (running.session.shared_state_bytes() != 0) {  // a fork must not see the value
    const std::vector<NamedTensor> kept(running.session.state().begin(), running.session.state().end());
    value_of(running.session.load_state(kept));
  }
  const Tensor& buffer = state_tensor(running.session.state(), name);
  if (argument.value().is_tensor() && !overlap(memory_range(argument.value().tensor()), memory_range(buffer.view())) &&
      copy_if_same(argument.value().tensor(), buffer.view()))
    return;
  Name sizes;
  for (const std::int64_t size : buffer.sizes) sizes = concat(sizes, sizes.empty() ? "" : ", ", size);
  throw refusal(ErrorCode::invalid_argument, place, "the value does not have the buffer's dtype and sizes",
                concat("pass an array ", name_of(buffer.dtype), "[", sizes, "]"));
}

[[nodiscard]] py::object get_state(Running& running, std::string_view name) {
  const Hold hold(running);
  return to_python(EValue(state_tensor(running.session.state(), name).view()));
}

void reset(Running& running) {
  const Hold hold(running);
  require_none_lent(running);
  value_of(running.session.reset());
}

void rewind(Running& running, std::string_view counter, std::int64_t length) {
  const Hold hold(running);
  require_none_lent(running);
  value_of(running.session.rewind(counter, length));
}

[[nodiscard]] std::shared_ptr<Running> fork(Running& running) {
  const Hold hold(running);
  auto made = std::make_shared<Running>(value_of(running.session.fork()));
  made->timeout = running.timeout;
  made->cancellable = running.cancellable;
  set_stop(*made);
  return made;
}

/// Asks the call that runs now to end.
void cancel(Running& running) {
  if (!running.cancellable && running.timeout <= 0)
    throw refusal(ErrorCode::invalid_argument, "cancel", "the runs of this session do not look whether they shall end",
                  "make it by model.session(cancellable=True), or give it a timeout");
  if (running.holder.load(std::memory_order_relaxed) != std::thread::id())
    running.cancel.requested.store(true, std::memory_order_relaxed);
}

void set_timeout(Running& running, const std::optional<double>& seconds) {
  if (seconds && !(*seconds > 0 && *seconds <= 1e9))
    throw refusal(ErrorCode::out_of_range, "timeout", "it is no time that a run can take",
                  "pass seconds, up to 1e9, or None");
  const Hold hold(running);
  running.timeout = seconds.value_or(0);
  set_stop(running);
}

[[nodiscard]] py::list names_of_state(const Running& running) {
  py::list names;
  for (const NamedTensor& entry : running.session.state()) names.append(text_of(entry.name));
  return names;
}

[[nodiscard]] py::bytes state_bytes(Running& running) {
  const Hold hold(running);
  const std::vector<std::byte> saved = value_of(formats::save_state(running.session));
  return {reinterpret_cast<const char*>(saved.data()), saved.size()};
}

void load_state(Running& running, const Source& source) {
  const Hold hold(running);
  require_none_lent(running);
  value_of(std::visit([&](const auto& from) { return formats::load_state(running.session, from); }, source));
}

[[nodiscard]] std::string signature(const Model& model) {
  std::string text;
  for (const LoweredMethod& method : model.program().methods())
    text.append(text.empty() ? "" : "\n").append(signature_text(method.name, method.interface).view());
  return text;
}

[[nodiscard]] py::list method_names(const Model& model) {
  py::list names;
  for (const LoweredMethod& method : model.program().methods()) names.append(text_of(method.name));
  return names;
}

/// Returns the backends of a method's partitions: (partition, backend).
[[nodiscard]] py::list partitions_of(const Model& model, std::size_t method) {
  py::list out;
  for (const LoweredDelegate& delegate : model.program().methods()[method].delegates)
    out.append(py::make_tuple(text_of(delegate.tag), text_of(model.program().backends().name(delegate.backend))));
  return out;
}

[[nodiscard]] py::bytes package_bytes(const Model& model, bool debug_map) {
  const std::vector<std::byte> saved = value_of(formats::save_program(model.program(), {.debug_map = debug_map}));
  return {reinterpret_cast<const char*>(saved.data()), saved.size()};
}

}  // namespace

Hold::Hold(Running& running) : running_(running) {
  if (running.holder.load(std::memory_order_relaxed) == std::this_thread::get_id())
    throw refusal(ErrorCode::invalid_argument, "session", "this thread runs the session already",
                  "take a session of its own for a call within a call: model.session()");
  for (bool locked = running.mutex.try_lock(); !locked;) {
    {
      const py::gil_scoped_release unlocked;
      locked = running.mutex.try_lock_for(std::chrono::milliseconds(50));
    }
    if (!locked && PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  running.holder.store(std::this_thread::get_id(), std::memory_order_relaxed);
}
Hold::~Hold() {
  running_.holder.store({}, std::memory_order_relaxed);
  running_.mutex.unlock();
}

void require_none_lent(const Running& running) {
  if (running.lent == 0) return;
  throw refusal(ErrorCode::invalid_argument, "session",
                "outputs that lend() gave are still in use, and their memory would change",
                "delete them and what views them (del y), or call the session itself, which copies");
}

Model::Model(LoweredProgram program) : program_(std::move(program)) {
  for (const LoweredMethod& method : program_.methods()) {
    PythonMethod& made = methods_.emplace_back();
    made.lowered = &method;
    for (const InputPort& port : method.interface.inputs) {
      if (port.role != InputRole::user) continue;
      made.inputs.push_back(&port);
      made.writes.push_back(is_written(method.interface, port));
      made.places.push_back(std::string(method.name.view()) + ", input '" + std::string(port.name.view()) + "'");
    }
  }
}

std::size_t Model::main_method() const {
  if (program_.methods().size() == 1) return 0;
  return value_of(program_.find_method("forward"));
}

std::shared_ptr<Running> Model::session() const { return std::make_shared<Running>(value_of(Session::make(program_))); }
std::shared_ptr<Running> Model::take() {
  if (idle_.empty()) idle_.push_back(session());
  if (!program_.state().empty()) return idle_.front();
  std::shared_ptr<Running> running = std::move(idle_.back());
  idle_.pop_back();
  return running;
}
std::unique_ptr<CallMemory> Model::take_memory() {
  if (memory_.empty()) return std::make_unique<CallMemory>();
  std::unique_ptr<CallMemory> memory = std::move(memory_.back());
  memory_.pop_back();
  return memory;
}
void Model::give_back(std::shared_ptr<Running> running) {
  if (program_.state().empty()) idle_.push_back(std::move(running));
}

void add_model(py::module_& module) {
  py::class_<Method> methods(module, "Method", "A method of a model, or of a session.");
  refuse_new(methods, "a davit.Method is made by model.method(name) or session.method(name)");
  methods
      .def("__call__",
           [](const Method& self, const py::args& args, const py::kwargs& kwargs) {
             return run(*self.model, self.running, self.index, args, kwargs, false);
           })
      .def("lend",
           [](const Method& self, const py::args& args, const py::kwargs& kwargs) {
             if (!self.running)
               throw refusal(ErrorCode::invalid_argument, "lend", "only a session lends its memory",
                             "call it on model.session()");
             return run(*self.model, self.running, self.index, args, kwargs, true);
           })
      .def_property_readonly(
          "name", [](const Method& self) { return text_of(self.model->methods()[self.index].lowered->name); })
      .def("_inputs", [](const Method& self) { return inputs_of(self.model->methods()[self.index]); })
      .def("_outputs", [](const Method& self) { return outputs_of(self.model->methods()[self.index]); })
      .def("_specification", [](const Method& self) { return specification(self.model->methods()[self.index]); })
      .def("_example_inputs", [](const Method& self) { return example_inputs(*self.model, self.index); })
      .def("_partitions", [](const Method& self) { return partitions_of(*self.model, self.index); })
      .def("_values",
           [](const Method& self, const py::tuple& values) {
             const PythonMethod& method = self.model->methods()[self.index];
             const Arguments arguments(*self.model, method, values, py::dict());
             return partition_values(self.model->program(), std::string(method.lowered->name.view()),
                                     arguments.values());
           })
      .def("_flat",
           [](const Method& self, const py::tuple& args) {
             const py::object& flatten = self.model->methods()[self.index].flatten;
             return flatten.is_none() ? args : py::tuple(flatten(args, py::dict()));
           })
      .def("_repeat",
           [](const Method& self, const py::tuple& values, std::size_t count) {
             if (self.running) repeat(self, values, count);
           })
      .def("_nodes",
           [](const Method& self) {
             return nodes_of(self.model->program().debug_map(), self.model->methods()[self.index].lowered->name);
           })
      .def("_hooks", [](const Method& self, py::object flatten, py::object unflatten) {
        PythonMethod& method = self.model->methods()[self.index];
        method.flatten = std::move(flatten);
        method.unflatten = std::move(unflatten);
      });

  py::class_<PythonSession> session(module, "Session", "A session: state and working memory of its own.");
  refuse_new(session, "a davit.Session is made by model.session() or session.fork()");
  session
      .def("__call__",
           [](const PythonSession& self, const py::args& args, const py::kwargs& kwargs) {
             return run(*self.model, self.running, self.model->main_method(), args, kwargs, false);
           })
      .def("lend",
           [](const PythonSession& self, const py::args& args, const py::kwargs& kwargs) {
             return run(*self.model, self.running, self.model->main_method(), args, kwargs, true);
           })
      .def("method", [](const PythonSession& self,
                        const py::str& name) { return Method{self.model, self.running, find(*self.model, name)}; })
      .def("fork", [](const PythonSession& self) { return PythonSession{self.model, fork(*self.running)}; })
      .def("rewind", [](const PythonSession& self, const py::str& counter,
                        std::int64_t length) { rewind(*self.running, utf8_of(counter, "rewind"), length); })
      .def("cancel", [](const PythonSession& self) { cancel(*self.running); })
      .def("_get_timeout",
           [](const PythonSession& self) {
             return self.running->timeout > 0 ? std::optional(self.running->timeout) : std::nullopt;
           })
      .def("_set_timeout",
           [](const PythonSession& self, const std::optional<double>& seconds) { set_timeout(*self.running, seconds); })
      .def("_signature", [](const PythonSession& self) { return text_of(signature(*self.model)); })
      .def("reset", [](const PythonSession& self) { reset(*self.running); })
      .def("_state_names", [](const PythonSession& self) { return names_of_state(*self.running); })
      .def("_get_state", [](const PythonSession& self,
                            const py::str& name) { return get_state(*self.running, utf8_of(name, "state")); })
      .def("_set_state", [](const PythonSession& self, const py::str& name,
                            const py::object& value) { set_state(*self.running, utf8_of(name, "state"), value); })
      .def("_state_bytes", [](const PythonSession& self) { return state_bytes(*self.running); })
      .def("_save_state",
           [](const PythonSession& self, const py::object& to) {
             const std::string path = path_of(to);
             const Hold hold(*self.running);
             value_of(formats::save_state(self.running->session, path));
           })
      .def("_load_state",
           [](const PythonSession& self, const py::object& from) { load_state(*self.running, source_of(from)); });

  py::class_<Model, std::shared_ptr<Model>> model(module, "Model", "A lowered program, ready to run.");
  refuse_new(model, "a davit.Model is made by davit.load() or davit.lower(), and shared by references");
  model
      .def("__call__",
           [](Model& self, const py::args& args, const py::kwargs& kwargs) {
             return run(self, nullptr, self.main_method(), args, kwargs, false);
           })
      .def("method", [](const std::shared_ptr<Model>& self,
                        const py::str& name) { return Method{self, nullptr, find(*self, name)}; })
      .def(
          "session",
          [](const std::shared_ptr<Model>& self, bool cancellable) {
            PythonSession made{self, self->session()};
            made.running->cancellable = cancellable;
            set_stop(*made.running);
            return made;
          },
          py::kw_only(), py::arg("cancellable") = false)
      .def("_main", [](const std::shared_ptr<Model>& self) { return Method{self, nullptr, self->main_method()}; })
      .def_property_readonly("methods", method_names)
      .def_property_readonly("signature", [](const Model& self) { return text_of(signature(self)); })
      .def_property_readonly("report", [](const Model& self) { return text_of(self.report); })
      .def_property_readonly("warnings",
                             [](const Model& self) {
                               py::list out;
                               for (const std::string& each : self.warnings) out.append(text_of(each));
                               return out;
                             })
      .def("_package", package_bytes)
      .def("_save", [](const Model& self, const py::object& to, bool debug_map) {
        const std::string path = path_of(to);
        const py::gil_scoped_release unlocked;
        value_of(formats::save_program(self.program(), path, {.debug_map = debug_map}));
      });
}

}  // namespace davit::python
