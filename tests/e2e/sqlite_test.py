"""SQLite on files in a device of ours: runs that are the same each time, what its own work costs, all that was committed after power cuts and
after the death of the program, its shell by itself, errors that are reported."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import HANG_S, device_problem  # noqa: E402

DRIVER, EXTENSION = os.environ.get("HARTZONE_DRIVER", ""), os.environ.get("HARTZONE_SQLITE_EXTENSION", "")
MISSING = device_problem()
if not os.path.exists(EXTENSION):
    MISSING = MISSING or "SQLite's headers are not installed (scripts/setup installs them)"

EAGER = "gc_no_zoned_gc_percent=100,gc_boost_zoned_gc_percent=0,segment=64KiB,pause=0"
TABLE = "CREATE TABLE IF NOT EXISTS t(i INTEGER PRIMARY KEY, v BLOB);"


def inserts(first, count):
    """Transactions, each of which prints its commit."""
    return "".join(f"INSERT INTO t VALUES({i}, randomblob(3000)); SELECT {i};" for i in range(first, first + count))


@unittest.skipIf(MISSING, MISSING)
class Sqlite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-sqlite-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, *words):
        return subprocess.run([DRIVER, "sqlite", *map(str, words)], capture_output=True, text=True, check=False, cwd=self.folder,
                              timeout=HANG_S)

    def good(self, *words):
        run = self.call(*words)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def result(self, *words):
        self.good("--out", ".", *words)
        return json.loads((self.folder / "sqlite.json").read_text())

    def test_a_run_is_the_same_each_time(self):
        load = ("a.db", TABLE + inserts(1, 20) + "DELETE FROM t WHERE i % 2;")
        first, second = self.result("--device", "small-mixed", *load), self.result("--device", "small-mixed", *load)
        self.assertEqual(first, second)
        dearer = self.result("--device", "small-mixed", "--compute", "fixed:50us", *load)
        self.assertNotEqual(first["digest"], dearer["digest"])
        self.assertEqual(first["files"], dearer["files"], "the same is written")
        self.assertGreater(dearer["elapsed_ns"], first["elapsed_ns"] + 20 * 10 * 50000, "at least ten calls a transaction")
        measured = self.result("--device", "small-mixed", "--compute", "measured", *load)
        self.assertGreater(measured["elapsed_ns"], first["elapsed_ns"])
        self.assertGreater(first["files"]["syncs"], 40)
        self.assertGreater(first["device"]["durable write"]["count"], 100)

    def test_in_place_writes_no_node_for_what_is_there(self):
        load = ("a.db", "PRAGMA journal_mode=persist;" + TABLE + inserts(1, 5) + "UPDATE t SET v = randomblob(3000);" * 20)
        log, place = [self.result("--device", "small-legacy", *flag, *load)["files"] for flag in ([], ["--in-place"])]
        self.assertEqual(log["in_place_blocks"], 0)
        self.assertGreater(place["in_place_blocks"], 100)
        self.assertEqual(place["slack_blocks"], 0)
        self.assertLess(place["node_blocks"], log["node_blocks"] / 2)

    def test_the_layer_of_files_cleans_copies_and_makes_superpages(self):
        load = ("a.db", TABLE + "".join(f"INSERT INTO t VALUES({i}, randomblob(60000));" for i in range(60)) + "UPDATE t SET v = randomblob(60000) WHERE i % 2;" * 6)
        knobs = ("--cleaner", EAGER)
        plain, tailored, cleaned, copied = (self.result("--device", "conzone-f2fs", *flags, *load)
                                            for flags in ((), ("--iotailor",), knobs, (*knobs, "--copy-offload")))
        self.assertEqual((plain["iotailor"], plain["files"]["rounds"]), (None, {"normal": 0, "boosted": 0, "paused": 0}))
        self.assertEqual(tailored["files"], plain["files"])
        self.assertGreater(tailored["iotailor"]["superpages"], 10)
        self.assertGreater(min(cleaned["files"]["rounds"]["normal"], cleaned["files"]["rounds"]["paused"], cleaned["files"]["moved_blocks"]), 0)
        self.assertEqual((cleaned["files"]["copied_blocks"], cleaned["device"]["copy"]["count"]), (0, 0))
        self.assertEqual(copied["files"]["copied_blocks"], cleaned["files"]["moved_blocks"])
        self.assertGreater(copied["device"]["copy"]["count"], 0)
        self.assertLess(copied["device"]["read"]["bytes"], cleaned["device"]["read"]["bytes"], "what moves does not come to the host")

    def test_what_is_in_the_page_cache_is_not_read_from_the_device(self):
        load = ("a.db", "PRAGMA cache_size=10;" + TABLE + "".join(f"INSERT INTO t VALUES({i}, randomblob(60000));" for i in range(60)) + "SELECT sum(length(hex(v))) FROM t;" * 3)
        plain, cached, small = (self.result("--device", "conzone-f2fs", *flags, *load) for flags in ((), ("--page-cache", "64MiB"), ("--page-cache", "64KiB")))
        self.assertEqual((plain["page_cache"], plain["layer"]["page_cache"], cached["layer"]["page_cache"]), (None, 0, 64 << 20))
        self.assertEqual(cached["files"], plain["files"])
        self.assertGreater(cached["page_cache"]["hits"], 1000)
        mounting = [4096 * run["page_cache"]["misses"] - run["device"]["read"]["bytes"] for run in (cached, small)]
        self.assertEqual(*mounting)
        self.assertLess(mounting[0], 256 * 1024)
        self.assertLess(cached["device"]["read"]["bytes"], small["device"]["read"]["bytes"])
        self.assertLessEqual(small["device"]["read"]["bytes"], plain["device"]["read"]["bytes"])

    def test_an_aged_device_has_other_files_and_moves_them(self):
        load = ("a.db", "PRAGMA journal_mode=wal;" + TABLE + inserts(1, 60))
        words = ("--device", "small-legacy", "--in-place", "--image", "aged.img")
        aged, empty = self.result(*words, "--aged", 75, *load), self.result(*words[:3], *load)
        self.assertGreater(aged["files"]["used_blocks"], empty["files"]["used_blocks"] + 300)
        self.assertEqual(empty["collected_bytes"], 0)
        self.assertGreater(aged["collected_bytes"], 0)
        self.assertEqual(aged["layer"]["aged"], 75)
        again = self.call(*words, "--aged", 75, *load)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("--aged is for an empty device", again.stderr)
        self.assertEqual(self.good(*words, "a.db", "SELECT count(*) FROM t").strip(), "60")

    def test_ways_that_a_device_or_a_trace_does_not_have(self):
        for words, sentence in ((("small-mixed", "--page-cache", "1KiB"), "from 4 KiB to 64 GiB"),
                                (("small-legacy", "--iotailor"), "block namespace"), (("small-legacy", "--copy-offload"), "copies nothing by itself"),
                                (("small-mixed", "--copy-offload", "--record", "a.hzt"), "leave out --record or --copy-offload"),
                                (("small-mixed", "--cleaner", "nosuch=1"), "takes off, on, or knobs")):
            run = self.call("--device", *words, "a.db", "SELECT 1")
            self.assertNotEqual(run.returncode, 0)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
            self.assertIn(sentence, run.stderr)

    def check(self, image, committed, *device):
        """All that was committed, perhaps one more, and nothing that SQLite finds wrong."""
        out = self.good(*device, "--image", image, "a.db", TABLE + "PRAGMA integrity_check; SELECT count(*), coalesce(max(i), 0) FROM t")
        sound, rows = out.splitlines()[-2:]
        self.assertEqual(sound, "ok")
        count, last = map(int, rows.split("|"))
        self.assertEqual(count, last)
        self.assertIn(count, (committed, committed + 1))
        return count

    def test_power_cuts_lose_nothing_that_was_committed(self):
        known = []
        for mode, device, cuts in (("delete", ("--device", "small-mixed"), (30, 150, 260)), ("wal", ("--device", "small-mixed"), (90, 200)),
                                   ("persist", ("--device", "small-legacy", "--in-place"), (60, 220)),
                                   ("truncate", ("--device", "small-mixed", "--iotailor", "--copy-offload", "--cleaner", EAGER), (120, 250))):
            for cut in cuts:
                image = f"{mode}-{cut}.img"
                run = self.call(*device, "--image", image, "--power-cut-at", cut, "a.db",
                                f"PRAGMA journal_mode={mode};" + TABLE + inserts(1, 60))
                self.assertIn(f"the power was cut at flash operation {cut}, as asked", run.stdout, run.stderr)
                committed = [int(line) for line in run.stdout.splitlines() if line.isdigit()]
                known.append(self.check(image, len(committed), *device))
        self.assertGreater(max(known), 20)

    def serve(self):
        """The run folder of a device that is up until the test ends."""
        device = subprocess.Popen([DRIVER, "serve", "--device", "small-mixed"], stdout=subprocess.PIPE, text=True, cwd=self.folder)
        self.addCleanup(device.stdout.close)
        self.addCleanup(device.wait, HANG_S)
        self.addCleanup(device.terminate)
        self.assertIn("the device is up", device.stdout.readline())
        return device.stdout.readline().strip()

    def shell(self, folder):
        """SQLite's shell without our command; its statements come from its input."""
        words = ["stdbuf", "-oL", "sqlite3", "-bail", "-init", "/dev/null", "-cmd", f".load '{EXTENSION}'", "-cmd", ".open a.db", ":memory:"]
        return subprocess.Popen(words, env={**os.environ, "HARTZONE_ATTACH": folder}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def test_a_killed_program_loses_nothing_that_was_committed(self):
        folder = self.serve()
        committed = 0
        for more in (7, 12, 11):
            with self.shell(folder) as shell:
                shell.stdin.write((TABLE + inserts(committed + 1, 100)).replace(";", ";\n"))  # it runs whole lines
                shell.stdin.flush()
                until = committed + more  # of this shell: then it is up, however many the one before had committed when it was killed
                while committed < until:
                    committed = int(shell.stdout.readline())
                second = self.call("--attach", folder, "a.db", "SELECT 1")
                self.assertIn("another program has the files", second.stderr)
                shell.send_signal(signal.SIGKILL)
                committed += len(shell.stdout.readlines())
            out = self.good("--attach", folder, "a.db", "PRAGMA integrity_check; SELECT count(*) FROM t")
            sound, count = out.split()
            self.assertEqual(sound, "ok")
            self.assertIn(int(count), (committed, committed + 1))
            committed = int(count)

    def test_what_cannot_be_is_reported(self):
        for words, said in (
                ((), "say which database"),
                (("-json", "a.db"), "say which database"),
                (("--device", "small", "a.db", "SELECT 1"), "hzfs keeps its checkpoints in conventional zones"),
                (("--device", "small-mixed", "a'b", "SELECT 1"), "a quotation mark"),
                (("--device", "small-mixed", "--compute", "some", "a.db"), "takes none, measured, or fixed:"),
                (("--device", "small-mixed", "a.db", "CREATE TABLE t(v); INSERT INTO t VALUES(randomblob(9000000))"), "disk is full"),
                (("--device", "small-mixed", "a.db", "SELECT * FROM none"), "no such table"),
                (("--attach", self.folder, "--power-cut-at", 3, "a.db"), "is for a device of our own")):
            with self.subTest(words=words):
                run = self.call(*words)
                self.assertIn(run.returncode, (1, 2, 13), run.stdout)  # 13: SQLITE_FULL, of its shell
                self.assertIn(said, run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
