// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "davit/backend/contract.hpp"
#include "davit/core/config.hpp"
#include "davit/core/catch_bad_alloc.hpp"

namespace davit {

/// A value whose type only its backend knows: a CompileSpec, a Processed or a Handle.
using BackendObject = std::shared_ptr<const void>;

/// Arguments of one delegate call, without the backend's types.
struct DelegateCall {
  const void* handle = nullptr;
  void* workspace = nullptr;
  std::span<const EValue> inputs{};
  std::span<EValue> outputs{};
  std::span<std::byte> scratch{};
  std::uint64_t max_memory = UINT64_MAX;
  TextReport* report = nullptr;
  TracerRef* tracer = nullptr;  ///< for execute_traced
  UndoLog* undo = nullptr;
  const StopCondition* stop = nullptr;
};

/// The functions of a backend type as constant pointers: the only border between code that knows the type and code that
/// is compiled once for all backends. Optional members that a backend lacks are null.
///
/// The compiler makes it from the type (backend_table); nothing is registered, and a backend outside the list is not
/// linked.
struct BackendTable {
  std::string_view name{};
  bool fills_destinations = false;
  bool never_views_inputs = false;
  bool (*is_available_fn)() = nullptr;  ///< null if the backend is known at compile time to be available
  const char* (*refuses)(GraphModuleView graph, NodeId node) = nullptr;
  std::string_view (*operator_schema)(std::string_view target) = nullptr;
  bool (*is_profitable)(GraphModuleView graph, std::span<const NodeId> nodes) = nullptr;
  double (*offload_cost)(GraphModuleView graph, std::span<const NodeId> nodes) = nullptr;
  BackendObject (*default_spec)() = nullptr;
  Result<BackendObject> (*preprocess)(const Method& method, const void* spec,
                                      DebugHandleRecorder& debug_handles) = nullptr;
  Result<std::vector<BackendObject>> (*preprocess_all)(std::span<const Method> methods,
                                                       std::span<const BackendObject> specs,
                                                       DebugHandleRecorder& debug_handles) = nullptr;
  Result<BackendObject> (*compile)(const void* processed, const void* spec) = nullptr;
  std::shared_ptr<void> (*make_workspace)() = nullptr;
  Result<std::size_t> (*prepare)(const void* handle, std::span<const EValue> inputs, std::span<const EValue> outputs,
                                 void* workspace) = nullptr;
  bool (*may_overwrite)(const void* handle, std::size_t input, std::size_t output) = nullptr;
  bool (*updates_input)(const void* handle, std::size_t input, std::size_t output) = nullptr;
  Status (*execute)(const DelegateCall& call) = nullptr;
  Status (*execute_traced)(const DelegateCall& call) = nullptr;
  std::vector<std::byte> (*save)(const void* processed, SegmentWriter& segments) = nullptr;
  Result<BackendObject> (*load)(std::span<const std::byte> bytes, const SegmentReader& segments) = nullptr;
  std::vector<std::byte> (*save_spec)(const void* spec) = nullptr;
  Result<BackendObject> (*load_spec)(std::span<const std::byte> bytes) = nullptr;
  std::int32_t blob_version = 0;  ///< version of the blobs that it saves for static programs
  std::size_t (*scratch_bytes)(const void* processed) = nullptr;

  [[nodiscard]] constexpr bool is_available() const { return is_available_fn == nullptr || is_available_fn(); }
};

namespace detail {

template <class T>
[[nodiscard]] Result<BackendObject> erase(Result<T> value) {
  if (!value) return error_of(std::move(value));
  return std::make_shared<const T>(std::move(*value));
}
template <class T>
[[nodiscard]] const T& as(const void* object) noexcept {
  return *static_cast<const T*>(object);
}

/// A backend that is always available, known at compile time.
template <class B>
concept AlwaysAvailable = requires { requires std::bool_constant<B::is_available()>::value; };

/// Adapters from the table's signatures to those of one backend type.
template <RuntimeBackend B>
struct BackendCalls {
  using Spec = typename B::CompileSpec;
  using Processed = typename B::Processed;
  using Handle = typename B::Handle;
  using Workspace = workspace_of<B>;
  using Preprocessor = preprocessor_of<B>;

  template <class Tracing>
  static Status execute(const DelegateCall& call, Tracing& tracer) {
    const auto run = [&]() __attribute__((always_inline)) -> Status {
      ExecuteContext<Tracing, TextReport, Workspace> context(tracer, *call.report,
                                                             *static_cast<Workspace*>(call.workspace), call.scratch,
                                                             call.max_memory, call.undo, call.stop);
      return B::execute(as<Handle>(call.handle), call.inputs, call.outputs, context);
    };
    return catch_exceptions(run, [&](ErrorCode code, Name what) -> Status {
      call.report->text = std::move(what);
      return std::unexpected(Fault(code));
    });
  }
  static Status execute_quietly(const DelegateCall& call) {
    NullTracer tracer;
    return execute(call, tracer);
  }
  static Status execute_traced(const DelegateCall& call) { return execute(call, *call.tracer); }
  static Result<std::vector<BackendObject>> preprocess_all(std::span<const Method> methods,
                                                           std::span<const BackendObject> specs,
                                                           DebugHandleRecorder& debug_handles) {
    std::vector<Spec> own;
    for (const BackendObject& spec : specs) own.push_back(as<Spec>(spec.get()));
    Result<std::vector<Processed>> all = Preprocessor::preprocess_all(methods, own, debug_handles);
    if (!all) return error_of(std::move(all));
    std::vector<BackendObject> out;
    for (Processed& each : *all) out.push_back(std::make_shared<const Processed>(std::move(each)));
    return out;
  }
  static Result<std::size_t> prepare(const void* handle, std::span<const EValue> inputs,
                                     [[maybe_unused]] std::span<const EValue> outputs, void* workspace) {
    if constexpr (FillsDestinations<B>) {
      return B::prepare(as<Handle>(handle), inputs, outputs, *static_cast<Workspace*>(workspace));
    } else {
      return B::prepare(as<Handle>(handle), inputs, *static_cast<Workspace*>(workspace));
    }
  }
  static std::vector<std::byte> save(const void* processed, [[maybe_unused]] SegmentWriter& segments) {
    if constexpr (SavesSegments<B>) {
      return B::save(as<Processed>(processed), segments);
    } else {
      return B::save(as<Processed>(processed));
    }
  }
  static Result<BackendObject> load(std::span<const std::byte> bytes, [[maybe_unused]] const SegmentReader& segments) {
    if constexpr (SavesSegments<B>) {
      return erase(B::load(bytes, segments));
    } else {
      return erase(B::load(bytes));
    }
  }

