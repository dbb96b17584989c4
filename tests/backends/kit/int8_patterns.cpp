// SPDX-License-Identifier: MIT
#include "davit/backends/kit/int8_patterns.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "support/quantized_net.hpp"
#include "support/random_quantized_net.hpp"

using namespace davit;
using support::QuantizedNet;
using support::Sizes;
using Steps = QuantizedNet::Steps;

namespace {

/// A program, its constants by value, and the node that makes a value.
struct Read {
  ExportedProgram program;
  std::vector<const Tensor*> constants;
  operators::ProgramCalls calls;

  explicit Read(ExportedProgram made)
      : program(std::move(made)),
        constants(program.view().values.size(), nullptr),
        calls{program.view(), Uses(program.view())} {
    const auto inputs = program.view().args(program.view().root().inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (const auto name = target(program.signature.input_specs[i]))
        constants[inputs[i].value()] = program.tensor_named(*name);
  }
  template <class F>
  void with_patterns(F&& f) const {
    const auto constant_of = [&](ValueId v) { return constants[v]; };
    f(Int8Patterns(calls, constant_of));
  }
  [[nodiscard]] NodeId foldable_producer(ValueId v) const { return calls.foldable_producer(v); }
};

}  // namespace

TEST_CASE("a quantize is read with the bounds before it") {
  QuantizedNet n;
  const Sizes sizes{2, 3};
  const auto x = n.input("x", sizes);
  const auto relu = n.relu("r", x, sizes);
  const auto q = n.quantize("q", relu, sizes, {0.5, 10});
  const auto none =
      n.quantize("none", support::clamp(n, "c", x, sizes, 90, 99), sizes, {0.5, 10});  // the bounds exclude every byte
  const auto fine = n.quantize("fine", x, sizes, {1e-35, 0});
  const Read read(n.finish({q, none, fine}));
  read.with_patterns([&](const Int8Patterns& patterns) {
    const auto made = patterns.result_of(read.foldable_producer(q));
    REQUIRE(made);
    CHECK((made->bytes == q && made->value == x && made->is_bounded()));
    CHECK(
        (made->range.inverse == 2 && made->range.zero_point == 10 && made->range.low == 10 && made->range.high == 127));
    CHECK_FALSE(patterns.result_of(read.foldable_producer(relu)));
    CHECK_FALSE(patterns.result_of(read.foldable_producer(none)));
    CHECK_FALSE(patterns.result_of(read.foldable_producer(fine)));
  });
}

TEST_CASE(
    "sums are of bytes of one dtype and the sizes of the result; bytes are the same by scale, zero point and bounds") {
  QuantizedNet n;
  const Sizes sizes{2, 3};
  const auto a = n.through_bytes("a", n.input("x", sizes), sizes, {0.5, 10});
  const auto b = n.through_bytes("b", n.input("y", {1, 3}), {1, 3}, {0.5, 10});
  const auto u = n.through_bytes("u", n.input("z", sizes), sizes, {0.5, 10, ScalarType::uint8});
  const auto q = n.quantize("q", n.add("s", a, a, sizes), sizes, {0.5, 10});
  const Read read(n.finish({q, b, u}));
  read.with_patterns([&](const Int8Patterns& patterns) {
    const auto to = patterns.result_of(read.foldable_producer(q));
    REQUIRE(to);
    const auto sum = patterns.sum(*to, a, a);
    REQUIRE(sum);
    CHECK(
        (sum->first == sum->second && sum->parameters.source.scale == 0.5f && sum->parameters.other.zero_point == 10));
    CHECK_FALSE(patterns.sum(*to, a, b));
    CHECK_FALSE(patterns.sum(*to, u, a));
    CHECK_FALSE(patterns.sum(*to, a, to->value));  // a float
    CHECK(patterns.is_same(*patterns.bytes_of(a), *to));
    CHECK_FALSE(patterns.is_same(*patterns.bytes_of(u), *to));
  });
}

TEST_CASE("products have constant weights around zero, a bias of ordinary numbers, and sums that fit") {
  QuantizedNet n;
  const Sizes sizes{2, 4, 5, 5};
  auto weights = n.weights("w", {4, 4, 3, 3});
  const auto bias = n.weight("bias", {4});
  const auto x = n.through_bytes("x_bytes", n.input("x", sizes), sizes, {0.25, 0});
  const auto w = n.dequantize("wf", weights, {4, 4, 3, 3});
  const auto q = n.quantize("q", n.conv("c", x, w, bias, sizes, 1, 1, 1), sizes, {0.5, 10});
  const Read read(n.finish({q}));
  read.with_patterns([&](const Int8Patterns& patterns) {
    const auto to = patterns.result_of(read.foldable_producer(q));
    REQUIRE(to);
    const auto product = patterns.product(*to, x, w, false, bias);
    REQUIRE(product);
    CHECK(product->second == weights.bytes);
    REQUIRE(product->parameters.weight_scales.size() == 4);
    CHECK(product->parameters.unit(2) == 0.25f * weights.scale_numbers.as<float>()->data()[2]);
    CHECK_FALSE(patterns.product(*to, x, x, false, bias));       // no constant
    CHECK_FALSE(patterns.product(*to, x, w, true, bias));        // not transposed
    CHECK_FALSE(patterns.product(*to, w, w, false, no_id));      // several scales
    CHECK_FALSE(patterns.product(*to, x, w, false, to->value));  // a computed bias
    kernels::ByteConvolution c{.channels = 4, .out_channels = 4, .kernel_height = 3, .kernel_width = 3};
    CHECK(patterns.sums_fit(c, product->parameters, bias));
    std::array<float, 32> channels{};
    fill_channels(c, product->parameters, read.constants[bias]->as<float>()->data(), channels.data());
    CHECK((channels[3] == product->parameters.unit(3) && channels[4] == 0 &&
           channels[17] == read.constants[bias]->as<float>()->data()[1]));
    c.out_channels = 5;
    CHECK_FALSE(patterns.sums_fit(c, product->parameters, bias));
    c.out_channels = 4;
    c.channels = 1 << 20;
    CHECK_FALSE(patterns.sums_fit(c, product->parameters, bias));
  });
}
