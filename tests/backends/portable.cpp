// SPDX-License-Identifier: MIT
#include "davit/backends/portable.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/portable/run_time/code.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "support/draft.hpp"
#include "support/net.hpp"

using namespace davit;
using portable_kernels::CustomOperator;
using portable_kernels::KernelCall;
using support::Draft;
using Floats = std::vector<float>;

namespace {

void add_to(const TensorView& x, double by) {
  for (std::int64_t i = 0; i < x.numel(); ++i) x.as<float>()[i] += static_cast<float>(by);
}
/// Adds to its argument, and returns nothing.
ErrorCode bump(KernelCall& call) {
  add_to(call.tensor(0), call.number(1));
  return ErrorCode::ok;
}
/// Adds to two lists and to one tensor that may be missing; returns their number of tensors.
ErrorCode bump_all(KernelCall& call) {
  std::int64_t count = 0;
  for (const std::size_t list : {std::size_t{0}, std::size_t{2}})
    for (const EValue& each : call.list(list)) {
      add_to(each.tensor(), static_cast<double>(++count));
    }
  if (call.has(1)) add_to(call.tensor(1), static_cast<double>(++count));
  call.set(0, EValue(count));
  return ErrorCode::ok;
}

/// Returns a result by `kind`: 0 ints, 1 another number of ints, 2 none, 3 an exception if x is not 0.
ErrorCode wrong(KernelCall& call) {
  const std::int64_t kind = call.integer(1), sizes[] = {3};
  if (kind == 3 && *call.tensor(0).as<float>() != 0) throw std::runtime_error("the kernel gave up");
  if (kind == 3) return call.make_like(0, call.tensor(0));
  if (kind == 2) return ErrorCode::ok;
  return kind == 0 ? call.make(0, ScalarType::int32, call.tensor(0).sizes()) : call.make(0, ScalarType::float32, sizes);
}

struct Own {
  static constexpr std::array<CustomOperator, 3> operators{{
      {{"own.wrong.default", wrong}, "own.wrong.default(Tensor x, int kind) -> Tensor"},
      {{"own.bump.default", bump}, "own.bump.default(Tensor(a!) x, float by) -> ()"},
      {{"own.bump_all.default", bump_all},
       "own.bump_all.default(Tensor(a!)[] xs, Tensor(b!)? y, Tensor(c!)[] zs) -> int"},
  }};
};

/// The outputs of `program` for x, and x afterwards.
std::vector<Floats> run(const ExportedProgram& program) {
  auto lowered = to_backend<portable_with<Own>>(program);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  Session session = *Session::make(*lowered);
  Tensor x = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{4});
  for (int i = 0; i < 4; ++i) x.view().as<float>()[i] = static_cast<float>(i + 1);
  std::vector<Floats> all;
  for (int call = 0; call < 2; ++call) {
    const auto out = session.run("forward", x);
    REQUIRE_MESSAGE(out, (out ? std::string() : to_string(out.error())));
    for (const EValue& value : out->all())
      all.push_back(value.is_tensor() ? support::elements(value) : Floats{static_cast<float>(value.as_int())});
  }
  all.push_back(support::elements(x.view()));
  return all;
}

}  // namespace

TEST_CASE("portable_with: an operator that writes to its argument is seen by later nodes, and by no others") {
  Draft d;
  const ValueId x = d.user("x", {4}), a = d.relu("a", x), b = d.relu("b", x);
  const auto bump_by = [&](ValueId v, double by) {
    d.node("own.bump.default", {GraphBuilder::value(v), GraphBuilder::real(by)}, {});
  };
  bump_by(a, 0.5);
  const ValueId sum = d.add("sum", a, b);
  bump_by(a, 0.25);
  for (const ValueId v : {sum, a, b}) d.output(v);
  const Floats once{2.5, 4.5, 6.5, 8.5}, twice{1.75, 2.75, 3.75, 4.75}, ones{1, 2, 3, 4};
  CHECK(run(d.finish()) == std::vector<Floats>{once, twice, ones, once, twice, ones, ones});
}

