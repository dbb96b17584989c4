// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>

#include "davit/core/error.hpp"

namespace tool {

/// A progress line on the terminal, cleared at the end. Prints nothing if stderr is no terminal. No colours, no escape
/// sequences.
class Progress {
 public:
  explicit Progress(const std::string& text = {}) { show(text); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { show({}); }

  /// Replaces the line by `text`; empty: clears it.
  void show(const std::string& text) {
    if (!terminal_ || (text.empty() && width_ == 0)) return;
    std::string line = davit::printable(text).substr(0, 79);
    const std::size_t width = line.size();
    if (width < width_) line.append(width_ - width, ' ');
    std::fprintf(stderr, "\r%s%s", line.c_str(), text.empty() ? "\r" : "");
    std::fflush(stderr);
    width_ = width;
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  std::size_t width_ = 0;
};

}  // namespace tool
