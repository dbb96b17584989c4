// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/check_partitioning.hpp"
#include "davit/lowering/cut_program.hpp"
#include "davit/lowering/group_nodes.hpp"
#include "davit/lowering/lowered_program.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/program/operator_call.hpp"

namespace davit {

/// How to_backend lowers a partitioned program.
struct LowerOptions {
  SharedConstants shared_constants = SharedConstants::share;
  bool require_full_delegation = false;  ///< nodes that the partitioner left are an error; else the last backend gets them
  bool keep_originals = false;           ///< keep each partition's program, so that a fallback can preprocess it later
  bool validate = true;                  ///< verify the program, the lowered parent and every partition's program
};

namespace detail {

/// Lists the nodes that no backend was given, with what each backend said of them.
[[nodiscard]] inline Error undelegated(GraphModuleView graph, std::span<const NodeId> nodes,
                                       std::span<const NodeRefusal> refusals, auto backend_name) {
  Name list;
  for (std::size_t i = 0; i < nodes.size() && i < 50; ++i) {
    list = concat(list, "\n  node '", node_label(graph, nodes[i]), "' (", graph.target(graph.nodes[nodes[i]]), ")");
    for (const NodeRefusal& refusal : refusals)
      if (refusal.node == nodes[i]) list = concat(list, ": ", backend_name(refusal.backend), " says: ", refusal.reason);
  }
  if (nodes.size() > 50) list = concat(list, "\n  and ", nodes.size() - 50, " more");
  return Error{.code = ErrorCode::unsupported_operator, .stage = Stage::partition,
               .where = concat("node '", node_label(graph, nodes[0]), "' (", graph.target(graph.nodes[nodes[0]]), ")"),
               .what = concat(nodes.size(), " node(s) were left undelegated, and full delegation is required:", list),
               .fix = "name a backend that takes them, or do not require full delegation"};
}

/// Lowers one method of a program.
template <class List>
class MethodLowering {
 public:
  MethodLowering(const Name& name, const ExportedProgram& program, const LowerOptions& options, DebugMap& debug_map)
      : program_(program), graph_(program.view()), options_(options), debug_map_(debug_map), recorder_(debug_map) {
    out_.name = name;
  }

  [[nodiscard]] Result<PartitionedMethod<List>> run(Partitioning<List> partitioning, MethodReport* report) {
    partitioning_ = std::move(partitioning);
    report_ = report;
    if (std::vector<Error> faults = check_partitioning(program_, partitioning_.tags); !faults.empty())
      return std::unexpected(all_of(std::move(faults)));
    if (partitioning_.delegations.size() != partitioning_.tags.names.size())
      return std::unexpected(Error{.code = ErrorCode::invalid_argument, .stage = Stage::partition, .where = "delegations",
                                   .what = "there are not as many delegations as tags", .fix = "use Partitioning::add"});
    drop_empty_tags();
    if (Result<void> completed = complete(); !completed) return std::unexpected(std::move(completed.error()));
    const QuotientGraph quotient = contract(graph_, partitioning_.tags.nodes, tag_count());
    const VertexOrder order = topological_order(quotient);
    if (!order.cycle.empty()) return std::unexpected(cycle_error(graph_, partitioning_.tags, quotient, order.cycle));
    ProgramCutter cutter(program_, partitioning_.tags, quotient, order.order, options_.shared_constants);
    if (Result<void> allowed = check_shared(cutter); !allowed) return std::unexpected(std::move(allowed.error()));
    out_.delegates.reserve(tag_count());
    for (TagId tag = 0; tag < tag_count(); ++tag)
      if (Result<void> lowered = lower(tag, cutter.piece(tag)); !lowered) return std::unexpected(std::move(lowered.error()));
    if (Result<void> together = preprocess_together(); !together) return std::unexpected(std::move(together.error()));
    out_.parent = cutter.parent();
    if (Result<void> sound = validate(out_.parent); !sound) return std::unexpected(std::move(sound.error()));
    out_.interface = method_interface(program_);
    out_.storage_matters = storage_matters(graph_);
    std::vector<const MethodInterface*> interfaces;
    interfaces.reserve(out_.delegates.size());
    for (const DelegateEntry& entry : out_.delegates) interfaces.push_back(&out_.interface_of(entry));
    Result<Schedule> schedule = make_schedule(out_.parent, out_.interface, interfaces);
    if (!schedule) return std::unexpected(std::move(schedule.error()));
    out_.schedule = std::move(*schedule);
    if (report_ != nullptr) fill_report(cutter);
    return std::move(out_);
  }

