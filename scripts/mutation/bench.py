"""A copy of the sources with mutants planted in it, its build, and how the tests take each mutant."""
# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import sources

from . import cases, plant

TOP = pathlib.Path(__file__).resolve().parents[2]
WORK = TOP / "build" / "mutants"



@dataclasses.dataclass(frozen=True)
class Module:
    """What is mutated, and what must notice."""
    folders: tuple
    programs: tuple = ()  # of GoogleTest, behind what they find in their environment
    targets: tuple = ()   # what else must be built for these
    machine: tuple = ()   # of GoogleTest, in a build without sanitizers only, as those below: most need QEMU and the firmware
    tests: tuple = ()     # of CTest, in Python's unittest
    plain: tuple = ()     # programs that are a case each

    def sanitized(self):
        return dataclasses.replace(self, machine=(), tests=(), plain=())


FTL = ("l2p_test", "ftl_test", "ftl_conventional_test", "ftl_interleave_test", "ftl_mount_test", "ftl_powercut_test", "ftl_worn_slc_test",
       "ftl_crash_faults_test", "ftl_abandon_test", "ftl_damage_test", "image_check_test")
MODULES = {
    "libthread": Module(("libthread/src", "libthread/locks"), ("libthread_test",)),
    "protocol": Module(("protocol",), ("protocol_test", "nvme_vs_libnvme", "host_config")),
    "ftl": Module(("firmware/ftl",), FTL),
    "nand": Module(("firmware/nand",), ("nand_test", "tsu_test", *FTL)),
    "tsu": Module(("firmware/tsu",), ("tsu_test", "nand_test", *FTL)),
    "hil": Module(("firmware/hil",), ("hil_test", "HZ_TEST_HILS=2 hil_test", "HZ_TEST_HILS=3 hil_test")),
    "platform": Module(("firmware/platform",), ("platform_test",)),
    "session": Module(("host-driver/session",), ("session_heap_test", "session_refusal_test", "session_prp_test", "session_queue_test",
                                                 "session_link_test", "session_process_test", "session_interrupt_test",
                                                 "session_stall_test", "session_attach_test"),
                      machine=("session_machine_test",), plain=("session_c_api_test", "session_c_commands_test", "session_c_async_test"),
                      targets=("soft_machine",)),
    "vclock": Module(("vclock",), machine=("vclock_parts_test", "vclock_order_test"),
                     tests=("vclock.programs", "vclock.waiting", "vclock.race", "vclock.jitter", "vclock.freeze", "vclock.bulk",
                            "vclock.ledger", "vclock.locks", "vclock.stopping", "vclock.determinism", "vclock.accuracy",
                            "vclock.futex.freeze", "e2e.timeline"),
                     targets=("hartzone",)),
}
SLOWER, GRACE_S = 4, 5  # a test that takes longer than so many times its usual time, and a little more, hangs
PLAIN = ("-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2", "-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2")


class MutateError(Exception):
    """The reason why nothing can be measured, in a sentence."""


def command(words, log, timeout=None, environment=None):
    """Exit code, or None after the timeout. The whole process group ends with it."""
    with open(log, "ab") as out:
        child = subprocess.Popen(words, cwd=WORK, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
                                 env={**os.environ, **(environment or {})})
        try:
            return child.wait(timeout)
        except BaseException as why:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            if isinstance(why, subprocess.TimeoutExpired):
                return None
            raise


class Tree:
    """A copy of the checkout and its build folder."""

    def __init__(self, name, log, jobs):
        self.source, self.build, self.log, self.jobs = WORK / name / "source", WORK / name / "build", log, jobs

    def copy(self):
        """Only what has changed, so that a second call builds little."""
        wanted = set(sources.names())
        for name in wanted:
            self.put(name, (TOP / name).read_bytes())
            shutil.copymode(TOP / name, self.source / name)
        for path in [p for p in self.source.rglob("*") if p.is_file()]:
            if str(path.relative_to(self.source)) not in wanted:
                path.unlink()

    def put(self, name, data):
        target = self.source / name
        if not target.is_file() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def must(self, words, what):
        if command(words, self.log):
            raise MutateError(f"cannot {what}: see {self.log}")

    def configure(self, *more):
        self.must(["cmake", "-G", "Ninja", "-S", str(self.source), "-B", str(self.build), *PLAIN,
                   f"-DHZ_FIRMWARE_DIR={TOP / 'build' / 'firmware'}", *more], "configure")

    def ninja(self, targets):
        return command(["ninja", "-C", str(self.build), "-k0", f"-j{self.jobs}", *targets], self.log)


    def object(self, file):
        """What is compiled of a source, as ninja names it; None: nothing."""
        listed = subprocess.run(["ninja", "-C", str(self.build), "-t", "query", str(self.source / file)],
                                capture_output=True, text=True, check=False).stdout
        return next(iter(re.findall(r"^\s+(\S+\.o)$", listed, re.M)), None)


