// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/movement/views.hpp"

#include <doctest/doctest.h>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::view_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: views of other sizes and orders share the elements, where strides allow it") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(test.run(view_ops, "aten.transpose.int", {x, EValue(0), EValue(-1)}) == ErrorCode::ok);
  CHECK(test.sizes(0) == Integers{3, 2});
  CHECK(test.values(0) == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(test.outputs[0].tensor().data == x.tensor().data);
  CHECK(test.run(view_ops, "aten.unsqueeze.default", {x, EValue(1)}) == ErrorCode::ok);
  CHECK(test.sizes(0) == Integers{2, 1, 3});
  CHECK(test.run(view_ops, "aten.flatten.using_ints", {x, EValue(0), EValue(-1)}) == ErrorCode::ok);
  CHECK(test.sizes(0) == Integers{6});
  CHECK(test.outputs[0].tensor().data == x.tensor().data);
  CHECK(test.run(view_ops, "aten.transpose.int", {x, EValue(0), EValue(2)}) != ErrorCode::ok);
}

TEST_CASE("portable: the same bytes as elements of another dtype") {
  KernelTest test;
  const auto as = [&](EValue x, ScalarType to) {
    return test.run(view_ops, "aten.view.dtype", {x, EValue(static_cast<std::int64_t>(to))});
  };
  const EValue x = test.tensor(ScalarType::float32, {2, 2}, {1, -2, 0, 0.5});
  CHECK(as(x, ScalarType::int32) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::int32);
  CHECK(test.outputs[0].tensor().data == x.tensor().data);
  CHECK(test.values(0) == Numbers{0x3f800000, static_cast<std::int32_t>(0xc0000000), 0, 0x3f000000});
  CHECK(as(x, ScalarType::uint8) == ErrorCode::ok);
  CHECK(test.sizes(0) == Integers{2, 8});
  CHECK(test.values(0)[3] == 0x3f);
  const EValue bytes = test.tensor(ScalarType::int16, {2, 4}, {0, 0x3f80, 0, 0, 0, -0x4000, 0, 0x3f00});
  CHECK(as(bytes, ScalarType::float32) == ErrorCode::ok);
  CHECK(test.sizes(0) == Integers{2, 2});
  CHECK(test.values(0) == Numbers{1, 0, -2, 0.5});
  CHECK(as(test.view(bytes, {4, 2}, {1, 4}), ScalarType::int32) == ErrorCode::ok);  // not adjacent: a copy
  CHECK(test.sizes(0) == Integers{4, 1});
  CHECK(test.outputs[0].tensor().data != bytes.tensor().data);
  CHECK(test.values(0) == Numbers{0, 0x3f80 - 0x40000000, 0, 0x3f000000});
  CHECK(as(test.view(bytes, {2, 3}, {4, 1}), ScalarType::float32) ==
        ErrorCode::invalid_shape);  // not a whole number of elements
  CHECK(as(test.view(bytes, {1, 4}, {3, 1}), ScalarType::float32) == ErrorCode::ok);
  CHECK(as(x, ScalarType::bool_) == ErrorCode::invalid_dtype);
  CHECK(as(x, ScalarType::complex64) == ErrorCode::ok);
  CHECK(test.sizes(0) == Integers{2, 1});
  davit::TensorView pairs = test.view(x, {2, 1}, {1, 1}).tensor();
  pairs.dtype = ScalarType::complex64;
  CHECK(as(pairs, ScalarType::float32) == ErrorCode::ok);
  CHECK(test.values(0) == Numbers{1, -2, 0, 0.5});
}

TEST_CASE("portable: contiguous returns a contiguous tensor itself, else a copy") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(test.run(view_ops, "aten.contiguous.default", {x, EValue(0)}) == ErrorCode::ok);
  CHECK(test.outputs[0].tensor().data == x.tensor().data);
  const EValue turned = test.view(x, {3, 2}, {1, 3});
  CHECK(test.run(view_ops, "aten.contiguous.default", {turned, EValue(0)}) == ErrorCode::ok);
  CHECK(test.outputs[0].tensor().data != x.tensor().data);
  CHECK(test.outputs[0].tensor().is_contiguous());
  CHECK(test.values(0) == Numbers{0, 3, 1, 4, 2, 5});
}
TEST_CASE("portable: a view claims no more elements than a tensor can have") {
  KernelTest test;
  const EValue one = test.tensor(ScalarType::float32, {1, 1}, {1});
  const EValue wraps = test.list({EValue(3), EValue(std::int64_t{6148914691236517206})});  // 2 elements, modulo 2^64
  CHECK(test.run(view_ops, "aten.expand.default", {one, wraps, EValue(false)}) == ErrorCode::out_of_memory);
  const EValue none = test.tensor(ScalarType::float32, {0}, {});
  const EValue large = test.list({EValue(std::int64_t{1} << 40), EValue(std::int64_t{1} << 40), EValue(0)});
  CHECK(test.run(view_ops, "aten.expand.default", {none, large, EValue(false)}) == ErrorCode::out_of_memory);
}
TEST_CASE("portable: a kernel's memory beyond the plan has a limit") {
  davit::portable_kernels::KernelMemory memory;
  memory.set_limit(1000);
  CHECK(memory.block(600) != nullptr);
  CHECK(memory.temporary(300) != nullptr);
  CHECK(memory.block(200) == nullptr);
  CHECK(memory.temporary(500) == nullptr);
  memory.reset();
  CHECK(memory.block(700) != nullptr);
  CHECK(memory.block(SIZE_MAX - 64) == nullptr);
}

TEST_CASE("portable: windows of a dimension are views that overlap") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  const auto unfold = [&](std::int64_t dim, std::int64_t size, std::int64_t step) {
    return test.run(view_ops, "aten.unfold.default", {x, EValue(dim), EValue(size), EValue(step)});
  };
  CHECK(unfold(-1, 2, 1) == ErrorCode::ok);
  CHECK(test.sizes(0) == Integers{2, 3, 2});
  CHECK(test.values(0) == Numbers{0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 6, 7});
  CHECK(test.outputs[0].tensor().data == x.tensor().data);
  CHECK(unfold(0, 2, 5) == ErrorCode::ok);
  CHECK(test.sizes(0) == Integers{1, 4, 2});
  CHECK(test.values(0) == Numbers{0, 4, 1, 5, 2, 6, 3, 7});
  CHECK(unfold(1, 4, (std::int64_t{1} << 62) + 3) ==
        ErrorCode::ok);  // one window: its step is not multiplied with the element's bytes
  CHECK(test.outputs[0].tensor().stride(1) == 1);
  CHECK(unfold(1, 0, INT64_MAX) == ErrorCode::ok);
  CHECK(test.sizes(0) == Integers{2, 1, 0});
  CHECK(unfold(1, 5, 1) == ErrorCode::invalid_argument);
  CHECK(unfold(1, 1, 0) == ErrorCode::invalid_argument);
  CHECK(unfold(2, 1, 1) == ErrorCode::out_of_range);
}
