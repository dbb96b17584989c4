# SPDX-License-Identifier: MIT
# mypy: ignore-errors
"""Runs PyTorch programs (torch.export) without PyTorch.

    import davit
    model = davit.load("model.pt2", backends=["onednn", "portable"])
    y = model(x)

Arguments are numpy arrays, objects with the buffer protocol or __dlpack__ (torch tensors), numbers, bools, texts, None,
and lists, tuples and dicts of them. They are not copied. Results are new numpy arrays, which no later call changes.
"""

import io as _io
import operator as _operator
import os as _os
from collections.abc import MutableMapping as _MutableMapping
from typing import Any as _Any, List as _List, NamedTuple as _NamedTuple, Optional as _Optional
from typing import Sequence as _Sequence, Union as _Union

from . import _davit, _pytree
from ._davit import Error, Method, Model, Session, Tensor, call_error as _call_error
from ._pytree import Outputs

__version__ = _davit.version
__all__ = ["Comparison", "Error", "Method", "Model", "Outputs", "Port", "Session", "State", "Tensor"]
__all__ += ["backends", "compare", "load", "lower"]


class Port(_NamedTuple):
    """An input or output of a method."""

    name: str
    type: str  #: such as "float32[s0, 3]", "int"
    dtype: _Optional[str]  #: of a tensor
    shape: _Optional[tuple]  #: of a tensor: numbers, and texts for sizes that a call chooses
    is_fixed: bool  #: True: the export fixed the input to `constant`, and a call may leave it out
    constant: _Union[None, bool, int, float, str]

    def __str__(self):
        return f"{self.name}: {self.type}" + (f" = {self.constant!r}" if self.is_fixed else "")


def backends() -> _List[str]:
    """Returns the names of the backends that this package was built with."""
    return _davit.backends().split(", ")


def _source(source):
    """Returns a path or bytes; a torch.export.ExportedProgram is saved to bytes."""
    if isinstance(source, (str, _os.PathLike)) or not hasattr(source, "graph_signature"):
        return source
    import torch  # whoever has an ExportedProgram has imported it

    saved = _io.BytesIO()
    torch.export.save(source, saved)
    return saved.getvalue()


def _prepare(method):
    """Gives a method the functions that flatten its arguments and nest its results."""
    ports = [Port(*each) for each in method._inputs()]
    names = [Port(*each).name for each in method._outputs()]
    flatten = unflatten = None
    specification = method._specification()
    if specification is None:  # a package
        if len(names) != 1:
            unflatten = _pytree.outputs_of(names)
    else:
        in_spec, out_spec, argument_names = specification
        try:
            flatten = _pytree.arguments_of(_pytree.tree_of(in_spec), argument_names, ports)
        except (ValueError, AttributeError):
            pass  # another exporter's: values are passed one by one
        try:
            tree = _pytree.tree_of(out_spec)
            if (1 if tree is None else tree.leaves) != len(names):
                raise ValueError("the program returns another number of values")
            unflatten = _pytree.result_of(tree, names)
        except ValueError:
            unflatten = _pytree.outputs_of(names)
    method._hooks(flatten, unflatten)


def _open(source, backends, partitioner, threads, fast_math, full_delegation, ir, weights):
    sources = list(source.items()) if isinstance(source, dict) else [("", source)]
    if not sources:
        raise _call_error("source", "the dict has no method", 'pass {"forward": "model.pt2"}')
    for name, _ in sources:
        if not isinstance(name, str):
            raise TypeError(f"the name of a method is a str, not {type(name).__name__}: {name!r}")
    if backends is not None and not isinstance(backends, str):
        backends = ",".join(backends)
    if backends == "":
        raise _call_error("backends", "it names none", "name one of davit.backends(), or pass None for portable")
    threads = _operator.index(threads)
    if not 1 <= threads <= 1024:
        raise _call_error("threads", f"{threads} is no number of threads of a call", "pass 1 to 1024")
    files = [(name, _source(each)) for name, each in sources]
    fast, full = bool(fast_math), bool(full_delegation)
    model = _davit.open(files, backends or "", partitioner or "", threads, fast, full, ir or "", weights)
    for name in model.methods:
        _prepare(model.method(name))
    return model


