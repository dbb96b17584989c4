// SPDX-License-Identifier: MIT
#include "davit/backends/portable/embed.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "davit/embed/select_steps.hpp"
#include "support/static_both.hpp"

namespace {

using namespace davit;
using static_both::BothWays;
using static_both::Outputs;
constexpr auto f32 = ScalarType::float32;
constexpr auto i64 = ScalarType::int64;
constexpr auto i32 = ScalarType::int32;
constexpr auto b8 = ScalarType::bool_;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Elementwise operators that promote, broadcast, compare and select.
constexpr GraphModule make_mapped() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {2, 3}), i = b.input("i", i64, {3}), j = b.input("j", i32, {2, 1}),
                t = b.input("t", b8, {2, 3});
  const auto v = [&](ValueId id) { return b.value(id); };
  Outputs out(b);
  const ValueId greater = out.add("aten.gt.Scalar", b8, {2, 3}, {{"self", v(x)}, {"other", b.real(0.25)}});
  out.add("aten.where.self", f32, {2, 3}, {{"condition", v(greater)}, {"self", v(x)}, {"other", v(x)}});
  out.add("aten.add.Tensor", i64, {2, 3}, {{"self", v(i)}, {"other", v(j)}, {"alpha", b.integer(-3)}});
  out.add("aten.add.Tensor", f32, {2, 3}, {{"self", v(x)}, {"other", v(i)}});
  out.add("aten.mul.Scalar", i32, {2, 1}, {{"self", v(j)}, {"other", b.integer(1 << 30)}});
  out.add("aten.div.Tensor", f32, {2, 3}, {{"self", v(i)}, {"other", v(j)}});
  out.add("aten.div.Tensor_mode", i64, {2, 3}, {{"self", v(i)}, {"other", v(j)}, {"rounding_mode", b.string("floor")}});
  out.add("aten.remainder.Scalar", i64, {3}, {{"self", v(i)}, {"other", b.integer(3)}});
  out.add("aten.eq.Tensor", b8, {2, 3}, {{"self", v(i)}, {"other", v(j)}});
  out.add("aten.logical_not.default", b8, {2, 3}, {{"self", v(x)}});
  out.add("aten.bitwise_not.default", b8, {2, 3}, {{"self", v(t)}});
  out.add("aten.bitwise_and.Tensor", i64, {2, 3}, {{"self", v(i)}, {"other", v(j)}});
  out.add("aten.bitwise_left_shift.Tensor_Scalar", i32, {2, 1}, {{"self", v(j)}, {"other", b.integer(31)}});
  out.add("aten.__rshift__.Scalar", i64, {3}, {{"self", v(i)}, {"other", b.integer(1)}});
  out.add("aten.bitwise_right_shift.Tensor", i64, {2, 3}, {{"self", v(i)}, {"other", v(j)}});
  out.add("aten.copysign.Tensor", f32, {2, 3}, {{"self", v(i)}, {"other", v(x)}});
  out.add("aten.gcd.default", i64, {2, 3}, {{"self", v(i)}, {"other", v(j)}});
  out.add("aten.empty.memory_format", f32, {2}, {{"size", b.ints({2})}});
  out.add("aten.logical_or.default", b8, {2, 3}, {{"self", v(x)}, {"other", v(t)}});
  out.add("aten._to_copy.default", i64, {2, 3}, {{"self", v(x)}, {"dtype", b.scalar_type(i64)}});
  out.add("aten._to_copy.default", f32, {2, 3}, {{"self", v(t)}, {"dtype", b.scalar_type(f32)}});
  out.add("aten.clamp.default", i64, {3}, {{"self", v(i)}, {"min", b.integer(-1)}, {"max", b.integer(2)}});
  out.add("aten.full_like.default", i64, {3}, {{"self", v(i)}, {"fill_value", b.integer(7)}});
  out.add("aten.arange.start_step", f32, {4}, {{"start", b.real(1)}, {"end", b.real(3)}, {"step", b.real(0.5)}});
  out.add("aten.pow.Tensor_Scalar", f32, {2, 3}, {{"self", v(x)}, {"exponent", b.integer(2)}});
  out.add("aten.isnan.default", b8, {2, 3}, {{"self", v(x)}});
  const ValueId large = out.add("aten.mul.Scalar", f32, {2, 3}, {{"self", v(x)}, {"other", b.real(3e9)}});
  for (const ScalarType type : {i32, ScalarType::int8, ScalarType::uint8})
    out.add("aten._to_copy.default", type, {2, 3}, {{"self", v(large)}, {"dtype", b.scalar_type(type)}});
  const ValueId half = out.add("aten._to_copy.default", ScalarType::bfloat16, {2, 3},
                               {{"self", v(x)}, {"dtype", b.scalar_type(ScalarType::bfloat16)}});
  out.add("aten.sub.Tensor", ScalarType::bfloat16, {2, 3},
          {{"self", v(half)}, {"other", v(half)}, {"alpha", b.real(0.1)}});
  out.add("aten.add.Tensor", ScalarType::bfloat16, {2, 3},
          {{"self", v(half)}, {"other", b.real(0.3)}, {"alpha", b.real(0.1)}});
  out.add("aten.add.Scalar", ScalarType::bfloat16, {2, 3}, {{"self", v(half)}, {"other", b.real(0.3)}});
  out.add("aten.mul.Scalar", ScalarType::bfloat16, {2, 3}, {{"self", v(half)}, {"other", b.real(0.1)}});
  out.add("aten.clamp.default", f32, {2, 3},
          {{"self", v(x)}, {"min", b.real(std::numeric_limits<double>::quiet_NaN())}});
  out.end();
  return std::move(b).finish();
}
constexpr BothWays<make_mapped>::Inputs mapped_inputs{
    {0.5f, -1, nan, 0, 3, -0.125f}, {-4, 7, 2}, {3, -2}, {true, false, true, true, false, false}};

