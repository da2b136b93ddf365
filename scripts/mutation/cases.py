"""The cases of the tests: what each is called with, how long it takes, and which mutants' functions it comes to."""
# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import json
import pathlib
import re
import subprocess
import sys

LIST = """import importlib.util, pathlib, sys, unittest
sys.path.insert(0, str(pathlib.Path(sys.argv[1]).parent))
spec = importlib.util.spec_from_file_location("listed", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
def names(suite):
    for one in suite:
        yield from names(one) if isinstance(one, unittest.TestSuite) else [one.id().split(".", 1)[1]]
print(*names(unittest.defaultTestLoader.loadTestsFromModule(module)), sep="\\n")
"""


@dataclasses.dataclass(frozen=True)
class Program:
    """One that runs those of its cases whose names it is given; a plain one is a case by itself."""
    words: tuple
    environment: tuple = ()  # of names and values
    kind: str = "gtest"      # or unittest, or plain

    def call(self, cases):
        """Words that run these cases, until one fails."""
        if self.kind == "plain":
            return self.words
        if self.kind == "unittest":
            return (*self.words, "-f", *cases)
        return (*self.words, "--gtest_fail_fast", *(["--gtest_filter=" + ":".join(cases)] if cases else []))

    def failed(self, output, cases):
        """Which of the cases it was at when it failed, crashed or hung."""
        pattern = r"^(?:FAIL|ERROR): .*\((?:__main__\.)?(\S+?)\)$" if self.kind == "unittest" else r"^\[ RUN      \] (\S+)$"
        told = re.findall(r"^\[  FAILED  \] ([^\s,]+)", output, re.M)[:1] or re.findall(pattern, output, re.M)
        return told[-1] if told else cases[0]


@dataclasses.dataclass(frozen=True)
class Case:
    program: Program
    name: str
    seconds: float
    seen: frozenset


def of_ctest(build, name):
    """The Python program of a CTest case, as CTest would call it; None: there is none of this name."""
    listed = subprocess.run(["ctest", "--test-dir", str(build), "-R", f"^{re.escape(name)}$", "--show-only=json-v1"],
                            capture_output=True, text=True, check=True).stdout
    for test in json.loads(listed)["tests"]:
        environment = next((p["value"] for p in test["properties"] if p["name"] == "ENVIRONMENT"), [])
        return Program(tuple(test["command"]), tuple(tuple(pair.split("=", 1)) for pair in environment), "unittest")
    return None


def names_of(program):
    """Of the cases of a program of unittest, or a plain one."""
    if program.kind == "plain":
        return [pathlib.Path(program.words[0]).name]
    env = dict(program.environment)
    listed = subprocess.run([sys.executable, "-c", LIST, *program.words[1:2]], env={**env, "PATH": "/usr/bin:/bin"},
                            capture_output=True, text=True, check=True)
    return listed.stdout.split()


def told(program, text):
    """Cases, from what plant.CASES wrote while all of a GoogleTest program's ran."""
    suites, found = {}, []
    for line in text.splitlines():
        kind, name, ms, *numbers = line.split()
        if kind == "suite":
            suites.setdefault(name, set()).update(map(int, numbers))
        else:
            found.append((name, int(ms) / 1000, frozenset(map(int, numbers))))
    return [Case(program, name, max(seconds, 0.001), seen | suites.get(name.rsplit(".", 1)[0], set())) for name, seconds, seen in found]


def batches(cases, kills, most=float("inf")):
    """Cases, those first that cost little and have killed neighbours, in portions that get dearer, of so many seconds at most together:
    [(program, cases)…]."""
    portion, spent, limit, total = {}, 0, 0.3, 0
    for case in sorted(cases, key=lambda c: c.seconds / (1 + 4 * kills.get(c.name, 0))):
        if total and total + case.seconds > most:
            break
        portion.setdefault(case.program, []).append(case)
        spent += case.seconds
        total += case.seconds
        if spent >= limit:
            yield from portion.items()
            portion, spent, limit = {}, 0, limit * 3
    yield from portion.items()


def clear(path: pathlib.Path, count):
    path.write_bytes(bytes(max(1, count)))


def marked(path: pathlib.Path):
    return frozenset(n for n, byte in enumerate(path.read_bytes()) if byte)
