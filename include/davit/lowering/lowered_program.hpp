// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "davit/lowering/backend_list.hpp"
#include "davit/lowering/diagnostics.hpp"
#include "davit/lowering/lowered_module.hpp"
#include "davit/lowering/schedule.hpp"

namespace davit {

/// A partition of a lowered program: which backend runs it, and where it lies among that backend's.
struct DelegateEntry {
  Name tag;
  std::uint32_t backend = 0;
  std::uint32_t index = 0;                    ///< row of the backend's lowered methods
  std::vector<std::uint32_t> fallbacks{};     ///< backends to try where the first is not available
  std::shared_ptr<const ExportedProgram> original{};  ///< kept if fallbacks may have to preprocess it
};

namespace detail {
template <class List>
struct LoweredRows;
template <class... Bs>
struct LoweredRows<BackendList<Bs...>> {
  using type = std::tuple<std::vector<LoweredMethod<Bs>>...>;
};
}  // namespace detail

/// One method of a lowered program: the parent that calls the partitions, its schedule, and the partitions.
template <class List>
struct PartitionedMethod {
  Name name;
  ExportedProgram parent;
  MethodInterface interface;  ///< of the whole method, as it was before it was cut
  Schedule schedule;
  std::vector<DelegateEntry> delegates;
  typename detail::LoweredRows<List>::type rows;  ///< per backend of the list: its partitions
  bool storage_matters = false;  ///< partitions must pass on values themselves, not copies of them

  [[nodiscard]] const MethodInterface& interface_of(const DelegateEntry& entry) const {
    const MethodInterface* found = nullptr;
    List::visit(entry.backend, [&]<class B, std::size_t I>() { found = &std::get<I>(rows)[entry.index].interface; });
    return *found;
  }
};

/// A program lowered onto several backends: immutable, cheap to copy (copies share everything), safe to share between
/// threads. Run it through a ProgramSession.
template <class List>
class LoweredProgram {
 public:
  using Backends = List;
  struct Parts {
    std::vector<PartitionedMethod<List>> methods;
    std::vector<NamedTensor> state;  ///< initial values of the buffers that methods change
  };

  LoweredProgram(std::shared_ptr<const Parts> parts, std::shared_ptr<const DebugMap> debug_map) noexcept
      : parts_(std::move(parts)), debug_map_(std::move(debug_map)) {}

  [[nodiscard]] std::span<const PartitionedMethod<List>> methods() const noexcept { return parts_->methods; }
  [[nodiscard]] std::span<const NamedTensor> state() const noexcept { return parts_->state; }
  [[nodiscard]] const DebugMap& debug_map() const noexcept { return *debug_map_; }
  [[nodiscard]] LoweredProgram with_debug_map(std::shared_ptr<const DebugMap> map) const {
    return LoweredProgram(parts_, std::move(map));
  }

  /// Index of a method. Errors: not_found, with the methods there are. O(methods).
  [[nodiscard]] Result<std::size_t> find_method(std::string_view name) const {
    Name known;
    for (std::size_t i = 0; i < parts_->methods.size(); ++i) {
      if (parts_->methods[i].name == name) return i;
      known = concat(known, known.empty() ? "" : ", ", parts_->methods[i].name);
    }
    return std::unexpected(Error{.code = ErrorCode::not_found, .stage = Stage::execute,
                                 .what = concat("Method '", name, "' is not defined"),
                                 .fix = concat("this program has: ", known)});
  }

 private:
  std::shared_ptr<const Parts> parts_;
  std::shared_ptr<const DebugMap> debug_map_;
};

namespace detail {

/// Where a partition is, for messages.
[[nodiscard]] inline Name place_of(std::string_view method, const DelegateEntry& entry) {
  return concat("method '", method, "', partition '", entry.tag, "'");
}

/// Preprocesses a kept sub-program for the next available backend of its chain; `debug_map` takes its handles.
template <class List>
[[nodiscard]] Result<bool> fall_back(PartitionedMethod<List>& method, DelegateEntry& entry, std::span<const bool> available,
                                     DebugMap& debug_map) {
  if (entry.original == nullptr) return false;
  for (const std::uint32_t next : entry.fallbacks) {
    if (next >= List::size || !available[next]) continue;
    Result<void> done;
    List::visit(next, [&]<class B, std::size_t I>() {
      if constexpr (Backend<B> && std::default_initializable<typename B::CompileSpec>) {
        DebugHandleRecorder recorder(debug_map);
        recorder.begin_method(method.name, entry.original->view());
        Result<typename B::Processed> processed =
            preprocessor_of<B>::preprocess(Method{method.name, entry.original.get()}, typename B::CompileSpec{}, recorder);
        if (!processed) {
          done = std::unexpected(debug_map.explain(std::move(processed.error())));
          return;
        }
        auto& rows = std::get<I>(method.rows);
        rows.push_back({method.name, typename B::CompileSpec{}, method_interface(*entry.original), std::move(*processed), std::nullopt});
        entry.backend = next;
        entry.index = static_cast<std::uint32_t>(rows.size() - 1);
      } else {
        done = std::unexpected(Error{.code = ErrorCode::not_available, .stage = Stage::preprocess, .backend = B::name,
                                     .what = "this backend cannot preprocess here"});
      }
    });
    if (!done) return std::unexpected(std::move(done.error()));
    return true;
  }
  return false;
}

/// Compiles every partition whose backend is available. One whose backend is not goes to the next of its chain, if its
/// program was kept; else `strict` makes it an error, and otherwise it is left uncompiled, with a warning.
template <class List>
[[nodiscard]] Result<void> compile_delegates(PartitionedMethod<List>& method, bool strict, DebugMap& debug_map, Diagnostics* diagnostics) {
  bool available[List::size] = {};
  List::for_each([&]<class B, std::size_t I>() {
    bool used = std::ranges::any_of(method.delegates, [](const DelegateEntry& e) {
      return e.backend == I || std::ranges::find(e.fallbacks, I) != e.fallbacks.end();
    });
    available[I] = used && B::is_available();
  });
  bool warned[List::size] = {};
  for (DelegateEntry& entry : method.delegates) {
    if (!available[entry.backend]) {
      const Result<bool> moved = fall_back(method, entry, available, debug_map);
      if (!moved) return std::unexpected(moved.error());
      const Name what = concat("backend ", List::name(entry.backend), " is not available");
      if (!*moved && strict)
        return std::unexpected(Error{.code = ErrorCode::not_available, .stage = Stage::compile,
                                     .backend = Name(List::name(entry.backend)), .where = place_of(method.name, entry), .what = what,
                                     .fix = "run where it is, or lower with fallbacks and keep the sub-programs"});
      if (!*moved) {
        if (diagnostics != nullptr && !std::exchange(warned[entry.backend], true))
          diagnostics->warnings.push_back(concat(what, " here; the program can still be saved, and runs where it is loaded "
                                                       "with the backend available"));
        continue;
      }
    }
    Result<void> compiled;
    List::visit(entry.backend, [&]<class B, std::size_t I>() {
      LoweredMethod<B>& row = std::get<I>(method.rows)[entry.index];
      Result<typename B::Handle> handle = B::compile(row.processed, row.spec);
      if (handle) {
        row.handle.emplace(std::move(*handle));
        return;
      }
      Error error = std::move(handle.error());
      error.stage = Stage::compile;
      if (error.backend.empty()) error.backend = B::name;
      if (error.where.empty()) error.where = place_of(method.name, entry);
      compiled = std::unexpected(std::move(error));
    });
    if (!compiled) return compiled;
  }
  return {};
}

}  // namespace detail

}  // namespace davit
