// SPDX-License-Identifier: MIT
#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <cstdint>

#include "davit/core/scratch.hpp"

/// One interface to XNNPACK's operators for every version of the library. Its header has no version number: the
/// argument types of its functions tell the versions apart.
///
/// 2022-02 (Debian 12): create, setup(sizes, operands, threads), run. 2024-11 (Debian 13): create with caches,
/// reshape(sizes, threads), setup(operands), run; poolings take their channels in reshape, and some operators need
/// working memory.
namespace davit::xnnpack_parts::library {

// A member that calls a function of XNNPACK; it takes no arguments if the version lacks the function. A macro, because
// a template cannot name a function that is not declared.
#define DAVIT_XNNPACK_CALL(action, function) \
  static auto action(auto... a) -> decltype(xnn_##action##_##function(a...)) { return xnn_##action##_##function(a...); }
#define DAVIT_XNNPACK_CALLS(function)   \
  DAVIT_XNNPACK_CALL(create, function)  \
  DAVIT_XNNPACK_CALL(reshape, function) \
  DAVIT_XNNPACK_CALL(setup, function)

/// The functions of an operator.
struct Convolution {
  DAVIT_XNNPACK_CALLS(convolution2d_nhwc_f32)
};
struct TransposedConvolution {
  DAVIT_XNNPACK_CALLS(deconvolution2d_nhwc_f32)
};
/// A convolution of int8 with a scale for each filter: qc8 in 2022, qs8_qc8w later.
struct QuantizedConvolution {
  DAVIT_XNNPACK_CALL(create, convolution2d_nhwc_qc8)
  DAVIT_XNNPACK_CALL(setup, convolution2d_nhwc_qc8)
  DAVIT_XNNPACK_CALLS(convolution2d_nhwc_qs8_qc8w)
};
struct FullyConnected {
  DAVIT_XNNPACK_CALLS(fully_connected_nc_f32)
};
struct MaxPool {
  DAVIT_XNNPACK_CALLS(max_pooling2d_nhwc_f32)
};
struct MaxPoolOfBytes {
  DAVIT_XNNPACK_CALLS(max_pooling2d_nhwc_s8)
};
struct AveragePool {
  DAVIT_XNNPACK_CALLS(average_pooling2d_nhwc_f32)
};
#undef DAVIT_XNNPACK_CALLS
#undef DAVIT_XNNPACK_CALL

/// The pixels of an image: the channels, and the strides between pixels of the operand and of the result.
struct Pixels {
  std::size_t channels = 0, in = 0, out = 0;
};

/// Creates an operator; `a`: its arguments before the flags.
template <class Functions, class... A>
[[nodiscard]] xnn_status create(xnn_operator_t* op, A... a)
  requires requires { Functions::create(a..., op); } || requires { Functions::create(a..., nullptr, nullptr, op); }
{
  if constexpr (requires { Functions::create(a..., op); })
    return Functions::create(a..., op);
  else
    return Functions::create(a..., nullptr, nullptr, op);  // no caches of code and weights
}

/// Creates a pooling; `window`: its arguments before the pixels.
template <class Functions, class T, class... A>
[[nodiscard]] xnn_status create_pool(xnn_operator_t* op, const Pixels& p, T min, T max, A... window) {
  constexpr std::uint32_t no_flags = 0;
  if constexpr (requires { Functions::create(window..., p.channels, p.in, p.out, min, max, no_flags, op); })
    return Functions::create(window..., p.channels, p.in, p.out, min, max, no_flags, op);
  else
    return Functions::create(window..., min, max, no_flags, op);
}

namespace detail {

inline constexpr std::size_t scratch_alignment = 64;

/// Sets the sizes of an operator: the batch, and, for images, height and width.
template <class Functions, class... Sizes>
[[nodiscard]] xnn_status reshape(xnn_operator_t op, const Pixels& p, Scratch& work, pthreadpool_t pool,
                                 Sizes... sizes) {
  std::size_t bytes = 0, alignment = 1, height = 0, width = 0;
  xnn_status status = xnn_status_success;
  if constexpr (requires { Functions::reshape(op, sizes..., pool); })
    status = Functions::reshape(op, sizes..., pool);
  else if constexpr (requires { Functions::reshape(op, sizes..., &height, &width, pool); })
    status = Functions::reshape(op, sizes..., &height, &width, pool);
  else if constexpr (requires { Functions::reshape(op, sizes..., &bytes, &alignment, &height, &width, pool); })
    status = Functions::reshape(op, sizes..., &bytes, &alignment, &height, &width, pool);
  else if constexpr (requires { Functions::reshape(op, sizes..., p.channels, p.in, p.out, &height, &width, pool); })
    status = Functions::reshape(op, sizes..., p.channels, p.in, p.out, &height, &width, pool);
  else
    status = Functions::reshape(op, sizes..., p.channels, p.in, p.out, &bytes, &alignment, &height, &width, pool);
  if (status != xnn_status_success) return status;
  if (alignment > scratch_alignment) return xnn_status_unsupported_parameter;
  return work.reserve(bytes) ? xnn_status_success : xnn_status_out_of_memory;
}

}  // namespace detail

/// Sets the operand and the result of an operator; `resized`: the sizes have changed. `work` belongs to the operator
/// while it runs.
template <class Functions, class T, class... Sizes>
[[nodiscard]] xnn_status set_up(xnn_operator_t op, bool resized, const Pixels& p, Scratch& work, pthreadpool_t pool,
                                const T* in, T* out, Sizes... sizes) {
  if constexpr (requires { Functions::setup(op, sizes..., in, out, pool); }) {
    return Functions::setup(op, sizes..., in, out, pool);
  } else {
    if (resized)
      if (const xnn_status status = detail::reshape<Functions>(op, p, work, pool, sizes...);
          status != xnn_status_success)
        return status;
    if constexpr (requires { Functions::setup(op, in, out); })
      return Functions::setup(op, in, out);
    else
      return Functions::setup(op, static_cast<void*>(work.span().data()), in, out);
  }
}

namespace detail {
template <class Op>
inline constexpr bool is_made =
    requires(Op* op, std::size_t n, const float* weights, float bound, std::uint32_t flags) {
      create<FullyConnected>(op, n, n, n, n, weights, weights, bound, bound, flags);
    };
}  // namespace detail

/// False for a version with other create functions.
inline constexpr bool is_known = detail::is_made<xnn_operator_t>;

}  // namespace davit::xnnpack_parts::library
