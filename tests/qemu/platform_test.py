"""Smoke tests of start-up, device tree, PCI, ivshmem, traps and vsock with platform_check.elf on plain QEMU."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import random
import re
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from hztest.device_machine import MIB, Machine, image, plugin, vsock_daemon  # noqa: E402

BOOT_FAILED = 4
BOOT_STATE, BOOT_ERROR = 28, 64  # struct hz_shm_header


def symbol(elf, name):
    listing = subprocess.run(["riscv64-unknown-elf-nm", elf], check=True, capture_output=True, text=True).stdout
    return int(re.search(rf"^(\w+) . {name}$", listing, re.M).group(1), 16)


class Boot(unittest.TestCase):
    def check(self, harts, **options):
        with Machine(image("platform_check.elf"), harts, **options) as machine:
            self.assertEqual(machine.wait(), 0, machine.log())
            text = machine.console()
            self.assertIn(f"check: harts {harts},", text)
            self.assertIn(f"all {harts} harts are running", text)
            return text

    def test_harts_1(self):
        self.check(1)

    def test_harts_2(self):
        self.check(2)

    def test_harts_3(self):
        self.check(3)

    def test_harts_4(self):
        self.check(4)

    def test_harts_8(self):
        self.check(8)

    def test_harts_16(self):
        self.check(16)

    def test_harts_64(self):
        self.check(64)

    def test_regions_are_kept_apart_in_either_order(self):
        for nand_first in (False, True):
            text = self.check(2, nand_first=nand_first)
            self.assertIn("shared memory 16384 KiB, NAND image 65536 KiB", text)

    def test_large_image_fills_the_64_bit_window(self):
        text = self.check(2, nand=16 << 30)
        self.assertIn("NAND image 16777216 KiB", text)

    def test_missing_shared_memory_is_said(self):
        text = self.check(2, shm=False)
        self.assertIn("ivshmem: no region begins with the shared-memory magic number", text)

    def test_ram_size_is_read(self):
        text = self.check(2, ram=1024 * MIB)
        self.assertIn("ram 1024 MiB", text)

    def test_the_heap_holds_zeros(self):
        """Up to the device tree."""
        self.assertIn("check: 0 words of the heap are written", self.check(2, append="blank"))

    def test_too_much_for_the_window_is_refused(self):
        with Machine(image("platform_check.elf"), 2, nand=32 << 30) as machine:
            self.assertEqual(machine.wait(), 1, machine.log())
            self.assertIn("PCI: the BARs do not fit", machine.console())


@unittest.skipUnless(plugin(), "the virtual clock plugin is not built")
class BootVirtual(unittest.TestCase):
    """Under the virtual clock starting up is part of the measured order: it must be the same each time."""

    def run_once(self, harts):
        with Machine(image("platform_check.elf"), harts, virtual=True) as machine:
            self.assertEqual(machine.wait(), 0, machine.log())
            self.assertIn("virtual clock 1", machine.console())
            self.assertIn(f"all {harts} harts are running", machine.console())
            return json.loads(machine.file("report").read_text())

    def test_same_order_each_time(self):
        for harts in (1, 2, 3, 8, 64):
            reports = [self.run_once(harts) for _ in range(3)]
            for report in reports:
                self.assertTrue(report["deterministic"], report["reason"])
                self.assertEqual(report["order_hash"], reports[0]["order_hash"], f"{harts} harts")
                self.assertEqual(report["harts"], reports[0]["harts"])

    def test_fault_ends_the_run(self):
        for hart in (0, 3):
            with Machine(image("platform_check.elf"), 4, virtual=True, append=f"fault=illegal hart={hart}") as machine:
                self.assertEqual(machine.wait(), 1, machine.log())
                self.assertRegex(machine.console(), rf"failed: trap: cause 2 .* hart {hart} ")


class Fault(unittest.TestCase):
    """Each planted fault ends QEMU with code 1 and one sentence on the console and in the host's header."""

    def plant(self, fault, hart):
        with Machine(image("platform_check.elf"), 4, append=f"fault={fault} hart={hart}") as machine:
            code, console = machine.wait(), machine.console()
            state, = struct.unpack("<I", machine.read("shm", BOOT_STATE, 4))
            error = machine.read("shm", BOOT_ERROR, 256).split(b"\0")[0].decode()
            return code, console, state, error

    def expect(self, fault, hart, pattern):
        code, console, state, error = self.plant(fault, hart)
        self.assertEqual((code, state), (1, BOOT_FAILED), console)
        self.assertRegex(error, pattern)
        self.assertIn("failed: " + error, console)

    def test_illegal_instruction(self):
        pc = symbol(image("platform_check.elf"), "planted_illegal")
        self.expect("illegal", 2, rf"^trap: cause 2 \(illegal instruction\) mepc {pc:#x} mtval 0x0 hart 2 ")

    def test_load_from_nowhere(self):
        self.expect("load", 1, r"^trap: cause 5 \(load access fault\) mepc 0x8\w+ mtval 0x7f8 hart 1 ")

    def test_stack_overflow_hits_the_guard_page(self):
        guard = 0x80210000 + 3 * 32768
        code, console, state, error = self.plant("overflow", 3)
        self.assertEqual((code, state), (1, BOOT_FAILED), console)
        found = re.match(r"trap: cause 7 \(store access fault\) mepc \w+ mtval (0x\w+) hart 3 ", error)
        self.assertTrue(found, error)
        self.assertIn(int(found.group(1), 16), range(guard, guard + 4096))

    def test_on_hart_0(self):
        self.expect("illegal", 0, r"^trap: cause 2 .* hart 0 ")

    def test_lt_fail(self):
        self.expect("text", 1, r"^planted failure \(hart 1\)$")

    def test_trap_inside_the_report_ends_the_run(self):
        code, console, _, _ = self.plant("nested", 1)
        self.assertEqual(code, 2, console)


