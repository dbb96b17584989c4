// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "davit/backend/stop_condition.hpp"
#include "davit/core/config.hpp"
#include "davit/core/limits.hpp"
#include "davit/lowered/lowered_program.hpp"
#include "davit/runtime/named_value.hpp"
#include "davit/runtime/outputs.hpp"
#include "davit/runtime/program_plan.hpp"
#include "davit/runtime/results.hpp"

namespace davit {

namespace detail {

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<Result<T>> = true;

/// True if T converts to an EValue, or is a Result of such a type.
template <class T>
[[nodiscard]] consteval bool is_argument() {
  if constexpr (is_result<T>) {
    return std::is_convertible_v<const typename T::value_type&, EValue>;
  } else {
    return std::is_convertible_v<const T&, EValue>;
  }
}
/// True if the arguments are lists of values, not the values themselves.
template <class... Args>
inline constexpr bool are_lists = false;
template <class First, class... Rest>
inline constexpr bool are_lists<First, Rest...> = std::is_convertible_v<const First&, std::span<const EValue>>;

/// Converts arguments to values. Returns the first Error among them.
template <class... Args>
[[nodiscard]] Result<std::array<EValue, sizeof...(Args)>> values_of(const Args&... args) {
  static_assert((is_argument<Args>() && ...),
                "davit: an argument of run is no value: pass tensors (davit::tensor(elements, sizes) of a span or a "
                "vector), numbers, "
                "bools or text");
  if constexpr ((is_argument<Args>() && ...)) {
    [[maybe_unused]] const Error* failed = nullptr;
    [[maybe_unused]] const auto look = []<class T>(const T& arg) -> const Error* {
      if constexpr (is_result<T>)
        if (!arg) return &arg.error();
      return nullptr;
    };
    if ((((failed = look(args)) != nullptr) || ...)) return std::unexpected(*failed);
    [[maybe_unused]] const auto value = []<class T>(const T& arg) {
      if constexpr (is_result<T>) {
        return EValue(*arg);
      } else {
        return EValue(arg);
      }
    };
    return std::array<EValue, sizeof...(Args)>{value(args)...};
  }
}

}  // namespace detail

/// Options of a session.
struct SessionOptions {
  Limits limits{};
  std::optional<TracerRef> tracer{};  ///< receives the events of every run; must outlive the session
};

/// Runs a lowered program: owns the mutable state and the working memory, shares everything else.
///
/// A session is a value: its state can be saved (formats::save_state), loaded, forked and rewound. A session that has
/// been moved from runs nothing: its functions return the Error not_available, or do nothing; program(), plan() and
/// run(index) assert.
///
/// Outputs are views. They are valid until the next run and while the session lives; an output that is an argument, or
/// a view of one, also only while the argument lives. Output::clone copies. A successful run writes mutations of
/// buffers and user inputs back at its end; a failed run changes neither. A session must not run in several threads at
/// once, and not from a tracer or backend of its own run. Sessions of one program are independent. If all shapes are
/// static, runs allocate no heap memory in steady state.
class Session {
 public:
  /// Makes a session of `program` with the state that the program was exported or saved with. Errors: out_of_memory,
  /// also if the state exceeds the limits.
  [[nodiscard]] static Result<Session> make(LoweredProgram program, SessionOptions options = {});
  /// Rejects a Result at compile time, with a message.
  template <class R>
    requires std::same_as<R, Result<LoweredProgram>>
  [[nodiscard]] static Result<Session> make(const R&, SessionOptions = {}) {
    static_assert(!std::same_as<R, Result<LoweredProgram>>,
                  "davit: Session::make takes a lowered program, and this is a davit::Result, which may hold an Error; "
                  "check it, then pass *lowered, "
                  "or pass davit::value_or_exit(lowered)");
    return std::unexpected(Error{});
  }

  Session(Session&& other) noexcept;
  Session& operator=(Session&& other) noexcept;
  ~Session();

