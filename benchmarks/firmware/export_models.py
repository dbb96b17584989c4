#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports int8 programs with the shapes of TensorFlow Lite Micro's reference models, and layers with weights of 8 and 4 bits; seeded random
weights.

    python3 export_models.py [FOLDER]

Needs PyTorch 2.6. For each of hello_world, micro_speech, person_detect, linear_int8, linear_int4, linear_int4_g128 and linear_int4_g32
(groups of that size): NAME.pt2 (quantized by PT2E, int8 in and out)
and NAME_inputs.npy, NAME_outputs.npy: three runs, as PyTorch computes them.
"""
import pathlib
import sys

import numpy
import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch import nn
from torch.ao.quantization.observer import MinMaxObserver, PerChannelMinMaxObserver
from torch.ao.quantization.quantize_pt2e import convert_pt2e, prepare_pt2e
from torch.ao.quantization.quantizer import (
    FixedQParamsQuantizationSpec,
    QuantizationAnnotation,
    QuantizationSpec,
    Quantizer,
    SharedQuantizationSpec,
)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "../../examples/data"))
from small_file import save  # noqa: E402

aten = torch.ops.aten
ACTIVATION = QuantizationSpec(
    torch.int8, MinMaxObserver.with_args(eps=2**-12), quant_min=-128, quant_max=127, qscheme=torch.per_tensor_affine
)
PER_TENSOR = QuantizationSpec(
    torch.int8, MinMaxObserver.with_args(eps=2**-16), quant_min=-127, quant_max=127, qscheme=torch.per_tensor_symmetric
)
PER_CHANNEL = QuantizationSpec(
    torch.int8,
    PerChannelMinMaxObserver.with_args(eps=2**-16),
    quant_min=-127,
    quant_max=127,
    qscheme=torch.per_channel_symmetric,
    ch_axis=0,
)
PROBABILITY = FixedQParamsQuantizationSpec(torch.int8, scale=1 / 256, zero_point=-128, quant_min=-128, quant_max=127)


class MicroQuantizer(Quantizer):
    """The quantization of TensorFlow Lite's converter: convolutions per channel, linear per tensor, softmax to 1/256."""

    def annotate(self, model):
        for node in model.graph.nodes:
            if node.op != "call_function":
                continue
            if node.target in (aten.conv2d.default, aten.linear.default):
                weight = PER_CHANNEL if node.target is aten.conv2d.default else PER_TENSOR
                follower = next(iter(node.users))
                fused = follower.target in (aten.relu.default, aten.hardtanh.default, aten.relu6.default)
                inputs = {node.args[0]: ACTIVATION, node.args[1]: weight}
                self.mark(node, inputs, None if fused else ACTIVATION)
                if fused:
                    self.mark(follower, {}, ACTIVATION)
            elif node.target in (aten.avg_pool2d.default, aten.view.default, aten.reshape.default, aten.flatten.using_ints):
                same = SharedQuantizationSpec((node.args[0], node))
                self.mark(node, {node.args[0]: ACTIVATION}, same)
            elif node.target is aten.softmax.int:
                self.mark(node, {node.args[0]: ACTIVATION}, PROBABILITY)
        return model

    def mark(self, node, inputs, output):
        node.meta["quantization_annotation"] = QuantizationAnnotation(
            input_qspec_map=inputs, output_qspec=output, _annotated=True
        )

    def validate(self, model):
        pass


def hello_world():
    model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
    return model, lambda: torch.rand(1, 1) * 6.2832


class MicroSpeech(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, (10, 8), stride=2, padding=(5, 3))
        self.fc = nn.Linear(4000, 4)

    def forward(self, x):
        x = torch.relu(self.conv(x.view(1, 1, 49, 40)))
        return torch.softmax(self.fc(x.view(1, 4000)), 1)


def micro_speech():
    return MicroSpeech(), lambda: torch.rand(1, 1960) * 26


