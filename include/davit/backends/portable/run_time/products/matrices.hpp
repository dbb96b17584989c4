// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/matmul.hpp"
#include "davit/backends/portable/run_time/result_type.hpp"

/// Operands and results of kernels on batches of matrices: real and complex, computed in double.
namespace davit::portable_kernels::detail {

[[nodiscard]] inline bool is_matrix_type(ScalarType type) noexcept {
  return type == ScalarType::float32 || type == ScalarType::float64 || is_whole_complex(type);
}
/// Calls f.template operator()<T>() with double or complex<double>.
template <class F>
[[nodiscard]] ErrorCode dispatch_algebra(KernelCall& call, ScalarType type, F&& f) {
  if (!is_matrix_type(type))
    return call.refuse(ErrorCode::invalid_dtype, "the operator takes float32, float64 and complex matrices");
  return is_whole_complex(type) ? f.template operator()<std::complex<double>>() : f.template operator()<double>();
}
template <class T>
[[nodiscard]] T number_at(const TensorView& t, std::int64_t at) noexcept {
  if constexpr (std::is_same_v<T, double>)
    return element_as<double>(t, at);
  else
    return complex_at(t, at);
}

/// A batch of matrices in a tensor; or of vectors along its last dimension, each a matrix of one column.
class Matrices {
 public:
  Matrices(const TensorView& t, bool columns) noexcept : t_(&t), stack_(t.sizes(), strides_of(t)) {
    if (!columns) return;
    Sizes sizes(t.sizes());
    Sizes strides = strides_of(t);
    (void)sizes.push(1);
    (void)strides.push(1);
    stack_ = MatrixStack(sizes.span(), strides);
  }
  [[nodiscard]] std::int64_t rows() const noexcept { return stack_.rows; }
  [[nodiscard]] std::int64_t columns() const noexcept { return stack_.columns; }
  [[nodiscard]] const Sizes& batch() const noexcept { return stack_.batch; }
  [[nodiscard]] Sizes over(const Sizes& batch) const noexcept { return stack_.broadcast_to(batch); }
  /// Reads the matrix at an offset, row by row.
  template <class T>
  void load(std::int64_t offset, T* to) const noexcept {
    for (std::int64_t r = 0; r < rows(); ++r)
      for (std::int64_t c = 0; c < columns(); ++c) *to++ = number_at<T>(*t_, offset + r * stack_.row + c * stack_.col);
  }

 private:
  const TensorView* t_;
  MatrixStack stack_;
};

/// Writes n numbers to output i, from its element `first` on.
template <class T>
void store_numbers(KernelCall& call, std::size_t i, std::int64_t first, const T* from, std::int64_t n) noexcept {
  if (!call.wants(i)) return;
  const TensorView& out = call.output(i);
  for (std::int64_t k = 0; k < n; ++k) store_complex(out, first + k, from[k]);
}
[[nodiscard]] inline Sizes batch_of(const TensorView& a, std::initializer_list<std::int64_t> more = {}) noexcept {
  Sizes out(a.sizes().first(a.rank - 2u));
  for (const std::int64_t n : more) (void)out.push(n);
  return out;
}
[[nodiscard]] inline ErrorCode make_wanted(KernelCall& call, std::size_t i, ScalarType type, const Sizes& sizes) {
  return call.wants(i) ? call.make(i, type, sizes) : ErrorCode::ok;
}
/// Checks that argument i is a tensor of matrices, square ones if `square`.
[[nodiscard]] inline ErrorCode check_matrices(KernelCall& call, std::size_t i, bool square) {
  const TensorView& a = call.tensor(i);
  if (a.rank < 2 || (square && a.size(a.rank - 1u) != a.size(a.rank - 2u)))
    return call.refuse(ErrorCode::invalid_shape,
                       square ? "the matrices must be square" : "a tensor of matrices is needed");
  for (const std::int64_t n : a.sizes())
    if (n > (std::int64_t{1} << 20)) return call.refuse(ErrorCode::out_of_memory, "a matrix is too large");
  return ErrorCode::ok;
}
/// Calls each(offset, number) for every matrix of a tensor.
template <class Each>
void for_each_matrix(const Matrices& m, Each&& each) {
  std::int64_t at = 0;
  for_each_index<1>(m.batch(), {m.over(m.batch())}, [&](std::int64_t offset) { each(offset, at++); });
}

}  // namespace davit::portable_kernels::detail
