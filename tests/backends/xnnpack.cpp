// SPDX-License-Identifier: MIT
#include "davit/backends/portable.hpp"
#include "davit/backends/xnnpack.hpp"
#include "davit/core/contiguous.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "backends/xnnpack/check.hpp"
#include "davit/backends/xnnpack/thread_pool.hpp"
#include "davit/kernels/thread_team.hpp"
#include "support/backend_check.hpp"
#include "support/count_own_allocations.hpp"
#include "support/odd_values.hpp"

using namespace davit;
using support::Net;
using support::residual_block;

namespace xnnpack_check {

std::string faults(const ExportedProgram& program, const std::vector<EValue>& sample, testing::Tolerance tolerance,
                   bool int8_kernels) {
  return support::faults_of<xnnpack>(program, sample, tolerance, {.int8_kernels = int8_kernels});
}

std::vector<Tensor> outputs(const ExportedProgram& program, const std::vector<EValue>& sample, bool int8_kernels) {
  std::vector<Tensor> copies;
  const auto lowered = to_backend<xnnpack>(program, {.int8_kernels = int8_kernels});
  if (!lowered) return copies;
  Session session = *Session::make(*lowered);
  const auto results = session.run(0, sample);
  if (!results) return copies;
  for (const EValue& result : results->all()) copies.push_back(contiguous(result.tensor()));
  return copies;
}

}  // namespace xnnpack_check

namespace {

/// A program gives the same bits on that many threads as on one.
void check_on_threads(const ExportedProgram& program, const std::vector<EValue>& sample, std::uint32_t threads) {
  const auto one = to_backend<xnnpack>(program, {.threads = 1});
  const auto several = to_backend<xnnpack>(program, {.threads = threads});
  REQUIRE(one);
  REQUIRE(several);
  Session a = *Session::make(*one);
  Session b = *Session::make(*several);
  const auto alone = a.run(0, sample);
  const auto together = b.run(0, sample);
  REQUIRE(alone);
  REQUIRE(together);
  CHECK(testing::Snapshot(alone->all()) == testing::Snapshot(together->all()));
}

}  // namespace

