// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "davit/formats/mapped_file.hpp"
#include "davit/formats/cost_table_json.hpp"
#include "davit/formats/cpu_name.hpp"

namespace tool {

/// The cost table of one call of this command, with its source and destination files.
class Costs {
 public:
  std::string file{};  ///< if not empty: read it and measure nothing
  std::string save{};  ///< if not empty: read it if it exists, measure missing costs, and write it

  [[nodiscard]] bool measures() const noexcept { return file.empty(); }

  /// Returns the table; reads it at the first call. Errors: those of reading; a table to extend that was measured on
  /// another machine.
  [[nodiscard]] davit::Result<davit::CostTable*> table(std::uint32_t threads) {
    using davit::concat;
    if (loaded_) return &table_;
    const std::string cpu = davit::formats::cpu_name();
    const bool exists = !file.empty() || (!save.empty() && std::filesystem::exists(davit::formats::path_of(save)));
    if (exists) {
      davit::Result<davit::CostTable> read = davit::formats::read_cost_table(file.empty() ? save : file);
      if (!read) return std::unexpected(std::move(read.error()));
      if (measures() && (read->cpu != cpu || read->threads != threads))
        return std::unexpected(davit::Error{
            .code = davit::ErrorCode::invalid_argument,
            .stage = davit::Stage::partition,
            .where = davit::Name(save),
            .what = concat("this table was measured on '", read->cpu, "' with ", read->threads, " thread(s), this is '",
                           cpu, "' with ", threads),
            .fix = "use it with --costs, or name another file: a table holds measurements of one machine"});
      table_ = *std::move(read);
    } else {
      table_.cpu = davit::Name::own(cpu);
      table_.threads = threads;
    }
    loaded_ = true;
    return &table_;
  }
  /// Writes the table if requested. Errors: io_error.
  [[nodiscard]] davit::Result<void> write() {
    if (save.empty() || !loaded_) return {};
    davit::Result<void> status = davit::formats::write_cost_table(table_, save);
    written_ = status.has_value();
    return status;
  }
  /// True if `save` was written.
  [[nodiscard]] bool written() const noexcept { return written_; }

 private:
  davit::CostTable table_;
  bool loaded_ = false;
  bool written_ = false;
};

}  // namespace tool
