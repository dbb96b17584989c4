# SPDX-License-Identifier: MIT
"""Writes the decoder of benchmarks/models with linear layers of float32, int8 and int4 (decoder32.pt2, decoder8.pt2, decoder4.pt2), and
files of llama.cpp of the same shapes: f32.gguf, q8_0.gguf, q4_0.gguf. Weights are random.

  export.py DIR [LAYERS WIDTH]
"""
import pathlib
import struct
import sys

import numpy
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
import export_decoder as sizes  # noqa: E402


class Packed(nn.Module):
    """A linear layer of integers: of 8 bits with a scale per output, or of 4 bits in groups of 32."""

    def __init__(self, linear, bits):
        super().__init__()
        w = linear.weight.detach().view(linear.out_features, -1, 32 if bits == 4 else linear.in_features)
        scales = w.abs().amax(-1, keepdim=True) / (2 ** (bits - 1) - 1)
        self.register_buffer("integers", torch.round(w / scales).to(torch.int8))
        self.register_buffer("scales", scales)

    def forward(self, x):
        return nn.functional.linear(x, (self.integers.float() * self.scales).view(self.integers.shape[0], -1))


def pack(module, bits):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, Packed(child, bits))
        pack(child, bits)


def string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def entry(key, value):
    """A key of the file with its value: an int, a float, a text, or a list of one of them."""

    def of(x):
        if isinstance(x, str):
            return 8, string(x)
        integer = 5 if isinstance(value, list) else 4  # signed in lists
        return (6, struct.pack("<f", x)) if isinstance(x, float) else (integer, struct.pack("<I", x))

    if isinstance(value, list):
        return string(key) + struct.pack("<IIQ", 9, of(value[0])[0], len(value)) + b"".join(of(x)[1] for x in value)
    return string(key) + struct.pack("<I", of(value)[0]) + of(value)[1]


def blocks(w, most, type_of_integers, integers):
    """Blocks of 32 weights: a scale of float16, then integers."""
    w = w.reshape(-1, 32)
    scales = numpy.abs(w).max(1) / most
    out = numpy.zeros(len(w), dtype=[("scale", "<f2"), ("integers", *type_of_integers)])
    out["scale"], out["integers"] = scales, integers(numpy.round(w / scales[:, None]))
    return out.tobytes()


def nibbles(q):
    q = (q + 8).astype(numpy.uint8)
    return q[:, :16] | q[:, 16:] << 4


FORMS = {  # name: the type of the tensors, their bytes
    "f32": (0, lambda w: w.tobytes()),
    "q8_0": (8, lambda w: blocks(w, 127, ("i1", 32), lambda q: q.astype(numpy.int8))),
    "q4_0": (2, lambda w: blocks(w, 7, ("u1", 16), nibbles)),
}


def write_gguf(path, form):
    kind, pack_floats = FORMS[form]
    random = numpy.random.default_rng(0)
    shapes = {"token_embd": (sizes.WIDTH, sizes.WORDS), "output_norm": (sizes.WIDTH,), "output": (sizes.WIDTH, sizes.WORDS)}
    for i in range(sizes.LAYERS):
        shapes |= {f"blk.{i}.{name}_norm": (sizes.WIDTH,) for name in ("attn", "ffn")}
        shapes |= {f"blk.{i}.attn_{name}": (sizes.WIDTH, sizes.WIDTH) for name in ("q", "k", "v", "output")}
        shapes |= {f"blk.{i}.ffn_gate": (sizes.WIDTH, sizes.INNER), f"blk.{i}.ffn_up": (sizes.WIDTH, sizes.INNER), f"blk.{i}.ffn_down": (sizes.INNER, sizes.WIDTH)}
    words = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)] + [f"w{i}" for i in range(sizes.WORDS - 259)]
    keys = {
        "general.architecture": "llama", "llama.context_length": sizes.CONTEXT, "llama.embedding_length": sizes.WIDTH, "llama.block_count": sizes.LAYERS,
        "llama.feed_forward_length": sizes.INNER, "llama.attention.head_count": sizes.HEADS, "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": sizes.WIDTH // sizes.HEADS, "tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": words,
        "tokenizer.ggml.scores": [-float(i) for i in range(sizes.WORDS)], "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * (sizes.WORDS - 259),
        "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.unknown_token_id": 0,
    }  # fmt: skip
    infos, data = b"", b""
    for name, shape in shapes.items():
        of_floats = len(shape) == 1
        floats = numpy.ones(shape, numpy.float32) if of_floats else random.standard_normal(shape[::-1], numpy.float32) * shape[0] ** -0.5
        infos += string(name + ".weight") + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        infos += struct.pack("<IQ", 0 if of_floats else kind, len(data))
        data += floats.tobytes() if of_floats else pack_floats(floats)
        data += b"\0" * (-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(keys)) + b"".join(entry(*item) for item in keys.items()) + infos
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)


def main(folder):
    for form in FORMS:
        write_gguf(folder / f"{form}.gguf", form)
    for bits in (32, 8, 4):
        torch.manual_seed(0)
        model = sizes.Decoder().eval()
        if bits != 32:
            pack(model, bits)
        with torch.no_grad():
            program = torch.export.export(model, (torch.tensor([[5]]), torch.tensor([7])), strict=False)
            torch.export.save(program, str(folder / f"decoder{bits}.pt2"))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sizes.LAYERS, width = int(sys.argv[2]), int(sys.argv[3])
        sizes.HEADS, sizes.INNER, sizes.WIDTH = width // sizes.DEPTH, sizes.INNER * width // sizes.WIDTH, width
    main(pathlib.Path(sys.argv[1]))
