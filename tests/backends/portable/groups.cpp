// SPDX-License-Identifier: MIT
#include "davit/backends/portable/groups.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/net.hpp"
#include "support/saved_program.hpp"

using namespace davit;
using portable_kernels::CustomOperator;
using support::Net;

namespace {

/// A program, and a call of it.
struct Case {
  Net net;
  ExportedProgram program{};

  /// Calls an operator; returns its outputs, of this dtype.
  ValueId call(std::string_view target, std::initializer_list<Net::Named> arguments, support::Sizes sizes,
               ScalarType dtype = ScalarType::float32, ScalarType second = ScalarType::undefined) {
    GraphBuilder& b = net.draft.b;
    std::vector<Argument> in, out;
    for (const auto& [name, argument] : arguments) {
      in.push_back(argument);
      in.back().name = b.text(name);
    }
    const ValueId made = b.tensor(concat("made_", count_++), dtype, sizes);
    out.push_back(Net::v(made));
    if (second != ScalarType::undefined) out.push_back(Net::v(b.tensor(concat("made_", count_++), second, sizes)));
    b.node(target, in, out, net.draft.metadata);
    return made;
  }
  Case& returns(ValueId v) {
    program = net.finish({v});
    return *this;
  }

 private:
  std::size_t count_ = 0;
};

/// The bytes that a program returns on a backend, after saving and loading.
template <class Portable>
std::vector<std::byte> run(const Case& c) {
  const auto lowered = to_backend<Portable>(c.program);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  const auto loaded = support::loaded<Portable>(support::saved(*lowered));
  REQUIRE_MESSAGE(loaded, (loaded ? std::string() : to_string(loaded.error())));
  Session session = *Session::make(*loaded);
  const std::vector<EValue> inputs = c.net.sample();
  const auto outputs = session.run("forward", std::span<const EValue>(inputs));
  REQUIRE_MESSAGE(outputs, (outputs ? std::string() : to_string(outputs.error())));
  const TensorView& made = outputs->all()[0].tensor();
  const auto* const first = static_cast<const std::byte*>(made.data);
  return {first, first + made.nbytes()};
}

/// The group alone runs the program as portable does; without it its nodes are refused with the group's name.
template <class Group>
void check(const Case& c, bool same = true) {
  const std::string_view name = name_of(Group::group);
  CAPTURE(name);
  const GraphModuleView graph = c.program.view();
  std::size_t refused = 0;
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    CAPTURE(graph.target(graph.nodes[n]));
    CHECK((portable_of<Group>::refuses(graph, n) == nullptr));
    const char* const without = portable_of<>::refuses(graph, n);
    if (without == nullptr) continue;
    ++refused;
    CHECK(concat(without, "") ==
          concat("its kernel is in davit::ops::", name, ", a group that this portable_of does not name"));
  }
  CHECK(refused != 0);
  const std::vector<std::byte> made = run<portable_of<Group>>(c);
  CHECK(!made.empty());
  if (same) CHECK((made == run<portable>(c)));
}

ErrorCode negated(portable_kernels::KernelCall& call) {
  if (const ErrorCode code = call.make_like(0, call.tensor(0)); code != ErrorCode::ok) return code;
  for (std::int64_t i = 0; i < call.tensor(0).numel(); ++i)
    call.output(0).as<float>()[i] = -call.tensor(0).as<float>()[i];
  return ErrorCode::ok;
}
struct Own {
  static constexpr std::array<CustomOperator, 1> operators{
      {{{"own.negated.default", negated}, "own.negated.default(Tensor x) -> Tensor"}}};
};

/// digamma(gt(x, 0.25)): of special_functions and integers.
ExportedProgram of_two_groups() {
  Case c;
  const ValueId x = c.net.input("x", {2, 4});
  const ValueId y =
      c.call("aten.gt.Scalar", {{"self", Net::v(x)}, {"other", GraphBuilder::real(0.25)}}, {2, 4}, ScalarType::bool_);
  return c.returns(c.call("aten.digamma.default", {{"self", Net::v(y)}}, {2, 4})).program;
}

}  // namespace

static_assert(OperatorGroupType<ops::recurrent>);
static_assert(!OperatorGroupType<float>);
static_assert(portable_of<ops::vision>::name == portable::name);
static_assert(RuntimeBackend<portable_of<>>);

