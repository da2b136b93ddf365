"""C and C++ sources are as clang-format, with .clang-format, would write them. Another version of it writes other things."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
VERSION = "14"
FOLDERS = ("bench", "firmware", "host-driver", "libthread", "protocol", "tests", "vclock")
SUFFIXES = (".c", ".h", ".cpp", ".hpp")


def program():
    """clang-format of the right version, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(name):
            said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
            if re.search(rf"version {VERSION}\.", said):
                return name
    return None


def sources():
    return sorted(str(path) for folder in FOLDERS for path in (TOP / folder).rglob("*") if path.suffix in SUFFIXES)


def findings(files):
    return subprocess.run([program(), "--dry-run", "-Werror", *files], capture_output=True, text=True, check=False).stderr


@unittest.skipUnless(program(), f"clang-format {VERSION} is not installed")
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
