"""firmware.elf on QEMU, with both clocks: boot on every number of harts, refusals in one sentence, control link, shutdown."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from hztest.device_machine import ROOT, Machine, image, plugin, vsock_daemon  # noqa: E402

BOOT_READY, BOOT_STOPPED, BOOT_FAILED, BOOT_BAD_IMAGE = 2, 3, 4, 5
MAGIC, VERSION, HEADER_BYTES, VIRTUAL, BOOT_STATE, POWER_CUT_OP, ERROR = 0, 8, 12, 24, 28, 48, 64  # struct hz_shm_header
DEVICE = os.environ.get("HARTZONE_TEST_DEVICE", "small")  # configs/devices
LINK_READ, LINK_WRITE, LINK_VALUE, LINK_DONE, LINK_ERROR = 1, 2, 3, 4, 5
REG_VS, REG_CC, REG_CSTS = 0x08, 0x14, 0x1C
CC_SHN_NORMAL, CSTS_SHST_MASK, CSTS_SHST_DONE = 1 << 14, 3 << 2, 2 << 2


class Device(Machine):
    """A machine that runs the product with the test device."""

    def __init__(self, harts, virtual=False, qemu_harts=None, patch=None, nand_bytes=None, vsock=True, cut=0):
        def prepare(machine):
            command = [os.environ["HARTZONE_MAKE_REGION"], str(ROOT / f"configs/devices/{DEVICE}.yaml"), str(harts), str(int(virtual)),
                       str(machine.file("shm"))]
            size = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            machine.nand_bytes = nand_bytes or size
            with open(machine.file("nand"), "wb") as file:
                file.truncate(machine.nand_bytes)
            machine.patch(POWER_CUT_OP, struct.pack("<Q", cut))
            if patch:
                machine.patch(*patch)

        super().__init__(image("firmware.elf"), qemu_harts or harts, vsock=vsock, prepare=prepare, virtual=virtual)

    def patch(self, offset, data):
        with open(self.file("shm"), "r+b") as file:
            file.seek(offset)
            file.write(data)

    def state(self):
        return struct.unpack("<I", self.read("shm", BOOT_STATE, 4))[0]

    def error(self):
        return self.read("shm", ERROR, 256).split(b"\0")[0].decode()

    def ready(self):
        self.wait_until(lambda: self.state() >= BOOT_READY, "the firmware is ready")
        return self


class Link:
    """Register reads and writes (protocol/register_link.h)."""

    def __init__(self, stream):
        self.stream, self.tag = stream, 0

    def ask(self, kind, size, offset, value=0):
        self.tag += 1
        self.stream.sendall(struct.pack("<BBHIQ", kind, size, self.tag, offset, value))
        answer = b""
        while len(answer) < 16:
            part = self.stream.recv(16 - len(answer))
            if not part:
                raise ConnectionError("the firmware closed the link")
            answer += part
        kind, _, tag, _, value = struct.unpack("<BBHIQ", answer)
        assert tag == self.tag, answer
        return kind, value

    def shut_down(self, test):
        test.assertEqual(self.ask(LINK_WRITE, 4, REG_CC, CC_SHN_NORMAL)[0], LINK_DONE)
        status = 0
        while status & CSTS_SHST_MASK != CSTS_SHST_DONE:
            kind, status = self.ask(LINK_READ, 4, REG_CSTS)
            test.assertEqual(kind, LINK_VALUE)


@unittest.skipUnless(vsock_daemon(), "vhost-device-vsock is not installed (scripts/setup installs it)")
class Running(unittest.TestCase):
    virtual = False

    def life(self, harts):
        with Device(harts, self.virtual) as device:
            device.ready()
            self.assertEqual(device.state(), BOOT_READY, device.error())
            with device.connect() as stream:
                link = Link(stream)
                self.assertEqual(link.ask(LINK_READ, 4, REG_VS)[0], LINK_VALUE)
                link.shut_down(self)
            self.assertEqual(device.wait(), 0, device.log())
            self.assertEqual((device.state(), device.error()), (BOOT_STOPPED, ""))

    def test_harts_2(self):
        self.life(2)

    def test_harts_3(self):
        self.life(3)

    def test_harts_4(self):
        self.life(4)

    def test_harts_8(self):
        self.life(8)

    def test_harts_16(self):
        self.life(16)

    def test_harts_64(self):
        self.life(64)

    def test_host_that_dies_may_come_back(self):
        with Device(4, self.virtual) as device:
            device.ready()
            for _ in range(5):
                with device.connect() as stream:
                    stream.sendall(b"\x01")  # a fragment, then gone
            with device.connect() as stream:
                link = Link(stream)
                self.assertEqual(link.ask(LINK_READ, 4, REG_VS)[0], LINK_VALUE)
                link.shut_down(self)
            self.assertEqual(device.wait(), 0, device.log())

    def test_nonsense_closes_the_link_only(self):
        with Device(4, self.virtual) as device:
            device.ready()
            with device.connect() as stream:
                stream.sendall(b"\xee" * 16)
                self.assertEqual(stream.recv(1), b"", "the link is closed")
            with device.connect() as stream:
                Link(stream).shut_down(self)
            self.assertEqual(device.wait(), 0, device.log())


@unittest.skipUnless(plugin(), "the virtual clock plugin is not built")
class RunningVirtual(Running):
    virtual = True


class Refusing(unittest.TestCase):
    def refuse(self, pattern, in_header=True, state=BOOT_FAILED, **options):
        with Device(4, vsock=False, **options) as device:
            self.assertEqual(device.wait(), 1, device.log())
            self.assertRegex(device.console(), "failed: " + pattern)
            if in_header:
                self.assertRegex(device.error(), "^" + pattern)
                self.assertEqual(device.state(), state)

    def test_foreign_region(self):
        self.refuse("ivshmem: a region is neither|shared memory: ivshmem: ", in_header=False, patch=(MAGIC, b"foreign!"))

    def test_other_version(self):
        self.refuse("shared memory: .*different versions", patch=(VERSION, b"\x63"))

    def test_other_clock(self):
        self.refuse("shared memory: the host expects the other clock", patch=(VIRTUAL, b"\1"))

    def test_illegal_config(self):
        self.refuse("config: ", patch=(4096, b"nope"))

    def test_other_number_of_harts(self):
        self.refuse("config: the config's number of harts", qemu_harts=5)

    def test_small_image(self):
        self.refuse("The NAND image has 1048576 bytes, but this geometry needs ", state=BOOT_BAD_IMAGE, nand_bytes=1 << 20)

    def test_no_vsock(self):
        self.refuse("control link: virtio: no vsock device")


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[os.path.basename(sys.argv[0])] + sys.argv[1:])
