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

  /// A linear layer of floats or of bytes that are known at run time, or rows of a table, whose weights are integers
  /// that davit.linear_packed takes.
  bool packed_step() {
    if (random_.one_in(4)) return packed_rows();
    const auto x = some([&](const Known& k) {
      return !k.sizes.empty() && k.sizes.back().is_static() && k.sizes.back().value > 0 && k.sizes.back().value <= 16;
    });
    if (!x) return false;
    const std::int64_t given = x->sizes.back().value, depth = std::int64_t{given > 8 ? 16 : 8} << random_.below(2);
    std::vector<Dim> sizes = x->sizes;
    sizes.back() = dim(depth);
    Known wide =
        emit("aten.constant_pad_nd.default", {v(*x), b_.ints({0, depth - given}), b_.real(0.5)}, std::move(sizes));
    if (wide.sizes.size() == 2 && random_.one_in(3)) return packed_product(wide, depth);
    const auto layer = [&](const Known& in) {
      keep(linear(in, [&](std::initializer_list<std::int64_t> of) { return packed_weight(of.begin()[0], depth); }));
    };
    if (random_.one_in(2)) wide = dynamic_bytes(wide, depth);
    layer(wide);
    if (random_.one_in(4)) layer(wide);
    if (random_.one_in(8)) keep(wide);
    return true;
  }
  /// Two results.
  [[nodiscard]] std::pair<Known, Known> emit_two(std::string_view target, std::initializer_list<Argument> arguments,
                                                 const std::vector<Dim>& sizes, ScalarType first, ScalarType second) {
    const Known one{.id = declare(fresh("scale"), sizes, first), .dtype = first, .sizes = sizes};
    const Known other{.id = declare(fresh("zero"), sizes, second), .dtype = second, .sizes = sizes};
    const Argument made[] = {v(one), v(other)};
    node(target, arguments, made);
    return {one, other};
  }
  /// x in bytes of a range that is found at run time, and as floats again, as different tools write it.
  [[nodiscard]] Known dynamic_bytes(const Known& x, std::int64_t depth) {
    std::vector<Dim> rows = x.sizes;
    rows.back() = dim(1);
    const bool is_unsigned = random_.one_in(3);
    const ScalarType type = is_unsigned ? ScalarType::uint8 : ScalarType::int8;
    const Argument low = i(is_unsigned ? 0 : -128), high = i(is_unsigned ? 255 : 127), dtype = b_.scalar_type(type);
    const Argument int8 = b_.scalar_type(ScalarType::int8), floats = b_.scalar_type(ScalarType::float32);
    const auto f64 = ScalarType::float64, i64 = ScalarType::int64;
    const std::size_t kind = random_.below(6);
    if (kind < 2) {
      const auto [s, z] = kind == 0 ? emit_two("quantized_decomposed.choose_qparams_per_token_asymmetric.default",
                                               {v(x), int8}, rows, f64, i64)
                                    : emit_two("quantized_decomposed.choose_qparams_per_token.default", {v(x), int8},
                                               rows, ScalarType::float32, i64);
      const Known q = emit("quantized_decomposed.quantize_per_token.default", {v(x), v(s), v(z), i(-128), i(127), int8},
                           x.sizes, ScalarType::int8);
      return emit("quantized_decomposed.dequantize_per_token.default",
                  {v(q), v(s), v(z), i(-128), i(127), int8, floats}, x.sizes);
    }
    const bool is_full =
        std::ranges::all_of(x.sizes, [](const Dim& d) { return d.value > 0; });  // others have no range
    if (kind < 4 && is_full) {
      const auto [s, z] = emit_two(kind == 2 ? "quantized_decomposed.choose_qparams.tensor"
                                             : "quantized_decomposed.choose_qparams_symmetric.tensor",
                                   {v(x), low, high, b_.real(1.1920928955078125e-07), dtype}, {dim(1)}, f64, i64);
      const Known q =
          emit("quantized_decomposed.quantize_per_tensor.tensor", {v(x), v(s), v(z), low, high, dtype}, x.sizes, type);
      return emit("quantized_decomposed.dequantize_per_tensor.tensor", {v(q), v(s), v(z), low, high, dtype}, x.sizes);
    }
    if (kind == 4) {
      std::vector<Argument> each(x.sizes.size(), i(1));
      each.back() = i(depth);
      const auto block = [&] { return b_.list(each, ArgumentKind::int_); };
      std::vector<Dim> sizes = x.sizes;
      sizes.pop_back();
      const bool is_symmetric = random_.one_in(2) && !is_unsigned;
      if (x.sizes.size() > 1) {
        const auto [s, z] = emit_two("torchao.choose_qparams_affine.default",
                                     {v(x), b_.string(is_symmetric ? "SYMMETRIC" : "ASYMMETRIC"), block(), dtype, low,
                                      high, b_.real(1e-5), floats, b_.scalar_type(ScalarType::int32)},
                                     sizes, ScalarType::float32, ScalarType::int32);
        const Known q =
            emit("torchao.quantize_affine.default", {v(x), block(), v(s), v(z), dtype, low, high}, x.sizes, type);
        return emit("torchao.dequantize_affine.default", {v(q), block(), v(s), v(z), dtype, low, high}, x.sizes);
      }
    }
    const Known most = emit("aten.amax.default",
                            {v(emit("aten.abs.default", {v(x)}, x.sizes)), b_.ints({-1}), b_.boolean(true)}, rows);
    const Known s = emit("aten.clamp.default", {v(most), b_.real(0.01)}, rows);
    const Known steps = emit("aten.round.default", {v(emit("aten.div.Tensor", {v(x), v(s)}, x.sizes))}, x.sizes);
    const Known q = converted_to(emit("aten.clamp.default", {v(steps), i(-128), i(127)}, x.sizes), ScalarType::int8);
    return emit("aten.mul.Tensor", {v(q), v(s)}, x.sizes);
  }
  /// A product of torch's own with packed weights.
  bool packed_product(const Known& x, std::int64_t depth) {
    const auto kind = random_.below(3);
    std::vector<Dim> sizes = x.sizes;
    const std::int64_t rows = kind == 1 && depth == 8 ? 64 : up_to(6);
    sizes.back() = dim(rows);
    if (kind == 0) {
      keep(emit("aten._weight_int8pack_mm.default", {v(x), v(part(bytes_, {rows, depth})), v(part(scales_, {rows}))},
                sizes));
      return true;
    }
    if (kind == 1 && depth == 8) {
      const Known s = part(scales_, {1, rows}), z = negated(s);
      const Known both = emit("aten.stack.default", {b_.tensors({s.id, z.id}), i(-1)}, {dim(1), dim(rows), dim(2)});
      keep(emit("aten._weight_int4pack_mm_for_cpu.default",
                {v(x), v(part(pairs_, {rows, depth / 2})), i(depth), v(both)}, sizes));
      return true;
    }
    const std::int64_t groups = std::int64_t{1} << random_.below(2), pairs = rows * depth / 2;
    const Known packed = emit(
        "aten._dyn_quant_pack_4bit_weight.default",
        {v(part(pairs_, {pairs})), v(part(scales_, {rows * groups})), b_.none(), i(depth / groups), i(depth), i(rows)},
        {dim(pairs + rows * groups)});
    keep(emit("aten._dyn_quant_matmul_4bit.default", {v(x), v(packed), i(depth / groups), i(depth), i(rows)}, sizes));
    return true;
  }
  /// Rows of a table.
  bool packed_rows() {
    const std::int64_t rows = 2 + static_cast<std::int64_t>(random_.below(5)),
                       depth = std::int64_t{8} << random_.below(2);
    const Known index = *indices(rows, true, [](const Known& k) { return k.sizes.size() <= 2; });
    std::vector<Dim> sizes = index.sizes;
    sizes.push_back(dim(depth));
    const std::int64_t groups = std::int64_t{1} << random_.below(2);
    const Known scales = part(scales_, {rows, groups});
    switch (random_.below(3)) {
      case 0:
        keep(emit("quantized_decomposed.embedding_byte.default",
                  {v(part(bytes_, {rows, depth})), v(scales), b_.none(), i(-128), i(127), v(index)}, sizes));
        break;
      case 1:
        keep(emit("quantized_decomposed.embedding_4bit.default",
                  {v(part(pairs_, {rows, depth / 2})), v(scales), b_.none(), i(-8), i(7), v(index)}, sizes));
        break;
      default: keep(emit("aten.embedding.default", {v(packed_weight(rows, depth)), v(index)}, sizes));
    }
    return true;
  }
  /// (rows, depth) weights as different tools write them.
  [[nodiscard]] Known packed_weight(std::int64_t rows, std::int64_t depth) {
    if (random_.one_in(4)) return byte_weight({rows, depth});
    if (random_.one_in(3)) {
      const std::int64_t groups = std::int64_t{1} << random_.below(2), group = depth / groups;
      const Known integers = part(bytes_, {rows, depth});
      Known scales = part(scales_, {rows, groups});
      if (random_.one_in(3))
        scales = converted_to(converted_to(scales, random_.one_in(2) ? ScalarType::float16 : ScalarType::bfloat16),
                              ScalarType::float32);
      const Argument int8 = b_.scalar_type(ScalarType::int8);
      const Argument zeros = random_.one_in(2) ? b_.none() : v(part(zeros_, {rows, groups}));
      if (random_.one_in(2))
        return emit("torchao.dequantize_affine.default",
                    {v(integers), b_.ints({1, group}), v(scales), zeros, int8, i(-128), i(127)}, integers.sizes);
      return emit("quantized_decomposed.dequantize_per_channel_group.default",
                  {v(integers), v(scales), zeros, i(-128), i(127), int8, i(group)}, integers.sizes);
    }
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
