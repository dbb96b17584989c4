// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/to_backend.hpp"
#include "davit/program/graph_equal.hpp"
#include "davit/runtime/session.hpp"

// The laws of a backend. A type that has the functions of the contract is a backend only if it keeps them too:
//
//  available    is_available() answers the same while the machine stays the same.
//  lowers       the program given is one the backend takes; what `refuses` takes and what preprocess takes agree.
//  pure         preprocess leaves the program as it was, and makes the same bytes from the same method and spec.
//  compile      compile is a function of processed and spec: two handles give the same results.
//  functional   execute is a function of handle and inputs: the same inputs give the same outputs, now and later.
//  inputs       execute leaves its inputs as they were (mutations are outputs; the session writes them back).
//  outputs      as many outputs as the program declares, of its kinds, dtypes and sizes.
//  destination  an output that comes with a destination is filled or replaced; the result is the same.
//  checked      inputs of wrong number, kind, dtype or rank are an Error before execute, and do no harm.
//  sessions     sessions of one module do not see each other.
//  saved        load(save(processed)) gives the same results and the same bytes; the debug map is not needed.
//  damaged      truncated bytes give an Error or a handle, never a crash.
//  handles      every debug handle in an event is known to the map; begin and end come in pairs.
//  tracer       a tracer changes no result.

namespace davit::testing {

/// A law that did not hold, and how.
struct LawViolation {
  std::string_view law;
  Name what;
};

/// User inputs of one call of a program's "forward".
using SampleInputs = std::span<const EValue>;

namespace detail {

/// A copy of values that passed through a call, to compare with later.
class Snapshot {
 public:
  Snapshot() = default;
  explicit Snapshot(std::span<const EValue> values) {
    for (const EValue& value : values) add(value);
  }
  friend bool operator==(const Snapshot&, const Snapshot&) = default;

 private:
  void add(const EValue& value) {
    put(static_cast<std::uint64_t>(value.tag()));
    if (value.is_int()) put(static_cast<std::uint64_t>(value.as_int()));
    if (value.is_float()) put(std::bit_cast<std::uint64_t>(value.as_float()));
    if (value.is_bool()) put(value.as_bool() ? 1 : 0);
    if (value.is_string()) put(std::as_bytes(std::span(value.as_string())));
    if (value.is_list())
      for (const EValue& item : value.as_list()) add(item);
    if (!value.is_tensor()) return;
    const TensorView& t = value.tensor();
    put(static_cast<std::uint64_t>(t.dtype));
    put(std::as_bytes(t.sizes()));
    const Tensor flat = Tensor::zeros(t.dtype, t.sizes());
    copy_tensor(t, flat.view());
    put({flat.storage.data(), flat.storage.size()});
  }
  void put(std::uint64_t number) {
    bytes_.resize(bytes_.size() + sizeof number);
    std::memcpy(bytes_.data() + bytes_.size() - sizeof number, &number, sizeof number);
  }
  void put(std::span<const std::byte> part) {
    put(part.size());
    bytes_.insert(bytes_.end(), part.begin(), part.end());
  }
  std::vector<std::byte> bytes_;
};

/// Counts events and remembers their handles.
struct LawTracer {
  static constexpr bool enabled = true;
  std::vector<DebugHandle> open;
  std::vector<DebugHandle> handles;
  bool paired = true;
  void begin_op(DebugHandle handle, std::string_view) {
    open.push_back(handle);
    handles.push_back(handle);
  }
  void end_op(DebugHandle handle, std::string_view) {
    paired = paired && !open.empty() && open.back() == handle;
    if (!open.empty()) open.pop_back();
  }
  void memory(DebugHandle handle, std::size_t) { handles.push_back(handle); }
};
static_assert(Tracer<LawTracer>);

/// Checks the laws of B on one program.
template <Backend B>
class LawChecker {
 public:
  LawChecker(const ExportedProgram& program, const typename B::CompileSpec& spec, std::span<const SampleInputs> samples)
      : program_(program), spec_(spec), samples_(samples) {}

  std::vector<LawViolation> run() {
    if (B::is_available() != B::is_available()) broken("available", "two calls of is_available() differ");
    if (!B::is_available()) {
      broken("available", "the backend is not available, so that nothing else can be checked");
      return std::move(violations_);
    }
    const GraphModule before = program_.graph_module;
    Result<LoweredModule<B>> lowered = to_backend<B>(program_, spec_);
    selection(lowered.has_value());
    if (!lowered) {
      broken("lowers", to_name(lowered.error()));
      return std::move(violations_);
    }
    if (!graph_equal(before.view(), program_.view(), {.metadata = true}))
      broken("pure", "preprocess changed the program");
    if (!expectations(*lowered)) return std::move(violations_);
    compile_twice(*lowered);
    sessions(*lowered);
    wrong_inputs(*lowered);
    direct_calls(*lowered);
    traced(*lowered);
    if constexpr (SavesProcessed<B>) saved(*lowered);
    return std::move(violations_);
  }

 private:
  template <class... Parts>
  void broken(std::string_view law, const Parts&... what) {
    violations_.push_back({law, concat(what...)});
  }

