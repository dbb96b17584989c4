// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "davit/core/error.hpp"
#include "davit/core/tensor_view.hpp"
#include "davit/kernels/blocks.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/parameters.hpp"
#include "davit/kernels/shapes.hpp"
#include "davit/kernels/thread_team.hpp"
#include "davit/kernels/walk_in_parallel.hpp"

namespace davit::kernels {

/// An operator's loop over n contiguous elements of its operands; `out` may be an operand's memory only if that
/// operand's elements are as wide.
using BlockLoop = void (*)(const void* const* in, void* out, std::int64_t n, Parameters& parameters);

/// The loops of an operator per compute type; nullptr: none.
struct Loops {
  BlockLoop float32 = nullptr;
  BlockLoop float64 = nullptr;
  BlockLoop int64 = nullptr;

  [[nodiscard]] constexpr BlockLoop of(Compute compute) const noexcept {
    switch (compute) {
      case Compute::float32: return float32;
      case Compute::float64: return float64;
      case Compute::int64: return int64;
      case Compute::none: break;
    }
    return nullptr;
  }
};

namespace detail {
/// True if a functor also takes vectors.
template <class F, std::size_t Arity>
inline constexpr bool takes_vectors = false;
template <class F>
inline constexpr bool takes_vectors<F, 1> = std::is_invocable_v<const F&, const Vector<float>&, Vector<float>&>;
template <class F>
inline constexpr bool takes_vectors<F, 2> =
    std::is_invocable_v<const F&, const Vector<float>&, const Vector<float>&, Vector<float>&>;

/// The loop of a functor that takes vectors, over n elements. The remainder fills a vector with other elements or, with
/// two operands, takes shorter vectors and single elements. An operand with step 0 instead of 1 points to a vector of
/// equal numbers.
template <class F, std::size_t Arity>
struct VectorLoop {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const F* f, const float* a, std::int64_t a_step, const float* b,
                                         std::int64_t b_step, float* to, std::int64_t n) {
    constexpr std::int64_t step = lanes<float, Bytes>;
    std::int64_t i = 0;
    if constexpr (Arity == 1)
      a_step = 1;
    else
      for (; i + 2 * step <= n; i += 2 * step) {
        apply<Bytes>(*f, a + i * a_step, b + i * b_step, to + i);
        apply<Bytes>(*f, a + (i + step) * a_step, b + (i + step) * b_step, to + i + step);
      }
    for (; i + step <= n; i += step) apply<Bytes>(*f, a + i * a_step, b + i * b_step, to + i);
    if (i == n) return;
    if constexpr (Arity == 2) {
      if constexpr (Bytes > 16) return run<Bytes / 2>(f, a + i * a_step, a_step, b + i * b_step, b_step, to + i, n - i);
      for (; i < n; ++i) to[i] = (*f)(a[i * a_step], b[i * b_step]);
    } else {
      float rest[2][static_cast<std::size_t>(step)] = {};
      for (std::int64_t k = 0; k < n - i; ++k) rest[0][k] = a[i + k];
      apply<Bytes>(*f, rest[0], rest[0], rest[1]);
      for (std::int64_t k = 0; k < n - i; ++k) to[i + k] = rest[1][k];
    }
  }

 private:
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void apply(const F& f, const float* a, [[maybe_unused]] const float* b, float* to) {
    const Vector<float, Bytes> x = vector_at<Bytes>(a);
    Vector<float, Bytes> result;
    if constexpr (Arity == 1) {
      f(x, result);
    } else {
      const Vector<float, Bytes> y = vector_at<Bytes>(b);
      f(x, y, result);
    }
    vector_at<Bytes>(to) = result;
  }
};

/// The loop of two operands; an operand with step 0 is one number.
template <class F>
struct PairLoop {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const F* f, const float* a, bool a_steps, const float* b, bool b_steps,
                                         float* to, std::int64_t n) {
    constexpr Vector<float, Bytes> zeros{};
    const Vector<float, Bytes> numbers[2]{(a_steps ? 0 : *a) - zeros,
                                          (b_steps ? 0 : *b) - zeros};  // keeps the sign of a zero
    if (!a_steps) a = reinterpret_cast<const float*>(&numbers[0]);
    if (!b_steps) b = reinterpret_cast<const float*>(&numbers[1]);
    VectorLoop<F, 2>::template run<Bytes>(f, a, std::int64_t{a_steps}, b, std::int64_t{b_steps}, to, n);
  }
};
}  // namespace detail

