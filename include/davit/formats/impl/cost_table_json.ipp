// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "davit/autotune/cost_table.hpp"
#include "davit/formats/cost_table_json.hpp"
#include "davit/formats/json/json.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"

namespace davit::formats {

namespace detail {

inline constexpr std::string_view cost_table_fix = "measure again: davit lower --partitioner choose --save-costs FILE";

[[nodiscard]] std::string key_text(RegionKey key) {
  std::string text(16, '0');
  for (int i = 0; i < 16; ++i) text[static_cast<std::size_t>(15 - i)] = "0123456789abcdef"[key.bits >> (4 * i) & 15];
  return text;
}
[[nodiscard]] Result<RegionKey> key_member(Json object, std::string_view name) {
  const Result<Json> member = object.at(name);
  if (!member) return error_of(member);
  const Result<std::string_view> text = member->string();
  if (!text) return error_of(text);
  RegionKey key;
  const char* const end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, key.bits, 16);
  if (text->size() != 16 || error != std::errc() || at != end || key_text(key) != *text)
    return member->error("a key has 16 hexadecimal digits", cost_table_fix);
  return key;
}
/// Reads nanoseconds: non-negative, and small enough for sums.
[[nodiscard]] Result<std::uint64_t> ns_member(Json object, std::string_view name) {
  const Result<Json> member = object.at(name);
  if (!member) return error_of(member);
  const Result<std::int64_t> ns = member->integer();
  if (!ns) return error_of(ns);
  if (*ns < 0 || static_cast<std::uint64_t>(*ns) > longest_cost_ns)
    return member->error("nanoseconds lie between 0 and 10^15", cost_table_fix);
  return static_cast<std::uint64_t>(*ns);
}

/// Reads the members of a parsed table.
class CostTableReader {
 public:
  [[nodiscard]] Result<CostTable> read(Json root) {
    if (Result<void> head = header(root); !head) return error_of(std::move(head));
    for (const auto& [key, read] :
         {std::pair("regions", &CostTableReader::region), std::pair("programs", &CostTableReader::program),
          std::pair("borders", &CostTableReader::border)}) {
      const Result<JsonArray> entries = root.array(key);
      if (!entries) return error_of(entries);
      for (const Json entry : *entries)
        if (Result<void> one = (this->*read)(entry); !one) return error_of(std::move(one));
    }
    if (Result<void> added = add_sorted(root); !added) return error_of(std::move(added));
    return std::move(table_);
  }

 private:
  [[nodiscard]] Result<void> header(Json root) {
    const Result<std::int64_t> version = root.integer("davit_costs");
    if (!version) return error_of(version);
    if (*version != cost_table_version) {
      std::unexpected<Error> error = root.error(
          concat("the table has version ", *version, ", this program reads ", cost_table_version), cost_table_fix);
      error.error().code = ErrorCode::version_mismatch;
      return error;
    }
    const Result<std::string_view> cpu = root.string("cpu");
    if (!cpu) return error_of(cpu);
    const Result<std::int64_t> threads = root.integer("threads");
    if (!threads) return error_of(threads);
    if (*threads < 1 || *threads > 65536) return root.error("threads lie between 1 and 65536", cost_table_fix);
    const Result<std::uint64_t> border = ns_member(root, "border_ns");
    if (!border) return error_of(border);
    table_.cpu = Name::own(*cpu);
    table_.threads = static_cast<std::uint32_t>(*threads);
    table_.border_ns = *border;
    return {};
  }
  [[nodiscard]] static Result<Name> what_member(Json entry) {
    const Result<std::optional<Json>> what = entry.find("what");
    if (!what) return error_of(what);
    if (!*what) return Name();
    const Result<std::string_view> text = (*what)->string();
    if (!text) return error_of(text);
    return Name::own(*text);
  }
  [[nodiscard]] Result<void> region(Json entry) {
    const Result<RegionKey> key = key_member(entry, "region");
    if (!key) return error_of(key);
    const Result<std::string_view> backend = entry.string("backend");
    if (!backend) return error_of(backend);
    Result<Name> what = what_member(entry);
    if (!what) return error_of(std::move(what));
    RegionCost cost{.region = *key, .backend = Name::own(*backend), .what = *std::move(what)};
    const Result<std::optional<Json>> result = entry.find("result");
    if (!result) return error_of(result);
    if (*result) {
      const Result<std::string_view> text = (*result)->string();
      if (!text) return error_of(text);
      if (*text != "refused" && *text != "not run")
        return (*result)->error("a result is 'refused' or 'not run'", cost_table_fix);
      cost.outcome = *text == "refused" ? CostOutcome::refused : CostOutcome::not_run;
    } else {
      const Result<std::uint64_t> ns = ns_member(entry, "ns");
      if (!ns) return error_of(ns);
      cost.ns = *ns;
    }
    regions_.push_back(std::move(cost));
    return {};
  }
  [[nodiscard]] Result<void> program(Json entry) {
    const Result<RegionKey> key = key_member(entry, "plan");
    if (!key) return error_of(key);
    const Result<std::uint64_t> ns = ns_member(entry, "ns");
    if (!ns) return error_of(ns);
    Result<Name> what = what_member(entry);
    if (!what) return error_of(std::move(what));
    plans_.push_back({.plan = *key, .ns = *ns, .what = *std::move(what)});
    return {};
  }
  [[nodiscard]] Result<void> border(Json entry) {
    const Result<RegionKey> key = key_member(entry, "program");
    if (!key) return error_of(key);
    const Result<std::uint64_t> ns = ns_member(entry, "ns");
    if (!ns) return error_of(ns);
    borders_.push_back({.program = *key, .ns = *ns});
    return {};
  }
  /// Sorts the parsed entries and adds them. O(n log n) for a table in any order.
  [[nodiscard]] Result<void> add_sorted(Json root) {
    const auto by_key = [](const RegionCost& c) { return std::tuple(c.region, c.backend.view()); };
    if (!add(regions_, by_key) || !add(plans_, &PlanCost::plan) || !add(borders_, &BorderCost::program))
      return root.error("the table has two entries of one key", cost_table_fix);
    return {};
  }
  template <class Cost, class Key>
  [[nodiscard]] bool add(std::vector<Cost>& costs, Key key) {
    std::ranges::sort(costs, {}, key);
    if (std::ranges::adjacent_find(costs, {}, key) != costs.end()) return false;
    for (Cost& cost : costs) table_.set(std::move(cost));
    return true;
  }

