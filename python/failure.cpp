// SPDX-License-Identifier: MIT
#include "failure.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

namespace davit::python {

namespace {

PyObject* error_type = nullptr;

/// Names of options as Python has them: "--fast-math" becomes "fast_math".
[[nodiscard]] Error in_python(Error error) {
  std::string where(error.where.view());
  if (!where.starts_with("--")) return error;
  where.erase(0, 2);
  std::ranges::replace(where, '-', '_');
  error.where = Name::own(where);
  return error;
}

/// Makes the davit.Error of an error.
[[nodiscard]] py::object exception_of(const Error& error) {
  const py::object made = py::reinterpret_borrow<py::object>(error_type)(text_of(to_string(error)));
  std::string code(error.code == ErrorCode::io_error ? "io error" : name_of(error.code));
  std::ranges::replace(code, ' ', '_');
  made.attr("code") = text_of(code);
  made.attr("stage") = text_of(name_of(error.stage));
  made.attr("backend") = text_of(error.backend);
  made.attr("place") = text_of(error.where);
  made.attr("message") = text_of(error.what);
  made.attr("fix") = text_of(error.fix);
  made.attr("source") = text_of(error.source);
  return made;
}

}  // namespace

std::string_view utf8_of(py::handle text, std::string_view where) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes != nullptr) return {bytes, static_cast<std::size_t>(size)};
  if (PyErr_ExceptionMatches(PyExc_UnicodeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  throw refusal(ErrorCode::invalid_argument, where, "the text contains half of a surrogate pair",
                "pass text that can be encoded in UTF-8");
}

void refuse_new(const py::object& made, const char* how) {
  made.attr("__new__") = py::staticmethod(
      py::cpp_function([how](const py::args&, const py::kwargs&) -> py::object { throw py::type_error(how); }));
  // also for pybind11's own __new__ with this class; pybind11 itself makes objects without it
  const auto refuse = +[](PyTypeObject* type, PyObject*, PyObject*) -> PyObject* {
    PyErr_Format(PyExc_TypeError, "a %s is not made by calling its class", type->tp_name);
    return nullptr;
  };
  reinterpret_cast<PyTypeObject*>(made.ptr())->tp_new = refuse;
}

void add_error(py::module_& module) {
  error_type = PyErr_NewExceptionWithDoc(
      "davit.Error",
      "An error of davit. code, stage, backend, place (in the model, a file or a call), message, fix and source (the\n"
      "model's source line) are texts, empty if unknown; str() is all of them.",
      PyExc_RuntimeError, nullptr);
  if (error_type == nullptr) throw py::error_already_set();
  for (const char* each : {"code", "stage", "backend", "place", "message", "fix", "source"})
    py::setattr(error_type, each, py::str());
  module.add_object("Error", error_type);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const Failure& failure) {
      PyErr_SetObject(error_type, exception_of(in_python(failure.error())).ptr());
    }
  });
  module.def("call_error", [](const std::string& place, const std::string& message, const std::string& fix) {
    return exception_of(refusal(ErrorCode::invalid_argument, place, message, fix).error());
  });
}

}  // namespace davit::python
