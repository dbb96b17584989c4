// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/check_backend.hpp"
#include "davit/core/copy_tensor.hpp"
#include "davit/core/next_index.hpp"
#include "tokens.hpp"

namespace demo {

/// A backend to learn from, for float tensors, `aten.add.Tensor`, `aten.sub.Tensor` and constants.
///
/// preprocess compiles a method ahead of time to a text of tokens, compile parses them, execute runs them. A token is
///
///     instruction ":" operands "<debug_handle>" number
///
/// and tokens are joined by commas. An operand is `i2`, the call's input 2, or `t0`, the result of token 0:
///
///     constant:1.5                  a number
///     constant:2x3:1 2 3 4 5 6      a tensor of sizes [2, 3]; "constant::7" has no dimensions
///     aten.add.Tensor:i0:t1         input 0 + result of token 1; a third operand is alpha
///     return:t2                     the outputs, in order; the last token
///
/// So x + h becomes "aten.add.Tensor:i0:i1<debug_handle>0,return:t0<debug_handle>-1".
///
/// The operands of an add have equal sizes (there is no broadcasting) or are numbers. Source: torch's
/// test/custom_backend and test/cpp/jit/test_backend_compiler_lib.cpp ("backend_with_compiler_demo"), which computes
/// only first elements and cannot chain operators; this backend computes all elements and chains.
struct compiler_demo {
  static constexpr std::string_view name = "compiler_demo";

  /// The caller's options for a method; this compiler has no options.
  struct CompileSpec {
    Name options;
    friend bool operator==(const CompileSpec&, const CompileSpec&) = default;
  };
  /// Result of preprocess, saved in files: the tokens of one method.
  struct Processed {
    Name tokens;
  };
  using Instruction = demo::Instruction;
  using Op = demo::Op;
  /// Result of compile: the parsed instructions.
  using Handle = demo::Code;
  /// Memory of a session: a tensor for each instruction's result.
  struct Workspace {
    std::vector<Tensor> results;
  };

  [[nodiscard]] static bool is_available() noexcept { return true; }

  // -- ahead of time --------------------------------------------------------------------------------------------------

  static constexpr const char* unsupported_node = "the operator is not supported in this compiler";
  static constexpr const char* not_float = "Only float tensors are compatible for add and sub.";

  /// nullptr if the compiler takes the node. preprocess asks this function, so
  /// that both always agree.
  [[nodiscard]] static constexpr const char* refuses(GraphModuleView graph, NodeId id) noexcept {
    const Node& node = graph.nodes[id];
    const std::span<const Argument> in = graph.inputs(node);
    if (op_named(graph.target(node)) == Op::unknown || in.size() < 2) return unsupported_node;
    if (in[0].kind != ArgumentKind::value) return unsupported_node;
    for (const Argument& a : in) {
      if (!a.is_value() && !is_number(a)) return "an operand is neither a tensor nor a number";
      if (!a.is_value()) continue;
      const Value& value = graph.values[a.value()];
      if (value.kind != ValueKind::tensor) return "an operand is neither a tensor nor a number";
      if (value.dtype != ScalarType::float32) return not_float;
      if (!may_be_equal(graph, value.sizes, graph.values[in[0].value()].sizes))
        return "add and sub need operands of equal sizes";
    }
    return nullptr;
  }

  /// Errors: unsupported_operator, unsupported_argument with the node's debug
  /// handle. O(nodes + elements of constants).
  [[nodiscard]] static Result<Processed> preprocess(const Method& method, const CompileSpec&,
                                                    DebugHandleRecorder& debug_handles);

  // -- saved form -----------------------------------------------------------------------------------------------------

  [[nodiscard]] static std::vector<std::byte> save(const Processed& processed);
  [[nodiscard]] static Result<Processed> load(std::span<const std::byte> bytes);
  [[nodiscard]] static std::vector<std::byte> save_spec(const CompileSpec& spec);
  [[nodiscard]] static Result<CompileSpec> load_spec(std::span<const std::byte> bytes);

