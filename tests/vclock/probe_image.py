"""Builds and drives the probe image: scenes, parameters and results as in probe/probe.c."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from hztest.clock_machine import Machine  # noqa: E402
from hztest.needs import STRICT  # noqa: E402

SCENES = ("order deadline ping host charge deadlock compute spin parked halted race clean fenced speed ended late "
          "flush wfi spinlock unfrozen mmio take bulk marked").split()
PARAMETERS, RESULTS, BELL, QUESTION, JOBS = 0x80300000, 0x80301000, 0x80303000, 0x80303040, 0x80304000


def build(folder, *sources):
    """Compiles sources of the folder probe; without any, the probe image."""
    sources = sources or ("start.S", "probe.c")
    elf = os.path.join(folder, os.path.splitext(sources[-1])[0] + ".elf")
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv64imac_zicsr_zifencei", "-mabi=lp64", "-mcmodel=medany", "-O2",
                    "-ffreestanding", "-nostdlib", "-static", "-Wall", "-Wextra", *STRICT,
                    "-I", os.path.join(HERE, "../../protocol"), "-Wl,-T," + os.path.join(HERE, "probe/probe.ld"),
                    "-Wl,--no-warn-rwx-segments", *(os.path.join(HERE, "probe", s) for s in sources), "-o", elf], check=True)
    return elf


class Probe(Machine):
    def __init__(self, elf, scene, harts, rounds=100, think=200, seed=1, **more):
        super().__init__(elf, harts, **more)
        self.harts = harts
        self.write(PARAMETERS, struct.pack("<5Q", SCENES.index(scene), harts, rounds, think, seed))

    def values(self):
        return self.words(RESULTS + 8, self.harts)

    def log(self, count):
        return self.words(RESULTS + 8 + 64 * 8, count)
