#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""join.py OUT PAGE [--dagre FILE] NAME=FILE...: writes a C++ header with the page as text in two halves: before and after the data.

PAGE names each file as {{NAME}} and the data as {{data}}; of page.html the halves are page_before_data and page_after_data.
--dagre: PAGE also has {{dagre}} and {{licence}}: the graph layout dagre with the licences of all that its file holds. An empty FILE is the
system's dagre; where the system has none, and with none as FILE, both halves are empty."""

import pathlib
import re
import sys

DEBIAN = pathlib.Path("/usr/share/nodejs/dagre/dist/dagre.min.js")  # of the package node-dagre-layout
# Debian's dagre.min.js holds two more libraries
DEBIAN_LICENCES = [pathlib.Path("/usr/share/doc", name, "copyright") for name in ("node-dagre-layout", "node-graphlibrary", "node-lodash")]


def licences_of(dagre):
    """The licence files of a dagre.min.js: the system's, or npm's, which lies two folders above or beside the file."""
    if dagre == DEBIAN:
        return [path for path in DEBIAN_LICENCES if path.exists()]
    return [path for folder in (dagre.parent, dagre.parent.parent) for path in sorted(folder.glob("LICENSE*"))][:1]


def read_dagre(named):
    """The texts of dagre and of its licences, or None where the system has no dagre."""
    dagre = pathlib.Path(named) if named else DEBIAN
    if named == "none" or (not named and not dagre.exists()):
        return None
    licences = licences_of(dagre)
    if not licences:
        sys.exit(f"{dagre} has no licence file beside it (LICENSE): a page that holds it must hold its licence")
    return {"dagre": dagre.read_text(encoding="utf-8"), "licence": "\n".join(path.read_text(encoding="utf-8") for path in licences)}


def literal(text):
    """Raw literals of a size that every compiler takes."""
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
