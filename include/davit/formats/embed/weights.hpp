// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "davit/program/graph.hpp"

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
      const bool is_product = target == "aten.addmm.default" || target == "aten.mm.default";
      const std::span<const Argument> out = graph.outputs(node);
      const bool passes = (target == "aten.t.default" || target == "aten.permute.default") && out.size() == 1 &&
                          out[0].is_value() && is_weight_only(out[0].value());
      for (const Argument& a : graph.inputs(node)) {
        const std::string_view as = graph.str(a.name);
        const bool weighs = (as == "weight" && (target.starts_with("aten.conv") || target == "aten.linear.default")) ||
                            (as == "mat2" && is_product);
        graph.for_each_value(a, [&](ValueId read) {
          is_read_[read] = 1;
          if (!weighs && !passes) weighs_[read] = 0;
          if (as == "mat2" && is_product) is_product_[read] = 1;
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
