"""Python sources: what ruff finds by ruff.toml, and the types of the package hartzone and of what studies share."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
RUFF = shutil.which("ruff", path=TOP / "build/tools/ruff/bin") or shutil.which("ruff")
MYPY = shutil.which("mypy")


def called(*words, folder=TOP):
    return subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, check=False)


@unittest.skipUnless(RUFF, "ruff is not installed (scripts/setup installs it)")
class Rules(unittest.TestCase):
    def findings(self, *words):
        return called(RUFF, "check", "--no-cache", "--config", TOP / "ruff.toml", "--output-format", "concise", *words)

    def test_the_sources(self):
        found = self.findings(".")
        self.assertEqual(found.returncode, 0, found.stdout[:4000] + found.stderr)
        self.assertGreater(len(called(RUFF, "check", "--no-cache", "--show-files", ".").stdout.splitlines()), 150)

    def test_a_planted_line_is_found(self):
        with tempfile.TemporaryDirectory(prefix="hz-ruff-") as folder:
            path = pathlib.Path(folder) / "planted.py"
            path.write_text("import os\n")
            self.assertIn("planted.py:1:8: F401", self.findings(path).stdout)


@unittest.skipUnless(MYPY, "mypy is not installed (scripts/setup installs it)")
class Types(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-mypy-")
        self.addCleanup(folder.cleanup)
        self.cache = folder.name

    def check(self, folder, *words):
        """Libraries have no types in Debian."""
        return called(MYPY, "--cache-dir", self.cache, "--ignore-missing-imports", "--disable-error-code", "import", *words, folder=folder)

    def test_the_package(self):
        found = self.check(TOP / "python", "--check-untyped-defs", "hartzone")
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    def test_what_studies_share(self):
        found = self.check(TOP / "studies", "common")
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    def test_what_makes_the_headers_of_a_device(self):
        found = self.check(TOP / "scripts", "--check-untyped-defs", "--follow-imports=silent", "device_keys.py", "device_json.py")
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    def test_a_planted_mistake_is_found(self):
        path = pathlib.Path(self.cache) / "planted.py"
        path.write_text("def half(n: int) -> int:\n    return n / 2\n")
        self.assertIn("planted.py:2: error", self.check(self.cache, path).stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
