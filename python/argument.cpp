// SPDX-License-Identifier: MIT
#include "argument.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include "davit/c/detail/values.hpp"

namespace davit::python {

namespace {

/// Reads the format of a buffer of one kind of number, as the module struct writes it: "<f", "Zd". All zeros if it is
/// another one. Sizes are those of the elements.
[[nodiscard]] davit_dtype dtype_of_format(std::string_view format, Py_ssize_t bytes) noexcept {
  constexpr char native = std::endian::native == std::endian::little ? '<' : '>';
  if (!format.empty() &&
      (format[0] == '@' || format[0] == '=' || format[0] == native || (bytes == 1 && format[0] == '|')))
    format.remove_prefix(1);
  const auto bits = static_cast<std::uint8_t>(bytes <= 16 ? 8 * bytes : 0);
  if (format == "Zf" || format == "Zd") return {DAVIT_DTYPE_COMPLEX, bits, 1};
  if (format.size() != 1) return {};
  if (format == "?") return {DAVIT_DTYPE_BOOL, bits, 1};
  if (std::string_view("efd").contains(format[0])) return {DAVIT_DTYPE_FLOAT, bits, 1};
  if (std::string_view("bhilqn").contains(format[0])) return {DAVIT_DTYPE_INT, bits, 1};
  if (std::string_view("BHILQN").contains(format[0])) return {DAVIT_DTYPE_UINT, bits, 1};
  return {};
}

/// True if davit can view the elements where they are: strides are not negative, elements are aligned. A buffer without
/// strides (ctypes gives none, although they are asked for) is row-major.
[[nodiscard]] bool is_in_place(const Py_buffer& buffer) noexcept {
  const Py_ssize_t item = std::max<Py_ssize_t>(buffer.itemsize, 1);
  for (int d = 0; buffer.strides != nullptr && d < buffer.ndim; ++d)
    if (buffer.shape[d] > 1 && (buffer.strides[d] < 0 || buffer.strides[d] % item != 0)) return false;
  return reinterpret_cast<std::uintptr_t>(buffer.buf) % static_cast<std::uintptr_t>(std::min<Py_ssize_t>(item, 8)) == 0;
}

static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t), "sizes of a buffer are viewed as int64");

}  // namespace

bool is_tensor(py::handle object) {
  return PyObject_CheckBuffer(object.ptr()) != 0 || py::hasattr(object, "__dlpack__");
}

void Argument::release() noexcept {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
  if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
  managed_ = nullptr;
  if (!copy_.empty()) copy_ = {};
}

void Argument::view(void* data, davit_dtype dtype, std::size_t rank, const std::int64_t* sizes,
                    const std::int64_t* strides, std::string_view where) {
  value_ =
      value_of(c_api::read_tensor({data, dtype, static_cast<std::int32_t>(rank), sizes, strides}, strides_, where));
}

void Argument::read_buffer(py::handle object, bool writes, std::string_view where) {
  if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    throw refusal(ErrorCode::invalid_dtype, where, "numpy cannot show the elements of this array",
                  "pass an array of numbers; for bfloat16, a torch tensor or the bits, array.view(numpy.uint16)");
  }
  const std::string_view format = buffer_.format == nullptr ? "B" : buffer_.format;
  const davit_dtype dtype = dtype_of_format(format, buffer_.itemsize);
  if (dtype.bits == 0)
    throw refusal(
        ErrorCode::invalid_dtype, where, concat("elements of format '", format, "' are no numbers of a tensor"),
        "convert the array, for example by array.astype(numpy.float32); it must have this machine's byte order");
  if (buffer_.ndim > static_cast<int>(max_rank))
    throw refusal(ErrorCode::invalid_shape, where, concat("the rank is ", buffer_.ndim),
                  concat("pass a rank from 0 to ", max_rank));
  if (writes && buffer_.readonly != 0)
    throw refusal(ErrorCode::invalid_argument, where, "the method writes to this input, and the array is read-only",
                  "pass a copy of it");
  const auto rank = static_cast<std::size_t>(buffer_.ndim);
  const auto* const sizes = reinterpret_cast<const std::int64_t*>(buffer_.shape);
  void* data = buffer_.buf;
  if (is_in_place(buffer_)) {
    contiguous_strides({sizes, rank}, strides_);
    // the strides of a dimension of size 1 or 0 may be any number
    for (std::size_t d = 0; buffer_.strides != nullptr && d < rank; ++d)
      strides_[d] = sizes[d] > 1 ? buffer_.strides[d] / buffer_.itemsize : 1;
  } else {
    if (writes)
      throw refusal(ErrorCode::invalid_argument, where,
                    "the method writes to this input, and its strides are negative or its elements not aligned",
                    "pass numpy.ascontiguousarray(array)");
    copy_ = SharedBytes::uninitialized(static_cast<std::size_t>(buffer_.len));
    if (copy_.empty() && buffer_.len != 0) throw std::bad_alloc();
    data = copy_.writable();
    if (PyBuffer_ToContiguous(data, &buffer_, buffer_.len, 'C') != 0) throw py::error_already_set();
    contiguous_strides({sizes, rank}, strides_);
  }
  view(data, dtype, rank, sizes, strides_.data(), where);
}

