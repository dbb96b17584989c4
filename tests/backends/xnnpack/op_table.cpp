// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/op_table.hpp"

#include <doctest/doctest.h>

#include "backends/xnnpack/check.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "support/quantized_net.hpp"

using namespace davit;
using support::Net;
using xnnpack_check::reason;

TEST_CASE("what XNNPACK takes portable takes too: there is always a backend to fall back on") {
  for (const xnnpack_parts::Rule& rule : xnnpack_parts::op_table) {
    CAPTURE(rule.target);
    CHECK(portable_kernels::find_op(rule.target) != nullptr);
  }
}

TEST_CASE("what says that a clamp changes sizes is refused, though it would be done with the node before") {
  const auto why = [](support::Sizes sizes) {
    Net n;
    const auto x = n.input("x", {2, 3});
    return reason(n.finish({n.relu("y", n.add("sum", x, x, {2, 3}), sizes)}));
  };
  CHECK(why({6}) == "a result of other sizes");
  CHECK(why({2, 4}) == "a result of other sizes");
  CHECK(why({2, 3}) == "");
}

TEST_CASE("what says that bytes and what they stand for have different sizes is refused, used or not") {
  const auto why = [](support::Sizes quantized, support::Sizes sizes) {
    support::QuantizedNet n;
    const auto x = n.input("x", {2, 3});
    const auto q = n.quantize("q", x, quantized, {0.1, 3});
    if (quantized.size() == 2) (void)n.dequantize("d", q, sizes, {0.1, 3});
    return reason(n.finish({x}));
  };
  CHECK(why({6}, {}) == "a result of other sizes");
  CHECK(why({2, 3}, {}) == "a result of other sizes");
  CHECK(why({2, 3}, {2, 4}) == "a result of other sizes");
  CHECK(why({2, 3}, {2, 3}) == "");
  support::QuantizedNet n;
  const auto weights = n.weights("w", {4, 2});
  const auto x = n.input("x", {2});
  (void)n.dequantize("d", weights, {4});
  CHECK(reason(n.finish({x})) == "a result of other sizes");
}

TEST_CASE("a result that nobody uses, of another rank than the program says, is an error when the code is made") {
  Net n;
  const auto x = n.input("x", {2, 3, 4});
  (void)n.op("aten.mean.dim", "m", {2, 3, 4}, {{"self", n.v(x)}, {"dim", n.ints({1, 2})}});
  const ExportedProgram program = n.finish({x});
  CHECK(reason(program) == "");
  DebugMap map;
  DebugHandleRecorder recorder(map);
  recorder.begin_method("forward", program.view());
  const auto body = make_program_body(Method{"forward", &program}, "xnnpack", recorder);
  REQUIRE(body);
  const auto plan = xnnpack_parts::make_plan(**body);
  REQUIRE(!plan);
  CHECK(plan.error().code == ErrorCode::invalid_shape);
}

TEST_CASE("what is refused, and why") {
  {
    Net n;
    const auto x = n.input("x", {1, 2, 3, 3, 3});
    const auto w = n.weight("w", {2, 2, 1, 1, 1});
    CHECK(reason(n.finish({n.op("aten.convolution.default", "c", {1, 2, 3, 3, 3},
                                {{"input", n.v(x)}, {"weight", n.v(w)}})})) == "neither a 1-d nor a 2-d convolution");
  }
  for (const std::int64_t groups : {1, 2}) {
    Net n;
    const auto x = n.input("x", {1, 2, 3, 3});
    const auto w = n.weight("w", {2, 1, 1, 1});
    CHECK(reason(n.finish({n.op("aten.convolution.default", "c", {1, groups, 4, 4},
                                {{"input", n.v(x)},
                                 {"weight", n.v(w)},
                                 {"transposed", GraphBuilder::boolean(true)},
                                 {"output_padding", n.ints({1, 1})},
                                 {"groups", n.i(groups)}})})) ==
          (groups == 1 ? "an output padding that is not smaller than the stride"
                       : "a transposed convolution of each channel by itself, which XNNPACK carries out as a product "
                         "of matrices per channel"));
  }
  {
    Net n;
    const auto x = n.input("x", {2});
    CHECK(reason(n.finish(
              {n.op("aten.add.Tensor", "y", {2}, {{"self", n.v(x)}, {"other", n.v(x)}, {"alpha", n.i(2)}})})) ==
          "an alpha other than 1");
  }
  {
    Net n;
    const auto x = n.input("x", {2});
    CHECK(reason(n.finish({n.op("aten.sin.default", "y", {2}, {{"self", n.v(x)}})})) == "no XNNPACK operator for this");
  }
  {
    Net n;
    const auto x = n.input("x", {1, 2, 4, 4});
    const auto pooled = n.many("aten.max_pool2d_with_indices.default", {{"p", {1, 2, 2, 2}}, {"i", {1, 2, 2, 2}}},
                               {{"self", n.v(x)}, {"kernel_size", n.ints({2, 2})}});
    CHECK(reason(n.finish({pooled[0], pooled[1]})) == "the indices of the maxima are used");
  }
}