/// Functions of <cmath>, which differ slightly.
constexpr GraphModule make_functions() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {8});
  Outputs out(b);
  for (const std::string_view target :
       {"aten.sin.default", "aten.cos.default", "aten.log.default", "aten.log1p.default", "aten.expm1.default",
        "aten.erf.default", "aten.floor.default", "aten.round.default", "aten.sign.default", "aten.mish.default",
        "aten.reciprocal.default", "aten.leaky_relu.default", "aten.elu.default", "aten.erfc.default",
        "aten.erfinv.default", "aten.special_erfcx.default", "aten.lgamma.default", "aten.digamma.default",
        "aten.i0.default"})
    out.add(target, f32, {8}, {{"self", b.value(x)}});
  out.add("aten.pow.Tensor_Scalar", f32, {8}, {{"self", b.value(x)}, {"exponent", b.real(1.7)}});
  out.add("aten.pow.Tensor_Scalar", f32, {8}, {{"self", b.value(x)}, {"exponent", b.real(-0.5)}});
  out.add("aten.hypot.default", f32, {8}, {{"self", b.value(x)}, {"other", b.value(x)}});
  out.add("aten.pow.Scalar", f32, {8}, {{"self", b.real(2)}, {"exponent", b.value(x)}});
  out.end();
  return std::move(b).finish();
}
constexpr BothWays<make_functions>::Inputs function_inputs{{-2.5f, -0.5f, 0, 0.25f, 1, 1.5f, 3.75f, nan}};

