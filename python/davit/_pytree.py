# SPDX-License-Identifier: MIT
# mypy: ignore-errors
"""Nested arguments and results, as torch.utils._pytree flattens them: containers of values in a fixed order."""

import json
from collections import OrderedDict

from ._davit import call_error


class Outputs(tuple):
    """The values that forward() returns as a tuple: by number, y[0], and by name, y["logits"] or y.logits."""

    __slots__ = ()
    names = ()

    def __getitem__(self, key):
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(f"there is no output {key!r}; there are: {', '.join(self.names)}")
            key = self.names.index(key)
        return tuple.__getitem__(self, key)

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __repr__(self):
        return "Outputs(" + ", ".join(f"{name}={value!r}" for name, value in zip(self.names, self)) + ")"

    def __reduce__(self):
        return tuple, (tuple(self),)


def outputs_of(names):
    """Returns a class of Outputs with these names."""
    return type("Outputs", (Outputs,), {"__slots__": (), "names": tuple(names)})


class Tree:
    """A container of a specification: its kind, its keys and its children. A leaf is None."""

    def __init__(self, kind, keys, children):
        self.kind, self.keys, self.children = kind, keys, children
        self.leaves = sum(1 if child is None else child.leaves for child in children)

    @property
    def is_flat(self):
        return all(child is None for child in self.children)


def keys_of(kind, context, count):
    """Returns the keys of a container's children; None for numbered ones."""
    try:
        keys = json.loads(context) if isinstance(context, str) else context
    except ValueError:
        return None
    if isinstance(keys, dict):
        keys = keys.get("dict_context")
    if isinstance(keys, list) and len(keys) == 2 and isinstance(keys[0], list):
        keys = keys[0]  # a dataclass: its fields with values, and those without
    if not isinstance(keys, list) or len(keys) != count or "tuple" in kind or "list" in kind:
        return None
    return keys


def tree_of(text):
    """Reads a specification, "[1, {...}]"; raises ValueError for text that is none."""

    def read(spec, depth):
        if depth > 200:
            raise ValueError("a specification is nested too deeply")
        if spec["type"] is None:
            return None
        children = spec["children_spec"]
        keys = keys_of(spec["type"], spec["context"], len(children))
        return Tree(spec["type"], keys, [read(child, depth + 1) for child in children])

    try:
        protocol, spec = json.loads(text)
        return read(spec, 0)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the specification of the values is unknown: {error}") from None


def place_of(place, step):
    return f"{place}[{step!r}]"


def flatten(tree, value, out, place):
    """Appends the leaves of a value to `out`. Raises davit.Error where the value has another form than the export's."""
    if tree is None:
        out.append(value)
        return
    count = len(tree.children)
    if tree.keys is not None:
        if not isinstance(value, dict):
            value = {key: getattr(value, str(key)) for key in tree.keys if hasattr(value, str(key))} or value
        if not isinstance(value, dict) or set(map(str, value)) != set(map(str, tree.keys)):
            wanted = ", ".join(map(str, tree.keys))
            raise call_error(place, "the model was exported with a dict here", f"pass a dict with the keys {wanted}")
        by_text = {str(key): each for key, each in value.items()}
        for key, child in zip(tree.keys, tree.children):
            flatten(child, by_text[str(key)], out, place_of(place, key))
        return
    if not isinstance(value, (list, tuple)) or len(value) != count:
        what = f"the model was exported with {count} values in a list or tuple here"
        raise call_error(place, what, f"pass {count} values")
    for i, child in enumerate(tree.children):
        flatten(child, value[i], out, place_of(place, i))


def unflatten(tree, values):
    """Builds the containers of a specification from an iterator over its leaves."""
    if tree is None:
        return next(values)
    items = [unflatten(child, values) for child in tree.children]
    if tree.keys is not None:
        return (OrderedDict if "OrderedDict" in tree.kind else dict)(zip(tree.keys, items))
    return items if "list" in tree.kind or "deque" in tree.kind else tuple(items)


def result_of(tree, names):
    """Returns the function from the values of a run to what forward() returns; None if that is the one value."""
    if tree is None:
        return None
    if tree.kind.endswith("tuple") and tree.is_flat:
        return outputs_of(names)
    if tree.keys is None and not ("list" in tree.kind or "deque" in tree.kind):
        firsts = [name.split(".")[0] for name in names]
        are_names = len(set(firsts)) == len(firsts) == len(tree.children)
        named = outputs_of(firsts if are_names else map(str, range(len(tree.children))))
        return lambda values: named(unflatten(tree, iter(values)))
    return lambda values: unflatten(tree, iter(values))


def nested_arguments(tree, values):
    """Returns the arguments of a call, those with names last, of the values in order."""
    values = iter(values)
    return [unflatten(each, values) for part in tree.children for each in part.children]


def arguments_of(tree, names, inputs):
    """Returns the function from (args, kwargs) to the values of a call; None if the arguments are these values."""
    args_tree, kwargs_tree = tree.children
    positional = len(args_tree.children)
    keys = [str(key) for key in kwargs_tree.keys or []]
    trees = list(args_tree.children) + list(kwargs_tree.children)
    names = list(names) if len(names) == len(trees) else [None] * positional + keys
    if tree.leaves != len(inputs):
        return None
    starts = [sum(1 if each is None else each.leaves for each in trees[:i]) for i in range(len(trees) + 1)]
    if all(each is None for each in trees) and names == [port.name for port in inputs]:
        return None

    def bind(args, kwargs):
        if len(args) > len(trees):
            raise call_error("arguments", f"there are {len(args)}, and the method takes {len(trees)}", "pass fewer")
        bound = dict(enumerate(args))
        for name, value in kwargs.items():
            if name not in names:
                known = ", ".join(str(each) for each in names if each is not None)
                raise call_error(f"argument '{name}'", "the method takes none of this name", f"it takes: {known}")
            if names.index(name) in bound:
                raise call_error(f"argument '{name}'", "it is passed twice", "pass it by position or by name")
            bound[names.index(name)] = value
        out = []
        for i, each in enumerate(trees):
            fixed = inputs[starts[i] : starts[i + 1]]
            if i in bound:
                flatten(each, bound[i], out, f"argument '{names[i] or i}'")
            elif all(port.is_fixed for port in fixed):
                out.extend(port.constant for port in fixed)
            else:
                takes = ", ".join(map(str, inputs))
                raise call_error(f"argument '{names[i] or i}'", "it is missing", f"the method takes: {takes}")
        return tuple(out)

    return bind
