// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "commands.hpp"
#include "davit/core/error.hpp"
#include "davit/formats/package_layout.hpp"

namespace tool {

/// Prints what a package holds: methods, partitions, backends, bytes. Errors: what loading it gives.
[[nodiscard]] davit::Result<void> inspect_package(const InspectOptions& options);

/// The most bytes of a guard that are printed.
inline constexpr std::size_t longest_guard = 4000;
/// Texts as JSON.
[[nodiscard]] std::string json_list(const std::vector<std::string>& texts);

/// Bytes of weights and of what backends made of them.
[[nodiscard]] std::size_t segment_bytes(const davit::formats::Package& package);

}  // namespace tool
