// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <sys/resource.h>

#include "davit/core/error.hpp"
#include "davit/core/shared_bytes.hpp"

namespace davit::formats {}

/// Common parts of the fuzz targets.
namespace fuzz {

using namespace davit;
using namespace davit::formats;

inline void require(bool condition) {
  if (!condition) __builtin_trap();
}
/// An Error has a code and a sentence, and no byte that commands a terminal.
inline void check(const Error& error) {
  require(error.code != ErrorCode::ok && !error.what.empty());
  for (const char c : to_string(error)) require(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20);
}
[[nodiscard]] inline std::string_view text_of(const SharedBytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The slowest input so far; printed at the end of the process.
inline struct Slowest {
  double milliseconds = 0;
  std::size_t bytes = 0;
  ~Slowest() {
    if (bytes != 0) std::fprintf(stderr, "stat::slowest_ms: %.0f\nstat::slowest_bytes: %zu\n", milliseconds, bytes);
  }
} slowest;

/// A libFuzzer target; a program contains several, and its name selects one.
struct Target {
  std::string_view name;
  void (*run)(const SharedBytes&);
};
inline const Target* chosen = nullptr;

inline void choose(std::span<const Target> targets, const char* program) {
  const std::string name = std::filesystem::path(program).filename().string();
  for (const Target& target : targets)
    if (target.name == name) chosen = &target;
  require(chosen != nullptr);
}

/// The peak memory of the process, in megabytes.
[[nodiscard]] inline long peak_megabytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss / 1024 : 0;
}

/// Runs the target on an input, in memory of its exact size, so that a read past the end is found. It may take five
/// seconds of processor time per 100 KB, which is less than one without the sanitizers. An input after which the peak
/// memory is 256 MB higher is a find: libFuzzer, which looks once a second, would name a later one.
inline int run_chosen(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const SharedBytes bytes = SharedBytes::copy_of(std::as_bytes(std::span(data, size)));
  const long peak = peak_megabytes();
  const std::clock_t start = std::clock();
  chosen->run(bytes);
  const double took = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (took >= slowest.milliseconds) slowest.milliseconds = took, slowest.bytes = size;
  require(peak_megabytes() - peak <= 256);
  require(took <= std::max(5000.0, static_cast<double>(size) / 20));
  return 0;
}

}  // namespace fuzz
