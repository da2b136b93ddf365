"""bench vclock --quick: runs, and its figures are possible. Counts per I/O have generous limits, so that a lost optimisation shows."""
# SPDX-License-Identifier: BSD-3-Clause
import importlib.util
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem  # noqa: E402

MISSING = device_problem("HARTZONE_FIRMWARE", "HARTZONE_LOCKBENCH", "HARTZONE_PLUGIN", "HARTZONE_DRIVER")


@unittest.skipIf(MISSING, MISSING)
class Vclock(unittest.TestCase):
    def test_quick(self):
        with tempfile.TemporaryDirectory(prefix="hz-bench-") as folder:
            run = subprocess.run([sys.executable, str(TOP / "bench/vclock/bench.py"), "--quick", "--workers", "4", "--out", folder],
                                 capture_output=True, text=True)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            figures = json.loads((pathlib.Path(folder) / "bench.json").read_text())
        self.assertGreater(figures["hand_overs"], 1000)
        self.assertGreater(figures["hand_over_ns"], 0)
        self.assertGreater(figures["futex_hand_over_ns"], 0)
        for mips in figures["mips"].values(): # none where the host is too busy to tell
            self.assertTrue(mips is None or mips > 0, figures["mips"])
        read = next(r for r in figures["io"] if r["operation"] == "random read")
        self.assertGreaterEqual(read["ios"], 400)
        self.assertAlmostEqual(sum(read["switches_by_cause"].values()), read["switches_per_io"], delta=0.1)
        data = read["switches_by_cause"]["data"]  # of data that are not in a hart's cache, the default costs
        self.assertLess(data, 24)
        self.assertLess(read["switches_per_io"] - data, 12)
        self.assertLess(read["host_per_io"]["hand_overs"] - data, 12)
        self.assertLess(read["orders_per_io"], 65)
        self.assertGreaterEqual(read["host_per_io"]["bulk_bytes"], 2 * 4096) # copied to the host, and its checksum


@unittest.skipIf(MISSING, MISSING)
class Slope(unittest.TestCase):
    """Seconds per turn from runs whose time is 0.1 s, a nanosecond per turn, and noise."""

    def setUp(self):
        spec = importlib.util.spec_from_file_location("vclock_bench", TOP / "bench/vclock/bench.py")
        self.bench = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.bench)
        self.random = random.Random(1)

    def measured(self, noise_s):
        return lambda count: (count, 0.1 + count * 1e-9 + self.random.uniform(0, noise_s))

    def test_quiet(self):
        turns, seconds = self.bench.slope(self.measured(0), 1_000_000, 11_000_000)
        self.assertAlmostEqual(seconds / turns, 1e-9, delta=1e-12)

    def test_the_long_run_grows_until_it_stands_out(self):
        turns, seconds = self.bench.slope(self.measured(0.004), 1_000_000, 11_000_000)
        self.assertGreater(turns, 40_000_000)
        self.assertAlmostEqual(seconds / turns, 1e-9, delta=2e-10)

    def test_nothing_is_better_than_a_wrong_number(self):
        for _ in range(100):
            self.assertIsNone(self.bench.slope(self.measured(100), 1_000_000, 11_000_000))


if __name__ == "__main__":
    unittest.main(verbosity=2)
