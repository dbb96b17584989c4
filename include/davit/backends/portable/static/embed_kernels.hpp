// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backend/embed_contract.hpp"
#include "davit/backends/portable/static/conv.hpp"
#include "davit/backends/portable/static/elementwise.hpp"
#include "davit/backends/portable/static/linear.hpp"
#include "davit/backends/portable/static/move.hpp"
#include "davit/backends/portable/static/norm.hpp"
#include "davit/backends/portable/static/pool.hpp"
#include "davit/backends/portable/static/reduce.hpp"
#include "davit/backends/portable/static/softmax.hpp"

/// The float kernels of static programs as the kernel types of the embed contract: outputs first, then inputs.
namespace davit::static_lowering {

namespace sf = static_kernels;

/// An elementwise function from its parameters as they are encoded. g++ 12 cannot bit_cast to a struct with an empty
/// member.
template <class Op>
struct DecodeOp {
  template <std::size_t N>
  [[nodiscard]] static constexpr Op run(const std::array<std::int32_t, N>& encoded, std::size_t first) noexcept {
    if constexpr (std::is_empty_v<Op>) {
      return {};
    } else {
      std::array<std::int32_t, sizeof(Op) / 4> own{};
      for (std::size_t i = 0; i < own.size(); ++i) own[i] = encoded[first + i];
      return std::bit_cast<Op>(own);
    }
  }
};
template <class Op>
struct DecodeOp<sf::WithNumber<Op>> {
  template <std::size_t N>
  [[nodiscard]] static constexpr sf::WithNumber<Op> run(const std::array<std::int32_t, N>& encoded,
                                                        std::size_t first) noexcept {
    return {DecodeOp<Op>::run(encoded, first), std::bit_cast<float>(encoded[N - 2]), encoded[N - 1]};
  }
};

template <class Op>
struct unary {
  using Params = sf::Unary<Op>;
  template <std::size_t N>
  [[nodiscard]] static constexpr Params decode(const std::array<std::int32_t, N>& encoded) noexcept {
    return {encoded[0], DecodeOp<Op>::run(encoded, 1)};
  }
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x) noexcept {
    sf::unary(p, x, y);
  }
};
/// Two tensors of the same sizes.
template <class Op>
struct pairwise {
  using Params = sf::Pairwise<Op>;
  template <std::size_t N>
  [[nodiscard]] static constexpr Params decode(const std::array<std::int32_t, N>& encoded) noexcept {
    return {encoded[0], DecodeOp<Op>::run(encoded, 1)};
  }
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* a, const float* b) noexcept {
    sf::pairwise(p, a, b, y);
  }
};
template <class Op>
struct binary {
  using Params = sf::Binary<Op>;
  template <std::size_t N>
  [[nodiscard]] static constexpr Params decode(const std::array<std::int32_t, N>& encoded) noexcept {
    constexpr std::size_t walk_length = sizeof(sf::Walk<2>) / 4;
    std::array<std::int32_t, walk_length> walk{};
    for (std::size_t i = 0; i < walk_length; ++i) walk[i] = encoded[i];
    return {std::bit_cast<sf::Walk<2>>(walk), DecodeOp<Op>::run(encoded, walk_length)};
  }
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* a, const float* b) noexcept {
    sf::binary(p, a, b, y);
  }
};
/// With an output-inner weight.
struct linear_tiles {
  using Params = sf::Linear;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x, const float* weight,
                                                   const float* bias) noexcept {
    sf::linear_tiles(p, x, weight, bias, y);
  }
};
/// With a contiguous weight.
struct linear_dots {
  using Params = sf::Linear;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x, const float* weight,
                                                   const float* bias) noexcept {
    sf::linear_dots(p, x, weight, bias, y);
  }
};
struct product {
  using Params = sf::Product;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* a, const float* b) noexcept {
    sf::product(p, a, b, y);
  }
};
struct add_scaled {
  using Params = sf::ScaledAddend;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* added) noexcept {
    sf::add_scaled(p, added, y);
  }
};
/// Where Conv2d::has_tiles() holds.
struct conv2d_tiles {
  using Params = sf::Conv2d;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x, const float* weight,
                                                   const float* bias) noexcept {
    sf::conv2d_tiles(p, x, weight, bias, y);
  }
};
/// Any convolution.
struct conv2d_filters {
  using Params = sf::Conv2d;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x, const float* weight,
                                                   const float* bias) noexcept {
    sf::conv2d_filters(p, x, weight, bias, y);
  }
};
struct max_pool2d {
  using Params = sf::Pool2d;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x) noexcept {
    sf::max_pool2d(p, x, y);
  }
};
struct avg_pool2d {
  using Params = sf::Pool2d;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x) noexcept {
    sf::avg_pool2d(p, x, y);
  }
};
struct adaptive_avg_pool2d {
  using Params = sf::AdaptivePool2d;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x) noexcept {
    sf::adaptive_avg_pool2d(p, x, y);
  }
};
struct layer_norm {
  using Params = sf::LayerNorm;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x, const float* weight,
                                                   const float* bias) noexcept {
    sf::layer_norm(p, x, weight, bias, y);
  }
};
struct batch_norm {
  using Params = sf::BatchNorm;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x, const float* weight,
                                                   const float* bias, const float* mean,
                                                   const float* variance) noexcept {
    sf::batch_norm(p, x, weight, bias, mean, variance, y);
  }
};
struct softmax {
  using Params = sf::Softmax;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x) noexcept {
    sf::softmax(p, x, y);
  }
};
struct log_softmax {
  using Params = sf::Softmax;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x) noexcept {
    sf::log_softmax(p, x, y);
  }
};
struct sum {
  using Params = sf::Reduce;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x) noexcept {
    sf::sum(p, x, y);
  }
};
struct mean {
  using Params = sf::Reduce;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y, const float* x) noexcept {
    sf::mean(p, x, y);
  }
};
template <bool Largest>
struct extreme {
  using Params = sf::Reduce;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* y, const T* x) noexcept {
    sf::extreme<Largest>(p, x, y);
  }
};
template <bool Largest>
struct arg_extreme {
  using Params = sf::Reduce;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, std::int64_t* y, const T* x) noexcept {
    sf::arg_extreme<Largest>(p, x, y);
  }
};
/// Any element type of the pointers.
struct strided_copy {
  using Params = sf::StridedCopy;
  template <class P, class T>
  [[gnu::always_inline]] static constexpr void run(const P& p, T* y, const T* x) noexcept {
    sf::strided_copy(p, x, y);
  }
};
struct fill {
  using Params = sf::Fill;
  template <class P>
  [[gnu::always_inline]] static constexpr void run(const P& p, float* y) noexcept {
    sf::fill(p, y);
  }
};
struct embedding {
  using Params = sf::Embedding;
  template <class P, class I>
  [[gnu::always_inline]] static constexpr ErrorCode run(const P& p, float* y, const float* table,
                                                        const I* indices) noexcept {
    return sf::embedding(p, table, indices, y);
  }
};

}  // namespace davit::static_lowering
