#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the peak memory of lowering and running models, in multiples of their files' sizes.

    memory.py build/tools/davit/davit CASE... [--backends LIST]...

A CASE is a folder with a recorded case (case.json and a .pt2 file) of a model whose weights are much larger than its activations.
Each is lowered and run whole, then saved, dropped, loaded from the file and run (davit check --saved). The command's own memory,
that of `davit --help`, is subtracted.
"""

import argparse
import json
import os
import subprocess
import sys


def peak(command):
    """Peak resident memory in bytes; None if the command fails."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    return usage.ru_maxrss * 1024 if status == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("davit")
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--backends", action="append", default=[])
    options = parser.parse_args()
    own = peak([options.davit, "--help"]) or 0
    failed = False
    for case in options.cases:
        with open(os.path.join(case, "case.json"), encoding="utf-8") as file:
            size = os.path.getsize(os.path.join(case, json.load(file)["program"]))
        for backends in options.backends or ["portable"]:
            for saved in ([], ["--saved"]):
                most = peak([options.davit, "check", "--backends", backends, *saved, case])
                failed = failed or most is None
                told = "fails" if most is None else f"{(most - own) / size:.2f} times {size >> 20} MiB"
                print(f"{os.path.basename(os.path.normpath(case)):20} {backends:20} {'saved' if saved else 'whole':6} {told}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
