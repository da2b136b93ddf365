"""Power cuts under a file system of Linux: a guest writes files with fsync and says which are synced, the device goes dark in a flash operation
drawn by a seed, and the next guest must find every synced file as it was and a file system without errors. The cuts of a chain follow
one another on one image, so some come in a recovery, a mount or a check.

HARTZONE_TEST_ROUNDS: cuts of each file system instead of the few here. HARTZONE_TEST_SEED: of the first chain (1)."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "support"), str(TOP / "linux")]
import guest  # noqa: E402
import image  # noqa: E402
from hztest.needs import HANG_S, device_problem  # noqa: E402

MADE = (image.CACHE / image.DEFAULT_KERNEL / "packages").exists()
MISSING = device_problem() or ("" if shutil.which(guest.QEMU) else "there is no x86 QEMU (scripts/setup --linux)") or (
    "" if MADE else "no guest was fetched (./hartzone linux fetches it)")
SEED, ROUNDS = int(os.environ.get("HARTZONE_TEST_SEED", "1")), int(os.environ.get("HARTZONE_TEST_ROUNDS", "0"))
CHAIN = 10  # cuts on one image
DARK, WELL = 4, 7  # exit codes: of serve after a cut, of a guest that only looks
FIRST_CUT, NEXT_CUT = (1500, 3000), (1, 1500)  # flash operations; the first guest also makes the file system

# Looks for what earlier guests synced, then writes until the device is gone. {make} runs on the first good round of a chain.
SESSION = """
{make} || exit 10
echo made
{mount} || exit 11
cd /mnt && sha256sum $(find . -name 'f*') </dev/null && echo looked || exit 12
cd / && umount /mnt || exit 13
{fsck}; echo fsck $?
[ -z "{look_only}" ] || exit {well}
{mount} && cd /mnt || exit 14
"""
# A new version of a file is whole in another one before it takes the name; noise is written and never synced.
WRITER = """
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


class Kind:
    """A file system: how it is made, mounted and checked, and what its check must say besides ending with 0."""

    def __init__(self, device, make, mount, fsck, says):
        self.device, self.make, self.mount, self.fsck, self.says = device, make, mount, fsck, says

    def errors(self, lines):
        """Of its check, where that came to its end."""
        checks, said = [line for line in lines if re.fullmatch(r"fsck \d+", line)], "\n".join(lines)
        good = checks in ([], ["fsck 0"]) and "[Fail]" not in said and (not checks or re.search(self.says, said))
        return [] if good else ["the file system has errors"]


KINDS = {
    "f2fs": Kind("conzone-f2fs-patched", "mkfs.f2fs -f -m -c /dev/zones /dev/blocks >/dev/null", "mount -t f2fs /dev/blocks /mnt",
                 "fsck.f2fs -f /dev/blocks", says=r"\[Ok\.\.\]"),
    "btrfs": Kind("default", "mkfs.btrfs -f -O zoned -d single -m single /dev/zones >/dev/null", "mount -t btrfs /dev/zones /mnt",
                  "btrfs check /dev/zones 2>&1", says="no error found"),
    "ext4": Kind("legacy", "mkfs.ext4 -q -F /dev/blocks", "mount -t ext4 /dev/blocks /mnt", "e2fsck -f -n /dev/blocks", says="Pass 5"),
}


class Books:
    """Output of the guests of a chain: for each file the checksum that was synced last, and those begun since; None: it may be missing."""

    def __init__(self):
        self.made, self.files, self.synced = False, {}, 0

    def note(self, line):
        words = line.split()
        if words[:1] == ["made"]:
            self.made = True
        elif words[:1] == ["begun"]:
            self.files.setdefault(words[1], {None}).add(words[2])
        elif words[:1] == ["synced"]:
            self.files[words[1]] = {words[2]}
            self.synced += 1

    def lost(self, found):
        """Sentences; found: file → checksum. From then on the files are what was found."""
        wrong = [f"{name} is {found.get(name, 'missing')}, not one of {sums}" for name, sums in self.files.items() if found.get(name) not in sums]
        self.files = {name: {found.get(name)} for name in self.files}
        return wrong


