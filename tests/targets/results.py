# SPDX-License-Identifier: MIT
"""Runs the recorded models by a davit command, and compares the bits of their outputs with those of results.txt, which another
machine made: integers, booleans and quantized numbers are the same on every target. Other numbers are in the tolerances of the
recorded cases, which `davit check` sees to: of those it only counts how many have other bits.

results.py COMMAND...            the command's words, an emulator in front
results.py --record COMMAND...   writes results.txt"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE.parent / "cases/models"
RESULTS = HERE / "results.txt"


def text_of(value, folder):
    """What `davit run --input` takes for a recorded value; None if it takes none such."""
    if value is None:
        return "none"
    if isinstance(value, dict):
        if "file" in value:
            return str(folder / value["file"])
        return text_of(value["value"], folder) if "value" in value else None
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, (int, float)) else None


def descriptor_of(array):
    """The dtype of an .npy file."""
    return re.search(rb"'descr': '([^']*)'", array[:200]).group(1).decode()


def results_of(command):
    """Lines "MODEL OUTPUT exact|close DTYPE CRC" of all models, in order."""
    for case in sorted(CASES.iterdir()):
        recorded = json.loads((case / "case.json").read_text(encoding="utf-8"))
        run = recorded["runs"][0]
        inputs = [text_of(each, case) for each in run["inputs"]]
        if None in inputs:
            continue
        with tempfile.TemporaryDirectory() as folder:
            options = ["--input", *inputs] if inputs else []
            ran = subprocess.run([*command, "run", str(case / recorded["program"]), *options, "--output-dir", folder],
                                 capture_output=True, text=True, errors="replace")  # fmt: skip
            if ran.returncode != 0:
                yield f"{case.name} - fails - -", ran.stderr.strip()
                continue
            for file in sorted(pathlib.Path(folder).glob("output_*.npy"), key=lambda file: int(file.stem[7:])):
                index, array = int(file.stem[7:]), file.read_bytes()
                dtype = descriptor_of(array)
                name = run["outputs"][index].get("name") or "" if index < len(run["outputs"]) else ""
                exact = dtype[1] in "iub" or name.startswith("dequantize")
                yield f"{case.name} {index} {'exact' if exact else 'close'} {dtype} {zlib.crc32(array):08x}", ""


def main():
    record = sys.argv[1:2] == ["--record"]
    command = sys.argv[2 if record else 1 :]
    found = list(results_of(command))
    if record:
        lines = [line for line, fault in found if not fault]
        RESULTS.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        print(f"{RESULTS}: {len(lines)} outputs of {len({line.split()[0] for line in lines})} models; not run: "
              f"{', '.join(line.split()[0] for line, fault in found if fault) or 'none'}")  # fmt: skip
        return 0
    here = {tuple(line.split()[:2]): line.split()[2:] for line, _ in found}
    faults = {line.split()[0]: fault for line, fault in found if fault}
    models, passed, failed, close, other = set(), 0, 0, 0, []
    for line in RESULTS.read_text(encoding="utf-8").splitlines():
        model, output, *expected = line.split()
        models.add(model)
        actual = here.get((model, output))
        if expected[0] == "exact":
            same = actual == expected
            passed, failed = passed + same, failed + (not same)
            if not same:
                print(f"{model}, output {output}: {' '.join(actual or ['is missing:', faults.get(model, '')])}, not {' '.join(expected)}")
        else:
            close += 1
            if actual != expected:
                other.append(f"{model}:{output}")
            if actual is None:
                failed += 1
                print(f"{model}, output {output} is missing: {faults.get(model, '')}")
    print(f"{len(models)} models; of {close} outputs of floats {len(other)} have other bits: {' '.join(other) or 'none'}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
