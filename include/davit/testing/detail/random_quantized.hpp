// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "davit/testing/detail/random_layers.hpp"

namespace davit::testing {

/// Steps of a random program as PT2E quantizes them: layers and other operators on dequantized bytes, quantized behind
/// them. Ranges, zero points, dtypes and further readers vary more than any quantizer's.
class RandomQuantized : protected RandomLayers {
 protected:
  /// A quarter of the programs are quantized.
  explicit RandomQuantized(const ProgramRecipe& recipe)
      : RandomLayers(recipe),
        quantized_(Random(recipe.seed ^ 0x9d2c5680u).one_in(4)),
        dtype_(Random(recipe.seed ^ 0x6c078965u).one_in(5)   ? ScalarType::bfloat16
               : Random(recipe.seed ^ 0x2545f491u).one_in(8) ? ScalarType::float16
                                                             : ScalarType::float32) {}

  /// Also declares byte weights and their scales. NaN has no byte: data with NaN is not quantized.
  void declare_weights(ProgramTables& tables) {
    RandomLayers::declare_weights(tables);
    quantized_ = quantized_ && !strange_;
    if (!quantized_) return;
    bytes_ = parameter<std::int8_t>(tables, "bytes", 512,
                                    [](int k) { return static_cast<std::int8_t>((k * 101 + 7) % 255 - 127); });
    scales_ = parameter<float>(tables, "scales", 64, [](int k) { return static_cast<float>(1 + (k * 13) % 11) / 512; });
    zeros_ = parameter<std::int64_t>(tables, "zeros", 64, [](int) { return 0; });
    pairs_ = parameter<std::uint8_t>(tables, "pairs", 256, [](int k) { return static_cast<std::uint8_t>(k * 89 + 3); });
  }

  [[nodiscard]] bool is_quantized() const noexcept { return quantized_; }
  /// The dtype of its floats.
  [[nodiscard]] ScalarType dtype() const noexcept { return quantized_ ? ScalarType::float32 : dtype_; }

  /// Adds an operator between dequantize and quantize; false if no value fits.
  bool quantized_step() {
    const std::size_t kind = random_.below(10);
    if (kind > 7) return packed_step();
    const auto bytes = [this](std::initializer_list<std::int64_t> sizes) { return byte_weight(sizes); };
    const auto small = [](const Known& k) {
      return !k.sizes.empty() && std::ranges::all_of(k.sizes, [](const Dim& d) {
        return d.value > 0 && (!d.is_static() || d.value <= 16);
      });
    };
    if (kind < 3) {
      auto x = image();
      if (!x) return false;
      const Known in = through_bytes(*x);
      return keep_bytes(kind == 2 ? pooling(in) : bounded(convolution(in, false, bytes)));
    }
    const auto x = some([&](const Known& k) { return small(k) && k.sizes.back().is_static(); });
    if (!x) return false;
    const Known in = through_bytes(*x);
    switch (kind) {
      case 3:
      case 4: return keep_bytes(bounded(linear(in, bytes)));
      case 5:
      case 6: {
        const auto y = some([&](const Known& k) { return small(k) && broadcast(in.sizes, k.sizes).has_value(); });
        if (!y) return false;
        const Known other = through_bytes(*y);
        return keep_bytes(bounded(emit(kind == 5 ? "aten.add.Tensor" : "aten.mul.Tensor", {v(in), v(other)},
                                       *broadcast(in.sizes, other.sizes))));
      }
      default: {
        if (random_.one_in(2)) return keep_bytes(function(in));
        const Known other = through_bytes(in);
        std::vector<Dim> sizes = in.sizes;
        if (!sizes[0].is_static()) return keep_bytes(function(other));
        sizes[0].value *= 2;
        return keep_bytes(joined(in, other, 0, std::move(sizes)));
      }
    }
  }

 private:
  struct Bytes {
    double scale = 1;
    std::int64_t zero_point = 0, low = -128, high = 127;
    ScalarType dtype = ScalarType::int8;
  };

