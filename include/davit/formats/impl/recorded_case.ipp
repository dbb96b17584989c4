// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "davit/formats/case_files.hpp"
#include "davit/formats/case_tensor.hpp"
#include "davit/formats/json/json.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/recorded_case.hpp"
#include "davit/formats/recorded_value_json.hpp"

namespace davit::formats {

namespace detail {

/// Reads a list of values.
[[nodiscard]] Result<void> read_values(const CaseFiles& files, const Json& run, std::string_view key,
                                       std::vector<RecordedValue>& out) {
  const Result<JsonArray> list = run.array(key);
  if (!list) return error_of(list);
  for (const Json item : *list) {
    Result<RecordedValue> value = read_case_value(files, item);
    if (!value) return error_of(std::move(value));
    out.push_back(std::move(*value));
  }
  return {};
}

/// Reads `inputs_after`: an object that maps indices of inputs to values.
[[nodiscard]] Result<void> read_inputs_after(const CaseFiles& files, const Json& json, RecordedRun& run) {
  const Result<std::optional<Json>> found = json.find("inputs_after");
  if (!found) return error_of(found);
  if (!*found) return {};
  const Result<JsonObject> members = (**found).object();
  if (!members) return error_of(members);
  for (const JsonMember member : *members) {
    std::size_t index = 0;
    const char* const end = member.key.data() + member.key.size();
    const auto [at, error] = std::from_chars(member.key.data(), end, index);
    if (error != std::errc{} || at != end || index >= run.inputs.size())
      return member.value.error("the key is no index of an input", case_fix);
    Result<RecordedValue> value = read_case_value(files, member.value);
    if (!value) return error_of(std::move(value));
    value->name = run.inputs[index].name;
    run.inputs_after.emplace_back(index, *std::move(value));
  }
  return {};
}

/// Reads `state_after`: an object that maps names of buffers to values.
[[nodiscard]] Result<void> read_state_after(const CaseFiles& files, const Json& json, RecordedRun& run) {
  const Result<std::optional<Json>> found = json.find("state_after");
  if (!found) return error_of(found);
  if (!*found) return {};
  const Result<JsonObject> members = (**found).object();
  if (!members) return error_of(members);
  for (const JsonMember member : *members) {
    Result<RecordedValue> value = read_case_value(files, member.value);
    if (!value) return error_of(std::move(value));
    value->name = member.key;
    run.state_after.emplace_back(member.key, *std::move(value));
  }
  return {};
}

/// Reads the indices of compared outputs. Each must exist in every run.
[[nodiscard]] Result<void> read_selection(const Json& root, RecordedCase& out) {
  const Result<std::optional<Json>> only = root.find("check_outputs");
  if (!only) return error_of(only);
  if (!*only) return {};
  const Result<std::vector<std::int64_t>> indices = read_integers(**only);
  if (!indices) return error_of(indices);
  if (indices->empty()) return (**only).error("it names no output", case_fix);
  for (const std::int64_t index : *indices) {
    for (const RecordedRun& run : out.runs)
      if (index < 0 || static_cast<std::uint64_t>(index) >= run.outputs.size())
        return (**only).error(concat("there is no output ", index), case_fix);
    out.check_outputs.push_back(static_cast<std::size_t>(index));
  }
  return {};
}

/// Reads the comparison rules of outputs.
[[nodiscard]] Result<void> read_rules(const Json& root, RecordedCase& out) {
  for (const auto& [key, to] : {std::pair{"rtol", &out.rtol}, std::pair{"atol", &out.atol}}) {
    std::optional<double> value;
    if (Result<void> read = read_tolerance(root, key, value); !read) return read;
    *to = value.value_or(0);
  }
  const Result<std::optional<Json>> check = root.find("check");
  if (!check) return error_of(check);
  if (*check) {
    constexpr std::array<std::string_view, 3> known{"close", "shape_dtype", "permutation"};
    const std::string_view name = (**check).string().value_or("");
    if (std::ranges::find(known, name) == known.end())
      return (**check).error("it is not close, shape_dtype or permutation", case_fix);
    out.check = name;
  }
  return {};
}

}  // namespace detail

Result<RecordedCase> read_case(const CaseFiles& files) {
  const Result<SharedBytes> bytes = files.read("case.json");
  if (!bytes) return error_of(bytes);
  const Result<JsonDocument> document =
      parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, files.place("case.json"));
  if (!document) return error_of(document);
  const Json root = document->root();
  RecordedCase out;
  const Result<std::string_view> program = root.string("program");
  if (!program) return error_of(program);
  out.program = *program;
  if (const auto name = root.find("name"); name && *name && (**name).is_string()) out.name = *(**name).string();
  if (Result<void> read = detail::read_rules(root, out); !read) return error_of(std::move(read));
  const Result<JsonArray> runs = root.array("runs");
  if (!runs) return error_of(runs);
  if (runs->empty()) return root.error("the case has no runs", detail::case_fix);
  for (const Json run : *runs) {
    RecordedRun& recorded = out.runs.emplace_back();
    if (Result<void> read = detail::read_values(files, run, "inputs", recorded.inputs); !read)
      return error_of(std::move(read));
    if (Result<void> read = detail::read_values(files, run, "outputs", recorded.outputs); !read)
      return error_of(std::move(read));
    if (Result<void> read = detail::read_inputs_after(files, run, recorded); !read) return error_of(std::move(read));
    if (Result<void> read = detail::read_state_after(files, run, recorded); !read) return error_of(std::move(read));
  }
  if (Result<void> read = detail::read_selection(root, out); !read) return error_of(std::move(read));
  return out;
}

}  // namespace davit::formats