/// Operators that gather and scatter by index tensors, and that write parts.
constexpr GraphModule make_index() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {3, 4}), rows = b.input("rows", i64, {2}), columns = b.input("columns", i64, {2}),
                at = b.input("at", i64, {2, 4}), y = b.input("y", f32, {2, 4});
  const auto v = [&](ValueId id) { return b.value(id); };
  const auto indices = [&](std::initializer_list<Argument> list) {
    return b.list(std::vector<Argument>(list), ArgumentKind::value);
  };
  Outputs out(b);
  out.add("aten.index.Tensor", f32, {2, 4}, {{"self", v(x)}, {"indices", indices({v(rows)})}});
  out.add("aten.index.Tensor", f32, {3, 2}, {{"self", v(x)}, {"indices", indices({b.none(), v(columns)})}});
  out.add("aten.index.Tensor", f32, {2}, {{"self", v(x)}, {"indices", indices({v(rows), v(columns)})}});
  out.add("aten.index_select.default", f32, {3, 2}, {{"self", v(x)}, {"dim", b.integer(-1)}, {"index", v(columns)}});
  out.add("aten.gather.default", f32, {2, 4}, {{"self", v(x)}, {"dim", b.integer(0)}, {"index", v(at)}});
  out.add("aten.index_put.default", f32, {3, 4}, {{"self", v(x)}, {"indices", indices({v(rows)})}, {"values", v(y)}});
  out.add("aten.index_put.default", f32, {3, 4},
          {{"self", v(x)}, {"indices", indices({v(rows)})}, {"values", v(y)}, {"accumulate", b.boolean(true)}});
  out.add("aten.scatter.src", f32, {3, 4}, {{"self", v(x)}, {"dim", b.integer(0)}, {"index", v(at)}, {"src", v(y)}});
  out.add("aten.scatter.value", f32, {3, 4},
          {{"self", v(x)}, {"dim", b.integer(0)}, {"index", v(at)}, {"value", b.real(9)}});
  out.add("aten.scatter_add.default", f32, {3, 4},
          {{"self", v(x)}, {"dim", b.integer(0)}, {"index", v(at)}, {"src", v(y)}});
  out.add("aten.slice_scatter.default", f32, {3, 4},
          {{"self", v(x)}, {"src", v(y)}, {"dim", b.integer(0)}, {"start", b.integer(1)}, {"end", b.integer(3)}});
  out.add("aten.flip.default", f32, {3, 4}, {{"self", v(x)}, {"dims", b.ints({1})}});
  out.add("aten.reflection_pad1d.default", f32, {3, 8}, {{"self", v(x)}, {"padding", b.ints({3, 1})}});
  out.add("aten.constant_pad_nd.default", f32, {3, 4},
          {{"self", v(x)}, {"pad", b.ints({-1, 1})}, {"value", b.real(2.5)}});
  out.add("aten.unfold.default", f32, {3, 2, 2},
          {{"self", v(x)}, {"dimension", b.integer(1)}, {"size", b.integer(2)}, {"step", b.integer(2)}});
  out.end();
  return std::move(b).finish();
}
constexpr BothWays<make_index>::Inputs index_inputs{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                                                    {2, 0},
                                                    {3, 1},
                                                    {0, 1, 2, 0, 2, 0, 1, 1},
                                                    {-1, -2, -3, -4, -5, -6, -7, -8}};

/// Reductions, scans and sorting.
constexpr GraphModule make_fold() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {2, 5}), i = b.input("i", i64, {2, 5}), t = b.input("t", b8, {2, 5});
  const auto v = [&](ValueId id) { return b.value(id); };
  Outputs out(b);
  out.add("aten.sum.dim_IntList", i64, {2}, {{"self", v(t)}, {"dim", b.ints({1})}});
  out.add("aten.sum.default", i64, {}, {{"self", v(i)}});
  out.add("aten.prod.dim_int", i64, {5}, {{"self", v(i)}, {"dim", b.integer(0)}});
  out.add("aten.any.dim", b8, {2}, {{"self", v(t)}, {"dim", b.integer(-1)}});
  out.add("aten.any.default", b8, {}, {{"self", v(x)}});
  out.add("aten.amax.default", i64, {2}, {{"self", v(i)}, {"dim", b.ints({1})}});
  out.add("aten.max.default", f32, {}, {{"self", v(x)}});
  out.add("aten.cumsum.default", i64, {2, 5}, {{"self", v(t)}, {"dim", b.integer(1)}});
  out.add("aten.cumprod.default", f32, {2, 5}, {{"self", v(x)}, {"dim", b.integer(0)}});
  out.end();
  return std::move(b).finish();
}
constexpr BothWays<make_fold>::Inputs fold_inputs{{0.5f, -1, 2, 0.5f, 3, 1, 4, -2, 0, 2},
                                                  {5, -3, 2, 2, 9, 1, 8, -7, 3, 9},
                                                  {true, false, true, true, false, false, false, false, false, false}};

