"""clang-tidy, with the checks of .clang-tidy, finds nothing in the C sources; and it would."""
# SPDX-License-Identifier: BSD-3-Clause
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import of_version  # noqa: E402

VERSION = 14
PROGRAM = of_version("clang-tidy", VERSION)
BUILD = pathlib.Path(os.environ["HARTZONE_BUILD"])
JOBS = int(os.environ.get("HARTZONE_JOBS", os.cpu_count()))
PLANTED = "int planted(int a);\nint planted(int a) { return a == 1 || a == 1; }\n"


def sources():
    """C files that the build compiles."""
    compiled = json.loads((BUILD / "compile_commands.json").read_text())
    return sorted({entry["file"] for entry in compiled if entry["file"].endswith(".c")})


def findings(paths, *words):
    """By one process: to start it takes longer than to read a file."""
    run = subprocess.run([PROGRAM, "--quiet", f"--config-file={TOP}/.clang-tidy", *words, *paths, *(["--"] if not words else [])],
                         capture_output=True, text=True, check=False)
    return run.stdout if run.returncode else ""


@unittest.skipUnless(PROGRAM, f"clang-tidy {VERSION} is not installed")
class Tidy(unittest.TestCase):
    def test_the_sources(self):
        files = sources()
        self.assertGreater(len(files), 100)
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            found = [text for text in pool.map(lambda first: findings(files[first::JOBS], f"-p={BUILD}"), range(min(JOBS, len(files)))) if text]
        self.assertFalse(found, "\n" + "\n".join(found))

    def test_a_planted_bug_is_found(self):
        with tempfile.TemporaryDirectory(prefix="hz-tidy-") as folder:
            path = pathlib.Path(folder) / "planted.c"
            path.write_text(PLANTED)
            self.assertIn("misc-redundant-expression", findings([path]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
