"""Labels of the tests, by which a preset and --fast choose: what tests/slow.cmake names is slow, and needs QEMU as before."""
# SPDX-License-Identifier: BSD-3-Clause
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]


def labels():
    """name of a test → its labels, of the build that HARTZONE_BUILD names"""
    said = subprocess.run(["ctest", "--test-dir", os.environ["HARTZONE_BUILD"], "--show-only=json-v1"], capture_output=True, text=True, check=True)
    return {test["name"].partition("  #")[0]: [label for p in test["properties"] if p["name"] == "LABELS" for label in p["value"]]
            for test in json.loads(said.stdout)["tests"]}


class Labels(unittest.TestCase):
    def test_slow_tests_are_labelled_so(self):
        found, text = labels(), (TOP / "tests" / "slow.cmake").read_text()
        slow = re.search(r"set\(HZ_SLOW_TESTS\s+([^)]*)\)", text)[1].split()
        for program, cases in re.findall(r'set\(HZ_SLOW_(\w+_test) "([^"]*)"\)', text):
            slow += [name for name in found for case in cases.split(":") if fnmatch.fnmatch(name, f"{program}.{case}")]
        both = [name for name in slow if name.startswith("session_machine_test.")]
        self.assertTrue(both, "a GoogleTest program that needs QEMU")
        for name in slow:
            self.assertRegex(" ".join(found.get(name, ["slow, of another build"])), "slow", name)
        for name in both:
            self.assertRegex(" ".join(found[name]), "qemu", name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
