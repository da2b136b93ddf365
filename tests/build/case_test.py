"""C++ names have one case: types are PascalCase; functions, variables, members and constants are lower_case, with no k before them."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("bench", "host-driver", "tests")
SUFFIXES = (".cpp", ".hpp")
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'(?!\w)|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
# A line that declares: words of a type, of which the last is no keyword that a value or a type's name follows, then the name.
WORD = r"\w+(?:::\w+|<[^;(){}]*>)*[ *&]+"
KEYWORD = r"(?:case|class|concept|constexpr|else|enum|explicit|friend|inline|namespace|new|operator|return|struct|throw|typename|union|using)\b"
TYPE = rf"^[ \t]*(?:\[\[\w+\]\] )?(?:template <[^;(){{}}]*> )?(?:{WORD})*?(?!{KEYWORD}){WORD}"
DECLARED = re.compile(TYPE + r"(?:\w+::)*([A-Z]\w*)(?=\(| ?[;=\[{])", re.M)
ENUM = re.compile(r"\benum\b[^;{()]*\{([^}]*)\}")
CONSTANT = re.compile(r"\bk[A-Z]\w*")
MACRO = re.compile(r"[A-Z][A-Z0-9_]+")
# Names that GoogleTest, the fuzzer and RocksDB ask for.
GIVEN = re.compile(r"(?:SetUp|TearDown)(?:TestSuite)?|PrintTo|LLVMFuzzer\w+|kNoCompression")


def findings(text):
    """Line and name of declarations with the wrong case."""
    code = NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    found = [(match.start(1), match[1]) for match in DECLARED.finditer(code)
             if "override" not in re.match(r"[^;{}]*", code[match.end():])[0]]
    found += [(match.start(), match[0]) for match in CONSTANT.finditer(code)]
    for body in ENUM.finditer(code):
        found += [(body.start(1) + item.start(1), item[1]) for item in re.finditer(r"(?:^|,)\s*([A-Z]\w*)", body[1])]
    return sorted({(code.count("\n", 0, at) + 1, name) for at, name in found if not MACRO.fullmatch(name) and not GIVEN.fullmatch(name)})


class Case(unittest.TestCase):
    def test_the_sources(self):
        files = sorted(path for folder in FOLDERS for path in (TOP / folder).rglob("*") if path.suffix in SUFFIXES)
        self.assertGreater(len(files), 300)
        wrong = [f"{path.relative_to(TOP)}:{line} {name}" for path in files for line, name in findings(path.read_text(encoding="utf-8"))]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_planted_names_are_found(self):
        for line, name in (("void Planted(int a)", "Planted"), ("static std::vector<Op> W() { return {}; }", "W"),
                           ("\tint *Rig::Planted() const", "Planted"),
                           ("[[noreturn]] std::list<Row>::iterator At(int a)", "At"), ("template <typename F> void Each(F f)", "Each"),
                           ("constexpr int kPlanted = 1;", "kPlanted"), ("\tuint64_t Planted = 0;", "Planted"),
                           ("const Row Rows[] = {", "Rows"), ("enum Order { rising, Falling };", "Falling"), ("f(kPlanted);", "kPlanted")):
            self.assertIn((2, name), findings(f"\n{line}\n"), line)

    def test_other_lines_are_not(self):
        for line in ("class Rig : public Base {", "explicit Rig(int a)", "Rig::Rig(int a) : a_(a)", "TEST_F(Rig, Planted)", "using Op = int;",
                     "\treturn Rig(1);", "\tthrow Error{1};", "void SetUp() override", "void OnTestEnd(const TestInfo &info) override",
                     "Status NewFile(const Path &path,\n\t\tMade *result) override\n{",
                     "void PrintTo(const Row &row, std::ostream *out)", "// void Planted(int a)", 'says("void Planted(int a)");', "struct Row;",
                     "enum class Op : uint8_t { read, write };", "template <class T> struct Row {", "Rig rig(Config{});", "\toperator Rig() const",
                     "#define ROW(x) Row Rows[]", "typename T::Row row;"):
            self.assertEqual(findings(f"{line}\n"), [], line)


if __name__ == "__main__":
    unittest.main(verbosity=2)
