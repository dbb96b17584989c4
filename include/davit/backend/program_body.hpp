// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "davit/backend/contract.hpp"
#include "davit/backend/delegate_io.hpp"
#include "davit/core/bytes.hpp"
#include "davit/program/graph_bytes.hpp"

namespace davit {

/// What a backend may keep of a method: its graph without source metadata, its constants and objects, a debug handle
/// per node. Shared and immutable; constants view the file that they came from.
struct ProgramBody {
  GraphModule graph;
  std::vector<InputRole> roles;      ///< per graph input
  std::vector<Tensor> constants;     ///< per graph input of role `constant`, in order
  std::vector<SharedBytes> objects;  ///< per graph input of role `object`, in order: its pickled state
  std::vector<DebugHandle> handles;  ///< per node
};

/// The body of a method, for `backend`. Errors: not_found for a constant that the program does not hold.
[[nodiscard]] Result<std::shared_ptr<const ProgramBody>> make_program_body(const Method& method,
                                                                           std::string_view backend,
                                                                           DebugHandleRecorder& debug_handles);

namespace detail {

// What writes or reads a constant: a pointer to something that can be called, and a function that calls it.
using WriteTensorCall = void (*)(const void* callable, ByteWriter& out, const Tensor& tensor);
using ReadTensorCall = Result<Tensor> (*)(const void* callable, ByteReader& in);
[[nodiscard]] std::vector<std::byte> save_program_body(const ProgramBody& body, const void* callable,
                                                       WriteTensorCall write);
[[nodiscard]] Result<std::shared_ptr<const ProgramBody>> load_program_body(std::span<const std::byte> bytes,
                                                                           std::string_view backend,
                                                                           const void* callable, ReadTensorCall read);

}  // namespace detail

/// The body as bytes; `write(out, tensor)` writes a constant, to them or to a segment.
template <class WriteTensor>
[[nodiscard]] std::vector<std::byte> save_program_body(const ProgramBody& body, WriteTensor&& write) {
  return detail::save_program_body(
      body, std::addressof(write), [](const void* callable, ByteWriter& out, const Tensor& tensor) {
        (*static_cast<std::remove_reference_t<WriteTensor>*>(const_cast<void*>(callable)))(out, tensor);
      });
}

/// Reads what save_program_body wrote, for `backend`; `read(in)` reads a constant. Errors: corrupt_data, out_of_memory.
template <class ReadTensor>
[[nodiscard]] Result<std::shared_ptr<const ProgramBody>> load_program_body(std::span<const std::byte> bytes,
                                                                           std::string_view backend,
                                                                           ReadTensor&& read) {
  return detail::load_program_body(
      bytes, backend, std::addressof(read), [](const void* callable, ByteReader& in) -> Result<Tensor> {
        return (*static_cast<std::remove_reference_t<ReadTensor>*>(const_cast<void*>(callable)))(in);
      });
}

}  // namespace davit

#if !defined(DAVIT_COMPILED)
#include "davit/backend/impl/program_body.ipp"
#endif
