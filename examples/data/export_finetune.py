#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes digits_finetune.pt2: the joint graph of the trained digits network, whose last layer alone gets gradients, for 8 images.

    python3 export_finetune.py [FOLDER]

Needs PyTorch 2.6. The outputs are the loss and the scores.
"""
import io
import pathlib
import sys
import zipfile

import torch
from torch import nn
from torch.export import export_for_training
from torch.export.experimental import _export_forward_backward

data = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)


class WithLoss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, images, labels):
        scores = self.model(images)
        return nn.functional.cross_entropy(scores, labels), scores.detach()


model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 10),
)  # fmt: skip
model.load_state_dict(torch.export.load(data / "digits_cnn.pt2").state_dict)
for layer in model[:-1]:
    layer.requires_grad_(False)
batch = (torch.zeros(8, 1, 8, 8), torch.zeros(8, dtype=torch.int64))
program = export_for_training(WithLoss(model.eval()), batch).run_decompositions({})
joint = _export_forward_backward(program, joint_loss_index=0)
joint._example_inputs = None
for node in joint.graph.nodes:
    node.meta.pop("stack_trace", None)
plain = io.BytesIO()
torch.export.save(joint, plain)
with zipfile.ZipFile(plain) as source, zipfile.ZipFile(data / "digits_finetune.pt2", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
    for entry in source.infolist():
        target.writestr(zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0)), source.read(entry), zipfile.ZIP_DEFLATED, 9)
