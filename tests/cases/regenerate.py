#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports the programs that the tests and examples carry, with recorded inputs and outputs.

Needs PyTorch 2.6 and scikit-learn. Writes models/<name>/{program.pt2,case.json,*.npy} beside this script, and
examples/data. Run it with names to make only those; without names it makes all.
"""

import json
import pathlib
import sys

import numpy as np
import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent.parent / "examples" / "data"


def digits():
    """The UCI digits, scaled to [0, 1]; the last 360 after a fixed shuffle are held out."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.RandomState(0).permutation(len(data.target))
    images = (data.images[order] / 16.0).astype(np.float32)[:, None]
    labels = data.target[order].astype(np.int64)
    return images[:-360], labels[:-360], images[-360:], labels[-360:]


def train(model, epochs):
    images, labels, _, _ = digits()
    x, y = torch.from_numpy(images), torch.from_numpy(labels)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(epochs):
        for batch in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[batch]), y[batch]).backward()
            optimizer.step()
    return model.eval()


def digits_mlp():
    return train(nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10)), 60)


def digits_cnn():
    return train(
        nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 10)), 30)  # fmt: skip


class Seed(nn.Module):
    """A parameter, two buffers, one of them mutated."""

    def __init__(self, shape):
        super().__init__()
        self.my_parameter = nn.Parameter(torch.tensor(2.0).expand(shape).clone())
        self.register_buffer("my_buffer1", torch.tensor(3.0).expand(shape).clone())
        self.register_buffer("my_buffer2", torch.tensor(4.0).expand(shape).clone())

    def forward(self, x1, x2):
        output = (x1 + self.my_parameter) * self.my_buffer1 + x2 * self.my_buffer2
        self.my_buffer2.add_(1.0)
        return output


class Primitives(nn.Module):
    def forward(self, x, n: int, f: float, flag: bool, mode: str):
        y = x * n + f
        return (y if flag else -y) * (2 if mode == "double" else 1)


class Nested(nn.Module):
    def forward(self, x, pair, *, scale, extras):
        a, (b, c) = pair
        return {"sum": x + a * scale, "rest": [b - c, (extras["u"] * 2, extras["v"])]}


class ConstantOutputs(nn.Module):
    def forward(self, x):
        return x + 1, 3, None, 2.5


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.again = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
        self.again.weight = self.first.weight

    def forward(self, x):
        return self.again(torch.relu(self.first(x)))


class Lifted(nn.Module):
    def forward(self, x):
        return x * torch.tensor([1.0, 2.0, 3.0]) + torch.tensor(0.5)


class SharedStorage(nn.Module):
    def __init__(self):
        super().__init__()
        base = torch.randn(4, 6)
        self.register_buffer("whole", base)
        self.register_buffer("column", base[:, 2])
        self.register_buffer("turned", base.t())
        self.register_buffer("wide", torch.randn(1, 6).expand(4, 6))

    def forward(self, x):
        return x @ self.turned + self.column + (self.whole * self.wide).sum()


class Alias(nn.Module):
    def forward(self, x, y):
        return x, y + 1, x


class NoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3))

    def forward(self):
        return torch.relu(self.w) + 1


class Dynamic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x):
        return self.net(x)


def scalar(value):
    if isinstance(value, bool):
        return {"type": "bool", "value": value}
    for kind in (int, float, str):
        if isinstance(value, kind):
            return {"type": kind.__name__, "value": value}
    return {"type": "none", "value": None}


def describe(value, folder, file):
    if not isinstance(value, torch.Tensor):
        return scalar(value)
    np.save(folder / file, value.detach().contiguous().numpy())
    return {"type": "tensor", "dtype": str(value.dtype)[6:], "shape": list(value.shape), "file": file}


