"""Drives lockbench.elf: parameter and result block as in protocol/lockbench.h."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import struct
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "scripts"), str(TOP / "tests" / "support")]
import schema  # noqa: E402
from hztest.clock_machine import Machine  # noqa: E402

ADDRESS = 0x80201000
MAGIC = 0x30484342434F4C5A
KINDS = schema.lock_kind_names()
EXCLUDING = schema.excluding_lock_kinds()


class Lockbench(Machine):
    def __init__(self, elf, harts, kind, think, section, spread=0, duration_ns=100000, seed=1, waits=0,
                 machine_harts=None, **more):
        super().__init__(elf, machine_harts or harts, **{"ram_mb": 16, **more}) # the model takes a copy
        self.harts = harts
        self.write(ADDRESS, struct.pack("<QIIIIIIQQ", MAGIC, harts, KINDS.index(kind), think, spread, section, waits,
                                        seed, duration_ns))

    def results(self):
        start, protected, total, finished = struct.unpack_from("<4Q", self.read(ADDRESS + 48, 32))
        counts = [self.words(ADDRESS + 128 + 64 * h, 4) for h in range(self.harts)]
        return {"start_ns": start, "sum": protected, "total": total, "finished": finished,
                "operations": [c[0] for c in counts], "wait_ns": [c[1] for c in counts],
                "end_ns": [c[3] for c in counts]}
