"""Flash times with a spread on the image: latencies have it, from the device's seed alone, and read retries are counted."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem  # noqa: E402

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
MISSING = device_problem()
# A page at a time, so that nothing waits for anything else.
READS = """mapping: direct
threads: 1
common: {read_ratio: 1.0, pattern: random, block: 16 KiB, queue_depth: 1, prefill: 1.0, zones: 4, total_ops: 1000}
"""
# Both regions, all operations: more open zones than buffers, so that parts are staged in SLC and read back, and resets.
CHURN = """mapping: direct
threads: 2
common: {read_ratio: 0.3, read_pattern: random, write_pattern: random, block: 12 KiB, queue_depth: 4, prefill: 0.5, zones: 3, open_zones: 3,
  total_ops: 600, flush_every: 3}
"""
SIGMA = {"slc": {"read_sigma": "4us", "program_sigma": "20us", "erase_sigma": "200us"},
         "normal": {"read_sigma": "6us", "program_sigma": "200us", "erase_sigma": "200us"}}


@unittest.skipIf(MISSING, MISSING)
class Spread(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-spread-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_of(self, load, sigma, *options, seed=1, rest=""):
        """(result, what the program printed)"""
        times = {"slc": {"read": "20us", "program": "75us", "erase": "3.5ms"}, "normal": {"read": "32us", "program": "937.5us", "erase": "3.5ms"},
                 "channel_bytes_per_s": "1600 MiB", "command": "200ns"}
        times.update({region: times[region] | sigma.get(region, {}) for region in ("slc", "normal")})
        device = (TOP / "configs/devices/small.yaml").read_text()
        device = device.replace("  count: 6\n  binding", "  count: 2\n  binding")
        head, tail = device[:device.index("timing:")], device[device.index("zones:\n"):]
        (self.folder / "device.yaml").write_text(f"{head}seed: {seed}\ntiming: {json.dumps(times)}\n{tail}{rest}")
        (self.folder / "load.yaml").write_text(load)
        done = subprocess.run([DRIVER, "run", "--device", self.folder / "device.yaml", "--workload", self.folder / "load.yaml", "--out",
                               self.folder / "out", *options], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads((self.folder / "out" / "result.json").read_text()), done.stdout

    def test_latencies_of_reads_have_the_spread_of_the_cells(self):
        plain, spread = (self.run_of(READS, sigma)[0]["totals"]["read"]["latency_ns"] for sigma in ({}, SIGMA))
        self.assertLess(plain["p99"] - plain["p50"], 2000)
        self.assertGreater(spread["p99"] - spread["p50"], 1.9 * 6000, "2.3 sigma of a normal distribution")
        self.assertLess(spread["p99"] - spread["p50"], 2.8 * 6000)
        self.assertAlmostEqual(spread["mean"] / plain["mean"], 1, delta=0.02)

    def test_each_operation_has_its_own(self):
        plain = self.run_of(CHURN, {})[0]
        for region, keys in SIGMA.items():
            for key, value in keys.items():
                with self.subTest(region=region, key=key):
                    result = self.run_of(CHURN, {region: {key: value}})[0]
                    times, usual = (r["energy"]["operations"][region] for r in (result, plain))
                    operation = key.removesuffix("_sigma")
                    mean = times[f"{operation}_ns"] / times[f"{operation}s"]
                    self.assertNotEqual(mean, usual[f"{operation}_ns"] / usual[f"{operation}s"])
                    self.assertAlmostEqual(mean / (usual[f"{operation}_ns"] / usual[f"{operation}s"]), 1, delta=0.15)
                    for other in {"read", "program", "erase"} - {operation}:
                        self.assertEqual(times[f"{other}_ns"] * usual[f"{other}s"], usual[f"{other}_ns"] * times[f"{other}s"])

    def test_it_follows_the_seed_and_repeats(self):
        first, again, other = (self.run_of(CHURN, SIGMA, seed=seed)[0] for seed in (1, 1, 2))
        self.assertTrue(first["deterministic"])
        self.assertEqual((first["digest"], first["vclock"]["harts"]), (again["digest"], again["vclock"]["harts"]))
        self.assertNotEqual(first["digest"], other["digest"])
        plain = [self.run_of(CHURN, {}, seed=seed)[0]["digest"] for seed in (1, 2)]
        self.assertEqual(plain[0], plain[1], "nothing else draws")
        self.assertNotIn(first["digest"], plain)

    @unittest.skipUnless(platform.machine() == "x86_64", "the native image is for x86-64 so far")
    def test_native_hardware_draws_the_same(self):
        native, emulated = (self.run_of(CHURN, SIGMA, "--vclock", option)[0] for option in ("native=on", "native=off"))
        reports = [result["vclock"] for result in (native, emulated)]
        calls = [report.pop("host")["native_calls"] for report in reports]
        self.assertEqual(native["digest"], emulated["digest"])
        self.assertEqual(*reports)
        self.assertGreater(calls[0], 100)
        self.assertEqual(calls[1], 0)

    def test_harts_that_do_the_work_of_the_flash_draw_the_same_times(self):
        """Their instructions take time, so operations begin later: each operation of a die has its draw."""
        by_engine, by_harts = (self.run_of(READS, SIGMA, rest=rest)[0] for rest in ("", "hardware: {nand: firmware}\n"))
        self.assertEqual(by_engine["energy"]["operations"], by_harts["energy"]["operations"])
        self.assertGreater(by_harts["totals"]["read"]["latency_ns"]["mean"], by_engine["totals"]["read"]["latency_ns"]["mean"])

    def test_read_retries_are_counted(self):
        plain, text = self.run_of(READS, {})
        self.assertEqual(plain["nand"]["read_retries"], 0)
        self.assertNotIn("read retries", text)
        faults = "faults: {read_retry_ppb: 1000000000, read_retries: 2}\n"
        result, text = self.run_of(READS, {}, rest=faults)
        nand = result["nand"]
        self.assertEqual(nand["read_retries"], 2 * sum(cause["reads"] for cause in nand["by_cause"].values()))
        self.assertIn(f"\n{nand['read_retries']} read retries\n", text)
        operations = result["energy"]["operations"]
        self.assertEqual(sum(cells["reads"] for cells in operations.values()), nand["read_retries"] * 3 / 2)


if __name__ == "__main__":
    unittest.main()
