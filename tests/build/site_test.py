"""The site of the documents: mkdocs builds it without a warning, every page is in its navigation, and search finds words of every part."""
# SPDX-License-Identifier: BSD-3-Clause
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("HARTZONE_SITE_PYTHON", sys.executable)  # one that has what docs/requirements.txt names
THERE = PYTHON != sys.executable or all(map(importlib.util.find_spec, ("mkdocs", "material")))


class Site(unittest.TestCase):
    def test_every_page_is_in_the_navigation_once(self):
        named = re.findall(r"^ +- [^:\n]+: (\S+\.md)$", (TOP / "mkdocs.yml").read_text().partition("\nnav:\n")[2], re.M)
        pages = {path.relative_to(TOP / "docs").as_posix() for path in TOP.glob("docs/**/*.md")}
        self.assertEqual(len(named), len(set(named)))
        self.assertEqual(pages - set(named), set())
        for name in set(named) - pages:
            self.assertTrue((TOP / name).is_file(), name)

    @unittest.skipUnless(THERE, "mkdocs-material is not installed: pip install -r docs/requirements.txt")
    def test_it_builds_without_a_warning(self):
        with tempfile.TemporaryDirectory(prefix="hz-site-") as folder:
            run = subprocess.run([PYTHON, "-m", "mkdocs", "build", "--strict", "--site-dir", folder], cwd=TOP, capture_output=True, text=True, check=False,
                                 env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertNotRegex(run.stdout + run.stderr, "WARNING|ERROR")
            site = pathlib.Path(folder)
            found = json.loads((site / "search/search_index.json").read_text())["docs"]
            for word, page in (("elasticities", "explain.html"), ("power-cut-at", "reference/cli.html"), ("staged", "internals/write-path.html")):
                self.assertTrue(any(one["location"].startswith(page) and word in one["text"] for one in found), (word, page))
            self.assertIn('class="mermaid"', (site / "internals/architecture.html").read_text())
            self.assertIn('href="../studies/RESULTS.html"', (site / "guide/papers.html").read_text())
            self.assertNotIn("\\|", re.sub(r"<pre.*?</pre>|<script.*?</script>", "", (site / "reference/traces.html").read_text(), flags=re.S))


if __name__ == "__main__":
    unittest.main(verbosity=2)
