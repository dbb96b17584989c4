// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backend/backend_table.hpp"

namespace davit {

Name BackendTables::names() const {
  Name all;
  for (const BackendTable* row : rows_) all = concat(all, all.empty() ? "" : ", ", row->name);
  return all;
}

}  // namespace davit
