// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "support/net.hpp"

namespace support {

/// A program with int8 tensors, as PT2E writes it.
class QuantizedNet : public Net {
 public:
  /// The scale and zero point of bytes.
  struct Steps {
    double scale = 1;
    std::int64_t zero_point = 0;
    davit::ScalarType type = davit::ScalarType::int8;
    [[nodiscard]] std::int64_t low() const { return type == davit::ScalarType::int8 ? -128 : 0; }
  };

  [[nodiscard]] Value quantize(std::string_view name, Value x, Sizes sizes, Steps q) {
    return convert("quantized_decomposed.quantize_per_tensor.default", name, x, sizes, q, q.type);
  }
  [[nodiscard]] Value dequantize(std::string_view name, Value x, Sizes sizes, Steps q) {
    return convert("quantized_decomposed.dequantize_per_tensor.default", name, x, sizes, q, davit::ScalarType::float32);
  }
  /// quantize, then dequantize.
  [[nodiscard]] Value through_bytes(std::string_view name, Value x, Sizes sizes, Steps q) {
    return dequantize(name, quantize(davit::concat(name, "_q"), x, sizes, q), sizes, q);
  }
  /// Weights: bytes from a formula, a scale for each index of the first dimension, and zeros, a parameter each. Made
  /// before the inputs.
  struct Weights {
    Value bytes = davit::no_id, scales = davit::no_id, zero_points = davit::no_id;
    davit::Tensor scale_numbers;
  };
  [[nodiscard]] Weights weights(std::string_view name, Sizes sizes) {
    davit::Tensor kernel = davit::Tensor::zeros(davit::ScalarType::int8, sizes);
    for (std::int64_t i = 0; i < kernel.numel(); ++i)
      kernel.view().as<std::int8_t>()[i] = static_cast<std::int8_t>(i * 37 % 255 - 127);
    const std::int64_t channels = *sizes.begin();
    Weights made;
    made.scale_numbers = numbers({channels}, 0.001, 0.004);
    made.bytes = draft.parameter(davit::concat(name, "_bytes"), kernel);
    made.scales = draft.parameter(davit::concat(name, "_scales"), made.scale_numbers);
    made.zero_points = draft.parameter(davit::concat(name, "_zeros"),
                                       davit::Tensor::zeros(davit::ScalarType::int64, std::span(&channels, 1)));
    return made;
  }
  [[nodiscard]] Value dequantize(std::string_view name, const Weights& w, Sizes sizes) {
    return op("quantized_decomposed.dequantize_per_channel.default", name, sizes,
              {{"input", v(w.bytes)},
               {"scales", v(w.scales)},
               {"zero_points", v(w.zero_points)},
               {"axis", i(0)},
               {"quant_min", i(-127)},
               {"quant_max", i(127)},
               {"dtype", davit::GraphBuilder::scalar_type(davit::ScalarType::int8)}});
  }
  /// A convolution with a square kernel, padded to keep the size for stride 1.
  [[nodiscard]] Value conv(std::string_view name, Value x, Value w, Value bias, Sizes sizes, std::int64_t stride,
                           std::int64_t pad, std::int64_t groups) {
    return op("aten.conv2d.default", name, sizes,
              {{"input", v(x)},
               {"weight", v(w)},
               {"bias", bias == davit::no_id ? davit::Argument{} : v(bias)},
               {"stride", ints({stride, stride})},
               {"padding", ints({pad, pad})},
               {"dilation", ints({1, 1})},
               {"groups", i(groups)}});
  }

 private:
  [[nodiscard]] Value convert(std::string_view target, std::string_view name, Value x, Sizes sizes, Steps q,
                              davit::ScalarType to) {
    std::vector<davit::Argument> in{v(x),
                                    davit::GraphBuilder::real(q.scale),
                                    i(q.zero_point),
                                    i(q.low()),
                                    i(q.low() + 255),
                                    davit::GraphBuilder::scalar_type(q.type)};
    const std::string_view names[] = {"input", "scale", "zero_point", "quant_min", "quant_max", "dtype"};
    for (std::size_t k = 0; k < in.size(); ++k) in[k].name = draft.b.text(names[k]);
    const Value made = draft.b.tensor(name, to, sizes);
    const davit::Argument out[] = {v(made)};
    draft.b.node(target, in, out, draft.metadata);
    return made;
  }
};

}  // namespace support
