# SPDX-License-Identifier: MIT
"""Sessions with state."""

import pathlib
import tempfile
import unittest

import numpy
import recorded

import davit


class State(unittest.TestCase):
    def setUp(self):
        self.model = davit.load(recorded.program("cache"))
        self.runs = list(recorded.runs("cache"))

    def check(self, call, i):
        inputs, outputs = self.runs[i]
        numpy.testing.assert_allclose(call(*inputs), outputs[0], rtol=1e-4, atol=1e-5)

    def test_sessions(self):
        """Sessions of a model have state of their own; reset begins again."""
        one, two = self.model.session(), self.model.session()
        for i in range(len(self.runs)):
            self.check(one, i)
        self.check(two, 0)
        one.reset()
        for i in range(len(self.runs)):
            self.check(one, i)

    def test_buffers(self):
        """state[name] is a copy; to assign is to write."""
        session = self.model.session()
        self.check(session, 0)
        kept = dict(session.state)
        self.assertEqual(sorted(kept), ["keys", "position", "values"])
        self.check(session, 1)
        self.assertFalse(all(numpy.array_equal(session.state[name], kept[name]) for name in kept))
        session.state.update(kept)
        for name, value in kept.items():
            numpy.testing.assert_array_equal(session.state[name], value)
        self.check(session, 1)
        with self.assertRaises(KeyError):
            session.state["nothing"]
        with self.assertRaisesRegex(davit.Error, "there is no buffer 'nothing'; there are: "):
            session.state["nothing"] = kept["keys"]
        with self.assertRaisesRegex(davit.Error, "state 'keys': .* pass an array float32"):
            session.state["keys"] = numpy.zeros(3)
        with self.assertRaises(TypeError):
            del session.state["keys"]

    def test_checkpoints(self):
        session = self.model.session()
        self.check(session, 0)
        self.check(session, 1)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "state"
            session.save_state(path)
            self.assertEqual(path.read_bytes(), session.save_state())
            other = davit.load(recorded.program("cache"), backends=davit.backends()).session()
            other.load_state(path)
        self.check(other, 2)
        again = self.model.session()
        again.load_state(session.save_state())
        self.check(again, 2)
        before = again.save_state()
        with self.assertRaises(davit.Error) as raised:
            again.load_state(b"nothing")
        self.assertEqual(again.save_state(), before)

    def test_model(self):
        """Calls of the model itself go on from each other."""
        for i in range(len(self.runs)):
            self.check(self.model, i)


if __name__ == "__main__":
    unittest.main()