/// to[i] = f(a[i], b[i]) for a functor that takes vectors; an operand with step 0 is one number. O(n).
template <class F>
void map_pairs(const F& f, const float* a, bool a_steps, const float* b, bool b_steps, float* to, std::int64_t n) {
  run_widest<detail::PairLoop<F>>(&f, a, a_steps, b, b_steps, to, n);
}

namespace detail {
template <class F>
struct PairWalk {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const F* f, const Walk* walk, const float* a, const float* b, float* to) {
    const auto& strides = walk->strides;
    const std::int64_t step = strides[0][0], a_step = strides[1][0], b_step = strides[2][0];
    const bool row = step == 1 && (a_step == 0 || a_step == 1) && (b_step == 0 || b_step == 1);
    Walk::Row at;
    do {
      const float* const from = a + at.at[1];
      const float* const other = b + at.at[2];
      float* const first = to + at.at[0];
      if (row)
        PairLoop<F>::template run<Bytes>(f, from, a_step == 1, other, b_step == 1, first, walk->sizes[0]);
      else
        for (std::int64_t i = 0; i < walk->sizes[0]; ++i) first[i * step] = (*f)(from[i * a_step], other[i * b_step]);
    } while (walk->next(at));
  }
};
}  // namespace detail

/// to = f(a, b) along a collapsed walk, with strides in elements. O(elements).
template <class F>
void map_pairs(const F& f, const Walk& walk, const float* a, const float* b, float* to) {
  run_widest<detail::PairWalk<F>>(&f, &walk, a, b, to);
}

namespace detail {
/// The loop of a functor of `Arity` operands of type T with results of type R. A functor with parameters is constructed
/// from them.
template <class F, std::size_t Arity, class T, class R>
void block_loop(const void* const* in, void* out, std::int64_t n, Parameters& parameters) {
  const F f = [&] {
    if constexpr (std::is_constructible_v<F, Parameters&>)
      return F(parameters);
    else
      return F{};
  }();
  (void)parameters;
  auto* to = static_cast<R*>(out);
  const auto* a = static_cast<const T*>(in[0]);
  if constexpr (std::is_same_v<T, float> && std::is_same_v<R, float> && takes_vectors<F, Arity>) {
    if constexpr (Arity == 1)
      run_widest<VectorLoop<F, 1>>(&f, a, std::int64_t{1}, a, std::int64_t{1}, to, n);
    else
      map_pairs(f, a, true, static_cast<const float*>(in[1]), !parameters.second_is_number, to, n);
  } else if constexpr (Arity == 1) {
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<R>(f(a[i]));
  } else if constexpr (Arity == 2) {
    const auto* b = static_cast<const T*>(in[1]);
    if (parameters.second_is_number) {
      const T number = *b;
      for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<R>(f(a[i], number));
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<R>(f(a[i], b[i]));
    }
  } else {
    const auto* b = static_cast<const T*>(in[1]);
    const auto* c = static_cast<const T*>(in[2]);
    for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<R>(f(a[i], b[i], c[i]));
  }
}
}  // namespace detail

template <template <class> class F, std::size_t Arity>
inline constexpr BlockLoop float32_loop = detail::block_loop<F<float>, Arity, float, float>;
/// The loops of a functor template over the compute types, with results of the same type.
template <template <class> class F, std::size_t Arity>
inline constexpr Loops number_loops{float32_loop<F, Arity>, detail::block_loop<F<double>, Arity, double, double>,
                                    detail::block_loop<F<std::int64_t>, Arity, std::int64_t, std::int64_t>};
template <template <class> class F, std::size_t Arity>
inline constexpr Loops float_loops{float32_loop<F, Arity>, detail::block_loop<F<double>, Arity, double, double>,
                                   nullptr};
template <template <class> class F, std::size_t Arity>
inline constexpr Loops integer_loops{nullptr, nullptr,
                                     detail::block_loop<F<std::int64_t>, Arity, std::int64_t, std::int64_t>};
/// The loops of a functor template over the compute types, with bool results.
template <template <class> class F, std::size_t Arity>
inline constexpr Loops truth_loops{detail::block_loop<F<float>, Arity, float, bool>,
                                   detail::block_loop<F<double>, Arity, double, bool>,
                                   detail::block_loop<F<std::int64_t>, Arity, std::int64_t, bool>};

/// An operand of an elementwise operator: a tensor that broadcasts to the result, and its conversion.
struct Operand {
  const TensorView* tensor;
  Conversion conversion;
};

/// A thread's share of elements is a multiple of this.
inline constexpr std::int64_t elements_of_thread = 1024;

