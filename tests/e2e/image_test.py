"""Images that are kept: consecutive runs on one file, power cuts between them, damage, and the
check of acknowledged data."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem  # noqa: E402

MISSING = device_problem()

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
HEADER_BYTES, ENTRY_BYTES = 4096, 32
FLUSHING = """name: flushing
mapping: direct
threads: 2
common: {read_ratio: 0.2, block: 16 KiB, queue_depth: 4, zones: 1, flush_every: 4, total_bytes: 256 KiB}
"""
CHANNEL_EACH = """name: two
geometry: {channels: 2, chips_per_channel: 1, planes_per_die: 2, blocks_per_plane: 40, slc_blocks_per_plane: 16, pages_per_block: 24}
zones: {max_open: 4, max_active: 4}
buffers: {count: 4}
namespaces: {channels: [0, 1]}
"""


@unittest.skipIf(MISSING, MISSING)
class Kept(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="hz-image-")
        self.image = pathlib.Path(self.folder.name) / "disk.img"
        self.record = pathlib.Path(str(self.image) + ".acked")
        self.workload = pathlib.Path(self.folder.name) / "flushing.yaml"
        self.workload.write_text(FLUSHING)

    def tearDown(self):
        self.folder.cleanup()

    def called(self, *words, code=0, says="", **environment):
        run = subprocess.run([DRIVER, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.folder.name,
                             env={**os.environ, **environment})
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertIn(says, run.stdout + run.stderr)
        if code:
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        return run.stdout + run.stderr

    def run_on(self, *words, device="small", **wanted):
        return self.called("run", "--image", self.image, "--device", device, "--workload", self.workload, *words, **wanted)

    def verify(self, **wanted):
        return self.called("verify", "--image", self.image, **wanted)

    def promised(self, **wanted):
        return int(re.search(r"of (\d+) sectors? that (\d+) runs?", self.verify(**wanted))[1])

    def zones(self):
        return self.called("info", "--image", self.image, "--device", "small", "--zones").count("zone at ")

    def test_a_second_run_leaves_the_first_ones_data_alone(self):
        self.run_on()
        first, zones = self.promised(), self.zones()
        self.assertGreater(first, 50)
        self.run_on("--out", self.folder.name, says=f"{zones} zones hold data of others or of earlier runs and were left as they are")
        self.assertEqual(json.loads((pathlib.Path(self.folder.name) / "result.json").read_text())["kept_zones"], zones)
        self.assertGreater(self.promised(says="that 2 runs on this image were promised as durable, all hold what they should"), first)

    def test_a_mount_takes_the_flash_time_of_what_it_reads(self):
        def mount():
            self.run_on("--out", self.folder.name)
            result = json.loads((pathlib.Path(self.folder.name) / "result.json").read_text())
            self.assertEqual(sum(step["ns"] for step in result["mount"].values()), result["mount_ns"])
            return result["mount_ns"], sum(step["pages"] for step in result["mount"].values())

        first, second = mount(), mount()
        self.assertEqual(first[1], 0)
        self.assertGreater(second[1], 10)
        self.assertGreater(second[0], first[0])
        self.image.unlink()
        self.record.unlink()
        self.assertEqual([mount(), mount()], [first, second])

    def test_what_does_not_fit_beside_is_refused_and_a_new_image_is_said_so(self):
        for _ in range(8):
            run = subprocess.run([DRIVER, "run", "--image", self.image, "--device", "small", "--workload", self.workload], capture_output=True,
                                 text=True, check=False)
            if run.returncode:
                break
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (1, 1), run.stderr)
        self.assertIn("--format-image", run.stderr)
        self.promised(says="all hold what they should")
        self.run_on("--format-image")
        self.promised(says="that 1 run on")

    def test_sectors_that_can_be_overwritten_are_not(self):
        self.workload.write_text("name: blocks\ncommon: {read_ratio: 0.2, block: 16 KiB, flush_every: 4, total_bytes: 2 MiB}\n")
        self.run_on(device="small-legacy")
        self.run_on(device="small-legacy", code=1, says="would overwrite sectors of earlier runs: --format-image begins")
        self.promised(says="all hold what they should")

    def test_what_others_reset_or_overwrite_is_not_promised_any_more(self):
        self.run_on()
        first, zones = self.promised(), self.zones()
        self.called("nvme", "--image", self.image, "--device", "small", "zns", "reset-zone", "-s", "0")
        self.assertLess(self.promised(says="all hold what they should"), first)
        self.run_on()
        self.assertGreaterEqual(self.zones(), zones)
        self.called("serve", "--image", self.image, "--device", "small", "--", DRIVER, "nvme", "zns", "reset-zone", "-a")
        self.assertEqual(self.promised(says="all hold what they should"), 0)
        self.workload.write_text("name: blocks\ncommon: {read_ratio: 0.2, block: 16 KiB, flush_every: 4, total_bytes: 2 MiB}\n")
        self.image.unlink()
        self.run_on(device="small-legacy")
        before = self.promised()
        self.called("nvme", "--image", self.image, "--device", "small-legacy", "write-zeroes", "-s", "0", "-c", "999")
        self.assertLess(self.promised(says="all hold what they should"), before)

    def test_after_a_power_cut(self):
        promised = 0
        for cut in (20, 30, 25):
            self.run_on("--power-cut-at", cut, says=f"./hartzone verify --image {self.image} recovers and checks")
            promised, before = self.promised(says="all hold what they should"), promised
            self.assertGreater(promised, before)

    def test_durable_writes_need_no_flush(self):
        """Power cuts: each durable write that had ended is there, with all that had ended before it in its zone."""
        protected = pathlib.Path(self.folder.name) / "protected.yaml"
        protected.write_text((TOP / "configs/devices/small.yaml").read_text() + "plp: {mode: selective}\n")
        self.workload.write_text(FLUSHING.replace("flush_every: 4", "durable_ratio: 0.4"))
        promised = []
        for cut in (8, 24, 52):
            self.run_on("--format-image", "--power-cut-at", cut, device=protected)
            promised.append(self.promised(says="all hold what they should"))
        self.assertEqual(promised, sorted(promised))
        self.assertGreater(promised[-1], 30)
        self.run_on("--format-image", device="small", code=1, says="this device refuses durable writes")

    def test_a_write_with_fua_needs_no_flush(self):
        """90 writes that ended long before the cut, in zones and blocks; plain ones among them
        guarantee nothing."""
        trace = pathlib.Path(self.folder.name) / "fua.hzt"
        for device, place, plain, words in (("small", "z0+{}", "z1+{}", ("--mapping", "direct")), ("small-legacy", "{}", "{}", ())):
            lines = [f"{i * 100000} 0 write {place.format(i)} 1 durable\n{i * 100000} 0 write {plain.format(i + 500 * (device != 'small'))} 1\n"
                     for i in range(90)]
            last = f"400000000 0 write {place.format(90)} 1\n"  # so that the run has not ended when power goes
            trace.write_text("hartzone-trace 1 unit=4096\n" + "".join(lines) + last)
            self.called("run", "--trace", trace, "--device", device, "--threads", "1", "--queue-depth", "1", "--timestamps", "--image", self.image,
                        "--format-image", "--power-cut-at", "200ms", *words)
            self.assertEqual(self.promised(says="all hold what they should"), 90)

    def test_nothing_promised_is_said(self):
        """Power cuts before the first command, and before the first Flush."""
        self.run_on("--power-cut-at", "1us")
        self.verify(says="nothing is promised on this image: no run came to its first command")
        self.run_on("--power-cut-at", "2")
        self.assertEqual(self.promised(says="so nothing was checked"), 0)
        self.run_on()
        self.assertGreater(self.promised(says="that 2 runs on this image were promised as durable, all hold"), 50)

    def test_a_device_without_data_is_not_verified(self):
        timing = pathlib.Path(self.folder.name) / "timing.yaml"
        timing.write_text((TOP / "configs/devices/small.yaml").read_text().replace("media: store", "media: timing-only"))
        self.run_on("--no-verify", device=timing)
        self.verify(code=1, says="keeps no data (media: timing-only), so nothing on it can be verified")

    def test_what_iotailor_holds_is_promised_to_nobody(self):
        """Power cuts: a Flush waits for data held in host memory, so all acknowledged data survive.
        """
        promised = []
        for cut in (8, 24, 52, None):
            self.run_on("--format-image", "--iotailor", "48KiB", "--out", self.folder.name, *(["--power-cut-at", cut] if cut else []))
            promised.append(self.promised(says="all hold what they should"))
        self.assertEqual(promised, sorted(promised))
        self.assertGreater(promised[2], 0)
        tailored = json.loads((pathlib.Path(self.folder.name) / "result.json").read_text())["iotailor"]
        self.assertGreater(min(tailored["superpages"], tailored["grouped"], tailored["partial"]["flush"]), 0)

    def test_capacitors_keep_what_was_promised(self):
        """Durable writes end in the buffer; when power goes, capacitors bring them to flash, and the next start to their place."""
        self.workload.write_text(FLUSHING.replace("flush_every: 4", "durable_ratio: 0.4").replace("256 KiB", "2 MiB"))
        for cut in ("2ms", "4ms", "6ms"):
            out = pathlib.Path(self.folder.name) / cut
            self.run_on("--format-image", "--power-cut-at", cut, "--out", out, device="small-plp", says="on capacitors: ")
            result = json.loads((out / "result.json").read_text())
            self.assertTrue(result["deterministic"], result["deterministic_reason"])
            self.assertRegex(result["software"]["firmware"]["sha256"], "^[0-9a-f]{64}$")
            kept = result["power_cut"]["kept"]
            self.assertGreater(kept["bytes"], 0)
            self.assertGreater(kept["programs"], 0)
            self.assertFalse(kept["capacitors_empty"])
            self.assertLess(kept["energy_uj"], kept["worst_case_uj"])
            self.assertLessEqual(kept["worst_case_uj"], 20000)
            self.assertGreater(self.promised(says="all hold what they should"), 20)

    def test_without_a_volatile_cache_every_write_is_durable(self):
        for device in ("small", "small-legacy"):
            protected = pathlib.Path(self.folder.name) / f"{device}.yaml"
            protected.write_text((TOP / f"configs/devices/{device}.yaml").read_text() + "plp: {mode: full}\n")
            keys = "zones: 1, " if device == "small" else ""
            self.workload.write_text(FLUSHING.replace("zones: 1, flush_every: 4, ", keys))
            self.run_on("--format-image", "--power-cut-at", 40, device=protected)
            self.assertGreater(self.promised(says="all hold what they should"), 20)
        self.called("info", "--device", protected, says="durable writes   all")

    def test_zones_on_a_part_of_the_planes_keep_their_promises(self):
        narrow = pathlib.Path(self.folder.name) / "narrow.yaml"
        narrow.write_text((TOP / "configs/devices/small.yaml").read_text().replace("  cell: tlc", "  cell: tlc\n  superblock_planes: 1"))
        for cut in (24, 90):
            self.run_on("--format-image", "--power-cut-at", cut, device=narrow)
            self.promised(says="all hold what they should")
        self.run_on("--format-image", device=narrow, says="verified")
        self.assertGreater(self.promised(says="all hold what they should"), 10)
        self.called("image", "check", self.image, says="The image is sound.")
        self.called("info", "--image", self.image, "--device", narrow,
                    says="superblocks      28 of 0.2 MiB on 1 of 2 planes, 9 of SLC on all")
        self.called("info", "--image", self.image, "--device", "small", code=3, says="was made for superblock_planes 1")
        narrow.write_text(narrow.read_text().replace("plane_scheme: CWDP", "plane_scheme: PCWD"))
        self.called("info", "--image", self.image, "--device", narrow, code=3,
                    says="was made for plane_scheme CWDP, but the device config says PCWD: ")

    def test_patched_zones_beside_conventional_data_in_slc_keep_their_promises(self):
        self.workload.write_text(FLUSHING.replace("common:", """common: {queue_depth: 4, flush_every: 4}
