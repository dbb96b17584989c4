# SPDX-License-Identifier: MIT
"""Recorded cases: a program, its inputs, and torch's outputs."""

import json
import os
import pathlib

import numpy

cases = pathlib.Path(os.environ.get("DAVIT_TEST_DATA", pathlib.Path(__file__).parent.parent / "cases")) / "models"


def program(name):
    return cases / name / "program.pt2"


def value(folder, entry):
    """An input or output; the bits of bfloat16 as uint16."""
    if entry["type"] == "tensor":
        return numpy.load(folder / entry["file"]).reshape(entry["shape"])
    return entry.get("value")


def runs(name):
    """The runs of a case: (inputs, values returned)."""
    folder = cases / name
    for run in json.loads((folder / "case.json").read_text())["runs"]:
        returned = [each for each in run["outputs"] if each["kind"] == "USER_OUTPUT"]
        yield [value(folder, each) for each in run["inputs"]], [value(folder, each) for each in returned]


def leaves(result):
    if isinstance(result, (list, tuple)):
        return [leaf for each in result for leaf in leaves(each)]
    if isinstance(result, dict):
        return [leaf for each in result.values() for leaf in leaves(each)]
    return [result]
