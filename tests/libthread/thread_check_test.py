"""libthread on QEMU: thread_check.elf with the real clock (WFI and IPIs) and under the virtual clock. Argument 1: the plugin."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from hztest.clock_machine import Machine  # noqa: E402
from hztest.needs import qemu_problem  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FIRMWARE = Path(os.environ.get("HARTZONE_FIRMWARE_DIR") or ROOT / "build" / "firmware")
IMAGE = FIRMWARE / "firmware" / "images" / "thread_check.elf"
PLUGIN = None


def run(harts, *options, plugin=None, arguments=""):
    """Exit code, console, report of the virtual clock or None."""
    machine = Machine(str(IMAGE), harts, plugin=plugin, options=options, extra=["-append", arguments] if arguments else [])
    console = os.path.join(machine.folder, "console")
    machine.command[machine.command.index("-serial") + 1] = f"file:{console}"
    with machine:
        code = machine.run(120)
        with open(console) as file:
            text = file.read()
        return code, text + machine.output, machine.report() if plugin else None


@unittest.skipIf(qemu_problem(), qemu_problem())
class ThreadCheck(unittest.TestCase):
    def passed(self, result, clock):
        self.assertEqual(result[0], 0, result[1])
        self.assertIn(f"thread_check: passed, {clock} clock", result[1])

    def test_real_clock(self):
        for harts in (1, 2, 4):
            with self.subTest(harts=harts):
                self.passed(run(harts), "real")

    def test_virtual_clock_is_deterministic_and_free_of_races(self):
        for harts in (1, 3, 8, 16):
            with self.subTest(harts=harts):
                first, second = (run(harts, "race-check=on", plugin=PLUGIN) for _ in range(2))
                self.passed(first, "virtual")
                self.assertEqual(first[1], second[1])
                self.assertEqual(first[2]["order_hash"], second[2]["order_hash"])
                self.assertTrue(first[2]["deterministic"])
                self.assertEqual(first[2]["races"], [])

    def test_statistics_cost_no_device_time(self):
        def hart_lines(level):
            result = run(4, plugin=PLUGIN, arguments=f"stats={level}")
            self.passed(result, "virtual")
            return [line for line in result[1].splitlines() if line.startswith("hart ")]

        off = hart_lines(0)
        self.assertEqual(len(off), 4)
        self.assertEqual(hart_lines(1), off)
        self.assertEqual(hart_lines(2), off)


if __name__ == "__main__":
    PLUGIN = sys.argv.pop(1)
    unittest.main(verbosity=2)
