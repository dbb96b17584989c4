# SPDX-License-Identifier: MIT
"""Decodes in ONNX Runtime for the driver of the benchmark, with the protocol of decode.cpp.

  ort_decoder.py DECODER.onnx LOGITS.npy THREADS

Caches are bound twice, so that a step reads one set and writes the other: nothing is copied but by the model.
"""
import sys
import time

import numpy
import onnxruntime

model, y, threads = sys.argv[1:]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(threads)
options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
recorded = numpy.load(y)
value = onnxruntime.OrtValue.ortvalue_from_numpy
token, position = numpy.zeros((1, 1), numpy.int64), numpy.zeros(1, numpy.int64)
logits = value(numpy.zeros(recorded.shape[1:], numpy.float32)[None])
caches = [arg for arg in session.get_inputs() if arg.name.startswith("cache")]
sets = [[value(numpy.zeros(arg.shape, numpy.float32)) for arg in caches] for _ in range(2)]
bound = []
for old, new in ((0, 1), (1, 0)):
    binding = session.io_binding()
    binding.bind_ortvalue_input("token", value(token))
    binding.bind_ortvalue_input("position", value(position))
    binding.bind_ortvalue_output("logits", logits)
    for arg, before, after in zip(caches, sets[old], sets[new]):
        binding.bind_ortvalue_input(arg.name, before)
        binding.bind_ortvalue_output(f"new_{arg.name}", after)
    bound.append(binding)
run, now, steps = session._sess.run_with_iobinding, time.perf_counter_ns, 0


def step(i):
    global steps
    token[0, 0], position[0] = (3 * i + 1) % 4096, i % 1024  # bound values view these arrays
    run(bound[steps % 2]._iobinding, None)
    steps += 1


gap = 0.0
for i, expected in enumerate(recorded):
    step(i)
    gap = max(gap, float(numpy.abs(logits.numpy()[0] - expected).max() / numpy.abs(expected).max()))
if not gap <= 1e-4:
    print(f"failed the logits differ from the recorded ones by {gap}", flush=True)
    sys.exit(1)
print(f"ready gap={gap:g} version={onnxruntime.__version__}", flush=True)
for line in sys.stdin:
    _, count, warm = line.split()
    times = []
    for i in range(int(count) + int(warm)):
        began = now()
        step(steps)
        times.append(now() - began)
    print("ns", *times[int(warm):], flush=True)
