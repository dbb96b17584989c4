// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "davit/core/content_hash.hpp"
#include "davit/core/catch_bad_alloc.hpp"
#include "davit/core/segments.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/outside_weights.hpp"
#include "davit/formats/package.hpp"
#include "davit/formats/package_layout.hpp"
#include "davit/lowered/check_schedule.hpp"
#include "davit/program/name_map.hpp"
#include "davit/program/program_bytes.hpp"
#include "davit/program/verify.hpp"

namespace davit::formats {

namespace detail {

/// Writes one partition: its interface, its compile spec, and its backend's processed data.
[[nodiscard]] Result<void> write_delegate(ByteWriter& out, BackendTables backends, const LoweredMethod& method,
                                          const LoweredDelegate& entry, SegmentWriter& segments) {
  out.text(entry.tag);
  out.text(backends.name(entry.backend));
  out.number(static_cast<std::uint64_t>(entry.fallbacks.size()));
  for (const std::uint32_t fallback : entry.fallbacks) out.text(backends.name(fallback));
  const BackendTable& backend = backends[entry.backend];
  if (backend.save == nullptr)
    return std::unexpected(Error{.code = ErrorCode::unsupported_argument,
                                 .stage = Stage::save,
                                 .backend = Name(backend.name),
                                 .where = davit::detail::place_of(method.name, entry),
                                 .what = "this backend cannot save what it preprocessed",
                                 .fix = "give it save, load, save_spec and load_spec (see SavesProcessed)"});
  write_interface(out, entry.interface);
  out.bytes(backend.save_spec(entry.spec.get()));
  out.number(segments.add_owned(backend.save(entry.processed.get(), segments)));
  out.number(static_cast<std::uint8_t>(entry.original != nullptr));
  if (entry.original != nullptr) write_program(out, *entry.original, segments);
  return {};
}

Result<void> skip_methods(ByteReader& in, const SegmentReader& segments) {
  const auto skip_program = [&]() -> Result<void> {
    const Result<ExportedProgram> program = read_program(in, segments);
    if (!program) return error_of(program);
    return {};
  };
  for (std::size_t i = 0, methods = in.count(32); i < methods && in.ok(); ++i) {
    (void)in.text();
    (void)read_interface(in);
    (void)in.number<std::uint8_t>();
    if (Result<void> skipped = skip_program(); !skipped) return skipped;
    for (std::size_t d = 0, delegates = in.count(32); d < delegates && in.ok(); ++d) {
      for (int text = 0; text < 2; ++text) (void)in.text();  // tag and backend
      for (std::size_t f = 0, fallbacks = in.count(8); f < fallbacks && in.ok(); ++f) (void)in.text();
      (void)read_interface(in);
      (void)in.bytes();
      (void)in.number<std::uint32_t>();
      if (in.number<std::uint8_t>() != 0)
        if (Result<void> skipped = skip_program(); !skipped) return skipped;
    }
  }
  if (!in.ok())
    return std::unexpected(
        package_error(concat("program table, byte ", in.position()), "the bytes end early or a size is wrong"));
  return {};
}

[[nodiscard]] std::vector<std::byte> debug_bytes(const DebugMap& map) {
  ByteWriter out;
  out.array(std::span<const DebugMap::Entry>(map.entries()));
  out.array(std::span<const char>(map.text().data(), map.text().size()));
  return std::move(out).take();
}
[[nodiscard]] Result<DebugMap> read_debug_map(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  std::vector<DebugMap::Entry> entries = in.array<DebugMap::Entry>();
  std::vector<char> text = in.array<char>();
  if (!in.ok()) return std::unexpected(package_error("debug map", "the bytes end early"));
  return DebugMap::make(std::move(entries), std::move(text));
}

/// True if the state has a tensor for a buffer of a method.
[[nodiscard]] bool fits(std::span<const NamedTensor> state, const NameIndex& names, const InputPort& port) {
  const std::size_t at = names.first(port.target);
  if (at == NameIndex::not_found) return false;
  const Tensor& tensor = state[at].tensor;
  if (tensor.dtype != port.type.dtype || tensor.sizes.size() != port.type.dims.size()) return false;
  for (std::size_t d = 0; d < tensor.sizes.size(); ++d)
    if (port.type.dims[d].is_static() && port.type.dims[d].value != tensor.sizes[d]) return false;
  return true;
}

class PackageReader {
 public:
  PackageReader(BackendTables backends, std::span<const std::byte> table, const SegmentReader& segments,
                DebugMap& debug_map, Diagnostics* diagnostics)
      : backends_(backends), in_(table), segments_(segments), debug_map_(debug_map), diagnostics_(diagnostics) {}

