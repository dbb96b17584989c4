#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rewrites recorded cases, whose programs torch 2.6 wrote, into what other versions of torch write.

    producers.py CASES OUT [FORM...]

Writes OUT/FORM/<case>/ for each case folder below CASES. The forms are 2.5, 2.7 to 2.12, and "next": a newer schema than any
that is known, with keys that nobody knows. Needs Python's standard library alone. The differences follow torch's public sources:
torch/_export/serde/schema.py and serialize.py, torch/export/pt2_archive, torch/csrc/export, caffe2/serialize.
"""

import io
import json
import math
import os
import pathlib
import pickle
import re
import shutil
import struct
import sys
import zipfile
import zlib

from schemas import schemas


#        schema, layout, and what else is written
FORMS = {
    "2.5": ((8, 0), "files", set()),
    "2.7": ((8, 5), "files", {"kind", "null"}),
    "2.8": ((8, 8), "saved", {"kind", "null", "single", "strings"}),
    "2.9": ((8, 14), "raw", {"kind", "null", "single", "strings", "optional", "guards"}),
    "2.10": ((8, 15), "raw", {"kind", "null", "single", "strings", "optional", "guards", "names", "regions"}),
    "2.11": ((8, 17), "raw", {"kind", "null", "single", "strings", "optional", "guards", "names", "regions"}),
    "2.12": ((8, 20), "raw", {"kind", "null", "single", "strings", "optional", "guards", "names", "regions"}),
    "next": ((8, 99), "raw", {"kind", "null", "single", "strings", "optional", "guards", "names", "regions", "unknown"}),
}


# -- what torch.save wrote ----------------------------------------------------------------------------------------------
ITEM_SIZES = {"Float": (7, 4), "Double": (8, 8), "Half": (6, 2), "BFloat16": (13, 2), "Long": (5, 8), "Int": (4, 4), "Short": (3, 2),
              "Char": (2, 1), "Byte": (1, 1), "Bool": (12, 1), "ComplexFloat": (10, 8), "ComplexDouble": (11, 16)}  # fmt: skip


class Tensors(pickle.Unpickler):
    """Reads tensors as dicts. Takes nothing but what torch.save writes for them."""

    def persistent_load(self, reference):
        kind, storage, key, _, _ = reference
        assert kind == "storage"
        return storage, key

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return dict
        if module == "torch" and name.endswith("Storage"):
            return ITEM_SIZES[name[: -len("Storage")]]
        return {"_rebuild_tensor_v2": self.tensor, "_rebuild_parameter": self.parameter, "_rebuild_parameter_with_state": self.parameter}[name]

    @staticmethod
    def tensor(storage, offset, sizes, strides, requires_grad, *_):
        return {"storage": storage, "offset": offset, "sizes": sizes, "strides": strides, "requires_grad": requires_grad, "is_param": False}

    @staticmethod
    def parameter(tensor, requires_grad, *_):
        return {**tensor, "requires_grad": requires_grad, "is_param": True}


def saved_tensors(data):
    """The dictionary of tensors in a file of torch.save, and its storages."""
    archive = zipfile.ZipFile(io.BytesIO(data))
    return Tensors(io.BytesIO(archive.read("archive/data.pkl"))).load(), lambda key: archive.read(f"archive/data/{key}")


# -- the JSON -------------------------------------------------------------------------------------------------------------
def operator_parameters():
    """The parameters of each operator, as (name, type, keyword only)."""
    parameters_of = {}
    for name, row in schemas().items():
        rest = row.partition("(")[2]
        parameters, keyword = [], False
        for part in re.split(r", (?![^\[(]*[\])])", rest[: rest.rindex(") -> ")]):
            if part == "*":
                keyword = True
            elif part:
                kind, _, parameter = part.partition(" ")
                parameters.append((parameter.partition("=")[0], kind, keyword))
        parameters_of[name] = {parameter: (kind, only) for parameter, kind, only in parameters}
    return parameters_of


SCHEMAS = operator_parameters()
# where a struct of the schema has a field that torch 2.6 leaves out when it is None
UNSET = {"type": ("index",), "expr_str": ("hint",), "fqn": ("signature",), "in_spec": ("forward_arg_names",), "target": ("is_hop_single_tensor_return", "name")}


def edit(value, form):
    """A value of the JSON as the form has it, with all in it."""
    features = FORMS[form][2]
    if isinstance(value, list):
        return [edit(item, form) for item in value]
    if isinstance(value, float) and "strings" in features and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if not isinstance(value, dict):
        return value
    if "target" in value and "inputs" in value:
        value = edit_node(value, form)
    value = {key: edit(item, form) for key, item in value.items()}
    if "null" in features:
        for mark, keys in UNSET.items():
            if mark in value and not (mark == "type" and "children_spec" in value):
                for key in keys:
                    value.setdefault(key, None)
    if "unknown" in features and ("target" in value or "dtype" in value or "arg" in value):
        value["of_the_next_torch"] = {"as_int": 3}
    return value


def edit_node(node, form):
    features = FORMS[form][2]
    node = {**node, "inputs": [dict(each) for each in node["inputs"]]}
    higher = node["target"].startswith("torch.ops.higher_order.")
    if "regions" in features and node["target"] == "torch.ops.higher_order.wrap_with_set_grad_enabled":
        node["target"] = "torch.ops.higher_order.invoke_subgraph"  # a call of a nested compile region
        node["inputs"][:2] = [node["inputs"][1], {"name": "", "arg": {"as_string": "region_0"}}]
    if form != "2.5" and node["target"] == "torch.ops.higher_order.scan" and [i["arg"] for i in node["inputs"][3:5]] == [{"as_int": 0}, {"as_bool": False}]:
        del node["inputs"][3:5]
    schema = SCHEMAS.get(re.sub(r"^torch\.ops\.", "", node["target"]), {})
    for each in node["inputs"]:
        kind, keyword = schema.get(each["name"], ("", False))
        if "optional" in features and kind == "Tensor?" and "as_tensor" in each["arg"]:
            each["arg"] = {"as_optional_tensor": each["arg"]}
        if "kind" in features:
            each["kind"] = 2 if keyword else 1
    outputs = node["outputs"]
    if "single" in features and higher and len(outputs) == 1 and "as_tensors" in outputs[0] and len(outputs[0]["as_tensors"]) == 1:
        node["outputs"] = [{"as_tensor": outputs[0]["as_tensors"][0]}]
    if "single" in features and higher and len(node["outputs"]) == 1:
        node["is_hop_single_tensor_return"] = False
    if "names" in features:
        first = json.dumps(outputs)
        found = re.search(r'"(?:name|as_name)": "([^"]*)"', first)
        node["name"] = found.group(1) if found else None
    return node


def guards(program, runs):
    """Expressions that hold for all that was recorded, over the sizes that are symbolic."""
    lines, leaves, totals = [], [], [0] * len(runs)
    values = program["graph_module"]["graph"]["tensor_values"]
    specs = program["graph_module"]["signature"]["input_specs"]
    users = [spec for spec in specs if "user_input" in spec or "constant_input" in spec]
    for i, spec in enumerate(users):
        name = spec.get("user_input", {}).get("arg", {}).get("as_tensor", {}).get("name")
        for d, size in enumerate(values[name]["sizes"] if name else []):
            if "as_expr" in size:
                sizes = [run["inputs"][i]["shape"][d] for run in runs]
                totals = [total + size for total, size in zip(totals, sizes)]
                leaves.append(f"L['flat_args'][{i}].size()[{d}]")
                lines.append(f"{min(sizes)} <= {leaves[-1]} and {leaves[-1]} <= {max(sizes)}")
    if leaves:
        lines.append(" + ".join(leaves) + f" >= {min(totals)} and not (" + " * ".join(leaves) + " < 0)")
    return lines


def program_json(text, form, runs):
    program = json.loads(text)
    schema, _, features = FORMS[form]
    program = edit(program, form)
    program["schema_version"] = {"major": schema[0], "minor": schema[1]}
    program["torch_version"] = "2.13.0" if form == "next" else f"{form}.0"
    if form == "2.5":
        del program["graph_module"]["metadata"]
        if not program["graph_module"]["graph"].get("sym_float_values"):
            program["graph_module"]["graph"].pop("sym_float_values", None)
    if "strings" in features:
        program["graph_module"]["treespec_namedtuple_fields"] = {}
    program["guards_code"] = guards(json.loads(text), runs) if "guards" in features else []
    if schema < (8, 8):
        del program["guards_code"]
    return json.dumps(program).encode()


# -- archives ---------------------------------------------------------------------------------------------------------------
def torch_zip(members):
    """A ZIP as PyTorchFileWriter writes it: content at multiples of 64, sizes behind it, ZIP64 records at the end."""
    out, directory = bytearray(), bytearray()
    for name, content in members.items():
        at, raw, crc = len(out), name.encode(), zlib.crc32(content)
        padding = -(at + 30 + len(raw) + 4) % 64
        out += struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 0, 0x0808, 0, 0, 0, 0, 0, 0, len(raw), padding + 4)
        out += raw + struct.pack("<2sH", b"FB", padding) + b"Z" * padding + content
        out += struct.pack("<4sIII", b"PK\7\10", crc, len(content), len(content))
        directory += struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 0, 0, 0x0808, 0, 0, 0, crc, len(content), len(content), len(raw), 0, 0, 0, 0, 0, at)
        directory += raw
    at, count, size = len(out), len(members), len(directory)
    end64 = at + size
    out += directory
    out += struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, at)
    out += struct.pack("<4sIQI", b"PK\6\7", 0, end64, 1)
    out += struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, size, at, 0)
    return bytes(out)


def payload(members, folder, prefix, suffix, data):
    """Raw storages of a dictionary of tensors, and the configuration that says how they are viewed."""
    tensors, storage_of = saved_tensors(data) if data else ({}, None)
    config, paths = {}, {}
    for name, tensor in tensors.items():
        (dtype, item), key = tensor["storage"]
        if key not in paths:
            paths[key] = f"{prefix}_{len(paths)}"
            members[folder + paths[key]] = storage_of(key)
        meta = {"dtype": dtype, "sizes": [{"as_int": n} for n in tensor["sizes"]], "requires_grad": tensor["requires_grad"],
                "device": {"type": "cpu", "index": None}, "strides": [{"as_int": n} for n in tensor["strides"]],
                "storage_offset": {"as_int": tensor["offset"]}, "layout": 7}  # fmt: skip
        config[name] = {"path_name": paths[key], "is_param": tensor["is_param"], "use_pickle": False, "tensor_meta": meta}
    members[f"{folder}model_{suffix}_config.json"] = json.dumps({"config": config}).encode()


def rewritten(program, form, runs):
    """The bytes of a .pt2 file, given one of torch 2.6."""
    source = zipfile.ZipFile(program)
    schema, layout, _ = FORMS[form]
    text = program_json(source.read("serialized_exported_program.json"), form, runs)
    state, constants, examples = (source.read(f"serialized_{name}.pt") for name in ("state_dict", "constants", "example_inputs"))
    if layout == "files":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("serialized_exported_program.json", text)
            archive.writestr("serialized_state_dict.pt", state)
            archive.writestr("serialized_constants.pt", constants)
            archive.writestr("serialized_example_inputs.pt", examples)
            archive.writestr("version", ".".join(map(str, schema)))
        return out.getvalue()
    root = "program/"
    members = {root + "archive_format": b"pt2", root + "models/model.json": text}
    if layout == "saved":
        members[root + "data/weights/model.pt"] = state
        members[root + "data/constants/model.pt"] = constants
    else:
        payload(members, root + "data/weights/", "weight", "weights", state)
        payload(members, root + "data/constants/", "tensor", "constants", constants)
    members[root + "data/sample_inputs/model.pt"] = examples
    members |= {root + "archive_version": b"0", root + "byteorder": b"little", root + ".data/version": b"6\n", root + ".data/serialization_id": b"0" * 40}
    return torch_zip(members)


def main(cases, out, *forms):
    written = 0
    for case in sorted(pathlib.Path(cases).glob("*/case.json")):
        described = json.loads(case.read_text())
        for form in forms or FORMS:
            folder = pathlib.Path(out) / form / case.parent.name
            folder.mkdir(parents=True, exist_ok=True)
            for file in case.parent.iterdir():
                if file.name != described["program"]:
                    try:
                        os.link(file, folder / file.name)
                    except OSError:
                        shutil.copy(file, folder / file.name)
            (folder / described["program"]).write_bytes(rewritten(case.parent / described["program"], form, described["runs"]))
            written += 1
    print(f"{written} cases written")


if __name__ == "__main__":
    main(*sys.argv[1:])
