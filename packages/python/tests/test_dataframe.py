"""Data frames. The tests of a backend need that backend."""

import datetime
import importlib.util
import sys
import unittest
from decimal import Decimal
from unittest import mock

import weir

NOW = 1_790_000_000_123
FILLS = [
    {"coin": "BTC", "px": "60000.10", "sz": "0.1", "time": NOW, "tid": 2**53 + 1, "twapId": None, "crossed": True},
    {"coin": "7", "px": "0.000000000000000001", "sz": "3", "time": NOW + 1, "tid": 1, "twapId": 5, "crossed": False},
]
UTC = datetime.timezone.utc


def lacks(name):
    return unittest.skipIf(importlib.util.find_spec(name) is None, f"{name} is not installed")


def values(frame, name):
    return list(frame[name])


class Common:
    """What both backends do."""

    backend = ""

    def frame(self, rows, **options):
        return weir.to_df(rows, backend=self.backend, **options)

    def test_keeps_prices_exact(self):
        frame = self.frame(FILLS)
        self.assertEqual(values(frame, "px"), [Decimal("60000.10"), Decimal("1e-18")])
        self.assertEqual(frame["sz"].sum(), Decimal("3.1"))

    def test_has_floats_on_request(self):
        self.assertEqual(values(self.frame(FILLS, floats=True), "px"), [60000.1, 1e-18])

    def test_has_times_in_utc(self):
        expected = datetime.datetime.fromtimestamp(NOW // 1000, UTC).replace(microsecond=123_000)
        self.assertEqual(values(self.frame(FILLS), "time")[0], expected)

    def test_keeps_names_and_large_integers(self):
        frame = self.frame(FILLS)
        self.assertEqual(values(frame, "coin"), ["BTC", "7"])
        self.assertEqual(values(frame, "tid"), [2**53 + 1, 1])
        self.assertEqual(values(frame, "crossed"), [True, False])
        self.assertEqual(values(frame, "twapId")[1], 5)

    def test_flattens_objects_and_pairs(self):
        rows = [["0xa", {"px": "1", "delta": {"usdc": "-2.5", "deep": {"n": 3}}}], ["0xb", {"px": "2"}]]
        frame = self.frame(rows)
        self.assertEqual(list(frame.columns), ["user", "px", "delta.usdc", "delta.deep.n"])
        self.assertEqual(values(frame, "user"), ["0xa", "0xb"])
        self.assertEqual(values(frame, "delta.usdc"), [Decimal("-2.5"), None])

    def test_is_empty_without_rows(self):
        self.assertEqual(len(self.frame([])), 0)


@lacks("pandas")
class Pandas(Common, unittest.TestCase):
    backend = "pandas"

    def test_is_the_default(self):
        import pandas

        frame = weir.Answer(FILLS).to_df()
        self.assertIsInstance(frame, pandas.DataFrame)
        types = {name: str(kind) for name, kind in frame.dtypes.items()}
        self.assertEqual(types["tid"], "int64")
        self.assertEqual(types["twapId"], "Int64")
        self.assertTrue(types["time"].endswith(", UTC]"), types)


@lacks("polars")
class Polars(Common, unittest.TestCase):
    backend = "polars"

    def test_has_exact_types(self):
        import polars

        frame = weir.to_df(FILLS, backend="polars")
        self.assertEqual(frame.schema["px"], polars.Decimal(38, 18))
        self.assertEqual(frame.schema["time"], polars.Datetime("ms", "UTC"))
        self.assertEqual(frame.schema["twapId"], polars.Int64)


class Errors(unittest.TestCase):
    def test_names_the_extra_to_install(self):
        with mock.patch("importlib.util.find_spec", return_value=None):
            for backend, extra in ((None, "pandas"), ("pandas", "pandas"), ("polars", "polars")):
                with self.assertRaisesRegex(ImportError, rf"pip install 'weir\[{extra}\]'"):
                    weir.to_df(FILLS, backend=backend)

    def test_rejects_what_has_no_rows(self):
        for rows in ({"levels": []}, "text", [1], [["a", "b"]]):
            with self.assertRaisesRegex(TypeError, "to_df: "):
                weir.to_df(rows)
        with self.assertRaisesRegex(ValueError, "backend: 'spark'"):
            weir.to_df(FILLS, backend="spark")

    def test_importing_the_package_imports_no_backend(self):
        program = "import sys, weir; print([name for name in ('pandas', 'polars', 'numpy') if name in sys.modules])"
        import subprocess

        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(ran.stdout, "[]\n")


if __name__ == "__main__":
    unittest.main()
