// SPDX-License-Identifier: MIT
#include "davit/lowered/text_table.hpp"

#include <doctest/doctest.h>

using davit::TextTable;

TEST_CASE("columns are aligned, numbers to the right, and lines end without spaces") {
  const TextTable table{
      {"name", "bytes", "note"}, {false, true, false}, {{"a", "12345678", ""}, {"long_name", "7", "x"}}};
  CHECK(table.print() ==
        "  name          bytes  note\n"
        "  a          12345678\n"
        "  long_name         7  x\n");
}

TEST_CASE("a table without rows is nothing; cells beyond the headline are left out") {
  CHECK(TextTable{{"a"}, {false}, {}}.print().empty());
  CHECK(TextTable{{"a"}, {false}, {{"1", "2"}, {}}}.print() == "  a\n  1\n\n");
}
