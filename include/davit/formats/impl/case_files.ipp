// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "davit/formats/case_files.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/zip/zip.hpp"

namespace davit::formats {

bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(path, error);
  if (error) return false;
  const std::filesystem::path top = std::filesystem::canonical(folder, error);
  return !error && std::ranges::mismatch(top, whole).in1 == top.end();
}

Result<SharedBytes> CaseFiles::read(std::string_view name) const {
  if (name.find("..") != std::string_view::npos || name.starts_with('/'))
    return load_error(ErrorCode::corrupt_data, place(name), "the name leaves the folder of the case",
                      "record the case again");
  std::error_code ignored;
  if (archive_ == nullptr && std::filesystem::exists(root_ / name, ignored) && !lies_in(root_ / name, within_))
    return load_error(ErrorCode::corrupt_data, place(name), "it is a link to a file outside of the folder",
                      "copy the file in its place");
  return archive_ != nullptr ? archive_->read(prefix_ + std::string(name)) : map_file((root_ / name).string());
}

std::string CaseFiles::place(std::string_view name) const {
  return archive_ != nullptr ? std::string(archive_->label()) + "/" + prefix_ + std::string(name)
                             : (root_ / name).string();
}

}  // namespace davit::formats
