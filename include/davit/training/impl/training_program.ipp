// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "davit/core/contiguous.hpp"
#include "davit/lowering/glob.hpp"
#include "davit/lowering/graph_emitter.hpp"
#include "davit/lowering/prepare_program.hpp"
#include "davit/program/name_map.hpp"
#include "davit/program/verify_signature.hpp"
#include "davit/training/impl/replace_weights.ipp"
#include "davit/training/training_program.hpp"

namespace davit {

namespace detail {

[[nodiscard]] Error training_error(ErrorCode code, Name where, Name what, Name fix) {
  return {
      .code = code, .stage = Stage::verify, .where = std::move(where), .what = std::move(what), .fix = std::move(fix)};
}

/// A parameter that is trained: its input and its gradient.
struct TrainedParameter {
  Name name;
  ValueId value = no_id;
  ValueId gradient = no_id;
  std::size_t tensor = 0;  ///< the index of the first parameter tied to this one
};

/// Appends the step of an optimizer to the root graph of a program.
class TrainingStepWriter {
 public:
  TrainingStepWriter(const ExportedProgram& joint, const TrainOptions& options)
      : out_(joint), emitter_(joint.graph_module), options_(options) {
    const auto taken = [&](std::string_view prefix) {
      const auto has = [&](const NamedTensor& each) { return each.name.view().starts_with(prefix); };
      return std::ranges::any_of(out_.state_dict, has) || std::ranges::any_of(out_.constants, has);
    };
    while (taken(prefix_ + ".")) prefix_ += '_';
  }

  [[nodiscard]] ExportedProgram write(std::span<const TrainedParameter> parameters, const Optimizer& optimizer) {
    part_tied(parameters);
    const GraphModule& old = out_.graph_module;
    for (GraphId g = 0; g < old.graphs.size(); ++g) {
      emitter_.begin(g);
      const Range nodes = old.graphs[g].nodes;
      for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) emitter_.append(old.nodes[n]);
      if (g != root_graph) continue;
      rate_ = Item::of(GraphBuilder::value(declare({.dtype = ScalarType::float32}, options_.learning_rate)));
      std::vector<Item> gradients = accumulated(parameters);
      std::visit([&](const auto& each) { step(parameters, gradients, each); }, optimizer);
      finish_inputs();
      finish_outputs();
    }
    out_.graph_module = emitter_.finish();
    out_.signature.input_specs = std::move(inputs_);
    out_.signature.output_specs = std::move(outputs_);
    return std::move(out_);
  }

 private:
  [[nodiscard]] static Item real(double number) { return Item::of(GraphBuilder::real(number)); }
  [[nodiscard]] TensorMeta meta_of(ValueId v) {
    const std::span<const Dim> sizes = emitter_.sizes(v);
    return {.dtype = emitter_.module().values[v].dtype, .sizes = {sizes.begin(), sizes.end()}};
  }
  [[nodiscard]] TensorMeta meta_of(const Item& item) { return meta_of(item.value()); }

  /// Declares an input with a name; an empty name is replaced by a new one.
  [[nodiscard]] ValueId declare(const TensorMeta& meta, std::string_view name) {
    const ValueId v = emitter_.declare(meta, "state");
    if (!name.empty()) emitter_.module().values[v].name = emitter_.intern(name);
    return v;
  }

  /// Adds a call whose result has the dtype and sizes of `meta`.
  [[nodiscard]] Item call(std::string_view target, std::initializer_list<NamedItem> inputs, const TensorMeta& meta) {
    return emitter_.call(target, std::span(inputs.begin(), inputs.size()), {&meta, 1}, false);
  }
  [[nodiscard]] Item call(std::string_view target, std::initializer_list<NamedItem> inputs) {
    return call(target, inputs, meta_of(inputs.begin()->item));
  }
  [[nodiscard]] Item scaled(const Item& x, double by) {
    return by == 1 ? x : call("aten.mul.Scalar", {{"self", x}, {"other", real(by)}});
  }
  [[nodiscard]] Item plus(const Item& x, double number) {
    return number == 0 ? x : call("aten.add.Scalar", {{"self", x}, {"other", real(number)}});
  }
  /// x + alpha * y.
  [[nodiscard]] Item sum(const Item& x, const Item& y, double alpha = 1) {
    if (alpha == 1) return call("aten.add.Tensor", {{"self", x}, {"other", y}});
    return call("aten.add.Tensor", {{"self", x}, {"other", y}, {"alpha", real(alpha)}});
  }
  [[nodiscard]] Item difference(const Item& x, const Item& y) {
    return call("aten.sub.Tensor", {{"self", x}, {"other", y}});
  }
  [[nodiscard]] Item product(const Item& x, const Item& y) {
    return call("aten.mul.Tensor", {{"self", x}, {"other", y}});
  }
  [[nodiscard]] Item quotient(const Item& x, const Item& y) {
    return call("aten.div.Tensor", {{"self", x}, {"other", y}});
  }
  [[nodiscard]] Item root(const Item& x) { return call("aten.sqrt.default", {{"self", x}}); }
  /// The scalar in x's dtype if x has no dimensions either: the wider dtype would win otherwise.
  [[nodiscard]] Item beside(const Item& scalar, const Item& x) {
    TensorMeta meta = meta_of(x);
    if (!meta.sizes.empty() || meta.dtype == ScalarType::float32) return scalar;
    return call("aten._to_copy.default", {{"self", scalar}, {"dtype", Item::of(GraphBuilder::scalar_type(meta.dtype))}},
                meta);
  }
  /// x in calls that make a step, else y.
  [[nodiscard]] Item where_stepping(const Item& x, const Item& y) {
    return call("aten.where.self", {{"condition", *stepping_}, {"self", x}, {"other", y}}, meta_of(x));
  }

