// SPDX-License-Identifier: MIT
#pragma once

/// All of core/.

#include "davit/core/bytes.hpp"
#include "davit/core/config.hpp"
#include "davit/core/content_hash.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/error.hpp"
#include "davit/core/evalue.hpp"
#include "davit/core/fixed_string.hpp"
#include "davit/core/floor_divide.hpp"
#include "davit/core/footprints.hpp"
#include "davit/core/freeze.hpp"
#include "davit/core/limits.hpp"
#include "davit/core/move_row.hpp"
#include "davit/core/name.hpp"
#include "davit/core/nearest_even.hpp"
#include "davit/core/next_index.hpp"
#include "davit/core/no_memory.hpp"
#include "davit/core/promote.hpp"
#include "davit/core/scalar_type.hpp"
#include "davit/core/segments.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/core/static_tensor.hpp"
#include "davit/core/table.hpp"
#include "davit/core/tensor.hpp"
#include "davit/core/tensor_view.hpp"
