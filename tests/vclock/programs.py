"""Random programs of synchronising instructions for programs.elf (probe/programs.S), and what a run of them leaves.

The harts share a few lines of several words each, so accesses to different words meet on one line (false sharing). Values are few, so
a word is often written with what it held (ABA). Times are few and round, so deadlines and wakes often fall on the same cycle."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from hztest.clock_machine import Machine, RAM_BASE  # noqa: E402

LISTS, LINES = 0x81000000, 0x80310000
SHOWN_LINES = 1000
OPERATION, FIRST_LIST = struct.Struct("<4Q"), LISTS + 0x1000
DIVISIONS = ("divu", "rem", "divw", "remuw")
LOGGED = {*DIVISIONS, "straddle", "load", "add", "swap", "or", "addw", "swapw", "lr", "sc", "lrw", "scw", "now", "wait", "take"}


class Generator:
    def __init__(self, seed, harts, lines=3):
        self.random, self.harts, self.lines = random.Random(seed), harts, lines

    def word(self, size=8):
        return LINES + 64 * self.random.randrange(self.lines) + size * self.random.randrange(64 // size // 2)

    def time(self):
        return 10 * self.random.choice((0, 1, 2, 4, 6, 8, 10, 11, 12, 14, 20, 30))

    def program(self, hart, length, mix):
        """One hart's operations, (name, a0, a1). Hart 0 may not park without a deadline, since it releases the others."""
        out, frozen = [], 0
        while len(out) < length:
            name = self.random.choice(mix)
            if name == "freeze" and frozen < 3:
                frozen += 1
                out.append(("freeze", 0, 0))
            elif name == "thaw" and frozen:
                frozen -= 1
                out.append(("thaw", 0, 0))
            elif name == "stay" and frozen:
                out.append(("stay", 0, 0))
            elif name == "pair":
                out += self.pair(hart, frozen)
            elif name in PLAIN or not frozen and name in ("pause", "wait"):
                out.append((name, *self.operands(name)))
        return out + [("thaw", 0, 0)] * frozen + [("now", 0, 0)]

    def operands(self, name):
        r = self.random
        return {"add": lambda: (self.word(), r.choice((0, 0, 1, 2**64 - 1))), "swap": lambda: (self.word(), r.randrange(3)),
                "release": lambda: (self.word(), r.randrange(2)), "load": lambda: (self.word(), 0),
                "store": lambda: (self.word(), r.randrange(2)), "straddle": lambda: (LINES + 64 * r.randrange(self.lines) + 60, r.randrange(2**64)),
                **dict.fromkeys(DIVISIONS, lambda: (r.getrandbits(r.randrange(65)), r.choice((0, 1, r.getrandbits(r.randrange(1, 65)))))),
                "or": lambda: (self.word(), 0), "addw": lambda: (self.word(4), r.randrange(2)),
                "swapw": lambda: (self.word(4), r.choice((0, 1, 0x80000000))), "now": lambda: (0, 0), "sync": lambda: (0, 0),
                "wake": lambda: (r.randrange(self.harts), 0), "charge": lambda: (self.time(), 0), "pause": lambda: (0, 0),
                "take": lambda: (self.word(), self.time()), "think": lambda: (r.randrange(1, 50), 0),
                "wait": lambda: (self.time(), 0)}[name]()

    def pair(self, hart, frozen):
        """LR, perhaps something in between, and SC to the same word, or mostly so; or a wait on the reservation."""
        r, wide = self.random, self.random.randrange(4) > 0
        address = self.word(8 if wide else 4)
        out = [("lr" if wide else "lrw", address, 0)]
        between = r.choice(((), (), ("think",), ("sync",), ("now", "charge"), ("wake", "add"), ("take",), ("store",), ("add",)))
        if not frozen and r.randrange(4) == 0:
            between = ("wait",)
        out += [(name, *self.operands(name)) for name in between]
        if not frozen and r.randrange(3) == 0:
            out.append(("nto", 0, 0) if hart and r.randrange(3) == 0 else ("sto", self.time(), 0))
        if r.randrange(4):
            other = self.word(8 if wide else 4)
            target = address if r.randrange(8) else other
            as_wide = wide if target % 8 or r.randrange(8) else not wide # a misaligned one traps: in QEMU 10.0.13 always, in 10.0.2 with a reservation only
            out.append(("sc" if as_wide else "scw", target, r.randrange(3)))
        return out

    def lists(self, programs):
        """For each hart its operations of all programs, each ended by a meeting of all harts."""
        out = [[] for _ in range(self.harts)]
        for _ in range(programs):
            length, mix = self.random.randrange(3, 16), self.random.choice((ALL, ALL, PAIRS, WAKES))
            for hart, operations in enumerate(out):
                operations += self.program(hart, length, mix) + [("meet", 0, 0)]
        return [operations + [("end", 0, 0)] for operations in out]


def program(*operations):
    """A list of one program that is written down: names, or tuples of a name and its arguments."""
    words = [(o,) if isinstance(o, str) else o for o in operations] + [("meet",), ("end",)]
    return [(w + (0, 0))[:3] for w in words]


PLAIN = (*DIVISIONS, "straddle", "load", "load", "store", "store", "add", "swap", "release", "release", "or", "addw", "swapw", "now", "sync", "wake", "charge", "take", "think")
ALL = PLAIN + ("pair",) * 6 + ("freeze", "stay", "thaw", "thaw", "wait", "wait", "wait", "wake", "wake", "take", "pause")
PAIRS = ("pair",) * 4 + ("add", "swap", "sync")
WAKES = ("wait", "wake") * 4 + ("sync", "charge", "freeze", "thaw", "pair")


def symbols(elf):
    text = subprocess.run(["riscv64-unknown-elf-nm", elf], capture_output=True, text=True, check=True).stdout
    return {words[2]: int(words[0], 16) for words in map(str.split, text.splitlines()) if len(words) == 3}


class Programs(Machine):
    """A run of lists of operations, one for each hart. image: what lies in RAM from LISTS on before it."""

    def __init__(self, elf, lists, lines, **more):
        super().__init__(elf, len(lists), **more)
        self.trace_path = os.path.join(self.folder, "trace")
        self.command[self.command.index("-plugin") + 1] += f",trace={self.trace_path},lines={SHOWN_LINES}"
        code = symbols(elf)
        self.logged = [sum(name in LOGGED for name, _, _ in operations) for operations in lists]
        starts, at = [], FIRST_LIST
        for operations in lists:
            starts.append(at)
            at += OPERATION.size * len(operations)
        self.logs = []
        for count in self.logged:
            self.logs.append(at)
            at += 8 * count
        pad = [0] * (64 - len(lists))
        self.image = struct.pack("<130Q", *starts, *pad, *self.logs, *pad, len(lists), lines).ljust(FIRST_LIST - LISTS, b"\0") + b"".join(
            OPERATION.pack(code["op_" + name], a0, a1, 0) for operations in lists for name, a0, a1 in operations)
        assert at < RAM_BASE + (48 << 20), "too many operations for the RAM of a run"
        self.write(LISTS, self.image)

    def results(self, read):
        """The harts' logs; read(address, words): of this machine's RAM or of the model's."""
        return [list(read(at, count)) for at, count in zip(self.logs, self.logged)]

    def trace(self):
        """As Model.order."""
        with open(self.trace_path) as f:
            return [(int(clock), int(hart), kind, int(pc, 0)) for clock, hart, kind, pc in map(str.split, f)]