  /// Adds a buffer of the optimizer, zero at first.
  [[nodiscard]] Item state(std::string_view moment, std::string_view parameter, const TensorMeta& meta) {
    Name name = parameter.empty() ? concat(prefix_, ".", moment) : concat(prefix_, ".", moment, ".", parameter);
    std::vector<std::int64_t> sizes;
    for (const Dim& dim : meta.sizes) sizes.push_back(dim.value);
    out_.state_dict.push_back({name, Tensor::zeros(meta.dtype, sizes)});
    const ValueId v = declare(meta, {});
    states_.push_back({std::move(name), v});
    return Item::of(GraphBuilder::value(v));
  }
  [[nodiscard]] Item scalar_state(std::string_view name) { return state(name, {}, {.dtype = ScalarType::float32}); }
  /// Sets the new value of a buffer. In calls without a step the buffer keeps its value, unless `always` is true.
  void becomes(const Item& old, const Item& now, bool always = false) {
    const auto of = std::ranges::find(states_, old.value(), &State::value);
    const Item value = stepping_ && !always ? where_stepping(now, old) : now;
    mutations_.emplace_back(BufferMutationSpec(argument(value), of->name), value.value());
  }
  void becomes(const TrainedParameter& parameter, const Item& now) {
    const Item value = stepping_ ? where_stepping(now, item(parameter)) : now;
    mutations_.emplace_back(ParameterMutationSpec(argument(value), parameter.name), value.value());
  }
  [[nodiscard]] TensorArgument argument(const Item& item) { return {Name::own(emitter_.view().name(item.value()))}; }
  [[nodiscard]] static Item item(const TrainedParameter& parameter) {
    return Item::of(GraphBuilder::value(parameter.value));
  }

  /// Gives each tied parameter its own memory: all of them become state.
  void part_tied(std::span<const TrainedParameter> parameters) {
    const NameIndex names(out_.state_dict, [](const NamedTensor& each) { return each.name.view(); });
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (const std::size_t at = names.first(parameters[i].name);
          parameters[i].tensor != i && at != NameIndex::not_found) {
        Tensor& tensor = out_.state_dict[at].tensor;
        tensor = contiguous(tensor.view());
      }
  }

