"""bench scaling --quick: both architectures scale where one global lock does not, and the goals are
compared with the measurements."""
# SPDX-License-Identifier: BSD-3-Clause
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

from bench_test import MISSING, TOP


@unittest.skipIf(MISSING, MISSING)
class Scaling(unittest.TestCase):
    def rows(self, seed):
        with tempfile.TemporaryDirectory(prefix="hz-bench-") as folder:
            run = subprocess.run([sys.executable, str(TOP / "bench/scaling/bench.py"), "--quick", "--workers", "1,4", "--seed", str(seed), "--out", folder],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            return json.loads((pathlib.Path(folder) / "bench.json").read_text())["rows"]

    def test_quick(self):
        """Ratios are means over three seeds, which draw the layout of memory in the caches: one layout moves them by a tenth."""
        every = [self.rows(seed) for seed in (1, 2, 3)]
        rows = every[0]
        times = {(r["firmware"], r["workers"]): statistics.mean(other[i]["times"] for other in every) for i, r in enumerate(rows)}
        self.assertEqual(times["run to completion", 1], 1)
        self.assertGreater(times["run to completion", 4], 3.7, "of 4: nearly every read hits")
        self.assertGreater(times["pipeline", 4], 3.7, "so they do")
        self.assertLess(times["one lock for all", 4], 2.7)
        by_name = {(r["firmware"], r["workers"]): r for r in rows}
        self.assertGreater(by_name["run to completion", 4]["KIOPS"], 1000)
        self.assertGreater(by_name["pipeline", 4]["KIOPS"], 1000)
        for_a_million = by_name["pipeline", 4]["tsu busy"] / (by_name["pipeline", 4]["KIOPS"] / 1000)
        self.assertLess(for_a_million, 6, "channels and dies cost a hart next to nothing")
        self.assertGreater(by_name["pipeline", 4]["hil busy"], 20)
        self.assertGreater(by_name["one lock for all", 4]["spin"], 30)
        self.assertLess(by_name["run to completion", 4]["spin"], 5)


class Goals(unittest.TestCase):
    def test_a_goal_is_judged_by_the_row_of_its_workers(self):
        spec = importlib.util.spec_from_file_location("scaling_bench", TOP / "bench/scaling/bench.py")
        bench = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(bench)
        rows = [{"firmware": name, "workers": n, "KIOPS": k} for name, n, k in (
            ("run to completion", 1, 300), ("run to completion", 12, 3300), ("run to completion", 16, 4900), ("pipeline", 12, 9000))]
        bench.compare(rows[:3])
        self.assertEqual([r["times"] for r in rows[:3]], [1, 11, 4900 / 300])
        self.assertEqual(bench.judged(rows), ["12 workers: 11.0 times, goal 10: reached", "16 workers: 4,900.0 KIOPS, goal 8,000: not reached"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
