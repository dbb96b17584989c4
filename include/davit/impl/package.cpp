// SPDX-License-Identifier: MIT
#include "davit/formats/impl/file_kind.ipp"
#include "davit/formats/impl/mapped_file.ipp"
#include "davit/formats/impl/outside_weights.ipp"
#include "davit/formats/impl/package.ipp"
#include "davit/formats/impl/package_layout.ipp"
