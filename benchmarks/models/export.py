# SPDX-License-Identifier: MIT
"""Writes the benchmark models to a folder: NAME_bBATCH.pt2, NAME_bBATCH.onnx, and input/output samples as .npy.

Programs are what torch.export.export returns (training IR); with --core they have gone through run_decompositions().
Weights are seeded, not trained: latency does not depend on them. Batch norm statistics come from a few seeded batches, so that
activations stay in the range that trained models have. With --dtype the files are NAME_DTYPE_bBATCH: the model in bfloat16 or float16,
or quantized by XNNPACKQuantizer, symmetric, a scale per channel; the .pt2 alone. Needs torch 2.6, torchvision and (for .onnx) onnx.

  export.py DIR [--batch 1 8] [--only NAME ...] [--core] [--no-onnx] [--dtype int8|bfloat16|float16]
"""
import argparse
import pathlib

import numpy
import torch
from torch import nn


class Digits(nn.Module):
    """A small CNN for 8x8 images."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.classifier = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))


class Tagger(nn.Module):
    """Labels each step of a sequence of 16 features by a recurrent layer."""

    def __init__(self, layer):
        super().__init__()
        self.recurrent = layer(16, 64, batch_first=True)
        self.head = nn.Linear(64, 8)

    def forward(self, x):
        return self.head(self.recurrent(x)[0])


class Block(nn.Module):
    """A transformer block, attention written out."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        weights = (q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5).softmax(-1)
        x = x + self.proj((weights @ v).transpose(1, 2).reshape(b, n, c))
        return x + self.mlp(self.norm2(x))


class VitSmall(nn.Module):
    """A vision transformer on 64x64 images: patches of 8, width 192, 3 heads, 6 blocks."""

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 192, 8, 8)
        self.position = nn.Parameter(torch.randn(1, 64, 192) * 0.02)
        self.blocks = nn.Sequential(*[Block(192, 3) for _ in range(6)])
        self.norm = nn.LayerNorm(192)
        self.head = nn.Linear(192, 100)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.position
        return self.head(self.norm(self.blocks(x)).mean(1))


class TokenBlock(nn.Module):
    """A transformer block by scaled_dot_product_attention: with norms before (GPT-2) or after (BERT) each sub-layer."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU("tanh" if causal else "none"), nn.Linear(4 * width, width))

    def attend(self, x):
        b, n, c = x.shape
        q, k, v = (t.view(b, n, self.heads, c // self.heads).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.proj(mixed.transpose(1, 2).reshape(b, n, c))

    def forward(self, x):
        if self.causal:
            x = x + self.attend(self.norm1(x))
            return x + self.mlp(self.norm2(x))
        x = self.norm1(x + self.attend(x))
        return self.norm2(x + self.mlp(x))


class Tokens(nn.Module):
    """Six blocks over 64 tokens: a small BERT's encoder, or a small GPT-2's prefill."""

    def __init__(self, causal, width=384, heads=6, words=4096, length=64):
        super().__init__()
        self.words = words
        self.word, self.position = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[TokenBlock(width, heads, causal) for _ in range(6)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words if causal else 16, bias=not causal)

    def forward(self, tokens):
        x = self.word(tokens) + self.position(torch.arange(tokens.shape[1]))
        return self.head(self.blocks(x if self.head.bias is None else self.norm(x)))


class DoubleConv(nn.Sequential):
    def __init__(self, a, b):
        super().__init__(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True),
                         nn.Conv2d(b, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))


class UNet(nn.Module):
    """Three levels down and up, by transposed convolutions."""

    def __init__(self, widths=(16, 32, 64, 128)):
        super().__init__()
        self.down = nn.ModuleList(DoubleConv(a, b) for a, b in zip((3, *widths), widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in zip(widths, widths[1:]))
        self.merge = nn.ModuleList(DoubleConv(2 * a, a) for a in widths[:-1])
        self.head = nn.Conv2d(widths[0], 4, 1)

    def forward(self, x):
        kept = []
        for i, down in enumerate(self.down):
            x = down(nn.functional.max_pool2d(x, 2) if i else x)
            kept.append(x)
        for i in reversed(range(len(self.up))):
            x = self.merge[i](torch.cat([kept[i], self.up[i](x)], 1))
        return self.head(x)


def torchvision_model(name):
    def make():
        import torchvision

        return getattr(torchvision.models, name)(weights=None)

    return make


IMAGE = (3, 224, 224)
MODELS = {
    **{name: (torchvision_model(name), IMAGE) for name in [
        "mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0", "resnet18", "resnet50", "squeezenet1_1", "shufflenet_v2_x1_0",
        "convnext_tiny", "densenet121", "swin_t"]},
    "vit_small": (VitSmall, (3, 64, 64)),
    "bert_small": (lambda: Tokens(causal=False), (64,)),
    "gpt2_small": (lambda: Tokens(causal=True), (64,)),
    "lstm_tagger": (lambda: Tagger(nn.LSTM), (64, 16)),
    "gru_tagger": (lambda: Tagger(nn.GRU), (64, 16)),
    "unet": (UNet, (3, 128, 128)),
    "digits": (Digits, (1, 8, 8)),
}


def settled(make, shape):
    """The model in eval mode, its batch norm statistics from seeded batches."""
    torch.manual_seed(0)
    model = make()
    norms = [m for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    if norms:
        for norm in norms:
            norm.momentum = None  # a plain average
            nn.init.uniform_(norm.weight, 0.6, 1.4)
            nn.init.uniform_(norm.bias, -0.3, 0.3)
        model.train()
        with torch.no_grad():
            for _ in range(2):
                model(torch.randn(4, *shape))
    return model.eval()


def quantized(model, x):
    """The model in int8, its ranges from a few inputs like x."""
    from torch.ao.quantization.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torch.ao.quantization.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(torch.export.export_for_training(model, (x,)).module(), quantizer)
    for _ in range(2):
        prepared(torch.randn_like(x))
    prepared(x)
    return convert_pt2e(prepared)


def export(name, batch, folder, core, onnx, dtype):
    make, shape = MODELS[name]
    model = settled(make, shape)
    torch.manual_seed(1)
    x = torch.randint(model.words, (batch, *shape)) if isinstance(model, Tokens) else torch.randn(batch, *shape)
    stem = folder / f"{name}_{dtype}_b{batch}" if dtype else folder / f"{name}_b{batch}"
    with torch.no_grad():
        if dtype == "int8":
            model = quantized(model, x)
        elif dtype:
            model = model.to(getattr(torch, dtype))
            x = x.to(getattr(torch, dtype)) if x.is_floating_point() else x
        program = torch.export.export(model, (x,), strict=False)
        if core:
            program = program.run_decompositions()
        torch.export.save(program, str(stem) + ".pt2")
        if not dtype:
            numpy.save(str(stem) + "_in.npy", x.numpy())
            numpy.save(str(stem) + "_out.npy", model(x).numpy())
        if onnx and not dtype:
            torch.onnx.export(model, (x,), str(stem) + ".onnx", opset_version=17, input_names=["x"], output_names=["y"], dynamo=False)
    print(stem, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--batch", type=int, nargs="+", default=[1])
    parser.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--core", action="store_true")
    parser.add_argument("--no-onnx", action="store_true")
    parser.add_argument("--dtype", choices=["int8", "bfloat16", "float16"])
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.folder.mkdir(parents=True, exist_ok=True)
    for batch in options.batch:
        for name in options.only:
            export(name, batch, options.folder, options.core, not options.no_onnx, options.dtype)


if __name__ == "__main__":
    main()
