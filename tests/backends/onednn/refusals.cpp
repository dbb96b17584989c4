// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/refusals.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "backends/onednn/check.hpp"

using namespace davit;
using support::Net;

namespace {

/// The reason why oneDNN refuses the last node of a program; "" if it takes it.
[[nodiscard]] std::string reason(const ExportedProgram& program) {
  const char* why = onednn_ops::refuses(program.view(), static_cast<NodeId>(program.view().nodes.size() - 1));
  return why == nullptr ? "" : why;
}

}  // namespace

TEST_CASE("refusals and their reasons") {
  const auto unary = [](std::string_view target, std::initializer_list<Net::Named> more = {}) {
    Net n;
    const auto x = n.input("x", {2, 3});
    std::vector<Net::Named> arguments{{"self", n.v(x)}};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto y = arguments.size() == 1   ? n.op(target, "y", {2, 3}, {arguments[0]})
                   : arguments.size() == 2 ? n.op(target, "y", {2, 3}, {arguments[0], arguments[1]})
                                           : n.op(target, "y", {2, 3}, {arguments[0], arguments[1], arguments[2]});
    return reason(n.finish({y}));
  };
  CHECK(unary("aten.relu.default") == "");
  CHECK(unary("aten.erfinv.default") == "");
  CHECK(unary("aten.i0.default") == "the library has no such operator");
  CHECK(unary("aten.div.Tensor", {{"other", GraphBuilder::real(0)}}) == "");  // by portable's kernel
  CHECK(unary("aten.elu.default", {{"scale", GraphBuilder::real(2)}}) == "");
  CHECK(unary("aten.permute.default") == "a permutation needs one entry per dimension of the tensor");
  CHECK(unary("aten.softmax.int", {{"dim", GraphBuilder::boolean(true)}, {"nosuch", {}}}) ==
        "oneDNN has no primitive for it");  // the kernel refuses such arguments, too
  Net used;
  const auto x = used.input("x", {1, 3, 4, 4});
  const auto pool = used.many("aten.max_pool2d_with_indices.default", {{"y", {1, 3, 2, 2}}, {"i", {1, 3, 2, 2}}},
                              {{"self", used.v(x)}, {"kernel_size", used.ints({2, 2})}});
  CHECK(reason(used.finish({pool[0], pool[1]})) == "");
  CHECK(reason(programs::binary("aten.add.Tensor", {2}, programs::trace_of_add, ScalarType::int64)) == "");
  CHECK(reason(programs::binary("aten.add.Tensor", {2}, programs::trace_of_add, ScalarType::float64)) == "");
  CHECK(reason(programs::binary("aten.add.Tensor", {2}, programs::trace_of_add, ScalarType::complex64)) ==
        "a tensor is neither float32, bfloat16 nor float16");
  CHECK(reason(programs::binary("aten.atan2.default", {2}, programs::trace_of_add, ScalarType::int64)) == "");
  CHECK(reason(programs::binary("aten.mm.default", {2, 2}, programs::trace_of_add, ScalarType::int64)) ==
        "a tensor is neither float32, bfloat16 nor float16");
  CHECK(reason(programs::binary("aten.add.Tensor", {0})) == "a tensor has no elements");
}

TEST_CASE("a node with a description is refused if the library has no primitive, each time it is asked") {
  const auto product = [](std::int64_t batch) {
    Net n;
    const auto a = n.input("a", {2, 3, 4});
    const auto b = n.input("b", {batch, 4, 6});
    return reason(n.finish({n.op("aten.bmm.default", "y", {2, 3, 6}, {{"self", n.v(a)}, {"mat2", n.v(b)}})}));
  };
  for (int again = 0; again < 2; ++again) {
    CHECK(product(2) == "");
    CHECK(product(5) == "oneDNN has no primitive for it");
  }
}

TEST_CASE("answers are kept by all properties that a primitive depends on") {
  const auto key = [](auto&& draft) {
    Net n;
    (void)draft(n);
    const ExportedProgram program = n.finish({});
    const auto made = onednn_check::described(program);
    REQUIRE(made.why == "");
    return onednn_ops::detail::key_of(program.view(), made.op);
  };
  const auto relu = [&](support::Sizes sizes, std::string_view target = "aten.relu.default") {
    return key([&](Net& n) { return n.op(target, "y", sizes, {{"self", n.v(n.input("x", sizes))}}); });
  };
  CHECK(relu({2, 3}) == relu({2, 3}));
  CHECK(relu({2, 3}) != relu({3, 2}));
  CHECK(relu({1}) != relu({}));
  CHECK(relu({2, 3}) != relu({2, 3}, "aten.abs.default"));
  const auto conv = [&](std::int64_t stride, std::int64_t pad, std::int64_t dilation, bool biased = false) {
    return key([&](Net& n) {
      const auto x = n.input("x", {1, 2, 9, 9});
      const auto w = n.input("w", {2, 2, 3, 3});
      const auto b = n.input("b", {2});
      return n.op("aten.conv2d.default", "y", {1, 2, 9, 9},
                  {{"input", n.v(x)},
                   {"weight", n.v(w)},
                   {"bias", biased ? n.v(b) : Argument{}},
                   {"stride", n.ints({stride})},
                   {"padding", n.ints({pad})},
                   {"dilation", n.ints({dilation})}});
    });
  };
  CHECK(conv(1, 1, 1) == conv(1, 1, 1));
  CHECK(conv(1, 1, 1) != conv(2, 1, 1));
  CHECK(conv(1, 1, 1) != conv(1, 2, 1));
  CHECK(conv(1, 1, 1) != conv(1, 1, 2));
  CHECK(conv(1, 1, 1) != conv(1, 1, 1, true));
  const auto permute = [&](std::int64_t a, std::int64_t b) {
    return key([&](Net& n) {
      return n.op("aten.permute.default", "y", {2, 2}, {{"self", n.v(n.input("x", {2, 2}))}, {"dims", n.ints({a, b})}});
    });
  };
  CHECK(permute(0, 1) != permute(1, 0));
  CHECK(permute(0, 1) == permute(-2, -1));
}
