// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/backend_table.hpp"
#include "davit/core/segments.hpp"
#include "davit/formats/package.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/testing/detail/law_case.hpp"

namespace davit::testing::detail {

/// damaged: truncated bytes give a handle or an Error with a reason; both functions must return.
template <Backend B>
  requires SavesProcessed<B>
void check_damaged(LawCase<B>& c, const LoweredProgram& program) {
  if (program.methods()[0].delegates.empty()) return;
  constexpr const BackendTable& table = backend_table<B>;
  SegmentWriter writer;
  const std::vector<std::byte> blob = table.save(&processed_of<B>(program.methods()[0].delegates[0]), writer);
  std::vector<SharedBytes> segments;
  for (const std::span<const std::byte> each : writer.segments()) segments.push_back(SharedBytes::copy_of(each));
  const SegmentReader reader(std::move(segments));
  const auto explained = [&](const Error& error, std::size_t size) {
    if (error.code == ErrorCode::ok || error.what.empty())
      c.broken("damaged", "the error for ", size, " of ", blob.size(),
               " bytes has no code or does not say what is wrong");
  };
  const std::size_t step = std::max<std::size_t>(1, blob.size() / 64);
  for (std::size_t size = 0; size < blob.size(); size += step) {
    const std::vector<std::byte> part(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(size));
    const Result<BackendObject> processed = table.load(part, reader);
    if (!processed) {
      explained(processed.error(), size);
      continue;
    }
    const Result<BackendObject> handle = table.compile(processed->get(), &c.spec);
    if (!handle) explained(handle.error(), size);
  }
}

/// saved, pure, damaged: a loaded program behaves as the saved one.
template <Backend B>
  requires SavesProcessed<B>
void check_saving(LawCase<B>& c, const LoweredProgram& program) {
  const auto save = [](const LoweredProgram& each) { return formats::save_program(each, {.debug_map = false}); };
  const Result<std::vector<std::byte>> bytes = save(program);
  if (!bytes) return c.broken("saved", "it cannot be saved: ", to_name(bytes.error()));
  const Result<LoweredProgram> again = to_backend<B>(c.program, c.spec);
  if (!again || save(*again) != bytes) c.broken("pure", "lowering twice gave different bytes");
  const Result<LoweredProgram> loaded = formats::load_program(program.backends(), SharedBytes::copy_of(*bytes));
  if (!loaded) return c.broken("saved", "the saved bytes do not load: ", to_name(loaded.error()));
  if (save(*loaded) != bytes) c.broken("saved", "the loaded form saves as other bytes");
  c.same_results("saved", *loaded, "a loaded program");
  check_damaged(c, program);
}

}  // namespace davit::testing::detail