def record(name, model, runs, dynamic_shapes=None, root=HERE / "models"):
    """Exports `model`, runs it on each of `runs` (args, kwargs) in order, and writes the case."""
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    args, kwargs = runs[0]
    program = torch.export.export(model, args, kwargs, dynamic_shapes=dynamic_shapes).run_decompositions()
    torch.export.save(program, folder / "program.pt2")
    case = {"name": name, "program": "program.pt2", "rtol": 1e-4, "atol": 1e-5, "check": "close", "runs": []}
    state = {**dict(program.state_dict), **dict(program.constants)}
    signature = program.graph_signature
    for k, (args, kwargs) in enumerate(runs):
        leaves = torch.utils._pytree.tree_leaves((args, kwargs), is_leaf=lambda v: v is None)
        user = iter(leaves)
        values, inputs = [], []
        for spec in signature.input_specs:
            if spec.target is not None:
                values.append(state[spec.target])
                continue
            leaf = next(user)
            values.append(leaf)
            inputs.append({"name": spec.arg.name, **describe(leaf, folder, f"r{k}_in{len(inputs)}.npy")})
        results = torch.fx.Interpreter(program.graph_module).run(*values)
        outputs = []
        for spec, value in zip(signature.output_specs, results):
            entry = {"kind": spec.kind.name, "name": spec.arg.name, **describe(value, folder, f"r{k}_out{len(outputs)}.npy")}
            if spec.target is not None:
                entry["target"] = spec.target
            if spec.kind.name == "BUFFER_MUTATION":
                state[spec.target] = value.clone()
            outputs.append(entry)
        case["runs"].append({"inputs": inputs, "outputs": outputs})
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


def digits_case(name, make, batch):
    model = make()
    _, _, images, labels = digits()
    x = torch.from_numpy(images)
    if batch:
        dynamic = {"input": {0: torch.export.Dim("n", min=1, max=1024)}}
        record(name, model, [((x[:5],), {}), ((x[:1],), {}), ((x[:17],), {})], dynamic)
    else:
        record(name, model, [((x[i : i + 1],), {}) for i in range(4)])
    with torch.no_grad():
        logits = model(x)
    accuracy = (logits.argmax(1).numpy() == labels).mean()
    print(f"{name}: accuracy {accuracy:.4f}")
    if name == "digits_cnn":
        DATA.mkdir(parents=True, exist_ok=True)
        (DATA / "digits_cnn.pt2").write_bytes((HERE / "models" / name / "program.pt2").read_bytes())
        np.save(DATA / "images.npy", images)
        np.save(DATA / "labels.npy", labels)
        np.save(DATA / "logits.npy", logits.numpy())


def t(*shape):
    return torch.randn(*shape)


CASES = {
    "digits_cnn": lambda n: digits_case(n, digits_cnn, True),
    "digits_mlp": lambda n: digits_case(n, digits_mlp, True),
    "digits_cnn_b1": lambda n: digits_case(n, digits_cnn, False),
    "digits_mlp_b1": lambda n: digits_case(n, digits_mlp, False),
    "seed": lambda n: record(n, Seed((3,)), [((t(3), t(3)), {}) for _ in range(3)]),
    "seed_scalar": lambda n: record(n, Seed(()), [((t(3), t(3)), {}) for _ in range(3)]),
    "primitive_inputs": lambda n: record(n, Primitives(), [((t(3), 2, 0.5, True, "double"), {})]),
    "nested_io": lambda n: record(
        n, Nested(), [((t(2), (t(2), (t(2), t(2)))), {"scale": t(1), "extras": {"u": t(2), "v": t(3)}})]),  # fmt: skip
    "constant_outputs": lambda n: record(n, ConstantOutputs(), [((t(2),), {})]),
    "tied_parameters": lambda n: record(n, Tied(), [((t(2, 4),), {})]),
    "lifted_constants": lambda n: record(n, Lifted(), [((t(3),), {})]),
    "shared_storage": lambda n: record(n, SharedStorage(), [((t(2, 6),), {})]),
    "outputs_alias_inputs": lambda n: record(n, Alias(), [((t(2), t(2)), {})]),
    "no_user_inputs": lambda n: record(n, NoInputs(), [((), {})]),
    "dynamic_batch": lambda n: record(
        n, Dynamic(), [((t(b, 6),), {}) for b in (4, 1, 9)], {"x": {0: torch.export.Dim("n", min=1, max=64)}}),  # fmt: skip
}

if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        torch.manual_seed(0)
        CASES[name](name)
