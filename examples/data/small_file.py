# SPDX-License-Identifier: MIT
"""Saves an exported program as a small .pt2 file, for the export scripts."""
import io
import zipfile

import torch


def save(program, path):
    """Saves a program without example inputs and unused state, deflated."""
    used = {s.target for s in program.graph_signature.input_specs if s.target}
    for name in [n for n in program.state_dict if n not in used]:
        del program.state_dict[name]
    program._example_inputs = None
    plain = io.BytesIO()
    torch.export.save(program, plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for entry in source.infolist():
            fresh = zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0))
            target.writestr(fresh, source.read(entry), zipfile.ZIP_DEFLATED, 9)
