#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps packages of this version of the format, with recorded runs, so that later versions can be tried on them.

    packages.py DAVIT

DAVIT is the davit command, built with every backend. Writes packages/<version>/<case>/ beside this script: the recorded runs of
models/<case>, and a package <list of backends>.davit for each list. They take the place of what was there of this version; folders of
other versions stay. To be run after each change of the format, and before a release.
"""

import pathlib
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# state, branches, loops, sizes known at run time, wrapped graphs, quantization
CASES = ["seed", "branches", "loop", "scanned", "dynamic_batch", "regions", "int8_batch"]
LISTS = ["portable", "onednn,portable", "xnnpack,portable", "xnnpack,onednn,portable"]


def version_of(package):
    magic, major, minor = struct.unpack("<8sII", package.read_bytes()[:16])
    assert magic == b"DAVITPK\n", package
    return f"{major}.{minor}"


def main(davit):
    work = HERE / "packages" / "new"
    shutil.rmtree(work, ignore_errors=True)
    for name in CASES:
        source, folder = HERE / "models" / name, work / name
        folder.mkdir(parents=True)
        for file in source.iterdir():
            if file.name != "program.pt2":
                shutil.copy(file, folder)
        for backends in LISTS:
            package = folder / f"{backends.replace(',', '-')}.davit"
            command = [davit, "lower", source / "program.pt2", "--backends", backends, "-o", package]
            subprocess.run(command + (["--strip-debug-map"] if "," in backends else []), check=True, stdout=subprocess.DEVNULL)
    version = version_of(package)
    shutil.rmtree(HERE / "packages" / version, ignore_errors=True)
    work.rename(HERE / "packages" / version)
    print(f"packages of version {version} written")


if __name__ == "__main__":
    main(*sys.argv[1:])
