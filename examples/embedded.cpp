// SPDX-License-Identifier: MIT
// A model compiled into the program. `davit embed` writes its header (see meson.build); the compiler does the rest.

#include <array>
#include <cstdio>

#include "davit/backends/portable/embed.hpp"
#include "davit/embed/static_module.hpp"
#include "digits_cnn_b1.hpp"

namespace {

using Model = davit::static_module<digits_cnn_b1, davit::tuned<davit::portable, davit::for_speed>>;
static_assert(Model::ram_bytes <= 4096);

Model model;

/// A seven, as an 8x8 image.
constexpr float o = 0, x = 1;
constexpr float seven[1][1][8][8] = {{{{o, o, x, x, x, x, o, o},
                                       {o, o, x, x, x, x, o, o},
                                       {o, o, o, o, x, x, o, o},
                                       {o, o, o, x, x, x, x, o},
                                       {o, o, o, o, x, o, o, o},
                                       {o, o, o, x, x, o, o, o},
                                       {o, o, o, x, o, o, o, o},
                                       {o, o, x, x, o, o, o, o}}}};

}  // namespace

int main() {
  std::array<float, 10> scores{};
  const davit::Status status = model.forward(seven, scores);
  if (!status) {
    std::printf("davit explain 0x%08x --model digits_cnn_b1.pt2\n", static_cast<unsigned>(status.error().bits()));
    return 1;
  }
  std::size_t digit = 0;
  for (std::size_t i = 1; i < scores.size(); ++i)
    if (scores[i] > scores[digit]) digit = i;
  std::printf("a %zu; %zu bytes of memory, %zu bytes of weights, %zu steps\n", digit, Model::ram_bytes,
              Model::weight_bytes, Model::step_count);
  return digit == 7 ? 0 : 1;
}
