// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <utility>

#include "davit/backends/compiler_demo.hpp"

namespace davit {

Result<compiler_demo::Processed> compiler_demo::preprocess(const Method& method, const CompileSpec&,
                                                           DebugHandleRecorder& debug_handles) {
  demo::TokenWriter out{.graph = method.view(), .operands = {}, .tokens = {}};
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

namespace demo {

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}
Name text_of(std::span<const std::byte> bytes) {
  return Name::own({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace demo

std::vector<std::byte> compiler_demo::save(const Processed& processed) { return demo::bytes_of(processed.tokens); }
Result<compiler_demo::Processed> compiler_demo::load(std::span<const std::byte> bytes) {
  return Processed{demo::text_of(bytes)};
}
std::vector<std::byte> compiler_demo::save_spec(const CompileSpec& spec) { return demo::bytes_of(spec.options); }
Result<compiler_demo::CompileSpec> compiler_demo::load_spec(std::span<const std::byte> bytes) {
  return CompileSpec{demo::text_of(bytes)};
}

Result<compiler_demo::Handle> compiler_demo::compile(const Processed& processed, const CompileSpec&) {
  Handle handle;
  std::string_view rest = processed.tokens;
  const std::size_t tokens = demo::count_tokens(rest);
  handle.instructions.reserve(tokens);
  handle.operands.reserve(2 * tokens);
  while (!rest.empty()) {
    const std::string_view token = demo::cut(rest, ',');
    if (!demo::parse(token, handle)) {
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

Result<std::size_t> compiler_demo::prepare(const Handle& handle, std::span<const EValue> inputs, Workspace& workspace) {
  workspace.results.assign(handle.instructions.size(), {});
  for (std::size_t i = 0; i < handle.instructions.size(); ++i) {
    const Instruction& instruction = handle.instructions[i];
    if (instruction.op != Op::add && instruction.op != Op::sub) continue;
    const EValue like = find(handle, handle.operands_of(instruction)[0], inputs, workspace);
    if (!like.is_tensor()) continue;  // execute says what is wrong
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

Error compiler_demo::unsupported(Name what) {
  return Error{.code = ErrorCode::unsupported_argument,
               .stage = Stage::preprocess,
               .backend = name,
               .what = std::move(what),
               .fix = "leave this part of the program to another backend"};
}

Error compiler_demo::refusal(GraphModuleView graph, NodeId id, const char* reason, DebugHandle handle) {
  const bool by_name = std::string_view(reason) == unsupported_node;
  Error error =
      unsupported(by_name ? concat("The node of ", graph.target(graph.nodes[id]), " is not supported in this compiler")
                          : Name(std::string_view(reason)));
  if (by_name) error.code = ErrorCode::unsupported_operator;
  error.debug_handle = handle;
  return error;
}

EValue compiler_demo::find(const Handle& handle, demo::Operand operand, std::span<const EValue> inputs,
                           const Workspace& workspace) noexcept {
  if (operand.is_input) return operand.index < inputs.size() ? inputs[operand.index] : EValue();
  const Instruction& from = handle.instructions[operand.index];
  if (from.op == Op::constant) {
    const demo::Constant& constant = handle.constants[from.first];
    if (constant.is_number) return static_cast<double>(constant.tensor.view().as<float>()[0]);
    return constant.tensor.view();
  }
  return operand.index < workspace.results.size() ? EValue(workspace.results[operand.index].view()) : EValue();
}

constinit const BackendTable detail::TableOf<compiler_demo>::table = detail::BackendCalls<compiler_demo>::table();

}  // namespace davit