TEST_CASE(
    "float inference, integers and indexing alone run an operator of theirs, and are named where they are absent") {
  Case exp;
  ValueId x = exp.net.input("x", {2, 4});
  check<ops::float_inference>(exp.returns(exp.call("aten.exp.default", {{"self", Net::v(x)}}, {2, 4})));
  Case greater;
  x = greater.net.input("x", {2, 4});
  check<ops::integers>(greater.returns(greater.call(
      "aten.gt.Scalar", {{"self", Net::v(x)}, {"other", GraphBuilder::real(0.25)}}, {2, 4}, ScalarType::bool_)));
  Case gather;
  x = gather.net.input("x", {2, 4});
  const ValueId index = gather.call("aten._to_copy.default",
                                    {{"self", Net::v(x)}, {"dtype", GraphBuilder::scalar_type(ScalarType::int64)}},
                                    {2, 4}, ScalarType::int64);
  check<ops::indexing>(gather.returns(
      gather.call("aten.gather.default", {{"self", Net::v(x)}, {"dim", Net::i(0)}, {"index", Net::v(index)}}, {2, 4})));
}

TEST_CASE("sorting, vision, recurrent and int8 alone") {
  Case maxima;
  ValueId x = maxima.net.input("x", {2, 4});
  check<ops::sorting>(maxima.returns(maxima.call("aten.cummax.default", {{"self", Net::v(x)}, {"dim", Net::i(1)}},
                                                 {2, 4}, ScalarType::float32, ScalarType::int64)));
  Case grid;
  x = grid.net.input("x", {1, 1, 2, 2});
  const ValueId points = grid.net.input("points", {1, 2, 2, 2});
  check<ops::vision>(grid.returns(grid.call("aten.grid_sampler_2d.default",
                                            {{"input", Net::v(x)},
                                             {"grid", Net::v(points)},
                                             {"interpolation_mode", Net::i(0)},
                                             {"padding_mode", Net::i(0)},
                                             {"align_corners", GraphBuilder::boolean(false)}},
                                            {1, 1, 2, 2})));
  Case rnn;
  x = rnn.net.input("x", {3, 1, 2});
  const ValueId h = rnn.net.input("h", {1, 1, 2}), w = rnn.net.weight("w", {2, 2}), u = rnn.net.weight("uu", {2, 2});
  const ValueId y = rnn.net.many("aten.rnn_tanh.input", {{"y", {3, 1, 2}}, {"last", {1, 1, 2}}},
                                 {{"input", Net::v(x)},
                                  {"hx", Net::v(h)},
                                  {"params", rnn.net.draft.b.tensors({w, u})},
                                  {"has_biases", GraphBuilder::boolean(false)},
                                  {"num_layers", Net::i(1)},
                                  {"dropout", GraphBuilder::real(0)},
                                  {"train", GraphBuilder::boolean(false)},
                                  {"bidirectional", GraphBuilder::boolean(false)},
                                  {"batch_first", GraphBuilder::boolean(false)}})[0];
  check<ops::recurrent>(rnn.returns(y));
  Case bytes;
  x = bytes.net.input("x", {2, 4});
  const auto convert = [&](std::string_view target, ValueId of, ScalarType made) {
    return bytes.call(target,
                      {{"input", Net::v(of)},
                       {"scale", GraphBuilder::real(0.1)},
                       {"zero_point", Net::i(3)},
                       {"quant_min", Net::i(-128)},
                       {"quant_max", Net::i(127)},
                       {"dtype", GraphBuilder::scalar_type(ScalarType::int8)}},
                      {2, 4}, made);
  };
  const ValueId q = convert("quantized_decomposed.quantize_per_tensor.default", x, ScalarType::int8);
  check<ops::quantization>(
      bytes.returns(convert("quantized_decomposed.dequantize_per_tensor.default", q, ScalarType::float32)));
}

TEST_CASE("random numbers, special functions, complex numbers, linear algebra and gradients alone") {
  Case random;
  ValueId x = random.net.input("x", {2, 4});
  const ValueId drawn = random.call("aten.rand.default", {{"size", random.net.ints({2, 4})}}, {2, 4});
  (void)x;
  check<ops::random>(random.returns(drawn), false);
  Case digamma;
  x = digamma.net.input("x", {2, 4});
  check<ops::special_functions>(digamma.returns(digamma.call("aten.digamma.default", {{"self", Net::v(x)}}, {2, 4})));
  Case product;  // mul is of float_inference, on complex numbers of complex_numbers
  x = product.net.input("x", {4, 2});
  const ValueId z = product.call("aten.view_as_complex.default", {{"self", Net::v(x)}}, {4}, ScalarType::complex64);
  const ValueId square =
      product.call("aten.mul.Tensor", {{"self", Net::v(z)}, {"other", Net::v(z)}}, {4}, ScalarType::complex64);
  check<ops::complex_numbers>(
      product.returns(product.call("aten.view_as_real.default", {{"self", Net::v(square)}}, {4, 2})));
  Case inverse;
  x = inverse.net.input("x", {2, 2});
  const ValueId made = inverse.net.draft.b.tensor("inverse", ScalarType::float32, {2, 2});
  const ValueId info = inverse.net.draft.b.tensor("info", ScalarType::int32, std::initializer_list<std::int64_t>{});
  inverse.net.draft.node("aten.linalg_inv_ex.default", {Net::v(x)}, {made, info});
  check<ops::linear_algebra>(inverse.returns(made));
  Case gradient;
  const ValueId grad = gradient.net.input("grad", {1, 1, 1, 1});
  x = gradient.net.input("x", {1, 1, 2, 2});
  check<ops::gradients>(
      gradient.returns(gradient.call("aten._adaptive_avg_pool2d_backward.default",
                                     {{"grad_output", Net::v(grad)}, {"self", Net::v(x)}}, {1, 1, 2, 2})));
}

