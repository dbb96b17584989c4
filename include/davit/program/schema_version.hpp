// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "davit/core/error.hpp"
#include "davit/program/exported_program.hpp"

namespace davit {

/// The version of torch.export's schema that davit knows. Another major version is an error; newer minor versions only
/// add features, and a file that uses none of them is read.
inline constexpr std::int64_t schema_major_version = 8;
inline constexpr std::int64_t schema_minor_version = 20;

/// True if the program's file has a newer schema than davit knows.
template <class Tables>
[[nodiscard]] constexpr bool has_newer_schema(const Tables& program) noexcept {
  return program.schema_major == schema_major_version && program.schema_minor > schema_minor_version;
}

/// Adds the versions to an error of a program whose file has a newer schema, since apparent damage or a missing kernel
/// may be a new feature. Leaves other programs' errors unchanged. O(size of the texts).
template <class Tables>
[[nodiscard]] constexpr Error with_schema(Error error, const Tables& program) {
  if (!has_newer_schema(program)) return error;
  const std::string_view what = error.what.empty() ? name_of(error.code) : error.what.view();
  const std::string_view before = program.torch_version.empty() ? " (written with" : " (written by torch ";
  // named because g++ 12 loses the temporaries of a call in constant evaluation
  const Name said = concat(what, before, program.torch_version, program.torch_version.empty() ? "" : ",", " schema ",
                           program.schema_major, ".", program.schema_minor, "; davit knows ", schema_major_version, ".",
                           schema_minor_version, ")");
  error.what = said;
  if (error.code == ErrorCode::corrupt_data) {
    error.code = ErrorCode::version_mismatch;
    error.fix = "use a newer davit, or export the program with an older torch";
  }
  return error;
}

}  // namespace davit
