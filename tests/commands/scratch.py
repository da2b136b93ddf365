"""A copy of the tree in which printed commands run as a reader's would: the build is the suite's, everything else may be spoilt."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

MEMORY, MEMORY_BYTES = pathlib.Path("/dev/shm"), 8 << 30 # default folder of runs, and the room that
                                                         # they may need
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import sources  # noqa: E402


def place():
    """In memory, where a tree of 1,600 files is copied in no time; None: there is too little."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < MEMORY_BYTES:
        return None
    return MEMORY


class Scratch:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="hz-commands-", dir=place())
        self.tree = pathlib.Path(self.folder.name) / "hartzone"
        self.runs = tempfile.TemporaryDirectory(prefix="hz-commands-", dir=place())
        self.run_base = pathlib.Path(self.runs.name)
        sources.copy_to(self.tree)
        build = self.tree / "build"
        build.mkdir()
        for name in ("host", "firmware", "tools"):
            (build / name).symlink_to(TOP / "build" / name)
        for stamp in (".tools", ".built"): # both are there: the suite has built them
            (build / stamp).touch()
        self.before = self.files()

    def close(self):
        self.folder.cleanup()
        self.runs.cleanup()

    def files(self):
        """path → time of the last change, of everything outside the build and the results"""
        out = {}
        for folder, names, files in os.walk(self.tree):
            names[:] = [name for name in names if name not in ("build", "results", "__pycache__")]
            for name in files:
                path = pathlib.Path(folder) / name
                out[str(path.relative_to(self.tree))] = path.lstat().st_mtime_ns
        return out

    def run(self, command, **options):
        """A line of shell, as typed in the tree."""
        environment = {**os.environ, "HARTZONE_RUN_BASE": str(self.run_base), "HARTZONE_CACHE": str(self.tree / "build" / "cache")}
        for name in ("PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE"): # bytecode lies in this tree, as it does in a user's
            environment.pop(name, None)
        return subprocess.run(["bash", "-c", command], cwd=self.tree, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, **options)

    def changed(self):
        """Files that are new or different since the last call, results aside."""
        now = self.files()
        out = sorted(path for path in now if self.before.get(path) != now[path]) + sorted(path for path in self.before if path not in now)
        self.before = now
        return out
