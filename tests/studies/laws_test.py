"""Computations of studies without a device: laws of growth, rankings, conclusions, tables of
points, and the page that shows them."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import importlib.util
import pathlib
import random
import sys
import tempfile
import types
import unittest
import unittest.mock
import warnings

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "studies" / "lock-scaling")]
import scaling  # noqa: E402
from common import arguments, page as page_module, plot, report, sweep, usl  # noqa: E402
from common.page import Page  # noqa: E402


def point(kiops, hil=0.5, spin=0.0, idle=0.0):
    values = kiops if isinstance(kiops, list) else [kiops]
    return {"kiops": report.mean(values), "kiops_by_seed": values, "busy": {"hil": hil, "tsu": 0.2, "worker": 1 - idle},
            "time": {"work": 1 - spin - idle, "spin zone": spin, "idle": idle}}


class Laws(unittest.TestCase):
    def test_exact_points_give_their_law_back(self):
        for sigma, kappa in ((0.0, 0.0), (0.05, 0.0), (0.02, 0.001), (0.3, 0.01)):
            law = usl.Law(480.0, sigma, kappa, 0.0)
            found = usl.usl([(n, law.at(n)) for n in (1, 2, 4, 8, 16)])
            for name in ("speed", "sigma", "kappa"):
                self.assertAlmostEqual(getattr(found, name), getattr(law, name), places=6, msg=f"{name} of {sigma}, {kappa}")
            self.assertLess(found.error, 1e-9)

    def test_noise_moves_the_law_little(self):
        dice, law = random.Random(1), usl.Law(100.0, 0.1, 0.002, 0.0)
        found = usl.usl([(n, law.at(n) * dice.uniform(0.99, 1.01)) for n in range(1, 25)])
        self.assertAlmostEqual(found.sigma, law.sigma, delta=0.02)
        self.assertAlmostEqual(found.peak, law.peak, delta=2)
        self.assertGreater(found.error, 0.001)

    def test_nothing_is_negative(self):
        better_than_linear = [(1, 100.0), (2, 210.0), (4, 440.0), (8, 900.0)]
        found = usl.usl(better_than_linear)
        self.assertEqual((found.sigma, found.kappa, found.peak), (0.0, 0.0, None))
        self.assertEqual(usl.amdahl(better_than_linear).sigma, 0.0)

    def test_too_few_worker_counts_give_none(self):
        self.assertIsNone(usl.usl([(1, 10.0), (2, 19.0), (2, 18.0)]))
        self.assertIsNone(usl.amdahl([(4, 10.0)]))

    def test_amdahls_law_has_no_peak(self):
        self.assertIsNone(usl.amdahl([(1, 10.0), (2, 12.0), (4, 11.0)]).peak)


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "python3-matplotlib is not installed")
class Pictures(unittest.TestCase):
    def test_many_pictures_are_no_warning(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(len([plot.figure() for _ in range(30)]), 30)


class Conclusions(unittest.TestCase):
    def test_a_limit_is_what_an_experiment_said_else_none_is_named(self):
        line = {("mcs", "device", n, "rocket", "pipeline"): point([10.0 * n], hil=0.99, spin=0.3) for n in (1, 2)}
        self.assertEqual(scaling.conclusions(line, [1, 2])[0], "mcs, costs rocket: 2 workers reach 2.00 times the throughput of 1.")
        limits = {scaling.line_of(key): "The limit: flash cells." for key in line}
        self.assertTrue(scaling.conclusions(line, [1, 2], limits)[0].endswith("the throughput of 1. With 2: The limit: flash cells."))

    def test_what_seeds_cannot_tell_apart_is_equal(self):
        points = {"tas": point([90.0, 110.0, 100.0]), "mcs": point([99.0, 105.0, 101.0]), "ticket": point([50.0, 52.0, 51.0])}
        self.assertEqual(scaling.ranking(points), [["mcs", "tas"], ["ticket"]])

    def test_each_of_a_group_is_proven_to_be_faster_than_each_of_the_next(self):
        points = {"tas": point([100.0, 101.0, 102.0]), "mcs": point([85.0, 95.0, 105.0]), "ticket": point([90.0, 90.5, 91.5])}
        self.assertEqual(scaling.ranking(points), [["mcs", "tas", "ticket"]], "ticket is slower than tas, but neither differs from mcs for certain")

    def test_what_seeds_share_does_not_hide_a_difference(self):
        points = {"tas": point([100.0, 140.0, 180.0]), "mcs": point([103.0, 144.0, 186.0])}
        self.assertEqual(scaling.ranking(points), [["mcs"], ["tas"]])

    def measured(self, costs):
        return {(kind, "device", n, c, "pipeline"): point([n * 10.0 + more, n * 10.0 + more + 0.1]) for c, better in costs.items() for n in (1, 2, 4)
                for kind, more in (("mcs", better), ("tas", 0.0))}

    def test_an_order_counts_only_if_it_survives_every_cost_model(self):
        same = scaling.conclusions(self.measured({"rocket": 5.0, "2x": 7.0}), [1, 2])
        self.assertIn("Kinds at 4 workers, costs 2x: mcs > tas.", same)
        self.assertTrue(any("the same under every cost model" in line for line in same))
        other = scaling.conclusions(self.measured({"rocket": 5.0, "2x": -7.0}), [1, 2])
        self.assertTrue(any("depends on the cost model" in line for line in other))

    def test_granularities_are_compared_for_each_kind(self):
        speed = {("mcs", "global"): 1.0, ("mcs", "fine"): 2.0, ("tas", "global"): 0.5, ("tas", "fine"): 2.0}
        measured = {(kind, granularity, n, "rocket", "pipeline"): point([n * 10.0 * faster, n * 10.0 * faster + 0.1])
                    for (kind, granularity), faster in speed.items() for n in (1, 2)}
        lines = scaling.conclusions(measured, [1, 2])
        for line in ("Granularities of mcs at 2 workers, costs rocket: fine > global.", "Kinds (granularity global) at 2 workers, costs rocket: mcs > tas.",
                     "Kinds (granularity fine) at 2 workers, costs rocket: mcs = tas."):
            self.assertIn(line, lines)

    def test_a_load_that_grows_and_one_that_is_fixed_are_lines_of_their_own(self):
        measured = {("mcs", "device", n, "rocket", "pipeline", load): point([kiops * n ** power, kiops * n ** power + 0.1])
                    for load, kiops, power in (("growing", 100.0, 0.5), ("fixed", 300.0, 0.0)) for n in (1, 4)}
        self.assertEqual([line.name for line in scaling.lines(measured)], ["mcs", "mcs fixed"])
        self.assertEqual([line.labels["load"] for line in scaling.lines(measured)], ["growing", "fixed"])
        said = "\n".join(scaling.conclusions(measured, [1, 2]))
        self.assertIn("mcs, costs rocket: 4 workers reach 2.00 times the throughput of 1.", said)
        self.assertIn("mcs fixed, costs rocket: 4 workers reach 1.00 times the throughput of 1.", said)
        self.assertNotIn("Kinds", said, "loads are not compared with each other")

    def test_architectures_are_compared_where_all_else_is_the_same(self):
        speed = {("mcs", "pipeline"): 1.0, ("mcs", "completion"): 2.0, ("tas", "pipeline"): 1.0, ("tas", "completion"): 1.0}
        measured = {(kind, "device", n, "rocket", architecture): point([n * 10.0 * faster, n * 10.0 * faster + 0.1])
                    for (kind, architecture), faster in speed.items() for n in (1, 2)}
        lines = scaling.conclusions(measured, [1, 2])
        for line in ("Architectures of mcs at 2 workers, costs rocket: completion > pipeline.",
                     "Architectures of tas at 2 workers, costs rocket: completion = pipeline.", "Kinds at 2 workers, costs rocket: mcs = tas.",
                     "Kinds (completion) at 2 workers, costs rocket: mcs > tas."):
            self.assertIn(line, lines)
        self.assertTrue(any(line.startswith("mcs completion, costs rocket: 2 workers reach 2.00 times") for line in lines))

    def test_a_line_that_falls_is_reported_unless_seeds_explain_it(self):
        def words(last):
            line = {("mcs", "global", n, "rocket", "pipeline"): p for n, p in ((1, point([10.0])), (4, point([30.0, 32.0])), (8, point(last)))}
            return scaling.conclusions(line, [1])[0]
        self.assertIn("mcs global, costs rocket: 8 workers reach 2.00 times the throughput of 1.", words([20.0, 20.0]))
        self.assertIn("Throughput falls beyond 4 workers, by 9 to 62 %.", words([20.0, 20.0]))
        self.assertNotIn("falls", words([20.0, 26.0]), "two seeds that lose 33 and 19 % prove nothing")
        self.assertNotIn("falls", words([20.0]), "nor does one")
        self.assertNotIn("falls", words([29.0, 32.0]))
        self.assertNotIn("falls", words([33.0, 34.0]))

    def test_one_lock_for_all_is_one_however_many_count_its_parts(self):
        self.assertEqual(scaling.locks({"instances": {"global": 1, "zone": 1, "l2p": 1}}), 1)
        self.assertEqual(scaling.locks({"instances": {"zone": 20, "l2p": 1}}), 21)

    def test_one_seed_ranks_nothing(self):
        lines = scaling.conclusions(self.measured({"rocket": 5.0}), [1])
        self.assertFalse(any(">" in line for line in lines))
        self.assertIn("One seed has no intervals", lines[-1])


class Busy(unittest.TestCase):
    def test_a_hart_of_several_roles_counts_for_each(self):
        def hart(role, idle):
            return {"role": role, "idle_ns": idle, "elapsed_ns": 100}
        result = {"harts": [hart("hil+tsu", 10), hart("tsu", 40), hart("worker", 80), hart("worker", 70)], "elapsed_ns": 10 ** 9,
                  "device": {"link": {"bytes_per_s": 1000}}, "totals": {"read": {"bytes": 250}, "write": {"bytes": 600}}}
        found = scaling.busy([result])
        for role, share in (("hil", 0.9), ("tsu", 0.9), ("worker", 0.3), ("link", 0.6)):
            self.assertAlmostEqual(found[role], share)


class SteadyState(unittest.TestCase):
    def result(self, steady):
        totals = {kind: {"ops": ops} for kind, ops in (("read", 600), ("write", 300), ("flush", 100), ("trim", 0), ("zone", 0))}
        return {"totals": totals, "elapsed_ns": 10 ** 6, "steady": steady}

    def test_throughput_is_that_of_the_steady_state_where_there_is_one(self):
        self.assertAlmostEqual(report.kiops(self.result({"reason": None, "iops": {"mean": 2e6}})), 1800)
        self.assertAlmostEqual(report.kiops(self.result({"reason": "too short", "iops": None})), 900)

    def test_a_study_names_the_runs_that_have_none(self):
        found = sweep.Sweep(types.SimpleNamespace(out=pathlib.Path("out"), resume=False), [], None)
        self.assertIsNone(found.warning())
        found.by_snakemake = True
        with unittest.mock.patch.object(sweep.workflow, "result", lambda out: {**self.result({"reason": "too short" if out.name == "b" else None}), "software": 1}):
            for folder in ("a", "b"):
                found.one(found.args.out / folder, {}, {}, ())
        self.assertEqual(found.facts()["unsteady"], {"b": "too short"})
        self.assertRegex(found.warning(), r"^No steady state in 1 of 2 runs \(\S+\): .*\(too short\)\.$")


class Options(unittest.TestCase):
    def test_the_quick_form_is_smaller_where_nothing_is_named(self):
        def seeds(*words):
            p = arguments.study_parser("any", "text", "--quick")
            return arguments.quickly(arguments.parsed(p, words), seeds=[7]).seeds
        self.assertEqual([seeds(), seeds("--quick")], [[1], [7]])
        self.assertEqual([seeds("--seeds", "3,4"), seeds("--seeds", "3,4", "--quick"), seeds("--quick", "--seeds", "1")], [[3, 4], [3, 4], [1]])


class Output(unittest.TestCase):
    def test_a_page_needs_nothing_else_and_escapes_what_it_shows(self):
        page = Page("a < b", "of <script>")
        page.list(["x & y"])
        page.table(["name", "n"], [["<td>", 1234.5], ["-", None], ["of " + "f" * 25, 10 ** 17]])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "report.html"
            page.write(path)
            text = path.read_text()
        for shown in ("<title>a &lt; b</title>", "of &lt;script&gt;", "x &amp; y", "<td>&lt;td&gt;</td><td>1,234.5</td>",
                      f'<td class="long">of {"f" * 25}</td><td>100,000,000,000,000,000</td>'):
            self.assertIn(shown, text)
        own = f"<script>{page_module.TABLES}</script>"
        self.assertEqual(text.count(own), 1)
        for word in ("http", "src=", "<script", "@import"):
            self.assertNotIn(word, text.replace(own, ""))

    def test_points_become_columns(self):
        points = [{"name": "a, b", "n": 1, "time": {"work": 0.5}, "by_seed": [1, 2]}, {"name": "c", "n": 2, "time": {"idle": 1.0}}]
        with tempfile.TemporaryDirectory() as folder:
            report.write_csv(pathlib.Path(folder), points)
            with open(pathlib.Path(folder) / "study.csv", newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual(rows[0], {"name": "a, b", "n": "1", "time.work": "0.5", "by_seed": "1 2", "time.idle": ""})
        self.assertEqual((rows[1]["name"], rows[1]["time.idle"], rows[1]["by_seed"]), ("c", "1.0", ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
