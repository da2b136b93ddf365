"""Starts QEMU with one of our images, as the host driver does (host-driver/session/machine/qemu_command.cpp); standard library only.

Everything a machine makes lies in one short-named folder (AF_UNIX paths are limited to 108 bytes) and goes away with it.
"""
# SPDX-License-Identifier: BSD-3-Clause
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from hztest.needs import HANG_S

ROOT = Path(__file__).resolve().parents[3]
CONTROL_PORT = 5000
SHM_MAGIC = 0x304D4853454E5A48
SHM_BYTES = 16 << 20
MIB = 1 << 20


def image(name):
    """Path of a firmware image; HARTZONE_FIRMWARE_DIR names the build folder, default build/firmware."""
    folder = Path(os.environ.get("HARTZONE_FIRMWARE_DIR") or ROOT / "build" / "firmware")
    path = folder / "firmware" / ("main" if name == "firmware.elf" else "images") / name
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: build the firmware first, or set HARTZONE_FIRMWARE_DIR")
    return path


def vsock_daemon():
    """Path of vhost-device-vsock, or None."""
    for path in (os.environ.get("HARTZONE_VSOCK_DAEMON"), shutil.which("vhost-device-vsock"),
                 ROOT / "build" / "tools" / "bin" / "vhost-device-vsock"):
        if path and os.access(path, os.X_OK):
            return str(path)
    return None


def plugin():
    """Path of the virtual clock's plugin, or None."""
    path = os.environ.get("HARTZONE_PLUGIN")
    return path if path and os.path.exists(path) else None


def shared_region(path, bytes_=SHM_BYTES, content=None):
    """A region that begins like ivshmem #0; content = first bytes, default only the magic number."""
    with open(path, "wb") as file:
        file.truncate(bytes_)
        file.write(content or struct.pack("<Q", SHM_MAGIC))


class Machine:
    """One QEMU and, if asked for, one vsock daemon. Use as a context manager."""

    def __init__(self, elf, harts, *, append="", ram=256 * MIB, shm=True, nand=64 * MIB, vsock=False, nand_first=False,
                 prepare=None, virtual=False):
        self.folder = Path(tempfile.mkdtemp(prefix="hzq", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
        self.elf, self.harts, self.append, self.ram_bytes = elf, harts, append, ram
        self.nand_bytes, self.nand_first, self.virtual = nand, nand_first, virtual
        self.daemon = self.qemu = self.connection = None
        self.with_vsock, self.with_shm = vsock, shm
        with open(self.file("ram"), "wb") as file:
            file.truncate(ram)
        if shm:
            shared_region(self.file("shm"))
        if nand:
            with open(self.file("nand"), "wb") as file:
                file.truncate(nand)
        if prepare:
            prepare(self)

    def file(self, name):
        return self.folder / name

    def arguments(self):
        def memory(name, size):
            return ["-object", f"memory-backend-file,id={name},size={size},mem-path={self.file(name)},share=on"]

        def device(name, slot):
            size = os.path.getsize(self.file(name))
            return memory(name, size) + ["-device", f"ivshmem-plain,memdev={name},master=on,addr={slot:#x}"]

        line = [os.environ.get("HARTZONE_QEMU", "qemu-system-riscv64"), "-M", "virt,memory-backend=ram", "-accel",
                "tcg,thread=multi", "-smp", str(self.harts), "-m", f"{self.ram_bytes >> 20}M", "-nodefaults", "-display",
                "none", "-monitor", "none", "-no-reboot", "-bios", "none", "-kernel", str(self.elf),
                "-chardev", f"file,id=console,path={self.file('console')}", "-serial", "chardev:console",
                "-global", "virtio-mmio.force-legacy=false"] + memory("ram", self.ram_bytes)
        if self.with_shm:
            line += device("shm", 2 if self.nand_first else 1)
        if self.nand_bytes:
            line += device("nand", 1 if self.nand_first else 2)
        if self.with_vsock:
            line += ["-chardev", f"socket,id=vsock,fd={self.connection.fileno()}", "-device",
                     "vhost-user-vsock-device,chardev=vsock"]
        if self.append:
            line += ["-append", self.append]
        if self.virtual:
            words = [plugin(), f"ram={self.file('ram')}", f"report={self.file('report')}"]
            words += [f"shm={self.file('shm')}"] if self.with_shm else []
            words += [f"nand={self.file('nand')}"] if self.nand_bytes else []
            line += ["-plugin", ",".join(words)]
        return line

    def __enter__(self):
        try:
            if self.with_vsock:
                self.start_daemon()
            with open(self.file("qemu.log"), "wb") as log:
                self.qemu = subprocess.Popen(self.arguments(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             pass_fds=[self.connection.fileno()] if self.connection else [])
            if self.connection:
                self.connection.close()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in (self.qemu, self.daemon):
            if process and process.poll() is None:
                process.kill()
            if process:
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_daemon(self):
        with open(self.file("daemon.log"), "wb") as log:
            self.daemon = subprocess.Popen([vsock_daemon(), "--guest-cid=7", f"--socket={self.file('vhost')}",
                                            f"--uds-path={self.file('vsock')}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.wait_until(self.connects_to_daemon, "the vsock daemon listens")

    def connects_to_daemon(self):
        """QEMU gets the connection: by itself it would try once, and a socket has its name before it listens."""
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.connection.connect(str(self.file("vhost")))
        except OSError:
            self.connection.close()
            return False
        return True

    def wait_until(self, condition, what, seconds=HANG_S):
        """Polls; a QEMU that ended meanwhile is an error, as is running out of time."""
        end = time.monotonic() + seconds
        while not condition():
            if self.qemu and self.qemu.poll() is not None and not condition():
                raise AssertionError(f"QEMU ended ({self.qemu.returncode}) before {what}:\n{self.log()}")
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {what}\n{self.log()}")
            time.sleep(0.01)

    def wait(self, seconds=HANG_S):
        """QEMU's exit code."""
        try:
            return self.qemu.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"QEMU still runs after {seconds} s\n{self.log()}") from None

    def console(self):
        path = self.file("console")
        return path.read_text(errors="replace") if path.exists() else ""

    def log(self):
        return self.console() + self.file("qemu.log").read_text(errors="replace")

    def read(self, name, offset, size):
        with open(self.file(name), "rb") as file:
            file.seek(offset)
            return file.read(size)

    def connect(self, port=CONTROL_PORT, seconds=HANG_S):
        """A stream to a guest port that the firmware listens on, as it has said; retries while another host is leaving."""
        end = time.monotonic() + seconds
        while True:
            stream = self.try_connect(port)
            if stream:
                return stream
            if time.monotonic() > end or self.qemu.poll() is not None:
                raise AssertionError(f"no connection to port {port}\n{self.log()}")
            time.sleep(0.05)

    def try_connect(self, port=CONTROL_PORT):
        stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        stream.settimeout(HANG_S)
        try:
            stream.connect(str(self.file("vsock")))
            stream.sendall(b"CONNECT %d\n" % port)
            answer = b""
            while not answer.endswith(b"\n"):
                byte = stream.recv(1)
                if not byte:
                    raise ConnectionError("closed")
                answer += byte
            if not answer.startswith(b"OK"):
                raise ConnectionError(answer)
            return stream
        except OSError:
            stream.close()
            return None
