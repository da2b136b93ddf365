"""scripts/mutate: what it finds in a text, and a sample of mutants of libthread of which most must be killed."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = TOP / "scripts" / "mutate"
sys.path.insert(0, str(TOP / "scripts"))
from mutation import cases, equivalent, find, plant  # noqa: E402
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


PROGRAM = """int printf(const char *, ...);

static int least(int a, int b)
{
	return a < b ? a : b;
}

int main(void)
{
	printf("%d", least(1, 2));
	return 0;
}
"""


class Finding(unittest.TestCase):
    def test_a_function_and_nothing_else(self):
        found = [(m.line, m.old.strip(), m.new) for m in find.mutants_of("libthread", "words.c", TEXT)]
        self.assertEqual(sorted(found), sorted([
            (10, "++", "--"), (10, "counter->calls++;", ";"), (11, "!", " "), (11, "||", "&&"), (11, "<", "<="), (11, "&&", "||"),
            (11, "!=", "=="), (11, "7", "8")]))


class Planting(unittest.TestCase):
    def test_one_program_has_all_mutants(self):
        mutants = dict(enumerate(find.mutants_of("libthread", "words.c", PROGRAM)))
        text, lines = plant.planted(PROGRAM, mutants)
        number = {mutant.text(): n for n, mutant in mutants.items()}
        with tempfile.TemporaryDirectory(prefix="hz-planted-") as folder:
            folder = pathlib.Path(folder)
            for name, words in (("words.c", text), ("mutant.h", plant.HEADER), ("mutant.c", plant.SOURCE % {"count": len(mutants)})):
                (folder / name).write_text(words)
            subprocess.run(["cc", "-w", "-include", "mutant.h", "words.c", "mutant.c", "-o", "words"], cwd=folder, check=True)
            seen = folder / "seen"
            seen.write_bytes(bytes(len(mutants)))
            say = lambda chosen: subprocess.run([folder / "words"], env={"HZ_MUTANT": str(chosen), "HZ_MUTANT_SEEN": str(seen)},
                                                capture_output=True, text=True, check=False).stdout
            self.assertEqual(say(-1), "1")
            self.assertEqual(seen.read_bytes(), b"\1" * len(mutants))
            self.assertEqual(say(number["words.c:5: `<` became `<=`"]), "1")
            self.assertEqual(say(number["words.c:10: `1` became `2`"]), "2")
            self.assertEqual(say(number['words.c:10: without `printf("%d", least(1, 2));`']), "")
        first, last = lines[number["words.c:5: `<` became `<=`"]]
        self.assertIn("a <= b", "\n".join(text.splitlines()[first - 1:last]))
        errors = f"/anywhere/source/words.c:{last}:1: error: no such thing\n"
        self.assertEqual(plant.blamed(errors, {"words.c": lines}), {number["words.c:5: `<` became `<=`"]})


SUITE = """#include <gtest/gtest.h>
extern "C" int least(int, int);
struct Words : testing::Test {
	static void SetUpTestSuite() { least(1, 1); }
};
TEST_F(Words, First) { EXPECT_EQ(least(1, 2), 1); }
TEST_F(Words, Second) {}
TEST(Others, Third) {}
"""


class Cases(unittest.TestCase):
    def test_each_tells_what_it_comes_to(self):
        text = PROGRAM[:PROGRAM.index("int main")].replace("static ", "")
        mutants = dict(enumerate(find.mutants_of("libthread", "words.c", text)))
        with tempfile.TemporaryDirectory(prefix="hz-cases-") as folder:
            folder = pathlib.Path(folder)
            counted = {"count": len(mutants)}
            for name, words in (("words.c", plant.planted(text, mutants)[0]), ("mutant.h", plant.HEADER), ("suite.cpp", SUITE),
                                ("mutant.c", plant.SOURCE % counted), ("cases.cpp", plant.CASES % counted)):
                (folder / name).write_text(words)
            for words in ("cc -include mutant.h -c words.c mutant.c", "c++ -include mutant.h -c cases.cpp suite.cpp",
                          " ".join(plant.WEAK) + " cases.o", "c++ words.o mutant.o cases.o suite.o -lgtest -lgtest_main -lpthread -o suite"):
                subprocess.run(words.split(), cwd=folder, check=True)
            subprocess.run([folder / "suite"], env={"HZ_MUTANT_CASES": str(folder / "told")}, stdout=subprocess.DEVNULL, check=True)
            found = {case.name: case.seen for case in cases.told("suite", (folder / "told").read_text())}
        self.assertEqual(found, {"Words.First": {0}, "Words.Second": {0}, "Others.Third": set()})

    def test_the_cheap_and_those_that_killed_neighbours_come_first(self):
        make = lambda name, seconds: cases.Case("program", name, seconds, frozenset())
        dear, cheap, killer = make("dear", 9), make("cheap", 1), make("killer", 3)
        order = [[case.name for case in portion] for _, portion in cases.batches([dear, cheap, killer], {"killer": 2})]
        self.assertEqual(order, [["killer"], ["cheap"], ["dear"]])
        self.assertEqual([portion for _, portion in cases.batches([dear, cheap], {}, 5)], [[cheap]])

    def test_which_case_failed(self):
        program = cases.Program(("words",))
        self.assertEqual(program.failed("[ RUN      ] A.B\n[       OK ] A.B\n[ RUN      ] A.C\n", ["A.B", "A.C", "A.D"]), "A.C")
        self.assertEqual(program.failed("[ RUN      ] A.B\n[  FAILED  ] A.B (1 ms)\n[ RUN      ] A.C\n[  SKIPPED ] A.C (0 ms)\n"
                                        "[  FAILED  ] A.B\n", ["A.B", "A.C"]), "A.B")
        self.assertEqual(program.failed("", ["A.B"]), "A.B")


class Equivalent(unittest.TestCase):
    def test_an_entry_names_a_mutant(self):
        mutants = list(find.mutants_of("libthread", "words.c", TEXT))
        entry = "words.c: return !a || (a «<» b && b != 7);\n\twhy\n\tso"
        judge = lambda listed: equivalent.among(mutants, listed, {"words.c": TEXT, "another_module.c": ""}.get)
        found, wrong = judge("# comment\n" + entry)
        self.assertEqual([mutant.text() for mutant in found], ["words.c:11: `<` became `<=`"])
        self.assertEqual(wrong, [])
        self.assertEqual(judge("words.c: «counter->calls++;»\n\twhy\n\n" + entry + "\n")[1], [])
        self.assertIn("no mutant is so", judge("words.c: return !a;\n\twhy")[1][0])
        self.assertIn("gives no reason", judge(entry.split("\n")[0])[1][0])
        self.assertEqual(judge("another_module.c: return !a;\n\twhy")[1], [])
        self.assertIn("there is no such file", judge("nowhere.c: return !a;\n\twhy")[1][0])

    def test_each_entry_fits_the_sources(self):
        run = subprocess.run([SCRIPT, "--list", "--count", "1"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)


class Sample(unittest.TestCase):
    def test_most_are_killed(self):
        with tempfile.TemporaryDirectory(prefix="hz-mutants-") as folder:
            out = pathlib.Path(folder) / "mutants.json"
            run = subprocess.run([SCRIPT, "--modules", "libthread", "--count", "12", "--seed", "1", "--least", "60", "--out", out],
                                 capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            mutants = json.loads(out.read_text())["mutants"]
            again = subprocess.run([SCRIPT, "--modules", "libthread", "--count", "12", "--seed", "1", "--known", __file__],
                                   capture_output=True, text=True, check=False)
        self.assertIn("is no result of scripts/mutate", again.stderr)
        self.assertEqual(len(mutants), 12)
        outcomes = {m["outcome"] for m in mutants}
        self.assertLessEqual(outcomes, {"killed", "survived", "does not compile", "same code"})
        self.assertIn("killed", outcomes)


class Refusing(unittest.TestCase):
    def test_wrong_words(self):
        for words, sentence in ((["--modules", "nosuch"], "'nosuch' is not one of"), (["--count", "0"], "--count and --jobs are 1 or more"),
                                (["--seconds", "0"], "--seconds is above 0"),
                                (["--least", "101"], "--least is 0 to 100")):
            run = subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 2)
            self.assertIn(sentence, run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
