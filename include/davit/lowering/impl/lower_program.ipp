// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/catch_bad_alloc.hpp"
#include "davit/lowered/check_schedule.hpp"
#include "davit/lowering/check_partitioning.hpp"
#include "davit/lowering/cut_program.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/lowering/fold_constants.hpp"
#include "davit/lowering/functionalize.hpp"
#include "davit/lowering/group_nodes.hpp"
#include "davit/lowering/lower_program.hpp"
#include "davit/backend/backend_table.hpp"
#include "davit/program/in_place_writes.hpp"
#include "davit/lowering/pack_weights.hpp"
#include "davit/lowering/partitioned_graph.hpp"
#include "davit/lowering/prepare_program.hpp"
#include "davit/lowering/shared_state.hpp"
#include "davit/ops/rules.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/schema_version.hpp"
#include "davit/program/verify.hpp"

namespace davit {

namespace detail {

/// True if a backend before the last, which may answer a copy, has a view that another partition writes in place, and
/// the last one takes every node. Functionalized programs write nothing in place. O(nodes * writers).
[[nodiscard]] bool cuts_written_views(GraphModuleView graph, const PartitionResult& partitioning,
                                      BackendTables backends) {
  const auto tag_of = [&](NodeId n) { return partitioning.tags.nodes[n]; };
  std::vector<TagId> writers;
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (writes_arguments(graph, operator_call(graph, graph.nodes[n])) &&
        std::ranges::find(writers, tag_of(n)) == writers.end())
      writers.push_back(tag_of(n));
  if (writers.empty()) return false;
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (!is_control_flow(graph, graph.nodes[n]) && backends.refuses(backends.size() - 1, graph, n) != nullptr)
      return false;
  InPlaceWrites<> writes(graph);
  for (NodeId n = 0; n < graph.nodes.size(); ++n) {
    const TagId tag = tag_of(n);
    if (tag >= partitioning.delegations.size() || partitioning.delegations[tag].backend + 1 >= backends.size())
      continue;
    const OperatorCall call = operator_call(graph, graph.nodes[n]);
    if (view_kind(graph, call) == ViewKind::none || (writers.size() == 1 && writers[0] == tag)) continue;
    bool written = false;
    for (const Argument& output : call.outputs)
      graph.for_each_value(output, [&](ValueId v) { written = written || writes.is_written(v); });
    if (written) return true;
  }
  return false;
}

Result<const ExportedProgram*> find_program(std::span<const ProgramMethod> methods, std::string_view name) {
  Name known;
  for (const ProgramMethod& method : methods) {
    if (method.name == name) return method.program;
    known = concat(known, known.empty() ? "" : ", ", method.name);
  }
  return std::unexpected(Error{.code = ErrorCode::not_found,
                               .stage = Stage::preprocess,
                               .what = concat("Method '", name, "' is not defined"),
                               .fix = concat("the program has: ", known)});
}

/// Lists the nodes without a backend, with each backend's reason.
[[nodiscard]] Error undelegated(GraphModuleView graph, std::span<const NodeId> nodes,
                                std::span<const NodeRefusal> refusals, BackendTables backends) {
  Name list;
  for (std::size_t i = 0; i < nodes.size() && i < 50; ++i) {
    list = concat(list, "\n  node '", node_label(graph, nodes[i]), "' (", graph.target(graph.nodes[nodes[i]]), ")");
    for (const NodeRefusal& refusal : refusals)
      if (refusal.node == nodes[i])
        list = concat(list, ": ", backends.name(refusal.backend), " says: ", refusal.reason);
  }
  if (nodes.size() > 50) list = concat(list, "\n  and ", nodes.size() - 50, " more");
  return Error{.code = ErrorCode::unsupported_operator,
               .stage = Stage::partition,
               .where = concat("node '", node_label(graph, nodes[0]), "' (", graph.target(graph.nodes[nodes[0]]), ")"),
               .what = concat(nodes.size(), " node(s) were left undelegated, and full delegation is required:", list),
               .fix = "name a backend that takes them, or do not require full delegation"};
}

/// The error with the advice of a rule that does not fit its node as its fix, if there is one.
[[nodiscard]] Error advised(Error error, GraphModuleView graph) {
  if (error.code == ErrorCode::unsupported_operator)
    for (const Node& node : graph.nodes)
      if (const std::string_view advice = advice_of_rule(graph.target(node)); !advice.empty()) {
        error.fix = Name::own(advice);
        break;
      }
  return error;
}

/// Lowers one method of a program.
class MethodLowering {
 public:
  /// `original` is the program of the caller, `program` the prepared one.
  MethodLowering(BackendTables backends, const Name& name, const ExportedProgram& original,
                 const ExportedProgram& program, const LowerOptions& options, DebugMap& debug_map)
      : backends_(backends),
        original_(original),
        program_(program),
        graph_(program.view()),
        options_(options),
        debug_map_(debug_map),
        recorder_(debug_map) {
    out_.name = name;
  }

