// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/byte_dots.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace davit;
using namespace davit::portable_kernels::detail;

namespace {

/// The bits of an integer's byte that are far from regular, with both ends.
std::int32_t number(std::int64_t i, std::int32_t low, std::int32_t high) {
  const auto mixed = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u >> 40;
  if (mixed % 5 == 0) return mixed % 2 == 0 ? low : high;
  return low + static_cast<std::int32_t>(mixed % static_cast<std::uint64_t>(high - low + 1));
}

/// Compares the sums of a tile with those of plain integers.
template <int Bits>
void check(DotSet set, std::int64_t rows, std::int64_t group, std::int64_t groups, bool only_ends) {
  constexpr std::int64_t fields = 32 / Bits, block = PackedWeights::block;
  const DotForm form = dot_form(set, Bits);
  const PackedWeights w{.outputs = block, .depth = group * groups, .groups = groups, .bits = Bits};
  const std::int32_t least = -(1 << (Bits - 1));
  std::vector<std::int32_t> words(static_cast<std::size_t>(w.words() * block));
  const auto weight = [&](std::int64_t n, std::int64_t k) {
    return only_ends ? least : number(n * w.depth + k, least, -least - 1);
  };
  const auto byte = [&](std::int64_t r, std::int64_t k) {
    return only_ends ? -128 : number(r * w.depth + k + 7, -128, 127);
  };
  for (std::int64_t n = 0; n < block; ++n)
    for (std::int64_t k = 0; k < w.depth; ++k) w.put(words.data(), n, k, weight(n, k));
  std::vector<std::int8_t> x;
  std::vector<std::int16_t> wide;
  std::vector<std::int32_t> starts, expected;
  for (std::int64_t i = 0; i < w.words(); ++i)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t f = 0; f < fields; ++f) {
        const std::int32_t b = byte(r, i * fields + form.order[static_cast<std::size_t>(f)]);
        x.push_back(static_cast<std::int8_t>(b));
        wide.push_back(static_cast<std::int16_t>(b));
      }
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int32_t sum = 0;
      for (std::int64_t k = g * group; k < (g + 1) * group; ++k) sum += byte(r, k);
      starts.push_back(form.start(sum));
      for (std::int64_t n = 0; n < block; ++n) {
        std::int32_t product = 0;
        for (std::int64_t k = g * group; k < (g + 1) * group; ++k) product += byte(r, k) * weight(n, k);
        expected.push_back(product);
      }
    }
  std::vector<std::int32_t> sums(expected.size(), 77);
  compute_dots<Bits>(set, rows,
                     {words.data(), form.is_wide ? static_cast<const void*>(wide.data()) : x.data(), starts.data(),
                      groups, group / fields, sums.data()});
  CHECK(sums == expected);
}

}  // namespace

TEST_CASE("byte dots: exact sums on every instruction set of this CPU, of every tile") {
  for (const DotSet set : {DotSet::plain, DotSet::avx2, DotSet::vnni, DotSet::sdot}) {
    if (!has_dots(set)) continue;
    CAPTURE(static_cast<int>(set));
    for (std::int64_t rows = 1; rows <= dot_form(set, 4).most_rows; rows *= 2) {
      CAPTURE(rows);
      for (const bool only_ends : {false, true}) {  // the largest sums
        check<4>(set, rows, 32, 3, only_ends);
        check<8>(set, rows, 32, 3, only_ends);
        check<4>(set, rows, 8, 1, only_ends);
        check<8>(set, rows, 4, 2, only_ends);
      }
    }
    check<4>(set, 1, most_of_group, 1, true);
    check<8>(set, 2, most_of_group, 1, true);
  }
}
TEST_CASE("byte dots: a tile takes each field of a word once") {
  for (const std::int64_t bits : {4, 8})
    for (const DotSet set : {DotSet::plain, DotSet::avx2, DotSet::vnni, DotSet::sdot}) {
      const DotForm form = dot_form(set, bits);
      CHECK(form.most_rows == (set == DotSet::avx2 ? 8 : set == DotSet::vnni ? 16 : 4));
      unsigned fields = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(32 / bits); ++i) fields |= 1u << form.order[i];
      CHECK(fields == (1u << (32 / bits)) - 1);
    }
}
