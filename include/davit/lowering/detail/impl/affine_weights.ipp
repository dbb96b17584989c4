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

std::optional<std::vector<float>> float_elements(const TensorView& view) {
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

Tensor PackedTensors::sums() const {
  Tensor out = Tensor::zeros(ScalarType::float32, std::array{layout.blocks(), std::int64_t{1}, PackedWeights::block});
  if (out.storage.empty()) return out;
  const auto* const all = words.view().as<std::int32_t>();
  for (std::int64_t n = 0; n < layout.outputs; ++n) {
    double total = 0;
    for (std::int64_t g = 0; g < layout.groups; ++g) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < layout.group_size(); ++k) sum += layout.integer(all, n, g * layout.group_size() + k);
      const std::int64_t place = layout.place_of_scale(n, g);
      total += static_cast<double>(sum) * static_cast<double>(scales.view().as<float>()[place]);
      if (!offsets.storage.empty())
        total += static_cast<double>(layout.group_size()) * static_cast<double>(offsets.view().as<float>()[place]);
    }
    out.view().as<float>()[n] = static_cast<float>(total);
  }
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

/// The integers of some outputs' weights, and where they begin in each group.
struct AffineWeights {
  std::vector<std::int16_t> integers{};           // (outputs x depth)
  std::vector<std::int16_t> lowest{}, highest{};  // (outputs x groups)
};

class AffineFit {
 public:
  AffineFit(const WeightMatrix& weights, const GroupNumbers& scales, const GroupNumbers& offsets)
      : weights_(weights), scales_(scales), offsets_(offsets), groups_(std::max(scales.groups, offsets.groups)) {}

  /// The integers of `count` outputs from `first` on; false if a weight has none.
  [[nodiscard]] bool read(std::int64_t first, std::int64_t count, const std::vector<float>& elements,
                          AffineWeights& out) const {
    const auto weight = [&](std::int64_t n, std::int64_t k) {
      return elements[static_cast<std::size_t>(weights_.transposed ? k * count + n : n * weights_.depth + k)];
    };
    const std::int64_t few = std::min<std::int64_t>(count, 4);
    for (std::int64_t n = 0; n < few; ++n)  // what does not fit at all is seen at once
      for (std::int64_t k = 0; k < weights_.depth; ++k)
        if (std::int64_t q = 0; !integer(first + n, k, weight(n, k), q)) return false;
    out.integers.resize(static_cast<std::size_t>(count * weights_.depth));
    out.lowest.assign(static_cast<std::size_t>(count * groups_), std::numeric_limits<std::int16_t>::max());
    out.highest.assign(out.lowest.size(), std::numeric_limits<std::int16_t>::min());
    const std::int64_t group = weights_.depth / groups_;
    std::size_t at = 0;
    for (std::int64_t n = 0; n < count; ++n)
      for (std::int64_t k = 0; k < weights_.depth; ++k, ++at) {
        std::int64_t q = 0;
        if (!integer(first + n, k, weight(n, k), q)) return false;
        out.integers[at] = static_cast<std::int16_t>(q);
        const auto of_group = static_cast<std::size_t>(n * groups_ + k / group);
        out.lowest[of_group] = std::min(out.lowest[of_group], out.integers[at]);
        out.highest[of_group] = std::max(out.highest[of_group], out.integers[at]);
      }
    return true;
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
  [[nodiscard]] bool integer(std::int64_t n, std::int64_t k, float w, std::int64_t& q) const noexcept {
    constexpr float most = 512;
    const std::int64_t g = k / (weights_.depth / groups_);
    const float s = scale(n, g), z = offset(n, g);
    const float exact = (w - z) / s, rounded = std::nearbyint(s == 0 ? 0 : exact);
    if (!(std::fabs(rounded) <= most) || !std::isfinite(s) || !std::isfinite(z)) return false;
    q = static_cast<std::int64_t>(rounded);
    return std::fabs(rounded * s + z - w) <= weights_.rounding * (std::fabs(w) + std::fabs(z));
  }

  const WeightMatrix& weights_;
  GroupNumbers scales_, offsets_;
  std::int64_t groups_;
};

/// Integers of 4 bits around 0, then such as need offsets, then 8 bits likewise: what the weights so far fit.
struct AffineForm {
  std::int64_t bits = 4;
  bool centred = true;

