// SPDX-License-Identifier: MIT
#include "davit/training/training_program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "../support/draft.hpp"
#include "../support/error_in.hpp"
#include "davit/backends/portable.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/verify.hpp"
#include "davit/runtime/session.hpp"

using namespace davit;
using support::Draft;
using support::error_in;
using Doubles = std::vector<double>;

namespace {

Tensor floats(std::vector<float> elements) {
  const std::size_t count = elements.size();
  return *owned_tensor(std::move(elements), {count});
}

/// Errors that the joint graph below can contain.
enum class Flaw { none, no_loss, two_gradients, wrong_sizes, wrong_dtype };

/// loss = sum(w * x) + sum(v * y): the gradients of the parameters w and v are the inputs x and y. The buffer `seen`
/// counts the calls.
ExportedProgram joint(Flaw flaw = Flaw::none) {
  Draft d;
  const ValueId w = d.parameter("net.w", floats({1, -2, 0.5F}));
  const ValueId v = d.parameter("net.v", floats({3, 4}));
  const ValueId seen = d.buffer("seen", 0.F);
  const ValueId x = d.user("x", {3});
  const ValueId y = d.user("y", {2});
  const auto sum = [&](std::string_view name, ValueId of) {
    return d.b.call("aten.sum.default", {{"self", d.b.value(of)}}, name, ScalarType::float32, {});
  };
  const ValueId first = sum("first", d.mul("p", w, x)), second = sum("second", d.mul("q", v, y));
  d.mutate_buffer("seen", d.add("calls", seen, 1.0));
  d.output(d.add("loss", first, second));
  const auto gradient = [&](std::string_view of, ValueId value) {
    d.output(value);
    return GradientToParameterSpec({Name::own(d.b.module().view().name(value))}, Name::own(of));
  };
  const ValueId half =
      d.b.call("aten._to_copy.default", {{"self", d.b.value(y)}, {"dtype", d.b.scalar_type(ScalarType::float16)}},
               "half", ScalarType::float16, {2});
  std::vector<OutputSpec> gradients{gradient("net.w", flaw == Flaw::wrong_sizes ? y : x)};
  gradients.push_back(gradient(flaw == Flaw::two_gradients ? "net.w" : "net.v", flaw == Flaw::wrong_dtype ? half : y));
  ProgramTables program = d.finish();
  std::vector<OutputSpec>& specs = program.signature.output_specs;
  if (flaw != Flaw::no_loss) specs[1] = LossOutputSpec{{"loss"}};
  std::ranges::copy(gradients, specs.end() - 2);
  return program;
}

/// Returns a session of the program, lowered onto portable.
Session session_of(const ExportedProgram& program) {
  for (const Error& violation : verify(program)) FAIL_CHECK(to_string(violation));
  auto lowered = to_backend<portable>(program);
  REQUIRE_MESSAGE(lowered, (lowered ? std::string() : to_string(lowered.error())));
  return *Session::make(*std::move(lowered));
}
ExportedProgram trained(const Optimizer& optimizer, const TrainOptions& options = {}) {
  Result<ExportedProgram> program = training_program(joint(), optimizer, options);
  REQUIRE_MESSAGE(program, (program ? std::string() : to_string(program.error())));
  return *std::move(program);
}
Doubles state(const Session& session, std::string_view name) {
  for (const NamedTensor& each : session.state())
    if (each.name == name) {
      const std::span<float> all = *each.tensor.as<float>();
      return {all.begin(), all.end()};
    }
  return {};
}
/// The gradients of w in step `step`.
Doubles gradient_of_w(int step) { return {0.3 * step - 0.7, step % 2 == 0 ? 1.5 : -0.25, 1e-3 * step}; }
/// Runs one step and returns the loss.
double run(Session& session, int step, double rate = 0.1) {
  std::vector<float> x, y{0.5F, static_cast<float>(step)};
  for (const double each : gradient_of_w(step)) x.push_back(static_cast<float>(each));
  const auto out =
      session.run("forward", floats(x), floats(y),
                  *owned_tensor(std::vector{static_cast<float>(rate)}, std::initializer_list<detail::Size>{}));
  REQUIRE_MESSAGE(out, (out ? std::string() : to_string(out.error())));
  REQUIRE(out->size() == 1);
  return programs::item((*out)[0]);
}
void check_near(const Doubles& got, const Doubles& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(2e-6));
}

