"""Every study runs in its quick form, and its figures are possible, the same each time, and refused where the clock was not exact. A
point that fails, or an interrupt, takes nothing of the rest with it."""
# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import html
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "support"), str(TOP / "tests" / "commands"), str(TOP / "studies"), str(TOP / "linux")]
from hztest.needs import device_problem, study_python  # noqa: E402
import printed  # noqa: E402
import quick_forms  # noqa: E402


PYTHON, MISSING = study_python(), device_problem()
if not MISSING:
    import mechanisms


def tearDownModule():
    if not MISSING and len(sys.argv) == 1:
        assert not quick_forms.missing(), f"named in quick_forms.py, and not run: {quick_forms.missing()}"


def first_run(folder, point):
    """Result of the run with the first seed."""
    from common import runs
    _, device, workload, *extra = point.runs[0]
    return runs.run(pathlib.Path(folder), device, workload, extra)


def study(name, folder, *arguments):
    if not arguments:
        quick_forms.note(name)
    command = [PYTHON, str(TOP / "studies" / name / "study.py"), "--quick", "--out", folder, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@unittest.skipIf(MISSING, MISSING)
class LockScaling(unittest.TestCase):
    def run_once(self, *arguments):
        with tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
            run = study("lock-scaling", folder, *arguments)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.printed = run.stdout
            drawn = {path.name for path in pathlib.Path(folder).iterdir() if path.suffix in (".png", ".html")}
            self.assertEqual(drawn, set() if "--no-pictures" in arguments else {"lock-scaling.png", "report.html"})
            if drawn:
                self.assertGreater((pathlib.Path(folder) / "lock-scaling.png").stat().st_size, 1000)
                self.page = re.sub("<script.*?</script>", "", (pathlib.Path(folder) / "report.html").read_text(), flags=re.S)
            self.lines = (pathlib.Path(folder) / "study.csv").read_text().splitlines()
            return json.loads((pathlib.Path(folder) / "study.json").read_text())

    def test_figures(self):
        found = self.run_once("--workers", "1,4", "--locks", "ticket,mcs")
        points = {(p["lock"], p["workers"]): p for p in found["points"]}
        self.assertEqual(len(points), 4)
        for p in points.values():
            self.assertAlmostEqual(sum(p["time"].values()), 1.0, places=9)
        profile = points["mcs", 4]["lock_profile"]
        self.assertGreater(profile["lock"]["contended"], 0)
        self.assertEqual({pair[0] == pair[1] for pair in profile["handovers"]["times"]}, {False})
        self.assertIn("Who waits for whom: mcs, 4 workers", self.page)
        self.assertIn(profile["blame"][0]["waiter"].split("+")[0], self.page)
        self.assertLess(points["mcs", 1]["contended"], 0.003) # including the resetting and reading of
                                                              # the statistics, once each
        self.assertGreater(points["mcs", 4]["contended"], 0.01)
        self.assertGreater(points["mcs", 4]["kiops"], points["mcs", 1]["kiops"])
        self.assertEqual(len(self.lines), 1 + 4)
        first, *others = found["conclusions"]
        self.assertTrue(self.printed.startswith(f"{first}\n\n"), "the answer comes first")
        for line in found["conclusions"]:
            self.assertTrue(html.escape(line) in self.page, line)
        for line in others:
            self.assertIn(f"- {line}\n", self.printed)
        self.assertEqual(self.page.count("<svg"), 3 + 3 * 2, "curves, stacks, laws, and of each line its lock profile, graph and hand-overs")
        for edge in profile["graph"]:
            self.assertGreaterEqual(self.page.count(f"<!-- {edge['waiter']} -->"), 1, "a name on the left")
            self.assertIn(f"<!-- {edge['holder']} -->", self.page)
        self.assertEqual(len({(e["waiter"], e["holder"], e["class"]) for e in profile["graph"]}), len(profile["graph"]))
        self.assertIn("<!-- class zone -->", self.page)
        self.assertGreater({c["class"]: c["acquisitions"] for c in profile["logical"]}["completion"], 0)
        for of_role in profile["work"].values():
            self.assertAlmostEqual(sum(of_role.values()), 1.0, places=9)
        self.assertGreater(profile["work"]["worker"]["spin"], 0)
        for request in profile["requests"]:
            parts = sum(request[part] for part in ("flash", "channel", "flash_queue", "link", "queued", "compute", "spin", "logical"))
            self.assertAlmostEqual(parts, request["cycles"], places=6)
        for way in profile["ways"]:
            self.assertAlmostEqual(sum(way[part] for part in ("spin", "held", "behind", "waits")), way["share"], places=5)
        self.assertIn("zone", {way["lock"].split()[0] for way in profile["ways"] if way["held"]})
        for head in ("logical lock", "stalls", "flash_queue", "behind"):
            self.assertIn(f"<th>{head}</th>", self.page)
        self.assertNotIn('src="', self.page)
        self.assertEqual(found["laws"], [], "two worker counts are no curve")
        self.shows_ticket_model(found["ticket_model"], "ticket", "mcs")
        self.assertEqual(self.printed.splitlines()[2].split()[:4], ["lock", "workers", "KIOPS", "ticket"], "what is as usual has no column")
        rows = self.printed.splitlines()[2:8]
        self.assertLessEqual(max(map(len, rows)), 120)
        self.assertIn("Left out for width (report.html and study.json have them): ", self.printed)
        for head in re.search(r"have them\): (.*?)\.\n\n", self.printed, re.S)[1].replace("\n", " ").split(", "):
            self.assertIn(f"<th>{head}</th>", self.page)
            self.assertNotIn(f"  {head}", rows[0])
        for p in points.values():
            self.assertEqual(sorted(p["busy"]), ["hil", "link", "tsu", "worker"])
            self.assertTrue(all(0 < share <= 1 for share in p["busy"].values()))

    def shows_ticket_model(self, models, *lines):
        """A figure for each point, in words, tables and pictures."""
        self.assertEqual([model["lock"] for model in models], list(lines))
        for model in models:
            self.assertAlmostEqual(model["points"][0]["model"], 1.0, places=9)
            self.assertGreater(min(model[part] for part in ("hold_ns", "between_ns", "handover_ns", "handover_each_ns")), 0)
            self.assertTrue(f"<!-- ticket lock, class {model['class']}: from 1 worker's times -->" in self.page, model)
            self.assertIn(f"that meet at nothing but class {model['class']} reach {model['points'][-1]['model']:.2f} times", self.printed)
        self.assertEqual(self.page.count("<!-- Amdahl, fitted -->"), len(lines))
        for head in ("held ns", "between ns", "hand-over ns", "acquisitions", "ticket model"):
            self.assertTrue(f"<th>{head}</th>" in self.page, head)
        self.assertIn("  ticket model  ", self.printed)

    def test_the_graph_of_waits_adds_up_places_of_a_function(self):
        from common import readme
        lock_profile = readme.module("lock-scaling").lock_profile
        pairs = [("read_run+0x10 (f.c:1)", "write_run+0x2", "zone", 2, 50), ("read_run+0x20", "write_run+0x4", "zone", 3, 60), ("read_run+0x10", "write_run+0x2", "l2p", 1, 200)]
        blame = [dict(zip(("waiter", "holder", "class", "waits", "wait_ns"), pair)) for pair in pairs]
        self.assertEqual(lock_profile.edges(blame), [{"waiter": "read_run", "holder": "write_run", "class": "l2p", "waits": 1, "wait_ns": 200},
                                               {"waiter": "read_run", "holder": "write_run", "class": "zone", "waits": 5, "wait_ns": 110}])

    def test_no_curve_no_model(self):
        found = self.run_once("--workers", "2", "--locks", "ticket")
        self.assertEqual(found["ticket_model"], [])
        self.assertFalse("Laws of growth" in self.page)

    def test_costs(self):
        found = self.run_once("--workers", "1,2", "--locks", "backoff", "--costs", "ideal,2x")
        points = {(p["costs"], p["workers"]): p for p in found["points"]}
        self.assertEqual(list(points), [("ideal", 1), ("ideal", 2), ("2x", 1), ("2x", 2)])
        self.assertGreater(points["ideal", 1]["kiops"], points["2x", 1]["kiops"], "synchronisation costs one worker something, too")
        self.assertIn("Costs: 2x", self.page)

    def test_granularity(self):
        found = self.run_once("--workers", "1,8", "--locks", "mcs", "--granularity", "global,fine")
        points = {(p["granularity"], p["workers"]): p for p in found["points"]}
        self.assertEqual(len(points), 4)
        one, fine = points["global", 8], points["fine", 8]
        self.assertEqual({one["instances"][name] for name in one["instances"]}, {1}, "one of each class counts its part")
        self.assertGreaterEqual(fine["instances"]["zone"], 8)
        self.assertNotIn("global", fine["instances"])
        self.assertGreater(fine["kiops"], 1.1 * one["kiops"], "it would be more, if flash were not the limit")
        self.assertGreater(1 - one["time"]["idle"], 1.5 * (1 - fine["time"]["idle"]), "the workers are not; layouts move this ratio from 1.8 to 2.1")
        self.assertGreater(one["time"]["spin global"], sum(part for use, part in fine["time"].items() if use.startswith("spin")))
        self.assertEqual([use for use in one["time"] if use.startswith("spin")], ["spin global"], "who waits does so at the one lock")
        self.assertIn("mcs global", self.page)
        self.assertEqual(self.printed.splitlines()[2].split()[:4], ["lock", "granularity", "workers", "KIOPS"])
        by_model = {model["granularity"]: model for model in found["ticket_model"]}
        self.assertEqual([(m["class"], m["points"][1]["locks"] > 1) for m in by_model.values()], [("global", False), ("zone", True)])
        self.assertGreater(by_model["global"]["most_spin"], 0.1)
        self.assertLess(by_model["global"]["points"][1]["model"], 2)
        self.assertGreater(by_model["fine"]["points"][1]["model"], 3)

    def test_the_case_of_locks_only(self):
        found = self.run_once("--workers", "1,8", "--locks", "ticket", "--seeds", "1,2", "--case", "locks-only")
        points = {(p["granularity"], p["workers"]): p for p in found["points"]}
        self.assertEqual(sorted(points), [(way, n) for way in ("fine", "global") for n in (1, 8)], "the case says what it compares")
        self.assertLess(max(p["queueing"] for p in points.values()), 0.05)
        self.assertGreater(points["fine", 8]["kiops"], 7.5 * points["fine", 1]["kiops"])
        self.assertGreater(points["fine", 8]["kiops"], 2 * points["global", 8]["kiops"])
        self.assertGreater(points["global", 8]["time"]["spin global"], 0.3)
        worth = r"[0-9.]+ % \(-?[0-9.]+ to [0-9.]+\)"
        self.assertRegex(found["conclusions"][0], r"^ticket, completion, 8 workers: a lock for each object .*: the one lock is the limit; 1 % less time in its "
                         rf"sections gives {worth} more throughput, and 1 % quicker hand-overs {worth}\.$")
        cause, = found["causes"]
        self.assertEqual((cause["lock"], cause["granularity"]), ("ticket", "global"))
        both = [sum(pair) for pair in zip(cause["sections"]["by_seed"], cause["handovers"]["by_seed"])]
        self.assertTrue(all(-1.2 < one < -0.5 for one in both), "nearly all of its time is worth something")
        plain = self.run_once("--workers", "8", "--locks", "ticket", "--seeds", "1,2", "--case", "locks-only", "--no-explain", "--no-pictures")
        self.assertTrue(plain["conclusions"][0].endswith(": the one lock is the limit."), plain["conclusions"][0])
        self.assertEqual((plain["causes"], [p["digests"] for p in plain["points"]]), ([], [points[way, 8]["digests"] for way in ("global", "fine")]))

    def test_a_case_of_locks_is_refused_where_flash_queues(self):
        from common import readme, runs
        lock_scaling = readme.module("lock-scaling")
        args = lock_scaling.options(["--case", "locks-only"])
        lock_scaling.check_queueing(args, {("mcs", "fine", 16): {"queueing": 0.05}})
        with self.assertRaisesRegex(runs.StudyError, "with mcs fine 16 requests wait for flash and the link in 6 % of their time"):
            lock_scaling.check_queueing(args, {("mcs", "fine", 16): {"queueing": 0.06}})

    def test_dividing_a_lock_is_said_to_help_where_the_seeds_prove_it(self):
        from common import readme
        scaling = readme.module("lock-scaling").scaling
        def said(*by_seed):
            return scaling.gains({("mcs", way, 4, "rocket", "pipeline"): {"kiops_by_seed": kiops} for way, kiops in zip(("global", "fine"), by_seed)}, 4)[0]
        self.assertIn("2.00 times the throughput (2.00 to 2.00, 95 % over the seeds): the one lock is the limit", said([1.0, 2.0], [2.0, 4.0]))
        self.assertIn("whether that helps is not proven", said([1.0, 1.0], [2.0, 4.0]))
        self.assertIn("that is not enough", said([1.0, 2.0], [1.0, 2.0]))
        self.assertIn("that costs throughput", said([1.0, 2.0], [0.9, 1.8]))
        from common.elasticity import Interval
        self.assertEqual(scaling.worth((Interval([-0.6, -0.62]), Interval([-0.1, -0.11])))[:57], "; 1 % less time in its sections gives 0.61 % (0.48 to 0.7")
        self.assertIn("so another limit is near", scaling.worth((Interval([-0.1, 0.1]), Interval([-0.1, 0.0]))))
        measured = {("mcs", way, 4, "rocket", "pipeline", "growing", image): {"kiops_by_seed": kiops}
                    for image in ("firmware", "mine") for way, kiops in (("global", [1.0, 2.0]), ("class", [1.0, 2.0]), ("fine", [2.0, 4.0]))}
        self.assertEqual([(line.granularity, line.firmware) for line in scaling.blamed(measured, 4)], [("global", "firmware")], "once, and of our own firmware")

    def test_readers_wait_less_where_they_may_look_side_by_side(self):
        found = self.run_once("--workers", "8", "--locks", "ticket,rw", "--workload", str(TOP / "configs/workloads/random-read.yaml"), "--hil", "4", "--tsu", "8", "--no-pictures")
        ticket, rw = found["points"]
        self.assertGreater(ticket["time"]["spin l2p"], 0.001)
        self.assertLess(rw["time"]["spin l2p"], 0.75 * ticket["time"]["spin l2p"])
        self.assertLess(rw["contended"], 0.75 * ticket["contended"])

    def test_architecture(self):
        found = self.run_once("--workers", "1,8", "--locks", "mcs", "--architecture", "pipeline,completion", "--tsu", "8", "--case", "read-cached")
        points = {(p["architecture"], p["workers"]): p for p in found["points"]}
        one, eight = points["completion", 1], points["completion", 8]
        self.assertLess(eight["busy"]["hil"], 0.1, "the HIL hart serves no queue pair")
        self.assertGreater(one["busy"]["worker"], 0.5)
        self.assertGreater(eight["kiops"], 2 * one["kiops"])
        self.assertGreater(points["pipeline", 8]["busy"]["hil"], 0.35)
        self.assertIn("mcs completion, 8 workers", {figure["name"].partition("throughput, ")[2] for figure in found["figures"]})
        self.assertIn("mcs completion", self.page)

    def test_loads(self):
        found = self.run_once("--workers", "1,4", "--locks", "mcs", "--load", "growing,fixed", "--case", "read-ram", "--no-pictures")
        points = {(p["load"], p["workers"]): p for p in found["points"]}
        self.assertEqual(set(points), {(load, workers) for load in ("growing", "fixed") for workers in (1, 4)})
        self.assertEqual(points["growing", 4]["digests"], points["fixed", 4]["digests"], "with the most workers both are the same")
        self.assertGreater(points["fixed", 1]["read_mean_us"], 2 * points["growing", 1]["read_mean_us"], "four threads wait for one worker")
        self.assertIn("mcs fixed, costs rocket: 4 workers reach", self.printed)

    def test_seeds_stop_early_where_they_agree(self):
        from common.elasticity import Interval
        case = "--workers", "1,8", "--locks", "mcs", "--granularity", "global", "--case", "locks-only"
        whole = self.run_once(*case, "--seeds", "5,1,2,3", "--no-pictures")["points"]
        spans = [Interval(p["kiops_by_seed"][:2]) for p in whole]
        percent = f"{50 * max(span.half / span.mean for span in spans):.3g}" # two seeds are too few for one of the points
        until = float(percent) / 100
        found = self.run_once(*case, "--until", f"{percent}%", "--most-seeds", "4", "--seeds", "5,1", "--no-pictures")
        one, eight = found["points"]
        for p in (one, eight):
            self.assertEqual([p["seeds"]] * 2, [len(p["kiops_by_seed"]), len(p["digests"])])
            spans = [Interval(p["kiops_by_seed"][:n]) for n in range(2, p["seeds"] + 1)]
            self.assertTrue(all(span.half > until * span.mean for span in spans[:-1]), "no seed too many")
            self.assertTrue(p["seeds"] == 4 or spans[-1].half <= until * spans[-1].mean, "nor too few")
            self.assertTrue(re.search(rf"mcs +global +{p['workers']} +completion +[0-9,.]+ +{p['seeds']} ", self.printed), self.printed)
        self.assertGreater(max(one["seeds"], eight["seeds"]), 2)
        said, = (line for line in found["conclusions"] if line.startswith("Seeds ended"))
        self.assertIn(f"reached {float(percent):g} % to each side: {min(one['seeds'], eight['seeds'])} to", said)
        for p, fixed in zip(found["points"], whole):
            self.assertEqual(fixed["digests"][:p["seeds"]], p["digests"], "the same seeds in the same order as without an early stop")

    def test_early_stop_is_asked_for_soundly(self):
        for words, said in ((("--until", "0%"), "'0%' is not a percentage"), (("--until", "x"), "'x' is not a percentage"), (("--most-seeds", "5"), "name that, too"),
                            (("--until", "2%", "--seeds", "1"), "two seeds or more to begin with"), (("--until", "2", "--most-seeds", "3", "--seeds", "1,2,3,4"), "are fewer than --seeds"),
                            (("--until", "2", "--engine", "snakemake"), "leave one out")):
            run = study("lock-scaling", "unused", *words)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(said, run.stderr)

    def test_open_loop(self):
        found = self.run_once("--workers", "8", "--locks", "mcs", "--granularity", "global", "--load", "open", "--case", "locks-only", "--seeds", "1,2")
        (point,), opened = found["points"], found["open_loop"]
        self.assertEqual([(p["share"], p["workers"], p["lock"], p["load"]) for p in opened], [(share, 8, "mcs", "growing") for share in (50, 80, 95)])
        for p in opened:
            self.assertAlmostEqual(p["kiops"]["mean"] / (point["kiops"] * p["share"] / 100), 1, delta=0.1)
            times = [p["latency_us"][name]["mean"] for name in ("p50", "p90", "p99", "p99.9", "p99.99")]
            self.assertEqual(times, sorted(times))
        self.assertTrue(opened[0]["keeps_up"])
        self.assertGreater(opened[2]["latency_us"]["p99"]["mean"], 2 * opened[0]["latency_us"]["p99"]["mean"], "a queue shows as latency")
        self.assertIn("Open loop: latency by throughput", self.page)
        self.assertEqual(self.page.count("<!-- p99.99 -->"), 1)
        self.assertRegex(self.printed, r"mcs global completion, 8 workers +50 .* yes  reads ")
        self.assertIn("so its p99.99 is its slowest one", self.printed)
        line, = (line for line in found["conclusions"] if "p99.9 of reads is" in line)
        for p in opened:
            self.assertEqual(f"{p['share']} %" in line.partition("At ")[2], not p["keeps_up"], line)
        self.assertIn("mcs-8-global-completion-2-open95", self.page, "its digests are in the page, too")

    def test_open_loop_says_whether_the_device_keeps_up(self):
        from common import readme
        open_loop = readme.module("lock-scaling").open_loop
        def result(slowest, think, elapsed=10 ** 7):
            none = {"ops": 0}
            read = {"ops": 10, "latency_ns": {"max": slowest}}
            return {"totals": {"read": read, **dict.fromkeys(("write", "trim", "flush", "zone"), none)}, "elapsed_ns": elapsed, "workload": {"threads": [{"think_ns": think}]}}
        self.assertTrue(open_loop.keeps_up(result(4 * 10 ** 5, 1000)))
        self.assertFalse(open_loop.keeps_up(result(6 * 10 ** 5, 1000)), "6 % of the run")
        self.assertFalse(open_loop.held_back(result(500_000, 1000)))
        self.assertTrue(open_loop.held_back(result(600_000, 1000)), "1023 may have come in that time")
        made = open_loop.opened({"threads": 4, "common": {"total_ops": 100}}, 10 ** 6, 20000)
        self.assertEqual(made["common"], {"total_ops": 5000, "think": 4000, "think_distribution": "exponential", "queue_depth": 1023})
        with tempfile.TemporaryDirectory(prefix="hz-study-") as folder: # five times what one worker can do
            args = readme.module("lock-scaling").options(["--quick", "--case", "locks-only", "--workers", "1", "--locks", "mcs", "--granularity", "fine", "--seeds", "1"])
            point = open_loop.point_of(readme.module("lock-scaling").points(args)[0], 500, 600_000)
            self.assertFalse(open_loop.keeps_up(first_run(folder, point)))

    def test_a_trace_arrives_at_its_own_times_scaled_to_each_share(self):
        for name, case in (("git", "block-trace"), ("rocksdb-fillseq", "zoned-trace")):
            with self.subTest(name):
                found = self.run_once("--trace", str(TOP / f"traces/{name}.hzt.xz"), "--workers", "4", "--locks", "mcs", "--granularity", "fine", "--load", "open",
                                      "--seeds", "1,2", "--no-pictures")
                (point,), opened = found["points"], found["open_loop"]
                self.assertEqual((found["case"], [p["share"] for p in opened]), (case, [50, 80, 95]))
                for p in opened:
                    times = [p["latency_us"][rank]["mean"] for rank in ("p50", "p90", "p99", "p99.9", "p99.99")]
                    self.assertEqual(times, sorted(times))
                    self.assertAlmostEqual(p["kiops"]["mean"] / (point["kiops"] * p["share"] / 100), 1, delta=0.2)
                    self.assertTrue(p["late"] <= 0.01 or not p["keeps_up"])
                half, *_, most = (p["kiops"]["mean"] for p in opened)
                self.assertGreater(most, half, "commands come faster")
                self.assertRegex(self.printed, r"mcs fine completion, 4 workers +50 ")
                self.assertIn(f"{100 * opened[0]['late']:.1f} % at 50 %", self.printed)

    def test_a_trace_without_times_has_no_open_loop(self):
        with tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
            still = pathlib.Path(folder) / "still.hzt"
            still.write_text("hartzone-trace 2\n" + "".join(f"0 0 write {8 * at} 8\n" for at in range(64)))
            run = study("lock-scaling", f"{folder}/out", "--load", "open", "--trace", str(still), "--workers", "1", "--locks", "mcs", "--no-pictures")
            self.assertEqual(run.returncode, 1, run.stdout)
            self.assertIn("still.hzt: all records have one time, so --load open does not know when they arrive", run.stderr)

    def test_the_factor_of_a_trace(self):
        from common import readme, runs
        open_loop = readme.module("lock-scaling").open_loop
        workload = {"threads": 2, "trace": {"file": "t.hzt", "queue_depth": 16}}
        made = open_loop.scaled(workload, 50_000, {"commands": 1000, "span_ns": 10 ** 9})
        self.assertEqual(made["trace"], {"file": "t.hzt", "queue_depth": 1023, "timing": "open", "time_scale": 0.02}, "1000 commands in 20 ms, not in a second")
        with self.assertRaisesRegex(runs.StudyError, "cut or scale the trace first"):
            open_loop.scaled(workload, 10 ** 6, {"commands": 1, "span_ns": 10 ** 13})
        none = dict.fromkeys(("trim", "flush", "zone"), {"ops": 0})
        late = {"trace": {"span_ns": 1}, "totals": {**none, "read": {"ops": 60}, "write": {"ops": 40}, "late_arrivals": 1}}
        self.assertFalse(open_loop.held_back(late))
        late["totals"]["late_arrivals"] = 2
        self.assertTrue(open_loop.held_back(late))

    def test_nobody_comes_between_the_news_of_a_completion_and_its_entry(self):
        """This seed once stood for ever: the first HIL hart waited, with a frozen clock, for an entry that another hart had announced only."""
        with tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
            run = subprocess.run([PYTHON, str(TOP / "studies/lock-scaling/study.py"), "--out", folder, "--case", "locks-only", "--costs", "rocket", "--workers", "16",
                                  "--locks", "tas", "--granularity", "global", "--seeds", "3", "--no-pictures"], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_shards(self):
        found = self.run_once("--workers", "8", "--locks", "mcs", "--granularity", "class,sharded", "--shards", "2", "--no-pictures")
        by_class, sharded = (p["instances"] for p in found["points"])
        self.assertEqual(set(by_class.values()), {1})
        self.assertEqual((sharded["zone"], sharded["l2p"], sharded["slc"]), (2, 2, 1))

    def test_a_limit_is_named_where_an_experiment_was_asked_for(self):
        found = self.run_once("--workers", "1,2", "--locks", "mcs", "--seeds", "1,2", "--explain", "--no-pictures")
        explained, = found["explained"]
        self.assertEqual((explained["lock"], explained["seeds"], len(explained["base"])), ("mcs", [1, 2], 2))
        self.assertTrue(found["conclusions"][0].endswith(f"With 2: {explained['sentence']}"), found["conclusions"][0])
        run = study("lock-scaling", "unused", "--explain")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--explain takes two seeds or more", run.stderr)
        run = study("lock-scaling", "unused", "--seeds", "1,2", "--explain", "--no-explain")
        self.assertEqual(run.returncode, 2)
        self.assertIn("leave one out", run.stderr)

    def test_cases_meet_what_they_are_for(self):
        from common import readme
        lock_scaling = readme.module("lock-scaling")
        met = {"read-cached": lambda r: min(sum(r["l2p"][kind].values()) for kind in ("hits", "misses")),
               "buffers": lambda r: r["ftl"]["buffer_flushes"]["conflict"], "collection": lambda r: r["ftl"]["conventional_gc_runs"]}
        for case in ("mixed", *met):
            args = lock_scaling.options(["--quick", "--workers", "2", "--locks", "mcs", "--case", case])
            with tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
                result = first_run(folder, lock_scaling.points(args)[0])
            lock_scaling.check(result, folder)
            found = {name: count(result) for name, count in met.items()}
            self.assertTrue(found[case] if case in met else not any(found.values()), (case, found))

    def test_popular_places_meet_at_their_locks(self):
        found = self.run_once("--workers", "8", "--locks", "mcs", "--case", "zipf", "--granularity", "class,fine", "--no-pictures")
        by_class, fine = found["points"]
        self.assertGreater(by_class["time"]["spin zone"], 0.1)
        self.assertGreater(fine["kiops"], 1.2 * by_class["kiops"])
        even = self.run_once("--workers", "8", "--locks", "mcs", "--case", "block-reads", "--granularity", "fine", "--no-pictures")["points"][0]
        self.assertGreater(fine["time"]["spin zone"], 1.2 * even["time"]["spin zone"], "even a lock for each object has popular ones")

    def test_writes_scale_as_the_readme_has_it(self):
        text = (TOP / "studies/lock-scaling/README.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| `(writes-\w+)`: .* \| ([0-9.]+) \(([0-9.]+) to ([0-9.]+)\) \|$", text, re.M)
        self.assertEqual(len(rows), 4)
        for case, times, low, high in rows:
            with self.subTest(case):
                one, twelve = self.run_once("--case", case, "--seeds", "1", "--no-pictures")["points"]
                near = 0.25 if case == "writes-overwrite" else 0.12 # half of the commands, and more of them before the first collections
                self.assertTrue(float(low) <= float(times) <= float(high))
                self.assertTrue((1 - near) * float(low) <= twelve["kiops"] / one["kiops"] <= (1 + near) * float(high), (case, one["kiops"], twelve["kiops"]))
                if case == "writes-overwrite":
                    writes, = (r for r in twelve["lock_profile"]["requests"] if (r["kind"], r["slice"]) == ("write", "all"))
                    self.assertGreater(float(low), 9)
                    self.assertLess(writes["logical"], 0.3 * writes["cycles"], "writes wait for an erased superblock")
                    self.assertGreater(twelve["time"]["work"], 0.75)
                    self.assertLess(twelve["busy"]["worker"], 1.25 * (1 - twelve["time"]["idle"]), "one worker collects for all")
                else:
                    self.assertGreater(float(low), 10) # of five seeds; half a run with one of them is compared above

    def test_traces(self):
        for name, case in (("git", "block-trace"), ("rocksdb-fillseq", "zoned-trace")):
            with self.subTest(name):
                found = self.run_once("--trace", str(TOP / f"traces/{name}.hzt.xz"), "--workers", "1,4", "--locks", "mcs", "--granularity", "fine", "--seeds", "1,2", "--no-pictures")
                self.assertEqual((found["case"], len(found["points"]), len(found["failed"])), (case, 2, 0))
                one, four = found["points"]
                self.assertGreater(four["kiops"], 1.2 * one["kiops"])
                self.assertEqual(len(set(four["digests"])), 2, "seeds are other hosts, so the runs are others")

    def test_a_trace_that_cannot_be_replayed_is_one_sentence(self):
        with tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
            broken = pathlib.Path(folder) / "broken.hzt"
            broken.write_text("hartzone-trace 2\n0 0 write 0 1\n0 0 wrote 0 1\n")
            for words, code, said in ((("--trace", str(broken)), 1, "broken.hzt:3"), (("--trace", f"{folder}/none"), 2, f"there is no file {folder}/none"),
                                      (("--trace", str(broken), "--workload", "small"), 2, "both say what the host does"),
                                      (("--case", "zoned-trace"), 2, "is a device for a trace: name one")):
                run = study("lock-scaling", folder, *words)
                self.assertEqual(run.returncode, code, run.stderr)
                self.assertIn(said, run.stderr)
                self.assertNotIn("Traceback", run.stderr)

    def test_backing_off_takes_device_time(self):
        found = self.run_once("--workers", "8", "--locks", "ttas,backoff", "--no-pictures")
        ttas, backoff = found["points"]
        # Not the throughput: both may end with the same flash read.
        self.assertNotEqual(ttas["digests"], backoff["digests"], "without its pauses backoff is ttas")

    def test_same_figures_again(self):
        arguments = ("--workers", "4", "--locks", "mcs")
        first = self.run_once(*arguments)
        page = self.page
        self.assertEqual(first["points"], self.run_once(*arguments)["points"])
        self.assertEqual(page, self.page)

    def test_an_engine_that_is_not_there(self):
        with tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
            command = [PYTHON, str(TOP / "studies" / "lock-scaling" / "study.py"), "--quick", "--out", folder, "--engine", "snakemake"]
            run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PATH": "/nowhere"})
            self.assertEqual(run.returncode, 1)
            self.assertEqual(run.stderr, "hartzone study: there is no snakemake: scripts/setup --snakemake installs Debian's package, or leave out "
                                         "--engine\n")
        run = study("lock-scaling", "unused", "--engine-options=--dry-run")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--engine-options are for --engine snakemake", run.stderr)

    def test_wrong_arguments_are_one_sentence(self):
        run = study("lock-scaling", "unused", "--locks", "mutex")
        self.assertEqual(run.returncode, 2)
        self.assertIn("'mutex' is not one of tas", run.stderr)
        for word in ("nothing.yaml", str(TOP / "configs/devices/small.yaml"), "thrice"):
            run = study("lock-scaling", "unused", "--costs", f"rocket,{word}")
            self.assertEqual(run.returncode, 2)
            self.assertIn(f"'{word}' is neither one of rocket", run.stderr)

    def test_costs_of_a_file(self):
        from common import readme
        lock_scaling = readme.module("lock-scaling")
        with tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
            file = pathlib.Path(folder) / "mine.yaml"
            file.write_text("clock:\n  mhz: 2000\n  remote: 77\n")
            args = lock_scaling.options(["--costs", f"rocket,{file}", "--locks", "mcs", "--workers", "1", "--quick"])
            devices = [point.runs[0][1] for point in lock_scaling.points(args)]
            self.assertEqual([device.get("clock") for device in devices], [None, {"mhz": 2000, "remote": 77}])
            self.assertEqual(len({point.runs[0][0] for point in lock_scaling.points(args)}), 2)


@unittest.skipIf(MISSING, MISSING)
class Sweep(unittest.TestCase):
    """Two locks with one and two workers, with one failed run: its result cannot be written."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hz-study-")
        self.addCleanup(scratch.cleanup)
        self.out = pathlib.Path(scratch.name) / "out"
        self.obstacle = self.out / "mcs-2-1" / "result.json.part"
        self.obstacle.mkdir(parents=True)

    def run_study(self, *arguments):
        run = study("lock-scaling", str(self.out), "--workers", "1,2", "--locks", "ticket,mcs", *arguments)
        return run, json.loads((self.out / "study.json").read_text())

    def test_a_failed_point_is_reported_and_the_others_are_kept(self):
        run, found = self.run_study()
        self.assertEqual(run.returncode, 1)
        self.assertEqual([p["name"] for p in found["points"]], ["ticket, 1 workers", "ticket, 2 workers", "mcs, 1 workers"])
        self.assertEqual([f["point"] for f in found["failed"]], ["mcs, 2 workers"])
        for text in (run.stderr, found["failed"][0]["reason"]):
            self.assertIn("the result cannot be written to", text)
        self.assertIn("1 of 4 points failed and are missing above", run.stderr)
        self.assertGreater((self.out / "lock-scaling.png").stat().st_size, 1000)

        self.obstacle.rmdir()
        words = found["failed"][0]["repeat"].split()
        again = subprocess.run([os.environ["HARTZONE_DRIVER"], *words[1:]], capture_output=True, text=True, check=False)
        self.assertEqual((words[0], again.returncode), ("./hartzone", 0), again.stderr)
        alone = json.loads((self.out / "mcs-2-1" / "result.json").read_text())
        (self.out / "mcs-2-1" / "result.json").unlink()

        run, resumed = self.run_study("--resume")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("3 runs were there already", run.stdout)
        self.assertEqual(resumed["points"][:3], found["points"])
        self.assertEqual(resumed["points"][3]["digests"], [alone["digest"]])

    def test_how_many_run_at_a_time_changes_no_figure(self):
        self.obstacle.rmdir()
        found = []
        for jobs in ("1", "3"):
            with unittest.mock.patch.dict(os.environ, HARTZONE_JOBS=jobs):
                run, figures = self.run_study("--no-pictures")
            self.assertEqual(run.returncode, 0, run.stderr)
            found.append(figures)
        self.assertEqual(*found)

    def test_resume_keeps_nothing_of_other_programs_or_another_workload(self):
        self.obstacle.rmdir()
        _, found = self.run_study()
        self.assertTrue((self.out / "report.html").exists())
        other = shutil.copy(os.environ["HARTZONE_FIRMWARE"], self.out / "firmware.elf")
        with open(other, "ab") as image:
            image.write(b"x")
        with unittest.mock.patch.dict(os.environ, HARTZONE_FIRMWARE=str(other)):
            run, again = self.run_study("--resume", "--no-pictures")
        self.assertEqual([name for name in ("report.html", "lock-scaling.png") if (self.out / name).exists()], [], "they show other figures")
        self.assertNotIn("were there already", run.stdout)
        self.assertEqual(again["points"], found["points"])
        self.assertNotEqual(again["software"], found["software"])
        (self.out / "mcs-1-1" / "workload.yaml").write_text("seed: 2\n")
        run, _ = self.run_study("--resume", "--no-pictures")
        self.assertNotIn("were there already", run.stdout, "the image is the first one again")


class SideBySide(unittest.TestCase):
    """Runs that are shell scripts."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hz-study-")
        self.addCleanup(scratch.cleanup)
        self.out = pathlib.Path(scratch.name)

    @contextlib.contextmanager
    def runs(self, jobs, *scripts):
        from common import runs, side_by_side

        def begin(out, script, _, __=()):
            out.mkdir()
            return subprocess.Popen(["sh", "-c", script], cwd=self.out)

        with unittest.mock.patch.dict(os.environ, HARTZONE_JOBS=str(jobs)), unittest.mock.patch.object(runs, "begin", begin), \
                unittest.mock.patch.object(runs, "driver"), unittest.mock.patch.object(runs, "result_of", lambda out, extra, code: code):
            yield side_by_side.SideBySide((self.out / str(i), script, None, ()) for i, script in enumerate(scripts))

    def test_as_many_as_there_are_jobs_are_under_way(self):
        meet = "touch {}; for i in $(seq 1000); do [ -e {} ] && exit {}; sleep 0.01; done"
        with self.runs(2, meet.format("a", "b", 5), meet.format("b", "a", 6), "exit 7") as three:
            self.assertEqual([three.result(self.out / str(i), ()) for i in range(3)], [5, 6, 7])

    def test_no_more_are(self):
        alone = "mkdir busy && sleep 0.05 && rmdir busy"
        with self.runs(1, *[alone] * 4) as four:
            self.assertEqual([four.result(self.out / str(i), ()) for i in range(4)], [0] * 4)

    def test_a_later_one_may_end_first(self):
        with self.runs(2, "for i in $(seq 1000); do [ -e 2 ] && exit 5; sleep 0.01; done", "exit 6", "exit 7") as three:
            self.assertEqual([three.result(self.out / str(i), ()) for i in range(3)], [5, 6, 7])

    def test_who_stops_leaves_nothing(self):
        with self.runs(2, "exit 5", *["exec sleep 1000"] * 3) as four:
            self.assertEqual(four.result(self.out / "0", ()), 5)
            living = list(four.running.values())
            four.stop()
        self.assertGreaterEqual(len(living), 1)
        self.assertTrue(all(child.poll() == -signal.SIGTERM for child in living))
        self.assertFalse((self.out / "3").exists(), "no more were begun")


class ConZone(unittest.TestCase):
    """Common properties of studies of ConZone's paper: figures next to the paper's, a plot,
    repeatable figures for one seed."""

    def quick(self, name):
        with tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
            run = study(name, folder)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertGreater((pathlib.Path(folder) / f"{name}.png").stat().st_size, 1000)
            found = json.loads((pathlib.Path(folder) / "study.json").read_text())
        self.assertEqual(found["study"], name)
        for f in found["figures"]:
            self.assertLessEqual({"name", "paper", "measured", "unit"}, f.keys())
        self.assertTrue(any(f["paper"] is not None for f in found["figures"]))
        mechanisms.directions_hold(self, name, found)
        return {f["name"]: f["measured"] for f in found["figures"]}, found["points"]


@unittest.skipIf(MISSING, MISSING)
class ConZoneFig6b(ConZone):
    def test_sharing_a_buffer_costs_bandwidth_and_flash(self):
        figures, points = self.quick("conzone-fig6b")
        self.assertGreater(figures["bandwidth, apart against shared"], 5)
        self.assertGreater(figures["bandwidth, apart against shared, programmed, fair"], 65)
        self.assertAlmostEqual(figures["WAF, apart against shared, programmed, fair"], 100 * (1 / 1.5 - 1), delta=1)
        self.assertAlmostEqual(figures["WAF, buffers apart"], 1, delta=0.02)
        self.assertEqual([p["zones"] for p in points], ["apart", "shared", "whole, apart", "programmed, fair", "programmed, polled", "transferred, kept",
                                                        "transferred, fair", "transferred, polled", "whole, kept", "whole, fair", "whole, polled",
                                                        "whole, apart, slower writes", "whole, kept, slower writes"])
        for p in points:
            self.assertEqual(p["conflicts"] > 0, "apart" not in p["zones"])
        self.assertGreater(figures["bandwidth, apart against shared, whole, kept"], figures["bandwidth, apart against shared"] + 5)
        self.assertLess(figures["bandwidth, apart against shared"], 65)
        self.assertGreater(figures["bandwidth, apart against shared, programmed, polled"], 65)
        self.assertAlmostEqual(figures["bandwidth, apart against shared, model of the published code"], 65, delta=15)


@unittest.skipIf(MISSING, MISSING)
class ConZoneReadings(ConZone):
    def test_an_owner_that_goes_on_costs_less_and_stages_less(self):
        figures, points = self.quick("conzone-readings")
        self.assertEqual(len(points), 10)
        kept, fair = "as conzone-fig6b: programmed, kept", "programmed, fair"
        for what, worse in (("bandwidth, apart against shared", 200), ("WAF, apart against shared", -20)):
            self.assertLess(abs(figures[f"{what}, {kept}"]), abs(worse) / 2)
            self.assertGreater(abs(figures[f"{what}, {fair}"]), abs(worse))
        self.assertGreater(figures[f"four writers against legacy, {kept}"], figures[f"four writers against legacy, {fair}"] + 15)
        self.assertAlmostEqual(figures[f"four writers against legacy, {kept}"], 0, delta=5)


@unittest.skipIf(MISSING, MISSING)
class ConZoneFig6a(ConZone):
    def test_zoned_and_legacy_write_and_read_alike(self):
        figures, points = self.quick("conzone-fig6a")
        self.assertEqual(len(points), 13)
        for threads in ("1 thread", "4 threads"):
            self.assertAlmostEqual(figures[f"write, {threads}, zoned against legacy"], 0, delta=5, msg=threads)
        self.assertGreater(figures["read, 4 threads, zoned"], figures["read, 1 thread, zoned"])


@unittest.skipIf(MISSING, MISSING)
class ConZoneFig7(ConZone):
    def test_a_page_map_outgrows_its_cache_and_a_hybrid_map_does_not(self):
        figures, points = self.quick("conzone-fig7")
        misses = {(p["map"], p["range_mib"]): p["misses"] for p in points}
        self.assertLess(figures["reads, page map, 48 MiB against 1 MiB"], -15)
        self.assertGreater(figures["reads, hybrid map, 48 MiB against 1 MiB"], -6)
        self.assertGreater(misses["page", 48], 0.9)
        self.assertLess(misses["hybrid", 1], 0.01)


@unittest.skipIf(MISSING, MISSING)
class ConZoneFig8(ConZone):
    def test_searching_for_the_level_costs_a_fetch(self):
        figures, _ = self.quick("conzone-fig8")
        self.assertAlmostEqual(figures["L2P misses, bitmap"], 27.4, delta=3)
        self.assertAlmostEqual(figures["fetches per miss, bitmap"], 1, delta=0.01)
        self.assertAlmostEqual(figures["fetches per miss, multiple"], 2, delta=0.01)
        self.assertAlmostEqual(figures["fetches per miss, pinned"], 1, delta=0.01)
        self.assertAlmostEqual(figures["reads, multiple against bitmap"], -10, delta=2)


@unittest.skipIf(MISSING, MISSING)
class ConZoneSensitivity(unittest.TestCase):
    def test_less_cache_misses_more(self):
        with tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
            run = study("conzone-sensitivity", folder)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            found = json.loads((pathlib.Path(folder) / "study.json").read_text())
        missed = {f["name"].split(":")[0]: f["measured"] for f in found["figures"] if "L2P misses" in f["name"]}
        half, base, twice = (missed[f"conzone-fig8, {setting}"] for setting in ("cache x 0.5", "none x 1", "cache x 2"))
        self.assertGreater(half, base)
        self.assertGreater(base, twice)


@unittest.skipIf(MISSING, MISSING)
class Mechanisms(unittest.TestCase):
    """Studies of open questions of the papers: their quick form shows the study's own directions.
    """

    def test_quick_forms_that_no_document_prints(self):
        for name in sorted(mechanisms.SHOWS.keys() & quick_forms.NAMES):
            with self.subTest(name), tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
                run = study(name, folder)
                self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
                self.assertGreater((pathlib.Path(folder) / f"{name}.png").stat().st_size, 1000)
                found = json.loads((pathlib.Path(folder) / "study.json").read_text())
                mechanisms.directions_hold(self, name, found)
                mechanisms.quick_form_shows(self, name, found)

    def test_documents_print_the_others(self):
        printed_forms = printed.all_commands()
        for name in mechanisms.SHOWS.keys() - quick_forms.NAMES:
            self.assertIn(quick_forms.command(name), printed_forms, "nobody runs it")
        for name in quick_forms.NAMES:
            self.assertNotIn(quick_forms.command(name), printed_forms, "it runs twice: take it out of quick_forms.py")


@unittest.skipIf(MISSING, MISSING)
class Recordings(unittest.TestCase):
    MOST = 1500

    def test_what_linux_sent_is_repeated_alike(self):
        """Twice the same; whether as it was recorded, depends on the firmware since."""
        import sessions
        from common import recorded, runs
        for name, session in sessions.SESSIONS.items():
            with self.subTest(name), tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
                results = [runs.run(pathlib.Path(folder) / again, *recorded.run(again, session.device(), name, self.MOST)[1:3],
                                    recorded.run(again, session.device(), name, self.MOST)[3:]) for again in ("first", "second")]
                first, second = (result["as_recorded"] for result in results)
                self.assertEqual((first["digest"], first["commands"]), (second["digest"], min(self.MOST, len(recorded.of(name).commands))))
                self.assertEqual([result["failed_commands"]["count"] for result in results], [0, 0])


class Verdict(unittest.TestCase):
    def test_inexact_run_is_refused(self):
        from common import runs
        with self.assertRaisesRegex(runs.StudyError, "cannot be used: QEMU was stopped"):
            runs.refuse_unless_deterministic({"deterministic": False, "deterministic_reason": "QEMU was stopped"}, "here")


if __name__ == "__main__":
    unittest.main(verbosity=2)
