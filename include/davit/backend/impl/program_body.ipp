// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "davit/backend/program_body.hpp"
#include "davit/core/bytes.hpp"
#include "davit/program/strip_metadata.hpp"

namespace davit {

namespace detail {

SharedBytes object_state(const ExportedProgram& program, std::string_view object) {
  for (const NamedObject& entry : program.custom_objects)
    if (entry.name == object) return entry.state;
  return {};
}
/// Returns the name of a graph input for messages.
std::string_view input_name(GraphModuleView graph, std::size_t input) {
  const Argument& a = graph.args(graph.root().inputs)[input];
  return a.is_value() ? graph.name(a.value()) : std::string_view("constant");
}

}  // namespace detail

std::vector<const Tensor*> constants_of_values(const ProgramBody& body) {
  const GraphModuleView graph = body.graph.view();
  std::vector<const Tensor*> out(graph.values.size(), nullptr);
  std::size_t i = 0, constants = 0;
  for (const Argument& input : graph.args(graph.root().inputs)) {
    if (body.roles[i++] != InputRole::constant) continue;
    if (input.is_value()) out[input.value()] = &body.constants[constants];
    ++constants;
  }
  return out;
}

std::vector<std::byte> save_program_body(const ProgramBody& body, SegmentWriter& segments) {
  ByteWriter out;
  write_graph(out, body.graph.view());
  out.array(std::span<const InputRole>(body.roles));
  out.array(std::span<const DebugHandle>(body.handles));
  out.number(static_cast<std::uint64_t>(body.constants.size()));
  for (const Tensor& tensor : body.constants) write_tensor(out, tensor, segments);
  out.number(static_cast<std::uint64_t>(body.objects.size()));
  for (const SharedBytes& object : body.objects) out.bytes(object.bytes());
  return std::move(out).take();
}

Result<std::shared_ptr<const ProgramBody>> load_program_body(std::span<const std::byte> bytes,
                                                             const SegmentReader& segments, std::string_view backend) {
  ByteReader in(bytes);
  auto body = std::make_shared<ProgramBody>();
  const auto failed = [&](Error error) {
    error.backend = Name(backend);
    return std::unexpected(std::move(error));
  };
  Result<GraphModule> graph = read_graph(in);
  if (!graph) return failed(std::move(graph.error()));
  body->graph = std::move(*graph);
  body->roles = in.array<InputRole>();
  body->handles = in.array<DebugHandle>();
  const std::size_t constants = in.count(16);
  for (std::size_t i = 0; i < constants && in.ok(); ++i) {
    Result<Tensor> tensor = read_tensor(in, segments);
    if (!tensor) return failed(std::move(tensor.error()));
    body->constants.push_back(std::move(*tensor));
  }
  const std::size_t objects = in.count(8);
  for (std::size_t i = 0; i < objects && in.ok(); ++i) body->objects.push_back(SharedBytes::copy_of(in.bytes()));
  const auto wanted = [&](InputRole role) { return static_cast<std::size_t>(std::ranges::count(body->roles, role)); };
  if (!in.ok() || body->graph.graphs.empty() || body->roles.size() != body->graph.graphs[root_graph].inputs.count ||
      body->handles.size() != body->graph.nodes.size() || wanted(InputRole::constant) != body->constants.size() ||
      wanted(InputRole::object) != body->objects.size())
    return failed({.code = ErrorCode::corrupt_data,
                   .where = concat("processed blob, byte ", in.position()),
                   .what = "its tables do not agree with each other",
                   .fix = "save the program again"});
  return body;
}

Result<std::shared_ptr<const ProgramBody>> make_program_body(const Method& method, std::string_view backend,
                                                             DebugHandleRecorder& debug_handles) {
  auto body = std::make_shared<ProgramBody>();
  body->handles = debug_handles.handle_all();
  body->roles = input_roles(method.program->signature);
  const std::vector<InputSpec>& specs = method.program->signature.input_specs;
  const TensorIndex tensors(*method.program);
  for (std::size_t i = 0; i < body->roles.size(); ++i) {
    if (body->roles[i] == InputRole::object)
      body->objects.push_back(detail::object_state(*method.program, *target(specs[i])));
    if (body->roles[i] != InputRole::constant) continue;
    const Tensor* tensor = tensors.find(*target(specs[i]));
    if (tensor == nullptr)
      return std::unexpected(Error{.code = ErrorCode::not_found,
                                   .stage = Stage::preprocess,
                                   .backend = Name(backend),
                                   .where = concat("input '", detail::input_name(method.view(), i), "'"),
                                   .what = concat("the program holds no tensor '", *target(specs[i]), "'"),
                                   .fix = "export the program again with its weights"});
    body->constants.push_back(*tensor);
  }
  body->graph = strip_metadata(method.view());
  return body;
}

}  // namespace davit
