// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/run_events.hpp"
#include "davit/backends/portable.hpp"
#include "davit/backends/kit/shape_key.hpp"
#include "davit/core/copy_tensor.hpp"

namespace davit {

/// True if programs of backend B may lose NaN and infinities by default, where their compile spec does not say.
template <class B>
inline constinit std::atomic<bool> default_fast_math{false};

/// Runs a partition of another backend on portable's kernels: the fallback of a library that loses NaN and infinities,
/// for runs that hold some (finite_guard.hpp). A session compiles it when it is first needed, which takes heap memory,
/// and keeps it.
class ExactRun {
 public:
  /// Writes the outputs as the backend's own execute does. Its scratch is at most `max_memory` bytes; `why` receives
  /// the reason of a failure.
  [[nodiscard]] Status run(const std::shared_ptr<const ProgramBody>& body, std::span<const EValue> inputs,
                           std::span<EValue> outputs, std::uint64_t max_memory, RunEvents events, Name& why) {
    const auto fail = [&](Error&& error) {
      why = std::move(error.what);
      return std::unexpected(Fault(error.code, error.debug_handle));
    };
    if (!handle_) {
      Result<portable::Handle> made = portable::compile({body}, {});
      if (!made) return fail(std::move(made.error()));
      handle_ = *std::move(made);
    }
    results_.assign(outputs.size(), {});
    shape_key(inputs, key_);
    if (!is_planned_ || key_ != planned_for_) {
      is_planned_ = false;
      Result<std::size_t> bytes = portable::prepare(*handle_, inputs, results_, workspace_);
      if (!bytes) return fail(std::move(bytes.error()));
      bytes_ = *bytes;
      is_planned_ = true;
      std::swap(planned_for_, key_);
    }
    if (scratch_.size() < bytes_ && bytes_ <= max_memory) scratch_ = SharedBytes::allocate(bytes_);
    if (scratch_.size() < bytes_ || bytes_ > max_memory) {
      why = "no memory for exact kernels";
      return std::unexpected(Fault(ErrorCode::out_of_memory, no_debug_handle));
    }
    Context context{workspace_, {scratch_.writable(), bytes_}, max_memory, events};
    if (Status done = portable::execute(*handle_, inputs, results_, context); !done) {
      why = std::move(workspace_.why);
      return done;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const TensorView* const to = outputs[i].tensor_if();
      const TensorView* const made = results_[i].tensor_if();
      if (to == nullptr || made == nullptr) {
        outputs[i] = results_[i];
      } else if (!copy_if_same(*made, *to)) {
        why = concat("output ", i, " does not have the sizes or the dtype that the program declares");
        return std::unexpected(Fault(ErrorCode::invalid_shape, no_debug_handle));
      }
    }
    return {};
  }

 private:
  struct Context {
    portable::Workspace& own;
    std::span<std::byte> memory_block;
    std::uint64_t limit;
    RunEvents events;
    [[nodiscard]] portable::Workspace& workspace() const noexcept { return own; }
    [[nodiscard]] std::span<std::byte> scratch() const noexcept { return memory_block; }
    [[nodiscard]] std::uint64_t max_memory() const noexcept { return limit; }
    [[nodiscard]] static UndoLog* undo() noexcept { return nullptr; }
    [[nodiscard]] const StopCondition* stop() const noexcept { return events.stop(); }
    void begin_op(DebugHandle at, std::string_view name) const { events.begin_op(at, name); }
    void end_op(DebugHandle at, std::string_view name) const { events.end_op(at, name); }
    void memory(DebugHandle at, std::size_t bytes) const { events.memory(at, bytes); }
    [[nodiscard]] Status fail(ErrorCode code, DebugHandle at, const Name&) const {
      return std::unexpected(Fault(code, at));
    }
  };
  std::optional<portable::Handle> handle_;
  portable::Workspace workspace_;
  std::size_t bytes_ = 0;
  bool is_planned_ = false;
  ShapeKey planned_for_, key_;
  SharedBytes scratch_;
  std::vector<EValue> results_;
};

}  // namespace davit
