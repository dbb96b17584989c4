// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/embed_delegate.hpp"
#include "davit/core/segments.hpp"
#include "davit/core/tensor.hpp"
#include "davit/formats/crc32.hpp"
#include "davit/formats/embed_delegates.hpp"
#include "davit/lowering/check_partitioning.hpp"
#include "davit/lowering/cut_program.hpp"
#include "davit/lowering/graph_copier.hpp"
#include "davit/lowering/prepare_program.hpp"
#include "davit/lowering/quotient_graph.hpp"

namespace davit::formats {

namespace detail {

class DelegateEmbedder {
 public:
  DelegateEmbedder(const ExportedProgram& program, BackendTables backends, PartitionResult partitioning)
      : program_(program), backends_(backends), partitioning_(std::move(partitioning)), recorder_(debug_map_) {}

  [[nodiscard]] Result<ExportedProgram> run() {
    const GraphModuleView graph = program_.view();
    PartitionTags& tags = partitioning_.tags;
    if (std::vector<Error> faults = check_partitioning(program_, tags); !faults.empty())
      return std::unexpected(davit::detail::all_of(std::move(faults)));
    if (partitioning_.delegations.size() != tags.names.size())
      return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                   .stage = Stage::partition,
                                   .where = "delegations",
                                   .what = "there are not as many delegations as tags",
                                   .fix = "use Partitioning::add"});
    keep_used_tags(graph);
    const auto count = static_cast<std::uint32_t>(tags.names.size());
    if (count == 0) return program_;
    const QuotientGraph quotient = contract(graph, tags.nodes, count);
    const VertexOrder order = topological_order(quotient);
    if (!order.cycle.empty()) return std::unexpected(cycle_error(graph, tags, quotient, order.cycle));
    ProgramCutter cutter(program_, tags, quotient, order.order, SharedConstants::share);
    for (TagId tag = 0; tag < count; ++tag) {
      const ExportedProgram part = cutter.submodule(tag);
      Result<Blob> blob = preprocess(tag, part);
      if (!blob) return std::unexpected(explained(std::move(blob.error()), tag));
      blobs_.push_back(*std::move(blob));
    }
    ExportedProgram out = with_blobs(cutter.parent());
    if (Result<void> good = davit::detail::sound(out, true); !good) return error_of(std::move(good));
    return out;
  }

 private:
  /// Saved result of a backend's preprocess.
  struct Blob {
    std::vector<std::byte> bytes{};  ///< header and payload, padded
    BlobKey key{};
    std::int64_t scratch_bytes = 0;
  };

  /// Removes the tags of nodes in sub-graphs, which cannot use root-graph constants, and then tags without nodes.
  void keep_used_tags(GraphModuleView graph) {
    PartitionTags& tags = partitioning_.tags;
    std::vector<TagId> renamed(tags.names.size(), no_id);
    std::vector<Name> names;
    std::vector<Delegation> delegations;
    for (NodeId n = 0; n < graph.nodes.size(); ++n) {
      TagId& tag = tags.nodes[n];
      if (graph.nodes[n].graph != root_graph) tag = no_id;
      if (tag == no_id) continue;
      if (renamed[tag] == no_id) {
        renamed[tag] = static_cast<TagId>(names.size());
        names.push_back(std::move(tags.names[tag]));
        delegations.push_back(std::move(partitioning_.delegations[tag]));
      }
      tag = renamed[tag];
    }
    tags.names = std::move(names);
    partitioning_.delegations = std::move(delegations);
  }

  [[nodiscard]] static std::unexpected<Error> refuse(Name what, Name fix) {
    return std::unexpected(
        Error{.code = ErrorCode::unsupported_argument, .what = std::move(what), .fix = std::move(fix)});
  }
  [[nodiscard]] Error explained(Error error, TagId tag) const {
    error.stage = Stage::preprocess;
    if (error.backend.empty()) error.backend = Name(backends_.name(partitioning_.delegations[tag].backend));
    if (error.where.empty()) error.where = concat("partition '", partitioning_.tags.names[tag], "'");
    return debug_map_.explain(std::move(error));
  }

