// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/core/config.hpp"
#include "davit/lowered/method_interface.hpp"
#include "davit/lowered/partition_report.hpp"
#include "davit/lowered/schedule.hpp"

namespace davit {

/// A partition of a lowered program: which backend runs it, and all that running it takes.
struct LoweredDelegate {
  Name tag;
  std::uint32_t backend = 0;                          ///< index of the program's backends
  std::vector<std::uint32_t> fallbacks{};             ///< backends to try where the first is not available
  std::shared_ptr<const ExportedProgram> original{};  ///< kept if fallbacks may have to preprocess it
  MethodInterface interface{};
  BackendObject spec{};
  BackendObject processed{};
  BackendObject handle{};  ///< null if it was not compiled: the backend was not available
};

/// @name What a backend made of a partition, by its type: B must be the partition's backend.
/// @{
template <RuntimeBackend B>
[[nodiscard]] const typename B::CompileSpec& spec_of(const LoweredDelegate& delegate) noexcept {
  return *static_cast<const typename B::CompileSpec*>(delegate.spec.get());
}
template <RuntimeBackend B>
[[nodiscard]] const typename B::Processed& processed_of(const LoweredDelegate& delegate) noexcept {
  return *static_cast<const typename B::Processed*>(delegate.processed.get());
}
/// The partition must have been compiled.
template <RuntimeBackend B>
[[nodiscard]] const typename B::Handle& handle_of(const LoweredDelegate& delegate) noexcept {
  return *static_cast<const typename B::Handle*>(delegate.handle.get());
}
/// @}

/// One method of a lowered program: the parent that calls the partitions, its schedule, and the partitions.
struct LoweredMethod {
  Name name;
  ExportedProgram parent{};
  MethodInterface interface{};  ///< of the whole method, as it was before it was cut
  Schedule schedule{};
  std::vector<LoweredDelegate> delegates{};
  bool storage_matters = false;  ///< partitions must pass on values themselves, not copies of them
};

/// A program lowered onto backends: immutable, cheap to copy (copies share everything), safe to share between threads.
/// Run it through a Session. Source: the LoweredModule of torch's `to_backend`, and executorch.exir's program of
/// lowered methods.
class LoweredProgram {
 public:
  struct Parts {
    BackendTables backends;
    std::vector<LoweredMethod> methods;
    std::vector<NamedTensor> state;  ///< initial values of the buffers that methods change
  };

  LoweredProgram(std::shared_ptr<const Parts> parts, std::shared_ptr<const DebugMap> debug_map) noexcept
      : parts_(std::move(parts)), debug_map_(std::move(debug_map)) {}

  [[nodiscard]] const Parts& parts() const noexcept { return *parts_; }
  [[nodiscard]] BackendTables backends() const noexcept { return parts_->backends; }
  [[nodiscard]] std::span<const LoweredMethod> methods() const noexcept { return parts_->methods; }
  [[nodiscard]] std::span<const NamedTensor> state() const noexcept { return parts_->state; }
  /// Where the nodes came from; empty if it was stripped from the package that the program was loaded from.
  [[nodiscard]] const DebugMap& debug_map() const noexcept { return *debug_map_; }
  [[nodiscard]] std::shared_ptr<const DebugMap> shared_debug_map() const noexcept { return debug_map_; }
  /// The same program with another debug map, such as one kept from lowering beside a loaded program.
  [[nodiscard]] LoweredProgram with_debug_map(std::shared_ptr<const DebugMap> map) const {
    return LoweredProgram(parts_, std::move(map));
  }

  /// Index of a method. Errors: not_found, with the methods there are. O(methods).
  [[nodiscard]] Result<std::size_t> find_method(std::string_view name) const;

 private:
  std::shared_ptr<const Parts> parts_;
  std::shared_ptr<const DebugMap> debug_map_;
};

namespace detail {

/// Where a partition is, for messages.
[[nodiscard]] Name place_of(std::string_view method, const LoweredDelegate& delegate);
[[nodiscard]] Error not_available(Stage stage, std::string_view backend);

/// Compiles every partition whose backend is available. One whose backend is not goes to the next of its chain, if its
/// program was kept; else `strict` makes it an error, and otherwise it is left uncompiled, with a warning.
[[nodiscard]] Result<void> compile_delegates(BackendTables backends, std::span<LoweredMethod> methods, bool strict,
                                             DebugMap& debug_map, Diagnostics* diagnostics);

}  // namespace detail

}  // namespace davit
