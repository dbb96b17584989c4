// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "draft.hpp"
#include "davit/lowering/lower_program.hpp"
#include "davit/runtime/session.hpp"
#include "davit/runtime/call_frame.hpp"

namespace support {

/// The behaviour of a toy backend, and a record of its calls.
struct ToyState {
  bool available = true;
  std::string_view refused;         ///< operators that it refuses, such as "add mul"
  std::uint64_t refused_nodes = 0;  ///< bits: nodes that it refuses
  bool fails_preprocess = false;
  bool fails_compile = false;
  int fail_at = -1;           ///< the execute that fails, counted from now
  bool wrong_output = false;  ///< execute returns a number instead of a tensor
  bool null_output = false;   ///< execute returns a tensor of the right sizes without memory
  std::string_view throws;    ///< the function that throws: "preprocess", "compile", "prepare", "execute"

  int preprocessed = 0;
  int compiled = 0;
  int prepared = 0;
  int executed = 0;
  std::vector<const void*> constants;  ///< data of the constants in preprocess
  std::vector<std::size_t> nodes{};    ///< of each program in preprocess
};

/// The code of a toy backend: instructions over the call's inputs, constants and temporaries.
struct ToyCode {
  enum class Op : std::uint8_t { add, sub, mul, neg, relu, gt, lt, both };
  struct Operand {
    enum class Kind : std::uint8_t { none, input, constant, temporary, number } kind = Kind::none;
    std::uint32_t index = 0;
    double number = 0;
  };
  struct Instruction {
    Op op = Op::add;
    Operand x, y;
    std::uint32_t out = 0;
    davit::DebugHandle handle = davit::no_debug_handle;
  };
  std::vector<Instruction> instructions;
  std::vector<Operand> outputs;
  std::vector<davit::Tensor> constants;
  std::uint32_t temporaries = 0;
};

/// Interprets add, sub, mul, neg, relu, gt, lt and two operators of its own, on float tensors of equal sizes with any
/// strides. Each N is a backend of its own; `state` controls it.
template <int N>
struct toy_backend {
  static constexpr std::string_view name = N == 0 ? "toy0" : N == 1 ? "toy1" : N == 2 ? "toy2" : "toy3";
  static inline ToyState state;

  struct CompileSpec {
    int tuning = 0;
  };
  struct Processed {
    std::shared_ptr<const ToyCode> code;
    int tuning = 0;
  };
  using Handle = Processed;
  struct Workspace {
    std::vector<davit::Tensor> temporaries;
  };

  [[nodiscard]] static bool is_available() { return state.available; }
  static void may_throw([[maybe_unused]] std::string_view function) {
#if defined(__cpp_exceptions)
    if (state.throws == function) throw std::runtime_error("it was told to throw");
#endif
  }

  [[nodiscard]] static const char* refuses(davit::GraphModuleView graph, davit::NodeId node) {
    if (node < 64 && (state.refused_nodes >> node & 1) != 0) return "it was told not to take this node";
    std::string_view target = graph.target(graph.nodes[node]);
    target.remove_prefix(target.find('.') + 1);
    target = target.substr(0, target.find('.'));
    return state.refused.find(target) == std::string_view::npos ? nullptr : "it was told not to take this operator";
  }

  [[nodiscard]] static davit::Result<Processed> preprocess(const davit::Method& method, const CompileSpec& spec,
                                                           davit::DebugHandleRecorder& debug_handles) {
    ++state.preprocessed;
    may_throw("preprocess");
    const davit::GraphModuleView graph = method.view();
    state.nodes.push_back(graph.nodes.size());
    const std::vector<davit::DebugHandle> handles = debug_handles.handle_all();
    if (state.fails_preprocess)
      return std::unexpected(
          davit::Error{.code = davit::ErrorCode::failed, .debug_handle = handles.at(0), .what = "it must not"});
    auto code = std::make_shared<ToyCode>();
    std::vector<ToyCode::Operand> place(graph.values.size());
    inputs(*method.program, *code, place);
    const auto operand = [&](const davit::Argument& a) -> ToyCode::Operand {
      if (a.is_value()) return place[a.value()];
      const double number = a.kind == davit::ArgumentKind::float_ ? a.float_value() : static_cast<double>(a.payload);
      return {.kind = ToyCode::Operand::Kind::number, .number = number};
    };
    const davit::Range nodes = graph.root().nodes;
    for (davit::NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) {
      std::span<const davit::Argument> in = graph.inputs(graph.nodes[n]);
      std::span<const davit::Argument> out = graph.outputs(graph.nodes[n]);
      ToyCode::Instruction i{.out = code->temporaries, .handle = handles[n]};
      if (!read_target(graph.target(graph.nodes[n]), i.op))
        return std::unexpected(davit::Error{.code = davit::ErrorCode::unsupported_operator,
                                            .debug_handle = handles[n],
                                            .what = "this backend does not know the operator"});
      if (graph.target(graph.nodes[n]) == "higher_order.with_effects") {
        in = in.subspan(2);
        out = out.subspan(1);
      }
      i.x = operand(in[0]);
      if (in.size() > 1) i.y = operand(in[1]);
      for (const davit::Argument& made : out)
        place[made.value()] = {.kind = ToyCode::Operand::Kind::temporary, .index = code->temporaries++};
      code->instructions.push_back(i);
    }
    for (const davit::Argument& a : graph.args(graph.root().outputs)) code->outputs.push_back(operand(a));
    return Processed{std::move(code), spec.tuning};
  }

