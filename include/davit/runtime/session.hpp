// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/copy_tensor.hpp"
#include "davit/lowering/lowered_module.hpp"
#include "davit/program/symbols.hpp"
#include "davit/runtime/check_values.hpp"
#include "davit/runtime/results.hpp"
#include "davit/runtime/scratch.hpp"

namespace davit {

/// A value passed by the name of its input.
struct NamedValue {
  std::string_view name;
  EValue value;
};

/// Runs a lowered module: owns the mutable state and the working memory, shares everything else.
///
/// Outputs of a run are views that hold until the next run of the session. Mutations of buffers and of user inputs are
/// written back at the end of a successful run; a failed run changes nothing. Not for use from several threads at once;
/// sessions of one module are independent of each other.
template <RuntimeBackend B, Tracer T = NullTracer>
class Session {
 public:
  explicit Session(LoweredModule<B> module, T tracer = {}) : module_(std::move(module)), tracer_(std::move(tracer)) {
    for (const NamedTensor& entry : module_.state()) {
      Tensor copy = Tensor::zeros(entry.tensor.dtype, entry.tensor.sizes);
      copy_tensor(entry.tensor.view(), copy.view());
      state_.push_back({entry.name, std::move(copy)});
    }
    for (const LoweredMethod<B>& method : module_.methods()) methods_.push_back(make_method(method));
  }
  Session(Session&&) = default;
  Session& operator=(Session&&) = default;

  [[nodiscard]] const LoweredModule<B>& module() const noexcept { return module_; }
  [[nodiscard]] T& tracer() noexcept { return tracer_; }
  /// The session's buffers, by name.
  [[nodiscard]] std::span<const NamedTensor> state() const noexcept { return state_; }

  /// Runs method `index` on its user inputs, in order. Answers all outputs, mutations included, in the graph's order.
  ///
  /// Errors: not_available; invalid_argument, invalid_dtype, invalid_shape for inputs that do not fit (before the backend
  /// sees them) and for outputs that do not; what the backend reports, with the model's source line.
  [[nodiscard]] Result<std::span<const EValue>> run(std::size_t index, std::span<const EValue> user_inputs) {
    MethodState& m = methods_[index];
    const LoweredMethod<B>& method = *m.method;
    if (!B::is_available()) [[unlikely]]
      return std::unexpected(detail::not_available<B>(Stage::execute));
    if (m.handle == nullptr) [[unlikely]]
      return std::unexpected(not_compiled(method));
    std::span<const EValue> inputs = user_inputs;
    if (m.gathers) {
      if (Result<void> gathered = gather(m, method, user_inputs); !gathered) return std::unexpected(std::move(gathered.error()));
      inputs = m.inputs;
    }
    if (!m.input_checks.match(inputs) || !m.ready) [[unlikely]] {
      if (Result<void> prepared = check_and_prepare(m, method, user_inputs, inputs); !prepared)
        return std::unexpected(std::move(prepared.error()));
    }
    for (EValue& output : m.outputs) output.clear();
    TextReport report;
    ExecuteContext<T, TextReport, workspace_of<B>> context(tracer_, report, m.workspace, m.scratch.span());
    const Status status = B::execute(*m.handle, inputs, std::span<EValue>(m.outputs), context);
    if (!status) [[unlikely]]
      return std::unexpected(explain_fault(status.error(), report));
    if (!m.output_checks.match(m.outputs)) [[unlikely]]
      if (Result<void> checked = check_values(method.name, B::name, "output", method.interface.outputs, m.outputs, m.symbols); !checked)
        return std::unexpected(std::move(checked.error()));
    if (m.writes_back) {
      if (Result<void> written = write_back(m, method, inputs); !written) return std::unexpected(std::move(written.error()));
    }
    return std::span<const EValue>(m.outputs);
  }

  /// Runs the method of that name. Inputs may also be given by name; inputs that the export fixed may be left out.
  [[nodiscard]] Result<std::span<const EValue>> run(std::string_view name, std::span<const EValue> args,
                                                    std::span<const NamedValue> kwargs = {}) {
    const Result<std::size_t> index = module_.find_method(name);
    if (!index) return std::unexpected(index.error());
    if (kwargs.empty()) return run(*index, args);
    Result<std::vector<EValue>> all = arrange(module_.methods()[*index], args, kwargs);
    if (!all) return std::unexpected(std::move(all.error()));
    return run(*index, *all);
  }

