// SPDX-License-Identifier: MIT
#include "davit/backends/portable/run_time/products/recurrent.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/kernel_test.hpp"

namespace {

using davit::ErrorCode;
using davit::EValue;
using davit::ScalarType;
using davit::portable_kernels::recurrent_ops;
using Integers = KernelTest::Integers;
using Numbers = KernelTest::Numbers;

/// A layer with weights of any sizes, and its results by definition, in double.
struct Layer {
  std::string cell;
  std::int64_t steps = 4, batch = 2, features = 3, units = 5, given = 5, layers = 1, directions = 1;
  bool biased = true, batch_first = false;

  KernelTest test{};
  std::vector<std::vector<Numbers>> weights{};  ///< per cell: input, recurrent, biases, projection
  Numbers x{}, h{}, c{};
  std::uint32_t seed = 1;

  [[nodiscard]] std::int64_t gates() const { return (cell == "lstm" ? 4 : cell == "gru" ? 3 : 1) * units; }
  Numbers numbers(std::int64_t count) {
    Numbers all;
    for (std::int64_t i = 0; i < count; ++i) {
      seed = seed * 1664525u + 1013904223u;
      all.push_back(static_cast<double>(static_cast<float>(seed >> 16) / 131072.0f - 0.25f));
    }
    return all;
  }
  [[nodiscard]] ErrorCode run(ScalarType type) {
    x = numbers(steps * batch * features);
    h = numbers(layers * directions * batch * given);
    c = numbers(layers * directions * batch * units);
    std::vector<EValue> parameters;
    for (std::int64_t cell_index = 0; cell_index < layers * directions; ++cell_index) {
      const std::int64_t width = cell_index < directions ? features : directions * given;
      std::vector<Integers> sizes{{gates(), width}, {gates(), given}};
      if (biased) sizes.insert(sizes.end(), 2, Integers{gates()});
      if (given != units) sizes.push_back({given, units});
      std::vector<Numbers>& own = weights.emplace_back();
      for (const Integers& s : sizes) {
        own.push_back(numbers(s.size() == 1 ? s[0] : s[0] * s[1]));
        parameters.push_back(test.tensor(type, s, own.back()));
      }
    }
    const EValue hx = test.tensor(type, {layers * directions, batch, given}, h),
                 cx = test.tensor(type, {layers * directions, batch, units}, c);
    const EValue input =
        test.tensor(type, batch_first ? Integers{batch, steps, features} : Integers{steps, batch, features}, x);
    const std::vector<EValue> arguments{input,
                                        cell == "lstm" ? test.list({hx, cx}) : hx,
                                        EValue(std::span<const EValue>(parameters)),
                                        EValue(biased),
                                        EValue(layers),
                                        EValue(0.0),
                                        EValue(false),
                                        EValue(directions == 2),
                                        EValue(batch_first)};
    return test.run(recurrent_ops, "aten." + cell + ".input", arguments, cell == "lstm" ? 3 : 2);
  }

  /// Source: the formulas of torch.nn.GRU, LSTM and RNN.
  void step(const std::vector<Numbers>& w, std::int64_t width, const double* in, double* state, double* cells) const {
    Numbers from_input(static_cast<std::size_t>(gates())), from_state(from_input);
    for (std::size_t g = 0; g < from_input.size(); ++g) {
      if (biased) from_input[g] = w[2][g], from_state[g] = w[3][g];
      for (std::size_t i = 0; i < static_cast<std::size_t>(width); ++i)
        from_input[g] += w[0][g * static_cast<std::size_t>(width) + i] * in[i];
      for (std::size_t i = 0; i < static_cast<std::size_t>(given); ++i)
        from_state[g] += w[1][g * static_cast<std::size_t>(given) + i] * state[i];
    }
    const auto n = static_cast<std::size_t>(units);
    const auto sum = [&](std::size_t gate, std::size_t i) {
      return from_input[gate * n + i] + from_state[gate * n + i];
    };
    const auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
    Numbers made(n);
    for (std::size_t i = 0; i < n; ++i) {
      if (cell == "gru") {
        const double fresh = std::tanh(from_input[2 * n + i] + logistic(sum(0, i)) * from_state[2 * n + i]),
                     update = logistic(sum(1, i));
        made[i] = (1 - update) * fresh + update * state[i];
      } else if (cell == "lstm") {
        cells[i] = logistic(sum(1, i)) * cells[i] + logistic(sum(0, i)) * std::tanh(sum(2, i));
        made[i] = logistic(sum(3, i)) * std::tanh(cells[i]);
      } else {
        made[i] = cell == "rnn_tanh" ? std::tanh(sum(0, i)) : std::max(sum(0, i), 0.0);
      }
    }
    for (std::size_t o = 0; o < static_cast<std::size_t>(given); ++o) {
      state[o] = given == units ? made[o] : 0;
      for (std::size_t i = 0; i < n && given != units; ++i) state[o] += w.back()[o * n + i] * made[i];
    }
  }
  /// The expected outputs of the kernel.
  [[nodiscard]] std::vector<Numbers> expected() const {
    Numbers sequence = x, state = h, cells = c;
    std::int64_t width = features;
    bool turned = batch_first;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      Numbers out(static_cast<std::size_t>(steps * batch * directions * given));
      for (std::int64_t d = 0; d < directions; ++d) {
        const std::int64_t index = layer * directions + d;
        for (std::int64_t s = 0; s < steps; ++s)
          for (std::int64_t b = 0; b < batch; ++b) {
            const std::int64_t t = d == 1 ? steps - 1 - s : s, at = index * batch + b;
            step(weights[static_cast<std::size_t>(index)], width,
                 &sequence[static_cast<std::size_t>((turned ? b * steps + t : t * batch + b) * width)],
                 &state[static_cast<std::size_t>(at * given)], &cells[static_cast<std::size_t>(at * units)]);
            std::copy_n(
                &state[static_cast<std::size_t>(at * given)], given,
                &out[static_cast<std::size_t>(((turned ? b * steps + t : t * batch + b) * directions + d) * given)]);
          }
      }
      sequence = out;
      width = directions * given;
    }
    return {sequence, state, cells};
  }
};

}  // namespace

