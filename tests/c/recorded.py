#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs recorded cases through libdavit-c with ctypes alone, and compares the outputs with torch's.

recorded.py LIBRARY CASES NAME=FOLDER...: the package FOLDER/NAME.davit of the case CASES/NAME"""

import ast
import cmath
import ctypes
import json
import math
import pathlib
import struct
import sys


class Dtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", Dtype), ("rank", ctypes.c_int32), ("sizes", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64))]  # fmt: skip


class String(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class As(ctypes.Union):
    _fields_ = [("tensor", Tensor), ("integer", ctypes.c_int64), ("number", ctypes.c_double), ("boolean", ctypes.c_int32), ("string", String)]


class Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("as_", As)]


class Port(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int32), ("dtype", Dtype), ("rank", ctypes.c_int32),
                ("sizes", ctypes.POINTER(ctypes.c_int64)), ("is_fixed", ctypes.c_int32)]  # fmt: skip


NONE, TENSOR, INT, FLOAT, BOOL, STRING = range(6)
# torch's name: DLPack's code and bits, the letter of struct
DTYPES = {"int8": (0, 8, "b"), "int16": (0, 16, "h"), "int32": (0, 32, "i"), "int64": (0, 64, "q"), "uint8": (1, 8, "B"), "uint16": (1, 16, "H"),
          "uint32": (1, 32, "I"), "uint64": (1, 64, "Q"), "float16": (2, 16, "e"), "float32": (2, 32, "f"), "float64": (2, 64, "d"),
          "bfloat16": (4, 16, "H"), "complex64": (5, 64, "f"), "complex128": (5, 128, "d"), "bool": (6, 8, "B")}  # fmt: skip

library = ctypes.CDLL(sys.argv[1])
library.davit_error_text.restype = ctypes.c_char_p
library.davit_error_text.argtypes = [ctypes.c_void_p]
library.davit_error_free.argtypes = [ctypes.c_void_p]
library.davit_backends.restype = ctypes.c_char_p


def call(name, *arguments):
    function = getattr(library, "davit_" + name)
    function.restype = ctypes.c_void_p
    if error := function(*arguments):
        text = library.davit_error_text(error).decode()
        library.davit_error_free(error)
        raise RuntimeError(text)


def elements_of(path):
    """The bytes of a .npy file's elements, in row-major order."""
    data = path.read_bytes()
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10 : 10 + size].decode())
    assert not header["fortran_order"] or len(header["shape"]) < 2, path
    return data[10 + size :]


def argument(folder, recorded, alive):
    """An input as a Value; `alive` keeps its memory."""
    kind = recorded["type"]
    if kind != "tensor":
        value = recorded.get("value")
        if kind == "none" or value is None:
            return Value(NONE)
        if isinstance(value, bool):
            return Value(BOOL, As(boolean=value))
        if kind == "str" or kind == "string":
            return Value(STRING, As(string=String(value.encode(), len(value.encode()))))
        if kind == "float":
            return Value(FLOAT, As(number=float(value)))
        return Value(INT, As(integer=int(value)))
    code, bits, _ = DTYPES[recorded["dtype"]]
    raw = elements_of(folder / recorded["file"])
    memory = (ctypes.c_char * (len(raw) + 16)).from_buffer_copy(raw + bytes(16))
    sizes = (ctypes.c_int64 * len(recorded["shape"]))(*recorded["shape"])
    alive += [memory, sizes]
    return Value(TENSOR, As(tensor=Tensor(ctypes.addressof(memory), Dtype(code, bits, 1), len(sizes), sizes, None)))


def numbers(raw, dtype):
    code, bits, letter = DTYPES[dtype]
    if dtype == "bfloat16":
        raw = b"".join(b"\0\0" + raw[i : i + 2] for i in range(0, len(raw), 2))
        letter = "f"
    flat = [x[0] for x in struct.iter_unpack("<" + letter, raw)]
    return [complex(*pair) for pair in zip(flat[::2], flat[1::2])] if code == 5 else flat


def gathered(tensor):
    """The bytes of a strided tensor's elements, in row-major order."""
    width = tensor.dtype.bits // 8
    sizes, strides = tensor.sizes[: tensor.rank], tensor.strides[: tensor.rank]
    offsets = [0]
    for size, stride in zip(sizes, strides):
        offsets = [start + i * stride for start in offsets for i in range(size)]
    return b"".join(ctypes.string_at(tensor.data + offset * width, width) for offset in offsets)


