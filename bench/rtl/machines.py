"""The two machines of bench rtl, and one program for both: RTL in a simulator (build/rtl/CONFIG), and QEMU under the virtual clock."""
# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

from common import runs
from hztest.clock_machine import Machine

TOP = pathlib.Path(__file__).resolve().parents[2]
HERE, BUILD, WHEELS = TOP / "bench" / "rtl", TOP / "build" / "rtl", TOP / "build" / "tools" / "rocket"
JOBS = int(os.environ.get("HARTZONE_JOBS") or os.cpu_count())
RAM, BLOCK = 0x80000000, 0x80300000   # program/block.h
MOST_RESULTS, OF_SCENE = 500, 9
MOST_CYCLES = 20_000_000
SCENES = ("core", "access", "stream", "handover", "fanout", "walk", "crowd", "queue", "lock")
VERILOG, TOP_MODULE = "pythondata_cpu_rocket/verilog/", "ExampleRocketSystem"
SYSTEM = "generated-src/freechips.rocketchip.system."
BESIDE = ("vsrc/plusarg_reader.v", "vsrc/AsyncResetReg.v", "vsrc/EICG_wrapper.v")
VERILATOR = ["verilator", "--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "-Wno-fatal", "-Wno-lint",
             "-Wno-style", "-Wno-STMTDLY", "+define+PRINTF_COND=0", "+define+STOP_COND=0", "--output-split", "15000",
             "--output-split-cfuncs", "1500", "--top-module", TOP_MODULE, "--prefix", "Vrocket", "-CFLAGS", "-std=c++20", "-o", "machine"]
# Of libthread: the kinds of locks, and their dependencies.
LIBTHREAD = [f"locks/{name}.c" for name in ("tas", "ttas", "ticket", "mcs", "clh", "backoff", "cohort", "combine", "none", "rw", "seq", "word")] + ["src/arena.c"]
FLAGS = ["-march=rv64imac_zicsr_zifencei", "-mabi=lp64", "-mcmodel=medany", "-O3", "-std=c11", "-ffreestanding", "-nostdlib", "-static",
         "-fno-common", "-Wall", "-Wextra", "-Werror", "-Wl,--no-warn-rwx-segments"]
PROGRAMS = {  # instructions of accesses to shared words → flags; `clock` is the program for the
              # virtual clock
    "plain": ["-I", HERE / "program/on_rtl"],
    "lr": ["-I", HERE / "program/on_rtl", "-DSHARED_BY_LR"],
    "clock": ["-I", HERE / "program/on_clock", "-I", TOP / "libthread/port/riscv"],
}


