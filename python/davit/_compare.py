# SPDX-License-Identifier: MIT
# mypy: ignore-errors
"""Compares a model with its export, value by value, and names the first that differs."""

import math as _math
from collections import deque as _deque
from html import escape as _escape
from typing import Any as _Any, NamedTuple as _NamedTuple, Optional as _Optional
from typing import Sequence as _Sequence, Union as _Union

from . import _davit
from ._davit import Model, Tensor, call_error as _call_error


class Value(_NamedTuple):
    """A value of the program as davit computed it, beside the reference's."""

    name: str  #: in the exported program
    partition: str  #: that computed it
    backend: str
    target: str  #: operator, "aten.linear.default"; empty if lowering made the value
    source: str  #: the model's source line
    max_abs: float  #: largest difference; NaN where one is NaN and the other is not
    max_rel: float  #: the largest difference relative to the reference
    differs: bool
    note: str  #: for values of another shape or dtype

    def __str__(self):
        text = f"'{self.name}'"
        if self.partition:
            text += f" ({self.target or 'made by lowering'}) of {self.partition} on {self.backend}"
        text += ": " + (self.note or f"differs by {self.max_abs:.3g}, relative {self.max_rel:.3g}")
        return text + (f"\n{self.source}" if self.source else "")


class Comparison:
    """What compare() found: `values` of the program in the order of the run, `outputs` of the model, and `first`, the
    first that differs (None: none does). True if nothing differs; str() and a notebook show it as a table."""

    def __init__(self, reference, values, outputs, rtol, atol):
        self.reference, self.values, self.outputs, self.rtol, self.atol = reference, values, outputs, rtol, atol

    @property
    def first(self) -> _Optional[Value]:
        return next((value for value in self.values + self.outputs if value.differs), None)

    def __bool__(self) -> bool:
        return self.first is None

    def _verdict(self):
        if self.first is None:
            return f"nothing differs from {self.reference} beyond rtol {self.rtol:g}, atol {self.atol:g}"
        if self.first in self.values:
            return f"the first value that differs from {self.reference}: {self.first}"
        return f"the export agrees with {self.reference}, and the model returns another value: {self.first}"

    def _rows(self):
        for value in self.values + self.outputs:
            verdict = value.note or ("differs" if value.differs else "ok")
            gaps = f"{value.max_abs:.3g}", f"{value.max_rel:.3g}"
            yield value.name, value.partition, value.backend, value.target, *gaps, verdict

    _head = ("value", "partition", "backend", "operator", "max abs", "max rel", "")

    def __str__(self):
        rows = [self._head, *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self._head))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, self._verdict()])

    __repr__ = __str__

    def _repr_html_(self):
        cells = lambda row, tag: "".join(f"<{tag}>{_escape(cell)}</{tag}>" for cell in row)  # noqa: E731
        rows = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in self._rows())
        return f"<table><tr>{cells(self._head, 'th')}</tr>{rows}</table><pre>{_escape(self._verdict())}</pre>"


def _array(value):
    """Returns a value as a numpy array whose numbers can be subtracted, and its dtype's name; None for no number."""
    import numpy

    if value is None or isinstance(value, str):
        return None, type(value).__name__
    if hasattr(value, "detach"):  # a torch tensor
        value = value.detach().cpu()
        dtype = str(value.dtype).replace("torch.", "")
        if dtype == "bfloat16" or dtype.startswith("float8"):
            value = value.float()
        return value.resolve_conj().resolve_neg().numpy(), dtype
    if isinstance(value, Tensor):
        bits = numpy.asarray(value)
        if value.dtype == "bfloat16":
            return (bits.astype(numpy.uint32) << 16).view(numpy.float32), value.dtype
        return bits, value.dtype
    array = numpy.asarray(value)
    return array, type(value).__name__ if isinstance(value, (bool, int, float)) else array.dtype.name


def _gap(actual, expected, rtol, atol):
    """Returns (largest difference, the same relative, whether they differ, note). NaN equals NaN."""
    import numpy

    (a, a_dtype), (b, b_dtype) = _array(actual), _array(expected)
    if a is None or b is None:
        same = actual == expected
        return 0.0, 0.0, not same, "" if same else f"{actual!r}, and not {expected!r}"
    if a_dtype != b_dtype or a.shape != b.shape:
        return _math.nan, _math.nan, True, f"{a_dtype}{list(a.shape)}, and not {b_dtype}{list(b.shape)}"
    if a.size == 0:
        return 0.0, 0.0, False, ""
    wide = numpy.complex128 if numpy.iscomplexobj(a) else numpy.float64
    with numpy.errstate(all="ignore"):
        x, y = a.astype(wide), b.astype(wide)
        same = (x == y) | (numpy.isnan(x) & numpy.isnan(y))
        is_exact = a.dtype.kind in "iu" and rtol == 0 and atol == 0
        if is_exact:
            same = a == b
        gap = numpy.where(same, 0.0, numpy.abs(x - y))
        relative = numpy.where(gap == 0, 0.0, gap / numpy.abs(y))
        close = same if is_exact else same | (numpy.isfinite(gap) & (gap <= atol + rtol * numpy.abs(y)))
    return float(gap.max()), float(relative.max()), not bool(close.all()), ""


