"""bench fabrics --quick: runs, and its figures are possible. How fast this host is, is not looked at."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from bench_test import TOP
from hztest.needs import device_problem

MISSING = device_problem("HARTZONE_FIRMWARE", "HARTZONE_PLUGIN", "HARTZONE_DRIVER", "HARTZONE_BENCH_FABRICS")
TARGETS = ["memory", "device, virtual clock", "device, real clock"]


@unittest.skipIf(MISSING, MISSING)
class Fabrics(unittest.TestCase):
    def test_quick(self):
        with tempfile.TemporaryDirectory(prefix="hz-bench-") as folder:
            run = subprocess.run([sys.executable, str(TOP / "bench/fabrics/bench.py"), "--quick", "--depth", "8", "--device", "small-legacy", "--out", folder],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            figures = json.loads((pathlib.Path(folder) / "bench.json").read_text())
        self.assertEqual(list(figures["targets"]), TARGETS)
        for name, of in figures["targets"].items():
            self.assertEqual(of["depth"], 8)
            self.assertGreater(of["reads"], 8)
            self.assertAlmostEqual(of["reads_per_s"], of["reads"] / of["wall_s"], delta=1)
            self.assertLessEqual(of["p50_us"], of["p99_us"])
            self.assertGreater(of["p50_us"] * of["reads_per_s"], 1e5, "eight are under way")
            self.assertEqual("device_cpu_us_per_read" in of, name != "memory")
            self.assertGreater(of["target_cpu_us_per_read"], 0)
        self.assertRegex(run.stdout, r"goal for 20,000 a second: memory [\d.]+, device, virtual clock [\d.]+, device, real clock [\d.]+")

    def test_what_the_program_says(self):
        program = os.environ["HARTZONE_BENCH_FABRICS"]
        for words, code, sentence in (([], 2, "usage: "), (["1", "nqn.x", "1", "1"], 1, "cannot connect to port 1")):
            run = subprocess.run([program, *words], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, code)
            self.assertIn(sentence, run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