/// torch.optim.SGD._single_tensor_sgd, in doubles.
struct ReferenceSgd {
  sgd how;
  Doubles w{1, -2, 0.5}, buffer{};
  void step(Doubles g, double rate) {
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (how.maximize) g[i] = -g[i];
      g[i] += how.weight_decay * w[i];
    }
    if (how.momentum != 0) {
      if (buffer.empty()) {
        buffer = g;
      } else {
        for (std::size_t i = 0; i < w.size(); ++i) buffer[i] = how.momentum * buffer[i] + (1 - how.dampening) * g[i];
      }
      for (std::size_t i = 0; i < w.size(); ++i) g[i] = how.nesterov ? g[i] + how.momentum * buffer[i] : buffer[i];
    }
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= rate * g[i];
  }
};
/// torch.optim.Adam and AdamW, their _single_tensor forms, in doubles.
template <class Adam>
struct ReferenceAdam {
  Adam how;
  Doubles w{1, -2, 0.5}, mean = Doubles(3), square = Doubles(3), most = Doubles(3);
  int steps = 0;
  void step(Doubles g, double rate) {
    ++steps;
    const double first = 1 - std::pow(how.beta1, steps), second = 1 - std::pow(how.beta2, steps);
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (how.maximize) g[i] = -g[i];
      if (std::is_same_v<Adam, adamw>) {
        w[i] *= 1 - rate * how.weight_decay;
      } else {
        g[i] += how.weight_decay * w[i];
      }
      mean[i] = how.beta1 * mean[i] + (1 - how.beta1) * g[i];
      square[i] = how.beta2 * square[i] + (1 - how.beta2) * g[i] * g[i];
      most[i] = std::max(most[i], square[i]);
      const double root = std::sqrt(how.amsgrad ? most[i] : square[i]);
      w[i] -= rate / first * mean[i] / (root / std::sqrt(second) + how.eps);
    }
  }
};

/// Compares steps of the program with steps of the reference, at changing learning rates.
template <class Reference>
void check_steps(Reference reference) {
  Session session = session_of(trained(reference.how));
  for (int step = 1; step <= 12; ++step) {
    const double rate = step < 6 ? 0.1 : 0.02;
    (void)run(session, step, rate);
    reference.step(gradient_of_w(step), rate);
    check_near(state(session, "net.w"), reference.w);
  }
}

}  // namespace

TEST_CASE("SGD steps as torch.optim.SGD does") {
  check_steps(ReferenceSgd{.how = {}});
  check_steps(ReferenceSgd{.how = {.weight_decay = 0.05}});
  check_steps(ReferenceSgd{.how = {.momentum = 0.9}});
  check_steps(ReferenceSgd{.how = {.momentum = 0.9, .dampening = 0.3, .weight_decay = 0.01}});
  check_steps(ReferenceSgd{.how = {.momentum = 0.8, .nesterov = true}});
  check_steps(ReferenceSgd{.how = {.momentum = 0.5, .weight_decay = 0.02, .maximize = true}});
}

TEST_CASE("Adam and AdamW step as torch.optim's do") {
  check_steps(ReferenceAdam<adam>{.how = {}});
  check_steps(ReferenceAdam<adam>{.how = {.beta1 = 0.8, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.1}});
  check_steps(ReferenceAdam<adam>{.how = {.amsgrad = true, .maximize = true}});
  check_steps(ReferenceAdam<adamw>{.how = {}});
  check_steps(ReferenceAdam<adamw>{.how = {.weight_decay = 0}});
  check_steps(ReferenceAdam<adamw>{.how = {.beta2 = 0.9, .weight_decay = 0.3, .amsgrad = true}});
}

