"""Requirements of a test."""
# SPDX-License-Identifier: BSD-3-Clause
import functools
import os
import re
import shutil
import subprocess
import sys

HANG_S = 1800  # longer than any load explains: a test that waits so long has found a hang
QEMU = os.environ.get("HARTZONE_QEMU", "qemu-system-riscv64")
MIN_QEMU = (10, 0)
# For a compiler that a test calls: its warnings are errors where they are in the build (./hartzone test --strict).
STRICT = ["-Werror"] if os.environ.get("HARTZONE_STRICT") else []


def qemu_problem():
    """None if QEMU is there and new enough, else the sentence to skip with."""
    if not shutil.which(QEMU):
        return f"{QEMU} is not installed"
    text = subprocess.run([QEMU, "--version"], capture_output=True, text=True).stdout
    words = text.split("version", 1)[-1].split()
    version = tuple(int(n) for n in words[0].split(".")[:2]) if words else (0, 0)
    if version < MIN_QEMU:
        return f"{QEMU} {words[0]} is older than 10.0"
    return None


def of_version(name, version):
    """The name under which that version of a program is there, or None: of clang's tools another one finds other things."""
    for program in filter(shutil.which, (f"{name}-{version}", name)):
        if re.search(rf"version {version}\.", subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout):
            return program
    return None


def fio_problem():
    """None if fio is there, and our engine that was built for it, else the sentence to skip with."""
    if not shutil.which("fio"):
        return "fio is not installed (scripts/setup installs it)"
    if not os.path.exists(os.environ.get("HARTZONE_FIO_ENGINE", "")):
        return "the engine for fio is not built: its headers are missing (build/setup-fio.log says why scripts/setup could not fetch them)"
    return None


HAS_MODULES = "import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ('matplotlib', 'yaml'))))"


@functools.cache
def study_python():
    """A python3 with the modules of the studies, or None; Debian's has them even where another comes first in PATH."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", HAS_MODULES], capture_output=True, check=False).returncode == 0:
            return python
    return None


def run_by_study_python():
    """For scripts that import studies: begins again under an interpreter that can."""
    python = study_python()
    if python and python != sys.executable:
        os.execv(python, [python, *sys.argv])


def device_problem(*built):
    """The sentence to skip a test with that runs devices or studies, else "". built: environment variables that name a file each."""
    return qemu_problem() or ("" if study_python() else "python3-matplotlib and python3-yaml are not installed") or next(
        (f"{os.environ.get(v, v)} is not built" for v in built or ("HARTZONE_FIRMWARE", "HARTZONE_PLUGIN", "HARTZONE_DRIVER")
         if not os.path.exists(os.environ.get(v, ""))), "")
