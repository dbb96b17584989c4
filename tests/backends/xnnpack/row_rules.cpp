// SPDX-License-Identifier: MIT
#include "davit/backends/xnnpack/row_rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "backends/xnnpack/check.hpp"

using namespace davit;
using support::Net;
using xnnpack_check::faults;
using xnnpack_check::real;
using xnnpack_check::steps;
using xnnpack_parts::Op;

namespace {

/// A group norm of the input; of no parameters where they are no_id.
ValueId group_norm(Net& n, ValueId x, ValueId weight, ValueId bias, support::Sizes sizes, std::int64_t groups) {
  const std::int64_t batch = sizes.begin()[0], channels = sizes.begin()[1];
  std::int64_t plane = 1;
  for (std::size_t d = 2; d < sizes.size(); ++d) plane *= sizes.begin()[d];
  const auto given = [&](ValueId v) { return v == no_id ? Argument{} : n.v(v); };
  return n.many("aten.native_group_norm.default", {{"g", sizes}, {"g1", {batch, groups}}, {"g2", {batch, groups}}},
                {{"input", n.v(x)},
                 {"weight", given(weight)},
                 {"bias", given(bias)},
                 {"N", n.i(batch)},
                 {"C", n.i(channels)},
                 {"HxW", n.i(plane)},
                 {"group", n.i(groups)},
                 {"eps", real(1e-5)}})[0];
}

}  // namespace

TEST_CASE("softmax, log_softmax and layer_norm") {
  Net n;
  const auto gamma = n.weight("gamma", {3, 19});
  const auto beta = n.weight("beta", {3, 19});
  const auto x = n.input("x", {4, 3, 19});
  const auto soft = n.op("aten._softmax.default", "s", {4, 3, 19},
                         {{"self", n.v(x)}, {"dim", n.i(1)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const auto log = n.op("aten._log_softmax.default", "l", {4, 3, 19},
                        {{"self", n.v(x)}, {"dim", n.i(-1)}, {"half_to_float", GraphBuilder::boolean(false)}});
  const auto norm = n.many("aten.native_layer_norm.default", {{"n", {4, 3, 19}}, {"n1", {4, 1, 1}}, {"n2", {4, 1, 1}}},
                           {{"input", n.v(x)},
                            {"normalized_shape", n.ints({3, 19})},
                            {"weight", n.v(gamma)},
                            {"bias", n.v(beta)},
                            {"eps", real(1e-5)}})[0];
  CHECK(faults(n.finish({soft, log, norm}), n.sample()) == "");
}

TEST_CASE("group norms: of few and many channels, images, lines, volumes and vectors, with and without parameters") {
  for (const std::int64_t groups : {1, 2, 5, 40}) {
    CAPTURE(groups);
    Net n;
    const auto x = n.input("x", {2, 40, 5, 3});
    CHECK(faults(n.finish({group_norm(n, x, n.weight("gamma", {40}), n.weight("beta", {40}), {2, 40, 5, 3}, groups)}),
                 n.sample()) == "");
    Net plain;
    const auto y = plain.input("x", {2, 40, 7});
    CHECK(faults(plain.finish({group_norm(plain, y, no_id, no_id, {2, 40, 7}, groups)}), plain.sample()) == "");
  }
  Net volume;
  const auto x = volume.input("x", {2, 6, 2, 3, 4});
  CHECK(faults(volume.finish({group_norm(volume, x, volume.weight("gamma", {6}), no_id, {2, 6, 2, 3, 4}, 3)}),
               volume.sample()) == "");
  Net vector;
  const auto y = vector.input("x", {3, 6});
  CHECK(faults(vector.finish({group_norm(vector, y, no_id, vector.weight("beta", {6}), {3, 6}, 2)}), vector.sample()) ==
        "");
}

TEST_CASE("a group norm between convolutions takes planes of their images") {
  Net n;
  const auto x = n.input("x", {1, 8, 6, 6});
  const auto first = n.conv("c1", x, n.weight("w1", {16, 8, 3, 3}, 0.2), {1, 16, 6, 6}, 1, 1);
  const auto norm = n.relu("r", group_norm(n, first, n.weight("gamma", {16}), n.weight("beta", {16}), {1, 16, 6, 6}, 4),
                           {1, 16, 6, 6});
  const ExportedProgram program =
      n.finish({n.conv("c2", norm, n.weight("w22", {8, 16, 3, 3}, 0.2), {1, 8, 6, 6}, 1, 1)});
  CHECK(faults(program, n.sample()) == "");
  CHECK(steps(program) == std::vector{Op::copy, Op::convolution, Op::copy, Op::group_norm, Op::clamp, Op::copy,
                                      Op::convolution, Op::copy});
}

TEST_CASE("group norms that are left to others") {
  Net n;
  const auto x = n.input("x", {1, 6, 4});
  CHECK(xnnpack_check::reason(n.finish({group_norm(n, x, n.weight("gamma", {3}), no_id, {1, 6, 4}, 2)})) ==
        "parameters that are not one number per channel");
  Net line;
  const auto y = line.input("x", {6});
  CHECK(xnnpack_check::reason(
            line.finish({line.many("aten.native_group_norm.default", {{"g", {6}}, {"g1", {1, 1}}, {"g2", {1, 1}}},
                                   {{"input", line.v(y)},
                                    {"weight", {}},
                                    {"bias", {}},
                                    {"N", line.i(1)},
                                    {"C", line.i(6)},
                                    {"HxW", line.i(1)},
                                    {"group", line.i(1)},
                                    {"eps", real(1e-5)}})[0]})) == "no channel dimension");
}
