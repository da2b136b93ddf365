"""Every program that the product, its scripts or its suite runs is in scripts/programs.txt, and scripts/setup installs its package."""
# SPDX-License-Identifier: BSD-3-Clause
import ast
import functools
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import sources  # noqa: E402

RUNNERS = ("run", "Popen", "call", "check_call", "check_output", "which", "execv", "execvp", "execlp")  # of subprocess, shutil and os
MODULES = ("subprocess", "shutil", "os")
NAME = r"[a-z][\w.+-]*"
# C++ code that starts a program by its name, or searches PATH for it.
STARTED = re.compile(rf'(?:find_program\(|start\(\{{|popen\(|<std::string> all\{{|execlp\()"({NAME})"|\*name : \{{"({NAME})", "/usr')
UNPACKERS = re.compile(rf'^\t\{{"({NAME})", std::string_view\("', re.M)
SEARCHED = re.compile(rf"find_program\(\w+ (?:NAMES )?({NAME}(?: {NAME})*)\)|execute_process\(COMMAND ({NAME})")
WORD = r"\w[\w.+-]*"
OURS = re.compile("hartzone|hz-no-.*")
LOOKED_FOR = re.compile(rf"(?:\bhave|command -v) ({NAME})\b")


def listed():
    """program → (package, remark)"""
    lines = [line.split() for line in (TOP / "scripts/programs.txt").read_text().splitlines() if line and not line.startswith("#")]
    return {program: (package, "".join(remark)) for program, package, *remark in lines}


def is_python(path):
    return path.suffix == ".py" or not path.suffix and path.read_bytes().startswith(b"#!/usr/bin/env python3")


def first_words(argument, loops):
    """Possible first words of a command, if they are literal."""
    if isinstance(argument, (ast.List, ast.Tuple)) and argument.elts:
        return first_words(argument.elts[0], loops)
    if isinstance(argument, ast.IfExp):
        return first_words(argument.body, loops) + first_words(argument.orelse, loops)
    if isinstance(argument, ast.Name):
        return loops.get(argument.id, [])
    return [argument.value] if isinstance(argument, ast.Constant) and isinstance(argument.value, str) else []


def loop_words(tree):
    """name → the words that a loop gives it"""
    return {node.target.id: [element.value for element in node.iter.elts if isinstance(element, ast.Constant)] for node in ast.walk(tree)
            if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Name) and isinstance(node.iter, (ast.Tuple, ast.List))}


def starts(call):
    """A call of a function that starts or looks for a program."""
    made = call.func
    return isinstance(made, ast.Attribute) and made.attr in RUNNERS and isinstance(made.value, ast.Name) and made.value.id in MODULES and call.args


def passes_on(function):
    """A function that starts the command given by its arguments: called("cmake", …)."""
    words = function.args.vararg and function.args.vararg.arg
    for call in (node for node in ast.walk(function) if isinstance(node, ast.Call) and starts(node)):
        first = call.args[0]
        if isinstance(first, ast.ListComp):
            first = first.generators[0].iter
        elif isinstance(first, ast.List) and first.elts and isinstance(first.elts[0], ast.Starred):
            first = first.elts[0].value
        if words and isinstance(first, ast.Name) and first.id == words:
            return True
    return False


