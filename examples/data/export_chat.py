#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains the decoder of examples/gallery/chat.cpp on questions about davit, and writes chat.pt2 (a KV cache of float32) and
chat_int8.pt2 (of int8). Weights are integers of 4 bits in groups of 32, in the embedding and the head of 8 bits.

    python3 export_chat.py [FOLDER] [--steps N]

Needs PyTorch 2.6; takes some minutes on one core. Tokens are bytes. Prints by how much the int8 cache moves the logits.
"""
import argparse
import pathlib
import random

import torch
from torch import nn

from small_file import save

LAYERS, WIDTH, HEADS, INNER, CONTEXT, GROUP = 2, 128, 4, 192, 256, 32
DEPTH = WIDTH // HEADS
TALK = """
hello|hello! ask me about davit.
hi|hello! ask me about davit.
thank you|you are welcome.
thanks|you are welcome.
bye|goodbye.
who are you|a small decoder of 4-bit weights that davit runs.
what is davit|a c++ library that runs programs exported from pytorch.
what is a davit|the small crane that lowers boats.
which language is davit written in|c++23, in headers.
which compilers work|g++ 12.2 or later, and clang 19 or later.
what is a backend|a c++ type that takes parts of a program: it preprocesses, compiles and executes them.
which backends are there|portable, onednn, xnnpack, and those that you write.
what is portable|davit's own kernels. it takes every node that no other backend takes.
how do i export a model|torch.export.save(torch.export.export(model, inputs), "model.pt2").
how do i run a model|davit run model.pt2 --input x.npy
how do i save a lowered program|davit lower model.pt2 -o model.davit
what is a package|a lowered program in a file. it loads without lowering again.
what is a session|the state and the working memory of a lowered program.
what is a partition|a part of a program that one backend runs.
what is a kv cache|keys and values of the tokens so far, kept in buffers.
how are weights packed|as integers of 4 or 8 bits, with a scale per output or per group.
why pack weights|a layer on one row costs the time to read its weights.
does it run on a microcontroller|yes. davit embed writes a header without a heap.
does it train|yes. a joint graph becomes a program that trains.
does it need python|no. python only exports the model.
how do i see what a model takes|davit inspect model.pt2
is it fast|measure it: benchmarks/readme prints every figure.
what are errors|values. each names the stage, the place and the fix.
can i use several threads|yes: --threads, or portable::set_threads.
how long is your memory|256 bytes, then i forget.
"""


class Packed(nn.Module):
    """Weights that training rounds to `bits` in groups, and that export keeps as integers, two of 4 bits in a byte."""

    def __init__(self, rows, depth, bits=4, group=GROUP):
        super().__init__()
        self.bits, self.rows, self.group = bits, rows, group
        self.weight = nn.Parameter(torch.randn(rows, depth) * depth**-0.5)

    def steps(self):
        w = self.weight.view(self.rows, -1, self.group)
        scales = w.abs().amax(-1, keepdim=True).clamp(min=1e-6) / (2 ** (self.bits - 1) - 1)
        return torch.round(w / scales), scales

    def pack(self):
        steps, scales = (t.detach() for t in self.steps())
        flat = steps.view(self.rows, -1).to(torch.int8)
        if self.bits == 4:
            pairs = (flat + 8).to(torch.uint8).view(self.rows, -1, 2)
            flat = pairs[..., 0] | pairs[..., 1] << 4
        del self.weight
        self.register_buffer("integers", flat)
        self.register_buffer("scales", scales)

    def floats(self):
        if hasattr(self, "weight"):
            steps, scales = self.steps()
            w = self.weight.view_as(steps)
            return (w + (steps * scales - w).detach()).view(self.rows, -1)
        x = self.integers
        if self.bits == 4:
            x = torch.stack((x & 15, x >> 4), -1).to(torch.int8) - 8
        return (x.reshape(self.rows, -1, self.group).float() * self.scales).view(self.rows, -1)

    def forward(self, x):
        return nn.functional.linear(x, self.floats())


def norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)


class Cache(nn.Module):
    """Keys or values of all places; rows of int8 have a scale each."""

    def __init__(self, int8):
        super().__init__()
        self.int8 = int8
        self.register_buffer("rows", torch.zeros(1, HEADS, CONTEXT, DEPTH, dtype=torch.int8 if int8 else torch.float32))
        if int8:
            self.register_buffer("scales", torch.zeros(1, HEADS, CONTEXT, 1))

    def forward(self, places, x):
        if not self.int8:
            self.rows.index_copy_(2, places, x)
            return self.rows
        scales = x.abs().amax(-1, keepdim=True).clamp(min=1e-6) / 127
        self.scales.index_copy_(2, places, scales)
        self.rows.index_copy_(2, places, torch.round(x / scales).to(torch.int8))
        return self.rows.float() * self.scales


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (Packed(WIDTH, WIDTH) for _ in range(4))
        self.gate, self.up, self.down = Packed(INNER, WIDTH), Packed(INNER, WIDTH), Packed(WIDTH, INNER)
        self.caches = None

    def forward(self, x, cos, sin, places, mask):
        y = norm(x)
        q, k, v = (layer(y).view(*x.shape[:2], HEADS, DEPTH).transpose(1, 2) for layer in (self.q, self.k, self.v))

        def turned(t):
            a, b = t.chunk(2, -1)
            return t * cos + torch.cat((-b, a), -1) * sin

        q, k = turned(q), turned(k)
        if self.caches is not None:
            k, v = self.caches[0](places, k), self.caches[1](places, v)
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.o(y.transpose(1, 2).flatten(2))
        y = norm(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """Logits after the last of `tokens` (1, n), which lie at `position` (1) and behind; while training, of all tokens."""

    def __init__(self):
        super().__init__()
        self.table, self.blocks = Packed(256, WIDTH, 8, WIDTH), nn.ModuleList(Block() for _ in range(LAYERS))
        angles = torch.arange(CONTEXT)[:, None] * (1000 ** (-torch.arange(0, DEPTH, 2) / DEPTH))[None]
        angles = torch.cat((angles, angles), -1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def decoded(self, tokens, places, keys):
        table = self.table.floats()
        x = norm(nn.functional.embedding(tokens, table))
        mask = keys[None] <= places[:, None]
        for block in self.blocks:
            x = block(x, self.cos[places], self.sin[places], places, mask)
        return norm(x), table

    def train_on(self, tokens):
        places = torch.arange(tokens.shape[1])
        x, table = self.decoded(tokens, places, places)
        return nn.functional.linear(x, table)

    def forward(self, tokens, position):
        places = position + torch.arange(tokens.shape[1])
        x, table = self.decoded(tokens, places, torch.arange(CONTEXT))
        return nn.functional.linear(x[:, -1], table)

    def keep(self, int8):
        for block in self.blocks:
            block.caches = nn.ModuleList(Cache(int8) for _ in range(2))


def talk():
    """Bytes of questions and answers in random order."""
    pairs = [line.split("|") for line in TALK.strip().splitlines()]
    text = ""
    while len(text) <= CONTEXT:
        question, answer = random.choice(pairs)
        if random.random() < 0.3:  # a slip
            at = random.randrange(len(question))
            question = question[:at] + random.choice(["", question[at] * 2]) + question[at + 1 :]
        text += question + random.choice(["", "?"]) + "\n" + answer + "\n"
    return list(text.encode()[: CONTEXT + 1])


def trained(steps):
    torch.manual_seed(0)
    random.seed(0)
    model = Decoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps, pct_start=0.1)
    for step in range(steps):
        tokens = torch.tensor([talk() for _ in range(4)])
        logits = model.train_on(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    for layer in model.modules():
        if isinstance(layer, Packed):
            layer.pack()
    return model.eval().requires_grad_(False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--steps", type=int, default=500)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = trained(options.steps)
    example = (torch.zeros(1, 5, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))
    n = torch.export.Dim("n", min=1, max=CONTEXT)
    logits = []
    tokens = torch.tensor([list(b"what is davit?\na c++ library that runs programs exported from pytorch.\nwhat is a session?\n")])
    for int8 in (False, True):
        model.keep(int8)
        program = torch.export.export(model, example, dynamic_shapes=({1: n}, None))
        path = options.folder / ("chat_int8.pt2" if int8 else "chat.pt2")
        save(program, path)
        print(path.name, path.stat().st_size)
        model.keep(int8)
        logits.append(torch.stack([model(tokens[:, i : i + 1], torch.tensor([i])) for i in range(tokens.shape[1])]))
    error = (logits[1] - logits[0]).abs().max() / logits[0].abs().max()
    same = (logits[0].argmax(-1) == logits[1].argmax(-1)).float().mean()
    print(f"int8 cache: logits differ by {error:.2e} of the largest; {same:.1%} of the most likely bytes are the same")
    asked = torch.tensor([list(b"what is davit?\n")])
    model.keep(False)
    place, out = 0, b""
    while not out.endswith(b"\n") and place + asked.shape[1] < CONTEXT:
        answer = model(asked, torch.tensor([place])).argmax(-1)
        place += asked.shape[1]
        asked = answer[None]
        out += bytes([answer.item()])
    print(out)


if __name__ == "__main__":
    main()
