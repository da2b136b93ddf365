"""Rules for every file of the tree: a first line that names its subject, whole lines, and documents
with valid references."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import sources  # noqa: E402

LICENCE = "SPDX-License-" "Identifier: BSD-3-Clause"  # in two pieces: this line is not the file's own
WIDTH = 100  # of Markdown lines; rows of tables cannot be broken
NOT_TEXT = (".xz", ".png")
OPENING = {".c": ("/* ", "// "), ".h": ("/* ", "// "), ".cpp": ("// ", "/* "), ".hpp": ("// ", "/* "), ".S": ("/* ", "# "), ".def": ("/* ",), ".ld": ("/* ",),
           ".py": ('"""', "#!"), ".cmake": ("# ",), ".txt": ("# ", "cmake_minimum_required"), ".yaml": ("# ",), ".md": ("# ",)}
SOURCES = (*(suffix for suffix in OPENING if suffix not in (".md", ".txt", ".yaml")), ".in")
SCRIPTS = ("CMakeLists.txt", "hartzone", "setup", "record-trace", "update-cli", "update-docs", "run")
# A file named in running text: with a folder, or a document.
NAMED = re.compile(r"(?<![\w./<*-])((?:[\w.-]+/)*[\w.-]+\.(?:md|c|h|cpp|hpp|py|yaml|cmake|txt|S))(?![\w/*-])")
# Comments, and strings, so that what is in a string is no comment.
COMMENT = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)
STAND_INS = re.compile(r"\b(?:told|nobody|beside|anew|of which)\b", re.I)
PLAIN = ("firmware/", "libthread/", "protocol/", "tests/ftl/", "tests/hil/", "tests/tsu/")  # folders without them
CODE = ("firmware/", "libthread/", "protocol/", "vclock/", "host-driver/", "bench/", "tests/")
PRODUCT = ("firmware/", "libthread/", "protocol/", "vclock/", "host-driver/")
FILE_LINES, FUNCTION_LINES = 800, 80
FOREIGN = {"libnvme.h", "blktrace_api.h", "nvme_ioctl.h"}  # of other projects
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def files():
    return [TOP / name for name in sources.names()]


def comments(folders):
    """(file, comment) of C and C++ in these folders."""
    for path in files():
        name = str(path.relative_to(TOP))
        if name.startswith(folders) and path.suffix in (".c", ".h", ".cpp", ".hpp", ".S", ".def"):
            yield from ((name, comment) for comment in COMMENT.findall(path.read_text(encoding="utf-8")) if comment.startswith("/"))


def documents():
    return [path for path in files() if path.suffix == ".md"]


