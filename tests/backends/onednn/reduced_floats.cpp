// SPDX-License-Identifier: MIT
// Programs of bfloat16 and float16, as `module.to(torch.bfloat16)` makes them.
#include "davit/backends/onednn.hpp"
#include "davit/testing/detail/reduced_program.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "davit/backends/onednn/convolution_layout.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "davit/testing/detail/eager_value.hpp"
#include "support/net.hpp"
#include "support/reference.hpp"

using namespace davit;
using support::Net;
using testing::as_reduced;

namespace {

/// Two units of the last place of a bfloat16, and what sums of some terms of magnitude 1 lose.
constexpr testing::Tolerance two_units{0x1p-6, 0x1p-6};

struct Halved {
  ExportedProgram program;
  std::vector<Tensor> inputs;

  explicit Halved(const ExportedProgram& floats, const std::vector<EValue>& sample,
                  ScalarType dtype = ScalarType::bfloat16)
      : program(floats) {
    testing::make_reduced(program, dtype);
    for (const EValue& each : sample) inputs.push_back(as_reduced(testing::copy_of(each.tensor()), dtype));
  }
  [[nodiscard]] std::vector<EValue> sample() const {
    std::vector<EValue> out;
    for (const Tensor& each : inputs) out.emplace_back(each.view());
    return out;
  }
};

/// How the outputs differ from portable's; nodes that oneDNN leaves to it count too where vectors are wide.
[[nodiscard]] std::string faults(const ExportedProgram& program, const std::vector<EValue>& given) {
  const auto lowered = to_backend(program, CapabilityPartitioner<BackendList<onednn, portable>>());
  if (!lowered) return to_string(lowered.error());
  const LoweredMethod& method = lowered->methods()[0];
  if (onednn_ops::has_wide_vectors() &&
      (method.delegates.size() != 1 || lowered->backends()[method.delegates[0].backend].name != "onednn"))
    return "oneDNN does not take all of it";
  auto session = Session::make(*lowered);
  if (!session) return to_string(session.error());
  const auto results = session->run(0, given);
  if (!results) return to_string(results.error());
  return support::differs_from_portable(program, given, results->all(), two_units);
}
[[nodiscard]] std::string faults(const Halved& halved) { return faults(halved.program, halved.sample()); }

}  // namespace

TEST_CASE("a convolutional network in bfloat16 is one partition") {
  Net n;
  const auto x = n.input("x", {2, 3, 12, 12});
  const auto w1 = n.weight("w1", {32, 3, 3, 3}, 0.3);
  const auto w2 = n.weight("w22", {32, 1, 3, 3}, 0.3);
  const auto w3 = n.weight("w333", {16, 32, 1, 1}, 0.3);
  const auto bias = n.weight("bias", {16});
  const auto w4 = n.weight("w4444", {10, 16}, 0.3);
  const auto a = n.op("aten.hardswish.default", "h", {2, 32, 6, 6},
                      {{"self", n.v(n.norm("n1", n.conv("c1", x, w1, {2, 32, 6, 6}, 2, 1), {2, 32, 6, 6}))}});
  const auto b = n.relu("r", n.conv("c2", a, w2, {2, 32, 6, 6}, 1, 1, 32), {2, 32, 6, 6});
  const auto gate =
      n.op("aten.hardsigmoid.default", "gate", {2, 32, 1, 1},
           {{"self",
             n.v(n.op("aten.mean.dim", "m", {2, 32, 1, 1},
                      {{"self", n.v(b)}, {"dim", n.ints({2, 3})}, {"keepdim", davit::GraphBuilder::boolean(true)}}))}});
  const auto c = n.op("aten.mul.Tensor", "gated", {2, 32, 6, 6}, {{"self", n.v(b)}, {"other", n.v(gate)}});
  const auto d = n.op("aten.conv2d.default", "c3", {2, 16, 6, 6},
                      {{"input", n.v(n.add("sum", c, a, {2, 32, 6, 6}))}, {"weight", n.v(w3)}, {"bias", n.v(bias)}});
  const auto pooled =
      n.op("aten.max_pool2d.default", "pool", {2, 16, 3, 3}, {{"self", n.v(d)}, {"kernel_size", n.ints({2, 2})}});
  const auto both = n.op("aten.cat.default", "cat", {2, 16, 6, 3},
                         {{"tensors", n.draft.b.tensors({pooled, pooled})}, {"dim", n.i(2)}});
  const auto part = n.op("aten.slice.Tensor", "part", {2, 16, 3, 3},
                         {{"self", n.v(both)}, {"dim", n.i(2)}, {"start", n.i(1)}, {"end", n.i(4)}});
  const auto flat = n.op("aten.mean.dim", "flat", {2, 16}, {{"self", n.v(part)}, {"dim", n.ints({2, 3})}});
  const auto y = n.op("aten.linear.default", "y", {2, 10}, {{"input", n.v(flat)}, {"weight", n.v(w4)}});
  const ExportedProgram program =
      n.finish({y, n.op("aten.softmax.int", "p", {2, 10}, {{"self", n.v(y)}, {"dim", n.i(-1)}})});
  CHECK(faults(Halved(program, n.sample())) == "");
}

