// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/builder.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/onednn/check.hpp"

using namespace davit;
using onednn_check::numbers_at;
using onednn_check::place_constant;
using onednn_check::place_input;
using onednn_ops::Builder;
using onednn_ops::Code;
using onednn_ops::DataType;
using onednn_ops::MemoryDesc;
using onednn_ops::Place;
using onednn_ops::plain;
using onednn_ops::StorageKind;
using onednn_ops::strided;
using support::Net;

namespace {

/// Three values of 2 x 3 and a builder of steps with them.
struct Building {
  Net net;
  ValueId x = net.input("x", {2, 3});
  ValueId y = net.input("y", {2, 3});
  ValueId z = net.input("z", {2, 3});
  Code code;
  Builder builder;
  MemoryDesc rows = plain({2, 3}, DataType::f32);
  MemoryDesc columns = strided({2, 3}, {1, 2}, DataType::f32);

  explicit Building(bool trial = false) : builder(net.draft.b.module().view(), code, trial) {}
};

}  // namespace

TEST_CASE("a value has the place that it was given, in the graph's sizes") {
  Building on;
  CHECK_THROWS_AS((void)on.builder.place_of(on.x), dnnl::error);
  CHECK_THROWS_AS(on.builder.place(on.x, on.builder.add_scratch(plain({2, 4}, DataType::f32))), dnnl::error);
  on.builder.place(on.x, on.builder.add_scratch(plain({6}, DataType::f32)));
  CHECK(on.builder.place_of(on.x).md == plain({2, 3}, DataType::f32));
  CHECK_FALSE(on.builder.is_constant(on.x));
  place_constant(on.builder, on.y, {1, 2, 3, 4, 5, 6});
  CHECK(on.builder.is_constant(on.y));
  CHECK_FALSE(on.builder.is_constant(on.z));
}

