"""Labels of the tests, by which a preset and --fast choose: what tests/slow.cmake names is slow, and needs QEMU as before. Under sanitizers
each case has a process that runs it. And the compiler's warnings, which are errors only where that was asked for."""
# SPDX-License-Identifier: BSD-3-Clause
import collections
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["HARTZONE_BUILD"])


def tests(build):
    said = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True, check=True)
    return json.loads(said.stdout)["tests"]


def values(test, name):
    found = [p["value"] for p in test["properties"] if p["name"] == name]
    return found[0] if found and isinstance(found[0], list) else found


def labels():
    """name of a test → its labels"""
    return {test["name"].partition("  #")[0]: values(test, "LABELS") for test in tests(BUILD)}


def kind(test):
    """(its program, whether it is slow), of a case as of a process"""
    return pathlib.Path(test["command"][0]).name, "slow" in " ".join(values(test, "LABELS"))


def share(test):
    """(filter, number, of how many): the cases that a process runs"""
    shard = dict(word.split("=", 1) for word in values(test, "ENVIRONMENT"))
    return test["command"][1].removeprefix("--gtest_filter="), int(shard["GTEST_SHARD_INDEX"]), int(shard["GTEST_TOTAL_SHARDS"])


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

    def test_the_longest_begin_first(self):
        """ctest begins tests by their cost; of equal cost, in the order of their numbers."""
        names = re.search(r"set\(HZ_LONGEST_TESTS ([^)]*)\)", (TOP / "tests" / "slow.cmake").read_text())[1].split()
        costs = {test["name"]: sum(values(test, "COST")) for test in tests(BUILD)}
        self.assertEqual(sorted(costs, key=costs.get, reverse=True)[:len(names)], [name for name in costs if name in names])

    def test_limits_are_for_hangs(self):
        """One for all: a limit that fits a test is exceeded on a machine that is busy."""
        self.assertEqual({tuple(values(test, "TIMEOUT")) or test["name"] for test in tests(BUILD) if not test["name"].endswith("_NOT_BUILT")},
                         {(3600.0,)})
        own = [f"{path.relative_to(TOP)}:{number}" for path in TOP.glob("tests/**/*") if path.suffix in (".txt", ".cmake")
               for number, line in enumerate(path.read_text().splitlines(), 1) if re.search(r"TIMEOUT \d", line)]
        self.assertEqual(own, [])

    def test_processes_run_each_case_once(self):
        for build in (BUILD.parent / "asan", BUILD.parent / "tsan"):
            if not build.is_dir():
                self.skipTest(f"{build.name} is not built: ./hartzone test builds it")
            cases, processes = set(), collections.defaultdict(list)
            for test in tests(build):
                label = " ".join(values(test, "LABELS"))
                if label.endswith("case"):
                    cases.add(kind(test))
                elif "program" in label:
                    processes[kind(test)].append(share(test))
            self.assertGreater(sum(not slow for _, slow in cases), 10, f"{build.name}: programs with quick cases")
            self.assertEqual(cases, set(processes), f"{build.name}: quick and slow cases, by program, and who runs them")
            for (program, slow), those in processes.items():
                which = those[0][0]
                self.assertEqual(sorted(those), [(which, number, len(those)) for number in range(len(those))], program)
                if not slow and (program, True) in processes:
                    self.assertEqual(which, "-" + processes[program, True][0][0], program)


class Warnings(unittest.TestCase):
    def test_they_are_errors_where_that_was_asked_for(self):
        strict = bool(re.search("^CMAKE_COMPILE_WARNING_AS_ERROR:.*=ON$", (BUILD / "CMakeCache.txt").read_text(), re.M))
        commands = [entry["command"] for entry in json.loads((BUILD / "compile_commands.json").read_text())]
        self.assertGreater(len(commands), 300)
        for command in commands:
            self.assertEqual(" -Werror " in command, strict, command)
            self.assertIn(" -Wall -Wextra -Wshadow ", command)


if __name__ == "__main__":
    unittest.main(verbosity=2)
