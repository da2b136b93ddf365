"""run --timeline: what each hart, die and command did when. It changes nothing, and adds up to what the result says."""
# SPDX-License-Identifier: BSD-3-Clause
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem  # noqa: E402

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
MISSING = device_problem()
HARTS, FLASH, COMMANDS = 1, 2, 3
# Many workers on few locks, so that they wait; 700 commands.
LOAD = ("--device", "lock-scaling", "--workload", "lock-scaling", "--workers", "6", "--threads", "6", "--quick")
# Enough for batches, from two threads, one of which ends before the other.
READS = """mapping: direct
threads: 2
verify: false
common: {read_ratio: 1.0, pattern: random, block: 4 KiB, queue_depth: 4, prefill: 1.0, zones: 2, total_ops: 2000}
each: [{}, {total_ops: 1600}]
"""


@unittest.skipIf(MISSING, MISSING)
class Timeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hz-timeline-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.plain, _ = cls.run_once("plain")
        cls.result, cls.said = cls.run_once("kept", "--timeline", str(cls.folder / "run.json"))
        cls.events = json.loads((cls.folder / "run.json").read_text())["traceEvents"]
        cls.spans = collections.defaultdict(list)  # (process, track) → spans
        for event in cls.events:
            if event["ph"] == "X":
                cls.spans[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], event["name"]))

    @classmethod
    def run_once(cls, name, *words):
        out = cls.folder / name
        done = subprocess.run([DRIVER, "run", *LOAD, "--out", out, *words], capture_output=True, text=True, check=True)
        return json.loads((out / "result.json").read_text()), done.stdout

    def sum_us(self, process, track, prefix):
        return sum(end - begin for begin, end, name in self.spans[process, track] if name.startswith(prefix))

    def test_it_changes_nothing(self):
        for key in ("digest", "elapsed_ns", "harts", "locks", "deterministic"):
            self.assertEqual(self.result[key], self.plain[key], key)
        self.assertTrue(self.result["deterministic"])
        self.assertNotIn("left out", self.said)

    def test_spans_of_a_track_lie_in_each_other_or_apart(self):
        for track, spans in self.spans.items():
            open_until = []
            for begin, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
                while open_until and open_until[-1] <= begin + 1e-4:
                    open_until.pop()
                self.assertTrue(not open_until or end <= open_until[-1] + 1e-4, f"{track}: {name} at {begin}")
                open_until.append(end)

    def test_harts_add_up(self):
        waited = 0
        for hart in self.result["harts"]:
            waits, work = (self.sum_us(HARTS, hart["id"], prefix) for prefix in ("wait for lock", "work"))
            self.assertAlmostEqual(waits, hart["spin_ns"] / 1e3, delta=0.02 * hart["spin_ns"] / 1e3 + 2)
            if hart["role"] == "worker":
                self.assertAlmostEqual(work, (hart["work_ns"] + hart["spin_ns"]) / 1e3, delta=0.05 * work)
            waited += waits
        self.assertGreater(waited, 100)

    def test_each_command_is_there(self):
        names = collections.Counter(name for (process, _), spans in self.spans.items() if process == COMMANDS for _, _, name in spans)
        self.assertEqual(names, {kind: of["ops"] for kind, of in self.result["totals"].items() if isinstance(of, dict) and of.get("ops")})
        ends = [end for (process, _), spans in self.spans.items() if process == COMMANDS for _, end, _ in spans]
        self.assertAlmostEqual(max(ends), self.result["elapsed_ns"] / 1e3, places=2)

    def test_operations_of_dies(self):
        """Operations left by the preparation may end before the first command arrives: one program
        on each of 64 planes at most."""
        by_cause = self.result["nand"]["by_cause"]
        names = collections.Counter(name for (process, _), spans in self.spans.items() if process == FLASH for _, _, name in spans)
        for word, key in (("read", "reads"), ("program", "programs")):
            for cause, of in by_cause.items():
                self.assertTrue(of[key] - 64 <= names[f"{word} for {cause}"] <= of[key], f"{word} for {cause}: {names}, {of[key]}")

    def test_it_is_refused_where_there_is_none(self):
        for words, says in ((("--clock", "real"), "needs --clock virtual"), (("--power-cut-at", "5"), "leave out --power-cut-at")):
            done = subprocess.run([DRIVER, "run", *LOAD, "--timeline", self.folder / "no.json", *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)
            self.assertFalse((self.folder / "no.json").exists())

    def test_a_timeline_that_cannot_be_written_costs_no_result(self):
        out = self.folder / "full"
        done = subprocess.run([DRIVER, "run", *LOAD, "--timeline", "/dev/full", "--out", out], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/full", done.stderr)
        self.assertIn("device time", done.stdout)
        self.assertEqual(json.loads((out / "result.json").read_text())["digest"], self.result["digest"])


@unittest.skipIf(MISSING, MISSING)
class SteadyState(unittest.TestCase):
    def test_its_means_are_those_of_the_commands_behind_the_warmup(self):
        with tempfile.TemporaryDirectory(prefix="hz-steady-") as folder:
            folder = pathlib.Path(folder)
            (folder / "load.yaml").write_text(READS)
            subprocess.run([DRIVER, "run", "--device", "lock-scaling", "--workload", folder / "load.yaml", "--out", folder, "--timeline",
                            folder / "run.json"], capture_output=True, check=True)
            steady = json.loads((folder / "result.json").read_text())["steady"]
            events = json.loads((folder / "run.json").read_text())["traceEvents"]
        self.assertEqual((steady["reason"], steady["batches"]), (None, 30))
        by_queue = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "X" and event["pid"] == COMMANDS:
                by_queue[event["tid"] // 1000].append((1e3 * (event["ts"] + event["dur"]), 1e3 * event["dur"]))
        self.assertEqual(len(by_queue), 2)
        first_is_done = min(max(end for end, _ in queue) for queue in by_queue.values())
        took = [ns for queue in by_queue.values() for end, ns in queue if steady["warmup_ns"] < end <= first_is_done]
        iops, latency = 1e9 * len(took) / (first_is_done - steady["warmup_ns"]), sum(took) / len(took)
        for figure, expected in ((steady["iops"], iops), (steady["latency_ns"], latency)):
            self.assertAlmostEqual(figure["mean"], expected, delta=0.01 * expected)
            self.assertTrue(0 < figure["half_width"] < 0.05 * expected, figure)
        self.assertTrue(0.5 * first_is_done < steady["measured_ns"] + steady["warmup_ns"] <= first_is_done)


if __name__ == "__main__":
    unittest.main(verbosity=2)
