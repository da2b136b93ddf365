"""bench nand --device: rig and machine match the configured times under each scheduler; harts cost
time only where they must."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from bench_test import MISSING, TOP
from hztest.needs import run_by_study_python

run_by_study_python() # device files are read and written here
import yaml  # noqa: E402

BENCH = [sys.executable, str(TOP / "bench/nand/bench.py")]
PAGE_US, UNIT_US = 16384 / 1.6777216e3, 49152 / 1.6777216e3 # 1600 MiB/s
FAST = {"cache_read": "on", "cache_program": "on", "cache_busy": "3us"}
SCHEDULES = [{"read_age_limit": "1ms", "suspend": "10us"}, {"read_age_limit": "10ms", "suspend": "10us", **FAST},
             {"schedule": "fair", "read_age_limit": "1ms"}, {"schedule": "fifo", "read_age_limit": "1ms", "suspend": "10us"},
             {"interleave_sectors": 1, "program_passes": 2, **FAST}]


def measured(device, *arguments):
    with tempfile.TemporaryDirectory(prefix="hz-bench-") as folder:
        run = subprocess.run([*BENCH, "--device", str(device), "--out", folder, *arguments], capture_output=True, text=True, check=False)
        file = pathlib.Path(folder) / "nand.json"
        return run, json.loads(file.read_text()) if file.exists() else None


@unittest.skipIf(MISSING, MISSING)
class Nand(unittest.TestCase):
    def held(self, device, *arguments):
        """Figures by pattern, of a run that found everything as it must be."""
        run, result = measured(device, *arguments)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertTrue(result["holds"])
        return {row["pattern"]: row for row in result["rows"]}

    def test_every_device(self):
        for file in sorted((TOP / "configs/devices").glob("*.yaml")):
            rows = self.held(file.stem)
            lists = [row for name, row in rows.items() if "one after another" not in name and "the same" not in name]
            self.assertTrue(all(row["image_ns"] == row["rig_ns"] for row in lists), file)
            self.assertGreater(len([row for row in rows.values() if row["formula_is"] == "exact" and row["rig_ns"] == row["formula_ns"]]), 15)

    def test_figures_of_a_data_sheet(self):
        rows = self.held("conzone-paper")
        for name, us in {"read, CSB page": 0.2 + 32 + PAGE_US, "program, 48 KiB": 0.2 + UNIT_US + 937.5, "erase": 3500.2,
                         "SLC program, 4 KiB": 0.2 + PAGE_US / 4 + 75, "16 reads each, one die": 16 * (0.2 + 32 + PAGE_US),
                         "program, 2 planes of a die": 2 * (0.2 + UNIT_US) + 937.5, "a read into a program": 937.5 / 2 + 0.2 + 32 + PAGE_US,
                         "a read behind 8 programs": 8 * (0.2 + UNIT_US + 937.5) + 0.2 + 32 + PAGE_US}.items():
            self.assertAlmostEqual(rows[name]["rig_ns"] / 1000, us, delta=0.02, msg=name)
            self.assertEqual(rows[name]["image_ns"], rows[name]["rig_ns"], name)
        loop = rows["16 reads, one after another, one die"]
        self.assertGreater(loop["image_ns"], loop["rig_ns"])
        self.assertLess(loop["image_ns"], 1.05 * loop["rig_ns"])

    def test_dies_fill_a_channel(self):
        rows = self.held("plp", "--rig")
        shares = [rows[f"16 reads each, {where}"]["channel_utilisation"] for where in ("one die", "2 dies of a channel", "all 8 dies of a channel")]
        self.assertAlmostEqual(shares[0], 0.5)
        self.assertGreater(shares[1], 0.7)
        self.assertGreater(shares[2], 0.99)
        self.assertEqual(rows["16 reads each, all 64 dies"]["rig_ns"], rows["16 reads each, all 8 dies of a channel"]["rig_ns"])

    def test_devices_whose_reads_go_first(self):
        mcmq, large = self.held("mcmq", "--rig"), self.held("conzone-1tb", "--rig")
        self.assertEqual(mcmq["a read behind 8 programs"]["rig_ns"], mcmq["read, LSB page"]["rig_ns"])
        self.assertEqual(large["a read into a program"]["rig_ns"], 100000 + large["read, LSB page"]["rig_ns"])

    def test_schedules(self):
        device = yaml.safe_load((TOP / "configs/devices/conzone-paper.yaml").read_text(encoding="utf-8"))
        read_us, found = 0.2 + 32 + PAGE_US, []
        with tempfile.TemporaryDirectory(prefix="hz-bench-") as folder:
            for number, timing in enumerate(SCHEDULES):
                file = pathlib.Path(folder) / f"{number}.yaml"
                file.write_text(yaml.safe_dump({**device, "timing": {**device["timing"], **timing}}), encoding="utf-8")
                found.append(self.held(file))
        for rows, behind_us, into_us in zip(found, (read_us, read_us, read_us, None, None), (10 + read_us, 10 + read_us, None, None, None)):
            if behind_us:
                self.assertAlmostEqual(rows["a read behind 8 programs"]["image_ns"] / 1000, behind_us, delta=0.02)
            if into_us:
                self.assertAlmostEqual(rows["a read into a program"]["image_ns"] / 1000, into_us, delta=0.02)
        self.assertGreater(found[3]["a read behind 8 programs"]["rig_ns"], 8 * 937500)
        self.assertEqual(found[0]["a program before 64 reads"]["formula_ns"], found[0]["a program before 64 reads"]["rig_ns"])
        self.assertGreater(found[0]["a program before 64 reads"]["rig_ns"], 1000000)
        self.assertLess(found[1]["16 programs each, one die"]["rig_ns"], found[0]["16 programs each, one die"]["rig_ns"])

    def test_what_cannot_be_is_said(self):
        for words, said in ((["--rig"], "name the device with --device"), (["--device", "nosuch"], "there is no file nosuch"),
                            (["--device", "small", "--on"], "unrecognized arguments: --on")):
            run = subprocess.run([*BENCH, *words], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 2)
            self.assertIn(said, run.stderr)

    def test_foreign_results_are_refused(self):
        with tempfile.TemporaryDirectory(prefix="hz-bench-") as folder:
            block = pathlib.Path(folder) / "block"
            program = os.environ["HARTZONE_BENCH_NAND"]
            device = str(TOP / "configs/devices/small.yaml")
            subprocess.run([program, "--device", device, "--plan", str(block)], check=True, stdout=subprocess.DEVNULL)
            run = subprocess.run([program, "--device", device, "--image-block", str(block)], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("holds no results of this device", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