  [[nodiscard]] int low() const noexcept { return -(1 << (bits - 1)); }
  /// True if these fit; else the form widens until they do, or to 16 bits, which no layout has.
  [[nodiscard]] bool widen(const AffineWeights& weights) noexcept {
    int spread = 0;
    for (std::size_t i = 0; i < weights.lowest.size(); ++i)
      spread = std::max(spread, weights.highest[i] - weights.lowest[i]);
    const AffineForm before = *this;
    while (bits <= 8 && spread >= 1 << bits) bits *= 2;
    centred = centred && std::ranges::min(weights.lowest) >= low() && std::ranges::max(weights.highest) < -low();
    return bits == before.bits && centred == before.centred;
  }
};

/// The tensors of a form, with the numbers of its groups still zeros; nothing if there is no such layout or no memory.
[[nodiscard]] std::optional<PackedTensors> tensors_of(const PackedWeights& layout, bool has_offsets) {
  if (!layout.is_valid()) return std::nullopt;
  PackedTensors out{.layout = layout};
  std::vector<std::int64_t> sizes{layout.blocks(), layout.words(), PackedWeights::block};
  std::vector<std::int64_t> group_sizes{layout.blocks(), layout.groups, PackedWeights::block};
  ScalarType type = ScalarType::int32;
  if (layout.layout == PackedLayout::rows) {
    type = layout.bits == 4 ? ScalarType::uint8 : ScalarType::int8;
    sizes = {layout.outputs, layout.row_bytes()};
    group_sizes = {layout.groups, layout.outputs};
    if (layout.groups == 1) group_sizes.erase(group_sizes.begin());
  }
  out.words = Tensor::zeros(type, sizes);
  out.scales = Tensor::zeros(ScalarType::float32, group_sizes);
  if (has_offsets) out.offsets = Tensor::zeros(ScalarType::float32, group_sizes);
  if (out.words.storage.empty() || out.scales.storage.empty() || (has_offsets && out.offsets.storage.empty()))
    return std::nullopt;
  return out;
}
/// Packs `count` outputs from `first` on.
void put(const AffineFit& fit, const AffineForm& form, const AffineWeights& affine, std::int64_t first,
         std::int64_t count, const PackedTensors& to) {
  const PackedWeights& layout = to.layout;
  auto* const words = static_cast<std::int32_t*>(to.words.view().data);
  auto* const bytes = static_cast<std::uint8_t*>(to.words.view().data);
  auto* const scales = to.scales.view().as<float>();
  auto* const offsets = to.offsets.storage.empty() ? nullptr : to.offsets.view().as<float>();
  for (std::int64_t n = 0; n < count; ++n)
    for (std::int64_t g = 0; g < layout.groups; ++g) {
      const int centre = form.centred ? 0 : affine.lowest[static_cast<std::size_t>(n * layout.groups + g)] - form.low();
      const float scale = fit.scale(first + n, g);
      const std::int64_t place = layout.place_of_scale(first + n, g);
      scales[place] = scale;
      if (offsets != nullptr) offsets[place] = fit.offset(first + n, g) + static_cast<float>(centre) * scale;
      for (std::int64_t k = g * layout.group_size(); k < (g + 1) * layout.group_size(); ++k) {
        const int integer = affine.integers[static_cast<std::size_t>(n * layout.depth + k)] - centre;
        if (layout.layout == PackedLayout::rows)
          layout.put(bytes, first + n, k, integer);
        else
          layout.put(words, first + n, k, integer);
      }
    }
}
/// All weights; `elements` are those of the first outputs.
[[nodiscard]] std::optional<PackedTensors> packed(const WeightMatrix& weights, const AffineFit& fit,
                                                  const WeightReader& read, const std::vector<float>& elements) {
  AffineWeights affine;
  std::vector<float> more;
  AffineForm form;
  PackedWeights layout{
      .outputs = weights.outputs, .depth = weights.depth, .groups = fit.groups(), .bits = 4, .layout = weights.layout};
  if (!layout.is_valid()) form.bits = 8;
  std::optional<PackedTensors> out;
  for (std::int64_t first = 0; first < weights.outputs;) {
    const std::int64_t count = std::min(weights.step, weights.outputs - first);
    if (first != 0 && !read(first, count, more)) return std::nullopt;
    if (!fit.read(first, count, first == 0 ? elements : more, affine)) return std::nullopt;
    const bool fits = form.widen(affine);
    if (first == 0 || !fits) {
      layout.bits = form.bits;
      out.reset();
      out = tensors_of(layout, !form.centred || fit.has_offsets());
      if (!out) return std::nullopt;
      if (first != 0) {  // from the start
        first = 0;
        continue;
      }
    }
    put(fit, form, affine, first, count, *out);
    first += count;
  }
  return out;
}

}  // namespace

std::optional<PackedTensors> pack_affine(const WeightMatrix& weights, const WeightReader& read,
                                         std::span<const std::vector<float>> candidates) {
  std::vector<float> elements;
  if (!read(0, std::min(weights.step, weights.outputs), elements)) return std::nullopt;
  const auto attempt = [&](const GroupNumbers& scales, const GroupNumbers& offsets) -> std::optional<PackedTensors> {
    const AffineFit fit(weights, scales, offsets);
    return fit.is_mixed() ? std::nullopt : packed(weights, fit, read, elements);
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
