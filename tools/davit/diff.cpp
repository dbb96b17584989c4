// SPDX-License-Identifier: MIT
#include <rapidjson/stringbuffer.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "davit/formats/file_kind.hpp"
#include "davit/formats/json/json.hpp"
#include "davit/formats/mapped_file.hpp"
#include "davit/formats/report_json.hpp"
#include "davit/lowered/text_table.hpp"
#include "files.hpp"
#include "inputs.hpp"
#include "json_rows.hpp"
#include "progress.hpp"
#include "report_page.hpp"
#include "runner.hpp"

namespace tool {

namespace {

using namespace davit;
using formats::Json;

/// A node, or a partition with its tag for a name.
struct DiffRow {
  std::string name, target, type, backend;
  std::optional<std::int64_t> ns{};  ///< of one run, if it was measured
};
struct MethodRows {
  std::vector<DiffRow> nodes, partitions;
  std::int64_t ns = 0;  ///< of all partitions
};
/// One of the two programs: its report as text, and the rows to compare by method.
struct Side {
  std::string title, json;
  std::map<std::string, MethodRows> methods;
};
struct Change {
  std::string method, kind, node, target, text;
};

[[nodiscard]] std::string time_text(std::int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3g us", static_cast<double>(ns) / 1000);
  return text;
}

/// The number of a member; nullopt if it is null or missing.
[[nodiscard]] Result<std::optional<std::int64_t>> known(Json json, const char* member) {
  const Result<std::optional<Json>> found = json.find(member);
  if (!found) return std::unexpected(found.error());
  if (!found->has_value()) return std::nullopt;
  const Result<std::int64_t> number = (*found)->integer();
  if (!number) return std::unexpected(number.error());
  return *number;
}

/// Reads a row; `names`: of name, target and type.
[[nodiscard]] Result<DiffRow> read_row(Json json, const char* const (&names)[3]) {
  DiffRow row;
  std::string* const parts[] = {&row.name, &row.target, &row.type};
  for (std::size_t i = 0; i < 3; ++i) {
    const Result<std::string_view> text = json.string(names[i]);
    if (!text) return std::unexpected(text.error());
    *parts[i] = *text;
  }
  const Result<std::optional<std::int64_t>> ns = known(json, "ns");
  if (!ns) return std::unexpected(ns.error());
  constexpr std::int64_t longest = 1'000'000'000'000;  // a sum of 9 million of them fits
  if (ns->has_value() && (**ns < 0 || **ns > longest))
    return json.error("its ns is no duration", "write the report again by davit lower --json --profile");
  row.ns = *ns;
  return row;
}

[[nodiscard]] Result<MethodRows> read_method(Json method) {
  MethodRows out;
  const auto partitions = method.array("partitions"), nodes = method.array("nodes");
  if (!partitions) return std::unexpected(partitions.error());
  if (!nodes) return std::unexpected(nodes.error());
  for (const char* const list : {"places", "weights", "constants", "refusals", "candidates"})  // the page reads them
    if (const auto found = method.array(list); !found) return std::unexpected(found.error());
  for (const Json each : *partitions) {
    Result<DiffRow> row = read_row(each, {"tag", "backend", "backend"});
    if (!row) return std::unexpected(std::move(row.error()));
    row->backend = row->target;
    out.ns += row->ns.value_or(0);
    out.partitions.push_back(*std::move(row));
  }
  for (const Json each : *nodes) {
    Result<DiffRow> row = read_row(each, {"name", "target", "type"});
    if (!row) return std::unexpected(std::move(row.error()));
    const Result<std::optional<std::int64_t>> partition = known(each, "partition");
    if (!partition) return std::unexpected(partition.error());
    if (partition->has_value() && (**partition < 0 || **partition >= std::ssize(out.partitions)))
      return each.error("the method has no such partition", "write the report again by davit lower --json");
    const auto inputs = each.array("inputs");
    if (!inputs) return std::unexpected(inputs.error());
    for (const Json input : *inputs) {
      const Result<std::int64_t> number = input.integer();
      if (!number) return std::unexpected(number.error());
      if (*number < 0 || static_cast<std::uint64_t>(*number) >= nodes->size())
        return input.error("the method has no such node", "write the report again by davit lower --json");
    }
    row->backend =
        partition->has_value() ? out.partitions[static_cast<std::size_t>(**partition)].backend : "control flow";
    out.nodes.push_back(*std::move(row));
  }
  return out;
}

/// Reads the rows of a report's text.
[[nodiscard]] Result<void> read_report(Side& side) {
  const Result<formats::JsonDocument> document = formats::parse_json(side.json, side.title);
  if (!document) return std::unexpected(document.error());
  const Result<std::int64_t> version = document->root().integer("davit_report");
  if (!version || *version != 1)
    return refuse(ErrorCode::version_mismatch, Name::own(side.title), "it is no report of this version of davit",
                  "give a .davit file, or what davit lower --json writes");
  const auto methods = document->root().array("methods");
  if (!methods) return std::unexpected(methods.error());
  for (const Json each : *methods) {
    const Result<std::string_view> name = each.string("method");
    if (!name) return std::unexpected(name.error());
    Result<MethodRows> rows = read_method(each);
    if (!rows) return std::unexpected(std::move(rows.error()));
    side.methods.insert_or_assign(std::string(*name), *std::move(rows));
  }
  return {};
}

/// Reads a package or a report.
[[nodiscard]] Result<Side> read_side(const std::string& file, bool profile) {
  Side side{.title = formats::path_of(file).filename().string(), .json = {}, .methods = {}};
  if (!formats::is_package(file) && !file.ends_with(".davit")) {
    const Result<SharedBytes> bytes = formats::map_file(file);
    if (!bytes) return std::unexpected(bytes.error());
    side.json.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (side.json.find_first_not_of(" \t\r\n") != side.json.find('{') || side.json.empty())
      return refuse(ErrorCode::invalid_argument, Name::own(file), "it is neither a package nor a report",
                    "give .davit files (davit lower -o), or reports (davit lower --json)");
  } else {
    Result<Runner> runner = Runner::load(file, {}, profile);
    if (!runner) return std::unexpected(std::move(runner.error()));
    std::vector<PartitionReport> reports = runner->contents();
    if (profile) {
      const LoweredMethod& method = runner->method();
      const Result<std::vector<Input>> inputs =
          inputs_or_default({}, method.parent, method.interface.inputs, {}, SayInputs::no);
      if (!inputs) return std::unexpected(inputs.error());
      if (Result<void> measured = runner->profile(values_of(*inputs), reports); !measured)
        return std::unexpected(std::move(measured.error()));
    }
    side.json = formats::report_json(side.title, reports);
  }
  if (Result<void> read = read_report(side); !read) return std::unexpected(std::move(read.error()));
  return side;
}

/// Compares two methods row by row.
class ProgramDiff {
 public:
  ProgramDiff(const DiffCommand& options, std::vector<Change>& changes) : options_(options), changes_(changes) {}

