// SPDX-License-Identifier: MIT
// Sessions as values: fork, load_state, rewind, and sessions that have been moved from.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "../support/cache_program.hpp"
#include "../support/error_in.hpp"
#include "../support/toy_backend.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using support::B, support::ByHand, support::Cache, support::Draft, support::elements, support::error_in, support::index,
    support::Toys;
using Floats = std::vector<float>;

namespace {

using List = BackendList<portable, B>;
constexpr std::size_t cache_bytes = 16 * 2 * sizeof(float);

/// Writes a row of a cache in place; the output is the new cache doubled.
Session cache_session() {
  Cache c;
  c.put(c.row);
  const auto lowered =
      to_backend(c.finish({c.d.op("aten.mul.Tensor", "twice", c.made, {2.0})}), CapabilityPartitioner<List>());
  REQUIRE(lowered);
  return *Session::make(*lowered);
}
const float* data(const Session& session) { return session.state()[0].tensor.view().as<float>(); }
Floats values(const Session& session) { return elements(EValue(session.state()[0].tensor.view())); }
/// Writes (value, value) to row `at`.
void put(Session& session, std::int64_t at, float value) {
  const Tensor row = programs::tensor({1, 2}, {value, value}), where = index(at);
  const EValue inputs[] = {where, row};
  const auto outputs = session.run(0, inputs);
  REQUIRE(outputs);
  CHECK(elements((*outputs)[0])[static_cast<std::size_t>(2 * at)] == 2 * value);
}

/// Adds 1 to a counter of two elements and returns x plus it. The counter is int64.
ExportedProgram counting() {
  Draft d;
  Tensor zeros = Tensor::zeros(ScalarType::int64, std::vector<std::int64_t>{2});
  d.program.signature.input_specs.push_back(InputToBufferSpec({"b_length"}, "length", true));
  const ValueId length = d.b.input("b_length", ScalarType::int64, {2});
  d.program.state_dict.push_back({"length", zeros});
  const ValueId sum = d.buffer("sum", Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{2}));
  const ValueId x = d.user("x", {2});
  const ValueId next = d.like(length, "next", ScalarType::int64), total = d.add("total", sum, x);
  d.node("aten.add.Tensor", {d.b.value(length), d.b.integer(1)}, {next});
  d.mutate_buffer("length", next);
  d.mutate_buffer("sum", total);
  d.output(total);
  return d.finish();
}

}  // namespace

TEST_CASE("a fork shares the cache; the first of both that writes copies it, once, and the other writes in place") {
  Session first = cache_session();
  put(first, 5, 100);
  const float* const before = data(first);
  CHECK(first.shared_state_bytes() == 0);
  Session second = *first.fork();
  CHECK(first.shared_state_bytes() == cache_bytes);
  CHECK(second.shared_state_bytes() == cache_bytes);
  CHECK(data(second) == before);

  put(first, 6, 7);
  CHECK(data(first) != before);
  CHECK(data(second) == before);
  CHECK(first.shared_state_bytes() == 0);
  CHECK(second.shared_state_bytes() == 0);
  CHECK(values(second)[12] == 6);
  CHECK(values(second)[10] == 100);
  CHECK(values(first)[12] == 7);
  CHECK(values(first)[10] == 100);

  const float* const own = data(first);
  put(second, 6, 8);
  put(first, 5, 9);
  CHECK(data(second) == before);
  CHECK(data(first) == own);
  CHECK(values(first)[10] == 9);
  CHECK(values(first)[12] == 7);
  CHECK(values(second)[10] == 100);
  CHECK(values(second)[12] == 8);
}

TEST_CASE("a fork that runs first copies, forks of forks share, and outlive the session") {
  std::optional<Session> first = cache_session();
  put(*first, 1, 50);
  Session second = *first->fork();
  Session third = *second.fork();
  put(second, 2, 60);
  CHECK(first->shared_state_bytes() == cache_bytes);
  first.reset();
  CHECK(third.shared_state_bytes() == 0);
  const float* const inherited = data(third);
  put(third, 2, 70);
  CHECK(data(third) == inherited);
  CHECK(values(second)[4] == 60);
  CHECK(values(third)[4] == 70);
  CHECK(values(third)[2] == 50);
}

