"""Traces as a user meets them: each format on all threads, what the result says of them, what is refused, and Ctrl-C."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import HANG_S, device_problem  # noqa: E402

MISSING = device_problem()

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
DAY = 24 * 3600


def lines(count, line):
    """line(0), line(1), …"""
    return "".join(line(i) + "\n" for i in range(count))


FORMATS = {  # one stream each, but for those that are made of many
    "native": ("hartzone-trace 1\n" + lines(80, lambda i: f"{i * 1000} 0 {'write' if i % 2 else 'read'} {i * 4} 4"), 1),
    "fio2": ("fio version 2 iolog\n/d add\n" + lines(80, lambda i: f"/d write {i * 16384} 16384"), 1000),
    "fio3": ("fio version 3 iolog\n" + lines(80, lambda i: f"{i} /d write {i * 16384} 16384"), 1000),
    "mqsim": (lines(80, lambda i: f"{i * 1000} 0 {i * 32} 32 {i % 2}"), 1),
    "msr": (lines(80, lambda i: f"{128166372003061629 + i * 10},hm,0,{'Write' if i % 2 else 'Read'},{i * 16384},16384,7"), 100),
    "alibaba": (lines(80, lambda i: f"{i % 8},W,{i * 4096},4096,{1577808000000626 + i}"), 1000),
    "tencent": (lines(80, lambda i: f"1538323200,{i * 8},8,1,{i % 8}"), 1000000000),
    "spc": (lines(80, lambda i: f"0,{i * 32},16384,W,0.{i:06}"), 1000000000),
    "vscsi": ("version,time,op,size,lbn\n" + lines(80, lambda i: f"1,{33898 + i // 20},2a,16384,{i * 32}"), 1000000000),
}


@unittest.skipIf(MISSING, MISSING)
class Traces(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="hz-trace-")
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def run_driver(self, *words):
        return subprocess.run([DRIVER, "run", "--out", str(self.folder), *words], capture_output=True, text=True, check=False)

    def replay(self, text, *words):
        (self.folder / "t").write_text(text)
        run = self.run_driver("--trace", str(self.folder / "t"), *words)
        return run, json.loads((self.folder / "result.json").read_text()) if run.returncode == 0 else None

    def good(self, text, *words):
        run, result = self.replay(text, *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run, result

    def test_every_format_keeps_all_threads_busy(self):
        for name, (text, unit) in FORMATS.items():
            with self.subTest(format=name):
                run, result = self.good(text)
                trace = result["trace"]
                self.assertEqual((trace["format"], trace["format_from"], trace["time_unit_ns"]), (name, "detected", unit))
                self.assertEqual((trace["records"], trace["idle_threads"], len(trace["thread_records"])), (80, 0, 4), trace)
                self.assertGreaterEqual(min(trace["thread_records"]), 10)
                self.assertEqual(result["warnings"], [])
                self.assertIn(f"trace: {name} (detected)", run.stdout)

    def test_idle_threads_are_reported(self):
        run, result = self.good(FORMATS["spc"][0], "--split", "stream")
        self.assertEqual((result["trace"]["idle_threads"], result["trace"]["thread_records"]), (3, [80, 0, 0, 0]))
        self.assertIn("warning: 3 of 4 threads replayed nothing: the trace has too few streams; use --split address", run.stdout)

    def test_folded_addresses_are_reported(self):
        far = 1 << 31  # sectors of 512 bytes: a terabyte
        _, result = self.good(lines(40, lambda i: f"0,{i * 32 + (far if i % 4 == 0 else 0)},16384,W,0.{i:06}"), "--split", "stream",
                              "--threads", "1")
        self.assertEqual(result["mapping"]["wrapped_records"], 10)
        self.assertIn("10 of 40 records lie beyond", " ".join(result["warnings"]))

    def test_late_arrivals_are_reported(self):
        text = "hartzone-trace 1\n" + lines(80, lambda i: f"{i} 0 write {i * 4} 4")
        _, result = self.good(text, "--timestamps", "--queue-depth", "1")
        self.assertGreater(result["totals"]["late_arrivals"], 50)
        self.assertIn("commands arrived later than the trace says", " ".join(result["warnings"]))
        _, relaxed = self.good(text, "--timestamps", "--time-scale", "1000000")
        self.assertEqual(relaxed["totals"]["late_arrivals"], 0)

    def test_a_journal_keeps_its_durability(self):
        """Each write of the journal with FUA after its own Flush; omissions are reported."""
        text = lines(40, lambda i: f"8,0 0 {i + 1} 0.{i:03}000000 1 Q {'FWFS' if i % 4 == 0 else 'W'} {i * 8} + 8 [jbd2]")
        run, result = self.good(text + "8,0 0 99 0.9 1 Q N 0 + 8 [x]\n", "--threads", "1")
        self.assertEqual((result["totals"]["flush"]["ops"], result["totals"]["write"]["ops"]), (10, 40))
        self.assertEqual(result["trace"]["left_out"], {"requests that neither read, write nor discard (N)": 1, "the mark sync": 10})
        self.assertIn("warning: the trace also says what a replay leaves out, how often each: ", run.stdout)
        _, plain = self.good(text.replace("FWFS", "W"), "--threads", "1")
        self.assertNotIn("left_out", " ".join(plain["warnings"]))
        self.assertGreater(result["totals"]["write"]["latency_ns"]["max"], plain["totals"]["write"]["latency_ns"]["max"])

    def test_broken_lines(self):
        text = FORMATS["msr"][0].replace("\n", "\nbroken\n", 3)
        run, _ = self.replay(text, "--format", "msr")
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"{self.folder}/t:2: the line has 1 fields instead of 7", run.stderr)
        run, _ = self.replay(text, "--format", "msr", "--skip-bad", "2")
        self.assertIn(f"{self.folder}/t:6: ", run.stderr)
        run, result = self.good(text, "--skip-bad", "3")
        self.assertEqual((result["trace"]["records"], result["trace"]["skipped"]["count"]), (80, 3))
        self.assertTrue(result["trace"]["skipped"]["first"][1].startswith(f"{self.folder}/t:4: "))
        self.assertIn("warning: 3 lines of the trace could not be read and were skipped, the first: ", run.stdout)

    def test_arrival_times_have_a_bound(self):
        for last, line in ((25 * DAY * 10 ** 9, 3), (2 ** 62, 3), (2 ** 64 - 1, 3)):
            text = f"hartzone-trace 1\n0 0 write 0 1\n{last} 0 write 4 1\n"
            run, _ = self.replay(text, "--timestamps")
            self.assertEqual(run.returncode, 1)
            self.assertIn(f"{self.folder}/t:{line}: the request would arrive ", run.stderr)
            self.good(text, "--max-ops", "1", "--timestamps")
            self.good(text)
        run, result = self.good(f"hartzone-trace 1\n0 0 write 0 1\n{23 * DAY * 10 ** 9} 0 write 4 1\n", "--timestamps")
        self.assertGreater(result["elapsed_ns"], 23 * DAY * 10 ** 9)
        self.assertTrue(result["deterministic"], result["deterministic_reason"])

    def test_seconds_or_microseconds(self):
        _, result = self.good(FORMATS["vscsi"][0], "--timestamps", "--threads", "1")
        self.assertGreater(result["elapsed_ns"], 3 * 10 ** 9)
        text = lines(80, lambda i: f"1,{i * 20},2a,4096,{i * 32}")
        run, _ = self.replay(text, "--timestamps")
        self.assertIn("say which with --time-unit s or --time-unit us", run.stderr)
        _, result = self.good(text, "--timestamps", "--time-unit", "us")
        self.assertEqual((result["trace"]["span_ns"], result["trace"]["time_unit_from"]), (79 * 20000, "given"))
        _, result = self.good(text)
        self.assertEqual(result["trace"]["time_unit_from"], "assumed")

    def test_zones_and_blocks(self):
        zoned = "hartzone-trace 1\n" + lines(8, lambda i: f"{i} 0 write z{i} 16") + lines(8, lambda i: f"9 0 read z{i}+4 4")
        run, _ = self.replay(zoned)
        self.assertIn("/t:2: the address is in a zone: replay this trace on a zoned device, with --mapping direct", run.stderr)
        _, result = self.good(zoned, "--mapping", "direct")
        self.assertEqual((result["trace"]["split"], result["trace"]["thread_records"]), ("zone", [4, 4, 4, 4]))
        run, _ = self.replay(zoned, "--mapping", "direct", "--split", "stream")
        self.assertIn("--split: a trace that is replayed directly on zones is divided by zone", run.stderr)
        _, result = self.good(FORMATS["mqsim"][0], "--device", "legacy")
        self.assertEqual(result["trace"]["idle_threads"], 0)

    def test_a_workload_file_keeps_its_settings_for_another_trace(self):
        (self.folder / "w.yaml").write_text("name: mine\ntrace: {file: nosuch, format: mqsim, time_unit: 1us, threads: 2, queue_depth: 3}\n")
        _, result = self.good(FORMATS["spc"][0], "--workload", str(self.folder / "w.yaml"))
        self.assertEqual((len(result["queues"]), result["workload"]["trace"]["queue_depth"]), (2, 3))
        self.assertEqual((result["trace"]["format"], result["trace"]["time_unit_ns"]), ("spc", 10 ** 9))


@unittest.skipIf(MISSING, MISSING)
class Interrupts(unittest.TestCase):
    """The trace is read through xz, which a terminal's Ctrl-C would reach too."""

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="hz-interrupt-")
        self.folder = pathlib.Path(self.temporary.name)
        (self.folder / "runs").mkdir()
        (self.folder / "w.yaml").write_text(f"trace: {{file: {TOP}/traces/sqlite-wal.hzt.xz, preload: false}}\n")  # nothing to prepare

    def tearDown(self):
        self.temporary.cleanup()

    def pressed(self, *signals):
        """The terminal's signals as soon as the measurement has begun."""
        run = subprocess.Popen([DRIVER, "run", "--out", str(self.folder), "--workload", str(self.folder / "w.yaml")], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, "HARTZONE_RUN_BASE": str(self.folder / "runs")})
        end = time.monotonic() + HANG_S
        while len(os.listdir(f"/proc/{run.pid}/task")) < 6:  # main thread, watch thread, four host threads
            self.assertLess(time.monotonic(), end, "the run has not begun")
            time.sleep(0.01)
        for number in signals:
            os.killpg(run.pid, number)
        out, err = run.communicate(timeout=HANG_S)
        self.assertEqual(run.returncode, 130, err)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertEqual(list((self.folder / "runs").iterdir()), [])
        return out, err, json.loads((self.folder / "result.json").read_text())

    def test_the_result_so_far_is_kept(self):
        out, err, result = self.pressed(signal.SIGINT)
        self.assertIn("the result so far is in ", err)
        self.assertEqual((result["interrupted"], result["deterministic"], result["violations"]), ("measurement", False, []))
        self.assertLess(result["totals"]["completed"], 20000)
        self.assertEqual(result["totals"]["completed"], result["totals"]["submitted"])
        self.assertEqual(result["read_back"]["bytes"], 0)
        self.assertIn("warning: interrupted: the figures are of what had been replayed until then", out)

    def test_the_second_one_ends_at_once(self):
        _, err, result = self.pressed(signal.SIGINT, signal.SIGTERM)  # two of a kind may arrive as one
        self.assertEqual(err, "hartzone: interrupted, everything is cleaned up\n")
        self.assertIn("interrupted", result["error"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
