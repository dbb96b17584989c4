// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davit/backend/program_body.hpp"
#include "davit/backends/kit/int8_patterns.hpp"
#include "davit/backends/portable/run_time/products/byte_products.hpp"
#include "davit/program/operators/binary.hpp"
#include "davit/program/operators/convolution.hpp"
#include "davit/program/operators/matmul.hpp"

namespace davit::portable_kernels {

/// A product or a sum of bytes, in place of its quantize, operator and dequantizes.
struct Int8Step {
  NodeId quantize = no_id;
  NodeId node = no_id;  ///< the operator
  ValueId first = no_id;
  ValueId second = no_id;             ///< no_id of a product
  std::array<Tensor, 2> constants{};  ///< of a product: packed weights; scales and biases
  Int8Parameters parameters;
  ByteProduct product;
  ByteLayout layout = ByteLayout::row_major;

  [[nodiscard]] bool is_sum() const noexcept { return second != no_id; }
  [[nodiscard]] std::vector<EValue> numbers() const {
    const Int8Parameters& q = parameters;
    return is_sum() ? byte_sum_numbers(q.source, q.other, q.range, layout)
                    : byte_product_numbers(product, static_cast<std::int32_t>(q.source.zero_point), q.range, layout);
  }
};

/// Finds convolutions, products with matrices and sums between dequantize and quantize, as PT2E writes them, and
/// computes them on bytes. Bytes that only such steps read are channels_last.
class Int8Plan {
 public:
  /// Matches and packs weights, on CPUs that have the kernels. `fixed_sizes`: leaves out symbolic sizes; `sums_only`:
  /// leaves out products. O(arguments + weights).
  explicit Int8Plan(const ProgramBody& body, bool fixed_sizes = false, bool sums_only = false)
      : graph_(body.graph.view()),
        calls_{graph_, Uses(graph_)},
        constants_(constants_of_values(body)),
        step_of_(graph_.nodes.size(), no_id),
        absorbed_(graph_.nodes.size(), 0) {
    if (!kernels::can_convolve_bytes()) return;
    const auto constant_of = [this](ValueId v) { return constants_[v]; };
    const Int8Patterns patterns(calls_, constant_of);
    for (NodeId n = graph_.root().nodes.first; n < graph_.root().nodes.first + graph_.root().nodes.count; ++n) {
      const std::optional<Int8Result> to = patterns.result_of(n);
      const NodeId inner = to && !narrow(patterns, *to, n) ? operators::inner_producer(calls_, to->value) : no_id;
      if (inner == no_id) continue;
      std::optional<Int8Step> step = sum(patterns, *to, inner);
      if (!step && !sums_only) step = convolution(patterns, *to, inner);
      if (!step && !sums_only) step = matmul(patterns, *to, inner);
      if (!step || (fixed_sizes && !(is_fixed(to->bytes) && is_fixed(step->first)))) continue;
      step->quantize = n;
      step->node = inner;
      absorb(to->quantize.input);
      absorb(to->value);
      step_of_[n] = static_cast<std::uint32_t>(steps_.size());
      steps_.push_back(*std::move(step));
    }
    settle();
  }

  /// Returns the step in place of the node, or nullptr.
  [[nodiscard]] Int8Step* step_of(NodeId n) noexcept { return step_of_[n] == no_id ? nullptr : &steps_[step_of_[n]]; }
  /// True if a step computes the node's result.
  [[nodiscard]] bool is_absorbed(NodeId n) const noexcept { return absorbed_[n] != 0; }

