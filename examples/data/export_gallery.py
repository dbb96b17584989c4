#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the programs of the gallery: anomaly.pt2 (state), rhyme.pt2 (a KV cache), rhyme_prefill.pt2 (reads several letters at once
into the same cache), swish.pt2 (a custom operator).

    python3 export_gallery.py [FOLDER]

Needs PyTorch 2.6.
"""
import pathlib
import sys

import torch
from torch import nn

data = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
RHYME = "twinkle twinkle little star how i wonder what you are."
LETTERS = " .abcdefghijklmnopqrstuvwxyz"


class Anomaly(nn.Module):
    """Deviation of four sensors from their running means, in standard deviations. The means and variances are state."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("variance", torch.ones(4))

    def forward(self, x):
        score = (x - self.mean).abs() * self.variance.clamp(min=1e-6).rsqrt()
        step = 0.1 * (x - self.mean)
        self.mean.add_(step)
        self.variance.copy_(0.9 * (self.variance + 0.1 * (x - self.mean) ** 2))
        return score


class Rhyme(nn.Module):
    """One attention layer over all letters so far. Its keys and values are buffers (a KV cache)."""

    def __init__(self, width=24, length=64):
        super().__init__()
        self.length = length
        self.letters, self.places = nn.Embedding(len(LETTERS), width), nn.Embedding(length, width)
        self.qkv, self.out, self.head = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Linear(width, len(LETTERS))
        self.register_buffer("keys", torch.zeros(length, width), persistent=False)
        self.register_buffer("values", torch.zeros(length, width), persistent=False)

    def attend(self, x, q, k, v, mask):
        weights = (q @ k.T / k.shape[1] ** 0.5).masked_fill(~mask, float("-inf")).softmax(-1)
        return self.head(torch.relu(x + self.out(weights @ v)))

    def train_on(self, letters):
        x = self.letters(letters) + self.places(torch.arange(len(letters)))
        q, k, v = self.qkv(x).chunk(3, 1)
        return self.attend(x, q, k, v, torch.ones(len(letters), len(letters)).tril().bool())

    def forward(self, letter, place):
        x = self.letters(letter) + self.places(place)
        q, k, v = self.qkv(x).chunk(3, 1)
        self.keys.index_copy_(0, place, k)
        self.values.index_copy_(0, place, v)
        return self.attend(x, q, self.keys, self.values, torch.arange(self.length) <= place)


class Prefill(Rhyme):
    """Reads several letters at once into the same cache, and returns the scores after the last letter."""

    def forward(self, letters):
        places = torch.arange(len(letters))
        x = self.letters(letters) + self.places(places)
        q, k, v = self.qkv(x).chunk(3, 1)
        self.keys.index_copy_(0, places, k)
        self.values.index_copy_(0, places, v)
        return self.attend(x, q, k, v, torch.ones(len(letters), len(letters)).tril().bool())[-1:]


@torch.library.custom_op("gallery::swish_by", mutates_args=())
def swish_by(x: torch.Tensor, beta: float) -> torch.Tensor:
    return x * torch.sigmoid(beta * x)


@swish_by.register_fake
def _(x, beta):
    return torch.empty_like(x)


class Swish(nn.Module):
    def forward(self, x):
        return torch.ops.gallery.swish_by(x + 1, 2.0)


def save(name, model, inputs):
    program = torch.export.export(model.eval(), inputs)
    program._example_inputs = None
    torch.export.save(program, data / name)
    print(name, (data / name).stat().st_size)


def trained():
    torch.manual_seed(0)
    model = Rhyme()
    text = torch.tensor([LETTERS.index(c) for c in RHYME])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(400):
        loss = nn.functional.cross_entropy(model.train_on(text[:-1]), text[1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model.requires_grad_(False)


save("anomaly.pt2", Anomaly(), (torch.zeros(4),))
rhyme, prefill = trained(), Prefill()
prefill.load_state_dict(rhyme.state_dict())
save("rhyme.pt2", rhyme, (torch.tensor([0]), torch.tensor([0])))
save("rhyme_prefill.pt2", prefill.requires_grad_(False), (torch.zeros(16, dtype=torch.int64),))
save("swish.pt2", Swish(), (torch.randn(4),))
