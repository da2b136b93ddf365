"""Shared by the tests: places of plugin and images, skipping, and one way to compare two runs."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from hztest.needs import HANG_S, qemu_problem  # noqa: E402
import probe_image  # noqa: E402

PLUGIN = os.environ.get("HARTZONE_VCLOCK", "")
FIRMWARE = os.environ.get("HARTZONE_FIRMWARE_DIR", "")
LOCKBENCH = os.path.join(FIRMWARE, "firmware/images/lockbench.elf")


def what_is_missing(images):
    problem = qemu_problem()
    for name, path in (("the plugin (HARTZONE_VCLOCK)", PLUGIN), *images):
        if not problem and not os.path.exists(path):
            problem = f"{name} is not built: {path or 'not set'}"
    return problem


class Case(unittest.TestCase):
    """A test that needs QEMU, the plugin and the images listed; skipped with a sentence without them."""
    images = ()

    @classmethod
    def setUpClass(cls):
        problem = what_is_missing(cls.images)
        if problem:
            raise unittest.SkipTest(problem)


class ProbeCase(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory(prefix="hz-probe-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.elf = probe_image.build(cls.folder.name)

    def probe(self, scene, harts, **more):
        return probe_image.Probe(self.elf, scene, harts, plugin=PLUGIN, **more)


class LockbenchCase(Case):
    images = (("lockbench.elf", LOCKBENCH),)


def wait_for_guest(m):
    """Until the plugin has opened the gate: it has then written the slots."""
    end = time.monotonic() + HANG_S
    while m.words(0x80200000, 1)[0] == 0 and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(0.05)


def fingerprint(report):
    """Everything of a report that must be equal in equal runs."""
    return {k: v for k, v in report.items() if k != "host"}


def main():
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
