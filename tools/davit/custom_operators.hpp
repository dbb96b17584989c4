// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/copy_tensor.hpp"

namespace tool {

/// Operators of a user's library registered with torch: an example of how `portable` gets new ones.
struct CustomOperators {
  using Call = davit::portable_kernels::KernelCall;
  using Code = davit::ErrorCode;

  /// corpus::record: twice its argument. The tag is for a log.
  [[nodiscard]] static Code record(Call& call) {
    return map_floats(call, 0, [](float x) { return 2 * x; });
  }
  /// corpus::tick: counts and returns nothing.
  [[nodiscard]] static Code tick(Call&) { return Code::ok; }

  /// davit_corpus::takes_obj: x * b + a for an object with state [a, b].
  [[nodiscard]] static Code takes_obj(Call& call) {
    std::int64_t a = 0;
    std::int64_t b = 0;
    if (!read_pair(call.string(0), a, b))
      return call.refuse(Code::corrupt_data, "the object's state is no pair of small integers");
    return map_floats(call, 1, [&](float x) { return x * static_cast<float>(b) + static_cast<float>(a); });
  }

  static constexpr std::array<davit::portable_kernels::CustomOperator, 3> operators{{
      {{"corpus.record.default", record}, "corpus.record.default(Tensor x, str tag) -> Tensor"},
      {{"corpus.tick.default", tick}, "corpus.tick.default(int n) -> ()"},
      {{"davit_corpus.takes_obj.default", takes_obj},
       "davit_corpus.takes_obj.default(__torch__.torch.classes.davit_corpus.AddMul obj, Tensor x) -> Tensor"},
  }};

 private:
  template <class F>
  [[nodiscard]] static Code map_floats(Call& call, std::size_t argument, F&& f) {
    const davit::TensorView& x = call.tensor(argument);
    if (x.dtype != davit::ScalarType::float32) return call.refuse(Code::invalid_dtype, "only float32 tensors");
    if (const Code code = call.make_like(0, x); code != Code::ok) return code;
    const davit::TensorView& y = call.output(0);
    davit::copy_tensor(x, y);
    float* at = y.as<float>();
    for (std::int64_t i = 0; i < y.numel(); ++i) at[i] = f(at[i]);
    return Code::ok;
  }
  /// Reads a pickled list of two integers below 256: ']' ... '(' 'K' a 'K' b 'e'.
  [[nodiscard]] static bool read_pair(std::string_view state, std::int64_t& a, std::int64_t& b) {
    const std::size_t at = state.find("(K");
    if (at == std::string_view::npos || at + 5 >= state.size() || state[at + 3] != 'K' || state[at + 5] != 'e')
      return false;
    a = static_cast<unsigned char>(state[at + 2]);
    b = static_cast<unsigned char>(state[at + 4]);
    return true;
  }
};

}  // namespace tool
