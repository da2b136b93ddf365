"""The current programs, in the form of a result's "software", to decide whether an older result is
still valid."""
# SPDX-License-Identifier: BSD-3-Clause
import hashlib
import os
import pathlib
import re
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]


def own_firmware():
    """The image that a run boots which names none."""
    return pathlib.Path(os.environ.get("HARTZONE_FIRMWARE", TOP / "build/firmware/firmware/main/firmware.elf"))


def present(driver):
    """The same keys as in result.json except for the compiler, which follows from the image."""
    return {"firmware": sha256(own_firmware()),
            "plugin": sha256(os.environ.get("HARTZONE_PLUGIN", TOP / "build/host/vclock/libvclock.so")),
            "driver": build_id(driver), "qemu": qemu_version()}


def of(result):
    """A result's, in the same form."""
    found = result.get("software") or {}
    return {"firmware": (found.get("firmware") or {}).get("sha256"), "plugin": (found.get("plugin") or {}).get("sha256"),
            "driver": (found.get("driver") or {}).get("build_id"), "qemu": (found.get("qemu") or {}).get("version")}


def sha256(path):
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return None


def output(*command):
    try:
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def build_id(program):
    found = re.search(r"Build ID: ([0-9a-f]+)", output("readelf", "-n", program))
    return found and found[1]


def qemu_version():
    return output(os.environ.get("HARTZONE_QEMU", "qemu-system-riscv64"), "--version").partition("\n")[0] or None
