// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backend/contract.hpp"

/// The minimal type for each concept of the contract. Code that is constrained by a concept and compiles with its
/// archetype needs nothing beyond the concept. Archetypes have only declarations: they cannot run.
namespace davit::archetype {

/// The part of a backend that ships to the target, without preprocess.
struct runtime_backend {
  static constexpr std::string_view name = "runtime_backend";
  struct CompileSpec {};
  struct Processed {};
  class Handle {
   public:
    Handle(Handle&&) noexcept;
    Handle& operator=(Handle&&) noexcept;
  };
  static bool is_available();
  static Result<Handle> compile(const Processed&, const CompileSpec&);
  template <Tracer T, class Report>
  static Status execute(const Handle&, std::span<const EValue>, std::span<EValue>, ExecuteContext<T, Report>&);
};

/// A whole backend in one type.
struct backend : runtime_backend {
  static Result<Processed> preprocess(const Method&, const CompileSpec&, DebugHandleRecorder&);
};

/// A preprocessor apart from its backend, so that its headers need not reach the target.
struct host_part {
  static Result<runtime_backend::Processed> preprocess(const Method&, const runtime_backend::CompileSpec&,
                                                       DebugHandleRecorder&);
};
struct split_backend : runtime_backend {
  using Preprocessor = host_part;
};

/// A backend that selects its nodes.
struct selecting_backend : backend {
  static const char* refuses(GraphModuleView, NodeId);
};

/// A backend that estimates the run time of regions.
struct estimating_backend : backend {
  static double offload_cost(GraphModuleView, std::span<const NodeId>);
};

/// A backend whose sessions keep a workspace and prepare it.
struct preparing_backend {
  static constexpr std::string_view name = "preparing_backend";
  struct CompileSpec {};
  struct Processed {};
  struct Handle {};
  struct Workspace {};
  static bool is_available();
  static Result<Handle> compile(const Processed&, const CompileSpec&);
  template <Tracer T, class Report>
  static Status execute(const Handle&, std::span<const EValue>, std::span<EValue>,
                        ExecuteContext<T, Report, Workspace>&);
  static Result<std::size_t> prepare(const Handle&, std::span<const EValue>, Workspace&);
};

/// A backend that saves its Processed.
struct saving_backend : backend {
  static std::vector<std::byte> save(const Processed&);
  static Result<Processed> load(std::span<const std::byte>);
  static std::vector<std::byte> save_spec(const CompileSpec&);
  static Result<CompileSpec> load_spec(std::span<const std::byte>);
};

static_assert(RuntimeBackend<runtime_backend>);
static_assert(!Backend<runtime_backend>);
static_assert(Backend<backend> && PreprocessorFor<backend, backend>);
static_assert(Backend<split_backend> && PreprocessorFor<host_part, split_backend>);
static_assert(!PreprocessorFor<host_part, int>);
static_assert(SelectsNodes<selecting_backend> && !SelectsNodes<backend>);
static_assert(EstimatesOffloadCost<estimating_backend> && !EstimatesOffloadCost<backend>);
static_assert(RuntimeBackend<preparing_backend> && Prepares<preparing_backend> && !Prepares<runtime_backend>);
static_assert(SavesProcessed<saving_backend> && !SavesProcessed<backend>);
static_assert(!RuntimeBackend<int> && !RuntimeBackend<void> && !RuntimeBackend<host_part>);

}  // namespace davit::archetype
