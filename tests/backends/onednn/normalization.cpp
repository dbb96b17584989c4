// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/normalization.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "backends/onednn/check.hpp"

using namespace davit;
using onednn_check::described;
using onednn_check::drafted;
using onednn_ops::Dims;
using onednn_ops::OpKind;
using support::Net;

TEST_CASE("batch norms with running statistics only") {
  const auto norm = [](Argument training, support::Sizes statistics, bool with_variance = true) {
    return drafted([&](Net& n) {
      const auto x = n.input("x", {1, 3, 2});
      const auto mean = n.input("mean", statistics);
      const auto variance = n.input("variance", statistics);
      return n.op("aten.batch_norm.default", "y", {1, 3, 2},
                  {{"input", n.v(x)},
                   {"running_mean", n.v(mean)},
                   {"running_var", with_variance ? n.v(variance) : Argument{}},
                   {"training", training},
                   {"eps", GraphBuilder::real(0.5)}});
    });
  };
  const auto made = norm(GraphBuilder::boolean(false), {3});
  CHECK(made.why == "");
  CHECK(made.op.inputs == std::vector<ValueId>{0, 1, 2, no_id, no_id});
  CHECK(made.op.epsilon == 0.5f);
  CHECK(norm(GraphBuilder::boolean(true), {3}).why == "it computes the statistics of its input");
  CHECK(norm({}, {3}).why == "batch_norm: whether it trains is not known");
  CHECK(norm(GraphBuilder::boolean(false), {2}).why == "batch_norm: a parameter needs one element per channel");
  CHECK(norm(GraphBuilder::boolean(false), {3}, false).why == "batch_norm: the running statistics must be given");
}

TEST_CASE("a normalization has its input's sizes, whatever a program declares") {
  const auto why = [](support::Sizes sizes) {
    return drafted([&](Net& n) {
             return n.op("aten.layer_norm.default", "y", sizes,
                         {{"input", n.v(n.input("x", {2, 4}))}, {"normalized_shape", n.ints({4})}});
           })
        .why;
  };
  CHECK(why({2, 4}) == "");
  CHECK(why({2, 5}) == "the sizes of input and output differ");
  CHECK(why({2, 4, 1}) == "the sizes of input and output differ");
}

TEST_CASE("layer norms: sizes from the end, unused statistics") {
  const auto norm = [](std::initializer_list<std::int64_t> normalized, support::Sizes weight) {
    return drafted([&](Net& n) {
      const auto x = n.input("x", {2, 3, 4});
      return n.op("aten.layer_norm.default", "y", {2, 3, 4},
                  {{"input", n.v(x)}, {"normalized_shape", n.ints(normalized)}, {"weight", n.v(n.input("w", weight))}});
    });
  };
  CHECK(norm({3, 4}, {3, 4}).op.kernel == Dims{3, 4});
  CHECK(norm({3, 4}, {3, 4}).op.epsilon == 1e-5f);
  CHECK(norm({3, 4}, {12}).why == "layer_norm: weight and bias must have the sizes normalized_shape");
  CHECK(norm({3}, {3}).why == "layer_norm: normalized_shape does not match the input's sizes");
  CHECK(norm({}, {}).why == "layer_norm: normalized_shape does not fit the input's rank");
  Net n;
  const auto made = n.many("aten.native_layer_norm.default", {{"y", {2, 4}}, {"mean", {2, 1}}, {"rstd", {2, 1}}},
                           {{"input", n.v(n.input("x", {2, 4}))}, {"normalized_shape", n.ints({4})}});
  CHECK(described(n.finish({made[0], made[2]})).why == "the statistics are used");
}

TEST_CASE("softmax is portable's kernel") {
  const auto softmax = [](std::string_view target, std::string_view name, Argument argument) {
    return drafted([&](Net& n) {
      return n.op(target, "y", {2, 3}, {{"self", n.v(n.input("x", {2, 3}))}, {"dim", n.i(-2)}, {name, argument}});
    });
  };
  CHECK(softmax("aten.softmax.int", "dtype", {}).op.kind == OpKind::kernel);
  CHECK(softmax("aten.softmax.int", "dtype", GraphBuilder::scalar_type(ScalarType::float32)).why == "");
  CHECK(softmax("aten._softmax.default", "half_to_float", GraphBuilder::boolean(false)).why == "");
}

TEST_CASE("a mean over all that is behind the channels is a pooling, other reductions are not") {
  const auto reduce = [](std::string_view target, std::initializer_list<std::int64_t> over, support::Sizes to) {
    return drafted([&](Net& n) {
      return n.op(target, "y", to, {{"self", n.v(n.input("x", {2, 3, 4, 5}))}, {"dim", n.ints(over)}});
    });
  };
  const auto pool = reduce("aten.mean.dim", {-1, 2}, {2, 3});
  CHECK(pool.op.kind == OpKind::pool);
  CHECK(pool.op.kernel == Dims{4, 5});
  CHECK(pool.op.strides == Dims{4, 5});
  const auto part = reduce("aten.mean.dim", {3}, {2, 3, 4});
  CHECK(part.op.kind == OpKind::kernel);
  CHECK(reduce("aten.amax.default", {2, 3}, {2, 3}).op.kind == OpKind::kernel);
  CHECK(reduce("aten.sum.dim_IntList", {}, {}).op.kind == OpKind::kernel);
  CHECK(reduce("aten.mean.default", {}, {}).op.kind == OpKind::kernel);
  CHECK(reduce("aten.mean.dim", {4}, {2, 3, 4}).why == "a dimension is outside the tensor's rank");
  CHECK(reduce("aten.mean.dim", {3}, {2, 3}).why == "the output's sizes do not fit");
}