namespace {

/// Attention and a block of linear layers of `tokens` rows of 16.
[[nodiscard]] Halved encoder(std::int64_t tokens, ScalarType dtype) {
  Net n;
  const auto x = n.input("x", {2, tokens, 16});
  const auto gamma = n.weight("gamma", {16}, 0.5, 1);
  const auto beta = n.weight("beta", {16});
  const auto w1 = n.weight("w1", {32, 16}, 0.3);
  const auto b1 = n.weight("b11", {32});
  const auto w2 = n.weight("w2222", {16, 32}, 0.3);
  const auto heads = [&](std::string_view name, ValueId v) {
    const auto split = n.op("aten.view.default", concat(name, "_s"), {2, tokens, 2, 8},
                            {{"self", n.v(v)}, {"size", n.ints({2, tokens, 2, 8})}});
    return n.op("aten.permute.default", concat(name, "_p"), {2, 2, tokens, 8},
                {{"self", n.v(split)}, {"dims", n.ints({0, 2, 1, 3})}});
  };
  const auto q = heads("q", x);
  const auto k =
      n.op("aten.transpose.int", "k", {2, 2, 8, tokens}, {{"self", n.v(q)}, {"dim0", n.i(-1)}, {"dim1", n.i(-2)}});
  const auto scores = n.op(
      "aten.div.Scalar", "scores", {2, 2, tokens, tokens},
      {{"self", n.v(n.op("aten.matmul.default", "qk", {2, 2, tokens, tokens}, {{"self", n.v(q)}, {"other", n.v(k)}}))},
       {"other", davit::GraphBuilder::real(2.5)}});
  const auto shares =
      n.op("aten._softmax.default", "shares", {2, 2, tokens, tokens},
           {{"self", n.v(scores)}, {"dim", n.i(-1)}, {"half_to_float", davit::GraphBuilder::boolean(false)}});
  const auto mixed =
      n.op("aten.matmul.default", "mixed", {2, 2, tokens, 8}, {{"self", n.v(shares)}, {"other", n.v(q)}});
  const auto joined = n.op("aten.reshape.default", "joined", {2, tokens, 16},
                           {{"self", n.v(n.op("aten.permute.default", "back", {2, tokens, 2, 8},
                                              {{"self", n.v(mixed)}, {"dims", n.ints({0, 2, 1, 3})}}))},
                            {"shape", n.ints({2, tokens, 16})}});
  const auto normed = n.op("aten.layer_norm.default", "normed", {2, tokens, 16},
                           {{"input", n.v(n.add("sum", joined, x, {2, tokens, 16}))},
                            {"normalized_shape", n.ints({16})},
                            {"weight", n.v(gamma)},
                            {"bias", n.v(beta)}});
  const auto wide = n.op("aten.linear.default", "wide", {2, tokens, 32},
                         {{"input", n.v(normed)}, {"weight", n.v(w1)}, {"bias", n.v(b1)}});
  const auto bent = n.op("aten.gelu.default", "bent", {2, tokens, 32}, {{"self", n.v(wide)}});
  const auto y = n.op("aten.linear.default", "y", {2, tokens, 16}, {{"input", n.v(bent)}, {"weight", n.v(w2)}});
  const auto rows =
      n.op("aten.view.default", "rows", {2 * tokens, 16}, {{"self", n.v(x)}, {"size", n.ints({2 * tokens, 16})}});
  const auto z = n.op("aten.linear.default", "z", {2, tokens, 2 * tokens}, {{"input", n.v(x)}, {"weight", n.v(rows)}});
  return Halved(n.finish({y, z}), n.sample(), dtype);
}

}  // namespace

