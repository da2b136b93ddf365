"""Power cuts under a file system of Linux: a guest writes files with fsync and says which are synced, the device goes dark in a flash operation
drawn by a seed, and the next guest must find every synced file as it was and a file system without errors. The cuts of a chain follow
one another on one image, so some come in a recovery, a mount or a check."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import uuid
import zlib

from .needs import HANG_S, device_problem

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(TOP / "linux"))
import guest  # noqa: E402
import image  # noqa: E402

CHAIN = 10  # cuts on one image
DARK, WELL = 4, 7  # exit codes: of serve after a cut, of a guest that only looks
TRIES = 5
ENDED_BY_OTHERS = "terminating on signal"  # QEMU's words when another process ends it: that says nothing about the device


def problem(kernel=image.DEFAULT_KERNEL):
    """The sentence to skip with, or ""."""
    return device_problem() or ("" if shutil.which(guest.QEMU) else "there is no x86 QEMU (scripts/setup --linux)") or (
        "" if (image.CACHE / kernel / "packages").exists() else "no guest was fetched (./hartzone linux fetches it)")


# Looks for what earlier guests synced, then writes until the device is gone. {make} runs on the first good round of a chain.
SESSION = """
{make} || exit 10
echo made
{mount} || exit 11
cd /mnt && {look} && echo looked || exit 12
cd / && umount /mnt || exit 13
{fsck}; echo fsck $?
[ -z "{look_only}" ] || exit {well}
{mount} && cd /mnt || exit 14
"""


class Files:
    """Books of a chain's files: for each the checksum that was synced last, and those begun since; None: it may be missing."""
    look = "sha256sum $(find . -name 'f*') </dev/null"
    # A new version of a file is whole in another one before it takes the name; noise is written and never synced.
    writer = """
n={start}
while :; do
	n=$((n + 1)) file=f$((n * 7 % 16))
	dd if=/dev/urandom of=/tmp/new bs=4k count=$((1 + n * n % 61)) 2>/dev/null
	sum=$(sha256sum </tmp/new) && echo "begun $file $sum"
	dd if=/tmp/new of=new bs=64k conv=fsync 2>/dev/null && mv new $file && sync . || exit 15
	echo "synced $file $sum"
	dd if=/tmp/new of=noise bs=64k seek=$((n % 8)) conv=notrunc 2>/dev/null || exit 16
done
"""

    def __init__(self, state=None):
        state = state or {"made": False, "synced": 0, "files": {}}
        self.made, self.synced = state["made"], state["synced"]
        self.files = {name: set(sums) for name, sums in state["files"].items()}

    def state(self):
        return {"made": self.made, "synced": self.synced, "files": {name: list(sums) for name, sums in self.files.items()}}

    def known(self):
        return sum(None not in sums for sums in self.files.values())

    def look_script(self):
        return self.look

    def note(self, line):
        words = line.split()
        if words[:1] == ["made"]:
            self.made = True
        elif words[:1] == ["begun"]:
            self.files.setdefault(words[1], {None}).add(words[2])
        elif words[:1] == ["synced"]:
            self.files[words[1]] = {words[2]}
            self.synced += 1

    def looked(self, lines):
        """Sentences about what is lost. From then on the files are what was found."""
        found = {name: checksum for checksum, name in re.findall(r"(?m)^([0-9a-f]{64})  (?:\./)?(\S+)$", "\n".join(lines))}
        wrong = [f"{name} is {found.get(name, 'missing')}, not one of {sums}" for name, sums in self.files.items() if found.get(name) not in sums]
        self.files = {name: {found.get(name)} for name in self.files}
        return wrong


