"""How long locks are held, measured on the image: docs/locking.md says that it does not grow with the device. A device whose
superblocks are twice as large keeps every class within the same bounds."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PAPER = (TOP / "configs" / "devices" / "conzone-paper.yaml").read_text()
# In ns. Zone: a request or a program unit, sector by sector. L2P: the entries of a table page. SLC: 64 sectors. The others: a few words.
MOST = {"zone": 100000, "l2p": 100000, "slc": 4000, "block": 1000, "buffer": 1000, "open": 1000, "global": 100000}


def longest_holds(folder, times=1, granularity="fine"):
    device = folder / "device.yaml"
    device.write_text(PAPER.replace("pages_per_block: 96", f"pages_per_block: {96 * times}")
                      .replace("\nlocks:\n", f"\nlocks:\n  granularity: {{default: {granularity}}}\n"))
    subprocess.run([os.environ["HARTZONE_DRIVER"], "run", "--device", str(device), "--workload", "mixed", "--quick", "--threads", "3",
                    "--out", str(folder)], check=True, stdout=subprocess.DEVNULL)
    result = json.loads((folder / "result.json").read_text())
    holds = {name: 0 for name in MOST}
    for lock in result["locks"]:
        holds[lock["class"]] = max(holds[lock["class"]], lock["hold_max_ns"])
    return result, holds


class LockHold(unittest.TestCase):
    def test_does_not_grow_with_the_device(self):
        for times in (1, 2):
            with self.subTest(times=times), tempfile.TemporaryDirectory() as folder:
                self.check(*longest_holds(pathlib.Path(folder), times=times))

    def test_one_lock_for_all_is_held_as_long_as_its_longest_part(self):
        with tempfile.TemporaryDirectory() as folder:
            result, holds = longest_holds(pathlib.Path(folder), granularity="global")
            self.check(result, holds)
            self.assertGreaterEqual(holds["global"], max(holds.values()))

    def check(self, result, holds):
        self.assertGreater(result["ftl"]["slc_gc_runs"], 0, "the collector of the SLC log did not run")
        for name, most in MOST.items():
            self.assertLessEqual(holds[name], most, name)


if __name__ == "__main__":
    unittest.main()