  // -- on the target --------------------------------------------------------------------------------------------------

  /// Parses the tokens. An unknown instruction is kept: execute reports it if
  /// it is reached. Errors: corrupt_data.
  [[nodiscard]] static Result<Handle> compile(const Processed& processed, const CompileSpec&);

  /// Makes room for every result: as large as the first tensor operand. No
  /// scratch is needed.
  [[nodiscard]] static Result<std::size_t> prepare(const Handle& handle, std::span<const EValue> inputs,
                                                   Workspace& workspace);

  /// Runs the instructions. Faults: unsupported_operator, invalid_dtype,
  /// invalid_shape. No allocation; O(elements).
  template <Tracer T, class Report>
  [[nodiscard]] static Status execute(const Handle& handle, std::span<const EValue> inputs, std::span<EValue> outputs,
                                      ExecuteContext<T, Report, Workspace>& context) {
    Workspace& workspace = context.workspace();
    for (std::size_t i = 0; i < handle.instructions.size(); ++i) {
      const Instruction& instruction = handle.instructions[i];
      switch (instruction.op) {
        case Op::constant: break;
        case Op::unknown:
          return context.fail(ErrorCode::unsupported_operator, instruction.debug_handle, "Instruction, ",
                              instruction.instruction, " is not supported. Contact the backend POC for details. ");
        case Op::return_: return deliver(handle, instruction, inputs, outputs, context);
        default: {
          context.begin_op(instruction.debug_handle, instruction.instruction);
          const Status status = execute_arithmetic(handle, i, inputs, context);
          context.end_op(instruction.debug_handle, instruction.instruction);
          if (!status) return status;
          context.memory(instruction.debug_handle, workspace.results[i].view().nbytes());
        }
      }
    }
    return {};
  }

 private:
  [[nodiscard]] static constexpr bool is_number(const Argument& a) noexcept {
    return a.kind == ArgumentKind::int_ || a.kind == ArgumentKind::float_ || a.kind == ArgumentKind::bool_;
  }
  /// False if two lists of sizes differ for sure; symbolic sizes are compared
  /// when they are known, in execute.
  [[nodiscard]] static constexpr bool may_be_equal(GraphModuleView graph, Range a, Range b) noexcept {
    const std::span<const Dim> x = graph.dims_of(a);
    const std::span<const Dim> y = graph.dims_of(b);
    if (x.size() != y.size()) return false;
    for (std::size_t d = 0; d < x.size(); ++d)
      if (x[d].is_static() && y[d].is_static() && x[d].value != y[d].value) return false;
    return true;
  }
  [[nodiscard]] static Error unsupported(Name what);
  [[nodiscard]] static Error refusal(GraphModuleView graph, NodeId id, const char* reason, DebugHandle handle);

  [[nodiscard]] static EValue find(const Handle& handle, Operand operand, std::span<const EValue> inputs,
                                   const Workspace& workspace) noexcept;

  template <class Context>
  [[nodiscard]] static Status execute_arithmetic(const Handle& handle, std::size_t index,
                                                 std::span<const EValue> inputs, Context& context) {
    const Instruction& instruction = handle.instructions[index];
    const std::span<const Operand> operands = handle.operands_of(instruction);
    const auto operand = [&](std::size_t i) { return find(handle, operands[i], inputs, context.workspace()); };
    if (index >= context.workspace().results.size())
      return context.fail(ErrorCode::failed, instruction.debug_handle, "not prepared");
    const TensorView result = context.workspace().results[index].view();
    const EValue a = operand(0);
    const EValue b = operand(1);
    const EValue scale = operands.size() == 3 ? operand(2) : EValue(1.0);
    for (const EValue& value : {a, b}) {
      if (value.is_number()) continue;
      if (!value.is_tensor() || value.tensor().dtype != ScalarType::float32)
        return context.fail(ErrorCode::invalid_dtype, instruction.debug_handle, not_float);
      if (!std::ranges::equal(value.tensor().sizes(), result.sizes()))
        return context.fail(ErrorCode::invalid_shape, instruction.debug_handle, "The operands of ",
                            instruction.instruction, " have different sizes.");
    }
    if (!a.is_tensor() || !scale.is_number())
      return context.fail(ErrorCode::invalid_dtype, instruction.debug_handle, not_float);
    const float alpha = static_cast<float>(scale.number()) * (instruction.op == Op::sub ? -1.0f : 1.0f);
    Walk x(a);
    Walk y(b);
    float* out = result.as<float>();
    for (std::int64_t i = result.numel(); i > 0; --i) *out++ = x.next() + alpha * y.next();
    return {};
  }