  [[nodiscard]] Result<std::shared_ptr<LoweredProgram::Parts>> run() {
    auto parts = std::make_shared<LoweredProgram::Parts>();
    parts->backends = backends_;
    const std::size_t methods = in_.count(32);
    for (std::size_t i = 0; i < methods && in_.ok(); ++i) {
      Result<LoweredMethod> method = read_method();
      if (!method) return error_of(std::move(method));
      parts->methods.push_back(std::move(*method));
    }
    Result<std::vector<NamedTensor>> state = davit::detail::read_tensors(in_, segments_);
    if (!state) return error_of(std::move(state));
    parts->state = std::move(*state);
    if (!in_.ok() || !in_.at_end()) return std::unexpected(corrupt("the bytes end early, late, or a size is wrong"));
    const NameIndex names(parts->state, [](const NamedTensor& entry) { return entry.name.view(); });
    for (const LoweredMethod& method : parts->methods)
      for (const InputPort& port : method.interface.inputs)
        if (port.role == InputRole::state && !fits(parts->state, names, port))
          return std::unexpected(corrupt(concat("no initial value fits the buffer '", port.target, "'")));
    if (Result<void> compiled =
            davit::detail::compile_delegates(backends_, parts->methods, true, debug_map_, diagnostics_);
        !compiled)
      return error_of(std::move(compiled));
    return parts;
  }

 private:
  [[nodiscard]] Error corrupt(Name what) const {
    return package_error(concat("program table, byte ", in_.position()), std::move(what));
  }

  [[nodiscard]] Result<LoweredMethod> read_method() {
    LoweredMethod method;
    method.name = Name::own(in_.text());
    method.interface = read_interface(in_);
    method.storage_matters = in_.number<std::uint8_t>() != 0;
    if (!in_.ok()) return std::unexpected(corrupt("the interface of a method is damaged"));
    Result<ExportedProgram> parent = checked_program();
    if (!parent) return error_of(std::move(parent));
    method.parent = std::move(*parent);
    name_symbols(method.interface, method.parent);
    const std::size_t delegates = in_.count(32);
    for (std::size_t i = 0; i < delegates && in_.ok(); ++i)
      if (Result<void> read = read_delegate(method); !read) return error_of(std::move(read));
    if (!in_.ok()) return std::unexpected(corrupt("the bytes end early or a size is wrong"));
    std::vector<const MethodInterface*> interfaces;
    for (const LoweredDelegate& delegate : method.delegates) interfaces.push_back(&delegate.interface);
    Result<Schedule> schedule = make_schedule(method.parent, method.interface, interfaces);
    if (!schedule) {
      schedule.error().stage = Stage::load;
      return error_of(std::move(schedule));
    }
    method.schedule = std::move(*schedule);
    if (Result<void> fits = check_schedule(method.parent, method.interface, interfaces, method.schedule, Stage::load);
        !fits)
      return error_of(std::move(fits));
    return method;
  }
  [[nodiscard]] Result<ExportedProgram> checked_program() {
    Result<ExportedProgram> program = read_program(in_, segments_);
    if (!program) return program;
    // lowering made its calls, and backends bind them
    if (std::vector<Error> faults = verify(*program, {.allow_unknown_operators = true, .calls = false});
        !faults.empty())
      return std::unexpected(
          corrupt(concat("a program in the package breaks a rule: ", faults[0].where, ": ", faults[0].what)));
    return program;
  }

