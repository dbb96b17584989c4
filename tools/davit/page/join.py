#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""join.py OUT PAGE [--dagre FILE] NAME=FILE...: writes a C++ header with the page as two strings: the text before and after the data.

PAGE contains {{NAME}} for each file, and {{data}}; for page.html the strings are page_before_data and page_after_data.
--dagre: PAGE also contains {{dagre}} and {{licence}}: the graph layout library dagre, and the licences of everything in its file. If FILE
is empty, the system's dagre is used. If the system has none, or FILE is none, both strings are empty."""

import pathlib
import re
import sys

DEBIAN = pathlib.Path("/usr/share/nodejs/dagre/dist/dagre.min.js")  # of the package node-dagre-layout
# Debian's dagre.min.js contains two more libraries
DEBIAN_LICENCES = [pathlib.Path("/usr/share/doc", name, "copyright") for name in ("node-dagre-layout", "node-graphlibrary", "node-lodash")]


def licences_of(dagre):
    """Returns the licence files of a dagre.min.js: the system's, or npm's, which is beside the file or one folder above."""
    if dagre == DEBIAN:
        return [path for path in DEBIAN_LICENCES if path.exists()]
    return [path for folder in (dagre.parent, dagre.parent.parent) for path in sorted(folder.glob("LICENSE*"))][:1]


def read_dagre(named):
    """Returns the texts of dagre and its licences; None if the system has no dagre."""
    dagre = pathlib.Path(named) if named else DEBIAN
    if named == "none" or (not named and not dagre.exists()):
        return None
    licences = licences_of(dagre)
    if not licences:
        sys.exit(f"{dagre} has no licence file beside it (LICENSE): a page that holds it must hold its licence")
    return {"dagre": dagre.read_text(encoding="utf-8"), "licence": "\n".join(path.read_text(encoding="utf-8") for path in licences)}


def literal(text):
    """Splits the text into raw string literals of a length that every compiler accepts."""
    parts = [text[i : i + 8000] for i in range(0, len(text), 8000)]
    return "\n".join(f'R"davit_page({part})davit_page"' for part in parts) or '""'


out, page, *arguments = sys.argv[1:]
texts = {}
complete = True
if arguments and arguments[0] == "--dagre":
    found = read_dagre(arguments[1])
    complete = found is not None
    texts = found or {}
    arguments = arguments[2:]
texts |= {name: pathlib.Path(path).read_text(encoding="utf-8") for name, path in (file.split("=", 1) for file in arguments)}
for name, text in texts.items():
    if re.search(r"</(script|style)|-->", text, re.I):
        sys.exit(f"{name} would end the element that it lies in")
before, after = "", ""
if complete:
    template = pathlib.Path(page).read_text(encoding="utf-8")
    before, after = re.sub(r"\{\{(\w+)\}\}", lambda at: at[0] if at[1] == "data" else texts[at[1]], template).split("{{data}}")
name = pathlib.Path(page).stem
pathlib.Path(out).write_text(
    "#pragma once\n\n#include <string_view>\n\nnamespace tool {\n\n"
    f"inline constexpr std::string_view {name}_before_data = {literal(before)};\n"
    f"inline constexpr std::string_view {name}_after_data = {literal(after)};\n\n}}  // namespace tool\n",
    encoding="utf-8",
)
