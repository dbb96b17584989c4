// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "davit/backends/onednn/code.hpp"
#include "davit/backends/kit/shape_key.hpp"
#include "davit/backends/kit/finite_guard.hpp"
#include "davit/core/evalue.hpp"

namespace davit::onednn_ops {

/// True if the inputs have the element types, ranks and sizes of the code.
[[nodiscard]] inline bool inputs_fit(const Code& code, std::span<const EValue> inputs) noexcept {
  if (inputs.size() != code.inputs.size()) return false;
  const GraphModuleView graph = code.body->graph.view();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (code.inputs[i].storage == no_id) continue;
    const TensorView* tensor = inputs[i].tensor_if();
    const std::span<const Dim> dims = graph.dims_of(graph.values[code.inputs[i].value].sizes);
    if (tensor == nullptr || tensor->dtype != graph.values[code.inputs[i].value].dtype || tensor->rank != dims.size())
      return false;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (tensor->size(d) != dims[d].value) return false;
  }
  return true;
}

/// The codes of a partition with symbolic sizes, one per set of sizes; the least recently used go first. Safe from
/// several threads.
class Shapes {
 public:
  static constexpr std::size_t most = 32;  ///< codes kept

  Shapes(std::shared_ptr<const ProgramBody> body, const CodeOptions& options);

  [[nodiscard]] const std::shared_ptr<const ProgramBody>& body() const noexcept { return body_; }

  /// The code for these inputs; null if the library has none, or if the inputs do not fit the partition's graph.
  [[nodiscard]] std::shared_ptr<const Code> code_for(const ShapeKey& key, std::span<const EValue> inputs);

 private:
  std::shared_ptr<const ProgramBody> body_;
  std::vector<ValueCheck> checks_;
  CodeOptions options_;
  std::uint64_t partition_;
  std::mutex mutex_;
  std::deque<std::pair<ShapeKey, std::shared_ptr<const Code>>> codes_;
};

}  // namespace davit::onednn_ops