/// Layers over one or three dimensions, transposed ones, and norms.
constexpr GraphModule make_layers() {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {1, 2, 5}), w = b.input("w", f32, {2, 3, 3}), c = b.input("c", f32, {3}),
                cube = b.input("cube", f32, {1, 1, 2, 3, 3}), k = b.input("k", f32, {1, 1, 2, 2, 2}),
                s = b.input("s", f32, {2}), d = b.input("d", ScalarType::float64, {2, 3}),
                e = b.input("e", ScalarType::float64, {3, 2}), m = b.input("m", ScalarType::float64, {3}),
                image = b.input("image", f32, {1, 2, 2, 2});
  const auto v = [&](ValueId id) { return b.value(id); };
  Outputs out(b);
  out.add("aten.convolution.default", f32, {1, 3, 10},
          {{"input", v(x)},
           {"weight", v(w)},
           {"bias", v(c)},
           {"stride", b.ints({2})},
           {"padding", b.ints({1})},
           {"dilation", b.ints({1})},
           {"transposed", b.boolean(true)},
           {"output_padding", b.ints({1})},
           {"groups", b.integer(1)}});
  out.add("aten.convolution.default", f32, {1, 1, 1, 2, 2},
          {{"input", v(cube)},
           {"weight", v(k)},
           {"bias", b.none()},
           {"stride", b.ints({1, 1, 1})},
           {"padding", b.ints({0, 0, 0})},
           {"dilation", b.ints({1, 1, 1})},
           {"transposed", b.boolean(false)},
           {"output_padding", b.ints({0, 0, 0})},
           {"groups", b.integer(1)}});
  out.add("aten.avg_pool1d.default", f32, {1, 2, 3},
          {{"self", v(x)}, {"kernel_size", b.ints({2})}, {"stride", b.ints({2})}, {"padding", b.ints({1})}});
  out.add("aten.native_group_norm.default", f32, {1, 2, 5},
          {{"input", v(x)},
           {"weight", v(s)},
           {"bias", v(s)},
           {"N", b.integer(1)},
           {"C", b.integer(2)},
           {"HxW", b.integer(5)},
           {"group", b.integer(1)},
           {"eps", b.real(1e-5)}});
  out.add("aten._native_batch_norm_legit_no_training.default", ScalarType::float64, {2, 3},
          {{"input", v(d)},
           {"weight", v(m)},
           {"bias", b.none()},
           {"running_mean", v(m)},
           {"running_var", v(m)},
           {"momentum", b.real(0.1)},
           {"eps", b.real(1e-5)}});
  out.add("aten.upsample_bilinear2d.vec", f32, {1, 2, 5, 3},
          {{"input", v(image)},
           {"output_size", b.ints({5, 3})},
           {"align_corners", b.boolean(false)},
           {"scale_factors", b.none()}});
  out.add("aten.upsample_bilinear2d.lerp", f32, {1, 2, 5, 3},
          {{"input", v(image)}, {"output_size", b.ints({5, 3})}, {"align_corners", b.boolean(false)}});
  out.add("aten.upsample_bicubic2d.vec", f32, {1, 2, 5, 3},
          {{"input", v(image)},
           {"output_size", b.ints({5, 3})},
           {"align_corners", b.boolean(false)},
           {"scale_factors", b.none()}});
  out.add("aten._upsample_bicubic2d_aa.default", f32, {1, 2, 1, 3},
          {{"self", v(image)},
           {"output_size", b.ints({1, 3})},
           {"align_corners", b.boolean(false)},
           {"scales_h", b.none()},
           {"scales_w", b.none()}});
  out.add("aten._upsample_nearest_exact2d.default", f32, {1, 2, 5, 3},
          {{"self", v(image)}, {"output_size", b.ints({5, 3})}, {"scales_h", b.none()}, {"scales_w", b.none()}});
  out.add("aten.upsample_nearest2d.vec", f32, {1, 2, 5, 3},
          {{"input", v(image)}, {"output_size", b.ints({5, 3})}, {"scale_factors", b.none()}});
  out.add("aten.mm.default", ScalarType::float64, {2, 2}, {{"self", v(d)}, {"mat2", v(e)}});
  out.end();
  return std::move(b).finish();
}
constexpr BothWays<make_layers>::Inputs layer_inputs{{1, -2, 3, 0.5f, 2, -1, 4, 0.25f, -3, 1},
                                                     {1, 2, 3, -1, 0.5f, 2, 1, 1, -2, 0.5f, 3, 1, 2, -1, 1, 0, 1, 2},
                                                     {0.5f, -1, 2},
                                                     {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1},
                                                     {1, -1, 2, 0.5f, 1, 1, -2, 3},
                                                     {2, -1},
                                                     {1, 2, 3, 4, 5, 6},
                                                     {1, -1, 0.5, 2, 3, -2},
                                                     {0.5, 1, 2},
                                                     {1, -2, 3, 4, 0.5f, 6, -7, 8}};