TEST_CASE("an encoder in bfloat16 or float16 is one partition") {
  for (const std::int64_t tokens : {5, 24}) {  // of few rows, and of many, which some CPUs compute in float32
    CAPTURE(tokens);
    CHECK(faults(encoder(tokens, ScalarType::bfloat16)) == "");
    CHECK(faults(encoder(tokens, ScalarType::float16)) == "");
  }
}

TEST_CASE("a residual block in bfloat16 or float16 is one partition") {
  Net n;
  const auto x = n.input("x", {1, 32, 12, 12});
  const auto w1 = n.weight("w1", {32, 32, 3, 3}, 0.1);
  const auto w2 = n.weight("w22", {32, 32, 3, 3}, 0.1);
  const auto a =
      n.relu("r1", n.norm("n1", n.conv("c1", x, w1, {1, 32, 12, 12}, 1, 1), {1, 32, 12, 12}), {1, 32, 12, 12});
  const auto b = n.conv("c2", a, w2, {1, 32, 12, 12}, 1, 1);
  const ExportedProgram program = n.finish({n.relu("r2", n.add("sum", b, x, {1, 32, 12, 12}), {1, 32, 12, 12})});
  for (const float odd :
       {1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 65504.0f}) {
    CAPTURE(odd);
    Halved halved(program, n.sample(), ScalarType::float16);
    halved.inputs[0].view().as<Half>()[70] = Half(odd);
    CHECK(faults(halved) == "");
  }
  for (const float odd :
       {1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 2e38f}) {
    CAPTURE(odd);
    Halved halved(program, n.sample());
    halved.inputs[0].view().as<BFloat16>()[70] = BFloat16(odd);
    CHECK(faults(halved) == "");
  }
}

TEST_CASE("NaN and infinities of bfloat16 are PyTorch's") {
  Net n;
  const auto x = n.input("x", {1, 16, 4, 4});
  const auto w = n.weight("w", {16, 16, 3, 3}, 0.2);
  const ExportedProgram program = n.finish(
      {n.relu("r", n.conv("c", x, w, {1, 16, 4, 4}, 1, 1), {1, 16, 4, 4}),
       n.op("aten.max_pool2d.default", "p", {1, 16, 2, 2}, {{"self", n.v(x)}, {"kernel_size", n.ints({2, 2})}})});
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), 2e38f}) {
    CAPTURE(odd);
    Halved halved(program, n.sample());
    halved.inputs[0].view().as<BFloat16>()[7] = BFloat16(odd);
    CHECK(faults(halved) == "");
  }
}

TEST_CASE("of an odd number of terms, the element behind the last is not a term") {
  const auto check = [](const ExportedProgram& program, const std::vector<EValue>& sample) {
    Halved halved(program, sample);
    const std::int64_t count = halved.inputs[0].numel();
    for (std::int64_t at = 0; at < count; at += count / 16 + 1) {
      CAPTURE(at);
      BFloat16& x = halved.inputs[0].view().as<BFloat16>()[at];
      const BFloat16 before = x;
      x = BFloat16(std::numeric_limits<float>::infinity());
      CHECK(faults(halved) == "");
      x = before;
    }
  };
  for (const std::int64_t channels : {3, 17, 257}) {
    CAPTURE(channels);
    for (const std::int64_t kernel : {1, 3}) {
      Net n;
      const auto x = n.input("x", {1, channels, 6, 6});
      const auto w = n.weight("w", {32, channels, kernel, kernel}, 0.2);
      check(n.finish({n.conv("c", x, w, {1, 32, 6, 6}, 1, kernel / 2)}), n.sample());
    }
    Net n;
    const auto x = n.input("x", {6, channels + 1});
    const auto part = n.op("aten.slice.Tensor", "part", {6, channels},
                           {{"self", n.v(x)}, {"dim", n.i(1)}, {"start", n.i(1)}, {"end", n.i(channels + 1)}});
    const auto w = n.weight("w", {8, channels}, 0.2);
    const auto y = n.op("aten.linear.default", "y", {6, 8}, {{"input", n.v(part)}, {"weight", n.v(w)}});
    const auto square = n.op("aten.linear.default", "square", {6, 6}, {{"input", n.v(part)}, {"weight", n.v(part)}});
    check(n.finish({y, square}), n.sample());
  }
}

