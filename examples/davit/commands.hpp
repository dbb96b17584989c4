// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "runner.hpp"

namespace tool {

struct InspectOptions {
  std::string model;
  std::string name;  ///< which model of an archive of several; empty: the only one
  bool json = false;
  bool graph = false;
};
struct RunOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::string output_dir;
  LoweringChoice lowering;
  int repeat = 1;
  std::string trace;
};
struct CheckOptions {
  std::vector<std::string> cases;
  LoweringChoice lowering;
};

// Each returns the exit status; errors are printed to stderr and give 2.
int inspect(const InspectOptions& options);
int run(const RunOptions& options);
int check(const CheckOptions& options);

}  // namespace tool
