// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>

namespace davit {

/// Turns the vector that `make` returns in constant evaluation into a `std::array` of its contents.
///
/// `make` is a constexpr callable without arguments; it runs twice (once for the size). The elements must be
/// default-constructible and hold no allocation. Nothing of the vector reaches the program.
template <auto make>
[[nodiscard]] consteval auto freeze() {
  constexpr std::size_t size = make().size();
  using Element = typename decltype(make())::value_type;
  std::array<Element, size> frozen{};
  const auto contents = make();
  for (std::size_t i = 0; i < size; ++i) frozen[i] = contents[i];
  return frozen;
}

}  // namespace davit
