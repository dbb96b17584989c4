// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/limits.hpp"
#include "davit/formats/json/json.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/pt2/pickle_values.hpp"
#include "davit/formats/pt2/pytree_json.hpp"
#include "davit/formats/pt2/torch_save.hpp"
#include "davit/formats/pt2/torch_tensors.hpp"
#include "davit/program/exported_program.hpp"

namespace davit::formats {

namespace detail {

/// Walks a pytree specification and the pickled tree in parallel.
class ExampleReader {
 public:
  ExampleReader(const Pickle& pickle, TorchTensors tensors, const Limits& limits)
      : pickle_(pickle), tensors_(std::move(tensors)), limits_(limits) {}

  [[nodiscard]] Result<void> visit(Json spec, PickleId id) {
    const Result<std::optional<Json>> type = spec.find("type");
    if (!type) return error_of(type);
    if (!*type) return leaf(id);  // null
    const Result<Json> context = spec.at("context");
    if (!context) return error_of(context);
    const Result<JsonArray> children = spec.array("children_spec");
    if (!children) return error_of(children);
    const std::optional<std::vector<std::string>> keys = pytree_keys(*context, children->size());
    const std::vector<PickleId> parts = keys ? parts_named(pickle_[id], *keys) : parts_of(pickle_[id]);
    if (parts.size() != children->size())
      return tensors_.fail(id, "example inputs", "it is not what the specification of the inputs says");
    std::size_t next = 0;
    for (const Json child : *children)
      if (Result<void> read = visit(child, parts[next++]); !read) return read;
    return {};
  }
  [[nodiscard]] std::vector<ExampleInput> take() && { return std::move(values_); }

 private:
  [[nodiscard]] Result<void> leaf(PickleId id) {
    if (values_.size() >= limits_.max_nodes / 16) return tensors_.fail(id, "example inputs", "there are too many");
    const PickleValue& value = pickle_[id];
    switch (value.kind) {
      case PickleKind::none: values_.emplace_back(); return {};
      case PickleKind::boolean: values_.emplace_back(value.number != 0); return {};
      case PickleKind::integer: values_.emplace_back(value.number); return {};
      case PickleKind::real: values_.emplace_back(value.real); return {};
      case PickleKind::string: values_.emplace_back(Name::own(value.text)); return {};
      default: break;
    }
    Result<Tensor> tensor = tensors_.tensor(id, "example inputs");
    if (!tensor) return error_of(std::move(tensor));
    values_.emplace_back(*std::move(tensor));
    return {};
  }

  /// Returns the elements of a list or tuple, or of an object built from one: a namedtuple, a deque.
  [[nodiscard]] std::vector<PickleId> parts_of(const PickleValue& value) const {
    if (value.kind == PickleKind::list || value.kind == PickleKind::tuple || value.kind == PickleKind::call)
      return value.items;
    if (value.kind != PickleKind::object || value.arguments == no_pickle_id) return {};
    const std::span<const PickleId> arguments = pickle_.tuple(value.arguments);
    return {arguments.begin(), arguments.end()};
  }
  /// Returns the values of a dictionary, or the attributes of an object, in the order of `keys`; empty if the keys
  /// differ.
  [[nodiscard]] std::vector<PickleId> parts_named(const PickleValue& value, std::span<const std::string> keys) const {
    const bool has_state = value.kind == PickleKind::object && value.state != no_pickle_id &&
                           pickle_[value.state].kind == PickleKind::dict;
    const std::span<const PickleId> items = has_state ? pickle_[value.state].items : value.items;
    const bool is_dict = has_state || value.kind == PickleKind::dict || value.kind == PickleKind::call;
    if (!is_dict || items.size() != 2 * keys.size()) return {};
    std::vector<std::pair<std::string, PickleId>> entries;
    for (std::size_t i = 0; i < items.size(); i += 2) {
      const PickleValue& key = pickle_[items[i]];
      if (key.kind != PickleKind::string && key.kind != PickleKind::integer) return {};
      entries.emplace_back(key.kind == PickleKind::string ? std::string(key.text) : std::to_string(key.number),
                           items[i + 1]);
    }
    std::ranges::sort(entries);
    std::vector<PickleId> parts;
    for (const std::string& key : keys) {
      const auto at = std::ranges::lower_bound(entries, key, {}, &std::pair<std::string, PickleId>::first);
      if (at == entries.end() || at->first != key) return {};
      parts.push_back(at->second);
    }
    return parts;
  }

  const Pickle& pickle_;
  TorchTensors tensors_;
  Limits limits_;
  std::vector<ExampleInput> values_;
};

}  // namespace detail

/// Reads the example inputs of a program, saved by torch.save as (args, kwargs): flat, in the order of the user inputs.
///
/// `in_spec` is the pytree specification, `[1, spec]` in JSON. Tensors view the file. Imports and calls nothing:
/// objects must be Python's containers or described by the specification. O(leaves log keys), and a pass over the
/// storages for their checksums. Errors: those of the JSON and of tensors; corrupt_data if the values do not match the
/// specification. Source: torch.utils._pytree.tree_flatten.
[[nodiscard]] inline Result<std::vector<ExampleInput>> read_example_inputs(TorchSave& saved, std::string_view in_spec,
                                                                           const Limits& limits = {}) {
  const Result<JsonDocument> document = parse_json(in_spec, "in_spec", limits);
  if (!document) return error_of(document);
  const Result<JsonArray> parts = document->root().array();
  if (!parts) return error_of(parts);
  if (parts->size() != 2) return document->root().error("expected a version and a specification");
  detail::ExampleReader reader(saved.pickle(), saved.tensors(), limits);
  if (Result<void> read = reader.visit(*++parts->begin(), saved.pickle().root()); !read)
    return error_of(std::move(read));
  return std::move(reader).take();
}

}  // namespace davit::formats
