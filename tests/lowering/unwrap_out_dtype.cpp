// SPDX-License-Identifier: MIT
#include "davit/lowering/unwrap_out_dtype.hpp"

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
#include "support/error_in.hpp"

using namespace davit;
using support::Draft;

namespace {

/// out_dtype(target, int32, arguments...) of 4 elements, the program's output.
ExportedProgram said(Draft& d, std::string_view target, std::initializer_list<Argument> arguments,
                     ScalarType dtype = ScalarType::int32) {
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
  for (const Node& node : program.view().nodes)
    all += std::string(all.empty() ? "" : " ") + std::string(program.view().target(node));
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
  CHECK(!with_unwrapped_out_dtype(d.finish()));
}

TEST_CASE("bytes are multiplied as int32: 100 * 100 does not wrap") {
  Draft d;
  d.program.signature.input_specs.push_back(UserInputSpec{TensorArgument{"x"}});
  const ValueId x = d.b.input("x", ScalarType::int8, {4});
  const ExportedProgram program = said(d, "aten.mul.Tensor", {GraphBuilder::value(x), GraphBuilder::value(x)});
  const auto plain = with_unwrapped_out_dtype(program);
  REQUIRE(plain);
  CHECK(verify(*plain).empty());
  CHECK(targets(*plain) == "aten._to_copy.default aten._to_copy.default aten.mul.Tensor");
  Tensor bytes = Tensor::zeros(ScalarType::int8, std::vector<std::int64_t>{4});
  for (int i = 0; i < 4; ++i) bytes.view().as<std::int8_t>()[i] = static_cast<std::int8_t>(100 - i);
  CHECK(run(program, bytes) == Ints{10000, 9801, 9604, 9409});
}

TEST_CASE("a quotient is computed in floats, also of integers, and then converted to an integer") {
  Draft d;
  const ValueId x = d.user("x", {4});
  const ExportedProgram program = said(d, "aten.div.Tensor", {GraphBuilder::value(x), GraphBuilder::real(0.5)});
  CHECK(targets(*with_unwrapped_out_dtype(program)) == "aten.div.Tensor aten._to_copy.default");
  CHECK(run(program, programs::tensor({4}, {1.3F, -1.3F, 7, 0})) == Ints{2, -2, 14, 0});
  Draft whole;
  const ValueId y = whole.user("y", {4});
  const ValueId i = whole.op("aten._to_copy.default", "i", y, {}, ScalarType::int32);
  CHECK(targets(*with_unwrapped_out_dtype(
            said(whole, "aten.div.Tensor", {GraphBuilder::value(i), GraphBuilder::value(i)}))) ==
        "aten._to_copy.default aten.div.Tensor aten._to_copy.default");
}

TEST_CASE("calls of another form stay, and are refused by name") {
  Draft d;
  const ValueId x = d.user("x", {4});
  const ExportedProgram program = said(d, "own.mul.default", {GraphBuilder::value(x)});
  CHECK(!with_unwrapped_out_dtype(program));
  CHECK(support::error_in(to_backend<portable>(program)).what.view().find("higher_order.out_dtype") !=
        std::string_view::npos);
}

namespace {

/// associative_scan of in0 * in1 + (in2, if there is a third value), over dimension `dim` of x.
ExportedProgram scanned(support::Sizes sizes, support::Sizes slice, std::int64_t dim, bool has_more = false) {
  Draft d;
  const ValueId x = d.user("x", sizes), k = d.user("k", slice);
  const GraphId body = d.branch(
      "combine", has_more ? 3 : 2,
      [&](auto in) {
        const ValueId product = d.mul("product", in[0], in[1]);
        return has_more ? d.add("more", product, in[2]) : product;
      },
      slice);
  const ValueId out = d.b.tensor("out", ScalarType::float32, sizes);
  if (dim == 0)
    d.node("higher_order.associative_scan",
           {d.b.subgraph(body), d.b.tensors({x}), has_more ? d.b.tensors({k}) : d.b.tensors({})}, {out});
  else
    d.node("higher_order.associative_scan", {d.b.subgraph(body), d.b.tensors({x}), d.b.integer(dim)}, {out});
  d.output(out);
  d.output(k);
  return d.finish();
}
std::vector<float> scan(const ExportedProgram& program, const Tensor& x, const Tensor& k) {
  REQUIRE(verify(program, {.allow_unknown_operators = true}).empty());
  const auto lowered = to_backend<portable>(program);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  Session session = *Session::make(*lowered);
  const auto out = session.run("forward", x, k);
  REQUIRE_MESSAGE(out, (out ? std::string() : to_string(out.error())));
  return support::elements((*out)[0]);
}

/// own.bump.default(Tensor(a!) x, int n) in newer torch's form, on a view of a base of 4 elements, or on the base.
ExportedProgram written(std::string_view view, std::initializer_list<std::int64_t> numbers) {
  Draft d;
  const ValueId base = d.user("base", {4});
  std::vector<Argument> inputs{d.b.string("own.bump.default", ArgumentKind::operator_name)};
  const auto add = [&](std::string_view name, Argument a) {
    a.name = d.b.intern(name);
    inputs.push_back(a);
  };
  add("n", GraphBuilder::integer(3));
  add("_x_base_index", GraphBuilder::integer(0));
  if (view == "slice") {
    const char* const names[] = {"_x_slice_dim", "_x_slice_start", "_x_slice_end"};
    const char* const* name = names;
    for (const std::int64_t number : numbers) add(*name++, GraphBuilder::integer(number));
  } else if (view == "alias") {
    add("_x_alias", GraphBuilder::boolean(true));
  } else if (view == "strided") {
    add("_x_size", d.b.ints({2}));
    add("_x_stride", d.b.ints({2}));
    add("_x_storage_offset", GraphBuilder::integer(1));
  }
  add("_all_bases", d.b.tensors({base}));
  const ValueId out = d.b.tensor("out", ScalarType::float32, {4});
  const Argument outputs[] = {Argument{}, GraphBuilder::value(out)};
  d.b.node("higher_order.auto_functionalized_v2", inputs, outputs, d.metadata);
  d.output(out);
  return d.finish();
}

}  // namespace

TEST_CASE("an associative scan becomes a scan that begins with the first slice") {
  const Tensor x = programs::tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), k = programs::tensor({2}, {10, 100});
  CHECK(scan(scanned({4, 2}, {2}, 0), x, k) == std::vector<float>{1, 2, 3, 8, 15, 48, 105, 384});
  CHECK(scan(scanned({2, 4}, {2}, 1), programs::tensor({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), k) ==
        std::vector<float>{1, 2, 6, 24, 5, 30, 210, 1680});
  CHECK(scan(scanned({3, 2}, {2}, 0, true), programs::tensor({3, 2}, {1, 2, 3, 4, 5, 6}), k) ==
        std::vector<float>{1, 2, 13, 108, 75, 748});
  CHECK(scan(scanned({1, 2}, {2}, 0), programs::tensor({1, 2}, {7, 9}), k) == std::vector<float>{7, 9});
  CHECK(verify(*with_unwrapped_out_dtype(scanned({4, 2}, {2}, 0))).empty());
}

TEST_CASE("an associative scan over a size that is known at run time, also of one slice") {
  Draft d;
  const ExprId n = d.b.symbol("s0");
  const ValueId x = d.user("x", n);
  const GraphId body = d.branch("combine", 2, [&](auto in) { return d.mul("product", in[0], in[1]); });
  const ValueId out = d.sized("out", n);
  d.node("higher_order.associative_scan", {d.b.subgraph(body), d.b.tensors({x}), d.b.tensors({})}, {out});
  d.output(out);
  const auto lowered = to_backend<portable>(d.finish());
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  Session session = *Session::make(*lowered);
  const auto run = [&](std::initializer_list<float> values) {
    const auto made = session.run("forward", programs::tensor({static_cast<std::int64_t>(values.size())}, values));
    REQUIRE_MESSAGE(made, (made ? std::string() : to_string(made.error())));
    return support::elements((*made)[0]);
  };
  CHECK(run({1, 2, 3, 4}) == std::vector<float>{1, 2, 6, 24});
  CHECK(run({5}) == std::vector<float>{5});
  CHECK(run({2, 3}) == std::vector<float>{2, 6});
}

TEST_CASE("an operator that writes views of bases is called on them, and the bases get the written values") {
  const auto plain = [](std::string_view view, std::initializer_list<std::int64_t> numbers = {}) {
    const auto made = with_unwrapped_out_dtype(written(view, numbers));
    REQUIRE(made);
    CHECK(verify(*made, {.allow_unknown_operators = true}).empty());
    return targets(*made);
  };
  CHECK(plain("") == "higher_order.auto_functionalized");
  CHECK(plain("alias") == "higher_order.auto_functionalized");
  CHECK(plain("slice", {0, 1, 3}) ==
        "aten.slice.Tensor higher_order.auto_functionalized aten.slice_scatter.default aten.alias.default");
  CHECK(plain("strided").starts_with("aten.as_strided.default higher_order.auto_functionalized "));
  CHECK(plain("slice", {0, 1}) == "higher_order.auto_functionalized_v2");
}
