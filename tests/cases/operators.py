#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the schemas of operators from a torch installation, for rows in include/davit/ops/families.

    operators.py NAME...    of the operators of these names ("aten.add.Tensor")
    operators.py --check    compares the rows with torch instead, and exits with 1 if one differs

Needs PyTorch 2.6 and torchvision.
"""

import sys

import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
import torchvision  # registers its own
from schemas import schemas

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


def main(*arguments):
    if arguments != ("--check",):
        for name in arguments:
            print(schema(name))
        return 0
    # torch does not know ExecuTorch's operators, and the overload of this project's own
    rows = {name: row for name, row in schemas().items() if not name.startswith("dim_order_ops.") and not name.endswith(".lerp")}
    wrong = [name for name, row in rows.items() if schema(name) != row]
    for name in wrong:
        print(f"row:   {rows[name]}\ntorch: {schema(name)}")
    print(f"{len(rows) - len(wrong)} rows agree, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