  [[nodiscard]] Bytes some_bytes() {
    constexpr double scales[] = {1.0 / 16, 0.25, 0.03, 0.1, 0.011, 1};
    Bytes out{.scale = scales[random_.below(std::size(scales))],
              .dtype = random_.one_in(3) ? ScalarType::uint8 : ScalarType::int8};
    if (out.dtype == ScalarType::uint8)
      out.low = 0, out.high = 255;
    else if (random_.one_in(3))
      out.low = -127;
    const std::int64_t middle = (out.low + out.high + 1) / 2;
    out.zero_point =
        random_.one_in(3)
            ? middle
            : out.low + static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(out.high - out.low + 1)));
    if (random_.one_in(6)) out.low = middle, out.zero_point = std::max(out.zero_point, middle);
    return out;
  }
  [[nodiscard]] Known converted(const Known& x, const Bytes& bytes, bool quantizes) {
    return emit(
        quantizes ? "quantized_decomposed.quantize_per_tensor.default"
                  : "quantized_decomposed.dequantize_per_tensor.default",
        {v(x), b_.real(bytes.scale), i(bytes.zero_point), i(bytes.low), i(bytes.high), b_.scalar_type(bytes.dtype)},
        x.sizes, quantizes ? bytes.dtype : ScalarType::float32);
  }
  /// Quantizes and dequantizes a value; a dequantized value usually stays itself.
  [[nodiscard]] Known through_bytes(const Known& x) {
    if (std::ranges::find(dequantized_, x.id) != dequantized_.end() && !random_.one_in(4)) return x;
    const Bytes bytes = some_bytes();
    const Known made = converted(x, bytes, true);
    if (random_.one_in(6)) keep(made);
    Bytes read = bytes;
    if (random_.one_in(16)) read.scale /= 2, read.zero_point = bytes.low;
    const Known back = converted(made, read, false);
    dequantized_.push_back(back.id);
    if (random_.one_in(4)) keep(back);
    return back;
  }
  /// Records an operator's result, usually as bytes.
  bool keep_bytes(Known x) {
    if (random_.one_in(8)) keep(x);
    keep(random_.one_in(8) ? x : through_bytes(x));
    return true;
  }
  [[nodiscard]] Known bounded(const Known& x) {
    switch (random_.below(6)) {
      case 0:
      case 1: return emit("aten.relu.default", {v(x)}, x.sizes);
      case 2: return emit("aten.hardtanh.default", {v(x), b_.real(-0.75), b_.real(3)}, x.sizes);
      case 3: return emit("aten.clamp.default", {v(x), b_.real(0), b_.real(6)}, x.sizes);
      default: return x;
    }
  }
  /// Makes byte weights with one scale or one per channel.
  [[nodiscard]] Known byte_weight(std::initializer_list<std::int64_t> sizes) {
    const Known bytes = part(bytes_, sizes);
    if (random_.one_in(3)) return converted(bytes, {.scale = 1.0 / 64, .low = random_.one_in(2) ? -127 : -128}, false);
    const std::int64_t axis = random_.one_in(8) ? static_cast<std::int64_t>(random_.below(sizes.size())) : 0;
    const std::int64_t channels = sizes.begin()[axis];
    const Known scales = part(scales_, {channels}), zeros = part(zeros_, {channels});
    return emit("quantized_decomposed.dequantize_per_channel.default",
                {v(bytes), v(scales), v(zeros), i(axis), i(-127), i(127), b_.scalar_type(ScalarType::int8)},
                bytes.sizes);
  }

  /// A linear layer of floats, or rows of a table, whose weights are integers that davit.linear_packed takes.
  bool packed_step() {
    const auto x = some([&](const Known& k) {
      return !k.sizes.empty() && k.sizes.back().is_static() && k.sizes.back().value > 0 && k.sizes.back().value <= 16;
    });
    if (!x) return false;
    const std::int64_t given = x->sizes.back().value, depth = std::int64_t{given > 8 ? 16 : 8} << random_.below(2);
    std::vector<Dim> sizes = x->sizes;
    sizes.back() = dim(depth);
    const Known wide =
        emit("aten.constant_pad_nd.default", {v(*x), b_.ints({0, depth - given}), b_.real(0.5)}, std::move(sizes));
    keep(linear(wide, [&](std::initializer_list<std::int64_t> of) { return packed_weight(of.begin()[0], depth); }));
    return true;
  }
  /// (rows, depth) weights as different tools write them.
  [[nodiscard]] Known packed_weight(std::int64_t rows, std::int64_t depth) {
    if (random_.one_in(4)) return byte_weight({rows, depth});
    const std::int64_t groups = std::int64_t{1} << random_.below(2), group = depth / groups;
    const Dim r = dim(rows), d = dim(depth), g = dim(groups), n = dim(group);
    Known integers = part(bytes_, {rows, depth});
    if (!random_.one_in(3)) {  // two in a byte
      const Known pairs = part(pairs_, {rows, depth / 2});
      const Known low = emit("aten.bitwise_and.Scalar", {v(pairs), i(15)}, pairs.sizes, ScalarType::uint8);
      const Known high = emit("aten.__rshift__.Scalar", {v(pairs), i(4)}, pairs.sizes, ScalarType::uint8);
      const Known both = emit("aten.stack.default", {b_.tensors({low.id, high.id}), i(-1)}, {r, dim(depth / 2), dim(2)},
                              ScalarType::uint8);
      integers = view(both, {rows, depth});
    }
    Known w = emit("aten._to_copy.default", {v(integers), b_.scalar_type(ScalarType::float32)}, {r, d});
    if (random_.one_in(2)) w = emit("aten.sub.Tensor", {v(w), b_.real(8)}, {r, d});
    w = view(w, {rows, groups, group});
    w = emit("aten.mul.Tensor", {v(w), v(part(scales_, {rows, groups, 1}))}, {r, g, n});
    if (random_.one_in(3)) {  // zero points of floats
      const Known zeros =
          emit("aten.mul.Tensor", {v(part(scales_, {rows, groups, 1})), b_.real(-3.25)}, {r, g, dim(1)});
      w = emit("aten.add.Tensor", {v(w), v(zeros)}, {r, g, n});
    }
    return view(w, {rows, depth});
  }

  bool quantized_;
  ScalarType dtype_;
  Known bytes_{}, scales_{}, zeros_{}, pairs_{};
  std::vector<ValueId> dequantized_;
};

}  // namespace davit::testing