// Keys that no run has written may hold anything.
TEST_CASE("portable: attention over buffers does not read keys that the mask leaves out; over inputs, NaN stays") {
  for (const bool are_buffers : {true, false}) {
    GraphBuilder b;
    b.begin_graph();
    const std::initializer_list<std::int64_t> cache{1, 32, 1}, one{1, 1, 1};
    const ValueId keys = b.input("keys", ScalarType::float32, cache),
                  values = b.input("values", ScalarType::float32, cache);
    const ValueId x = b.input("x", ScalarType::float32, one), mask = b.input("mask", ScalarType::bool_, {1, 32});
    const auto written = [&](ValueId self, std::string_view name) {
      return b.call("aten.slice_scatter.default",
                    {{"self", b.value(self)},
                     {"src", b.value(x)},
                     {"dim", b.integer(1)},
                     {"start", b.integer(0)},
                     {"end", b.integer(1)}},
                    name, ScalarType::float32, cache);
    };
    const ValueId k = written(keys, "k"), v = written(values, "v");
    const ValueId y =
        b.call("aten.scaled_dot_product_attention.default",
               {{"query", b.value(x)}, {"key", b.value(k)}, {"value", b.value(v)}, {"attn_mask", b.value(mask)}}, "y",
               ScalarType::float32, one);
    if (are_buffers)
      b.end_graph({k, v, y});
    else
      b.end_graph({y});
    ProgramTables program;
    program.graph_module = std::move(b).finish();
    const auto caches = [&] {
      Tensor made = Tensor::zeros(ScalarType::float32, std::vector(cache));
      std::ranges::fill_n(made.view().as<float>() + 16, 16, std::numeric_limits<float>::quiet_NaN());
      return made;
    };
    for (const char* const name : {"keys", "values"}) {
      if (are_buffers) {
        program.signature.input_specs.push_back(InputToBufferSpec({name}, name, true));
        program.state_dict.push_back({name, caches()});
      } else {
        program.signature.input_specs.push_back(UserInputSpec{TensorArgument{name}});
      }
    }
    for (const char* const name : {"x", "mask"})
      program.signature.input_specs.push_back(UserInputSpec{TensorArgument{name}});
    if (are_buffers)
      program.signature.output_specs = {BufferMutationSpec({"k"}, "keys"), BufferMutationSpec({"v"}, "values")};
    program.signature.output_specs.push_back(UserOutputSpec{TensorArgument{"y"}});
    const auto lowered = to_backend<portable>(std::move(program));
    REQUIRE(lowered);
    Session session = *Session::make(*lowered);
    Tensor two = Tensor::zeros(ScalarType::float32, std::vector(one)),
           kept = Tensor::zeros(ScalarType::bool_, std::vector<std::int64_t>{1, 32});
    *two.view().as<float>() = 2;
    *kept.view().as<bool>() = true;
    const auto out =
        are_buffers ? session.run("forward", two, kept) : session.run("forward", caches(), caches(), two, kept);
    REQUIRE(out);
    const float made = (*out)[0].value().tensor().as<float>()[0];
    if (are_buffers)
      CHECK(made == 2);
    else
      CHECK(std::isnan(made));
  }
}

TEST_CASE("portable_with: an operator that writes to its user's input and to a buffer changes both") {
  Draft d;
  const ValueId count = d.buffer("count", 1.0F), x = d.user("x", {4});
  for (const ValueId v : {count, x}) d.node("own.bump.default", {GraphBuilder::value(v), GraphBuilder::real(1)}, {});
  d.output(d.add("sum", x, count));
  const std::vector<Floats> all = run(d.finish());
  REQUIRE(all.size() >= 3);
  CHECK(all.back() == Floats{3, 4, 5, 6});
  CHECK(std::ranges::find(all, Floats{4, 5, 6, 7}) != all.end());  // 1 + 1 and 1 + 1
  CHECK(std::ranges::find(all, Floats{6, 7, 8, 9}) != all.end());
}

TEST_CASE("portable_with: an operator that writes lists, with a missing tensor and results beside them") {
  for (const bool missing : {false, true}) {
    Draft d;
    const ValueId x = d.user("x", {4}), a = d.relu("a", x), b = d.relu("b", x), y = d.relu("y", x), z = d.relu("z", x);
    const ValueId made = d.b.declare({.name = d.b.text("number"), .kind = ValueKind::sym_int});
    d.node("own.bump_all.default",
           {d.b.tensors({a, b}), missing ? Argument{} : GraphBuilder::value(y), d.b.tensors({z})}, {made});
    for (const ValueId v : {a, b, y, z, made}) d.output(v);
    std::vector<Floats> all = run(d.finish());
    REQUIRE(all.size() == 11);
    const Floats last = missing ? Floats{1, 2, 3, 4} : Floats{5, 6, 7, 8};
    CHECK(std::vector<Floats>(all.begin(), all.begin() + 5) ==
          std::vector<Floats>{{2, 3, 4, 5}, {3, 4, 5, 6}, last, {4, 5, 6, 7}, {missing ? 3.0F : 4.0F}});
  }
}

TEST_CASE(
    "portable_with: a kernel's result that contradicts the program is an error of the kernel, not of the next node") {
  const std::string_view said[] = {"made tensor 0 of int32, the program declares float32",
                                   "made tensor 0 of other sizes than the program declares", "made no tensor 0"};
  for (int kind = 0; kind < 3; ++kind) {
    Draft d;
    const ValueId x = d.user("x", {4}), made = d.like(x, "made");
    d.node("own.wrong.default", {GraphBuilder::value(x), GraphBuilder::integer(kind)}, {made});
    d.output(d.relu("r", made));
    const auto lowered = to_backend<portable_with<Own>>(d.finish());
    REQUIRE(lowered);
    Session session = *Session::make(*lowered);
    const auto out = session.run("forward", Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{4}));
    REQUIRE(!out);
    CHECK(out.error().what == concat("the kernel of own.wrong.default ", said[kind]));
    CHECK(out.error().where == "method 'forward', node 'made' (own.wrong.default)");
  }
}