def load(
    source: _Any,
    backends: _Union[str, _Sequence[str], None] = None,
    *,
    partitioner: _Optional[str] = None,
    threads: int = 1,
    fast_math: bool = False,
    weights: _Any = None,
) -> Model:
    """Loads a program: a .pt2 file, which is lowered, or a package (.davit).

    source: a path, the bytes of the file, a torch.export.ExportedProgram, or a dict from method names to these.
    backends: names by preference, ["onednn", "portable"]; None: portable. A package runs on the backends it was lowered
    for; it is refused if one of them is not among the backends named here.
    partitioner: "capability" (None), "choose", "alternate", "all", "config:FILE", "module:...", "pattern:...", as in
    the command.
    threads: of one call, 1 to 1024, for backends that have them.
    weights: a checkpoint, a saved state or a package, as a path or bytes: its tensors replace the program's parameters
    and buffers of the same names. A package takes them if it was saved with its weights in a file of their own.
    Raises davit.Error.
    """
    return _open(source, backends, partitioner, threads, fast_math, False, None, weights)


def lower(
    source: _Any,
    backends: _Union[str, _Sequence[str], None] = None,
    *,
    partitioner: _Optional[str] = None,
    threads: int = 1,
    fast_math: bool = False,
    full_delegation: bool = False,
    ir: _Optional[str] = None,
) -> Model:
    """Lowers a program as load() does, to be saved: lower("m.pt2", ["onednn", "portable"]).save("m.davit").

    full_delegation: an error if a node is left to the last backend. ir="core": composite operators are decomposed
    first. The model's `report` says what runs where.
    """
    return _open(source, backends, partitioner, threads, fast_math, full_delegation, ir, None)


class State(_MutableMapping):
    """The buffers of a session by name. Values are copies; assigning to one writes the session's buffer."""

    def __init__(self, session):
        self._session = session

    def __getitem__(self, name):
        if name not in self._session._state_names():
            raise KeyError(name)
        return self._session._get_state(name)

    def __setitem__(self, name, value):
        if not isinstance(name, str):
            raise TypeError(f"the name of a buffer is a str, not {type(name).__name__}")
        self._session._set_state(name, value)

    def __delitem__(self, name):
        raise TypeError("a session's state has the buffers of the model: none can be deleted")

    def __iter__(self):
        return iter(self._session._state_names())

    def __len__(self):
        return len(self._session._state_names())

    def __repr__(self):
        return f"State({', '.join(self)})"


def _save_state(self, path=None):
    """Saves the session's buffers to a file, or returns them as bytes."""
    return self._state_bytes() if path is None else self._save_state(path)


def _load_state(self, source):
    """Loads the buffers that save_state gave, also in another process or for other backends; or those of a package."""
    self._load_state(source)


Session.state = property(State, doc="The session's buffers by name; assigning to one writes it.")
Session.timeout = property(
    lambda self: self._get_timeout(),
    lambda self, seconds: self._set_timeout(seconds),
    doc="Seconds that a run may take; a longer one raises davit.Error (cancelled) and changes no state. None: any.",
)
Session.__repr__ = lambda self: f"davit.Session({self._signature()})"
Session.save_state = _save_state
Session.load_state = _load_state


def _save(self, path=None, *, debug_map=True):
    """Saves the lowered program as a package, or returns it as bytes. Without debug_map errors name no source lines."""
    return self._package(debug_map) if path is None else self._save(path, debug_map)


def _example_inputs(self):
    """Returns the inputs that the export recorded, for method(*method.example_inputs()); None if the file has none."""
    values, specification = self._example_inputs(), self._specification()
    if values is None or specification is None:
        return values
    try:
        return _pytree.nested_arguments(_pytree.tree_of(specification[0]), values)
    except (ValueError, AttributeError, StopIteration):
        return values


Method.inputs = property(lambda self: [Port(*each) for each in self._inputs()], doc="The inputs, as values in order.")
Method.outputs = property(lambda self: [Port(*each) for each in self._outputs()], doc="The values returned, in order.")
Method.partitions = property(lambda self: self._partitions(), doc="The partitions: (name, backend).")
Method.example_inputs = _example_inputs
Method.__repr__ = lambda self: f"davit.Method({self.name}({', '.join(map(str, self.inputs))}))"
Model.save = _save
Model.inputs = property(lambda self: self._main().inputs, doc="The inputs of forward, as values in order.")
Model.outputs = property(lambda self: self._main().outputs, doc="The values that forward returns, in order.")
Model.example_inputs = lambda self: self._main().example_inputs()
Model.__repr__ = lambda self: f"davit.Model({self.signature})"


def _attribute(self, name):
    if not name.startswith("_") and name in self.methods:
        return self.method(name)
    raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


Model.__getattr__ = _attribute

from ._compare import Comparison, compare  # noqa: E402
