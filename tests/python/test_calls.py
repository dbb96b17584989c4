# SPDX-License-Identifier: MIT
"""Loading and calling models: arguments, results, errors, threads."""

import copy
import ctypes
import gc
import json
import os
import pathlib
import sys
import tempfile
import threading
import unittest
import weakref

import numpy
import recorded

import davit


def bits(value):
    return numpy.asarray(value)


class Calls(unittest.TestCase):
    def test_recorded_cases(self):
        """Every recorded case gives torch's numbers, from the file and from its package."""
        for folder in sorted(recorded.cases.iterdir()):
            case = json.loads((folder / "case.json").read_text())
            if case["check"] != "close":
                continue
            loaded = davit.load(folder / "program.pt2", backends=davit.backends())
            for model in loaded, davit.load(loaded.save()):
                method = model.method(model.methods[0])
                session = model.session().method(method.name)
                for inputs, outputs in recorded.runs(folder.name):
                    names = [port.name for port in method.inputs]
                    arguments = self.nested(method, inputs) if model is loaded else inputs
                    made = recorded.leaves(session(*arguments))
                    self.assertEqual(len(made), len(outputs), (folder.name, names))
                    for port, one, other in zip(method.outputs, made, outputs):
                        with self.subTest(case=folder.name, output=port.name):
                            self.same(one, other, case["rtol"], case["atol"])

    def nested(self, method, inputs):
        """The recorded inputs, which are leaves, as arguments of the export's form."""
        specification = method._specification()
        if specification is None:  # the case was written by hand
            return inputs
        return davit._pytree.nested_arguments(davit._pytree.tree_of(specification[0]), inputs)

    def same(self, one, other, rtol, atol):
        if not isinstance(other, numpy.ndarray):
            return self.assertEqual((one, type(one)), (other, type(other)))
        if isinstance(one, davit.Tensor) and one.dtype == "bfloat16":
            one, other = (numpy.asarray(each).astype(numpy.uint32) << 16 for each in (one, other))
            one, other = one.view(numpy.float32), other.view(numpy.float32)
        self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
        numpy.testing.assert_allclose(one, other, rtol=rtol, atol=atol, equal_nan=True)

    def test_layouts(self):
        """Strided arrays are read in place; negative strides, odd addresses and read-only arrays too."""
        model = davit.load(recorded.program("digits_cnn_b1"))
        ((image,), (scores,)) = next(recorded.runs("digits_cnn_b1"))
        wide = numpy.zeros((1, 1, 8, 24), numpy.float32)
        wide[..., ::3] = image
        odd = numpy.frombuffer(b"\0" + image.tobytes(), numpy.uint8)[1:].view(numpy.float32).reshape(image.shape)
        reverse = image[..., ::-1].copy()[..., ::-1]
        fixed = image.copy()
        fixed.flags.writeable = False
        view = memoryview(image)
        for each in (wide[..., ::3], odd, reverse, fixed, view, numpy.asfortranarray(image)):
            numpy.testing.assert_allclose(model(each), scores, rtol=1e-4, atol=1e-5)
        swapped = image.astype(">f4")
        with self.assertRaises(davit.Error) as raised:
            model(swapped)
        self.assertIn("byte order", raised.exception.fix)

    def test_dlpack(self):
        """An object with __dlpack__ alone is read without a copy, and released."""
        model = davit.load(recorded.program("digits_cnn_b1"))
        ((image,), (scores,)) = next(recorded.runs("digits_cnn_b1"))

        class Holder:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **kwargs):
                return self.array.__dlpack__()

        image = image.copy()
        before = sys.getrefcount(image)
        numpy.testing.assert_allclose(model(Holder(image)), scores, rtol=1e-4, atol=1e-5)
        self.assertEqual(sys.getrefcount(image), before)

        class Gpu:
            def __dlpack__(self, **kwargs):
                raise BufferError("on a GPU")

        with self.assertRaises(BufferError):
            model(Gpu())
        numpy.testing.assert_allclose(model(image), scores, rtol=1e-4, atol=1e-5)

    def test_results_are_the_callers(self):
        """A result does not change with later calls, outlives the model, and keeps no memory of the session."""
        model = davit.load(recorded.program("dynamic_batch"))
        (first, *rest) = list(recorded.runs("dynamic_batch"))
        made = model(*first[0])
        kept = made.copy()
        for inputs, _ in rest:
            model(*inputs)
        made += 1
        del model
        gc.collect()
        numpy.testing.assert_array_equal(made, kept + 1)

    def test_references(self):
        """Calls, also those that fail, hold no argument afterwards, and leak none."""
        model = davit.load(recorded.program("digits_cnn_b1"))
        ((image,), _) = next(recorded.runs("digits_cnn_b1"))
        image, wrong = image.copy(), numpy.zeros((2, 2), numpy.float32)
        references = sys.getrefcount(image), sys.getrefcount(wrong)
        for _ in range(20):
            model(image)
            for arguments in ((wrong,), (image, image), (image, object())):
                with self.assertRaises(davit.Error):
                    model(*arguments)
        del arguments
        self.assertEqual((sys.getrefcount(image), sys.getrefcount(wrong)), references)
        result = weakref.ref(model(image))
        gc.collect()
        self.assertIsNone(result())

    def test_written_inputs(self):
        """A method that writes to an input writes to the caller's array, and refuses one that it cannot write."""
        model = davit.load(recorded.program("changes_input"))
        inputs, outputs = next(recorded.runs("changes_input"))
        before = [each.copy() for each in inputs]
        model(*inputs)
        changed = [i for i in range(len(inputs)) if not numpy.array_equal(inputs[i], before[i])]
        self.assertEqual(len(changed), 1)
        for each in (before[changed[0]][::-1].copy()[::-1], before[changed[0]].copy()):
            each.flags.writeable = each.strides[0] < 0
            arguments = list(before)
            arguments[changed[0]] = each
            with self.assertRaises(davit.Error) as raised:
                model(*arguments)
            self.assertEqual(raised.exception.code, "invalid_argument")
            self.assertIn("writes to this input", str(raised.exception))

    def test_nested(self):
        model = davit.load(recorded.program("nested_io"))
        x, pair, scale, extras = model.example_inputs()
        made = model(x, pair, scale=scale, extras=extras)
        self.assertEqual(list(made), ["sum", "rest"])
        self.assertIsInstance(made["rest"], list)
        self.assertIsInstance(made["rest"][1], tuple)
        again = model(pair=pair, extras=dict(reversed(extras.items())), x=x, scale=scale)
        numpy.testing.assert_array_equal(made["sum"], again["sum"])
        for arguments, names, text in (
            ((x, pair), {"scale": scale}, "argument 'extras': it is missing"),
            ((x, pair[:1]), {"scale": scale, "extras": extras}, "'pair': the model was exported with 2 values"),
            ((x, pair), {"scale": scale, "extras": {"u": x}}, "pass a dict with the keys u, v"),
            ((x, pair), {"x": x, "scale": scale, "extras": extras}, "argument 'x': it is passed twice"),
            ((x, pair), {"y": x}, "'y': the method takes none of this name; it takes: x, pair, scale, extras"),
        ):
            with self.assertRaisesRegex(davit.Error, text):
                model(*arguments, **names)

    def test_plain_values(self):
        """Numbers, bools and texts, also numpy's; inputs that the export fixed may be left out."""
        model = davit.load(recorded.program("primitive_inputs"))
        x, n, f, flag, mode = model.example_inputs()
        wanted = model(x, n, f, flag, mode)
        others = model(x, n, numpy.float64(f), numpy.bool_(flag))
        for made in (model(x), model(x, n=numpy.int64(n)), others, model(x, mode=mode)):
            numpy.testing.assert_array_equal(made, wanted)
        with self.assertRaises(davit.Error):
            model(x, 1 << 70)
        with self.assertRaises(davit.Error):
            model(x, n + 1)
        fixed = [port for port in model.inputs if port.is_fixed]
        self.assertEqual([port.constant for port in fixed], [n, f, flag, mode])

    def test_outputs(self):
        """Several values are a tuple with names."""
        model = davit.load(recorded.program("bfloat16"))
        made = model(*model.example_inputs())
        self.assertIsInstance(made, tuple)
        for port, value in zip(model.outputs, made):
            self.assertIs(made[port.name], value)
            self.assertIs(getattr(made, port.name), value)
        with self.assertRaises(KeyError):
            made["nothing"]
        with self.assertRaises(AttributeError):
            made.nothing

    def test_bfloat16(self):
        """numpy has no bfloat16: a Tensor shows the bits, and __dlpack__ the dtype."""
        model = davit.load(recorded.program("bfloat16"))
        made = recorded.leaves(model(*model.example_inputs()))[0]
        self.assertEqual((type(made), made.dtype), (davit.Tensor, "bfloat16"))
        self.assertEqual(numpy.asarray(made).dtype, numpy.uint16)
        self.assertEqual(made.__dlpack_device__(), (1, 0))
        capsule = made.__dlpack__()
        self.assertIn("dltensor", repr(capsule))
        del capsule, made
        gc.collect()

    def test_lent_outputs(self):
        """A session lends its memory; while an output lives, the session refuses to run."""
        session = davit.load(recorded.program("digits_cnn_b1")).session()
        ((image,), (scores,)) = next(recorded.runs("digits_cnn_b1"))
        lent = session.lend(image)
        array = numpy.asarray(lent)
        numpy.testing.assert_allclose(array, scores, rtol=1e-4, atol=1e-5)
        self.assertFalse(array.flags.writeable)
        del lent
        for use in (lambda: session(image), session.reset):
            with self.assertRaisesRegex(davit.Error, "still in use"):
                use()
        del array
        session(image)
        aliases = davit.load(recorded.program("outputs_alias_inputs")).session()
        inputs, outputs = next(recorded.runs("outputs_alias_inputs"))
        made = recorded.leaves(aliases.lend(*inputs))
        self.assertTrue(any(isinstance(each, numpy.ndarray) for each in made), "views of arguments are copied")

    def test_errors(self):
        model = davit.load(recorded.program("digits_cnn_b1"))
        with self.assertRaises(davit.Error) as raised:
            model(numpy.zeros((1, 1, 8, 9), numpy.float32))
        error = raised.exception
        self.assertEqual((error.code, error.stage), ("invalid_shape", "execute"))
        self.assertIn("input", error.place)
        self.assertIn("[1, 1, 8, 8]", error.fix)
        for source, code in (("nothing.pt2", "io_error"), (b"PK", "corrupt_data"), (b"", "corrupt_data")):
            with self.assertRaises(davit.Error) as raised:
                davit.load(source)
            self.assertEqual(raised.exception.code, code, source)
        with self.assertRaisesRegex(davit.Error, "backends: there is no backend 'gpu'") as raised:
            davit.load(recorded.program("seed"), backends=["gpu", "portable"])
        with self.assertRaisesRegex(davit.Error, "partitioner: there is no partitioner 'best'"):
            davit.load(recorded.program("seed"), partitioner="best")
        with self.assertRaises(TypeError):
            davit.load(3)
        with self.assertRaisesRegex(davit.Error, "nothing"):
            model.method("nothing")
        with self.assertRaises(AttributeError):
            model.nothing
        self.assertIsInstance(error, RuntimeError)

    def test_source_line(self):
        """An error within the model has the model's source line."""
        model = davit.load(recorded.program("places"))
        table, indices = model.example_inputs()
        with self.assertRaises(davit.Error) as raised:
            model(table, indices + 100)
        self.assertEqual(raised.exception.code, "out_of_range")
        self.assertRegex(raised.exception.source, r'File ".*", line \d+')
        self.assertIn("HERE", str(raised.exception))

    def test_packages(self):
        model = davit.lower(recorded.program("digits_cnn_b1"), davit.backends())
        self.assertIn("partitions", model.report)
        ((image,), (scores,)) = next(recorded.runs("digits_cnn_b1"))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "digits.davit"
            model.save(path)
            self.assertEqual(path.read_bytes(), model.save())
            numpy.testing.assert_array_equal(davit.load(path)(image), model(image))
            used = {backend for _, backend in model.forward.partitions}
            davit.load(path, backends=list(used))
            with self.assertRaises(davit.Error) as raised:
                davit.load(path, backends=["portable_2"])
            self.assertEqual(raised.exception.code, "not_available")
            with self.assertRaises(davit.Error):
                davit.load(path, partitioner="all")

    def test_methods(self):
        """Several methods share the state of a session."""
        model = davit.load({"one": recorded.program("cache"), "two": recorded.program("cache")})
        self.assertEqual(model.methods, ["one", "two"])
        runs = list(recorded.runs("cache"))
        session = model.session()
        one, two = session.method("one"), session.method("two")
        for i, (inputs, outputs) in enumerate(runs):
            numpy.testing.assert_allclose((one, two)[i % 2](*inputs), outputs[0], rtol=1e-4, atol=1e-5)
        with self.assertRaisesRegex(davit.Error, "forward"):
            model(*runs[0][0])

    def test_threads(self):
        """One model, called from several threads; with state, calls follow each other."""
        model = davit.load(recorded.program("digits_cnn_b1"))
        ((image,), _) = next(recorded.runs("digits_cnn_b1"))
        images = [image + i for i in range(4)]
        wanted = [model(each) for each in images]
        stateful = davit.load(recorded.program("cache"))
        token = next(recorded.runs("cache"))[0][0]
        failed = []

        def work(i):
            try:
                for _ in range(200):
                    numpy.testing.assert_array_equal(model(images[i]), wanted[i])
                    try:
                        stateful(token)
                    except davit.Error:  # the cache is full
                        pass
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    def test_call_within_a_call(self):
        """Arguments are read before a session is held: one that calls the session runs first."""
        runs = list(recorded.runs("cache"))
        model = davit.load(recorded.program("cache"))
        made = []

        class Nested:
            def __dlpack__(self, **kwargs):
                made.append(model(*runs[0][0]))
                return runs[1][0][0].__dlpack__()

        made.append(model(Nested()))
        for one, (_, outputs) in zip(made, runs):
            numpy.testing.assert_allclose(one, outputs[0], rtol=1e-4, atol=1e-5)

    def test_crossing_calls(self):
        """Two sessions that are called from each other's arguments, in two threads, do not wait for each other."""
        token = next(recorded.runs("cache"))[0][0]
        sessions = [davit.load(recorded.program("cache")).session() for _ in range(2)]
        both = threading.Barrier(2)
        made = []

        class Crossing:
            def __init__(self, other):
                self.other = other

            def __dlpack__(self, **kwargs):
                both.wait(10)
                self.other(token)
                return token.__dlpack__()

        def work(i):
            made.append(sessions[i](Crossing(sessions[1 - i])))

        threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        self.assertEqual(len(made), 2, "the threads wait for each other")

    def test_buffers_without_strides(self):
        """ctypes gives a buffer no strides: it is row-major."""
        model = davit.load(recorded.program("digits_cnn_b1"))
        ((image,), (scores,)) = next(recorded.runs("digits_cnn_b1"))
        array = (((ctypes.c_float * 8) * 8) * 1 * 1)()
        numpy.asarray(array)[...] = image
        numpy.testing.assert_allclose(model(array), scores, rtol=1e-4, atol=1e-5)
        with self.assertRaises(davit.Error) as raised:
            model((ctypes.c_float * 64)())
        self.assertEqual(raised.exception.code, "invalid_shape")

    def test_capsules(self):
        """What __dlpack__ returns, other than a capsule of a tensor, is an error of davit."""
        model = davit.load(recorded.program("digits_cnn_b1"))
        ((image,), _) = next(recorded.runs("digits_cnn_b1"))
        used = image.__dlpack__()
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        versioned, nameless = new(1, b"dltensor_versioned", None), new(1, None, None)

        class Holder:
            def __init__(self, made):
                self.made = made

            def __dlpack__(self, **kwargs):
                return self.made

        model(Holder(used))
        for made, text in (
            (used, "a capsule 'used_dltensor'"),
            (versioned, "a capsule 'dltensor_versioned'"),
            (nameless, "a capsule ''"),
            (None, "an object of type 'NoneType'"),
            (image, "an object of type 'numpy.ndarray'"),
        ):
            with self.assertRaisesRegex(davit.Error, f"input 'input': __dlpack__ returned {text}"):
                model(Holder(made))

    def test_no_empty_objects(self):
        """Classes that only davit makes objects of refuse to be called, and copies."""
        model = davit.load(recorded.program("bfloat16"))
        tensor = recorded.leaves(model(*model.example_inputs()))[0]
        for each in (model, model.forward, model.session(), tensor):
            made = type(each)
            below = type("Below", (made,), {})
            for make in (
                made,
                below,
                lambda: made.__new__(made),
                lambda: below.__new__(below),
                lambda: made.__mro__[1].__new__(made),
                lambda: made.__mro__[1].__new__(below),
                lambda: object.__new__(made),
                lambda: copy.copy(each),
            ):
                with self.assertRaises(TypeError):
                    make()

    def test_wrong_options(self):
        seed, state = recorded.program("seed"), davit.load(recorded.program("cache")).session()
        for names, text in (
            ({"threads": 0}, "threads: 0 is no number of threads"),
            ({"threads": -1}, "threads: -1 is no"),
            ({"threads": 1025}, "pass 1 to 1024"),
            ({"backends": []}, "backends: it names none"),
            ({"backends": ""}, "backends: it names none"),
            ({"backends": ["\ud800"]}, "backends: the text contains half of a surrogate pair"),
            ({"partitioner": "config:a\0b"}, "partitioner: it contains a NUL"),
        ):
            for use in davit.load, davit.lower:
                with self.assertRaisesRegex(davit.Error, text):
                    use(seed, **names)
        with self.assertRaises(TypeError) as raised:
            davit.load(seed, threads="2")
        self.assertNotIn("invoked with", str(raised.exception).lower())
        with self.assertRaisesRegex(davit.Error, "no backend 'gpu'") as raised:
            davit.load(seed, backends="gpu")
        self.assertEqual(raised.exception.fix, "this package was built with: " + ", ".join(davit.backends()))
        with self.assertRaisesRegex(TypeError, "the name of a method is a str, not int: 1"):
            davit.load({1: seed})
        with self.assertRaisesRegex(davit.Error, "the dict has no method"):
            davit.load({})
        half = "\ud800"
        model = davit.load(seed)
        plain = davit.load(recorded.program("primitive_inputs"))
        arguments = plain.example_inputs()
        for use in (
            lambda: davit.load({half: seed}),
            lambda: model.method(half),
            lambda: model.session().method(half),
            lambda: davit.load(model.save())(**{half: 1}),
            lambda: plain(*arguments[:-1], half),
            lambda: state.state.update({half: 1}),
            lambda: state.rewind(half, 0),
        ):
            with self.assertRaisesRegex(davit.Error, "half of a surrogate pair"):
                use()
        with self.assertRaisesRegex(TypeError, "the name of a buffer is a str, not int"):
            state.state[1] = 1

    def test_paths(self):
        model = davit.load(recorded.program("seed"))
        with tempfile.TemporaryDirectory() as folder:
            for path in (folder + "/a\0b", (folder + "/a\0b").encode(), folder + "/\ud800"):
                uses = [model.save, model.session().save_state]
                if isinstance(path, str):  # bytes are a file's content
                    uses += [model.session().load_state, davit.load]
                for use in uses:
                    with self.assertRaises(davit.Error) as raised:
                        use(path)
                    self.assertEqual((raised.exception.code, raised.exception.place), ("invalid_argument", "path"))
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])
            path = pathlib.Path(folder, os.fsdecode(b"\xff.davit"))
            model.save(path)
            self.assertEqual(davit.load(path).save(), model.save())
        with self.assertRaises(TypeError):
            model.save(3)

    def test_package_without_methods(self):
        state = davit.load(recorded.program("cache")).session().save_state()
        with self.assertRaisesRegex(davit.Error, "it holds tensors and no method: a file of weights, or a saved state"):
            davit.load(state)


if __name__ == "__main__":
    unittest.main()