def close(a, b, case):
    if isinstance(b, int):
        return a == b
    if cmath.isnan(b) or cmath.isinf(b):
        return str(a) == str(b)
    return abs(a - b) <= case["atol"] + case["rtol"] * abs(b)


def compare(given, recorded, folder, case, place):
    if recorded["type"] != "tensor":
        kind, members = {int: (INT, "integer"), float: (FLOAT, "number"), bool: (BOOL, "boolean"), str: (STRING, "string")}.get(
            type(recorded.get("value")), (NONE, None))  # fmt: skip
        assert given.kind == kind, (place, given.kind, recorded)
        if members == "string":
            text = ctypes.string_at(given.as_.string.data, given.as_.string.size).decode()
            assert text == recorded["value"], (place, text, recorded)
        elif members:
            assert close(getattr(given.as_, members), recorded["value"], case), (place, recorded)
        return 1
    tensor = given.as_.tensor
    assert given.kind == TENSOR and tensor.sizes[: tensor.rank] == recorded["shape"], (place, given.kind, tensor.sizes[: tensor.rank], recorded)
    assert (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) == (*DTYPES[recorded["dtype"]][:2], 1), (place, recorded)
    a = numbers(gathered(tensor), recorded["dtype"])
    b = numbers(elements_of(folder / recorded["file"]), recorded["dtype"])
    assert len(a) == len(b) and all(close(x, y, case) for x, y in zip(a, b)), (place, [pair for pair in zip(a, b) if not close(*pair, case)][:4])
    return len(b)


def run_case(folder, package):
    case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    program, session, count, port = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t(), Port()
    call("program_load", str(package).encode(), ctypes.byref(program))
    call("session_make", program, ctypes.byref(session))
    call("program_input_count", program, ctypes.c_size_t(0), ctypes.byref(count))
    assert count.value == len(case["runs"][0]["inputs"]), (folder, count.value)
    compared = 0
    for number, run in enumerate(case["runs"]):
        if run.get("error"):
            continue
        alive = []
        inputs = (Value * max(1, len(run["inputs"])))(*[argument(folder, each, alive) for each in run["inputs"]])
        for i, recorded in enumerate(run["inputs"]):
            call("program_input", program, ctypes.c_size_t(0), ctypes.c_size_t(i), ctypes.byref(port))
            assert port.kind == inputs[i].kind, (folder, i, port.kind, recorded)
            if port.kind == TENSOR:
                assert all(a in (-1, b) for a, b in zip(port.sizes[: port.rank], recorded["shape"])) and port.rank == len(recorded["shape"]), (folder, i)
        call("session_run", session, ctypes.c_size_t(0), inputs, ctypes.c_size_t(len(run["inputs"])))
        outputs = [each for each in run["outputs"] if each["kind"] in ("USER_OUTPUT", "LOSS_OUTPUT")]
        call("session_output_count", session, ctypes.byref(count))
        assert count.value == len(outputs), (folder, count.value, len(outputs))
        for i, recorded in enumerate(outputs):
            value = Value()
            call("session_output", session, ctypes.c_size_t(i), ctypes.byref(value))
            compared += compare(value, recorded, folder, case, f"{folder.name}, run {number}, output {i}")
        for recorded in run["outputs"]:
            if recorded["kind"] == "USER_INPUT_MUTATION":  # written into the caller's memory
                at = [each["name"] for each in run["inputs"]].index(recorded["target"])
                tensor = inputs[at].as_.tensor
                given = ctypes.string_at(tensor.data, len(elements_of(folder / recorded["file"])))
                a, b = numbers(given, recorded["dtype"]), numbers(elements_of(folder / recorded["file"]), recorded["dtype"])
                assert all(close(x, y, case) for x, y in zip(a, b)), (folder, recorded)
                compared += len(b)
    call("session_free", session)
    call("program_free", program)
    return len(case["runs"]), compared


assert math.isclose(numbers(b"\x80\x3f", "bfloat16")[0], 1.0)
cases = pathlib.Path(sys.argv[2])
total = [run_case(cases / name, pathlib.Path(folder) / f"{name}.davit") for name, folder in (each.split("=", 1) for each in sys.argv[3:])]
print(f"{library.davit_backends().decode()}: {len(total)} cases, {sum(runs for runs, _ in total)} runs, {sum(n for _, n in total)} elements as torch has them")
sys.exit(0 if sum(n for _, n in total) else 1)
