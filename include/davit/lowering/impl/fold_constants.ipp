// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/delegate_io.hpp"
#include "davit/lowering/detail/constant_computation.hpp"
#include "davit/lowering/fold_constants.hpp"
#include "davit/ops/facts.hpp"
#include "davit/program/operator_call.hpp"

namespace davit {

namespace detail {

class ConstantFolder {
 public:
  ConstantFolder(const ExportedProgram& program, const BackendTable& backend)
      : program_(program),
        graph_(program.view()),
        backend_(backend),
        known_(graph_.values.size(), 0),
        folded_(graph_.nodes.size(), 0) {}

  /// Finds the nodes to fold; false if there are none.
  [[nodiscard]] bool find() {
    if (backend_.preprocess == nullptr || backend_.default_spec == nullptr || storage_matters(graph_)) return false;
    const std::span<const Argument> inputs = graph_.args(graph_.root().inputs);
    const std::vector<InputRole> roles = input_roles(program_.signature);
    for (const auto* tensors : {&program_.state_dict, &program_.constants})
      for (const NamedTensor& entry : *tensors) most_ += entry.tensor.view().nbytes();
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (roles[i] == InputRole::constant && inputs[i].is_value()) known_[inputs[i].value()] = 1;
    std::vector<std::uint8_t> returned(graph_.values.size(), 0);
    for (const Argument& output : graph_.args(graph_.root().outputs))
      graph_.for_each_value(output, [&](ValueId v) { returned[v] = 1; });
    bool any = false;
    const Range nodes = graph_.root().nodes;
    for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) {
      if (!can_fold(n, returned)) continue;
      folded_[n] = 1;
      any = true;
      for (const Argument& output : graph_.outputs(graph_.nodes[n]))
        graph_.for_each_value(output, [&](ValueId v) { known_[v] = 1; });
    }
    if (!any || !backend_.is_available()) return false;
    std::vector<std::uint8_t> needed(graph_.values.size(), 0);
    for (NodeId n = 0; n < graph_.nodes.size(); ++n)
      for (const Argument& input : graph_.inputs(graph_.nodes[n]))
        graph_.for_each_value(input, [&](ValueId v) {
          const NodeId producer = graph_.values[v].producer;
          if (folded_[n] != 0 || producer == no_id || folded_[producer] == 0 ||
              std::exchange(needed[v], std::uint8_t{1}) != 0)
            return;
          needed_.push_back(v);
        });
    return true;
  }

  /// Computes the tensors of needed_; false if the backend fails.
  [[nodiscard]] bool compute() {
    std::optional<std::vector<Tensor>> made = compute_constants(program_, backend_, folded_, needed_);
    if (!made) return false;
    tensors_ = *std::move(made);
    return true;
  }

  /// Returns the program without the folded nodes.
  [[nodiscard]] ExportedProgram result() {
    ExportedProgram out = program_;
    drop_nodes(out.graph_module, folded_);
    std::vector<AddedConstant> constants;
    const TensorIndex taken(program_);
    for (std::size_t i = 0; i < needed_.size(); ++i) {
      Name target = concat("_folded_", Name::own(graph_.name(needed_[i])));
      while (taken.find(target) != nullptr) target = concat("_", target);
      constants.push_back({needed_[i], std::move(target), std::move(tensors_[i])});
    }
    add_constants(out, std::move(constants));
    return out;
  }

 private:
  [[nodiscard]] bool can_fold(NodeId n, std::span<const std::uint8_t> returned) const {
    const Node& node = graph_.nodes[n];
    const std::string_view target = graph_.target(node);
    if (!target.starts_with("aten."))
      return false;  // excludes control flow, and quantized_decomposed: backends read quantized weights
    const auto is_one_of = [&](std::initializer_list<std::string_view> beginnings) {
      return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return target.starts_with(beginning); });
    };
    if (is_random(target)) return false;
    if (target.starts_with("aten._") && !is_one_of({"aten._to_copy", "aten._unsafe", "aten._reshape"})) return false;
    bool good = true;
    for (const Argument& input : graph_.inputs(node))
      graph_.for_each_value(input, [&](ValueId v) { good = good && known_[v] != 0; });
    std::size_t outputs = 0;
    for (const Argument& output : graph_.outputs(node))
      graph_.for_each_value(output, [&](ValueId v) {
        ++outputs;
        good = good && returned[v] == 0 && is_small(graph_.values[v]);
      });
    return good && outputs != 0 && (backend_.refuses == nullptr || backend_.refuses(graph_, n) == nullptr);
  }
  /// True for a tensor of static sizes that is not much larger than the program's constants.
  [[nodiscard]] bool is_small(const Value& value) const {
    if (value.kind != ValueKind::tensor) return false;
    std::size_t bytes = size_of(value.dtype);
    for (const Dim& dim : graph_.dims_of(value.sizes))
      if (!dim.is_static() || dim.value < 0 ||
          __builtin_mul_overflow(bytes, static_cast<std::size_t>(dim.value), &bytes))
        return false;
    return bytes <= std::max<std::size_t>(most_, 1u << 20);
  }

  const ExportedProgram& program_;
  GraphModuleView graph_;
  const BackendTable& backend_;
  std::size_t most_ = 0;              ///< bytes of all constants
  std::vector<std::uint8_t> known_;   ///< per value: a constant, or folded
  std::vector<std::uint8_t> folded_;  ///< per node
  std::vector<ValueId> needed_;       ///< folded values that other nodes use
  std::vector<Tensor> tensors_;       ///< of needed_
};

}  // namespace detail

std::optional<ExportedProgram> fold_constants(const ExportedProgram& program, const BackendTable& backend) {
  detail::ConstantFolder folder(program, backend);
  if (!folder.find() || !folder.compute()) return std::nullopt;
  return folder.result();
}

}  // namespace davit
