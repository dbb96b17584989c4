// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: an argument of run is no value: pass tensors
#include "davit/runtime/session.hpp"

bool run(davit::Session& session, const std::vector<float>& elements) {
#ifdef ACCEPT
  return session.run("forward", davit::tensor(elements, {4}), 2, "text").has_value();
#else
  return session.run("forward", elements, 2, "text").has_value();
#endif
}
