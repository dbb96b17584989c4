// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "toy_backend.hpp"

namespace support {

/// A clock that only advances while a timed backend runs.
struct ToyClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<ToyClock>;
  static constexpr bool is_steady = true;
  static inline std::int64_t ns = 0;
  static inline const void* written = nullptr;  ///< the first output of the last call
  static inline std::int64_t border_ns = 0;     ///< the extra cost of a call that reads it
  [[nodiscard]] static time_point now() noexcept { return time_point(duration(ns)); }
};

/// A toy backend that takes time: per call, per operator, and more for one kind of operator.
template <int N>
struct timed_backend : toy_backend<N> {
  using Base = toy_backend<N>;
  using typename Base::Handle;
  using typename Base::Workspace;
  static constexpr std::string_view name = N == 0 ? "timed0" : N == 1 ? "timed1" : N == 2 ? "timed2" : "timed3";
  static inline std::int64_t call_ns = 100;
  static inline std::int64_t op_ns = 1000;
  static inline std::int64_t mul_ns = 1000;

  template <davit::Tracer T, class Report>
  [[nodiscard]] static davit::Status execute(const Handle& handle, std::span<const davit::EValue> inputs,
                                             std::span<davit::EValue> outputs,
                                             davit::ExecuteContext<T, Report, Workspace>& context) {
    const bool reads = !inputs.empty() && inputs[0].is_tensor() && inputs[0].tensor().data == ToyClock::written;
    ToyClock::ns += call_ns + (reads ? ToyClock::border_ns : 0);
    for (const ToyCode::Instruction& i : handle.code->instructions)
      ToyClock::ns += i.op == ToyCode::Op::mul ? mul_ns : op_ns;
    const davit::Status status = Base::execute(handle, inputs, outputs, context);
    if (!outputs.empty() && outputs[0].is_tensor()) ToyClock::written = outputs[0].tensor().data;
    return status;
  }
  static void reset() {
    Base::state = {};
    call_ns = 100;
    op_ns = mul_ns = 1000;
  }
};

using Timed = davit::BackendList<timed_backend<0>, timed_backend<1>>;

struct TimedToys {
  TimedToys() { reset(); }
  ~TimedToys() { reset(); }
  TimedToys(const TimedToys&) = delete;
  static void reset() {
    timed_backend<0>::reset();
    timed_backend<1>::reset();
    ToyClock::ns = ToyClock::border_ns = 0;
    ToyClock::written = nullptr;
  }
};

/// add, add, mul, mul, add, add in a chain.
[[nodiscard]] inline davit::ExportedProgram add_mul_add() {
  Draft d;
  davit::ValueId v = d.user("x");
  for (int i = 0; i < 2; ++i) v = d.add(davit::concat("a", i), v, 1.0 + i);
  for (int i = 0; i < 2; ++i) v = d.mul(davit::concat("m", i), v, 2.0 + i);
  for (int i = 0; i < 2; ++i) v = d.add(davit::concat("b", i), v, 3.0 + i);
  d.output(v);
  return d.finish();
}

}  // namespace support
