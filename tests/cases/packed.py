#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports programs whose weights are integers of 4 and 8 bits, in each form in which PyTorch, torchao and ExecuTorch write them, with
recorded inputs and outputs: models/packed_*.

Needs PyTorch 2.6. Operators of torchao and ExecuTorch are defined here, by their documented results.
"""

import sys

import regenerate
import torch
from torch import nn

q = torch.ops.quantized_decomposed
LIBRARIES = []


def define(space, schema):
    """Registers an operator of another library, as the function says."""

    def register(function):
        library = torch.library.Library(space, "FRAGMENT")
        LIBRARIES.append(library)
        library.define(schema)
        library.impl(schema[: schema.index("(")], function, "CompositeExplicitAutograd")
        return function

    return register


def in_blocks(x, block_size, scale):
    shape = [n for size, block in zip(x.shape, block_size) for n in (size // block, block)]
    counts = [n for size, block in zip(x.shape, block_size) for n in (size // block, 1)]
    return x.reshape(shape), scale.reshape(counts), counts


@define("torchao", "dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, ScalarType output_dtype=float32) -> Tensor")  # fmt: skip
def dequantize_affine(input, block_size, scale, zero_point, input_dtype, quant_min=None, quant_max=None, output_dtype=torch.float32):
    x, s, counts = in_blocks(input, block_size, scale)
    x = x.to(torch.int32) if zero_point is None else x.to(torch.int32) - zero_point.reshape(counts).to(torch.int32)
    return (x.to(output_dtype) * s).reshape(input.shape).to(output_dtype)


@define("torchao", "quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType output_dtype, Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor")  # fmt: skip
def quantize_affine(input, block_size, scale, zero_point, output_dtype, quant_min=None, quant_max=None):
    x, s, counts = in_blocks(input, block_size, scale)
    steps = torch.round(x * (1.0 / s)) + (0 if zero_point is None else zero_point.reshape(counts))
    return torch.clamp(steps, quant_min, quant_max).reshape(input.shape).to(output_dtype)


@define("torchao", "choose_qparams_affine(Tensor input, str mapping_type, SymInt[] block_size, ScalarType target_dtype, Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None) -> (Tensor, Tensor)")  # fmt: skip
def choose_qparams_affine(input, mapping_type, block_size, target_dtype, quant_min=None, quant_max=None, eps=None, scale_dtype=None, zero_point_dtype=None):
    assert list(block_size) == [1, input.shape[1]]
    low, high = input.amin(1).clamp(max=0), input.amax(1).clamp(min=0)
    if mapping_type == "SYMMETRIC":
        scale = (torch.maximum(-low, high) / (float(quant_max - quant_min) / 2)).clamp(min=eps)
        zero = torch.full_like(scale, (quant_max + quant_min + 1) // 2)
        return scale.to(scale_dtype or input.dtype), zero.to(zero_point_dtype or torch.int32)
    scale = ((high - low) / float(quant_max - quant_min)).clamp(min=eps)
    zero = (quant_min - torch.round(low / scale)).clamp(quant_min, quant_max)
    return scale.to(scale_dtype or input.dtype), zero.to(zero_point_dtype or torch.int32)


EMBEDDING = "(Tensor weight, Tensor weight_scales, Tensor? weight_zero_points, int weight_quant_min, int weight_quant_max, Tensor indices) -> Tensor"


@define("quantized_decomposed", f"embedding_byte{EMBEDDING}")
def embedding_byte(weight, weight_scales, weight_zero_points, weight_quant_min, weight_quant_max, indices):
    groups = weight_scales.size(1) if weight_scales.dim() == 2 else 1
    x = weight.reshape(weight.size(0), groups, -1).to(weight_scales.dtype)
    x = x if weight_zero_points is None else x - weight_zero_points.reshape(weight.size(0), groups, 1)
    return nn.functional.embedding(indices, (x * weight_scales.reshape(weight.size(0), groups, 1)).reshape(weight.shape))


@define("quantized_decomposed", f"embedding_4bit{EMBEDDING}")
def embedding_4bit(weight, weight_scales, weight_zero_points, weight_quant_min, weight_quant_max, indices):
    unpacked = torch.stack((weight.div(16, rounding_mode="trunc"), weight.remainder(16)), dim=-1)
    integers = unpacked.view(weight.shape[0], -1).view(torch.int8).add(-8)
    return embedding_byte(integers, weight_scales, weight_zero_points, weight_quant_min, weight_quant_max, indices)


@define("aten", "_dyn_quant_pack_4bit_weight(Tensor weights, Tensor scales_zeros, Tensor? bias, int block_size, int in_features, int out_features) -> Tensor")  # fmt: skip
def dyn_quant_pack_4bit_weight(weights, scales_zeros, bias, block_size, in_features, out_features):
    """As CPUs without KleidiAI pack: the bytes of the weights as floats, then the scales."""
    return torch.cat([weights.reshape(-1).float(), scales_zeros.reshape(-1).float()])


@define("aten", "_dyn_quant_matmul_4bit(Tensor inp, Tensor packed_weights, int block_size, int in_features, int out_features) -> Tensor")
def dyn_quant_matmul_4bit(inp, packed_weights, block_size, in_features, out_features):
    pairs = packed_weights[: in_features * out_features // 2].to(torch.int32)
    weights = torch.stack([pairs & 15, pairs >> 4], -1).reshape(out_features, -1, block_size) - 8
    scales = packed_weights[in_features * out_features // 2 :].reshape(out_features, -1, 1)
    low, high = inp.amin(1, True).clamp(max=0), inp.amax(1, True).clamp(min=0)
    steps = torch.where(low == high, 1.0, 255.0 / (high - low))
    zero = torch.where((-128 + low * steps) + (127 + high * steps) > 0, -128 - low * steps, 127 - high * steps).clamp(-128, 127).round()
    x = inp * steps
    integers = (torch.trunc(x) + ((x - torch.trunc(x)).abs() >= 0.5) * x.sign() + zero).clamp(-128, 127) - zero
    sums = torch.einsum("mgk,ngk->mng", integers.reshape(len(inp), -1, block_size).double(), weights.double())
    return ((sums.float() * scales[None, :, :, 0]).sum(-1) * (1 / steps)).float()


N, K, G = 24, 64, 32


class Weights(nn.Module):
    """Integers with scales per row, and of 4 bits with scales per group."""

    def __init__(self, rows=N, dtype=torch.float32):
        super().__init__()
        integers = torch.randint(-127, 128, (rows, K), dtype=torch.int8)
        self.register_buffer("bytes", integers)
        self.register_buffer("row_scales", torch.rand(rows) * 0.01 + 0.001)
        self.register_buffer("row_zeros", torch.randint(-9, 9, (rows,)))
        self.register_buffer("fours", torch.randint(-8, 8, (rows, K), dtype=torch.int8))
        self.register_buffer("scales", (torch.rand(rows, K // G) * 0.02 + 0.005).to(dtype))
        self.register_buffer("zeros", torch.randint(-4, 4, (rows, K // G)).to(dtype))
        self.register_buffer("nibbles", torch.randint(0, 256, (rows, K // 2), dtype=torch.uint8))
        self.bias = nn.Parameter(torch.randn(rows))

    def group(self, zeros=None, dtype=torch.float32):
        return q.dequantize_per_channel_group(self.fours, self.scales, zeros, -8, 7, torch.int8, G, dtype)

    def unpacked(self):
        pair = torch.stack([self.nibbles & 15, self.nibbles >> 4], -1)
        return pair.view(-1, K).to(torch.int8) - 8


class Linear(Weights):
    """Linear layers in float32."""

    def forward(self, x):
        linear = nn.functional.linear
        grouped = self.unpacked().view(-1, K // G, G).to(x.dtype) * self.scales[..., None]
        affine = torch.ops.torchao.dequantize_affine.default
        return (
            linear(x, q.dequantize_per_channel(self.bytes, self.row_scales, self.row_zeros, 0, -128, 127, torch.int8), self.bias),
            linear(x, q.dequantize_per_tensor(self.nibbles.repeat(1, 2), 0.013, 121, 0, 255, torch.uint8), self.bias),
            linear(x, self.group()),
            linear(x, self.group(self.zeros), self.bias),
            linear(x, grouped.view(-1, K)),
            linear(x, self.bytes.to(x.dtype)) * self.row_scales,
            linear(x, affine(self.fours, [1, G], self.scales, None, torch.int8, -8, 7)),
            linear(x, affine(self.bytes, [1, K], self.row_scales, self.row_zeros, torch.int8)),
            x @ q.dequantize_per_channel(self.bytes, self.row_scales, self.row_zeros, 0, -128, 127, torch.int8).t(),
            x @ q.dequantize_per_channel(self.bytes.t().contiguous(), self.row_scales, self.row_zeros, 1, -128, 127, torch.int8),
            linear(x, (self.fours.view(-1, K // G, G) * self.scales[..., None] + self.row_scales[0] * self.zeros[..., None]).view(-1, K)),
        )


class Dynamic(Weights):
    """Activations that are quantized when they are known."""

    def forward(self, x):
        scale, zero = q.choose_qparams_per_token_asymmetric(x, torch.int8)
        steps = q.quantize_per_token(x, scale, zero, -128, 127, torch.int8)
        token = q.dequantize_per_token(steps, scale, zero, -128, 127, torch.int8, torch.float32)
        scale, zero = q.choose_qparams.tensor(x, -128, 127, 1.1920928955078125e-07, torch.int8)
        steps = q.quantize_per_tensor.tensor(x, scale, zero, -128, 127, torch.int8)
        tensor = q.dequantize_per_tensor.tensor(steps, scale, zero, -128, 127, torch.int8)
        scale, zero = torch.ops.torchao.choose_qparams_affine.default(x, "ASYMMETRIC", [1, K], torch.int8, -128, 127, 1e-6)
        steps = torch.ops.torchao.quantize_affine.default(x, [1, K], scale, zero, torch.int8, -128, 127)
        affine = torch.ops.torchao.dequantize_affine.default(steps, [1, K], scale, zero, torch.int8)
        linear = nn.functional.linear
        weight = torch.ops.torchao.dequantize_affine.default(self.fours, [1, G], self.scales, None, torch.int8, -8, 7)
        return linear(token, self.group(), self.bias), linear(tensor, self.group()), linear(affine, weight)


class Bytes(Weights):
    """More forms of such activations: symmetric, of three dimensions, unsigned, shared by layers, beside bytes of PT2E."""

    def forward(self, x):
        linear = nn.functional.linear
        channels = q.dequantize_per_channel(self.bytes, self.row_scales, self.row_zeros, 0, -128, 127, torch.int8)
        twice = torch.stack([x, x * 0.5 - 1], 1)
        scale, zero = q.choose_qparams_per_token(twice, torch.int8)
        steps = q.quantize_per_token(twice, scale, zero, -128, 127, torch.int8)
        token = q.dequantize_per_token(steps, scale, zero, -128, 127, torch.int8, torch.float32)
        scale, zero = q.choose_qparams_symmetric.tensor(x, -127, 127, 1.1920928955078125e-07, torch.int8)
        steps = q.quantize_per_tensor.tensor(x, scale, zero, -127, 127, torch.int8)
        tensor = q.dequantize_per_tensor.tensor(steps, scale, zero, -127, 127, torch.int8)
        scale, zero = q.choose_qparams.tensor(x, 0, 255, 1.1920928955078125e-07, torch.uint8)
        steps = q.quantize_per_tensor.tensor(x, scale, zero, 0, 255, torch.uint8)
        unsigned = q.dequantize_per_tensor.tensor(steps, scale, zero, 0, 255, torch.uint8)
        plain = torch.round(x * 10).clamp(-128, 127).to(torch.int8)
        return (
            linear(token, channels, self.bias),
            linear(token, self.group(self.zeros)),
            linear(tensor, channels),
            linear(unsigned, self.group(), self.bias),
            unsigned @ channels.t(),
            linear((plain.float() - 3) * 0.1, self.group()),
            linear(plain * (x.abs().amax(-1, keepdim=True) / 8), channels),
        )


class Torchao(Weights):
    """As torchao writes 8da4w (zero points of floats) and int8 by int8, also in bfloat16."""

    def forward(self, x):
        linear, half = nn.functional.linear, x.bfloat16()
        scale, zero = (each.float() for each in q.choose_qparams_per_token_asymmetric(x, torch.int8))
        steps = q.quantize_per_token(x, scale, zero, -128, 127, torch.int8)
        token = q.dequantize_per_token(steps, scale, zero, -128, 127, torch.int8, torch.float32)
        weight = torch.ops.torchao.dequantize_affine.default(self.fours, [1, G], self.scales, None, torch.int8, -8, 7)
        affine = torch.ops.torchao.choose_qparams_affine.default(x, "SYMMETRIC", [1, K], torch.int8, -127, 127, 1e-5)
        steps = torch.ops.torchao.quantize_affine.default(x, [1, K], *affine, torch.int8, -127, 127)
        sums = torch._int_mm(steps, self.bytes.t())
        scale, zero = q.choose_qparams_per_token_asymmetric(half, torch.int8)
        steps = q.quantize_per_token(half, scale, zero, -128, 127, torch.int8)
        rows = q.dequantize_per_token(steps, scale, zero, -128, 127, torch.int8, torch.float32)
        return linear(token, weight), sums, sums.float() * affine[0][:, None] * self.row_scales + self.bias, linear(rows, weight)


class DynQuant(Weights):
    """torch's own product of bytes and weights of 4 bits, of torch 2.7 and later."""

    def __init__(self):
        super().__init__()
        pack = torch.ops.aten._dyn_quant_pack_4bit_weight
        self.register_buffer("groups", pack(self.nibbles, self.scales.clone(), None, G, K, N))

    def forward(self, x):
        channels = torch.ops.aten._dyn_quant_pack_4bit_weight(self.nibbles, self.row_scales, None, K, K, N)
        product = torch.ops.aten._dyn_quant_matmul_4bit
        return product(x, self.groups, G, K, N), product(x, channels, K, K, N)


