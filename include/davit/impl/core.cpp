// SPDX-License-Identifier: MIT
// core/ of the compiled library.
#include "davit/core/impl/block_pool.ipp"
#include "davit/core/impl/bytes.ipp"
#include "davit/core/impl/content_hash.ipp"
#include "davit/core/impl/copy_tensor.ipp"
#include "davit/core/impl/definitions.ipp"
#include "davit/core/impl/error.ipp"
#include "davit/core/impl/heap_bytes.ipp"
#include "davit/core/impl/move_elements.ipp"
#include "davit/core/impl/name.ipp"
#include "davit/core/impl/segments.ipp"
#include "davit/core/impl/shared_bytes.ipp"
#include "davit/core/impl/tensor.ipp"
