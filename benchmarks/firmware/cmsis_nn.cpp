// SPDX-License-Identifier: MIT
// Instructions of CMSIS-NN's fully connected layers of 256 x 256, with weights of 8 and of 4 bits.
#include <array>
#include <cstdint>

#include "arm_nnfunctions.h"
#include "measure.hpp"
#include "semihosting.hpp"

namespace {

constexpr std::int32_t size = 256;
std::array<std::int8_t, size> x, y;
std::array<std::int32_t, size> bias, sums;  // Helium's layers of 8 bits read sums of the weights
std::array<std::int8_t, std::size_t{size} * size> weights;

template <class Layer>
std::uint64_t instructions(Layer&& layer) {
  const cmsis_nn_context context{sums.data(), sizeof sums};
  const cmsis_nn_fc_params params{
      .input_offset = 3, .filter_offset = 0, .output_offset = -5, .activation = {-128, 127}};
  const cmsis_nn_per_tensor_quant_params scale{.multiplier = 1518500250, .shift = -9};
  const cmsis_nn_dims input{1, 1, 1, size}, filter{size, 1, 1, size}, output{1, 1, 1, size};
  const firmware::InstructionCounter counter;
  const arm_cmsis_nn_status status = layer(&context, &params, &scale, &input, x.data(), &filter, weights.data(),
                                           &output, bias.data(), &output, y.data());
  const std::uint64_t count = counter.instructions();
  if (status != ARM_CMSIS_NN_SUCCESS) firmware::exit(1);
  return count;
}

}  // namespace

int main() {
  for (std::int32_t i = 0; i < size; ++i) x[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(i * 37);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<std::int8_t>(i * 71);
  firmware::print("s8=", instructions(&arm_fully_connected_s8));
  firmware::print("s4=", instructions(&arm_fully_connected_s4));
}