  void selection(bool lowers) {
    if constexpr (SelectsNodes<B>) {
      const char* reason = nullptr;
      for (NodeId id = 0; id < program_.view().nodes.size(); ++id)
        if (reason == nullptr) reason = B::refuses(program_.view(), id);
      if (lowers && reason != nullptr) broken("lowers", "preprocess took a node that refuses() refuses: ", reason);
      if (!lowers && reason == nullptr) broken("lowers", "refuses() takes every node, but preprocess failed");
    }
  }

  /// What a fresh session answers, call by call: every other way of running must give the same.
  bool expectations(const LoweredModule<B>& module) {
    Session<B> session(module);
    for (const SampleInputs& sample : samples_) {
      const Snapshot inputs(sample);
      Result<std::span<const EValue>> outputs = session.run(0, sample);
      if (!outputs) {
        broken("outputs", "a sample did not run: ", to_name(outputs.error()));
        return false;
      }
      expected_.emplace_back(*outputs);
      if (!mutates_inputs() && Snapshot(sample) != inputs) broken("inputs", "execute changed its inputs");
    }
    return true;
  }
  [[nodiscard]] bool mutates_inputs() const {
    return std::ranges::any_of(program_.signature.output_specs,
                               [](const OutputSpec& s) { return kind(s) == OutputKind::user_input_mutation; });
  }

  /// Runs every sample in a new session and compares. User inputs that the program changes make samples differ:
  /// skipped.
  template <class Module>
  void same_results(std::string_view law, const Module& module, std::string_view how) {
    if (mutates_inputs()) return;
    Session<B> session(module);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      Result<std::span<const EValue>> outputs = session.run(0, samples_[i]);
      if (!outputs) return broken(law, how, ": ", to_name(outputs.error()));
      if (Snapshot(*outputs) != expected_[i]) return broken(law, how, ": sample ", i, " gave another result");
    }
  }

  void compile_twice(const LoweredModule<B>& module) {
    const LoweredMethod<B>& method = module.methods()[0];
    auto parts = std::make_shared<typename LoweredModule<B>::Parts>();
    parts->methods.push_back({method.name, method.spec, method.interface, method.processed, std::nullopt});
    parts->state.assign(module.state().begin(), module.state().end());
    Result<typename B::Handle> handle = B::compile(method.processed, method.spec);
    if (!handle) return broken("compile", "a second compile failed: ", to_name(handle.error()));
    parts->methods[0].handle.emplace(std::move(*handle));
    same_results("compile", LoweredModule<B>(std::move(parts), module.shared_debug_map()), "a second handle");
  }

  void sessions(const LoweredModule<B>& module) {
    if (mutates_inputs()) return;
    same_results("functional", module, "a second session");
    Session<B> one(module);
    Session<B> other(module);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      Result<std::span<const EValue>> outputs = one.run(0, samples_[i]);
      (void)other.run(0, samples_[samples_.size() - 1 - i]);
      if (!outputs) return broken("sessions", to_name(outputs.error()));
      if (Snapshot(*outputs) != expected_[i]) broken("sessions", "sample ", i, " changed when another session ran");
    }
    if (!module.state().empty()) return;  // with state, results depend on the calls before
    for (std::size_t i = samples_.size(); i-- > 0;) {
      Result<std::span<const EValue>> outputs = one.run(0, samples_[i]);
      if (!outputs || Snapshot(*outputs) != expected_[i])
        broken("functional", "sample ", i, " gave another result later");
    }
  }

