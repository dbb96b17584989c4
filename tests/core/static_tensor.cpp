// SPDX-License-Identifier: MIT
#include "davit/core/static_tensor.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

using namespace davit;

namespace {

using Matrix = StaticTensor<float, 2, 3>;
static_assert(Matrix::dtype == ScalarType::float32 && Matrix::rank == 2 && Matrix::numel == 6);
static_assert(Matrix::sizes == std::array<std::int64_t, 2>{2, 3} &&
              Matrix::strides == std::array<std::int64_t, 2>{3, 1});
static_assert(StaticTensor<std::int64_t>::rank == 0 && StaticTensor<std::int64_t>::numel == 1);
static_assert(StaticTensor<bool, 0, 4>::numel == 0);
static_assert(sizeof(Matrix) == sizeof(float*));

constexpr bool check_view() {
  float data[6] = {};
  const TensorView view = Matrix{data}.view();
  return view.rank == 2 && view.numel() == 6 && view.is_contiguous() && view.dtype == ScalarType::float32 &&
         view.size(1) == 3;
}
static_assert(check_view());

}  // namespace

TEST_CASE("a static tensor views its elements with sizes and strides known when compiling") {
  CHECK(check_view());
  float data[6] = {0, 1, 2, 3, 4, 5};
  CHECK(Matrix{data}.view().as<float>()[5] == 5);
  CHECK(StaticTensor<float>{data}.view().numel() == 1);
}
