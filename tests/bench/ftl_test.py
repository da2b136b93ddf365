"""bench ftl: the baseline holds, the figures are repeatable and add up, and regressions are named.
"""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from bench_test import MISSING, TOP


def bench(folder, *arguments):
    command = [sys.executable, str(TOP / "bench/ftl/bench.py"), "--out", folder, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    file = pathlib.Path(folder) / "bench.json"
    return run, json.loads(file.read_text())["operations"] if file.exists() else None


@unittest.skipIf(MISSING, MISSING)
class Ftl(unittest.TestCase):
    def test_baseline_and_regression(self):
        with tempfile.TemporaryDirectory(prefix="hz-bench-") as folder:
            first, figures = bench(os.path.join(folder, "a"))
            self.assertEqual(first.returncode, 0, first.stdout + first.stderr)
            for name, row in figures.items():
                for parts in ("stages", "harts", "functions"):
                    self.assertAlmostEqual(sum(row[parts].values()), row["total"], delta=1, msg=f"{name}, {parts}")
            cheaper = {name: {"total": row["total"] / 1.06, "stages": {**row["stages"], "FTL": 0}} for name, row in figures.items()}
            baseline = pathlib.Path(folder) / "baseline.json"
            baseline.write_text(json.dumps({"operations": cheaper}))
            second, again = bench(os.path.join(folder, "b"), "--baseline", str(baseline), "--only", "RAM")
        self.assertEqual(again, {name: row for name, row in figures.items() if "RAM" in name})
        self.assertEqual(second.returncode, 1, second.stdout)
        self.assertIn("6.0 % more than the baseline", second.stderr)
        self.assertIn("most of it in FTL (", second.stderr)


    def test_wrong_choices_are_one_sentence(self):
        for words, said in ((["--only", "erase"], "'erase' is in no name of: read, map in RAM;"), (["--only", "RAM", "--update"], "leave out --only")):
            run = subprocess.run([sys.executable, str(TOP / "bench/ftl/bench.py"), *words], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 2)
            self.assertIn(said, run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
