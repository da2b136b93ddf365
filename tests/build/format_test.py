"""C and C++ sources are as clang-format, with .clang-format, would write them. Another version of it writes other things."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import of_version  # noqa: E402

VERSION = 14
PROGRAM = of_version("clang-format", VERSION)
FOLDERS = ("bench", "firmware", "host-driver", "libthread", "protocol", "tests", "vclock")
SUFFIXES = (".c", ".h", ".cpp", ".hpp")


def sources():
    return sorted(str(path) for folder in FOLDERS for path in (TOP / folder).rglob("*") if path.suffix in SUFFIXES)


def findings(files):
    return subprocess.run([PROGRAM, "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False).stderr


@unittest.skipUnless(PROGRAM, f"clang-format {VERSION} is not installed")
class Format(unittest.TestCase):
    def test_the_sources(self):
        files = sources()
        self.assertGreater(len(files), 600)
        found = findings(files)
        self.assertFalse(found, "clang-format -i mends what it names:\n" + found[:4000])

    def test_a_planted_line_is_found(self):
        with tempfile.TemporaryDirectory(prefix="hz-format-") as folder:
            path = pathlib.Path(folder) / "planted.c"
            shutil.copy(TOP / ".clang-format", folder)
            path.write_text("int planted( int a );\n")
            self.assertIn("planted.c:1", findings([str(path)]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
