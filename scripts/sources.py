"""The files of the project: those that git knows or would add. In a copy without git: everything
except products of builds and runs."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import shutil
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[1]
LEFT = ("build", "results")


def names():
    """Paths from the top of the tree, in order."""
    listed = subprocess.run(["git", "-C", TOP, "ls-files", "--cached", "--others", "--exclude-standard", "-z"], capture_output=True, check=False)
    if listed.returncode:
        found = [path.relative_to(TOP) for path in TOP.rglob("*")]
        return sorted(str(path) for path in found if (TOP / path).is_file() and path.parts[0] not in LEFT and "__pycache__" not in path.parts)
    return sorted(name for name in set(listed.stdout.decode().split("\0")) if name and (TOP / name).is_file())


def copy_to(folder):
    """folder: a path; made, with what is above it."""
    for name in names():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TOP / name, target)