void Argument::read_dlpack(py::handle object, std::string_view where) {
  const py::object capsule = object.attr("__dlpack__")();
  PyObject* const c = capsule.ptr();
  if (PyCapsule_IsValid(c, dl_capsule) == 0) {
    const bool is_capsule = PyCapsule_CheckExact(c) != 0;
    const char* const name = is_capsule ? PyCapsule_GetName(c) : Py_TYPE(c)->tp_name;
    throw refusal(ErrorCode::invalid_argument, where,
                  concat("__dlpack__ returned ", is_capsule ? "a capsule '" : "an object of type '",
                         std::string_view(name == nullptr ? "" : name), "'"),
                  "return a new capsule 'dltensor' for each call: davit reads DLPack without a version");
  }
  managed_ = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(c, dl_capsule));
  if (PyCapsule_SetName(c, dl_used_capsule) != 0) {
    managed_ = nullptr;
    throw py::error_already_set();
  }
  const DlTensor& tensor = managed_->tensor;
  if (tensor.device.type != dl_cpu && tensor.device.type != dl_cuda_host)
    throw refusal(ErrorCode::invalid_argument, where, "the tensor is not in the memory of the CPU",
                  "pass tensor.cpu()");
  auto* const data = tensor.data == nullptr ? nullptr : static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  if (tensor.rank < 0 || tensor.rank > static_cast<std::int32_t>(max_rank))
    throw refusal(ErrorCode::invalid_shape, where, concat("the rank is ", tensor.rank),
                  concat("pass a rank from 0 to ", max_rank));
  view(data, tensor.dtype, static_cast<std::size_t>(tensor.rank), tensor.sizes, tensor.strides, where);
}

void Argument::read_tensor(py::handle object, bool writes, std::string_view where) {
  if (PyObject_CheckBuffer(object.ptr()) != 0) return read_buffer(object, writes, where);
  if (py::hasattr(object, "__dlpack__")) return read_dlpack(object, where);
  throw refusal(
      ErrorCode::invalid_argument, where,
      concat("an object of type ", std::string_view(Py_TYPE(object.ptr())->tp_name), " is no value of a model"),
      "pass a numpy array, an object with __dlpack__ (a torch tensor), a number, a bool, a text or None");
}

void Argument::read(py::handle object, const InputPort* port, bool writes, std::string_view where) {
  PyObject* const o = object.ptr();
  const EValue::Tag wanted = port == nullptr ? EValue::Tag::none : port->type.tag;
  if (o == Py_None) {
    value_ = EValue();
  } else if (PyBool_Check(o)) {
    value_ = EValue(o == Py_True);
  } else if (PyFloat_Check(o) || (wanted == EValue::Tag::float_ && PyNumber_Check(o) != 0)) {
    const double number = PyFloat_AsDouble(o);
    if (number == -1.0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    value_ = EValue(number);
  } else if (PyLong_Check(o) || (wanted == EValue::Tag::int_ && PyIndex_Check(o) != 0)) {
    const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(o));
    if (!index) throw py::error_already_set();
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow != 0)
      throw refusal(ErrorCode::out_of_range, where, "the integer does not fit into 64 bits", "pass a smaller one");
    value_ = EValue(std::int64_t{number});
  } else if (PyUnicode_Check(o)) {
    value_ = EValue(utf8_of(object, where));
  } else {
    read_tensor(object, writes, where);
    if (wanted == EValue::Tag::bool_ && value_.tensor().dtype == ScalarType::bool_ && value_.tensor().numel() == 1)
      value_ = EValue(*value_.tensor().as<bool>());  // numpy.bool_
    else if (port != nullptr && port->type.dtype == ScalarType::bfloat16 && value_.tensor().dtype == ScalarType::uint16)
      value_.tensor().dtype = ScalarType::bfloat16;  // numpy has none: these are the bits
  }
}

}  // namespace davit::python
