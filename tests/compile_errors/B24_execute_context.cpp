// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend's execute must take every davit::ExecuteContext: template <class Context> static davit::Status execute(..., Context& context);
#include "davit/backend/archetype.hpp"
#include "davit/backend/check_backend.hpp"

struct npu : davit::archetype::backend {
#ifndef ACCEPT
  static davit::Status execute(const Handle&, std::span<const davit::EValue> inputs, std::span<davit::EValue> outputs, davit::ExecuteContext<>& context);
#endif
};

static_assert(davit::check_backend<npu>());
