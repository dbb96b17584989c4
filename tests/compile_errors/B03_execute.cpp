// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend needs template <class Context> static davit::Status execute(const Handle&
#include "davit/backend/archetype.hpp"
#include "davit/backend/check_backend.hpp"

struct npu : davit::archetype::backend {
#ifndef ACCEPT
  static davit::Status execute(const Handle&, std::span<const davit::EValue> inputs);
#endif
};

static_assert(davit::check_backend<npu>());
