"""What fio's own programs for zoned devices (t/zbd/test-zbd-support of its sources) ask of a device, number by number: they need a block
device of the kernel, which ours is not, so the same jobs run here through the engine, smaller where a case is only long. Left out: 9 and 10
(SCSI generic), 42 and 43 (what fio says of a kernel's device that has no zones)."""
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
from hztest.needs import HANG_S, device_problem, fio_problem  # noqa: E402

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
MISSING = device_problem() or fio_problem()

ZONE, CAPACITY, ZONES = 512 << 10, 384 << 10, 12  # of device small, which has no conventional zones
BLOCK = 4096


class Said:
    """Exit code and output of fio."""
    def __init__(self, run):
        self.code, self.text = run.returncode, run.stdout + run.stderr
        start = run.stdout.find("{\n")
        self.jobs = json.JSONDecoder().raw_decode(run.stdout[start:])[0]["jobs"] if start >= 0 else []
        self.resets = sum(int(count) for count in re.findall(r"; (\d+) zone resets", self.text))

    def bytes(self, kind):
        return sum(job[kind]["io_bytes"] for job in self.jobs)


@unittest.skipIf(MISSING, MISSING)
class Zbd(unittest.TestCase):
    device_name = "small"

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hz-zbd-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.device = subprocess.Popen([DRIVER, "serve", "--device", cls.device_name], stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.device.stdout.close)
        cls.addClassCleanup(cls.device.wait)
        cls.addClassCleanup(cls.device.terminate)
        cls.device.stdout.readline()
        cls.attach = ("--attach", cls.device.stdout.readline().strip())

    def setUp(self):
        self.call("nvme", *self.attach, "zns", "reset-zone", "-a")

    def call(self, *words):
        return subprocess.run([DRIVER, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.folder, timeout=HANG_S)

    def fio(self, *words):
        return Said(self.call("fio", *self.attach, "--output-format=json,normal", "--verify_state_save=0", *words))

    def good(self, *words):
        said = self.fio(*words)
        self.assertEqual((said.code, [job["error"] for job in said.jobs]), (0, [0] * len(said.jobs)), said.text)
        return said

    def refused(self, pattern, *words):
        said = self.fio(*words)
        self.assertRegex(said.text, pattern)
        self.assertNotEqual(said.code, 0, said.text)

    def moves(self, said, written=None, read=None):
        if written is not None:
            self.assertEqual(said.bytes("write"), written, said.text)
        if read is not None:
            self.assertEqual(said.bytes("read"), read, said.text)
        return said

    def several(self, jobs, *words, step=0, offset=0):
        """So many jobs, `step` bytes apart."""
        all_words = ["--thread=1", "--group_reporting=1"]
        for i in range(jobs):
            all_words += [f"--name=job{i}", f"--offset={offset + i * step}", *words]
        return self.good(*all_words)

    verified = ("--do_verify=1", "--verify=md5")

    def test_01_buffered_writes_are_refused(self):
        self.refused("direct I/O is mandatory", "--name=a", "--rw=write", "--direct=0", "--bs=4k", f"--size={ZONE}")

    def test_02_blocks_longer_than_a_zone(self):
        self.moves(self.fio("--name=a", "--rw=write", f"--offset={2 * ZONE}", f"--bs={2 * ZONE}", f"--size={2 * ZONE}"), written=0)

    def test_03_nothing_is_read_from_an_empty_zone(self):
        self.moves(self.good("--name=a", "--rw=read", f"--offset={8 * ZONE}", "--bs=4k", f"--size={ZONE}"), read=0)

    def test_04_unless_asked_to(self):
        self.moves(self.good("--name=a", "--rw=read", f"--offset={9 * ZONE}", "--bs=64k", f"--size={ZONE}", "--read_beyond_wp=1"),
                   read=ZONE)

    def test_05_sequential_writes(self):
        self.moves(self.good("--name=a", "--rw=write", "--bs=8k", f"--size={4 * ZONE}", *self.verified), 4 * CAPACITY, 4 * CAPACITY)

    def test_06_sequential_reads(self):
        said = self.good("--name=w", "--rw=write", "--bs=4k", f"--size={4 * ZONE}", "--name=r", "--wait_for=w", "--rw=read", "--bs=8k",
                         f"--size={4 * ZONE}")
        self.moves(said, read=4 * CAPACITY)

    def test_07_08_11_random_writes_of_any_depth(self):
        for depth, zones, block in ((1, 1, "--bs=16k"), (64, 4, "--bs=16k"), (64, 4, "--bsrange=4k-64k")):
            with self.subTest(depth=depth, block=block):
                self.moves(self.good("--name=a", "--rw=randwrite", f"--iodepth={depth}", block, f"--size={zones * ZONE}",
                                     "--max_open_zones=6", *self.verified), zones * CAPACITY, zones * CAPACITY)

    def test_12_13_limits_of_open_zones(self):
        for most in (1, 4):
            with self.subTest(most=most):
                self.moves(self.good("--name=a", "--rw=randwrite", "--iodepth=64", "--bs=16k", f"--size={8 * ZONE}",
                                     f"--max_open_zones={most}", *self.verified), 8 * CAPACITY, 8 * CAPACITY)

    def test_15_16_a_mix_of_empty_and_full_zones(self):
        written = self.good("--name=a", "--rw=write", f"--bs={CAPACITY // 16}", f"--offset={2 * ZONE}", f"--size={2 * ZONE}")
        self.moves(written, written=2 * CAPACITY)
        self.moves(self.good("--name=a", "--rw=read", f"--bs={CAPACITY // 16}", f"--size={4 * ZONE}"), read=2 * CAPACITY)
        random = self.good("--name=a", "--rw=randread", "--iodepth=64", "--bs=16k", f"--size={4 * ZONE}")
        self.assertGreaterEqual(random.bytes("read"), 2 * CAPACITY, random.text)

    def test_17_the_last_zone(self):
        last = (ZONES - 1) * ZONE
        self.moves(self.good("--name=a", "--rw=write", f"--offset={last}", f"--bs={CAPACITY}", f"--size={ZONE}"), written=CAPACITY)
        both = self.good("--name=a", "--iodepth=8", "--rw=randrw", "--bs=4k", f"--offset={last}", "--loops=2", "--norandommap=1")
        self.assertEqual(both.bytes("read") + both.bytes("write"), 2 * ZONE, both.text)

    def test_18_to_23_options_of_resets_have_ranges(self):
        for option in ("zone_reset_threshold", "zone_reset_frequency"):
            for value in ("-1", "2"):
                self.refused("value out of range", "--name=a", f"--{option}={value}")
            self.assertIn("the list exceeding max length", self.fio("--name=a", f"--{option}=.4:.6").text)

    def test_24_resets_by_threshold(self):
        said = self.good("--name=a", "--rw=write", "--bs=64k", f"--size={ZONE}", "--loops=9", "--zone_reset_frequency=.01",
                         "--zone_reset_threshold=.90")
        self.moves(said, written=9 * CAPACITY)
        self.assertIn(said.resets, (8, 9, 10))

    def test_25_sequential_jobs_side_by_side(self):
        self.moves(self.several(6, f"--size={ZONE}", "--rw=write", "--bs=16k", step=ZONE), written=6 * CAPACITY)

    def test_26_27_a_zone_again_and_again(self):
        for kind in ("write", "randwrite"):
            with self.subTest(kind=kind):
                self.moves(self.good("--name=a", f"--rw={kind}", "--bs=4k", f"--size={ZONE}", "--loops=4", *self.verified),
                           written=4 * CAPACITY)

    def test_28_random_jobs_over_one_zone(self):
        said = self.several(8, f"--size={ZONE}", "--rw=randwrite", "--bs=16k", offset=7 * ZONE)
        self.moves(said, written=8 * ZONE)
        self.assertIn(said.resets, (8 * ZONE // CAPACITY - 1, 8 * ZONE // CAPACITY), said.text)

    def test_29_46_48_random_jobs_over_the_same_zones(self):
        for depth, jobs in ((1, 8), (64, 4), (256, 8)):
            with self.subTest(depth=depth):
                self.moves(self.several(jobs, f"--size={4 * ZONE}", f"--io_size={2 * CAPACITY}", "--rw=randwrite", "--bs=16k",
                                        f"--iodepth={depth}", "--max_open_zones=4", offset=4 * ZONE), written=jobs * 2 * CAPACITY)

    def test_30_to_32_all_of_the_device_for_a_while(self):
        for kind in ("randrw", "randread", "randwrite"):
            with self.subTest(kind=kind):
                self.good("--name=a", f"--rw={kind}", "--bs=16k", "--iodepth=8", "--max_open_zones=6", "--time_based=1", "--runtime=500ms",
                          "--norandommap=1")

    def test_33_34_blocks_that_are_no_part_of_a_zone(self):
        block = CAPACITY * 3 // 4
        said = self.good("--name=a", "--rw=write", f"--size={2 * ZONE}", f"--io_size={5 * ZONE}", f"--bs={block}")
        self.assertEqual(said.bytes("write") % block, 0)
        self.assertLess(abs(said.bytes("write") - 5 * ZONE), block)
        self.refused("not a divisor of", "--name=a", "--rw=write", f"--size={2 * ZONE}", f"--bs={block}", *self.verified)

    def test_35_to_38_rounding_to_zones(self):
        words = ("--name=a", "--rw=write", "--bs=4k", *self.verified)
        for offset, size in ((512, ZONE - 1024), (0, ZONE - 512), (ZONES * ZONE - BLOCK, BLOCK)):
            with self.subTest(offset=offset, size=size):
                self.refused("io_size must be at least one zone", *words, f"--offset={offset}", f"--size={size}")
        self.moves(self.good(*words, "--offset=0", f"--size={ZONE + 1024}"), written=CAPACITY)

    def test_39_to_47_modes_and_sizes(self):
        read = ("--name=a", "--rw=read", "--bs=4k", "--size=4k")
        self.moves(self.good(*read, "--zonemode=none"), read=BLOCK)
        self.refused("zonesize must be specified", *read, "--zonemode=strided")
        self.moves(self.good(*read, "--zonemode=strided", "--zonesize=4k"), read=BLOCK)
        self.refused("zonesize.*does not match", *read, f"--zonesize={2 * ZONE}")
        self.refused("--zonemode=none and --zonesize are not compatible", *read, "--zonemode=none", "--zonesize=1")
        self.refused("Zone Invalid Write", "--name=a", "--rw=randwrite", "--bs=4k", f"--size={ZONE}", "--zonemode=none", *self.verified)
        self.refused("zoneskip 1 is not a multiple", "--name=a", "--rw=write", "--bs=4k", "--zoneskip=1")

    def test_later_ones_trims(self):
        """Trims reset zones, in order and in any order, between writes too."""
        self.good("--name=a", "--rw=write", f"--bs={CAPACITY // 8}", f"--size={4 * ZONE}")
        said = self.good("--name=a", "--rw=trim", f"--bs={ZONE}", f"--size={4 * ZONE}")
        self.assertEqual(said.bytes("trim"), 4 * ZONE, said.text)
        self.moves(self.good("--name=a", "--rw=read", "--bs=4k", f"--size={4 * ZONE}"), read=0)
        self.good("--name=w", "--rw=write", f"--bs={CAPACITY // 8}", f"--size={4 * ZONE}", "--name=t", "--wait_for=w", "--rw=randtrim",
                  f"--bs={ZONE}", f"--size={4 * ZONE}")
        self.refused("trim block size 4096 is not the zone size", "--name=a", "--rw=trim", "--bs=4k", f"--size={ZONE}")


@unittest.skipIf(MISSING, MISSING)
class Conventional(Zbd):
    """Cases for conventional zones only."""
    device_name = "small-mixed"

    def test_14_random_writes_to_conventional_zones(self):
        report = json.loads(self.call("nvme", *self.attach, "zns", "report-zones", "-d", "64", "-o", "json").stdout)["zone_list"]
        count = [zone["type"] for zone in report].index("SEQWRITE_REQ")
        self.assertGreater(count, 1)
        words = ("--iodepth=64", f"--size={CAPACITY}", *self.verified)
        self.moves(self.good("--name=a", "--rw=randwrite", "--bs=16k", *words), written=CAPACITY, read=CAPACITY)
        self.good("--name=t", "--rw=trim", f"--bs={ZONE}", f"--size={ZONE}")
        self.good("--name=z", "--rw=read", "--bs=64k", f"--size={CAPACITY}", "--verify=pattern", "--verify_pattern=0x00")


def load_tests(loader, _tests, _pattern):
    return unittest.TestSuite([loader.loadTestsFromTestCase(Zbd), Conventional("test_14_random_writes_to_conventional_zones")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
