// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace tool {

/// `text` as HTML shows it.
[[nodiscard]] inline std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const std::string_view special = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : "";
    if (special.empty()) {
      out += c;
    } else {
      out += special;
    }
  }
  return out;
}

/// A page with the curve of a training: the loss over steps, in at most 1,000 points, each the mean of its steps. What
/// is not finite is left out. It needs no script and no other file.
[[nodiscard]] inline std::string loss_page(std::string_view title, std::span<const double> losses) {
  constexpr double width = 900, height = 360, left = 70, top = 20;
  const std::size_t each = losses.size() / 1000 + 1;
  double least = INFINITY, most = -INFINITY;
  std::string points;
  std::string_view move = "M";
  const auto add = [](std::string& to, const auto&... parts) { ((to += parts), ...); };
  const auto number = [](double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.4g", value);
    return std::string(buffer);
  };
  for (const double loss : losses)
    if (std::isfinite(loss)) {
      least = std::min(least, loss);
      most = std::max(most, loss);
    }
  const double range = most > least ? most - least : 1,
               steps = static_cast<double>(std::max<std::size_t>(losses.size(), 2));
  for (std::size_t first = 0; first < losses.size(); first += each) {
    const std::span<const double> some = losses.subspan(first, std::min(each, losses.size() - first));
    double sum = 0;
    for (const double loss : some) sum += loss;
    const double mean = sum / static_cast<double>(some.size());
    if (!std::isfinite(mean)) {
      move = "M";
      continue;
    }
    add(points, move, number(left + width * static_cast<double>(first) / (steps - 1)), " ",
        number(top + height * (most - mean) / range));
    move = "L";
  }
  std::string page;
  add(page, "<!doctype html><meta charset=utf-8><title>", html_text(title), "</title>\n",
      "<style>body{font:14px sans-serif;margin:2em}svg{max-width:100%}text{font-size:12px;fill:#555}</style>\n<h1>",
      html_text(title), "</h1>\n<p>", std::to_string(losses.size()), " steps");
  if (!losses.empty()) add(page, ", loss ", number(losses.front()), " to ", number(losses.back()));
  add(page, "</p>\n<svg viewBox='0 0 1000 420' width=1000 role=img aria-label='loss over steps'>\n",
      "<path d='M70 20V380H970' fill=none stroke='#999'/>\n<path d='", points,
      "' fill=none stroke='#1565c0' stroke-width=1.5/>\n");
  if (most >= least)
    add(page, "<text x=64 y=26 text-anchor=end>", number(most), "</text><text x=64 y=384 text-anchor=end>",
        number(least), "</text>\n");
  add(page, "<text x=70 y=400>1</text><text x=970 y=400 text-anchor=end>step ", std::to_string(losses.size()),
      "</text>\n</svg>\n");
  return page;
}

}  // namespace tool
