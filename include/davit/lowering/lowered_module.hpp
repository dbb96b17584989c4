// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backend/contract.hpp"
#include "davit/core/bytes.hpp"
#include "davit/lowering/method_interface.hpp"
#include "davit/program/graph_bytes.hpp"

namespace davit {

/// A method's name and how its backend shall compile it.
template <RuntimeBackend B>
struct MethodCompileSpec {
  Name method;
  typename B::CompileSpec spec;
};

/// One method, lowered: all that running it takes.
template <RuntimeBackend B>
struct LoweredMethod {
  Name name;
  typename B::CompileSpec spec;
  MethodInterface interface;
  typename B::Processed processed;
  std::optional<typename B::Handle> handle;  ///< absent if the backend was not available when the module was created
};

/// A program lowered onto one backend: immutable, cheap to copy (copies share everything), safe to share between
/// threads. Run it through a Session.
/// Source: the LoweredModule of torch's `to_backend`.
template <RuntimeBackend B>
class LoweredModule {
 public:
  struct Parts {
    std::vector<LoweredMethod<B>> methods;
    std::vector<NamedTensor> state;  ///< initial values of the buffers that methods change
    bool create_backend = true;
  };

  LoweredModule(std::shared_ptr<const Parts> parts, std::shared_ptr<const DebugMap> debug_map) noexcept
      : parts_(std::move(parts)), debug_map_(std::move(debug_map)) {}

  [[nodiscard]] std::span<const LoweredMethod<B>> methods() const noexcept { return parts_->methods; }
  [[nodiscard]] std::span<const NamedTensor> state() const noexcept { return parts_->state; }
  /// Where the nodes came from; empty after load, since it is not part of the module.
  [[nodiscard]] const DebugMap& debug_map() const noexcept { return *debug_map_; }
  /// The same module with another debug map, such as one kept from lowering beside a loaded module.
  [[nodiscard]] LoweredModule with_debug_map(std::shared_ptr<const DebugMap> map) const {
    return LoweredModule(parts_, std::move(map));
  }
  [[nodiscard]] std::shared_ptr<const DebugMap> shared_debug_map() const noexcept { return debug_map_; }

  /// Index of a method. Errors: not_found, with the methods there are. O(methods).
  [[nodiscard]] Result<std::size_t> find_method(std::string_view name) const {
    Name known;
    for (std::size_t i = 0; i < parts_->methods.size(); ++i) {
      if (parts_->methods[i].name == name) return i;
      known = concat(known, known.empty() ? "" : ", ", parts_->methods[i].name);
    }
    return std::unexpected(Error{.code = ErrorCode::not_found,
                                 .stage = Stage::execute,
                                 .backend = B::name,
                                 .what = concat("Method '", name, "' is not defined"),
                                 .fix = known.empty() ? Name("the module was lowered without methods")
                                                      : concat("this module has: ", known)});
  }

  /// Whether the backend was asked to compile when this module was created.
  [[nodiscard]] bool create_backend() const noexcept { return parts_->create_backend; }