class Chain:
    """Cuts that follow one another on one image."""
    accel = "auto"

    def __init__(self, kind, seed, base):
        self.kind, self.random, self.base, self.books, self.start = KINDS[kind], random.Random(f"{kind} {seed}"), base, Books(), 0
        self.looked = 0

    def script(self, look_only):
        kind = self.kind
        session = SESSION.format(make="true" if self.books.made else kind.make, mount=kind.mount, fsck=kind.fsck,
                                 look_only="yes" if look_only else "", well=WELL)
        self.start += 1000
        return session + WRITER.format(start=self.start)

    def boot(self, cut):
        """(exit code, lines of its output, that with its errors)"""
        words = ["--power-cut-at", str(cut)] if cut else []
        with tempfile.TemporaryDirectory(prefix="hz-cuts-") as name:
            os.mkdir(f"{name}/runs")
            run = subprocess.run([sys.executable, TOP / "linux/command.py", "--accel", self.accel, "--device", self.kind.device,
                                  "--image", self.base / "image", *words, "--", "sh", "-c", self.script(not cut)], capture_output=True, text=True, check=False, timeout=HANG_S, stdin=subprocess.DEVNULL,
                                 env={**os.environ, "TMPDIR": name, "HARTZONE_RUN_BASE": f"{name}/runs"})
        if "it is emulated" in run.stderr:
            Chain.accel = "tcg"  # the later boots skip this KVM
        return run.returncode, run.stdout.splitlines(), run.stdout + run.stderr

    def wrong(self, code, lines, cut):
        """Faults, as sentences."""
        if code != (DARK if cut else WELL):
            return [f"it ended with code {code}"]
        wrong = []
        if "looked" in lines:
            listed = re.findall(r"(?m)^([0-9a-f]{64})  (?:\./)?(\S+)$", "\n".join(lines[:lines.index("looked")]))
            wrong += self.books.lost({name: checksum for checksum, name in listed})
            self.looked += 1
        wrong += self.kind.errors(lines)
        for line in lines:
            self.books.note(line)
        return wrong

    def round(self, look_only=False):
        """Faults as sentences, and the output."""
        cut = 0 if look_only else self.random.randint(*(NEXT_CUT if self.books.made else FIRST_CUT))
        begun, synced = time.monotonic(), self.books.synced
        code, lines, said = self.boot(cut)
        wrong = self.wrong(code, lines, cut)
        print(f"cut at {cut}: {self.books.synced - synced} synced, {time.monotonic() - begun:.0f} s", file=sys.stderr)
        return wrong, f"cut at flash operation {cut}:\n{said}"


class BooksOfSyncedFiles(unittest.TestCase):
    def setUp(self):
        self.books = Books()
        for line in ("made", "begun f1 aa  -", "synced f1 aa  -", "begun f1 bb  -", "begun f2 cc  -", "synced f2 cc  -", "begun f3 dd  -"):
            self.books.note(line)

    def test_what_may_be(self):
        for f1 in ("aa", "bb"):
            for f3 in ({}, {"f3": "dd"}):
                self.assertEqual(self.books.lost({"f1": f1, "f2": "cc", **f3, "noise": "ee"}), [])
                self.setUp()

    def test_what_is_lost(self):
        for found, name in (({"f2": "cc"}, "f1"), ({"f1": "aa"}, "f2"), ({"f1": "aa", "f2": "aa"}, "f2"), ({"f1": "aa", "f2": "cc", "f3": "xx"}, "f3")):
            self.assertRegex("\n".join(self.books.lost(found)), f"^{name} is [^\n]*$")
            self.setUp()
        self.assertEqual(self.books.lost({"f1": "bb", "f2": "cc"}), [])
        self.assertEqual(len(self.books.lost({"f1": "aa", "f2": "cc"})), 1, "what was found once stays")

    def test_errors_of_a_check(self):
        f2fs = KINDS["f2fs"]
        self.assertEqual(f2fs.errors(["sum"]), [])
        self.assertEqual(f2fs.errors(["SIT valid [Ok..]", "fsck 0"]), [])
        for lines in (["SIT valid [Ok..]", "fsck 1"], ["SIT valid [Ok..]", "other corrupted bugs [Fail]", "fsck 0"], ["fsck 0"]):
            self.assertEqual(len(f2fs.errors(lines)), 1)


@unittest.skipIf(MISSING, MISSING)
class LinuxCuts(unittest.TestCase):
    def cuts(self, kind, rounds):
        rounds, seed = ROUNDS or rounds, SEED
        while rounds > 0:
            with tempfile.TemporaryDirectory(prefix="hz-chain-") as name:
                chain = Chain(kind, seed, pathlib.Path(name))
                for look_only in [False] * min(rounds, CHAIN) + [True]:
                    wrong, said = chain.round(look_only)
                    self.assertEqual(wrong, [], f"{kind}, HARTZONE_TEST_SEED={seed}, {said}")
                self.assertGreater(chain.looked, 0)
                self.assertGreater(chain.books.synced, 0)
            rounds, seed = rounds - CHAIN, seed + 1

    def test_f2fs(self):
        self.cuts("f2fs", 2)

    def test_btrfs(self):
        self.cuts("btrfs", 1)

    def test_ext4(self):
        self.cuts("ext4", 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
