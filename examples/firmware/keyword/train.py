#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains the keyword spotter on synthetic words and writes keyword_int8.pt2 (int8, PT2E) and recorded.bin beside this file.

    python3 train.py [--steps N] [--folder FOLDER]

Needs PyTorch 2.6, and a compiler ($CXX) for microphone.cpp or the compiled program ($MICROPHONE). recorded.bin contains
PyTorch's scores for the first 1,000 frames of the boards' stream. A formant synthesizer makes the words
(microphone.hpp): the accuracy says nothing about people's speech.
"""
import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
from torch import nn
from torch.ao.quantization.quantize_pt2e import convert_pt2e, prepare_pt2e
from torch.ao.quantization.quantizer import FixedQParamsQuantizationSpec, QuantizationAnnotation, Quantizer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "../../data"))
from small_file import save  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
RATE, HOP, FRAME, BANDS, HIDDEN, LABELS = 16000, 320, 512, 32, 48, 5
TEST_SEED, TEST_WORDS = 1, 100  # as in main.cpp
quantized = torch.ops.quantized_decomposed

# Scale and zero point of values in [-1, 1], probabilities, gates before their activation, and scores; scale of the weights.
# With powers of two PyTorch's sums are exact. Sums of gates are never half way between two bytes, because biases are odd
# multiples of BIAS / 2. So every machine rounds in the same way, and states do not drift apart. 1 / 255 has the same effect
# for products. Only the float32 features may differ in a bit.
UNIT, PROBABILITY, GATE, SCORE = (1 / 128, 0), (1 / 255, -128), (1 / 32, 0), (1 / 4, 0)
WEIGHT = 1 / 32
BIAS = WEIGHT * UNIT[0]


class Features(nn.Module):
    """Computes the logarithms of mel band energies. The Fourier transform of 512 = 32 x 16 samples is two matrix products.

    Of n = 16 a + b and k = c + 32 d: X[k] = sum_b exp(-2 pi i (b c / 512 + b d / 16)) sum_a x[n] exp(-2 pi i a c / 32).
    c goes to 16 only: the other half of the spectrum mirrors it.
    """

    def __init__(self):
        super().__init__()
        a, b, c, d = torch.arange(32.0), torch.arange(16.0), torch.arange(17.0), torch.arange(16.0)
        turn = lambda x: (torch.cos(2 * math.pi * x), torch.sin(2 * math.pi * x))
        constant = lambda name, value: self.register_buffer(name, value.float().contiguous())
        constant("window", torch.hann_window(FRAME) / 32768)
        cos, sin = turn(torch.outer(c, a) / 32)
        constant("first_real", cos), constant("first_imaginary", -sin)
        cos, sin = turn(torch.outer(c, b) / 512)
        constant("turn_cos", cos), constant("turn_sin", sin)
        cos, sin = turn(torch.outer(d, b) / 16)
        constant("second_real", torch.cat([cos, sin], 1)), constant("second_imaginary", torch.cat([-sin, cos], 1))
        constant("bands", self.mel((c[:, None] + 32 * d).flatten()))
        constant("mean", torch.zeros(BANDS))

    def mel(self, bins):
        bins = torch.where(bins > FRAME / 2, torch.where(bins % 16 == 0, torch.zeros(()), FRAME - bins), bins)
        mel = lambda hertz: 1127 * torch.log1p(hertz / 700)
        edges = torch.linspace(float(mel(torch.tensor(60.0))), float(mel(torch.tensor(7600.0))), BANDS + 2)
        at = mel(bins * RATE / FRAME)
        rise = (at - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
        fall = (edges[2:, None] - at) / (edges[2:] - edges[1:-1])[:, None]
        return torch.minimum(rise, fall).clamp(min=0)

    def energies(self, samples):
        x = (samples * self.window).unflatten(-1, (32, 16))
        real, imaginary = self.first_real @ x, self.first_imaginary @ x
        x = torch.cat([real * self.turn_cos + imaginary * self.turn_sin, imaginary * self.turn_cos - real * self.turn_sin], -1)
        real, imaginary = nn.functional.linear(x, self.second_real), nn.functional.linear(x, self.second_imaginary)
        power = (real * real + imaginary * imaginary).flatten(-2)
        return torch.log(nn.functional.linear(power, self.bands) + 1e-5)

    def forward(self, samples):
        return (self.energies(samples) - self.mean) * 0.125


def rounded(x, numbers):
    return torch.fake_quantize_per_tensor_affine(x, *numbers, -128, 127)


class Cell(nn.Module):
    """A gated recurrent unit as in Cho et al. (2014), and a score per label."""

    def __init__(self):
        super().__init__()
        self.keep, self.reset, self.new = (nn.Linear(BANDS + HIDDEN, HIDDEN) for _ in range(3))
        self.score = nn.Linear(HIDDEN, LABELS)
        self.round = rounded  # during training: imitates the int8 program

    def linear(self, layer, x):
        return nn.functional.linear(x, self.round(layer.weight, (WEIGHT, 0)), layer.bias)

    def step(self, x, h):
        q = self.round
        both = torch.cat([x, h], 1)
        keep, reset = q(self.linear(self.keep, both), GATE), q(torch.sigmoid(q(self.linear(self.reset, both), GATE)), PROBABILITY)
        new = q(torch.tanh(q(self.linear(self.new, torch.cat([x, q(reset * h, UNIT)], 1)), GATE)), UNIT)
        kept = q(q(torch.sigmoid(keep), PROBABILITY) * h, UNIT)
        return q(kept + q(q(torch.sigmoid(q(-keep, GATE)), PROBABILITY) * new, UNIT), UNIT)

    def scores(self, h):
        return self.round(self.linear(self.score, h), GATE)  # scores from -4 to 4 suffice

    def forward(self, x, h):
        h = self.step(x, h)
        return self.scores(h), h

    @torch.no_grad()
    def finish(self):
        """Removes the rounding, which the int8 program does."""
        self.round = lambda x, numbers: x
        for layer in (self.keep, self.reset, self.new, self.score):
            layer.bias.copy_((torch.floor(layer.bias / BIAS) + 0.5) * BIAS)


class Spotter(nn.Module):
    """Takes a frame of 320 samples and returns a score per label. Buffers keep the past."""

    def __init__(self, features, cell):
        super().__init__()
        self.features, self.cell = features, cell
        self.register_buffer("past", torch.zeros(FRAME - HOP, dtype=torch.int16))
        self.register_buffer("state", torch.zeros(1, HIDDEN))

    def forward(self, frame):
        samples = torch.cat([self.past, frame])
        self.past.copy_(samples[HOP:])
        scores, state = self.cell(self.features(samples.to(torch.float32)).unsqueeze(0), self.state)
        self.state.copy_(state)
        return scores


class CellQuantizer(Quantizer):
    """Quantizes to int8 with the scales of the training; the features stay float32."""

    def annotate(self, model):
        aten = torch.ops.aten
        fixed = lambda numbers: FixedQParamsQuantizationSpec(torch.int8, *numbers, quant_min=-128, quant_max=127)
        of = {aten.linear.default: GATE, aten.neg.default: GATE, aten.sigmoid.default: PROBABILITY}
        last = [n for n in model.graph.nodes if n.target is aten.linear.default][-1]
        mine = [n for n in model.graph.nodes if any(path.endswith("cell") for path, _ in n.meta.get("nn_module_stack", {}).values())]
        numbers = {n: SCORE if n is last else of.get(n.target, UNIT) for n in mine}
        for node in mine:
            if node.op != "call_function":
                continue
            tensors = node.args[0] if node.target is aten.cat.default else node.args[:2]
            inputs = {a: fixed(numbers.get(a, UNIT)) for a in tensors if isinstance(a, torch.fx.Node)}
            if node.target is aten.linear.default:
                inputs[node.args[1]] = fixed((WEIGHT, 0))
            node.meta["quantization_annotation"] = QuantizationAnnotation(inputs, fixed(numbers[node]), _annotated=True)
        return model

    def validate(self, model):
        pass


def bytes_in_state_and_out(module):
    """Stores the cell's state as int8, and returns int8 scores."""
    graph = module.graph
    copy = next(n for n in graph.nodes if n.target is torch.ops.aten.copy_.default and n.args[0].target == "state")
    copy.replace_input_with(copy.args[1], copy.args[1].args[0])
    # convert_pt2e made the quantized initial state a constant
    sizes = {name: tensor.shape for name, tensor in module.named_buffers()}
    folded = [n for n in graph.nodes if n.op == "get_attr" and n is not copy.args[0] and sizes.get(n.target) == (1, HIDDEN)]
    assert folded
    for node in folded:
        node.target = "state"
    output = next(n for n in graph.nodes if n.op == "output")
    (scores,) = output.args[0] if isinstance(output.args[0], (tuple, list)) else (output.args[0],)
    output.replace_input_with(scores, scores.args[0])
    graph.eliminate_dead_code()
    module.register_buffer("state", torch.zeros(1, HIDDEN, dtype=torch.int8))
    module.recompile()


