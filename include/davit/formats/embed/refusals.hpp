// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "davit/core/error.hpp"
#include "davit/embed/select_steps.hpp"

namespace davit::formats {

/// Makes an error of `davit embed` about the program's construct at `where`.
[[nodiscard]] inline std::unexpected<Error> refuse_embedding(std::string_view where, std::string_view what,
                                                             std::string_view fix) {
  return std::unexpected(Error{.code = ErrorCode::unsupported_argument,
                               .stage = Stage::save,
                               .where = Name(where),
                               .what = Name(what),
                               .fix = Name(fix)});
}

/// Checks that every live node has a backend; the error lists all nodes without one, and the first backend's reason.
/// O(nodes).
[[nodiscard]] inline Result<void> check_taken(const StaticGraph& graph, const SelectedSteps& selected) {
  const std::size_t count = selected.orphans.size() + selected.unwritten.size();
  if (count == 0) return {};
  Name list;
  const auto add = [&](NodeId n, std::string_view reason) {
    const ValueId v = graph.first_output(n);
    const std::string_view name = v == no_id ? std::string_view() : graph.name(v);
    list = concat(list, list.empty() ? "" : "\n", "  node ", n, ": ", name, " = ", graph.target(n), ": ", reason);
  };
  for (std::size_t i = selected.orphans.size(); i-- > 0;) {  // in the order of the nodes
    const OrphanNode& orphan = selected.orphans[i];
    add(orphan.node, orphan.reasons.empty() || orphan.reasons[0] == nullptr ? "refused" : orphan.reasons[0]);
  }
  for (std::size_t i = selected.unwritten.size(); i-- > 0;)
    add(selected.unwritten[i], "an output of it is not computed");
  return std::unexpected(
      Error{.code = ErrorCode::unsupported_operator,
            .stage = Stage::save,
            .where = "the program",
            .what = concat("static programs have no kernel for ", count, count == 1 ? " node" : " nodes"),
            .fix = "take these operators out of the model, or name a backend of your own that has them (--any-backend)",
            .source = std::move(list)});
}

}  // namespace davit::formats
