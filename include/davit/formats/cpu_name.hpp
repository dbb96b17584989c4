// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "davit/core/config.hpp"

namespace davit::formats {

/// Returns Linux's name of the processor, for example "Intel(R) Xeon(R) CPU @ 2.20GHz"; "unknown" if there is none.
[[nodiscard]] std::string cpu_name();

}  // namespace davit::formats
