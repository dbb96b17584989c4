// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/embedding_backward.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

TEST_CASE("portable: embedding_dense_backward adds up the gradients of each row") {
  using davit::ErrorCode;
  using davit::EValue;
  using davit::ScalarType;
  using Numbers = KernelTest::Numbers;
  KernelTest test;
  const auto backward = [&](EValue grad, EValue indices, std::int64_t rows, int padding, bool by_frequency) {
    return test.run(davit::portable_kernels::embedding_backward_ops, "aten.embedding_dense_backward.default",
                    {grad, indices, EValue(rows), EValue(padding), EValue(by_frequency)});
  };
  const EValue grad = test.tensor(ScalarType::float32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const EValue indices = test.tensor(ScalarType::int64, {2, 2}, {0, 2, 0, 1});
  CHECK(backward(grad, indices, 3, -1, false) == ErrorCode::ok);
  CHECK(test.values() == Numbers{6, 8, 7, 8, 3, 4});
  CHECK(backward(grad, indices, 3, 2, true) == ErrorCode::ok);
  CHECK(test.values() == Numbers{3, 4, 7, 8, 0, 0});
  CHECK(backward(test.view(grad, {2, 2, 2}, {4, 0, 1}), indices, 3, -1, false) == ErrorCode::ok);
  CHECK(test.values() == Numbers{6, 8, 5, 6, 1, 2});
  CHECK(backward(grad, indices, 2, -1, false) == ErrorCode::out_of_range);
  CHECK(backward(grad, indices, 2, 2, false) == ErrorCode::ok);
  CHECK(backward(grad, test.tensor(ScalarType::int32, {3}, {0, 0, 0}), 3, -1, false) == ErrorCode::invalid_shape);
  CHECK(backward(grad, grad, 3, -1, false) == ErrorCode::invalid_dtype);
  CHECK(backward(grad, indices, -1, -1, false) == ErrorCode::invalid_shape);
  CHECK(backward(grad, indices, std::int64_t{1} << 50, -1, true) == ErrorCode::out_of_memory);
  const EValue none = test.tensor(ScalarType::float32, {0, 2}, {});
  CHECK(backward(none, test.tensor(ScalarType::int64, {0}, {}), 2, -1, true) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 0, 0, 0});
}