  /// The buffers that the lowered method changes, with their initial values.
  [[nodiscard]] Result<void> add_state(std::vector<NamedTensor>& state, const PartitionedMethod<List>& method) const {
    const auto add = [&](const Name& target) -> Result<void> {
      for (const NamedTensor& entry : state)
        if (entry.name == target) return {};
      const Tensor* tensor = program_.tensor_named(target);
      if (tensor == nullptr)
        return std::unexpected(Error{.code = ErrorCode::not_found, .stage = Stage::partition,
                                     .where = concat("buffer '", target, "'"), .what = "the program holds no tensor of that name",
                                     .fix = "export the program again with its weights"});
      state.push_back({target, *tensor});
      return {};
    };
    for (const InputPort& port : method.interface.inputs)
      if (port.role == InputRole::state)
        if (Result<void> added = add(port.target); !added) return added;
    return {};
  }

 private:
  [[nodiscard]] std::uint32_t tag_count() const noexcept {
    return static_cast<std::uint32_t>(partitioning_.delegations.size());
  }

  /// A tag without nodes makes no partition.
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

  /// Groups what the partitioner left and sends it to the last backend.
  [[nodiscard]] Result<void> complete() {
    std::vector<NodeId> left;
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      if (partitioning_.tags.nodes[n] == no_id && !is_control_flow(graph_, graph_.nodes[n])) left.push_back(n);
    if (left.empty()) return {};
    if (options_.require_full_delegation)
      return std::unexpected(undelegated(graph_, left, partitioning_.refusals, [](std::size_t b) { return List::name(b); }));
    const QuotientGraph fixed = contract(graph_, partitioning_.tags.nodes, tag_count());
    const VertexOrder order = topological_order(fixed);
    if (!order.cycle.empty()) return std::unexpected(cycle_error(graph_, partitioning_.tags, fixed, order.cycle));
    std::vector<std::uint32_t> classes(graph_.nodes.size(), no_id);
    for (const NodeId n : left) classes[n] = 0;
    const NodeGroups groups = group_nodes(graph_, classes, 1, fixed, order.order);
    Result<void> done;
    const TagId first = tag_count();
    List::visit(List::size - 1, [&]<class B, std::size_t I>() {
      if constexpr (std::default_initializable<typename B::CompileSpec>) {
        for (std::uint32_t g = 0; g < groups.count(); ++g)
          partitioning_.add(concat(B::name, "_rest_", g), DelegationSpec<List>(std::in_place_index<I>, DelegateTo<B>{}));
      } else {
        done = std::unexpected(undelegated(graph_, left, partitioning_.refusals, [](std::size_t b) { return List::name(b); }));
      }
    });
    if (!done) return done;
    for (const NodeId n : left) partitioning_.tags.nodes[n] = first + groups.group_of_node[n];
    return {};
  }

  [[nodiscard]] Result<void> check_shared(const ProgramCutter& cutter) const {
    if (options_.shared_constants != SharedConstants::refuse) return {};
    std::vector<Error> faults;
    for (const ConstantPlacement& placement : cutter.placements())
      if (placement.partitions > 1 && placement.fate == ConstantPlacement::Fate::shared)
        faults.push_back(Error{.code = ErrorCode::invalid_argument, .stage = Stage::partition,
                               .where = concat("constant '", placement.target, "'"),
                               .what = concat(placement.partitions, " partitions use it (", placement.bytes, " bytes)"),
                               .fix = "share or duplicate constants, or put its users into one partition"});
    if (faults.empty()) return {};
    return std::unexpected(all_of(std::move(faults)));
  }

  [[nodiscard]] Result<void> validate(const ExportedProgram& program) const {
    if (!options_.validate) return {};
    if (std::vector<Error> violations = verify(program, {.allow_unknown_operators = true}); !violations.empty())
      return std::unexpected(all_of(std::move(violations)));
    return {};
  }