TEST_CASE("a run that fails between fork and the first write leaves both as they were") {
  Session first = cache_session();
  put(first, 5, 100);
  const Session second = *first.fork();
  const Tensor row = programs::tensor({1, 2}, {1, 1}), outside = index(16), good = index(3);
  const EValue wrong[] = {outside, row}, few[] = {good};
  CHECK(error_in(first.run(0, few)).code == ErrorCode::invalid_argument);
  CHECK(first.shared_state_bytes() == cache_bytes);
  CHECK(error_in(first.run(0, wrong)).code == ErrorCode::out_of_range);
  CHECK(error_in(first.run(0, few)).code == ErrorCode::invalid_argument);
  CHECK(values(first) == values(second));
  put(first, 3, 4);
  CHECK(values(second)[6] == 3);
  CHECK(values(second)[10] == 100);
  CHECK(values(first)[6] == 4);
}

TEST_CASE("a run that fails after a buffer has moved does not hide the move from the next run") {
  Session first = cache_session();
  put(first, 5, 100);
  const Session second = *first.fork();
  REQUIRE(first.reset());  // has other memory now
  const Tensor good = index(3);
  const EValue few[] = {good};
  CHECK_FALSE(first.run(0, few));
  put(first, 3, 4);
  CHECK(values(first)[6] == 4);
  CHECK(values(first)[10] == 5);
  CHECK(values(second)[6] == 3);
}

TEST_CASE("a buffer that one method moves has moved for the others") {
  Cache a, b;
  a.put(a.row);
  b.put(b.row);
  const ExportedProgram one = a.finish({a.d.op("aten.mul.Tensor", "twice", a.made, {2.0})}),
                        other = b.finish({b.d.op("aten.mul.Tensor", "thrice", b.made, {3.0})});
  const ProgramMethod methods[] = {{"one", &one}, {"other", &other}};
  const auto lowered = to_backend(std::span<const ProgramMethod>(methods), CapabilityPartitioner<List>());
  REQUIRE(lowered);
  Session first = *Session::make(*lowered);
  const Tensor row = programs::tensor({1, 2}, {1, 1}), at = index(0), next = index(1);
  const EValue inputs[] = {at, row}, others[] = {next, row};
  REQUIRE(first.run(0, inputs));
  REQUIRE(first.run(1, inputs));
  const Session second = *first.fork();
  REQUIRE(first.run(0, others));
  const float* const own = data(first);
  const Tensor again = index(2);
  const EValue third[] = {again, row};
  REQUIRE(first.run(1, third));
  CHECK(data(first) == own);
  CHECK(values(first)[2] == 1);
  CHECK(values(first)[4] == 1);
  CHECK(values(second)[2] == 1);
  CHECK(values(second)[4] == 2);
}

TEST_CASE("an output of the run before a fork may be passed to the next run") {
  Session first = cache_session();
  const Tensor row = programs::tensor({1, 2}, {1, 2}), at = index(0);
  const EValue inputs[] = {at, row};
  const auto outputs = first.run(0, inputs);
  REQUIRE(outputs);
  const EValue cache = outputs->mutations()["cache"].value();
  std::optional<Session> second = *first.fork();
  TensorView part = cache.tensor();  // the first row
  const std::int64_t sizes[] = {1, 2};
  part.sizes_data = sizes;
  const Tensor to = index(9);
  const EValue again[] = {to, part};
  REQUIRE(first.run(0, again));
  CHECK(values(first)[18] == 1);
  CHECK(values(first)[19] == 2);
  CHECK(values(*second)[18] == 9);
}

TEST_CASE("buffers that a method reads are shared for ever, on any partition") {
  const Toys toys;
  Draft d;
  const ValueId kept = d.buffer("kept", programs::tensor({2}, {1, 2}));
  const ValueId sum = d.buffer("sum", programs::tensor({2}, {0, 0}));
  const ValueId x = d.user("x", {2});
  const ValueId next = d.add("next", d.add("both", sum, kept), x);
  d.mutate_buffer("sum", next);
  d.output(next);
  const auto lowered = to_backend<B>(d.finish());
  REQUIRE(lowered);
  Session first = *Session::make(*lowered);
  const Tensor x1 = programs::tensor({2}, {10, 20});
  const EValue inputs[] = {x1};
  REQUIRE(first.run(0, inputs));
  Session second = *first.fork();
  REQUIRE(second.run(0, inputs));
  REQUIRE(first.run(0, inputs));
  REQUIRE(second.run(0, inputs));
  CHECK(elements((*second.run(0, inputs))[0]) == Floats{44, 88});
  CHECK(elements((*first.run(0, inputs))[0]) == Floats{33, 66});
}

