// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/formats/mapped_file.hpp"
#include "davit/lowering/all_node_partitioner.hpp"
#include "davit/lowering/capability_partitioner.hpp"
#include "davit/lowering/config_partitioner.hpp"
#include "davit/lowering/module_partitioner.hpp"
#include "davit/lowering/pattern_partitioner.hpp"
#include "davit/testing/detail/alternating_partitioner.hpp"
#include "partitioner_help.hpp"

namespace tool {

namespace detail {

/// Removes the part of `text` up to the next separator and returns it.
[[nodiscard]] inline std::string_view next_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// Reads "KEY=BACKEND,KEY=BACKEND" and calls `add(key, backend)`.
template <class List, class Add>
[[nodiscard]] davit::Result<void> read_rules(std::string_view text, Add&& add) {
  using davit::concat;
  const auto fail = [](davit::ErrorCode code, davit::Name what, davit::Name fix) {
    return std::unexpected(davit::Error{.code = code,
                                        .stage = davit::Stage::partition,
                                        .where = "--partitioner",
                                        .what = std::move(what),
                                        .fix = std::move(fix)});
  };
  do {
    const std::string_view rule = next_part(text, ',');
    const std::size_t equals = rule.rfind('=');
    if (equals == std::string_view::npos)
      return fail(davit::ErrorCode::invalid_argument, concat("'", rule, "' is no rule"), "write NAME=BACKEND");
    const std::size_t backend = List::find(rule.substr(equals + 1));
    if (backend == List::size)
      return fail(davit::ErrorCode::not_found, concat("there is no backend '", rule.substr(equals + 1), "'"),
                  concat("this program was compiled with: ", List::names()));
    add(rule.substr(0, equals), static_cast<std::uint32_t>(backend));
  } while (!text.empty());
  return {};
}

}  // namespace detail

/// Calls `lower(partitioner)` with the partitioner called `name`, which may start with "config:", "module:" or
/// "pattern:". `order` lists the backends by preference. Errors: not_found; errors in the partitioner's text; errors of
/// `lower`.
template <class List, class Lower>
[[nodiscard]] auto choose_partitioner(std::string_view name, const std::vector<std::uint32_t>& order, Lower&& lower)
    -> decltype(lower(davit::CapabilityPartitioner<List>())) {
  using namespace davit;
  if (name == "capability") return lower(CapabilityPartitioner<List>(CapabilityOptions{.order = order}));
  if (name == "alternate") return lower(testing::AlternatingPartitioner<List>{order});
  if (name == "all") return lower(AllNodePartitioner<List>{order.front()});
  std::string_view rest = name;
  const std::string_view kind = detail::next_part(rest, ':');
  if (kind == "config") {
    Result<SharedBytes> text = formats::map_file(std::string(rest));
    if (!text) return std::unexpected(std::move(text.error()));
    const auto* first = reinterpret_cast<const char*>(text->data());
    Result<ConfigPartitioner<List>> config = ConfigPartitioner<List>::parse({first, text->size()}, rest);
    if (!config) return std::unexpected(std::move(config.error()));
    return lower(*config);
  }
  if (kind == "module") {
    ModulePartitioner<List> modules;
    Result<void> read = detail::read_rules<List>(rest, [&](std::string_view module, std::uint32_t backend) {
      modules.rules.push_back({Name::own(module), backend});
    });
    if (!read) return std::unexpected(std::move(read.error()));
    return lower(modules);
  }
  if (kind == "pattern") {
    PatternPartitioner<List> patterns;
    Result<void> read = detail::read_rules<List>(rest, [&](std::string_view targets, std::uint32_t backend) {
      patterns.rules.push_back({{}, backend});
      while (!targets.empty()) patterns.rules.back().targets.push_back(Name::own(detail::next_part(targets, '+')));
    });
    if (!read) return std::unexpected(std::move(read.error()));
    return lower(patterns);
  }
  return std::unexpected(
      Error{.code = ErrorCode::not_found,
            .stage = Stage::partition,
            .where = "--partitioner",
            .what = concat("there is no partitioner '", name, "'"),
            .fix = concat("name ", partitioner_names(), "; davit help partitioner says what they do")});
}

}  // namespace tool
