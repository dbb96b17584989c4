// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "davit/core/next_index.hpp"
#include "davit/lowering/detail/affine_weights.hpp"

namespace davit::detail {

std::optional<std::vector<float>> float_elements(const Tensor& tensor) {
  const TensorView view = tensor.view();
  std::vector<float> out;
  const std::int64_t count = view.numel();
  out.reserve(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  const auto read = [&](std::int64_t at) {
    switch (view.dtype) {
      case ScalarType::float32: return view.as<float>()[at];
      case ScalarType::float64: return static_cast<float>(view.as<double>()[at]);
      case ScalarType::float16: return static_cast<float>(view.as<Half>()[at]);
      case ScalarType::bfloat16: return static_cast<float>(view.as<BFloat16>()[at]);
      default: return 0.0f;
    }
  };
  if (!is_floating(view.dtype) || (view.dtype != ScalarType::float32 && view.dtype != ScalarType::float64 &&
                                   view.dtype != ScalarType::float16 && view.dtype != ScalarType::bfloat16))
    return std::nullopt;
  if (count <= 0) return out;
  std::array<std::int64_t, max_rank> index{};
  std::int64_t at = 0;
  do out.push_back(read(at));
  while (next_index(view.rank, index, view.sizes_data,
                    [&](std::size_t d, std::ptrdiff_t steps) { at += steps * view.stride(d); }));
  return out;
}

namespace {

/// Numbers of groups of outputs, in a tensor that broadcasts to them.
struct GroupNumbers {
  const std::vector<float>* numbers = nullptr;  ///< nullptr: zeros
  std::int64_t groups = 1;
  std::int64_t of_output = 0, of_group = 0;  ///< strides

  [[nodiscard]] float at(std::int64_t output, std::int64_t group) const noexcept {
    return numbers == nullptr ? 0 : (*numbers)[static_cast<std::size_t>(output * of_output + group * of_group)];
  }
};

/// The ways to read a tensor as numbers of groups.
[[nodiscard]] std::vector<GroupNumbers> readings(const std::vector<float>& numbers, const WeightMatrix& weights) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  if (count == 1) return {{&numbers}};
  if (count == 0 || count % weights.outputs != 0) return {};
  const std::int64_t groups = count / weights.outputs;
  if (groups > weights.depth / 4 || weights.depth % groups != 0) return {};
  if (groups == 1) return {{&numbers, 1, 1, 0}};
  return {{&numbers, groups, groups, 1}, {&numbers, groups, 1, weights.outputs}};
}

/// The integers of weights, and where they begin in each group.
struct AffineWeights {
  std::int64_t groups = 1;
  std::vector<std::int16_t> integers{};           // (outputs x depth)
  std::vector<std::int16_t> lowest{}, highest{};  // (outputs x groups)
};

class AffineFit {
 public:
  AffineFit(const WeightMatrix& weights, const GroupNumbers& scales, const GroupNumbers& offsets)
      : weights_(weights), scales_(scales), offsets_(offsets), groups_(std::max(scales.groups, offsets.groups)) {}

  /// All integers; nothing if a weight has none.
  [[nodiscard]] std::optional<AffineWeights> run() const {
    const std::int64_t few = std::min<std::int64_t>(weights_.outputs, 4);
    for (std::int64_t n = 0; n < few; ++n)  // what does not fit at all is seen at once
      for (std::int64_t k = 0; k < weights_.depth; ++k)
        if (std::int64_t q = 0; !integer(n, k, q)) return std::nullopt;
    AffineWeights out{.groups = groups_};
    out.integers.resize(static_cast<std::size_t>(weights_.outputs * weights_.depth));
    out.lowest.resize(static_cast<std::size_t>(weights_.outputs * groups_), std::numeric_limits<std::int16_t>::max());
    out.highest.resize(out.lowest.size(), std::numeric_limits<std::int16_t>::min());
    const std::int64_t group = weights_.depth / groups_;
    std::size_t at = 0;
    for (std::int64_t n = 0; n < weights_.outputs; ++n)
      for (std::int64_t k = 0; k < weights_.depth; ++k, ++at) {
        std::int64_t q = 0;
        if (!integer(n, k, q)) return std::nullopt;
        out.integers[at] = static_cast<std::int16_t>(q);
        const auto of_group = static_cast<std::size_t>(n * groups_ + k / group);
        out.lowest[of_group] = std::min(out.lowest[of_group], out.integers[at]);
        out.highest[of_group] = std::max(out.highest[of_group], out.integers[at]);
      }
    return out;
  }

  [[nodiscard]] float scale(std::int64_t output, std::int64_t group) const noexcept {
    return scales_.at(output, scales_.groups == groups_ ? group : 0);
  }
  [[nodiscard]] float offset(std::int64_t output, std::int64_t group) const noexcept {
    return offsets_.at(output, offsets_.groups == groups_ ? group : 0);
  }
  [[nodiscard]] std::int64_t groups() const noexcept { return groups_; }
  /// True if one's groups are not the other's.
  [[nodiscard]] bool is_mixed() const noexcept {
    return (scales_.groups != 1 && scales_.groups != groups_) || (offsets_.groups != 1 && offsets_.groups != groups_);
  }
  [[nodiscard]] bool has_offsets() const noexcept { return offsets_.numbers != nullptr; }

 private:
  [[nodiscard]] bool integer(std::int64_t n, std::int64_t k, std::int64_t& q) const noexcept {
    constexpr float most = 512;
    const std::int64_t g = k / (weights_.depth / groups_);
    const float w = weights_.at(n, k), s = scale(n, g), z = offset(n, g);
    const float exact = (w - z) / s, rounded = std::nearbyint(s == 0 ? 0 : exact);
    if (!(std::fabs(rounded) <= most) || !std::isfinite(s) || !std::isfinite(z)) return false;
    q = static_cast<std::int64_t>(rounded);
    return std::fabs(rounded * s + z - w) <= weights_.rounding * (std::fabs(w) + std::fabs(z));
  }

  const WeightMatrix& weights_;
  GroupNumbers scales_, offsets_;
  std::int64_t groups_;
};

[[nodiscard]] std::optional<PackedTensors> packed(const WeightMatrix& weights, const AffineFit& fit,
                                                  const AffineWeights& affine) {
  int spread = 0;
  for (std::size_t i = 0; i < affine.lowest.size(); ++i)
    spread = std::max(spread, affine.highest[i] - affine.lowest[i]);
  PackedTensors out{.layout = {.outputs = weights.outputs, .depth = weights.depth, .groups = affine.groups, .bits = 4}};
  PackedWeights& layout = out.layout;
  if (spread > 15 || !layout.is_valid()) layout.bits = 8;
  if (spread > 255 || !layout.is_valid()) return std::nullopt;
  const int low = -(1 << (layout.bits - 1)), high = -low - 1;
  const bool centred = std::ranges::min(affine.lowest) >= low && std::ranges::max(affine.highest) <= high;
  const std::array sizes{layout.blocks(), layout.words(), PackedWeights::block};
  const std::array group_sizes{layout.blocks(), layout.groups, PackedWeights::block};
  out.words = Tensor::zeros(ScalarType::int32, sizes);
  out.scales = Tensor::zeros(ScalarType::float32, group_sizes);
  const bool has_offsets = !centred || fit.has_offsets();
  if (has_offsets) out.offsets = Tensor::zeros(ScalarType::float32, group_sizes);
  if (out.words.storage.empty() || out.scales.storage.empty() || (has_offsets && out.offsets.storage.empty()))
    return std::nullopt;
  auto* const words = out.words.view().as<std::int32_t>();
  auto* const scales = out.scales.view().as<float>();
  auto* const offsets = has_offsets ? out.offsets.view().as<float>() : nullptr;
  for (std::int64_t n = 0; n < weights.outputs; ++n)
    for (std::int64_t g = 0; g < layout.groups; ++g) {
      const int centre = centred ? 0 : affine.lowest[static_cast<std::size_t>(n * layout.groups + g)] - low;
      const std::int64_t place = layout.place_of_scale(n, g);
      scales[place] = fit.scale(n, g);
      if (has_offsets) offsets[place] = fit.offset(n, g) + static_cast<float>(centre) * fit.scale(n, g);
      for (std::int64_t k = g * layout.group_size(); k < (g + 1) * layout.group_size(); ++k)
        layout.put(words, n, k, affine.integers[static_cast<std::size_t>(n * layout.depth + k)] - centre);
    }
  return out;
}

}  // namespace

std::optional<PackedTensors> pack_affine(const WeightMatrix& weights, std::span<const std::vector<float>> candidates) {
  const auto attempt = [&](const GroupNumbers& scales, const GroupNumbers& offsets) -> std::optional<PackedTensors> {
    const AffineFit fit(weights, scales, offsets);
    if (fit.is_mixed()) return std::nullopt;
    const std::optional<AffineWeights> affine = fit.run();
    return affine ? packed(weights, fit, *affine) : std::nullopt;
  };
  for (const std::vector<float>& candidate : candidates)
    for (const GroupNumbers& scales : readings(candidate, weights))
      if (std::optional<PackedTensors> done = attempt(scales, {})) return done;
  for (const std::vector<float>& candidate : candidates)
    for (const std::vector<float>& other : candidates)
      if (&candidate != &other && candidate.size() == other.size())
        for (const GroupNumbers& scales : readings(candidate, weights))
          for (const GroupNumbers& offsets : readings(other, weights))
            if (scales.of_output == offsets.of_output)
              if (std::optional<PackedTensors> done = attempt(scales, offsets)) return done;
  return std::nullopt;
}

}  // namespace davit::detail
