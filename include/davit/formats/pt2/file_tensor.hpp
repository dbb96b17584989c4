// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "davit/core/block_pool.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/core/tensor.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"

namespace davit::formats {

/// Checks that a tensor of a file stays inside its storage: rank, sizes, strides and offset. `where` is its name in
/// errors.
///
/// Errors: invalid_shape. For a tensor without elements, an offset outside the storage is reset to 0.
[[nodiscard]] inline Result<void> check_file_tensor(Tensor& tensor, const Name& where) {
  const auto fail = [&](const Name& what) {
    return load_error(ErrorCode::invalid_shape, where, what, "the file is damaged: export the program again");
  };
  if (tensor.sizes.size() > max_rank)
    return fail(concat("a tensor of ", tensor.sizes.size(), " dimensions; at most ", max_rank, " are supported"));
  if (tensor.sizes.size() != tensor.strides.size())
    return fail(concat("a tensor has ", tensor.sizes.size(), " sizes but ", tensor.strides.size(), " strides"));
  const std::int64_t numel = checked_numel(tensor.sizes);
  if (numel < 0) return fail("a tensor's sizes are negative or too large");
  const std::size_t element = size_of(tensor.dtype);
  const std::int64_t extent = storage_extent(tensor.sizes, tensor.strides, tensor.storage_offset, element);
  if (extent < 0) return fail("a tensor's strides or offset are negative or too large");
  if (static_cast<std::uint64_t>(extent) > tensor.storage.size())
    return fail(concat("a tensor needs ", extent, " bytes, its storage has ", tensor.storage.size()));
  if (numel == 0 && static_cast<std::uint64_t>(tensor.storage_offset) > tensor.storage.size() / element)
    tensor.storage_offset = 0;
  return {};
}

/// The storages of a file, by name, made valid for kernels: aligned addresses, and bools that are 0 or 1. Valid bytes
/// stay in the file, others are copied to the heap once.
///
/// Tensors of one storage share its bytes, copied or not.
class FileStorages {
 public:
  /// Returns a storage for elements of `dtype`; calls `read` (-> Result<SharedBytes>) the first time. O(log storages),
  /// and a pass over its bytes the first time. Errors: those of `read`, out_of_memory.
  template <class Read>
  [[nodiscard]] Result<SharedBytes> get(std::string_view name, ScalarType dtype, const Name& where, Read&& read) {
    auto at = storages_.find(name);
    if (at == storages_.end()) {
      Result<SharedBytes> bytes = std::forward<Read>(read)();
      if (!bytes) return bytes;
      at = storages_.emplace(name, Storage{.bytes = bytes->empty() ? SharedBytes() : *std::move(bytes)}).first;
    }
    if (!fit(at->second, dtype)) return load_error(ErrorCode::out_of_memory, where, "no memory for a tensor", {});
    return at->second.bytes;
  }

 private:
  struct Storage {
    SharedBytes bytes;
    bool holds_bools = false;
  };

  [[nodiscard]] bool fit(Storage& storage, ScalarType dtype) {
    constexpr std::uintptr_t alignment = 8;  // enough for every element type
    if (storage.bytes.empty()) return true;
    if (size_of(dtype) > 1 && reinterpret_cast<std::uintptr_t>(storage.bytes.data()) % alignment != 0 && !copy(storage))
      return false;
    if (dtype != ScalarType::bool_ || storage.holds_bools) return true;
    SharedBytes bools = SharedBytes::bools(storage.bytes);
    if (bools.size() != storage.bytes.size()) return false;
    storage.bytes = std::move(bools);
    storage.holds_bools = true;
    return true;
  }

  [[nodiscard]] bool copy(Storage& storage) {
    SharedBytes copied = pool_.copy_of(storage.bytes.bytes());
    if (copied.size() != storage.bytes.size()) return false;
    forget(storage.bytes);
    storage.bytes = std::move(copied);
    return true;
  }

  std::map<std::string, Storage, std::less<>> storages_;
  BlockPool pool_;
};

}  // namespace davit::formats
