// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/testing/detail/random_moves.hpp"

namespace davit::testing {

/// Steps of a random program that are network layers: convolutions with a norm and a function behind them, pooling,
/// normalizations, attention, recurrent layers, resizing. Their weights are parts of one parameter.
class RandomLayers : protected RandomMoves {
 protected:
  using RandomMoves::RandomMoves;

  /// Declares the parameter; weights are finite, and can be summed without rounding.
  void declare_weights(ProgramTables& tables) {
    weights_ =
        parameter<float>(tables, "layers", 512, [](int k) { return static_cast<float>((k * 37 + 5) % 17 - 8) / 8; });
  }
  /// Declares a 1-dimensional parameter with these elements.
  template <class T, class Element>
  [[nodiscard]] Known parameter(ProgramTables& tables, const Name& name, std::int64_t count, Element&& element) {
    const Name input = concat("p_", name);
    const Known out{.id = declare(input, {dim(count)}, scalar_type_of<T>),
                    .dtype = scalar_type_of<T>,
                    .sizes = {dim(count)},
                    .fixed = true};
    b_.input(b_.value(out.id));
    tables.signature.input_specs.push_back(InputToParameterSpec({input}, name));
    Tensor values = Tensor::zeros(out.dtype, std::span(&count, 1));
    for (int k = 0; k < count; ++k) values.view().as<T>()[k] = element(k);
    tables.state_dict.push_back({name, std::move(values)});
    return out;
  }

  /// Adds a layer on some value; false if none fits.
  bool layer() {
    const std::size_t kind = random_.below(13);
    if (kind < 7) {
      const auto x = image();
      if (!x) return false;
      switch (kind) {
        case 0:
        case 1:
        case 2: keep(behind_convolution(convolution(*x, random_.one_in(5)))); break;
        case 3: keep(pooling(*x)); break;
        case 4: keep(resized(*x)); break;
        case 5:
          keep(emit("aten.adaptive_avg_pool2d.default", {v(*x), b_.ints({1, 1})},
                    {x->sizes[0], x->sizes[1], dim(1), dim(1)}));
          break;
        default: keep(x->sizes[0].is_static() && has_planes(*x) ? group_norm(*x) : function(*x)); break;
      }
      return true;
    }
    const auto x = some([](const Known& k) {
      return !k.sizes.empty() && is_full(k.sizes) && k.sizes.back().is_static() && k.sizes.back().value <= 32;
    });
    if (!x) return false;
    switch (kind) {
      case 7: keep(x->sizes.back().value > 1 ? layer_norm(*x) : function(*x)); break;
      case 8: keep(linear(*x)); break;
      case 9: keep(function(*x)); break;
      case 10: return recurrent();
      default: return attention();
    }
    return true;
  }

