#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the joint graphs (loss and gradients) that the tests train, and the losses that PyTorch has on the same data.

Needs PyTorch 2.6. Writes training/<name>/{joint.pt2,x.npy,y.npy,curves.json} and training/<name>/model.pt2, which is the
model alone, for inference, beside this script.
"""

import copy
import json
import pathlib

import numpy as np
import torch
from torch import nn
from torch.export import Dim, export, export_for_training
from torch.export.experimental import _export_forward_backward

HERE = pathlib.Path(__file__).resolve().parent / "training"
SETTINGS = {
    "--optimizer sgd --lr 0.05 --momentum 0.9 --weight-decay 0.01": lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, weight_decay=0.01),
    "--optimizer adam --lr 0.01 --weight-decay 0.01": lambda p: torch.optim.Adam(p, 0.01, weight_decay=0.01),
    "--optimizer adamw --lr 0.01": lambda p: torch.optim.AdamW(p, 0.01),
    "--optimizer sgd --lr 0.05 --shuffle 3": lambda p: torch.optim.SGD(p, 0.05),
}


class WithLoss(nn.Module):
    def __init__(self, model, loss):
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, x, y):
        return self.loss(self.model(x), y)


class Decoder(nn.Module):
    """Causal attention over embeddings, which are tied to the last layer."""

    def __init__(self, words=11, width=8, length=5):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.norm, self.into, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.last = nn.Linear(width, words, bias=False)
        self.last.weight = self.words.weight
        self.register_buffer("at", torch.arange(length))

    def forward(self, x):
        h = self.words(x) * 0.3 + self.places(self.at)
        q, k, v = (t.unflatten(-1, (2, 4)).transpose(1, 2) for t in self.into(self.norm(h)).chunk(3, -1))
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.last(h + self.out(a.transpose(1, 2).flatten(2)))


def over_words(scores, y):
    return nn.functional.cross_entropy(scores.flatten(0, 1), y.flatten())


def batchnorm():
    net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3))
    return WithLoss(net, nn.functional.cross_entropy), torch.randn(20, 1, 6, 6), torch.randint(0, 3, (20,)), None


def decoder():
    return WithLoss(Decoder(), over_words), torch.randint(0, 11, (16, 5)), torch.randint(0, 11, (16, 5)), None


def dynamic():
    x = torch.randn(20, 4)
    net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
    return WithLoss(net, nn.functional.mse_loss), x, x.sum(1, keepdim=True).sin(), Dim("batch", min=2, max=64)


def curve(model, x, y, settings, batch, epochs, drops):
    model = copy.deepcopy(model)
    optimizer = SETTINGS[settings](list(model.parameters()))
    generator = torch.Generator().manual_seed(3)
    losses = []
    for _ in range(epochs):
        order = torch.randperm(len(x), generator=generator) if "shuffle" in settings else torch.arange(len(x))
        for at in order.split(batch):
            if drops and len(at) < batch:
                continue
            optimizer.zero_grad()
            loss = model(x[at], y[at])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


def main():
    torch.set_num_threads(1)
    for make in (batchnorm, decoder, dynamic):
        torch.manual_seed(1)
        model, x, y, dim = make()
        folder = HERE / make.__name__
        folder.mkdir(parents=True, exist_ok=True)
        sizes = None if dim is None else ({0: dim}, {0: dim})
        batch = 8
        program = export_for_training(model.train(), (x[:batch], y[:batch]), dynamic_shapes=sizes).run_decompositions({})
        joint = _export_forward_backward(program, joint_loss_index=len(program.graph_signature.output_specs) - 1)
        torch.export.save(joint, folder / "joint.pt2")
        inner = None if dim is None else ({0: dim},)
        torch.export.save(export(copy.deepcopy(model.model).eval(), (x[:batch],), dynamic_shapes=inner), folder / "model.pt2")
        np.save(folder / "x.npy", x.numpy())
        np.save(folder / "y.npy", y.numpy())
        loss = {settings: curve(model, x, y, settings, batch, 6, dim is None) for settings in SETTINGS}
        (folder / "curves.json").write_text(json.dumps({"batch": batch, "epochs": 6, "loss": loss}))


main()