TEST_CASE("NaN and infinities are those of exact kernels") {
  support::Net n;
  const auto x = n.input("x", {1, 8, 6, 6});
  const auto w = n.weight("w", {8, 8, 3, 3}, 0.2);
  const auto c = n.relu("r", n.conv("c", x, w, {1, 8, 6, 6}, 1, 1), {1, 8, 6, 6});
  const auto pooled =
      n.op("aten.max_pool2d.default", "p", {1, 8, 3, 3}, {{"self", n.v(c)}, {"kernel_size", n.ints({2, 2})}});
  const auto weights = n.op("aten._softmax.default", "s", {1, 8, 6, 6},
                            {{"self", n.v(x)}, {"dim", n.i(-1)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const ExportedProgram program = n.finish({c, pooled, weights});
  std::vector<float> image(8 * 36, 0.5f);
  const Tensor pixels = *tensor(image, {1, 8, 6, 6});
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    image[40] = odd;
    CHECK(xnnpack_check::faults(program, {EValue(pixels.view())}, {1e-4, 1e-5}) == "");
  }
  for (std::size_t i = 36; i < 42; ++i) image[i] = -std::numeric_limits<float>::infinity();
  CHECK(xnnpack_check::faults(program, {EValue(pixels.view())}, {1e-4, 1e-5}) == "");
}

TEST_CASE("each operator keeps NaN and infinities, alone") {
  const auto real = [](double number) { return GraphBuilder::real(number); };
  for (const std::string_view target :
       {"aten.relu.default", "aten.sigmoid.default", "aten.tanh.default", "aten.abs.default", "aten.exp.default",
        "aten.silu.default", "aten.hardswish.default", "aten.hardsigmoid.default", "aten.elu.default",
        "aten.leaky_relu.default", "aten.floor.default", "aten.sqrt.default"}) {
    CAPTURE(target);
    CHECK(support::differs_on_odd_values<xnnpack>(target) == "");
  }
  CHECK(support::differs_on_odd_values<xnnpack>("aten.hardtanh.default",
                                                {{"min_val", real(-1)}, {"max_val", real(2)}}) == "");
  CHECK(support::differs_on_odd_values<xnnpack>("aten.clamp.default", {{"min", real(-1)}, {"max", real(2)}}) == "");
  CHECK(support::differs_on_odd_values<xnnpack>(
            "aten._softmax.default", {{"dim", Net::i(-1)}, {"half_to_float", GraphBuilder::boolean(false)}}) == "");
  for (const std::string_view target : {"aten.minimum.default", "aten.maximum.default", "aten.add.Tensor",
                                        "aten.mul.Tensor", "aten.sub.Tensor", "aten.div.Tensor"}) {
    CAPTURE(target);
    CHECK(support::differs_on_odd_pairs<xnnpack>(target) == "");
  }
}

TEST_CASE("NaN may get lost with fast_math, and only with it") {
  support::Net n;
  const auto x = n.input("x", {1, 4, 4, 4});
  const ExportedProgram program = n.finish(
      {n.op("aten.max_pool2d.default", "p", {1, 4, 2, 2}, {{"self", n.v(x)}, {"kernel_size", n.ints({2, 2})}})});
  const std::vector<EValue> sample = n.sample();
  for (std::size_t i = 0; i < 64; i += 3) sample[0].tensor().as<float>()[i] = std::numeric_limits<float>::quiet_NaN();
  const auto count = [&](bool fast) {
    const auto lowered = to_backend<xnnpack>(program, {.fast_math = fast});
    REQUIRE(lowered);
    Session session = *Session::make(*lowered);
    const auto out = session.run(0, sample);
    REQUIRE(out);
    return std::ranges::count_if(*(*out)[0].as<float>(), [](float v) { return std::isnan(v); });
  };
  CHECK(count(false) == 16);
  CHECK(count(true) < 16);
}

TEST_CASE("a batch norm that follows nothing keeps NaN, too") {
  support::Net n;
  const auto x = n.input("x", {2, 3, 2, 2});
  const ExportedProgram program = n.finish({n.norm("n", x, {2, 3, 2, 2})});
  std::vector<float> image(24, 0.5f);
  image[5] = std::numeric_limits<float>::quiet_NaN();
  image[18] = -std::numeric_limits<float>::infinity();
  const Tensor pixels = *tensor(image, {2, 3, 2, 2});
  CHECK(xnnpack_check::faults(program, {EValue(pixels.view())}, {1e-4, 1e-5}) == "");
}

TEST_CASE("NaN in a view of a constant is seen") {
  support::Net n;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto w = n.draft.parameter("w", programs::tensor({2, 2, 2}, {1, 2, 3, nan, 5, 6, 7, 8}));
  const auto view = n.op("aten.unsqueeze.default", "view", {1, 2, 2, 2}, {{"self", n.v(w)}, {"dim", n.i(0)}});
  const auto pooled =
      n.op("aten.max_pool2d.default", "p", {1, 2, 1, 1}, {{"self", n.v(view)}, {"kernel_size", n.ints({2, 2})}});
  // the write through as_strided keeps the program from being simplified: the view stays
  const auto strided = n.op("aten.as_strided.default", "strided", {2},
                            {{"self", n.v(n.input("x", {4}))}, {"size", n.ints({2})}, {"stride", n.ints({2})}});
  (void)n.op("aten.relu_.default", "r", {2}, {{"self", n.v(strided)}});
  const ExportedProgram program = n.finish({pooled});
  const auto lowered = to_backend(program, CapabilityPartitioner<BackendList<xnnpack, portable>>());
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const auto out = session.run(0, n.sample());
  REQUIRE(out);
  CHECK(std::isnan((*out)[0].as<float>()->front()));
  CHECK((*out)[0].as<float>()->back() == 8);
}

TEST_CASE(
    "products of matrices, which gain nothing by the library, are left to portable; a chain of convolutions is not") {
  using List = BackendList<xnnpack, portable>;
  Net product;
  const auto x = product.input("x", {64, 512});
  CHECK(support::only_partition<List>(product.finish({product.op(
            "aten.linear.default", "y", {64, 512},
            {{"input", Net::v(x)}, {"weight", Net::v(product.weight("w", {512, 512}))}})})) == "portable_0");
  Net chain;
  const auto w = chain.weight("w", {64, 64, 3, 3}, 0.1), z = chain.input("z", {1, 64, 28, 28});
  const auto first = chain.conv("first", z, w, {1, 64, 28, 28}, 1, 1);
  CHECK(support::only_partition<List>(chain.finish({chain.conv("y", first, w, {1, 64, 28, 28}, 1, 1)})) == "xnnpack_0");
}

TEST_CASE("XNNPACK runs here") { REQUIRE(xnnpack::is_available()); }

TEST_CASE("a graph that contradicts its sizes is an error before anything runs") {
  Net n;
  const auto w = n.weight("w", {4, 2, 3, 3});
  const auto x = n.input("x", {1, 2, 8, 8});
  const ExportedProgram program = n.finish({n.conv("c", x, w, {1, 4, 9, 9})});
  const auto lowered = to_backend<xnnpack>(program, {});
  REQUIRE(lowered);
  Session session = *Session::make(*lowered);
  const auto out = session.run(0, n.sample());
  REQUIRE(!out);
  CHECK(out.error().code == ErrorCode::invalid_shape);
}

TEST_CASE("sessions of one module run at the same time, with fewer and with more engines than sessions") {
  Net n;
  const ExportedProgram program = residual_block(n);
  for (const std::uint32_t engines : {1u, 2u, 8u}) {
    const auto lowered = to_backend<xnnpack>(program, {.threads = 1, .concurrent_runs = engines});
    REQUIRE(lowered);
    CHECK(support::wrong_concurrent_runs(*lowered, n.sample(), 4, 20) == 0);
  }
}

TEST_CASE("several threads give the results of one") {
  Net n;
  const ExportedProgram program = residual_block(n);
  check_on_threads(program, n.sample(), 3);
  const kernels::ThreadTeam* const team =
      kernels::team_of_this_thread(3);  // of what portable computes in the same list
  if (std::thread::hardware_concurrency() > 1)
    CHECK(team->runs_on(xnnpack_parts::run_on_pool, xnnpack_parts::thread_pool(3).get()));
}

TEST_CASE("davit's own kernels in a partition have the same bits on several threads") {
  Net n;
  const auto row = n.weight("row", {300});
  const auto x = n.input("x", {4, 64, 300});
  const auto y = n.input("y", {4, 64, 300});
  const auto z = n.input("z", {4, 300, 64});
  const auto most = n.op("aten.maximum.default", "most", {4, 64, 300}, {{"self", n.v(x)}, {"other", n.v(y)}});
  const auto sum = n.op("aten.add.Tensor", "sum", {4, 64, 300}, {{"self", n.v(most)}, {"other", n.v(row)}});
  const auto product = n.op("aten.bmm.default", "product", {4, 64, 64}, {{"self", n.v(sum)}, {"mat2", n.v(z)}});
  const auto turned =
      n.op("aten.permute.default", "turned", {300, 64, 4}, {{"self", n.v(sum)}, {"dims", n.ints({2, 1, 0})}});
  const auto soft = n.op("aten._softmax.default", "soft", {4, 64, 300},
                         {{"self", n.v(sum)}, {"dim", n.i(-1)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const auto channels = n.op("aten._softmax.default", "channels", {4, 64, 300},
                             {{"self", n.v(x)}, {"dim", n.i(1)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const auto functions = n.op("aten.sigmoid.default", "functions", {300, 64, 4}, {{"self", n.v(turned)}});
  const ExportedProgram program = n.finish({product, turned, soft, channels, functions});
  check_on_threads(program, n.sample(), 2);
  CHECK(xnnpack_check::faults(program, n.sample()) == "");
}

TEST_CASE("a run allocates nothing once it is warm") {
  Net n;
  const ExportedProgram program = residual_block(n);
  for (const std::uint32_t threads : {1u, 3u}) {
    const auto lowered = to_backend<xnnpack>(program, {.threads = threads});
    REQUIRE(lowered);
    support::check_no_allocations_once_warm(*Session::make(*lowered), n.sample());
  }
}

TEST_CASE("the compile spec is saved, and numbers out of range are not loaded") {
  const xnnpack::CompileSpec spec{.threads = 3, .concurrent_runs = 2, .int8_kernels = true};
  CHECK(xnnpack::load_spec(xnnpack::save_spec({.fast_math = true}))->fast_math);
  const auto loaded = xnnpack::load_spec(xnnpack::save_spec(spec));
  REQUIRE(loaded);
  CHECK(*loaded == spec);
  CHECK_FALSE(xnnpack::load_spec({}));
  CHECK_FALSE(xnnpack::load_spec(xnnpack::save_spec({.threads = 2000})));
}

TEST_CASE("any damaged byte of a saved module is an error or another program, never a crash") {
  Net n;
  const auto w = n.weight("w", {4, 2, 3, 3});
  const auto x = n.input("x", {1, 2, 5, 5});
  const auto c = n.relu("r", n.conv("c", x, w, {1, 4, 5, 5}, 1, 1), {1, 4, 5, 5});
  const auto flat = n.op("aten.view.default", "v", {4, 25}, {{"self", n.v(c)}, {"size", n.ints({4, 25})}});
  const auto m = n.weight("mm", {25, 3});
  const auto product = n.op("aten.mm.default", "p", {4, 3}, {{"self", n.v(flat)}, {"mat2", n.v(m)}});
  const auto part =
      n.op("aten.slice.Tensor", "s", {4, 2}, {{"self", n.v(product)}, {"dim", n.i(1)}, {"start", n.i(1)}});
  const auto lowered = to_backend<xnnpack>(
      n.finish(
          {n.op("aten.cat.default", "cat", {8, 2}, {{"tensors", n.draft.b.tensors({part, part})}, {"dim", n.i(0)}})}),
      {});
  REQUIRE(lowered);
  CHECK(support::run_damaged(*lowered, n.sample()) > 0);
}
