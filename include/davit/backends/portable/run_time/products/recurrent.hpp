// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "davit/backends/portable/run_time/compute_buffers.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/backends/portable/run_time/products/multiply.hpp"
#include "davit/kernels/vector_math.hpp"

namespace davit::portable_kernels {

namespace detail {

enum class Cell : std::uint8_t { gru, lstm, tanh, relu };

/// Larger sizes are refused, so that their products do not overflow.
inline constexpr std::int64_t largest_size = std::int64_t{1} << 28;

/// A checked call of a recurrent layer.
struct Recurrence {
  Cell cell = Cell::gru;
  std::int64_t steps = 0, batch = 0, features = 0, layers = 0, directions = 1;
  std::int64_t hidden = 0;  ///< units
  std::int64_t given = 0;   ///< numbers of the state that a step passes on: the units, or an LSTM's projection of them
  bool has_biases = false;
  bool batch_first = false;

  [[nodiscard]] bool projects() const noexcept { return given != hidden; }
  [[nodiscard]] std::int64_t gates() const noexcept {
    return (cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1) * hidden;
  }
  [[nodiscard]] std::size_t tensors_per_cell() const noexcept { return (has_biases ? 4 : 2) + (projects() ? 1 : 0); }
  [[nodiscard]] std::int64_t width() const noexcept { return directions * given; }  ///< of an output step
  [[nodiscard]] std::int64_t layer_features(std::int64_t layer) const noexcept {
    return layer == 0 ? features : width();
  }
};

/// The weights of a layer in one direction.
template <class C>
struct CellWeights {
  const C* input =
      nullptr;  ///< (gates, features); order of gates: GRU: reset, update, new; LSTM: input, forget, cell, output
  const C* recurrent = nullptr;    ///< (gates, given)
  const C* input_bias = nullptr;   ///< (gates)
  const C* hidden_bias = nullptr;  ///< (gates)
  const C* projection = nullptr;   ///< (given, hidden) or nullptr
};

/// The operands and results of a step of `n` units; the numbers of each gate follow those of the previous gate.
template <class C>
struct StepData {
  const C* in;    ///< the input's contribution to the gates
  const C* own;   ///< the state's contribution
  const C* bias;  ///< added to the state's contribution
  C* state;       ///< the state; for an LSTM the cell state
  C* out;         ///< the new state
  std::int64_t n;
};

template <class V>
[[gnu::always_inline]] inline void take_sigmoid(V& x) noexcept {
  if constexpr (std::is_floating_point_v<V>)
    x = V{1} / (V{1} + std::exp(-x));
  else
    kernels::vector_sigmoid<V>(x, x);
}
template <class V>
[[gnu::always_inline]] inline void take_tanh(V& x) noexcept {
  if constexpr (std::is_floating_point_v<V>)
    x = std::tanh(x);
  else
    kernels::vector_tanh<V>(x, x);
}

template <Cell kind>
struct RecurrentStep {
  template <std::size_t Bytes, class C>
  [[gnu::always_inline]] static void run(const StepData<C>* d) {
    std::int64_t h = 0;
    if constexpr (std::is_same_v<C, float>)
      for (; h + lanes<float, Bytes> <= d->n; h += lanes<float, Bytes>)
        units<Vector<float, Bytes>>(
            *d, h, [](auto* at) __attribute__((always_inline)) -> auto& { return kernels::vector_at<Bytes>(at); });
    for (; h < d->n; ++h) units<C>(*d, h, [](auto* at) __attribute__((always_inline)) -> auto& { return *at; });
  }

