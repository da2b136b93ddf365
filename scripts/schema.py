"""The lists that C, C++ and Python share, read from their .def files: kinds and classes of locks, fields of a device."""
# SPDX-License-Identifier: BSD-3-Clause
import functools
import os
import pathlib
import re

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


FIELD = ("type", "member", "section", "key", "echo", "unit", "least", "most", "default", "image", "text")
COLUMNS = {"HZ_FIELD": FIELD, "HZ_LIST": (*FIELD[:2], "items", *FIELD[2:]), "HZ_PART": FIELD[1:]}


def device_fields():
    """Lines of protocol/device_fields.def; limits and defaults as numbers."""
    found = [dict(zip(COLUMNS[macro], arguments)) for macro, *arguments in calls("protocol/device_fields.def", set(COLUMNS))]
    for field in found:
        for column in ("least", "most", "default"):
            field[column] = value_of(field[column])
    return found


def choice_rows(text, name):
    """[(constant, word, explanation)] of HZ_name_LIST, with the policies of an extension at their place."""
    body = re.search(rf"#define HZ_{name}_LIST\(X\)((?:.*\\\n)*.*)\n", text)[1].replace("\\\n", "\n")
    policies = calls_in(extension("gc_policies.def"), {"HZ_GC_POLICY"})
    own = "".join(f'X(HZ_GC_{policy}, "{policy}", "{note}")\n' for _, policy, note in policies)
    return [tuple(row) for _, *row in calls_in(body.replace("HZ_WITH_GC_LIST(X)", own), {"X"})]


def choices(name):
    """[(word, explanation)] of HZ_name_LIST in protocol/device_choices.h, by number from the list's first on."""
    return [(word, note) for _, word, note in choice_rows((TOP / "protocol/device_choices.h").read_text(), name)]


@functools.cache
def constants():
    """Numeric constants of protocol/*.h, as the text of their value."""
    text = "".join((TOP / "protocol" / name).read_text() for name in ("base.h", "thread_logs.h", "device_config.h"))
    found = dict(re.findall(r"\b(HZ_\w+) = ([^,/}]+)", text))
    found.update(re.findall(r"#define (HZ_MAX_\w+) (\([^\n/]*\)|\S[^\n/]*)", text))
    choice_text = (TOP / "protocol/device_choices.h").read_text()
    for first, name, rest in re.findall(r"enum \w+ \{ (\w+, )?HZ_(\w+)_LIST\(HZ_ENUMERATOR\) ?(\w*) \}", choice_text):
        names = [constant for constant, *_ in choice_rows(choice_text, name)] + [rest]
        found.update((constant, str(n + bool(first))) for n, constant in enumerate(names))
    return found


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
    """A constant expression of C: decimal numbers, names, + - * << and brackets."""
    text = {"UINT8_MAX": "255", "UINT32_MAX": str(2 ** 32 - 1)}.get(text, text)
    text = re.sub(r"\b(\d+)(?:u|ull)\b", r"\1", text)
    text = re.sub(r"\b(HZ_\w+|UINT32_MAX)\b", lambda name: f"({value_of(constants().get(name[0], name[0]).strip())})", text)
    if not re.fullmatch(r"[\d\s()+*<-]+", text):
        raise ValueError(f"not a constant: {text}")
    return eval(text)  # nothing but digits and operators
