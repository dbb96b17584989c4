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
  [[nodiscard]] static CaseFiles folder(std::filesystem::path path) {
    CaseFiles files;
    files.root_ = std::move(path);
    return files;
  }
  [[nodiscard]] static CaseFiles member(ZipArchive& archive, std::string prefix) {
    CaseFiles files;
    files.archive_ = &archive;
    files.prefix_ = std::move(prefix);
    return files;
  }
  /// The bytes of a file of the case; a name that leaves the case's folder is refused.
  [[nodiscard]] Result<SharedBytes> read(std::string_view name) const;
  /// What errors call the file.
  [[nodiscard]] std::string place(std::string_view name) const;

 private:
  std::filesystem::path root_;
  ZipArchive* archive_ = nullptr;
  std::string prefix_;
};

}  // namespace davit::formats

#if !defined(DAVIT_COMPILED)
#include "davit/formats/impl/case_files.ipp"
#endif