  /// The gradients of a step: those of this call, or the mean over `accumulate` calls.
  [[nodiscard]] std::vector<Item> accumulated(std::span<const TrainedParameter> parameters) {
    std::vector<Item> gradients;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      gradients.push_back(Item::of(GraphBuilder::value(parameters[i].gradient)));
      if (const std::size_t first = parameters[i].tensor; first != i)
        gradients[first] = sum(gradients[first], gradients[i]);
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) gradients[i] = gradients[parameters[i].tensor];
    if (options_.accumulate == 1) return gradients;
    const double calls = options_.accumulate;
    const Item count = scalar_state("calls");
    const Item now = plus(count, 1);
    TensorMeta condition{.dtype = ScalarType::bool_};
    stepping_ = call("aten.ge.Scalar", {{"self", now}, {"other", real(calls)}}, condition);
    const TensorMeta scalar{.dtype = ScalarType::float32};
    const Item zero = scaled(count, 0);  // finite: calls are counted from 0
    becomes(count, where_stepping(zero, now), true);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Item before = state("gradient", parameters[i].name, meta_of(parameters[i].value));
      gradients[i] = sum(before, gradients[i], 1 / calls);
      const Item none =
          call("aten.where.self", {{"condition", *stepping_}, {"self", beside(zero, before)}, {"other", gradients[i]}},
               meta_of(before));
      becomes(before, none, true);
    }
    return gradients;
  }

  void step(std::span<const TrainedParameter> parameters, std::span<Item> gradients, const sgd& how) {
    std::optional<Item> dampened;  // 1 from the second step on: the first step uses the whole gradient
    if (how.momentum != 0 && how.dampening != 0) {
      dampened = scalar_state("dampened");
      becomes(*dampened, plus(scaled(*dampened, 0), 1));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      Item gradient = with_decay(parameters[i], gradients[i], how.maximize, how.weight_decay);
      if (how.momentum != 0) {
        const Item old = state("momentum_buffer", parameters[i].name, meta_of(parameters[i].value));
        Item fresh = gradient;
        if (dampened) fresh = product(gradient, beside(plus(scaled(*dampened, -how.dampening), 1), gradient));
        const Item momentum = sum(scaled(old, how.momentum), fresh);
        becomes(old, momentum);
        gradient = how.nesterov ? sum(gradient, momentum, how.momentum) : momentum;
      }
      becomes(parameters[i], difference(item(parameters[i]), product(gradient, beside(rate_, gradient))));
    }
  }

  template <class Adam>
  void step(std::span<const TrainedParameter> parameters, std::span<Item> gradients, const Adam& how) {
    constexpr bool is_decoupled = std::is_same_v<Adam, adamw>;
    // 1 - beta^step as c <- beta * c + (1 - beta), without cancellation of digits
    const auto correction = [&](std::string_view name, double beta) {
      const Item old = scalar_state(name);
      Item now = plus(scaled(old, beta), 1 - beta);
      becomes(old, now);
      return now;
    };
    const Item size = quotient(rate_, correction("bias_correction1", how.beta1));
    const Item second_root = root(correction("bias_correction2", how.beta2));
    const bool shrinks = is_decoupled && how.weight_decay != 0;
    const Item kept = shrinks ? plus(scaled(rate_, -how.weight_decay), 1) : rate_;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const TrainedParameter& parameter = parameters[i];
      const Item gradient = with_decay(parameter, gradients[i], how.maximize, is_decoupled ? 0 : how.weight_decay);
      const TensorMeta meta = meta_of(parameter.value);
      const Item first = state("exp_avg", parameter.name, meta);
      const Item mean = sum(first, difference(gradient, first), 1 - how.beta1);
      becomes(first, mean);
      const Item second = state("exp_avg_sq", parameter.name, meta);
      Item square = sum(scaled(second, how.beta2), product(gradient, gradient), 1 - how.beta2);
      becomes(second, square);
      if (how.amsgrad) {
        const Item most = state("max_exp_avg_sq", parameter.name, meta);
        square = call("aten.maximum.default", {{"self", most}, {"other", square}});
        becomes(most, square);
      }
      const Item divisor = plus(quotient(root(square), beside(second_root, square)), how.eps);
      Item value = item(parameter);
      if (shrinks) value = product(value, beside(kept, value));
      becomes(parameter, difference(value, product(quotient(mean, divisor), beside(size, mean))));
    }
  }

  [[nodiscard]] Item with_decay(const TrainedParameter& parameter, const Item& gradient, bool maximize, double decay) {
    const Item upward = maximize ? scaled(gradient, -1) : gradient;
    return decay == 0 ? upward : sum(upward, item(parameter), decay);
  }

  /// Puts buffers of the optimizer behind the parameters and buffers, and the learning rate behind the user inputs.
  void finish_inputs() {
    const std::span<const Argument> old = emitter_.view().args(emitter_.module().graphs[root_graph].inputs);
    std::vector<Argument> arguments(old.begin(), old.end());
    inputs_ = out_.signature.input_specs;
    std::size_t at = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (const InputKind k = kind(inputs_[i]); k == InputKind::parameter || k == InputKind::buffer) at = i + 1;
    for (const State& each : states_) {
      const Argument value = GraphBuilder::value(each.value);
      arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(at), value);
      inputs_.insert(inputs_.begin() + static_cast<std::ptrdiff_t>(at++),
                     InputToBufferSpec({Name::own(emitter_.view().name(each.value))}, each.name, true));
    }
    arguments.push_back(rate_.argument);
    inputs_.push_back(UserInputSpec{TensorArgument{options_.learning_rate}});
    emitter_.module().graphs[root_graph].inputs = emitter_.list(arguments);
    if (out_.example_inputs) out_.example_inputs->emplace_back(Tensor::zeros(ScalarType::float32, {}));
  }
  /// Orders the outputs: tokens, mutations, loss, user outputs. Gradients are dropped.
  void finish_outputs() {
    const std::span<const Argument> old = emitter_.view().args(emitter_.module().graphs[root_graph].outputs);
    std::vector<Argument> arguments;
    const auto keep = [&](bool first) {
      for (std::size_t i = 0; i < old.size(); ++i) {
        const OutputSpec& spec = out_.signature.output_specs[i];
        const int rank = output_rank(kind(spec));
        if (rank > 2 || (rank <= 1) != first) continue;
        outputs_.push_back(spec);
        arguments.push_back(old[i]);
      }
    };
    keep(true);
    for (auto& [spec, value] : mutations_) {
      outputs_.push_back(std::move(spec));
      arguments.push_back(GraphBuilder::value(value));
    }
    keep(false);
    emitter_.module().graphs[root_graph].outputs = emitter_.list(arguments);
  }

  struct State {
    Name name;
    ValueId value = no_id;
  };
  ExportedProgram out_;
  GraphEmitter emitter_;
  const TrainOptions& options_;
  std::string prefix_ = "optimizer";
  Item rate_{};
  std::optional<Item> stepping_{};  ///< bool: this call makes a step; empty if every call does
  std::vector<State> states_{};
  std::vector<std::pair<OutputSpec, ValueId>> mutations_{};
  std::vector<InputSpec> inputs_{};
  std::vector<OutputSpec> outputs_{};
};

