// SPDX-License-Identifier: MIT
// EXPECT: davit: delegate_to<List, B> names a backend that is not in the partitioner's list; add B to its BackendList
#include "davit/lowered/backend_list.hpp"
#include "support/mock_backend.hpp"
#include "davit/testing/detail/renamed_backend.hpp"

using First = davit::testing::mock_backend<>;
using Second = davit::testing::renamed_backend<First, "second">;
using List = davit::BackendList<First>;

#ifdef ACCEPT
auto spec = davit::delegate_to<List, First>();
#else
auto spec = davit::delegate_to<List, Second>();
#endif
