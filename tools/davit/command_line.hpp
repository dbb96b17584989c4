// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace tool {

/// Generates a completion script for bash, zsh or fish, for the commands, options and values of `app`.
[[nodiscard]] std::string completions(const CLI::App& app, const std::string& shell);

/// Prints the help of a command, of "partitioner", or of everything (empty). Returns the exit status.
int help(const CLI::App& app, const std::string& topic);

}  // namespace tool