/// Refuses options of an optimizer that torch.optim refuses.
struct CheckOptimizer {
  [[nodiscard]] static Result<void> refuse(std::string_view name, std::string_view must) {
    return std::unexpected(training_error(ErrorCode::invalid_argument, concat("optimizer, ", name),
                                          concat("it must be ", must), "see torch.optim for its meaning"));
  }
  [[nodiscard]] static bool is_number(double x) { return x >= 0 && x <= 1e300; }  // no NaN
  [[nodiscard]] Result<void> operator()(const sgd& how) const {
    if (!is_number(how.momentum)) return refuse("momentum", "0 or more");
    if (!is_number(how.weight_decay)) return refuse("weight_decay", "0 or more");
    if (!(how.dampening >= -1e300 && how.dampening <= 1e300)) return refuse("dampening", "a number");
    if (how.nesterov && (how.momentum == 0 || how.dampening != 0))
      return refuse("nesterov", "with a momentum and without dampening");
    return {};
  }
  template <class Adam>
  [[nodiscard]] Result<void> operator()(const Adam& how) const {
    if (!(how.beta1 >= 0 && how.beta1 < 1)) return refuse("beta1", "from 0 to less than 1");
    if (!(how.beta2 >= 0 && how.beta2 < 1)) return refuse("beta2", "from 0 to less than 1");
    if (!is_number(how.eps)) return refuse("eps", "0 or more");
    if (!is_number(how.weight_decay)) return refuse("weight_decay", "0 or more");
    return {};
  }
};

[[nodiscard]] bool same_dims(std::span<const Dim> a, std::span<const Dim> b) {
  return std::ranges::equal(
      a, b, [](const Dim& x, const Dim& y) { return x.is_static() && y.is_static() && x.value == y.value; });
}

