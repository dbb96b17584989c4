// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/memory_plan.hpp"
#include "davit/backends/kit/non_finite_fallback.hpp"
#include "davit/backends/onednn/code.hpp"
#include "davit/backends/onednn/shapes.hpp"
#include "davit/core/evalue.hpp"

namespace davit::onednn_ops {

/// A session's workspace for a code: the library's memory objects and argument lists, made once, and their addresses.
class Workspace {
 public:
  /// Sizes the scratch; `outputs` says which outputs have a destination. Throws dnnl::error, std::bad_alloc.
  [[nodiscard]] std::size_t prepare(const Code& code, std::span<const EValue> outputs) {
    if (bases_.empty()) make_objects(code);
    std::vector<std::uint8_t> given(code.outputs.size(), 0);
    for (std::size_t i = 0; i < code.outputs.size() && i < outputs.size(); ++i)
      given[i] = outputs[i].is_tensor() && fits(code, code.outputs[i], outputs[i].tensor()) ? 1 : 0;
    scratch_ = nullptr;
    if (planned_ && given == given_) return arena_bytes_;
    given_ = std::move(given);
    std::vector<Lifetime> lifetimes;
    std::vector<std::uint32_t> planned;
    for (std::uint32_t s = 0; s < code.storages.size(); ++s) {
      const Storage& storage = code.storages[s];
      if (storage.kind != StorageKind::scratch || storage.parent != no_id || storage.first == no_id) continue;
      if (storage.output != no_id && given_[storage.output] != 0) continue;
      planned.push_back(s);
    }
    std::ranges::sort(planned, {}, [&](std::uint32_t s) { return std::pair(code.storages[s].first, s); });
    for (const std::uint32_t s : planned)
      lifetimes.push_back({code.storages[s].first, code.storages[s].last, code.storages[s].bytes + stagger});
    const MemoryPlan plan = plan_memory_smallest(lifetimes, 2000);
    scratch_places_.clear();
    for (std::size_t i = 0; i < planned.size(); ++i) scratch_places_.emplace_back(planned[i], plan.offsets[i]);
    planned_ = true;
    return arena_bytes_ = plan.arena_bytes;
  }

  [[nodiscard]] bool is_given(std::size_t output) const noexcept { return given_[output] != 0; }
  [[nodiscard]] dnnl_stream_t stream() const noexcept { return stream_.get(); }
  [[nodiscard]] std::byte* address(std::uint32_t storage) const noexcept { return bases_[storage]; }
  [[nodiscard]] std::span<const dnnl_exec_arg_t> arguments(const Step& step) const noexcept {
    return {arguments_.data() + step.arguments.first, step.arguments.count};
  }

  [[nodiscard]] KernelState& kernel(const Step& step) noexcept {
    return kernels_[static_cast<std::size_t>(step.first)];
  }
  [[nodiscard]] portable_kernels::KernelMemory& kernel_memory() noexcept { return kernel_memory_; }

  /// Sets the address of the scratch, and of everything in it, if it changed.
  void move_scratch(const Code& code, std::byte* scratch) noexcept {
    if (scratch == scratch_) return;
    scratch_ = scratch;
    for (const auto& [storage, offset] : scratch_places_) set_address(code, storage, scratch + offset);
  }
  /// Sets the address of a storage. O(places in it) if it changed.
  void set_address(const Code& code, std::uint32_t storage, std::byte* address) noexcept {
    if (bases_[storage] == address) return;
    bases_[storage] = address;
    for (const std::uint32_t p : code.places_of[storage])
      if (memories_[p]) (void)dnnl_memory_set_data_handle(memories_[p].get(), address + offsets_[p]);
  }

 private:
  /// True if a made output fits its destination, which may be smaller than the graph says.
  [[nodiscard]] static bool fits(const Code& code, const Output& output, const TensorView& to) noexcept {
    const auto sizes = std::span(code.dims).subspan(output.dims.first, output.dims.count);
    return output.kind == Output::Kind::made && to.dtype == output.dtype && to.is_contiguous() &&
           std::ranges::equal(to.sizes(), sizes);
  }
  /// Images often span a multiple of a page, and a load waits for a store to the same offset of another page:
  /// consecutive tensors are staggered by some cache lines (mobilenet_v2 1.5 % faster).
  static constexpr std::size_t stagger = 17 * 64;

  void make_objects(const Code& code) {
    stream_ = dnnl::stream(cpu());
    bases_.assign(code.storages.size(), nullptr);
    memories_.clear();
    std::vector<std::uint8_t> real(code.places.size(), 0);  // zeros need no memory object
    for (const Step& step : code.steps)
      for (std::uint32_t i = 0; i < step.arguments.count; ++i)
        if (step.primitive) real[code.arguments[step.arguments.first + i].place] = 1;
    for (std::uint32_t p = 0; p < code.places.size(); ++p) {
      offsets_.push_back(code.root_of(code.places[p]).second);
      memories_.push_back(real[p] != 0 ? dnnl::memory(code.places[p].md, cpu(), DNNL_MEMORY_NONE) : dnnl::memory());
    }
    kernels_.clear();
    kernels_.reserve(code.kernels.size());
    for (const KernelStep& step : code.kernels) kernels_.emplace_back(step);
    for (const StepArgument& a : code.arguments) arguments_.push_back({a.role, memories_[a.place].get(true)});
    for (std::uint32_t s = 0; s < code.storages.size(); ++s)
      if (code.storages[s].kind == StorageKind::constant)
        set_address(code, s, code.constants[code.storages[s].index].writable());
  }

  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;            ///< per place
  std::vector<KernelState> kernels_;              ///< per kernel of the code
  portable_kernels::KernelMemory kernel_memory_;  ///< shared by the kernels
  std::vector<std::size_t> offsets_;              ///< per place: offset in its root storage
  std::vector<dnnl_exec_arg_t> arguments_;        ///< per argument of the code
  std::vector<std::byte*> bases_;                 ///< per storage
  std::vector<std::pair<std::uint32_t, std::size_t>> scratch_places_;
  std::vector<std::uint8_t> given_;
  std::byte* scratch_ = nullptr;
  std::size_t arena_bytes_ = 0;
  bool planned_ = false;  ///< the scratch is planned for given_
};

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