  [[nodiscard]] Result<void> lower(TagId tag, ExportedProgram piece) {
    if (Result<void> sound = validate(piece); !sound) return sound;
    Delegation<List>& delegation = partitioning_.delegations[tag];
    DelegateEntry entry{.tag = partitioning_.tags.names[tag], .backend = delegation.backend(), .fallbacks = std::move(delegation.fallbacks)};
    std::shared_ptr<const ExportedProgram> shared;
    bool keep = options_.keep_originals;
    Result<void> done;
    List::visit(entry.backend, [&]<class B, std::size_t I>() {
      if constexpr (Backend<B>) {
        auto& rows = std::get<I>(out_.rows);
        entry.index = static_cast<std::uint32_t>(rows.size());
        auto& spec = std::get<I>(delegation.spec).spec;
        if constexpr (PreprocessesTogether<preprocessor_of<B>, B>) {
          pending_.push_back({static_cast<std::uint32_t>(I), tag});
          keep = true;
          rows.push_back({out_.name, std::move(spec), method_interface(piece), {}, std::nullopt});
        } else {
          recorder_.begin_method(out_.name, piece.view());
          Result<typename B::Processed> processed =
              preprocessor_of<B>::preprocess(Method{out_.name, &piece}, spec, recorder_);
          if (!processed) {
            done = std::unexpected(explained<B>(std::move(processed.error()), entry));
            return;
          }
          rows.push_back({out_.name, std::move(spec), method_interface(piece), std::move(*processed), std::nullopt});
        }
      } else {
        require_backend<B>();
      }
    });
    if (!done) return done;
    if (report_ != nullptr) add_to_report(entry, piece);
    if (keep) entry.original = std::make_shared<const ExportedProgram>(std::move(piece));
    out_.delegates.push_back(std::move(entry));
    return {};
  }

  /// Backends that see all their partitions at once see them now.
  [[nodiscard]] Result<void> preprocess_together() {
    Result<void> done;
    List::for_each([&]<class B, std::size_t I>() {
      if constexpr (PreprocessesTogether<preprocessor_of<B>, B>) {
        std::vector<Method> methods;
        std::vector<typename B::CompileSpec> specs;
        std::vector<std::uint32_t> entries;
        for (std::uint32_t e = 0; e < out_.delegates.size(); ++e) {
          if (out_.delegates[e].backend != I) continue;
          methods.push_back({out_.name, out_.delegates[e].original.get()});
          specs.push_back(std::get<I>(out_.rows)[out_.delegates[e].index].spec);
          entries.push_back(e);
        }
        if (methods.empty() || !done) return;
        Result<std::vector<typename B::Processed>> processed = preprocessor_of<B>::preprocess_all(methods, specs, recorder_);
        if (processed && processed->size() != methods.size())
          processed = std::unexpected(Error{.code = ErrorCode::failed, .what = "preprocess_all answered another number of results than it was given methods"});
        if (!processed) {
          done = std::unexpected(explained<B>(std::move(processed.error()), out_.delegates[entries[0]]));
          return;
        }
        for (std::size_t i = 0; i < entries.size(); ++i) {
          DelegateEntry& entry = out_.delegates[entries[i]];
          std::get<I>(out_.rows)[entry.index].processed = std::move((*processed)[i]);
          if (!options_.keep_originals) entry.original.reset();
        }
      }
    });
    return done;
  }

  template <class B>
  [[nodiscard]] Error explained(Error error, const DelegateEntry& entry) const {
    error.stage = Stage::preprocess;
    if (error.backend.empty()) error.backend = B::name;
    if (error.where.empty()) error.where = place_of(out_.name, entry);
    return debug_map_.explain(std::move(error));
  }

  void add_to_report(const DelegateEntry& entry, const ExportedProgram& piece) const {
    MethodReport::Partition row{.tag = entry.tag, .backend = Name(List::name(entry.backend)),
                                .nodes = piece.graph_module.nodes.size()};
    for (const InputSpec& spec : piece.signature.input_specs) row.inputs += kind(spec) == InputKind::user_input ? 1 : 0;
    row.outputs = piece.signature.output_specs.size();
    for (const auto* tensors : {&piece.state_dict, &piece.constants})
      for (const NamedTensor& tensor : *tensors) row.held_bytes += tensor.tensor.view().nbytes();
    report_->partitions.push_back(std::move(row));
  }
  void fill_report(const ProgramCutter& cutter) const {
    report_->method = out_.name;
    report_->candidates = partitioning_.candidates;
    for (const ConstantPlacement& p : cutter.placements())
      report_->constants.push_back({p.target, Name(name_of(p.fate)), p.partitions, p.bytes});
    for (const NodeRefusal& refusal : partitioning_.refusals)
      report_->refusals.push_back({node_label(graph_, refusal.node), Name::own(graph_.target(graph_.nodes[refusal.node])),
                                   Name(List::name(refusal.backend)), Name::own(refusal.reason)});
  }

