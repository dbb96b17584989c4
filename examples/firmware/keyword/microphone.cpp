// SPDX-License-Identifier: MIT
// Runs on the host: writes the audio of microphones for train.py.
//   microphone SEED COUNT SECONDS FILE
// For the seeds SEED, SEED + 1, ..., first the samples of each (int16), then for each the number of words and their
// labels, begins and ends (int32).
#include "microphone.hpp"

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: microphone SEED COUNT SECONDS FILE\n"), 2;
  const auto number = [&](int i) { return static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10)); };
  std::FILE* const file = std::fopen(argv[4], "wb");
  if (file == nullptr) return std::perror(argv[4]), 1;
  bool good = true;
  const auto write = [&](const auto& numbers) {
    good = good && std::fwrite(numbers.data(), sizeof numbers[0], numbers.size(), file) == numbers.size();
  };
  std::vector<std::vector<std::int32_t>> words(number(2));
  std::vector<std::int16_t> samples(std::size_t{number(3)} * keyword::sample_rate);
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    keyword::Microphone microphone(number(1) + i);
    words[i] = {0};
    for (std::int16_t& sample : samples) {
      sample = microphone.sample();
      const keyword::Microphone::Saying& word = microphone.saying();
      if (word.number < words[i][0]) continue;
      ++words[i][0];
      words[i].insert(words[i].end(),
                      {word.label, static_cast<std::int32_t>(word.begin), static_cast<std::int32_t>(word.end)});
    }
    write(samples);
  }
  for (const std::vector<std::int32_t>& each : words) write(each);
  return std::fclose(file) == 0 && good ? 0 : 1;
}