class Half(Weights):
    """Scales and activations of bfloat16, and torch's own packed products."""

    def __init__(self):
        super().__init__(64, torch.bfloat16)
        self.row_scales.data = self.row_scales.bfloat16()
        scales = torch.stack([self.scales.t(), (torch.randn(K // G, 64) * 0.02).bfloat16()], -1).contiguous()
        self.register_buffer("scales_and_zeros", scales)
        nibbles = torch.randint(0, 16, (64, K), dtype=torch.int32)
        self.register_buffer("packed", torch.ops.aten._convert_weight_to_int4pack_for_cpu(nibbles, 1))

    def forward(self, x):
        return (
            nn.functional.linear(x, self.group(None, torch.bfloat16)),
            torch.ops.aten._weight_int8pack_mm(x, self.bytes, self.row_scales),
            torch.ops.aten._weight_int4pack_mm_for_cpu(x, self.packed, G, self.scales_and_zeros),
        )


class Embedding(Weights):
    """Rows of packed weights, one table shared with a linear layer."""

    def forward(self, i):
        table = q.dequantize_per_channel(self.bytes, self.row_scales, self.row_zeros, 0, -128, 127, torch.int8)
        x = nn.functional.embedding(i, table)
        return (
            nn.functional.linear(x, table),
            q.embedding_byte(self.fours, self.scales, None, -8, 7, i),
            q.embedding_4bit(self.nibbles, self.scales, None, -8, 7, i),
        )


class Firmware(nn.Module):
    """Weights of 4 bits for microcontrollers: behind bytes with constant parameters, with a scale per row and per group, and behind floats."""

    def __init__(self):
        super().__init__()
        for name, rows, depth, groups in (("first", 32, 64, 1), ("second", 64, 32, 1), ("third", 21, 64, 2), ("head", 11, 64, 2), ("last", 10, 22, 1)):
            self.register_buffer(f"{name}_weight", torch.randint(-8, 8, (rows, depth), dtype=torch.int8))
            self.register_buffer(f"{name}_scales", torch.rand(rows, groups).squeeze(1) * 0.02 + 0.005)
            self.register_buffer(f"{name}_bias", torch.randn(rows) * 0.1)
        self.register_buffer("no_zeros", torch.zeros(64, dtype=torch.int64))
        self.register_buffer("head_zeros", torch.randint(-4, 4, (11, 2)).float())

    def linear(self, x, name, zeros=None):
        weight, scales = getattr(self, f"{name}_weight"), getattr(self, f"{name}_scales")
        if scales.dim() == 1:
            weight = q.dequantize_per_channel(weight, scales, self.no_zeros[: len(scales)], 0, -8, 7, torch.int8)
        else:
            weight = q.dequantize_per_channel_group(weight, scales, zeros, -8, 7, torch.int8, 32, torch.float32)
        return nn.functional.linear(x, weight, getattr(self, f"{name}_bias"))

    def bytes(self, x, scale, zero, dtype=torch.int8):
        low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        return q.dequantize_per_tensor(q.quantize_per_tensor(x, scale, zero, low, high, dtype), scale, zero, low, high, dtype)

    def forward(self, x):
        x = self.bytes(x, 0.021, 3)
        x = self.bytes(torch.relu(self.linear(x, "first")), 0.013, -128)
        x = self.bytes(self.linear(x, "second"), 0.011, -7)
        third = self.bytes(self.linear(x, "third"), 0.019, 11)
        head = torch.tanh(self.linear(torch.tanh(x), "head", self.head_zeros))
        return third, self.linear(x, "head"), self.linear(torch.cat([head, -head], -1), "last")


CASES = {
    "packed_linear": lambda n: regenerate.record(n, Linear(), [((torch.randn(k, K),), {}) for k in (3, 1, 20)], {"x": {0: torch.export.Dim("n", min=1, max=64)}}, decompose=False),
    "packed_dynamic": lambda n: regenerate.record(n, Dynamic(), [((torch.randn(3, K),), {})], decompose=False),
    "packed_bytes": lambda n: regenerate.record(n, Bytes(), [((torch.randn(k, K) * 3 + 1,), {}) for k in (3, 1, 20)], {"x": {0: torch.export.Dim("n", min=1, max=64)}}, decompose=False),
    "packed_bytes_core": lambda n: regenerate.record(n, Bytes(), [((torch.randn(2, K),), {})]),
    "packed_torchao": lambda n: regenerate.record(n, Torchao(), [((torch.randn(3, K) * 2,), {})], decompose=False),
    "packed_dyn_quant": lambda n: regenerate.record(n, DynQuant(), [((torch.randn(3, K) * 2 - 1,), {})], decompose=False),
    "packed_bfloat16": lambda n: regenerate.record(n, Half(), [((torch.randn(2, K).bfloat16(),), {})], decompose=False, rtol=2e-2, atol=2e-2),
    "packed_firmware": lambda n: regenerate.record(n, Firmware(), [((torch.randn(2, 64),), {}) for _ in range(3)], decompose=False),
    "packed_embedding": lambda n: regenerate.record(n, Embedding(), [((torch.randint(0, N, (2, 3)),), {})], decompose=False),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        torch.manual_seed(0)
        CASES[name](name)
