// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: portable_of<...> takes groups of operators, such as davit::ops::float_inference
#include "davit/backends/portable.hpp"
#include "davit/lowering/to_backend.hpp"

struct B30 {
#ifdef ACCEPT
  using Group = davit::ops::recurrent;
#else
  using Group = float;
#endif
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<davit::portable_of<davit::ops::float_inference, B30::Group>>(program).has_value();
}
