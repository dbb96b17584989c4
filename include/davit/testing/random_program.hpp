// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/program/exported_program.hpp"
#include "davit/program/graph_builder.hpp"
#include "davit/testing/detail/random_quantized.hpp"
#include "davit/testing/detail/reduced_program.hpp"

namespace davit::testing {

/// A verified random program with the features of torch.export's: views, in-place writes to intermediates, buffers and
/// inputs (training IR) or mutations in the signature (core IR), several outputs, lists, symbolic sizes, control flow,
/// NaN and infinities in the data, empty tensors, integers and bools, effects, network layers, quantized layers,
/// bfloat16 and float16.
class RandomProgram : RandomQuantized {
 public:
  explicit RandomProgram(const ProgramRecipe& recipe) : RandomQuantized(recipe) {
    training_ = random_.one_in(2);
    symbolic_ = random_.one_in(3);
    strange_ = random_.one_in(4);
    tables_.dialect = training_ ? Dialect::training : Dialect::aten;
    b_.begin_graph();
    if (symbolic_) {
      batch_ = {.value = 3, .expr = b_.symbol("s0")};
      twice_ = {.value = 6, .expr = b_.expr({.op = ExprOp::mul, .a = batch_.expr, .b = b_.expr({.value = 2})})};
      tables_.range_constraints.push_back({"s0", 1, 8});
    }
    inputs();
    for (const std::uint64_t step : recipe.steps) {
      random_ = Random(step_ = step);
      kept_ = 0;
      add_step();
    }
    random_ = Random(recipe.seed ^ 0x5bd1e995u);
    outputs();
    tables_.graph_module = std::move(b_).finish();
    make_reduced(tables_, dtype());
    program_ = ExportedProgram(std::move(tables_));
  }

  [[nodiscard]] const ExportedProgram& program() const noexcept { return program_; }

  /// User inputs for run `run`: data and symbolic sizes differ from run to run.
  [[nodiscard]] std::vector<Tensor> user_inputs(std::uint64_t run) const {
    Random random(run * 77 + 5);
    const std::int64_t batch = 1 + static_cast<std::int64_t>(random.below(8));
    std::vector<Tensor> out;
    for (const Known& each : users_) {
      std::vector<std::int64_t> sizes;
      for (const Dim& d : each.sizes) sizes.push_back(d.is_static() ? d.value : batch);
      out.push_back(as_reduced(tensor(sizes, random, each.dtype), dtype()));
    }
    return out;
  }

 private:
  void inputs() {
    if (!training_ && random_.one_in(4)) {
      token_ = new_token("token");
      b_.input(b_.value(token_));
      tables_.signature.input_specs.push_back(InputTokenSpec{TokenArgument{"token"}});
    }
    declare_weights(tables_);
    for (std::size_t i = 1 + random_.below(2); i > 0; --i) {
      const Name name = concat("w", i);
      Known w{.sizes = sizes(false), .fixed = true};
      w.id = declare(concat("p_", name), w.sizes);
      b_.input(b_.value(w.id));
      tables_.signature.input_specs.push_back(InputToParameterSpec({concat("p_", name)}, name));
      tables_.state_dict.push_back({name, tensor(numbers(w.sizes), random_)});
      keep(std::move(w));
    }
    for (std::size_t i = random_.below(3); i > 0; --i) {
      const Name name = concat("b", i);
      Known buffer{.dtype = some_dtype(), .sizes = sizes(false)};
      buffer.id = declare(concat("b_", name), buffer.sizes, buffer.dtype);
      b_.input(b_.value(buffer.id));
      tables_.signature.input_specs.push_back(InputToBufferSpec({concat("b_", name)}, name, true));
      tables_.state_dict.push_back({name, tensor(numbers(buffer.sizes), random_, buffer.dtype)});
      buffers_.push_back({name, buffer});
      keep(std::move(buffer));
    }
    for (std::size_t i = 0, n = 1 + random_.below(3); i < n; ++i) {
      const Name name = concat("x", i);
      Known x{.dtype = i == 0 ? ScalarType::float32 : some_dtype(), .sizes = sizes(true)};
      x.id = declare(name, x.sizes, x.dtype);
      b_.input(b_.value(x.id));
      tables_.signature.input_specs.push_back(UserInputSpec{TensorArgument{name}});
      users_.push_back(x);
      user_names_.push_back(name);
      keep(std::move(x));
    }
    given_ = b_.module().values.size();
  }

