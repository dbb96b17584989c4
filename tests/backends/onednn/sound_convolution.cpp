// SPDX-License-Identifier: MIT
#include "davit/backends/onednn/sound_convolution.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "davit/backends/onednn/int8.hpp"
#include "davit/core/scalar_type.hpp"

using namespace davit;
using onednn_ops::algorithm;
using onednn_ops::ConvolutionSizes;
using onednn_ops::count_of;
using onednn_ops::DataType;
using onednn_ops::Dims;
using onednn_ops::is_sound;
using onednn_ops::MemoryDesc;
using onednn_ops::primitive_attr;

TEST_CASE("the faults of AMX's convolutions are known by their sizes") {
  // images of three tiles of pixels
  const auto pointwise = [](std::int64_t height, std::int64_t width) {
    return ConvolutionSizes{
        {1, 64, height, width}, {64, 64, 1, 1}, {1, 64, height, width}, {1, 1}, {0, 0}, {0, 0}, true};
  };
  constexpr auto amx_1x1 = "jit_1x1:avx512_core_amx_int8";
  for (const std::int64_t width : {27, 33, 36, 39, 42, 45, 48}) CHECK_FALSE(is_sound(amx_1x1, pointwise(1, width)));
  CHECK_FALSE(is_sound(amx_1x1, pointwise(6, 6)));
  for (const std::int64_t width : {1, 16, 32, 35, 47, 49, 51, 196}) CHECK(is_sound(amx_1x1, pointwise(1, width)));
  constexpr auto amx_bf16 = "jit_1x1:avx512_core_amx_bf16";
  CHECK(is_sound(amx_bf16, pointwise(6, 6)));
  ConvolutionSizes with_sum = pointwise(6, 6);
  with_sum.whole_operand = true;
  CHECK_FALSE(is_sound(amx_bf16, with_sum));
  ConvolutionSizes odd = pointwise(6, 6);
  CHECK(is_sound("jit_bf16_1x1:avx512_core_bf16", odd));
  odd.weight[1] = odd.source[1] = 3;
  CHECK_FALSE(is_sound("jit_bf16_1x1:avx512_core_bf16", odd));
  CHECK(is_sound("jit_int8:avx512_core_vnni", pointwise(6, 6)));
  // rows padded with a zero point
  const auto padded = [](Dims kernel, Dims left, std::int64_t made_height, std::int64_t made_width,
                         bool zero_point = true) {
    return ConvolutionSizes{{1, 64, 8, 40},
                            {2, 32, 64, kernel[0], kernel[1]},
                            {1, 64, made_height, made_width},
                            {1, 1},
                            {0, 0},
                            std::move(left),
                            zero_point};
  };
  constexpr auto amx = "jit:avx512_core_amx_int8";
  CHECK_FALSE(is_sound(amx, padded({3, 1}, {1, 0}, 8, 40)));
  CHECK_FALSE(is_sound(amx, padded({3, 3}, {0, 0}, 7, 38)));  // padded below only
  CHECK(is_sound(amx, padded({3, 1}, {1, 0}, 8, 40, false)));
  CHECK(is_sound(amx, padded({3, 3}, {1, 1}, 8, 40)));
  CHECK(is_sound(amx, padded({3, 3}, {1, 0}, 8, 39)));  // padded on the right
  CHECK(is_sound(amx, padded({3, 3}, {0, 0}, 6, 38)));
  // windows with skipped rows between them
  const auto apart = [](std::int64_t stride, std::int64_t dilate, std::int64_t kernel) {
    return ConvolutionSizes{{1, 64, 15, 15},  {64, 64, kernel, 3}, {1, 64, 5, 5},
                            {stride, stride}, {dilate, dilate},    {0, 0}};
  };
  for (const auto* name : {"brgconv:avx512_core_amx_bf16", "brgconv:avx512_core_amx_int8"}) {
    CHECK_FALSE(is_sound(name, apart(2, 0, 1)));
    CHECK(is_sound(name, apart(2, 0, 2)));
    CHECK(is_sound(name, apart(3, 1, 2)));
  }
  CHECK(is_sound("brgconv:avx512_core", apart(2, 0, 1)));
  // volumes
  const ConvolutionSizes volume{{1, 64, 3, 8, 8}, {64, 64, 1, 1, 1}, {1, 64, 3, 8, 8}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}};
  for (const auto* name :
       {"brgconv_1x1:avx512_core_amx_bf16", "jit:avx512_core_amx_int8", "jit_1x1:avx512_core_amx_int8"})
    CHECK_FALSE(is_sound(name, volume));
  for (const auto* name : {"brgconv:avx512_core_amx_bf16", "jit_int8:avx512_core_vnni"}) CHECK(is_sound(name, volume));
}