class Zones:
    """Books of a chain's zones, each a file of zonefs that grows at its end: the bytes that were synced last, and their checksum. Without an
    entry its content is open: it was reset since, which a flush alone makes durable."""
    count, limit = 6, 8 << 20  # bytes that a zone has when it is reset
    # Asynchronous: kernel 6.1 fails each synchronous direct write (docs/linux.md). The record in /tmp has the same random bytes. Each zone also
    # gets a record that is never synced.
    writer = """
record() {{
	size=$1 seed=$2
	shift 2
	fio --name=record --rw=write --ioengine=libaio --bs=16k --size=$size --randseed=$seed --refill_buffers --fallocate=none "$@" >/dev/null || exit 15
}}
for z in $(seq 0 {last}); do cat seq/$z >/tmp/z$z || exit 15; done
n={start}
while :; do
	n=$((n + 1)) z=$((n * 7 % {count})) bytes=$((16384 * (1 + n * n % 17)))
	if [ "$(stat -c %s seq/$z)" -gt {limit} ]; then
		echo "reset $z"
		truncate -s 0 seq/$z && : >/tmp/z$z || exit 15
	fi
	for end in 1 0; do
		rm -f /tmp/record
		record $bytes $n$end --filename=/tmp/record
		record $bytes $n$end --filename=/mnt/seq/$z --direct=1 --file_append=1 --allow_file_create=0 --end_fsync=$end
		cat /tmp/record >>/tmp/z$z
		[ $end = 0 ] || echo "synced $z $(stat -c %s /tmp/z$z) $(sha256sum </tmp/z$z)"
	done
done
"""

    def __init__(self, state=None):
        state = state or {"made": False, "synced": 0, "zones": {}}
        self.made, self.synced, self.zones = state["made"], state["synced"], state["zones"]

    def state(self):
        return {"made": self.made, "synced": self.synced, "zones": self.zones}

    def known(self):
        return len(self.zones)

    def look_script(self):
        parts = [f"echo \"zone {name} {size} $(head -c {size} seq/{name} | sha256sum)\"" for name, (size, _) in self.zones.items()]
        return " && ".join(["cat seq/* >/dev/null", *parts])

    def note(self, line):
        words = line.split()
        if words[:1] == ["made"]:
            self.made = True
        elif words[:1] == ["reset"]:
            self.zones.pop(words[1], None)
        elif words[:1] == ["synced"]:
            self.zones[words[1]] = [int(words[2]), words[3]]
            self.synced += 1

    def looked(self, lines):
        found = dict(re.findall(r"(?m)^zone (\d+) \d+ ([0-9a-f]{64})", "\n".join(lines)))
        return [f"the first {size} bytes of zone {name} have checksum {found.get(name, 'none')}, not {checksum}"
                for name, (size, checksum) in self.zones.items() if found.get(name) != checksum]


def zonefs_super():
    """The words of printf for zonefs's first block: magic, checksum, label, UUID, features, owner, group, permissions."""
    def block(crc):
        return struct.pack("<II64s16sQIII", 0x5a4f4653, crc, b"", uuid.UUID(int=1).bytes, 0, 0, 0, 0o640).ljust(4096, b"\0")

    data = block(zlib.crc32(block(0)) ^ 0xffffffff)
    return "".join(f"\\{byte:03o}" for byte in data.rstrip(b"\0"))


class Kind:
    """A file system: its device, how it is made, mounted and checked, what its check must say besides ending with 0, its books, and the flash
    operations among which a cut is drawn: of the first guest, which also makes the file system, and of the others."""

    remark = None  # what a check of it may find beside errors; a sentence for the round

    def __init__(self, device, make, mount, fsck, says, books=Files, first=(1500, 3000), others=(1, 1500)):
        self.device, self.make, self.mount, self.fsck, self.says, self.books = device, make, mount, fsck, says, books
        self.first, self.others = first, others

    def errors(self, lines):
        """Of its check, where that came to its end."""
        checks, said = [line for line in lines if re.fullmatch(r"fsck \d+", line)], "\n".join(lines)
        good = checks in ([], ["fsck 0"]) and "[Fail]" not in said and (not checks or re.search(self.says, said))
        return [] if good else ["the file system has errors"]