  void wrong_inputs(const LoweredModule<B>& module) {
    if (samples_.empty()) return;
    Session<B> session(module);
    const auto refused = [&](std::span<const EValue> inputs, std::string_view how) {
      const Result<std::span<const EValue>> outputs = session.run(0, inputs);
      if (outputs) return broken("checked", how, " was accepted");
      const ErrorCode code = outputs.error().code;
      if (code != ErrorCode::invalid_argument && code != ErrorCode::invalid_dtype && code != ErrorCode::invalid_shape)
        broken("checked", how, " gave ", name_of(code));
    };
    std::vector<EValue> inputs(samples_[0].begin(), samples_[0].end());
    inputs.emplace_back(std::int64_t{1});
    refused(inputs, "one input too many");
    inputs.pop_back();
    const std::int64_t sizes[max_rank] = {};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].is_tensor()) continue;
      const EValue right = inputs[i];
      inputs[i] = EValue("text");
      refused(inputs, "a str for a tensor");
      TensorView wrong = right.tensor();
      wrong.dtype = wrong.dtype == ScalarType::uint8 ? ScalarType::int8 : ScalarType::uint8;
      inputs[i] = wrong;
      refused(inputs, "another dtype");
      wrong = right.tensor();
      wrong.rank = wrong.rank == 0 ? 1 : 0;
      if (wrong.rank == 1) wrong.sizes_data = wrong.strides_data = sizes;
      inputs[i] = wrong;
      refused(inputs, "another rank");
      inputs[i] = right;
    }
    if (mutates_inputs() || !module.state().empty()) return;
    Result<std::span<const EValue>> outputs = session.run(0, samples_[0]);
    if (!outputs || Snapshot(*outputs) != expected_[0])
      broken("checked", "after wrong inputs, right ones gave another result");
  }

  /// Calls execute itself, with and without destinations, for methods without state.
  void direct_calls(const LoweredModule<B>& module) {
    const LoweredMethod<B>& method = module.methods()[0];
    for (const InputPort& port : method.interface.inputs)
      if (port.role != InputRole::user || port.constant) return;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      for (const bool with_destinations : {false, true}) {
        workspace_of<B> workspace{};
        Scratch scratch;
        if constexpr (Prepares<B>) {
          Result<std::size_t> bytes = B::prepare(*method.handle, samples_[i], workspace);
          if (!bytes) return broken("outputs", "prepare: ", to_name(bytes.error()));
          (void)scratch.reserve(*bytes);
        }
        const Snapshot inputs(samples_[i]);
        std::vector<EValue> outputs(method.interface.outputs.size());
        std::vector<Tensor> destinations;
        destinations.reserve(outputs.size());
        for (std::size_t k = 0; with_destinations && k < outputs.size(); ++k) {
          const PortType& type = method.interface.outputs[k].type;
          if (type.tag != EValue::Tag::tensor || !std::ranges::all_of(type.dims, &Dim::is_static)) continue;
          std::vector<std::int64_t> sizes;
          for (const Dim& d : type.dims) sizes.push_back(d.value);
          destinations.push_back(Tensor::zeros(type.dtype, sizes));
          outputs[k] = destinations.back().view();
        }
        NullTracer tracer;
        NoReport report;
        ExecuteContext<NullTracer, NoReport, workspace_of<B>> context(tracer, report, workspace, scratch.span());
        const Status status = B::execute(*method.handle, samples_[i], std::span<EValue>(outputs), context);
        if (!status) return broken("functional", "execute without a session failed: ", name_of(status.error().code()));
        if (Snapshot(samples_[i]) != inputs) broken("inputs", "execute changed its inputs");
        if (!mutates_inputs() && Snapshot(outputs) != expected_[i])
          broken(with_destinations ? "destination" : "functional", "execute without a session gave another result");
      }
    }
  }

  void traced(const LoweredModule<B>& module) {
    if (mutates_inputs()) return;
    Session<B, LawTracer> session(module);
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      Result<std::span<const EValue>> outputs = session.run(0, samples_[i]);
      if (!outputs || Snapshot(*outputs) != expected_[i]) broken("tracer", "sample ", i, " gave another result");
    }
    if (!session.tracer().paired || !session.tracer().open.empty())
      broken("handles", "begin_op and end_op are no pairs");
    DebugInfo info;
    for (const DebugHandle handle : session.tracer().handles)
      if (handle != no_debug_handle && !module.debug_map().find(handle, info))
        return broken("handles", "an event has the unknown debug handle ", handle);
  }

  void saved(const LoweredModule<B>& module) {
    const std::vector<std::byte> bytes = save_module(module);
    Result<LoweredModule<B>> again = to_backend<B>(program_, spec_);
    if (!again || save_module(*again) != bytes) broken("pure", "lowering twice gave different bytes");
    Result<LoweredModule<B>> loaded = load_module<B>(bytes);
    if (!loaded) return broken("saved", "what was saved does not load: ", to_name(loaded.error()));
    if (save_module(*loaded) != bytes) broken("saved", "what was loaded saves as other bytes");
    same_results("saved", *loaded, "a loaded module");
    const std::vector<std::byte> blob = B::save(module.methods()[0].processed);
    const std::size_t step = std::max<std::size_t>(1, blob.size() / 64);
    for (std::size_t size = 0; size < blob.size(); size += step) {
      const std::vector<std::byte> part(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(size));
      Result<typename B::Processed> processed = B::load(part);
      if (processed) (void)B::compile(*processed, spec_);  // must return
    }
  }

  const ExportedProgram& program_;
  const typename B::CompileSpec& spec_;
  std::span<const SampleInputs> samples_;
  std::vector<Snapshot> expected_;
  std::vector<LawViolation> violations_;
};

}  // namespace detail

/// Checks the laws of backend B on a program with one method, called with each of the samples in turn. Returns what did
/// not hold; an empty list is what you want. Choose programs that together use all the backend can do.
/// Cost: about ten runs of each sample.
template <Backend B>
[[nodiscard]] std::vector<LawViolation> check_backend_laws(const ExportedProgram& program,
                                                           const typename B::CompileSpec& spec,
                                                           std::span<const SampleInputs> samples) {
  return detail::LawChecker<B>(program, spec, samples).run();
}

/// The same; calls `report(law, what)` for each violation. True if all laws hold.
template <Backend B, class Report>
bool check_backend_laws(const ExportedProgram& program, const typename B::CompileSpec& spec,
                        std::span<const SampleInputs> samples, Report&& report) {
  const std::vector<LawViolation> violations = check_backend_laws<B>(program, spec, samples);
  for (const LawViolation& violation : violations) report(violation.law, violation.what.view());
  return violations.empty();
}

}  // namespace davit::testing
