# SPDX-License-Identifier: MIT
"""compare(): where a model first differs."""

import unittest

import numpy
import recorded

import davit


class Compare(unittest.TestCase):
    def test_equal(self):
        for name in ("digits_cnn_b1", "recurrent", "nested_io", "cache", "bfloat16", "branches", "loop"):
            found = davit.compare(None, recorded.program(name), backends=davit.backends(), rtol=1e-2, atol=1e-2)
            self.assertTrue(found, f"{name}: {found}")
            self.assertTrue(found.values, name)
            self.assertIn("nothing differs", str(found))

    def test_small_partitions(self):
        found = davit.compare(
            None, recorded.program("recurrent"), backends=["portable", "portable_2"], partitioner="alternate"
        )
        self.assertTrue(found)
        self.assertGreater(len({value.partition for value in found.values}), 2)

    def test_other_weights(self):
        """A package of other weights differs, and the first value that does is named with its source line."""
        one = davit.load(recorded.program("digits_mlp_b1"))
        inputs = one.example_inputs()
        other = recorded.program("digits_cnn_b1")
        found = davit.compare(one, recorded.program("digits_mlp_b1"))
        self.assertTrue(found)
        callable_model = lambda x: one(x) + numpy.float32(0.5)  # noqa: E731
        found = davit.compare(callable_model, recorded.program("digits_mlp_b1"), inputs)
        self.assertFalse(found)
        self.assertTrue(found.first.name.startswith("output "))
        self.assertIn("differs by 0.5", str(found))
        self.assertIn("<table>", found._repr_html_())
        self.assertTrue(other.exists())

    def test_gaps(self):
        gap = davit._compare._gap
        nan, inf = numpy.float32("nan"), numpy.float32("inf")
        self.assertFalse(gap(nan, nan, 0, 0)[2])
        self.assertTrue(gap(nan, numpy.float32(1), 1, 1)[2])
        self.assertFalse(gap(inf, inf, 0, 0)[2])
        self.assertTrue(gap(inf, -inf, 1, 1)[2])
        self.assertTrue(gap(numpy.int64(1) << 60, (numpy.int64(1) << 60) + 1, 0, 0)[2])
        self.assertEqual(gap(numpy.zeros(3), numpy.zeros(2), 0, 0)[3], "float64[3], and not float64[2]")
        self.assertTrue(gap("a", "b", 0, 0)[2])

    def test_errors(self):
        with self.assertRaisesRegex(davit.Error, "is no exported program"):
            davit.compare(None, 3)


if __name__ == "__main__":
    unittest.main()
