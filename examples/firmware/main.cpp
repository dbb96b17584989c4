// SPDX-License-Identifier: MIT
// Runs on the board: classifies the images and returns 0 only if all results are the host's.
#include "digits.hpp"
#include "expected.hpp"  // written by expect.cpp
#include "semihosting.hpp"

namespace {

constexpr std::size_t count = std::size(images);

digits::Arena arena;

/// Counts the images whose results differ from the host's: another digit, or a score outside `tolerance`.
template <class Module>
int classify(const char* name, Module& module, std::span<const digits::Scores> expected, float tolerance) {
  int wrong = 0, right = 0;
  firmware::write(name);
  for (std::size_t i = 0; i < count; ++i) {
    digits::Scores scores;
    (void)module.forward(arena, images[i], scores);
    const std::size_t digit = digits::best(scores);
    bool same = digit == digits::best(expected[i]);
    for (std::size_t k = 0; k < scores.size(); ++k) {
      const float gap = scores[k] - expected[i][k];
      same = same && gap <= tolerance && -gap <= tolerance;
    }
    wrong += same ? 0 : 1;
    right += digit == labels[i] ? 1 : 0;
    firmware::write(" ");
    firmware::write(digit);
  }
  firmware::print("\n  ", right, " of ", count, " right, ", wrong, " otherwise than on the host");
  return wrong;
}

digits::Float float_module;
digits::Int8 int8_module;

}  // namespace

int main() {
  // int8 arithmetic is exact; float32 rounds differently if the board fuses multiplication and addition
  const int wrong =
      classify("float32:", float_module, float_scores, 1e-4F) + classify("int8:", int8_module, int8_scores, 0);
  return wrong == 0 ? 0 : 1;
}
