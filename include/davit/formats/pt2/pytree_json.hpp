// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/name.hpp"
#include "davit/formats/json/json.hpp"

namespace davit::formats {

namespace detail {

/// Reads a list of texts and integers; nullopt if its size is not `children`.
[[nodiscard]] inline std::optional<std::vector<std::string>> pytree_key_list(Json json, std::size_t children) {
  const Result<JsonArray> array = json.array();
  if (!array || array->size() != children) return std::nullopt;
  std::vector<std::string> keys;
  for (const Json item : *array) {
    const Result<std::string_view> text = item.string();
    const Result<std::int64_t> number = item.integer();
    if (!text && !number) return std::nullopt;
    keys.push_back(text ? std::string(*text) : std::to_string(*number));
  }
  return keys;
}

/// Reads the keys of a dict from its context, a text with JSON: a list. For a dataclass, the first of two lists; for a
/// defaultdict, a member. Returns nullopt for containers with numbered children.
[[nodiscard]] inline std::optional<std::vector<std::string>> pytree_keys(Json context, std::size_t children) {
  const Result<std::string_view> text = context.string();
  if (!text) return std::nullopt;
  const Result<JsonDocument> document = parse_json(*text, "context");
  if (!document) return std::nullopt;
  const Json root = document->root();
  if (root.is_object()) {
    const auto keys = root.find("dict_context");
    return keys && *keys ? pytree_key_list(**keys, children) : std::nullopt;
  }
  if (auto keys = pytree_key_list(root, children)) return keys;
  const Result<JsonArray> lists = root.array();
  return lists && lists->size() == 2 && (*++lists->begin()).is_array() ? pytree_key_list(*lists->begin(), children)
                                                                       : std::nullopt;
}

/// Walks a pytree specification and lists its leaves.
class PytreeLeaves {
 public:
  /// Maximum length of a name. Models have no longer ones, which could blow up a small malformed file.
  static constexpr std::size_t max_bytes = 256;

  /// False if the specification is unknown.
  [[nodiscard]] bool visit(Json spec, const std::string& place, bool has_keys) {
    const auto type = spec.find("type"), context = spec.find("context"), children = spec.find("children_spec");
    if (!type || !context || !children || !*children || place.size() > max_bytes) return false;
    if (!*type) {  // null: a leaf
      names_.push_back(has_keys ? Name(place) : Name());
      return true;
    }
    if (!*context) return false;
    const auto array = (*children)->array();
    if (!array) return false;
    const std::optional<std::vector<std::string>> keys = pytree_keys(**context, array->size());
    std::size_t i = 0;
    for (const Json child : *array) {
      const std::string step = keys ? (*keys)[i] : std::to_string(i);
      if (!visit(child, place.empty() ? step : place + '.' + step, has_keys || keys)) return false;
      ++i;
    }
    return true;
  }

  [[nodiscard]] std::vector<Name> take() && { return std::move(names_); }

 private:
  std::vector<Name> names_;
};

}  // namespace detail

/// Names the leaves of a pytree by the keys and numbers that lead to them, "past.0"; empty for a leaf without keys. The
/// specification is `[1, spec]` in JSON.
///
/// Dicts and registered dataclasses have keys; lists, tuples and all others have numbers. Returns no names for an
/// unknown specification, which other exporters may write. With `all`, also names leaves without keys: "0.1". O(text).
/// Source: torch.utils._pytree.treespec_dumps.
[[nodiscard]] inline std::vector<Name> pytree_names(std::string_view text, bool all = false) {
  const Result<JsonDocument> document = parse_json(text, "pytree");
  if (!document) return {};
  const Result<JsonArray> parts = document->root().array();
  if (!parts || parts->size() != 2) return {};
  detail::PytreeLeaves leaves;
  if (!leaves.visit(*++parts->begin(), {}, all)) return {};
  return std::move(leaves).take();
}

}  // namespace davit::formats