TEST_CASE("the loss is that of before the step, buffers change, and the inputs end with the learning rate") {
  Session session = session_of(trained(sgd()));
  CHECK(run(session, 1) == doctest::Approx(1 * -0.4 + -2 * -0.25 + 0.5 * 1e-3 + 3 * 0.5 + 4 * 1));
  CHECK(state(session, "seen") == Doubles{1});
  check_near(state(session, "net.v"), {3 - 0.1 * 0.5, 4 - 0.1 * 1});
  const MethodInterface& interface = session.program().methods()[0].interface;
  CHECK(interface.inputs.back().name == "lr");
  CHECK(interface.inputs.back().role == InputRole::user);
}

TEST_CASE("state of the optimizer is named after moment and parameter") {
  const Session session = session_of(trained(adamw{.amsgrad = true}, {.frozen = {"*.v"}}));
  std::vector<std::string> names;
  for (const NamedTensor& each : session.state()) names.emplace_back(each.name.view());
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{"net.w", "optimizer.bias_correction1", "optimizer.bias_correction2",
                                          "optimizer.exp_avg.net.w", "optimizer.exp_avg_sq.net.w",
                                          "optimizer.max_exp_avg_sq.net.w", "seen"});
}

TEST_CASE("frozen parameters stay, and are no state") {
  Session session = session_of(trained(sgd(), {.frozen = {"net.v"}}));
  (void)run(session, 1);
  CHECK(state(session, "net.v").empty());
  check_near(state(session, "net.w"), {1 + 0.1 * 0.4, -2 + 0.1 * 0.25, 0.5 - 0.1 * 1e-3});
}

TEST_CASE("gradients are accumulated over calls: a step of their mean, of every optimizer") {
  const Optimizer optimizers[] = {sgd{.momentum = 0.9}, adam{.weight_decay = 0.1}, adamw{.amsgrad = true}};
  for (const Optimizer& optimizer : optimizers) {
    Session accumulating = session_of(trained(optimizer, {.accumulate = 3}));
    Session whole = session_of(trained(optimizer));
    for (int step = 1; step <= 9; ++step) {
      const Doubles before = state(accumulating, "net.w");
      (void)run(accumulating, step);
      if (step % 3 != 0) {
        CHECK(state(accumulating, "net.w") == before);
        continue;
      }
      Doubles mean(3);
      for (int i = 0; i < 3; ++i)
        for (std::size_t e = 0; e < 3; ++e) mean[e] += gradient_of_w(step - i)[e] / 3;
      const auto out = whole.run(
          "forward", floats({static_cast<float>(mean[0]), static_cast<float>(mean[1]), static_cast<float>(mean[2])}),
          floats({0.5F, 1}), *owned_tensor(std::vector{0.1F}, std::initializer_list<detail::Size>{}));
      REQUIRE(out);
      check_near(state(accumulating, "net.w"), state(whole, "net.w"));
    }
  }
}

TEST_CASE("a gradient that overflows does not outlive its step") {
  Session session = session_of(trained(sgd(), {.accumulate = 2}));
  const Tensor rate = *owned_tensor(std::vector{0.F}, std::initializer_list<detail::Size>{});
  for (int i = 0; i < 2; ++i) REQUIRE(session.run("forward", floats({INFINITY, 1, 1}), floats({1, 1}), rate));
  CHECK(state(session, "optimizer.gradient.net.w") == Doubles(3));
}

