// SPDX-License-Identifier: MIT
#include "davit/lowering/plain_calls.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/verify.hpp"
#include "davit/runtime/session.hpp"
#include "support/draft.hpp"
#include "support/error_of.hpp"

using namespace davit;
using support::Draft;

namespace {

/// out_dtype(target, int32, arguments...) of 4 elements, which the program returns.
ExportedProgram said(Draft& d, std::string_view target, std::initializer_list<Argument> arguments, ScalarType dtype = ScalarType::int32) {
  std::vector<Argument> inputs{d.b.string(target, ArgumentKind::operator_name), GraphBuilder::scalar_type(dtype)};
  inputs.insert(inputs.end(), arguments.begin(), arguments.end());
  const ValueId out = d.b.tensor("out", dtype, {4});
  const Argument outputs[] = {GraphBuilder::value(out)};
  d.b.node("higher_order.out_dtype", inputs, outputs, d.metadata);
  d.output(out);
  return d.finish();
}
std::string targets(const ExportedProgram& program) {
  std::string all;
  for (const Node& node : program.view().nodes) all += std::string(all.empty() ? "" : " ") + std::string(program.view().target(node));
  return all;
}
std::vector<std::int32_t> run(const ExportedProgram& program, const Tensor& x) {
  const auto lowered = to_backend<portable>(program);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  Session session = *Session::make(*lowered);
  const auto out = session.run("forward", x);
  REQUIRE_MESSAGE(out, (out ? std::string() : to_string(out.error())));
  const auto made = (*out)[0].as<std::int32_t>();
  REQUIRE(made);
  return {made->begin(), made->end()};
}
using Ints = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("a program without out_dtype is not copied") {
  Draft d;
  d.output(d.relu("r", d.user("x")));
  CHECK(!with_plain_calls(d.finish()));
}

TEST_CASE("bytes are multiplied as int32: 100 * 100 does not wrap") {
  Draft d;
  d.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{"x"}});
  const ValueId x = d.b.input("x", ScalarType::int8, {4});
  const ExportedProgram program = said(d, "aten.mul.Tensor", {GraphBuilder::value(x), GraphBuilder::value(x)});
  const auto plain = with_plain_calls(program);
  REQUIRE(plain);
  CHECK(verify(*plain).empty());
  CHECK(targets(*plain) == "aten._to_copy.default aten._to_copy.default aten.mul.Tensor");
  Tensor bytes = Tensor::zeros(ScalarType::int8, std::vector<std::int64_t>{4});
  for (int i = 0; i < 4; ++i) bytes.view().as<std::int8_t>()[i] = static_cast<std::int8_t>(100 - i);
  CHECK(run(program, bytes) == Ints{10000, 9801, 9604, 9409});
}

TEST_CASE("a quotient is made of floats, also of integers, and then an integer") {
  Draft d;
  const ValueId x = d.user("x", {4});
  const ExportedProgram program = said(d, "aten.div.Tensor", {GraphBuilder::value(x), GraphBuilder::real(0.5)});
  CHECK(targets(*with_plain_calls(program)) == "aten.div.Tensor aten._to_copy.default");
  CHECK(run(program, programs::tensor({4}, {1.3F, -1.3F, 7, 0})) == Ints{2, -2, 14, 0});
  Draft whole;
  const ValueId y = whole.user("y", {4});
  const ValueId i = whole.op("aten._to_copy.default", "i", y, {}, ScalarType::int32);
  CHECK(targets(*with_plain_calls(said(whole, "aten.div.Tensor", {GraphBuilder::value(i), GraphBuilder::value(i)}))) ==
        "aten._to_copy.default aten.div.Tensor aten._to_copy.default");
}

TEST_CASE("what is not of the form stays, and is refused by name") {
  Draft d;
  const ValueId x = d.user("x", {4});
  const ExportedProgram program = said(d, "own.mul.default", {GraphBuilder::value(x)});
  CHECK(!with_plain_calls(program));
  CHECK(support::error_of(to_backend<portable>(program)).what.view().find("higher_order.out_dtype") != std::string_view::npos);
}
