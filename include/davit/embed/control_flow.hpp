// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "davit/backend/step_writer.hpp"
#include "davit/core/error.hpp"

namespace davit::detail {

/// Kernels outside the backends: moves of control flow's values, and the model's assertions.
struct control_flow {
  static constexpr std::string_view name = "control flow";

  /// Copies the elements of one value to another.
  struct move {
    struct Params {
      std::int32_t count;
    };
    template <class T>
    static constexpr void run(const Params& p, T* to, const T* from) noexcept {
      if consteval {
        for (std::int32_t i = 0; i < p.count; ++i) to[i] = from[i];
      } else {
        __builtin_memcpy(to, from, static_cast<std::size_t>(p.count) * sizeof(T));
      }
    }
  };
  /// Slice `at` of a tensor [outer, rows, inner], or if last is not 0 the slice last - at.
  struct slice {
    struct Params {
      std::int32_t outer, rows, inner, last;
    };
    template <class T>
    static constexpr void run(const Params& p, T* to, const T* from, const std::int32_t* at) noexcept {
      const std::int32_t first = (p.last != 0 ? p.last - *at : *at) * p.inner;
      for (std::int32_t o = 0; o < p.outer; ++o)
        move::run({p.inner}, to + o * p.inner, from + first + o * p.rows * p.inner);
    }
  };
  /// Row `at` of a tensor, or if last is not 0 the row last - at.
  struct stack {
    struct Params {
      std::int32_t inner, last;
    };
    template <class T>
    static constexpr void run(const Params& p, T* to, const T* from, const std::int32_t* at) noexcept {
      move::run({p.inner}, to + (p.last != 0 ? p.last - *at : *at) * p.inner, from);
    }
  };
  /// Checks an assertion of the model.
  struct check {
    struct Params {};
    template <class T>
    static constexpr ErrorCode run(const Params&, const T* x) noexcept {
      return *x != T{} ? ErrorCode::ok : ErrorCode::assertion_failed;
    }
  };
  using Kernels = kernel_list<move, slice, stack, check>;
  static constexpr std::uint8_t marker = 255;  ///< the backend index of control steps
};

}  // namespace davit::detail
