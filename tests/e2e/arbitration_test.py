"""Weighted round robin from a workload's keys: who waits follows the priorities, and without them all wait alike."""
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
# Eight commands fit the device, 64 want in.
LOAD = """verify: false
threads: 4
common: {read_ratio: 1, block: 4 KiB, queue_depth: 16, prefill: 0.2, total_ops: 1000}
"""
WEIGHTED = LOAD + """arbitration: {high: 8, medium: 4, low: 2}
each: [{priority: low}, {priority: urgent}, {priority: medium}, {priority: high}]
"""


@unittest.skipIf(MISSING, MISSING)
class Arbitration(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-arbitration-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        device = (TOP / "configs/devices/small-mixed.yaml").read_text()
        (self.folder / "device.yaml").write_text(re.sub(r"inflight_requests: \d+", "inflight_requests: 8", device))

    def run_with(self, load, name):
        (self.folder / f"{name}.yaml").write_text(load)
        done = subprocess.run([DRIVER, "run", "--device", self.folder / "device.yaml", "--workload", self.folder / f"{name}.yaml",
                               "--out", self.folder / name], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / name / "result.json").read_text())

    def means(self, result):
        return [queue["read"]["latency_ns"]["mean"] for queue in result["queues"]]

    def test_who_waits_follows_the_priorities(self):
        result = self.run_with(WEIGHTED, "weighted")
        low, urgent, medium, high = self.means(result)
        self.assertLess(2 * urgent, high)
        self.assertLess(high, medium)
        self.assertLess(medium, low)
        self.assertEqual([thread["priority"] for thread in result["workload"]["threads"]], ["low", "urgent", "medium", "high"])
        self.assertEqual(self.run_with(WEIGHTED, "again")["digest"], result["digest"])

    def test_all_wait_alike_without_priorities(self):
        means = self.means(self.run_with(LOAD, "usual"))
        self.assertLess(max(means), 1.05 * min(means))

    def test_equal_weights_and_priorities_are_round_robin(self):
        equal = self.run_with(LOAD + "arbitration: {}\n", "equal")
        means = self.means(equal)
        self.assertLess(max(means), 1.05 * min(means))


if __name__ == "__main__":
    unittest.main()
