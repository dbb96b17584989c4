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

/// Prints what a package holds: methods, partitions, backends, bytes. Errors: what loading it gives.
[[nodiscard]] davit::Result<void> inspect_package(const InspectOptions& options);

/// What a method takes, keeps, gives, and for which arguments.
void print_interface(const davit::MethodInterface& interface);
/// Guards as they are printed; `names` are those of the user inputs.
[[nodiscard]] std::vector<std::string> guards_of(const davit::Guards& guards, std::span<const davit::Name> names);
/// Texts as JSON.
[[nodiscard]] std::string json_list(const std::vector<std::string>& texts);

/// Bytes of weights and of what backends made of them.
[[nodiscard]] std::size_t segment_bytes(const davit::formats::Package& package);

}  // namespace tool