 private:
  /// Computes the units of a V from h on; `at` reads and writes a V.
  template <class V, class C, class At>
  [[gnu::always_inline]] static void units(const StepData<C>& d, std::int64_t h, At at) {
    V state = at(d.state + h);
    V now = at(d.in + h) + (at(d.own + h) + at(d.bias + h));
    if constexpr (kind == Cell::tanh) {
      take_tanh(now);
    } else if constexpr (kind == Cell::relu) {
      now = now < 0 ? V{} : now;
    } else {
      V second = at(d.in + d.n + h) + (at(d.own + d.n + h) + at(d.bias + d.n + h));
      V fresh = at(d.own + 2 * d.n + h) + at(d.bias + 2 * d.n + h);
      take_sigmoid(now);
      take_sigmoid(second);
      if constexpr (kind == Cell::gru) {
        fresh = at(d.in + 2 * d.n + h) + now * fresh;
        take_tanh(fresh);
        now = (state - fresh) * second + fresh;
      } else {
        V open = at(d.in + 3 * d.n + h) + (at(d.own + 3 * d.n + h) + at(d.bias + 3 * d.n + h));
        fresh = at(d.in + 2 * d.n + h) + fresh;
        take_tanh(fresh);
        take_sigmoid(open);
        state = second * state + now * fresh;
        at(d.state + h) = state;
        take_tanh(state);
        now = open * state;
      }
    }
    if constexpr (kind != Cell::lstm) at(d.state + h) = now;
    at(d.out + h) = now;
  }
};
template <class C>
void run_step(Cell cell, const StepData<C>& data) {
  switch (cell) {
    case Cell::gru: return kernels::run_widest_for<C, RecurrentStep<Cell::gru>>(&data);
    case Cell::lstm: return kernels::run_widest_for<C, RecurrentStep<Cell::lstm>>(&data);
    case Cell::tanh: return kernels::run_widest_for<C, RecurrentStep<Cell::tanh>>(&data);
    case Cell::relu: return kernels::run_widest_for<C, RecurrentStep<Cell::relu>>(&data);
  }
}

/// Work space of a layer.
template <class C>
struct CellBuffers {
  C* from_input;  ///< (steps, batch, gates)
  C* from_state;  ///< (batch, gates)
  C* turned;      ///< (given, gates): the transposed recurrent weights, for several steps
  C* units;       ///< (batch, hidden), if they are projected
  C* work;
};

/// From so many steps on, transposing the recurrent weights pays.
inline constexpr std::int64_t steps_to_turn = 3;

/// Runs one layer in one direction over time: reads `given` (batch, given) and, for an LSTM, `cells` (batch, hidden),
/// and leaves the last values there; step t writes its results to out + t * step + n * row.
template <class C>
void run_cell(const Recurrence& r, std::int64_t features, bool backwards, const CellWeights<C>& w, const C* x, C* given,
              C* cells, const CellBuffers<C>& b, C* out, std::int64_t step, std::int64_t row) {
  const std::int64_t gates = r.gates();
  multiply<C>(r.steps * r.batch, gates, features, {x, features, 1}, {w.input, 1, features}, b.work, b.from_input,
              gates);
  for (std::int64_t i = 0; i < r.steps * r.batch; ++i)
    for (std::int64_t j = 0; j < gates; ++j) b.from_input[i * gates + j] += w.input_bias[j];
  Matrix<C> recurrent{w.recurrent, 1, r.given};
  if (r.steps >= steps_to_turn) {
    kernels::run_widest_for<C, Transpose>(gates, r.given, w.recurrent, r.given, b.turned, gates);
    recurrent = {b.turned, gates, 1};
  }
  for (std::int64_t s = 0; s < r.steps; ++s) {
    const std::int64_t t = backwards ? r.steps - 1 - s : s;
    multiply<C>(r.batch, gates, r.given, {given, r.given, 1}, recurrent, b.work, b.from_state, gates);
    for (std::int64_t n = 0; n < r.batch; ++n) {
      C* const last = r.projects() ? b.units + n * r.hidden : given + n * r.given;
      run_step<C>(r.cell, {b.from_input + (t * r.batch + n) * gates, b.from_state + n * gates, w.hidden_bias,
                           r.cell == Cell::lstm ? cells + n * r.hidden : last, last, r.hidden});
    }
    if (r.projects())
      multiply<C>(r.batch, r.given, r.hidden, {b.units, r.hidden, 1}, {w.projection, 1, r.hidden}, b.work, given,
                  r.given);
    for (std::int64_t n = 0; n < r.batch; ++n) std::copy_n(given + n * r.given, r.given, out + t * step + n * row);
  }
}

/// `states`: the arguments hx, and cx of an LSTM.
template <class C>
[[nodiscard]] ErrorCode compute_recurrence(KernelCall& call, const Recurrence& r, std::span<const EValue> states) {
  const std::span<const EValue> parameters = call.list(2);
  const TensorView& input = call.tensor(0);
  const bool has_cells = r.cell == Cell::lstm;
  std::array<std::int64_t, 3> sizes{r.steps, r.batch, r.features};
  std::array<std::int64_t, 3> strides{input.stride(0), input.stride(1), input.stride(2)};
  if (r.batch_first) std::swap(strides[0], strides[1]);
  const std::int64_t gates = r.gates();
  const std::int64_t widest = std::max(r.features, r.width());
  const std::int64_t cells = r.layers * r.directions * r.batch;
  ComputeBuffers<C> buffers(call);
  const auto x_id = buffers.read({input.data, sizes.data(), strides.data(), 3, input.dtype});
  const auto hx_id = buffers.read(states[0].tensor());
  const auto cx_id = buffers.read(states[has_cells ? 1 : 0].tensor());
  const auto out_id = buffers.write(0);
  const auto last_id = call.wants(1) ? buffers.write(1) : buffers.buffer({cells, r.given});
  const auto last_cells_id =
      has_cells && call.wants(2) ? buffers.write(2) : buffers.buffer({has_cells ? cells : 0, r.hidden});
  const std::array<std::size_t, 2> sequences{buffers.buffer({r.layers > 1 ? r.steps : 0, r.batch, r.width()}),
                                             buffers.buffer({r.layers > 2 ? r.steps : 0, r.batch, r.width()})};
  const auto from_input = buffers.buffer({r.steps, r.batch, gates});
  const auto from_state = buffers.buffer({r.batch, gates});
  const auto turned = buffers.buffer({r.given, r.steps >= steps_to_turn ? gates : 0});
  const auto units = buffers.buffer({r.batch, r.projects() ? r.hidden : 0});
  // a cell's weights, for a conversion, and zeros for biases
  const std::array<std::int64_t, 5> counts{gates * widest, gates * r.given, gates, gates,
                                           r.projects() ? r.given * r.hidden : 0};
  const auto weights = buffers.buffer(gates * (widest + r.given + 2) + counts[4]);
  const auto work = buffers.buffer(std::max({multiply_work<C>(r.steps * r.batch, gates),
                                             multiply_work<C>(r.batch, gates), multiply_work<C>(r.batch, r.given)}));
  if (const ErrorCode code = buffers.allocate(); code != ErrorCode::ok) return code;
  C* const last = buffers.out(last_id);
  std::copy_n(buffers.in(hx_id), cells * r.given, last);
  if (has_cells) std::copy_n(buffers.in(cx_id), cells * r.hidden, buffers.out(last_cells_id));
  const CellBuffers<C> space{buffers.out(from_input), buffers.out(from_state), buffers.out(turned), buffers.out(units),
                             buffers.out(work)};
  const C* x = buffers.in(x_id);
  for (std::int64_t layer = 0; layer < r.layers; ++layer) {
    const bool is_last = layer + 1 == r.layers;
    C* const out = is_last ? buffers.out(out_id) : buffers.out(sequences[static_cast<std::size_t>(layer % 2)]);
    const bool turns = is_last && r.batch_first;
    for (std::int64_t d = 0; d < r.directions; ++d) {
      const std::int64_t index = layer * r.directions + d;
      std::array<const C*, 5> loaded{};
      C* own = buffers.out(weights);
      for (std::size_t kind = 0, i = 0; kind < 5; own += counts[kind++]) {
        const bool no_bias = (kind == 2 || kind == 3) && !r.has_biases;
        if (no_bias) std::fill_n(own, gates, C{});
        loaded[kind] = own;
        if (no_bias || (kind == 4 && !r.projects())) continue;
        const TensorView& t = parameters[static_cast<std::size_t>(index) * r.tensors_per_cell() + i++].tensor();
        if (t.dtype == scalar_type_of<C> && t.is_contiguous())
          loaded[kind] = t.as<C>();
        else if (kernels::compute_of(t.dtype) == kernels::Compute::none)
          return ErrorCode::invalid_dtype;
        else
          (void)convert_elements(t, scalar_type_of<C>, own);
      }
      run_cell(r, r.layer_features(layer), d == 1,
               CellWeights<C>{loaded[0], loaded[1], loaded[2], loaded[3], loaded[4]}, x,
               last + index * r.batch * r.given,
               has_cells ? buffers.out(last_cells_id) + index * r.batch * r.hidden : nullptr, space, out + d * r.given,
               (turns ? 1 : r.batch) * r.width(), (turns ? r.steps : 1) * r.width());
    }
    x = out;
  }
  return buffers.finish();
}

[[nodiscard]] inline ErrorCode check_recurrent_parameters(KernelCall& call, const Recurrence& r) {
  const std::span<const EValue> parameters = call.list(2);
  const std::size_t cells = static_cast<std::size_t>(r.layers * r.directions);
  if (parameters.size() != cells * r.tensors_per_cell())
    return call.refuse(ErrorCode::invalid_argument,
                       "a recurrent layer: the number of parameters does not fit the layers");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].is_tensor())
      return call.refuse(ErrorCode::invalid_argument, "a recurrent layer: a parameter is not a tensor");
    const TensorView& t = parameters[i].tensor();
    const std::size_t kind = i % r.tensors_per_cell();
    const auto layer = static_cast<std::int64_t>(i / r.tensors_per_cell()) / r.directions;
    const bool projection = r.projects() && kind + 1 == r.tensors_per_cell();
    const std::array<std::int64_t, 2> expected{projection ? r.given : r.gates(), projection  ? r.hidden
                                                                                 : kind == 0 ? r.layer_features(layer)
                                                                                             : r.given};
    if (!std::ranges::equal(t.sizes(), std::span(expected).first(kind < 2 || projection ? 2 : 1)))
      return call.refuse(ErrorCode::invalid_shape,
                         "a recurrent layer: a parameter's sizes do not fit input and hidden state");
    if (t.dtype != call.tensor(0).dtype)
      return call.refuse(ErrorCode::invalid_dtype, "a recurrent layer: the parameters must have the input's dtype");
  }
  return ErrorCode::ok;
}

}  // namespace detail

