// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/content_hash.hpp"
#include "davit/core/segments.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/package_layout.hpp"
#include "davit/lowering/check_schedule.hpp"
#include "davit/lowering/lowered_program.hpp"
#include "davit/program/program_bytes.hpp"
#include "davit/program/verify.hpp"

namespace davit::formats {

struct SaveOptions {
  bool debug_map = true;  ///< where the nodes came from; strip_debug_map takes it out later
};

namespace detail {

/// Writes one partition: its place, how it is compiled, and what its backend made of it.
template <class List>
[[nodiscard]] Result<void> write_delegate(ByteWriter& out, const PartitionedMethod<List>& method, const DelegateEntry& entry,
                                          SegmentWriter& segments) {
  out.text(entry.tag);
  out.text(List::name(entry.backend));
  out.number(static_cast<std::uint64_t>(entry.fallbacks.size()));
  for (const std::uint32_t fallback : entry.fallbacks) out.text(List::name(fallback));
  Result<void> done;
  List::visit(entry.backend, [&]<class B, std::size_t I>() {
    const LoweredMethod<B>& row = std::get<I>(method.rows)[entry.index];
    write_interface(out, row.interface);
    if constexpr (SavesSegments<B>) {
      out.bytes(B::save_spec(row.spec));
      out.number(segments.add_owned(B::save(row.processed, segments)));
    } else if constexpr (SavesProcessed<B>) {
      out.bytes(B::save_spec(row.spec));
      out.number(segments.add_owned(B::save(row.processed)));
    } else {
      done = std::unexpected(Error{.code = ErrorCode::unsupported_argument, .stage = Stage::save, .backend = B::name,
                                   .where = davit::detail::place_of(method.name, entry),
                                   .what = "this backend cannot save what it preprocessed",
                                   .fix = "give it save, load, save_spec and load_spec (see SavesProcessed)"});
    }
  });
  out.number(static_cast<std::uint8_t>(entry.original != nullptr));
  if (entry.original != nullptr) write_program(out, *entry.original, segments);
  return done;
}

[[nodiscard]] inline std::vector<std::byte> debug_bytes(const DebugMap& map) {
  ByteWriter out;
  out.array(std::span<const DebugMap::Entry>(map.entries()));
  out.array(std::span<const char>(map.text().data(), map.text().size()));
  return std::move(out).take();
}
[[nodiscard]] inline Result<DebugMap> read_debug_map(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  std::vector<DebugMap::Entry> entries = in.array<DebugMap::Entry>();
  std::vector<char> text = in.array<char>();
  if (!in.ok()) return std::unexpected(package_error("debug map", "the bytes end early"));
  return DebugMap::make(std::move(entries), std::move(text));
}

template <class List>
class PackageReader {
 public:
  PackageReader(std::span<const std::byte> table, const SegmentReader& segments, DebugMap& debug_map, Diagnostics* diagnostics)
      : in_(table), segments_(segments), debug_map_(debug_map), diagnostics_(diagnostics) {}

  [[nodiscard]] Result<std::shared_ptr<typename LoweredProgram<List>::Parts>> run() {
    auto parts = std::make_shared<typename LoweredProgram<List>::Parts>();
    const std::size_t methods = in_.count(32);
    for (std::size_t i = 0; i < methods && in_.ok(); ++i) {
      Result<PartitionedMethod<List>> method = read_method();
      if (!method) return std::unexpected(std::move(method.error()));
      parts->methods.push_back(std::move(*method));
    }
    Result<std::vector<NamedTensor>> state = davit::detail::read_tensors(in_, segments_);
    if (!state) return std::unexpected(std::move(state.error()));
    parts->state = std::move(*state);
    if (!in_.ok() || !in_.at_end()) return std::unexpected(corrupt("the bytes end early, late, or a size is wrong"));
    for (const PartitionedMethod<List>& method : parts->methods)
      for (const InputPort& port : method.interface.inputs)
        if (port.role == InputRole::state && !fits(parts->state, port))
          return std::unexpected(corrupt(concat("no initial value fits the buffer '", port.target, "'")));
    for (PartitionedMethod<List>& method : parts->methods)
      if (Result<void> compiled = davit::detail::compile_delegates(method, true, debug_map_, diagnostics_); !compiled)
        return std::unexpected(std::move(compiled.error()));
    return parts;
  }