  [[nodiscard]] const LoweredProgram& program() const noexcept;
  /// Returns the session's buffers with their names, for reading: load_state() writes them. The memory of a buffer may
  /// change in the first run after fork().
  [[nodiscard]] std::span<const NamedTensor> state() const noexcept;
  /// Resets the buffers to their initial values, as in a new session of the program. Call it between runs. O(bytes of
  /// state). Errors, with the state as before: out_of_memory where a fork shares a buffer; not_available.
  Result<void> reset() noexcept;
  /// Sets every buffer to the value of its name in `values`; other entries are ignored. Outputs of the last run that
  /// view state show the new values, unless a fork shares them.
  ///
  /// Errors leave the state as it was: not_found for a buffer without a value; invalid_dtype, invalid_shape for a value
  /// whose dtype or sizes differ from the buffer's; out_of_memory; invalid_argument while the session runs;
  /// not_available. O(bytes of state). Source: torch.nn.Module.load_state_dict.
  [[nodiscard]] Result<void> load_state(std::span<const NamedTensor> values);

  /// Returns a second session of the program that begins with a copy of the state. Buffers are copied on write: both
  /// share the memory of a buffer until a run of one replaces the buffer's value (then it copies all of the buffer,
  /// once), or until reset or load_state.
  ///
  /// The fork has the session's limits, and neither its tracer nor its stop condition. Both may run in different
  /// threads at once. Errors: out_of_memory; invalid_argument while the session runs; not_available. O(methods and
  /// partitions); no byte of state is copied.
  [[nodiscard]] Result<Session> fork() const;
  /// Returns the bytes of state that forks, or tensors copied from state(), share with the session: the bytes that
  /// further writes may copy. O(buffers).
  [[nodiscard]] std::size_t shared_state_bytes() const noexcept;

  /// Sets a counter of the program to an earlier value: the buffer that holds the length of its KV cache. The rows
  /// behind it stay, and the next tokens overwrite them.
  ///
  /// For a program that counts in a buffer. One with positions as an input needs no call: run it with an earlier
  /// position. `counter` is an integer buffer; each of its elements (sequences of a batch) becomes `length`. Errors:
  /// not_found, with the integer buffers; invalid_dtype if it holds no integers; out_of_range if `length` is negative,
  /// or larger than an element; out_of_memory; invalid_argument while the session runs; not_available.
  [[nodiscard]] Result<void> rewind(std::string_view counter, std::int64_t length);

  /// Sets the condition under which later runs end early, with the Error cancelled and the state as before;
  /// StopCondition() removes it. A run tests it before each node of portable, oneDNN and XNNPACK, before each partition
  /// of another backend, and in each iteration of a loop. A session without a condition runs the same instructions as
  /// before, besides one test per node. Call it between runs. O(partitions).
  void stop_when(const StopCondition& condition) noexcept;

  /// Returns the memory plan of method `index` of program().methods(). Sizes are 0 before its first run. Partitions
  /// that own their memory are not in it: the backend does not fill destinations, or sizes depend on data.
  [[nodiscard]] const ProgramPlan& plan(std::size_t index) const noexcept;

  /// Runs method `index` of program().methods() on its user inputs, in order.
  ///
  /// An input that is an output of the method's last run is copied first. Inputs fixed at export may be omitted: all of
  /// them, or the last ones. Errors: not_available; cancelled by the stop condition; invalid_argument, invalid_dtype,
  /// invalid_shape for inputs that do not fit (before anything runs) and for a backend's outputs; out_of_range for an
  /// endless loop; errors of the backend, with source line.
  [[nodiscard]] Result<Outputs> run(std::size_t index, std::span<const EValue> user_inputs);

  /// Runs the method called `name`. Inputs may be passed by name; inputs fixed at export may be omitted.
  [[nodiscard]] Result<Outputs> run(std::string_view name, std::span<const EValue> args,
                                    std::span<const NamedValue> kwargs = {});

  /// Runs the method called `name` on tensors, numbers and text: `session.run("forward", x, 0.5)`. Arguments may be
  /// Results, such as `davit::tensor(...)` or `read_npy(...)`; their Errors are returned unchanged.
  template <class... Args>
    requires(!detail::are_lists<Args...>)
  [[nodiscard]] Result<Outputs> run(std::string_view name, const Args&... args) {
    const auto values = detail::values_of(args...);
    if (!values) return error_of(values);
    return run(name, std::span<const EValue>(*values));
  }

  /// Runs a method and converts its user outputs to R: a TensorView, int64_t, double, bool, string_view, a
  /// std::optional of these, or a std::tuple of these (also of one element). Errors: as run(); invalid_argument if the
  /// outputs are of another type.
  template <class R, class... Args>
  [[nodiscard]] Result<R> call(std::string_view name, const Args&... args) {
    const Result<Outputs> outputs = run(name, args...);
    if (!outputs) return error_of(outputs);
    return convert_outputs<R>(*outputs);
  }

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace davit
