"""The same sources and compiler give the same firmware images and the same plugin: in other folders, for another user, without ccache."""
# SPDX-License-Identifier: BSD-3-Clause
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
FIRMWARE_SOURCES = ["CMakeLists.txt", "CMakePresets.json", "scripts", "protocol", "libthread", "firmware"]
HOST_SOURCES = FIRMWARE_SOURCES + ["host-driver", "vclock", "bench", "tests", "examples", "LICENSE"]
# Settings of another user. The image is for another machine, so flags for host programs must not
# affect it.
OTHER_USER = {"HOME": "/nonexistent", "TZ": "Asia/Tokyo", "LC_ALL": "C", "CFLAGS": "-O1 -DNOT_MINE", "LDFLAGS": "-Wl,-s"}


def copied(folder, sources):
    folder.mkdir(parents=True)
    for name in sources:
        (shutil.copytree if (TOP / name).is_dir() else shutil.copy)(TOP / name, folder / name)
    return folder


def run(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env={**os.environ, "CCACHE_DISABLE": "1", **environment}, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)} in {folder}: {done.stdout[-3000:]}{done.stderr[-3000:]}")


def built(folder, preset, targets, environment):
    run(["cmake", "--preset", preset, "-B", "out"], folder, environment)
    run(["ninja", "-C", "out", "-j", os.environ.get("HARTZONE_JOBS", str(os.cpu_count())), *targets], folder, environment)
    return folder / "out"


def firmware_in(folder, environment):
    return hashes(built(copied(folder, FIRMWARE_SOURCES), "firmware", [], environment))


def hashes(build_folder):
    folder = build_folder / "firmware"
    return {path.name: sha256(path) for path in [folder / "main" / "firmware.elf", *sorted((folder / "images").glob("*.elf"))]}


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Reproducible(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hz-build-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def test_firmware(self):
        mine = hashes(pathlib.Path(os.environ["HARTZONE_FIRMWARE_DIR"]))
        self.assertIn("firmware.elf", mine)
        self.assertEqual(firmware_in(self.scratch / "a folder, deeper" / "two", OTHER_USER), mine)

    def test_plugin(self):
        out = built(copied(self.scratch / "tree", HOST_SOURCES), "host", ["hz_vclock"], {"HOME": "/nonexistent"})
        self.assertEqual(sha256(out / "vclock" / "libvclock.so"), sha256(pathlib.Path(os.environ["HARTZONE_PLUGIN"])))


if __name__ == "__main__":
    unittest.main(verbosity=2)
