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

/// The files of a case: a folder, or the members of a zip archive below a folder.
class CaseFiles {
 public:
  /// A case whose files lie in `within`, links followed; empty: in the folder itself.
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
  /// The bytes of a file of the case; a name that leaves the case's folder, or a link out of where its files lie, is
  /// refused.
  [[nodiscard]] Result<SharedBytes> read(std::string_view name) const;
  /// What errors call the file.
  [[nodiscard]] std::string place(std::string_view name) const;

 private:
  std::filesystem::path root_;
  std::filesystem::path within_;
  ZipArchive* archive_ = nullptr;
  std::string prefix_;
};

/// Whether a path leads, over links, to something in a folder.
[[nodiscard]] bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace davit::formats