class Text(unittest.TestCase):
    def none(self, wrong):
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_comments_use_the_fields_nouns(self):
        """Words that stand in for a noun: a clause with one of them has a subject, and a shorter form."""
        self.none([f"{name} has '{word}' in: {comment}" for name, comment in comments(PLAIN)
                   for word in STAND_INS.findall(re.sub(r"\s+(?:\*|//)?\s*", " ", comment))])

    def test_files_that_comments_name_exist(self):
        known = {path.name for path in files()} | FOREIGN
        self.none([f"{name} names {named} in: {comment}" for name, comment in comments(CODE)
                   for named in NAMED.findall(comment) if not named[:4].isupper() and named.rpartition("/")[2] not in known])

    def test_what_the_guides_make_is_no_source(self):
        """A reader who has tried the commands may run the tests in the same tree."""
        guides = "\n".join(path.read_text(encoding="utf-8") for path in [TOP / "README.md", *sorted(TOP.glob("docs/guide/*.md"))])
        images = set(re.findall(r"--image ([\w./]+)", guides))
        self.assertTrue(images)
        made = [*images, *(image + ".acked" for image in images), "program.c", "a.out"]
        asked = subprocess.run(["git", "-C", TOP, "check-ignore", *made], capture_output=True, text=True, check=False)
        if asked.returncode > 1:
            self.skipTest("a copy without git")
        self.assertEqual(sorted(asked.stdout.split()), sorted(made))

    def test_first_lines_say_what_a_file_is(self):
        wrong = []
        for path in files():
            first = path.read_text(encoding="utf-8").partition("\n")[0] if path.suffix in OPENING else ""
            if path.suffix in OPENING and not first.startswith(OPENING[path.suffix]):
                wrong.append(f"{path.relative_to(TOP)} begins with: {first}")
        self.none(wrong)

    def test_sources_name_their_licence(self):
        """Once, in a line of its own behind the first comment. Documents and data need none."""
        wrong = []
        for path in files():
            if path.suffix not in SOURCES and path.name not in SCRIPTS:
                continue
            if len(re.findall(rf"^\W*{LICENCE}\W*$", path.read_text(encoding="utf-8"), re.M)) != 1:
                wrong.append(str(path.relative_to(TOP)))
        self.none(wrong)

    def test_lines_are_whole(self):
        """As .editorconfig says: no carriage returns, nothing behind the last word, a newline at the end."""
        wrong = []
        for path in files():
            data = b"\n" if path.suffix in NOT_TEXT else path.read_bytes()
            if data and (b"\r" in data or re.search(rb"[ \t]\n", data) or not data.endswith(b"\n") or data.endswith(b"\n\n")):
                wrong.append(str(path.relative_to(TOP)))
        self.none(wrong)

    def test_documents_are_at_most_so_wide(self):
        self.none([f"{path.relative_to(TOP)}:{number} has {len(line)} characters" for path in documents()
                   for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
                   if len(line) > WIDTH and not line.startswith("|")])

    def test_what_documents_name_exists(self):
        """Links from the document's folder; names also from the top, or by the end of a path."""
        known = ["/" + str(path.relative_to(TOP)) for path in files()]
        wrong = []
        for path in documents():
            text = path.read_text(encoding="utf-8")
            for link in LINK.findall(text):
                if "://" not in link and not (path.parent / link).exists():
                    wrong.append(f"{path.relative_to(TOP)} links to {link}")
            for name in sorted({re.sub(r"^(\.\./)+", "", name) for name in NAMED.findall(text)}):
                if re.search(r"(^|/)[A-Z]{3,}/", name):
                    continue  # stands for one of the reader's
                if ("/" in name or name.endswith(".md")) and not any(one.endswith("/" + name) for one in known):
                    wrong.append(f"{path.relative_to(TOP)} names {name}")
        self.none(wrong)

    def test_pages_of_internals_are_short(self):
        pages = sorted(TOP.glob("docs/internals/*.md"))
        self.assertTrue(pages)
        self.none([f"{path.relative_to(TOP)} has {lines} lines" for path in pages
                   if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 250])

    def test_files_and_functions_are_short(self):
        """A function's braces stand at the beginning of a line, as clang-format puts them."""
        wrong = []
        for path in files():
            name = str(path.relative_to(TOP))
            if not name.startswith(PRODUCT) or path.suffix not in (".c", ".h", ".cpp", ".hpp"):
                continue
            lines, begin = path.read_text(encoding="utf-8").splitlines(), 0
            if len(lines) > FILE_LINES:
                wrong.append(f"{name} has {len(lines)} lines")
            for number, line in enumerate(lines, 1):
                begin = number if line == "{" else begin
                if line == "}" and begin and number - begin > FUNCTION_LINES:
                    wrong.append(f"{name}:{begin}: a function of {number - begin} lines")
                begin = 0 if line == "}" else begin
        self.none(wrong)

    def test_the_readme_is_short(self):
        self.assertLessEqual(len((TOP / "README.md").read_text(encoding="utf-8").splitlines()), 150, "a task has a page in docs/guide")

    def test_the_citation_names_this_version(self):
        version = re.search(r"project\(hartzone VERSION (\S+)", (TOP / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        self.assertIn(f"\nversion: {version}\n", (TOP / "CITATION.cff").read_text(encoding="utf-8"))

    def test_pictures_have_no_semicolons(self):
        """Mermaid would take what follows one for another statement."""
        for path in documents():
            for picture in re.findall(r"^```mermaid\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S):
                self.assertNotIn(";", picture, path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
