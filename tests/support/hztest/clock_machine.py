"""Starts QEMU with an image, with or without the virtual clock; parameters and results go through its RAM file."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from hztest.needs import HANG_S, QEMU

RAM_BASE = 0x80000000
SWITCH = os.environ.get("HARTZONE_CLOCK_SWITCH", "")  # for runs that name none


class Machine:
    """One run. Use as a context manager: files and process are gone afterwards."""

    def __init__(self, elf, harts, plugin=None, options=(), ram_mb=64, pin=None, extra=(), shm=None):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = tempfile.mkdtemp(prefix="hz-vclock-", dir=base)
        self.ram = os.path.join(self.folder, "ram")
        self.report_path = os.path.join(self.folder, "report.json")
        self.process = None
        with open(self.ram, "wb") as f:
            f.truncate(ram_mb << 20)
        self.command = [QEMU, "-M", "virt,memory-backend=ram", "-m", f"{ram_mb}M", "-smp", str(harts), "-bios", "none",
                        "-kernel", elf, "-nographic", "-serial", "none", "-monitor", "none",
                        "-object", f"memory-backend-file,id=ram,size={ram_mb}M,mem-path={self.ram},share=on"]
        if plugin:
            words = [f"ram={self.ram}", f"report={self.report_path}", f"elf={elf}", *options]
            if not any(w.startswith("preset=") for w in options):
                words.append("preset=free")  # what a test does not name costs a round number, or nothing
            if shm:
                words.append(f"shm={shm}")
            if pin is not None:
                words.append(f"pin={pin}")
            if SWITCH and not any(w.startswith("switch=") for w in options):
                words.append(f"switch={SWITCH}")
            self.command += ["-plugin", ",".join([plugin, *words])]
        self.command += list(extra)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, address, data):
        with open(self.ram, "r+b") as f:
            f.seek(address - RAM_BASE)
            f.write(data)

    def read(self, address, count):
        with open(self.ram, "rb") as f:
            f.seek(address - RAM_BASE)
            return f.read(count)

    def words(self, address, count):
        return struct.unpack(f"<{count}Q", self.read(address, 8 * count))

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)
        return self.process

    def wait(self, timeout=HANG_S):
        """Exit code; the output is kept in self.output. A run that takes longer than timeout fails."""
        try:
            self.output, _ = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.output, _ = self.process.communicate()
            raise AssertionError(f"no end within {timeout} s: {' '.join(self.command)}\n{self.output}") from None
        return self.process.returncode

    def run(self, timeout=HANG_S):
        self.start()
        return self.wait(timeout)

    def has_report(self):
        """Whether the run has ended, its machine up or not."""
        return os.path.exists(self.report_path)

    def report(self):
        with open(self.report_path) as f:
            return json.load(f)

    def stop(self, sig=signal.SIGTERM):
        """Send sig; returns the seconds until the process was gone."""
        begin = time.monotonic()
        self.process.send_signal(sig)
        self.wait()
        return time.monotonic() - begin
