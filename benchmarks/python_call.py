#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The overhead of a call from Python over the C++ session's run: medians of interleaved batches in one process, of the
thread's CPU time; and the cost of copies, which outputs are.

python_call.py MODEL.pt2...: `davit` must be importable. `--most MICROSECONDS`: fails if an overhead is larger."""

import argparse
import statistics
import time

import numpy

import davit


def batch(work, count):
    """Microseconds of this thread's CPU time for one of `count` calls."""
    start = time.thread_time_ns()
    work(count)
    return (time.thread_time_ns() - start) / count / 1000


def calls(call, arguments):
    def work(count):
        for _ in range(count):
            call(*arguments)

    return work


def overhead(path):
    """Medians of interleaved batches: (C++ run, call of the model, call of a session's method)."""
    model = davit.load(path)
    arguments = model.example_inputs()
    method = model.session().method(model.methods[0])
    values = method._flat(tuple(arguments))
    works = [lambda count: method._repeat(values, count), calls(model, arguments), calls(method, arguments)]
    for work in works:
        work(3)
    count = max(20, min(2000, int(3000 / batch(works[1], 20))))
    rows = [[batch(work, count) for work in works] for _ in range(41)]
    return [statistics.median(column) for column in zip(*rows)]


def copy(megabytes):
    """Microseconds of a copy into a new array."""
    numbers = numpy.ones(int(megabytes * (1 << 18)), numpy.float32)
    return statistics.median(batch(calls(numbers.copy, ()), 10) for _ in range(11))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+")
    parser.add_argument("--most", type=float, default=float("inf"))
    arguments = parser.parse_args()
    worst = 0.0
    print("| model | C++ run, us | model(x), us | session method, us | overhead, us |")
    print("| --- | --- | --- | --- | --- |")
    for path in arguments.models:
        run, call, method = overhead(path)
        worst = max(worst, call - run)
        print(f"| {path} | {run:.2f} | {call:.2f} | {method:.2f} | {call - run:.2f} |")
    for megabytes in (0.001, 1, 16):
        print(f"a copy of {megabytes} MB into a new array: {copy(megabytes):.1f} us")
    if worst > arguments.most:
        raise SystemExit(f"an overhead of {worst:.2f} us is more than {arguments.most:g} us")


if __name__ == "__main__":
    main()
