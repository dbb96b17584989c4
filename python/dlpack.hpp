// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/c/davit.h"

namespace davit::python {

/// @name DLPack's exchange of tensors between libraries, version 0: the structures behind a capsule named "dltensor".
/// Source: the DLPack specification.
/// @{
struct DlDevice {
  std::int32_t type;
  std::int32_t id;
};
inline constexpr std::int32_t dl_cpu = 1;
inline constexpr std::int32_t dl_cuda_host = 3;  ///< memory of the host that a GPU can read

struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t rank;
  davit_dtype dtype;
  std::int64_t* sizes;
  std::int64_t* strides;  ///< in elements; null: row-major
  std::uint64_t byte_offset;
};

struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor*);
};
/// @}

inline constexpr const char* dl_capsule = "dltensor";
inline constexpr const char* dl_used_capsule = "used_dltensor";

}  // namespace davit::python
