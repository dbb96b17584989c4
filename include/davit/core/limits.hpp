// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace davit {

/// Limits for reading a file of unknown origin and for running its program; to exceed one is an Error. The defaults fit
/// programs of some hundred thousand nodes; use smaller ones for files from strangers.
struct Limits {
  std::uint32_t max_depth = 512;                        ///< nesting depth of a JSON text
  std::size_t max_nodes = std::size_t{1} << 26;         ///< values in a JSON text; a value of a pickle counts as 16
  std::size_t max_parsed_bytes = std::size_t{1} << 30;  ///< size of a JSON text or a pickle, in bytes
  std::uint64_t max_inflated_bytes = std::uint64_t{1} << 32;  ///< sum over the compressed members of one archive
  std::uint64_t max_memory = std::uint64_t{1} << 36;  ///< bytes: of a session's state, of a method's arena, and of a
                                                      ///< partition's own memory, each
  std::int64_t max_loop_iterations = std::int64_t{1} << 32;  ///< iterations of one loop
};

}  // namespace davit
