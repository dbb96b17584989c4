#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes sources that together prove that every header (.hpp) and every file of definitions (.ipp) compiles alone.

A file that compiles after a subset of its own includes also compiles alone. So one source can be a chain of files, each of which includes
all files before it; a matching finds the smallest number of chains (Dilworth's theorem). Headers that many chains begin with, BASES, can
be parsed once. Usage: include_chains.py INCLUDE FOLDER BASES... <HEADERS, with headers named relative to INCLUDE/davit. Sources that can
be compiled after base i, counted from 1 (the largest of several), are written to FOLDER/i; the others to FOLDER/0.
"""

import pathlib
import re
import sys


def included(text):
    """The files of davit's that a text includes."""
    return re.findall(r'^[ \t]*#[ \t]*include "davit/([^"]*\.[hi]pp)"', text, re.M)


def contexts(texts):
    """For each file, all files of davit's that precede it if it is included alone."""
    seen = {}

    def behind(name):
        if name not in seen:
            seen[name] = set()  # a circle ends here; tests/checks/layers forbids it
            for other in included(texts.get(name, "")):
                seen[name] |= {other} | behind(other)
        return seen[name]

    return {name: behind(name) for name in texts}


def chains(before):
    """Lists of names in which the context of each name has all names before it; each name is in one list."""
    following = {name: [other for other in before if name in before[other]] for name in before}
    previous = {}

    def match(name, tried):
        for other in following[name]:
            if other not in tried:
                tried.add(other)
                if other not in previous or match(previous[other], tried):
                    previous[other] = name
                    return True
        return False

    for name in before:
        match(name, set())
    for last in set(before) - set(previous.values()):
        chain = [last]
        while chain[0] in previous:
            chain.insert(0, previous[chain[0]])
        yield chain


assert sorted(chains({"a": set(), "b": {"a"}, "c": {"a"}, "d": {"a", "b"}})) in ([["a", "b", "d"], ["c"]], [["a", "c"], ["b", "d"]])

if __name__ == "__main__":
    top, folder = pathlib.Path(sys.argv[1]) / "davit", pathlib.Path(sys.argv[2])
    names = sys.stdin.read().split()
    texts = {name: (top / name).read_text(encoding="utf-8") for name in names}
    before = contexts(texts)
    bases = [(), *({base, *before[base]} for base in sys.argv[3:])]
    for i in range(len(bases)):
        (folder / str(i)).mkdir(parents=True)
    for number, chain in enumerate(sorted(chains(before))):
        base = max((i for i, all_of_it in enumerate(bases) if before[chain[0]].issuperset(all_of_it)), key=lambda i: len(bases[i]))
        lines = "".join(f'#include "davit/{name}"\n' for name in chain)
        (folder / str(base) / f"{number}.cpp").write_text(lines + lines, encoding="utf-8")
