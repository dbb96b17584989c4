// SPDX-License-Identifier: MIT
#pragma once

#include "custom_operators.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/backend_list.hpp"
#include "davit/testing/renamed_backend.hpp"

namespace tool {

using Portable = davit::portable_with<CustomOperators>;

/// The backends this program is compiled with. Add yours in front: `portable` takes what the others leave. The second
/// instance of it is there to try out borders between partitions.
using Backends = davit::BackendList<Portable, davit::testing::renamed_backend<Portable, "portable_2">>;

}  // namespace tool
