"""nvme-cli on a device of ours: its printers show Identify, log pages and zones as the device has them, its commands write, append and
read, and what is refused is refused before anything boots."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem  # noqa: E402

MISSING = device_problem()
if not (shutil.which("nvme") or os.path.exists("/usr/sbin/nvme")):
    MISSING = MISSING or "nvme-cli is not installed (scripts/setup installs it)"

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
BLOCK = 4096
GET_LOG_PAGE, ZONE_APPEND = 0x02, 0x7d  # opcodes


@unittest.skipIf(MISSING, MISSING)
class NvmeCli(unittest.TestCase):
    def call(self, *words, environment=None, data=None):
        return subprocess.run([DRIVER, "nvme", *map(str, words)], capture_output=True, check=False, input=data,
                              env={**os.environ, **(environment or {})})

    def good(self, *words, **more):
        run = self.call(*words, **more)
        self.assertEqual(run.returncode, 0, (words, run.stderr))
        self.assertNotIn(b"hartzone:", run.stderr)
        return run.stdout

    def answer(self, *words):
        return json.loads(self.good("--device", "small", *words, "-o", "json"))

    def test_identify(self):
        controller = self.answer("id-ctrl")
        self.assertEqual((controller["mn"].strip(), controller["nn"], controller["cntlid"]), ("Hartzone zoned SSD", 1, 1))
        namespace = self.answer("id-ns")
        self.assertEqual((namespace["nsze"], namespace["lbafs"][0]["ds"]), (12 * 128, 12))
        zoned = self.answer("zns", "id-ns")
        self.assertEqual((zoned["lbafe"][0]["zsze"], zoned["mor"], zoned["mar"]), (128, 5, 5))
        self.assertIn(b"Hartzone zoned SSD", self.good("--device", "small", "id-ctrl", "/dev/hartzone0"), "by the controller's own file")

    def test_log_pages(self):
        self.assertEqual((self.answer("smart-log")["avail_spare"], int(self.answer("smart-log")["power_cycles"])), (100, 1))
        self.assertEqual([error["error_count"] for error in self.answer("error-log", "-e", "1")["errors"]], [0])
        effects = self.good("--device", "small", "get-log", "--log-id=5", "--log-len=4096", "--csi=2", "--raw-binary")
        self.assertEqual(struct.unpack_from("<I", effects, 4 * GET_LOG_PAGE), (0x00200001,))
        self.assertTrue(struct.unpack_from("<I", effects, 4 * (256 + ZONE_APPEND))[0] & 1, "supported")
        self.assertTrue(self.has_log_page(2))
        self.assertFalse(self.has_log_page(0x80))

    def has_log_page(self, identifier):
        """As the page of supported ones has it."""
        return bool(self.good("--device", "small", "supported-log-pages", "-o", "binary")[4 * identifier] & 1)

    def test_raw_dumps(self):
        """Binary, as other tools decode them: SMART of the specification, and a vendor page of ours (struct hz_log_flash)."""
        smart = self.good("--device", "small", "smart-log", "-o", "binary")
        self.assertEqual((len(smart), smart[3]), (512, 100))
        flash = self.good("--device", "small", "get-log", "--log-id=0xc1", "--log-len=512", "--raw-binary")
        self.assertEqual((len(flash), struct.unpack_from("<II", flash)[1]), (512, 2), "two channels")
        identify = self.good("--device", "small", "id-ctrl", "--raw-binary")
        self.assertEqual((len(identify), identify[24:32]), (4096, b"Hartzone"))

    def test_zones_and_data_stay_in_an_image(self):
        with tempfile.TemporaryDirectory(prefix="hz-nvme-") as folder:
            image = ["--device", "small", "--image", str(pathlib.Path(folder) / "image")]
            data = bytes(i % 251 for i in range(2 * BLOCK))
            self.good(*image, "write", "-s", "0", "-c", "1", "-z", len(data), data=data)
            self.good(*image, "zns", "zone-append", "-s", "0", "-z", BLOCK, data=data[:BLOCK])
            self.good(*image, "zns", "finish-zone", "-s", "128")
            self.assertTrue(self.good(*image, "read", "-s", "1", "-c", "1", "-z", 2 * BLOCK).startswith(data[BLOCK:] + data[:BLOCK]))
            zones = json.loads(self.good(*image, "zns", "report-zones", "-o", "json"))["zone_list"]
            self.assertEqual((len(zones), zones[0]["wp"], zones[1]["state"], zones[2]["state"]), (12, 3, "FULL", "EMPTY"))
            self.good(*image, "verify", "-s", "0", "-c", "2")
            self.good(*image, "compare", "-s", "0", "-c", "1", "-z", len(data), data=data)
            run = self.call(*image, "compare", "-s", "1", "-c", "1", "-z", len(data), data=data)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(b"compare", (run.stderr + run.stdout).lower())
            run = self.call(*image, "write", "-s", "0", "-c", "0", "-z", BLOCK, data=data[:BLOCK])
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(b"Zone Invalid Write", run.stderr + run.stdout)

    def test_a_block_device_deallocates(self):
        with tempfile.TemporaryDirectory(prefix="hz-nvme-") as folder:
            image = ["--device", "small-legacy", "--image", str(pathlib.Path(folder) / "image")]
            data = bytes(i % 251 for i in range(4 * BLOCK))
            self.good(*image, "write", "-s", "0", "-c", "3", "-z", len(data), data=data)
            self.good(*image, "dsm", "--ad", "--slbs", "1", "--blocks", "2")
            self.assertTrue(self.good(*image, "read", "-s", "0", "-c", "3", "-z", len(data)).startswith(
                data[:BLOCK] + bytes(2 * BLOCK) + data[3 * BLOCK:]))

    def test_flexible_data_placement(self):
        """Each call is a start of the device: events and statistics are those since."""
        with tempfile.TemporaryDirectory(prefix="hz-nvme-") as folder:
            image = ["--device", "small-fdp", "--image", str(pathlib.Path(folder) / "image")]
            configs = json.loads(self.good(*image, "fdp", "configs", "-e", "1", "-o", "json"))
            found = configs["configs"][0]
            self.assertEqual((found["nrg"], found["nruh"], found["nnss"]), (1, 4, 1))
            self.assertEqual(self.good(*image, "fdp", "configs", "-e", "1").count(b"Initially Isolated"), 4)
            usage = json.loads(self.good(*image, "fdp", "usage", "-e", "1", "-o", "json"))
            self.assertEqual([one["ruha"] for one in usage["ruhus"]], [1] * 4)
            unit = found["runs"] // BLOCK
            self.assertEqual(self.room(image), [unit] * 4)
            self.good(*image, "write", "-s", "0", "-c", "2", "-z", 3 * BLOCK, "-T", "2", "-S", "3", data=bytes(3 * BLOCK))
            self.assertEqual(self.room(image), [unit, unit, unit, unit - 3])
            self.good(*image, "fdp", "update", "-p", "3")
            self.assertEqual(self.room(image), [unit] * 4)
            stats = json.loads(self.good(*image, "fdp", "stats", "-e", "1", "-o", "json"))
            self.assertEqual(int(stats["hbmw"]), 0)
            self.assertEqual(json.loads(self.good(*image, "fdp", "events", "-e", "1", "-E", "-o", "json"))["n"], 0)
            self.good(*image, "fdp", "set-events", "-p", "1", "-t", "0,3,128", "-e")
            self.assertRegex(self.good(*image, "get-feature", "-f", "0x1d", "--cdw11=1"), rb"(?i)value: ?0x0*1\b")

    def room(self, image):
        return [one["ruamw"] for one in json.loads(self.good(*image, "fdp", "status", "-o", "json"))["ruhss"]]

    def test_marked_blocks(self):
        """Write Uncorrectable outlasts the device: each call is a start of it."""
        for device in ("small", "small-legacy"):
            with self.subTest(device), tempfile.TemporaryDirectory(prefix="hz-nvme-") as folder:
                image = ["--device", device, "--image", str(pathlib.Path(folder) / "image")]
                data = bytes(i % 251 for i in range(2 * BLOCK))
                self.good(*image, "write", "-s", "0", "-c", "1", "-z", len(data), data=data)
                self.good(*image, "write-uncor", "-s", "2", "-c", "1")
                for block in (2, 3):
                    run = self.call(*image, "read", "-s", block, "-c", "0", "-z", BLOCK)
                    self.assertNotEqual(run.returncode, 0)
                    self.assertRegex(run.stderr + run.stdout, b"(?i)unrecovered")
                self.assertTrue(self.good(*image, "read", "-s", "0", "-c", "1", "-z", len(data)).startswith(data))

    def test_copies(self):
        with tempfile.TemporaryDirectory(prefix="hz-nvme-") as folder:
            image = ["--device", "small", "--image", str(pathlib.Path(folder) / "image")]
            data = bytes(i % 251 for i in range(4 * BLOCK))
            self.good(*image, "write", "-s", "0", "-c", "3", "-z", len(data), data=data)
            self.good(*image, "copy", "--sdlba", "128", "--slbs", "2,0", "--blocks", "1,0")
            self.assertEqual(self.good(*image, "read", "-s", "128", "-c", "2", "-z", 3 * BLOCK)[:3 * BLOCK], data[2 * BLOCK:] + data[:BLOCK])

    def test_changed_namespaces(self):
        """Listed until they are read without Retain; nvme-cli's own printer retains them."""
        shown = f"{DRIVER} nvme changed-ns-list-log --raw-binary | od -An -tu4 -N4"
        taken = f"{DRIVER} nvme get-log --log-id=4 --log-len=4096 --raw-binary | od -An -tu4 -N8"
        run = subprocess.run([DRIVER, "serve", "--device", "small", "--", "sh", "-ec",
                              f"{shown}; {DRIVER} nvme detach-ns -n 1 -c 1 >&2; {shown}; {shown}; {taken}; {shown}"], capture_output=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.split(), b"0 1 1 1 0 0".split())
        self.assertTrue(self.has_log_page(4))

    def test_the_file_that_is_put_in(self):
        """As a stand-in for nvme-cli gets it."""
        with tempfile.TemporaryDirectory(prefix="hz-nvme-") as folder:
            (pathlib.Path(folder) / "nvme").write_text("#!/bin/sh\necho $*\n")
            (pathlib.Path(folder) / "nvme").chmod(0o755)
            for words, gets in (("detach-ns -n 1", "detach-ns /dev/hartzone0 -n 1"), ("smart-log", "smart-log /dev/hartzone0n1"),
                                ("detach-ns /dev/hartzone0n1", "detach-ns /dev/hartzone0n1")):
                run = self.call("--device", "small", *words.split(), environment={"PATH": f"{folder}:{os.environ['PATH']}"})
                self.assertEqual((run.returncode, run.stdout.decode()), (0, gets + "\n"), run.stderr)

    def test_features(self):
        self.assertRegex(self.good("--device", "small", "get-feature", "-f", "6"), rb"(?i)value: ?0x0*1\b")
        self.assertIn(b"Enabled", self.good("--device", "small", "get-feature", "-f", "6", "-H"))

    def test_telemetry(self):
        """The file has the header, the list of pages behind it, and the pages: SMART and flash counters."""
        with tempfile.TemporaryDirectory(prefix="hz-nvme-") as folder:
            image, out = pathlib.Path(folder) / "image", pathlib.Path(folder) / "telemetry"
            for generation in (1, 2):
                self.good("--device", "small", "--image", image, "telemetry-log", "--output-file", out, "--host-generate=1")
                log = out.read_bytes()
                self.assertEqual((log[0], log[381], len(log)), (7, generation, 512 * (1 + struct.unpack_from("<H", log, 12)[0])))
                version, pages = struct.unpack_from("<II", log, 512)
                self.assertEqual((version, pages), (1, 5))
                places = {identifier: log[512 * block:512 * block + size] for identifier, block, size, _ in
                          struct.iter_unpack("<IIII", log[520:520 + 16 * pages])}
                self.assertEqual(places[2][3], 100, "available spare")
                self.assertEqual(struct.unpack_from("<II", places[0xc1]), (1, 2), "two channels")
                self.assertEqual(struct.unpack_from("<II", places[0xc0])[0], 1)

    def test_self_test(self):
        """Results outlast shutdowns, and go on counting in an image."""
        with tempfile.TemporaryDirectory(prefix="hz-nvme-") as folder:
            image = ["--device", "small", "--image", str(pathlib.Path(folder) / "image")]
            data = bytes(i % 251 for i in range(2 * BLOCK))
            self.good(*image, "write", "-s", "0", "-c", "1", "-z", len(data), data=data)
            self.assertIn(b"started", self.good(*image, "device-self-test", "/dev/hartzone0", "-n", "0", "-s", "1"))
            self.good(*image, "device-self-test", "/dev/hartzone0", "-n", "1", "-s", "2")
            log = json.loads(self.good(*image, "self-test-log", "-o", "json"))
            self.assertEqual(log["Current Device Self-Test Operation"], 0)
            results = log["List of Valid Reports"]
            self.assertEqual([(r["Self test code"], r["Self test result"]) for r in results[:2]], [(2, 0), (1, 0)])
            run = self.call(*image, "device-self-test", "/dev/hartzone0", "-n", "2", "-s", "1")
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(b"Invalid Namespace", run.stderr + run.stdout)

    def test_format(self):
        with tempfile.TemporaryDirectory(prefix="hz-nvme-") as folder:
            image = ["--device", "small", "--image", str(pathlib.Path(folder) / "image")]
            data = bytes(i % 251 for i in range(2 * BLOCK))
            self.good(*image, "write", "-s", "0", "-c", "1", "-z", len(data), data=data)
            for refused, says in ((("-s", "2"), b"invalid field"), (("-l", "1"), b"format"), (("-i", "1"), b"invalid")):
                run = self.call(*image, "format", "-f", *refused)
                self.assertNotEqual(run.returncode, 0, refused)
                self.assertIn(says, (run.stderr + run.stdout).lower())
            self.assertTrue(self.good(*image, "read", "-s", "0", "-c", "1", "-z", len(data)).startswith(data), "what is refused erases nothing")
            self.assertIn(b"Success formatting", self.good(*image, "format", "-f"))
            self.assertTrue(self.good(*image, "read", "-s", "0", "-c", "1", "-z", len(data)).startswith(bytes(2 * BLOCK)))
            zones = json.loads(self.good(*image, "zns", "report-zones", "-o", "json"))["zone_list"]
            self.assertEqual({zone["state"] for zone in zones}, {"EMPTY"})
            self.good(*image, "write", "-s", "0", "-c", "1", "-z", len(data), data=data)
            self.assertIn(b"Success formatting", self.good(*image, "format", "-f", "-s", "1"), "user data erase")
            self.assertTrue(self.good(*image, "read", "-s", "0", "-c", "1", "-z", len(data)).startswith(bytes(2 * BLOCK)))

    def test_sanitize(self):
        """By block erase: the next call finds it done, and the log says so."""
        with tempfile.TemporaryDirectory(prefix="hz-nvme-") as folder:
            image = ["--device", "small", "--image", str(pathlib.Path(folder) / "image")]
            data = bytes(i % 251 for i in range(2 * BLOCK))
            self.good(*image, "write", "-s", "0", "-c", "1", "-z", len(data), data=data)
            for refused in ("3", "4"): # overwrite, crypto erase
                self.assertNotEqual(self.call(*image, "sanitize", "/dev/hartzone0", "-a", refused).returncode, 0)
            self.assertTrue(self.good(*image, "read", "-s", "0", "-c", "1", "-z", len(data)).startswith(data), "what is refused erases nothing")
            self.good(*image, "sanitize", "/dev/hartzone0", "-a", "2")
            for _ in range(200): # each call is a start of the device, which goes on with it
                log = json.loads(self.good(*image, "sanitize-log", "/dev/hartzone0", "-o", "json"))
                status = log["hartzone0"]["sstat"]["status"]
                if not status.startswith("(2)"): # under way
                    break
            self.assertTrue(status.startswith("(1)"), status)
            self.assertTrue(self.good(*image, "read", "-s", "0", "-c", "1", "-z", len(data)).startswith(bytes(2 * BLOCK)))

    def test_saved_features(self):
        with tempfile.TemporaryDirectory(prefix="hz-nvme-") as folder:
            image = ["--device", "small", "--image", str(pathlib.Path(folder) / "image")]
            self.good(*image, "set-feature", "/dev/hartzone0", "-f", "6", "--value=0", "--save")
            for select, value in ((0, 0), (1, 1), (2, 0), (3, 5)):
                self.assertRegex(self.good(*image, "get-feature", "-f", "6", "-s", select), rb"(?i)value: ?(0x)?0*%x\b" % value)
            run = self.call(*image, "set-feature", "/dev/hartzone0", "-f", "2", "--value=0", "--save")
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(b"not saveable", (run.stderr + run.stdout).lower())

    def test_what_is_refused(self):
        nothing_boots = {"HARTZONE_QEMU": "/bin/false"}
        for words, says in (((), "say which of nvme-cli's commands"), (("show-regs",), "no show-regs here; id-ctrl says"),
                            (("nosuch",), "nvme-cli has no command 'nosuch'"),
                            (("zns", "nosuch"), "nvme-cli has no command 'zns'"), (("--nosuch", "id-ctrl"), "--nosuch is no option of nvme here")):
            run = self.call(*words, environment=nothing_boots)
            self.assertEqual((run.returncode, run.stdout), (1, b""), words)
            self.assertIn(says, run.stderr.decode())
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        run = self.call("--device", "small", "admin-passthru", "--opcode=1")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn(b"it manages queues", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
