"""Runs the guest of ./hartzone linux in QEMU, attached to the target in $HARTZONE_NVME_CONNECT.
Ends with the code of the guest's command."""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import os
import pathlib
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from image import Problem, say

QEMU = os.environ.get("HARTZONE_QEMU_X86", "qemu-system-x86_64")
SILENCE_S = 600  # silence of a booting guest: longer than any load explains
KVM_SILENCE_S = 30  # the same where the guest can still be emulated: some KVMs stop in the kernel's first steps and report nothing
GRACE_S = 10
KVM_FAILED = re.compile(rb"KVM internal error|emulation failure|failed to initialize kvm|Could not access KVM", re.I)
MEMORY_FAILED = re.compile(rb"[Cc]annot allocate memory|cannot set up guest memory|Out of memory|Initramfs unpacking failed|write error")
KEYS = {"key": "HARTZONE_DHCHAP_SECRET", "target_key": "HARTZONE_DHCHAP_CTRL_SECRET"}  # item of the guest → what serve sets
HOST = "10.0.2.2"  # this host's loopback, of QEMU's user-mode network


def kvm_is_there():
    return os.access("/dev/kvm", os.R_OK | os.W_OK)


def connect_line(line):
    """As the guest reaches the target."""
    if not line:
        raise Problem("there is no target to attach: call ./hartzone linux")
    return re.sub(r" -a \S+", f" -a {HOST}", line)


def terminal_size():
    size = shutil.get_terminal_size()
    return {"rows": str(size.lines), "columns": str(size.columns)}


class Channel:
    """A pipe that QEMU writes."""

    def __init__(self, name, out=None):
        self.name, self.out, self.data = name, out, b""
        self.read, self.write = os.pipe()

    def took(self, data):
        if self.out is None:
            self.data += data
            return
        while data:
            data = data[os.write(self.out, data):]


class Guest:
    """One boot of it."""

    def __init__(self, words, folder):
        self.words, self.folder = words, folder
        self.channels = {}
        self.process = None

    def items(self):
        """Files for the guest in fw_cfg."""
        items = {"connect": connect_line(os.environ.get("HARTZONE_NVME_CONNECT", ""))}
        items |= {name: os.environ[variable] for name, variable in KEYS.items() if os.environ.get(variable)}
        if self.words.command:
            return {**items, "command": f"exec {shlex.join(self.words.command)}\n"}
        return {**items, **terminal_size()}

    def qemu(self, accelerator):
        """Its words. The kernel's check of the timer takes a busy host for a broken timer, and panics."""
        image = pathlib.Path(self.words.image)
        line = [QEMU, "-nodefaults", "-no-reboot", "-display", "none", "-machine", "pc", "-accel", accelerator,
                "-cpu", "host" if accelerator == "kvm" else "max", "-smp", "1", "-m", str(self.words.memory),
                "-kernel", str(image / "vmlinuz"), "-initrd", str(image / "initramfs.cpio"),
                "-append", "console=ttyS0 panic=-1 mitigations=off nokaslr no_timer_check" + ("" if self.words.command else " quiet"),
                "-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile=", "-device", "virtio-serial-pci"]
        for name, text in self.items().items():
            (self.folder / name).write_bytes(os.fsencode(text))
            line += ["-fw_cfg", f"name=opt/org.hartzone/{name},file={self.folder / name}"]
        for name, channel in self.channels.items():
            line += ["-chardev", f"file,id={name},path=/dev/fd/{channel.write}"]
            if name not in ("console", "qemu"):
                line += ["-device", f"virtserialport,chardev={name},name={name}"]
        return line + (["-serial", "chardev:console"] if self.words.command else ["-serial", "mon:stdio"])

    def start(self, accelerator):
        names = {"control": None, "qemu": None}
        if self.words.command:
            names |= {"output": 1, "errors": 2, "console": None}
        self.channels = {name: Channel(name, out) for name, out in names.items()}
        line = self.qemu(accelerator)
        ends = [channel.write for channel in self.channels.values()]
        try:
            self.process = subprocess.Popen(line, pass_fds=ends, stdin=None if not self.words.command else subprocess.DEVNULL,
                                            stderr=self.channels["qemu"].write)
        except OSError as error:
            raise Problem(f"{QEMU} was not started: {error.strerror}") from error
        finally:
            for end in ends:
                os.close(end)

    def stop(self):
        if self.process:
            self.process.terminate()  # it then leaves the terminal as it was
            try:
                self.process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        try:
            for channel in self.channels.values():
                while self.process and (data := os.read(channel.read, 1 << 16)):  # what the guest said before it was ended
                    channel.took(data)
        finally:
            for channel in self.channels.values():
                os.close(channel.read)
            self.channels = {}

    def said(self, name):
        return self.channels[name].data if name in self.channels else b""

    def relay(self, silence_s):
        """Until QEMU has closed its ends, or it is clear that the guest will not boot. silence_s: as above."""
        with selectors.DefaultSelector() as selector:
            for channel in self.channels.values():
                selector.register(channel.read, selectors.EVENT_READ, channel)
            heard = time.monotonic()
            while selector.get_map():
                for key, _ in selector.select(1):
                    heard = time.monotonic()
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fd)
                    key.data.took(data)
                booting = b"ready\n" not in self.said("control")
                if booting and (KVM_FAILED.search(self.said("qemu")) or time.monotonic() - heard > silence_s):
                    return

    def code(self):
        """The command's, or None when the guest ended without."""
        lines = self.said("control").split(b"\n")[:-1]
        return int(lines[-1]) if lines and lines[-1].isdigit() else None

    def reason(self):
        """The visible reason for a missing code."""
        failure = re.search(rb"^failed: (.*)$", self.said("control"), re.M)
        if failure:
            return f"the guest could not attach the device: {failure[1].decode(errors='replace')}"
        text = self.said("qemu") + self.said("console")
        lines = text.decode(errors="replace").strip().splitlines()
        if MEMORY_FAILED.search(text):
            return f"there is not enough memory for the guest, which gets {self.words.memory} MiB (--memory says how much): {lines[-1]}"
        return "the guest ended before its command did" + (", saying\n  " + "\n  ".join(lines[-8:]) if lines else "")


