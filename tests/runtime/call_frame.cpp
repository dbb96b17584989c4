// SPDX-License-Identifier: MIT
#include "davit/runtime/call_frame.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

#include "../support/draft.hpp"

#include "davit/core/limits.hpp"

using namespace davit;
using support::Draft;

namespace {

/// A program's frame, with its state.
struct Frame {
  Name name{"forward"};
  MethodInterface interface;
  std::vector<NamedTensor> state;
  CallFrame frame;

  explicit Frame(const ExportedProgram& program)
      : interface(method_interface(program)),
        state(*copy_state(program.state_dict)),
        frame(name, "toy", interface, state) {}
  Frame(const Frame&) = delete;
};

/// total += x; x = total + x; returns total (old), x (old), and 3
ExportedProgram mutates() {
  Draft d;
  const ValueId total = d.buffer("total", 10);
  const ValueId x = d.user("x");
  const ValueId sum = d.add("sum", total, x);
  const ValueId next = d.add("next", sum, x);
  d.mutate_buffer("total", sum);
  d.mutate_input("x", next);
  d.output(total);
  d.output(x);
  d.output(d.b.integer(3), std::int64_t{3});
  return d.finish();
}

ExportedProgram with_fixed_input(bool more = false) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::float32, {});
  Argument flag = b.integer(3);
  flag.name = b.text("times");
  b.input(flag);
  if (more) {
    Argument last = b.boolean(true);
    last.name = b.text("last");
    b.input(last);
  }
  b.end_graph({x});
  return programs::user_program(std::move(b).finish());
}

}  // namespace

TEST_CASE("reuse_tensor keeps storage of the right dtype and sizes, and refuses sizes that do not fit into memory") {
  Tensor t;
  const std::int64_t sizes[] = {2, 3};
  REQUIRE(reuse_tensor(t, ScalarType::float32, sizes));
  const void* data = t.storage.data();
  CHECK(t.view().is_contiguous());
  CHECK(reuse_tensor(t, ScalarType::float32, sizes));
  CHECK(t.storage.data() == data);
  CHECK(reuse_tensor(t, ScalarType::float64, sizes));
  CHECK(t.dtype == ScalarType::float64);
  data = t.storage.data();
  const std::int64_t huge[] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  const std::int64_t large[] = {std::int64_t{1} << 46};
  CHECK(!reuse_tensor(t, ScalarType::float32, huge));
  CHECK(!reuse_tensor(t, ScalarType::float32, large));
  CHECK(t.storage.data() == data);
  CHECK(t.dtype == ScalarType::float64);
  const std::int64_t none[] = {0, 3};
  CHECK(reuse_tensor(t, ScalarType::float32, none));
  CHECK(t.numel() == 0);
}

TEST_CASE("state is copied within a limit, for any strides") {
  NamedTensor one{"b", Tensor::zeros(ScalarType::float32, std::vector<std::int64_t>{4})};
  NamedTensor expanded = one;  // 4 bytes of storage that claim 4 TiB
  expanded.tensor.sizes = {std::int64_t{1} << 40};
  expanded.tensor.strides = {0};
  CHECK(copy_state(std::vector{one, one}, 32));
  CHECK(!copy_state(std::vector{one, one}, 31));
  const auto refused = copy_state(std::vector{expanded}, Limits{}.max_memory);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::out_of_memory);
}
TEST_CASE("reuse_tensor makes a contiguous tensor of one that is not") {
  const std::int64_t sizes[] = {2, 2};
  Tensor t = Tensor::zeros(ScalarType::float32, sizes);
  t.strides = {1, 2};
  REQUIRE(reuse_tensor(t, ScalarType::float32, sizes));
  CHECK(t.view().is_contiguous());
}

