"""The files command on the emulated device: its jobs, their reports, and repeatable runs."""
# SPDX-License-Identifier: BSD-3-Clause
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

MISSING = device_problem()
DRIVER = os.environ.get("HARTZONE_DRIVER", "")


@unittest.skipIf(MISSING, MISSING)
class Files(unittest.TestCase):
    def called(self, *words, code=0):
        with tempfile.TemporaryDirectory(prefix="hz-files-") as folder:
            run = subprocess.run([DRIVER, "files", *map(str, words), "--out", folder], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, code, run.stdout + run.stderr)
            if code:
                self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
                return run.stderr
            return json.loads((pathlib.Path(folder) / "files.json").read_text())

    def test_updates_go_to_the_log_or_in_place(self):
        log = self.called("--device", "small-mixed", "update", "--count", 40)
        self.assertEqual((log["files"]["syncs"], log["files"]["in_place_blocks"]), (41, 0))
        self.assertEqual(log["result"]["updates"], 40)
        place = self.called("--device", "small-legacy", "update", "--count", 40, "--in-place")
        self.assertEqual(place["files"]["in_place_blocks"], 40)
        self.assertLess(place["result"]["latency_ns"]["p50"], log["result"]["latency_ns"]["p50"], "one block instead of two")
        again = self.called("--device", "small-mixed", "update", "--count", 40)
        self.assertEqual(again["digest"], log["digest"])
        other = self.called("--device", "small-legacy", "update", "--count", 40, "--in-place", "--seed", 2)
        self.assertNotEqual(other["digest"], place["digest"])

    def test_dead_blocks_of_a_block_device_take_data(self):
        words = ("--device", "small-legacy", "fragment", "--size", 1, "--count", 30, "--small-files", 12)
        plain, slack = self.called(*words), self.called(*words, "--slack")
        self.assertEqual(plain["files"]["slack_blocks"], 0)
        self.assertGreater(slack["files"]["slack_blocks"], 100)
        self.assertIn("zones are written in order", self.called("--device", "small-mixed", "update", "--slack", code=1))

    def test_a_device_is_fragmented_and_cleaned(self):
        words = ("--device", "conzone-f2fs", "fragment", "--count", 4, "--small-files", 64)
        knobs = "gc_no_zoned_gc_percent=100,gc_boost_zoned_gc_percent=0,segment=64KiB,pause=0"
        plain, cleaned, copied = self.called(*words), self.called(*words, "--cleaner", knobs), self.called(*words, "--cleaner", knobs, "--copy-offload")
        for found in (plain, cleaned, copied):
            self.assertEqual(len(found["result"]["iterations"]), 4)
            self.assertGreater(min(i["write_mib_s"] for i in found["result"]["iterations"]), 10)
        self.assertEqual((plain["files"]["moved_blocks"], plain["result"]["iterations"][-1]["phase"]), (0, "no_gc"))
        self.assertGreater(cleaned["files"]["moved_blocks"], 0)
        self.assertEqual(cleaned["device"]["copy"]["count"], 0)
        self.assertGreater(cleaned["files"]["rounds"]["normal"], 0)
        self.assertGreater(cleaned["files"]["rounds"]["paused"], 0, "each iteration reads")
        self.assertEqual(copied["files"]["copied_blocks"], copied["files"]["moved_blocks"])
        self.assertGreater(copied["device"]["copy"]["count"], 0)
        self.assertLess(copied["device"]["read"]["bytes"], cleaned["device"]["read"]["bytes"], "what moves does not come to the host")

    def test_an_aged_device_is_overwritten(self):
        words = ("--device", "conzone-f2fs", "update", "--size", 4, "--count", 64, "--aged", 5)
        each, few = self.called(*words), self.called(*words, "--sync-every", 16)
        self.assertAlmostEqual(each["result"]["filled"], 0.05, delta=0.001)
        self.assertEqual(each["files"]["syncs"] - few["files"]["syncs"], 64 - 4)
        self.assertGreaterEqual(each["device"]["durable write"]["count"], 128, "a block and an inode for each")
        self.assertLess(few["device"]["durable write"]["count"], 32)
        self.assertLess(few["result"]["device"]["host_write_bytes"], each["result"]["device"]["host_write_bytes"])
        self.assertGreaterEqual(few["result"]["device"]["programmed_bytes"], few["result"]["device"]["slc_bytes"])

    def test_files_are_held_at_a_part_of_the_space(self):
        words = ("--device", "small-legacy", "fragment", "--size", 1, "--small-files", 4, "--reread", 2, "--count", 30)
        held, free = self.called(*words, "--hold", 60), self.called(*words)
        used = [one["used_blocks"] / held["files"]["total_blocks"] for one in held["result"]["iterations"]]
        self.assertEqual(len(used), 30, "it never ends for want of room")
        self.assertLessEqual(max(used), 0.6)
        self.assertGreater(min(used[5:]), 0.3)
        self.assertLess(len(free["result"]["iterations"]), 10)
        self.assertGreater(held["result"]["iterations"][-1]["segments"]["dirty"], 0)

    def test_a_warm_up_is_not_measured(self):
        words = ("--device", "small-legacy", "update", "--in-place", "--count", 64)
        plain, warm = self.called(*words), self.called(*words, "--warm-up", 192)
        self.assertEqual([run["result"]["updates"] for run in (plain, warm)], [64, 64])
        self.assertEqual([run["device"]["durable write"]["count"] for run in (plain, warm)], [64, 64])
        self.assertEqual(warm["files"]["in_place_blocks"] - plain["files"]["in_place_blocks"], 192)
        self.assertEqual(warm["result"]["device"]["host_write_bytes"], 64 * 4096)
        self.assertEqual([run["options"]["warm_up"] for run in (plain, warm)], [0, 192])
        logged = self.called("--device", "small-legacy", "update", "--count", 8, "--sync-every", 8, "--warm-up", 15)
        self.assertLessEqual(logged["result"]["device"]["host_write_bytes"], 9 * 4096, "8 blocks and an inode, not the 7 that the warm-up left")

    def test_an_aged_device_has_the_room_that_was_asked_for(self):
        for percent in (50, 75, 95):
            found = self.called("--device", "small-legacy", "update", "--count", 16, "--aged", percent)
            self.assertLess(abs(found["result"]["filled"] - percent / 100), 0.04, "a file has 3 % of so small a device")
        self.assertIn("needs 256 of 1008 blocks alone", self.called("--device", "small-legacy", "update", "--aged", 20, code=1))

    def test_old_files_are_read_again(self):
        words = ("--device", "small-legacy", "fragment", "--count", 3, "--small-files", 2)
        plain, reread = self.called(*words), self.called(*words, "--reread", 2)
        more = [now["commands"]["read"]["bytes"] - before["commands"]["read"]["bytes"]
                for now, before in zip(reread["result"]["iterations"], plain["result"]["iterations"])]
        self.assertEqual(more, [2 * 128 * 1024] * len(more))
        self.assertEqual(sum(i["commands"]["read"]["count"] for i in reread["result"]["iterations"]), reread["device"]["read"]["count"])
        self.assertGreater(sum(i["device"]["map_lookups"] for i in reread["result"]["iterations"]), 0)

    def test_iotailor_makes_superpages(self):
        words = ("--device", "conzone-f2fs", "fragment", "--count", 2, "--small-files", 4, "--size", 4)
        plain, tailored = self.called(*words), self.called(*words, "--iotailor")
        self.assertIsNone(plain["iotailor"])
        self.assertEqual(tailored["files"]["data_blocks"], plain["files"]["data_blocks"])
        self.assertGreater(tailored["iotailor"]["superpages"], 10)
        self.assertGreater(tailored["iotailor"]["most_held_bytes"], 0)
        self.assertNotEqual(tailored["digest"], plain["digest"])

    def test_what_cannot_be_had(self):
        self.assertIn("copies nothing by itself", self.called("--device", "small-legacy", "update", "--copy-offload", code=1))
        self.assertIn("block namespace", self.called("--device", "small-legacy", "update", "--iotailor", code=1))
        self.assertIn("hzfs keeps its checkpoints in conventional zones", self.called("--device", "small", "update", code=1))
        self.assertIn("keeps no data (media: timing-only", self.called("--device", "cufs", "update", code=1))
        self.assertIn("an iteration alone needs", self.called("--device", "small-legacy", "fragment", "--hold", 20, code=1))
        for words in (("--reread", 1), ("--hold", 50), ("--small-files", 4)):
            self.assertIn("--small-files, --reread and --hold are for fragment", self.called("--device", "small-mixed", "update", *words, code=1))
        for words in (("--aged", 50), ("--warm-up", 2), ("--sync-every", 2)):
            self.assertIn("are for update", self.called("--device", "small-mixed", "fragment", *words, code=1))
        for knobs in ("", "nosuch=1", "on,off", "gc_valid_thresh_ratio=101", "segment=1", "pause=5 minutes", "migration_window_granularity=0"):
            self.called("--device", "small-mixed", "update", "--cleaner", knobs, code=2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
