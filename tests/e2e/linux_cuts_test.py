"""Power cuts under file systems of Linux (hztest/linux_cuts.py), a few of each; scripts/linux-cuts makes as many as one likes.

HARTZONE_TEST_ROUNDS: cuts of each file system instead of the few here. HARTZONE_TEST_SEED: of the first chain (1)."""
# SPDX-License-Identifier: BSD-3-Clause
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest import linux_cuts as cuts  # noqa: E402

MISSING = cuts.problem()
SEED, ROUNDS = int(os.environ.get("HARTZONE_TEST_SEED", "1")), int(os.environ.get("HARTZONE_TEST_ROUNDS", "0"))
SCRIPT = TOP / "scripts" / "linux-cuts"


def script():
    """scripts/linux-cuts as a module."""
    loader = importlib.machinery.SourceFileLoader("linux_cuts_script", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("linux_cuts_script", loader))
    loader.exec_module(module)
    return module


class BooksOfSyncedFiles(unittest.TestCase):
    def setUp(self):
        self.books = cuts.Files()
        for line in ("made", "begun f1 aa  -", "synced f1 aa  -", "begun f1 bb  -", "begun f2 cc  -", "synced f2 cc  -", "begun f3 dd  -"):
            self.books.note(line)

    def lost(self, found):
        return self.books.looked([f"{checksum * 32}  ./{name}" for name, checksum in found.items()])

    def test_what_may_be(self):
        self.books.files = {name: {checksum and checksum * 32 for checksum in sums} for name, sums in self.books.files.items()}
        kept = self.books.state()
        for f1 in ("aa", "bb"):
            for f3 in ({}, {"f3": "dd"}):
                self.books = cuts.Files(kept)
                self.assertEqual((self.books.known(), self.lost({"f1": f1, "f2": "cc", **f3, "noise": "ee"})), (2, []))

    def test_what_is_lost(self):
        self.books.files = {name: {checksum and checksum * 32 for checksum in sums} for name, sums in self.books.files.items()}
        kept = self.books.state()
        for found, name in (({"f2": "cc"}, "f1"), ({"f1": "aa"}, "f2"), ({"f1": "aa", "f2": "aa"}, "f2"), ({"f1": "aa", "f2": "cc", "f3": "ff"}, "f3")):
            self.books = cuts.Files(kept)
            self.assertRegex("\n".join(self.lost(found)), f"^{name} is [^\n]*$")
        self.books = cuts.Files(kept)
        self.assertEqual(self.lost({"f1": "bb", "f2": "cc"}), [])
        self.assertEqual(len(self.lost({"f1": "aa", "f2": "cc"})), 1, "what was found once stays")

    def test_errors_of_a_check(self):
        f2fs = cuts.KINDS["f2fs"]
        self.assertEqual(f2fs.errors(["sum"]), [])
        self.assertEqual(f2fs.errors(["SIT valid [Ok..]", "fsck 0"]), [])
        for lines in (["SIT valid [Ok..]", "fsck 1"], ["SIT valid [Ok..]", "other corrupted bugs [Fail]", "fsck 0"], ["fsck 0"]):
            self.assertEqual(len(f2fs.errors(lines)), 1)


    def test_a_torn_tree_block_of_btrfs(self):
        crossing, summary = "bad metadata [51957760, 51974144) crossing stripe boundary", "ERROR: errors found in extent allocation tree or chunk allocation"
        btrfs, end = cuts.KINDS["btrfs"], ["found 2670592 bytes used, error(s) found", "fsck 1"]
        self.assertEqual((btrfs.errors([crossing, summary, *end]), btrfs.remark), ([], "later tree blocks lie across 64 KiB"))
        for lines in ([summary, *end], [crossing, "parent transid verify failed, bad block 5", summary, *end], [crossing, summary, "fsck 139"], [crossing, "fsck 0"], ["mirror 1 has a checksum mismatch", crossing, *end]):
            self.assertEqual(len(btrfs.errors(lines)), 1, lines)
        self.assertEqual((btrfs.errors(["found 2670592 bytes used, no error found", "fsck 0"]), btrfs.remark), ([], None))


class BooksOfZones(unittest.TestCase):
    def setUp(self):
        self.books = cuts.Zones()
        for line in ("made", f"synced 1 16384 {'a' * 64}  -", f"synced 2 4096 {'b' * 64}  -", f"synced 2 8192 {'c' * 64}  -", f"synced 3 4096 {'d' * 64}  -",
                     "reset 3"):
            self.books.note(line)

    def test_what_was_synced_is_there_and_more_may_be(self):
        self.assertEqual((self.books.synced, self.books.known()), (4, 2))
        self.assertIn("head -c 8192 seq/2 | sha256sum", self.books.look_script())
        self.assertNotIn("seq/3", self.books.look_script())
        good = [f"zone 1 16384 {'a' * 64}  -", f"zone 2 8192 {'c' * 64}  -"]
        self.assertEqual(cuts.Zones(self.books.state()).looked(good), [])
        for lines, name in ((good[:1], "2"), ([good[0], f"zone 2 8192 {'b' * 64}  -"], "2"), (good[1:], "1")):
            self.assertRegex("\n".join(self.books.looked(lines)), f"^the first .* of zone {name} have [^\n]*$")