def accelerators(chosen):
    if chosen != "auto":
        return [chosen]
    return ["kvm", "tcg"] if kvm_is_there() else ["tcg"]


def boot(words, folder):
    """The exit code."""
    if not shutil.which(QEMU):
        raise Problem(f"there is no {QEMU}: scripts/setup --linux installs it")
    guest = Guest(words, folder)
    tries = accelerators(words.accel)
    for accelerator in tries:
        try:
            guest.start("tcg,thread=single" if accelerator == "tcg" else accelerator)
            guest.relay(SILENCE_S if accelerator == tries[-1] else KVM_SILENCE_S)
            if accelerator != tries[-1] and b"ready\n" not in guest.said("control") and guest.code() is None and b"failed: " not in guest.said("control"):
                say("this host's KVM does not run the guest; it is emulated (--accel tcg tries nothing else)")
                continue
            if (code := guest.code()) is not None:
                return code
            if not words.command and b"ready\n" in guest.said("control"):
                return 0  # Ctrl-A x
            raise Problem(guest.reason())
        finally:
            guest.stop()
    raise AssertionError("the last try returns")


def options():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--image", required=True)
    parser.add_argument("--memory", type=int, default=1024)
    parser.add_argument("--accel", default="auto")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    words = parser.parse_args()
    words.command = words.command[1:] if words.command[:1] == ["--"] else words.command
    return words


def ended_by(number, _):
    raise SystemExit(128 + number)


def main():
    signal.signal(signal.SIGTERM, ended_by)
    signal.signal(signal.SIGHUP, ended_by)
    signal.signal(signal.SIGINT, ended_by)
    try:
        with tempfile.TemporaryDirectory(prefix="hz-linux-") as folder:
            return boot(options(), pathlib.Path(folder))
    except Problem as problem:
        say(problem)
        return 1
    except BrokenPipeError:
        return 128 + signal.SIGPIPE


if __name__ == "__main__":
    sys.exit(main())
