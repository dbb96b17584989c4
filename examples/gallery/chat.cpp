// SPDX-License-Identifier: MIT
// Answers lines of the standard input with a decoder of bytes whose weights have 4 bits: reads each line into a KV
// cache at once (prefill), then writes the answer byte by byte (decode). Recipe of the model:
// examples/data/export_chat.py.
//   chat chat.pt2 [--temperature T] [--top-k K] [--top-p P] [--seed N]      T of 0, the default: the likeliest byte
#include <davit/davit.hpp>
#include <davit/formats/pt2.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::int64_t context = 256;  // rows of the cache

struct Sampling {
  double temperature = 0, top_k = 0, top_p = 1;
  std::mt19937 random{1};

  /// A byte by its score: of the `top_k` likeliest (0: all), of the likeliest that have `top_p` of the probability.
  std::int64_t operator()(std::span<const float> scores) {
    std::vector<std::int64_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0);
    const auto score = [&](std::int64_t i) { return scores[static_cast<std::size_t>(i)]; };
    std::ranges::sort(order, [&](auto a, auto b) { return score(a) == score(b) ? a < b : score(a) > score(b); });
    if (temperature <= 0) return order[0];
    if (top_k >= 1 && top_k < static_cast<double>(order.size())) order.resize(static_cast<std::size_t>(top_k));
    std::vector<double> weights;
    for (const std::int64_t i : order) weights.push_back(std::exp((score(i) - score(order[0])) / temperature));
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    double sum = 0;
    std::size_t kept = 0;
    while (kept < weights.size() && (kept == 0 || sum < top_p * total)) sum += weights[kept++];
    double left = static_cast<double>(random()) / 4294967296.0 * sum;  // the same on every system
    std::size_t at = 0;
    while (at + 1 < kept && left >= weights[at]) left -= weights[at++];
    return order[at];
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc % 2 != 0) return std::fprintf(stderr, "usage: chat chat.pt2 [--temperature T] ...\n"), 2;
  Sampling sample;
  double seed = 1;
  const std::map<std::string_view, double*> options{{"--temperature", &sample.temperature},
                                                    {"--top-k", &sample.top_k},
                                                    {"--top-p", &sample.top_p},
                                                    {"--seed", &seed}};
  for (int i = 2; i < argc; i += 2) {
    if (!options.contains(argv[i])) return std::fprintf(stderr, "chat has no option %s\n", argv[i]), 2;
    *options.at(argv[i]) = std::atof(argv[i + 1]);
  }
  sample.random.seed(static_cast<std::uint32_t>(static_cast<std::int64_t>(seed)));
  using davit::value_or_exit;
  const auto program = value_or_exit(davit::formats::read_pt2(argv[1]));
  auto session = value_or_exit(davit::Session::make(value_or_exit(davit::to_backend<davit::portable>(program))));

  std::array<std::int64_t, 1> place{0};  // in the cache, of the first of `tokens`
  std::vector<std::int64_t> tokens;      // to read
  std::int64_t count = 0;
  std::chrono::duration<double> seconds{};
  for (std::string line; std::getline(std::cin, line);) {
    if (place[0] + context / 4 + static_cast<std::int64_t>(line.size()) > context)
      tokens.clear(), place[0] = 0;  // forgets
    for (const char c : line.substr(0, context / 2) + "\n") tokens.push_back(static_cast<unsigned char>(c));
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t byte = 0; byte != '\n' && place[0] + std::ssize(tokens) <= context; ++count) {
      const auto outputs =
          value_or_exit(session.run("forward", davit::tensor(tokens, {1, tokens.size()}), davit::tensor(place, {1})));
      byte = sample(value_or_exit(outputs[0].as<float>()));
      place[0] += std::ssize(tokens);
      tokens.assign(1, byte);
      std::putchar(static_cast<int>(byte));
      std::fflush(stdout);
    }
    seconds += std::chrono::steady_clock::now() - start;
  }
  std::fprintf(stderr, "%.0f tokens per second\n", static_cast<double>(count) / seconds.count());
}
