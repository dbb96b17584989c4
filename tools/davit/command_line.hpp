// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <string>

namespace tool {

/// A script that completes the commands, options and values of `app` in bash, zsh or fish.
[[nodiscard]] std::string completions(const CLI::App& app, const std::string& shell);

/// Prints the help of a command, of "partitioner", or of all (empty). Returns the exit status.
int help(const CLI::App& app, const std::string& topic);

}  // namespace tool
