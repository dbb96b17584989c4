// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

/// The path of a file under tests/cases, which the environment variable DAVIT_TEST_DATA names.
[[nodiscard]] inline std::filesystem::path test_data(std::string_view name) {
  const char* folder = std::getenv("DAVIT_TEST_DATA");
  return std::filesystem::path(folder == nullptr ? "tests/cases" : folder) / name;
}

/// The content of a file under tests/cases; empty if it cannot be read.
[[nodiscard]] inline std::string test_file(std::string_view name) {
  std::ifstream file(test_data(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
