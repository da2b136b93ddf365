"""Parity over the dies on the image: whichever die dies, the data that a run left in an image are read as written; and the parity is the work
of an engine, or of the hart that needs it."""
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

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
MISSING = device_problem()
# Zones to their ends: what is staged in SLC has no parity.
FILL = """mapping: direct
threads: 2
common: {read_ratio: 0.0, pattern: sequential, block: 32 KiB, queue_depth: 4, total_bytes: 1536 KiB}
"""
READS = """mapping: direct
threads: 2
accept_unreadable: true
common: {read_ratio: 1.0, pattern: random, block: 4 KiB, queue_depth: 2, prefill: 1.0, zones: 4, total_ops: 800}
"""
DEVICE = (TOP / "configs/devices/small-rain.yaml").read_text()


@unittest.skipIf(MISSING, MISSING)
class Rain(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-rain-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def called(self, command, load, rest="", *options, rain="on"):
        (self.folder / "device.yaml").write_text(DEVICE.replace("rain: on", f"rain: {rain}") + rest)
        (self.folder / "load.yaml").write_text(load)
        loads = ["--workload", self.folder / "load.yaml", "--out", self.folder / "out"] if load else []
        done = subprocess.run([DRIVER, command, "--device", self.folder / "device.yaml", *loads, *options], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def run_of(self, load, rest="", *options, **ways):
        code, text = self.called("run", load, rest, *options, **ways)
        self.assertEqual(code, 0, text)
        return json.loads((self.folder / "out" / "result.json").read_text())

    def test_a_dead_die_costs_no_data_of_an_image(self):
        image = self.folder / "image"
        result = self.run_of(FILL, "", "--image", image)
        self.assertEqual(result["ftl"]["parity_bytes"] * 2, result["ftl"]["host_write_bytes"], "one of three dies")
        for die in (1, 2, 3):
            code, text = self.called("verify", "", f"faults: {{failed_die: {die}}}\n", "--image", image)
            self.assertEqual(code, 0, text)

    def test_pages_are_rebuilt_and_counted(self):
        faults = "faults: {read_fail_ppb: 20000000}\n"
        bad, good = (self.run_of(READS, faults, rain=rain) for rain in ("off", "on"))
        self.assertGreater(bad["totals"]["read"]["errors"], 0)
        self.assertEqual(bad["ftl"]["rebuilt_bytes"], {"reads": 0, "moves": 0})
        self.assertEqual(good["totals"]["read"]["errors"], 0)
        self.assertEqual(good["ftl"]["not_rebuilt_bytes"], 0)
        self.assertGreater(good["ftl"]["rebuilt_bytes"]["reads"], 0)
        self.assertGreater(good["ftl"]["refreshed_zones"]["rebuilt"], 0)
        self.assertTrue(good["deterministic"])
        self.assertLess(self.channel_of_a_read(good), 1.2 * self.channel_of_a_read(bad), "a rebuild waits for other dies, not for the channel")

    @staticmethod
    def channel_of_a_read(result):
        reads, = (r["all"] for r in result["vclock"]["locks"]["requests"] if r["kind"] == "read")
        return reads["channel"] / reads["count"]

    def test_harts_that_combine_sectors_take_time_for_it(self):
        engine, harts = (self.run_of(FILL, f"hardware: {{parity: {by}}}\n") for by in ("engine", "firmware"))
        self.assertEqual(engine["ftl"]["parity_bytes"], harts["ftl"]["parity_bytes"])
        self.assertGreater(harts["totals"]["write"]["latency_ns"]["mean"], engine["totals"]["write"]["latency_ns"]["mean"])

    def test_an_image_keeps_what_it_was_made_with(self):
        image = self.folder / "image"
        self.run_of(FILL, "", "--image", image)
        code, text = self.called("verify", "", "", "--image", image, rain="off")
        self.assertEqual(code, 3, text)
        self.assertIn("made with rain, but the device config has none", text)


if __name__ == "__main__":
    unittest.main()
