// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/program/graph.hpp"
#include "davit/program/operators/matmul.hpp"
#include "davit/program/operators/node_arguments.hpp"

namespace davit::formats {

/// The ways in which nodes read values that may be weights.
class EmbedWeights {
 public:
  /// Finds values that all their readers take as weights, possibly through a transpose; and among these the ones that
  /// mm and addmm read untransposed, [in, out], for which only the transpose is a weight. Quantized weights are left
  /// out: their layout is up to the backend. Nodes are visited from last to first, so that an output's readers are
  /// known.
  explicit EmbedWeights(GraphModuleView graph) {
    is_read_.assign(graph.values.size(), 0);
    weighs_.assign(graph.values.size(), 1);
    is_product_.assign(graph.values.size(), 0);
    for (const Argument& a : graph.args(graph.root().outputs))
      if (a.is_value()) weighs_[a.value()] = 0;
    for (NodeId n = static_cast<NodeId>(graph.nodes.size()); n-- > 0;) {
      const Node& node = graph.nodes[n];
      const std::string_view target = graph.target(node);
      const operators::MatmulOperator* const product =
          operators::find_row(operators::matmul_operators, operators::NodeArguments(graph, n));
      const bool is_product = product != nullptr && product->rank == 2;
      const std::span<const Argument> out = graph.outputs(node);
      const bool passes = (target == "aten.t.default" || target == "aten.permute.default") && out.size() == 1 &&
                          out[0].is_value() && is_weight_only(out[0].value());
      for (const Argument& a : graph.inputs(node)) {
        const std::string_view as = graph.str(a.name);
        const bool is_right = product != nullptr && as == product->right.name;
        const bool weighs =
            (as == "weight" && target.starts_with("aten.conv")) || (is_right && (product->transposed || is_product));
        graph.for_each_value(a, [&](ValueId read) {
          is_read_[read] = 1;
          if (!weighs && !passes) weighs_[read] = 0;
          if (is_right && is_product) is_product_[read] = 1;
        });
      }
    }
  }
  /// True if all readers of the value are kernels that prefer the output channel innermost.
  [[nodiscard]] bool allows_output_inner(ValueId v) const noexcept { return is_weight_only(v) && is_product_[v] == 0; }

 private:
  [[nodiscard]] bool is_weight_only(ValueId v) const noexcept { return weighs_[v] != 0 && is_read_[v] != 0; }

  std::vector<std::uint8_t> weighs_, is_product_, is_read_;  ///< per value
};

}  // namespace davit::formats
