// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "davit/core/shared_bytes.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/zip.hpp"

namespace davit::formats {

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
  [[nodiscard]] Result<SharedBytes> read(std::string_view name) const {
    if (name.find("..") != std::string_view::npos || name.starts_with('/'))
      return load_error(ErrorCode::corrupt_data, place(name), "the name leaves the folder of the case",
                        "record the case again");
    return archive_ != nullptr ? archive_->read(prefix_ + std::string(name)) : map_file(root_ / name);
  }
  [[nodiscard]] std::string place(std::string_view name) const {
    return archive_ != nullptr ? std::string(archive_->label()) + "/" + prefix_ + std::string(name)
                               : (root_ / name).string();
  }

 private:
  std::filesystem::path root_;
  ZipArchive* archive_ = nullptr;
  std::string prefix_;
};

}  // namespace davit::formats
