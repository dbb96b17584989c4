# SPDX-License-Identifier: MIT
"""Sessions with state."""

import ctypes
import pathlib
import signal
import tempfile
import threading
import time
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

    def test_unstrided_values(self):
        """A buffer without strides, as ctypes gives it, is row-major."""
        session = self.model.session()
        keys = session.state["keys"]
        wanted = numpy.arange(keys.size, dtype=numpy.float32)
        with self.assertRaisesRegex(davit.Error, "state 'keys': "):
            session.state["keys"] = (ctypes.c_float * 3)()
        kind = ctypes.c_float
        for size in reversed(keys.shape):
            kind = kind * size
        array = kind()
        numpy.asarray(array)[...] = wanted.reshape(keys.shape)
        session.state["keys"] = array
        numpy.testing.assert_array_equal(session.state["keys"].ravel(), wanted)

    def test_fork(self):
        """A fork goes on from the state; neither sees the other's runs, resets and values."""
        session = self.model.session()
        self.check(session, 0)
        fork = session.fork()
        self.check(fork, 1)
        self.check(fork, 2)
        self.check(session, 1)
        kept = fork.save_state()
        again = fork.fork()
        again.state["keys"] = numpy.zeros_like(again.state["keys"])
        self.assertEqual(fork.save_state(), kept)
        self.assertNotEqual(again.save_state(), kept)
        again = fork.fork()
        again.reset()
        self.check(again, 0)
        self.assertEqual(fork.save_state(), kept)

    def test_rewind(self):
        session = self.model.session()
        for i in range(len(self.runs)):
            self.check(session, i)
        session.rewind("position", 1)
        for i in range(1, len(self.runs)):
            self.check(session, i)
        for name, length, code in (
            ("nothing", 0, "not_found"),
            ("keys", 0, "invalid_dtype"),
            ("position", 99, "out_of_range"),
            ("position", -1, "out_of_range"),
        ):
            with self.assertRaises(davit.Error) as raised:
                session.rewind(name, length)
            self.assertEqual(raised.exception.code, code)

    def test_timeout(self):
        """A run that takes longer ends; the state is as before."""
        session = self.model.session()
        self.assertIsNone(session.timeout)
        self.check(session, 0)
        before = session.save_state()
        session.timeout = 1e-9
        for each in (session, session.fork()):
            self.assertEqual(each.timeout, 1e-9)
            with self.assertRaises(davit.Error) as raised:
                each(*self.runs[1][0])
            self.assertEqual(raised.exception.code, "cancelled")
            self.assertEqual(each.save_state(), before)
        session.timeout = 1000
        self.check(session, 1)
        session.timeout = None
        self.check(session, 2)
        for wrong in (0, -1, float("nan"), float("inf")):
            with self.assertRaisesRegex(davit.Error, "timeout: it is no time"):
                session.timeout = wrong

    def long_run(self):
        """A session that runs for minutes in a thread: (session, thread, errors)."""
        session = davit.load(recorded.program("loop")).session(cancellable=True).fork()
        errors = []

        def work():
            try:
                session(numpy.array(1 << 40), numpy.zeros(3, numpy.float32))
            except davit.Error as error:
                errors.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return session, thread, errors

    def test_cancel(self):
        session, thread, errors = self.long_run()
        end = time.monotonic() + 20
        while thread.is_alive() and time.monotonic() < end:
            session.cancel()
            thread.join(0.01)
        self.assertEqual([error.code for error in errors], ["cancelled"])
        session.cancel()  # no call runs: it does nothing
        with self.assertRaisesRegex(davit.Error, r"make it by model.session\(cancellable=True\)"):
            self.model.session().cancel()
        ((inputs, outputs), *_) = recorded.runs("loop")
        numpy.testing.assert_allclose(recorded.leaves(session(*inputs))[0], outputs[0], rtol=1e-4, atol=1e-5)

    def test_interrupted_wait(self):
        """Ctrl-C ends a wait for a session that another thread runs."""
        session, thread, errors = self.long_run()
        time.sleep(0.05)
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        rescue = threading.Timer(10, session.cancel)
        for each in timer, rescue:
            each.start()
        with self.assertRaises(KeyboardInterrupt):
            session.save_state()
        self.assertTrue(thread.is_alive(), "the run of the other thread goes on")
        rescue.cancel()
        while thread.is_alive():
            session.cancel()
            thread.join(0.01)

    def test_weights(self):
        """The tensors of a saved state, or of a package, replace those of their names."""
        session = self.model.session()
        self.check(session, 0)
        state = session.save_state()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "state.davit"
            path.write_bytes(state)
            for weights in state, path, str(path):
                model = davit.load(recorded.program("cache"), weights=weights)
                self.check(model, 1)
        with self.assertRaises(davit.Error) as raised:
            davit.load(recorded.program("digits_cnn_b1"), weights=state)
        self.assertEqual((raised.exception.code, raised.exception.place), ("not_found", "weights"))
        with self.assertRaisesRegex(davit.Error, "the package contains its weights"):
            davit.load(self.model.save(), weights=state)
        with self.assertRaises(davit.Error):
            davit.load(recorded.program("cache"), weights=b"nothing")

    def test_repr(self):
        self.assertEqual(repr(self.model.session()), f"davit.Session({self.model.signature})")

    def test_model(self):
        """Calls of the model itself go on from each other."""
        for i in range(len(self.runs)):
            self.check(self.model, i)


if __name__ == "__main__":
    unittest.main()
