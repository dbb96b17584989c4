// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

#include "davit/formats/cpu_name.hpp"

namespace davit::formats {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos && std::string_view(line).starts_with("model name")) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace davit::formats
