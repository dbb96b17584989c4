// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "davit/core/catch_bad_alloc.hpp"
#include "davit/lowered/lowered_program.hpp"

namespace davit {

LoweredProgram::LoweredProgram(std::shared_ptr<const Parts> parts, std::shared_ptr<const DebugMap> debug_map) noexcept
    : parts_(std::move(parts)), debug_map_(std::move(debug_map)) {}
LoweredProgram::LoweredProgram(const LoweredProgram&) noexcept = default;
LoweredProgram::LoweredProgram(LoweredProgram&&) noexcept = default;
LoweredProgram& LoweredProgram::operator=(const LoweredProgram&) noexcept = default;
LoweredProgram& LoweredProgram::operator=(LoweredProgram&&) noexcept = default;
LoweredProgram::~LoweredProgram() = default;

LoweredProgram LoweredProgram::with_debug_map(std::shared_ptr<const DebugMap> map) const {
  return {parts_, std::move(map)};
}

Result<std::size_t> LoweredProgram::find_method(std::string_view name) const {
  for (std::size_t i = 0; i < parts_->methods.size(); ++i)
    if (parts_->methods[i].name == name) return i;
  Name known;
  for (const LoweredMethod& method : parts_->methods) known = concat(known, known.empty() ? "" : ", ", method.name);
  return std::unexpected(Error{
      .code = ErrorCode::not_found,
      .stage = Stage::execute,
      .what = concat("Method '", name, "' is not defined"),
      .fix = known.empty() ? Name("the program was lowered without methods") : concat("this program has: ", known)});
}

namespace detail {

Name place_of(std::string_view method, const LoweredDelegate& delegate) {
  return concat("method '", method, "', partition '", delegate.tag, "'");
}

Error not_available(Stage stage, std::string_view backend) {
  return Error{.code = ErrorCode::not_available,
               .stage = stage,
               .backend = Name(backend),
               .what = concat("backend ", backend, " is not available"),
               .fix = "run on a machine where it is, or lower onto another backend"};
}

/// Preprocesses the original program of a partition for the next available backend of its chain. Adds the debug handles
/// to `debug_map`.
[[nodiscard]] Result<bool> fall_back(BackendTables backends, const LoweredMethod& method, LoweredDelegate& delegate,
                                     const std::vector<bool>& available, DebugMap& debug_map) {
  if (delegate.original == nullptr) return false;
  for (const std::uint32_t next : delegate.fallbacks) {
    if (next >= backends.size() || !available[next]) continue;
    const BackendTable& backend = backends[next];
    if (backend.preprocess == nullptr || backend.default_spec == nullptr)
      return std::unexpected(Error{.code = ErrorCode::not_available,
                                   .stage = Stage::preprocess,
                                   .backend = Name(backend.name),
                                   .what = "this backend cannot preprocess here"});
    DebugHandleRecorder recorder(debug_map);
    recorder.begin_method(method.name, delegate.original->view());
    BackendObject spec = backend.default_spec();
    Result<BackendObject> processed = catch_bad_alloc(Stage::preprocess, [&] {
      return backend.preprocess(Method{method.name, delegate.original.get()}, spec.get(), recorder);
    });
    if (!processed && processed.error().where.empty()) processed.error().where = place_of(method.name, delegate);
    if (!processed) return std::unexpected(debug_map.explain(std::move(processed.error())));
    delegate.backend = next;
    delegate.interface = method_interface(*delegate.original);
    delegate.spec = std::move(spec);
    delegate.processed = *std::move(processed);
    return true;
  }
  return false;
}

Result<void> compile_delegates(BackendTables backends, std::span<LoweredMethod> methods, bool strict,
                               DebugMap& debug_map, Diagnostics* diagnostics) {
  std::vector<bool> available(backends.size(), false);
  for (std::uint32_t b = 0; b < backends.size(); ++b) {
    bool used = false;
    for (const LoweredMethod& method : methods)
      for (const LoweredDelegate& delegate : method.delegates) {
        used = used || delegate.backend == b;
        for (const std::uint32_t fallback : delegate.fallbacks) used = used || fallback == b;
      }
    available[b] = used && backends[b].is_available();
  }
  std::vector<bool> warned(backends.size(), false);
  for (LoweredMethod& method : methods)
    for (LoweredDelegate& delegate : method.delegates) {
      if (!available[delegate.backend]) {
        const std::string_view absent = backends.name(delegate.backend);
        const Result<bool> moved = fall_back(backends, method, delegate, available, debug_map);
        if (!moved) return error_of(moved);
        if (*moved && diagnostics != nullptr)
          diagnostics->warnings.push_back(
              concat("backend ", absent, " is not available here; ", place_of(method.name, delegate), " runs on ",
                     backends.name(delegate.backend), ", also where this program is saved to"));
        if (!*moved && strict) {
          Error error = not_available(Stage::load, backends.name(delegate.backend));
          error.where = place_of(method.name, delegate);
          error.fix = "run where it is, or lower with fallbacks and keep the sub-programs";
          return std::unexpected(std::move(error));
        }
        if (!*moved) {
          if (diagnostics != nullptr && !warned[delegate.backend])
            diagnostics->warnings.push_back(
                concat("backend ", backends.name(delegate.backend),
                       " is not available here; the program can still be saved, and runs where it is "
                       "loaded with the backend available"));
          warned[delegate.backend] = true;
          continue;
        }
      }
      Result<BackendObject> handle = catch_bad_alloc(Stage::compile, [&] {
        return backends[delegate.backend].compile(delegate.processed.get(), delegate.spec.get());
      });
      if (!handle && strict &&
          handle.error().code ==
              ErrorCode::unsupported_operator) {  // the library here supports less than the one at lowering
        std::vector<bool> others = available;
        others[delegate.backend] = false;
        const std::string_view refusing = backends.name(delegate.backend);
        const Result<bool> moved = fall_back(backends, method, delegate, others, debug_map);
        if (!moved) return error_of(moved);
        if (!*moved)
          handle.error().fix = concat(handle.error().fix, handle.error().fix.empty() ? "" : "; ", "backend ", refusing,
                                      " supports less here than where the program was lowered: lower it here, or with "
                                      "fallbacks and sub-programs kept");
        if (*moved) {
          if (diagnostics != nullptr)
            diagnostics->warnings.push_back(concat("backend ", refusing, " here does not take ",
                                                   place_of(method.name, delegate), ", which runs on ",
                                                   backends.name(delegate.backend)));
          handle = catch_bad_alloc(Stage::compile, [&] {
            return backends[delegate.backend].compile(delegate.processed.get(), delegate.spec.get());
          });
        }
      }
      if (handle) {
        delegate.handle = *std::move(handle);
        continue;
      }
      Error error = std::move(handle.error());
      error.stage = Stage::compile;
      if (error.backend.empty()) error.backend = Name(backends.name(delegate.backend));
      if (error.where.empty()) error.where = place_of(method.name, delegate);
      return std::unexpected(std::move(error));
    }
  return {};
}

}  // namespace detail

}  // namespace davit
