#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the composite operators of a torch installation and their parameters, one a line: what torch.export's training IR can hold
and run_decompositions takes apart. In-place, out= and backward forms, which functionalization and inference leave no room for, are
not listed.

    composites.py >tests/cases/composites.txt

Needs PyTorch 2.6.
"""

import torch
from torch.export import default_decompositions

names = {op.name() for op in default_decompositions().items() for op in op[:1] if hasattr(op, "name")}
for name in torch._C._dispatch_get_all_op_names():
    if torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd"):
        names.add(name)
for name in sorted(names):
    space, rest = name.split("::")
    base, _, overload = rest.partition(".")
    in_place = base.endswith("_") and not base.endswith("__") or base.startswith("__i") and base.endswith("__")
    if space != "aten" or in_place or base.endswith("_out") or "out" in overload.split("_") or "backward" in base or "Dimname" in overload:
        continue
    if overload.startswith("dimname") or overload.startswith("names") or overload.endswith("names"):
        continue
    print(f"aten.{base}.{overload or 'default'}", *(a.name for a in getattr(getattr(torch.ops.aten, base), overload or "default")._schema.arguments))
