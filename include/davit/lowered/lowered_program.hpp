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

/// A partition of a lowered program: its backend, and the data to run it.
struct LoweredDelegate {
  Name tag;
  std::uint32_t backend = 0;                          ///< index into the program's backends
  std::vector<std::uint32_t> fallbacks{};             ///< backends to try if the first is not available
  std::shared_ptr<const ExportedProgram> original{};  ///< kept if a fallback may have to preprocess it
  MethodInterface interface{};
  BackendObject spec{};
  BackendObject processed{};
  BackendObject handle{};  ///< null if not compiled, because the backend was not available
};

/// @name Results of a partition's backend, by their types. B must be the partition's backend.
/// @{
template <RuntimeBackend B>
[[nodiscard]] const typename B::CompileSpec& spec_of(const LoweredDelegate& delegate) noexcept {
  return *static_cast<const typename B::CompileSpec*>(delegate.spec.get());
}
template <RuntimeBackend B>
[[nodiscard]] const typename B::Processed& processed_of(const LoweredDelegate& delegate) noexcept {
  return *static_cast<const typename B::Processed*>(delegate.processed.get());
}
/// Precondition: the partition is compiled.
template <RuntimeBackend B>
[[nodiscard]] const typename B::Handle& handle_of(const LoweredDelegate& delegate) noexcept {
  return *static_cast<const typename B::Handle*>(delegate.handle.get());
}
/// @}

/// One method of a lowered program: the parent program that calls the partitions, its schedule, and the partitions.
struct LoweredMethod {
  Name name;
  ExportedProgram parent{};
  MethodInterface interface{};  ///< of the whole method, before partitioning
  Schedule schedule{};
  std::vector<LoweredDelegate> delegates{};
  bool storage_matters = false;  ///< partitions must pass on the values themselves, not copies
};

/// A program lowered onto backends. Immutable, cheap to copy (copies share everything), safe to share between threads.
///
/// A Session runs it. Source: the LoweredModule of torch's `to_backend`, and the lowered methods of an executorch.exir
/// program.
class LoweredProgram {
 public:
  struct Parts {
    BackendTables backends;
    std::vector<LoweredMethod> methods;
    std::vector<NamedTensor> state;  ///< initial values of the buffers that methods change
  };

  LoweredProgram(std::shared_ptr<const Parts> parts, std::shared_ptr<const DebugMap> debug_map) noexcept;
  // compiled with the definitions, as those of ExportedProgram are
  LoweredProgram(const LoweredProgram& other) noexcept;
  LoweredProgram(LoweredProgram&& other) noexcept;
  LoweredProgram& operator=(const LoweredProgram& other) noexcept;
  LoweredProgram& operator=(LoweredProgram&& other) noexcept;
  ~LoweredProgram();

  [[nodiscard]] const Parts& parts() const noexcept { return *parts_; }
  [[nodiscard]] BackendTables backends() const noexcept { return parts_->backends; }
  [[nodiscard]] std::span<const LoweredMethod> methods() const noexcept { return parts_->methods; }
  [[nodiscard]] std::span<const NamedTensor> state() const noexcept { return parts_->state; }
  /// Returns the source places of the nodes; empty if the package was saved without them.
  [[nodiscard]] const DebugMap& debug_map() const noexcept { return *debug_map_; }
  [[nodiscard]] std::shared_ptr<const DebugMap> shared_debug_map() const noexcept { return debug_map_; }
  /// Returns the same program with another debug map, for example a map kept from lowering for a loaded program.
  [[nodiscard]] LoweredProgram with_debug_map(std::shared_ptr<const DebugMap> map) const;

  /// Returns the index of a method. Errors: not_found, with the names of all methods. O(methods).
  [[nodiscard]] Result<std::size_t> find_method(std::string_view name) const;

 private:
  std::shared_ptr<const Parts> parts_;
  std::shared_ptr<const DebugMap> debug_map_;
};

namespace detail {

/// Describes the place of a partition in an error message.
[[nodiscard]] Name place_of(std::string_view method, const LoweredDelegate& delegate);
[[nodiscard]] Error not_available(Stage stage, std::string_view backend);

/// Compiles every partition whose backend is available. If a backend is not available, the next backend of the
/// partition's chain gets it, provided the original program was kept. Otherwise the partition is an error if `strict`,
/// and stays uncompiled with a warning if not.
[[nodiscard]] Result<void> compile_delegates(BackendTables backends, std::span<LoweredMethod> methods, bool strict,
                                             DebugMap& debug_map, Diagnostics* diagnostics);

}  // namespace detail

}  // namespace davit