 private:
  std::shared_ptr<const Parts> parts_;
  std::shared_ptr<const DebugMap> debug_map_;
};

namespace detail {

inline constexpr std::uint64_t module_magic = 0x314d4c5449564144u;  // "DAVITLM1"
inline constexpr std::uint32_t module_version = 1;

template <RuntimeBackend B>
[[nodiscard]] Error not_available(Stage stage) {
  return Error{.code = ErrorCode::not_available,
               .stage = stage,
               .backend = B::name,
               .what = concat("backend ", B::name, " is not available"),
               .fix = "run on a machine where it is, or lower onto another backend"};
}

/// Compiles every method, as `__setstate__` of torch's lowered module does.
template <RuntimeBackend B>
[[nodiscard]] Result<void> compile_methods(std::vector<LoweredMethod<B>>& methods) {
  for (LoweredMethod<B>& method : methods) {
    Result<typename B::Handle> handle = B::compile(method.processed, method.spec);
    if (!handle) {
      Error error = std::move(handle.error());
      error.stage = Stage::compile;
      if (error.backend.empty()) error.backend = B::name;
      if (error.where.empty()) error.where = concat("method '", method.name, "'");
      return std::unexpected(std::move(error));
    }
    method.handle.emplace(std::move(*handle));
  }
  return {};
}

}  // namespace detail

/// The module as bytes: compile specs, interfaces, processed blobs and initial state; not the debug map. Versioned,
/// checked when loaded, the same for the same module. O(size).
template <SavesProcessed B>
[[nodiscard]] std::vector<std::byte> save_module(const LoweredModule<B>& module) {
  ByteWriter out;
  out.number(detail::module_magic);
  out.number(detail::module_version);
  out.text(B::name);
  out.number(static_cast<std::uint8_t>(module.create_backend()));
  out.number(static_cast<std::uint64_t>(module.methods().size()));
  for (const LoweredMethod<B>& method : module.methods()) {
    out.text(method.name);
    out.bytes(B::save_spec(method.spec));
    write_interface(out, method.interface);
    out.align(64);
    out.bytes(B::save(method.processed));
  }
  out.number(static_cast<std::uint64_t>(module.state().size()));
  for (const NamedTensor& entry : module.state()) {
    out.text(entry.name);
    write_tensor(out, entry.tensor);
  }
  return std::move(out).take();
}

/// Loads what save_module wrote and compiles it. Errors: corrupt_data and version_mismatch with the place; not_available
/// if the backend cannot run here (checked before anything is compiled); what the backend's load and compile report.
template <SavesProcessed B>
[[nodiscard]] Result<LoweredModule<B>> load_module(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const auto corrupt = [&](std::string_view what) {
    return std::unexpected(Error{.code = ErrorCode::corrupt_data, .stage = Stage::load, .backend = B::name,
                                 .where = concat("byte ", in.position()), .what = Name(what),
                                 .fix = "save the module again"});
  };
  if (in.number<std::uint64_t>() != detail::module_magic) return corrupt("these bytes are no lowered module");
  if (const auto version = in.number<std::uint32_t>(); version != detail::module_version)
    return std::unexpected(Error{.code = ErrorCode::version_mismatch, .stage = Stage::load, .backend = B::name,
                                 .what = concat("the module has format version ", version, ", this davit reads ", detail::module_version),
                                 .fix = "lower the program again with this version"});
  if (const std::string_view name = in.text(); name != B::name)
    return std::unexpected(Error{.code = ErrorCode::invalid_argument, .stage = Stage::load, .backend = B::name,
                                 .what = concat("the module was lowered for backend '", name, "'"),
                                 .fix = "load it with that backend's type"});
  auto parts = std::make_shared<typename LoweredModule<B>::Parts>();
  parts->create_backend = in.number<std::uint8_t>() != 0;
  const std::size_t methods = in.count(16);
  for (std::size_t i = 0; i < methods && in.ok(); ++i) {
    const Name name = Name::own(in.text());
    Result<typename B::CompileSpec> spec = B::load_spec(in.bytes());
    if (!spec) return std::unexpected(std::move(spec.error()));
    MethodInterface interface = read_interface(in);
    in.align(64);
    const std::span<const std::byte> blob = in.bytes();
    if (!in.ok()) return corrupt("the bytes end early or a size is wrong");
    Result<typename B::Processed> processed = B::load(blob);
    if (!processed) return std::unexpected(std::move(processed.error()));
    parts->methods.push_back({name, std::move(*spec), std::move(interface), std::move(*processed), std::nullopt});
  }
  const std::size_t tensors = in.count(16);
  for (std::size_t i = 0; i < tensors && in.ok(); ++i) {
    const Name name = Name::own(in.text());
    Result<Tensor> tensor = read_tensor(in);
    if (!tensor) return std::unexpected(std::move(tensor.error()));
    parts->state.push_back({name, std::move(*tensor)});
  }
  if (!in.ok() || !in.at_end()) return corrupt("the bytes end early, late, or a size is wrong");
  for (const LoweredMethod<B>& method : parts->methods)
    for (const InputPort& port : method.interface.inputs) {
      if (port.role != InputRole::state) continue;
      bool known = false;
      for (const NamedTensor& entry : parts->state) known = known || entry.name == port.target;
      if (!known || port.constant) return corrupt("a method reads a buffer that the module does not hold");
    }
  if (!B::is_available()) return std::unexpected(detail::not_available<B>(Stage::load));
  if (Result<void> compiled = detail::compile_methods<B>(parts->methods); !compiled)
    return std::unexpected(std::move(compiled.error()));
  return LoweredModule<B>(std::move(parts), std::make_shared<const DebugMap>());
}

}  // namespace davit