  [[nodiscard]] Result<Blob> preprocess(TagId tag, const ExportedProgram& part) {
    const Delegation& delegation = partitioning_.delegations[tag];
    if (delegation.backend >= backends_.size())
      return std::unexpected(Error{.code = ErrorCode::out_of_range,
                                   .what = concat("there is no backend ", delegation.backend),
                                   .fix = concat("the list has: ", backends_.names())});
    const BackendTable& backend = backends_[delegation.backend];
    const BackendObject spec =
        delegation.spec != nullptr || backend.default_spec == nullptr ? delegation.spec : backend.default_spec();
    if (spec == nullptr)
      return refuse("its CompileSpec has no default", "give the partition a spec: delegate_to<List, B>(spec)");
    if (backend.preprocess == nullptr && backend.preprocess_all == nullptr)
      return refuse("it cannot preprocess here", "name a backend that has preprocess");
    if (backend.save == nullptr)
      return refuse("what it makes of a program cannot be saved", "give it save and load, save_spec and load_spec");
    for (const OutputSpec& output : part.signature.output_specs)
      if (const OutputKind k = kind(output); k == OutputKind::buffer_mutation || k == OutputKind::parameter_mutation)
        return refuse(
            concat("the partition would keep the state '", *target(output), "', which static programs have themselves"),
            "let its `refuses` leave the node that makes the new value to another backend");
    recorder_.begin_method("forward", part.view());
    const Method method{"forward", &part};
    Result<BackendObject> processed;
    if (backend.preprocess != nullptr) {
      processed = backend.preprocess(method, spec.get(), recorder_);
    } else {
      Result<std::vector<BackendObject>> all =
          backend.preprocess_all(std::span(&method, 1), std::span(&spec, 1), recorder_);
      if (!all) return error_of(std::move(all));
      if (all->size() != 1)
        return refuse("preprocess_all answered another number of results than it was given methods", "");
      processed = std::move(all->front());
    }
    if (!processed) return error_of(std::move(processed));
    SegmentWriter segments;
    const std::vector<std::byte> payload = backend.save(processed->get(), segments);
    if (!segments.segments().empty())
      return refuse("it saves segments beside its bytes, and a static program's blob is one piece",
                    "let save(processed) return all bytes");
    if (payload.size() > INT32_MAX / 16)
      return refuse("its blob is larger than a static program's constant can be", "");
    Blob blob{.key = {backend.blob_version, static_cast<std::int32_t>(crc32_of(payload)),
                      static_cast<std::int32_t>(payload.size())}};
    if (backend.scratch_bytes != nullptr) {
      const std::size_t scratch = backend.scratch_bytes(processed->get());
      if (scratch > INT32_MAX / 16) return refuse("it needs more scratch than a static program can have", "");
      blob.scratch_bytes = static_cast<std::int64_t>(scratch);
    }
    const BlobHeader header{.key = blob.key};
    blob.bytes.resize(static_cast<std::size_t>((sizeof header + payload.size() + block - 1) / block * block));
    std::memcpy(blob.bytes.data(), &header, sizeof header);
    std::ranges::copy(payload, blob.bytes.begin() + sizeof header);
    return blob;
  }