  /// Runs a method and converts its user outputs: a TensorView, int64_t, double, bool, string_view, std::optional of one, or
  /// a std::tuple of those (one element too). Errors as run(), and invalid_argument if the outputs are not of that type.
  template <class R, class... Args>
  [[nodiscard]] Result<R> call(std::string_view name, const Args&... args) {
    const EValue values[sizeof...(Args) + 1] = {EValue(args)...};
    const Result<std::size_t> index = module_.find_method(name);
    if (!index) return std::unexpected(index.error());
    Result<std::span<const EValue>> outputs = run(*index, std::span<const EValue>(values, sizeof...(Args)));
    if (!outputs) return std::unexpected(std::move(outputs.error()));
    return convert_outputs<R>(module_.methods()[*index].interface, *outputs);
  }

 private:
  struct MethodState {
    const LoweredMethod<B>* method = nullptr;         ///< of the module, which the session shares
    const typename B::Handle* handle = nullptr;       ///< nullptr if the method was not compiled
    bool gathers = false;      ///< inputs are more than what the caller passes
    bool writes_back = false;
    bool ready = false;
    PortChecks input_checks;
    PortChecks output_checks;
    std::vector<EValue> inputs;
    std::vector<EValue> outputs;
    std::vector<std::uint32_t> state_of_input;     ///< per input: index into state_, or no_id
    std::vector<std::uint32_t> state_of_output;    ///< per output: the state it replaces, or no_id
    std::vector<std::uint32_t> input_of_output;    ///< per output: the user input it replaces, or no_id
    std::vector<std::int64_t> prepared_sizes;
    std::vector<Tensor> copies;                    ///< outputs that viewed what a write-back changed
    SymbolValues symbols;
    workspace_of<B> workspace{};
    Scratch scratch;
  };

  [[nodiscard]] std::uint32_t find_state(std::string_view name) const noexcept {
    for (std::uint32_t i = 0; i < state_.size(); ++i)
      if (state_[i].name == name) return i;
    return no_id;
  }

  [[nodiscard]] MethodState make_method(const LoweredMethod<B>& method) const {
    MethodState m;
    m.method = &method;
    m.handle = method.handle ? &*method.handle : nullptr;
    const MethodInterface& interface = method.interface;
    m.inputs.resize(interface.inputs.size());
    m.outputs.resize(interface.outputs.size());
    for (const InputPort& port : interface.inputs) {
      m.state_of_input.push_back(port.role == InputRole::state ? find_state(port.target) : no_id);
      m.gathers = m.gathers || port.role == InputRole::state || port.constant.has_value();
      m.input_checks.add(port.type, port.constant.has_value());
    }
    for (const OutputPort& port : interface.outputs) {
      std::uint32_t state = no_id;
      std::uint32_t input = no_id;
      if (port.kind == OutputKind::buffer_mutation || port.kind == OutputKind::parameter_mutation) state = find_state(port.target);
      if (port.kind == OutputKind::user_input_mutation)
        for (std::uint32_t i = 0; i < interface.inputs.size(); ++i)
          if (interface.inputs[i].role == InputRole::user && interface.inputs[i].name == port.target) input = i;
      m.state_of_output.push_back(state);
      m.input_of_output.push_back(input);
      m.writes_back = m.writes_back || state != no_id || input != no_id;
      m.output_checks.add(port.type, false);
    }
    m.symbols = SymbolValues(interface.exprs);
    return m;
  }

  /// Puts state and fixed inputs between what the caller passes.
  [[nodiscard]] Result<void> gather(MethodState& m, const LoweredMethod<B>& method, std::span<const EValue> user) const {
    const std::vector<InputPort>& ports = method.interface.inputs;
    std::size_t wanted = 0;
    std::size_t fixed = 0;
    for (const InputPort& port : ports) {
      wanted += port.role == InputRole::user ? 1 : 0;
      fixed += port.constant ? 1 : 0;
    }
    const bool omits_fixed = user.size() + fixed == wanted;
    if (user.size() != wanted && !omits_fixed) return std::unexpected(wrong_count(method, user.size()));
    std::size_t next = 0;
    for (std::size_t i = 0; i < ports.size(); ++i) {
      if (m.state_of_input[i] != no_id) {
        m.inputs[i] = EValue(state_[m.state_of_input[i]].tensor.view());
      } else if (ports[i].constant && omits_fixed) {
        m.inputs[i] = constant_value(*ports[i].constant);
      } else {
        m.inputs[i] = user[next++];
        if (ports[i].constant && !same_constant(m.inputs[i], *ports[i].constant))
          return std::unexpected(Error{.code = ErrorCode::invalid_argument, .stage = Stage::execute, .backend = B::name,
                                       .where = concat("argument '", ports[i].name, "' of ", method.name, "()"),
                                       .what = "the program was exported for one value of this argument, and this is another",
                                       .fix = "leave the argument out, or export the program for the value you need"});
      }
    }
    return {};
  }