/// Runs in constant evaluation.
template <class Both>
constexpr bool runs_when_compiled(const typename Both::Inputs& inputs) {
  bool ok = false;
  (void)Both::run_static(inputs, ok);
  return ok;
}
static_assert(runs_when_compiled<BothWays<make_index>>(index_inputs));
static_assert(runs_when_compiled<BothWays<make_fold>>(fold_inputs));

/// The reason why the only call of a graph with two inputs is refused; "" if it is taken.
constexpr std::string_view refusal(GraphBuilder&& b) {
  const GraphModule module = std::move(b).finish();
  const StaticGraphRows rows(module.view());
  constexpr std::array<StaticInput, 2> inputs{};
  const std::uint8_t owner = EmbedGraph::unassigned;
  const EmbedGraph graph{
      .graph = rows.view(), .inputs = inputs.data(), .backend_of = &owner, .self = EmbedGraph::probing};
  StepTables trial;
  const char* const why = davit::detail::refusal<portable_static>(EmbedNode{graph, 0}, trial);
  return why == nullptr ? "" : why;
}
/// The reason why y, (4) for an index and else (2, 4), cannot be put into x (3, 4).
constexpr std::string_view refusal(std::string_view target, std::string_view number, std::int64_t dim,
                                   std::int64_t start, std::int64_t end) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", f32, {3, 4});
  const ValueId y = number == "index" ? b.input("y", f32, {4}) : b.input("y", f32, {2, 4});
  b.end_graph({b.call(target,
                      {{"self", b.value(x)},
                       {"src", b.value(y)},
                       {"dim", b.integer(dim)},
                       {number, b.integer(start)},
                       {"end", b.integer(end)}},
                      "z", f32, {3, 4})});
  return refusal(std::move(b));
}
/// The reason why bytes (3, 4) cannot be dequantized by 4 scales along a dimension.
constexpr std::string_view scales_refusal(std::int64_t axis) {
  GraphBuilder b;
  b.begin_graph();
  const ValueId x = b.input("x", ScalarType::int8, {3, 4}), scales = b.input("scales", f32, {4});
  b.end_graph({b.call("quantized_decomposed.dequantize_per_channel.default",
                      {{"input", b.value(x)},
                       {"scales", b.value(scales)},
                       {"zero_points", b.none()},
                       {"axis", b.integer(axis)},
                       {"quant_min", b.integer(-128)},
                       {"quant_max", b.integer(127)}},
                      "z", f32, {3, 4})});
  return refusal(std::move(b));
}
constexpr bool refuses_scales_outside() {
  const std::string_view outside = "the scales are no tensor, or their dimension is not one of the input's";
  return scales_refusal(1).empty() && scales_refusal(-1).empty() && scales_refusal(2) == outside &&
         scales_refusal(-3) == outside;
}
static_assert(refuses_scales_outside());
constexpr bool refuses_parts_outside() {
  const auto slice = [](std::int64_t dim, std::int64_t end) {
    return refusal("aten.slice_scatter.default", "start", dim, 1, end);
  };
  const auto select = [](std::int64_t index) { return refusal("aten.select_scatter.default", "index", 0, index, 0); };
  return slice(0, 3).empty() && slice(0, 2) == "its source does not have the sizes of the part" &&
         slice(2, 3) == "the dimension is out of range" && select(3) == "the index is outside the dimension" &&
         select(-4) == "the index is outside the dimension";
}
static_assert(refuses_parts_outside());

}  // namespace

TEST_CASE("static programs equal portable at run time: elementwise operators on any type") {
  CHECK(BothWays<make_mapped>::differences(mapped_inputs) == "");
  CHECK(BothWays<make_functions>::differences(function_inputs, 1e-6) == "");
}
TEST_CASE("static programs equal portable at run time: elements by index, parts, padding") {
  CHECK(BothWays<make_index>::differences(index_inputs) == "");
}
TEST_CASE("static programs equal portable at run time: reductions and scans") {
  CHECK(BothWays<make_fold>::differences(fold_inputs, 1e-6) == "");
}
TEST_CASE("static programs equal portable at run time: layers of any number of dimensions") {
  CHECK(BothWays<make_layers>::differences(layer_inputs, 1e-6) == "");
}

TEST_CASE("a part that is put where the tensor is not is refused") { CHECK(refuses_parts_outside()); }
TEST_CASE("scales along a dimension that is not there are refused") { CHECK(refuses_scales_outside()); }