/// A recurrent layer: (input (T, N, I), hx (layers * directions, N, H), params, has_biases, num_layers, dropout, train,
/// bidirectional, batch_first) -> (output (T, N, directions * H), last states like hx). For an LSTM hx is a list, (hx,
/// cx), and the last cx is a result, too; it may project its units, so that hx has fewer features than cx. Dropout is
/// not supported. Source: at::gru.input, at::lstm.input, at::rnn_tanh.input, at::rnn_relu.input and torch.nn's layers.
template <detail::Cell kind>
[[nodiscard]] ErrorCode recurrent(KernelCall& call) {
  const TensorView& input = call.tensor(0);
  const std::span<const EValue> states = call.list(1);
  if (states.size() != (kind == detail::Cell::lstm ? 2 : 1) || !std::ranges::all_of(states, &EValue::is_tensor))
    return call.refuse(ErrorCode::invalid_argument, "a recurrent layer: it takes another number of states");
  const TensorView& hx = states[0].tensor();
  const TensorView& cx = states.back().tensor();
  detail::Recurrence r{.cell = kind};
  if (input.rank != 3 || hx.rank != 3 || cx.rank != 3)
    return call.refuse(ErrorCode::invalid_shape, "a recurrent layer: input and states must have three dimensions");
  if (checked_numel(input) < 0 || checked_numel(hx) < 0 || checked_numel(cx) < 0)
    return call.refuse(ErrorCode::out_of_memory, "a recurrent layer: an operand is too large");
  r.has_biases = call.boolean(3);
  r.layers = call.integer(4);
  r.directions = call.boolean(7) ? 2 : 1;
  r.batch_first = call.boolean(8);
  r.steps = input.size(r.batch_first ? 1 : 0);
  r.batch = input.size(r.batch_first ? 0 : 1);
  r.features = input.size(2);
  r.hidden = cx.size(2);
  r.given = hx.size(2);
  if (std::max({r.steps, r.batch, r.features, r.hidden, r.given}) > detail::largest_size)
    return call.refuse(ErrorCode::out_of_memory, "a recurrent layer: an operand is too large");
  if (r.layers < 1 || r.layers > static_cast<std::int64_t>(call.list(2).size()) || r.steps < 1)
    return call.refuse(ErrorCode::invalid_argument,
                       "a recurrent layer: the number of layers or of steps is out of range");
  for (const EValue& each : states)
    if (const TensorView& t = each.tensor();
        t.size(0) != r.layers * r.directions || t.size(1) != r.batch || t.dtype != input.dtype)
      return call.refuse(ErrorCode::invalid_shape,
                         "a recurrent layer: a state does not fit the input and the number of layers");
  if (call.boolean(6) && call.number(5) != 0 && r.layers > 1)
    return call.refuse(ErrorCode::unsupported_argument, "a recurrent layer: dropout between layers is not supported");
  if (const ErrorCode code = detail::check_recurrent_parameters(call, r); code != ErrorCode::ok) return code;
  const std::array<std::int64_t, 3> sizes{input.size(0), input.size(1), r.width()};
  if (const ErrorCode code = call.make(0, input.dtype, sizes); code != ErrorCode::ok) return code;
  for (std::size_t i = 0; i < states.size(); ++i)
    if (const ErrorCode code = call.wants(i + 1) ? call.make_like(i + 1, states[i].tensor()) : ErrorCode::ok;
        code != ErrorCode::ok)
      return code;
  return dispatch_floating(call, input.dtype,
                           [&]<class C>() { return detail::compute_recurrence<C>(call, r, states); });
}

inline constexpr auto recurrent_ops = std::to_array<OpRow>({
    {"aten.gru.input", recurrent<detail::Cell::gru>},
    {"aten.lstm.input", recurrent<detail::Cell::lstm>},
    {"aten.rnn_relu.input", recurrent<detail::Cell::relu>},
    {"aten.rnn_tanh.input", recurrent<detail::Cell::tanh>},
});

}  // namespace davit::portable_kernels