class Btrfs(Kind):
    """A cut may end in a 16 KiB tree block, of which then some blocks of 4 KiB are in the zone. btrfs goes on at that write pointer, and its own
    check minds that later tree blocks lie across 64 KiB. All else that it says is an error (docs/linux.md)."""
    CROSSING, COMPLAINT = re.compile(r"bad metadata \[\d+, \d+\) crossing stripe boundary"), re.compile(r"\b(bad|errors?|mismatch|corrupt|missing)\b", re.I)
    SUMMARY = re.compile(r"ERROR: errors found in extent allocation tree or chunk allocation|found \d+ bytes used, (no error|error\(s\)) found")

    def errors(self, lines):
        self.remark = "later tree blocks lie across 64 KiB" if any(map(self.CROSSING.fullmatch, lines)) else None
        others = [line for line in lines if self.COMPLAINT.search(line) and not self.CROSSING.fullmatch(line) and not self.SUMMARY.fullmatch(line)]
        ended = [line for line in lines if re.fullmatch(r"fsck \d+", line)] in (["fsck 0"], ["fsck 1"]) and any(map(self.SUMMARY.fullmatch, lines))
        return [] if self.remark and ended and not others else super().errors(lines)


# zonefs has no check: what the zones report is all that it has. A file that does not fit that is a message of the kernel's.
F2FS = ("mkfs.f2fs -f -m -c /dev/zones /dev/blocks >/dev/null", "mount -t f2fs /dev/blocks /mnt", "fsck.f2fs -f /dev/blocks")
KINDS = {
    "f2fs": Kind("conzone-f2fs-patched", *F2FS, says=r"\[Ok\.\.\]"),
    "f2fs-two-maps": Kind("zufs-f2fs", *F2FS, says=r"\[Ok\.\.\]"),
    "btrfs": Btrfs("default", "mkfs.btrfs -f -O zoned -d single -m single /dev/zones >/dev/null", "mount -t btrfs /dev/zones /mnt",
                   "btrfs check /dev/zones 2>&1", says="no error found"),
    "ext4": Kind("legacy", "mkfs.ext4 -q -F /dev/blocks", "mount -t ext4 /dev/blocks /mnt", "e2fsck -f -n /dev/blocks", says="Pass 5"),
    "zonefs": Kind("default", f"blkzone reset /dev/zones && printf '{zonefs_super()}' >/tmp/super && truncate -s 4096 /tmp/super && "
                   "dd if=/tmp/super of=/dev/zones bs=4k oflag=direct 2>/dev/null", "mount -t zonefs /dev/zones /mnt",
                   "dmesg | grep zonefs; ! dmesg | grep -Eq 'zonefs.*(orrupt|error|nvalid|read-only)'", says="zonefs.*Mounting", books=Zones, first=(1, 200), others=(1, 200)),
}


class Round:
    """What one boot of a chain brought; number 0 of a chain is its last look, without a cut."""

    def __init__(self, file_system, kernel, seed, number, cut):
        self.file_system, self.kernel, self.seed, self.number, self.cut = file_system, kernel, seed, number, cut
        self.synced, self.checked, self.looked, self.seconds, self.faults, self.remark, self.said = 0, 0, False, 0, [], None, ""

    def text(self):
        what = f"round {self.number}: cut at flash operation {self.cut}" if self.number else "last look"
        return (f"{self.file_system}, seed {self.seed}, {what}; {self.checked} synced files looked at, {self.synced} synced since, {self.seconds:.0f} s"
                + (f"\n  {self.remark}" if self.remark else "") + "".join(f"\n  FAULT: {fault}" for fault in self.faults))

    def json(self):
        return {name: value for name, value in vars(self).items() if name != "said"} | {"seconds": round(self.seconds, 1)}