  void outputs() {
    std::vector<Argument> values;
    const auto output = [&](OutputSpec spec, ValueId value) {
      tables_.signature.output_specs.push_back(std::move(spec));
      values.push_back(b_.value(value));
    };
    const auto name = [&](ValueId value) { return Name::own(b_.module().view().name(value)); };
    std::vector<Known> old;  // of buffers, read behind their updates
    for (const auto& [_, buffer] : buffers_)
      if (!training_ && random_.one_in(3) && update(buffer) && random_.one_in(2)) old.push_back(unary(buffer));
    if (token_ != no_id) output(OutputTokenSpec{TokenArgument{name(token_)}}, token_);
    if (!training_) {
      for (const auto& [target, buffer] : buffers_)
        if (const auto made = next_state(buffer); made && !random_.one_in(3))
          output(BufferMutationSpec({name(made->id)}, target), made->id);
      if (const auto made = like(users_[0]); made && random_.one_in(3))
        output(UserInputMutationSpec({name(made->id)}, user_names_[0]), made->id);
    }
    for (const Known& each : old) output(UserOutputSpec{TensorArgument{name(each.id)}}, each.id);
    for (std::size_t i = 1 + random_.below(4); i > 0; --i) {
      const Known made = random_.one_in(4) ? some_value() : like_any();
      output(UserOutputSpec{TensorArgument{name(made.id)}}, made.id);
    }
    b_.end_graph(std::span<const Argument>(values));
  }
  /// Some node's result, if there is one.
  [[nodiscard]] Known like_any() {
    const auto made = some_of_all([&](const Known& k) { return !is_given(k); });
    return made ? *made : some_value();
  }
  void add_step() {
    if (random_.one_in(is_quantized() ? 2 : 4)) return (is_quantized() ? quantized_step() : move()) ? void() : binary();
    switch (random_.below(training_ ? 27 : 21)) {
      case 0: return keep(unary(some_float()));
      case 1: return effect() ? void() : keep(unary(some_float()));
      case 2:
      case 3: return binary();
      case 4: return symbolic_size() ? void() : binary();
      case 14:
      case 15:
      case 16:
      case 17: return integers() ? void() : binary();
      case 5: return compare();
      case 6: return reduce();
      case 7:
      case 8:
      case 9: return view();
      case 10: return join();
      case 11: return product() ? void() : binary();
      case 12: return control_flow();
      case 13: return several();
      case 18:
      case 19:
      case 20: return layer() ? void() : binary();
      default: return write();
    }
  }
  Known unary(const Known& x) {
    constexpr std::string_view targets[] = {"aten.relu.default",      "aten.neg.default",  "aten.sigmoid.default",
                                            "aten.tanh.default",      "aten.abs.default",  "aten.relu6.default",
                                            "aten.hardswish.default", "aten.silu.default", "aten.hardsigmoid.default",
                                            "aten.hardtanh.default"};
    switch (random_.below(9)) {
      case 3: return emit("aten.clamp.default", {v(x), b_.real(0.5), b_.real(3)}, x.sizes);
      case 0: return emit("aten.add.Scalar", {v(x), b_.real(1.25)}, x.sizes);
      case 1: return emit("aten.mul.Scalar", {v(x), b_.real(-0.5)}, x.sizes);
      case 2:
        return x.sizes.empty() ? emit("aten.exp.default", {v(x)}, x.sizes)
                               : emit("aten._softmax.default", {v(x), i(-1), b_.boolean(false)}, x.sizes);
      default: return emit(targets[random_.below(std::size(targets))], {v(x)}, x.sizes);
    }
  }
  void binary() {
    const Known x = some_float();
    const auto y = some([&](const Known& k) { return broadcast(x.sizes, k.sizes).has_value(); });
    if (!y) return keep(unary(x));
    keep(binary(x, *y));
  }
  Known binary(const Known& x, const Known& y) {
    constexpr std::string_view targets[] = {"aten.add.Tensor", "aten.sub.Tensor", "aten.mul.Tensor",
                                            "aten.maximum.default", "aten.minimum.default"};
    return emit(targets[random_.below(std::size(targets))], {v(x), v(y)}, *broadcast(x.sizes, y.sizes));
  }
  void compare() {
    const Known x = some_float();
    const Known mask =
        emit("aten.gt.Scalar", {v(x), b_.real(0.26)}, x.sizes, ScalarType::bool_);  // a softmax has no mean
    const auto y = some([&](const Known& k) { return same(k.sizes, x.sizes); });
    keep(emit("aten.where.self", {v(mask), v(x), v(y ? *y : x)}, x.sizes));
    if (random_.one_in(2)) keep(mask);
  }
  void reduce() {
    const auto x = some([](const Known& k) { return !k.sizes.empty(); });
    if (!x) return binary();
    const std::size_t at = random_.below(x->sizes.size());
    const bool keep_dim = random_.one_in(2);
    std::vector<Dim> sizes = x->sizes;
    const bool empty = sizes[at].is_static() && sizes[at].value == 0;
    if (keep_dim) {
      sizes[at] = dim(1);
    } else {
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(at));
    }
    const std::string_view target = empty || random_.one_in(3) ? "aten.sum.dim_IntList"
                                    : random_.one_in(2)        ? "aten.mean.dim"
                                                               : "aten.amax.default";
    const Argument dims = b_.ints({static_cast<std::int64_t>(at)});
    keep(emit(target, {v(*x), dims, b_.boolean(keep_dim)}, std::move(sizes)));
  }
  void view() {
    const Known x = some_value();
    const std::size_t rank = x.sizes.size();
    Known out;
    switch (const std::size_t at = static_dim(x); random_.below(6)) {
      case 0: {
        std::vector<Argument> order;
        std::vector<Dim> sizes;
        for (std::size_t d = rank; d-- > 0;) {
          order.push_back(i(static_cast<std::int64_t>(d)));
          sizes.push_back(x.sizes[d]);
        }
        out = emit("aten.permute.default", {v(x), b_.list(order, ArgumentKind::int_)}, std::move(sizes), x.dtype);
        break;
      }
      case 1: out = unsqueezed(x, random_.below(rank + 1)); break;
      case 2: {
        if (at == rank || x.sizes[at].value < 2) return binary();
        const std::int64_t start =
            static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(x.sizes[at].value)));
        const std::int64_t step = 1 + static_cast<std::int64_t>(random_.below(2));
        out = sliced(x, at, start, (x.sizes[at].value - start + step - 1) / step, INT64_MAX, step);
        break;
      }
      case 3:
        if (at == rank || x.sizes[at].value < 1) return binary();
        out = selected(x, at, static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(x.sizes[at].value))));
        break;
      case 4: {
        if (rank > 4) return binary();
        std::vector<Dim> sizes = x.sizes;
        sizes.insert(sizes.begin(), dim(2));
        std::vector<Argument> items{i(2)};
        for (std::size_t d = 0; d < rank; ++d) items.push_back(i(-1));
        out = emit("aten.expand.default", {v(x), b_.list(items, ArgumentKind::int_)}, std::move(sizes), x.dtype);
        out.overlaps = true;
        break;
      }
      default: out = itself(x); break;
    }
    out.overlaps = out.overlaps || x.overlaps;
    out.fixed = x.fixed;
    keep(std::move(out));
  }
  /// Calls an operator that returns x itself.
  Known itself(const Known& x) {
    const std::size_t which = x.key % (identities.size() + 1);
    if (which == identities.size() || x.dtype != ScalarType::float32)
      return emit("aten.alias.default", {v(x)}, x.sizes, x.dtype);
    if (identities[which].ends_with("dropout.default"))
      return emit(identities[which], {v(x), b_.real(0.5), b_.boolean(false)}, x.sizes);
    return emit(identities[which], {v(x)}, x.sizes);
  }
  void join() {
    const auto x = some_of_all([](const Known& k) { return !k.sizes.empty(); });
    const std::size_t at = x ? static_dim(*x) : 0;
    if (!x || at == x->sizes.size()) return binary();
    const auto y = some_of_all([&](const Known& k) { return k.dtype == x->dtype && same(k.sizes, x->sizes); });
    std::vector<Dim> sizes = x->sizes;
    sizes[at].value *= 2;
    keep(joined(*x, y ? *y : *x, at, std::move(sizes)));
  }
  void several() {
    const auto x =
        some([](const Known& k) { return !k.sizes.empty() && k.sizes[0].is_static() && k.sizes[0].value >= 2; });
    if (!x) return binary();
    std::vector<Dim> first = x->sizes, second = x->sizes;
    if (random_.one_in(2)) {
      first.erase(first.begin());
      const Known values{.id = declare(fresh("max"), first), .sizes = first};
      const Known indices{
          .id = declare(fresh("indices"), first, ScalarType::int64), .dtype = ScalarType::int64, .sizes = first};
      const Argument made[] = {v(values), v(indices)};
      node("aten.max.dim", {v(*x), i(0)}, made);
      keep(values);
      return keep(indices);
    }
    first[0].value = 1, second[0].value -= 1;
    const Known a{.id = declare(fresh("split"), first), .sizes = first, .overlaps = x->overlaps, .fixed = x->fixed};
    const Known c{.id = declare(fresh("split"), second), .sizes = second, .overlaps = x->overlaps, .fixed = x->fixed};
    const Argument sizes = b_.ints({1, second[0].value});
    const Argument made = b_.tensors({a.id, c.id});
    node("aten.split_with_sizes.default", {v(*x), sizes, i(0)}, {&made, 1});
    keep(a);
    keep(c);
  }
  /// Writes in place to any writable value.
  void write() {
    if (Random(step_ ^ 0x2545f491u).one_in(4))
      return fill_fresh();  // keeps the other steps as they were before this one was added
    auto x = some_of_all([](const Known& k) { return !k.overlaps && !k.fixed; });
    if (!x) return binary();
    if (is_given(*x) && random_.one_in(2) &&
        std::ranges::all_of(x->sizes, [](const Dim& d) { return d.is_static() && d.value > 0; })) {
      // stays an in-place write: functionalization does not rewrite writes through as_strided
      std::vector<Argument> sizes, strides(x->sizes.size());
      std::int64_t stride = 1;
      for (std::size_t d = x->sizes.size(); d-- > 0; stride *= x->sizes[d].value) strides[d] = i(stride);
      for (const Dim& d : x->sizes) sizes.push_back(i(d.value));
      const Argument size = b_.list(sizes, ArgumentKind::int_), step = b_.list(strides, ArgumentKind::int_);
      x = emit("aten.as_strided.default", {v(*x), size, step}, x->sizes, x->dtype);
      keep(*x);
    }
    Known out;
    const auto y = some_of_all([&](const Known& k) {
      if (k.dtype != x->dtype) return false;
      const auto all = broadcast(x->sizes, k.sizes);
      return all && same(*all, x->sizes);
    });
    switch (random_.below(x->dtype == ScalarType::bool_ ? 2 : x->dtype == ScalarType::float32 ? 7 : 4)) {
      case 0: out = emit("aten.add_.Tensor", {v(*x), v(y ? *y : *x)}, x->sizes, x->dtype); break;
      case 2: out = emit("aten.mul_.Tensor", {v(*x), v(y ? *y : *x)}, x->sizes, x->dtype); break;
      case 3: out = emit("aten.relu_.default", {v(*x)}, x->sizes, x->dtype); break;
      case 4: out = emit("aten.sub_.Tensor", {v(*x), v(y ? *y : *x)}, x->sizes); break;
      case 5: out = emit("aten.fill_.Scalar", {v(*x), b_.real(0.375)}, x->sizes); break;
      case 6: out = emit("aten.clamp_.default", {v(*x), b_.real(-1), b_.real(1)}, x->sizes); break;
      default: out = emit("aten.copy_.default", {v(*x), v(y ? *y : *x)}, x->sizes, x->dtype); break;
    }
    keep(std::move(out));
  }

  /// A sub-graph with inputs like `operands`.
  template <class Body>
  GraphId branch(std::span<const Known> operands, Body&& body) {
    const GraphId id = b_.begin_graph(fresh("branch"));
    std::vector<Known> in;
    for (const Known& operand : operands) {
      in.push_back(operand);
      in.back().id = declare(fresh("arg"), operand.sizes, operand.dtype);
      b_.input(b_.value(in.back().id));
    }
    std::vector<Argument> out;
    for (const Known& k : body(in)) out.push_back(v(k));
    b_.end_graph(std::span<const Argument>(out));
    return id;
  }
  /// A running sum of rows, and a result per row.
  void scan() {
    const auto x =
        some([](const Known& k) { return !k.sizes.empty() && k.sizes[0].is_static() && k.sizes[0].value > 0; });
    if (!x) return binary();
    std::vector<Dim> row(x->sizes.begin() + 1, x->sizes.end());
    const Known start = emit("aten.amax.default", {v(*x), b_.ints({0}), b_.boolean(false)}, row);
    const Known operands[] = {start, {.sizes = row}};
    const GraphId body = branch(
        operands, [&](const std::vector<Known>& in) { return std::vector<Known>{binary(in[0], in[1]), unary(in[1])}; });
    const Known last{.id = declare(fresh("scan"), row), .sizes = row};
    const Known rows{.id = declare(fresh("scan"), x->sizes), .sizes = x->sizes};
    const Argument in[] = {
        b_.subgraph(body), b_.tensors({start.id}), b_.tensors({x->id}), i(0), b_.boolean(random_.one_in(2)),
        b_.tensors({})};
    const Argument made[] = {v(last), v(rows)};
    b_.node("higher_order.scan", in, made);
    keep(last);
    keep(rows);
  }
  void control_flow() {
    if (random_.one_in(3)) return scan();
    const Known x = some_float();
    const auto found = some([&](const Known& k) { return same(k.sizes, x.sizes); });
    const Known y = found ? *found : x;
    const Known operands[] = {x, y};
    const auto elementwise = [&](const std::vector<Known>& in) {
      return std::vector<Known>{random_.one_in(2) ? unary(binary(in[0], in[1])) : binary(unary(in[1]), in[0])};
    };
    if (random_.one_in(2)) {
      const Known mask = emit("aten.gt.Scalar", {v(x), b_.real(0.0)}, x.sizes, ScalarType::bool_);
      const Known any = emit("aten.any.default", {v(mask)}, {}, ScalarType::bool_);
      const bool copies = training_ && Random(step_ ^ 0x9e3779b9u).one_in(3);
      const GraphId yes = branch(operands, [&](const std::vector<Known>& in) {
        return copies ? std::vector{copied(in[0], in[0].sizes, 2)} : elementwise(in);
      });
      const GraphId no = branch(operands, elementwise);
      const Known out{.id = declare(fresh("cond"), x.sizes), .sizes = x.sizes};
      const Argument in[] = {v(any), b_.subgraph(yes), b_.subgraph(no), b_.tensors({x.id, y.id})};
      const Argument made = v(out);
      b_.node("higher_order.cond", in, {&made, 1});
      return keep(out);
    }
    Known count = filled(b_.ints({}), i(0), {}, ScalarType::int64);
    const Known carried[] = {count, x, y};
    const std::int64_t times = static_cast<std::int64_t>(random_.below(4));
    const GraphId go_on = branch(carried, [&](const std::vector<Known>& in) {
      return std::vector<Known>{emit("aten.lt.Scalar", {v(in[0]), i(times)}, {}, ScalarType::bool_)};
    });
    const GraphId body = branch(carried, [&](const std::vector<Known>& in) {
      std::vector<Known> out{emit("aten.add.Scalar", {v(in[0]), i(1)}, {}, ScalarType::int64)};
      out.push_back(elementwise({in[1], in[2]})[0]);
      return out;
    });
    const Known last{
        .id = declare(fresh("while_count"), {}, ScalarType::int64), .dtype = ScalarType::int64, .sizes = {}};
    const Known out{.id = declare(fresh("while"), x.sizes),
                    .sizes = x.sizes,
                    .overlaps = x.overlaps,
                    .fixed = x.fixed};  // zero iterations return x itself
    const Argument in[] = {b_.subgraph(go_on), b_.subgraph(body), b_.tensors({count.id, x.id}), b_.tensors({y.id})};
    const Argument made[] = {v(last), v(out)};
    b_.node("higher_order.while_loop", in, made);
    keep(out);
  }

  bool training_ = false;
  ProgramTables tables_;
  ExportedProgram program_;
  std::vector<std::pair<Name, Known>> buffers_;
  std::vector<Known> users_;
  std::vector<Name> user_names_;
};

}  // namespace davit::testing
