# SPDX-License-Identifier: MIT
"""Beside PyTorch, as in a notebook: export, load, run on torch's tensors, compare; a wrong model is found with its
source line."""

import io

import numpy
import torch

import davit


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.head = torch.nn.Linear(4 * 6 * 6, 10)

    def forward(self, x):
        y = torch.relu(self.norm(self.conv(x)))
        return {"scores": self.head(y.flatten(1)), "mean": y.mean()}


torch.manual_seed(0)
net = Net().eval()
x = torch.randn(2, 1, 8, 8)
exported = torch.export.export(net, (x,))
saved = io.BytesIO()
torch.export.save(exported, saved)

# %% the exported program, or the bytes of its file
for source in exported, saved.getvalue():
    model = davit.load(source)
    made = model(x)
    wanted = net(x)
    for name, value in wanted.items():
        numpy.testing.assert_allclose(made[name], value.detach().numpy(), rtol=1e-4, atol=1e-5)

# %% torch's tensors go in and out without copies
lent = model.session().lend(x)["scores"]
shared = torch.from_dlpack(lent)
assert shared.data_ptr() == numpy.asarray(lent).__array_interface__["data"][0]
half = torch.export.export(torch.nn.Softmax(-1).to(torch.bfloat16), (torch.ones(2, 3, dtype=torch.bfloat16),))
bits = davit.load(half)(torch.ones(2, 3, dtype=torch.bfloat16))
assert torch.from_dlpack(bits).dtype == torch.bfloat16
torch.testing.assert_close(torch.from_dlpack(bits), torch.softmax(torch.ones(2, 3, dtype=torch.bfloat16), -1))
try:
    model(x.clone().requires_grad_())
except Exception as error:  # torch's own, which names the fix: detach()
    assert "detach" in str(error), error
else:
    raise AssertionError("a tensor with gradient was taken")

# %% nothing differs: PyTorch runs the export node by node, and the module
found = davit.compare(net, exported, (x,))
print(found)
assert found and found.reference == "PyTorch" and len(found.outputs) == 2 and found.values
found = davit.compare(net, exported, backends=["portable", "portable_2"], partitioner="alternate")
assert found and len(found.values) > 3, found

# %% a model that was trained on after its export: the module differs, the export does not
with torch.no_grad():
    net.head.bias += 1
found = davit.compare(net, saved.getvalue(), (x,))
assert not found and not any(value.differs for value in found.values) and found.first.name == "output scores", found

# %% a package of older weights: the first value that differs is named, with its source line
old = davit.load(saved.getvalue(), ["portable", "portable_2"], partitioner="alternate")
newer = torch.export.export(net, (x,))
found = davit.compare(old, newer, (x,))
print(found)
assert not found and "head" in found.first.source and found.first.target.startswith("aten."), found
print("beside torch", torch.__version__, "numpy", numpy.__version__)
