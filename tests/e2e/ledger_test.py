"""The ledger of memory, as the firmware tells it: it adds up, a document has its sums, and a device that does not fit is refused with it."""
# SPDX-License-Identifier: BSD-3-Clause
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem  # noqa: E402

MISSING = device_problem()


def called(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def info(device):
    return called(os.environ["HARTZONE_DRIVER"], "info", "--device", device, "--memory")


def preset(name):
    return (TOP / "configs" / "devices" / f"{name}.yaml").read_text()


def memories(text):
    """{memory: (KiB in its headline, bytes of its lines)}"""
    found, name = {}, None
    for line in text.splitlines():
        head = re.match(r"(SRAM|DRAM|lent to mount|emulation only): ([0-9.]+) KiB", line)
        if head:
            name = head[1]
            found[name] = [float(head[2]), 0]
        elif name and (one := re.match(r" +(\d+) bytes  ", line)):
            found[name][1] += int(one[1])
    return found


def owners(text, memory):
    """{owner: KiB of its lines in this memory}"""
    found, inside = {}, False
    for line in text.splitlines():
        if line[:1].strip():
            inside = line.startswith(f"{memory}: ")
        elif inside and (one := re.match(r" +(\d+) bytes  (.{20}) ", line)):
            found[one[2].strip()] = found.get(one[2].strip(), 0) + int(one[1]) / 1024
    return found


def rows(text, head):
    """The table of a document below this head: {first cell: the others}"""
    lines = text[text.index(head):].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("| ").split("|")] for line in itertools.takewhile(lambda line: line.startswith("|"), lines)]
    return {first: others for first, *others in cells}


@unittest.skipIf(MISSING, MISSING)
class Ledger(unittest.TestCase):
    def test_its_lines_are_its_sums(self):
        run = info("small-mixed")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(set(memories(run.stdout)), {"SRAM", "DRAM", "lent to mount", "emulation only"})
        for name, (kib, total) in memories(run.stdout).items():
            self.assertAlmostEqual(kib, total / 1024, delta=0.06, msg=name)

    def test_a_device_that_does_not_fit_is_refused_with_it(self):
        need = memories(info("small").stdout)
        state, bulk = need["SRAM"][1], need["DRAM"][1]
        with tempfile.TemporaryDirectory(prefix="hz-ledger-") as folder:
            device = pathlib.Path(folder) / "device.yaml"

            def limited(**memory):
                device.write_text(preset("small") + "memory:\n" + "".join(f"  {key}: {value}\n" for key, value in memory.items()))
                return info(device)

            self.assertEqual(limited(sram=state, dram=bulk).returncode, 0)
            self.assertEqual(limited(sram=state + bulk).returncode, 0)
            for memory, word in (({"sram": state - 1, "dram": bulk}, "SRAM"), ({"sram": state, "dram": bulk - 1}, "DRAM"),
                                 ({"sram": state + bulk - 1}, "SRAM")):
                run = limited(**memory)
                self.assertEqual(run.returncode, 1, memory)
                self.assertRegex(run.stderr, rf"the device needs \d+ KiB of {word}, 1 KiB more than the \d+ KiB of memory\.{word.lower()}")
                self.assertEqual(memories(run.stderr)[word][1], state + bulk if len(memory) == 1 else need[word][1])

    def test_copies_take_memory_and_none_is_none(self):
        with_copies, device = memories(info("small").stdout), preset("small") + "memory: {copies: 0}\n"
        with tempfile.TemporaryDirectory(prefix="hz-ledger-") as folder:
            path = pathlib.Path(folder) / "device.yaml"
            path.write_text(device)
            self.assertLess(memories(info(path).stdout)["DRAM"][1] + (512 << 10), with_copies["DRAM"][1])

    def assert_near(self, documented, measured, what):
        """Structures grow by a word now and then; what grows by more is a change that a reader wants to know of."""
        self.assertLessEqual(abs(float(documented) - measured), 0.05 * max(measured, 8), f"docs/internals/memory.md: {what}: {documented}, measured {measured:.1f}")

    def test_the_document_has_the_devices_figures(self):
        text = (TOP / "docs/internals/memory.md").read_text()
        totals = rows(text, "| device |")
        self.assertGreaterEqual(len(totals), 4)
        for device, documented in totals.items():
            measured = memories(info(device).stdout)
            for memory, kib in zip(("SRAM", "DRAM", "lent to mount"), documented, strict=True):
                self.assert_near(kib, measured.get(memory, (0, 0))[1] / 1024, f"{memory} of {device}")
        measured, documented = owners(info("conzone-paper").stdout, "SRAM"), rows(text, "| owner in `conzone-paper` |")
        for owner in measured:
            if owner in documented or measured[owner] >= 24:
                self.assertIn(owner, documented)
                self.assert_near(documented[owner][0], measured[owner], owner)


if __name__ == "__main__":
    unittest.main()
