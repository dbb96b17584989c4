// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "davit/lowering/to_backend.hpp"
#include "davit/testing/law_case.hpp"

namespace davit::testing::detail {

/// damaged: truncated bytes give a handle, or an Error that says what is wrong; both functions must return.
template <Backend B>
  requires SavesProcessed<B>
void check_damaged(LawCase<B>& c, const LoweredModule<B>& module) {
  const std::vector<std::byte> blob = B::save(module.methods()[0].processed);
  const auto explained = [&](const Error& error, std::size_t size) {
    if (error.code == ErrorCode::ok || error.what.empty())
      c.broken("damaged", "the error for ", size, " of ", blob.size(),
               " bytes has no code or does not say what is wrong");
  };
  const std::size_t step = std::max<std::size_t>(1, blob.size() / 64);
  for (std::size_t size = 0; size < blob.size(); size += step) {
    const std::vector<std::byte> part(blob.begin(), blob.begin() + static_cast<std::ptrdiff_t>(size));
    const Result<typename B::Processed> processed = B::load(part);
    if (!processed) {
      explained(processed.error(), size);
      continue;
    }
    const Result<typename B::Handle> handle = B::compile(*processed, c.spec);
    if (!handle) explained(handle.error(), size);
  }
}

/// saved, pure, damaged: what is loaded does what was saved.
template <Backend B>
  requires SavesProcessed<B>
void check_saving(LawCase<B>& c, const LoweredModule<B>& module) {
  const std::vector<std::byte> bytes = save_module(module);
  Result<LoweredModule<B>> again = to_backend<B>(c.program, c.spec);
  if (!again || save_module(*again) != bytes) c.broken("pure", "lowering twice gave different bytes");
  Result<LoweredModule<B>> loaded = load_module<B>(bytes);
  if (!loaded) return c.broken("saved", "what was saved does not load: ", to_name(loaded.error()));
  if (save_module(*loaded) != bytes) c.broken("saved", "what was loaded saves as other bytes");
  c.same_results("saved", *loaded, "a loaded module");
  check_damaged(c, module);
}

}  // namespace davit::testing::detail
