"""bench rtl: the preset `rocket` follows from the record's micro-benchmarks, and the record's
curves are as near as the README claims."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import pathlib
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / folder) for folder in ("scripts", "bench/rtl")]
import curves  # noqa: E402
import micro  # noqa: E402
import schema  # noqa: E402

RECORD = json.loads((TOP / "bench/rtl/measured.json").read_text(encoding="utf-8"))["runs"]
FITTED = "LitexFull4DConfig latency 20 plain"
MEAN, MOST, HELD_OUT = 0.05, 0.20, 0.06
RESONANT = {"L2 backoff 4"} # bench/rtl/README.md


def cells(rates):
    """'L1 tas 4' → ('L1', 'tas', 4)"""
    return {(case, kind, int(harts)): rate for name, rate in rates.items() for case, kind, harts in [name.split()]}


def numbered(costs):
    """The same of costs as they are in files."""
    def number(key, word):
        return word if isinstance(word, int) else [name for name, _ in schema.choices(f"clock_{key}")].index(word)
    return {key: number(key, word) for key, word in costs.items()}


def defaults():
    return {f["member"].removeprefix("clock."): f["default"] for f in schema.device_fields() if f["member"].startswith("clock.")}


class Preset(unittest.TestCase):
    def test_the_defaults_are_what_the_micro_benchmarks_say(self):
        run = RECORD[FITTED]
        costs = micro.costs(run["micro"], run["cache"])
        self.assertEqual({**defaults(), **schema.clock_preset("free"), "mhz": 1000, **numbered({**costs, "preset": "rocket"})}, defaults())


class Curves(unittest.TestCase):
    def compared(self, name):
        return [cells(RECORD[name][machine]) for machine in ("rtl", "clock")]

    def test_errors_of_the_fitted_chip(self):
        rtl, clock = self.compared(FITTED)
        self.assertEqual(sorted(rtl), sorted(curves.cells(curves.CASES, curves.KINDS, range(1, 5))))
        self.assertLessEqual(curves.summary(rtl, clock)["all"]["mean"], MEAN)
        far = {" ".join(map(str, cell)) for cell, e in curves.errors(rtl, clock).items() if abs(e) > MOST}
        self.assertLessEqual(far, RESONANT)

    def test_ranks_of_the_fitted_chip(self):
        for (case, harts), of in curves.ranks(*self.compared(FITTED)).items():
            if harts == 4:
                self.assertEqual(of["swapped"], [], case)

    def test_chips_and_latencies_that_were_not_looked_at(self):
        for name in RECORD.keys() - {FITTED}:
            with self.subTest(name):
                self.assertLessEqual(curves.summary(*self.compared(name))["all"]["mean"], HELD_OUT)


class Arithmetic(unittest.TestCase):
    def test_pairs_that_the_rtl_tells_apart_must_not_be_swapped(self):
        rtl = {"tas": 1.0, "mcs": 2.0, "clh": 2.01}
        self.assertEqual(curves.swapped(rtl, {"tas": 1.0, "mcs": 3.0, "clh": 2.0}), [])
        self.assertEqual(curves.swapped(rtl, {"tas": 3.0, "mcs": 2.5, "clh": 4.0}), [("mcs", "tas")])

    def test_errors_are_of_the_rtl(self):
        cell = ("L1", "tas", 1)
        self.assertEqual(curves.errors({cell: 2.0}, {cell: 3.0}), {cell: 0.5})
        self.assertEqual(curves.summary({cell: 2.0}, {cell: 1.0})["all"], {"mean": 0.5, "most": 0.5})

    def test_a_cache_is_measured_by_what_stays_in_it(self):
        """4 ways, 64 sets: lines of one set lie 4096 bytes apart, or multiples of it."""
        def ask(scene, harts, words):
            lines, apart = words
            of_one_set = lines if apart % 4096 == 0 else lines * apart // 4096 + 1
            misses = lines if of_one_set > 4 else 0
            return [50 * lines, 6 * lines + 44 * misses]
        self.assertEqual(micro.walks(ask), {"cache_ways": 4, "cache_bytes": 16384})

    def test_who_is_served_next(self):
        base = {"core": [0] * 2 * len(micro.instructions())}
        self.assertEqual(micro.figures({**base, "queue one": [80, 0, 280, 3, 190, 2, 104, 1]})["queue in turn"], 1)
        self.assertEqual(micro.figures({**base, "queue one": [80, 0, 104, 1, 190, 2, 280, 3]})["queue in turn"], 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