@unittest.skipUnless(vsock_daemon(), "vhost-device-vsock is not installed (scripts/setup installs it)")
class Vsock(unittest.TestCase):
    # vhost-device-vsock delivers what it had to keep for a slow reader only while the writer has nothing to say: more than this on its
    # way could stop it for good. The firmware's own buffers hold as much.
    WINDOW = 65536

    def setUp(self):
        self.machine = Machine(image("platform_check.elf"), 2, append="echo", vsock=True)
        self.machine.__enter__()
        self.addCleanup(self.machine.__exit__)
        # A host that connects while the daemon is given its rings ends the daemon's worker for good.
        self.machine.wait_until(lambda: "listening" in self.machine.console(), "the firmware listens")

    def echo(self, stream, data):
        sent, got = 0, bytearray()
        while len(got) < len(data):
            room = self.WINDOW - (sent - len(got))
            if room >= self.WINDOW // 2 or sent + room >= len(data):
                stream.sendall(data[sent:sent + room])
                sent = min(sent + room, len(data))
            part = stream.recv(65536)
            self.assertTrue(part, f"closed after {len(got)} bytes\n{self.machine.log()}")
            got += part
        self.assertEqual(bytes(got), data)

    def quit(self):
        with self.machine.connect() as stream:
            stream.sendall(b"quit")
            self.assertEqual(self.machine.wait(), 0)

    def test_round_trips_of_every_size(self):
        with self.machine.connect() as stream:
            for size in list(range(1, 40)) + [4095, 4096, 4097, 65535, 65536, 65537, 200000]:
                self.echo(stream, random.Random(size).randbytes(size))
        self.quit()

    def test_more_than_all_buffers(self):
        with self.machine.connect() as stream:
            self.echo(stream, random.Random(1).randbytes(8 << 20))
        self.quit()

    def test_slow_reader(self):
        """The host reads nothing until the firmware has run out of credit; every byte still comes."""
        data = random.Random(2).randbytes(340 << 10)
        with self.machine.connect() as stream:
            stream.sendall(data)
            time.sleep(0.3)
            got = bytearray()
            while len(got) < len(data):
                got += stream.recv(65536)
            self.assertEqual(bytes(got), data)
            self.echo(stream, b"still alive")
        self.quit()

    def test_host_comes_and_goes(self):
        for turn in range(10):
            with self.machine.connect() as stream:
                self.echo(stream, b"%d" % turn * 1000)
        self.machine.wait_until(lambda: self.machine.console().count("peer has gone") == 10, "ten hang-ups are noticed")
        self.quit()

    def test_second_host_is_refused_and_first_goes_on(self):
        with self.machine.connect() as first:
            self.echo(first, b"one")
            self.assertIsNone(self.machine.try_connect())
            self.echo(first, b"two")
        self.quit()

    def test_other_ports_are_refused(self):
        self.machine.connect().close()
        for port in (1, 4999, 5001, 0xFFFFFFFE):
            self.assertIsNone(self.machine.try_connect(port))
        self.quit()


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[os.path.basename(sys.argv[0])] + sys.argv[1:])