  struct Pending {
    std::uint32_t backend = 0;
    TagId tag = 0;
  };
  const ExportedProgram& program_;
  GraphModuleView graph_;
  const LowerOptions& options_;
  DebugMap& debug_map_;
  DebugHandleRecorder recorder_;
  Partitioning<List> partitioning_;
  PartitionedMethod<List> out_;
  MethodReport* report_ = nullptr;
  std::vector<Pending> pending_;
};

}  // namespace detail

/// The partitioner of one method of a program.
template <Partitioner P>
struct MethodPartitioner {
  Name method;
  P partitioner;
};

/// Lowers the methods of a program onto the partitioner's backends; the programs stay untouched.
///
/// Methods that `partitioners` does not name go to the last backend of the list as they are. What one method changes is
/// state for all methods that hold a tensor of that name, dtype and sizes. In this order: verify all; for every method partition, check the partitioning, cut, preprocess each partition, verify the results; then, once all are
/// well, compile. A partition whose backend is not available here stays uncompiled, with a warning, unless a fallback
/// takes it. Errors: what each step reports, with the place. O(nodes + edges) beside the backends' own work.
/// Source: executorch.exir.backend.backend_api.to_backend.
template <Partitioner P>
[[nodiscard]] Result<LoweredProgram<typename P::Backends>> to_backend(std::span<const ProgramMethod> methods,
                                                                      std::span<const MethodPartitioner<P>> partitioners,
                                                                      const LowerOptions& options = {},
                                                                      Diagnostics* diagnostics = nullptr) {
  using List = typename P::Backends;
  auto parts = std::make_shared<typename LoweredProgram<List>::Parts>();
  auto debug_map = std::make_shared<DebugMap>();
  for (const MethodPartitioner<P>& each : partitioners)
    if (Result<const ExportedProgram*> known = detail::find_program(methods, each.method); !known)
      return std::unexpected(std::move(known.error()));
  std::vector<const ExportedProgram*> programs;
  for (const ProgramMethod& each : methods) {
    if (options.validate)
      if (std::vector<Error> violations = verify(*each.program, {.allow_unknown_operators = true}); !violations.empty())
        return std::unexpected(detail::all_of(std::move(violations)));
    programs.push_back(each.program);
  }
  const detail::SharedState state(programs);
  for (const ProgramMethod& each : methods) {
    ExportedProgram own;
    const ExportedProgram& program = *state.mark(*each.program, own);
    LowerOptions own_options = options;
    own_options.require_full_delegation = false;  // nothing was asked of a method that is not named
    Result<Partitioning<List>> partitioning(std::in_place, program.view());
    for (const MethodPartitioner<P>& one : partitioners) {
      if (one.method != each.name) continue;
      own_options = options;
      partitioning = one.partitioner.partition(Method{each.name, &program});
    }
    if (!partitioning) {
      Error error = std::move(partitioning.error());
      error.stage = Stage::partition;
      return std::unexpected(std::move(error));
    }
    MethodReport report;
    detail::MethodLowering<List> lowering(each.name, program, own_options, *debug_map);
    Result<PartitionedMethod<List>> lowered = lowering.run(std::move(*partitioning), diagnostics != nullptr ? &report : nullptr);
    if (!lowered) return std::unexpected(std::move(lowered.error()));
    if (Result<void> added = lowering.add_state(parts->state, *lowered); !added) return std::unexpected(std::move(added.error()));
    if (diagnostics != nullptr) diagnostics->reports.push_back(std::move(report));
    parts->methods.push_back(std::move(*lowered));
  }
  for (PartitionedMethod<List>& method : parts->methods)
    if (Result<void> compiled = detail::compile_delegates(method, false, *debug_map, diagnostics); !compiled)
      return std::unexpected(debug_map->explain(std::move(compiled.error())));
  return LoweredProgram<List>(std::move(parts), std::move(debug_map));
}

/// Lowers all methods of a program with one partitioner.
template <Partitioner P>
[[nodiscard]] auto to_backend(std::span<const ProgramMethod> methods, const P& partitioner, const LowerOptions& options = {},
                              Diagnostics* diagnostics = nullptr) {
  std::vector<MethodPartitioner<P>> all;
  for (const ProgramMethod& method : methods) all.push_back({method.name, partitioner});
  return to_backend<P>(methods, std::span<const MethodPartitioner<P>>(all), options, diagnostics);
}

/// Lowers a program of one method, "forward".
template <Partitioner P>
[[nodiscard]] auto to_backend(const ExportedProgram& program, const P& partitioner, const LowerOptions& options = {},
                              Diagnostics* diagnostics = nullptr) {
  const ProgramMethod method{"forward", &program};
  const MethodPartitioner<P> forward{"forward", partitioner};
  return to_backend<P>(std::span(&method, 1), std::span(&forward, 1), options, diagnostics);
}
template <Partitioner P>
[[nodiscard]] auto to_backend(const ExportedProgram& program) {
  return to_backend(program, P{});
}

}  // namespace davit
