// SPDX-License-Identifier: MIT
#pragma once

/// True under AddressSanitizer, which ends the program if an allocation fails, and whose checks multiply code.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif
