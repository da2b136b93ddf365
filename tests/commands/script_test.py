"""The hartzone script on a copy of itself: help and wrong words, and `test` with stand-ins for cmake, ninja and ctest; and what of a text
is a command."""
# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import printed

TOP = pathlib.Path(__file__).resolve().parents[2]
# Lists the tests of tests.json whose name has the word behind -R; runs them by writing down how each ends. Tells its words to calls.
CTEST = """#!/usr/bin/env python3
import json, os, pathlib, re, sys
words, here = sys.argv[1:], pathlib.Path(__file__).parent
with open(here / "calls", "a") as calls:
    print("ctest", *words, file=calls)
build = words[words.index("--preset") + 1]
tests = json.loads((here / "tests.json").read_text()).get(build, {})
wanted = words[words.index("-R") + 1] if "-R" in words else ""
unwanted = re.compile(words[words.index("-LE") + 1])
tests = {name: end for name, end in tests.items() if wanted in name and not any(map(unwanted.search, end[1:]))}
if "--show-only=json-v1" in words:
    print(json.dumps({"tests": [{"name": name, "properties": [{"name": "LABELS", "value": end[1:]}]} for name, end in tests.items()]}))
elif "crash" not in tests:
    said = "".join(f"line {i} &lt;\\n" for i in range(100)) + "x" * 1000
    cases = "".join(f'<testcase name="{name}" status="{end[0]}" time="1.5"><system-out>{said}</system-out></testcase>'
                    for name, end in tests.items())
    pathlib.Path(words[words.index("--output-junit") + 1]).write_text(f"<testsuite>{cases}</testsuite>")
    if any(end[0] == "killed" for end in tests.values()):
        os.kill(os.getpid(), 15)
sys.exit(any(end[0] == "fail" for end in tests.values()))
"""
# Output of a GoogleTest program.
CASES = """<testsuites><testsuite name="A"><testcase name="a" classname="A" result="completed" time="0.1"/>
<testcase name="b" classname="A" result="completed" time="1.6"><failure>1 is not 2\nhere</failure></testcase>
<testcase name="c" classname="A" result="skipped" time="0"/></testsuite></testsuites>"""
SILENT = "#!/bin/sh\nexit 0\n"


class Copy(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="hz script ")
        self.addCleanup(self.folder.cleanup)
        self.tree = pathlib.Path(self.folder.name)
        for name in ("hartzone", "CMakePresets.json"):
            shutil.copy(TOP / name, self.tree)
        (self.tree / "build" / "host").mkdir(parents=True)
        (self.tree / "studies").mkdir()
        (self.tree / "scripts").mkdir()
        shutil.copy(TOP / "scripts" / "summarize-tests", self.tree / "scripts")

    def hartzone(self, *words, **environment):
        return subprocess.run([str(self.tree / "hartzone"), *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              env={**os.environ, **environment})


class Words(Copy):
    def test_help_does_nothing_else(self):
        for command in ("clean", "build"):
            for word in ("--help", "-h"):
                run = self.hartzone(command, word)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertTrue(run.stdout.startswith(f"usage: ./hartzone {command}"), run.stdout)
        self.assertTrue((self.tree / "build" / "host").exists())
        self.assertEqual(self.hartzone("clean").returncode, 0)
        self.assertFalse((self.tree / "build" / "host").exists())

    def test_wrong_words(self):
        for words, sentence in ((("nosuch",), "there is no command 'nosuch'"), (("clean", "all"), "takes no options"),
                                (("build", "--all"), "build has no option '--all'"), (("build", "--with"), "--with takes a value"), (("test", "--nosuch"), "usage: ./hartzone test"),
                                (("test", "--filter"), "--filter takes a value"), (("study", "nosuch"), "there is no study 'nosuch'"),
                                (("bench", "nosuch"), "there is no bench 'nosuch'")):
            run = self.hartzone(*words)
            self.assertEqual(run.returncode, 2, words)
            self.assertIn(sentence, run.stderr)
        self.assertTrue((self.tree / "build" / "host").exists())

    def test_jobs_are_a_number(self):
        for jobs in ("many", "0", "-1", "2 "):
            run = self.hartzone("build", HARTZONE_JOBS=jobs)
            self.assertEqual((run.returncode, run.stderr), (2, f"hartzone: HARTZONE_JOBS is the number of parallel jobs, 1 to 9999, not '{jobs}'\n"))


class Test(Copy):
    """`./hartzone test`, which cannot run inside the suite: its options, its choice of tests, its last lines and its exit code."""

    def setUp(self):
        super().setUp()
        self.tools = self.tree / "tools"
        self.tools.mkdir()
        for name, text in (("cmake", SILENT), ("ninja", SILENT), ("ctest", CTEST)):
            (self.tools / name).write_text(text)
            (self.tools / name).chmod(0o755)
        (self.tree / "build" / ".tools").touch()

    def run_with(self, tests, *words):
        (self.tools / "tests.json").write_text(json.dumps(tests))
        (self.tools / "calls").write_text("")
        run = self.hartzone("test", *words, PATH=f"{self.tools}:{os.environ['PATH']}", HARTZONE_JOBS="4")
        return run, [line for line in (self.tools / "calls").read_text().splitlines() if "--show-only" not in line]

    TESTS = {"host": {"e2e.data": ["run", "qemu"], "studies": ["run", "qemu", "slow"]}, "asan": {"unit.a": ["run"]}, "tsan": {"unit.a": ["run"]}}

    def test_warnings_are_errors_once_that_is_asked_for(self):
        """The stand-in for cmake makes what configure looks at."""
        written = ("#!/bin/sh\nmkdir -p build/$5\nfor word; do\n  case $word in\n"
                   "    -DCMAKE_COMPILE_WARNING_AS_ERROR=*) echo \"${word#*=}\" >>\"${0%/*}/said\"; type=BOOL ;;\n"
                   "    -D*) type=PATH ;;\n    *) continue ;;\n  esac\n  echo \"${word#-D}\" | sed \"s/=/:$type=/\"\n"
                   "done >build/$5/CMakeCache.txt\ntouch build/$5/build.ninja\n")
        (self.tools / "cmake").write_text(written.replace("build/", f"'{self.tree}'/build/"))
        (self.tree / "scripts" / "riscv64-toolchain.cmake").touch()
        for words, said in (((), "OFF" * 4), ((), ""), (("--strict",), "ON" * 4), ((), ""), (("--strict",), "")):
            (self.tools / "said").write_text("")
            run, _ = self.run_with(self.TESTS, "--all", *words)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual((self.tools / "said").read_text().replace("\n", ""), said, words)

    def test_all(self):
        run, calls = self.run_with(self.TESTS, "--all")
        self.assertEqual((run.returncode, run.stdout), (0, "4 passed, 0 failed\n"), run.stderr)
        self.assertEqual(sorted(call.split()[1:5] for call in calls),
                         [["--preset", name, "-j", jobs] for name, jobs in (("asan", "4"), ("host", "6"), ("tsan", "4"))])
        self.assertEqual([call.split()[2] for call in calls if "host" not in call], ["asan", "tsan"], "one after the other, beside host")
        presets = json.loads((TOP / "CMakePresets.json").read_text())
        self.assertEqual(next(p for p in presets["testPresets"] if p["name"] == "host")["filter"], {"include": {"label": "qemu"}})

    def test_nothing_follows_what_a_signal_ended(self):
        run, calls = self.run_with({**self.TESTS, "asan": {"unit.a": ["killed"]}}, "--all")
        self.assertNotEqual(run.returncode, 0)
        self.assertNotIn("tsan", {call.split()[2] for call in calls})

    def test_slow_tests_and_tsan_wait_for_all(self):
        run, calls = self.run_with(self.TESTS)
        self.assertEqual((run.returncode, run.stdout, len(calls)), (0, "2 passed, 0 failed\n", 2), run.stderr)
        for call in calls:
            self.assertIn("-LE case$|slow", call)
            self.assertIn("-j 4 " if "--preset asan" in call else "-j 6 ", call)

    def test_list(self):
        run, calls = self.run_with(self.TESTS, "--list")
        self.assertEqual(run.stdout.splitlines(), ["host  e2e.data  (qemu)", "host  studies  (qemu, slow)", "asan  unit.a", "tsan  unit.a"])
        self.assertEqual((run.returncode, calls), (0, []))

    def test_a_filter_that_matches_nothing_says_so(self):
        for words in (("--filter", "nosuch"), ("--filter", "nosuch", "--list")):
            run, calls = self.run_with(self.TESTS, *words)
            self.assertEqual((run.returncode, calls), (1, []), words)
            self.assertIn(f"no test matches '{words[words.index('--filter') + 1]}': ./hartzone test", run.stderr)

    def test_a_filter_that_matches_in_one_configuration(self):
        for name in ("e2e", "studies"):
            run, _ = self.run_with(self.TESTS, "--filter", name)
            self.assertEqual((run.returncode, run.stdout), (0, "1 passed, 0 failed\n"), "of all tests, slow or not")

    def test_what_failed_is_named_with_its_configuration(self):
        run, _ = self.run_with({**self.TESTS, "asan": {"unit.a": ["fail"], "unit.b": ["run"], "unit.c": ["notrun"]}}, "--all")
        self.assertEqual(run.returncode, 1)
        said = [f"    line {i} <" for i in range(61, 100)] + ["    " + "x" * 300]
        self.assertEqual(run.stdout.splitlines(), ["failed: asan: unit.a after 2 s", *said, "1 skipped: unit.c", "4 passed, 1 failed"])

    PROGRAM = {"host": {}, "asan": {"unit": ["run", "program"], "unit.A.a": ["run", "case"], "unit.A.b": ["run", "case"]}, "tsan": {}}

    def test_a_program_counts_by_its_cases(self):
        self.write_cases()
        run, _ = self.run_with(self.PROGRAM)
        self.assertEqual((run.returncode, run.stdout), (0, "1 passed, 0 failed\n"), "cases of an earlier round count nothing")
        for words, names in (((), "unit"), (("--filter", "unit"), "unit.A.a unit.A.b")):
            _, calls = self.run_with(self.PROGRAM, *words)
            self.assertIn("-LE case$" if not words else "-LE program$", next(call for call in calls if "--preset asan" in call), names)

    def write_cases(self, cases=CASES, process="unit"):
        folder = self.tree / "build" / "asan" / "cases"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{process}.xml").write_text(cases)

    def summary(self, cases=CASES, process="unit", said="the end"):
        if cases:
            self.write_cases(cases, process)
        path = self.tree / "build" / "test-asan.xml"
        path.write_text(f'<testsuite><testcase name="{process}" status="fail" time="3"><system-out>{said}</system-out></testcase></testsuite>')
        return subprocess.run([str(self.tree / "scripts" / "summarize-tests"), str(path)], capture_output=True, text=True, check=False)

    def test_what_failed_in_a_program_is_named(self):
        run = self.summary()
        self.assertEqual((run.returncode, run.stdout), (1, "failed: asan: unit.A.b after 2 s\n    1 is not 2\n    here\n1 skipped: unit.A.c\n"
                                                           "1 passed, 1 failed\n"))

    def test_what_failed_in_one_of_its_processes_is_named_as_a_filter_has_it(self):
        run = self.summary(process="unit.slow.2")
        self.assertTrue(run.stdout.startswith("failed: asan: unit.A.b after 2 s\n"), run.stdout)

    def test_the_case_in_which_a_process_ended_is_named(self):
        ended = "[ RUN      ] A.a\n[       OK ] A.a (0 ms)\n[ RUN      ] A.b/1\n"
        for process, words, where in (("unit.slow.1", ended + "==1==ERROR: AddressSanitizer\n", " in A.b/1"), ("unit.A.b/1", ended, ""),
                                      ("unit", ended + "[  FAILED  ] A.b/1, where GetParam() = 1 (0 ms)\n", ""),
                                      ("unit", ended + "[  SKIPPED ] A.b/1 (0 ms)\n", ""), ("unit", "", "")):
            run = self.summary(None, process, words)
            self.assertTrue(run.stdout.startswith(f"failed: asan: {process}{where} after 3 s\n"), run.stdout)

    def test_a_program_that_fails_at_its_end_failed(self):
        run = self.summary(CASES.replace("failure", "property"))
        self.assertEqual((run.returncode, run.stdout), (1, "failed: asan: unit after 3 s\n    the end\n1 skipped: unit.A.c\n2 passed, 1 failed\n"))

    def test_a_ctest_that_ends_early_is_a_failure(self):
        run, _ = self.run_with({**self.TESTS, "tsan": {"crash": ["run"]}}, "--all")
        self.assertEqual(run.returncode, 1)
        self.assertIn("failed: tsan: ctest did not run", run.stdout)


class Tools(Copy):
    """Packages that a first call installs before it builds, and in parallel."""

    SETUP = """#!/bin/bash
echo "begin $*" >>"$CALLS"
case "$*" in
    --daemon | --rest) until grep -q ninja "$CALLS"; do sleep 0.01; done; sleep 0.5 ;;
    --to-build) until grep -q -e --daemon "$CALLS"; do sleep 0.01; done; exit "$TO_BUILD" ;;
esac
echo "end $*" >>"$CALLS"
"""
    NINJA = "#!/bin/sh\necho ninja >>\"$CALLS\"\n"

    def build(self, to_build):
        tools = self.tree / "tools"
        tools.mkdir()
        for path, text in ((tools / "cmake", SILENT), (tools / "ninja", self.NINJA), (self.tree / "scripts" / "setup", self.SETUP)):
            path.write_text(text)
            path.chmod(0o755)
        calls = self.tree / "calls"
        run = self.hartzone("build", PATH=f"{tools}:{os.environ['PATH']}", CALLS=str(calls), TO_BUILD=to_build)
        return run, calls.read_text().splitlines()

    def test_what_only_runs_comes_beside_the_build(self):
        run, calls = self.build("0")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(sorted(calls[:2]), ["begin --daemon", "begin --to-build"])
        self.assertLess({"end --daemon", "begin --rest", "end --rest"}, set(calls))
        self.assertEqual(calls[-2:], ["begin ", "end "], "all is looked through before a stamp says that it is there")
        self.assertTrue((self.tree / "build" / ".tools").exists())

    def test_without_packages_nothing_goes_on(self):
        run, calls = self.build("1")
        self.assertEqual((run.returncode, sorted(calls)), (1, ["begin --daemon", "begin --to-build"]), run.stderr)
        self.assertFalse((self.tree / "build" / ".tools").exists())
        deadline = time.monotonic() + 1800  # longer than any load explains
        while self.setups():
            self.assertLess(time.monotonic(), deadline, "what went on beside ends, too")

    def setups(self):
        """processes of the copy's setup"""
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError): # ended meanwhile
                found += [path] if str(self.tree / "scripts" / "setup").encode() in path.read_bytes() else []
        return found


