# SPDX-License-Identifier: MIT
"""A session as in a notebook: load a recorded export, look at it, run it, lower it for a list of backends, compare."""

import pathlib
import tempfile

import numpy
import recorded

import davit

# %% load
model = davit.load(recorded.program("digits_cnn_b1"))
print(model)
for port in model.inputs + model.outputs:
    print(" ", port)

# %% run
(image,) = model.example_inputs()
scores = model(image)
print("digit", scores.argmax())

# %% beside what PyTorch recorded
((recorded_image,), (recorded_scores,)) = next(recorded.runs("digits_cnn_b1"))
numpy.testing.assert_allclose(model(recorded_image), recorded_scores, rtol=1e-4, atol=1e-5)

# %% lower, save, load
with tempfile.TemporaryDirectory() as folder:
    package = pathlib.Path(folder) / "digits.davit"
    lowered = davit.lower(recorded.program("digits_cnn_b1"), backends=davit.backends())
    print(lowered.report)
    lowered.save(package)
    numpy.testing.assert_allclose(davit.load(package)(image), scores, rtol=1e-4, atol=1e-5)

# %% where does it first differ?
found = davit.compare(None, recorded.program("digits_cnn_b1"), backends=davit.backends())
print(found)
assert found and "<table>" in found._repr_html_()

# %% a planted difference is found
found = davit.compare(lambda x: model(x) + 1, recorded.program("digits_cnn_b1"))
print(found)
assert not found
