// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/lowering/value_sources.hpp"
#include "davit/lowering/value_users.hpp"

namespace davit {

/// Hash of the computation of a group of nodes. Groups that differ only in names and weights have equal keys.
struct RegionKey {
  std::uint64_t bits = 0;
  friend constexpr auto operator<=>(RegionKey, RegionKey) = default;
};

namespace detail {

/// A hash of words and texts, equal on every machine. Not cryptographic.
class KeyMixer {
 public:
  constexpr void add(std::uint64_t word) noexcept {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15u;
    state_ ^= state_ >> 29;
  }
  constexpr void add(std::string_view text) noexcept {
    add(text.size());
    for (std::size_t at = 0; at < text.size(); at += 8) {
      std::uint64_t word = 0;
      for (std::size_t i = at; i < text.size() && i < at + 8; ++i)
        word = word << 8 | static_cast<unsigned char>(text[i]);
      add(word);
    }
  }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return (state_ ^ state_ >> 32) * 0xff51afd7ed558ccdu; }

 private:
  std::uint64_t state_ = 0x2545f4914f6cdd1du;
};

}  // namespace detail

/// Computes the keys of groups of nodes. The program and the users must outlive this object. Built in O(program).
class RegionKeys {
 public:
  constexpr RegionKeys(const ProgramTables& program, const ValueUsers& users)
      : graph_(program.view()),
        users_(&users),
        sources_(value_sources(program)),
        local_(graph_.values.size(), 0),
        value_stamp_(graph_.values.size(), 0),
        node_stamp_(graph_.nodes.size(), 0),
        exprs_(graph_.exprs.size(), 0) {
    for (std::size_t e = 0; e < exprs_.size(); ++e) exprs_[e] = expression(static_cast<ExprId>(e));
  }

  /// Returns the key of `nodes`, which must be ascending. Hashes operators, arguments, connections, values that leave
  /// the group, and for every value dtype, sizes, strides and whether it is an input or a constant. Symbolic sizes are
  /// hashed by form and example. O(nodes + edges).
  [[nodiscard]] constexpr RegionKey of(std::span<const NodeId> nodes) {
    ++stamp_;
    next_local_ = 0;
    detail::KeyMixer mixer;
    for (const NodeId n : nodes) node_stamp_[n] = stamp_;
    for (const NodeId n : nodes) {
      mixer.add(graph_.target(graph_.nodes[n]));
      add_all(mixer, graph_.inputs(graph_.nodes[n]));
      add_all(mixer, graph_.outputs(graph_.nodes[n]));
    }
    for (const NodeId n : nodes)
      for (const Argument& output : graph_.outputs(graph_.nodes[n]))
        graph_.for_each_value(output, [&](ValueId v) { mixer.add(leaves(v) ? 1 : 0); });
    return {mixer.value()};
  }

 private:
  [[nodiscard]] constexpr std::uint64_t expression(ExprId id) const {
    const Expr& e = graph_.exprs[id];
    const auto operand = [&](ExprId other) -> std::uint64_t { return other < id ? exprs_[other] : 0; };
    detail::KeyMixer mixer;
    mixer.add(static_cast<std::uint64_t>(e.op));
    mixer.add(static_cast<std::uint64_t>(e.value));
    mixer.add(operand(e.a));
    mixer.add(operand(e.b));
    mixer.add(e.op == ExprOp::rational ? e.c : operand(e.c));
    return mixer.value();
  }
  [[nodiscard]] constexpr bool leaves(ValueId v) const {
    if (users_->is_output[v] != 0) return true;
    return std::ranges::any_of(users_->of(v), [&](NodeId user) { return node_stamp_[user] != stamp_; });
  }
  constexpr void add_all(detail::KeyMixer& mixer, std::span<const Argument> arguments) {
    mixer.add(arguments.size());
    for (const Argument& argument : arguments) add(mixer, argument);
  }
  constexpr void add(detail::KeyMixer& mixer, const Argument& argument) {
    mixer.add(graph_.str(argument.name));
    mixer.add(static_cast<std::uint64_t>(argument.kind) << 8 | static_cast<std::uint64_t>(argument.element));
    switch (argument.kind) {
      case ArgumentKind::none:
      case ArgumentKind::graph: break;
      case ArgumentKind::value: add(mixer, argument.value()); break;
      case ArgumentKind::string:
      case ArgumentKind::device:
      case ArgumentKind::operator_name: mixer.add(graph_.string(argument)); break;
      case ArgumentKind::list: add_all(mixer, graph_.args(argument.items)); break;
      case ArgumentKind::complex_:
        mixer.add(argument.items.first);
        mixer.add(argument.items.count);
        [[fallthrough]];
      default: mixer.add(static_cast<std::uint64_t>(argument.payload)); break;
    }
  }
  /// Adds a value by its number within the region; at its first use, also its type.
  constexpr void add(detail::KeyMixer& mixer, ValueId v) {
    if (value_stamp_[v] == stamp_) return mixer.add(local_[v]);
    value_stamp_[v] = stamp_;
    local_[v] = next_local_++;
    const Value& value = graph_.values[v];
    mixer.add(local_[v]);
    mixer.add(static_cast<std::uint64_t>(sources_[v]));
    mixer.add(static_cast<std::uint64_t>(value.kind) << 16 | static_cast<std::uint64_t>(value.dtype) << 8 |
              static_cast<std::uint64_t>(value.layout));
    add(mixer, value.sizes);
    add(mixer, value.strides);
    if (value.expr != no_id) mixer.add(exprs_[value.expr]);
  }
  constexpr void add(detail::KeyMixer& mixer, Range dims) const {
    mixer.add(dims.count);
    for (const Dim& dim : graph_.dims_of(dims)) {
      mixer.add(static_cast<std::uint64_t>(dim.value));
      if (!dim.is_static()) mixer.add(exprs_[dim.expr]);
    }
  }

  GraphModuleView graph_;
  const ValueUsers* users_;
  std::vector<ValueSource> sources_;
  std::vector<std::uint32_t> local_;
  std::vector<std::uint32_t> value_stamp_;
  std::vector<std::uint32_t> node_stamp_;
  std::vector<std::uint64_t> exprs_;
  std::uint32_t stamp_ = 0;
  std::uint32_t next_local_ = 0;
};

}  // namespace davit
