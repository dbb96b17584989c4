// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/lowered/partition_report.hpp"

namespace davit::formats {

/// All that is in the reports of a program as one JSON object: "davit_report" (the version of this form), "title",
/// "methods".
///
/// Members are named as those of PartitionReport; what is not known is null. Nodes refer to rows of "places", where the
/// innermost frame, the whole stack trace and the modules (path and type, outermost first) stand once each. Bytes of
/// names that are no UTF-8 become U+FFFD. O(size of the reports).
[[nodiscard]] std::string report_json(std::string_view title, std::span<const PartitionReport> reports);

}  // namespace davit::formats
