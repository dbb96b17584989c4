// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "davit/backends/xnnpack/call.hpp"
#include "davit/backends/xnnpack/sizes.hpp"

namespace davit::xnnpack_parts {

/// The sizes of every slot for one set of inputs, and where its buffer lies.
struct Workspace {
  std::vector<std::int64_t> sizes;      ///< of every row of Plan::dims
  std::vector<std::size_t> offsets;     ///< of every buffer that lies in scratch
  std::vector<std::byte*> base;         ///< of every buffer
  std::vector<std::uint8_t> scratched;  ///< per buffer: 1 if it lies in scratch
  std::vector<std::uint8_t> given;      ///< per graph output: 1 if it is written where the caller wants it
  std::vector<std::int64_t> strides;    ///< of graph outputs, like sizes
  std::vector<std::int64_t> numbers;    ///< values of graph outputs that are symbolic numbers
  std::vector<std::array<std::int64_t, max_dims>> input_strides;
  SymbolSizes symbols;
  std::uint64_t generation = 0;  ///< another one for every prepare of any session
};

}  // namespace davit::xnnpack_parts