def hear(seed, count, seconds):
    """Returns samples (count, seconds * RATE) and, for each row, words as (label, begin, end)."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.environ.get("MICROPHONE")
        if not program:
            program = f"{folder}/microphone"
            subprocess.run([os.environ.get("CXX", "g++"), "-std=c++23", "-O2", HERE / "microphone.cpp", "-o", program], check=True)
        subprocess.run([program, str(seed), str(count), str(seconds), f"{folder}/heard"], check=True)
        data = pathlib.Path(f"{folder}/heard").read_bytes()
    samples = numpy.frombuffer(data, numpy.int16, count * seconds * RATE).reshape(count, -1)
    rest, words = numpy.frombuffer(data, numpy.int32, offset=samples.nbytes), []
    for _ in range(count):
        words.append(rest[1 : 1 + 3 * rest[0]].reshape(-1, 3))
        rest = rest[1 + 3 * rest[0] :]
    return samples, words


def targets(words, frames):
    """Returns a label per frame: the keyword for 320 ms after its end, -100 (ignored) shortly before and after."""
    label = torch.zeros(frames, dtype=torch.long)
    time = (torch.arange(frames) + 1) * HOP / RATE
    for which, _, end in words:
        if which:
            since = time - end / RATE
            label[(since > -0.1) & (since < 0.5)] = -100
            label[(since >= 0) & (since <= 0.32)] = int(which)
    return label


def train(features, cell, steps):
    streams, seconds, length = 64, 100, 100
    frames = seconds * RATE // HOP
    samples, words = hear(1000, streams, seconds)
    x = torch.zeros(streams, frames, BANDS)
    for i in range(streams):
        padded = torch.from_numpy(numpy.concatenate([numpy.zeros(FRAME - HOP, numpy.int16), samples[i]])).float()
        x[i] = features.energies(padded.unfold(0, FRAME, HOP))
    features.mean.copy_(x.mean((0, 1)))
    x = rounded((x - features.mean) * 0.125, UNIT)
    y = torch.stack([targets(w, frames) for w in words])
    optimizer = torch.optim.Adam(cell.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    h, total = torch.zeros(streams, HIDDEN), 0.0
    for step in range(steps):
        at = step * length % frames
        if at == 0:
            order = torch.randperm(streams)
            x, y, h = x[order], y[order], torch.zeros(streams, HIDDEN)
        h, states = h.detach(), []
        for t in range(at, at + length):
            h = cell.step(x[:, t], h)
            states.append(h)
        loss = nn.functional.cross_entropy(cell.scores(torch.stack(states, 1)).flatten(0, 1), y[:, at : at + length].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(cell.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += loss.item()
        if step % 50 == 49:
            print(f"step {step + 1} of {steps}, loss {total / 50:.4f}", flush=True)
            total = 0.0


def quantize(spotter):
    frame = torch.zeros(HOP, dtype=torch.int16)
    prepared = prepare_pt2e(torch.export.export_for_training(spotter, (frame,)).module(), CellQuantizer())
    prepared(frame)
    converted = convert_pt2e(prepared)
    bytes_in_state_and_out(converted)
    converted.past.zero_()
    return torch.export.export(converted, (frame,)).run_decompositions()


class Decision:
    """Decides as the firmware does (spotter.hpp): smooths scores, returns a label when a score exceeds the threshold."""

    def __init__(self):
        self.margin, self.silent = [0] * LABELS, 0

    def label(self, scores):
        for i in range(1, LABELS):
            self.margin[i] += (scores[i] - scores[0]) - (self.margin[i] >> 2)
        best = max(range(1, LABELS), key=lambda i: self.margin[i])
        if self.silent:
            self.silent -= 1
        elif self.margin[best] > 0:
            self.silent = 25
            return best
        return 0


def test(program, seed, count):
    """Returns the scores of all frames up to the end of `count` words, and the number of correct answers."""
    samples, (words,) = hear(seed, 1, 2 * count)
    words = words[: count + 1]
    module, decision, scores = program.module(), Decision(), []
    answers = [[] for _ in words]
    for at in range(0, words[count][1] - HOP + 1, HOP):
        scores.append(module(torch.from_numpy(samples[0, at : at + HOP].copy()))[0])
        label = decision.label(scores[-1].tolist())
        if label:
            answers[max(0, numpy.searchsorted(words[:, 1], at + HOP, "right") - 1)].append(label)
    right = sum(a == ([w[0]] if w[0] else []) for w, a in zip(words[:count], answers))
    return torch.stack(scores), right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--folder", type=pathlib.Path, default=HERE)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    features, cell = Features(), Cell()
    train(features, cell, options.steps)
    cell.finish()
    with torch.no_grad():
        program = quantize(Spotter(features, cell).eval())
        save(program, options.folder / "keyword_int8.pt2")
        scores, right = test(torch.export.load(options.folder / "keyword_int8.pt2"), TEST_SEED, TEST_WORDS)
        scores[:1000].numpy().tofile(options.folder / "recorded.bin")
        print(f"{right} of {TEST_WORDS} words of the boards' stream right")
        more = [test(torch.export.load(options.folder / "keyword_int8.pt2"), seed, 200)[1] for seed in (2, 3, 4, 5, 6)]
        print(f"{sum(more)} of {200 * len(more)} of others")


if __name__ == "__main__":
    main()
