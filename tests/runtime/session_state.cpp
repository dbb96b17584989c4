// SPDX-License-Identifier: MIT
// Buffers whose new values are made in their own memory.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "../support/cache_program.hpp"
#include "../support/error_in.hpp"
#include "../support/toy_backend.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using support::B, support::ByHand, support::Cache, support::elements, support::error_in, support::index, support::Toys;
using Floats = std::vector<float>;

namespace {

using List = BackendList<portable, B>;

/// A lowered program that writes a row of a cache; the output is the new cache doubled.
Result<LoweredProgram> doubled_cache() {
  Cache c;
  c.put(c.row);
  return to_backend(c.finish({c.d.op("aten.mul.Tensor", "twice", c.made, {2.0})}), CapabilityPartitioner<List>());
}
std::vector<const PlannedBlock*> in_state(const Session& session) {
  std::vector<const PlannedBlock*> blocks;
  for (const PlannedBlock& block : session.plan(0).blocks)
    if (block.in_state != no_id) blocks.push_back(&block);
  return blocks;
}
const float* data(const Session& session) { return session.state()[0].tensor.view().as<float>(); }

}  // namespace

TEST_CASE("a row of a buffer is written in place: nothing is copied, and the arena has no second buffer") {
  const auto lowered = doubled_cache();
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor row = programs::tensor({1, 2}, {100, 200});
  for (std::int64_t i = 0; i < 3; ++i) {
    const Tensor at = index(5 + i);
    const EValue inputs[] = {at, row};
    const auto outputs = session.run(0, inputs);
    REQUIRE(outputs);
    CHECK(outputs->mutations()["cache"].as<float>()->data() == data(session));
    CHECK(elements((*outputs)[0])[static_cast<std::size_t>(10 + 2 * i)] == 200);
    CHECK(data(session)[11 + 2 * i] == 200);
  }
  CHECK(data(session)[8] == 4);
  CHECK(data(session)[16] == 8);
  CHECK(in_state(session).size() == 1);
  CHECK(session.plan(0).arena_bytes < 2 * 16 * 2 * sizeof(float));
}

TEST_CASE("reset: a session's buffers have their initial values again, and later runs begin with them") {
  const auto lowered = doubled_cache();
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor row = programs::tensor({1, 2}, {100, 200});
  for (std::int64_t i = 0; i < 2; ++i) {
    const Tensor at = index(5 + i);
    const EValue inputs[] = {at, row};
    REQUIRE(session.run(0, inputs));
    session.reset();
    CHECK(data(session)[10 + 2 * i] == static_cast<float>(5 + i));
    CHECK(data(session)[11 + 2 * i] == static_cast<float>(5 + i));
  }
}

TEST_CASE("a run that fails after a row was written puts it back") {
  const Toys toys;
  Cache c;
  c.put(c.row);
  const ExportedProgram program = c.finish({c.d.add("after", c.made, c.made)});
  ByHand<List> partitioner(program.view(), {{0, {"made"}}, {1, {"after"}}});
  const auto lowered = to_backend(program, partitioner);
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor row = programs::tensor({1, 2}, {100, 200}), at = index(3), outside = index(16);
  const EValue inputs[] = {at, row}, wrong[] = {outside, row};
  B::state.fail_at = 0;
  CHECK(error_in(session.run(0, inputs)).what == "it was told to fail");
  CHECK(in_state(session).size() == 1);
  CHECK(data(session)[6] == 3);
  REQUIRE(session.run(0, inputs));
  CHECK(data(session)[6] == 100);
  CHECK(error_in(session.run(0, wrong)).code == ErrorCode::out_of_range);
  B::state.fail_at = 0;
  const Tensor first = index(0);
  const EValue others[] = {first, row};
  CHECK_FALSE(session.run(0, others));
  CHECK(data(session)[0] == 0);
  CHECK(data(session)[6] == 100);
}

TEST_CASE(
    "a buffer that is read later, returned unchanged, or written with its own elements, is not written in place") {
  const Tensor row = programs::tensor({1, 2}, {100, 200}), at = index(3);
  const EValue inputs[] = {at, row};
  for (int variant = 0; variant < 3; ++variant) {
    CAPTURE(variant);
    Cache c;
    ValueId out = no_id;
    if (variant == 0) {
      c.put(c.row);
      out = c.d.op("aten.sub.Tensor", "change", c.made, {c.cache});
    } else if (variant == 1) {
      c.put(c.row);
      out = c.d.op("aten.alias.default", "old", c.cache);
    } else {
      const ValueId part = c.d.b.tensor("part", ScalarType::float32, {1, 2});
      c.d.node("aten.slice.Tensor", {c.d.b.value(c.cache), c.d.b.integer(0), c.d.b.integer(9), c.d.b.integer(10)},
               {part});
      out = c.put(part);
    }
    const auto lowered = to_backend(c.finish({out}), CapabilityPartitioner<List>());
    REQUIRE(lowered);
    Session session = *Session::make(*lowered);
    const auto outputs = session.run(0, inputs);
    REQUIRE(outputs);
    CHECK(in_state(session).empty());
    CHECK(elements((*outputs)[0])[6] == (variant == 0 ? 97 : variant == 1 ? 3 : 9));
    CHECK(data(session)[6] == (variant == 2 ? 9 : 100));
  }
}

TEST_CASE("a buffer passed to the run that writes it counts as it was") {
  Cache c;
  c.put(c.row);
  const auto lowered = to_backend(c.finish({c.d.op("aten.add.Tensor", "sum", c.made, {c.d.user("x", {16, 2})})}),
                                  CapabilityPartitioner<List>());
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor row = programs::tensor({1, 2}, {100, 200}), at = index(3);
  for (int i = 0; i < 2; ++i) {
    const EValue inputs[] = {at, row, session.state()[0].tensor};
    const auto outputs = session.run(0, inputs);
    REQUIRE(outputs);
    CHECK(elements((*outputs)[0])[6] == (i == 0 ? 103 : 200));
  }
}

TEST_CASE("load_state: a tensor whose elements are not all in its storage is an error, and the state stays") {
  const auto lowered = doubled_cache();
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const Tensor good = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{16, 2});
  Tensor none = good, beyond = good, no_strides = good, short_storage = good;
  none.storage = {};
  beyond.storage_offset = 1;
  no_strides.strides = {2};
  short_storage.storage = good.storage.part(0, 4);
  for (const Tensor& bad : {none, beyond, no_strides, short_storage}) {
    const NamedTensor values[] = {{"cache", bad}};
    const Error error = error_in(session.load_state(values));
    CHECK(error.code == ErrorCode::invalid_argument);
    CHECK(error.stage == Stage::load);
    CHECK(error.where == "state 'cache'");
    CHECK(data(session)[6] == 3);
  }
  const NamedTensor values[] = {{"cache", good}};
  REQUIRE(session.load_state(values));
  CHECK(data(session)[6] == 0);
}
