// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "davit/core/catch_bad_alloc.hpp"
#include "davit/core/contiguous.hpp"
#include "davit/core/segments.hpp"
#include "davit/training/impl/replace_weights.ipp"
#include "davit/training/merge_adapters.hpp"

namespace davit {

namespace detail {

/// Calls use(element) for each element of a contiguous tensor of a floating dtype. False for another dtype.
template <class Use>
[[nodiscard]] bool for_each_float(const TensorView& tensor, Use&& use) {
  const auto walk = [&]<class T>(T* elements) {
    for (std::int64_t i = 0; i < tensor.numel(); ++i) use(elements[i], i);
    return true;
  };
  switch (tensor.dtype) {
    case ScalarType::float32: return walk(tensor.as<float>());
    case ScalarType::float64: return walk(tensor.as<double>());
    case ScalarType::float16: return walk(tensor.as<Half>());
    case ScalarType::bfloat16: return walk(tensor.as<BFloat16>());
    default: return false;
  }
}

/// The two factors of an adapter.
struct Adapter {
  std::string_view module{};
  const NamedTensor* a = nullptr;
  const NamedTensor* b = nullptr;
};

/// Splits "MODULE.lora_A.weight". Returns the module, or an empty text if the name is no factor `letter`.
[[nodiscard]] std::string_view module_of(std::string_view name, char letter) noexcept {
  for (const std::string_view end : {".weight", ".default"})
    if (name.ends_with(end)) name.remove_suffix(end.size());
  constexpr std::string_view factor = ".lora_";
  if (name.size() <= factor.size() + 1 || name.back() != letter) return {};
  name.remove_suffix(1);
  return name.ends_with(factor) ? name.substr(0, name.size() - factor.size()) : std::string_view();
}

/// True if merging can read the tensor in memory of its own size: it is stored, and no elements share memory.
[[nodiscard]] bool is_unexpanded(const Tensor& tensor) noexcept {
  return is_stored(tensor) && tensor.view().nbytes() <= tensor.storage.size();
}

/// Returns the elements; fewer if there is no memory. Requires a floating dtype.
[[nodiscard]] std::vector<float> floats_of(const Tensor& tensor) {
  const Tensor copy = contiguous(tensor.view());
  std::vector<float> all;
  if (copy.storage.empty()) return all;
  all.reserve(static_cast<std::size_t>(copy.numel()));
  (void)for_each_float(copy.view(),
                       [&](const auto& element, std::int64_t) { all.push_back(static_cast<float>(element)); });
  return all;
}

[[nodiscard]] bool is_merged_dtype(ScalarType dtype) noexcept {
  return dtype == ScalarType::float32 || dtype == ScalarType::float64 || dtype == ScalarType::float16 ||
         dtype == ScalarType::bfloat16;
}

/// Returns W + scale * B A, where W is the weight, or its sum with other adapters. Errors: sizes or dtypes that do not
/// fit; out_of_range; out_of_memory.
[[nodiscard]] Result<Tensor> merged(const NamedTensor& weight, const Adapter& adapter, double scale) {
  const std::vector<std::int64_t>&w = weight.tensor.sizes, &a = adapter.a->tensor.sizes, &b = adapter.b->tensor.sizes;
  const auto refuse = [&](ErrorCode code, Name what, Name fix) {
    return std::unexpected(
        weight_error(code, concat("adapter of '", weight.name, "'"), std::move(what), std::move(fix)));
  };
  if (w.size() != 2 || a.size() != 2 || b.size() != 2 || a[1] != w[1] || b[0] != w[0] || a[0] != b[1])
    return refuse(ErrorCode::invalid_shape,
                  concat("'", adapter.a->name, "' and '", adapter.b->name, "' are not [rank, ",
                         w.size() == 2 ? w[1] : 0, "] and [", w.size() == 2 ? w[0] : 0, ", rank]"),
                  "take the adapters of a linear layer with the same sizes");
  for (const NamedTensor* const each : {&weight, adapter.a, adapter.b})
    if (!is_unexpanded(each->tensor))
      return refuse(ErrorCode::invalid_argument,
                    concat("'", each->name,
                           "': ", is_stored(each->tensor) ? "its elements share memory: it is expanded" : not_stored),
                    "give a contiguous tensor with all of its elements");
  if (!is_merged_dtype(adapter.a->tensor.dtype) || !is_merged_dtype(adapter.b->tensor.dtype))
    return refuse(ErrorCode::invalid_dtype, "its factors hold no floating-point numbers",
                  "save them as float32, float16 or bfloat16");
  if (!is_merged_dtype(weight.tensor.dtype))
    return refuse(ErrorCode::invalid_dtype, concat("the weight holds ", name_of(weight.tensor.dtype)),
                  "merge the adapter in Python before the weight is quantized");
  const std::vector<float> left = floats_of(adapter.b->tensor), right = floats_of(adapter.a->tensor);
  if (left.size() != static_cast<std::size_t>(b[0] * b[1]) || right.size() != static_cast<std::size_t>(a[0] * a[1]))
    return refuse(ErrorCode::out_of_memory, "no memory for a copy of its factors", {});
  Tensor sum = contiguous(weight.tensor.view());
  if (sum.storage.size() != weight.tensor.view().nbytes())
    return refuse(ErrorCode::out_of_memory, "no memory for the merged weight", {});
  const auto columns = static_cast<std::size_t>(w[1]), rank = static_cast<std::size_t>(a[0]);
  std::vector<float> row(columns);
  std::size_t column = columns, at = 0;
  bool is_finite = true;
  (void)for_each_float(sum.view(), [&]<class T>(T& element, std::int64_t) {
    if (column == columns) {  // the next row of B A
      std::ranges::fill(row, 0.0F);
      for (std::size_t r = 0; r < rank; ++r)
        for (std::size_t i = 0; i < columns; ++i) row[i] += left[at * rank + r] * right[r * columns + i];
      column = 0;
      ++at;
    }
    const double changed = static_cast<double>(element) + scale * double{row[column++]};
    const bool was_finite = std::isfinite(static_cast<double>(element));
    element = T(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(changed));
    is_finite = is_finite && (!was_finite || std::isfinite(static_cast<double>(element)));
  });
  if (!is_finite)
    return refuse(ErrorCode::out_of_range, concat("an element of the sum is no finite ", name_of(weight.tensor.dtype)),
                  "take a smaller scale, or an adapter without infinities and NaN");
  sum.requires_grad = weight.tensor.requires_grad;
  return sum;
}

/// Pairs the factors by module, in the order of the list. Errors: not_found for one without its partner;
/// unsupported_argument for another part of an adapter; invalid_argument for two entries of one factor.
[[nodiscard]] Result<std::vector<Adapter>> adapters_in(std::span<const NamedTensor> entries, std::string_view prefix) {
  std::vector<Adapter> all;
  for (const NamedTensor& entry : entries) {
    if (!entry.name.view().starts_with(prefix)) continue;
    const std::string_view name = entry.name.view().substr(prefix.size());
    const std::string_view of_a = module_of(name, 'A'), module = of_a.empty() ? module_of(name, 'B') : of_a;
    if (module.empty() && name.find(".lora_") != std::string_view::npos)
      return std::unexpected(weight_error(
          ErrorCode::unsupported_argument, concat("adapters, '", entry.name, "'"),
          "only factors named lora_A.weight, lora_A.default.weight or lora_A, and the same of lora_B, are merged: no "
          "DoRA, no embedding, no bias, and no adapter of another name",
          "merge it in Python, or leave all of the adapter's entries away"));
    if (module.empty()) continue;
    auto at = std::ranges::find(all, module, &Adapter::module);
    if (at == all.end()) at = all.insert(all.end(), {.module = module});
    const NamedTensor*& factor = of_a.empty() ? at->b : at->a;
    if (factor != nullptr)
      return std::unexpected(weight_error(ErrorCode::invalid_argument, concat("adapter of '", module, "'"),
                                          concat("'", factor->name, "' and '", entry.name, "' are the same factor"),
                                          "give one adapter for a module"));
    factor = &entry;
  }
  for (const Adapter& adapter : all)
    if (adapter.a == nullptr || adapter.b == nullptr)
      return std::unexpected(weight_error(
          ErrorCode::not_found, concat("adapter of '", adapter.module, "'"),
          concat("there is no '", prefix, adapter.module, adapter.a == nullptr ? ".lora_A" : ".lora_B", ".weight'"),
          "save both factors"));
  return all;
}

}  // namespace detail

Result<std::size_t> merge_adapters(ExportedProgram& program, std::span<const NamedTensor> adapters, double scale,
                                   std::string_view prefix) {
  return detail::catch_bad_alloc(Stage::load, [&]() -> Result<std::size_t> {
    if (!std::isfinite(scale))
      return std::unexpected(
          detail::weight_error(ErrorCode::invalid_argument, "scale", "it is not finite", "give lora_alpha / rank"));
    const Result<std::vector<detail::Adapter>> all = detail::adapters_in(adapters, prefix);
    if (!all) return error_of(all);
    if (all->empty())
      return std::unexpected(detail::weight_error(ErrorCode::not_found, "adapters",
                                                  concat("no name is '", prefix, "MODULE.lora_A.weight'"),
                                                  "give the prefix of the names, such as 'base_model.model.'"));
    std::vector<std::pair<NamedTensor*, Tensor>> changed;
    for (const detail::Adapter& adapter : *all) {
      const Name wanted = concat(adapter.module, ".weight");
      const auto found = std::ranges::find(program.state_dict, wanted.view(),
                                           [](const NamedTensor& each) { return each.name.view(); });
      if (found == program.state_dict.end())
        return std::unexpected(detail::weight_error(ErrorCode::not_found, concat("adapter of '", adapter.module, "'"),
                                                    concat("the program has no parameter '", wanted, "'"),
                                                    "davit inspect lists the parameters"));
      const auto sums = [&](const auto& each) { return each.first == &*found; };
      if (const auto known = std::ranges::find_if(changed, sums); known != changed.end()) {  // its second name had one
        const Tensor before = known->second;
        Result<Tensor> sum = detail::merged({found->name, before}, adapter, scale);
        if (!sum) return error_of(std::move(sum));
        for (auto& [weight, tensor] : changed)
          if (detail::is_tied(tensor, before)) tensor = *sum;
        continue;
      }
      Result<Tensor> sum = detail::merged(*found, adapter, scale);
      if (!sum) return error_of(std::move(sum));
      for (NamedTensor& each : program.state_dict)
        if (&each == &*found || detail::is_tied(each.tensor, found->tensor)) changed.emplace_back(&each, *sum);
    }
    for (auto& [weight, tensor] : changed) weight->tensor = std::move(tensor);
    return changed.size();
  });
}

}  // namespace davit