class FakeChain(cuts.Chain):
    """A guest that syncs a file in each round; in the fourth one it is interrupted, once, in the sixth one another process ends it, once; once the script is
    interrupted between the seventh one and the eighth."""
    interrupts, ended, torn = set(), set(), set()

    def done(self):
        if self.rounds in self.torn:
            self.torn.discard(self.rounds)
            self.save()
            raise KeyboardInterrupt
        super().done()

    def boot(self, cut):
        image = self.folder / "image"
        before = image.read_text() if image.exists() else ""
        image.write_text(before + f"{self.rounds} ")
        if self.rounds in self.interrupts:
            self.interrupts.discard(self.rounds)
            raise KeyboardInterrupt
        if self.rounds in self.ended:
            self.ended.discard(self.rounds)
            return 1, [], "qemu-system-riscv64: terminating on signal 15 from pid 7"
        self.images[self.seed] = image.read_text()
        known = [f"{checksum}  ./{name}" for name, (checksum,) in self.books.files.items()]
        lines = ["made", *known, "looked", "SIT [Ok..]", "fsck 0", f"begun f{self.rounds} {'a' * 64}  -", f"synced f{self.rounds} {'a' * 64}  -"]
        return (cuts.DARK if cut else cuts.WELL), (lines if cut else lines[:-2]), ""


class TheScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-chain-")
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name)

    def test_an_interrupted_round_begins_again_and_the_rest_goes_on(self):
        module = script()
        words = ["--rounds", "12", "--out", str(self.base), "f2fs"]
        FakeChain.interrupts, FakeChain.ended, FakeChain.torn, FakeChain.images = {3}, {5}, {7}, {}
        with unittest.mock.patch.object(module.cuts, "Chain", FakeChain), unittest.mock.patch.object(module.cuts, "problem", lambda kernel: ""), \
                open(os.devnull, "w", encoding="utf-8") as nowhere, unittest.mock.patch("sys.stdout", nowhere):
            self.assertEqual(module.main(words), 130)
            self.assertEqual(len(json.loads((self.base / "cuts.json").read_text())["rounds"]), 3)
            self.assertEqual(module.main(words), 130)
            self.assertEqual(module.main(words), 0)
            self.assertEqual(module.main(words), 0, "all is done")
        result = json.loads((self.base / "cuts.json").read_text())
        self.assertEqual([(one["seed"], one["number"]) for one in result["rounds"]], [*((1, n) for n in (*range(1, 11), 0)), (2, 1), (2, 2), (2, 0)])
        self.assertEqual(result["totals"]["f2fs"], {"cuts": 12, "synced": 12, "checked": 45 + 10 + 1 + 2, "faults": 0})
        self.assertEqual(FakeChain.images, {1: "0 1 2 3 4 5 6 7 8 9 10 ", 2: "0 1 2 "}, "each round on the image that the one before it left")
        self.assertEqual([one["cut"] for one in result["rounds"] if not one["number"]], [0, 0])
        self.assertFalse((self.base / "f2fs-1").exists(), "a chain that is over takes no room")

    def test_bad_words(self):
        for words, sentence in ((["nosuch"], "invalid choice"), (["--rounds", "0", "f2fs"], "1 or more"), (["--seed", "x", "f2fs"], "a number")):
            run = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 2)
            self.assertIn(sentence, run.stderr)


@unittest.skipIf(MISSING, MISSING)
class LinuxCuts(unittest.TestCase):
    def cuts(self, kind, rounds):
        rounds, seed = ROUNDS or rounds, SEED
        while rounds > 0:
            with tempfile.TemporaryDirectory(prefix="hz-chain-") as name:
                chain, looked = cuts.Chain(kind, seed, pathlib.Path(name)), 0
                for look_only in [False] * min(rounds, cuts.CHAIN) + [True]:
                    one = chain.round(look_only)
                    print(one.text(), file=sys.stderr)
                    self.assertEqual(one.faults, [], f"{one.text()}\n{one.said}")
                    looked += one.looked
                    chain.done()
                self.assertGreater(looked, 0)
                self.assertGreater(chain.books.synced, 0)
            rounds, seed = rounds - cuts.CHAIN, seed + 1

    def test_f2fs(self):
        self.cuts("f2fs", 2)

    def test_btrfs(self):
        self.cuts("btrfs", 1)

    def test_zonefs(self):
        self.cuts("zonefs", 1)

    def test_ext4(self):
        self.cuts("ext4", 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
