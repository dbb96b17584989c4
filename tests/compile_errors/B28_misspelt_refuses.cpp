// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a member of this backend is named nearly as refuses, and would not be used
#include "davit/backend/archetype.hpp"
#include "davit/backend/check_backend.hpp"
#pragma GCC diagnostic error "-Wdeprecated-declarations"  // what is a warning of a user's

struct npu : davit::archetype::backend {
#ifdef ACCEPT
  static const char* refuses(davit::GraphModuleView graph, davit::NodeId node);
#endif
  static const char* refuse(davit::GraphModuleView graph, davit::NodeId node);
};
static_assert(davit::check_backend<npu>());