  [[nodiscard]] Result<LoweredMethod> run(PartitionResult partitioning, PartitionReport* report, bool with_attributes) {
    partitioning_ = std::move(partitioning);
    report_ = report;
    if (std::vector<Error> faults = check_partitioning(program_, partitioning_.tags); !faults.empty())
      return std::unexpected(all_of(std::move(faults)));
    if (partitioning_.delegations.size() != partitioning_.tags.names.size())
      return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                   .stage = Stage::partition,
                                   .where = "delegations",
                                   .what = "there are not as many delegations as tags",
                                   .fix = "use Partitioning::add"});
    drop_empty_tags();
    if (Result<void> completed = complete(); !completed) return error_of(std::move(completed));
    const QuotientGraph quotient = contract(graph_, partitioning_.tags.nodes, tag_count());
    const VertexOrder order = topological_order(quotient);
    if (!order.cycle.empty()) return std::unexpected(cycle_error(graph_, partitioning_.tags, quotient, order.cycle));
    ProgramCutter cutter(program_, partitioning_.tags, quotient, order.order, options_.shared_constants);
    if (Result<void> allowed = check_shared(cutter); !allowed) return error_of(std::move(allowed));
    out_.delegates.reserve(tag_count());
    for (TagId tag = 0; tag < tag_count(); ++tag)
      if (Result<void> lowered = lower(tag, cutter.submodule(tag)); !lowered) return error_of(std::move(lowered));
    if (Result<void> together = preprocess_together(); !together) return error_of(std::move(together));
    out_.parent = cutter.parent();
    if (Result<void> good = sound(out_.parent, options_.validate); !good) return error_of(std::move(good));
    out_.interface = method_interface(program_);
    keep_interface(out_.interface, original_);
    out_.storage_matters = storage_matters(graph_);
    std::vector<const MethodInterface*> interfaces;
    interfaces.reserve(out_.delegates.size());
    for (const LoweredDelegate& delegate : out_.delegates) interfaces.push_back(&delegate.interface);
    Result<Schedule> schedule = make_schedule(out_.parent, out_.interface, interfaces);
    if (!schedule) return error_of(std::move(schedule));
    out_.schedule = std::move(*schedule);
    if (Result<void> fits = check_schedule(out_.parent, out_.interface, interfaces, out_.schedule, Stage::verify);
        !fits)
      return error_of(std::move(fits));
    if (report_ != nullptr) fill_report(cutter);
    if (report_ != nullptr && with_attributes) add_attributes(program_, *report_);
    return std::move(out_);
  }

