// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/elementwise/in_place.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::in_place_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

}  // namespace

TEST_CASE("portable: add_ and mul_ write their first argument and answer it") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2, 2}, {1, 2, 3, 4});
  const EValue column = test.view(x, {2}, {2}, 1);
  CHECK(test.run(in_place_ops, "aten.add_.Tensor", {column, EValue(2), EValue(10)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{22, 24});
  CHECK(test.outputs[0].tensor().data == column.tensor().data);
  CHECK(x.tensor().as<float>()[0] == 1);
  CHECK(x.tensor().as<float>()[3] == 24);
  CHECK(test.run(in_place_ops, "aten.mul_.Tensor", {x, x}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{1, 484, 9, 576});

  const EValue whole = test.tensor(ScalarType::int64, {2}, {1, 2});
  CHECK(test.run(in_place_ops, "aten.mul_.Tensor", {whole, test.tensor(ScalarType::float32, {2}, {})}) ==
        ErrorCode::invalid_dtype);
  CHECK(test.run(in_place_ops, "aten.mul_.Tensor", {whole, test.tensor(ScalarType::int64, {2, 2}, {})}) ==
        ErrorCode::invalid_shape);
  CHECK(test.run(in_place_ops, "aten.mul_.Tensor", {test.view(whole, {2}, {0}), whole}) == ErrorCode::invalid_argument);
  CHECK(test.run(in_place_ops, "aten.mul_.Tensor", {EValue(1), whole}) == ErrorCode::invalid_argument);
  CHECK(whole.tensor().as<std::int64_t>()[1] == 2);
}

TEST_CASE("portable: atan2.out writes out in its dtype") {
  KernelTest test;
  const EValue y = test.tensor(ScalarType::float32, {2}, {0, 1});
  const EValue x = test.tensor(ScalarType::float32, {2}, {1, 0});
  const EValue out = test.tensor(ScalarType::float64, {2}, {7, 7});
  CHECK(test.run(in_place_ops, "aten.atan2.out", {y, x, out}) == ErrorCode::ok);
  CHECK(test.dtype() == ScalarType::float64);
  CHECK(test.values()[1] == doctest::Approx(1.5707963));
  CHECK(out.tensor().as<double>()[0] == 0);
  CHECK(out.tensor().as<double>()[1] == doctest::Approx(1.5707963));
  CHECK(test.run(in_place_ops, "aten.atan2.out", {y, x, test.tensor(ScalarType::float64, {0}, {})}) == ErrorCode::ok);
  CHECK(test.sizes() == Integers{2});
  CHECK(test.run(in_place_ops, "aten.atan2.out", {y, x, test.tensor(ScalarType::float32, {3}, {})}) ==
        ErrorCode::invalid_shape);
  CHECK(test.run(in_place_ops, "aten.atan2.out", {y, x, test.tensor(ScalarType::int32, {2}, {})}) ==
        ErrorCode::invalid_dtype);
}

TEST_CASE("portable: resize_ shows the first elements of the storage, or of a larger copy") {
  KernelTest test;
  const auto resize = [&](EValue x, EValue sizes, EValue format = {}) {
    return test.run(in_place_ops, "aten.resize_.default", {x, sizes, format});
  };
  const EValue x = test.tensor(ScalarType::float32, {2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(resize(x, test.list({2, 2})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 2, 3});
  CHECK(test.outputs[0].tensor().data == x.tensor().data);
  CHECK(resize(test.view(x, {3, 2}, {1, 3}), test.list({6})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 2, 3, 4, 5});
  CHECK(resize(test.view(x, {3, 2}, {1, 3}), test.list({3, 2})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 3, 1, 4, 2, 5});
  CHECK(resize(test.view(x, {2}, {1}), test.list({3})) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 1, 0});
  CHECK(resize(x, test.list({1, 2, 1, 3}), EValue(2)) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 2, 4, 1, 3, 5});
  CHECK(resize(x, test.list({1, 2, 2, 2}), EValue(2)) == ErrorCode::ok);
  CHECK(test.values() == Numbers{0, 2, 4, 0, 1, 3, 5, 0});
  CHECK(resize(x, test.list({6}), EValue(2)) == ErrorCode::invalid_argument);
  CHECK(resize(x, test.list({-1})) == ErrorCode::invalid_shape);
  CHECK(resize(x, test.list({std::int64_t{1} << 30, std::int64_t{1} << 30})) == ErrorCode::out_of_memory);
}

TEST_CASE("portable: activations and arithmetic in place answer what they wrote") {
  struct Case {
    std::string_view name;
    std::vector<EValue> more;
    Numbers expected;
  };
  KernelTest number;
  for (const Case& c : {Case{"aten.clamp_.default", {EValue(-1), EValue(3)}, {-1, 0, 3}}, Case{"aten.fill_.Scalar", {EValue(4)}, {4, 4, 4}},
                        Case{"aten.fill_.Tensor", {number.tensor(ScalarType::int64, {}, {4})}, {4, 4, 4}},
                        Case{"aten.dropout_.default", {EValue(0.5), EValue(false)}, {-8, 0, 8}},
                        Case{"aten.hardsigmoid_.default", {}, {0, 0.5, 1}}, Case{"aten.hardswish_.default", {}, {0, 0, 8}},
                        Case{"aten.hardtanh_.default", {EValue(-2), EValue(2)}, {-2, 0, 2}},
                        Case{"aten.leaky_relu_.default", {EValue(0.5)}, {-4, 0, 8}}, Case{"aten.relu6_.default", {}, {0, 0, 6}},
                        Case{"aten.relu_.default", {}, {0, 0, 8}}}) {
    CAPTURE(c.name);
    KernelTest test;
    std::vector<EValue> arguments{test.tensor(ScalarType::float32, {3}, {-8, 0, 8})};
    arguments.insert(arguments.end(), c.more.begin(), c.more.end());
    CHECK(test.run(in_place_ops, c.name, arguments) == ErrorCode::ok);
    CHECK(test.values() == c.expected);
    CHECK(test.outputs[0].tensor().data == arguments[0].tensor().data);
  }
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {2}, {4, 9});
  const EValue y = test.tensor(ScalarType::float32, {2}, {2, 3});
  CHECK(test.run(in_place_ops, "aten.div_.Tensor", {x, y}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{2, 3});
  CHECK(test.run(in_place_ops, "aten.sub_.Tensor", {x, y, EValue(2)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{-2, -3});
  CHECK(test.run(in_place_ops, "aten.copy_.default", {x, test.tensor(ScalarType::int64, {1}, {7}), EValue(false)}) == ErrorCode::ok);
  CHECK(test.values() == Numbers{7, 7});
  for (const std::string_view name : {"aten.sigmoid_.default", "aten.silu_.default", "aten.tanh_.default"}) {
    const EValue zero = test.tensor(ScalarType::float32, {1}, {0});
    CHECK(test.run(in_place_ops, name, {zero}) == ErrorCode::ok);
    CHECK(test.values() == Numbers{name == "aten.sigmoid_.default" ? 0.5 : 0.0});
  }
}
