// SPDX-License-Identifier: MIT
#include "tensor.hpp"

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/c/detail/values.hpp"
#include "davit/core/copy_tensor.hpp"
#include "dlpack.hpp"

namespace davit::python {

namespace {

/// numpy's functions and dtypes. Never released: arrays may be made until the process ends.
struct Numpy {
  PyObject* empty = nullptr;  ///< null: there is no numpy
  std::array<PyObject*, 256> dtypes{};

  [[nodiscard]] static const Numpy& get() {
    static const Numpy* made =
        nullptr;  // an import lets other threads run: a guarded static could deadlock with the GIL
    if (made == nullptr) made = new Numpy(Numpy::make());
    return *made;
  }
  [[nodiscard]] PyObject* dtype(ScalarType type) const noexcept { return dtypes[static_cast<std::size_t>(type)]; }

 private:
  [[nodiscard]] static Numpy make() {
    Numpy numpy;
    try {
      const py::module_ module = py::module_::import("numpy");
      numpy.empty = py::object(module.attr("empty")).release().ptr();
      for (const c_api::DtypeRow& row : c_api::dtype_rows) {
        const std::string name(name_of(row.type));
        const bool is_numpys = row.code <= DAVIT_DTYPE_FLOAT || row.type == ScalarType::bool_ ||
                               row.type == ScalarType::complex64 || row.type == ScalarType::complex128;
        if (is_numpys) numpy.dtypes[static_cast<std::size_t>(row.type)] = module.attr("dtype")(name).release().ptr();
      }
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_ImportError)) throw;
    }
    return numpy;
  }
};

/// From this many bytes on, other threads of Python run during a copy.
constexpr std::size_t long_copy = std::size_t{1} << 20;

void copy(const TensorView& from, const TensorView& to) {
  if (from.nbytes() < long_copy) return copy_tensor(from, to);
  const py::gil_scoped_release unlocked;
  copy_tensor(from, to);
}

[[nodiscard]] py::tuple sizes_of(const TensorView& view) {
  py::tuple sizes(view.rank);
  for (std::size_t d = 0; d < view.rank; ++d)
    PyTuple_SET_ITEM(sizes.ptr(), static_cast<Py_ssize_t>(d), PyLong_FromLongLong(view.size(d)));
  return sizes;
}

[[nodiscard]] py::object numpy_copy(const TensorView& view, const Numpy& numpy) {
  const py::tuple sizes = sizes_of(view);
  PyObject* const arguments[] = {sizes.ptr(), numpy.dtype(view.dtype)};
  auto array = py::reinterpret_steal<py::object>(PyObject_Vectorcall(numpy.empty, arguments, 2, nullptr));
  if (!array) throw py::error_already_set();
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_WRITABLE) != 0) throw py::error_already_set();
  std::array<std::int64_t, max_rank> strides{};
  contiguous_strides(view.sizes(), strides);
  copy(view, {buffer.buf, view.sizes_data, strides.data(), view.rank, view.dtype});
  PyBuffer_Release(&buffer);
  return array;
}

[[nodiscard]] py::object tensor_of(const TensorView& view, std::shared_ptr<void> lender) {
  PythonTensor made;
  made.lender = std::move(lender);
  if (made.lender) {
    made.own.sizes.assign(view.sizes().begin(), view.sizes().end());
    made.own.strides.assign(view.strides().begin(), view.strides().end());
    made.view = view;
  } else {
    made.own = Tensor::zeros(view.dtype, view.sizes());
    if (made.own.storage.empty() && view.nbytes() != 0) throw std::bad_alloc();
    made.view = made.own.view();
    copy(view, made.view);
  }
  auto object = py::cast(std::move(made));
  auto& tensor = object.cast<PythonTensor&>();
  tensor.view.sizes_data = tensor.own.sizes.data();
  tensor.view.strides_data = tensor.own.strides.data();
  return object;
}

/// The buffer of a tensor. Elements that the protocol does not know are shown as the integers of their bits.
[[nodiscard]] py::buffer_info buffer_of(const PythonTensor& tensor) {
  const TensorView& view = tensor.view;
  const auto item = static_cast<py::ssize_t>(size_of(view.dtype));
  std::string format;
  switch (view.dtype) {
    case ScalarType::bool_: format = "?"; break;
    case ScalarType::int8: format = "b"; break;
    case ScalarType::int16: format = "h"; break;
    case ScalarType::int32: format = "i"; break;
    case ScalarType::int64: format = "q"; break;
    case ScalarType::float16: format = "e"; break;
    case ScalarType::float32: format = "f"; break;
    case ScalarType::float64: format = "d"; break;
    case ScalarType::complex64: format = "Zf"; break;
    case ScalarType::complex128: format = "Zd"; break;
    default: format = item == 1 ? "B" : item == 2 ? "H" : item == 4 ? "I" : "Q"; break;
  }
  std::vector<py::ssize_t> sizes(view.sizes().begin(), view.sizes().end());
  std::vector<py::ssize_t> strides;
  for (const std::int64_t stride : view.strides()) strides.push_back(stride * item);
  return {view.data,
          item,
          format,
          static_cast<py::ssize_t>(view.rank),
          std::move(sizes),
          std::move(strides),
          tensor.lender != nullptr};
}

