"""Time of a mount on the firmware's own harts, instructions included: large blank devices start
soon, with either map."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem  # noqa: E402

MISSING = device_problem()


def preset(name):
    return (TOP / "configs" / "devices" / f"{name}.yaml").read_text()


def mount_ms(device):
    """Milliseconds of device time, and {step: milliseconds} of the reported steps."""
    run = subprocess.run([os.environ["HARTZONE_DRIVER"], "info", "--device", str(device)], capture_output=True, text=True, check=True,
                         stdin=subprocess.DEVNULL)
    line = re.search(r"^mount +([0-9.]+) ms of device time: (.*)$", run.stdout, re.M)
    return float(line[1]), {step: float(ms) for step, ms in re.findall(r"(\w+) ([0-9.]+)", line[2])}


@unittest.skipIf(MISSING, MISSING)
class Mount(unittest.TestCase):
    def test_a_terabyte_with_its_map_in_memory_clears_no_table(self):
        device = re.sub(r"^l2p:\n(?:  .*\n)+", "", preset("conzone-1tb"), flags=re.M)
        with tempfile.TemporaryDirectory(prefix="hz-mount-") as folder:
            path = pathlib.Path(folder) / "device.yaml"
            path.write_text(device)
            began = time.monotonic()
            took, steps = mount_ms(path)
            self.assertLess(time.monotonic() - began, 60, "five seconds of a machine of its own")
        self.assertLess(took, 50, steps)
        self.assertLess(steps["make"], 10, "2^28 entries are not cleared")

    def test_blocks_that_were_never_written_are_looked_at_together(self):
        sectors = 248 * 66 * 256
        took, steps = mount_ms("cufs")
        self.assertLess(steps.get("conventional", 0) * 1e6 / sectors, 0.5, "instructions for each sector")
        self.assertLess(took, 5, steps)


if __name__ == "__main__":
    unittest.main()