TEST_CASE("forks run in several threads at once") {
  Session first = cache_session();
  put(first, 0, 1);
  std::vector<Session> all;
  for (int i = 0; i < 4; ++i) all.push_back(*first.fork());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < all.size(); ++i)
    threads.emplace_back([&session = all[i], i] {
      for (std::int64_t row = 1; row < 16; ++row) {
        const Tensor value = programs::tensor({1, 2}, {static_cast<float>(i), static_cast<float>(row)}),
                     at = index(row);
        const EValue inputs[] = {at, value};
        (void)session.run(0, inputs);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t row = 1; row < 16; ++row) {
      CHECK(values(all[i])[2 * row] == static_cast<float>(i));
      CHECK(values(all[i])[2 * row + 1] == static_cast<float>(row));
    }
  CHECK(values(first)[2] == 1);
  CHECK(values(first)[0] == 1);
}

TEST_CASE("reset and load_state of a fork change only it") {
  Session first = cache_session();
  put(first, 5, 100);
  Session second = *first.fork();
  REQUIRE(second.reset());
  CHECK(values(second)[10] == 5);
  CHECK(values(first)[10] == 100);
  CHECK(second.shared_state_bytes() == 0);
  Session third = *first.fork();
  const NamedTensor saved[] = {{"other", programs::scalar(1)}, second.state()[0]};
  REQUIRE(third.load_state(saved));
  CHECK(values(third)[10] == 5);
  CHECK(values(first)[10] == 100);
  put(third, 5, 1);  // a plan with the old addresses would write to the first one's cache
  CHECK(values(first)[10] == 100);
  CHECK(values(second)[10] == 5);

  CHECK(error_in(third.load_state({})).code == ErrorCode::not_found);
  const NamedTensor wrong[] = {{"cache", programs::scalar(1)}};
  CHECK(error_in(third.load_state(wrong)).code == ErrorCode::invalid_shape);
  const NamedTensor whole[] = {{"cache", Tensor::zeros(ScalarType::int64, std::vector<std::int64_t>{16, 2})}};
  const Error error = error_in(third.load_state(whole));
  CHECK(error.code == ErrorCode::invalid_dtype);
  CHECK(error.where == "state 'cache'");
  CHECK(values(third)[10] == 1);
}

TEST_CASE("a tensor copied from state() keeps its elements when the session runs on") {
  Session session = cache_session();
  put(session, 5, 100);
  const Tensor kept = session.state()[0].tensor;
  put(session, 5, 200);
  CHECK(kept.view().as<float>()[10] == 100);
  CHECK(values(session)[10] == 200);
}

TEST_CASE("rewind sets a counter back, of the session alone") {
  const auto lowered = to_backend<portable>(counting());
  REQUIRE(lowered);
  Session first = *Session::make(*lowered);
  const Tensor x = programs::tensor({2}, {1, 2});
  const EValue inputs[] = {x};
  for (int i = 0; i < 3; ++i) REQUIRE(first.run(0, inputs));
  const auto length = [](const Session& session) {
    for (const NamedTensor& buffer : session.state())
      if (buffer.name == "length") return buffer.tensor.view().as<std::int64_t>()[1];
    return std::int64_t{-1};
  };
  Session second = *first.fork();
  REQUIRE(first.rewind("length", 1));
  CHECK(length(first) == 1);
  CHECK(length(second) == 3);
  REQUIRE(first.run(0, inputs));
  CHECK(length(first) == 2);
  REQUIRE(second.rewind("length", 3));

  Error error = error_in(first.rewind("length", 3));
  CHECK(error.code == ErrorCode::out_of_range);
  CHECK(error.what == "the length 3 is not in 0..2");
  CHECK(error_in(first.rewind("length", -1)).code == ErrorCode::out_of_range);
  error = error_in(first.rewind("position", 1));
  CHECK(error.code == ErrorCode::not_found);
  CHECK(error.fix == "the buffers of integers are 'length'");
  CHECK(error_in(first.rewind("sum", 1)).code == ErrorCode::invalid_dtype);
  CHECK(length(first) == 2);
}

TEST_CASE("a session that has been moved from runs nothing: each function is an error") {
  Session first = cache_session();
  const Session second = std::move(first);
  const std::vector<EValue> none;
  for (const Error& error : {error_in(first.run("forward", none)), error_in(first.fork()), error_in(first.reset()),
                             error_in(first.load_state({})), error_in(first.rewind("length", 0))}) {
    CHECK(error.code == ErrorCode::not_available);
    CHECK(error.what == "it has been moved from, and holds no program");
  }
  CHECK(first.state().empty());
  CHECK(first.shared_state_bytes() == 0);
  first.stop_when({});
  first = *second.fork();
  put(first, 1, 2);
}
