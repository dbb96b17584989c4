// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/op_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "backends/xnnpack/check.hpp"
#include "davit/backends/portable/run_time/op_table.hpp"
#include "davit/backends/xnnpack.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/quantized_net.hpp"

using namespace davit;
using support::Net;
using xnnpack_check::reason;

TEST_CASE("portable takes every operator that XNNPACK takes: there is always a backend to fall back on") {
  for (const xnnpack_parts::Rule& rule : xnnpack_parts::op_table) {
    CAPTURE(rule.target);
    CHECK(portable_kernels::find_op(rule.target) != nullptr);
  }
}

TEST_CASE("a clamp that says it changes sizes is not done with the node before, and fails at the run") {
  for (const support::Sizes sizes : {support::Sizes{6}, {2, 4}, {2, 3}}) {
    Net n;
    const auto x = n.input("x", {2, 3});
    const ExportedProgram program = n.finish({n.relu("y", n.add("sum", x, x, {2, 3}), sizes)});
    const bool fits = sizes.size() == 2 && sizes.begin()[1] == 3;
    const auto kernels = std::ranges::count(xnnpack_check::steps(program), xnnpack_parts::Op::kernel);
    CHECK(kernels == (sizes.size() == 1 ? 0 : fits ? 1 : 2));  // a result of lower rank is refused
    CHECK(xnnpack_check::outputs(program, n.sample()).empty() == !fits);
  }
}

TEST_CASE("bytes and their dequantized values have one size: else the run fails, as portable's does") {
  const auto runs = [](support::Sizes quantized, support::Sizes sizes) {
    support::QuantizedNet n;
    const auto x = n.input("x", {2, 3});
    const auto q = n.quantize("q", x, quantized, {0.1, 3});
    const ExportedProgram program = n.finish({n.dequantize("d", q, sizes, {0.1, 3})});
    return !xnnpack_check::outputs(program, n.sample()).empty();
  };
  CHECK_FALSE(runs({6}, {6}));
  CHECK_FALSE(runs({2, 3}, {2, 4}));
  CHECK(runs({2, 3}, {2, 3}));
}

TEST_CASE("an unused result with another rank than declared does not matter") {
  Net n;
  const auto x = n.input("x", {2, 3, 4});
  (void)n.op("aten.mean.dim", "m", {2, 3, 4}, {{"self", n.v(x)}, {"dim", n.ints({1, 2})}});
  CHECK(xnnpack_check::faults(n.finish({x}), n.sample()) == "");
}

TEST_CASE("a kernel that refuses its operands leaves it to portable to say why") {
  Net n;
  const auto w = n.weight("w", {8, 4, 3, 3});
  const auto table = n.weight("table", {7, 16});
  n.draft.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{Name::own("tokens")}});
  const ValueId tokens = n.draft.b.input("tokens", ScalarType::int64, {4});
  const auto rows = n.op("aten.embedding.default", "rows", {4, 16}, {{"weight", n.v(table)}, {"indices", n.v(tokens)}});
  const auto image =
      n.op("aten.view.default", "image", {1, 4, 4, 4}, {{"self", n.v(rows)}, {"size", n.ints({1, 4, 4, 4})}});
  const ExportedProgram program = n.finish({n.conv("c", image, w, {1, 8, 2, 2})});
  const auto lowered = to_backend<xnnpack>(program, {});
  REQUIRE(lowered);
  auto session = Session::make(*lowered);
  REQUIRE(session);
  const auto run = [&](std::int64_t last) {
    std::array<std::int64_t, 4> numbers{0, 6, 3, last};
    const std::int64_t sizes[] = {4}, strides[] = {1};
    return session->run(0, std::vector<EValue>{TensorView{numbers.data(), sizes, strides, 1, ScalarType::int64}});
  };
  CHECK(run(1));
  const auto outside = run(7);
  REQUIRE_FALSE(outside);
  CHECK(outside.error().code != ErrorCode::failed);
  CHECK(run(2));
}

TEST_CASE("refusals and their reasons") {
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
              {n.op("aten.add.Tensor", "y", {2}, {{"self", n.v(x)}, {"other", n.v(x)}, {"alpha", n.i(2)}})})) == "");
  }
  {
    Net n;
    const auto x = n.input("x", {2});
    CHECK(reason(n.finish({n.op("aten.sin.default", "y", {2}, {{"self", n.v(x)}})})) == "");
  }
  {
    Net n;
    const auto x = n.input("x", {1, 2, 4, 4});
    const auto pooled = n.many("aten.max_pool2d_with_indices.default", {{"p", {1, 2, 2, 2}}, {"i", {1, 2, 2, 2}}},
                               {{"self", n.v(x)}, {"kernel_size", n.ints({2, 2})}});
    CHECK(reason(n.finish({pooled[0], pooled[1]})) == "the indices of the maxima are used");
  }
}
