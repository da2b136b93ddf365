"""./hartzone linux: a small Linux with the device as its disks. Makes the guest on first use, then boots device, target and guest."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import shutil
import subprocess
import sys

import guest
from image import DEFAULT_KERNEL, TOP, Image, Problem, say

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
HELP = f"""usage: ./hartzone linux [OPTIONS] [-- COMMAND …]

Boots a small Linux with the device as its disks: Debian's kernel, unchanged, and mkfs.f2fs, mkfs.btrfs, mkfs.ext4 with their fsck,
nvme, blkzone, fio, sqlite3, db_bench of RocksDB. Gives a shell on the console, or runs the COMMAND and ends with its exit code.

  /dev/zones    the device's sequential zones, a zoned disk
  /dev/blocks   its conventional zones, or the whole of a block device
  /dev/disk/by-id has their lasting names.

  --kernel PACKAGE      Debian's package of the kernel. Default: {DEFAULT_KERNEL}. E.g. --kernel linux-image-6.1.0-56-amd64
  --memory MIB          of the guest. Default: 1024. E.g. --memory 2048
  --accel auto|kvm|tcg  How the guest runs: by KVM where that works, else emulated, which takes ten to twenty seconds to boot. Default: auto
  --help                This

All other options are of ./hartzone serve: --device, --workers, --image, --slow-down, --record and more (./hartzone serve --help).

The first call installs an x86 QEMU where there is none (scripts/setup --linux), fetches some 130 MB of packages from the mirror of this
system and unpacks them into build/linux; nothing of them is installed. The COMMAND is run as it is, its input is empty, what it prints
comes to the output and the errors of this command. Ctrl-C ends guest, target and device; in the shell: exit, or Ctrl-A and then x.

Examples:
  ./hartzone linux --device conzone-f2fs-patched
  ./hartzone linux --device conzone-f2fs-patched -- sh -c 'mkfs.f2fs -f -m -c /dev/zones /dev/blocks && mount -t f2fs /dev/blocks /mnt'
  ./hartzone linux --device default -- sh -c 'mkfs.btrfs -f -O zoned -d single -m single /dev/zones && btrfs check /dev/zones'
  ./hartzone linux --device conzone-f2fs-patched --record f2fs.hzr -- mkfs.f2fs -f -m -c /dev/zones /dev/blocks
"""
OURS = {"--kernel": r"[a-z0-9][a-z0-9+.-]+", "--memory": r"[1-9][0-9]{2,5}", "--accel": "auto|kvm|tcg"}
TAKES = {"--kernel": "a package's name", "--memory": "MiB, 100 to 999999", "--accel": "auto, kvm or tcg"}
NOT_HERE = {"--nvme-tcp": "the target is on a free port of this host's loopback", "--open": "the guest is on this host", "--list": "it boots nothing"}


class Wrong(Exception):
    """Words that were not understood."""


def serves_options():
    """option → whether it takes a value, from the help of serve."""
    text = subprocess.run([DRIVER, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    return {name: bool(value) for names, value in re.findall(r"^  (-[\w, -]*?)( [A-Z\[\w|][^ ]*)?(?:  .*)?$", text, re.M) for name in names.split(",")}


def split(words, serves):
    """(our options, serve's words). serves: option → whether it takes a value."""
    own, passed, waiting = {}, [], list(words)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        if name in NOT_HERE:
            raise Wrong(f"linux takes no {name}: {NOT_HERE[name]}")
        if name in OURS:
            value = value if equals else waiting.pop(0) if waiting else ""
            if not re.fullmatch(OURS[name], value):
                raise Wrong(f"{name} takes {TAKES[name]}, not '{value}'")
            own[name] = value
            continue
        if name not in serves:
            raise Wrong(f"linux has no option '{word}'" if word.startswith("-") else f"a command goes behind --: ./hartzone linux -- {word} …")
        passed.append(word)
        if serves[name] and not equals:
            if not waiting:
                raise Wrong(f"{name} takes a value")
            passed.append(waiting.pop(0))
    return own, passed


def require_qemu():
    """Installs it; where it has another name, the user knows better."""
    if shutil.which(guest.QEMU):
        return
    if "HARTZONE_QEMU_X86" in os.environ:
        raise Problem(f"there is no {guest.QEMU}, which HARTZONE_QEMU_X86 names")
    if subprocess.run([TOP / "scripts" / "setup", "--linux"], stdout=sys.stderr, check=False).returncode or not shutil.which(guest.QEMU):
        raise Problem(f"there is no {guest.QEMU}: scripts/setup --linux installs it, and has failed")


def run(words):
    """Becomes serve."""
    before, command = (words[:at], words[at + 1:]) if (at := words.index("--") if "--" in words else None) is not None else (words, [])
    own, passed = split(before, serves_options())
    if "--" in words and not command:
        raise Wrong("there is no command behind --")
    if not command and not sys.stdin.isatty():
        raise Wrong("there is no terminal for a shell: a command goes behind --")
    require_qemu()
    image = Image(own.get("--kernel", DEFAULT_KERNEL))
    image.make()
    inner = [sys.executable, guest.__file__, "--image", str(image.folder), "--memory", own.get("--memory", "1024"), "--accel", own.get("--accel", "auto"),
             "--", *command]
    os.execv(DRIVER, [DRIVER, "serve", *passed, "--nvme-tcp", "127.0.0.1:0", "--", *inner])


def main(words):
    before = words[:words.index("--")] if "--" in words else words
    if "--help" in before or "-h" in before:
        print(HELP, end="")
        return 0
    try:
        run(words)
    except Wrong as wrong:
        say(f"{wrong} (./hartzone linux --help)")
        return 2
    except Problem as problem:
        say(problem)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