  [[nodiscard]] Result<std::uint32_t> backend_named(std::string_view name) const {
    const std::size_t index = backends_.find(name);
    if (index != backends_.size()) return static_cast<std::uint32_t>(index);
    return std::unexpected(
        Error{.code = ErrorCode::not_available,
              .stage = Stage::load,
              .backend = Name::own(name),
              .what = concat("the program was lowered for backend '", name, "', which is not in this program's list"),
              .fix = concat("add it to the BackendList, which has: ", backends_.names())});
  }
  [[nodiscard]] Result<void> read_delegate(LoweredMethod& method) {
    LoweredDelegate entry{.tag = Name::own(in_.text())};
    const Result<std::uint32_t> backend = backend_named(in_.text());
    if (!backend) return error_of(backend);
    entry.backend = *backend;
    const std::size_t fallbacks = in_.count(8);
    for (std::size_t i = 0; i < fallbacks && in_.ok(); ++i)
      if (const std::size_t index = backends_.find(in_.text()); index != backends_.size())
        entry.fallbacks.push_back(static_cast<std::uint32_t>(index));
    if (backends_[entry.backend].load == nullptr)
      return std::unexpected(Error{.code = ErrorCode::not_available,
                                   .stage = Stage::load,
                                   .backend = Name(backends_.name(entry.backend)),
                                   .where = davit::detail::place_of(method.name, entry),
                                   .what = "this backend loads nothing",
                                   .fix = "give it save, load, save_spec and load_spec (davit::SavesProcessed)"});
    if (Result<void> read = read_processed(method, entry); !read) return read;
    if (in_.number<std::uint8_t>() != 0) {
      Result<ExportedProgram> original = checked_program();
      if (!original) return error_of(std::move(original));
      entry.original = std::make_shared<const ExportedProgram>(std::move(*original));
    }
    method.delegates.push_back(std::move(entry));
    return {};
  }
  [[nodiscard]] Result<void> read_processed(const LoweredMethod& method, LoweredDelegate& delegate) {
    const BackendTable& backend = backends_[delegate.backend];
    delegate.interface = read_interface(in_);
    const auto explained = [&](Error error) {
      if (error.backend.empty()) error.backend = Name(backend.name);
      error.where = error.where.empty() ? davit::detail::place_of(method.name, delegate)
                                        : concat(davit::detail::place_of(method.name, delegate), ", ", error.where);
      return std::unexpected(std::move(error));
    };
    Result<BackendObject> spec =
        davit::detail::catch_bad_alloc(Stage::load, [&] { return backend.load_spec(in_.bytes()); });
    if (!spec) return explained(std::move(spec.error()));
    const SharedBytes* blob = segments_.find(in_.number<std::uint32_t>());
    if (!in_.ok() || blob == nullptr) return std::unexpected(corrupt("a partition's blob is not there"));
    Result<BackendObject> processed =
        davit::detail::catch_bad_alloc(Stage::load, [&] { return backend.load(blob->bytes(), segments_); });
    if (!processed) return explained(std::move(processed.error()));
    delegate.spec = *std::move(spec);
    delegate.processed = *std::move(processed);
    return {};
  }

  BackendTables backends_;
  ByteReader in_;
  const SegmentReader& segments_;
  DebugMap& debug_map_;
  Diagnostics* diagnostics_;
};

}  // namespace detail

namespace detail {

/// Checks that the package will load. Errors: invalid_argument.
[[nodiscard]] Result<void> check_options(const LoweredProgram& program, const SaveOptions& options) {
  const auto refuse = [](Name where, Name what, Name fix) {
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .stage = Stage::save,
                                 .where = std::move(where),
                                 .what = std::move(what),
                                 .fix = std::move(fix)});
  };
  if (Result<void> stored = check_stored(options.weights, "weights"); !stored) return stored;
  if (Result<void> stored = check_stored(options.state, "state"); !stored) return stored;
  if (!options.weights.empty() && !is_weights_file(options.weights_file))
    return refuse("weights_file", concat("'", options.weights_file, "' is no name of a file beside the package"),
                  "give a name without folders, such as 'weights.davit'");
  if (options.state.empty()) return {};
  const NameIndex names(options.state, [](const NamedTensor& entry) { return entry.name.view(); });
  for (const LoweredMethod& method : program.methods())
    for (const InputPort& port : method.interface.inputs)
      if (port.role == InputRole::state && !fits(options.state, names, port))
        return refuse(concat("state, '", port.target, "'"), "no tensor of the state fits this buffer",
                      "give the state of a session of this program");
  return {};
}

