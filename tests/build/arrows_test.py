"""scripts/arrows: each rule against a planted breach in a small tree, and cases that are no breach.
"""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "arrows"
LAYERS = """# lowest first
low
mid  : low
side : low
top  : low mid

contract low/port.h  each board defines it
# Still to be cut
"""
FILES = {
    "low/base.h": "int base_count(int a);\nstatic inline int base_twice(int a) { return 2 * a; }\n",
    "low/base.c": '#include "base.h"\n\nint base_count(int a)\n{\n\treturn a + 1;\n}\n',
    "low/port.h": "void port_stop(void);\n",
    "mid/mid.h": "struct mid { int top_run; };\nint mid_run(struct mid *m);\n",
    "mid/mid.c": """#include "mid/mid.h"

#include "low/base.h"

/* top_run() is in a comment */
static int own(struct mid *top_end)
{
	return top_end->top_run;
}

int mid_run(struct mid *m)
{
	const char *words = "top_run(m)";
	int one = base_count(1), far_run = 2, *top_end = &far_run;

	m->top_run = far_run + *top_end + one;
	return own(m) + base_twice(m->top_run) + (words != 0);
}
""",
    "side/side.h": "int side_run(int a);\n",
    "side/side.c": '#include "side.h"\n\nint side_run(int a)\n{\n\treturn a;\n}\n',
    "top/far.h": "int far_run(int a);\n",
    "top/far.c": '#include "far.h"\n\nint far_run(int a)\n{\n\treturn a;\n}\n',
    "top/top.h": "int top_run(int a);\nvoid top_end(void);\n",
    "top/top.c": """#include "top.h"

#include "low/port.h"
#include "mid/mid.h"

int top_run(int a)
{
	struct mid m = { a };

	return mid_run(&m);
}

void top_end(void)
{
	port_stop();
}
""",
    "top/board.c": '#include "low/port.h"\n\nvoid port_stop(void)\n{\n}\n',
}


