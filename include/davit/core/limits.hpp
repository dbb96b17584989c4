// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace davit {

/// What a file of unknown origin may take while it is read, and a program while it runs: more is an Error. The defaults
/// fit programs of some hundred thousand nodes; take smaller ones where files come from strangers.
struct Limits {
  std::uint32_t max_depth = 512;                        ///< of values in values, in a JSON text
  std::size_t max_nodes = std::size_t{1} << 26;         ///< values of a JSON text; a value of a pickle counts as 16
  std::size_t max_parsed_bytes = std::size_t{1} << 30;  ///< of a text or a pickle
  std::uint64_t max_inflated_bytes = std::uint64_t{1} << 32;  ///< of one archive's compressed members together
  std::uint64_t max_memory = std::uint64_t{1} << 36;  ///< bytes of a session's state, of a method's arena, and of what
                                                      ///< a partition of it takes beside that, each
  std::int64_t max_loop_iterations = std::int64_t{1} << 32;  ///< of one loop
};

}  // namespace davit