TEST_CASE("constants are reordered at once, in a trial not at all") {
  Building on;
  place_constant(on.builder, on.x, on.columns, {1, 4, 2, 5, 3, 6});
  const Place made = on.builder.row_major(on.builder.place_of(on.x));
  CHECK(numbers_at(on.builder, made) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(on.builder.row_major(on.builder.place_of(on.x)).storage == made.storage);  // made once
  CHECK(on.code.steps.empty());
  Building trial(true);
  place_constant(trial.builder, trial.x, trial.columns, {1, 4, 2, 5, 3, 6});
  (void)trial.builder.row_major(trial.builder.place_of(trial.x));
  REQUIRE(trial.code.steps.size() == 1);
  CHECK_FALSE(trial.code.steps[0].primitive);
}

TEST_CASE("a lazy constant is made where it is needed, and not at all where it is needed in another layout only") {
  Building on;
  place_constant(on.builder, on.x, {1, 2, 3, 4, 5, 6});
  int made = 0;
  const auto twice = [&made, from = reinterpret_cast<const float*>(
                                 on.builder.constant_data(on.builder.place_of(on.x)))](std::byte* to) {
    ++made;
    for (int i = 0; i < 6; ++i) reinterpret_cast<float*>(to)[i] = 2 * from[i];
  };
  const Place lazy = on.builder.lazy_constant(on.builder.place_of(on.x), on.rows, twice, {.number = 2});
  CHECK(made == 0);
  const Place turned = on.builder.reordered(lazy, on.columns);
  CHECK(made == 1);
  CHECK(numbers_at(on.builder, turned) == std::vector<float>{2, 8, 4, 10, 6, 12});
  CHECK(on.code.constants[on.code.storages[lazy.storage].index].size() == 0);  // unused in this form
  CHECK(numbers_at(on.builder, lazy) == std::vector<float>{2, 4, 6, 8, 10, 12});
  CHECK(made == 2);
  on.builder.place(on.y, on.builder.lazy_constant(on.builder.place_of(on.x), on.rows, twice, {.number = 2}));
  on.builder.begin_step(no_debug_handle, "aten.relu.default", 1);
  on.builder.copy(on.builder.place_of(on.y), on.builder.add_scratch(on.rows));
  CHECK(made == 2);  // the earlier constant
  CHECK(on.code.constants[on.code.storages[on.builder.place_of(on.y).storage].index].size() == 24);
}

TEST_CASE("inputs are reordered by a step, once; scratch each time, for it may have changed") {
  Building on;
  on.builder.begin_step(no_debug_handle, "aten.relu.default", 1);
  place_input(on.builder, on.x);
  const Place first = on.builder.reordered(on.builder.place_of(on.x), on.columns);
  CHECK(on.builder.reordered(on.builder.place_of(on.x), on.columns).storage == first.storage);
  REQUIRE(on.code.steps.size() == 1);
  CHECK(on.code.steps[0].name == "reorder");
  CHECK(on.code.steps[0].primitive);
  on.builder.place(on.y, on.builder.add_scratch(on.rows));
  const Place second = on.builder.reordered(on.builder.place_of(on.y), on.columns);
  CHECK(on.builder.reordered(on.builder.place_of(on.y), on.columns).storage != second.storage);
  CHECK(on.code.steps.size() == 3);
  on.builder.add_zeros(first);
  CHECK(on.code.steps.back().name == "aten.relu.default");
}

TEST_CASE("no step where only the strides of dimensions of size 1 differ, or sizes can be said otherwise") {
  Building on;
  const Place row{strided({1, 3}, {7, 1}, DataType::f32), on.builder.add_storage(StorageKind::scratch, 12)};
  CHECK(on.builder.reordered(row, plain({1, 3}, DataType::f32)).storage == row.storage);
  place_input(on.builder, on.x);
  CHECK(on.builder.viewed(on.builder.place_of(on.x), {3, 2}).md == plain({3, 2}, DataType::f32));
  CHECK(on.code.steps.empty());
  on.builder.place(on.y, on.builder.add_scratch(on.columns));
  CHECK(on.builder.viewed(on.builder.place_of(on.y), {6}).md == plain({6}, DataType::f32));  // reorders elements
  CHECK(on.code.steps.size() == 1);
}

TEST_CASE("the last use of a value that is alone in its scratch") {
  Building on;
  const Place scratch = on.builder.add_scratch(on.rows);
  on.builder.place(on.x, scratch);
  on.builder.expect_use(on.x, 2);
  CHECK_FALSE(on.builder.is_last_use(on.x));
  on.builder.release(on.x);
  CHECK(on.builder.is_last_use(on.x));
  on.builder.place(on.y, *onednn_ops::reshaped(scratch, {2, 3}));  // a view of the same
  on.builder.expect_use(on.y);
  CHECK_FALSE(on.builder.is_last_use(on.x));
  on.builder.release(on.y);
  CHECK(on.builder.is_last_use(on.x));
  const Place larger = on.builder.add_scratch(plain({4, 3}, DataType::f32));
  on.builder.place(on.z, onednn_ops::sliced(larger, 0, 0, 2, 1));
  on.builder.expect_use(on.z);
  CHECK_FALSE(on.builder.is_last_use(on.z));  // not the only value in it
  Building given;
  place_input(given.builder, given.x);
  given.builder.expect_use(given.x);
  CHECK_FALSE(given.builder.is_last_use(given.x));
  const Place turned = given.builder.reordered(given.builder.place_of(given.x), given.columns);
  given.builder.place(given.y, turned);
  given.builder.expect_use(given.y);
  CHECK_FALSE(given.builder.is_last_use(given.y));  // another user of the input takes this cached reorder
}

TEST_CASE("a block becomes part of another once") {
  Building on;
  const Place part = on.builder.add_scratch(on.rows);
  const Place whole = on.builder.add_scratch(plain({4, 3}, DataType::f32));
  on.builder.place(on.x, part);
  on.builder.expect_use(on.x);
  CHECK(on.builder.is_free_scratch(part.storage));
  CHECK(on.builder.bytes_of(part.storage) == 24);
  on.builder.join(part.storage, whole.storage, 24);
  CHECK(on.code.storages[part.storage].parent == whole.storage);
  CHECK(on.builder.block_of(part) == std::pair(whole.storage, std::size_t{24}));
  CHECK_FALSE(on.builder.is_free_scratch(part.storage));
  CHECK(on.builder.is_free_scratch(whole.storage));
  CHECK_FALSE(on.builder.is_last_use(on.x));  // it is a part of the whole
  place_input(on.builder, on.y);
  CHECK_FALSE(on.builder.is_free_scratch(on.builder.place_of(on.y).storage));
}

TEST_CASE("an output has its own scratch in row-major order, or is copied there") {
  Building on;
  const Place scratch = on.builder.add_scratch(on.rows);
  on.builder.place(on.x, scratch);
  CHECK(on.builder.claim_output(on.x, 0) == scratch.storage);
  CHECK(on.code.storages[scratch.storage].output == 0);
  CHECK(on.code.steps.empty());
  const std::uint32_t again = on.builder.claim_output(on.x, 1);  // taken already
  CHECK(again != scratch.storage);
  CHECK(on.code.storages[again].output == 1);
  CHECK(on.code.steps.size() == 1);
  on.builder.place(on.y, on.builder.add_scratch(on.columns));
  CHECK(on.builder.claim_output(on.y, 2) != on.builder.place_of(on.y).storage);
  CHECK(on.code.steps.size() == 2);
  place_input(on.builder, on.z);
  CHECK(on.builder.claim_output(on.z, 3) != on.builder.place_of(on.z).storage);
  CHECK(on.code.steps.size() == 3);
}

TEST_CASE("steps say from when to when their storages live") {
  Building on;
  const Place a = on.builder.add_scratch(on.rows);
  const Place b = on.builder.add_scratch(on.rows);
  on.builder.add_zeros(a);
  on.builder.copy(a, b);
  on.builder.copy(b, a);
  CHECK(on.code.storages[a.storage].first == 0);
  CHECK(on.code.storages[a.storage].last == 2);
  CHECK(on.code.storages[b.storage].first == 1);
  CHECK(on.code.storages[b.storage].last == 2);
}