TEST_CASE("a matrix with gaps is multiplied") {
  Net n;
  const auto x = n.input("x", {1, 2, 4});
  const auto a = n.input("a", {2, 2});
  const auto column = n.op("aten.select.int", "column", {1, 2}, {{"self", n.v(x)}, {"dim", n.i(2)}, {"index", n.i(3)}});
  const auto both =
      n.op("aten.cat.default", "both", {2, 2}, {{"tensors", n.draft.b.tensors({column, column})}, {"dim", n.i(0)}});
  const auto first = n.op("aten.mm.default", "first", {2, 2}, {{"self", n.v(a)}, {"mat2", n.v(both)}});
  const auto pair = n.op(
      "aten.select.int", "pair", {2, 2},
      {{"self", n.v(n.op("aten.expand.default", "wide", {2, 2, 4}, {{"self", n.v(x)}, {"size", n.ints({2, 2, 4})}}))},
       {"dim", n.i(2)},
       {"index", n.i(1)}});
  const auto second = n.op("aten.mm.default", "second", {2, 2}, {{"self", n.v(first)}, {"mat2", n.v(pair)}});
  CHECK(faults(Halved(n.finish({first, second}), n.sample())) == "");
}

TEST_CASE("a linear layer in bfloat16 between floats, as autocast has it, is one partition") {
  Net n;
  const auto x = n.input("x", {4, 16});
  const auto w = n.weight("w", {8, 16}, 0.3);
  const auto dtype = [](ScalarType type) { return GraphBuilder::scalar_type(type); };
  const auto low =
      n.op("aten._to_copy.default", "low", {4, 16}, {{"self", n.v(x)}, {"dtype", dtype(ScalarType::bfloat16)}});
  const auto y = n.op("aten.linear.default", "y", {4, 8}, {{"input", n.v(low)}, {"weight", n.v(w)}});
  const auto high =
      n.op("aten._to_copy.default", "high", {4, 8}, {{"self", n.v(y)}, {"dtype", dtype(ScalarType::float32)}});
  ExportedProgram program = n.finish({n.relu("r", high, {4, 8})});
  const std::vector<EValue> sample = n.sample();
  const Halved halved(program, sample);  // its weights are bfloat16
  program.state_dict = halved.program.state_dict;
  for (const ValueId v : {low, w, y}) program.graph_module.values[v].dtype = ScalarType::bfloat16;
  CHECK(faults(program, sample) == "");
  for (NodeId node = 0; node < 4; ++node) CHECK(onednn::refuses(program.view(), node) == nullptr);
}

TEST_CASE("a number that is added to bfloat16 is one, and a number that multiplies it is not") {
  for (const auto* target :
       {"aten.add.Tensor", "aten.sub.Tensor", "aten.rsub.Scalar", "aten.mul.Tensor", "aten.div.Tensor"}) {
    CAPTURE(target);
    Net n;
    const auto x = n.input("x", {64});
    const Halved halved(n.finish({n.op(target, "y", {64}, {{"self", n.v(x)}, {"other", GraphBuilder::real(0.3)}})}),
                        n.sample());
    const auto run = [&](const auto& lowered) {
      REQUIRE(lowered);
      auto session = Session::make(*lowered);
      REQUIRE(session);
      const auto results = session->run(0, halved.sample());
      REQUIRE(results);
      std::vector<std::uint16_t> bits;
      const TensorView& made = results->all()[0].tensor();
      for (std::int64_t i = 0; i < made.numel(); ++i) bits.push_back(static_cast<const BFloat16*>(made.data)[i].bits);
      return bits;
    };
    CHECK(run(to_backend(halved.program, CapabilityPartitioner<BackendList<onednn, portable>>())) ==
          run(to_backend<portable>(halved.program)));
  }
}

TEST_CASE("tensors of different dtypes are not mixed") {
  Net n;
  const auto x = n.input("x", {2, 3});
  const auto w = n.weight("w", {3, 3});
  ExportedProgram program = n.finish({n.op("aten.mm.default", "y", {2, 3}, {{"self", n.v(x)}, {"mat2", n.v(w)}})});
  program.graph_module.values[x].dtype = ScalarType::bfloat16;
  CHECK(std::string_view(onednn::refuses(program.view(), NodeId{0})) == "the dtypes of its tensors differ");
}
