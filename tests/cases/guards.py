#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the fixtures of guards, with Python's standard library alone.

expressions.txt: guards as torch's PythonPrinter writes them, values of their leaves, and Python's own answer, a line each:
    LEAVES <tab> ANSWER <tab> EXPRESSION
LEAVES are the numbers of leaves() in order. ANSWER is "int 3", "float 0x1.8p+1", "bool True", the name of the exception that Python raises,
or "large" if a number on the way to it does not fit 64 bits.

NAME.pt2: programs of models/ and pt2/ with guards_code added, as torch 2.9 would write it.

    guards.py [COUNT [SEED [FILE]]]   (360 expressions, 1, guards/expressions.txt)
"""

import ast
import json
import math
import pathlib
import random
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "guards"


class Tensor:
    def __init__(self, sizes, strides):
        self.sizes, self.strides = sizes, strides

    def size(self):
        return self.sizes

    def stride(self):
        return self.strides

    def storage_offset(self):
        return 0


def leaves(numbers):
    """x of rank 2, z['k'][1] of rank 3, two variable arguments, n an int, f a float, b a bool: what forward() was called with."""
    x = Tensor(numbers[0:2], numbers[2:4])
    k = Tensor(numbers[4:7], numbers[7:10])
    one, two = Tensor(numbers[10:11], numbers[11:12]), Tensor(numbers[12:13], numbers[13:14])
    n, f, b = numbers[14], numbers[15], bool(numbers[16])
    flat = [x, one, two, n, f, b, None, k]  # as the user inputs are numbered
    return {"x": x, "args_0": one, "args_1": two, "args": [one, two], "n": n, "f": f, "b": b, "z": {"k": [None, k]}, "flat_args": flat}


def dense(*numbers):
    rank = len(numbers) // 2
    sizes, strides = numbers[:rank], numbers[rank:]
    if rank == 1:
        return int(strides[0] == 1 or sizes[0] < 2)
    expected = 1
    for stride, size in sorted(zip(strides, sizes), key=lambda pair: pair[0]):
        if size == 1:
            continue
        if stride != expected:
            return 0
        expected *= size
    return 1


class Large(Exception):
    pass


def fits(value):
    if isinstance(value, complex):
        raise TypeError("a complex number")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise Large()
    return value


def power(a, b):
    if isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and b > 64:
        raise Large()
    return fits(a**b)


class Checks(ast.NodeTransformer):
    """Looks at each number on the way."""

    def visit(self, node):
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):  # -9223372036854775808 is a number of 64 bits
            return ast.copy_location(ast.Call(ast.Name("fits", ast.Load()), [node], []), node)
        node = self.generic_visit(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return ast.copy_location(ast.Call(ast.Name("power", ast.Load()), [node.left, node.right], []), node)
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Call, ast.Constant)) and not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            return ast.copy_location(ast.Call(ast.Name("fits", ast.Load()), [node], []), node)
        return node


def answer(text, numbers):
    names = {"L": leaves(numbers), "math": math, "fits": fits, "power": power, "IsNonOverlappingAndDenseIndicator": dense, "cast_symbool_to_symint_guardless": int}
    return eval(compile(ast.fix_missing_locations(Checks().visit(ast.parse(text, mode="eval"))), "guard", "eval"), names)


def judged(text, numbers):
    try:
        value = answer(text, numbers)
    except Large:
        return "large"
    except Exception as error:  # what PyTorch's call would raise
        return type(error).__name__
    if isinstance(value, bool):
        return f"bool {value}"
    return f"int {value}" if isinstance(value, int) else f"float {value.hex()}"


SIZES = ["L['x'].size()[0]", "L['x'].size()[1]", "L['z']['k'][1].size()[0]", "L['z']['k'][1].size()[2]", "L['args_0'].size()[0]", "L['args'][1].size()[0]",
         "L['flat_args'][7].size()[1]", "L['flat_args'][0].size()[0]", "L['n']"]  # fmt: skip
INTEGERS = [*SIZES, "L['x'].stride()[0]", "L['x'].stride()[1]", "L['z']['k'][1].stride()[1]", "L['x'].storage_offset()"]
FUNCTIONS = ["sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
             "atanh", "fabs", "erf", "erfc"]  # fmt: skip
TEXTS = [
    "L['x'].size()[0] % 2 == 0", "L['args_0'].size()[0] < L['x'].size()[0]", "2 <= L['x'].size()[0] and L['x'].size()[0] <= 64",
    "(-1)*L['x'].size()[0] + L['x'].size()[1] <= 0", "L['x'].size()[0]*L['x'].size()[1] // 2 == 3", "-7 // 2", "7 // -2", "-7 % 3", "7 % -3", "-7 % -3", "-7.5 // 2", "-7.5 % 2",
    "7.5 % -2", "-0.0 // 3", "1e308*10", "7 / 2", "6 / 3", "2**10", "2**-1", "0**0", "0**-1", "(-2)**3", "-2**2", "2**3**2", "(-8)**0.5", "2.0**0.5", "0.0**-1", "10.0**400",
    "2**62", "2**63 - 1", "2**64", "-9223372036854775808", "-9223372036854775808 // -1", "-9223372036854775808 % -1", "9223372036854775807 + 1", "9223372036854775807*2",
    "(3037000500)**2", "(-9223372036854775808) % 3", "9223372036854775807 == 9223372036854775808.0", "9007199254740993 == 9007199254740992.0",
    "9007199254740993 / 2", "4611686018427387905 / 3", "1 // 0", "1 % 0", "1 / 0", "1.0 // 0", "1.0 % 0.0", "1 < 2 < 3", "1 < 3 < 2", "3 > 2 > 1 > 0 != 5", "1 == 1.0 == True",
    "1 < 2 == 2", "0 or 5", "3 and 5", "0 and 1 // 0", "1 or 1 // 0", "0.0 or 2.5", "not 3", "not 0", "not 1 == 2", "(not 1) == 0", "True + True", "-True", "~5", "~True", "True & False",
    "True | 2", "6 & 3", "6 | 3", "6 ^ 3", "1 << 4", "-9 >> 1", "1 << 63", "1 << -1", "max(3, 2, 7, 1)", "min(3, 2.5)", "max(1, 1.0)", "max(1.0, 1)", "min(True, 1)", "abs(-3)",
    "abs(-2.5)", "abs(-9223372036854775808)", "round(2.5)", "round(3.5)", "round(-2.5)", "round(0.5)", "round(2.675, 2)", "round(0.125, 2)", "round(1234567, -3)", "round(2500, -3)",
    "round(3500, -3)", "round(-1250, -2)", "round(1e22, -20)", "round(1234.5678, -2)", "round(5.5, 0)", "round(7, 2)", "round(1e300)", "round(0.5, 400)", "round(45.0, -1)", "round(55.0, -1)", "round(5, -1)",
    "float(3)", "float(True)", "int(2.9)", "int(-2.9)", "bool(3)", "bool(0.0)", "math.floor(-2.5)", "math.ceil(-2.5)", "math.trunc(-2.5)", "math.floor(7)", "math.floor(math.inf)", "math.ceil(1e19)",
    "math.sqrt(16)", "math.sqrt(-1)", "math.log(0)", "math.log(8, 2)", "math.log(8, 1)", "math.pow(2, 3)", "math.pow(-1, 0.5)", "math.atan2(1, 2)", "math.hypot(3, 4)", "math.exp(1000)", "math.cosh(1000)", "math.acos(2)",
    "math.inf > 3", "-math.inf < 3", "math.nan == math.nan", "math.nan != 1", "max(math.nan, 1)", "max(1, math.nan)", "math.inf - math.inf", "math.pi", "math.e", "math.tau", "1 if 2 > 1 else 1 // 0",
    "(1 if 0 else 2) + 1", "1 if 0 else 2 if 0 else 3", "1e-05 + 1.5e3", ".5 + 1.", "((((1))))", "  1   +2 ", "1+\n2", "IsNonOverlappingAndDenseIndicator(3, 1)", "IsNonOverlappingAndDenseIndicator(3, 2)",
    "IsNonOverlappingAndDenseIndicator(1, 7)", "IsNonOverlappingAndDenseIndicator(L['x'].size()[0], L['x'].size()[1], L['x'].stride()[0], L['x'].stride()[1])",
    "IsNonOverlappingAndDenseIndicator(2, 3, 4, 12, 4, 1) == 1", "IsNonOverlappingAndDenseIndicator(2, 3, 4, 12, 1, 3) == 1",
    "IsNonOverlappingAndDenseIndicator(2, 3, 4, 0, 1, 3) == 1", "cast_symbool_to_symint_guardless(L['x'].size()[0] > 3) + 1", "cast_symbool_to_symint_guardless(L['b'])", "L['b'] or L['n'] > 3", "L['f'] * 2 == L['n']",
    "float(L['n']) / L['f']", "L['f'] // 1", "L['f'] % 1", " + ".join(["L['x'].size()[0]", "2*L['n']"] * 12), "L['x'].size()[-1]", "L['x'].storage_offset() == 0",
]


def made(random_, depth, kind):
    """An expression of Python: kind is "int", "number" or "bool"."""
    pick = random_.random()
    sub = lambda k: made(random_, depth - 1, k)  # noqa: E731
    if kind == "bool":
        if depth == 0 or pick < 0.1:
            return random_.choice(["True", "False", "L['b']", f"{random_.choice(SIZES)} > {random_.randrange(6)}"])
        if pick < 0.55:
            return f"{sub('number')} {random_.choice(['==', '!=', '<', '<=', '>', '>='])} {sub('number')}"
        if pick < 0.65:
            return f"{sub('int')} {random_.choice(['<', '<='])} {sub('int')} {random_.choice(['<', '!=', '>='])} {sub('int')}"
        if pick < 0.9:
            return f"({sub('bool')}) {random_.choice(['and', 'or'])} ({sub('bool')})"
        return f"not ({sub('bool')})"
    if kind == "number" and pick > 0.6:
        if depth == 0 or pick > 0.92:
            return random_.choice(["0.5", "2.0", "1e-05", "3.75", "L['f']", "math.inf"])
        if pick > 0.85:
            return f"({sub('int')}) / ({sub('int')})"
        if pick > 0.78:
            return f"math.{random_.choice(FUNCTIONS)}({sub('number')})"
        if pick > 0.72:
            return f"{random_.choice(['round', 'float', 'abs'])}({sub('number')})"
        if pick > 0.66:
            return f"({sub('number')}) {random_.choice(['+', '-', '*', '//', '%', '**'])} ({sub('number')})"
        return f"({sub('number')} if {sub('bool')} else {sub('number')})"
    if depth == 0:
        return random_.choice(INTEGERS) if pick < 0.7 else str(random_.choice([0, 1, 2, 3, 5, 7, 64, -1, -3, 4096, 2**31, 2**40]))
    if pick < 0.35:
        return f"{sub('int')} {random_.choice(['+', '-', '*'])} {sub('int')}"
    if pick < 0.55:
        return f"({sub('int')}) {random_.choice(['//', '%', '//', '%', '&', '|', '^', '>>'])} ({sub('int')})"
    if pick < 0.62:
        return f"({sub('int')})**{random_.randrange(-1, 5)}"
    if pick < 0.7:
        return f"-({sub('int')})"
    if pick < 0.8:
        return f"{random_.choice(['max', 'min'])}({sub('int')}, {sub('int')}, {sub('int')})"
    if pick < 0.9:
        return f"math.{random_.choice(['floor', 'ceil', 'trunc'])}({sub('number')})"
    return f"cast_symbool_to_symint_guardless({sub('bool')})" if pick < 0.95 else f"abs({sub('int')})"


def numbers(random_):
    """Sizes, strides and numbers as tensors and callers have them."""
    one = lambda: random_.choice([0, 1, 2, 3, 4, 5, 6, 8, 16, 64, 1000])  # noqa: E731
    return [one() for _ in range(14)] + [random_.choice([-5, -1, 0, 1, 2, 3, 7, 2**40]), random_.choice([-2.5, 0.0, 0.1, 1.5, 2.0, 3.0]), random_.randrange(2)]


def write_expressions(count, seed, file):
    random_ = random.Random(seed)
    lines = []
    for i in range(count):
        given = numbers(random_)
        text = TEXTS[i] if i < len(TEXTS) else made(random_, random_.randrange(1, 5), random_.choice(["bool", "number", "int"]))
        if len(text) > 300:
            continue
        lines.append(" ".join(map(str, given)) + "\t" + judged(text.strip().replace("\n", " "), given) + "\t" + text.replace("\n", " "))
    file.write_text("\n".join(lines) + "\n")


GUARDS = {
    "even": ("models/dynamic_batch/program.pt2", ["L['x'].size()[0] % 2 == 0"]),
    "relation": ("pt2/dyn_two_dims_arith.pt2", ["L['x'].size()[0] < L['y'].size()[0]", "2 <= L['x'].size()[0] and L['x'].size()[0] <= 64"]),
}


def write_programs():
    for name, (source, guards) in GUARDS.items():
        with zipfile.ZipFile(HERE / source) as old, zipfile.ZipFile(FOLDER / f"{name}.pt2", "w") as new:
            for member in old.infolist():
                content = old.read(member)
                if member.filename.endswith("serialized_exported_program.json"):
                    program = json.loads(content)
                    program["guards_code"] = guards
                    content = json.dumps(program).encode()
                new.writestr(zipfile.ZipInfo(member.filename), content)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    given = sys.argv[1:]
    write_expressions(int(given[0]) if given else 360, int(given[1]) if len(given) > 1 else 1, pathlib.Path(given[2]) if len(given) > 2 else FOLDER / "expressions.txt")
    if not given:
        write_programs()