TEST_CASE("copy_state copies: the program's own tensors stay as they are") {
  const ExportedProgram program = mutates();
  const std::vector<NamedTensor> state = *copy_state(program.state_dict);
  REQUIRE(state.size() == 1);
  *state[0].tensor.view().as<float>() = 99;
  CHECK(*program.state_dict[0].tensor.view().as<float>() == 10);
}

TEST_CASE("state comes before the caller's arguments; too few and too many arguments are reported") {
  Frame f(mutates());
  CHECK(f.frame.gathers());
  CHECK(f.frame.writes_back());
  const Tensor x = programs::scalar(2);
  const EValue user[] = {x, x};
  REQUIRE(f.frame.gather(std::span(user, 1), f.state));
  CHECK(support::items(f.frame.inputs()) == std::vector<float>{10, 2});
  CHECK(f.frame.inputs_fit(f.frame.inputs()));
  const auto few = f.frame.gather({}, f.state);
  REQUIRE(!few);
  CHECK(few.error().what == "forward() is missing value for argument 'x'");
  const auto many = f.frame.gather(user, f.state);
  REQUIRE(!many);
  CHECK(many.error().code == ErrorCode::invalid_argument);
  CHECK(many.error().what == "forward() expected at most 1 argument(s) but received 2");
}

TEST_CASE("inputs that the export fixed may be left out, but not be another value") {
  Frame f(with_fixed_input());
  const Tensor x = programs::scalar(2);
  const EValue right[] = {x, 3};
  const EValue wrong[] = {x, 4};
  REQUIRE(f.frame.gather(std::span(right, 1), f.state));
  CHECK(f.frame.inputs()[1].as_int() == 3);
  CHECK(f.frame.gather(right, f.state));
  const auto bad = f.frame.gather(wrong, f.state);
  REQUIRE(!bad);
  CHECK(bad.error().where == "argument 'times' of forward()");

  Frame two(with_fixed_input(true));  // with none, one or both of the fixed inputs
  const EValue all[] = {x, 3, true};
  for (std::size_t n = 1; n <= 3; ++n) REQUIRE(two.frame.gather(std::span(all, n), two.state));
  CHECK(two.frame.inputs()[2].as_bool());
  CHECK(two.frame.gather(wrong, two.state).error().where == "argument 'times' of forward()");
  CHECK(two.frame.gather({}, two.state).error().what == "forward() is missing value for argument 'x'");
  CHECK(two.frame.gather({}, two.state).error().fix ==
        "call it as forward(x: float32[], times: int = as exported, last: bool = as exported)");
}

TEST_CASE("arguments by name are put in place; unknown, double and missing ones are reported") {
  Frame f(with_fixed_input());
  const Tensor x = programs::scalar(2);
  const NamedValue named[] = {{"times", 3}, {"x", x.view()}};
  const auto all = f.frame.arrange({}, named);
  REQUIRE(all);
  REQUIRE(all->size() == 2);
  CHECK((*all)[0].is_tensor());
  CHECK((*all)[1].as_int() == 3);
  const EValue positional[] = {x};
  CHECK(f.frame.arrange(positional, {})->size() == 2);
  CHECK(f.frame.arrange(positional, named).error().what == "forward() got two values for argument 'x'");
  const NamedValue twice[] = {{"x", x.view()}, {"times", 3}, {"x", x.view()}};
  CHECK(f.frame.arrange({}, twice).error().what == "forward() got two values for argument 'x'");
  const NamedValue unknown[] = {{"x", x.view()}, {"y", 1}};
  CHECK(f.frame.arrange({}, unknown).error().what == "forward() has no argument 'y'");
  CHECK(f.frame.arrange({}, std::span(named, 1)).error().what == "forward() is missing value for argument 'x'");
  const EValue three[] = {x, 3, 4};
  CHECK(f.frame.arrange(three, {}).error().what == "forward() expected at most 2 argument(s) but received 3");
}

