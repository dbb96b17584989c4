// SPDX-License-Identifier: MIT
#pragma once

#include <utility>
#include <vector>

#include "davit/core/error.hpp"
#include "davit/program/graph.hpp"

namespace davit {

/// Collects the violations of a program's rules.
class Violations {
 public:
  constexpr explicit Violations(GraphModuleView graph) noexcept : graph_(graph) {}

  template <class = void>
  constexpr void add(Error error) {
    list_.push_back(std::move(error));
  }
  /// Adds a violation with its place, as an error of code invalid_program and stage verify.
  template <class = void>
  constexpr void violation(Name where, Name what, Name fix = "export the program again") {
    add(Error{.code = ErrorCode::invalid_program,
              .stage = Stage::verify,
              .where = std::move(where),
              .what = std::move(what),
              .fix = std::move(fix)});
  }
  /// Returns the description of a node in errors: its number, its first output and its operator.
  template <class = void>
  [[nodiscard]] constexpr Name place(NodeId id) const {
    const Node& node = graph_.nodes[id];
    Name name;
    for (const Argument& output : graph_.outputs(node))
      graph_.for_each_value(output, [&](ValueId v) {
        if (name.empty()) name = Name(graph_.name(v));
      });
    return concat("node ", id, " '", name, "' (", graph_.target(node), ")");
  }
  template <class = void>
  [[nodiscard]] constexpr std::vector<Error> take() && {
    return std::move(list_);
  }

 private:
  GraphModuleView graph_;
  std::vector<Error> list_;
};

}  // namespace davit
