// SPDX-License-Identifier: MIT
// EXPECT: redefinition of
#include "davit/backend/archetype.hpp"

struct npu : davit::archetype::backend {};
#ifndef ACCEPT
struct npu : davit::archetype::backend {};
#endif
static_assert(davit::Backend<npu>);