def _copied(values):
    """Copies the tensors among values, since a model may write to its inputs."""
    import copy

    def own(value):
        if isinstance(value, (list, tuple)):
            return [own(each) for each in value]
        if isinstance(value, dict):
            return {key: own(each) for key, each in value.items()}
        if hasattr(value, "clone") and hasattr(value, "detach"):
            return value.detach().clone()
        return value if isinstance(value, Tensor) else copy.copy(value)

    return own(values)


def _torch_values(exported, inputs):
    """Runs a torch.export.ExportedProgram node by node in PyTorch: [(name, value)]."""
    import torch

    made = []

    class Recorder(torch.fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            if isinstance(value, torch.Tensor):
                made.append((node.name, value.detach().clone()))
            elif isinstance(value, (bool, int, float)):
                made.append((node.name, value))
            return value

    with torch.no_grad():
        Recorder(exported.module()).run(*inputs)
    return made


def _as_torch(value):
    import torch

    if isinstance(value, (list, tuple)):
        return type(value)(_as_torch(each) for each in value)
    if isinstance(value, dict):
        return {key: _as_torch(each) for key, each in value.items()}
    return torch.from_dlpack(value) if hasattr(value, "__dlpack__") and not isinstance(value, torch.Tensor) else value


def _leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in _leaves(each)]
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in _leaves(each)]
    return [value]


def compare(
    model: _Any,
    exported: _Any,
    inputs: _Any = None,
    *,
    backends: _Union[str, _Sequence[str], None] = None,
    partitioner: _Optional[str] = None,
    rtol: float = 1e-4,
    atol: float = 1e-5,
) -> Comparison:
    """Runs a model and its export side by side and says where they first differ.

    model: a torch module or another callable, whose results are compared with davit's; a davit.Model; or None.
    exported: a torch.export.ExportedProgram, which PyTorch runs node by node as the reference; or a .pt2 file, which
    davit runs node by node on plain kernels (in PyTorch, if `model` is a torch module).
    inputs: the arguments of a call; None: those that the export recorded. backends, partitioner: as in load(), unless
    `model` is a davit.Model. Values that partitions pass on are compared; partitioner="alternate" with
    backends=["portable", "portable_2"] makes small partitions. |a - b| <= atol + rtol * |b| is equal. Raises
    davit.Error.
    """
    from . import _source, load

    kinds = ("__fspath__", "graph_signature")
    if not isinstance(exported, (str, bytes)) and not any(hasattr(exported, kind) for kind in kinds):
        what = f"an object of type {type(exported).__name__} is no exported program"
        raise _call_error("exported", what, "pass a .pt2 file or a torch.export.ExportedProgram")
    is_torch = any(base.__module__.startswith("torch.") for base in type(model).__mro__)
    if is_torch and not hasattr(exported, "graph_signature"):
        import io

        import torch

        exported = torch.export.load(io.BytesIO(exported) if isinstance(exported, bytes) else exported)
    source = _source(exported)
    lowered = model if isinstance(model, Model) else load(source, backends, partitioner=partitioner)
    if inputs is None:
        recorded = load(source) if isinstance(model, Model) and model.example_inputs() is None else lowered
        inputs = recorded.example_inputs()
    if inputs is None:
        raise _call_error("inputs", "the export recorded none that can be read", "pass them: inputs=(x, y)")
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    method = lowered._main()
    calls = method._values(*_flat(method, _copied(inputs)))
    nodes = method._nodes()
    if hasattr(exported, "graph_signature"):
        reference, made = "PyTorch", _torch_values(exported, _as_torch(_copied(inputs)))
    else:
        reference, made = "an eager run", _davit.eager_values(source, *_flat(method, _copied(inputs)))
    known = {}
    for name, value in made:
        known.setdefault(name, _deque()).append(value)
    values = []
    for partition, backend, results in calls:
        for name, value in results:
            expected = known.get(name)
            if expected:
                target, place = nodes.get(name, ("", ""))
                gap = _gap(value, expected.popleft(), rtol, atol)
                values.append(Value(name, partition, backend, target, place, *gap))
    outputs = []
    if callable(model) and not isinstance(model, Model):
        ours = _leaves(lowered(*_copied(inputs)))
        theirs = _leaves(model(*(_as_torch(_copied(inputs)) if is_torch else _copied(inputs))))
        if len(ours) != len(theirs):
            what = f"it returns {len(theirs)} values, and the export {len(ours)}"
            raise _call_error("model", what, "export it again")
        for port, our, their in zip(method.outputs, ours, theirs):
            outputs.append(Value(f"output {port.name}", "", "", "", "", *_gap(our, their, rtol, atol)))
    return Comparison(reference, values, outputs, rtol, atol)


def _flat(method, inputs):
    """Returns the values of a call in order, as one argument."""
    return (method._flat(tuple(inputs)),)