TEST_CASE("inputs of another dtype, rank or size do not fit, and the check says which") {
  Frame f(mutates());
  const Tensor wide = Tensor::zeros(ScalarType::float64, {});
  const EValue user[] = {wide};
  REQUIRE(f.frame.gather(user, f.state));
  CHECK(!f.frame.inputs_fit(f.frame.inputs()));
  const auto checked = f.frame.check_inputs(user, f.frame.inputs());
  REQUIRE(!checked);
  CHECK(checked.error().code == ErrorCode::invalid_dtype);
  CHECK(checked.error().where == "argument 'x' of forward()");
  CHECK(checked.error().backend == "toy");
}

TEST_CASE("write_back changes state and user inputs; outputs that viewed them keep the values they had") {
  Frame f(mutates());
  const Tensor x = programs::scalar(2);
  const EValue user[] = {x};
  REQUIRE(f.frame.gather(user, f.state));
  const Tensor sum = programs::scalar(12);
  const Tensor next = programs::scalar(14);
  const auto run = [&] {
    f.frame.outputs()[0] = sum.view();
    f.frame.outputs()[1] = next.view();
    f.frame.outputs()[2] = f.state[0].tensor.view();
    f.frame.outputs()[3] = x.view();
    f.frame.outputs()[4] = 3;
  };
  run();
  CHECK(f.frame.outputs_fit());
  REQUIRE(f.frame.write_back(f.frame.inputs(), f.state));
  CHECK(*f.state[0].tensor.view().as<float>() == 12);
  CHECK(*x.view().as<float>() == 14);
  CHECK(support::items(f.frame.outputs().first(4)) == std::vector<float>{12, 14, 10, 2});
  run();
  REQUIRE(f.frame.write_back(f.frame.inputs(), f.state));
  CHECK(support::items(f.frame.outputs().first(4)) == std::vector<float>{12, 14, 12, 14});
}

TEST_CASE("an output of a mutation's value is the input that the mutation changes: x.copy_(y); return x") {
  Draft d;
  const ValueId x = d.user("x");
  const ValueId y = d.user("y");
  d.mutate_input("x", y);
  d.output(y);
  static_cast<void>(x);
  Frame f(d.finish());
  const Tensor first = programs::scalar(1), second = programs::scalar(2);
  const EValue user[] = {first, second};
  REQUIRE(f.frame.gather(user, f.state));
  f.frame.outputs()[0] = f.frame.outputs()[1] = second.view();
  REQUIRE(f.frame.write_back(f.frame.inputs(), f.state));
  CHECK(*first.view().as<float>() == 2);
  CHECK(f.frame.outputs()[0].tensor().data != second.view().data);
  CHECK(f.frame.outputs()[1].tensor().data == first.view().data);
}

TEST_CASE("of many new values and many outputs, exactly the outputs that view changing memory keep their values") {
  Draft d;
  constexpr std::size_t count = 10;
  std::vector<ValueId> buffers, made;
  for (std::size_t i = 0; i < count; ++i) buffers.push_back(d.buffer("b" + std::to_string(i), static_cast<float>(i)));
  const ValueId x = d.user("x");
  for (std::size_t i = 0; i < count; ++i)
    d.mutate_buffer("b" + std::to_string(i), made.emplace_back(d.add("n" + std::to_string(i), buffers[i], x)));
  for (const ValueId buffer : buffers) d.output(buffer);
  d.output(x);
  for (const ValueId value : made) d.output(value);
  Frame f(d.finish());
  const Tensor one = programs::scalar(1);
  const EValue user[] = {one};
  REQUIRE(f.frame.gather(user, f.state));
  std::vector<Tensor> values;
  for (std::size_t i = 0; i < count; ++i) {
    f.frame.outputs()[i] = f.frame.outputs()[2 * count + 1 + i] =
        values.emplace_back(programs::scalar(50 + static_cast<float>(i))).view();
    f.frame.outputs()[count + i] = f.state[i].tensor.view();
  }
  f.frame.outputs()[2 * count] = one.view();
  REQUIRE(f.frame.write_back(f.frame.inputs(), f.state));
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(*f.state[i].tensor.view().as<float>() == 50 + static_cast<float>(i));
    CHECK(programs::item(f.frame.outputs()[count + i]) == static_cast<float>(i));
    CHECK(f.frame.outputs()[2 * count + 1 + i].tensor().data == values[i].view().data);
  }
  CHECK(f.frame.outputs()[2 * count].tensor().data == one.view().data);
}

