#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""join.py OUT PAGE NAME=FILE...: writes a C++ header with the page as text in two halves: what goes before the data and what after.

PAGE names each file as {{NAME}} and the data as {{data}}; of page.html the halves are page_before_data and page_after_data."""

import pathlib
import re
import sys

out, page, *files = sys.argv[1:]
texts = {name: pathlib.Path(path).read_text(encoding="utf-8") for name, path in (file.split("=", 1) for file in files)}
for name, text in texts.items():
    if re.search(r"</(script|style)|-->", text, re.I):
        sys.exit(f"{name} would end the element that it lies in")
whole = re.sub(r"\{\{(\w+)\}\}", lambda at: at[0] if at[1] == "data" else texts[at[1]], pathlib.Path(page).read_text(encoding="utf-8"))
name = pathlib.Path(page).stem
before, after = whole.split("{{data}}")


def literal(text):
    """Raw literals of a size that every compiler takes."""
    parts = [text[i : i + 8000] for i in range(0, len(text), 8000)]
    return "\n".join(f'R"davit_page({part})davit_page"' for part in parts)


pathlib.Path(out).write_text(
    "#pragma once\n\n#include <string_view>\n\nnamespace tool {\n\n"
    f"inline constexpr std::string_view {name}_before_data = {literal(before)};\n"
    f"inline constexpr std::string_view {name}_after_data = {literal(after)};\n\n}}  // namespace tool\n",
    encoding="utf-8",
)