  [[nodiscard]] static constexpr BackendTable table() {
    BackendTable t;
    t.name = B::name;
    t.fills_destinations = FillsDestinations<B>;
    t.never_views_inputs = NeverViewsInputs<B>;
    if constexpr (!AlwaysAvailable<B>) t.is_available_fn = [] { return B::is_available(); };
    t.compile = [](const void* processed, const void* spec) {
      return erase(B::compile(as<Processed>(processed), as<Spec>(spec)));
    };
    t.make_workspace = []() -> std::shared_ptr<void> { return std::make_shared<Workspace>(); };
    t.execute = &execute_quietly;
    t.execute_traced = &execute_traced;
    if constexpr (std::default_initializable<Spec>)
      t.default_spec = []() -> BackendObject { return std::make_shared<const Spec>(); };
    if constexpr (SelectsNodes<B>)
      t.refuses = [](GraphModuleView graph, NodeId node) { return B::refuses(graph, node); };
    if constexpr (HasOperators<B>)
      t.operator_schema = [](std::string_view target) { return B::operator_schema(target); };
    if constexpr (JudgesRegions<B>)
      t.is_profitable = [](GraphModuleView graph, std::span<const NodeId> nodes) {
        return B::is_profitable(graph, nodes);
      };
    if constexpr (EstimatesOffloadCost<B>)
      t.offload_cost = [](GraphModuleView graph, std::span<const NodeId> nodes) {
        return B::offload_cost(graph, nodes);
      };
    if constexpr (PreprocessorFor<Preprocessor, B>)
      t.preprocess = [](const Method& method, const void* spec, DebugHandleRecorder& debug_handles) {
        return erase(Preprocessor::preprocess(method, as<Spec>(spec), debug_handles));
      };
    if constexpr (PreprocessesTogether<Preprocessor, B>) t.preprocess_all = &preprocess_all;
    if constexpr (Prepares<B>) t.prepare = &prepare;
    if constexpr (OverwritesInputs<B>)
      t.may_overwrite = [](const void* handle, std::size_t input, std::size_t output) {
        return B::may_overwrite(as<Handle>(handle), input, output);
      };
    if constexpr (UpdatesInputs<B>)
      t.updates_input = [](const void* handle, std::size_t input, std::size_t output) {
        return B::updates_input(as<Handle>(handle), input, output);
      };
    if constexpr (SavesProcessed<B>) {
      t.save = &save;
      t.load = &load;
      t.save_spec = [](const void* spec) { return B::save_spec(as<Spec>(spec)); };
      t.load_spec = [](std::span<const std::byte> bytes) { return erase(B::load_spec(bytes)); };
    }
    if constexpr (requires { B::blob_version; }) t.blob_version = B::blob_version;
    if constexpr (SizesStaticScratch<B>)
      t.scratch_bytes = [](const void* processed) -> std::size_t { return B::scratch_bytes(as<Processed>(processed)); };
    return t;
  }
};

/// Holds the table of a backend type. davit's own backends declare that the definitions provide theirs.
template <class B>
struct TableOf {
  static constexpr BackendTable table = BackendCalls<B>::table();
};

}  // namespace detail

/// The table of one backend.
template <RuntimeBackend B>
inline constexpr const BackendTable& backend_table = detail::TableOf<B>::table;

/// The tables of a list of backends, in its order.
class BackendTables {
 public:
  constexpr BackendTables() = default;
  constexpr explicit BackendTables(std::span<const BackendTable* const> rows) noexcept : rows_(rows) {}

  [[nodiscard]] constexpr std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] constexpr const BackendTable& operator[](std::size_t index) const noexcept { return *rows_[index]; }
  [[nodiscard]] constexpr std::string_view name(std::size_t index) const noexcept {
    return index < rows_.size() ? rows_[index]->name : std::string_view("?");
  }
  /// Returns the index of the backend of that name, or size().
  [[nodiscard]] constexpr std::size_t find(std::string_view name) const noexcept {
    std::size_t i = 0;
    while (i < rows_.size() && rows_[i]->name != name) ++i;
    return i;
  }
  /// Returns all names, separated by ", ".
  [[nodiscard]] Name names() const;
  /// Returns the backend's reason to refuse a node; nullptr if it takes the node or has no `refuses`.
  [[nodiscard]] const char* refuses(std::size_t index, GraphModuleView graph, NodeId node) const {
    return rows_[index]->refuses == nullptr ? nullptr : rows_[index]->refuses(graph, node);
  }

 private:
  std::span<const BackendTable* const> rows_;
};

}  // namespace davit
