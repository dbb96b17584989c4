#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sources.py FOLDER [--kernels | --formats | --backend NAME]: writes files to FOLDER that contain several test sources each, and prints their
paths: headers are then parsed and instantiated once for all sources of a file, which halves the time. Each source is in a namespace of its
own, after the includes of all sources of the file; sources that cannot be in a namespace are printed themselves.

The sources are those of the mirrored folders without kernels; with --kernels those of kernels/ and backends/, with --formats those of
formats/ and testing/, with --backend those of an optional backend."""

import os
import pathlib
import re
import sys

FOLDERS = {
    "": ["core", "ops", "program", "backend", "lowered", "lowering", "runtime", "autotune", "training", "embed"],
    "--kernels": ["kernels", "backends"],
    "--formats": ["formats", "testing"],
    "--backend": ["backends"],
}
OPTIONAL = ["onednn", "xnnpack"]  # backends with executables of their own, where their library is there

here = pathlib.Path(__file__).resolve().parent
target, kind, wanted = pathlib.Path(sys.argv[1]), *[*sys.argv[2:], "", ""][:2]


def backend_of(source: pathlib.Path) -> str:
    """The optional backend that a source is about, or an empty string."""
    parts = source.relative_to(here).with_suffix("").parts
    return parts[1] if parts[0] == "backends" and parts[1] in OPTIONAL else ""


def from_target(path: pathlib.Path) -> str:
    """The path relative to the written files: equal in every checkout, so that ccache recognizes the files."""
    return os.path.relpath(path.resolve(), target.resolve())


def includes_of(source: pathlib.Path) -> list[str] | None:
    """The names that a source includes, as the written files include them; None if the source cannot be in a namespace."""
    text = source.read_text()
    if re.search(r"^#(?!include )|^namespace [\w:]+ {|^template <> *$|^template <>\s*struct", text, re.M):
        return None
    includes = []
    for name in re.findall(r'^#include (\S+)', text, re.M):
        beside = source.parent / name.strip('"')
        includes.append(f'"{from_target(beside)}"' if name[0] == '"' and beside.exists() else name)
    return includes


def write_groups(sources: list[pathlib.Path], folder: pathlib.Path) -> list[pathlib.Path]:
    """Groups the sources of a room, with a limit of KB per group, and lists the sources that stay alone."""
    # static kernels take a compiler a GB or two already
    most = {"--kernels": 40_000, "--formats": 60_000}.get(kind, 100_000)
    written = []
    members: dict[pathlib.Path, list[pathlib.Path]] = {}
    for source in sources:
        relative = source.parent.relative_to(here)
        if includes_of(source) is None:
            written.append(source)
        else:
            members.setdefault(pathlib.Path(*relative.parts[: 3 if relative.parts[0] == "backends" else 1]), []).append(source)
    folder.mkdir(parents=True, exist_ok=True)
    for room, all_of_them in members.items():
        groups: list[list[pathlib.Path]] = []
        size = 0
        for source in all_of_them:
            size += source.stat().st_size
            if not groups or size > most:
                groups.append([])
                size = source.stat().st_size
            groups[-1].append(source)
        for i, group in enumerate(groups):
            lines = dict.fromkeys(include for source in group for include in includes_of(source) or [])
            text = "".join(f"#include {line}\n" for line in lines)
            for source in group:
                name = "_".join(source.relative_to(here).with_suffix("").parts)
                text += f'namespace test_{name} {{\n#include "{from_target(source)}"\n}}\n'
            file = folder / ("_".join([*room.parts, str(i)]) + ".cpp")
            if not file.exists() or file.read_text() != text:
                file.write_text(text)
            written.append(file)
    return written


found = []
for folder in FOLDERS[kind]:
    found += [source for source in sorted((here / folder).rglob("*.cpp")) if backend_of(source) == wanted]
print(*write_groups(found, target), sep="\n")
