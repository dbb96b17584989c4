// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "davit/backends/portable/static/computed.hpp"
#include "davit/backends/portable/static/walk.hpp"
#include "davit/core/error.hpp"

/// Copies to and from elements that index tensors select, for any element type.
namespace davit::static_kernels {

/// A walk over an indexed tensor, another tensor (contiguous or strided) and N index tensors. Index k counts steps[k]
/// elements of the indexed tensor, and must be below `sizes[k]`; with `wraps`, negative indices count from the end.
template <std::size_t N>
struct Indexed {
  Walk<N + 2> walk{};  ///< indexed, other, indices
  std::array<std::int32_t, N> sizes{}, steps{};
  std::int32_t wraps = 0;
};

namespace detail {

/// Calls f(offset in the indexed tensor, offset in the other) for each position. Errors: out_of_range.
template <std::size_t N, class I, class F>
[[nodiscard, gnu::always_inline]] constexpr ErrorCode walk_indexed(const Indexed<N>& p,
                                                                   const std::array<const I*, N>& indices,
                                                                   F&& f) noexcept {
  ErrorCode code = ErrorCode::ok;
  walk_each(p.walk, [&](const std::array<Index, N + 2>& at) __attribute__((always_inline)) {
    Index indexed = at[0];
    for (std::size_t k = 0; k < N; ++k) {
      auto index = static_cast<std::int64_t>(indices[k][at[k + 2]]);
      if (index < 0 && p.wraps != 0) index += p.sizes[k];
      if (index < 0 || index >= p.sizes[k]) {
        code = ErrorCode::out_of_range;
        return;
      }
      indexed += static_cast<Index>(index) * p.steps[k];
    }
    f(indexed, at[1]);
  });
  return code;
}

}  // namespace detail

/// y[i] = x[indices[i]]. Errors: out_of_range for an index outside its dimension. O(indices). Source: at::index,
/// at::gather, at::index_select.
template <std::size_t N>
struct pick {
  using Params = Indexed<N>;
  template <class P, class T, class I, class... More>
  [[nodiscard, gnu::always_inline]] static constexpr ErrorCode run(const P& params, T* y, const T* x, const I* first,
                                                                   const More*... more) noexcept {
    return detail::walk_indexed<N, I>(numbers_of(params), {first, more...},
                                      [&](Index from, Index to) __attribute__((always_inline)) { y[to] = x[from]; });
  }
};

/// The `Op` that stores the new element.
struct Replace {
  template <class C>
  [[gnu::always_inline]] constexpr C operator()(C, C v) const noexcept {
    return v;
  }
};
/// y[indices[i]] = Op(y[indices[i]], x[i]); the other elements of y stay. Of several values for one element the last
/// one counts. Errors: out_of_range for an index outside its dimension. O(indices). Source: at::index_put, at::scatter,
/// at::scatter_add, at::scatter_reduce.
template <class Op, std::size_t N>
struct put {
  using Params = Indexed<N>;
  template <class P, class T, class X, class I, class... More>
  [[nodiscard, gnu::always_inline]] static constexpr ErrorCode run(const P& params, T* y, X* x, const I* first,
                                                                   const More*... more) noexcept {
    static_assert(std::is_same_v<std::remove_const_t<X>, T>);
    return detail::walk_indexed<N, I>(
        numbers_of(params), {first, more...}, [&](Index to, Index from) __attribute__((always_inline)) {
          if constexpr (std::is_same_v<Op, Replace>)
            y[to] = x[from];
          else
            y[to] = kernels::convert<T>(static_cast<Computed<T>>(Op{}(loaded(y[to]), loaded(x[from]))));
        });
  }
};

}  // namespace davit::static_kernels