class Arrows(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hz-arrows-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for name, text in FILES.items():
            self.write(name, text)
        self.write("docs/layers.txt", LAYERS)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def append(self, name, text):
        self.write(name, (self.root / name).read_text() + text)

    def arrows(self, *words):
        return subprocess.run([sys.executable, str(SCRIPT), "--root", str(self.root), *words], capture_output=True, text=True, check=False)

    def assert_clean(self):
        done = self.arrows("--check")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def assert_broken(self, *sentences):
        """These and no others."""
        done = self.arrows("--check")
        told = done.stdout.replace(str(self.root) + "/", "").splitlines()
        self.assertEqual(sorted(told), sorted(sentences))
        self.assertEqual(done.returncode, 1)

    def test_a_tree_that_keeps_the_rules(self):
        self.assert_clean()

    def test_an_include_that_goes_up(self):
        self.append("low/base.c", '#include "mid/mid.h"\n')
        self.assert_broken("low/base.c:7: includes mid/mid.h, but mid lies above low")

    def test_a_table_that_lies_above(self):
        self.write("mid/table.def", "MID_FIELD(top_run(), far_run)\n")
        self.append("mid/mid.c", '#include "mid/table.def"\n')
        self.assert_clean()
        self.append("low/base.c", '#include "mid/table.def"\n')
        self.assert_broken("low/base.c:7: includes mid/table.def, but mid lies above low")

    def test_a_call_that_goes_up(self):
        self.append("mid/mid.c", "int far_run(int a);\nint mid_more(void) { return far_run(1); }\n")
        self.assert_broken("mid/mid.c:20: uses far_run of top/far.c, but top lies above mid")

    def test_a_function_as_a_value(self):
        self.append("mid/mid.c", "int far_run(int a);\nstruct ops { int (*run)(int a); };\nconst struct ops mid_ops = { .run = far_run };\n")
        self.assert_broken("mid/mid.c:21: uses far_run of top/far.c, but top lies above mid")

    def test_a_call_in_a_macro(self):
        self.append("mid/mid.h", "#define MID_STOP(x) \\\n\tdo { far_run(1); } while (x)\n")
        self.assert_broken("mid/mid.h:4: uses far_run of top/far.c, but top lies above mid")

    def test_an_arrow_down_that_nobody_allowed(self):
        self.append("side/side.c", '#include "mid/mid.h"\n')
        self.assert_broken("side/side.c:7: includes mid/mid.h, but side may not use mid")

    def test_a_header_for_its_folder(self):
        self.append("mid/mid.h", "int other_run(int a);\n")
        self.write("mid/other.c", "int other_run(int a)\n{\n\treturn a;\n}\n")
        self.assert_clean()

    def test_a_header_for_another_folder(self):
        self.append("mid/mid.h", "int other_run(int a);\n")
        self.write("low/other.c", "int other_run(int a)\n{\n\treturn a;\n}\n")
        self.assert_broken("mid/mid.h:3: declares other_run, but low/other.c defines it")

    def test_a_declaration_of_nothing(self):
        self.append("mid/mid.h", "extern int mid_gone;\n")
        self.assert_broken("mid/mid.h:3: declares mid_gone, but no file defines it")

    def test_a_contract_that_needs_none(self):
        self.append("docs/layers.txt", "contract mid/mid.h for nothing\n")
        self.assert_broken("docs/layers.txt:9: mid/mid.h needs no exception: its folder defines all that it declares")

    def test_what_a_contract_declares_belongs_to_its_folder(self):
        self.append("mid/mid.c", "int mid_more(void) { port_stop(); return 0; }\n")
        self.assert_clean()

    def test_a_circle_within_a_folder(self):
        for i in range(9):
            self.write(f"mid/ring{i}.c", f"int ring{i}(void)\n{{\n\treturn ring{(i + 1) % 9}();\n}}\n")
        self.assert_clean()

    def test_a_circle_that_leaves_its_folder(self):
        self.append("mid/mid.c", "int mid_more(void) { return top_run(1); }\n")
        self.assert_broken("mid/mid.c:19: uses top_run of top/top.c, but top lies above mid",
                           "mid/mid.c:19: a circle of calls that leaves its folder: mid/mid.c, top/top.c")

    def test_a_long_function(self):
        self.append("mid/mid.c", "static int lines(void)\n{\n" + "\tbase_twice(1);\n" * 78 + "}\n")
        self.assert_broken("mid/mid.c:19: lines has 81 lines, more than 80")

    def test_a_long_file(self):
        self.append("mid/mid.c", "\n" * 783)
        self.assert_broken("mid/mid.c:801: the file has 801 lines, more than 800")

    def test_a_folder_that_is_not_listed(self):
        self.write("mid/deep/deep.c", "int deep;\n")
        self.assert_clean()  # a part of mid
        self.write("docs/layers.txt", LAYERS.replace("top  :", "mid/flat : low\ntop  :"))
        self.assert_broken("mid/deep/deep.c:1: layers.txt does not name the folder")

    def test_what_is_still_to_be_cut(self):
        self.append("low/base.c", '#include "mid/mid.h"\n')
        self.append("docs/layers.txt", "cut arrow low/base.c mid/mid.h\n")
        self.assert_clean()
        self.write("low/base.c", FILES["low/base.c"])
        self.assert_broken("docs/layers.txt:9: `arrow low/base.c mid/mid.h` is cut: take the line out of the list")

    def test_update_writes_the_list(self):
        self.append("low/base.c", '#include "mid/mid.h"\n')
        self.append("docs/layers.txt", "cut long mid/mid.c\n")
        self.assertEqual(self.arrows("--update").returncode, 0)
        self.assertEqual((self.root / "docs/layers.txt").read_text(), LAYERS + "cut arrow low/base.c mid/mid.h\n")
        self.assert_clean()

    def test_layers_that_cannot_be(self):
        for line, why in (("low : mid", "low is there twice"), ("new : gone", "new may not use gone: no line above this one names such a folder"),
                          ("new low", "`new : what it may use` is expected, with blanks around the colon"),
                          ("contract low/base.h", "too few or too many words after `contract`: a contract is a header and a reason")):
            self.write("docs/layers.txt", LAYERS + line + "\n")
            done = self.arrows("--check")
            self.assertEqual((done.returncode, done.stderr), (2, f"arrows: {self.root}/docs/layers.txt:9: {why}\n"))

    def test_the_table(self):
        shown = self.arrows().stdout
        self.assertIn("top: 5 files, 30 lines\n    -> low                          2 includes    1 uses\n    -> mid ", shown)
        self.assertIn("side: 2 files, 7 lines\n    allowed, but not used: low\n", shown)
        self.assertIn("side/side.c:1: includes side/side.h", self.arrows("side/side.c").stdout)

    def test_plus_plus(self):
        self.write("side/side.hpp", "#pragma once\nnamespace side {\nclass Thing {\npublic:\n\texplicit Thing(int a) : a_{a} {}\n"
                   "\tint top_run() const { return a_; }\nprivate:\n\tint a_;\n};\nint weight(const Thing &t);\n} // namespace side\n")
        self.write("side/side.cpp", '#include "side.hpp"\n\nnamespace {\nint own(int a) { return a; }\n}\n\nnamespace side {\n'
                   "int weight(const Thing &t) { return own(t.top_run()); }\n}\n")
        self.assert_clean()
        self.write("side/other.cpp", (self.root / "side/side.cpp").read_text())
        self.write("side/side.cpp", '#include "side.hpp"\n')
        self.assert_clean()
        self.write("low/other.cpp", "namespace side {\nclass Thing;\nint weight(const Thing &) { return 1; }\n}\n")
        self.write("side/other.cpp", "")
        self.assert_broken("side/side.hpp:10: declares weight, but low/other.cpp defines it")


if __name__ == "__main__":
    unittest.main()