 private:
  [[nodiscard]] Error corrupt(Name what) const {
    return package_error(concat("program table, byte ", in_.position()), std::move(what));
  }
  [[nodiscard]] static bool fits(std::span<const NamedTensor> state, const InputPort& port) {
    for (const NamedTensor& entry : state) {
      if (entry.name != port.target) continue;
      if (entry.tensor.dtype != port.type.dtype || entry.tensor.sizes.size() != port.type.dims.size()) return false;
      for (std::size_t d = 0; d < entry.tensor.sizes.size(); ++d)
        if (port.type.dims[d].is_static() && port.type.dims[d].value != entry.tensor.sizes[d]) return false;
      return true;
    }
    return false;
  }

  [[nodiscard]] Result<PartitionedMethod<List>> read_method() {
    PartitionedMethod<List> method;
    method.name = Name::own(in_.text());
    method.interface = read_interface(in_);
    method.storage_matters = in_.number<std::uint8_t>() != 0;
    if (!in_.ok()) return std::unexpected(corrupt("the interface of a method is damaged"));
    Result<ExportedProgram> parent = checked_program();
    if (!parent) return std::unexpected(std::move(parent.error()));
    method.parent = std::move(*parent);
    const std::size_t delegates = in_.count(32);
    for (std::size_t i = 0; i < delegates && in_.ok(); ++i)
      if (Result<void> read = read_delegate(method); !read) return std::unexpected(std::move(read.error()));
    if (!in_.ok()) return std::unexpected(corrupt("the bytes end early or a size is wrong"));
    std::vector<const MethodInterface*> interfaces;
    for (const DelegateEntry& entry : method.delegates) interfaces.push_back(&method.interface_of(entry));
    Result<Schedule> schedule = make_schedule(method.parent, method.interface, interfaces);
    if (!schedule) {
      schedule.error().stage = Stage::load;
      return std::unexpected(std::move(schedule.error()));
    }
    method.schedule = std::move(*schedule);
    if (Result<void> fits = check_schedule(method.parent, method.interface, interfaces, method.schedule); !fits)
      return std::unexpected(std::move(fits.error()));
    return method;
  }
  [[nodiscard]] Result<ExportedProgram> checked_program() {
    Result<ExportedProgram> program = read_program(in_, segments_);
    if (!program) return program;
    if (std::vector<Error> faults = verify(*program, {.allow_unknown_operators = true}); !faults.empty())
      return std::unexpected(corrupt(concat("a program in the package breaks a rule: ", faults[0].where, ": ", faults[0].what)));
    return program;
  }

  [[nodiscard]] Result<std::uint32_t> backend_named(std::string_view name) const {
    const std::size_t index = List::find(name);
    if (index != List::size) return static_cast<std::uint32_t>(index);
    return std::unexpected(Error{.code = ErrorCode::not_available, .stage = Stage::load, .backend = Name::own(name),
                                 .what = concat("the program was lowered for backend '", name, "', which is not in this program's list"),
                                 .fix = concat("add it to the BackendList, which has: ", List::names())});
  }
  [[nodiscard]] Result<void> read_delegate(PartitionedMethod<List>& method) {
    DelegateEntry entry{.tag = Name::own(in_.text())};
    const Result<std::uint32_t> backend = backend_named(in_.text());
    if (!backend) return std::unexpected(backend.error());
    entry.backend = *backend;
    const std::size_t fallbacks = in_.count(8);
    for (std::size_t i = 0; i < fallbacks && in_.ok(); ++i)
      if (const std::size_t index = List::find(in_.text()); index != List::size) entry.fallbacks.push_back(static_cast<std::uint32_t>(index));
    Result<void> done;
    List::visit(entry.backend, [&]<class B, std::size_t I>() {
      if constexpr (SavesProcessed<B>) {
        done = read_row<B>(std::get<I>(method.rows), method.name);
        entry.index = static_cast<std::uint32_t>(std::get<I>(method.rows).size() - 1);
      } else {
        done = std::unexpected(package_error(davit::detail::place_of(method.name, entry), concat("backend ", B::name, " cannot load")));
      }
    });
    if (!done) return done;
    if (in_.number<std::uint8_t>() != 0) {
      Result<ExportedProgram> original = checked_program();
      if (!original) return std::unexpected(std::move(original.error()));
      entry.original = std::make_shared<const ExportedProgram>(std::move(*original));
    }
    method.delegates.push_back(std::move(entry));
    return {};
  }
  template <class B>
  [[nodiscard]] Result<void> read_row(std::vector<LoweredMethod<B>>& rows, const Name& method) {
    MethodInterface interface = read_interface(in_);
    Result<typename B::CompileSpec> spec = B::load_spec(in_.bytes());
    if (!spec) return std::unexpected(std::move(spec.error()));
    const SharedBytes* blob = segments_.find(in_.number<std::uint32_t>());
    if (!in_.ok() || blob == nullptr) return std::unexpected(corrupt("a partition's blob is not there"));
    Result<typename B::Processed> processed;
    if constexpr (SavesSegments<B>) {
      processed = B::load(blob->bytes(), segments_);
    } else {
      processed = B::load(blob->bytes());
    }
    if (!processed) {
      if (processed.error().backend.empty()) processed.error().backend = B::name;
      return std::unexpected(std::move(processed.error()));
    }
    rows.push_back({method, std::move(*spec), std::move(interface), std::move(*processed), std::nullopt});
    return {};
  }