TEST_CASE("two buffers that take each other's value are swapped") {
  Draft d;
  const ValueId m = d.buffer("m", 1);
  const ValueId n = d.buffer("n", 2);
  d.mutate_buffer("m", n);
  d.mutate_buffer("n", m);
  Frame f(d.finish());
  REQUIRE(f.frame.gather({}, f.state));
  f.frame.outputs()[0] = f.state[1].tensor.view();
  f.frame.outputs()[1] = f.state[0].tensor.view();
  REQUIRE(f.frame.write_back(f.frame.inputs(), f.state));
  CHECK(*f.state[0].tensor.view().as<float>() == 2);
  CHECK(*f.state[1].tensor.view().as<float>() == 1);
}

TEST_CASE("of many buffers and inputs each takes its own new value; two inputs of one buffer are both its update") {
  Draft d;
  constexpr std::size_t count = 12;
  std::vector<ValueId> buffers;
  for (std::size_t i = 0; i < count; ++i) buffers.push_back(d.buffer("b" + std::to_string(i), static_cast<float>(i)));
  const ValueId x = d.user("x"), y = d.user("y");
  for (std::size_t i = count; i-- > 1;)
    d.mutate_buffer("b" + std::to_string(i), d.add("n" + std::to_string(i), buffers[i], x));
  d.mutate_input("y", d.add("next", y, x));
  d.program.signature.unlisted_state = {"b0"};
  std::get<InputToBufferSpec>(d.program.signature.input_specs[2]).target = "b1";
  Frame f(d.finish());
  const std::vector<CallFrame::Update> updates = f.frame.updates();
  REQUIRE(updates.size() == count - 1);  // b2 needs no update: its input is b1's
  for (std::size_t k = 0; k + 1 < updates.size(); ++k) {
    CHECK(updates[k].output == (k < count - 3 ? k : count - 2));
    CHECK(updates[k].input == (k < count - 3 ? count - 1 - k : 1));
  }
  CHECK(updates.back().input == 2);
  CHECK(updates.back().output == count - 2);

  const Tensor one = programs::scalar(1), two = programs::scalar(2);
  const EValue user[] = {one, two};
  REQUIRE(f.frame.gather(user, f.state));
  CHECK(f.frame.inputs()[0].tensor().data != f.state[0].tensor.view().data);  // written in place: a copy
  CHECK(f.frame.inputs()[1].tensor().data == f.state[1].tensor.view().data);
  std::vector<Tensor> made;
  for (std::size_t o = 0; o < count; ++o)
    f.frame.outputs()[o] = made.emplace_back(programs::scalar(100 + static_cast<float>(o))).view();
  REQUIRE(f.frame.write_back(f.frame.inputs(), f.state));
  for (std::size_t i = 3; i < count; ++i)
    CHECK(*f.state[i].tensor.view().as<float>() == 100 + static_cast<float>(count - 1 - i));
  CHECK(*f.state[1].tensor.view().as<float>() == 100 + static_cast<float>(count - 2));
  CHECK(*one.view().as<float>() == 1);
  CHECK(*two.view().as<float>() == 100 + static_cast<float>(count - 1));
}

