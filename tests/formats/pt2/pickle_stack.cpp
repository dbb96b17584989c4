// SPDX-License-Identifier: MIT
#include "davit/formats/pt2/pickle.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "support/zip_file.hpp"

using namespace davit;
using namespace davit::formats;
using formats::detail::PickleStack;
using formats::detail::PickleStream;

TEST_CASE("values are made once and named by id") {
  PickleStream in(bytes_of("opcodes"), "data.pkl");
  PickleStack stack(in, 100);
  REQUIRE(stack.push(PickleStack::true_id));
  REQUIRE(stack.push_new({.kind = PickleKind::list}));
  CHECK(stack.size() == 2);
  CHECK(stack.value(stack[0]).number == 1);
  CHECK(stack.value(stack.pop()).kind == PickleKind::list);
  CHECK(stack.top() == PickleStack::true_id);
  CHECK(std::move(stack).take_values().size() == 5);
}
TEST_CASE("a mark hides the items below it") {
  PickleStream in(bytes_of("opcodes"), "data.pkl");
  PickleStack stack(in, 100);
  REQUIRE(stack.push(PickleStack::none_id));
  REQUIRE(stack.mark());
  CHECK_FALSE(stack.has(1));
  CHECK(in.failure());
  REQUIRE(stack.push(PickleStack::false_id));
  CHECK(stack.has(1));
  std::size_t first = 0;
  REQUIRE(stack.pop_mark(first));
  CHECK(first == 1);
  std::vector<PickleId> items;
  stack.move_to(items, first);
  CHECK(items == std::vector<PickleId>{PickleStack::false_id});
  CHECK(stack.size() == 1);
  CHECK_FALSE(stack.pop_mark(first));
}
TEST_CASE("the memo returns the stored items, and grows no larger than the pickle") {
  PickleStream in(bytes_of("opcodes"), "data.pkl");
  PickleStack stack(in, 100);
  CHECK_FALSE(stack.memoize(0));
  REQUIRE(stack.push(PickleStack::true_id));
  CHECK(stack.memoize(6));
  CHECK(stack.memo_size() == 7);
  CHECK_FALSE(stack.memoize(7));
  CHECK_FALSE(stack.recall(5));
  CHECK(stack.recall(6));
  CHECK(stack.size() == 2);
}
