// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/shared_bytes.hpp"

namespace davit::formats {

/// Maps a file; writes stay private to this process (a program may change a tensor in place). The bytes stay valid while
/// a share of them lives; nobody may shorten the file meanwhile.
///
/// Errors: io_error, with the path, for what is missing, unreadable, empty or not a regular file.
[[nodiscard]] Result<SharedBytes> map_file(const std::string& path);

}  // namespace davit::formats

#if !defined(DAVIT_COMPILED)
#include "davit/formats/impl/mapped_file.ipp"
#endif
