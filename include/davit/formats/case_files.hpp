// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/shared_bytes.hpp"

namespace davit::formats {

class ZipArchive;

/// The files of a recorded case: a folder, or a folder in a zip archive.
class CaseFiles {
 public:
  /// Opens the case in folder `path`. Links may lead to files in `within`; if empty, to files in `path` itself.
  [[nodiscard]] static CaseFiles folder(std::filesystem::path path, std::filesystem::path within = {}) {
    CaseFiles files;
    files.root_ = std::move(path);
    files.within_ = within.empty() ? files.root_ : std::move(within);
    return files;
  }
  [[nodiscard]] static CaseFiles member(ZipArchive& archive, std::string prefix) {
    CaseFiles files;
    files.archive_ = &archive;
    files.prefix_ = std::move(prefix);
    return files;
  }
  /// Reads a file of the case. Rejects names and links that lead out of the folder.
  [[nodiscard]] Result<SharedBytes> read(std::string_view name) const;
  /// Returns the name of the file for errors.
  [[nodiscard]] std::string place(std::string_view name) const;

 private:
  std::filesystem::path root_;
  std::filesystem::path within_;
  ZipArchive* archive_ = nullptr;
  std::string prefix_;
};

/// True if a path, with links resolved, lies in a folder.
[[nodiscard]] bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace davit::formats
