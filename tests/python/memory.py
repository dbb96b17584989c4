# SPDX-License-Identifier: MIT
"""Calls of all kinds, for valgrind; and no memory is lost by 3,000 of them."""

import gc
import resource
import sys

import numpy
import recorded

import davit


def calls(model, bfloat16, session):
    (image,) = model.example_inputs()
    made = model(image)
    method = model.forward
    del model
    gc.collect()
    made += method(image)
    lent = numpy.asarray(session.lend(image))
    try:
        session(image)
    except davit.Error as error:
        assert error.place == "session"
    total = lent.sum()
    del lent
    session(image)
    try:
        method(image[0])
    except davit.Error as error:
        assert error.code == "invalid_shape"
    tensor = davit._pytree.Outputs(bfloat16(*bfloat16.example_inputs()))[0]
    capsule = tensor.__dlpack__()
    view = memoryview(tensor)
    del tensor
    return made.sum() + total + view.nbytes + len(repr(capsule))


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


model = davit.load(recorded.program("digits_cnn_b1"))
bfloat16 = davit.load(recorded.program("bfloat16"))
session = model.session()
state = davit.load(recorded.program("cache")).session()
token = next(recorded.runs("cache"))[0][0]
state(token)
state.load_state(state.save_state())
assert davit.compare(None, recorded.program("seed"))
once = calls(model, bfloat16, session)
if len(sys.argv) > 1:
    for _ in range(200):
        calls(model, bfloat16, session)
    before = resident()
    for _ in range(3000):
        assert calls(model, bfloat16, session) == once
    grown = resident() - before
    print(f"3000 rounds of calls: {grown} bytes more")
    assert grown < 1 << 20