class Bench:
    """mutants: a list; a mutant's number is its place there. After `prepare`, `outcomes` tells of each."""

    def __init__(self, mutants, jobs, seconds=float("inf"), sanitize=False):
        self.mutants, self.jobs, self.seconds, self.log = mutants, jobs, seconds, WORK / "log"
        self.sanitize, self.module = sanitize, {name: module.sanitized() if sanitize else module for name, module in MODULES.items()}
        self.modules = sorted({mutant.module for mutant in mutants})
        self.outcome, self.programs_of, self.cases = {}, {}, set()
        self.kills, self.killer, self.hung = {}, {}, set()  # of a file: how many each case killed; of a mutant: which case did
        self.one_by_one = threading.Lock()
        WORK.mkdir(parents=True, exist_ok=True)
        self.lock = open(WORK / "lock", "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise MutateError(f"another call is at work in {WORK}") from None
        self.log.write_bytes(b"")
        self.tree, self.plain = Tree("sanitized" if sanitize else "planted", self.log, jobs), Tree("plain", self.log, jobs)

    # --- one build of all ---

    def prepare(self):
        missing = [m for m in self.modules if (self.module[m].machine or self.module[m].tests) and not (TOP / "build/firmware/firmware/main/firmware.elf").is_file()]
        if missing:
            raise MutateError(f"the tests of {missing[0]} need the firmware: ./hartzone build")
        self.runtime()
        self.plain.copy()
        self.plain.configure("-DCMAKE_UNITY_BUILD=OFF", *(f"-DCMAKE_{word}_FLAGS=-w -g0" for word in ("C", "CXX")))
        self.tree.copy()
        self.tree.configure("-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=16",
                            *(f"-DCMAKE_{word}_FLAGS=-w -include {WORK}/mutant.h" for word in ("C", "CXX")),
                            *(f"-DCMAKE_{word}_LINKER_FLAGS={WORK}/mutant.o" for word in ("EXE", "SHARED", "MODULE")),
                            f"-DCMAKE_CXX_STANDARD_LIBRARIES={WORK}/cases.o", *(["-DHZ_SANITIZE=address,undefined"] if self.sanitize else []))
        self.leave_out()
        while self.build():
            pass
        programs = {program for module in self.modules for program in self.programs(module)}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for found in pool.map(self.measure, sorted(programs, key=repr)):
                self.cases |= found

    def runtime(self):
        counted = {"count": max(1, len(self.mutants))}
        for name, text in (("mutant.h", plant.HEADER), ("mutant.c", plant.SOURCE % counted), ("cases.cpp", plant.CASES % counted)):
            if not (WORK / name).is_file() or (WORK / name).read_text() != text:
                (WORK / name).write_text(text)
        for words in (["cc", "-O2", "-fPIC", "-c", "mutant.c", "-o", "mutant.o"],
                      ["c++", "-std=c++17", "-O2", "-fPIC", "-include", "mutant.h", "-c", "cases.cpp", "-o", "cases.o"],
                      [*plant.WEAK, "cases.o"]):
            if command(words, self.log):
                raise MutateError(f"cannot compile the choice of a mutant: see {self.log}")

    def leave_out(self):
        """Some sources are only for the target: no test program has them. Some modules have no test that sanitizers can look at."""
        compiled = {file: self.plain.object(file) for file in {mutant.file for mutant in self.mutants}}
        self.outcome = {number: "not compiled here" for number, mutant in enumerate(self.mutants) if not compiled[mutant.file]}
        self.outcome |= {number: "not tested here" for number, mutant in enumerate(self.mutants) if not self.targets(mutant.module)}

    def build(self):
        """True: some mutants did not compile; they have been left out."""
        lines = {}
        for name in sorted({mutant.file for mutant in self.mutants}):
            here = {n: m for n, m in enumerate(self.mutants) if m.file == name and n not in self.outcome}
            text, lines[name] = plant.planted((TOP / name).read_text(), here)
            self.tree.put(name, text.encode())
        start = self.log.stat().st_size
        if not self.tree.ninja(sorted({target for module in self.modules for target in self.targets(module)})):
            return False
        wrong = plant.blamed(self.log.read_text(errors="replace")[start:], lines)
        if not wrong:
            raise MutateError(f"cannot build the tests: see {self.log}")
        self.outcome |= {number: "does not compile" for number in wrong}
        return True

    def targets(self, module):
        of = self.module[module]
        return [*(program.split()[-1] for program in of.programs), *of.machine, *of.plain, *of.targets, *(["hz_vclock"] if of.machine else [])]

    def programs(self, module):
        """Those that test it."""
        if module not in self.programs_of:
            path_of = lambda name: next((p for p in self.tree.build.rglob(name) if p.is_file()), self.tree.build / name)
            of, words_of = self.module[module], lambda name: (str(path_of(name)),)
            self.programs_of[module] = [cases.Program(words_of(name), tuple(tuple(pair.split("=")) for pair in setting))
                                        for *setting, name in map(str.split, of.programs + of.machine)]
            self.programs_of[module] += [cases.Program(words_of(name), kind="plain") for name in of.plain]
            self.programs_of[module] += [cases.of_ctest(self.tree.build, name) for name in of.tests]
        return self.programs_of[module]

    def measure(self, program):
        """Its cases: how long each takes, and which mutants' functions it comes to."""
        if program.kind != "gtest":
            return {self.measure_alone(program, name) for name in cases.names_of(program)}
        with tempfile.TemporaryDirectory(dir=WORK) as folder:
            seen, told = pathlib.Path(folder) / "seen", pathlib.Path(folder) / "told"
            cases.clear(seen, len(self.mutants))
            self.must_pass(program, (), {"HZ_MUTANT_SEEN": str(seen), "HZ_MUTANT_CASES": str(told)})
            return set(cases.told(program, told.read_text()))

    def measure_alone(self, program, name):
        with tempfile.NamedTemporaryFile(dir=WORK) as seen:
            cases.clear(pathlib.Path(seen.name), len(self.mutants))
            start = time.monotonic()
            self.must_pass(program, (name,), {"HZ_MUTANT_SEEN": seen.name})
            return cases.Case(program, name, time.monotonic() - start, cases.marked(pathlib.Path(seen.name)))

    def must_pass(self, program, names, environment):
        words = program.call(names)
        if command(words, self.log, environment={**dict(program.environment), **environment}):
            raise MutateError(f"a test fails without a mutant: `{' '.join(words)}`; see {self.log}")

    # --- each mutant ---

    def outcomes(self):
        """(number, outcome) as they come, several at a time."""
        yield from self.outcome.items()
        left = [number for number in range(len(self.mutants)) if number not in self.outcome]
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            futures = {pool.submit(self.judge, number): number for number in left}
            try:
                for future in concurrent.futures.as_completed(futures):
                    yield futures[future], future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def judge(self, number):
        mutant = self.mutants[number]
        mine, kills = set(self.programs(mutant.module)), self.kills.setdefault(mutant.file, {})
        met = [case for case in self.cases if number in case.seen and case.program in mine]
        for program, portion in cases.batches(met, kills, self.seconds):
            killer = self.run(program, portion, number)
            if killer:
                kills[killer] = kills.get(killer, 0) + 1
                self.killer[number] = killer
                return "killed"
        with self.one_by_one:
            return self.of_the_code(mutant) or "survived"

    def run(self, program, portion, number):
        """The case that the mutant does not pass; None: it passes all."""
        names, usual = [case.name for case in portion], sum(case.seconds for case in portion)
        with tempfile.NamedTemporaryFile(dir=WORK) as log:
            code = command(program.call(names), log.name, SLOWER * usual + GRACE_S, {**dict(program.environment), "HZ_MUTANT": str(number)})
            self.hung |= {number} if code is None else set()
            return program.failed(pathlib.Path(log.name).read_text(errors="replace"), names) if code != 0 else None

    def of_the_code(self, mutant):
        """Why it does not count: by itself it does not compile, or to the same as without it. None: it counts."""
        text, digests = (TOP / mutant.file).read_text(), []
        for version in (plant.mutated(text, mutant), text):
            self.plain.put(mutant.file, version.encode())
            target = self.plain.object(mutant.file)
            if self.plain.ninja([target]):
                return "does not compile"
            digests.append(hashlib.sha256((self.plain.build / target).read_bytes()).digest())
        return "same code" if digests[0] == digests[1] else None
