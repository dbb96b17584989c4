// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "commands.hpp"
#include "davit/core/error.hpp"
#include "davit/formats/package_layout.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/program/guard.hpp"

namespace tool {

/// Prints a package: methods, partitions, backends, bytes. Errors: those of loading it.
[[nodiscard]] davit::Result<void> inspect_package(const InspectOptions& options);

/// Prints inputs, state, outputs and guards of a method.
void print_interface(const davit::MethodInterface& interface);
/// Prints guards; `names` are the user inputs.
[[nodiscard]] std::vector<std::string> guards_of(const davit::Guards& guards, std::span<const davit::Name> names);
/// Prints texts as a JSON array.
[[nodiscard]] std::string json_list(const std::vector<std::string>& texts);

/// Returns the bytes of weights and of the backends' processed data.
[[nodiscard]] std::size_t segment_bytes(const davit::formats::Package& package);

}  // namespace tool
