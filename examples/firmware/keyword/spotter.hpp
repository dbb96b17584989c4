// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "keyword_int8.hpp"  // written by `davit embed`

/// From a ring buffer of samples to keywords.
namespace keyword {

using Network = davit::static_module<keyword_int8, davit::portable>;
inline constexpr std::size_t frame_size = 320;  ///< 20 ms
inline constexpr std::size_t label_count = 5;   ///< 0: no keyword
using Frame = std::array<std::int16_t, frame_size>;
using Scores = std::array<std::int8_t, label_count>;

/// A lock-free ring buffer from one interrupt to one reader. Drops and counts samples that do not fit.
template <std::size_t Size>
class Ring {
  static_assert((Size & (Size - 1)) == 0, "the size is a power of two, so that positions may wrap");

 public:
  void push(std::int16_t sample) noexcept {
    const std::uint32_t at = written_.load(std::memory_order_relaxed);
    if (at - read_.load(std::memory_order_acquire) == Size) {
      dropped_.store(dropped() + 1, std::memory_order_relaxed);
      return;
    }
    samples_[at % Size] = sample;
    written_.store(at + 1, std::memory_order_release);
  }
  /// Removes samples. False, without removing any, if there are too few.
  bool pop(std::span<std::int16_t> to) noexcept {
    const std::uint32_t at = read_.load(std::memory_order_relaxed);
    if (written_.load(std::memory_order_acquire) - at < to.size()) return false;
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = samples_[(at + i) % Size];
    read_.store(at + static_cast<std::uint32_t>(to.size()), std::memory_order_release);
    return true;
  }
  [[nodiscard]] std::uint32_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  std::array<std::int16_t, Size> samples_{};
  std::atomic<std::uint32_t> written_{0}, read_{0}, dropped_{0};
};

/// The network and its decision: a label when its smoothed score exceeds that of silence, then none for half a second.
class Spotter {
 public:
  /// Returns the label of a word that has just ended, or 0. A Fault is the network's.
  std::expected<int, davit::Fault> hear(const Frame& frame) noexcept {
    if (const davit::Status status = network_.forward(frame, scores_); !status) return std::unexpected(status.error());
    std::size_t best = 1;
    for (std::size_t i = 1; i < label_count; ++i) {
      margin_[i] += scores_[i] - scores_[0] - (margin_[i] >> 2);
      if (margin_[i] > margin_[best]) best = i;
    }
    if (silent_ > 0) {
      --silent_;
      return 0;
    }
    if (margin_[best] <= 0) return 0;
    silent_ = 25;
    return static_cast<int>(best);
  }
  [[nodiscard]] const Scores& scores() const noexcept { return scores_; }

 private:
  Network network_;
  Scores scores_{};
  std::array<int, label_count> margin_{};
  int silent_ = 0;
};

}  // namespace keyword
