// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/config.hpp"
#include "davit/lowering/lowered_program.hpp"
#include "davit/runtime/named_value.hpp"
#include "davit/runtime/program_plan.hpp"
#include "davit/runtime/results.hpp"
#include "davit/runtime/run_limits.hpp"

namespace davit {

/// How a session runs.
struct SessionOptions {
  RunLimits limits{};
  std::optional<TracerRef> tracer{};  ///< receives the events of every run; it must outlive the session
};

/// Runs a lowered program: owns the mutable state and the working memory, shares everything else.
///
/// Outputs of a run are views that hold until the next run. Mutations of buffers and of user inputs are written back at the
/// end of a successful run; a failed one leaves them alone. Not for use from several threads at once; sessions of one
/// program are independent of each other. No heap memory is taken in steady state if all shapes are static.
class Session {
 public:
  /// Errors: out_of_memory for the state.
  [[nodiscard]] static Result<Session> make(LoweredProgram program, SessionOptions options = {});

  [[nodiscard]] const LoweredProgram& program() const noexcept;
  /// The session's buffers, by name.
  [[nodiscard]] std::span<const NamedTensor> state() const noexcept;
  /// Where the values and the scratch of method `index` lie; without sizes until its first run. A partition whose backend
  /// does not fill destinations, or whose sizes depend on data, keeps memory of its own and is not in it.
  [[nodiscard]] const ProgramPlan& plan(std::size_t index) const noexcept;

  /// Runs method `index` on its user inputs, in order. Answers all outputs of the program, mutations included, in its order.
  ///
  /// Errors: not_available; invalid_argument, invalid_dtype, invalid_shape for inputs that do not fit (before anything
  /// runs) and for what a backend answers; out_of_range for a loop without end; what a backend reports, with source line.
  [[nodiscard]] Result<std::span<const EValue>> run(std::size_t index, std::span<const EValue> user_inputs);

  /// Runs the method of that name. Inputs may also be given by name; inputs that the export fixed may be left out.
  [[nodiscard]] Result<std::span<const EValue>> run(std::string_view name, std::span<const EValue> args,
                                                    std::span<const NamedValue> kwargs = {});

  /// Runs a method and converts its user outputs: a TensorView, int64_t, double, bool, string_view, std::optional of one, or
  /// a std::tuple of those (one element too). Errors as run(), and invalid_argument if the outputs are not of that type.
  template <class R, class... Args>
  [[nodiscard]] Result<R> call(std::string_view name, const Args&... args) {
    const EValue values[sizeof...(Args) + 1] = {EValue(args)...};
    const Result<std::size_t> index = program().find_method(name);
    if (!index) return std::unexpected(index.error());
    Result<std::span<const EValue>> outputs = run(*index, std::span<const EValue>(values, sizeof...(Args)));
    if (!outputs) return std::unexpected(std::move(outputs.error()));
    return convert_outputs<R>(program().methods()[*index].interface, *outputs);
  }

 private:
  struct State;
  struct Free {
    void operator()(State* state) const noexcept;
  };
  explicit Session(std::unique_ptr<State, Free> state) noexcept : state_(std::move(state)) {}
  std::unique_ptr<State, Free> state_;
};

}  // namespace davit

#if !defined(DAVIT_COMPILED)
#include "davit/runtime/impl/session.ipp"
#endif