TEST_CASE("a post-operation with a tensor of the destination's sizes is seen") {
  const MemoryDesc destination = onednn_ops::channels_last({2, 8, 6, 6}, DataType::bf16);
  const auto takes = [&](const Dims& dims) {
    dnnl::post_ops ops;
    onednn_ops::append_eltwise(ops, algorithm::eltwise_relu, 0, 0);
    ops.append_binary(algorithm::binary_add, onednn_ops::plain(dims, DataType::bf16));
    primitive_attr attributes;
    attributes.set_post_ops(ops);
    return onednn_ops::takes_whole_operand(attributes, destination);
  };
  CHECK(takes({2, 8, 6, 6}));
  CHECK_FALSE(takes({1, 8, 1, 1}));
  CHECK_FALSE(onednn_ops::takes_whole_operand({}, destination));
}

namespace {

/// Bytes of a tensor, followed by guard bytes.
class Guarded {
 public:
  explicit Guarded(const MemoryDesc& md) : md_(md), bytes_(md.get_size() + margin, untouched) {}
  [[nodiscard]] dnnl::memory memory() { return {md_, onednn_ops::cpu(), bytes_.data()}; }
  [[nodiscard]] bool is_intact() const {
    return std::all_of(bytes_.end() - margin, bytes_.end(), [](unsigned char byte) { return byte == untouched; });
  }