  /// Collects the buffers that the lowered method changes, with their initial values.
  [[nodiscard]] Result<void> add_state(std::vector<NamedTensor>& state, const LoweredMethod& method) const {
    const NameIndex known(state, [](const NamedTensor& entry) { return entry.name.view(); });
    const TensorIndex tensors(program_);
    const std::vector<InputPort>& ports = method.interface.inputs;
    const NameIndex targets(ports, [](const InputPort& port) { return port.target.view(); });
    std::vector<NamedTensor> more;
    const auto add = [&](const Name& target) -> Result<void> {
      if (known.contains(target)) return {};
      const Tensor* tensor = tensors.find(target);
      if (tensor == nullptr)
        return std::unexpected(Error{.code = ErrorCode::not_found,
                                     .stage = Stage::partition,
                                     .where = concat("buffer '", target, "'"),
                                     .what = "the program holds no tensor of that name",
                                     .fix = "export the program again with its weights"});
      more.push_back({target, *tensor});
      return {};
    };
    for (std::size_t i = 0; i < ports.size(); ++i)
      if (ports[i].role == InputRole::state && targets.first(ports[i].target) == i)
        if (Result<void> added = add(ports[i].target); !added) return added;
    state.insert(state.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    return {};
  }

 private:
  [[nodiscard]] std::uint32_t tag_count() const noexcept {
    return static_cast<std::uint32_t>(partitioning_.delegations.size());
  }

  /// Drops tags without nodes.
  void drop_empty_tags() {
    std::vector<std::uint32_t> nodes(tag_count(), 0);
    for (const TagId tag : partitioning_.tags.nodes)
      if (tag != no_id) ++nodes[tag];
    if (std::ranges::find(nodes, 0u) == nodes.end()) return;
    std::vector<TagId> renamed(tag_count(), no_id);
    std::size_t kept = 0;
    for (TagId tag = 0; tag < nodes.size(); ++tag) {
      if (nodes[tag] == 0) continue;
      renamed[tag] = static_cast<TagId>(kept);
      if (kept != tag) {
        partitioning_.tags.names[kept] = std::move(partitioning_.tags.names[tag]);
        partitioning_.delegations[kept] = std::move(partitioning_.delegations[tag]);
      }
      ++kept;
    }
    partitioning_.tags.names.resize(kept);
    partitioning_.delegations.erase(partitioning_.delegations.begin() + static_cast<std::ptrdiff_t>(kept),
                                    partitioning_.delegations.end());
    for (TagId& tag : partitioning_.tags.nodes)
      if (tag != no_id) tag = renamed[tag];
  }

  /// Groups the nodes that the partitioner left, for the last backend.
  [[nodiscard]] Result<void> complete() {
    std::vector<NodeId> left;
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      if (partitioning_.tags.nodes[n] == no_id && !is_control_flow(graph_, graph_.nodes[n])) left.push_back(n);
    if (left.empty()) return {};
    if (options_.require_full_delegation)
      return std::unexpected(undelegated(graph_, left, partitioning_.refusals, backends_));
    const QuotientGraph fixed = contract(graph_, partitioning_.tags.nodes, tag_count());
    const VertexOrder order = topological_order(fixed);
    if (!order.cycle.empty()) return std::unexpected(cycle_error(graph_, partitioning_.tags, fixed, order.cycle));
    std::vector<std::uint32_t> classes(graph_.nodes.size(), no_id);
    for (const NodeId n : left) classes[n] = 0;
    const NodeGroups groups = group_nodes(graph_, classes, 1, fixed, order.order);
    const TagId first = tag_count();
    const auto last = static_cast<std::uint32_t>(backends_.size() - 1);
    if (backends_[last].default_spec == nullptr)
      return std::unexpected(undelegated(graph_, left, partitioning_.refusals, backends_));
    for (std::uint32_t g = 0; g < groups.count(); ++g)
      partitioning_.add(concat(backends_.name(last), "_rest_", g), {.backend = last});
    for (const NodeId n : left) partitioning_.tags.nodes[n] = first + groups.group_of_node[n];
    return {};
  }

  [[nodiscard]] Result<void> check_shared(const ProgramCutter& cutter) const {
    if (options_.shared_constants != SharedConstants::refuse) return {};
    std::vector<Error> faults;
    for (const ConstantPlacement& placement : cutter.placements())
      if (placement.partitions > 1 && placement.fate == ConstantPlacement::Fate::shared)
        faults.push_back(Error{.code = ErrorCode::invalid_argument,
                               .stage = Stage::partition,
                               .where = concat("constant '", placement.target, "'"),
                               .what = concat(placement.partitions, " partitions use it (", placement.bytes, " bytes)"),
                               .fix = "share or duplicate constants, or put its users into one partition"});
    if (faults.empty()) return {};
    return std::unexpected(all_of(std::move(faults)));
  }

  [[nodiscard]] Result<void> lower(TagId tag, ExportedProgram submodule) {
    if (Result<void> good = sound(submodule, options_.validate); !good) return good;
    Delegation& delegation = partitioning_.delegations[tag];
    LoweredDelegate out{.tag = partitioning_.tags.names[tag],
                        .backend = delegation.backend,
                        .fallbacks = std::move(delegation.fallbacks)};
    if (out.backend >= backends_.size())
      return std::unexpected(Error{.code = ErrorCode::out_of_range,
                                   .stage = Stage::partition,
                                   .where = place_of(out_.name, out),
                                   .what = concat("there is no backend ", out.backend),
                                   .fix = concat("the list has: ", backends_.names())});
    const BackendTable& backend = backends_[out.backend];
    out.spec = delegation.spec != nullptr || backend.default_spec == nullptr ? std::move(delegation.spec)
                                                                             : backend.default_spec();
    if (out.spec == nullptr || backend.preprocess == nullptr)
      return std::unexpected(
          explained(Error{.code = ErrorCode::invalid_argument,
                          .what = out.spec == nullptr ? "its CompileSpec has no default" : "it cannot preprocess here",
                          .fix = out.spec == nullptr ? "give the partition a spec: delegate_to<List, B>(spec)"
                                                     : "name a backend that has preprocess"},
                    out));
    out.interface = method_interface(submodule);
    if (backend.preprocess_all == nullptr) {
      recorder_.begin_method(out_.name, submodule.view());
      Result<BackendObject> processed = catch_bad_alloc(Stage::preprocess, [&] {
        return backend.preprocess(Method{out_.name, &submodule}, out.spec.get(), recorder_);
      });
      if (!processed) return std::unexpected(explained(std::move(processed.error()), out));
      out.processed = *std::move(processed);
    }
    if (report_ != nullptr) add_to_report(out, submodule);
    if (options_.keep_originals || backend.preprocess_all != nullptr)
      out.original = std::make_shared<const ExportedProgram>(std::move(submodule));
    out_.delegates.push_back(std::move(out));
    return {};
  }

  /// Calls the backends that preprocess all their partitions at once.
  [[nodiscard]] Result<void> preprocess_together() {
    for (std::uint32_t b = 0; b < backends_.size(); ++b) {
      if (backends_[b].preprocess_all == nullptr) continue;
      std::vector<Method> methods;
      std::vector<BackendObject> specs;
      std::vector<LoweredDelegate*> own;
      for (LoweredDelegate& delegate : out_.delegates) {
        if (delegate.backend != b) continue;
        methods.push_back({out_.name, delegate.original.get()});
        specs.push_back(delegate.spec);
        own.push_back(&delegate);
      }
      if (methods.empty()) continue;
      Result<std::vector<BackendObject>> processed =
          catch_bad_alloc(Stage::preprocess, [&] { return backends_[b].preprocess_all(methods, specs, recorder_); });
      if (processed && processed->size() != methods.size())
        processed = std::unexpected(
            Error{.code = ErrorCode::failed,
                  .what = "preprocess_all answered another number of results than it was given methods"});
      if (!processed) return std::unexpected(explained(std::move(processed.error()), *own[0]));
      for (std::size_t i = 0; i < own.size(); ++i) {
        own[i]->processed = std::move((*processed)[i]);
        if (!options_.keep_originals) own[i]->original.reset();
      }
    }
    return {};
  }

  [[nodiscard]] Error explained(Error error, const LoweredDelegate& delegate) const {
    error.stage = Stage::preprocess;
    if (error.backend.empty()) error.backend = Name(backends_.name(delegate.backend));
    if (error.where.empty()) error.where = place_of(out_.name, delegate);
    return debug_map_.explain(std::move(error));
  }

  void add_to_report(const LoweredDelegate& entry, const ExportedProgram& submodule) const {
    PartitionReport::Partition row{
        .tag = entry.tag, .backend = Name(backends_.name(entry.backend)), .nodes = submodule.graph_module.nodes.size()};
    for (const InputSpec& spec : submodule.signature.input_specs)
      row.inputs += kind(spec) == InputKind::user_input ? 1 : 0;
    row.outputs = submodule.signature.output_specs.size();
    for (const auto* tensors : {&submodule.state_dict, &submodule.constants})
      for (const NamedTensor& tensor : *tensors) row.constant_bytes += tensor.tensor.view().nbytes();
    report_->partitions.push_back(std::move(row));
  }
  void fill_report(const ProgramCutter& cutter) const {
    report_->method = out_.name;
    report_->candidates = partitioning_.candidates;
    report_->graph = partitioned_graph(out_, report_->partitions);
    for (const ConstantPlacement& p : cutter.placements())
      report_->constants.push_back({p.target, Name(name_of(p.fate)), p.partitions, p.bytes});
    for (const NodeRefusal& refusal : partitioning_.refusals)
      report_->refusals.push_back({node_label(graph_, refusal.node),
                                   Name::own(graph_.target(graph_.nodes[refusal.node])),
                                   Name(backends_.name(refusal.backend)), Name::own(refusal.reason)});
    report_->sizes = symbol_sizes_text(out_.interface);
    report_->nodes = node_rows(graph_, partitioning_.tags.nodes);
    for (const NodeMetadata& place : graph_.metadata)
      report_->places.push_back(
          {Name::own(graph_.str(place.stack_trace)), Name::own(graph_.str(place.nn_module_stack))});
  }

  BackendTables backends_;
  const ExportedProgram& original_;
  const ExportedProgram& program_;
  GraphModuleView graph_;
  const LowerOptions& options_;
  DebugMap& debug_map_;
  DebugHandleRecorder recorder_;
  PartitionResult partitioning_;
  LoweredMethod out_;
  PartitionReport* report_ = nullptr;
};

[[nodiscard]] Result<LoweredProgram> lower_methods(BackendTables backends, std::span<const ProgramMethod> methods,
                                                   std::span<const PartitionCall> calls, const LowerOptions& options,
                                                   Diagnostics* diagnostics) {
  const auto refused = [](Name what, Name fix) {
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .stage = Stage::preprocess,
                                 .what = std::move(what),
                                 .fix = std::move(fix)});
  };
  for (const ProgramMethod& method : methods)
    if (method.name.empty() || method.program == nullptr)
      return refused(concat("method '", method.name, "' has no ", method.name.empty() ? "name" : "program"),
                     "give each method a name and a program");
  const NameIndex names(methods, [](const ProgramMethod& method) { return std::string_view(method.name); });
  for (std::size_t m = 0; m < methods.size(); ++m)
    if (names.first(methods[m].name) != m)
      return refused(concat("two methods are called '", methods[m].name, "'"), "give each method a name of its own");
  auto parts = std::make_shared<LoweredProgram::Parts>();
  parts->backends = backends;
  auto debug_map = std::make_shared<DebugMap>();
  if (!options.validate && diagnostics != nullptr)
    diagnostics->warnings.push_back(
        "LowerOptions::validate is off: neither the program nor its partitions are verified; it can be saved and run, "
        "and a fault in it may "
        "show as an error of a backend or as wrong numbers");
  for (const PartitionCall& each : calls)
    if (Result<const ExportedProgram*> known = detail::find_program(methods, each.method); !known)
      return error_of(std::move(known));
  std::vector<const ExportedProgram*> programs;
  std::vector<std::optional<ExportedProgram>> rewritten(methods.size());
  std::vector<DecomposeOptions> takers(methods.size(), DecomposeOptions{.backends = backends});
  for (std::size_t m = 0; m < methods.size(); ++m) {
    DecomposeOptions& whole = takers[m];
    for (const PartitionCall& call : calls)
      if (call.method == methods[m].name) whole.order = call.preference;
    Result<std::optional<ExportedProgram>> prepared = prepare_program(*methods[m].program, whole, options.validate);
    if (!prepared) return error_of(std::move(prepared));
    rewritten[m] = *std::move(prepared);
    programs.push_back(rewritten[m] ? &*rewritten[m] : methods[m].program);
  }
  const detail::SharedState state(programs);
  std::vector<StateHolder> holders;
  for (const ProgramMethod& method : methods) holders.push_back({method.name.view(), method.program});
  if (Result<void> same = check_same_state(holders, state.names()); !same) return error_of(std::move(same));
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const ProgramMethod& each = methods[m];
    ExportedProgram own;
    const ExportedProgram& marked = *state.mark(*programs[m], own);
    std::optional<ExportedProgram> packed, folded;
    if (options.fold_constants)
      packed = pack_weights(marked, takers[m], diagnostics == nullptr ? nullptr : &diagnostics->warnings);
    const ExportedProgram& unfolded = packed ? *packed : marked;
    if (options.fold_constants && backends.size() != 0)
      folded = fold_constants(unfolded, backends[backends.size() - 1]);
    const ExportedProgram& program = folded ? *folded : unfolded;
    LowerOptions own_options = options;
    own_options.require_full_delegation = false;  // the caller's options are for methods with a partitioner
    Result<PartitionResult> partitioning(std::in_place, program.view());
    for (const PartitionCall& call : calls) {
      if (call.method != each.name) continue;
      own_options = options;
      partitioning = call.partition(call.partitioner, Method{each.name, &program});
    }
    if (!partitioning) {
      Error error = std::move(partitioning.error());
      error.stage = Stage::partition;
      return std::unexpected(std::move(error));
    }
    if (cuts_written_views(program.view(), *partitioning, backends))
      *partitioning = PartitionResult(program.view());  // the last backend gets all nodes
    PartitionReport report;
    detail::MethodLowering lowering(backends, each.name, *each.program, program, own_options, *debug_map);
    const bool reports = diagnostics != nullptr;
    Result<LoweredMethod> lowered =
        lowering.run(std::move(*partitioning), reports ? &report : nullptr, reports && diagnostics->with_attributes);
    if (!lowered) return std::unexpected(detail::advised(std::move(lowered.error()), program.view()));
    if (Result<void> added = lowering.add_state(parts->state, *lowered); !added) return error_of(std::move(added));
    if (diagnostics != nullptr) diagnostics->reports.push_back(std::move(report));
    parts->methods.push_back(std::move(*lowered));
  }
  if (Result<void> compiled = compile_delegates(backends, parts->methods, false, *debug_map, diagnostics); !compiled)
    return std::unexpected(debug_map->explain(std::move(compiled.error())));
  return LoweredProgram(std::move(parts), std::move(debug_map));
}

}  // namespace detail

