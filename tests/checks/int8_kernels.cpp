// SPDX-License-Identifier: MIT
#include <type_traits>

#include "semihosting.hpp"
#include "support/int8_cases.hpp"

using namespace davit;

static int8_cases::Buffers<std::int8_t> signed_bytes;
static int8_cases::Buffers<std::uint8_t> unsigned_bytes;

template <class Isa, class T>
static int run(const char* name, int8_cases::Buffers<T>& buffers) {
  const std::uint32_t seed = int8_cases::first_failure<Isa>(buffers, 200);
  if (seed != 0) firmware::print(name, ": the case of seed ", seed, " fails");
  return seed != 0 ? 1 : 0;
}

int main() {
  static_assert(!std::is_same_v<int8_kernels::native, int8_kernels::plain>);
#ifdef PLANT_FAILURE
  int8_cases::planted_error = 1;
#endif
  return run<int8_kernels::plain>("plain int8", signed_bytes) +
         run<int8_kernels::plain>("plain uint8", unsigned_bytes) +
         run<int8_kernels::native>("native int8", signed_bytes) +
         run<int8_kernels::native>("native uint8", unsigned_bytes);
}
