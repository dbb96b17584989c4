// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "davit/formats/case_files.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/zip/zip.hpp"

namespace davit::formats {

DAVIT_INLINE Result<SharedBytes> CaseFiles::read(std::string_view name) const {
  if (name.find("..") != std::string_view::npos || name.starts_with('/'))
    return load_error(ErrorCode::corrupt_data, place(name), "the name leaves the folder of the case",
                      "record the case again");
  return archive_ != nullptr ? archive_->read(prefix_ + std::string(name)) : map_file(root_ / name);
}

DAVIT_INLINE std::string CaseFiles::place(std::string_view name) const {
  return archive_ != nullptr ? std::string(archive_->label()) + "/" + prefix_ + std::string(name)
                             : (root_ / name).string();
}

}  // namespace davit::formats
