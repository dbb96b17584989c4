// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/op_table.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "davit/backends/portable.hpp"
#include "davit/ops/operators.hpp"
#include "support/kernel_test.hpp"

namespace {

using namespace davit;
using namespace davit::portable_kernels;

ErrorCode nothing(KernelCall&) { return ErrorCode::ok; }

TEST_CASE("every row of the tables is found under its name, has a kernel and a schema, and is once in its group") {
  std::size_t count = 0;
  for (std::size_t group = 0; group < operator_group_count; ++group)
    for (const OpTable* const table : all_tables[group]) {
      CHECK(table->keys.size() == table->rows.size());
      for (const OpRow& row : table->rows) {
        INFO(row.name);
        CHECK((row.kernel != nullptr));
        CHECK(OpSet{}.find(static_cast<OperatorGroup>(group), row.name) == &row);
        ++count;
        if (row.name.starts_with("davit.")) continue;  // steps without an operator in programs
        const auto [schema, of] = find_grouped_operator(row.name);
        CHECK(!schema.empty());
        if (of == static_cast<OperatorGroup>(group))
          CHECK(find_op(row.name) == &row);
        else  // on complex numbers
          CHECK((group == static_cast<std::size_t>(OperatorGroup::complex_numbers) && find_op(row.name) != nullptr));
      }
    }
  CHECK(count >= 454);  // a row that is missing in its group's table would be lost
}

TEST_CASE("results of several threads have the same bits") {
  KernelTest test;
  const auto numbers = [](std::size_t count, double scale) {
    KernelTest::Numbers all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<double>(i * 7919 % 1009) / scale - 3;
    return all;
  };
  const auto check = [&](std::string_view name, std::initializer_list<EValue> arguments, std::size_t outputs = 1) {
    INFO(name);
    const OpRow* const row = find_op(name);
    REQUIRE((row != nullptr));
    CHECK(test.is_same_on_threads({row, 1}, name, arguments, outputs));
  };
  const auto list = [&](std::initializer_list<EValue> items) { return test.list(items); };
  const EValue none, x = test.tensor(ScalarType::float32, {7, 40, 33}, numbers(7 * 40 * 33, 100)),
                     row = test.tensor(ScalarType::float32, {33}, numbers(33, 10)),
                     column = test.tensor(ScalarType::float32, {40, 1}, numbers(40, 10)),
                     turned = test.view(x, {33, 40, 7}, {1, 33, 1320}),
                     half = test.tensor(ScalarType::float16, {7, 40, 33}, numbers(7 * 40 * 33, 100)),
                     whole = test.tensor(ScalarType::int64, {90, 70}, numbers(6300, 0.5)),
                     image = test.tensor(ScalarType::float32, {1, 5, 12, 14}, numbers(840, 100)),
                     indices = test.tensor(ScalarType::int64, {3, 5}, {3, 1, 6, 0, 2, 2, 5, 4, 6, 1, 0, 3, 3, 2, 1}),
                     line = test.tensor(ScalarType::int64, {9}, {3, 1, 6, 0, 2, 2, 5, 4, 6});
  // elements: broadcast, permuted, converted, in short rows
  check("aten.add.Tensor", {x, row, EValue(1)});
  check("aten.mul.Tensor", {x, column});
  check("aten.div.Tensor", {turned, test.view(x, {33, 40, 7}, {40, 1, 1320})});
  check("aten.exp.default", {half});
  check("aten.tanh.default", {test.view(half, {33, 280}, {1, 33})});
  check("aten.mul.Tensor", {test.view(x, {3080, 3}, {3, 1}), test.tensor(ScalarType::float32, {3}, {2, 3, 4})});
  check("aten.gt.Tensor", {x, row});
  // movement
  check("aten.clone.default", {turned, none});
  check("aten._to_copy.default",
        {turned, EValue(static_cast<std::int64_t>(ScalarType::float64)), none, none, none, EValue(false), none});
  check("aten._to_copy.default",
        {half, EValue(static_cast<std::int64_t>(ScalarType::float32)), none, none, none, EValue(false), none});
  check("aten.cat.default", {list({x, x}), EValue(1)});
  check("aten.stack.default", {list({x, x, x}), EValue(3)});
  check("aten.flip.default", {x, list({EValue(1), EValue(2)})});
  check("aten.repeat.default", {x, list({EValue(2), EValue(1), EValue(3)})});
  check("aten.roll.default", {x, list({EValue(3)}), list({EValue(1)})});
  check("aten.reflection_pad2d.default", {image, list({EValue(1), EValue(2), EValue(3), EValue(1)})});
  check("aten.constant_pad_nd.default", {x, list({EValue(1), EValue(2), EValue(3), EValue(1)}), EValue(2.0)});
  check("aten.embedding.default", {whole, indices, EValue(-1), EValue(false), EValue(false)});
  for (const int dim : {0, 1, 2}) check("aten.index_select.default", {x, EValue(dim), line});
  check("aten.index.Tensor", {x, list({none, indices})});
  check("aten.index.Tensor", {x, list({indices})});
  check("aten.index.Tensor", {x, list({none, indices, indices})});
  check("aten.gather.default", {test.view(x, {40, 33}, {33, 1}), EValue(0), indices, EValue(false)});
  check("aten._cdist_forward.default", {test.view(x, {20, 33}, {33, 1}), x, EValue(1.0), none});
  check("aten.upsample_nearest2d.vec", {image, list({EValue(31), EValue(17)}), none});
  check("aten.upsample_bilinear2d.vec", {image, list({EValue(31), EValue(17)}), EValue(false), none});
  // lines and groups
  for (const int dim : {0, 1, 2}) {
    check("aten.sum.dim_IntList", {x, list({EValue(dim)}), EValue(false), none});
    check("aten.mean.dim", {half, list({EValue(dim)}), EValue(false), none});
    check("aten.var.correction", {x, list({EValue(dim)}), EValue(1), EValue(true)});
    check("aten.max.dim", {x, EValue(dim), EValue(false)}, 2);
    check("aten.argmin.default", {x, EValue(dim), EValue(false)});
    check("aten.any.dim", {x, EValue(dim), EValue(false)});
    check("aten.sort.default", {x, EValue(dim), EValue(true)}, 2);
    check("aten.topk.default", {x, EValue(3), EValue(dim), EValue(true), EValue(true)}, 2);
    check("aten.cumsum.default", {x, EValue(dim), none});
    check("aten.cumprod.default", {x, EValue(dim), none});
    check("aten.cummax.default", {x, EValue(dim)}, 2);
    check("aten._fft_r2c.default", {x, list({EValue(dim)}), EValue(0), EValue(true)});
  }
  check("aten.sum.dim_IntList", {x, list({EValue(0), EValue(2)}), EValue(true), none});
  check("aten.cumsum.default", {whole, EValue(1), none});
  check("aten._fft_r2c.default", {x, list({EValue(0), EValue(1)}), EValue(1), EValue(true)});
  // batches and groups of products
  check("aten.bmm.default", {x, test.view(x, {7, 33, 40}, {1320, 1, 33})});
  check("aten.matmul.default",
        {test.view(x, {3, 2, 40, 33}, {1320, 2640, 33, 1}), test.view(x, {2, 33, 9}, {1320, 33, 1})});
  for (const std::int64_t groups : {5, 1})
    for (const bool transposed : {false, true}) {
      const EValue weight = test.tensor(
          ScalarType::float32,
          transposed ? KernelTest::Integers{5, 20 / groups, 3, 3} : KernelTest::Integers{20, 5 / groups, 3, 3},
          numbers(900, 100));
      check("aten.convolution.default",
            {image, weight, none, list({EValue(2), EValue(1)}), list({EValue(1), EValue(0)}),
             list({EValue(1), EValue(1)}), EValue(transposed), list({EValue(0), EValue(0)}), EValue(groups)});
    }
}

TEST_CASE("a name that no row has is not found") {
  CHECK(find_op("") == nullptr);
  CHECK(find_op("aten.add") == nullptr);
  CHECK(find_op("own.op.default") == nullptr);
}

TEST_CASE("a user's own operators are found beside portable's") {
  const std::array<CustomOperator, 1> own{{{{"own.op.default", nothing}, "own.op.default(Tensor x) -> Tensor"}}};
  CHECK(find_op({own}, "own.op.default").row == &own[0].row);
  CHECK(find_op({own}, "own.op.default").schema == own[0].schema);
  CHECK(find_op({own}, "aten.add.Tensor").row == find_op("aten.add.Tensor"));
  CHECK(find_op({own}, "aten.add.Tensor").schema == find_operator("aten.add.Tensor"));
  CHECK(find_op({own}, "other.op.default").row == nullptr);
}

}  // namespace