class Setup(Copy):
    """scripts/setup where no package is installed, with stand-ins for apt: what it says of a network without answer, and of others."""

    APT = """#!/bin/sh
case " $* " in
    *" update "*) [ -z "$UPDATE" ] || echo "$UPDATE" ;;
    *" install "*) echo "$INSTALL"; exit 100 ;;
esac
"""
    SUDO = "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nexec \"$@\"\n"

    def test_a_network_without_answer_is_worth_another_try(self):
        shutil.copy(TOP / "scripts" / "setup", self.tree / "scripts")
        tools = self.tree / "tools"
        tools.mkdir()
        for name, text in (("apt-get", self.APT), ("apt-cache", SILENT), ("dpkg-query", "#!/bin/sh\nexit 1\n"), ("sudo", self.SUDO),
                           ("find", SILENT)):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        lost = "E: Failed to fetch http://x/y  Temporary failure resolving 'x'"
        for update, install, code in (("", lost, 75), ("W: " + lost[3:], "E: Unable to locate package a", 75),
                                      ("", "E: Unable to locate package a", 1), ("", "dpkg: error processing package a", 1)):
            run = subprocess.run([str(self.tree / "scripts" / "setup"), "--to-build"], capture_output=True, text=True, check=False,
                                 stdin=subprocess.DEVNULL, env={**os.environ, "PATH": f"{tools}:/usr/bin:/bin", "UPDATE": update, "INSTALL": install})
            self.assertEqual(run.returncode, code, (update, install, run.stderr))
            self.assertIn(install, run.stderr)
            self.assertRegex(run.stderr.splitlines()[-1], "^setup: installing packages failed(: the network or the mirror does not answer)?, "
                                                          "see build/setup.log$")


class Found(unittest.TestCase):
    """Text recognised as a command by printed.py."""

    def test_a_command_may_go_on_in_the_next_line(self):
        text = "as `./hartzone run\n--quick` and `./hartzone study`, not `a\nb` or\n```\n`./hartzone x y`\n```\n"
        self.assertEqual(list(printed.in_sentences(text)), ["./hartzone run --quick", "./hartzone study"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
