// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "davit/backend/debug_handles.hpp"

namespace davit {

Result<DebugMap> DebugMap::make(std::vector<Entry> entries, std::vector<char> text) {
  DebugMap map;
  map.entries_ = std::move(entries);
  map.text_ = std::move(text);
  const auto inside = [&](Text t) { return t.first <= map.text_.size() && t.size <= map.text_.size() - t.first; };
  for (std::size_t i = 0; i < map.entries_.size(); ++i) {
    const Entry& e = map.entries_[i];
    if (e.handle != static_cast<DebugHandle>(i) || !inside(e.method) || !inside(e.node) || !inside(e.target) ||
        !inside(e.stack_trace) || !inside(e.nn_module_stack) || (e.merged != no_debug_handle && e.merged <= e.handle))
      return std::unexpected(Error{.code = ErrorCode::corrupt_data,
                                   .stage = Stage::load,
                                   .where = concat("debug map, row ", i),
                                   .what = "its text lies outside the map, or its handles are not those of a map",
                                   .fix = "save the program again, or strip its debug map"});
  }
  return map;
}

}  // namespace davit