  [[nodiscard]] static davit::Result<Handle> compile(const Processed& processed, const CompileSpec&) {
    ++state.compiled;
    may_throw("compile");
    if (state.fails_compile)
      return std::unexpected(davit::Error{.code = davit::ErrorCode::failed, .what = "it must not"});
    return processed;
  }

  [[nodiscard]] static davit::Result<std::size_t> prepare(const Handle& handle, std::span<const davit::EValue>,
                                                          Workspace& workspace) {
    ++state.prepared;
    may_throw("prepare");
    workspace.temporaries.resize(handle.code->temporaries);
    return 0;
  }

  template <davit::Tracer T, class Report>
  [[nodiscard]] static davit::Status execute(const Handle& handle, std::span<const davit::EValue> inputs,
                                             std::span<davit::EValue> outputs,
                                             davit::ExecuteContext<T, Report, Workspace>& context) {
    ++state.executed;
    may_throw("execute");
    if (state.fail_at >= 0 && state.fail_at-- == 0) {
      const davit::DebugHandle at =
          handle.code->instructions.empty() ? davit::no_debug_handle : handle.code->instructions[0].handle;
      return context.fail(davit::ErrorCode::failed, at, "it was told to fail");
    }
    std::vector<davit::Tensor>& temporaries = context.workspace().temporaries;
    const auto find = [&](const ToyCode::Operand& o) -> davit::EValue {
      switch (o.kind) {
        case ToyCode::Operand::Kind::input: return inputs[o.index];
        case ToyCode::Operand::Kind::constant: return handle.code->constants[o.index].view();
        case ToyCode::Operand::Kind::temporary: return temporaries[o.index].view();
        case ToyCode::Operand::Kind::number: return o.number;
        case ToyCode::Operand::Kind::none: break;
      }
      return {};
    };
    for (const ToyCode::Instruction& i : handle.code->instructions) {
      const davit::EValue x = find(i.x);
      if (!x.is_tensor()) return context.fail(davit::ErrorCode::invalid_argument, i.handle, "not a tensor");
      const davit::EValue y = find(i.y);
      const bool compares = i.op == ToyCode::Op::gt || i.op == ToyCode::Op::lt;
      for (std::uint32_t k = 0; k < (i.op == ToyCode::Op::both ? 2u : 1u); ++k) {
        davit::Tensor& out = temporaries[i.out + k];
        if (!davit::reuse_tensor(out, compares ? davit::ScalarType::bool_ : davit::ScalarType::float32,
                                 x.tensor().sizes()))
          return context.fail(davit::ErrorCode::out_of_memory, i.handle, "no memory");
        if (y.is_tensor() && !std::ranges::equal(y.tensor().sizes(), x.tensor().sizes()))
          return context.fail(davit::ErrorCode::invalid_shape, i.handle, "the operands have different sizes");
        const ToyCode::Op op = i.op != ToyCode::Op::both ? i.op : k == 0 ? ToyCode::Op::add : ToyCode::Op::sub;
        apply(op, x.tensor(), y, out.view());
      }
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i] = find(handle.code->outputs[i]);
    if (state.wrong_output && !outputs.empty()) outputs[0] = 7;
    if (state.null_output && !outputs.empty() && outputs[0].is_tensor()) {
      davit::TensorView without = outputs[0].tensor();
      without.data = nullptr;
      outputs[0] = davit::EValue(without);
    }
    return {};
  }

