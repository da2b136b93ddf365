"""Logs of records on the image: in random write areas, in place and on a block device the last version of each sector is read back, also after
a power cut."""
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
SMALL = (TOP / "configs/devices/small.yaml").read_text()
DEVICE = SMALL.replace("blocks_per_plane: 23", "blocks_per_plane: 48").replace("slc_blocks_per_plane: 9", "slc_blocks_per_plane: 28") # copies of sectors
AREAS = "zrwa: {count: 2, size: 64 KiB, flush_granularity: 16 KiB}\n"
# A zone of 384 KiB holds 393 records.
LOG = """mapping: direct
threads: 2
common: {read_ratio: 0.2, record: 1000 B, block: 4 KiB, fua: true, queue_depth: 4, zones: 3, prefill: 0.3, total_ops: 1100}
"""
AREA = LOG.replace("fua: true", "fua: true, zrwa: true")


@unittest.skipIf(MISSING, MISSING)
class Records(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-zrwa-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def called(self, device, load, *options, code=0):
        (self.folder / "device.yaml").write_text(device)
        (self.folder / "load.yaml").write_text(load)
        done = subprocess.run([DRIVER, "run", "--device", "device.yaml", "--workload", "load.yaml", "--out", "out", *options],
                              capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def run_of(self, device, load, *options):
        self.called(device, load, *options)
        result = json.loads((self.folder / "out" / "result.json").read_text())
        self.assertEqual(result["totals"]["write"]["errors"] + result["totals"]["read"]["errors"], 0)
        return result

    def test_areas_take_rewrites_and_are_committed(self):
        result = self.run_of(DEVICE + AREAS, AREA)
        ftl, slc, written = result["ftl"], result["nand"]["by_cause"]["slc"]["program_bytes"], result["totals"]["write"]["bytes"]
        self.assertGreater(slc, written, "each write goes to an area, which is in SLC")
        self.assertIn(result["totals"]["zone"]["ops"], range(6, 13), "opened, committed when they are full, reset")
        self.assertAlmostEqual(ftl["in_place_bytes"] / written, 0.8, delta=0.02, msg="written again before it was committed")
        self.assertEqual(ftl["folded_bytes"] % (16 << 10), 0, "multiples of what the area moves by")
        self.assertGreater(ftl["update_folds"], 20)
        self.assertEqual(result["workload"]["threads"][0]["record_bytes"], 1000)

    def test_in_place_within_a_budget(self):
        divides = LOG.replace("1000 B", "1 KiB")
        result = self.run_of(DEVICE.replace("  count: 12\n", "  count: 12\n  in_place: 2 MiB\n"), divides)
        self.assertAlmostEqual(result["ftl"]["in_place_bytes"], 0.75 * result["totals"]["write"]["bytes"], delta=8 * 4096)

    def test_on_a_block_device(self):
        result = self.run_of((TOP / "configs/devices/small-legacy.yaml").read_text(), LOG.replace("zones: 3, ", "").replace("prefill: 0.3", "span_bytes: 512 KiB"))
        self.assertGreater(result["verified_bytes"], 0)

    def test_the_last_version_outlives_a_power_cut(self):
        image = self.folder / "image"
        self.called(DEVICE + AREAS, AREA.replace("read_ratio: 0.2", "read_ratio: 0.0"), "--image", image, "--power-cut-at", "20ms")
        done = subprocess.run([DRIVER, "verify", "--image", image], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("all hold what they should", done.stdout)

    def test_errors_name_the_file_and_the_key(self):
        self.assertIn("load.yaml: zrwa: this device has no random write areas", self.called(DEVICE, AREA, code=1))
        self.assertIn("load.yaml: record: this device's zones are not overwritten", self.called(DEVICE, LOG, code=1))
        self.assertIn("load.yaml: zrwa: the workload writes 2 zones", self.called(DEVICE + AREAS.replace("count: 2", "count: 1"), AREA, code=1))
        self.assertIn("load.yaml:3: common.zrwa: 'maybe'", self.called(DEVICE + AREAS, AREA.replace("zrwa: true", "zrwa: maybe"), code=1))


if __name__ == "__main__":
    unittest.main()
