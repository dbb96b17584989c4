// SPDX-License-Identifier: MIT
#pragma once

#include "davit/backends/portable.hpp"
#include "davit/lowering/backend_list.hpp"
#include "davit/testing/renamed_backend.hpp"

namespace tool {

/// The backends this program is compiled with. Add yours in front: `portable` takes what the others leave.
using Backends = davit::BackendList<davit::portable, davit::testing::renamed_backend<davit::portable, "portable_2">>;

}  // namespace tool