  CostTable table_;
  std::vector<RegionCost> regions_;
  std::vector<PlanCost> plans_;
  std::vector<BorderCost> borders_;
};

/// Prints a text as a JSON string.
[[nodiscard]] std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return out + "\"";
}

}  // namespace detail

Result<CostTable> parse_cost_table(std::string_view text, std::string_view name) {
  const Result<JsonDocument> document = parse_json(text, name);
  Result<CostTable> table =
      document ? detail::CostTableReader().read(document->root()) : Result<CostTable>(error_of(document));
  if (!table) table.error().fix = detail::cost_table_fix;
  return table;
}
Result<CostTable> read_cost_table(const std::string& file) {
  const Result<SharedBytes> bytes = map_file(file);
  if (!bytes) return error_of(bytes);
  return parse_cost_table({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, file);
}

std::string print_cost_table(const CostTable& table) {
  using detail::json_text;
  using detail::key_text;
  std::string out = "{\n\"davit_costs\": " + std::to_string(cost_table_version) +
                    ",\n\"cpu\": " + json_text(table.cpu) + ",\n\"threads\": " + std::to_string(table.threads) +
                    ",\n\"border_ns\": " + std::to_string(table.border_ns);
  const auto list = [&](std::string_view key, const auto& entries, auto&& write) {
    ((out += ",\n\"") += key) += "\": [";
    bool first = true;
    for (const auto& entry : entries) {
      out += std::exchange(first, false) ? "\n  {" : ",\n  {";
      write(entry);
      out += '}';
    }
    out += first ? "]" : "\n]";
  };
  const auto what = [&](const Name& text) {
    if (!text.empty()) out += ", \"what\": " + json_text(text);
  };
  list("regions", table.regions(), [&](const RegionCost& c) {
    out += "\"region\": \"" + key_text(c.region) + "\", \"backend\": " + json_text(c.backend);
    out += c.outcome == CostOutcome::measured  ? ", \"ns\": " + std::to_string(c.ns)
           : c.outcome == CostOutcome::refused ? ", \"result\": \"refused\""
                                               : ", \"result\": \"not run\"";
    what(c.what);
  });
  list("programs", table.plans(), [&](const PlanCost& c) {
    out += "\"plan\": \"" + key_text(c.plan) + "\", \"ns\": " + std::to_string(c.ns);
    what(c.what);
  });
  list("borders", table.borders(), [&](const BorderCost& c) {
    out += "\"program\": \"" + key_text(c.program) + "\", \"ns\": " + std::to_string(c.ns);
  });
  return out + "\n}\n";
}
Result<void> write_cost_table(const CostTable& table, const std::string& file) {
  return write_file(file, print_cost_table(table));
}

}  // namespace davit::formats
