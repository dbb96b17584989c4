// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: a pointer is no EValue, for it does not say how much it points at
#include "davit/runtime/session.hpp"

bool run(davit::Session& session, float* elements) {
#ifdef ACCEPT
  return session.run("forward", davit::tensor(std::span(elements, 4), {2, 2})).has_value();
#else
  return session.run("forward", elements).has_value();
#endif
}
