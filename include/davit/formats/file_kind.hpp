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

/// Purpose of reading a file: as a `.pt2` program, as a package of save_program, or as a `.npy` or `.npz` array.
enum class FileUse : std::uint8_t { program, package, array };

/// A file kind that davit recognises.
struct FileKind {
  std::string_view what;    ///< for example "an ONNX model"
  std::string_view fix[3];  ///< by FileUse: how to get a readable file from this one; empty if readable
};

/// Returns the kind of a file with these bytes, or nullptr. Uses `name` (".onnx") only if the bytes are ambiguous. A
/// truncated file is recognised by its beginning. O(members of a ZIP archive).
[[nodiscard]] const FileKind* file_kind(std::span<const std::byte> bytes, std::string_view name = {});

/// True if the bytes, or a file, start like a package.
[[nodiscard]] bool is_package(std::span<const std::byte> bytes) noexcept;
[[nodiscard]] bool is_package(const std::string& path);

/// Improves the error of reading these bytes. If they are of another kind than `wanted`, it names their kind and the
/// way to read them.
[[nodiscard]] Error recognised(Error error, std::span<const std::byte> bytes, FileUse wanted,
                               std::string_view name = {});
/// Improves the error of reading a file and adds its name. For a missing file, suggests a file beside it with another
/// extension. Does not block on pipes.
[[nodiscard]] Error with_file_kind_of(Error error, const std::string& path, FileUse wanted);

}  // namespace davit::formats