/// What a DLPack capsule keeps: the Python object of its tensor.
struct Exported {
  DlManagedTensor managed{};
  PyObject* keeper = nullptr;

  static void free(DlManagedTensor* managed) {
    auto* const self = static_cast<Exported*>(managed->context);
    const py::gil_scoped_acquire locked;
    Py_XDECREF(self->keeper);
    delete self;
  }
};

[[nodiscard]] py::object dlpack_of(const py::object& self) {
  auto& tensor = self.cast<PythonTensor&>();
  auto exported = std::make_unique<Exported>();
  exported->managed = {.tensor = {.data = tensor.view.data,
                                  .device = {dl_cpu, 0},
                                  .rank = tensor.view.rank,
                                  .dtype = c_api::dtype_of(tensor.view.dtype),
                                  .sizes = tensor.own.sizes.data(),
                                  .strides = tensor.own.strides.data(),
                                  .byte_offset = 0},
                       .context = exported.get(),
                       .deleter = Exported::free};
  PyObject* const capsule = PyCapsule_New(&exported->managed, dl_capsule, [](PyObject* of) {
    if (PyCapsule_IsValid(of, dl_capsule) == 0) return;  // a library has taken the tensor
    auto* const managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(of, dl_capsule));
    managed->deleter(managed);
  });
  if (capsule == nullptr) throw py::error_already_set();
  exported->keeper = py::object(self).release().ptr();
  exported.release();
  return py::reinterpret_steal<py::object>(capsule);
}

[[nodiscard]] std::string repr(const PythonTensor& tensor) {
  std::string text = "davit.Tensor(" + std::string(name_of(tensor.view.dtype)) + "[";
  for (std::size_t d = 0; d < tensor.view.rank; ++d)
    text.append(d == 0 ? "" : ", ").append(std::to_string(tensor.view.size(d)));
  return text + (tensor.lender ? "], lent)" : "])");
}

}  // namespace

py::object to_python(const EValue& value, const Lend& lend) {
  switch (value.tag()) {
    case EValue::Tag::none: return py::none();
    case EValue::Tag::int_: return py::int_(value.as_int());
    case EValue::Tag::float_: return py::float_(value.as_float());
    case EValue::Tag::bool_: return py::bool_(value.as_bool());
    case EValue::Tag::string: return text_of(value.as_string());
    case EValue::Tag::list: {
      py::list items;
      for (const EValue& item : value.as_list()) items.append(to_python(item, lend));
      return items;
    }
    case EValue::Tag::tensor: break;
  }
  const TensorView& view = value.tensor();
  std::shared_ptr<void> lender = lend ? lend(view) : nullptr;
  const Numpy& numpy = Numpy::get();
  if (lender || numpy.empty == nullptr || numpy.dtype(view.dtype) == nullptr) return tensor_of(view, std::move(lender));
  return numpy_copy(view, numpy);
}
py::object to_python(const EValue& value) { return to_python(value, {}); }

void add_tensor(py::module_& module) {
  py::class_<PythonTensor> tensor(
      module, "Tensor", py::buffer_protocol(),
      "A tensor of elements that numpy does not have (bfloat16), or an output that a session lent.\n"
      "numpy.asarray(t) and torch.from_dlpack(t) view it without a copy.");
  refuse_new(tensor, "a davit.Tensor is a result of a call; numpy.asarray(t) makes an array of one");
  tensor.def_buffer(buffer_of)
      .def("__dlpack__", [](const py::object& self, const py::kwargs&) { return dlpack_of(self); })
      .def("__dlpack_device__", [](const PythonTensor&) { return py::make_tuple(int{dl_cpu}, 0); })
      .def_property_readonly("shape", [](const PythonTensor& self) { return sizes_of(self.view); })
      .def_property_readonly("dtype", [](const PythonTensor& self) { return text_of(name_of(self.view.dtype)); })
      .def("__repr__", repr);
}

}  // namespace davit::python