TEST_CASE("an operator of a group that is not there is an Error that names it and all groups that are missing") {
  const std::string fix = "portable_of<..., davit::ops::integers, davit::ops::special_functions>";
  const auto lowered = to_backend<portable_of<ops::float_inference>>(of_two_groups());
  REQUIRE(!lowered);
  CHECK(lowered.error().code == ErrorCode::unsupported_operator);
  CHECK(to_string(lowered.error())
            .contains("aten.gt.Scalar (its kernel is in davit::ops::integers, a group that this portable_of does not "
                      "name)"));
  CHECK(to_string(lowered.error()).contains(fix));
  // also for a package that was lowered for portable
  const auto package = support::saved(*to_backend<portable>(of_two_groups()));
  const auto loaded = support::loaded<portable_of<ops::float_inference>>(package);
  REQUIRE(!loaded);
  CHECK(loaded.error().code == ErrorCode::unsupported_operator);
  CAPTURE(to_string(loaded.error()));
  CHECK(to_string(loaded.error())
            .contains(
                "aten.gt.Scalar: its kernel is in davit::ops::integers, a group that this portable_of does not name"));
  CHECK(to_string(loaded.error()).contains(fix));
  CHECK(support::loaded<portable_of<ops::special_functions, ops::integers>>(package));
}

TEST_CASE("an operator on complex numbers names their group, and says so if it takes none") {
  Case c;
  const ValueId x = c.net.input("x", {4, 2});
  const ValueId z = c.call("aten.view_as_complex.default", {{"self", Net::v(x)}}, {4}, ScalarType::complex64);
  const ValueId y = c.call("aten.add.Tensor", {{"self", Net::v(z)}, {"other", Net::v(z)}}, {4}, ScalarType::complex64);
  const ValueId e = c.call("aten.erf.default", {{"self", Net::v(y)}}, {4}, ScalarType::complex64);
  c.returns(e);
  const GraphModuleView graph = c.program.view();
  const std::string_view group =
      "its kernel is in davit::ops::complex_numbers, a group that this portable_of does not "
      "name";
  using Floats = portable_of<ops::float_inference>;
  using Both = portable_of<ops::float_inference, ops::complex_numbers>;
  CHECK(std::string_view(Floats::refuses(graph, 1)) == group);
  CHECK(std::string_view(Floats::refuses(graph, 2)) == group);
  CHECK((Both::refuses(graph, 1) == nullptr));
  CHECK(std::string_view(Both::refuses(graph, 2)) == "the portable kernel of this operator takes no complex numbers");
  CHECK(std::string_view(portable::refuses(graph, 2)) ==
        "the portable kernel of this operator takes no complex numbers");
}

TEST_CASE("portable_of works in a list with other backends, with threads, a spec and a user's operators") {
  Case c;
  const ValueId x = c.net.input("x", {2, 4});
  const ValueId y = c.call("own.negated.default", {{"x", Net::v(x)}}, {2, 4});
  c.returns(c.call("aten.exp.default", {{"self", Net::v(y)}}, {2, 4}));
  using Mine = portable_with<Own, portable_of<ops::float_inference>>;
  CHECK((run<Mine>(c) == run<portable_with<Own>>(c)));
  CHECK(!to_backend<portable_of<ops::float_inference>>(c.program));

  Case exp;
  const ValueId a = exp.net.input("x", {2, 4});
  exp.returns(exp.call("aten.exp.default", {{"self", Net::v(a)}}, {2, 4}));
  using List = BackendList<portable_of<ops::float_inference>>;
  const auto lowered = to_backend(exp.program, CapabilityPartitioner<List>());
  REQUIRE(lowered);
  CHECK(lowered->backends().name(0) == "portable");
  CHECK(support::loaded<portable>(support::saved(*lowered)));
  portable_of<ops::float_inference>::set_threads(2);
  CHECK((run<portable_of<ops::float_inference>>(exp) == run<portable>(exp)));
  portable::set_threads(1);
}