  void run(const std::string& method, const MethodRows& before, const MethodRows& after) {
    method_ = method;
    least_ = std::max<std::int64_t>(1000, before.ns / 200);
    compare(before.nodes, after.nodes);
    times_of_partitions(before.partitions, after.partitions);
  }

 private:
  using Index = std::map<std::string_view, std::vector<const DiffRow*>>;
  [[nodiscard]] static Index index_of(const std::vector<DiffRow>& rows) {
    Index index;
    for (const DiffRow& row : rows) index[row.name].push_back(&row);
    return index;
  }
  /// Rows of one name (of several graphs) are compared in order.
  void compare(const std::vector<DiffRow>& before, const std::vector<DiffRow>& after) {
    Index old = index_of(before);
    std::map<std::string_view, std::size_t> next;
    for (const DiffRow& row : after) {
      const auto at = old.find(row.name);
      const std::size_t i = next[row.name]++;
      if (at == old.end() || i >= at->second.size()) {
        add("added", row, "on " + row.backend);
        continue;
      }
      const DiffRow& was = *at->second[i];
      if (was.target != row.target)
        add("changed", row, "was " + was.target);
      else if (was.type != row.type)
        add("changed", row, was.type + " to " + row.type);
      if (was.backend != row.backend) add("moved", row, was.backend + " to " + row.backend);
      time(was, row);
    }
    for (const DiffRow& row : before) {
      std::vector<const DiffRow*>& own = old[row.name];
      const std::size_t kept = next[row.name];
      if (std::ranges::find(own, &row) - own.begin() >= static_cast<std::ptrdiff_t>(kept))
        add("removed", row, "was on " + row.backend);
    }
  }
  void times_of_partitions(const std::vector<DiffRow>& before, const std::vector<DiffRow>& after) {
    const Index old = index_of(before);
    for (const DiffRow& row : after)
      if (const auto at = old.find(row.name); at != old.end()) time(*at->second[0], row);
  }
  void time(const DiffRow& was, const DiffRow& row) {
    if (!was.ns || !row.ns || std::max(*was.ns, *row.ns) - std::min(*was.ns, *row.ns) < least_) return;
    const double ratio = static_cast<double>(*row.ns) / static_cast<double>(std::max<std::int64_t>(*was.ns, 1));
    if (ratio < options_.ratio && ratio * options_.ratio > 1) return;
    add(ratio > 1 ? "slower" : "faster", row, time_text(*was.ns) + " to " + time_text(*row.ns));
  }
  void add(const char* kind, const DiffRow& row, std::string text) {
    changes_.push_back({method_, kind, row.name, row.target, std::move(text)});
  }