namespace detail {
/// True if the loop can run over all elements at once, in place. Sets second_is_number if the second operand is one
/// element.
[[nodiscard, gnu::noinline]] inline bool lie_as_needed(std::span<const Operand> operands, std::int64_t count,
                                                       const Conversion& store, Parameters& parameters) noexcept {
  bool ready = store.count == 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const TensorView& t = *operands[i].tensor;
    const std::int64_t own = t.numel();
    const bool number = i == 1 && operands.size() == 2 && own == 1;
    if (number) parameters.second_is_number = true;
    ready = ready && operands[i].conversion.count == 0 && (number || (own == count && t.is_contiguous()));
  }
  return ready;
}
/// Calls share(run), where run(part, f) calls f with a thread's own copy of the parameters; error codes are merged into
/// the operator's.
template <class F>
void with_own_parameters(Parameters& parameters, F&& share) {
  if (current_team == nullptr) return share([&](std::size_t, auto&& f) { f(parameters); });
  std::array<ErrorCode, ThreadTeam::max_threads> codes{};
  share([&](std::size_t part, auto&& f) {
    Parameters own = parameters;
    f(own);
    codes[part] = own.code;
  });
  for (const ErrorCode code : codes)
    if (code != ErrorCode::ok) parameters.code = code;
}
/// Runs the loop over all elements in place, on the threads of the team if that pays.
[[gnu::noinline]] inline void run_in_place(std::span<const Operand> operands, const TensorView& out, std::int64_t count,
                                           BlockLoop loop, Parameters& parameters) noexcept {
  const auto run = [&](std::int64_t first, std::int64_t end, Parameters& own) {
    std::array<const void*, Walk::max_operands> in;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const bool number = parameters.second_is_number && k == 1;
      in[k] = static_cast<const std::byte*>(operands[k].tensor->data) +
              (number ? 0 : static_cast<std::size_t>(first) * size_of(operands[k].tensor->dtype));
    }
    loop(in.data(), static_cast<std::byte*>(out.data) + static_cast<std::size_t>(first) * size_of(out.dtype),
         end - first, own);
  };
  with_own_parameters(parameters, [&](auto&& with_own) {
    in_parallel(count, elements_of_thread, operations(count, 8),
                [&](std::size_t part, std::int64_t first, std::int64_t end) {
                  with_own(part, [&](Parameters& own) { run(first, end, own); });
                });
  });
}
}  // namespace detail

namespace detail {
inline constexpr std::int64_t tile_rows = 16;
inline constexpr std::int64_t tile_columns = block_length / tile_rows;

/// The dimension with adjacent elements of an operand, if that is not the innermost: a row would read a cache line per
/// element. 0 if there is none.
[[nodiscard]] inline std::size_t tiled_dimension(const Walk& walk, std::span<const Operand> operands) noexcept {
  if (walk.sizes[0] < tile_columns) return 0;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (walk.strides[k][0] != 0)
      if (const std::size_t d = walk.transposed_dimension(k, size_of(operands[k].tensor->dtype), tile_rows); d != 0)
        return d;
  return 0;
}
/// The first element of each operand, and then of the output.
using Starts = std::array<std::byte*, Walk::max_operands>;
/// map_blocks by tiles of the two innermost dimensions.
[[gnu::noinline]] inline void map_tiles(const Walk& walk, std::span<const Operand> operands, const Starts& starts,
                                        const TensorView& out, const Conversion& store, BlockLoop loop,
                                        Parameters& parameters) noexcept {
  std::array<Block, Walk::max_operands> blocks;
  Block scratch;
  Block result;
  const auto element = static_cast<std::int64_t>(size_of(out.dtype));
  const auto tile = [&](const auto& at, std::int64_t row, std::int64_t column, std::int64_t rows,
                        std::int64_t columns) {
    std::array<const void*, Walk::max_operands> in;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const auto& [tensor, conversion] = operands[k];
      const auto bytes = static_cast<std::int64_t>(size_of(tensor->dtype));
      Walk part;
      part.push(columns, std::array{walk.strides[k][0], bytes})
          .push(rows, std::array{walk.strides[k][1], bytes * columns});
      std::byte* const gathered = block_before(conversion, blocks[k], scratch);
      move_elements(size_of(tensor->dtype), part,
                    starts[k] + at[k] + row * walk.strides[k][1] + column * walk.strides[k][0], gathered);
      if (conversion.count != 0) conversion.run(gathered, blocks[k].bytes.data(), scratch.bytes.data(), rows * columns);
      in[k] = blocks[k].bytes.data();
    }
    loop(in.data(), result.bytes.data(), rows * columns, parameters);
    const std::byte* from = result.bytes.data();
    if (store.count != 0) {
      store.run(from, blocks[0].bytes.data(), scratch.bytes.data(), rows * columns);
      from = blocks[0].bytes.data();
    }
    const std::size_t k = operands.size();
    std::byte* to = starts[k] + at[k] + row * walk.strides[k][1] + column * element;
    for (; rows > 0; --rows, to += walk.strides[k][1], from += columns * element)
      std::memcpy(to, from, static_cast<std::size_t>(columns * element));
  };
  walk.for_each_row(
      [&](const auto& at) {
        for (std::int64_t row = 0; row < walk.sizes[1]; row += tile_rows)
          for (std::int64_t column = 0; column < walk.sizes[0]; column += tile_columns)
            tile(at, row, column, std::min(tile_rows, walk.sizes[1] - row),
                 std::min(tile_columns, walk.sizes[0] - column));
      },
      2);
}
}  // namespace detail