 private:
  static void inputs(const davit::ExportedProgram& program, ToyCode& code, std::vector<ToyCode::Operand>& place) {
    const davit::GraphModuleView graph = program.view();
    const std::span<const davit::Argument> values = graph.args(graph.root().inputs);
    std::uint32_t passed = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const davit::InputSpec& spec = program.signature.input_specs[i];
      const davit::InputRole role = davit::input_roles(program.signature)[i];
      if (role == davit::InputRole::constant) {
        const davit::Tensor* tensor = program.tensor_named(*davit::target(spec));
        state.constants.push_back(tensor->storage.data());
        place[values[i].value()] = {.kind = ToyCode::Operand::Kind::constant,
                                    .index = static_cast<std::uint32_t>(code.constants.size())};
        code.constants.push_back(*tensor);
      } else if (role == davit::InputRole::user || role == davit::InputRole::state) {
        if (values[i].is_value()) place[values[i].value()] = {.kind = ToyCode::Operand::Kind::input, .index = passed};
        ++passed;
      }
    }
  }
  [[nodiscard]] static bool read_target(std::string_view target, ToyCode::Op& op) {
    constexpr std::pair<std::string_view, ToyCode::Op> known[] = {{"aten.add.Tensor", ToyCode::Op::add},
                                                                  {"aten.sub.Tensor", ToyCode::Op::sub},
                                                                  {"aten.mul.Tensor", ToyCode::Op::mul},
                                                                  {"aten.neg.default", ToyCode::Op::neg},
                                                                  {"aten.relu.default", ToyCode::Op::relu},
                                                                  {"aten.gt.Scalar", ToyCode::Op::gt},
                                                                  {"aten.lt.Scalar", ToyCode::Op::lt},
                                                                  {"toy.both.default", ToyCode::Op::both},
                                                                  {"higher_order.with_effects", ToyCode::Op::add}};
    for (const auto& [text, value] : known)
      if (text == target) {
        op = value;
        return true;
      }
    return false;
  }
  static void apply(ToyCode::Op op, const davit::TensorView& x, const davit::EValue& other,
                    const davit::TensorView& out) {
    std::int64_t index[davit::max_rank] = {};
    const std::int64_t count = x.numel();
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = [&](const davit::TensorView& t) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < t.rank; ++d) offset += index[d] * t.stride(d);
        return t.as<float>()[offset];
      };
      const float a = at(x);
      const float b = other.is_tensor()   ? at(other.tensor())
                      : other.is_number() ? static_cast<float>(other.number())
                                          : 0.0f;
      switch (op) {
        case ToyCode::Op::add: out.as<float>()[i] = a + b; break;
        case ToyCode::Op::sub: out.as<float>()[i] = a - b; break;
        case ToyCode::Op::mul: out.as<float>()[i] = a * b; break;
        case ToyCode::Op::neg: out.as<float>()[i] = -a; break;
        case ToyCode::Op::relu: out.as<float>()[i] = a > 0 ? a : 0; break;
        case ToyCode::Op::gt: out.as<bool>()[i] = a > b; break;
        case ToyCode::Op::lt: out.as<bool>()[i] = a < b; break;
        case ToyCode::Op::both: break;
      }
      for (std::size_t d = x.rank; d-- > 0;) {
        if (++index[d] < x.size(d)) break;
        index[d] = 0;
      }
    }
  }
};

static_assert(davit::Backend<toy_backend<0>> && davit::SelectsNodes<toy_backend<0>> && davit::Prepares<toy_backend<0>>);

using A = toy_backend<0>;
using B = toy_backend<1>;
using C = toy_backend<2>;
using Two = davit::BackendList<A, B>;
using Three = davit::BackendList<A, B, C>;

/// Resets the toys, before and after a test.
struct Toys {
  Toys() { reset(); }
  ~Toys() { reset(); }
  Toys(const Toys&) = delete;
  static void reset() {
    A::state = {};
    B::state = {};
    C::state = {};
    toy_backend<3>::state = {};
  }
};

/// Nodes, by the names of their first outputs, that form a partition of a backend.
struct Group {
  std::uint32_t backend = 0;
  std::vector<std::string_view> nodes;
};

[[nodiscard]] inline davit::NodeId find_node(davit::GraphModuleView graph, std::string_view name) {
  for (davit::NodeId n = 0; n < graph.nodes.size(); ++n)
    if (davit::node_label(graph, n) == name) return n;
  return davit::no_id;
}

/// A partitioner with a given result. The tags are p0, p1 and so on.
template <class List>
struct ByHand {
  using Backends = List;
  davit::Partitioning<List> answer;

  ByHand() = default;
  ByHand(davit::GraphModuleView graph, std::initializer_list<Group> groups) : answer(graph) {
    for (const Group& group : groups) {
      davit::TagId tag = davit::no_id;
      List::visit(group.backend, [&]<class, std::size_t I>() {
        tag = answer.add(davit::concat("p", answer.delegations.size()),
                         davit::DelegationSpec<List>(std::in_place_index<I>));
      });
      for (const std::string_view name : group.nodes) answer.tags.tag_node(find_node(graph, name), tag);
    }
  }
  [[nodiscard]] davit::Result<davit::Partitioning<List>> partition(const davit::Method&) const { return answer; }
};

/// One value of each tensor, after a run with one-element inputs; empty if it failed.
template <class Session>
[[nodiscard]] std::vector<float> run(Session& session, std::initializer_list<float> inputs, std::size_t method = 0) {
  std::vector<davit::Tensor> tensors;
  for (const float value : inputs) tensors.push_back(programs::scalar(value));
  std::vector<davit::EValue> values;
  for (const davit::Tensor& tensor : tensors) values.emplace_back(tensor.view());
  const auto outputs = session.run(method, values);
  return outputs ? items(outputs->all()) : std::vector<float>{};
}

}  // namespace support
