// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "argument.hpp"
#include "davit/runtime/named_value.hpp"
#include "davit/runtime/session.hpp"
#include "failure.hpp"

namespace davit::python {

/// Asks a run to end: the token of its StopCondition.
struct Cancel {
  std::atomic<bool> requested{};
  [[nodiscard]] bool stop_requested() const noexcept { return requested.load(std::memory_order_relaxed); }
};

/// A session that one thread uses at a time.
struct Running {
  explicit Running(Session made) : session(std::move(made)) {}
  Session session;
  std::timed_mutex mutex{};
  std::atomic<std::thread::id> holder{};  ///< thread that holds the mutex; set under the GIL
  std::size_t lent = 0;                   ///< outputs of the last run that are alive; only under the GIL
  Cancel cancel{};                        ///< of the call that runs
  bool cancellable = false;               ///< runs test `cancel`
  double timeout = 0;                     ///< seconds that a run may take; 0: any
};

/// The memory of one call's arguments.
struct CallMemory {
  std::vector<std::unique_ptr<Argument>> arguments{};
  std::vector<EValue> values{};
  std::vector<NamedValue> named{};
};

/// Holds a session for a call. Waits, without the GIL, while another thread holds it; Python's signal handlers run, and
/// their exceptions (KeyboardInterrupt) end the wait. Throws invalid_argument if this thread holds it.
///
/// No code of a user runs while it is held: arguments are read before, and released after.
class Hold {
 public:
  explicit Hold(Running& running);
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold();

 private:
  Running& running_;
};

/// Throws invalid_argument if outputs of the session's last run are still lent: its memory must not change.
void require_none_lent(const Running& running);

/// A method of a model, prepared for calls from Python.
struct PythonMethod {
  const LoweredMethod* lowered = nullptr;
  std::vector<const InputPort*> inputs{};  ///< the user inputs
  std::vector<bool> writes{};              ///< for each: the method writes to it
  std::vector<std::string> places{};       ///< for each, for errors
  py::object flatten = py::none();         ///< (args, kwargs) -> values in order; None: they are
  py::object unflatten = py::none();       ///< values in order -> result; None: one value is the result
};

/// A lowered program, its methods, and sessions for calls.
///
/// Calls of a program without state run in several threads at once, each in a session of a pool; a program with state
/// has one session for all calls. Used under the GIL.
class Model {
 public:
  explicit Model(LoweredProgram program);

  [[nodiscard]] const LoweredProgram& program() const noexcept { return program_; }
  [[nodiscard]] std::vector<PythonMethod>& methods() noexcept { return methods_; }
  /// Returns the method called "forward", or the only one. Throws: not_found.
  [[nodiscard]] std::size_t main_method() const;

  std::string report{};                                              ///< of lowering; empty for a package
  std::vector<std::string> warnings{};                               ///< of lowering
  std::vector<std::optional<std::vector<ExampleInput>>> examples{};  ///< per method; empty for a package

  /// Makes a session with the program's initial state.
  [[nodiscard]] std::shared_ptr<Running> session() const;
  /// Returns the session of calls; for a program without state, one that no other thread uses: see give_back.
  [[nodiscard]] std::shared_ptr<Running> take();
  void give_back(std::shared_ptr<Running> running);
  /// Returns memory for a call's arguments, which no other call uses: see give_back.
  [[nodiscard]] std::unique_ptr<CallMemory> take_memory();
  void give_back(std::unique_ptr<CallMemory> memory) { memory_.push_back(std::move(memory)); }

 private:
  LoweredProgram program_;
  std::vector<PythonMethod> methods_;
  std::vector<std::shared_ptr<Running>> idle_;
  std::vector<std::unique_ptr<CallMemory>> memory_;
};

/// Adds the classes Model, Session and Method.
void add_model(py::module_& module);

}  // namespace davit::python
