// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/row_epilogue.hpp"
#include "davit/backends/portable/run_time/reductions/batch_norm.hpp"
#include "davit/core/tensor.hpp"
#include "davit/kernels/row_moments.hpp"
#include "davit/program/operator_call.hpp"
#include "davit/program/operators/bounds.hpp"
#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/node_arguments.hpp"
#include "davit/program/operators/normalization.hpp"

namespace davit::portable_kernels {

/// A convolution with its epilogue, computed in place of the epilogue's last node.
struct EpilogueStep {
  NodeId convolution = no_id;
  Tensor numbers{};      ///< factors, then shifts, per filter; empty for clamps alone
  RowEpilogue epilogue;  ///< with pointers into `numbers`
};

/// Finds float32 convolutions whose only user is a batch norm with constant parameters, a relu, a clamp or the like, or
/// a chain of these.
class EpiloguePlan {
 public:
  /// `free_row(node)`: the row of the node's kernel, or nullptr if it is a user's kernel, or if the node is computed in
  /// another way. O(nodes + filters).
  template <class FreeRow>
  EpiloguePlan(const ProgramBody& body, const FreeRow& free_row)
      : graph_(body.graph.view()),
        calls_{graph_, Uses(graph_)},
        constants_(constants_of_values(body)),
        step_of_(graph_.nodes.size(), no_id),
        absorbed_(graph_.nodes.size(), 0) {
    const Range nodes = graph_.root().nodes;
    for (NodeId n = nodes.first; n < nodes.first + nodes.count; ++n) {
      const OpRow* const row = free_row(n);
      const ValueId made = calls_.call(n).output();
      operators::ConvolutionView view;
      if (row == nullptr || !row->takes_epilogue || made == no_id || graph_.values[made].dtype != ScalarType::float32)
        continue;
      if (!operators::read_convolution(calls_.call(n), view) && !view.transposed && view.batched) follow(n, free_row);
    }
  }

  /// Returns the convolution that is computed in place of the node, or nullptr.
  [[nodiscard]] EpilogueStep* step_of(NodeId n) noexcept {
    return step_of_[n] == no_id ? nullptr : &steps_[step_of_[n]];
  }
  /// True if a step computes the node's result.
  [[nodiscard]] bool is_absorbed(NodeId n) const noexcept { return absorbed_[n] != 0; }

 private:
  template <class FreeRow>
  void follow(NodeId n, const FreeRow& free_row) {
    EpilogueStep step{.convolution = n, .epilogue = {}};
    NodeId end = n;
    const auto next = [&] {
      const NodeId user = calls_.uses.only_user(calls_.call(end).output());
      return user == no_id || free_row(user) == nullptr || calls_.call(user).output() == no_id ? no_id : user;
    };
    if (const NodeId norm = next(); norm != no_id && take_norm(norm, calls_.call(n).output(), step)) {
      absorbed_[end] = 1;
      end = norm;
    }
    operators::ClampView bounds;
    if (const NodeId user = next(); user != no_id && !operators::read_clamp(calls_.call(user), bounds) &&
                                    bounds.input == calls_.call(end).output()) {
      step.epilogue.low = static_cast<float>(bounds.low);
      step.epilogue.high = static_cast<float>(bounds.high);
      absorbed_[end] = 1;
      end = user;
    }
    if (end == n) return;
    step_of_[end] = static_cast<std::uint32_t>(steps_.size());
    steps_.push_back(std::move(step));
  }
  [[nodiscard]] bool take_norm(NodeId n, ValueId from, EpilogueStep& step) {
    operators::BatchNormView view;
    if (operators::read_batch_norm(calls_.call(n), view) || view.training || view.input != from || view.mean == no_id ||
        view.variance == no_id)
      return false;
    bool is_first = true;
    for (const Argument& output :
         operator_call(graph_, graph_.nodes[n]).outputs)  // the statistics that it saves for training
      graph_.for_each_value(
          output, [&](ValueId v) { is_first = is_first && (v == calls_.call(n).output() || !calls_.uses.any(v)); });
    const Tensor* const variance = constants_[view.variance];
    const std::size_t count =
        variance == nullptr || variance->numel() < 0 ? 0 : static_cast<std::size_t>(variance->numel());
    const auto numbers = [&](ValueId v) -> const float* {
      const Tensor* const tensor = constants_[v];
      if (tensor == nullptr || tensor->dtype != ScalarType::float32 || !tensor->view().is_contiguous() ||
          static_cast<std::size_t>(tensor->numel()) != count)
        return nullptr;
      return tensor->view().as<float>();
    };
    const float *means = numbers(view.mean), *variances = numbers(view.variance);
    const float* const weights = view.weight == no_id ? nullptr : numbers(view.weight);
    const float* const biases = view.bias == no_id ? nullptr : numbers(view.bias);
    if (!is_first || count == 0 || means == nullptr || variances == nullptr ||
        (view.weight != no_id && weights == nullptr) || (view.bias != no_id && biases == nullptr))
      return false;
    const std::int64_t sizes[] = {2, static_cast<std::int64_t>(count)};
    step.numbers = Tensor::zeros(ScalarType::float32, sizes);
    if (step.numbers.storage.size() == 0) return false;
    float* const factors = step.numbers.view().as<float>();
    for (std::size_t c = 0; c < count; ++c) {
      const kernels::Moments<> m{static_cast<double>(means[c]), static_cast<double>(variances[c])};
      const auto inverse = static_cast<float>(m.inverse_deviation(view.eps));
      std::tie(factors[c], factors[count + c]) = detail::factor_and_shift<float>(
          means[c], inverse, weights == nullptr ? nullptr : weights + c, biases == nullptr ? nullptr : biases + c);
    }
    step.epilogue.factors = factors;
    step.epilogue.shifts = factors + count;
    step.epilogue.rows = static_cast<std::int64_t>(count);
    return true;
  }

  GraphModuleView graph_;
  operators::ProgramCalls calls_;
  std::vector<const Tensor*> constants_;  ///< per value
  std::vector<std::uint32_t> step_of_;    ///< per node
  std::vector<std::uint8_t> absorbed_;    ///< per node
  std::vector<EpilogueStep> steps_;
};

}  // namespace davit::portable_kernels
