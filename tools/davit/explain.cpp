// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "davit/backend/debug_handles.hpp"
#include "davit/embed/number_partitions.hpp"
#include "inputs.hpp"
#include "static_ir.hpp"

namespace tool {

namespace {

using namespace davit;

/// Parses the four bytes of a code from decimal or hexadecimal digits.
[[nodiscard]] Result<Fault> fault_of(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = text.substr(hex ? 2 : 0);
  std::uint32_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, hex ? 16 : 10);
  if (!digits.empty() && error == std::errc{} && end == digits.data() + digits.size()) return Fault::from_bits(bits);
  return refuse(ErrorCode::invalid_argument, concat("code ", text), "it is no number of four bytes",
                "give it as 1285 or 0x505");
}

/// The largest number of an error code.
[[nodiscard]] unsigned last_error_code() {
  unsigned last = 255;
  while (last > 0 && name_of(static_cast<ErrorCode>(last)) == "?") --last;
  return last;
}

/// Returns the name of the backend that computes the node: portable, or the backend of a delegate call.
[[nodiscard]] std::string backend_name(GraphModuleView graph, const Node& node) {
  const Argument* const name = graph.target(node) == call_delegate_target ? graph.find_input(node, "backend") : nullptr;
  return name == nullptr ? "portable" : std::string(graph.string(*name));
}

[[nodiscard]] Result<void> explain_fault(const ExplainCommand& options) {
  const Result<Fault> fault = fault_of(options.code);
  if (!fault) return std::unexpected(fault.error());
  if (name_of(fault->code()) == "?")
    return refuse(ErrorCode::out_of_range, concat("code ", options.code),
                  concat("its lowest byte is ", static_cast<unsigned>(fault->code()), ", and error codes are 0..",
                         last_error_code()),
                  "give the four bytes that the device returned, the lowest one first");
  bool are_methods = false;
  Result<std::vector<NamedProgram>> programs = read_methods(options.models, options.backends, are_methods);
  if (!programs) return std::unexpected(programs.error());
  const auto found =
      options.method.empty() ? programs->begin() : std::ranges::find(*programs, options.method, &NamedProgram::method);
  if (found == programs->end())
    return refuse(ErrorCode::not_found, concat("--method ", options.method), "no model is that method",
                  "give it as --model METHOD=FILE");
  const ExportedProgram* const program = &found->program;
  const GraphModuleView graph = program->view();
  const std::string code(name_of(fault->code()));
  print("%s (code %u)\n", code.c_str(), static_cast<unsigned>(fault->code()));
  const DebugHandle handle = fault->debug_handle();
  if (handle == no_debug_handle) {
    print("no debug handle: the error is not that of a node\n");
    return {};
  }
  if (static_cast<std::size_t>(handle) >= graph.nodes.size())
    return refuse(ErrorCode::out_of_range, concat("debug handle ", handle),
                  concat("the model has ", graph.nodes.size(), " nodes"),
                  "give the model that the image was made from");
  const auto n = static_cast<NodeId>(handle);
  const Node& node = graph.nodes[n];
  std::string name;
  for (const Argument& a : graph.outputs(node))
    graph.for_each_value(a, [&](ValueId v) { name += (name.empty() ? "" : ", ") + std::string(graph.name(v)); });
  print("node %d: %s = %s\n", handle, name.c_str(), std::string(graph.target(node)).c_str());
  const std::vector<std::uint8_t> backend_of = static_backend_of(*program);
  if (backend_of[n] == EmbedGraph::unassigned)
    print("no partition: the node is not computed, or its backend is not in this program\n");
  else
    print("partition %u on %s\n", number_partitions(backend_of)[n], backend_name(graph, node).c_str());
  if (node.metadata == no_id || node.metadata >= graph.metadata.size()) return {};
  const NodeMetadata& metadata = graph.metadata[node.metadata];
  if (const Name modules = module_hierarchy(graph.str(metadata.nn_module_stack)); !modules.empty())
    print("module %s\n", std::string(modules.view()).c_str());
  if (const Name source = source_with_caret(graph.str(metadata.stack_trace)); !source.empty())
    print("%s\n", std::string(source.view()).c_str());
  return {};
}

}  // namespace

int explain(const ExplainCommand& options) {
  const Result<void> status = explain_fault(options);
  if (status) return 0;
  std::fprintf(stderr, "davit: %s\n", to_string(status.error()).c_str());
  return 2;
}

}  // namespace tool
