// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "support/draft.hpp"

namespace support {

/// A network-like program of float operators with named arguments, and weights from a formula.
class Net {
 public:
  using Named = std::pair<std::string_view, davit::Argument>;
  using Value = davit::ValueId;

  Draft draft;

  [[nodiscard]] static davit::Tensor numbers(Sizes sizes, double scale = 1, double shift = 0, std::int64_t seed = 1) {
    davit::Tensor t = davit::Tensor::zeros(davit::ScalarType::float32, sizes);
    std::int64_t state = seed * 7919 + 17;
    for (std::int64_t i = 0; i < t.numel(); ++i) {
      state = (state * 1103515245 + 12345) % 2147483648;
      t.view().as<float>()[i] = static_cast<float>(shift + scale * (static_cast<double>(state >> 8) / 4194304.0 - 1.0));
    }
    return t;
  }
  [[nodiscard]] Value input(std::string_view name, Sizes sizes) {
    samples_.push_back(numbers(sizes, 1, 0, static_cast<std::int64_t>(samples_.size()) + 3));
    return draft.user(name, sizes);
  }
  /// Weights in -scale..scale around shift.
  [[nodiscard]] Value weight(std::string_view name, Sizes sizes, double scale = 1, double shift = 0) {
    return draft.parameter(
        name,
        numbers(sizes, scale, shift, static_cast<std::int64_t>(name.size()) + static_cast<std::int64_t>(sizes.size())));
  }
  [[nodiscard]] Value op(std::string_view target, std::string_view name, Sizes sizes,
                         std::initializer_list<Named> arguments) {
    return many(target, {{name, sizes}}, arguments)[0];
  }
  [[nodiscard]] Value op(std::string_view target, std::string_view name, Sizes sizes,
                         std::span<const Named> arguments) {
    return many(target, {{name, sizes}}, arguments)[0];
  }
  /// A node with several outputs.
  [[nodiscard]] std::vector<Value> many(std::string_view target,
                                        std::initializer_list<std::pair<std::string_view, Sizes>> outputs,
                                        std::initializer_list<Named> arguments) {
    return many(target, outputs, std::span<const Named>(arguments.begin(), arguments.size()));
  }
  [[nodiscard]] std::vector<Value> many(std::string_view target,
                                        std::initializer_list<std::pair<std::string_view, Sizes>> outputs,
                                        std::span<const Named> arguments) {
    std::vector<davit::Argument> in;
    for (const auto& [name, argument] : arguments) {
      in.push_back(argument);
      in.back().name = draft.b.text(name);
    }
    std::vector<Value> made;
    std::vector<davit::Argument> out;
    for (const auto& [name, sizes] : outputs) {
      made.push_back(draft.b.tensor(name, davit::ScalarType::float32, sizes));
      out.push_back(davit::GraphBuilder::value(made.back()));
    }
    draft.b.node(target, in, out, draft.metadata);
    return made;
  }
  [[nodiscard]] Value relu(std::string_view name, Value x, Sizes sizes) {
    return op("aten.relu.default", name, sizes, {{"self", v(x)}});
  }
  [[nodiscard]] Value add(std::string_view name, Value x, Value y, Sizes sizes) {
    return op("aten.add.Tensor", name, sizes, {{"self", v(x)}, {"other", v(y)}});
  }
  /// A convolution with a square kernel, without bias.
  [[nodiscard]] Value conv(std::string_view name, Value x, Value w, Sizes sizes, std::int64_t stride = 1,
                           std::int64_t pad = 0, std::int64_t groups = 1, std::int64_t dilation = 1) {
    return op("aten.conv2d.default", name, sizes,
              {{"input", v(x)},
               {"weight", v(w)},
               {"bias", {}},
               {"stride", ints({stride, stride})},
               {"padding", ints({pad, pad})},
               {"dilation", ints({dilation, dilation})},
               {"groups", i(groups)}});
  }
  /// A batch norm with its own parameters.
  [[nodiscard]] Value norm(std::string_view name, Value x, Sizes sizes) {
    const std::int64_t channels = sizes.begin()[1];
    const Value gamma = weight(davit::concat(name, "_gamma"), {channels}, 0.5, 1);
    const Value beta = weight(davit::concat(name, "_beta"), {channels});
    const Value mean = weight(davit::concat(name, "_mean"), {channels});
    const Value variance = weight(davit::concat(name, "_variance"), {channels}, 0.5, 1);
    return norm(name, x, gamma, beta, mean, variance, sizes);
  }
  [[nodiscard]] Value norm(std::string_view name, Value x, Value gamma, Value beta, Value mean, Value variance,
                           Sizes sizes) {
    return many("aten._native_batch_norm_legit_no_training.default",
                {{name, sizes}, {davit::concat(name, "_1"), {0}}, {davit::concat(name, "_2"), {0}}},
                {{"input", v(x)},
                 {"weight", v(gamma)},
                 {"bias", v(beta)},
                 {"running_mean", v(mean)},
                 {"running_var", v(variance)},
                 {"momentum", davit::GraphBuilder::real(0.1)},
                 {"eps", davit::GraphBuilder::real(1e-5)}})[0];
  }

  [[nodiscard]] davit::ExportedProgram finish(std::initializer_list<Value> outputs) {
    for (const Value output : outputs) draft.output(output);
    return draft.finish();
  }
  /// The inputs of a call; valid as long as the net.
  [[nodiscard]] std::vector<davit::EValue> sample() const {
    std::vector<davit::EValue> values;
    for (const davit::Tensor& t : samples_) values.emplace_back(t.view());
    return values;
  }

  [[nodiscard]] static davit::Argument v(Value value) { return davit::GraphBuilder::value(value); }
  [[nodiscard]] static davit::Argument i(std::int64_t number) { return davit::GraphBuilder::integer(number); }
  [[nodiscard]] davit::Argument ints(std::initializer_list<std::int64_t> list) { return draft.b.ints(list); }

 private:
  std::vector<davit::Tensor> samples_;
};

}  // namespace support
