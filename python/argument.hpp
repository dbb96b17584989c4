// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "davit/core/evalue.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/lowered/method_interface.hpp"
#include "dlpack.hpp"
#include "failure.hpp"

namespace davit::python {

/// A Python object as an argument of a method: a value that views the object's memory, and a share in that memory.
///
/// Tensors are objects with the buffer protocol (numpy arrays) or with __dlpack__ (torch tensors). They are not copied,
/// unless strides are negative or elements are not aligned.
class Argument {
 public:
  Argument() = default;
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;
  ~Argument() { release(); }

  /// Reads an object, which must outlive the value, for an input. Port may be null. If `writes`, the method writes to
  /// the tensor. Throws: invalid_argument, invalid_dtype, invalid_shape; exceptions of the object's __dlpack__.
  void read(py::handle object, const InputPort* port, bool writes, std::string_view where);
  [[nodiscard]] const EValue& value() const noexcept { return value_; }
  /// Gives up the share in the object's memory.
  void release() noexcept;

 private:
  void read_tensor(py::handle object, bool writes, std::string_view where);
  void read_buffer(py::handle object, bool writes, std::string_view where);
  void read_dlpack(py::handle object, std::string_view where);
  void view(void* data, davit_dtype dtype, std::size_t rank, const std::int64_t* sizes, const std::int64_t* strides,
            std::string_view where);

  EValue value_{};
  Py_buffer buffer_{};
  DlManagedTensor* managed_ = nullptr;
  SharedBytes copy_{};
  std::array<std::int64_t, max_rank> strides_{};
};

/// True if the object is a tensor: it has the buffer protocol, or __dlpack__.
[[nodiscard]] bool is_tensor(py::handle object);

}  // namespace davit::python
