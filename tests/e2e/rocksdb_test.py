"""RocksDB on zones of ours: loads and their results, a recording that replays bit for bit with its durable writes, every synced key after
the death of the program and after power cuts; errors that are reported."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import HANG_S, device_problem  # noqa: E402

DRIVER, PROGRAM = os.environ.get("HARTZONE_DRIVER", ""), os.environ.get("HARTZONE_ROCKSDB", "")
MISSING = device_problem()
if not os.path.exists(PROGRAM):
    MISSING = MISSING or "RocksDB is not installed (scripts/setup installs it)"


@unittest.skipIf(MISSING, MISSING)
class RocksDb(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-rocksdb-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, *words):
        return subprocess.run([DRIVER, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.folder, timeout=HANG_S)

    def good(self, *words):
        run = self.call(*words)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def acked(self, name="acked"):
        return int((self.folder / name).read_text().split()[2])

    def test_a_recording_replays_bit_for_bit(self):
        """Memtables of 1 MiB make tables, compactions and resets; each key is right afterwards."""
        self.good("rocksdb", "fillseq", "overwrite", "readrandom", "check", "--keys", 6000, "--memtable", 1, "--record", "t.hzt", "--out",
                  ".")
        loads = json.loads((self.folder / "rocksdb.json").read_text())["loads"]
        self.assertEqual([load["checked_keys"] for load in loads], [0, 0, 6000, 6000])
        for load in loads[:2]:
            self.assertGreater(load["device"]["durable write"]["bytes"], 6000 * 900, "the log of what was written is durable")
            self.assertGreater(load["device"]["write"]["count"], 0, "tables are not")
            self.assertGreater(load["mib_s"], 0)
        trace = (self.folder / "t.hzt").read_text()
        replay = ("--mapping", "direct", "--threads", 1, "--queue-depth", 1, "--out")
        for name in "ab":
            self.good("run", "--trace", "t.hzt", *replay, name)
        (self.folder / "plain.hzt").write_text(trace.replace(" durable", ""))
        self.good("run", "--trace", "plain.hzt", *replay, "c")
        first, second, plain = [json.loads((self.folder / name / "result.json").read_text()) for name in "abc"]
        self.assertEqual(first["digest"], second["digest"])
        self.assertNotEqual(first["digest"], plain["digest"])
        self.assertEqual(first["totals"]["write"]["ops"], len(re.findall(" write ", trace)))
        self.assertGreater(first["ftl"]["buffer_flushes"]["host"], 2 * plain["ftl"]["buffer_flushes"]["host"])

    def streams(self, name, **trace):
        """The result of a replay with each of RocksDB's threads as a program of its own."""
        (self.folder / f"{name}.yaml").write_text(json.dumps({"mapping": "direct", "verify": True, "trace": {
            "file": "t.hzt", "order": "streams", "threads": 1, "queue_depth": 4, **trace}}))
        self.good("run", "--workload", f"{name}.yaml", "--out", name)
        return json.loads((self.folder / name / "result.json").read_text())

    def test_its_threads_are_replayed_beside_each_other(self):
        """A recording says who sent a command, after what, and after which computing."""
        self.good("rocksdb", "fillseq", "overwrite", "--keys", 6000, "--memtable", 1, "--record", "t.hzt")
        trace = (self.folder / "t.hzt").read_text()
        threads = {line.split()[1] for line in trace.splitlines()[1:]}
        self.assertGreater(len(threads), 2, "keys are written, memtables flushed, and tables merged")
        self.assertRegex(trace, r" 1 \w+ .* after=0:\d+")
        self.assertRegex(trace, r" 0 \w+ .* after=1:\d+")
        first, again, quick = self.streams("a"), self.streams("b"), self.streams("c", think_scale=0)
        self.assertEqual(first["digest"], again["digest"])
        self.assertGreater(first["elapsed_ns"], quick["elapsed_ns"])
        self.good("run", "--trace", "t.hzt", "--mapping", "direct", "--threads", 1, "--queue-depth", 1, "--out", "chain")
        chain = json.loads((self.folder / "chain" / "result.json").read_text())
        self.assertLess(quick["elapsed_ns"], chain["elapsed_ns"])
        self.assertEqual(set(chain["trace"]["left_out"]), {"the mark after", "the mark think"})
        self.assertEqual(first["trace"]["left_out"], {})
        for result in (first, quick, chain):
            self.assertEqual(result["totals"]["write"]["ops"], len(re.findall(" write ", trace)))
            self.assertEqual(result["failed_commands"]["count"] + len(result["violations"]), 0)
            self.assertEqual(result["totals"]["write"]["errors"], 0)

    def test_power_cuts_lose_no_synced_key(self):
        """Also while the files are mounted; acknowledged data grow with the time of the cut. A
        device with power-loss protection gets protected writes; another one FUA writes."""
        small = (TOP / "configs" / "devices" / "small.yaml").read_text()
        (self.folder / "protecting.yaml").write_text(small + "plp: {mode: selective}\n")
        known = []
        for cut, device in ((7, "small"), (40, "small"), (90, "protecting.yaml"), (180, "small"), (400, "protecting.yaml")):
            image = ("rocksdb", "--device", device, "--image", f"{cut}.img")
            load = ("--keys", 1500, "--acked", f"{cut}.acked")
            out = self.good(*image, "--power-cut-at", cut, "fillseq", "overwrite", *load, "--memtable", 1, "--sync-every", 3)
            self.assertIn(f"the power was cut at flash operation {cut}, as asked", out)
            known.append(self.acked(f"{cut}.acked"))
            if not known[-1]:
                continue  # nothing was promised, there may be no files
            self.call(*image, "--power-cut-at", 5, "check", *load)
            self.assertIn("check: 1500 operations", self.good(*image, "check", *load))
        self.assertEqual(known, sorted(known))
        self.assertGreater(known[-1], 100)

    def serve(self):
        """The run folder of a device that is up until the test ends."""
        device = subprocess.Popen([DRIVER, "serve", "--device", "small"], stdout=subprocess.PIPE, text=True, cwd=self.folder)
        self.addCleanup(device.stdout.close)
        self.addCleanup(device.wait, HANG_S)
        self.addCleanup(device.terminate)
        self.assertIn("the device is up", device.stdout.readline())
        return device.stdout.readline().strip()

    def kill_at(self, folder, loads, acked):
        """Starts the loads and kills their program after this number of acknowledged writes."""
        options = {"run_directory": folder, "nsid": 1, "loads": loads, "keys": 1500, "seed": 1, "sync_every": 2,
                   "memtable_bytes": 1 << 18, "record": "", "acked": str(self.folder / "acked"), "out": ""}
        with subprocess.Popen([PROGRAM, json.dumps(options)], stdout=subprocess.DEVNULL) as program:
            end = time.monotonic() + HANG_S
            while (not (self.folder / "acked").exists() or self.acked() < acked) and program.poll() is None:
                self.assertLess(time.monotonic(), end, "the load does not come forward")
                time.sleep(0.001)
            program.send_signal(signal.SIGKILL)
        self.assertEqual(program.returncode, -signal.SIGKILL, "it ended before it could be killed")
        self.assertEqual([path.name for path in self.folder.glob("acked*")], ["acked"])

    def test_a_killed_program_loses_no_synced_key(self):
        folder = self.serve()
        check = ("rocksdb", "--attach", folder, "check", "--keys", 1500, "--acked", "acked")
        self.kill_at(folder, ["fillseq", "overwrite"], 700)
        self.good(*check)
        for more in (100, 900):
            self.kill_at(folder, ["overwrite", "overwrite"], self.acked() + more)
            self.good(*check)

    def test_what_cannot_be_is_reported(self):
        for words, said in (
                (("--device", "small", "fill"), "takes fillseq, overwrite, readrandom or check"),
                (("--device", "small", "check", "fillseq"), "it comes first, or not at all"),
                (("--device", "small", "check", "--record", "t"), "the loads begin with fillseq"),
                (("--device", "small", "check"), "the device holds no files"),
                (("--device", "legacy", "fillseq"), "it is a block device"),
                (("--device", "small", "check", "--acked", "none"), "takes a file that fillseq has made"),
                (("--device", "small", "fillseq", "--keys", 9000), "the zones are full"),
                (("--attach", self.folder, "--power-cut-at", 3, "fillseq"), "is for a device of our own")):
            with self.subTest(words=words):
                run = self.call("rocksdb", *words)
                self.assertIn(run.returncode, (1, 2), run.stdout)
                self.assertIn(said, run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
