// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "davit/core/config.hpp"

namespace davit::formats {

/// What Linux calls this machine's processor, such as "Intel(R) Xeon(R) CPU @ 2.20GHz"; "unknown" where it does not
/// say.
[[nodiscard]] std::string cpu_name();

}  // namespace davit::formats