TEST_CASE("portable_with: a kernel's exception is an Error with the partition's name, and the session stays usable") {
  Draft d;
  const ValueId x = d.user("x", {4}), made = d.like(x, "made");
  d.node("own.wrong.default", {GraphBuilder::value(x), GraphBuilder::integer(3)}, {made});
  d.output(made);
  Session session = *Session::make(*to_backend<portable_with<Own>>(d.finish()));
  const Tensor zeros = Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{4});
  const Tensor other = programs::tensor({4}, {1, 2, 3, 4});
  for (int run = 0; run < 2; ++run) {
    const auto out = session.run("forward", other);
    REQUIRE(!out);
    CHECK(out.error().code == ErrorCode::failed);
    CHECK(out.error().what == "an exception was thrown: the kernel gave up");
    CHECK(out.error().where.view().find("partition 'portable_0'") != std::string_view::npos);
    CHECK(session.run("forward", zeros));
  }
}

TEST_CASE("without the operator's kernel the error says which backend may have one") {
  Draft d;
  const ValueId x = d.user("x", {4}), a = d.relu("a", x);
  d.node("own.bump.default", {GraphBuilder::value(a), GraphBuilder::real(1)}, {});
  d.output(a);
  const auto lowered = to_backend<portable>(d.finish());
  REQUIRE(!lowered);
  CHECK(lowered.error().what.view().find("own.bump.default (no portable kernel for this operator)") !=
        std::string_view::npos);
  CHECK(lowered.error().fix.view().find("portable_with") != std::string_view::npos);
}

TEST_CASE(
    "the base of an output's view is made at the output's destination, or copied there by the view's own kernel") {
  support::Net n;
  const auto x = n.input("x", {2, 3, 4});
  const auto a = n.op("aten.exp.default", "a", {2, 3, 4}, {{"self", n.v(x)}});
  const auto whole = n.op("aten.view.default", "whole", {6, 4}, {{"self", n.v(a)}, {"size", n.ints({6, 4})}});
  const auto b = n.op("aten.neg.default", "b", {2, 3, 4}, {{"self", n.v(x)}});
  const auto turned =
      n.op("aten.permute.default", "turned", {4, 3, 2}, {{"self", n.v(b)}, {"dims", n.ints({2, 1, 0})}});
  const auto copied =
      n.op("aten.reshape.default", "copied", {4, 6}, {{"self", n.v(turned)}, {"shape", n.ints({4, 6})}});
  const auto part = n.op("aten.slice.Tensor", "part", {2, 3, 2},
                         {{"self", n.v(b)}, {"dim", n.i(2)}, {"start", n.i(0)}, {"end", n.i(2)}, {"step", n.i(1)}});
  const auto given = n.op("aten.view.default", "given", {24}, {{"self", n.v(x)}, {"size", n.ints({24})}});
  const ExportedProgram program = n.finish({whole, a, copied, part, turned, given});
  const auto lowered = to_backend<portable>(program);
  REQUIRE(lowered);
  const portable_kernels::Code& code = *handle_of<portable>(lowered->methods()[0].delegates[0]).code;
  const auto slot = [&](ValueId v) { return code.slot_of_value[v]; };
  // a has one place, b no output's place; a view that may copy has its own
  CHECK(code.made_slots ==
        std::vector<std::uint32_t>{slot(a), no_id, slot(copied), slot(part), slot(turned), slot(given)});

  auto session = Session::make(*lowered);
  REQUIRE(session);
  const std::vector<EValue> inputs = n.sample();
  const auto outputs = session->run("forward", std::span<const EValue>(inputs));
  REQUIRE(outputs);
  const auto at = [&](std::size_t i) { return (*outputs)[i].as<float>(); };
  const float* const from = inputs[0].tensor().as<float>();
  for (std::size_t i = 0; i < 24; ++i) {
    CHECK((*at(0))[i] == (*at(1))[i]);
    CHECK((*at(0))[i] > 0);
    const std::size_t r = i / 12, c = i / 4 % 3, w = i % 4;
    CHECK((*at(2))[w * 6 + c * 2 + r] == -from[i]);
    CHECK((*at(4))[w * 6 + c * 2 + r] == -from[i]);
    if (w < 2) CHECK((*at(3))[r * 6 + c * 2 + w] == -from[i]);
    CHECK((*at(5))[i] == from[i]);
  }
}
