# SPDX-License-Identifier: MIT
"""Writes a decoder of one token at a time to a folder: decoder.pt2 (caches are buffers), decoder.onnx (caches are inputs and outputs) and
the logits of eight steps.

Llama-like: 8 layers of 512, 8 heads, rotary positions, a context of 1,024, 4,096 words; seeded weights, 118 MB in float32.

  export_decoder.py DIR
"""
import pathlib
import sys

import numpy
import torch
from torch import nn

LAYERS, WIDTH, HEADS, CONTEXT, WORDS, INNER = 8, 512, 8, 1024, 4096, 1376
DEPTH = WIDTH // HEADS


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = Norm(), Norm()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(WIDTH, INNER, bias=False), nn.Linear(WIDTH, INNER, bias=False), nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x, cos, sin, mask, write):
        """write(keys, values) returns the caches with the new entries."""
        y = self.norm1(x)
        q, k, v = (layer(y).view(1, -1, HEADS, DEPTH).transpose(1, 2) for layer in (self.q, self.k, self.v))

        def turned(t):
            a, b = t.chunk(2, -1)
            return t * cos + torch.cat((-b, a), -1) * sin

        keys, values = write(turned(k), v)
        y = nn.functional.scaled_dot_product_attention(turned(q), keys, values, attn_mask=mask)
        x = x + self.o(y.transpose(1, 2).reshape(1, -1, WIDTH))
        y = self.norm2(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """Returns the logits after `token` (1, count) at `position` (count); with `caches`, takes one token and them, and also returns new ones."""

    def __init__(self):
        super().__init__()
        self.embedding, self.blocks, self.norm = nn.Embedding(WORDS, WIDTH), nn.ModuleList(Block() for _ in range(LAYERS)), Norm()
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        angles = torch.arange(CONTEXT)[:, None] * (10000 ** (-torch.arange(0, DEPTH, 2) / DEPTH))[None]
        angles = torch.cat((angles, angles), -1)
        for name, buffer in (("cos", angles.cos()), ("sin", angles.sin()), ("places", torch.arange(CONTEXT))):
            self.register_buffer(name, buffer)
        for i in range(2 * LAYERS):
            self.register_buffer(f"cache{i}", torch.zeros(1, HEADS, CONTEXT, DEPTH))

    def forward(self, token, position, *caches):
        x, made = self.embedding(token), []
        for i, block in enumerate(self.blocks):
            def write(*rows):
                both = []
                for k, row in enumerate(rows):
                    if caches:
                        both.append(torch.scatter(caches[2 * i + k], 2, position.view(1, 1, 1, 1).expand(1, HEADS, 1, DEPTH), row))
                    else:
                        both.append(getattr(self, f"cache{2 * i + k}"))
                        both[-1].index_copy_(2, position, row)
                made.extend(both)
                return both

            x = block(x, self.cos[position], self.sin[position], (self.places <= position[:, None])[None, None], write)
        logits = self.head(self.norm(x))
        return (logits, *made) if caches else logits


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = Decoder().eval()
    caches = [torch.zeros(1, HEADS, CONTEXT, DEPTH) for _ in range(2 * LAYERS)]
    with torch.no_grad():
        step = (torch.tensor([[5]]), torch.tensor([7]))
        torch.export.save(torch.export.export(model, step, strict=False), str(folder / "decoder.pt2"))
        names = [f"cache{i}" for i in range(2 * LAYERS)]
        torch.onnx.export(model, (*step, *caches), str(folder / "decoder.onnx"), opset_version=17, dynamo=False,
                          input_names=["token", "position", *names], output_names=["logits", *(f"new_{name}" for name in names)])
        logits = [model(torch.tensor([[3 * i + 1]]), torch.tensor([i])).numpy() for i in range(8)]
    numpy.save(folder / "decoder_out.npy", numpy.concatenate(logits))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
