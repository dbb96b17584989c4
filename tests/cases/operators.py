#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the rows of operator_schemas from a torch installation.

    operators.py include/davit/program/operators.hpp [NAME...]

The operators are those that the header lists, and the NAMEs given ("aten.add.Tensor"). Paste the rows into the header;
`--check` instead of names compares the header with torch and exits with 1 if a row differs. Needs PyTorch 2.6 and torchvision.
"""

import ast
import re
import sys

import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
import torchvision  # registers its own

# How many operands arithmetic on symbolic numbers takes, where it is not two.
UNARY = ("_operator.neg", "_operator.pos", "torch.sym_float", "torch.sym_int", "torch.sym_not", "torch.sym_sqrt")
OPERANDS = {**dict.fromkeys(UNARY, 1), "torch.sym_ite": 3}


def schema(name):
    """The row of one operator. Arithmetic on symbolic numbers has no schema in torch."""
    if name.split(".")[0] in ("_operator", "torch"):
        parameters = ", ".join("Scalar " + letter for letter in "abc"[: OPERANDS.get(name, 2)])
        return f"{name}({parameters}) -> Scalar"
    namespace, operator, overload = name.split(".")
    found = getattr(getattr(getattr(torch.ops, namespace), operator), overload)._schema
    return name + str(found)[str(found).index("(") :]


def main(header, *arguments):
    # ExecuTorch's operators, and the overload of this project's own, which torch does not know, stay as they are
    text = open(header, encoding="utf-8").read()
    rows = {row[: row.index("(")]: row for row in map(ast.literal_eval, re.findall(r'^ *("(?:[^"\\]|\\.)*")sv,$', text, re.M))}
    torch_rows = {name: row for name, row in rows.items() if not name.startswith("dim_order_ops.") and not name.endswith(".lerp")}
    if arguments != ("--check",):
        for name in sorted({*rows, *arguments}):
            row = schema(name) if name in {*torch_rows, *arguments} else rows[name]
            print('    "' + row.replace('"', '\\"') + '"sv,')
        return 0
    wrong = [name for name, row in torch_rows.items() if schema(name) != row]
    for name in wrong:
        print(f"header: {rows[name]}\ntorch:  {schema(name)}")
    print(f"{len(torch_rows) - len(wrong)} rows agree, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
