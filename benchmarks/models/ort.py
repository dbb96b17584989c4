# SPDX-License-Identifier: MIT
"""Runs a model in ONNX Runtime for the driver of the benchmark, with the protocol of latency.cpp.

  ort.py MODEL.onnx INPUT.npy OUTPUT.npy THREADS spin|sleep

Inputs and outputs are bound once, so that a run copies nothing and makes no arrays. `spin`, its default, lets threads spin
while they wait for work; `sleep` does not, which can be faster where other programs want the CPU.
"""
import sys
import time

import numpy
import onnxruntime

model, x, y, threads, waiting = sys.argv[1:]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(threads)
options.inter_op_num_threads = 1
options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
options.add_session_config_entry("session.intra_op.allow_spinning", "0" if waiting == "sleep" else "1")
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
recorded = numpy.load(y)
given = numpy.load(x)  # bound values view these arrays and do not keep them
made = numpy.zeros_like(recorded)
bound = session.io_binding()
bound.bind_ortvalue_input(session.get_inputs()[0].name, onnxruntime.OrtValue.ortvalue_from_numpy(given))
result = onnxruntime.OrtValue.ortvalue_from_numpy(made)
bound.bind_ortvalue_output(session.get_outputs()[0].name, result)
run, now = session._sess.run_with_iobinding, time.perf_counter_ns  # run_with_iobinding without one Python call
bound = bound._iobinding
run(bound, None)
gap = float(numpy.abs(result.numpy() - recorded).max() / numpy.abs(recorded).max())
if not gap <= 1e-4:
    print(f"failed the output differs from the recorded one by {gap}", flush=True)
    sys.exit(1)
print(f"ready gap={gap:g} version={onnxruntime.__version__}", flush=True)

for line in sys.stdin:
    command, *numbers = line.split()
    if command != "time":
        continue
    count, warm = map(int, numbers)
    for _ in range(warm):
        run(bound, None)
    times = [0] * count
    for i in range(count):
        began = now()
        run(bound, None)
        times[i] = now() - began
    print("ns", *times, flush=True)
