"""An installation: a C program builds and runs with what pkg-config says of libhartzone, the installed program runs by itself, and every
version is the same everywhere."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import STRICT  # noqa: E402

BUILD = pathlib.Path(os.environ["HARTZONE_BUILD"])
# The C interface from outside the tree: header, library, and through it firmware, plugin and daemon.
PROGRAM = """
#include <hartzone.h>
#include <stdio.h>

int main(void)
{
	struct hartzone_options options = {.workers = 1};
	struct hartzone_info info;
	hartzone_device *device = hartzone_launch(&options);
	int code = device ? hartzone_get_info(device, &info) : HARTZONE_ERROR;

	if (!code)
		printf("%u blocks in one command\\n", (unsigned)info.max_transfer);
	else
		puts(hartzone_error_text(code));
	return code || hartzone_close(device);
}
"""


def called(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        raise AssertionError(f"{shlex.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def cmake_says():
    """program, library and schema, as the top CMakeLists.txt says"""
    text = (TOP / "CMakeLists.txt").read_text()
    return [re.search(pattern, text)[1] for pattern in (r"project\(hartzone VERSION (\S+)", r"set\(HZ_LIBRARY_VERSION (\S+?)\)",
                                                        r"set\(HZ_RESULT_SCHEMA (\S+?)\)")]


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hz install ")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.scratch = pathlib.Path(cls.folder.name)
        cls.prefix = cls.scratch / "prefix"
        called("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.clean = {name: value for name, value in os.environ.items() if not name.startswith("HARTZONE_")}
        cls.clean["PKG_CONFIG_PATH"] = str(cls.prefix / "lib/pkgconfig")
        # One that is neither in the tree nor in PATH has no other way to be found.
        if "HARTZONE_VSOCK_DAEMON" in os.environ:
            cls.clean["HARTZONE_VSOCK_DAEMON"] = os.environ["HARTZONE_VSOCK_DAEMON"]

    def installed(self, *words):
        """The installed program, somewhere else, knowing nothing of the build."""
        return called(self.prefix / "bin/hartzone", *words, cwd=self.scratch, env=self.clean)

    def pkg_config(self, *words):
        return shlex.split(called("pkg-config", *words, "libhartzone", env=self.clean))

    def test_a_program_builds_and_runs_with_pkg_config(self):
        (self.scratch / "program.c").write_text(PROGRAM)
        called("cc", "-Wall", *STRICT, "program.c", "-o", "program", *self.pkg_config("--cflags", "--libs"),
               cwd=self.scratch, env=self.clean)
        run = called(self.scratch / "program", env={**self.clean, "LD_LIBRARY_PATH": str(self.prefix / "lib")})
        self.assertRegex(run, r"^\d+ blocks in one command\n$")

    def test_the_program_runs_with_what_is_installed(self):
        self.installed("run", "--device", "small", "--workload", "small", "--quick", "--out", self.scratch / "out")
        result = json.loads((self.scratch / "out" / "result.json").read_text())
        self.assertTrue(result["deterministic"], result["deterministic_reason"])
        self.assertEqual((result["violations"], result["schema"]), ([], cmake_says()[2]))

    def test_what_a_run_needs_is_installed(self):
        for name in ("lib/hartzone/firmware.elf", "lib/hartzone/libvclock.so", "share/hartzone/configs/devices/default.yaml",
                     "share/hartzone/traces/sqlite-wal.hzt.xz", "include/hartzone.h", "share/hartzone/LICENSE", "share/hartzone/device.schema.json", "share/man/man1/hartzone.1",
                     "share/bash-completion/completions/hartzone", "share/zsh/site-functions/_hartzone"):
            self.assertTrue((self.prefix / name).is_file(), name)
        self.assertNotIn(str(TOP), called("ldd", self.prefix / "bin/hartzone") + (self.prefix / "lib/pkgconfig/libhartzone.pc").read_text())

    def test_versions_are_the_same_everywhere(self):
        program, library, schema = cmake_says()
        self.assertEqual(self.installed("--version").splitlines(), [f"hartzone {program}", f"libhartzone {library}", f"result schema {schema}"])
        self.assertEqual(self.pkg_config("--modversion"), [library])
        self.assertTrue((self.prefix / f"lib/libhartzone.so.{library}").is_file())
        self.assertIn(f"[libhartzone.so.{library.split('.')[0]}]", called("readelf", "-d", self.prefix / "lib/libhartzone.so"))
        self.assertEqual(json.loads((TOP / "docs/result.schema.json").read_text())["properties"]["schema"]["const"], schema)
        self.assertIn(f"| `schema` | `{schema}` |", (TOP / "docs/reference/results.md").read_text())
        newest = re.search(r"^## (\S+).*\n\nlibhartzone (\S+), result schema `(\S+)`", (TOP / "CHANGELOG.md").read_text(), re.M)
        self.assertEqual(list(newest.groups()), [program, library, schema])


@unittest.skipUnless(shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps"), "dpkg-deb and dpkg-shlibdeps are not installed")
class Package(unittest.TestCase):
    """The package made by cpack, unpacked where no source tree is above it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="hz-package-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.scratch = pathlib.Path(cls.folder.name)
        called("cpack", "-B", cls.scratch, cwd=BUILD)
        cls.file, = cls.scratch.glob("hartzone_*.deb")
        called("dpkg-deb", "-x", cls.file, cls.scratch / "root")
        cls.program = cls.scratch / "root/usr/bin/hartzone"
        cls.clean = {name: value for name, value in os.environ.items()
                     if not name.startswith("HARTZONE_") or name in ("HARTZONE_QEMU", "HARTZONE_VSOCK_DAEMON")}

    def test_it_runs_and_calls_itself_by_its_name(self):
        out = self.scratch / "out"
        called(self.program, "run", "--device", "small", "--workload", "small", "--quick", "--out", out, cwd=self.scratch, env=self.clean)
        self.assertTrue(json.loads((out / "result.json").read_text())["deterministic"])
        for words in ((), ("run",), ("serve",), ("image", "check")):
            text = called(self.program, *words, "--help", env=self.clean)
            self.assertIn("hartzone " + " ".join(words), text)
            self.assertNotIn("./hartzone", text)
        wrong = subprocess.run([self.program, "run", "--no-such"], capture_output=True, text=True, check=False, env=self.clean)
        self.assertIn("(hartzone run --help has more)", wrong.stderr)
        served = called(self.program, "serve", "--device", "small", "--", self.program, "info", cwd=self.scratch, env=self.clean)
        self.assertIn("12 zones", served)

    def test_it_says_what_it_needs(self):
        fields = dict(line.split(": ", 1) for line in called("dpkg-deb", "-f", self.file).splitlines() if line and not line.startswith(" "))
        self.assertEqual((fields["Package"], fields["Version"]), ("hartzone", cmake_says()[0]))
        self.assertRegex(fields["Depends"], r"qemu-system-riscv \(>= 1:10\) .*libnvme1")
        for name in ("lib/hartzone/firmware.elf", "share/hartzone/LICENSE", "include/hartzone.h", "lib/pkgconfig/libhartzone.pc"):
            self.assertTrue((self.scratch / "root/usr" / name).is_file(), name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