each:
  - {area: conventional, pattern: random, read_ratio: 0.2, block: 8 KiB, total_ops: 300}
  -""").replace("total_bytes: 256 KiB", "total_bytes: 2 MiB").replace("queue_depth: 4, zones", "zones").replace("zones: 1", "zones: 3"))
        for cut in (40, 300, 1100):
            self.run_on("--format-image", "--power-cut-at", cut, device="small-patched")
            self.promised(says="all hold what they should")
        self.run_on("--format-image", device="small-patched", says="verified")
        self.assertGreater(self.promised(says="all hold what they should"), 300)
        self.called("image", "check", self.image, says="The image is sound.")
        self.called("info", "--image", self.image, "--device", "small-mixed", code=3, says="the device config it was made with")

    def test_zones_that_are_refreshed_keep_their_promises(self):
        refreshed = pathlib.Path(self.folder.name) / "refreshed.yaml"
        refreshed.write_text((TOP / "configs/devices/small.yaml").read_text() + "refresh: {reads: 40, hours: 10, wear: 1}\n")
        self.workload.write_text(FLUSHING.replace("0.2", "0.8").replace("256 KiB", "8 MiB").replace("zones: 1", "zones: 3"))
        for cut in (150, 260):
            self.run_on("--format-image", "--power-cut-at", cut, device=refreshed)
            self.promised(says="all hold what they should")
        self.run_on("--format-image", "--out", self.folder.name, device=refreshed, says="verified")
        ftl = json.loads((pathlib.Path(self.folder.name) / "result.json").read_text())["ftl"]
        self.assertGreater(ftl["refreshed_zones"]["reads"], 0)
        self.assertGreaterEqual(ftl["refreshed_bytes"], ftl["refreshed_zones"]["reads"] * 393216)
        self.promised(says="all hold what they should")
        self.called("image", "check", self.image, says="The image is sound.")

    def test_protection_information_keeps_its_promises(self):
        """Tuples outlast power cuts, with the data that they belong to: whatever is read is checked against them."""
        tuples = pathlib.Path(self.folder.name) / "tuples.yaml"
        for preset, cuts in (("small-mixed", (30, 70)), ("small-zufs-f2fs", (30, 70)), ("small-plp", ("3ms",))):
            tuples.write_text((TOP / f"configs/devices/{preset}.yaml").read_text() + "\nprotection: type1\n")
            for cut in cuts:
                self.run_on("--format-image", "--power-cut-at", cut, device=tuples)
                self.promised(says="all hold what they should")
        self.run_on("--format-image", device=tuples, says="verified")
        self.assertGreater(self.promised(says="all hold what they should"), 10)
        self.called("image", "check", self.image, says="The image is sound.")
        self.called("info", "--image", self.image, "--device", tuples, says="data protection  type 1")
        self.called("info", "--image", self.image, "--device", "small-plp", code=3, says="was made for protection type1")

    def test_a_killed_program_leaves_its_promises(self):
        self.run_on("--power-cut-at", "30")
        raw = self.record.read_bytes()
        self.assertEqual((len(raw) - HEADER_BYTES) % ENTRY_BYTES, 0)

    def test_progress_of_verify_on_a_terminal(self):
        self.run_on()
        terminal, end = pty.openpty()
        with os.fdopen(terminal, "rb", buffering=0) as shown:
            subprocess.run([DRIVER, "verify", "--image", self.image], stdout=subprocess.DEVNULL, stderr=end, check=True)
            os.close(end)
            self.assertRegex(shown.read(4096), rb"\r\[\.+\]   0 % reading what was promised")

    def test_what_is_missing_is_reported(self):
        self.run_on()
        empty = pathlib.Path(self.folder.name) / "empty.img"
        self.called("info", "--image", empty, "--device", "small")
        kept = self.image.read_bytes()
        self.image.write_bytes(empty.read_bytes())
        words = self.verify(code=1, says=" cannot be read and ")
        self.assertIn("should hold key", words)
        self.assertIn("but holds zeros", words)
        self.run_on(code=1, says="is empty, but by the record ")
        self.image.write_bytes(kept)
        self.verify(says="all hold what they should")

    def channel_each(self, text=CHANNEL_EACH):
        device = pathlib.Path(self.folder.name) / "two.yaml"
        device.write_text(text)
        return device

    def promised_in(self, nsid, **wanted):
        counts = re.search(rf"namespace {nsid}: (\d+) sectors? promised, (\d+) right", self.verify(**wanted))
        self.assertEqual(counts[1], counts[2])
        return int(counts[1])

    def test_each_namespace_keeps_its_promises(self):
        """Power cuts between runs on both namespaces, and runs on the second one alone, which is known from the first run on."""
        two, out = self.channel_each(), pathlib.Path(self.folder.name)
        self.run_on("--namespaces", "1,2", "--power-cut-at", 40, device=two)
        first = self.promised_in(1), self.promised_in(2)
        self.assertGreater(min(first), 4)
        self.run_on("--namespaces", "2", "--threads", 1, "--out", out, device=two)
        self.assertEqual(json.loads((out / "result.json").read_text())["kept_zones"], 1)
        self.assertEqual(self.promised_in(1, says="that 2 runs on this image"), first[0])
        second = self.promised_in(2)
        self.assertGreater(second, first[1])
        self.run_on("--namespaces", "1,2", "--out", out, device=two)
        self.assertEqual(json.loads((out / "result.json").read_text())["kept_zones"], 3)
        self.assertGreater(self.promised_in(1), first[0])
        self.assertGreater(self.promised_in(2, says="that 3 runs on this image were promised as durable, all hold what they should"), second)
        self.called("image", "check", self.image, says="The image is sound.")
        kept = self.image.read_bytes()
        self.image.unlink()
        self.called("info", "--image", self.image, "--device", two)
        self.called("verify", "--image", self.image, code=1, says=" hold something else")
        self.image.write_bytes(kept)
        self.promised_in(2, says="all hold what they should")
        self.run_on("--format-image", device=two)
        self.assertEqual(self.promised_in(2, says="that 1 run on this image"), 0)

    def test_what_others_do_to_a_namespace_is_not_promised_there(self):
        two = self.channel_each()
        nvme = ["nvme", "--image", self.image, "--device", two]
        self.run_on("--namespaces", "1,2", device=two)
        first, second = self.promised_in(1), self.promised_in(2)
        self.called(*nvme, "zns", "reset-zone", "-n", "2", "-a")
        self.assertEqual((self.promised_in(1), self.promised_in(2, says="all hold what they should")), (first, 0))
        self.run_on("--namespaces", "2", device=two)
        self.assertGreater(self.promised_in(2), second // 2)
        self.called(*nvme, "detach-ns", "-n", "2", "-c", "1")
        self.verify(code=1, says="namespace 2 holds what runs were promised, and is not attached: attach it first")
        self.run_on("--namespaces", "2", device=two, code=1, says="namespace 2 is not attached")
        self.called(*nvme, "delete-ns", "-n", "2")
        self.assertEqual(self.verify(says="all hold what they should").count("promised, "), 2)
        self.called(*nvme, "create-ns", "-s", 512, "-c", 512, "-f", 0, "-y", 2)
        self.called(*nvme, "attach-ns", "-n", "2", "-c", "1")
        self.run_on("--namespaces", "2,1", device=two)
        self.assertGreater(self.promised_in(2, says="all hold what they should"), 0)
        self.assertGreater(self.promised_in(1), first)

    def test_blocks_of_a_namespace_are_overwritten_by_none_but_the_first_run(self):
        two = self.channel_each(re.sub("zones:.*\nbuffers:.*", "zones: {namespace: block}\nconventional: {spare_superblocks: 8}", CHANNEL_EACH))
        self.workload.write_text("name: blocks\ncommon: {read_ratio: 0.2, block: 16 KiB, flush_every: 4, total_bytes: 512 KiB}\n")
        self.run_on("--threads", 1, device=two)
        self.run_on("--namespaces", "2", "--threads", 1, device=two)
        for namespaces in ("2", "1,2"):
            self.run_on("--namespaces", namespaces, "--threads", 2, device=two, code=1,
                        says=f"namespace {namespaces[0]} of the image {self.image} was used before")
        self.assertGreater(self.promised_in(1, says="that 2 runs on this image were promised as durable, all hold what they should"), 4)
        self.assertGreater(self.promised_in(2), 4)

    def test_a_damaged_record_is_reported(self):
        self.run_on()
        raw = bytearray(self.record.read_bytes())
        entry = next(at for at in range(HEADER_BYTES, len(raw), ENTRY_BYTES) if any(raw[at:at + ENTRY_BYTES]))
        raw[entry] ^= 1
        self.record.write_bytes(raw)
        self.verify(code=1, says="is damaged: what it says of LBA ")
        self.record.write_bytes(b"x" * 5000)
        self.verify(code=1, says="its header cannot be believed")

    def test_nothing_to_verify(self):
        self.verify(code=1, says="cannot open the NAND image ")
        self.assertFalse(self.image.exists())
        self.called("info", "--image", self.image, "--device", "small")
        self.verify(code=1, says="disk.img.acked: No such file")
        self.called("verify", code=1, says="--image FILE")
        self.called("run", "--format-image", code=1, says="give --image too")

    def test_info_tells_the_capacity_of_zones_not_their_size(self):
        self.called("info", "--device", "conzone-paper", says=" 12.0 MiB capacity each, starts 16.0 MiB apart")
        self.called("info", "--device", "small-mixed", says=" capacity each, starts ")

    def test_the_firmwares_last_words_count(self):
        qemu = pathlib.Path(self.folder.name) / "qemu"
        qemu.write_text('#!/bin/sh\n"${REAL_QEMU:-qemu-system-riscv64}" "$@"\necho "what was found at the end"\nexit 1\n')
        qemu.chmod(0o755)
        real = os.environ.get("HARTZONE_QEMU", "qemu-system-riscv64")
        for words in (["run", "--device", "small", "--workload", self.workload], ["info", "--device", "small"]):
            self.called(*words, code=1, says="what was found at the end", HARTZONE_QEMU=str(qemu), REAL_QEMU=real)


if __name__ == "__main__":
    unittest.main(verbosity=2)