TEST_CASE("portable: recurrent layers equal their formulas") {
  for (const std::string cell : {"gru", "lstm", "rnn_tanh", "rnn_relu"})
    for (const std::int64_t units : {1, 5, 37})
      for (int variant = 0; variant < 12; ++variant) {
        CAPTURE(cell);
        CAPTURE(units);
        CAPTURE(variant);
        Layer l{.cell = cell,
                .steps = variant % 3 == 0 ? 1 : 5,
                .batch = variant % 4 == 1 ? 6 : 1 + variant % 2,
                .units = units,
                .given = units,
                .layers = 1 + variant % 3,
                .directions = 1 + variant / 6,
                .biased = variant % 5 != 2,
                .batch_first = variant % 2 == 1};
        if (cell == "lstm" && variant % 4 == 3) l.given = 2;
        REQUIRE(l.run(ScalarType::float32) == ErrorCode::ok);
        CHECK(l.test.sizes() == (l.batch_first ? Integers{l.batch, l.steps, l.directions * l.given}
                                               : Integers{l.steps, l.batch, l.directions * l.given}));
        const std::vector<Numbers> expected = l.expected();
        for (std::size_t i = 0; i < (cell == "lstm" ? 3u : 2u); ++i)
          CHECK(KernelTest::near(l.test.values(i), expected[i], 1e-5));
      }
}

TEST_CASE("portable: recurrent layers of double and half precision") {
  for (const auto& [type, tolerance] : {std::pair(ScalarType::float64, 1e-12), std::pair(ScalarType::float16, 1e-2)}) {
    Layer l{.cell = "lstm", .layers = 2, .directions = 2};
    REQUIRE(l.run(type) == ErrorCode::ok);
    CHECK(l.test.dtype(2) == type);
    CHECK(KernelTest::near(l.test.values(), l.expected()[0], tolerance));
  }
}

TEST_CASE("portable: a recurrent layer with operands that do not fit") {
  KernelTest test;
  const EValue x = test.tensor(ScalarType::float32, {3, 1, 2}, {}), h = test.tensor(ScalarType::float32, {1, 1, 4}, {});
  const EValue wx = test.tensor(ScalarType::float32, {16, 2}, {}), wh = test.tensor(ScalarType::float32, {16, 4}, {});
  const auto run = [&](EValue input, EValue states, EValue parameters, std::int64_t layers = 1, bool drops = false) {
    return test.run(recurrent_ops, "aten.lstm.input",
                    {input, states, parameters, EValue(false), EValue(layers), EValue(0.5), EValue(drops),
                     EValue(false), EValue(false)},
                    3);
  };
  CHECK(run(x, test.list({h, h}), test.list({wx, wh})) == ErrorCode::ok);
  CHECK(run(x, test.list({h}), test.list({wx, wh})) == ErrorCode::invalid_argument);
  CHECK(run(x, h, test.list({wx, wh})) == ErrorCode::invalid_argument);
  CHECK(run(x, test.list({h, h}), test.list({wx})) == ErrorCode::invalid_argument);
  CHECK(run(x, test.list({h, h}), test.list({wh, wh})) == ErrorCode::invalid_shape);
  CHECK(run(x, test.list({h, h}), test.list({wx, wh}), 7) == ErrorCode::invalid_argument);
  CHECK(run(x, test.list({h, test.tensor(ScalarType::float32, {1, 2, 4}, {})}), test.list({wx, wh})) ==
        ErrorCode::invalid_shape);
  const EValue two = test.tensor(ScalarType::float32, {2, 1, 4}, {});
  CHECK(run(x, test.list({two, two}), test.list({wx, wh, wh, wh}), 2, true) == ErrorCode::unsupported_argument);
  const EValue huge = test.view(h, {1, 0, std::int64_t{1} << 60}, {0, 0, 0}), none = test.view(x, {3, 0, 2}, {0, 0, 0});
  CHECK(run(none, test.list({huge, huge}), test.list({wx, wh})) == ErrorCode::out_of_memory);
}
