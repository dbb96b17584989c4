// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "davit/formats/package.hpp"

namespace support {

/// A lowered program as bytes, without its debug map.
[[nodiscard]] inline std::vector<std::byte> saved(const davit::LoweredProgram& program) {
  return *davit::formats::save_program(program, {.debug_map = false});
}
/// Loads the bytes of `saved`, for one backend.
template <class B>
[[nodiscard]] davit::Result<davit::LoweredProgram> loaded(const std::vector<std::byte>& bytes) {
  return davit::formats::load_program<davit::BackendList<B>>(davit::SharedBytes::copy_of(bytes));
}

}  // namespace support
