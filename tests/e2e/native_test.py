"""Hardware that runs natively (vclock/native.h) changes the host's time and nothing else: reports with and without it are equal."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import platform
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
DEVICES = TOP / "configs" / "devices"


@unittest.skipUnless(platform.machine() == "x86_64", "the native image is for x86-64 so far")
class Native(unittest.TestCase):
    def run_of(self, device, clock, *options):
        """(digest, the plugin's report without its host part, calls of native code)"""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "device.yaml"
            file.write_text(device)
            done = subprocess.run([os.environ["HARTZONE_DRIVER"], "run", "--device", str(file), "--workload", "small", "--quick", "--out", folder,
                                   *(["--vclock", clock] if clock else []), *options], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            result = json.loads((pathlib.Path(folder) / "result.json").read_text())
        report = result["vclock"]
        return result["digest"], report, report.pop("host")["native_calls"]

    def check(self, name, *options, clock="", change=lambda device: device):
        device = change((DEVICES / f"{name}.yaml").read_text())
        digest, report, calls = self.run_of(device, clock, *options)
        other_digest, other_report, no_calls = self.run_of(device, ",".join(filter(None, [clock, "native=off"])), *options)
        self.assertEqual((digest, report), (other_digest, other_report))
        self.assertEqual(no_calls, 0)
        return calls

    def test_a_zoned_device(self):
        self.assertGreater(self.check("small"), 100)

    def test_a_block_device_with_its_map_in_flash(self):
        self.assertGreater(self.check("small-legacy"), 100)

    def test_capacitors(self):
        self.assertGreater(self.check("small-plp"), 100)

    def test_several_namespaces(self):
        self.assertGreater(self.check("small-mixed"), 100)

    def test_two_maps_in_one_device(self):
        self.assertGreater(self.check("small-zufs-f2fs"), 100)

    def test_several_harts_of_the_host_interface(self):
        self.assertGreater(self.check("small", change=lambda text: text.replace("harts:\n", "harts:\n  hils: 2\n", 1)), 100)

    def test_a_perturbed_run(self):
        self.assertGreater(self.check("small", "--clock-jitter", "7"), 100)

    def test_threads_instead_of_carriers(self):
        self.assertGreater(self.check("small", clock="switch=futex"), 100)

    def test_a_hart_that_holds_locks_at_another_speed(self):
        self.assertGreater(self.check("small", clock="hold=2000"), 100)

    def test_plain_accesses_that_fetch_lines(self):
        for preset in ("rocket", "small", "server"):
            self.assertGreater(self.check("small", clock=f"preset={preset}"), 100, preset)

    def test_not_where_each_access_counts(self):
        device = (DEVICES / "small.yaml").read_text()
        for option in ("count=insn", "race-check=on"):
            self.assertEqual(self.run_of(device, option)[2], 0, option)


if __name__ == "__main__":
    unittest.main()
