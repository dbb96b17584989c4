// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a backend's type Workspace must be made without arguments: prepare fills it
#include "davit/backend/archetype.hpp"
#include "davit/backend/check_backend.hpp"

struct npu : davit::archetype::backend {
  struct Workspace {
#ifndef ACCEPT
    explicit Workspace(int banks);
#endif
  };
  template <class Context>
  static davit::Status execute(const Handle&, std::span<const davit::EValue> inputs, std::span<davit::EValue> outputs, Context& context);
};

static_assert(davit::check_backend<npu>());