  /// Puts inputs given by name where they belong.
  [[nodiscard]] static Result<std::vector<EValue>> arrange(const LoweredMethod<B>& method, std::span<const EValue> args,
                                                           std::span<const NamedValue> kwargs) {
    std::vector<EValue> all;
    std::vector<bool> taken(kwargs.size(), false);
    const auto bad = [&](ErrorCode code, Name what) {
      return std::unexpected(Error{.code = code, .stage = Stage::execute, .backend = B::name, .what = std::move(what),
                                   .fix = concat("call it as ", detail::signature_of(method.name, method.interface))});
    };
    for (const InputPort& port : method.interface.inputs) {
      if (port.role != InputRole::user) continue;
      const bool positional = all.size() < args.size();
      const EValue* given = positional ? &args[all.size()] : nullptr;
      for (std::size_t k = 0; k < kwargs.size(); ++k) {
        if (kwargs[k].name != port.name) continue;
        if (given != nullptr) return bad(ErrorCode::invalid_argument, concat(method.name, "() got two values for argument '", port.name, "'"));
        given = &kwargs[k].value;
        taken[k] = true;
      }
      if (given == nullptr && port.constant) {
        all.push_back(constant_value(*port.constant));
      } else if (given == nullptr) {
        return bad(ErrorCode::invalid_argument, concat(method.name, "() is missing value for argument '", port.name, "'"));
      } else {
        all.push_back(*given);
      }
    }
    if (args.size() > all.size())
      return bad(ErrorCode::invalid_argument, concat(method.name, "() expected at most ", all.size(), " argument(s) but received ", args.size()));
    for (std::size_t k = 0; k < kwargs.size(); ++k)
      if (!taken[k]) return bad(ErrorCode::invalid_argument, concat(method.name, "() has no argument '", kwargs[k].name, "'"));
    return all;
  }

  /// The slow path: says what does not fit, follows dynamic sizes, and sizes the working memory when they changed.
  [[nodiscard]] Result<void> check_and_prepare(MethodState& m, const LoweredMethod<B>& method, std::span<const EValue> user,
                                               std::span<const EValue> inputs) {
    if (inputs.size() != method.interface.inputs.size()) return std::unexpected(wrong_count(method, user.size()));
    m.symbols.reset();
    m.symbols.settle();
    if (Result<void> checked = check_values(method.name, B::name, "argument", method.interface.inputs, inputs, m.symbols); !checked)
      return checked;
    if (Result<void> bound = bind_symbols(method.name, B::name, method.interface, inputs, m.symbols); !bound) return bound;
    if (Result<void> checked = check_values(method.name, B::name, "argument", method.interface.inputs, inputs, m.symbols); !checked)
      return checked;
    if (m.ready && !sizes_changed(m, inputs)) return {};
    m.ready = false;
    if constexpr (Prepares<B>) {
      Result<std::size_t> bytes = B::prepare(*method.handle, inputs, m.workspace);
      if (!bytes) return std::unexpected(std::move(bytes.error()));
      if (!m.scratch.reserve(*bytes))
        return std::unexpected(Error{.code = ErrorCode::out_of_memory, .stage = Stage::execute, .backend = B::name,
                                     .where = concat("method '", method.name, "'"),
                                     .what = concat("no memory for ", *bytes, " bytes of scratch"),
                                     .fix = "run with smaller inputs"});
    }
    (void)sizes_changed(m, inputs);
    m.ready = true;
    return {};
  }

