#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes recorded cases with operators of higher order that torch 2.6 cannot export: their JSON is made here, as newer torch writes it.

    newer.py

Writes models/<name>/ beside this script. The values are those of torch's eager functions, or plain to see. Needs PyTorch 2.6. Torch
writes no file of a flex_attention whose block mask is a tuple of numbers, tensors and a graph: here they stand beside one another.
"""

import io
import json
import pathlib
import zipfile

import numpy as np
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

HERE = pathlib.Path(__file__).resolve().parent
FLOAT, INT, BOOL = 7, 4, 12


def tensor(name):
    return {"as_tensor": {"name": name}}


def number(name):
    return {"as_sym_int": {"as_name": name}}


def meta(sizes, dtype=FLOAT):
    strides = [int(np.prod(sizes[d + 1 :])) for d in range(len(sizes))]
    as_int = lambda numbers: [{"as_int": int(n)} for n in numbers]
    return {"dtype": dtype, "sizes": as_int(sizes), "requires_grad": False, "device": {"type": "cpu", "index": None},
            "strides": as_int(strides), "storage_offset": {"as_int": 0}, "layout": 7}  # fmt: skip


def node(target, inputs, outputs):
    return {"target": target, "inputs": [{"name": name, "arg": arg, "kind": 1} for name, arg in inputs], "outputs": outputs, "metadata": {}}


def aten(target, inputs, output):
    return node(f"torch.ops.aten.{target}", inputs, [tensor(output)])


def higher(target, inputs, outputs):
    return {**node(f"torch.ops.higher_order.{target}", [("", arg) for arg in inputs], outputs), "is_hop_single_tensor_return": False}


def graph(inputs, nodes, outputs, tensors, ints={}, bools={}):
    return {"inputs": inputs, "outputs": outputs, "nodes": nodes, "tensor_values": tensors, "sym_int_values": ints, "sym_bool_values": bools,
            "is_single_tensor_return": False, "custom_obj_values": {}, "sym_float_values": {}}  # fmt: skip


def subgraph(name, *parts):
    return {"as_graph": {"name": name, "graph": graph(*parts)}}


def symbol(text):
    return {"as_expr": {"expr_str": text, "hint": None}}


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def write(name, root, inputs, outputs):
    """A case of one run; `inputs` and `outputs` are arrays by the names that the graph gives them."""
    folder = HERE / "models" / name
    folder.mkdir(parents=True, exist_ok=True)
    program = {
        "graph_module": {
            "graph": root,
            "signature": {"input_specs": [{"user_input": {"arg": tensor(each)}} for each in inputs],
                          "output_specs": [{"user_output": {"arg": tensor(each)}} for each in outputs]},  # fmt: skip
            "module_call_graph": [{"fqn": "", "signature": None}],
            "metadata": {},
        },
        "opset_version": {"aten": 10}, "range_constraints": {}, "schema_version": {"major": 8, "minor": 15}, "verifiers": ["ATEN"], "torch_version": "2.10.0",
    }  # fmt: skip
    with zipfile.ZipFile(folder / "program.pt2", "w") as archive:
        archive.writestr("serialized_exported_program.json", json.dumps(program))
        archive.writestr("serialized_state_dict.pt", saved({}))
        archive.writestr("serialized_constants.pt", saved({}))
        archive.writestr("serialized_example_inputs.pt", b"")
        archive.writestr("version", "8.15")
    run = {"inputs": [], "outputs": []}
    for kind, arrays in (("inputs", inputs), ("outputs", outputs)):
        for i, (each, array) in enumerate(arrays.items()):
            array = np.ascontiguousarray(np.asarray(array, np.float32))
            np.save(folder / f"r0_{kind[:-1]}{i}.npy", array)
            entry = {"name": each, "type": "tensor", "dtype": "float32", "shape": list(array.shape), "file": f"r0_{kind[:-1]}{i}.npy"}
            run[kind].append({"kind": "USER_OUTPUT", **entry} if kind == "outputs" else entry)
    case = {"name": name, "program": "program.pt2", "rtol": 1e-4, "atol": 1e-5, "check": "close", "runs": [run]}
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


def associative_scan():
    body = subgraph("combine", [tensor("a"), tensor("b"), tensor("k")],
                    [aten("mul.Tensor", [("self", tensor("a")), ("other", tensor("b"))], "c"), aten("add.Tensor", [("self", tensor("c")), ("other", tensor("k"))], "d")],
                    [tensor("d")], {each: meta([2]) for each in "abckd"})  # fmt: skip
    root = graph([tensor("x"), tensor("k")], [higher("associative_scan", [body, {"as_tensors": [{"name": "x"}]}, {"as_tensors": [{"name": "k"}]}], [tensor("y")])],
                 [tensor("y")], {"x": meta([4, 2]), "k": meta([2]), "y": meta([4, 2])})  # fmt: skip
    x, k = np.array([[1, 2], [3, 4], [5, 6], [7, 8]]), np.array([0.5, -1])
    y = [x[0].astype(float)]
    for row in x[1:]:
        y.append(y[-1] * row + k)
    write("associative_scan", root, {"x": x, "k": k}, {"y": y})


def carried_ints():
    """A loop that counts in an integer, which then scales a tensor."""
    less = {"as_sym_bool": {"as_name": "c"}}
    condition = subgraph("cond", [number("i"), tensor("a")], [node("_operator.lt", [("a", number("i")), ("b", {"as_int": 4})], [less])], [less],
                         {"a": meta([3])}, {"i": symbol("Symbol('u0', integer=True)")}, {"c": symbol("StrictLessThan(Symbol('u0', integer=True), Integer(4))")})  # fmt: skip
    body = subgraph("body", [number("i"), tensor("a")], [node("_operator.add", [("a", number("i")), ("b", {"as_int": 1})], [number("j")])], [number("j")],
                    {"a": meta([3])}, {"i": symbol("Symbol('u0', integer=True)"), "j": symbol("Add(Symbol('u0', integer=True), Integer(1))")})  # fmt: skip
    root = graph([tensor("x")], [higher("while_loop", [condition, body, {"as_ints": [0]}, {"as_tensors": [{"name": "x"}]}], [number("k")]),
                                 aten("mul.Tensor", [("self", tensor("x")), ("other", number("k"))], "y")],
                 [tensor("y")], {"x": meta([3]), "y": meta([3])}, {"k": symbol("Symbol('u1', integer=True)")})  # fmt: skip
    write("carried_ints", root, {"x": [1, 2, 3]}, {"y": [4, 8, 12]})


def flex():
    """Heads of queries that share keys, a bias by head and distance, and a mask."""
    batch, heads, groups, rows, columns, width, scale = 2, 4, 2, 5, 6, 8, 0.3
    torch.manual_seed(0)
    q, bias = torch.randn(batch, heads, rows, width), torch.randn(heads)
    k, v = torch.randn(2, batch, groups, columns, width)
    mask = create_block_mask(lambda b, h, m, n: m + 1 >= n, B=None, H=None, Q_LEN=rows, KV_LEN=columns, device="cpu")
    out = flex_attention(q, k, v, score_mod=lambda s, b, h, m, n: s + bias[h] * (m - n), block_mask=mask, scale=scale, enable_gqa=True)
    places = {each: meta([], INT) for each in "bhmn"}
    two = lambda target, a, b, made: aten(target, [("self", tensor(a)), ("other", tensor(b))], made)
    score = subgraph("sdpa_score0", [tensor(each) for each in ("s", "b", "h", "m", "n", "w")],
                     [aten("index.Tensor", [("self", tensor("w")), ("indices", {"as_tensors": [{"name": "h"}]})], "e"), two("sub.Tensor", "m", "n", "d"),
                      two("mul.Tensor", "e", "d", "f"), two("add.Tensor", "s", "f", "r")],
                     [tensor("r")], {**places, "s": meta([]), "w": meta([heads]), "e": meta([]), "d": meta([], INT), "f": meta([]), "r": meta([])})  # fmt: skip
    seen = subgraph("sdpa_mask0", [tensor(each) for each in "bhmn"],
                    [aten("add.Tensor", [("self", tensor("m")), ("other", {"as_int": 1})], "p"), two("ge.Tensor", "p", "n", "c")],
                    [tensor("c")], {**places, "p": meta([], INT), "c": meta([], BOOL)})  # fmt: skip
    inputs = [tensor("q"), tensor("k"), tensor("v"), score, {"as_int": rows}, {"as_int": columns}, {"as_int": 128}, {"as_int": 128}, seen, {"as_float": scale},
              {"as_string_to_argument": {"PRESCALE_QK": {"as_bool": False}}}, {"as_tensors": [{"name": "bias"}]}, {"as_tensors": []}]  # fmt: skip
    keys = meta([batch, groups, columns, width])
    root = graph([tensor(each) for each in ("q", "k", "v", "bias")], [higher("flex_attention", inputs, [tensor("o"), tensor("lse")])], [tensor("o")],
                 {"q": meta(list(q.shape)), "k": keys, "v": keys, "bias": meta([heads]), "o": meta(list(q.shape)), "lse": meta([batch, heads, rows])})  # fmt: skip
    write("flex_attention", root, {"q": q, "k": k, "v": v, "bias": bias}, {"o": out.detach()})


if __name__ == "__main__":
    associative_scan()
    carried_ints()
    flex()
