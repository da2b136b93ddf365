"""scripts/mutate: what it finds in a text, and a sample of mutants of libthread of which most must be killed."""
# SPDX-License-Identifier: BSD-3-Clause
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = TOP / "scripts" / "mutate"
TEXT = """#define LIMIT (1 < 2)
static const int table[] = { 1 + 2 };
enum { A = 1 };

/* a < b */
static bool below(int a, int b)
{
	const char *words = "a < b && c";

	counter->calls++;
	return !a || (a < b && b != 7);
}
"""


def load():
    loader = importlib.machinery.SourceFileLoader("mutate", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
    sys.modules["mutate"] = module
    loader.exec_module(module)
    return module


class Finding(unittest.TestCase):
    def test_a_function_and_nothing_else(self):
        mutate = load()
        with tempfile.NamedTemporaryFile("w", suffix=".c", dir=TOP / "build") as file:
            file.write(TEXT)
            file.flush()
            found = [(m.line, m.old.strip(), m.new) for m in mutate.mutants_of("libthread", pathlib.Path(file.name))]
        self.assertEqual(sorted(found), sorted([
            (10, "++", "--"), (10, "counter->calls++;", ""), (11, "!", " "), (11, "||", "&&"), (11, "<", "<="), (11, "&&", "||"),
            (11, "!=", "=="), (11, "7", "8")]))


class Sample(unittest.TestCase):
    def test_most_are_killed(self):
        with tempfile.TemporaryDirectory(prefix="hz-mutants-") as folder:
            out = pathlib.Path(folder) / "mutants.json"
            run = subprocess.run([SCRIPT, "--modules", "libthread", "--count", "12", "--seed", "1", "--least", "60", "--out", out],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            mutants = json.loads(out.read_text())["mutants"]
        self.assertEqual(len(mutants), 12)
        outcomes = {m["outcome"] for m in mutants}
        self.assertLessEqual(outcomes, {"killed", "survived", "does not compile", "same code"})
        self.assertIn("killed", outcomes)


class Refusing(unittest.TestCase):
    def test_wrong_words(self):
        for words, sentence in ((["--modules", "nosuch"], "'nosuch' is not one of"), (["--count", "0"], "--count and --jobs are 1 or more"),
                                (["--least", "101"], "--least is 0 to 100")):
            run = subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 2)
            self.assertIn(sentence, run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
