// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "davit/core/error.hpp"

namespace tool {

/// Checks that this build can write the page of `--html FILE`: its graph is drawn by dagre, which is not part of davit.
/// An empty name is fine. Errors: not_found.
[[nodiscard]] davit::Result<void> check_page(std::string_view file);

/// A JSON object with one more member, whose value is JSON too.
[[nodiscard]] std::string with_member(std::string_view object, std::string_view name, std::string_view value);

/// Writes a report of formats::report_json as a page, one file for any browser, and prints its name. Errors: those of
/// writing.
[[nodiscard]] davit::Result<void> write_page(const std::string& file, std::string_view json);

}  // namespace tool
