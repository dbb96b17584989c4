// SPDX-License-Identifier: MIT
#include "davit/formats/embed/graph_text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../../programs.hpp"

namespace {

using namespace davit;

std::string write(const ExportedProgram& program, bool source_lines) {
  std::vector<std::int64_t> dims;
  for (const Dim& d : program.view().dims) dims.push_back(d.value);
  const std::vector<std::int64_t> symbols(program.view().values.size(), 0);
  return formats::EmbedGraphText(program.view(), dims, symbols).write(source_lines);
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("tables are readable: names of values, operators and arguments beside the numbers") {
  const std::string text = write(programs::add({2, 3}), false);
  CHECK(has(text, "// 0: result = aten.add.Tensor(x, h)"));
  CHECK(has(text, ": x float32 [2, 3]"));
  CHECK(has(text, "{\"self\", kind::value, 0},  // x"));
  CHECK(has(text, "\"aten.add.Tensor\""));
  CHECK_FALSE(has(text, "File \""));
}

TEST_CASE("source lines on request") {
  const std::string text = write(programs::add({2, 3}), true);
  CHECK(has(text, "// File \"/home/user/model.py\", line 5, in forward: return x + h"));
}
