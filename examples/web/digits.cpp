// SPDX-License-Identifier: MIT
// A model compiled into a WebAssembly module, for the page beside it: examples/web/build makes one file of both.
#include <array>
#include <cstddef>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "digits_cnn_b1.hpp"

namespace {

davit::static_module<digits_cnn_b1, davit::portable> model;
float image[1][1][8][8];
std::array<float, 10> scores;

}  // namespace

/// Where the page writes an image of 8x8 pixels, from 0 to 1, and finds the score of each digit.
extern "C" [[clang::export_name("image")]] float* image_address() { return image[0][0][0]; }
extern "C" [[clang::export_name("scores")]] float* scores_address() { return scores.data(); }
/// The digit with the highest score, or -1 if the model fails.
extern "C" [[clang::export_name("classify")]] int classify() {
  if (!model.forward(image, scores)) return -1;
  std::size_t digit = 0;
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (scores[i] > scores[digit]) digit = i;
  return static_cast<int>(digit);
}
