// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "commands.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/pt2.hpp"
#include "davit/formats/report_json.hpp"
#include "davit/lowered/text_table.hpp"
#include "davit/lowering/decompose.hpp"
#include "davit/lowering/functionalize.hpp"
#include "davit/testing/detail/numeric_gap.hpp"
#include "eager_values.hpp"
#include "files.hpp"
#include "inputs.hpp"
#include "json_rows.hpp"
#include "report_page.hpp"
#include "read_program.hpp"
#include "runner.hpp"

namespace tool {

namespace {

using namespace davit;

/// Comparison of a partition after its calls.
struct Row {
  std::string tag;
  std::string backend;
  std::size_t calls = 0;
  std::size_t outputs = 0;
  testing::NumericGap gap;
  std::string worst;  ///< value with the largest absolute difference
  bool diverges = false;
};
/// Comparison of a value that leaves a partition.
struct ValueRow {
  std::string name;
  testing::NumericGap gap;
  bool diverges = false;
};

[[nodiscard]] std::string three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Compares the partition calls of two runs, in order.
class CallComparison {
 public:
  explicit CallComparison(testing::Tolerance tolerance) : tolerance_(tolerance) {}

  void run(std::span<const DelegateCall> actual, std::span<const DelegateCall> reference) {
    for (std::size_t i = 0; i < actual.size() || i < reference.size(); ++i) {
      if (i < actual.size() && i < reference.size() && actual[i].tag == reference[i].tag) {
        call(actual[i], reference[i]);
        continue;
      }
      const DelegateCall& odd = i < actual.size() ? actual[i] : reference[i];
      if (first_.empty())
        first_ = "call " + std::to_string(i) + ", '" + text(odd.tag) +
                 "': control flow took another way than in the reference";
      return;
    }
  }
  void print() const {
    TextTable table{{"partition", "backend", "calls", "outputs", "max abs", "max rel", "worst value", ""},
                    {false, false, true, true, true, true, false, false},
                    {}};
    for (const Row& row : rows_)
      table.rows.push_back({row.tag, row.backend, std::to_string(row.calls), std::to_string(row.outputs),
                            three_digits(row.gap.absolute), three_digits(row.gap.relative), row.worst,
                            row.diverges ? "diverges" : "ok"});
    tool::print("%s", table.print().c_str());
    if (first_.empty()) {
      tool::print("no partition diverges beyond rtol %s, atol %s\n", three_digits(tolerance_.rtol).c_str(),
                  three_digits(tolerance_.atol).c_str());
    } else {
      tool::print("first divergent partition: %s\n", first_.c_str());
    }
  }
  [[nodiscard]] bool diverges() const noexcept { return !first_.empty(); }
  /// The gaps as the page shows them; `part`: of the tolerance. Gaps without bound are null.
  [[nodiscard]] std::string json(std::string_view method, std::string_view reference) const {
    rapidjson::StringBuffer buffer;
    JsonRows out(buffer);
    out.object([&] {
      out.text("reference", reference);
      out.number("rtol", tolerance_.rtol);
      out.number("atol", tolerance_.atol);
      const auto gap_of = [&](const testing::NumericGap& gap, bool diverges) {
        const double absolute = gap.absolute / std::max(tolerance_.atol, 1e-300);
        const double relative = gap.relative / std::max(tolerance_.rtol, 1e-300);
        const double part = gap.relative > 0 ? std::min(absolute, relative) : absolute;
        out.text("method", method);
        out.number("absolute", gap.absolute);
        out.number("relative", gap.relative);
        out.number("part", std::min(1e9, diverges ? std::max(part, 1.0) : part));
        out.flag("diverges", diverges);
      };
      out.list("partitions", rows_, [&](const Row& row) {
        out.text("tag", row.tag);
        out.text("backend", row.backend);
        out.text("worst", row.worst);
        gap_of(row.gap, row.diverges);
      });
      out.list("values", values_, [&](const ValueRow& row) {
        out.text("name", row.name);
        gap_of(row.gap, row.diverges);
      });
    });
    return {buffer.GetString(), buffer.GetSize()};
  }

 private:
  [[nodiscard]] static std::string text(const Name& name) { return std::string(name.view()); }

  void call(const DelegateCall& actual, const DelegateCall& reference) {
    Row& row = row_of(actual);
    ++row.calls;
    row.outputs = actual.outputs.size();
    for (std::size_t i = 0; i < actual.outputs.size() && i < reference.outputs.size(); ++i) {
      const EValue& a = actual.outputs[i].value;
      const EValue& b = reference.outputs[i].value;
      const std::string name = i < actual.names.size() ? text(actual.names[i]) : "#" + std::to_string(i);
      const testing::NumericGap gap = testing::numeric_gap(a, b);
      if (gap.absolute > row.gap.absolute) row.worst = name;
      row.gap.widen(gap);
      const std::string differs = testing::compare(a, b, tolerance_);
      values_.push_back({name, gap, !differs.empty()});
      if (differs.empty()) continue;
      row.diverges = true;
      if (first_.empty())
        first_ = row.tag + " (" + row.backend + "), call " + std::to_string(row.calls - 1) + ", value '" + name +
                 "': " + differs;
    }
  }
  [[nodiscard]] Row& row_of(const DelegateCall& call) {
    const auto [at, fresh] = row_of_tag_.try_emplace(text(call.tag), rows_.size());
    if (fresh) rows_.push_back({.tag = text(call.tag), .backend = text(call.backend), .worst = {}});
    return rows_[at->second];
  }

