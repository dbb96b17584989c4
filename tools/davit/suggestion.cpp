// SPDX-License-Identifier: MIT
#include "suggestion.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "command_line.hpp"

namespace tool {

namespace {

/// The number of characters to insert, remove, replace or swap with the next that make one word of the other.
[[nodiscard]] std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last,
      row(b.size() + 1);  // of the beginnings of `a` by two, by one less, and of this
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] != b[j] ? 1 : 0), last[j + 1] + 1, row[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j]) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_word(std::string_view word, std::span<const std::string> known) {
  std::string_view nearest;
  std::size_t fewest = word.size() / 3 + 1;
  for (const std::string& each : known) {
    if (each.size() > word.size() + fewest || word.size() > each.size() + fewest) continue;
    if (const std::size_t count = edits(word, each); count < fewest) {
      fewest = count;
      nearest = each;
    }
  }
  return std::string(nearest);
}

std::string suggest_command(const CLI::App& app, std::string_view word) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands({})) known.push_back(command->get_name());
  const std::string nearest = nearest_word(word, known);
  return nearest.empty() ? nearest : "; did you mean '" + nearest + "'?";
}

std::string suggest_option(const CLI::App& app, std::span<const char* const> arguments) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  std::vector<std::string> known;
  for (const CLI::Option* option : (parsed.empty() ? app : *parsed[0]).get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const std::string_view argument : arguments) {
    const std::string_view word = argument.substr(0, argument.find('='));
    if (!word.starts_with("--") || std::ranges::find(known, word) != known.end()) continue;
    if (const std::string nearest = nearest_word(word, known); !nearest.empty()) return "did you mean " + nearest + "?";
  }
  return {};
}

}  // namespace tool
