// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/lowered/partition_report.hpp"

namespace davit::formats {

/// Writes the reports of a program as one JSON object: "davit_report" (version of the format), "title", "methods".
///
/// Members have the names of PartitionReport; unknown values are null. Nodes refer to rows of "places", which hold the
/// innermost frame, the whole stack trace and the modules (path and type, outermost first) once each. Invalid UTF-8 in
/// names becomes U+FFFD. O(size of the reports).
[[nodiscard]] std::string report_json(std::string_view title, std::span<const PartitionReport> reports);

}  // namespace davit::formats
