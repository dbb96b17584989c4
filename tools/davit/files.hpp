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
  /// A model: FILE, or METHOD=FILE.
  Files& reads_model(const std::string& model);
  /// An input as it is given: FILE.npy, FILE.npz:NAME, or what is no file.
  Files& reads_input(const std::string& input);
  Files& reads_all(const std::vector<std::string>& models, const std::vector<std::string>& inputs);
  /// What a choice of lowering reads (a table of costs, rules) and writes (a table of costs).
  Files& uses(const LoweringChoice& choice);
  /// A file that the option writes; empty: none.
  Files& writes(std::string option, std::string file);

  /// Errors: invalid_argument for a file that would be written over one that is read, or over another that is written.
  /// Devices and pipes may be named as often as one likes.
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
