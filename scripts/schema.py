"""The lists that C, C++ and Python share: kinds and classes of locks from their .def files, keys of a device from device_keys.yaml."""
# SPDX-License-Identifier: BSD-3-Clause
import functools
import os
import pathlib
import re

import device_keys

TOP = pathlib.Path(__file__).resolve().parents[1]
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|[(),]|[^\s"(),/]+|/', re.S)


def call_arguments(tokens, at):
    """Arguments of the macro call whose '(' is tokens[at - 1], and the next position. Adjacent
    string literals are joined."""
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


def extension(name):
    """The text of a list in the folder of ./hartzone build --with, if there is one."""
    folder = os.environ.get("HARTZONE_WITH")
    path = folder and pathlib.Path(folder) / name
    return path.read_text(encoding="utf-8") if path and path.exists() else ""


def calls(path, macros):
    """[macro, argument, …] of every call of one of the macros, in the file's order, and those of an
    extension's list of that name."""
    text = (TOP / path).read_text() + extension(pathlib.Path(path).name)
    return calls_in(re.sub(r"^#.*", "", text, flags=re.M), macros)


def calls_in(text, macros):
    tokens = [token for token in TOKEN.findall(text) if not token.startswith("/*")]
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
    """Names of those that exclude: all but `none`, the control."""
    return lock_kind_names()[1:]


def lock_classes():
    return rows("protocol/lock_classes.def", "HZ_LOCK_CLASS", ("constant", "name", "level", "shards", "instances", "protects"))


def logical_locks():
    return rows("protocol/logical_locks.def", "HZ_LOGICAL_LOCK", ("constant", "name", "instances", "had", "waits"))


def stages():
    return rows("protocol/stages.def", "HZ_STAGE", ("name", "what"))


@functools.cache
def device():
    """protocol/device_keys.yaml, with the keys and words of an extension."""
    folder = os.environ.get("HARTZONE_WITH")
    return device_keys.load(pathlib.Path(folder) if folder else None)


def device_fields():
    """Keys of a device file, in the order of the record; limits and defaults as numbers, a word's as its number."""
    return [{"section": key.section, "key": key.key, "member": key.member, "echo": key.echo, "type": key.type, "text": key.help,
             "words": [(word, key.words.notes[word]) for word in key.choices] if key.words else [],
             "least": key.least.value, "most": key.most.value, "default": key.default.value if key.default else None} for key in device().keys.values()]


def choices(name):
    """[(word, explanation)] of a list of words, by number from the list's first on."""
    return list(device().words[name].notes.items())


@functools.cache
def constants():
    """Limits and words of a device, by their names in C."""
    found = {f"HZ_{name}": limit.number.value for name, limit in device().limits.items()}
    return {**found, **{words.constant(word): words.number(word) for words in device().words.values() for word in words.notes}}


@functools.cache
def record(name):
    """[(offset, bytes, field, comment)] of a struct of the vendor log pages; a comment that stands alone has no field. Fields of a line share
    the comment behind it; an array without a length has 0 bytes."""
    text = "".join((TOP / path).read_text() for path in ("protocol/logs.h", "protocol/thread_logs.h"))
    body = re.search(rf"^struct {name} \{{\n(.*?)^\}};", text, re.S | re.M)[1]
    found, at = [], 0
    for alone, kind, fields, note in re.findall(r"^\t(?:/\*\s*(.*?)\s*\*/|(uint\d+_t|struct \w+) ([^;]+);(?:[ \t]*/\* (.*?) \*/)?)$", body, re.M | re.S):
        if alone:
            found.append((at, 0, "", re.sub(r"\s*\n\t \* ", " ", alone)))
            continue
        one, width = member(kind)
        at += -at % width
        for field in fields.split(", "):
            length = re.search(r"\[(\w*)\]", field)
            size = one * (1 if not length else value_of(length[1]) if length[1] else 0)
            found.append((at, size, field, note))
            at += size
    return found


def member(kind):
    """(bytes, alignment) of a type."""
    if not kind.startswith("struct "):
        return (int(re.search(r"\d+", kind)[0]) // 8,) * 2
    fields = [one for one in record(kind.removeprefix("struct ")) if one[2]]
    return fields[-1][0] + fields[-1][1], 8


def clock_preset(name):
    """Costs that preset `name` of the virtual clock has, and the schema's defaults have not: cost → number."""
    body = re.search(rf"static void take_{name}\(.*?\n}}", (TOP / "protocol/clock_preset.c").read_text(encoding="utf-8"), re.S)[0]
    return {key: value_of(value) for keys, value in re.findall(r"((?:costs->\w+ = )+)(\w+);", body) for key in re.findall(r"->(\w+)", keys)}


def value_of(text):
    """A number, or the name of a limit or a word."""
    return int(text) if text.isdigit() else constants()[text]
