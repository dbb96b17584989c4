// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend needs a name: static constexpr std::string_view name
#include "davit/backend/archetype.hpp"
#include "davit/backend/check_backend.hpp"

struct npu : davit::archetype::backend {
#ifdef ACCEPT
  static constexpr std::string_view name = "npu";
#else
  static const std::string_view name;
#endif
};

static_assert(davit::check_backend<npu>());
