// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "davit/backends/portable/static/packs.hpp"
#include "davit/core/error.hpp"

/// Inverses of matrices.
namespace davit::static_kernels {

/// y = the inverse of each n x n matrix of x, and info = 0, or k if column k (from 1) has no pivot: then the elements
/// of y are unspecified. By Gauss-Jordan elimination with partial pivoting; `work` has n * n elements. Errors: with
/// `checks`, invalid_argument for a singular matrix. O(batch * n^3). Source: at::linalg_inv_ex.
struct inverse {
  struct Params {
    std::int32_t batch = 1, n = 1;
    std::int32_t checks = 0;  ///< nonzero: a singular matrix is an error
  };
  template <class P, class T>
  [[gnu::always_inline]] static constexpr ErrorCode run(const P& params, T* y, std::int32_t* info, T* work,
                                                        const T* x) noexcept {
    const Params& p = numbers_of(params);
    const Index n = p.n;
    const auto swap_rows = [&](T* a, T* b) __attribute__((always_inline)) {
      for (Index j = 0; j < n; ++j) {
        const T kept = a[j];
        a[j] = b[j];
        b[j] = kept;
      }
    };
    const auto magnitude = [](T v) { return v < 0 ? -v : v; };
    for (Index b = 0; b < p.batch; ++b, x += n * n, y += n * n) {
      for (Index i = 0; i < n * n; ++i) {
        work[i] = x[i];
        y[i] = i % (n + 1) == 0 ? T{1} : T{};
      }
      info[b] = 0;
      for (Index k = 0; k < n; ++k) {
        Index pivot = k;
        for (Index i = k + 1; i < n; ++i)
          if (magnitude(work[i * n + k]) > magnitude(work[pivot * n + k])) pivot = i;
        if (work[pivot * n + k] == 0) {
          info[b] = static_cast<std::int32_t>(k + 1);
          if (p.checks != 0) return ErrorCode::invalid_argument;
          break;
        }
        if (pivot != k) {
          swap_rows(work + pivot * n, work + k * n);
          swap_rows(y + pivot * n, y + k * n);
        }
        const T scale = T{1} / work[k * n + k];
        for (Index j = 0; j < n; ++j) {
          work[k * n + j] *= scale;
          y[k * n + j] *= scale;
        }
        for (Index i = 0; i < n; ++i) {
          const T factor = work[i * n + k];
          if (i == k || factor == 0) continue;
          for (Index j = 0; j < n; ++j) {
            work[i * n + j] -= factor * work[k * n + j];
            y[i * n + j] -= factor * y[k * n + j];
          }
        }
      }
    }
    return ErrorCode::ok;
  }
};

}  // namespace davit::static_kernels
