// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/complex.hpp"
#include "davit/backends/portable/run_time/elementwise/complex_forms.hpp"
#include "davit/backends/portable/run_time/elementwise/fourier.hpp"
#include "davit/backends/portable/run_time/kernel_arguments.hpp"
#include "davit/backends/portable/run_time/op_group.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/ops/operator_group.hpp"

namespace davit::portable_kernels {

// operators of other groups among them, on complex numbers
constinit const OpTable complex_numbers_table = table_of<OperatorGroup::of_family, [] {
  return taking_complex(joined_rows(complex_ops, complex_form_ops, fourier_ops));
}>();

}  // namespace davit::portable_kernels