 private:
  [[nodiscard]] bool is_fixed(ValueId v) const noexcept {
    return std::ranges::all_of(graph_.dims_of(graph_.values[v].sizes), [](const Dim& d) { return d.is_static(); });
  }
  void absorb(ValueId v) {
    if (const NodeId n = calls_.foldable_producer(v); n != no_id) absorbed_[n] = 1;
  }
  /// Fuses clamps, as floats, into the int8 step whose result only they use; false if there is none.
  [[nodiscard]] bool narrow(const Int8Patterns& patterns, const Int8Result& to, NodeId n) {
    const auto x = to.is_bounded() && calls_.is_single(to.value) ? patterns.bytes_of(to.value) : std::nullopt;
    const NodeId producer = x && patterns.is_same(*x, to) ? operators::inner_producer(calls_, x->input) : no_id;
    Int8Step* const step = producer == no_id ? nullptr : step_of(producer);
    if (step == nullptr) return false;
    kernels::ByteRange& range = step->parameters.range;
    if (std::max(range.low, to.range.low) > std::min(range.high, to.range.high)) return false;
    range.low = std::max(range.low, to.range.low);
    range.high = std::min(range.high, to.range.high);
    step->quantize = n;
    std::swap(step_of_[n], step_of_[producer]);
    absorbed_[producer] = 1;
    absorb(to.quantize.input);
    absorb(to.value);
    return true;
  }
  [[nodiscard]] std::optional<Int8Step> sum(const Int8Patterns& patterns, const Int8Result& to, NodeId n) {
    operators::BinaryView view;
    if (operators::read_binary(calls_.call(n), view) || view.function != operators::BinaryFunction::add ||
        view.alpha != 1)
      return {};
    if (view.left == no_id || view.right == no_id) return {};
    std::optional<Int8Operation> on = patterns.sum(to, view.left, view.right);
    if (!on) return {};
    absorb(view.left);
    absorb(view.right);
    return Int8Step{.first = on->first, .second = on->second, .parameters = std::move(on->parameters), .product = {}};
  }
  [[nodiscard]] std::optional<Int8Step> convolution(const Int8Patterns& patterns, const Int8Result& to, NodeId n) {
    operators::ConvolutionView view;
    const operators::NodeArguments call = calls_.call(n);
    if (operators::read_convolution(call, view) || view.transposed || !view.batched || view.dims > 2) return {};
    const std::optional<Int8Operation> on = patterns.product(to, view.input, view.weight, false, view.bias);
    if (!on) return {};
    const Tensor& w = *constants_[on->second];
    if (w.sizes.size() != view.dims + 2 || call.rank(on->first) != view.dims + 2) return {};
    const auto spatial = [&](std::size_t d) {
      return d + view.dims < 3 ? 1 : call.size(on->first, d + view.dims - 1);
    };  // d: of three dimensions
    const auto window = [&](std::size_t d) { return d + view.dims < 3 ? 1 : w.sizes[d + view.dims - 1]; };
    const auto made = [&](std::size_t d) {
      return (spatial(d) + view.padding[d] + view.padding_end[d] - (window(d) - 1) * view.dilation[d] - 1) /
                 view.stride[d] +
             1;
    };
    const bool depthwise = view.groups > 1;
    if (depthwise && (view.groups != w.sizes[0] || w.sizes[1] != 1)) return {};
    for (const std::int64_t size : {spatial(1), spatial(2), window(1), window(2)})
      if (size < 1 || size > operators::max_window) return {};
    const ByteProduct product{.convolution = {.height = spatial(1),
                                              .width = spatial(2),
                                              .channels = depthwise ? view.groups : w.sizes[1],
                                              .out_height = made(1),
                                              .out_width = made(2),
                                              .out_channels = w.sizes[0],
                                              .kernel_height = window(1),
                                              .kernel_width = window(2),
                                              .stride_height = view.stride[1],
                                              .stride_width = view.stride[2],
                                              .dilation_height = view.dilation[1],
                                              .dilation_width = view.dilation[2],
                                              .top = view.padding[1],
                                              .left = view.padding[2],
                                              .depthwise = depthwise},
                              .bottom = view.padding_end[1],
                              .right = view.padding_end[2]};
    return finished(patterns, to, *on, product, view.input, view.weight, view.bias);
  }
  [[nodiscard]] std::optional<Int8Step> matmul(const Int8Patterns& patterns, const Int8Result& to, NodeId n) {
    operators::MatmulView view;
    if (operators::read_matmul(calls_.call(n), view) || !view.is_plain()) return {};
    const std::optional<Int8Operation> on = patterns.product(to, view.left, view.right, !view.transposed, view.addend);
    if (!on) return {};
    const Tensor& w = *constants_[on->second];
    if (w.sizes.size() != 2) return {};
    const ByteProduct product{.convolution = {.channels = w.sizes[1], .out_channels = w.sizes[0]}, .of_rows = true};
    std::optional<Int8Step> step = finished(patterns, to, *on, product, view.left, view.right, view.addend);
    if (step && !view.transposed)
      if (PermutationView moved; !read_permutation(calls_.call(calls_.foldable_producer(view.right)), moved))
        absorb(moved.input);
    return step;
  }
  using PermutationView = operators::PermutationView;

