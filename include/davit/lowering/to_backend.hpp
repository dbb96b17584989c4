// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/catch_bad_alloc.hpp"
#include "davit/backend/check_backend.hpp"
#include "davit/lowering/lower_program.hpp"
#include "davit/lowering/partitioning.hpp"

namespace davit {

/// A method's name and the compile spec of its backend.
template <class B>
struct MethodCompileSpec {
  Name method;
  typename B::CompileSpec spec;
};

/// The partitioner of one method of a program.
template <Partitioner P>
struct MethodPartitioner {
  Name method;
  P partitioner;
};

namespace detail {

/// Asserts that B is a backend, or, for a type meant as a partitioner, that it is a partitioner.
template <class B>
consteval void check_target() {
  constexpr bool is_list = requires { B::tables(); };
  static_assert(!is_list,
                "davit: to_backend of a BackendList needs a partitioner: to_backend(program, "
                "davit::CapabilityPartitioner<List>())");
  if constexpr (is_list) {
  } else if constexpr (requires { typename B::Backends; }) {
    static_assert(Partitioner<B>,
                  "davit: a partitioner needs davit::Result<davit::Partitioning<Backends>> partition(const "
                  "davit::Method&) const");
  } else {
    check_backend<B>();
  }
}

template <class... Bs>
consteval bool check_backends(BackendList<Bs...>*) {
  return (check_backend<Bs>() && ...);
}

/// Asserts that a CompileSpec is default-constructible.
template <class B>
consteval void check_default_spec() {
  if constexpr (Backend<B>)
    static_assert(std::default_initializable<typename B::CompileSpec>,
                  "davit: this backend's CompileSpec has no default; pass one: davit::to_backend<B>(program, spec)");
}

/// Type-erases a partitioner; it must outlive the call.
template <Partitioner P>
[[nodiscard]] PartitionCall partition_call(const Name& method, const P& partitioner) {
  PartitionCall call{method, &partitioner, [](const void* self, const Method& each) -> Result<PartitionResult> {
                       auto answer = static_cast<const P*>(self)->partition(each);
                       if (!answer) return error_of(std::move(answer));
                       return PartitionResult(std::move(*answer));
                     }};
  if constexpr (requires { partitioner.preference(); }) call.preference = partitioner.preference();
  return call;
}

/// Lowers the methods that `specs` name, each as a whole onto the one backend of `backends`.
[[nodiscard]] Result<LoweredProgram> lower_whole(BackendTables backends, std::span<const ProgramMethod> methods,
                                                 std::span<const std::pair<Name, BackendObject>> specs,
                                                 Diagnostics* diagnostics);
/// The same of a program of one method, "forward"; a null spec is the backend's default. Errors: also out_of_memory.
[[nodiscard]] Result<LoweredProgram> lower_whole(BackendTables backends, const ExportedProgram& program,
                                                 BackendObject spec, Diagnostics* diagnostics);

/// A Result of a program, which must be unwrapped first.
template <class T>
concept ProgramResult = std::same_as<std::remove_cvref_t<T>, Result<ExportedProgram>>;

}  // namespace detail

/// Lowers the methods named in `specs` onto backend B: every node goes to `BackendList<B>`. The programs stay
/// unchanged. The lowered program runs control flow.
///
/// If B is not available here, lowering succeeds with a warning: the program can be saved, and runs where it is loaded
/// with B available. Errors: not_found, and the errors of verify, preprocess and compile. O(nodes), plus the backend's
/// own work. Source: torch::jit::detail::codegen_backend_module.
template <class B>
[[nodiscard]] Result<LoweredProgram> to_backend(std::span<const ProgramMethod> methods,
                                                std::span<const MethodCompileSpec<B>> specs,
                                                Diagnostics* diagnostics = nullptr) {
  detail::check_target<B>();
  if constexpr (Backend<B>) {
    return detail::catch_bad_alloc(Stage::preprocess, [&] {
      std::vector<std::pair<Name, BackendObject>> erased;
      for (const MethodCompileSpec<B>& each : specs)
        erased.emplace_back(each.method, std::make_shared<const typename B::CompileSpec>(each.spec));
      return detail::lower_whole(BackendList<B>::tables(), methods, erased, diagnostics);
    });
  }
}

/// Lowers a program of one method, "forward".
template <class B>
[[nodiscard]] Result<LoweredProgram> to_backend(const ExportedProgram& program, const typename B::CompileSpec& spec,
                                                Diagnostics* diagnostics = nullptr) {
  detail::check_target<B>();
  if constexpr (Backend<B>) {
    return detail::catch_bad_alloc(Stage::preprocess, [&] {
      return detail::lower_whole(BackendList<B>::tables(), program,
                                 std::make_shared<const typename B::CompileSpec>(spec), diagnostics);
    });
  }
}
template <class B>
  requires(!Partitioner<B>)
[[nodiscard]] Result<LoweredProgram> to_backend(const ExportedProgram& program) {
  detail::check_target<B>();
  detail::check_default_spec<B>();
  if constexpr (Backend<B>)
    if constexpr (std::default_initializable<typename B::CompileSpec>)
      return detail::lower_whole(BackendList<B>::tables(), program, nullptr, nullptr);
}

/// Lowers the methods of a program onto the partitioners' backends: see lower_program.
template <Partitioner P>
[[nodiscard]] Result<LoweredProgram> to_backend(std::span<const ProgramMethod> methods,
                                                std::span<const MethodPartitioner<P>> partitioners,
                                                const LowerOptions& options = {}, Diagnostics* diagnostics = nullptr) {
  using List = typename P::Backends;
  static_assert(detail::check_backends(static_cast<List*>(nullptr)));
  return detail::catch_bad_alloc(Stage::partition, [&] {
    std::vector<PartitionCall> calls;
    for (const MethodPartitioner<P>& each : partitioners)
      calls.push_back(detail::partition_call(each.method, each.partitioner));
    return lower_program(List::tables(), methods, calls, options, diagnostics);
  });
}

/// Lowers all methods of a program with one partitioner.
template <Partitioner P>
[[nodiscard]] Result<LoweredProgram> to_backend(std::span<const ProgramMethod> methods, const P& partitioner,
                                                const LowerOptions& options = {}, Diagnostics* diagnostics = nullptr) {
  using List = typename P::Backends;
  static_assert(detail::check_backends(static_cast<List*>(nullptr)));
  return detail::catch_bad_alloc(Stage::partition, [&] {
    std::vector<PartitionCall> calls;
    for (const ProgramMethod& method : methods) calls.push_back(detail::partition_call(method.name, partitioner));
    return lower_program(List::tables(), methods, calls, options, diagnostics);
  });
}

/// Lowers a program of one method, "forward".
template <Partitioner P>
[[nodiscard]] Result<LoweredProgram> to_backend(const ExportedProgram& program, const P& partitioner,
                                                const LowerOptions& options = {}, Diagnostics* diagnostics = nullptr) {
  const ProgramMethod method{"forward", &program};
  return to_backend(std::span(&method, 1), partitioner, options, diagnostics);
}
template <Partitioner P>
[[nodiscard]] Result<LoweredProgram> to_backend(const ExportedProgram& program) {
  return to_backend(program, P{});
}

/// @name Overloads for a Result, which may hold an Error: they do not compile, and their message says why.
/// @{
template <class B, detail::ProgramResult R, class... Rest>
Result<LoweredProgram> to_backend(const R&, const Rest&...) {
  static_assert(!detail::ProgramResult<R>,
                "davit: to_backend takes a program, and this is a davit::Result, which may hold an Error; check it, "
                "then pass *program, or pass davit::value_or_exit(program)");
  return std::unexpected(Error{});
}
template <detail::ProgramResult R, class P>
Result<LoweredProgram> to_backend(const R&, const P&, const LowerOptions& = {}, Diagnostics* = nullptr) {
  return to_backend<P>(R(std::unexpected(Error{})));
}
/// @}

}  // namespace davit
