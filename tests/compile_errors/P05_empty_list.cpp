// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a BackendList needs at least one backend
#include "davit/lowered/backend_list.hpp"
#include "support/mock_backend.hpp"

#ifdef ACCEPT
using List = davit::BackendList<davit::testing::mock_backend<>>;
#else
using List = davit::BackendList<>;
#endif

static_assert(List::size <= 1);