  /// True if an input's sizes are not those of the last call of this function; remembers them.
  [[nodiscard]] static bool sizes_changed(MethodState& m, std::span<const EValue> inputs) {
    bool changed = false;
    std::size_t at = 0;
    for (const EValue& input : inputs) {
      if (!input.is_tensor()) continue;
      for (const std::int64_t size : input.tensor().sizes()) {
        if (at == m.prepared_sizes.size()) {
          m.prepared_sizes.push_back(size);
          changed = true;
        }
        changed = changed || m.prepared_sizes[at] != size;
        m.prepared_sizes[at++] = size;
      }
    }
    return changed;
  }

  [[nodiscard]] static Error wrong_count(const LoweredMethod<B>& method, std::size_t given) {
    std::size_t wanted = 0;
    const InputPort* missing = nullptr;
    for (const InputPort& port : method.interface.inputs) {
      if (port.role != InputRole::user) continue;
      if (wanted++ == given) missing = &port;
    }
    return Error{.code = ErrorCode::invalid_argument, .stage = Stage::execute, .backend = B::name,
                 .what = missing != nullptr
                             ? concat(method.name, "() is missing value for argument '", missing->name, "'")
                             : concat(method.name, "() expected at most ", wanted, " argument(s) but received ", given),
                 .fix = concat("call it as ", detail::signature_of(method.name, method.interface))};
  }
  [[nodiscard]] static Error not_compiled(const LoweredMethod<B>& method) {
    return Error{.code = ErrorCode::not_available, .stage = Stage::execute, .backend = B::name,
                 .what = concat("method '", method.name, "' was lowered while backend ", B::name, " was not available, and so is not compiled"),
                 .fix = "save the module and load it where the backend is available"};
  }
  [[nodiscard]] Error explain_fault(Fault fault, const TextReport& report) const {
    return module_.debug_map().explain(Error{.code = fault.code(), .stage = Stage::execute, .debug_handle = fault.debug_handle(),
                                             .backend = B::name, .what = report.text});
  }

  /// Where output i is written back to, or none.
  [[nodiscard]] EValue destination(const MethodState& m, std::size_t i, std::span<const EValue> inputs) const noexcept {
    if (m.state_of_output[i] != no_id) return EValue(state_[m.state_of_output[i]].tensor.view());
    if (m.input_of_output[i] != no_id) return inputs[m.input_of_output[i]];
    return {};
  }

  /// Copies mutations to the state and to user inputs. Outputs that view what is about to change are copied first.
  [[nodiscard]] Result<void> write_back(MethodState& m, const LoweredMethod<B>& method, std::span<const EValue> inputs) {
    const auto misfit = [&](std::size_t i) {
      return std::unexpected(Error{.code = ErrorCode::invalid_shape, .stage = Stage::execute, .backend = B::name,
                                   .where = concat("output '", method.interface.outputs[i].name, "' of ", method.name, "()"),
                                   .what = concat("the new value of '", method.interface.outputs[i].target,
                                                  "' has other sizes or another dtype than it"),
                                   .fix = "export the program again"});
    };
    m.copies.clear();
    for (std::size_t i = 0; i < m.outputs.size(); ++i) {
      const EValue to = destination(m, i, inputs);
      if (!to.is_tensor()) continue;
      if (!m.outputs[i].is_tensor() || m.outputs[i].tensor().dtype != to.tensor().dtype ||
          !std::ranges::equal(m.outputs[i].tensor().sizes(), to.tensor().sizes()))
        return misfit(i);
      for (std::size_t k = 0; k < m.outputs.size(); ++k) {
        if (!m.outputs[k].is_tensor()) continue;
        if (!overlap(footprint(m.outputs[k].tensor()), footprint(to.tensor()))) continue;
        Tensor copy = Tensor::zeros(m.outputs[k].tensor().dtype, m.outputs[k].tensor().sizes());
        copy_tensor(m.outputs[k].tensor(), copy.view());
        m.copies.push_back(std::move(copy));
        m.outputs[k] = EValue(m.copies.back().view());
      }
    }
    for (std::size_t i = 0; i < m.outputs.size(); ++i)
      if (const EValue to = destination(m, i, inputs); to.is_tensor()) copy_tensor(m.outputs[i].tensor(), to.tensor());
    return {};
  }

  LoweredModule<B> module_;
  T tracer_;
  std::vector<NamedTensor> state_;
  std::vector<MethodState> methods_;
};

}  // namespace davit
