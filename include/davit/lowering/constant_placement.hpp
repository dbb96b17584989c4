// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/core/name.hpp"

namespace davit {

/// What becomes of a parameter, buffer or constant that several partitions use.
enum class SharedConstants : std::uint8_t {
  share,      ///< the partitions' programs view one storage
  duplicate,  ///< each partition has a copy of its own
  refuse,     ///< lowering fails
};

/// Where a parameter, buffer or constant of the program went.
struct ConstantPlacement {
  enum class Fate : std::uint8_t { kept, moved, shared, duplicated };
  Name target;
  Fate fate = Fate::kept;        ///< kept: the lowered program itself still needs it
  std::uint32_t partitions = 0;  ///< how many partitions use it
  std::size_t bytes = 0;
};

[[nodiscard]] constexpr std::string_view name_of(ConstantPlacement::Fate fate) noexcept {
  constexpr std::string_view names[] = {"kept", "moved", "shared", "duplicated"};
  return names[static_cast<std::size_t>(fate)];
}

}  // namespace davit