  /// Returns the parent program, with the blobs as constants and arguments of its delegate calls.
  [[nodiscard]] ExportedProgram with_blobs(ExportedProgram parent) {
    const GraphModuleView graph = parent.view();
    GraphCopier copier(graph);
    copier.begin();
    GraphBuilder& builder = copier.builder;
    std::vector<ValueId> values;
    std::vector<InputSpec> specs;
    for (GraphId g = 0; g < graph.graphs.size(); ++g) {
      const Graph& each = graph.graphs[g];
      builder.begin_graph(graph.str(each.name));
      for (std::size_t i = 0; g == root_graph && i < blobs_.size(); ++i) {
        const Name name = free_name(parent, graph, partitioning_.tags.names[i]);
        const std::array sizes{static_cast<std::int64_t>(blobs_[i].bytes.size()) / block, block};
        values.push_back(builder.tensor(name, ScalarType::uint8, sizes));
        builder.input(GraphBuilder::value(values.back()));
        Tensor tensor = Tensor::zeros(ScalarType::uint8, sizes);
        std::ranges::copy(blobs_[i].bytes, static_cast<std::byte*>(tensor.view().data));
        parent.constants.push_back({name, std::move(tensor)});
        specs.push_back(InputToTensorConstantSpec{TensorArgument{name}, name});
      }
      for (const Argument& input : graph.args(each.inputs)) builder.input(copier.argument(input));
      for (NodeId n = each.nodes.first; n < each.nodes.first + each.nodes.count; ++n) {
        if (graph.target(graph.nodes[n]) == call_delegate_target)
          call(copier, graph, graph.nodes[n], values);
        else
          copier.node(n);
      }
      std::vector<Argument> outputs;
      for (const Argument& output : graph.args(each.outputs)) outputs.push_back(copier.argument(output));
      builder.end_graph(std::span<const Argument>(outputs), each.is_single_tensor_return != 0);
    }
    parent.signature.input_specs.insert(parent.signature.input_specs.begin(), specs.begin(), specs.end());
    parent.graph_module = std::exchange(builder, {}).finish();
    return parent;
  }
  /// Returns a name that no value and no constant has.
  [[nodiscard]] static Name free_name(const ExportedProgram& program, GraphModuleView graph, std::string_view tag) {
    Name name = concat(tag, "_blob");
    const auto taken = [&] {
      for (const Value& value : graph.values)
        if (graph.str(value.name) == name) return true;
      return program.tensor_named(name) != nullptr;
    };
    while (taken()) name = concat(name, "_");
    return name;
  }
  void call(GraphCopier& copier, GraphModuleView graph, const Node& node, std::span<const ValueId> values) {
    GraphBuilder& builder = copier.builder;
    const std::span<const Argument> in = graph.inputs(node);
    const auto tag = static_cast<TagId>(in[0].payload);
    const Blob& blob = blobs_[tag];
    std::vector<Argument> inputs, passed, outputs;
    const auto add = [&](std::string_view name, Argument argument) {
      argument.name = builder.intern(name);
      inputs.push_back(argument);
    };
    add("backend", builder.string(backends_.name(partitioning_.delegations[tag].backend)));
    add("blob", GraphBuilder::value(values[tag]));
    add("blob_version", GraphBuilder::integer(blob.key.version));
    add("fingerprint", GraphBuilder::integer(blob.key.fingerprint));
    add("bytes", GraphBuilder::integer(blob.key.bytes));
    add("scratch_bytes", GraphBuilder::integer(blob.scratch_bytes));
    for (const Argument& argument : in.subspan(1)) passed.push_back(copier.argument(argument));
    add("inputs", builder.list(passed, ArgumentKind::value));
    for (const Argument& output : graph.outputs(node)) outputs.push_back(copier.argument(output));
    builder.node(call_delegate_target, inputs, outputs, copier.metadata(node.metadata));
  }

  static constexpr std::int64_t block = 16;  // a constant of rank 2 is never stored as an array in the header

  const ExportedProgram& program_;
  BackendTables backends_;
  PartitionResult partitioning_;
  DebugMap debug_map_;
  DebugHandleRecorder recorder_;
  std::vector<Blob> blobs_;  ///< per tag
};

}  // namespace detail

Result<ExportedProgram> embed_delegates(const ExportedProgram& program, BackendTables backends,
                                        PartitionResult partitioning) {
  return detail::DelegateEmbedder(program, backends, std::move(partitioning)).run();
}

}  // namespace davit::formats
