// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/core/name.hpp"

namespace davit {

/// How lowering places a parameter, buffer or constant that several partitions use.
enum class SharedConstants : std::uint8_t {
  share,      ///< the partitions' programs view one storage
  duplicate,  ///< each partition has a copy of its own
  refuse,     ///< lowering fails
};

/// The placement of one parameter, buffer or constant of the program.
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
