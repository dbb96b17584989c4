// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/catch_bad_alloc.hpp"
#include "davit/formats/checkpoint.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/outside_weights.hpp"
#include "davit/formats/package.hpp"
#include "davit/formats/package_layout.hpp"
#include "davit/program/program_bytes.hpp"

namespace davit::formats {

Result<std::vector<std::byte>> save_state(const Session& session) { return save_weights(session.state()); }

Result<void> save_state(const Session& session, const std::string& path) { return save_weights(session.state(), path); }

namespace detail {

/// Reads the state of a package; `path` is where it lies, or empty.
[[nodiscard]] Result<std::vector<NamedTensor>> read_state(const SharedBytes& bytes, std::string_view path) {
  return davit::detail::catch_bad_alloc(Stage::load, [&]() -> Result<std::vector<NamedTensor>> {
    Result<Package> package = read_package(bytes);
    if (!package) return error_of(std::move(package));
    if (Result<void> outside = read_outside(*package, std::nullopt, path); !outside)
      return error_of(std::move(outside));
    ByteReader in(package->table.bytes());
    if (Result<void> skipped = detail::skip_methods(in, package->segments); !skipped)
      return error_of(std::move(skipped));
    Result<std::vector<NamedTensor>> state = davit::detail::read_tensors(in, package->segments);
    if (state && (!in.ok() || !in.at_end()))
      return std::unexpected(package_error(concat("program table, byte ", in.position()),
                                           "the bytes end early, late, or a size is wrong"));
    return state;
  });
}

}  // namespace detail

Result<std::vector<NamedTensor>> read_state(const SharedBytes& bytes) { return detail::read_state(bytes, {}); }

Result<std::vector<NamedTensor>> read_state(const std::string& path) {
  return davit::detail::catch_bad_alloc(Stage::load, [&]() -> Result<std::vector<NamedTensor>> {
    Result<SharedBytes> bytes = map_file(path);
    Result<std::vector<NamedTensor>> state =
        bytes ? detail::read_state(*bytes, path) : Result<std::vector<NamedTensor>>(error_of(std::move(bytes)));
    if (state) return state;
    if (state.error().code == ErrorCode::corrupt_data)
      state.error().where = concat(path, state.error().where.empty() ? "" : ": ", state.error().where);
    return std::unexpected(with_file_kind_of(std::move(state.error()), path, FileUse::package));
  });
}

Result<void> load_state(Session& session, const SharedBytes& bytes) {
  const Result<std::vector<NamedTensor>> saved = read_state(bytes);
  if (!saved) return error_of(saved);
  return session.load_state(*saved);
}

Result<void> load_state(Session& session, const std::string& path) {
  const Result<std::vector<NamedTensor>> saved = read_state(path);
  if (!saved) return error_of(saved);
  return session.load_state(*saved);
}

}  // namespace davit::formats
