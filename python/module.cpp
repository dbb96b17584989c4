// SPDX-License-Identifier: MIT
// The extension module davit._davit; what users import is the package davit, which is written in Python.
#include "failure.hpp"
#include "model.hpp"
#include "source.hpp"
#include "tensor.hpp"

PYBIND11_MODULE(_davit, module) {
  module.attr("version") = DAVIT_VERSION;
  davit::python::add_error(module);
  davit::python::add_tensor(module);
  davit::python::add_model(module);
  davit::python::add_programs(module);
}