TEST_CASE("a new value of other sizes is an error before anything has changed") {
  Frame f(mutates());
  const Tensor x = programs::scalar(2);
  const EValue user[] = {x};
  REQUIRE(f.frame.gather(user, f.state));
  const Tensor sum = programs::scalar(12);
  const Tensor next = programs::tensor({2}, {1, 2});
  f.frame.outputs()[0] = sum.view();
  f.frame.outputs()[1] = next.view();
  const auto written = f.frame.write_back(f.frame.inputs(), f.state);
  REQUIRE(!written);
  CHECK(written.error().code == ErrorCode::invalid_shape);
  CHECK(written.error().what.view().find("'x'") != std::string_view::npos);
  CHECK(*f.state[0].tensor.view().as<float>() == 10);
  CHECK(*x.view().as<float>() == 2);
}

TEST_CASE("outputs are checked: kind, dtype and sizes") {
  Frame f(mutates());
  const Tensor one = programs::scalar(1);
  for (EValue& output : f.frame.outputs()) output = one.view();
  CHECK(!f.frame.outputs_fit());
  const auto checked = f.frame.check_outputs();
  REQUIRE(!checked);
  CHECK(checked.error().code == ErrorCode::invalid_argument);
  CHECK(checked.error().what.view().find("'int'") != std::string_view::npos);
  f.frame.outputs()[4] = 3;
  CHECK(f.frame.outputs_fit());
  CHECK(f.frame.check_outputs());
}

TEST_CASE("state that no output replaces is written in place: a run works on a copy, and a successful one keeps it") {
  Draft d;
  const ValueId total = d.buffer("total", 10);
  const ValueId x = d.user("x");
  d.output(d.op("aten.add_.Tensor", "sum", total, {x}));
  d.program.signature.unlisted_state = {"total"};
  Frame f(d.finish());
  CHECK(f.frame.gathers());
  CHECK(f.frame.writes_back());
  const Tensor one = programs::scalar(1);
  const EValue user[] = {one};
  const auto run = [&](bool succeeds) {
    REQUIRE(f.frame.gather(user, f.state));
    const TensorView& own = f.frame.inputs()[0].tensor();
    CHECK(own.data != f.state[0].tensor.view().data);
    *own.as<float>() += 1;
    f.frame.outputs()[0] = own;
    if (succeeds) REQUIRE(f.frame.write_back(f.frame.inputs(), f.state));
    return *f.state[0].tensor.view().as<float>();
  };
  CHECK(run(true) == 11);
  CHECK(run(false) == 11);
  CHECK(run(true) == 12);
  CHECK(programs::item(f.frame.outputs()[0]) == 12);
}

TEST_CASE("of many inputs that operators write in place, each takes the written values, and outputs view it") {
  Draft d;
  constexpr std::size_t count = 10;
  std::vector<ValueId> buffers;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "b" + std::to_string(i);
    buffers.push_back(d.buffer(name, static_cast<float>(i)));
    d.program.signature.unlisted_state.push_back(Name::own(name));
  }
  const ValueId x = d.user("x");
  for (std::size_t i = 0; i < count; ++i) d.output(d.op("aten.add_.Tensor", "s" + std::to_string(i), buffers[i], {x}));
  d.output(x);
  Frame f(d.finish());
  const Tensor one = programs::scalar(1);
  const EValue user[] = {one};
  for (int run = 1; run < 3; ++run) {
    REQUIRE(f.frame.gather(user, f.state));
    for (std::size_t i = 0; i < count; ++i) *f.frame.inputs()[i].tensor().as<float>() += 1;
    for (std::size_t i = 0; i < count; ++i) f.frame.outputs()[i] = f.frame.inputs()[count - 1 - i];
    f.frame.outputs()[count] = one.view();
    REQUIRE(f.frame.write_back(f.frame.inputs(), f.state));
    for (std::size_t i = 0; i < count; ++i) {
      CHECK(*f.state[i].tensor.view().as<float>() == static_cast<float>(i) + static_cast<float>(run));
      CHECK(f.frame.outputs()[count - 1 - i].tensor().data == f.state[i].tensor.view().data);
    }
    CHECK(f.frame.outputs()[count].tensor().data == one.view().data);
  }
}