  [[nodiscard]] static bool is_full(const std::vector<Dim>& sizes) {
    return std::ranges::all_of(sizes, [](const Dim& d) { return d.value > 0; });
  }
  /// Normalizing a single number gives 0 plus rounding errors, which cannot be compared.
  [[nodiscard]] static bool has_planes(const Known& x) { return x.sizes[2].value * x.sizes[3].value > 1; }
  [[nodiscard]] std::int64_t up_to(std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(most)));
  }

  /// A part of a parameter, in these sizes.
  [[nodiscard]] Known part(const Known& whole, std::initializer_list<std::int64_t> sizes) {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    const std::int64_t start =
        static_cast<std::int64_t>(random_.below(static_cast<std::size_t>(whole.sizes[0].value - count + 1)));
    const Known flat = sliced(whole, 0, start, count, start + count);
    return sizes.size() == 1 ? flat : view(flat, sizes);
  }
  [[nodiscard]] Known view(const Known& x, std::initializer_list<std::int64_t> sizes) {
    std::vector<Dim> dims;
    for (const std::int64_t size : sizes) dims.push_back(dim(size));
    return emit("aten.view.default", {v(x), b_.ints(sizes)}, std::move(dims), x.dtype);
  }
  [[nodiscard]] Known weight(std::initializer_list<std::int64_t> sizes) { return part(weights_, sizes); }
  /// A recurrent layer over steps of small rows; false if no value fits.
  bool recurrent() {
    const auto x = some([](const Known& k) {
      return k.sizes.size() == 3 && is_full(k.sizes) &&
             std::ranges::all_of(k.sizes, [](const Dim& d) { return d.is_static() && d.value <= 8; });
    });
    if (!x) return false;
    const std::int64_t hidden = 2, layers = up_to(2), directions = up_to(2), ends = layers * directions;
    const bool batch_first = random_.one_in(2), biased = random_.one_in(2);
    const Dim batch = x->sizes[batch_first ? 0 : 1];
    const Known start = filled(b_.ints({ends, batch.value, hidden}), b_.real(0.25), {dim(ends), batch, dim(hidden)});
    const std::string_view kinds[] = {"aten.gru.input", "aten.lstm.input", "aten.rnn_tanh.input"};
    const std::size_t kind = random_.below(3);
    const std::int64_t gates = (kind == 0 ? 3 : kind == 1 ? 4 : 1) * hidden;
    std::vector<Argument> weights;
    for (std::int64_t l = 0; l < ends; ++l) {
      weights.push_back(v(weight({gates, l < directions ? x->sizes[2].value : hidden * directions})));
      weights.push_back(v(weight({gates, hidden})));
      for (int k = 0; k < 2 && biased; ++k) weights.push_back(v(weight({gates})));
    }
    const std::vector<Dim> sizes{x->sizes[0], x->sizes[1], dim(hidden * directions)},
        last{dim(ends), batch, dim(hidden)};
    std::vector<Known> made{{.id = declare(fresh("layer"), sizes), .sizes = sizes}};
    for (std::size_t k = 0; k < (kind == 1 ? 2 : 1); ++k)
      made.push_back({.id = declare(fresh("layer"), last), .sizes = last});
    std::vector<Argument> outputs;
    for (const Known& each : made) outputs.push_back(v(each));
    const Argument states[] = {v(start), v(start)};
    node(kinds[kind],
         {v(*x), kind == 1 ? b_.list(states, ArgumentKind::value) : v(start), b_.list(weights, ArgumentKind::value),
          b_.boolean(biased), i(layers), b_.real(0), b_.boolean(false), b_.boolean(directions == 2),
          b_.boolean(batch_first)},
         outputs);
    for (const Known& each : made) keep(each);
    return true;
  }
  /// A small value of four dimensions that is not empty, with at most a symbolic batch.
  [[nodiscard]] std::optional<Known> image() {
    auto x = some([](const Known& k) {
      return k.sizes.size() >= 2 && k.sizes.size() <= 4 && is_full(k.sizes) &&
             std::all_of(k.sizes.begin() + 1, k.sizes.end(),
                         [](const Dim& d) { return d.is_static() && d.value <= 8; });
    });
    if (!x) return x;
    while (x->sizes.size() < 4) {
      const bool first = x->sizes[0].is_static() && x->sizes[0].value <= 8 && random_.one_in(2);
      x = unsqueezed(*x, first ? 0 : x->sizes.size());
    }
    return x;
  }

  [[nodiscard]] Known convolution(const Known& x, bool transposed) {
    return convolution(x, transposed, [this](std::initializer_list<std::int64_t> sizes) { return weight(sizes); });
  }
  template <class Weight>
  [[nodiscard]] Known convolution(const Known& x, bool transposed, Weight&& weights) {
    const std::int64_t channels = x.sizes[1].value;
    const std::int64_t groups = channels > 1 && random_.one_in(3) ? channels : 1;
    const std::int64_t each = up_to(groups > 1 ? 2 : 5);
    const std::int64_t filters = groups * each;
    std::int64_t kernel[2], stride[2], pad[2];
    std::vector<Dim> sizes{x.sizes[0], dim(filters)};
    for (std::size_t d = 0; d < 2; ++d) {
      const std::int64_t in = x.sizes[d + 2].value;
      pad[d] = transposed ? 0 : static_cast<std::int64_t>(random_.below(2));
      kernel[d] = up_to(std::min<std::int64_t>(3, transposed ? 3 : in + 2 * pad[d]));
      stride[d] = up_to(2);
      sizes.push_back(
          dim(transposed ? (in - 1) * stride[d] + kernel[d] : (in + 2 * pad[d] - kernel[d]) / stride[d] + 1));
    }
    const Known w = transposed ? weights({channels, each, kernel[0], kernel[1]})
                               : weights({filters, channels / groups, kernel[0], kernel[1]});
    const Argument bias = random_.one_in(2) ? b_.none() : v(weight({filters}));
    return emit("aten.convolution.default",
                {v(x), v(w), bias, b_.ints({stride[0], stride[1]}), b_.ints({pad[0], pad[1]}), b_.ints({1, 1}),
                 b_.boolean(transposed), b_.ints({0, 0}), i(groups)},
                std::move(sizes));
  }
  /// Possibly a batch norm, possibly a function.
  [[nodiscard]] Known behind_convolution(Known x) {
    const std::int64_t channels = x.sizes[1].value;
    if (random_.one_in(2)) {
      const Known scale = weight({channels}), shift = weight({channels}), mean = weight({channels}),
                  any = weight({channels});
      const Known variance = emit("aten.abs.default", {v(any)}, any.sizes);
      const Known out{.id = declare(fresh("norm"), x.sizes), .sizes = x.sizes};
      const Known saved{.id = declare(fresh("norm"), {dim(0)}), .sizes = {dim(0)}};
      const Known saved_too{.id = declare(fresh("norm"), {dim(0)}), .sizes = {dim(0)}};
      const Argument made[] = {v(out), v(saved), v(saved_too)};
      node("aten._native_batch_norm_legit_no_training.default",
           {v(x), v(scale), v(shift), v(mean), v(variance), b_.real(0.1), b_.real(0.125)}, made);
      x = out;
    }
    return random_.one_in(2) ? function(x) : x;
  }
  [[nodiscard]] Known pooling(const Known& x) {
    std::vector<Dim> sizes = x.sizes;
    std::int64_t kernel[2], stride[2], pad[2];
    for (std::size_t d = 0; d < 2; ++d) {
      const std::int64_t in = x.sizes[d + 2].value;
      kernel[d] = up_to(std::min<std::int64_t>(3, in));
      pad[d] = kernel[d] > 1 ? static_cast<std::int64_t>(random_.below(2)) : 0;
      stride[d] = up_to(2);
      sizes[d + 2] = dim((in + 2 * pad[d] - kernel[d]) / stride[d] + 1);
    }
    return emit(random_.one_in(2) ? "aten.max_pool2d.default" : "aten.avg_pool2d.default",
                {v(x), b_.ints({kernel[0], kernel[1]}), b_.ints({stride[0], stride[1]}), b_.ints({pad[0], pad[1]})},
                std::move(sizes));
  }
  [[nodiscard]] Known resized(const Known& x) {
    const std::int64_t height = 2 * x.sizes[2].value, width = 2 * x.sizes[3].value;
    std::vector<Dim> sizes{x.sizes[0], x.sizes[1], dim(height), dim(width)};
    const Argument size = b_.ints({height, width});
    if (random_.one_in(2)) return emit("aten.upsample_nearest2d.vec", {v(x), size, b_.none()}, std::move(sizes));
    return emit("aten.upsample_bilinear2d.vec", {v(x), size, b_.boolean(random_.one_in(2)), b_.none()},
                std::move(sizes));
  }
  /// Needs a static batch.
  [[nodiscard]] Known group_norm(const Known& x) {
    const std::int64_t batch = x.sizes[0].value, channels = x.sizes[1].value;
    const std::int64_t groups = random_.one_in(2) ? channels : 1;
    const Known scale = weight({channels}), shift = weight({channels});
    const Known out{.id = declare(fresh("norm"), x.sizes), .sizes = x.sizes};
    const Known mean{.id = declare(fresh("norm"), {dim(batch), dim(groups)}), .sizes = {dim(batch), dim(groups)}};
    const Known inverse{.id = declare(fresh("norm"), mean.sizes), .sizes = mean.sizes};
    const Argument made[] = {v(out), v(mean), v(inverse)};
    node("aten.native_group_norm.default",
         {v(x), v(scale), v(shift), i(batch), i(channels), i(x.sizes[2].value * x.sizes[3].value), i(groups),
          b_.real(0.125)},
         made);
    return out;
  }
  [[nodiscard]] Known layer_norm(const Known& x) {
    const std::int64_t last = x.sizes.back().value;
    const Known scale = weight({last}), shift = weight({last});
    return emit("aten.layer_norm.default", {v(x), b_.ints({last}), v(scale), v(shift), b_.real(0.125)}, x.sizes);
  }
  [[nodiscard]] Known linear(const Known& x) {
    return linear(x, [this](std::initializer_list<std::int64_t> sizes) { return weight(sizes); });
  }
  template <class Weight>
  [[nodiscard]] Known linear(const Known& x, Weight&& weights) {
    const std::int64_t in = x.sizes.back().value, out = up_to(6);
    std::vector<Dim> sizes = x.sizes;
    sizes.back() = dim(out);
    const Known w = weights({out, in});
    const Argument bias = random_.one_in(3) ? b_.none() : v(weight({out}));
    return emit("aten.linear.default", {v(x), v(w), bias}, std::move(sizes));
  }
  [[nodiscard]] Known function(const Known& x) {
    constexpr std::string_view targets[] = {"aten.relu.default",       "aten.gelu.default", "aten.sigmoid.default",
                                            "aten.leaky_relu.default", "aten.elu.default",  "aten.hardswish.default",
                                            "aten.square.default",     "aten.erf.default"};
    const std::size_t at = random_.below(std::size(targets) + 2);
    const Argument d = i(static_cast<std::int64_t>(random_.below(x.sizes.size())));
    if (at == std::size(targets)) return emit("aten.softmax.int", {v(x), d}, x.sizes);
    if (at > std::size(targets)) return emit("aten.log_softmax.int", {v(x), d}, x.sizes);
    return emit(targets[at], {v(x)}, x.sizes);
  }
  /// Permutes the dimensions and flattens them to three.
  [[nodiscard]] Known turned_matrices(const Known& x) {
    std::vector<std::int64_t> order;
    for (std::size_t d = 0; d < x.sizes.size(); ++d)
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(random_.below(d + 1)), static_cast<std::int64_t>(d));
    std::vector<Dim> sizes;
    for (const std::int64_t d : order) sizes.push_back(x.sizes[static_cast<std::size_t>(d)]);
    const Known turned = emit("aten.permute.default", {v(x), b_.ints({order[0], order[1], order[2], order[3]})}, sizes);
    const std::size_t cut = 1 + random_.below(2);  // merges the first dimensions, or the last ones but one
    const std::int64_t merged = cut == 1 ? sizes[0].value * sizes[1].value : sizes[1].value * sizes[2].value;
    const std::vector<Dim> three = cut == 1 ? std::vector<Dim>{dim(merged), sizes[2], sizes[3]}
                                            : std::vector<Dim>{sizes[0], dim(merged), sizes[3]};
    return emit("aten.reshape.default", {v(turned), b_.ints({three[0].value, three[1].value, three[2].value})}, three);
  }
  /// A product of a value with itself, or attention; false without a value of three or four dimensions.
  bool attention() {
    const auto x = some([](const Known& k) {
      return (k.sizes.size() == 3 || k.sizes.size() == 4) && is_full(k.sizes) &&
             std::all_of(k.sizes.begin() + 1, k.sizes.end(), [](const Dim& d) { return d.is_static(); });
    });
    if (!x) return false;
    if ((x->sizes.size() == 3 || x->sizes[0].is_static()) && random_.one_in(2)) {
      const Known a = x->sizes.size() == 3 ? *x : turned_matrices(*x);
      const Known turned =
          emit("aten.permute.default", {v(a), b_.ints({0, 2, 1})}, {a.sizes[0], a.sizes[2], a.sizes[1]});
      keep(emit("aten.bmm.default", {v(a), v(turned)}, {a.sizes[0], a.sizes[1], a.sizes[1]}));
      return true;
    }
    // with four dimensions torch's flash kernel skips causally masked keys, its decomposition adds -infinity
    const bool causal = x->sizes.size() == 3 && random_.one_in(2);
    keep(emit("aten.scaled_dot_product_attention.default",
              {v(*x), v(*x), v(*x), b_.none(), b_.real(0), b_.boolean(causal)}, x->sizes));
    return true;
  }

  Known weights_{};
};

}  // namespace davit::testing