/// Shorter rows are not worth a call of the loop each: blocks gather several.
inline constexpr std::int64_t short_row = 64;

namespace detail {
/// map_blocks by rows, or by blocks of several rows.
[[gnu::noinline]] inline void map_rows(const Walk& walk, bool by_rows, std::span<const Operand> operands,
                                       const Starts& starts, const TensorView& out, const Conversion& store,
                                       BlockLoop loop, Parameters& parameters) noexcept {
  std::array<BlockReader, Walk::max_operands> readers;
  std::array<Block, Walk::max_operands> blocks;
  Block scratch;
  Block result;
  bool in_place = store.count == 0;
  for (std::size_t n = 0; n < operands.size(); ++n) {
    readers[n].start(walk, n, starts[n], size_of(operands[n].tensor->dtype), operands[n].conversion);
    if (parameters.second_is_number && n == 1) continue;  // its value fills the block for any length
    in_place = in_place && readers[n].in_place();
  }
  const std::int64_t row = by_rows ? walk.sizes[0] : walk.count;
  const std::int64_t limit = in_place && by_rows ? row : block_length;
  std::byte* to = starts[operands.size()];
  const std::size_t element = size_of(out.dtype);
  for (std::int64_t done = 0, in_row = 0; done < walk.count;) {
    const std::int64_t n = std::min(row - in_row, limit);
    std::array<const void*, Walk::max_operands> in;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (parameters.second_is_number && k == 1)
        in[k] = readers[k].first(blocks[k], scratch);
      else
        in[k] = readers[k].next(n, blocks[k], scratch);
    }
    if (store.count == 0) {
      loop(in.data(), to, n, parameters);
    } else {
      loop(in.data(), result.bytes.data(), n, parameters);
      store.run(result.bytes.data(), to, scratch.bytes.data(), n);
    }
    to += static_cast<std::size_t>(n) * element;
    done += n;
    in_row = in_row + n == row ? 0 : in_row + n;
  }
}
}  // namespace detail

/// out[i] = loop(operands[i]...) over broadcast operands; `out` is contiguous, `store` converts the loop's results.
/// Operands without conversion and gathering are read in place. O(elements of out).
[[gnu::noinline]] inline void map_blocks(std::span<const Operand> operands, const TensorView& out,
                                         const Conversion& store, BlockLoop loop, Parameters& parameters) noexcept {
  const std::int64_t count = out.numel();
  if (count == 0) return;
  if (detail::lie_as_needed(operands, count, store, parameters))
    return detail::run_in_place(operands, out, count, loop, parameters);
  Walk walk(out.sizes());
  for (const Operand& operand : operands)
    walk.add(broadcast_strides(*operand.tensor, out.sizes()), size_of(operand.tensor->dtype));
  walk.add(out.strides(), size_of(out.dtype)).collapse();
  const std::size_t turned = detail::tiled_dimension(walk, operands);
  if (turned != 0) walk.swap(1, turned);
  const bool by_rows = walk.rank == 1 || walk.sizes[0] >= short_row;
  const std::int64_t step = walk.rank == 1           ? elements_of_thread
                            : by_rows && turned == 0 ? 1
                                                     : detail::tile_rows;  // whole tiles, whole vectors
  detail::with_own_parameters(parameters, [&](auto&& with_own) {
    walk_in_parallel(walk, step, 8, [&](std::size_t number, const WalkPart& part) {
      detail::Starts starts;
      for (std::size_t k = 0; k <= operands.size(); ++k)
        starts[k] = static_cast<std::byte*>(k < operands.size() ? operands[k].tensor->data : out.data) + part.at[k];
      with_own(number, [&](Parameters& own) {
        if (turned != 0)
          detail::map_tiles(part.walk, operands, starts, out, store, loop, own);
        else
          detail::map_rows(part.walk, by_rows, operands, starts, out, store, loop, own);
      });
    });
  });
}

}  // namespace davit::kernels
