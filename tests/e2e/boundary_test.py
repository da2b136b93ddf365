"""Work of engines by harts: each key adds to the work of the hart that does it what the table says, and nothing to any other hart's."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem  # noqa: E402

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
MISSING = device_problem()
# One command at a time: no hart waits for another longer or shorter, so that the work is what the instructions take.
LOAD = """mapping: direct
threads: 1
common: {read_ratio: 1.0, pattern: random, block: 8 KiB, queue_depth: 1, think: 20us, prefill: 0.25, span_bytes: 1 MiB, total_ops: 100}
"""
ROLES = {"fetch": "hil", "completion": "hil", "dma": "worker", "checksum": "tsu", "nand": "tsu"}


def instructions():
    """kind of work → instructions of a unit, as the firmware has them"""
    text = (TOP / "firmware/boundary/boundary.c").read_text()
    return {name.lower(): int(number) for name, number in re.findall(r"\[WORK_(\w+)\] = (\d+)", text)}


def units(result):
    """key → units of its work in this run"""
    reads, flash = result["totals"]["read"], result["nand"]["by_cause"]["host"]
    return {"fetch": reads["ops"], "completion": reads["ops"], "dma": reads["bytes"] // 4096, "checksum": flash["read_bytes"] // 4096,
            "nand": flash["reads"]}


@unittest.skipIf(MISSING, MISSING)
class Boundary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hz-boundary-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "load.yaml").write_text(LOAD)
        cls.base = cls.run_with("base", {})

    @classmethod
    def run_with(cls, name, hardware, clock=None, more=""):
        device = cls.folder / f"{name}.yaml"
        device.write_text((TOP / "configs/devices/small.yaml").read_text() + more +
                          f"clock: {json.dumps({'preset': 'ideal', **(clock or {})})}\nhardware: {json.dumps(hardware)}\n")
        subprocess.run([DRIVER, "run", "--device", device, "--workload", cls.folder / "load.yaml", "--workers", "1", "--out", cls.folder / name],
                       capture_output=True, text=True, check=True)
        return json.loads((cls.folder / name / "result.json").read_text())

    def added(self, result, base):
        """role → work beyond the other run's, in ns"""
        work, before = ({hart["role"]: hart["work_ns"] for hart in one["harts"]} for one in (result, base))
        return {role: work[role] - before[role] for role in work}

    def test_each_key_is_the_work_of_its_hart(self):
        for key, role in ROLES.items():
            with self.subTest(key):
                result = self.run_with(key, {key: "firmware"})
                self.assertEqual(result["device"]["hardware"], {**dict.fromkeys((*ROLES, "parity"), "engine"), key: "firmware"})
                takes = units(result)[key] * instructions()[key]
                self.assertGreater(takes, 0)
                self.assertEqual(self.added(result, self.base), {**dict.fromkeys(("hil", "tsu", "worker"), 0), role: takes})

    def test_what_delays_a_read_is_in_its_latency(self):
        """At least what it takes: what waits for a hart begins no sooner than the hart has come to it. Who posts the entry does so while
        the data cross the link."""
        before = self.base["totals"]["read"]["latency_ns"]["mean"]
        for key, per_read in (("fetch", 1), ("dma", 2), ("checksum", 2), ("nand", 1)):
            with self.subTest(key):
                more = self.run_with(f"late-{key}", {key: "firmware"})["totals"]["read"]["latency_ns"]["mean"] - before
                self.assertGreaterEqual(more, per_read * instructions()[key])
                self.assertLess(more, per_read * instructions()[key] + 500, "a hart is there within the time of some hundred instructions")

    def test_it_scales_with_the_clock(self):
        """A cycle of half the time, and three of them for an instruction."""
        clock = {"mhz": 2000, "insn": 3}
        base, result = self.run_with("slow-base", {}, clock), self.run_with("slow", {"nand": "firmware"}, clock)
        takes = units(result)["nand"] * instructions()["nand"] * 3 / 2
        added = self.added(result, base)
        self.assertAlmostEqual(added.pop("tsu"), takes, delta=1 + len(added))
        self.assertTrue(all(abs(ns) <= 1 for ns in added.values()), added)

    def test_protection_adds_its_crc(self):
        protected = "protection: type1\n"
        base = self.run_with("protected-base", {}, more=protected)
        result = self.run_with("protected", {"checksum": "firmware"}, more=protected)
        table, sectors = instructions(), units(result)["checksum"]
        self.assertEqual(self.added(result, base), {"hil": 0, "worker": 0, "tsu": sectors * (table["checksum"] + table["guard"])})

    def test_free_instructions_make_it_free(self):
        """The costs of instructions hold it, so `explain` has it among them."""
        clock = {"insn": 0}
        base, result = self.run_with("free-base", {}, clock), self.run_with("free", dict.fromkeys(ROLES, "firmware"), clock)
        for part in ("totals", "harts", "queues"):
            self.assertEqual(result[part], base[part])


if __name__ == "__main__":
    unittest.main()
