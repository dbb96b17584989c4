// SPDX-License-Identifier: MIT
// Trains the last layer of the digits network where it runs: on mirrored images, which the network has never seen.
#include <array>
#include <cstddef>
#include <cstdint>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "finetune.hpp"  // written by `davit embed --train sgd`
#include "images.hpp"    // written by run
#ifdef BOARD
#include "measure.hpp"
#include "semihosting.hpp"
#else
#include <cstdio>
#endif

namespace {

using Model = davit::static_module<finetune, davit::portable>;
static_assert(Model::ram_bytes <= 24 * 1024);  // parameters of the last layer, and the arena of a step

constexpr std::size_t batch = 8, trained = std::size(pixels) / 2;  // the second half is for counting
Model model;

/// One step on a batch that begins with that image: how many of it came out right before the step.
std::size_t step(std::size_t first, float rate) {
  static float images[batch][1][8][8], scores[batch][10], loss;
  std::int64_t wanted[batch];
  for (std::size_t i = 0; i < batch; ++i) {
    wanted[i] = labels[first + i];
    for (std::size_t p = 0; p < 64; ++p) images[i][0][p / 8][7 - p % 8] = static_cast<float>(pixels[first + i][p]) / 16;
  }
  if (!model.forward(images, wanted, davit::StaticTensor<const float>{&rate}, davit::StaticTensor<float>{&loss},
                     scores))
    return 0;
  std::size_t right = 0;
  for (std::size_t i = 0; i < batch; ++i) {
    std::size_t best = 0;
    for (std::size_t digit = 1; digit < 10; ++digit)
      if (scores[i][digit] > scores[i][best]) best = digit;
    right += best == static_cast<std::size_t>(wanted[i]) ? 1 : 0;
  }
  return right;
}

/// Of the images that are not trained on; a rate of 0 changes nothing.
std::size_t count_right() {
  std::size_t right = 0;
  for (std::size_t first = trained; first + batch <= std::size(pixels); first += batch) right += step(first, 0);
  return right;
}

}  // namespace

int main() {
  const std::size_t before = count_right();
  for (int epoch = 0; epoch < 15; ++epoch)
    for (std::size_t first = 0; first + batch <= trained; first += batch) (void)step(first, 0.1F);
  const std::size_t after = count_right(), all = (std::size(pixels) - trained) / batch * batch;
#ifdef BOARD
  const firmware::InstructionCounter counter;
  (void)step(0, 0.1F);
  const auto instructions = static_cast<std::size_t>(counter.instructions());
  firmware::print(before, " of ", all, " right before, ", after, " after; ", Model::ram_bytes, " bytes of RAM, ",
                  instructions, " instructions a step");
#else
  std::printf("host: %zu of %zu right before, %zu after; %zu bytes of RAM\n", before, all, after, Model::ram_bytes);
#endif
  return after * 10 > all * 8 && before * 10 < all * 6 ? 0 : 1;
}
