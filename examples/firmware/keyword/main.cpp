// SPDX-License-Identifier: MIT
// Runs on the board. At every tick a synthetic microphone puts a millisecond of samples into the ring; the spotter
// takes frames out. Prints accuracy and costs; returns 0 only if no sample was lost.
#include <atomic>

#include "measure.hpp"
#include "microphone.hpp"
#include "semihosting.hpp"
#include "spotter.hpp"
#include "tick.hpp"

#ifndef KEYWORD_SPEED
#define KEYWORD_SPEED 20  // instructions that the core has, in millions per second of audio
#endif

// PyTorch's scores of the first frames
extern "C" const std::int8_t keyword_recorded[], keyword_recorded_end[];
asm(".section .rodata.keyword_recorded, \"a\"\n"
    ".global keyword_recorded, keyword_recorded_end\n"
    "keyword_recorded:\n  .incbin \"recorded.bin\"\n"
    "keyword_recorded_end:\n  .previous\n");

namespace {

constexpr std::uint32_t seed = 1, word_count = 100;  // as in train.py
constexpr std::uint32_t per_tick = keyword::sample_rate / 1000;
constexpr auto period =
    static_cast<std::uint32_t>(KEYWORD_SPEED * 1'000'000ULL / firmware::board::picoseconds_per_tick);

constinit keyword::Microphone microphone(seed);
constinit keyword::Ring<1024> ring;
/// The words that the microphone has begun, and their number.
constinit std::array<keyword::Microphone::Saying, word_count + 1> said;
std::atomic<std::uint32_t> said_count;

/// Answers of the spotter for each word.
struct Answers {
  std::array<std::uint8_t, word_count> labels{}, counts{};

  void add(std::uint32_t time, int label) {
    std::uint32_t word = 0;
    while (word + 1 < said_count && said[word + 1].begin <= time) ++word;
    labels[word] = static_cast<std::uint8_t>(label);
    ++counts[word];
  }
  [[nodiscard]] int right() const {
    int right = 0;
    for (std::uint32_t i = 0; i < word_count; ++i)
      right += said[i].label == 0 ? counts[i] == 0 : counts[i] == 1 && labels[i] == said[i].label;
    return right;
  }
};

/// Differences between scores and PyTorch's scores.
struct Distance {
  int most = 0, differing = 0;

  void add(const keyword::Scores& scores, const std::int8_t* expected) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const int gap = scores[i] < expected[i] ? expected[i] - scores[i] : scores[i] - expected[i];
      most = gap > most ? gap : most;
      differing += gap != 0;
    }
  }
};

void stop_at(davit::Fault fault) {
  firmware::print("the network failed: davit explain ", fault.bits(), " --model keyword_int8.pt2");
  firmware::exit(2);
}

/// Counts the instructions for a second of audio, ring and decision included.
std::uint64_t instructions_per_second(keyword::Spotter& spotter) {
  std::uint64_t sum = 0;
  keyword::Frame frame;
  for (std::size_t i = 0; i < keyword::sample_rate / keyword::frame_size; ++i) {
    for (std::size_t t = 0; t < keyword::frame_size; ++t) ring.push(microphone.sample());
    const firmware::InstructionCounter counter;
    (void)ring.pop(frame);
    (void)spotter.hear(frame);
    sum += counter.instructions();
  }
  return sum;
}

}  // namespace

extern "C" void firmware_tick() {
  for (std::uint32_t i = 0; i < per_tick; ++i) ring.push(microphone.sample());
  const auto number = static_cast<std::uint32_t>(microphone.saying().number + 1);
  if (number != said_count && number <= said.size()) {
    said[number - 1] = microphone.saying();
    said_count = number;
  }
}

int main() {
  static keyword::Spotter spotter;
  static Answers answers;
  Distance distance;
  keyword::Frame frame;
  const std::int8_t* expected = keyword_recorded;
  std::uint32_t time = 0;
  firmware::paint_stack();
  keyword::start_ticks(period);
  while (said_count < said.size() || time + keyword::frame_size <= said[word_count].begin) {
    while (!ring.pop(frame)) keyword::wait();
    time += keyword::frame_size;
    const auto label = spotter.hear(frame);
    if (!label) stop_at(label.error());
    if (*label != 0) answers.add(time, *label);
    if (expected != keyword_recorded_end) distance.add(spotter.scores(), expected), expected += keyword::label_count;
  }
  keyword::stop_ticks();
  const std::size_t stack = firmware::stack_used();
  firmware::print("accuracy=", answers.right() * 100 / static_cast<int>(word_count), " words=", word_count,
                  " seconds=", time / keyword::sample_rate, " dropped=", ring.dropped(), " from_torch=", distance.most,
                  " differing=", distance.differing, " instructions_per_s=", instructions_per_second(spotter),
                  " arena=", keyword::Network::arena_bytes, " state=", keyword::Network::state_bytes, " stack=", stack);
  return ring.dropped() == 0 ? 0 : 1;
}
