#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the test sources of the mirrored folders, relative to tests/, one a line. With --formats those too."""

import pathlib
import sys

FOLDERS = ["core", "program", "backend", "backends", "lowering", "runtime", "embed"]
OPTIONAL = ["backends/onednn.cpp", "backends/xnnpack.cpp"]  # executables of their own, where their library is there
WITH_FORMATS = ["formats", "testing"]

here = pathlib.Path(__file__).resolve().parent
for folder in WITH_FORMATS if "--formats" in sys.argv else FOLDERS:
    for source in sorted((here / folder).rglob("*.cpp")):
        if str(source.relative_to(here)) not in OPTIONAL:
            print(source.relative_to(here))