 private:
  static constexpr std::ptrdiff_t margin = 16384;
  static constexpr unsigned char untouched = 0xa7;
  MemoryDesc md_;
  std::vector<unsigned char> bytes_;
};

struct Random {
  std::mt19937 numbers;
  [[nodiscard]] std::int64_t operator()(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(numbers() % static_cast<unsigned>(high - low + 1));
  }
  [[nodiscard]] std::int64_t of(std::initializer_list<std::int64_t> list) {
    return list.begin()[(*this)(0, static_cast<std::int64_t>(list.size()) - 1)];
  }
};

/// Computes a convolution of random sizes with davit's implementation and with another one without AMX; returns the
/// number of different elements, or -1 if bytes behind a tensor were written. Sets `name`.
[[nodiscard]] std::int64_t differences(std::uint32_t seed, bool bytes, std::string& name) {
  Random r{std::mt19937(seed)};
  const Dims kernel{r.of({1, 1, 3}), r.of({1, 1, 3})}, strides = r(0, 2) != 0 ? Dims{1, 1} : Dims{2, 2},
                                                       dilates{kernel[0] > 1 ? r(0, 1) : 0, 0};
  const std::int64_t groups = r.of({1, 1, 1, 2}), in = groups * r.of({3, 64, 96}), out = groups * r.of({1, 8, 17});
  const Dims left{r(0, kernel[0] / 2), r(0, kernel[1] / 2)}, right{left[0], r.of({0, left[1]})};
  const Dims source{1, in, r.of({1, 6, 15}), r.of({6, 15, 36})};
  Dims made{source[0], out};
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t room = source[d + 2] + left[d] + right[d] - ((kernel[d] - 1) * (dilates[d] + 1) + 1);
    if (room < 0) return 0;
    made.push_back(room / strides[d] + 1);
  }
  Dims weight{out / groups, in / groups, kernel[0], kernel[1]};
  if (groups > 1) weight.insert(weight.begin(), groups);
  const DataType type = bytes ? DataType::s8 : DataType::bf16;
  const bool zero_point = bytes && r(0, 2) != 0;
  primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const onednn_ops::ByteScales scales{{1.0f / static_cast<float>(64 * count_of(weight) / out)}, zero_point ? -128 : 0};
  std::unordered_map<int, dnnl::memory> numbers;
  if (bytes) {
    onednn_ops::set_byte_scales(attributes, scales, groups > 1);
    for (const onednn_ops::NumbersArgument& each : onednn_ops::byte_scale_arguments(scales))
      numbers[each.role] = {onednn_ops::plain({each.count}, each.type), onednn_ops::cpu(),
                            const_cast<void*>(each.data)};
  }
  const auto x = onednn_ops::channels_last(source, type), y = onednn_ops::channels_last(made, type);
  const auto w = onednn_ops::plain(weight, type);
  const auto pd = onednn_ops::sound_convolution_descriptor(algorithm::convolution_direct, attributes, zero_point, x,
                                                           onednn_ops::any(weight, type), MemoryDesc(), y, strides,
                                                           dilates, left, right);
  if (!pd) return 0;
  name = pd.impl_info_str();
  if (bytes ? !onednn_ops::adds_exactly(pd) : onednn_ops::is_reference(pd)) return 0;  // davit does not take it
  const auto other = onednn_ops::make_descriptor_if<dnnl::convolution_forward>(
      [&](std::string_view by) {
        return by != name && (by.ends_with("_vnni") || by == "jit_bf16:avx512_core_bf16" || by.starts_with("ref"));
      },
      attributes, dnnl::prop_kind::forward_inference, algorithm::convolution_direct, x, onednn_ops::any(weight, type),
      MemoryDesc(), y, strides, dilates, left, right);
  if (!other) return 0;
  dnnl::stream stream(onednn_ops::cpu());
  Guarded from(x), weights(w), packed(pd.weights_desc()), packed_for_other(other.weights_desc()), to(y), expected(y),
      scratch(pd.scratchpad_desc()), other_scratch(other.scratchpad_desc());
  for (auto* each : {&from, &weights}) {
    const dnnl::memory m = each->memory();
    const std::size_t count = m.get_desc().get_size() / onednn_ops::size_of(type);
    for (std::size_t i = 0; i < count; ++i)
      if (bytes)
        static_cast<std::int8_t*>(m.get_data_handle())[i] = static_cast<std::int8_t>(r(-128, 127));
      else
        static_cast<BFloat16*>(m.get_data_handle())[i] = BFloat16(static_cast<float>(r(-100, 100)) / 50);
  }
  dnnl::memory a = weights.memory(), b = packed.memory(), c = packed_for_other.memory();
  dnnl::reorder(a, b).execute(stream, a, b);
  dnnl::reorder(a, c).execute(stream, a, c);
  const auto with = [&](std::unordered_map<int, dnnl::memory> arguments) {
    arguments.insert(numbers.begin(), numbers.end());
    return arguments;
  };
  dnnl::convolution_forward(pd).execute(stream, with({{DNNL_ARG_SRC, from.memory()},
                                                      {DNNL_ARG_WEIGHTS, b},
                                                      {DNNL_ARG_DST, to.memory()},
                                                      {DNNL_ARG_SCRATCHPAD, scratch.memory()}}));
  dnnl::convolution_forward(other).execute(stream, with({{DNNL_ARG_SRC, from.memory()},
                                                         {DNNL_ARG_WEIGHTS, c},
                                                         {DNNL_ARG_DST, expected.memory()},
                                                         {DNNL_ARG_SCRATCHPAD, other_scratch.memory()}}));
  stream.wait();
  for (const Guarded* each : {&from, &packed, &to, &scratch})
    if (!each->is_intact()) return -1;
  std::int64_t differ = 0;
  const dnnl::memory left_side = to.memory(), right_side = expected.memory();
  for (std::int64_t i = 0; i < count_of(made); ++i) {
    if (bytes) {
      const auto at = [i](const dnnl::memory& m) {
        return static_cast<int>(static_cast<const std::int8_t*>(m.get_data_handle())[i]);
      };
      differ += std::abs(at(left_side) - at(right_side)) > 1;
    } else {
      const auto at = [i](const dnnl::memory& m) {
        return static_cast<float>(static_cast<const BFloat16*>(m.get_data_handle())[i]);
      };
      const float p = at(left_side), q = at(right_side);
      differ += !(std::abs(p - q) <= 0.02f * std::abs(q) + 0.1f);
    }
  }
  return differ;
}

}  // namespace

TEST_CASE("implementations that count as sound compute what others do, and write nothing else") {
  for (const bool bytes : {true, false})
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
      std::string name;
      const std::int64_t differ = differences(seed, bytes, name);
      INFO(name << ", seed " << seed);
      CHECK(differ == 0);
    }
}