  const DiffCommand& options_;
  std::vector<Change>& changes_;
  std::string method_;
  std::int64_t least_ = 0;  ///< difference of times that counts, in ns
};

constexpr const char* kinds[] = {"added", "removed", "moved", "changed", "slower", "faster"};

void print_changes(const Side& before, const Side& after, const std::vector<Change>& changes) {
  constexpr std::size_t most = 40;
  for (const auto& [name, method] : after.methods) {
    print("%s to %s, method '%s'", before.title.c_str(), after.title.c_str(), name.c_str());
    const char* separator = ": ";
    for (const char* kind : kinds) {
      const auto of = [&](const Change& c) { return c.method == name && c.kind == kind; };
      if (const auto count = std::ranges::count_if(changes, of); count > 0)
        print("%s%lld %s", std::exchange(separator, ", "), static_cast<long long>(count), kind);
    }
    const auto old = before.methods.find(name);
    if (old != before.methods.end() && old->second.ns > 0 && method.ns > 0)
      print("%s%s to %s a run", std::exchange(separator, ", "), time_text(old->second.ns).c_str(),
            time_text(method.ns).c_str());
    print("%s\n", *separator == ':' ? ": no node differs" : "");
  }
  TextTable table{{"change", "node", "operator", ""}, {false, false, false, false}, {}};
  for (const Change& change : changes)
    if (table.rows.size() < most) table.rows.push_back({change.kind, change.node, change.target, change.text});
  print("%s", table.print().c_str());
  if (changes.size() > most) print("  and %zu more: --html FILE shows all\n", changes.size() - most);
}

[[nodiscard]] std::string changes_json(const Side& before, const std::vector<Change>& changes) {
  rapidjson::StringBuffer buffer;
  JsonRows out(buffer);
  out.object([&] {
    out.text("from", before.title);
    out.list("changes", changes, [&](const Change& change) {
      out.text("method", change.method);
      out.text("change", change.kind);
      out.text("node", change.node);
      out.text("target", change.target);
      out.text("text", change.text);
    });
  });
  return {buffer.GetString(), buffer.GetSize()};
}

[[nodiscard]] Result<bool> diff_programs(const DiffCommand& options) {
  Result<void> ready = Files().reads_all({options.before, options.after}, {}).writes("--html", options.html).check();
  if (ready) ready = check_page(options.html);
  if (!ready) return std::unexpected(std::move(ready.error()));
  Progress progress("reading " + options.before);
  const Result<Side> before = read_side(options.before, options.profile);
  if (!before) return std::unexpected(before.error());
  progress.show("reading " + options.after);
  const Result<Side> after = read_side(options.after, options.profile);
  if (!after) return std::unexpected(after.error());
  progress.show({});
  std::vector<Change> found, changes;
  ProgramDiff comparison(options, found);
  const MethodRows none;
  for (const auto& [name, method] : after->methods) {
    const auto old = before->methods.find(name);
    comparison.run(name, old == before->methods.end() ? none : old->second, method);
  }
  for (const auto& [name, method] : before->methods)
    if (!after->methods.contains(name)) comparison.run(name, method, none);
  for (const char* kind : kinds)
    for (const Change& change : found)
      if (change.kind == kind) changes.push_back(change);
  print_changes(*before, *after, changes);
  if (!options.html.empty())
    if (Result<void> written =
            write_page(options.html, with_member(after->json, "diff", changes_json(*before, changes)));
        !written)
      return std::unexpected(std::move(written.error()));
  return changes.empty();
}

}  // namespace

int diff(const DiffCommand& options) {
  const Result<bool> same = diff_programs(options);
  if (same) return *same ? 0 : 1;
  std::fprintf(stderr, "davit: %s\n", to_string(same.error()).c_str());
  return 2;
}

}  // namespace tool