  ByteReader in_;
  const SegmentReader& segments_;
  DebugMap& debug_map_;
  Diagnostics* diagnostics_;
};

}  // namespace detail

/// A lowered program as bytes: one program table, the backends' blobs and all tensors as aligned segments (equal ones
/// once), and the debug map at the end, where it can be stripped. The same program gives the same bytes.
///
/// The program's flat tables are their own format, read back with bounds checks and the verifier; a FlatBuffers schema
/// would wrap the same byte vectors, could not check their references, and would be a second library to ship.
/// Errors: unsupported_argument for a backend that cannot save. O(size).
template <class List>
[[nodiscard]] Result<std::vector<std::byte>> save_program(const LoweredProgram<List>& program, SaveOptions options = {}) {
  SegmentWriter segments;
  ByteWriter table;
  table.number(static_cast<std::uint64_t>(program.methods().size()));
  for (const PartitionedMethod<List>& method : program.methods()) {
    table.text(method.name);
    write_interface(table, method.interface);
    table.number(static_cast<std::uint8_t>(method.storage_matters));
    write_program(table, method.parent, segments);
    table.number(static_cast<std::uint64_t>(method.delegates.size()));
    for (const DelegateEntry& entry : method.delegates)
      if (Result<void> written = detail::write_delegate(table, method, entry, segments); !written)
        return std::unexpected(std::move(written.error()));
  }
  davit::detail::write_tensors(table, program.state(), segments);
  return write_package(table.written(), segments.segments(),
                       options.debug_map ? detail::debug_bytes(program.debug_map()) : std::vector<std::byte>{});
}

/// Saves to a file. Errors: as above, io_error; a file that cannot be written whole is removed.
template <class List>
[[nodiscard]] Result<void> save_program(const LoweredProgram<List>& program, const std::filesystem::path& path, SaveOptions options = {}) {
  Result<std::vector<std::byte>> bytes = save_program(program, options);
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes->data()), static_cast<std::streamsize>(bytes->size()));
  if (out.flush()) return {};
  out.close();
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
  return std::unexpected(Error{.code = ErrorCode::io_error, .stage = Stage::save, .where = Name(path.string()), .what = "it cannot be written"});
}

/// Loads what save_program wrote, matches backends by name against the list, and compiles. Tensors view `bytes`.
///
/// Errors: corrupt_data and version_mismatch with the place; not_available for a backend that is not in the list, or that
/// cannot run here and has no fallback in the package; what the backends' load and compile report.
template <class List>
[[nodiscard]] Result<LoweredProgram<List>> load_program(const SharedBytes& bytes, Diagnostics* diagnostics = nullptr) {
  Result<Package> package = read_package(bytes);
  if (!package) return std::unexpected(std::move(package.error()));
  Result<DebugMap> map = package->debug_map.empty() ? Result<DebugMap>(std::in_place) : detail::read_debug_map(package->debug_map.bytes());
  if (!map) return std::unexpected(std::move(map.error()));
  const bool stripped = package->debug_map.empty();
  auto parts = detail::PackageReader<List>(package->table.bytes(), package->segments, *map, diagnostics).run();
  if (stripped) *map = DebugMap();  // what a fallback added would answer for handles that were stripped
  if (!parts) {
    parts.error().stage = parts.error().stage == Stage::compile ? Stage::compile : Stage::load;
    return std::unexpected(map->explain(std::move(parts.error())));
  }
  return LoweredProgram<List>(std::move(*parts), std::make_shared<const DebugMap>(std::move(*map)));
}
template <class List>
[[nodiscard]] Result<LoweredProgram<List>> load_program(const std::filesystem::path& path, Diagnostics* diagnostics = nullptr) {
  Result<SharedBytes> bytes = map_file(path);
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  return load_program<List>(*bytes, diagnostics);
}

}  // namespace davit::formats
