// SPDX-License-Identifier: MIT
#include "static_ir.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "davit/backends/portable/embed.hpp"
#include "davit/embed/select_steps.hpp"
#include "davit/formats/embed_delegates.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/fold_constants.hpp"
#include "davit/lowering/pack_weights.hpp"
#include "davit/lowering/prepare_program.hpp"
#include "davit/lowering/shared_state.hpp"
#include "read_program.hpp"

namespace tool {

namespace {

using namespace davit;

/// Returns the reason why static portable refuses the node by itself, whatever its operands; nullptr if it accepts it.
[[nodiscard]] const char* refuses(GraphModuleView graph, NodeId node) {
  std::vector<Value> values(graph.values.begin(), graph.values.end());
  for (Value& value : values)
    if (value.kind != ValueKind::sym_float) value.producer = no_id;  // a float stays computed, not constant
  for (const Argument& output : graph.outputs(graph.nodes[node]))
    graph.for_each_value(output, [&](ValueId v) { values[v].producer = 0; });
  const std::array<Graph, 1> alone{{{.nodes = {0, 1}}}};
  graph.values = values;
  graph.nodes = graph.nodes.subspan(node, 1);
  graph.graphs = alone;
  const StaticGraphRows rows(graph);
  const StaticInput any;
  const std::vector<std::uint8_t> no_outputs(values.size(), 0);
  const std::uint8_t nobody = EmbedGraph::unassigned;
  const EmbedGraph seen{rows.view(), &any, no_outputs.data(), &nobody, EmbedGraph::probing};
  StepTables trial;
  return davit::detail::is_empty(rows.view(), 0) ? nullptr
                                                 : davit::detail::refusal<portable_static>(EmbedNode{seen, 0}, trial);
}

constexpr BackendTable static_table{.name = "portable", .refuses = &refuses};

/// A stand-in for static backends that this program does not know: it takes all delegate calls.
struct delegates {
  static constexpr std::string_view name = "delegates";
  struct call {
    struct Params {};
  };
  using Kernels = kernel_list<call>;
  static constexpr const char* embed(const EmbedNode& n, StepWriter& steps) {
    if (!n.is(call_delegate_target.data())) return "no call of a delegate";
    StepOperands step = steps.step<call>({});
    n.g.graph.for_each_output(n.id, [&](ValueId v) { step.out(v); });
    for (const StaticArgument& input : n.items("inputs"))
      if (input.is_value()) step.in(input.value());
    step.in(n.value("blob"));
    return nullptr;
  }
};
static_assert(StaticBackend<delegates> && delegates::name == "delegates");

}  // namespace

Result<ExportedProgram> static_ir(const ExportedProgram& program, std::string_view backends,
                                  std::vector<Name>* warnings) {
  Result<std::vector<std::uint32_t>> order;
  if (!backends.empty()) order = parse_backends(backends);
  if (!order) return std::unexpected(std::move(order.error()));
  std::vector<const BackendTable*> tables;
  for (const std::uint32_t b : *order) tables.push_back(&Backends::tables()[b]);
  tables.push_back(&static_table);
  const DecomposeOptions whole{.backends = BackendTables(tables)};
  Result<std::optional<ExportedProgram>> prepared = prepare_program(program, whole);
  if (!prepared) return std::unexpected(std::move(prepared.error()));
  ExportedProgram made = *prepared ? **std::move(prepared) : program;
  const BackendTable* const computes = &Backends::tables()[Backends::size - 1];
  const PackOptions rows{.layout = PackedLayout::rows, .computes = computes};
  if (std::optional<ExportedProgram> packed = pack_weights(made, whole, warnings, rows)) made = *std::move(packed);
  if (std::optional<ExportedProgram> folded = fold_constants(made, *computes)) made = *std::move(folded);
  if (order->empty()) return made;
  return formats::embed_delegates(made, CapabilityPartitioner<Backends>(CapabilityOptions{.order = *std::move(order)}));
}

Result<std::vector<NamedProgram>> read_methods(const std::vector<std::string>& models, std::string_view backends,
                                               bool& are_methods, std::vector<Name>* warnings) {
  Result<std::vector<NamedProgram>> read = read_models(models, {}, are_methods);
  if (!read) return read;
  std::vector<NamedProgram> all = *std::move(read);
  std::vector<const ExportedProgram*> programs;
  for (const NamedProgram& each : all) programs.push_back(&each.program);
  const davit::detail::SharedState shared(programs);
  std::vector<ExportedProgram> marked(all.size());
  for (std::size_t m = 0; m < all.size(); ++m) {
    const ExportedProgram& seen = all.size() > 1 ? *shared.mark(all[m].program, marked[m]) : all[m].program;
    Result<ExportedProgram> made = static_ir(seen, backends, warnings);
    if (!made) {
      if (are_methods)
        made.error().where =
            concat("method '", all[m].method, "'", made.error().where.empty() ? "" : ", ", made.error().where);
      return std::unexpected(std::move(made.error()));
    }
    marked[m] = *std::move(made);
  }
  for (std::size_t m = 0; m < all.size(); ++m) all[m].program = std::move(marked[m]);
  return all;
}

SelectedSteps select_static(const StaticGraph& graph, const StaticInput* inputs, const StaticOutput* outputs) {
  return select_steps<portable_static>(graph, inputs, outputs);
}
SelectedSteps select_beside_delegates(const StaticGraph& graph, const StaticInput* inputs,
                                      const StaticOutput* outputs) {
  return select_steps<portable_static, delegates>(graph, inputs, outputs);
}
PlannedProgram plan_static_portable(const StaticGraph& graph, const StaticInput* inputs, const StaticOutput* outputs,
                                    bool tensors_in_arena) {
  return plan_static<portable_static>(graph, inputs, outputs, tensors_in_arena);
}

std::vector<std::uint8_t> static_backend_of(const ExportedProgram& program) {
  std::vector<StaticInput> inputs;
  for (const InputSpec& spec : program.signature.input_specs)
    inputs.push_back({.role = kind(spec) == InputKind::user_input ? StaticRole::user : StaticRole::constant});
  const std::vector<StaticOutput> outputs(program.signature.output_specs.size());
  const StaticGraphRows rows(program.view());
  const bool has_delegates =
      std::ranges::any_of(rows.nodes, [](const StaticNode& node) { return node.target == call_delegate_target; });
  const SelectedSteps selected =
      (has_delegates ? select_beside_delegates : select_static)(rows.view(), inputs.data(), outputs.data());
  std::vector<std::uint8_t> backend_of(selected.backend_of.begin(), selected.backend_of.end());
  for (const OrphanNode& orphan : selected.orphans) backend_of[orphan.node] = EmbedGraph::unassigned;
  return backend_of;
}

BackendTables portable_tables() { return BackendList<Portable>::tables(); }

StaticOperator static_operator(std::string_view name) {
  const auto count = [&](const auto& rows) {
    return std::ranges::count_if(rows, [&](const EmbedRow& row) { return row.name == name; });
  };
  const auto int8 = count(int8_fold::int8_rows);
  return {.any = count(davit::detail::portable_rows) > int8, .int8 = int8 != 0};
}

}  // namespace tool
