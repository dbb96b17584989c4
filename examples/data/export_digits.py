#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes digits_cnn_b1.pt2 (float32) and digits_cnn_int8.pt2 (PT2E) from digits_cnn.pt2, for one image at a time.

    python3 export_digits.py [FOLDER]

Needs PyTorch 2.6 and scikit-learn. The int8 model is calibrated on images of the UCI digits that are not in images.npy.
"""
import pathlib
import sys

import numpy
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.ao.quantization.quantize_pt2e import convert_pt2e, prepare_pt2e
from torch.ao.quantization.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config

from small_file import save

data = pathlib.Path(next((a for a in sys.argv[1:] if not a.startswith("-")), pathlib.Path(__file__).parent))


def digits_cnn(state):
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip
    model.load_state_dict(state)
    return model.eval()


def accuracy(module, images, labels):
    scores = torch.cat([module(image[None]) for image in images])
    return (scores.argmax(1) == labels).float().mean().item()


torch.manual_seed(0)
state = torch.export.load(data / "digits_cnn.pt2").state_dict
model = digits_cnn(state)
images = torch.from_numpy(numpy.load(data / "images.npy"))
labels = torch.from_numpy(numpy.load(data / "labels.npy"))
held_out = {image.numpy().tobytes() for image in images}
everything = torch.from_numpy(load_digits().images.astype(numpy.float32) / 16).reshape(-1, 1, 8, 8)
calibration = [image for image in everything if image.numpy().tobytes() not in held_out][:256]
example = (images[:1],)

program = torch.export.export(model, example).run_decompositions()
save(program, data / "digits_cnn_b1.pt2")
print("digits_cnn_b1 accuracy", accuracy(program.module(), images, labels))

prepared = prepare_pt2e(
    torch.export.export_for_training(model, example).module(),
    XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True)),
)
for image in calibration:
    prepared(image[None])
program = torch.export.export(convert_pt2e(prepared), example).run_decompositions()
save(program, data / "digits_cnn_int8.pt2")
print(program.graph) if "--graph" in sys.argv else None
numpy.save(data / "digits_cnn_int8_logits.npy", torch.cat([program.module()(image[None]) for image in images[:3]]).numpy())
print("digits_cnn_int8 accuracy", accuracy(program.module(), images, labels), "calibrated on", len(calibration))