TEST_CASE("parameters that are one tensor follow the sum of their gradients") {
  const Tensor three = floats({1, -2, 0.5F});
  Draft d;
  const ValueId a = d.parameter("a", three), b = d.parameter("b", three);
  const ValueId x = d.user("x", {3}), y = d.user("y", {3});
  const ValueId both = d.add("both", d.mul("p", a, x), d.mul("q", b, y));
  d.output(d.b.call("aten.sum.default", {{"self", d.b.value(both)}}, "loss", ScalarType::float32, {}));
  d.output(x);
  d.output(y);
  ProgramTables program = d.finish();
  program.signature.output_specs = {LossOutputSpec{{"loss"}}, GradientToParameterSpec({"x"}, "a"),
                                    GradientToParameterSpec({"y"}, "b")};
  const Result<ExportedProgram> made = training_program(program, sgd());
  REQUIRE(made);
  Session session = session_of(*made);
  const Tensor rate = *owned_tensor(std::vector{0.5F}, std::initializer_list<detail::Size>{});
  REQUIRE(session.run("forward", floats({1, 2, 3}), floats({2, 0, -1}), rate));
  check_near(state(session, "a"), {1 - 1.5, -2 - 1, 0.5 - 1});
  check_near(state(session, "b"), {1 - 1.5, -2 - 1, 0.5 - 1});
}

TEST_CASE("names that the program has are not taken") {
  ExportedProgram program = joint();
  program.state_dict.push_back({"optimizer.step", programs::scalar(1)});
  const Result<ExportedProgram> made = training_program(program, adam());
  REQUIRE(made);
  CHECK(made->tensor_named("optimizer_.exp_avg.net.w") != nullptr);
  const Error error = error_in(training_program(joint(), sgd(), {.learning_rate = "x"}));
  CHECK(error.code == ErrorCode::invalid_argument);
  CHECK(error.where == "learning rate 'x'");
}

TEST_CASE("programs that are no joint graph, and options that torch refuses, are errors of stage verify") {
  const auto check = [](const Result<ExportedProgram>& result, ErrorCode code, std::string_view where,
                        std::string_view what) {
    const Error error = error_in(result);
    CHECK(error.stage == Stage::verify);
    CHECK(error.code == code);
    CHECK(error.where == where);
    CHECK(error.what.view().find(what) != std::string_view::npos);
    CHECK(!error.fix.empty());
  };
  const ErrorCode program = ErrorCode::invalid_program, argument = ErrorCode::invalid_argument;
  check(training_program(programs::add(), sgd()), program, "signature", "LOSS_OUTPUT");
  check(training_program(joint(Flaw::no_loss), sgd()), program, "signature", "LOSS_OUTPUT");
  check(training_program(joint(Flaw::two_gradients), sgd()), program, "parameter 'net.w'", "two outputs");
  check(training_program(joint(Flaw::wrong_sizes), sgd()), program, "parameter 'net.w'", "other sizes");
  check(training_program(joint(Flaw::wrong_dtype), sgd()), program, "parameter 'net.v'", "another dtype");
  check(training_program(joint(), sgd(), {.frozen = {"*"}}), argument, "frozen", "all parameters");
  check(training_program(joint(), sgd(), {.frozen = {"net.x"}}), ErrorCode::not_found, "frozen 'net.x'",
        "no parameter");
  check(training_program(joint(), sgd(), {.accumulate = 0}), argument, "accumulate", "0");
  check(training_program(joint(), sgd{.momentum = -1}), argument, "optimizer, momentum", "0 or more");
  check(training_program(joint(), sgd{.nesterov = true}), argument, "optimizer, nesterov", "momentum");
  check(training_program(joint(), adam{.beta1 = 1}), argument, "optimizer, beta1", "less than 1");
  check(training_program(joint(), adamw{.beta2 = NAN}), argument, "optimizer, beta2", "less than 1");
  check(training_program(joint(), adamw{.eps = -1}), argument, "optimizer, eps", "0 or more");
  ExportedProgram broken = joint();
  broken.state_dict.pop_back();
  CHECK(error_in(training_program(broken, sgd())).stage == Stage::verify);
}
