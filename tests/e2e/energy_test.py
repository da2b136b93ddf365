"""Energy of a run: its parts add up, each key is a factor of its part alone, and none changes what the device does."""
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
# Every part in use: two zones that are written over and over, with partial superpages that go to SLC first, and read.
LOAD = """mapping: direct
threads: 2
common: {read_ratio: 0.3, pattern: sequential, block: 12 KiB, queue_depth: 4, prefill: 0.5, zones: 2, total_ops: 400, flush_every: 3}
"""
KEYS = {"slc.read_nj": "slc_read", "slc.program_nj": "slc_program", "slc.erase_nj": "slc_erase", "normal.read_nj": "normal_read",
        "normal.program_nj": "normal_program", "normal.erase_nj": "normal_erase", "channel_pj": "channel", "link_pj": "link",
        "busy_pj": "hart_busy", "idle_pj": "hart_idle"}


@unittest.skipIf(MISSING, MISSING)
class Energy(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hz-energy-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "load.yaml").write_text(LOAD)
        cls.values = {key: 1000 + 7 * n for n, key in enumerate(KEYS)}
        cls.usual, cls.table = cls.run_with("usual", {})
        cls.base, _ = cls.run_with("base", cls.values)

    @classmethod
    def run_with(cls, name, values, power_planes=0):
        section = {"slc": {}, "normal": {}}
        for key, value in values.items():
            part, _, last = key.rpartition(".")
            (section[part] if part else section)[last] = value
        device = cls.folder / f"{name}.yaml"
        preset = (TOP / "configs/devices/small-mixed.yaml").read_text()
        assert preset.count("\ntiming:\n") == 1
        device.write_text(preset.replace("\ntiming:\n", f"\ntiming:\n  power_planes: {power_planes}\n") + f"energy: {json.dumps(section)}\n")
        done = subprocess.run([DRIVER, "run", "--device", device, "--workload", cls.folder / "load.yaml", "--out", cls.folder / name],
                              capture_output=True, text=True, check=True)
        return json.loads((cls.folder / name / "result.json").read_text()), done.stdout

    def test_the_parts_are_the_total(self):
        for result in (self.usual, self.base):
            energy = result["energy"]
            self.assertTrue(all(mj > 0 for mj in energy["parts_mj"].values()), energy)
            self.assertAlmostEqual(energy["total_mj"] / sum(energy["parts_mj"].values()), 1, places=9)
            elapsed_ns = max(hart["elapsed_ns"] for hart in result["harts"])
            self.assertAlmostEqual(energy["mean_mw"] * elapsed_ns / 1e9 / energy["total_mj"], 1, places=9)
            moved = result["ftl"]["host_read_bytes"] + result["ftl"]["host_write_bytes"]
            self.assertEqual(energy["link_bytes"], moved)
            self.assertAlmostEqual(energy["mj_per_gib"] * moved / 2 ** 30 / energy["total_mj"], 1, places=9)

    def test_counts_are_those_of_the_flash(self):
        """By cause there as many operations as by cells here, but for those that had begun and not ended when the measurement began or
        ended: one program on each of two planes at most."""
        energy, nand = self.usual["energy"], self.usual["nand"]["by_cause"].values()
        for kind in ("reads", "programs", "erases"):
            begun = sum(cells[kind] for cells in energy["operations"].values())
            self.assertAlmostEqual(begun, sum(cause[kind] for cause in nand), delta=2, msg=kind)
        crossed = sum(cause["read_bytes"] + cause["program_bytes"] for cause in nand)
        self.assertAlmostEqual(energy["channel_bytes"], crossed, delta=2 * 12 * 4096)
        for cells, times in self.usual["device"]["timing"].items():
            if cells in ("slc", "normal"):
                done = energy["operations"][cells]
                self.assertEqual(done["program_ns"], done["programs"] * times["program_ns"][0])

    def test_twice_the_key_is_twice_its_part(self):
        for key, part in KEYS.items():
            with self.subTest(key):
                twice, _ = self.run_with(f"twice-{key}", {**self.values, key: 2 * self.values[key]})
                parts, before = twice["energy"]["parts_mj"], self.base["energy"]["parts_mj"]
                self.assertEqual(parts, {**before, part: parts[part]})
                self.assertAlmostEqual(parts[part] / before[part], 2, places=12)
                self.assertAlmostEqual(twice["energy"]["total_mj"] - self.base["energy"]["total_mj"], before[part], places=6)
                self.assertEqual(twice["digest"], self.usual["digest"], "the device does not know it")

    def test_a_limit_of_power_holds_operations_up(self):
        result, _ = self.run_with("limited", {}, power_planes=1)
        energy, limit_mw = result["energy"], 82.5
        cells_mj = sum(mj for part, mj in energy["parts_mj"].items() if part.startswith(("slc", "normal")))
        self.assertLessEqual(cells_mj / result["nand"]["elapsed_ns"] * 1e9, limit_mw)
        self.assertGreater(energy["held"]["programs"], 0)
        self.assertGreater(energy["held"]["program_ns"], 0)
        self.assertGreater(result["elapsed_ns"], self.usual["elapsed_ns"])
        self.assertEqual(set(self.usual["energy"]["held"].values()), {0})
        result, _ = self.run_with("all-planes", {}, power_planes=self.usual["device"]["shape"]["planes"])
        self.assertEqual(result["digest"], self.usual["digest"])

    def test_the_table_shows_it(self):
        self.assertRegex(self.table, r"\nenergy [\d.]+ mJ: flash [\d.]+ %, channels [\d.]+ %, link [\d.]+ %, harts [\d.]+ %; [\d.]+ mW on average, ")

    def test_compare_names_the_key(self):
        self.run_with("other", {**self.values, "link_pj": 5})
        done = subprocess.run([DRIVER, "compare", self.folder / "base", self.folder / "other"], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, rf"device/energy/link_pj +{self.values['link_pj']} -> 5\n")
        self.assertRegex(done.stdout, r"energy/mj_per_gib .* -[\d.]+ %\n")
        self.assertIn("same digest", done.stdout)


if __name__ == "__main__":
    unittest.main()
