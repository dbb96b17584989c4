// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/bytes.hpp"
#include "davit/core/config.hpp"
#include "davit/core/error.hpp"
#include "davit/core/segments.hpp"
#include "davit/core/shared_bytes.hpp"
#include "davit/formats/package.hpp"
#include "davit/formats/package_layout.hpp"
#include "davit/lowered/lowered_program.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::formats {

/// Returns named tensors as a package without methods: a file of weights that several packages and processes map
/// (SaveOptions::weights), or that read_state reads. Errors: invalid_argument for a tensor whose elements do not all
/// lie in its storage. O(bytes).
[[nodiscard]] Result<std::vector<std::byte>> save_weights(std::span<const NamedTensor> weights);
/// Saves them to a file; after an error no partial file remains. Errors: as above; io_error.
[[nodiscard]] Result<void> save_weights(std::span<const NamedTensor> weights, const std::string& path);

namespace detail {

/// Makes `segments` keep these weights outside of a package, except those whose names `state` has.
void keep_outside(SegmentWriter& segments, std::span<const NamedTensor> weights, std::span<const NamedTensor> state);

/// Appends to a package's table which of its segments are weights of a file, with names, sizes and hashes. Weights that
/// lowering folded into others are listed too.
/// Errors: out_of_memory for elements that are copied into row-major order.
[[nodiscard]] Result<void> write_outside(ByteWriter& table, SegmentWriter& segments,
                                         std::span<const NamedTensor> weights, std::string_view file, bool may_replace);

/// Checks the tensors of a file that is to be written, which are its `kind`. Errors: invalid_argument for one whose
/// elements are not all there.
[[nodiscard]] Result<void> check_stored(std::span<const NamedTensor> tensors, std::string_view kind);
/// True if a package finds its weights by this name, which no folder, no NUL and no backslash is in; or if there is no
/// name.
[[nodiscard]] bool is_weights_file(std::string_view name) noexcept;

/// Returns a copy of a program in which the weights that lie outside of `package` have other elements: slightly other
/// ones if `nudged`, else of other signs and magnitudes.
[[nodiscard]] Result<ExportedProgram> with_other_weights(const ExportedProgram& program, const SharedBytes& package,
                                                         bool nudged);
/// True if two packages with lists of weights differ in these lists at most. Errors: corrupt_data.
[[nodiscard]] Result<bool> differ_in_weights_alone(const SharedBytes& a, const SharedBytes& b);

/// Gives the segments that write_outside listed their bytes, from `weights`, or else from the file of that name beside
/// the package at `path`; removes the list from the table. Does nothing for other packages.
///
/// Errors: corrupt_data; not_found for a missing file or name; invalid_dtype, invalid_shape; invalid_argument for
/// elements that differ from those the package was lowered with, where lowering computed results from them;
/// out_of_memory. O(bytes of the weights).
[[nodiscard]] Result<void> read_outside(Package& package, std::optional<std::span<const NamedTensor>> weights,
                                        std::string_view path);
/// As read_outside without weights and path: not_found for a package that has a list.
[[nodiscard]] Result<void> refuse_outside(Package& package, std::optional<std::span<const NamedTensor>> weights,
                                          std::string_view path);

}  // namespace detail

/// True if lowering computed nothing from the weights that a package of `lowered` keeps in a file of their own, so that
/// SaveOptions::may_replace_weights holds. Lowers the program twice more, with other elements of these weights, by
/// lower(program) -> Result<LoweredProgram>, and compares: a sign, a rounded or a compared weight is seen too.
/// `lowered` is lower(program). False if another lowering fails. Errors: out_of_memory of `lower`; those of
/// save_program.
template <class Lower>
[[nodiscard]] Result<bool> weights_are_free(const ExportedProgram& program, const LoweredProgram& lowered,
                                            Lower&& lower) {
  const auto saved = [](const LoweredProgram& each, const ExportedProgram& of) -> Result<SharedBytes> {
    Result<std::vector<std::byte>> bytes =
        save_program(each, SaveOptions{.debug_map = false, .weights = of.state_dict});
    if (!bytes) return error_of(std::move(bytes));
    return SharedBytes::copy_of(*bytes);
  };
  const Result<SharedBytes> first = saved(lowered, program);
  if (!first) return error_of(first);
  for (const bool nudged : {true, false}) {
    const Result<ExportedProgram> other = detail::with_other_weights(program, *first, nudged);
    if (!other) return error_of(other);
    const Result<LoweredProgram> again = lower(*other);
    if (!again && again.error().code == ErrorCode::out_of_memory) return error_of(again);
    if (!again) return false;  // an index, for example, that lowering followed
    const Result<SharedBytes> second = saved(*again, *other);
    if (!second) return error_of(second);
    if (const Result<bool> same = detail::differ_in_weights_alone(*first, *second); !same || !*same) return same;
  }
  return true;
}

}  // namespace davit::formats
