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

/// A session that one thread uses at a time, and the memory of its calls.
struct Running {
  explicit Running(Session made) : session(std::move(made)) {}
  Session session;
  std::mutex mutex{};
  std::atomic<std::thread::id> holder{};  ///< thread that holds the mutex
  std::size_t lent = 0;                   ///< outputs of the last run that are alive; only under the GIL
  std::vector<std::unique_ptr<Argument>> arguments{};
  std::vector<EValue> values{};
  std::vector<NamedValue> named{};
};

/// Holds a session for a call. Waits, without the GIL, while another thread holds it. Throws invalid_argument if this
/// thread holds it.
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

 private:
  LoweredProgram program_;
  std::vector<PythonMethod> methods_;
  std::vector<std::shared_ptr<Running>> idle_;
};

/// Adds the classes Model, Session and Method.
void add_model(py::module_& module);

}  // namespace davit::python
