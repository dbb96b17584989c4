// SPDX-License-Identifier: MIT
// EXPECT: davit: two backends of a BackendList have the same name; saved programs could not tell them apart
#include "davit/lowered/backend_list.hpp"
#include "support/mock_backend.hpp"
#include "davit/testing/detail/renamed_backend.hpp"

struct Tag {};
using First = davit::testing::mock_backend<>;
#ifdef ACCEPT
using Second = davit::testing::renamed_backend<davit::testing::mock_backend<Tag>, "second">;
#else
using Second = davit::testing::mock_backend<Tag>;
#endif

static_assert(davit::BackendList<First, Second>::size == 2);
