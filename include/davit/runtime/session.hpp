// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

/// An argument of a run: what converts to an EValue, or a Result of it.
template <class T>
[[nodiscard]] consteval bool is_argument() {
  if constexpr (is_result<T>) {
    return std::is_convertible_v<const typename T::value_type&, EValue>;
  } else {
    return std::is_convertible_v<const T&, EValue>;
  }
}
/// Arguments that are lists of values and not the values themselves.
template <class... Args>
inline constexpr bool are_lists = false;
template <class First, class... Rest>
inline constexpr bool are_lists<First, Rest...> = std::is_convertible_v<const First&, std::span<const EValue>>;

/// Arguments as values; the first Error among them.
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

/// How a session runs.
struct SessionOptions {
  Limits limits{};
  std::optional<TracerRef> tracer{};  ///< receives the events of every run; it must outlive the session
};

/// Runs a lowered program: owns the mutable state and the working memory, shares everything else.
///
/// Outputs of a run are views that hold until the next run, as long as the session, and where the model returns an
/// argument or a view of it, as long as that (Output::clone copies). Mutations of buffers and of user inputs are
/// written back at the end of a successful run; a failed one leaves them alone. Not for use from several threads at
/// once, nor by a tracer or a backend of its own run; sessions of one program are independent of each other. No heap
/// memory is taken in steady state if all shapes are static.
class Session {
 public:
  /// A session of `program`, its state as the program was saved or exported with. Errors: out_of_memory for the state,
  /// or if it is more than the limits allow.
  [[nodiscard]] static Result<Session> make(LoweredProgram program, SessionOptions options = {});
  /// Not of a Result: this says so, and does not compile.
  template <class R>
    requires std::same_as<R, Result<LoweredProgram>>
  [[nodiscard]] static Result<Session> make(const R&, SessionOptions = {}) {
    static_assert(!std::same_as<R, Result<LoweredProgram>>,
                  "davit: Session::make takes a lowered program, and this is a davit::Result, which may hold an Error; "
                  "check it, then pass *lowered, "
                  "or pass davit::value_or_exit(lowered)");
    return std::unexpected(Error{});
  }

  [[nodiscard]] const LoweredProgram& program() const noexcept;
  /// The session's buffers, by name.
  [[nodiscard]] std::span<const NamedTensor> state() const noexcept;
  /// Gives the buffers their initial values again, between runs, as a new session of the program has them. O(bytes of
  /// state).
  void reset() noexcept;
  /// Where the values and the scratch of method `index`, one of program().methods(), lie; without sizes until its first
  /// run. A partition whose backend does not fill destinations, or whose sizes depend on data, keeps memory of its own
  /// and is not in it.
  [[nodiscard]] const ProgramPlan& plan(std::size_t index) const noexcept;

  /// Runs method `index`, which must be one of program().methods(), on its user inputs, in order. One that is an output
  /// of the method's last run is copied first. Inputs that the export fixed may be left out: all of them, or the last
  /// ones.
  ///
  /// Errors: not_available; invalid_argument, invalid_dtype, invalid_shape for inputs that do not fit (before anything
  /// runs) and for what a backend answers; out_of_range for a loop without end; what a backend reports, with source
  /// line.
  [[nodiscard]] Result<Outputs> run(std::size_t index, std::span<const EValue> user_inputs);

  /// Runs the method of that name. Inputs may also be given by name; inputs that the export fixed may be left out.
  [[nodiscard]] Result<Outputs> run(std::string_view name, std::span<const EValue> args,
                                    std::span<const NamedValue> kwargs = {});

  /// Runs the method of that name on tensors, numbers and text: `session.run("forward", x, 0.5)`. Of arguments that are
  /// Results (`davit::tensor(...)`, `read_npy(...)`) an Error is answered as it is.
  template <class... Args>
    requires(!detail::are_lists<Args...>)
  [[nodiscard]] Result<Outputs> run(std::string_view name, const Args&... args) {
    const auto values = detail::values_of(args...);
    if (!values) return std::unexpected(values.error());
    return run(name, std::span<const EValue>(*values));
  }

  /// Runs a method and converts its user outputs: a TensorView, int64_t, double, bool, string_view, std::optional of
  /// one, or a std::tuple of those (one element too). Errors as run(), and invalid_argument if the outputs are not of
  /// that type.
  template <class R, class... Args>
  [[nodiscard]] Result<R> call(std::string_view name, const Args&... args) {
    const Result<Outputs> outputs = run(name, args...);
    if (!outputs) return std::unexpected(outputs.error());
    return convert_outputs<R>(*outputs);
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
