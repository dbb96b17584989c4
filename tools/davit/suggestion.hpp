// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace tool {

/// Returns the known word that `word` is most likely a misspelling of: the nearest by edits of characters, if a third
/// of its characters or less change; empty if there is none. O(known * length^2).
[[nodiscard]] std::string nearest_word(std::string_view word, std::span<const std::string> known);

/// Returns "; did you mean 'lower'?" for a misspelled command, else an empty text.
[[nodiscard]] std::string suggest_command(const CLI::App& app, std::string_view word);
/// Returns "did you mean --backends?" for the first argument that is no option of the command that was parsed, but
/// nearly one; else an empty text.
[[nodiscard]] std::string suggest_option(const CLI::App& app, std::span<const char* const> arguments);

}  // namespace tool
