"""The lists that C, C++ and Python share, read from their .def files: kinds and classes of locks, fields of a device."""
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[1]
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|[(),]|[^\s"(),/]+|/', re.S)


def call_arguments(tokens, at):
    """Arguments of the macro call whose '(' is tokens[at - 1], and what follows it. Neighbouring string literals are one."""
    words, depth = [[]], 1
    while depth:
        token, at = tokens[at], at + 1
        depth += (token == "(") - (token == ")")
        if token == "," and depth == 1:
            words.append([])
        elif depth:
            words[-1].append(token)
    return [joined(word) for word in words], at


def joined(words):
    if words and all(word.startswith('"') for word in words):
        return "".join(word[1:-1] for word in words).replace('\\"', '"')
    return " ".join(words)


def calls(path, macros):
    """[macro, argument, …] of every call of one of the macros, in the file's order."""
    lines = [line for line in (TOP / path).read_text().splitlines() if not line.startswith("#")]
    tokens = [token for token in TOKEN.findall("\n".join(lines)) if not token.startswith("/*")]
    found, at = [], 0
    while at < len(tokens):
        name, at = tokens[at], at + 1
        if name in macros and at < len(tokens) and tokens[at] == "(":
            arguments, at = call_arguments(tokens, at + 1)
            found.append([name, *arguments])
    return found


def rows(path, macro, names):
    return [dict(zip(names, arguments)) for _, *arguments in calls(path, {macro})]


def lock_kinds():
    return rows("libthread/include/lt/lock_kinds.def", "LT_LOCK_KIND", ("constant", "name", "order", "line", "note"))


def lock_kind_names():
    """By their numbers."""
    return [kind["name"] for kind in lock_kinds()]


def excluding_lock_kinds():
    """Names of those that keep harts apart: all but `none`, the control."""
    return lock_kind_names()[1:]


def lock_classes():
    return rows("protocol/lock_classes.def", "HZ_LOCK_CLASS", ("constant", "name", "level", "shards", "instances", "protects"))
