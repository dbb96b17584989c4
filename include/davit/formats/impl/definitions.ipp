// SPDX-License-Identifier: MIT
#pragma once

#include "davit/formats/definitions.hpp"

extern "C" const char davit_formats_is_not_defined__include_davit_formats_implementation_hpp_in_one_source_file = 0;
