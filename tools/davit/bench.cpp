// SPDX-License-Identifier: MIT
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>

#include "bench_process.hpp"
#include "bench_text.hpp"
#include "commands.hpp"
#include "davit/formats/cpu_name.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/lowered/text_table.hpp"
#include "files.hpp"
#include "page.hpp"
#include "progress.hpp"

namespace tool {

using namespace davit;

namespace {

constexpr int rounds = 20;  // each row runs in every round, so that noise affects all equally

/// Returns a quantile of the sorted times: 0.5 is the median.
[[nodiscard]] double at(const BenchRow& row, double part) {
  return row.ms[std::min(row.ms.size() - 1, static_cast<std::size_t>(part * static_cast<double>(row.ms.size())))];
}

/// Prints a number with about four digits.
[[nodiscard]] std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", value >= 100 ? 1 : value >= 10 ? 2 : value >= 1 ? 3 : 4, value);
  return text;
}
[[nodiscard]] std::string mebibytes(std::size_t bytes) { return number(static_cast<double>(bytes) / (1 << 20)); }
[[nodiscard]] std::size_t planned_bytes(const BenchRow& row) {
  return row.arena_bytes + row.state_bytes + row.constant_bytes;
}

[[nodiscard]] std::string file_name(const BenchRow& row) { return formats::path_of(row.model).filename().string(); }

/// Prints the rows as a table.
[[nodiscard]] std::string table_of(const std::vector<BenchRow>& rows) {
  TextTable table{
      {"model", "backends", "threads", "median ms", "p90 ms", "ratio", "runs", "prepare ms", "memory MiB", "peak MiB"},
      {false, false, true, true, true, true, true, true, true, true},
      {}};
  for (const BenchRow& row : rows)
    table.rows.push_back({file_name(row), row.backends, std::to_string(row.threads), number(at(row, 0.5)),
                          number(at(row, 0.9)), number(at(row, 0.5) / at(rows[0], 0.5)), std::to_string(row.ms.size()),
                          number(row.prepare_ms), mebibytes(planned_bytes(row)),
                          row.peak_bytes == 0 ? "?" : mebibytes(row.peak_bytes)});
  return table.print();
}

[[nodiscard]] std::string json_of(const std::vector<BenchRow>& rows) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> out(buffer);
  const auto text = [&](const char* name, const std::string& value) {
    out.Key(name);
    out.String(davit::printable(value).c_str());
  };
  const auto real = [&](const char* name, double value) {
    out.Key(name);
    out.Double(value);
  };
  const auto whole = [&](const char* name, std::size_t value) {
    out.Key(name);
    out.Uint64(value);
  };
  out.StartObject();
  whole("davit_bench", 1);
  text("version", version());
  text("cpu", formats::cpu_name());
  out.Key("rows");
  out.StartArray();
  for (const BenchRow& row : rows) {
    out.StartObject();
    text("model", file_name(row));
    text("backends", row.backends);
    whole("threads", row.threads);
    whole("partitions", row.partitions);
    whole("runs", row.ms.size());
    real("median_ms", at(row, 0.5));
    real("p90_ms", at(row, 0.9));
    real("min_ms", row.ms.front());
    real("ratio", at(row, 0.5) / at(rows[0], 0.5));
    real("prepare_ms", row.prepare_ms);
    whole("arena_bytes", row.arena_bytes);
    whole("state_bytes", row.state_bytes);
    whole("constant_bytes", row.constant_bytes);
    whole("peak_bytes", row.peak_bytes);
    out.EndObject();
  }
  out.EndArray();
  out.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

/// Makes a row for every model, list of backends and number of threads. Packages bring their own backends.
[[nodiscard]] std::vector<BenchRow> rows_of(const BenchOptions& options) {
  std::vector<BenchRow> rows;
  const std::vector<std::string> lists =
      options.backends.empty() ? std::vector<std::string>{"portable"} : options.backends;
  for (const std::string& model : options.models) {
    const bool package = formats::is_package(model);
    for (std::size_t b = 0; b < (package ? 1 : lists.size()); ++b)
      for (const std::uint32_t threads : options.threads)
        rows.push_back(
            {.model = model, .backends = package ? "as lowered" : lists[b], .threads = threads, .package = package});
  }
  return rows;
}

/// Prepares the rows, runs them in turn, and returns the ones that ran; prints the failures of the others.
[[nodiscard]] std::vector<BenchRow> measure(const BenchOptions& options, bool& failed) {
  std::vector<std::unique_ptr<BenchProcess>> processes;
  Progress progress;
  const auto name = [](const BenchRow& row) {
    return row.model + " on " + row.backends + ", " + std::to_string(row.threads) + " thread(s)";
  };
  for (BenchRow& row : rows_of(options)) {
    progress.show("preparing " + name(row));
    processes.push_back(std::make_unique<BenchProcess>(std::move(row), options));
  }
  for (int round = 0; round < rounds; ++round)
    for (const auto& process : processes) {
      progress.show("round " + std::to_string(round + 1) + " of " + std::to_string(rounds) + ": " +
                    name(process->row()));
      process->run(options.seconds / rounds);
    }
  progress.show({});
  std::vector<BenchRow> rows;
  for (const auto& process : processes) {
    process->end();
    BenchRow row = process->row();
    if (row.failed.empty() && row.ms.empty()) row.failed = "it runs twice only, and such runs are not measured";
    failed = failed || !row.failed.empty();
    if (!row.failed.empty()) {
      std::fprintf(stderr, "davit: %s: %s\n", printable(name(row)).c_str(), printable(row.failed).c_str());
      continue;
    }
    std::ranges::sort(row.ms);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

namespace {

/// Treats programs after --input as models: `--input a.npy model.pt2`.
void take_models(BenchOptions& options) {
  const auto is_model = [](const std::string& text) {
    if (text.ends_with(".pt2") || text.ends_with(".davit")) return true;
    const Result<SharedBytes> bytes = formats::map_file(text);
    const formats::FileKind* kind = bytes ? formats::file_kind(bytes->bytes(), text) : nullptr;
    return kind != nullptr && (kind->fix[static_cast<std::size_t>(formats::FileUse::program)].empty() ||
                               formats::is_package(bytes->bytes()));
  };
  std::vector<std::string> inputs;
  for (std::string& text : options.inputs) (is_model(text) ? options.models : inputs).push_back(std::move(text));
  options.inputs = std::move(inputs);
}

/// Checks the options. Errors: no model; options that no row uses; output files that would overwrite other files.
[[nodiscard]] Result<void> check_options(const BenchOptions& options) {
  if (options.models.empty())
    return std::unexpected(Error{.code = ErrorCode::invalid_argument,
                                 .stage = Stage::load,
                                 .where = "models",
                                 .what = "there are none",
                                 .fix = "name .pt2 files, or .davit files that davit lower wrote"});
  if (std::ranges::all_of(options.models, [](const std::string& model) { return formats::is_package(model); })) {
    LoweringChoice choice = options.lowering;
    if (!options.backends.empty()) choice.backends = options.backends[0];
    if (Result<void> none = check_lowered(choice, options.models[0]); !none) return none;
  }
  return Files()
      .reads_all(options.models, options.inputs)
      .uses(options.lowering)
      .writes("--json", options.json)
      .writes("--html", options.html)
      .check();
}

}  // namespace

int bench(BenchOptions options) {
  take_models(options);
  if (const Result<void> good = check_options(options); !good) {
    std::fprintf(stderr, "davit: %s\n", to_string(good.error()).c_str());
    return 2;
  }
#if defined(SIGPIPE)
  std::signal(SIGPIPE, SIG_IGN);  // a row's process may have ended
#endif
  bool failed = false;
  const std::vector<BenchRow> rows = measure(options, failed);
  if (rows.empty()) return 2;
  print(
      "%sratio: of medians, to the first row; memory: arena, state and weights (with the backends' data "
      "for a package); peak: of the row's process\n",
      table_of(rows).c_str());
  const std::string json = json_of(rows);
  for (const auto& [file, text] :
       {std::pair(options.json, json), std::pair(options.html, page_of(bench_before_data, json, bench_after_data))}) {
    if (file.empty()) continue;
    if (const Result<void> written = formats::write_file(file, text); !written) {
      std::fprintf(stderr, "davit: %s\n", to_string(written.error()).c_str());
      return 2;
    }
    print_written(file);
  }
  return failed ? 2 : 0;
}

}  // namespace tool
