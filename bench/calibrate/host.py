"""The machine below ./hartzone calibrate: which CPUs and caches this host has, and answers of the program hz-calibrate with their spread."""
# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import os
import pathlib
import platform
import statistics
import subprocess

from common import runs

ARCHITECTURES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64", "riscv64": "riscv64"}
SYSTEM = pathlib.Path("/sys/devices/system/cpu")
CHAIN = 20000     # HOST_CHAIN of program/host.h: instructions of one cycle each
HANG_S = 120      # of one answer, which takes milliseconds
MOST_THREADS = 64 # MOST_HARTS
USABLE = 0.25     # spread of a figure beyond which no cost follows from it
ROBBED = 0.1      # share of the threads' time in which others had their CPUs, beyond which an answer counts for little
TRIES = 12        # times as many answers as were asked for, at most
SPANS = ("stream", "handover", "lock") # scenes whose answer is one span of time; others have many rounds, of which those with a loss do not count


def architecture(machine=None):
    """Raises StudyError where hz-calibrate has no instructions for this host."""
    machine = platform.machine() if machine is None else machine
    if machine not in ARCHITECTURES:
        raise runs.StudyError(f"this host is {machine or 'unknown'}: calibrate knows x86-64, AArch64 and RV64, whose instructions it times")
    return ARCHITECTURES[machine]


# --- CPUs and caches ---
def words_of(path):
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def cpu_list(text):
    """'0-2,5' → [0, 1, 2, 5]"""
    out = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return out


@dataclasses.dataclass(frozen=True)
class Cache:
    """bytes and ways of a cache of data, and the CPUs that share it."""
    bytes: int
    ways: int
    cpus: tuple


@dataclasses.dataclass
class Cpu:
    number: int
    package: int
    siblings: list # threads of its core, itself too
    caches: list   # of data, the nearest first

    def domain(self):
        """What is near: who shares its last cache, or its package, where the cache is its own."""
        shared = private_and_shared(self)[1]
        return (self.package, shared.cpus if shared else ())


def size_of(text):
    scale = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    return int(text[:-1]) * scale[text[-1]] if text[-1:] in scale else int(text or 0)


def caches_of(folder):
    found = []
    for index in sorted(folder.glob("cache/index*")):
        size, ways = words_of(index / "size"), words_of(index / "ways_of_associativity")
        if words_of(index / "type") in ("Data", "Unified") and size_of(size):
            found.append((int(words_of(index / "level")), Cache(size_of(size), int(ways or 0), tuple(cpu_list(words_of(index / "shared_cpu_list"))))))
    return [cache for _, cache in sorted(found, key=lambda one: one[0])]


def cpu(number, system=SYSTEM):
    folder = system / f"cpu{number}"
    siblings = cpu_list(words_of(folder / "topology/thread_siblings_list")) or [number]
    return Cpu(number, int(words_of(folder / "topology/physical_package_id") or 0), siblings, caches_of(folder))


def cores(allowed, system=SYSTEM):
    """One CPU of each core, in an order in which those that are near each other stand together."""
    found, taken = [], set()
    for one in (cpu(number, system) for number in sorted(allowed)):
        if not taken & set(one.siblings):
            found.append(one)
            taken |= set(one.siblings)
    return sorted(found, key=lambda one: (one.domain(), one.number))


def cluster_of(cpus):
    """Cores of a cluster: as many are near each other each time, else 0."""
    counts = {}
    for one in cpus:
        counts[one.domain()] = counts.get(one.domain(), 0) + 1
    return counts[cpus[0].domain()] if len(counts) > 1 and len(set(counts.values())) == 1 else 0


def near_and_far(cpus):
    """Positions of two CPUs, one near the first one and one that is not; None: there is none."""
    near = next((i for i in range(1, len(cpus)) if cpus[i].domain() == cpus[0].domain()), None)
    far = next((i for i in range(len(cpus) - 1, 0, -1) if cpus[i].domain() != cpus[0].domain()), None)
    return near, far


def private_and_shared(first):
    """The largest cache of one core only, and the largest that several cores share; None: there is none."""
    private = [cache for cache in first.caches if set(cache.cpus) <= set(first.siblings)]
    shared = [cache for cache in first.caches if not set(cache.cpus) <= set(first.siblings)]
    return (private[-1] if private else None), (shared[-1] if shared else None)


# --- answers ---
@dataclasses.dataclass
class Figure:
    """A median, the width of its middle half as a part of it, and of what share of its time its least disturbed answers were robbed."""
    value: float
    spread: float
    lost: float = 0.0

    def usable(self):
        return self.spread <= USABLE and self.lost <= ROBBED


def middle_half(values):
    values = sorted(values)
    quarter = len(values) // 4
    return values[quarter:len(values) - quarter]


def typical(values):
    """The mean of the middle half: a coarse clock makes a median jump, and who takes the CPU away makes a mean jump."""
    return statistics.fmean(middle_half(values))


def figure_of(values, lost=None):
    """Of values with the share of its time that each was robbed of: the half that was robbed least counts."""
    lost = lost or [0.0] * len(values)
    order = sorted(range(len(values)), key=lambda i: lost[i])[:len(values) // 2 + 1]
    kept = sorted(values[i] for i in order)
    middle, quarter = statistics.median(kept), len(kept) // 4
    return Figure(middle, (kept[-1 - quarter] - kept[quarter]) / middle if middle else 0.0, statistics.median(lost[i] for i in order))


@dataclasses.dataclass
class Answer:
    ticks_per_cycle: float
    ticks_per_ms: float
    lost: float
    results: list

    def cycles(self, ticks):
        return ticks / self.ticks_per_cycle


class Host:
    """The program, and the CPUs that its threads are pinned to."""

    def __init__(self, program, cpus, repeats):
        self.program, self.cpus, self.repeats = program, cpus, repeats

    def ask(self, scene, places, words):
        """One answer, of threads on the CPUs at these positions."""
        command = [str(self.program), scene, ",".join(str(self.cpus[place].number) for place in places), *map(str, words)]
        try:
            run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise runs.StudyError(f"{' '.join(command)} has no end within {HANG_S} s: are its CPUs its own?") from None
        lines = run.stdout.splitlines()
        if run.returncode or len(lines) != 2:
            raise runs.StudyError(f"{' '.join(command)} ended with {run.returncode}: {run.stderr.strip() or run.stdout.strip()}")
        before, after, per_ms, lost = map(int, lines[0].split())
        return Answer((before + after) / 2 / CHAIN, per_ms, lost / 1000, [int(word) for word in lines[1].split()])

    def answers(self, scene, places, words):
        """As many as were asked for, and of a whole span, while most of them were robbed of their CPUs, up to TRIES times as many."""
        found = []
        while len(found) < self.repeats or (scene in SPANS and len(found) < TRIES * self.repeats and sum(one.lost <= ROBBED for one in found) < self.repeats // 2 + 1):
            found.append(self.ask(scene, places, words))
        return found

    def figure(self, scene, places, words, reduced):
        """reduced: an answer → cycles or another number."""
        answers = self.answers(scene, places, words)
        figure = figure_of([reduced(answer) for answer in answers], [answer.lost for answer in answers])
        return figure if scene in SPANS else dataclasses.replace(figure, lost=0.0)


def allowed():
    return os.sched_getaffinity(0)
