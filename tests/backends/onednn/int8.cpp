// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/int8.hpp"

#include <doctest/doctest.h>

#include "backends/onednn/check.hpp"
#include "support/quantized_net.hpp"

using namespace davit;
using onednn_ops::OpKind;
using support::QuantizedNet;

namespace {

template <class MakeNode>
[[nodiscard]] onednn_check::Described drafted(MakeNode&& draft) {
  QuantizedNet n;
  (void)draft(n);
  return onednn_check::described(n.finish({}));
}

}  // namespace

TEST_CASE("floats go to bytes and back by numbers, element by element") {
  const auto to = drafted([](QuantizedNet& n) { return n.quantize("q", n.input("x", {2, 3}), {2, 3}, {0.5, 3}); });
  CHECK(to.why == "");
  CHECK(to.op.kind == OpKind::convert);
  const auto back = drafted([](QuantizedNet& n) {
    return n.through_bytes("d", n.input("x", {2, 3}), {2, 3}, {0.5, 200, ScalarType::uint8});
  });
  CHECK(back.why == "");
  CHECK(back.op.kind == OpKind::convert);
}

TEST_CASE("a scale per channel is a tensor, and one of portable's kernels") {
  const auto weights = drafted([](QuantizedNet& n) { return n.dequantize("w", n.weights("k", {4, 3}), {4, 3}); });
  CHECK(weights.why == "");
  CHECK(weights.op.kind == OpKind::kernel);
  CHECK(weights.op.inputs.size() == 3);
}

TEST_CASE("other integers than bytes are left to others") {
  CHECK(drafted([](QuantizedNet& n) {
          return n.quantize("q", n.input("x", {2, 3}), {2, 3}, {0.5, 3, ScalarType::int32});
        }).why == "a tensor is neither int8 nor uint8");
}
