// SPDX-License-Identifier: MIT
#pragma once

#include "davit/core/definitions.hpp"

extern "C" const char davit_is_not_defined__include_davit_implementation_hpp_in_one_source_file_or_link_libdavit = 0;
