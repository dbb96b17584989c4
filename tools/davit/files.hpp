// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "davit/core/error.hpp"
#include "runner.hpp"

namespace tool {

/// The files that one call of the command reads and writes.
class Files {
 public:
  /// Adds a model: FILE, or METHOD=FILE.
  Files& reads_model(const std::string& model);
  /// Adds an input: FILE.npy, FILE.npz:NAME, or a value that is no file.
  Files& reads_input(const std::string& input);
  Files& reads_all(const std::vector<std::string>& models, const std::vector<std::string>& inputs);
  /// Adds the files of a lowering choice: reads a cost table and rules, writes a cost table.
  Files& uses(const LoweringChoice& choice);
  /// Adds the output file of an option; ignores an empty one.
  Files& writes(std::string option, std::string file);

  /// Checks that no output overwrites an input or another output. Devices and pipes may occur several times. Errors:
  /// invalid_argument.
  [[nodiscard]] davit::Result<void> check() const;

 private:
  struct Written {
    std::string option;
    std::string file;
  };
  std::vector<std::string> read_;
  std::vector<Written> written_;
};

}  // namespace tool
