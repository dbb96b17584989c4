// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"

namespace davit::formats {

/// What a file is read as: a `.pt2` file, a package that save_program wrote, a `.npy` or `.npz` file.
enum class FileUse : std::uint8_t { program, package, array };

/// A kind of file that davit tells from others.
struct FileKind {
  std::string_view what;    ///< "an ONNX model"
  std::string_view fix[3];  ///< by FileUse, the way to such a file from this one; empty: this is such a file
};

/// The kind of a file with these bytes, or nullptr. `name` is asked where the bytes alone do not tell (".onnx"); a file
/// cut short is known by its beginning. O(members of a ZIP archive).
[[nodiscard]] const FileKind* file_kind(std::span<const std::byte> bytes, std::string_view name = {});

/// Whether bytes, or a file, begin as a lowered program does.
[[nodiscard]] bool is_package(std::span<const std::byte> bytes) noexcept;
[[nodiscard]] bool is_package(const std::string& path);

/// The error of reading these bytes; if they are something else than what was wanted, it says what they are and who
/// takes that.
[[nodiscard]] Error recognised(Error error, std::span<const std::byte> bytes, FileUse wanted,
                               std::string_view name = {});
/// The same of a file, with its name; of one that is not there, with a file beside it that has another ending. Never
/// waits for a pipe.
[[nodiscard]] Error recognised_file(Error error, const std::string& path, FileUse wanted);

}  // namespace davit::formats