  /// The step of a product with packed constants; nothing if the kernel cannot compute it.
  [[nodiscard]] std::optional<Int8Step> finished(const Int8Patterns& patterns, const Int8Result& to,
                                                 const Int8Operation& on, const ByteProduct& product, ValueId source,
                                                 ValueId weight, ValueId bias) {
    const kernels::ByteConvolution& c = product.convolution;
    const Tensor& w = *constants_[on.second];
    const Tensor* const b = bias == no_id ? nullptr : constants_[bias];
    if (!kernels::is_countable(c) || !patterns.sums_fit(c, on.parameters, bias) || !w.view().is_contiguous()) return {};
    Int8Step step{.first = on.first, .parameters = on.parameters, .product = product};
    step.product.made = graph_.values[to.bytes].dtype;
    const std::int64_t sizes[] = {kernels::packed_bytes_size(c), 2 * kernels::padded_channels(c)};
    step.constants = {Tensor::zeros(ScalarType::int16, std::span(sizes, 1)),
                      Tensor::zeros(ScalarType::float32, std::span(sizes + 1, 1))};
    for (const Tensor& t : step.constants)
      if (t.storage.size() == 0) return {};
    pack_weights(c, w.view().as<std::int8_t>(), step.constants[0].view().as<std::int16_t>());
    fill_channels(c, on.parameters, b == nullptr ? nullptr : b->view().as<float>(),
                  step.constants[1].view().as<float>());
    absorb(source);
    absorb(weight);
    return step;
  }

  /// Keeps matched nodes that other nodes need, and chooses the layout of bytes for the steps.
  void settle() {
    std::vector<std::uint8_t> needed(graph_.values.size(), 0),
        shown(graph_.values.size(), 0);  // shown: used by other nodes, in row-major order
    const auto show = [&](const Argument& a) {
      graph_.for_each_value(a, [&](ValueId v) { needed[v] = shown[v] = 1; });
    };
    for (const Argument& a : graph_.args(graph_.root().outputs)) show(a);
    for (NodeId n = graph_.root().nodes.first + graph_.root().nodes.count; n-- > graph_.root().nodes.first;) {
      if (const Int8Step* const step = step_of(n)) {
        for (const ValueId v : {step->first, step->second})
          if (v != no_id) needed[v] = 1;
        if (step->product.of_rows) shown[step->first] = 1;
        continue;
      }
      bool any = false;
      for (const Argument& a : operator_call(graph_, graph_.nodes[n]).outputs)
        graph_.for_each_value(a, [&](ValueId v) { any = any || needed[v] != 0; });
      if (absorbed_[n] != 0 && !any) continue;
      absorbed_[n] = 0;
      for (const Argument& a : graph_.inputs(graph_.nodes[n])) show(a);
    }
    std::vector<std::uint8_t> last(graph_.values.size(), 0);  // channels_last
    for (Int8Step& step : steps_) {
      const ValueId made = calls_.call(step.quantize).output();
      const bool images = step.is_sum() ? last[step.first] != 0 || last[step.second] != 0 : !step.product.of_rows;
      if (images && shown[made] == 0) {
        step.layout = ByteLayout::channels_last;
        last[made] = 1;
      }
    }
  }

  GraphModuleView graph_;
  operators::ProgramCalls calls_;
  std::vector<const Tensor*> constants_;  ///< per value
  std::vector<std::uint32_t> step_of_;    ///< per node
  std::vector<std::uint8_t> absorbed_;    ///< per node
  std::vector<Int8Step> steps_;
};

}  // namespace davit::portable_kernels