  /// Walks the elements of a float tensor in row-major order, or repeats a number.
  class Walk {
   public:
    explicit Walk(const EValue& value) noexcept {
      if (value.is_tensor()) {
        tensor_ = value.tensor();
        at_ = tensor_.as<float>();
      } else {
        number_ = static_cast<float>(value.number());
        at_ = &number_;
      }
    }
    Walk(const Walk&) = delete;
    float next() noexcept {
      const float value = *at_;
      next_index(tensor_.rank, index_, tensor_.sizes(),
                 [&](std::size_t d, std::ptrdiff_t steps) { at_ += tensor_.stride(d) * steps; });
      return value;
    }

   private:
    TensorView tensor_;
    const float* at_ = nullptr;
    float number_ = 0;
    std::int64_t index_[max_rank] = {};
  };

  template <class Context>
  [[nodiscard]] static Status deliver(const Handle& handle, const Instruction& instruction,
                                      std::span<const EValue> inputs, std::span<EValue> outputs, Context& context) {
    const std::span<const Operand> operands = handle.operands_of(instruction);
    if (operands.size() != outputs.size())
      return context.fail(ErrorCode::invalid_argument, no_debug_handle, "Expected ", outputs.size(),
                          " elements in a list but found ", operands.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const EValue value = find(handle, operands[i], inputs, context.workspace());
      const TensorView* from = value.tensor_if();
      const TensorView* to = outputs[i].tensor_if();
      if (from != nullptr && to != nullptr && to->data != nullptr && from->dtype == to->dtype &&
          std::ranges::equal(from->sizes(), to->sizes())) {
        copy_tensor(*from, *to);
      } else {
        outputs[i] = value;
      }
    }
    return {};
  }
};

inline Result<compiler_demo::Processed> compiler_demo::preprocess(const Method& method, const CompileSpec&,
                                                                  DebugHandleRecorder& debug_handles) {
  TokenWriter out{.graph = method.view(), .operands = {}, .tokens = {}};
  out.inputs(*method.program);
  const Range nodes = out.graph.root().nodes;
  for (NodeId id = nodes.first; id < nodes.first + nodes.count; ++id) {
    const DebugHandle handle = debug_handles.handle(id);
    if (const char* reason = refuses(out.graph, id)) return std::unexpected(refusal(out.graph, id, reason, handle));
    if (!out.node(out.graph.nodes[id], handle)) return std::unexpected(refusal(out.graph, id, not_float, handle));
  }
  if (!out.outputs())
    return std::unexpected(unsupported("an output is no float tensor; this compiler returns only those"));
  return Processed{Name::own(out.tokens)};
}

inline std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}
inline Name text_of(std::span<const std::byte> bytes) {
  return Name::own({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

inline std::vector<std::byte> compiler_demo::save(const Processed& processed) { return bytes_of(processed.tokens); }
inline Result<compiler_demo::Processed> compiler_demo::load(std::span<const std::byte> bytes) {
  return Processed{text_of(bytes)};
}
inline std::vector<std::byte> compiler_demo::save_spec(const CompileSpec& spec) { return bytes_of(spec.options); }
inline Result<compiler_demo::CompileSpec> compiler_demo::load_spec(std::span<const std::byte> bytes) {
  return CompileSpec{text_of(bytes)};
}

inline Result<compiler_demo::Handle> compiler_demo::compile(const Processed& processed, const CompileSpec&) {
  Handle handle;
  std::string_view rest = processed.tokens;
  const std::size_t tokens = count_tokens(rest);
  handle.instructions.reserve(tokens);
  handle.operands.reserve(2 * tokens);
  while (!rest.empty()) {
    const std::string_view token = cut(rest, ',');
    if (!parse(token, handle)) {
      return std::unexpected(
          Error{.code = ErrorCode::corrupt_data,
                .stage = Stage::compile,
                .backend = name,
                .where = concat("token ", handle.instructions.size(), " '", token.substr(0, 60), "'"),
                .what = "it is not of the form "
                        "instruction:operands<debug_handle>number",
                .fix = "lower the program again"});
    }
  }
  if (handle.instructions.empty() || handle.instructions.back().op != Op::return_)
    return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                 .stage = Stage::compile,
                                 .backend = name,
                                 .where = "last token",
                                 .what = "the tokens do not end with a return",
                                 .fix = "lower the program again"});
  return handle;
}

inline Result<std::size_t> compiler_demo::prepare(const Handle& handle, std::span<const EValue> inputs,
                                                  Workspace& workspace) {
  workspace.results.assign(handle.instructions.size(), {});
  for (std::size_t i = 0; i < handle.instructions.size(); ++i) {
    const Instruction& instruction = handle.instructions[i];
    if (instruction.op != Op::add && instruction.op != Op::sub) continue;
    const EValue like = find(handle, handle.operands_of(instruction)[0], inputs, workspace);
    if (!like.is_tensor()) continue;  // execute reports the error
    workspace.results[i] = Tensor::zeros(ScalarType::float32, like.tensor().sizes());
    if (workspace.results[i].storage.size() < static_cast<std::size_t>(like.tensor().numel()) * sizeof(float))
      return std::unexpected(Error{.code = ErrorCode::out_of_memory,
                                   .stage = Stage::execute,
                                   .backend = name,
                                   .what = "no memory for a result",
                                   .fix = "run with smaller inputs"});
  }
  return 0;
}

inline Error compiler_demo::unsupported(Name what) {
  return Error{.code = ErrorCode::unsupported_argument,
               .stage = Stage::preprocess,
               .backend = name,
               .what = std::move(what),
               .fix = "leave this part of the program to another backend"};
}

inline Error compiler_demo::refusal(GraphModuleView graph, NodeId id, const char* reason, DebugHandle handle) {
  const bool by_name = std::string_view(reason) == unsupported_node;
  Error error =
      unsupported(by_name ? concat("The node of ", graph.target(graph.nodes[id]), " is not supported in this compiler")
                          : Name(std::string_view(reason)));
  if (by_name) error.code = ErrorCode::unsupported_operator;
  error.debug_handle = handle;
  return error;
}

inline EValue compiler_demo::find(const Handle& handle, Operand operand, std::span<const EValue> inputs,
                                  const Workspace& workspace) noexcept {
  if (operand.is_input) return operand.index < inputs.size() ? inputs[operand.index] : EValue();
  const Instruction& from = handle.instructions[operand.index];
  if (from.op == Op::constant) {
    const Constant& constant = handle.constants[from.first];
    if (constant.is_number) return static_cast<double>(constant.tensor.view().as<float>()[0]);
    return constant.tensor.view();
  }
  return operand.index < workspace.results.size() ? EValue(workspace.results[operand.index].view()) : EValue();
}

static_assert(check_backend<compiler_demo>() && SelectsNodes<compiler_demo> && Prepares<compiler_demo> &&
              SavesProcessed<compiler_demo>);

}  // namespace demo
