// SPDX-License-Identifier: MIT
#include "davit/kernels/elementwise.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

using namespace davit;
using kernels::Conversion;

namespace {

template <class T>
struct Affine {
  T factor;
  explicit Affine(kernels::Parameters& p) noexcept : factor(p.number<T>(0)) {}
  T operator()(T a, T b) const noexcept { return factor * a - b; }
};

/// 2 * a - b over (rows, 3) and what b broadcasts from.
template <class T>
std::vector<T> run(std::int64_t rows, std::vector<T> b, const std::vector<std::int64_t>& b_sizes) {
  std::vector<T> a(static_cast<std::size_t>(rows) * 3);
  std::iota(a.begin(), a.end(), T{});
  std::vector<T> out(a.size());
  const std::array<std::int64_t, 2> sizes{rows, 3};
  const std::array<std::int64_t, 2> strides{3, 1};
  std::vector<std::int64_t> b_strides(b_sizes.size());
  contiguous_strides(b_sizes, b_strides);
  constexpr ScalarType type = scalar_type_of<T>;
  const TensorView x{a.data(), sizes.data(), strides.data(), 2, type};
  const TensorView y{b.data(), b_sizes.data(), b_strides.data(), static_cast<std::uint8_t>(b_sizes.size()), type};
  const TensorView to{out.data(), sizes.data(), strides.data(), 2, type};
  constexpr kernels::Compute compute = kernels::compute_of(type);
  constexpr ScalarType wide = kernels::scalar_type_of_compute(compute);
  const std::array<kernels::Operand, 2> operands{
      {{&x, Conversion::into_compute(type, type)}, {&y, Conversion::into_compute(type, type)}}};
  kernels::Parameters parameters{.reals = {2}, .integers = {2}};
  kernels::map_blocks(operands, to, Conversion::between(wide, type), kernels::number_loops<Affine, 2>.of(compute),
                      parameters);
  return out;
}

/// The element; 777 is an error.
template <class T>
struct Refusing {
  kernels::Parameters* p;
  explicit Refusing(kernels::Parameters& parameters) noexcept : p(&parameters) {}
  T operator()(T a) const noexcept {
    if (a == 777) p->code = ErrorCode::out_of_range;
    return a;
  }
};

}  // namespace

TEST_CASE("threads share elements that lie side by side; an error of one is an error") {
  std::vector<float> b(15000);
  std::iota(b.begin(), b.end(), 0.5F);
  const std::vector<float> alone = run<float>(5000, b, {5000, 3}), number = run<float>(5000, {7}, {});
  kernels::ThreadTeam team(3, 1);
  const kernels::TeamScope scope(&team);
  CHECK(run<float>(5000, b, {5000, 3}) == alone);
  CHECK(run<float>(5000, {7}, {}) == number);
  for (const std::int64_t count : {700, 5000}) {
    std::vector<std::int64_t> x(static_cast<std::size_t>(count)), out(x.size());
    std::iota(x.begin(), x.end(), 0);
    const std::int64_t one = 1;
    const TensorView from{x.data(), &count, &one, 1, ScalarType::int64}, to{out.data(), &count, &one, 1, ScalarType::int64};
    const std::array<kernels::Operand, 1> operands{{{&from, Conversion::into_compute(ScalarType::int64, ScalarType::int64)}}};
    kernels::Parameters parameters;
    kernels::map_blocks(operands, to, Conversion::between(ScalarType::int64, ScalarType::int64), kernels::number_loops<Refusing, 1>.int64, parameters);
    CHECK(out == x);
    CHECK((parameters.code == ErrorCode::ok) == (count < 777));
  }
}

TEST_CASE("operands broadcast; those of a narrow dtype are converted by blocks") {
  CHECK(run<float>(2, {1, 2, 3}, {3}) == std::vector<float>{-1, 0, 1, 5, 6, 7});
  CHECK(run<float>(2, {1, 2}, {2, 1}) == std::vector<float>{-1, 1, 3, 4, 6, 8});
  CHECK(run<std::int64_t>(2, {5}, {}) == std::vector<std::int64_t>{-5, -3, -1, 1, 3, 5});
  CHECK(run<std::int8_t>(2, {1, 2, 3}, {3}) == std::vector<std::int8_t>{-1, 0, 1, 5, 6, 7});
  const std::vector<std::int16_t> many = run<std::int16_t>(1000, {1, 2, 3}, {3});
  CHECK(many.back() == 2 * 2999 - 3);
  CHECK(run<double>(1000, {0}, {1, 1})[2500] == 5000);
  CHECK(run<float>(0, {0}, {1, 1}).empty());
}