/// Calls use(table, segments, debug map) with the parts of the program's package.
template <class Use>
[[nodiscard]] auto with_package(const LoweredProgram& program, SaveOptions options, Use&& use) {
  return davit::detail::catch_bad_alloc(
      Stage::save,
      [&]() -> decltype(use(std::span<const std::byte>(), std::span<const std::span<const std::byte>>(),
                            std::span<const std::byte>())) {
        if (Result<void> checked = check_options(program, options); !checked) return error_of(std::move(checked));
        SegmentWriter segments;
        if (!options.weights.empty()) keep_outside(segments, options.weights, program.state());
        ByteWriter table;
        table.number(static_cast<std::uint64_t>(program.methods().size()));
        for (const LoweredMethod& method : program.methods()) {
          table.text(method.name);
          write_interface(table, method.interface);
          table.number(static_cast<std::uint8_t>(method.storage_matters));
          write_program(table, method.parent, segments);
          table.number(static_cast<std::uint64_t>(method.delegates.size()));
          for (const LoweredDelegate& entry : method.delegates)
            if (Result<void> written = write_delegate(table, program.backends(), method, entry, segments); !written)
              return error_of(std::move(written));
        }
        davit::detail::write_tensors(table, options.state.empty() ? program.state() : options.state, segments);
        if (!options.weights.empty())
          if (Result<void> written =
                  write_outside(table, segments, options.weights, options.weights_file, options.may_replace_weights);
              !written)
            return error_of(std::move(written));
        const std::vector<std::byte> map =
            options.debug_map ? debug_bytes(program.debug_map()) : std::vector<std::byte>{};
        return use(table.written(), segments.segments(), std::span<const std::byte>(map));
      });
}

}  // namespace detail

Result<std::vector<std::byte>> save_program(const LoweredProgram& program, SaveOptions options) {
  return detail::with_package(program, options,
                              [](auto table, auto segments, auto map) -> Result<std::vector<std::byte>> {
                                return write_package(table, segments, map);
                              });
}

Result<void> save_program(const LoweredProgram& program, const std::string& path, SaveOptions options) {
  return detail::with_package(program, options, [&](auto table, auto segments, auto map) -> Result<void> {
    const PackageParts package = package_parts(table, segments, map);
    return write_file(path, std::span(package.parts));
  });
}

namespace detail {

/// Loads a package by `outside`, read_outside or refuse_outside: a program that loads bytes alone is linked without the
/// first. `path` is where the package lies, or empty.
[[nodiscard]] Result<LoweredProgram> load(BackendTables backends, const SharedBytes& bytes, const LoadOptions& options,
                                          std::string_view path, decltype(&read_outside) outside_of) {
  return davit::detail::catch_bad_alloc(Stage::load, [&]() -> Result<LoweredProgram> {
    Result<Package> package = read_package(bytes);
    if (!package) return error_of(std::move(package));
    if (Result<void> outside = outside_of(*package, options.weights, path); !outside)
      return error_of(std::move(outside));
    Result<DebugMap> map = package->debug_map.empty() ? Result<DebugMap>(std::in_place)
                                                      : detail::read_debug_map(package->debug_map.bytes());
    if (!map) return error_of(std::move(map));
    const bool stripped = package->debug_map.empty();
    auto parts =
        detail::PackageReader(backends, package->table.bytes(), package->segments, *map, options.diagnostics).run();
    if (stripped) *map = DebugMap();  // fallbacks add handles; drop them too
    if (!parts) {
      parts.error().stage = parts.error().stage == Stage::compile ? Stage::compile : Stage::load;
      return std::unexpected(map->explain(std::move(parts.error())));
    }
    return LoweredProgram(std::move(*parts), std::make_shared<const DebugMap>(std::move(*map)));
  });
}

}  // namespace detail

Result<LoweredProgram> load_program(BackendTables backends, const SharedBytes& bytes, const LoadOptions& options) {
  return detail::load(backends, bytes, options, {}, &detail::read_outside);
}
Result<LoweredProgram> load_program(BackendTables backends, const SharedBytes& bytes, Diagnostics* diagnostics) {
  return detail::load(backends, bytes, {.weights = {}, .diagnostics = diagnostics}, {}, &detail::refuse_outside);
}
Result<LoweredProgram> load_program(BackendTables backends, const std::string& path, Diagnostics* diagnostics) {
  return load_program(backends, path, {.weights = {}, .diagnostics = diagnostics});
}

Result<LoweredProgram> load_program(BackendTables backends, const std::string& path, const LoadOptions& options) {
  return davit::detail::catch_bad_alloc(Stage::load, [&]() -> Result<LoweredProgram> {
    Result<SharedBytes> bytes = map_file(path);
    Result<LoweredProgram> program = bytes ? detail::load(backends, *bytes, options, path, &detail::read_outside)
                                           : Result<LoweredProgram>(error_of(std::move(bytes)));
    if (program) return program;
    if (program.error().code == ErrorCode::corrupt_data)
      program.error().where = concat(path, program.error().where.empty() ? "" : ": ", program.error().where);
    return std::unexpected(with_file_kind_of(std::move(program.error()), path, FileUse::package));
  });
}

}  // namespace davit::formats