  testing::Tolerance tolerance_;
  std::vector<Row> rows_;  ///< in order of their first calls
  std::vector<ValueRow> values_;
  std::unordered_map<std::string, std::size_t> row_of_tag_;
  std::string first_;
};

/// Lowers the program, runs it once and returns the outputs of every partition call.
[[nodiscard]] Result<std::vector<DelegateCall>> calls_of(const ExportedProgram& program, const LoweringChoice& choice,
                                                         std::vector<Input>& inputs,
                                                         Diagnostics* diagnostics = nullptr) {
  Result<Runner> runner = Runner::lower(program, choice, true, diagnostics);
  if (!runner) return std::unexpected(std::move(runner.error()));
  reinterpret_as_bfloat16(inputs, runner->method().interface.inputs);
  runner->record_calls();
  const std::vector<Input> own = copy_inputs(inputs);
  const Result<Outputs> outputs = runner->run(values_of(own));
  if (!outputs) return std::unexpected(outputs.error());
  return runner->take_calls();
}

/// Runs the program eagerly and returns its values for the outputs of `actual`, call by call. Removes outputs from
/// `actual` that have no counterpart: lowering made them, or their names occur in several graphs.
[[nodiscard]] Result<std::vector<DelegateCall>> eager_calls(const ExportedProgram& program,
                                                            const std::vector<Input>& inputs,
                                                            std::vector<DelegateCall>& actual) {
  const std::vector<Input> own = copy_inputs(inputs);
  const auto made = eager_values(program, values_of(own));
  if (!made) return std::unexpected(made.error());
  std::unordered_map<std::string_view, std::deque<const testing::EagerValue*>> by_name;
  for (const auto& [name, value] : *made) by_name[name].push_back(&value);
  std::vector<DelegateCall> out;
  for (DelegateCall& call : actual) {
    DelegateCall expected{.tag = call.tag, .backend = "eager", .names = {}, .outputs = {}};
    std::vector<KeptValue> known;
    for (std::size_t i = 0; i < call.outputs.size() && i < call.names.size(); ++i) {
      auto& values = by_name[call.names[i].view()];
      if (values.empty()) continue;
      expected.names.push_back(call.names[i]);
      expected.outputs.emplace_back(values.front()->value());
      known.push_back(std::move(call.outputs[i]));
      values.pop_front();
    }
    call.names = expected.names;
    call.outputs = std::move(known);
    out.push_back(std::move(expected));
  }
  return out;
}

/// Runs the original program eagerly, or, if it has operators without a kernel, its form of functional core operators.
[[nodiscard]] Result<std::vector<DelegateCall>> eager_calls_of_any_form(const ExportedProgram& program,
                                                                        const std::vector<Input>& inputs,
                                                                        std::vector<DelegateCall>& actual) {
  Result<std::vector<DelegateCall>> calls = eager_calls(program, inputs, actual);
  if (calls || calls.error().code != ErrorCode::unsupported_operator) return calls;
  const DecomposeOptions options{.backends = BackendList<Portable>::tables()};
  const std::optional<ExportedProgram> functional = functionalize(program, options.backends);
  const ExportedProgram core = run_decompositions(functional ? *functional : program, options);
  calls = eager_calls(core, inputs, actual);
  if (calls)
    std::fprintf(stderr,
                 "davit: eager: the program has operators without a kernel; its functional core form was run\n");
  return calls;
}

[[nodiscard]] Result<bool> compare_program(const CompareOptions& options) {
  const Files files =
      Files().reads_all({options.model}, options.inputs).uses(options.lowering).writes("--html", options.html);
  Result<void> ready = files.check();
  if (ready) ready = check_page(options.html);
  if (!ready) return std::unexpected(std::move(ready.error()));
  const Result<ExportedProgram> program = read_program(options.model, reading(options.lowering.limits));
  if (!program) return std::unexpected(program.error());
  Result<std::vector<Input>> inputs = inputs_or_default(options.inputs, *program, {}, options.seed, SayInputs::yes);
  if (!inputs) return std::unexpected(inputs.error());
  LoweringChoice reference = options.lowering;
  reference.redirect = options.reference;
  Result<std::vector<DelegateCall>> expected;
  if (options.reference != "eager") expected = calls_of(*program, reference, *inputs);
  if (!expected) return std::unexpected(expected.error());
  Diagnostics diagnostics{.with_attributes = !options.html.empty()};
  Result<std::vector<DelegateCall>> actual =
      calls_of(*program, options.lowering, *inputs, options.html.empty() ? nullptr : &diagnostics);
  if (!actual) return std::unexpected(actual.error());
  if (options.reference == "eager") expected = eager_calls_of_any_form(*program, *inputs, *actual);
  if (!expected) return std::unexpected(expected.error());
  CallComparison comparison({options.rtol, options.atol});
  comparison.run(*actual, *expected);
  comparison.print();
  if (!options.html.empty() && !diagnostics.reports.empty()) {
    const std::string json =
        formats::report_json(formats::path_of(options.model).filename().string(), diagnostics.reports);
    const std::string gaps = comparison.json(diagnostics.reports[0].method.view(), options.reference);
    if (Result<void> written = write_page(options.html, with_member(json, "gaps", gaps)); !written)
      return std::unexpected(std::move(written.error()));
  }
  return !comparison.diverges();
}

}  // namespace

int compare(const CompareOptions& options) {
  const Result<bool> same = compare_program(options);
  if (same) return *same ? 0 : 1;
  std::fprintf(stderr, "davit: %s\n", to_string(same.error()).c_str());
  return 2;
}

}  // namespace tool