/// The parameters that get a gradient and are not frozen, in the order of the inputs.
[[nodiscard]] Result<std::vector<TrainedParameter>> trained_parameters(const ExportedProgram& joint,
                                                                       const TrainOptions& options) {
  const GraphModuleView graph = joint.view();
  const std::span<const Argument> inputs = graph.args(graph.root().inputs);
  const std::span<const Argument> outputs = graph.args(graph.root().outputs);
  const std::vector<OutputSpec>& specs = joint.signature.output_specs;
  const auto name_of_gradient = [](const OutputSpec& spec) {
    return kind(spec) == OutputKind::gradient_to_parameter ? target(spec)->view() : std::string_view();
  };
  const NameIndex gradients(specs, name_of_gradient);
  const NameIndex changed(specs, [](const OutputSpec& spec) {
    return kind(spec) == OutputKind::parameter_mutation ? target(spec)->view() : std::string_view();
  });
  std::vector<TrainedParameter> trained;
  std::vector<std::uint8_t> matched(options.frozen.size(), 0);
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const InputSpec& spec = joint.signature.input_specs[i];
    if (kind(spec) != InputKind::parameter) continue;
    const Name& name = *target(spec);
    const std::size_t at = gradients.first(name);
    if (at == NameIndex::not_found) continue;
    any = true;
    bool is_frozen = false;
    for (std::size_t f = 0; f < options.frozen.size(); ++f)
      if (matches_glob(options.frozen[f], name)) {
        is_frozen = true;
        matched[f] = 1;
      }
    if (is_frozen) continue;
    const auto refuse = [&](std::string_view what) {
      return std::unexpected(training_error(ErrorCode::invalid_program, concat("parameter '", name, "'"),
                                            Name::own(what), "freeze it, or export the joint graph again"));
    };
    if (gradients.last(name) != at) return refuse("two outputs are its gradient");
    if (changed.first(name) != NameIndex::not_found) return refuse("the program changes it itself");
    if (!inputs[i].is_value() || !outputs[at].is_value()) return refuse("it or its gradient is no tensor");
    const Value& value = graph.values[inputs[i].value()];
    const Value& gradient = graph.values[outputs[at].value()];
    if (value.kind != ValueKind::tensor || !is_floating(value.dtype)) return refuse("it is no tensor of floats");
    if (gradient.kind != ValueKind::tensor || gradient.dtype != value.dtype ||
        !same_dims(graph.dims_of(value.sizes), graph.dims_of(gradient.sizes)))
      return refuse("its gradient has another dtype or other sizes");
    trained.push_back({name, inputs[i].value(), outputs[at].value(), trained.size()});
  }
  if (!any)
    return std::unexpected(training_error(ErrorCode::invalid_program, "signature",
                                          "the program has no GRADIENT_TO_PARAMETER: it is no joint graph",
                                          "export it by torch.export's _export_forward_backward (docs/training.md)"));
  for (std::size_t f = 0; f < matched.size(); ++f)
    if (matched[f] == 0)
      return std::unexpected(training_error(ErrorCode::not_found, concat("frozen '", options.frozen[f], "'"),
                                            "no parameter with a gradient has such a name",
                                            "davit inspect lists the parameters"));
  if (trained.empty())
    return std::unexpected(
        training_error(ErrorCode::invalid_argument, "frozen", "all parameters are frozen", "leave one to be trained"));
  std::map<const void*, std::size_t> first;  // keyed by the address of the elements
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const Tensor& tensor = *joint.tensor_named(trained[i].name);
    const auto [at, fresh] = first.emplace(tensor.view().data, i);
    if (!fresh && is_tied(tensor, *joint.tensor_named(trained[at->second].name))) trained[i].tensor = at->second;
  }
  return trained;
}

}  // namespace detail

Result<ExportedProgram> training_program(const ExportedProgram& joint, const Optimizer& optimizer,
                                         const TrainOptions& options) {
  if (Result<void> good = std::visit(detail::CheckOptimizer(), optimizer); !good) return error_of(std::move(good));
  if (Result<void> good = detail::sound(joint, true); !good) return error_of(std::move(good));
  const auto backward = joint.signature.backward_signature();
  if (!backward) return error_of(backward);
  if (!*backward)
    return std::unexpected(detail::training_error(
        ErrorCode::invalid_program, "signature", "the program has no LOSS_OUTPUT: it is no joint graph",
        "export it by torch.export's _export_forward_backward (docs/training.md)"));
  if (options.accumulate == 0)
    return std::unexpected(
        detail::training_error(ErrorCode::invalid_argument, "accumulate", "it is 0", "1 makes a step in every call"));
  const GraphModuleView graph = joint.view();
  for (const Value& value : graph.values)
    if (value.graph == root_graph && graph.str(value.name) == options.learning_rate.view())
      return std::unexpected(
          detail::training_error(ErrorCode::invalid_argument, concat("learning rate '", options.learning_rate, "'"),
                                 "the program has a value of that name", "give TrainOptions::learning_rate another"));
  if (options.learning_rate.empty())
    return std::unexpected(detail::training_error(ErrorCode::invalid_argument, "learning rate", "its name is empty",
                                                  "give TrainOptions::learning_rate one"));
  Result<std::vector<detail::TrainedParameter>> trained = detail::trained_parameters(joint, options);
  if (!trained) return error_of(std::move(trained));
  ExportedProgram out = detail::TrainingStepWriter(joint, options).write(*trained, optimizer);
  for (const NamedTensor& each : out.state_dict)
    if (each.tensor.storage.empty() && each.tensor.numel() != 0)
      return std::unexpected(detail::training_error(ErrorCode::out_of_memory, concat("state '", each.name, "'"),
                                                    "no memory for it", "freeze some parameters"));
  if (Result<void> good = detail::sound(out, true); !good) return error_of(std::move(good));
  return out;
}

}  // namespace davit