def quietly(words, log, what, **more):
    """Runs a command; its output goes to a log; the end of the log is shown on failure."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8") as file:
        code = subprocess.run(list(map(str, words)), stdout=file, stderr=subprocess.STDOUT, check=False, **more).returncode
    if code:
        print("\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]), file=sys.stderr)
        raise runs.StudyError(f"{what} failed; {log} has all that it printed")


def together(function, items, done=lambda: None):
    """Applies function to each item, with as many in parallel as there are jobs."""
    def one(item):
        result = function(item)
        done()
        return result
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(one, items))


# --- the programs ---
def build_program(name):
    out = BUILD / "programs" / f"{name}.elf"
    sources = [HERE / "program" / f for f in ("start.S", "program.c", "micro.c", "locks.c")]
    sources += [TOP / "libthread" / f for f in LIBTHREAD] + [TOP / "firmware/platform/string.c"]
    folders = [HERE / "program", TOP / "libthread/include", TOP / "libthread/locks", TOP / "protocol", TOP / "firmware/platform/libc"]
    quietly(["riscv64-unknown-elf-gcc", *FLAGS, *PROGRAMS[name], *(w for f in folders for w in ("-I", f)),
             "-T", HERE / "program/memory.ld", *sources, "-lgcc", "-o", out], BUILD / "programs" / f"{name}.log", f"compiling the program '{name}'")
    return out


def image_of(elf):
    """RAM as a loader leaves it, up to the block."""
    out = elf.with_suffix(".bin")
    subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", elf, out], check=True)
    return out.read_bytes().ljust(BLOCK - RAM, b"\0")


def block(scene, harts, words):
    return struct.pack(f"<{3 + OF_SCENE}Q", 0, SCENES.index(scene), harts, *words, *[0] * (OF_SCENE - len(words)))


# --- the RTL ---
# Of the package whose hash requirements.txt has, those with more than one hart.
CONFIGURATIONS = ("LitexFull4DConfig", "LitexFull4QConfig", "LitexLinux2DConfig", "LitexLinux2QConfig", "LitexLinux4Config")


def wheel():
    """The package with the Verilog; pip looks at its hash, and loads it where it is not there yet."""
    found = sorted(WHEELS.glob("pythondata_cpu_rocket-*.whl"))
    if not found or f"sha256:{hashlib.sha256(found[0].read_bytes()).hexdigest()}" not in (HERE / "requirements.txt").read_text():
        say("fetching the Verilog of Rocket (41 MB) from the Python registry")
        quietly([sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--require-hashes",
                 "-r", HERE / "requirements.txt", "-d", WHEELS], BUILD / "fetch.log", "pip download")
        found = sorted(WHEELS.glob("pythondata_cpu_rocket-*.whl"))
    return found[0]


def harts_of(package, name):
    return len(re.findall(r'device_type = "cpu"', package.read(f"{VERILOG}{SYSTEM}{name}.dts").decode()))


def say(text):
    print(f"bench rtl: {text}", file=sys.stderr, flush=True)


class Chip:
    """A configuration in a simulator. Answers are cached: the same program takes the same cycles.
    """

    def __init__(self, name, latency, accesses):
        self.name, self.latency = name, latency
        self.folder = BUILD / name
        with zipfile.ZipFile(wheel()) as package:
            self.harts = harts_of(package, name)
            files = [f"{SYSTEM}{name}.v", f"{SYSTEM}{name}.behav_srams.v", *BESIDE]
            for file in files:
                if not (self.folder / VERILOG / file).exists():
                    package.extract(VERILOG + file, self.folder)
        self.machine = self.built([self.folder / VERILOG / file for file in files])
        self.image = image_of(build_program(accesses))
        stamp = hashlib.sha256(self.image + self.machine.read_bytes()).hexdigest()[:16]
        self.kept = self.folder / "kept" / f"{stamp}-{latency}"
        self.kept.mkdir(parents=True, exist_ok=True)

    def built(self, sources):
        setup = TOP / "scripts" / "setup"
        if not shutil.which("verilator"):
            subprocess.run([setup, "--verilator"], check=True)
        made, objects = self.folder / "made", self.folder / "objects"
        stamp = hashlib.sha256(wheel().name.encode() + (HERE / "machine.cpp").read_bytes() + repr(VERILATOR).encode()).hexdigest()
        if made.exists() and made.read_text() == stamp:
            return objects / "machine"
        if not (objects / "Vrocket.mk").exists():
            say(f"translating the Verilog of {self.name} (verilator; 15 s of a free core)")
            quietly([*VERILATOR, "--Mdir", objects, *sources, HERE / "machine.cpp"], self.folder / "verilator.log", "verilator")
        say(f"compiling {self.name} (100 s of a free core)")
        quietly(["make", f"-j{JOBS}", "-C", objects, "-f", "Vrocket.mk", "OPT_FAST=-O2", "OPT_SLOW=-O1", "OPT_GLOBAL=-O2", "CXX=clang++",
                 "LINK=clang++"], self.folder / "make.log", f"compiling {self.name}")
        made.write_text(stamp)
        return objects / "machine"

    def ask(self, scene, harts, words):
        kept = self.kept / f"{scene}-{harts}-{'-'.join(map(str, words))}.json"
        if not kept.exists():
            answers = self.simulate(scene, harts, words)
            new = kept.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(answers))
            new.rename(kept)
        return json.loads(kept.read_text())

    def simulate(self, scene, harts, words):
        with tempfile.NamedTemporaryFile(prefix="hz-rtl-") as image:
            image.write(self.image + block(scene, harts, words) + bytes(8 * (1 + MOST_RESULTS)))
            image.flush()
            run = subprocess.run([self.machine, str(self.latency), str(MOST_CYCLES), image.name], capture_output=True, text=True, check=False)
        lines = run.stdout.splitlines()
        if run.returncode or len(lines) != 2:
            raise runs.StudyError(f"scene {scene} {words} on {harts} harts of {self.name} ended with {run.returncode}: {run.stdout[-200:]}{run.stderr[-200:]}")
        return [int(word) for word in lines[0].split()]


# --- the virtual clock ---
class Clock:
    """QEMU with a set of costs: `options` of the plugin."""

    def __init__(self, plugin, options):
        self.plugin, self.options = plugin, [*options, "mhz=1000"]
        self.elf = build_program("clock")

    def ask(self, scene, harts, words):
        with Machine(str(self.elf), harts, plugin=self.plugin, options=self.options, ram_mb=16) as m:
            m.write(BLOCK, block(scene, harts, words))
            code = m.run(timeout=1200)
            ended, count = m.words(BLOCK, 1)[0], m.words(BLOCK + 8 * (3 + OF_SCENE), 1)[0]
            if code or ended:
                raise runs.StudyError(f"scene {scene} {words} on {harts} harts of the virtual clock ended with {code or ended}: {m.output.strip()}")
            return list(m.words(BLOCK + 8 * (4 + OF_SCENE), count))
