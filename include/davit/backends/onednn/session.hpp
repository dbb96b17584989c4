// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "davit/backends/kit/non_finite_fallback.hpp"
#include "davit/backends/onednn/shapes.hpp"
#include "davit/backends/onednn/workspace.hpp"

namespace davit::onednn_ops {

/// A session's state for a partition: a workspace for each recently used code, and the fallback on exact kernels.
class PartitionSession {
 public:
  static constexpr std::size_t most = 8;  ///< workspaces kept

  /// Sizes the scratch for a partition of static sizes.
  [[nodiscard]] std::size_t prepare(const std::shared_ptr<const Code>& code, std::span<const EValue> outputs) {
    return use(code, outputs);
  }
  /// Sizes the scratch for the code of these sizes; without a code, portable's kernels will run.
  [[nodiscard]] std::size_t prepare(Shapes& shapes, std::span<const EValue> inputs, std::span<const EValue> outputs) {
    shape_key(inputs, key_);
    for (const std::unique_ptr<Entry>& entry : entries_)
      if (entry->key == key_) return use(entry->code, outputs);
    return use(shapes.code_for(key_, inputs), outputs);
  }
  /// True if the inputs have the prepared sizes.
  [[nodiscard]] bool fits(std::span<const EValue> inputs) {
    shape_key(inputs, key_);
    return current_ != nullptr && current_->key == key_;
  }

  [[nodiscard]] const Code* code() const noexcept { return current_ == nullptr ? nullptr : current_->code.get(); }
  [[nodiscard]] Workspace& workspace() noexcept { return current_->workspace; }
  [[nodiscard]] ExactRun& exact() noexcept { return exact_; }

 private:
  struct Entry {
    ShapeKey key;
    std::shared_ptr<const Code> code;
    Workspace workspace;
  };

  [[nodiscard]] std::size_t use(std::shared_ptr<const Code> code, std::span<const EValue> outputs) {
    current_ = nullptr;
    const auto at =
        std::ranges::find_if(entries_, [&](const std::unique_ptr<Entry>& entry) { return entry->key == key_; });
    if (at != entries_.end()) {
      std::rotate(at, at + 1, entries_.end());  // the most recently used entry is last
    } else {
      if (entries_.size() == most) entries_.erase(entries_.begin());
      entries_.push_back(std::make_unique<Entry>(Entry{key_, std::move(code), {}}));
    }
    Entry& entry = *entries_.back();
    const std::size_t bytes = entry.code == nullptr ? 0 : entry.workspace.prepare(*entry.code, outputs);
    current_ = &entry;
    return bytes;
  }

  std::vector<std::unique_ptr<Entry>> entries_;
  Entry* current_ = nullptr;
  ShapeKey key_;
  ExactRun exact_;
};

}  // namespace davit::onednn_ops