PartitionResult whole_method(const Method& method, std::string_view backend_name, std::uint32_t backend,
                             const BackendObject& spec) {
  const GraphModuleView graph = method.view();
  PartitionResult out(graph);
  std::vector<std::uint32_t> classes(graph.nodes.size(), 0);
  for (NodeId n = 0; n < graph.nodes.size(); ++n)
    if (is_control_flow(graph, graph.nodes[n])) classes[n] = no_id;
  NodeGroups groups = group_nodes(graph, classes, 1);
  for (std::uint32_t g = 0; g < groups.count(); ++g)
    out.add(concat(backend_name, "_", g), {.backend = backend, .spec = spec});
  out.tags.nodes = std::move(groups.group_of_node);
  return out;
}

Result<LoweredProgram> lower_program(BackendTables backends, std::span<const ProgramMethod> methods,
                                     std::span<const PartitionCall> calls, const LowerOptions& options,
                                     Diagnostics* diagnostics) {
  return detail::catch_bad_alloc(Stage::preprocess, [&] {
    Result<LoweredProgram> lowered = detail::lower_methods(backends, methods, calls, options, diagnostics);
    if (lowered) return lowered;
    const auto newer = std::ranges::find_if(methods, [](const ProgramMethod& method) {
      return method.program != nullptr && has_newer_schema(*method.program);
    });
    if (newer != methods.end()) lowered.error() = with_schema(std::move(lowered.error()), *newer->program);
    return lowered;
  });
}

}  // namespace davit