class Chain:
    """Cuts that follow one another on one image. The folder has all that the next round needs; a round that was interrupted begins again."""
    accel = "auto"

    def __init__(self, file_system, seed, folder, kernel=image.DEFAULT_KERNEL):
        self.file_system, self.seed, self.folder, self.kernel, self.kind = file_system, seed, pathlib.Path(folder), kernel, KINDS[file_system]
        state = json.loads(self.state_file.read_text()) if self.state_file.exists() else {"rounds": 0, "books": None}
        self.rounds, self.books = state["rounds"], self.kind.books(state["books"])

    @property
    def state_file(self):
        return self.folder / "state.json"

    def save(self):
        new = self.folder / "state.new"
        new.write_text(json.dumps({"rounds": self.rounds, "books": self.books.state()}))
        new.rename(self.state_file)

    def script(self, look_only):
        kind, books = self.kind, self.books
        session = SESSION.format(make="true" if books.made else kind.make, mount=kind.mount, fsck=kind.fsck, look=books.look_script(),
                                 look_only="yes" if look_only else "", well=WELL)
        writer = self.kind.books.writer
        start = 1000 * (self.rounds + 1)
        words = {"start": start, "count": Zones.count, "last": Zones.count - 1, "limit": Zones.limit}
        return session + writer.format(**words)

    def boot(self, cut):
        """(exit code, lines of its output, that with its errors)"""
        words = ["--power-cut-at", str(cut)] if cut else []
        with tempfile.TemporaryDirectory(prefix="hz-cuts-") as name:
            os.mkdir(f"{name}/runs")
            run = subprocess.run([sys.executable, TOP / "linux/command.py", "--accel", self.accel, "--kernel", self.kernel, "--device", self.kind.device,
                                  "--image", self.folder / "image", *words, "--", "sh", "-c", self.script(not cut)], capture_output=True, text=True,
                                 check=False, timeout=HANG_S, stdin=subprocess.DEVNULL, errors="replace",
                                 env={**os.environ, "TMPDIR": name, "HARTZONE_RUN_BASE": f"{name}/runs"})
        if "it is emulated" in run.stderr:
            Chain.accel = "tcg"  # the later boots skip this KVM
        return run.returncode, run.stdout.splitlines(), run.stdout + run.stderr

    def faults(self, code, lines, cut):
        """Sentences; and the books are brought up to date."""
        if code != (DARK if cut else WELL):
            return [f"it ended with code {code}"]
        wrong = self.books.looked(lines[:lines.index("looked")]) if "looked" in lines else []
        wrong += self.kind.errors(lines)
        for line in lines:
            self.books.note(line)
        return wrong

    def keep_image(self):
        """A copy of the image as it was before this round; if a round was interrupted, the image is that copy again."""
        before, whole = self.folder / "before", self.folder / "before" / "whole"
        interrupted = whole.exists() and whole.read_text() == str(self.rounds)
        source, to = (before, self.folder) if interrupted else (self.folder, before)
        if to == before:
            shutil.rmtree(before, ignore_errors=True)
            before.mkdir(parents=True)
        for path in to.glob("image*"):
            path.unlink()
        for path in source.glob("image*"):
            subprocess.run(["cp", "--sparse=always", path, to], check=True)
        whole.write_text(str(self.rounds))

    def round(self, look_only=False):
        number = 0 if look_only else self.rounds + 1
        among = self.kind.others if self.books.made else self.kind.first
        draw = random.Random(f"{self.file_system} {self.seed} {number}")
        one = Round(self.file_system, self.kernel, self.seed, number, 0 if look_only else draw.randint(*among))
        begun, synced, known = time.monotonic(), self.books.synced, self.books.known()
        for _ in range(TRIES):
            self.keep_image()
            code, lines, one.said = self.boot(one.cut)
            if ENDED_BY_OTHERS not in one.said:
                break
        one.faults = self.faults(code, lines, one.cut)
        one.looked, one.remark = "looked" in lines, self.kind.remark
        one.checked, one.synced, one.seconds = known if one.looked else 0, self.books.synced - synced, time.monotonic() - begun
        self.rounds += not look_only
        return one

    def done(self):
        """The round is written down: the next one begins where it ended."""
        self.save()
        shutil.rmtree(self.folder / "before", ignore_errors=True)
