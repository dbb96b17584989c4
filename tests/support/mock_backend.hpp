// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backend/check_backend.hpp"
#include "davit/backend/contract.hpp"
#include "davit/core/bytes.hpp"

namespace davit::testing {

/// The behaviour of a mock_backend, and a record of its calls. The test owns it and points `mock_backend::script` at
/// it.
struct MockScript {
  /// @name Behaviour.
  bool available = true;
  std::optional<Error> preprocess_error;
  std::optional<Error> compile_error;
  std::optional<ErrorCode> fault;  ///< of execute
  DebugHandle fault_handle = no_debug_handle;
  std::string_view fault_text;
  Name blob{"blob"};             ///< the result of preprocess
  bool asks_for_handles = true;  ///< preprocess takes a debug handle for every node
  /// Fills the outputs; without it output i is input i.
  void (*run)(std::span<const EValue> inputs, std::span<EValue> outputs) = nullptr;

  /// @name Record.
  std::string log;  ///< names of the functions called, separated by a space
  std::vector<Name> compiled_specs;
  std::vector<Name> compiled_blobs;
  std::vector<EValue> inputs;              ///< of the last execute
  int handle = 0;                          ///< of the last execute: 10 for the first method compiled, then 20, ...
  std::vector<DebugHandle> debug_handles;  ///< of preprocess
  const void* program = nullptr;           ///< the last program of preprocess

  void note(std::string_view call) { (log += log.empty() ? "" : " ") += call; }
  /// The log since the last call of this function.
  [[nodiscard]] std::string take_log() { return std::exchange(log, {}); }
};

/// A scripted backend for tests of code that uses backends. Each `Tag` has its own script, which must be set while the
/// backend is in use. Not for use from several threads.
template <class Tag = void>
struct mock_backend {
  static constexpr std::string_view name = "mock";
  static inline MockScript* script = nullptr;

  struct CompileSpec {
    Name text;  ///< "opt_<method>" by convention
  };
  struct Processed {
    Name blob;
  };
  struct Handle {
    int number = 0;
  };

  [[nodiscard]] static bool is_available() {
    script->note("is_available");
    return script->available;
  }
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec&,
                                                    DebugHandleRecorder& debug_handles) {
    script->note("preprocess");
    script->program = method.program;
    if (script->asks_for_handles) script->debug_handles = debug_handles.handle_all();
    if (script->preprocess_error) return std::unexpected(*script->preprocess_error);
    return Processed{script->blob};
  }
  [[nodiscard]] static Result<Handle> compile(const Processed& processed, const CompileSpec& spec) {
    script->note("compile");
    if (script->compile_error) return std::unexpected(*script->compile_error);
    script->compiled_specs.push_back(spec.text);
    script->compiled_blobs.push_back(processed.blob);
    return Handle{10 * static_cast<int>(script->compiled_specs.size())};
  }
  template <Tracer T, class Report>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      ExecuteContext<T, Report>& context) {
    script->note("execute");
    script->handle = handle.number;
    script->inputs.assign(inputs.begin(), inputs.end());
    if (script->fault) return context.fail(*script->fault, script->fault_handle, script->fault_text);
    if (script->run != nullptr) {
      script->run(inputs, outputs);
    } else {
      for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = i < inputs.size() ? inputs[i] : EValue();
    }
    return {};
  }

  [[nodiscard]] static std::vector<std::byte> save(const Processed& processed) { return bytes_of(processed.blob); }
  [[nodiscard]] static Result<Processed> load(std::span<const std::byte> bytes) { return Processed{text_of(bytes)}; }
  [[nodiscard]] static std::vector<std::byte> save_spec(const CompileSpec& spec) { return bytes_of(spec.text); }
  [[nodiscard]] static Result<CompileSpec> load_spec(std::span<const std::byte> bytes) {
    return CompileSpec{text_of(bytes)};
  }

 private:
  [[nodiscard]] static std::vector<std::byte> bytes_of(std::string_view text) {
    ByteWriter out;
    out.text(text);
    return std::move(out).take();
  }
  [[nodiscard]] static Name text_of(std::span<const std::byte> bytes) { return Name::own(ByteReader(bytes).text()); }
};

static_assert(check_backend<mock_backend<>>() && SavesProcessed<mock_backend<>>);

}  // namespace davit::testing