class PersonDetect(nn.Module):
    """MobileNet v1, width 0.25, 96x96 grey, two classes."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU6()]
        plan = [(8, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2)]
        plan += [(128, 128, 1)] * 5 + [(128, 256, 2), (256, 256, 1)]
        for into, out, stride in plan:
            layers += [nn.Conv2d(into, into, 3, stride=stride, padding=1, groups=into), nn.ReLU6()]
            layers += [nn.Conv2d(into, out, 1), nn.ReLU6()]
        self.features = nn.Sequential(*layers)
        self.logits = nn.Conv2d(256, 2, 1)

    def forward(self, x):
        x = nn.functional.avg_pool2d(self.features(x), 3, stride=2)
        return torch.softmax(self.logits(x).view(1, 2), 1)


def person_detect():
    def sample():
        size = int(torch.randint(3, 48, ()))
        return nn.functional.interpolate(torch.rand(1, 1, size, size) * 2 - 1, (96, 96), mode="bilinear")

    model = PersonDetect()
    normalize(model, torch.cat([sample() for _ in range(16)]))
    return model, sample


@torch.no_grad()
def normalize(model, x):
    """Scales each convolution's channels to a deviation of 1.5 and the logits to 0.75, and subtracts a part of the mean.

    All of it, as a batch norm would, makes an untrained network enlarge every rounding difference.
    """
    for layer in [*model.features, model.logits]:
        if isinstance(layer, nn.Conv2d):
            last = layer is model.logits
            if last:
                x = nn.functional.avg_pool2d(x, 3, stride=2)
            y = nn.functional.conv2d(x, layer.weight, None, layer.stride, layer.padding, 1, layer.groups)
            factor = (0.75 if last else 1.5) / y.std((0, 2, 3)).clamp(min=0.01)
            layer.weight *= factor.view(-1, 1, 1, 1)
            layer.bias.copy_(0.5 - (1 if last else 0.35) * factor * y.mean((0, 2, 3)))
        x = layer(x)


def byte_inputs_and_outputs(module):
    """Removes the quantization of the user input and output from the graph; returns the input's scale and zero point."""
    graph = module.graph
    source = next(n for n in graph.nodes if n.op == "placeholder")
    readers = [n for n in graph.nodes if n.target is torch.ops.quantized_decomposed.quantize_per_tensor.default]
    first = next((n for n in readers if n.args[0] is source), None)
    view = None
    if first is None:  # it follows a view
        view = next(iter(source.users))
        first = next(n for n in readers if n.args[0] is view)
    scale, zero = first.args[1], first.args[2]
    first.replace_all_uses_with(first.args[0])
    graph.erase_node(first)
    if view is not None:
        view.meta.pop("val", None)
    output = next(n for n in graph.nodes if n.op == "output")
    results = output.args[0]
    last = results[0] if isinstance(results, (tuple, list)) else results
    assert last.target is torch.ops.quantized_decomposed.dequantize_per_tensor.default, last
    output.replace_input_with(last, last.args[0])
    graph.erase_node(last)
    graph.eliminate_dead_code()
    module.recompile()
    return scale, zero


def export(name, make, folder):
    torch.manual_seed(20260724)
    model, sample = make()
    model.eval()
    prepared = prepare_pt2e(torch.export.export_for_training(model, (sample(),)).module(), MicroQuantizer())
    for _ in range(32):
        prepared(sample())
    converted = convert_pt2e(prepared)
    scale, zero = byte_inputs_and_outputs(converted)
    inputs = [torch.clamp(torch.round(sample() / scale) + zero, -128, 127).to(torch.int8) for _ in range(3)]
    program = torch.export.export(converted, (inputs[0],)).run_decompositions()
    outputs = [program.module()(x) for x in inputs]
    save(program, folder / f"{name}.pt2")
    numpy.save(folder / f"{name}_inputs.npy", torch.cat(inputs).numpy())
    numpy.save(folder / f"{name}_outputs.npy", torch.cat(outputs).numpy())
    print(name, [y.flatten().tolist() for y in outputs])
    print(program.graph, file=open(folder / f"{name}.txt", "w")) if "--graph" in sys.argv else None


class Layer(nn.Module):
    """A linear layer of bytes, 256 x 256. Its rows overlap, so that the file is small."""

    def __init__(self, bits, groups):
        super().__init__()
        self.low, size = -(2 ** (bits - 1)), 256
        row = torch.randint(self.low, -self.low, (301,), dtype=torch.int8)
        self.register_buffer("weight", torch.stack([row[(i * 7 + torch.arange(size)) % 301] for i in range(size)]))
        self.register_buffer("scales", (torch.rand(size, groups).squeeze(1) + 0.5) * 0.3 / -self.low)
        self.register_buffer("zeros", torch.zeros(size, dtype=torch.int64))
        self.register_buffer("bias", torch.randn(size))

    def forward(self, x):
        q, group = torch.ops.quantized_decomposed, 256 * 256 // self.scales.numel()
        x = q.dequantize_per_tensor(x, 0.02, -3, -128, 127, torch.int8)
        if self.scales.dim() == 1:
            weight = q.dequantize_per_channel(self.weight, self.scales, self.zeros, 0, self.low, -self.low - 1, torch.int8)
        else:
            weight = q.dequantize_per_channel_group(self.weight, self.scales, None, self.low, -self.low - 1, torch.int8, group, torch.float32)
        return q.quantize_per_tensor(nn.functional.linear(x, weight, self.bias), 0.2, 5, -128, 127, torch.int8)


def export_layer(name, bits, groups, folder):
    torch.manual_seed(20261130)
    layer = Layer(bits, groups)
    inputs = [torch.randint(-128, 128, (1, 256), dtype=torch.int8) for _ in range(3)]
    program = torch.export.export(layer, (inputs[0],))
    save(program, folder / f"{name}.pt2")
    numpy.save(folder / f"{name}_inputs.npy", torch.cat(inputs).numpy())
    numpy.save(folder / f"{name}_outputs.npy", torch.cat([layer(x) for x in inputs]).numpy())


if __name__ == "__main__":
    folder = pathlib.Path(next((a for a in sys.argv[1:] if not a.startswith("-")), pathlib.Path(__file__).parent))
    for function in (hello_world, micro_speech, person_detect):
        export(function.__name__, function, folder)
    for name, bits, groups in (("int8", 8, 1), ("int4", 4, 1), ("int4_g128", 4, 2), ("int4_g32", 4, 8)):
        export_layer(f"linear_{name}", bits, groups, folder)
