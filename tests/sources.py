#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the test sources of the mirrored folders, relative to tests/, one a line. With --formats those of formats/
instead, with --backend NAME those of an optional backend."""

import pathlib
import sys

FOLDERS = ["core", "kernels", "program", "backend", "backends", "lowering", "runtime", "choosing", "embed"]
OPTIONAL = ["onednn", "xnnpack"]  # backends with executables of their own, where their library is there
WITH_FORMATS = ["formats", "testing"]

here = pathlib.Path(__file__).resolve().parent


def backend_of(source: pathlib.Path) -> str:
    """The optional backend that a source is about, or an empty string."""
    parts = source.relative_to(here).with_suffix("").parts
    return parts[1] if parts[0] == "backends" and parts[1] in OPTIONAL else ""


wanted = sys.argv[sys.argv.index("--backend") + 1] if "--backend" in sys.argv else ""
for folder in WITH_FORMATS if "--formats" in sys.argv else FOLDERS:
    for source in sorted((here / folder).rglob("*.cpp")):
        if backend_of(source) == wanted:
            print(source.relative_to(here))
