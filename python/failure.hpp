// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "davit/core/error.hpp"

namespace davit::python {

namespace py = pybind11;

/// An Error on its way to Python, where it becomes a davit.Error.
class Failure : public std::exception {
 public:
  explicit Failure(Error error) : error_(std::move(error)) {}
  [[nodiscard]] const Error& error() const noexcept { return error_; }
  [[nodiscard]] const char* what() const noexcept override { return "davit.Error"; }

 private:
  Error error_;
};

/// Makes the Error of a wrong call.
[[nodiscard]] inline Failure refusal(ErrorCode code, Name where, Name what, Name fix) {
  return Failure(Error{.code = code,
                       .stage = Stage::execute,
                       .where = std::move(where),
                       .what = std::move(what),
                       .fix = std::move(fix)});
}

/// Returns the value of a result, or throws its Error.
template <class T>
T value_of(Result<T> result) {
  if (!result) throw Failure(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// Makes a Python string of text that may not be UTF-8.
[[nodiscard]] inline py::str text_of(std::string_view text) {
  PyObject* made = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(made);
}

/// Views the text of a str object, while the object lives. Throws invalid_argument for one that UTF-8 does not have.
[[nodiscard]] std::string_view utf8_of(py::handle text, std::string_view where);

/// Makes a class refuse with TypeError to be called, __new__ to be called, and copies: pybind11 would make an object
/// without a value.
void refuse_new(const py::object& made, const char* how);

/// Adds the exception davit.Error to the module, and raises it for every Failure.
void add_error(py::module_& module);

}  // namespace davit::python
