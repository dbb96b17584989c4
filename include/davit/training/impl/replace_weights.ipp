// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/core/segments.hpp"
#include "davit/program/name_map.hpp"
#include "davit/training/replace_weights.hpp"

namespace davit {

namespace detail {

/// True if both view the same elements of one storage.
[[nodiscard]] bool is_tied(const Tensor& a, const Tensor& b) noexcept {
  return a.storage.data() != nullptr && a.view().data == b.view().data && a.dtype == b.dtype && a.sizes == b.sizes &&
         a.strides == b.strides;
}

[[nodiscard]] Error weight_error(ErrorCode code, Name where, Name what, Name fix) {
  return {
      .code = code, .stage = Stage::load, .where = std::move(where), .what = std::move(what), .fix = std::move(fix)};
}

/// The fix of an error where no name fits: names a prefix under which one of the weights fits a parameter.
[[nodiscard]] Name fitting_prefix(std::span<const NamedTensor* const> own, std::span<const NamedTensor> weights) {
  for (const NamedTensor* mine : own)
    for (const NamedTensor& each : weights) {
      const std::string_view name = each.name, wanted = mine->name;
      if (name.size() > wanted.size() && name.ends_with(wanted) && name[name.size() - wanted.size() - 1] == '.')
        return concat("the prefix '", name.substr(0, name.size() - wanted.size()), "' fits '", wanted, "'");
    }
  return "davit inspect --json lists the names of the program";
}

}  // namespace detail

Result<std::size_t> replace_weights(ExportedProgram& program, std::span<const NamedTensor> weights,
                                    std::string_view prefix) {
  std::vector<NamedTensor*> own;
  for (std::vector<NamedTensor>* list : {&program.state_dict, &program.constants})
    for (NamedTensor& each : *list) own.push_back(&each);
  const NameIndex names(weights, [&](const NamedTensor& each) {
    return each.name.view().starts_with(prefix) ? each.name.view().substr(prefix.size()) : std::string_view();
  });
  std::vector<std::pair<NamedTensor*, const Tensor*>> replaced;
  for (NamedTensor* const mine : own) {
    const std::size_t at = mine->name.empty() ? NameIndex::not_found : names.first(mine->name);
    if (at == NameIndex::not_found) continue;
    const Tensor& tensor = weights[at].tensor;
    const auto refuse = [&](ErrorCode code, std::string_view what) {
      return std::unexpected(detail::weight_error(code, concat("weights, '", weights[at].name, "'"),
                                                  concat("the program's '", mine->name, "' has ", what),
                                                  "take the weights of a program with the same modules"));
    };
    if (tensor.dtype != mine->tensor.dtype) return refuse(ErrorCode::invalid_dtype, "another dtype");
    if (tensor.sizes != mine->tensor.sizes) return refuse(ErrorCode::invalid_shape, "other sizes");
    if (!is_stored(tensor))
      return std::unexpected(detail::weight_error(ErrorCode::invalid_argument,
                                                  concat("weights, '", weights[at].name, "'"), not_stored,
                                                  "give a tensor with all of its elements"));
    replaced.emplace_back(mine, &tensor);
  }
  if (replaced.empty()) {
    const std::vector<const NamedTensor*> all(own.begin(), own.end());
    return std::unexpected(detail::weight_error(ErrorCode::not_found, "weights",
                                                "no name is that of a parameter or buffer of the program",
                                                detail::fitting_prefix(all, weights)));
  }
  const std::size_t named = replaced.size();
  for (NamedTensor* const mine : own) {  // tied to a parameter that an entry names, without an entry of its own
    const auto is_it = [&](const auto& each) { return each.first == mine; };
    if (std::ranges::any_of(replaced, is_it)) continue;
    for (std::size_t i = 0; i < named; ++i)
      if (detail::is_tied(mine->tensor, replaced[i].first->tensor)) {
        replaced.emplace_back(mine, replaced[i].second);
        break;
      }
  }
  for (const auto& [mine, tensor] : replaced) {
    const bool requires_grad = mine->tensor.requires_grad;
    mine->tensor = *tensor;
    mine->tensor.requires_grad = requires_grad;
  }
  return replaced.size();
}

}  // namespace davit