def python_runs(text):
    if not any(module in text for module in MODULES[:2]) and "os.exec" not in text:
        return set()
    tree, found = ast.parse(text), set()
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and passes_on(node)}
    loops = loop_words(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and (starts(node) or isinstance(node.func, ast.Name) and node.func.id in own):
            found.update(word for word in first_words(node.args[0], loops) if re.fullmatch(NAME, word))
    return found


def without_comments(script):
    return re.sub(r"(^|\s)#.*", "", script.read_text(encoding="utf-8"))


def matched(pattern, text):
    return {word for words in pattern.findall(text) for group in (words if isinstance(words, tuple) else (words,)) for word in group.split()}


def run_by(path):
    """Programs that a source file runs."""
    if is_python(path):
        return python_runs(path.read_text(encoding="utf-8"))
    if path.suffix in (".cpp", ".hpp", ".c"):
        return matched(STARTED, text := path.read_text(encoding="utf-8")) | matched(UNPACKERS, text)
    if path.suffix == ".cmake" or path.name == "CMakeLists.txt":
        return matched(SEARCHED, path.read_text(encoding="utf-8"))
    if not path.suffix and path.read_bytes().startswith((b"#!/bin/bash", b"#!/bin/sh")):
        return matched(LOOKED_FOR, without_comments(path))
    return set()


@functools.cache
def run_by_all():
    """program → a file that runs it"""
    return {program: name for name in sources.names() for program in run_by(TOP / name) if not OURS.fullmatch(program)}


@functools.cache
def setup_words():
    """Words of scripts/setup, comments aside."""
    return set(re.findall(WORD, without_comments(TOP / "scripts/setup")))


@functools.cache
def depends(package):
    answer = subprocess.run(["dpkg-query", "-W", "-f", "${Depends}", package], capture_output=True, text=True, check=False).stdout
    return set(re.findall(r"(?:^|[,|])\s*([\w.+-]+)", answer))


def in_setup(package):
    """scripts/setup names it, or build-essential brings it."""
    essential = depends("build-essential")
    return package in setup_words() | essential | (depends("dpkg-dev") if "dpkg-dev" in essential else set())


@unittest.skipUnless(shutil.which("dpkg-query"), "this is not a Debian system")
class Programs(unittest.TestCase):
    def test_what_is_run_is_listed(self):
        found = run_by_all()
        self.assertGreater(len(found), 35)
        self.assertEqual({program: name for program, name in found.items() if program not in listed()}, {}, "add them to scripts/programs.txt")

    def test_setup_installs_what_is_listed(self):
        for program, (package, remark) in listed().items():
            with self.subTest(program=program):
                if remark == "base":
                    answer = subprocess.run(["dpkg-query", "-W", "-f", "${Priority}", package], capture_output=True, text=True, check=True).stdout
                    self.assertEqual(answer, "required", "debootstrap's minbase does not have it")
                elif remark != "wanted":
                    self.assertTrue(in_setup(package), f"scripts/setup does not install {package}")

    def test_the_package_is_the_right_one(self):
        """Of those that are installed: gcc-12 is taken for gcc."""
        paths = {program: {path, real := str(pathlib.Path(path).resolve()), real.removeprefix("/usr")} for program in listed()
                 if (path := shutil.which(program, path="/usr/bin:/usr/sbin:/bin:/sbin"))}
        answer = subprocess.run(["dpkg-query", "-S", *set().union(*paths.values())], capture_output=True, text=True, check=False).stdout
        owner = {path: package.split(":")[0] for package, path in (line.rsplit(": ", 1) for line in answer.splitlines())}
        for program, at in paths.items():
            package, owners = listed()[program][0], {owner[path] for path in at if path in owner}
            with self.subTest(program=program, owners=owners):
                self.assertTrue(not owners or any(one.startswith(package) for one in owners) or package in ("qemu-system-riscv", "pkg-config"))

    def test_nothing_is_listed_in_vain(self):
        shell = {word for name in ("hartzone", "scripts/setup", ".ci/run") for word in re.findall(WORD, without_comments(TOP / name))}
        self.assertEqual([program for program, (_, remark) in listed().items() if program not in shell | set(run_by_all()) and not remark.startswith("by")], [])

    def test_every_form_is_found(self):
        for text, programs in (('subprocess.run(["strace", "-f"])', {"strace"}), ('shutil.which("nvme" if x else "xz")', {"nvme", "xz"}),
                               ('for name in ("a-b", "c"):\n    shutil.which(name)', {"a-b", "c"}), ('os.execvp("sh", ["sh"])', {"sh"}),
                               ("def called(*words):\n    subprocess.run(words)\ncalled('cpack', x)", {"cpack"}),
                               ("def called(*words):\n    subprocess.run([str(w) for w in words])\ncalled('cpack', x)", {"cpack"}),
                               ("def called(*words):\n    subprocess.run([PROGRAM, *words])\ncalled('info')", set()),
                               ("self.call('info')", set())):
            self.assertEqual(python_runs(text), programs, text)
        self.assertEqual(matched(STARTED, 'if (find_program("fio").empty())  start({"sh", "-c"})'), {"fio", "sh"})
        self.assertEqual(matched(SEARCHED, "find_program(X ccache)\nfind_program(Y NAMES clang clang-14)\nexecute_process(COMMAND python3 -c"),
                         {"ccache", "clang", "clang-14", "python3"})
        self.assertEqual(matched(LOOKED_FOR, "have sudo || command -v xz"), {"sudo", "xz"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
