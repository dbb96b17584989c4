// SPDX-License-Identifier: MIT
// EXPECT_ERROR: davit: an operator of portable_with needs a kernel, and its name with its types as torch writes them
#include <array>

#include "davit/backends/portable.hpp"
#include "davit/lowering/to_backend.hpp"

davit::ErrorCode bump(davit::portable_kernels::KernelCall& call);

struct Own {
  static constexpr std::array<davit::portable_kernels::CustomOperator, 1> operators{{
#ifdef ACCEPT
      {{"own.bump.default", bump}, "own.bump.default(Tensor(a!) x, float by=1.0) -> ()"},
#else
      {{"own.bump.default", bump}, "own::bump(Tensor(a!) x,float by=1.0) -> ()"},
#endif
  }};
};

bool lower(const davit::ExportedProgram& program) {
  return davit::to_backend<davit::portable_with<Own>>(program).has_value();
}
