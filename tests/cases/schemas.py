# SPDX-License-Identifier: MIT
"""The schemas in the rows of include/davit/ops/families, by the names of their operators."""

import ast
import pathlib
import re

FAMILIES = pathlib.Path(__file__).resolve().parent.parent.parent / "include/davit/ops/families"
SCHEMA = re.compile(r'\.schema = ((?:"(?:[^"\\]|\\.)*"\s*)+)sv')


def schemas():
    texts = [text for path in sorted(FAMILIES.glob("*.hpp")) for text in SCHEMA.findall(path.read_text(encoding="utf-8"))]
    rows = [ast.literal_eval("(" + text + ")") for text in texts]
    return {row[: row.index("(")]: row for row in rows}
