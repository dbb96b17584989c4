// SPDX-License-Identifier: MIT
#include "davit/kernels/instruction_set.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

using namespace davit;

namespace {

struct AddOne {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static std::size_t run(const float* x, float* y, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += kernels::lanes<float, Bytes>)
      kernels::vector_at<Bytes>(y + i) = kernels::vector_at<Bytes>(x + i) + 1;
    return Bytes;
  }
};

/// The body of a kernel for vectors of `Bytes` bytes, at an unaligned address.
template <std::size_t Bytes>
void check() {
  if (Bytes > kernels::widest_vectors()) return;
  std::array<float, 33> x{}, y{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  CHECK(kernels::run_on<AddOne, Bytes>(static_cast<const float*>(x.data() + 1), y.data() + 1, std::int64_t{32}) ==
        Bytes);
  for (std::size_t i = 1; i < x.size(); ++i) CHECK(y[i] == x[i] + 1);
}

}  // namespace

TEST_CASE("kernels run on every instruction set that this CPU has, and by themselves on the widest") {
  check<kernels::vector_bytes>();
#if DAVIT_WIDER_VECTORS
  if constexpr (kernels::vector_bytes < 32) check<32>();
  check<64>();
#endif
  std::array<float, 16> x{}, y{};
  CHECK(kernels::run_widest<AddOne>(static_cast<const float*>(x.data()), y.data(), std::int64_t{16}) ==
        kernels::widest_vectors());
  CHECK(kernels::run_widest_for<float, AddOne>(static_cast<const float*>(x.data()), y.data(), std::int64_t{16}) ==
        kernels::widest_vectors());
  CHECK(y[0] == 1);
  CHECK(kernels::widest_lanes<float>() == static_cast<std::int64_t>(kernels::widest_vectors() / 4));
  CHECK(kernels::widest_lanes<double>() == static_cast<std::int64_t>(kernels::vector_bytes / 8));
}
