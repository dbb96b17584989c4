// SPDX-License-Identifier: MIT
#include "davit/backends/kit/non_finite_fallback.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "davit/backends/portable/run_time/code.hpp"
#include "davit/lowering/to_backend.hpp"
#include "support/any_size.hpp"
#include "support/net.hpp"

using namespace davit;
using support::Net;

TEST_CASE("a partition runs on portable's kernels, within its memory limit") {
  Net n;
  const auto x = n.input("x", {4, 8});
  const auto a = n.op("aten.exp.default", "a", {4, 8}, {{"self", n.v(x)}});
  const auto b = n.op("aten.mm.default", "b", {4, 4}, {{"self", n.v(a)}, {"mat2", n.v(n.weight("w", {8, 4}))}});
  const ExportedProgram program = n.finish({n.op("aten.neg.default", "y", {4, 4}, {{"self", n.v(b)}})});
  const auto lowered = to_backend<portable>(program);
  REQUIRE(lowered);
  const auto& body = handle_of<portable>(lowered->methods()[0].delegates[0]).code->body;
  const std::vector<EValue> inputs = n.sample();
  const Tensor y = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{4, 4});
  std::vector<EValue> outputs{EValue(y.view())};
  const NullTracer tracer;
  Name why;
  ExactRun exact;
  const Status refused = exact.run(body, inputs, outputs, 16, RunEvents(tracer), why);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::out_of_memory);
  CHECK(why == "no memory for exact kernels");
  CHECK(*y.view().as<float>() == 0);
  REQUIRE(exact.run(body, inputs, outputs, 1 << 20, RunEvents(tracer), why));
  CHECK(*y.view().as<float>() != 0);
}

TEST_CASE("memory is planned for the sizes of each run, also after one that failed") {
  const ExportedProgram program = support::tanh_of_any_size();
  const auto lowered = to_backend<portable>(program);
  REQUIRE(lowered);
  const auto& body = handle_of<portable>(lowered->methods()[0].delegates[0]).code->body;
  const NullTracer tracer;
  Name why;
  ExactRun exact;
  const auto run = [&](std::int64_t size, std::uint64_t max_memory) {
    const Tensor x = Net::numbers({size}), y = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{size});
    const EValue input(x.view());
    EValue output(y.view());
    return exact.run(body, {&input, 1}, {&output, 1}, max_memory, RunEvents(tracer), why) &&
           std::abs(y.view().as<float>()[size - 1] - std::tanh(x.view().as<float>()[size - 1])) < 1e-5f;
  };
  CHECK(run(8, 4096));
  CHECK(run(8, 4096));
  CHECK(run(1000, 4096));
  CHECK_FALSE(run(2000, 4096));
  CHECK_FALSE(run(2000, 4096));
  CHECK(run(8, 4096));
}
