"""bench walk: the stages of a write stand in its walk in order, and figures add up."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from bench_test import TOP

sys.path[:0] = [str(TOP / "studies"), str(TOP / "bench" / "walk")]


def bench(folder, *words):
    return subprocess.run([sys.executable, str(TOP / "bench/walk/bench.py"), "--out", folder, *words], capture_output=True, text=True, check=False)


class Walk(unittest.TestCase):
    def test_walks(self):
        with tempfile.TemporaryDirectory(prefix="hz-walk-") as folder:
            run = bench(folder)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            trips = json.loads((pathlib.Path(folder) / "bench.json").read_text())["trips"]
            write = bench(folder, "--layer", "ftl", "--show", "write-unit").stdout
        for name, layers in trips.items():
            for layer, row in layers.items():
                self.assertEqual(row["returns"], row["stays"] - row["files"], f"{name}, {layer}")
            self.assertEqual(layers["all"]["functions"], sum(row["functions"] for layer, row in layers.items() if layer != "all"), name)
        self.assertGreater(trips["map-miss"]["ftl"]["functions"], trips["map-hit"]["ftl"]["functions"])
        self.assertEqual(trips["read-buffered"]["tsu"]["functions"], 0, "no flash")
        # The stages of docs/internals/write-path.md.
        places = [write.index(f"{function} ") for function in ("write_run", "zone_land", "buffer_program", "unit_done", "l2p_map_run")]
        self.assertEqual(places, sorted(places), write)

    def test_what_is_counted(self):
        from bench import entered, measured
        names = {1: ("a", "ftl/a.c"), 2: ("b", "ftl/b.c"), 3: ("inline", None), 4: ("c", "tsu/c.c")}
        words = [1, 3, 2, 0, 0, 2, 0, 4, 0, 0, 1, 0]  # a enters inline, which enters b; a enters b again, then c
        walk = entered(words, names, None)
        self.assertEqual(walk, [(0, "a", "ftl/a.c"), (1, "b", "ftl/b.c"), (1, "c", "tsu/c.c")])
        self.assertEqual(measured(walk), {"functions": 3, "stays": 3, "files": 3, "returns": 0})
        self.assertEqual(measured([(0, "a", "x.c"), (0, "b", "y.c"), (0, "c", "x.c")])["returns"], 1)
        self.assertEqual(entered(words, names, "tsu"), [(0, "c", "tsu/c.c")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
