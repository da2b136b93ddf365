"""The keys of a device file, as protocol/device_keys.yaml and an extension's device_keys.yaml have them, read and checked."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import dataclasses
import difflib
import fractions
import os
import pathlib
import re
from collections.abc import Iterable, Iterator

import yaml

TOP = pathlib.Path(__file__).resolve().parents[1]
FILE = "device_keys.yaml"
SIZES = {"B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "TiB": 2 ** 40}
TIMES = {"ns": 1, "us": 10 ** 3, "ms": 10 ** 6, "s": 10 ** 9}
UNITS: dict[str, dict[str, int]] = {"count": {}, "bytes": SIZES, "sectors": SIZES, "duration": TIMES, "durations": TIMES, "limit": {**SIZES, **TIMES}}
NUMBERS = ("count", "bytes", "sectors", "duration", "durations")
LISTS = ("text", "harts", "ranges", "kinds", "granularities")  # their least and most follow from the type
SECTOR_BYTES = 4096
ATTRIBUTES = ("help", "type", "words", "before", "range", "default", "items", "length", "bits", "image", "member", "echo", "reader", "fault")
NAME = re.compile(r"[a-z][a-z0-9_]*")
# Of C and C++: no name of a member.
RESERVED = frozenset("""alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await co_return
    co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
    register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
    true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq""".split())


class SchemaError(Exception):
    """One sentence: file, line, key, and what would be right."""


@dataclasses.dataclass(frozen=True)
class Node:
    """A part of a file that says where it is."""
    file: str
    tree: yaml.Node
    what: str  # "geometry.channels"; what sentences are about
    line: int  # of its name

    def error(self, sentence: str) -> SchemaError:
        about = f"{self.what}: " if self.what else ""
        return SchemaError(f"{self.file}:{self.line}: {about}{sentence}")

    def text(self) -> str:
        if not isinstance(self.tree, yaml.ScalarNode):
            raise self.error("is a list or a section: write one value")
        return str(self.tree.value)

    def cell(self, name: str) -> str:
        """Text of a table's cell."""
        text = self.text()
        if "|" in text or "\n" in text:
            raise self.error(f"{name} has | or several lines, and is a cell of a table: write one line without it")
        return text

    def parts(self) -> dict[str, Node]:
        """Of a mapping, by name."""
        if not isinstance(self.tree, yaml.MappingNode):
            raise self.error("has no lines of its own: write `name: value` below it")
        found: dict[str, Node] = {}
        for name, value in self.tree.value:
            if not isinstance(name, yaml.ScalarNode):
                raise Node(self.file, name, self.what, name.start_mark.line + 1).error("a list or a section is no name: write `name: value`")
            at = Node(self.file, value, ".".join(filter(None, (self.what, str(name.value)))), name.start_mark.line + 1)
            if name.value in found:
                raise at.error(f"is given twice, first on line {found[name.value].line}: rename or remove one")
            found[name.value] = at
        return found

    def items(self) -> list[Node]:
        if not isinstance(self.tree, yaml.SequenceNode):
            raise self.error("is no list: write [first, second]")
        return [Node(self.file, item, self.what, item.start_mark.line + 1) for item in self.tree.value]

    def known(self, names: Iterable[str]) -> dict[str, Node]:
        """Parts whose names are all among these."""
        parts, names = self.parts(), list(names)
        for name, part in parts.items():
            if name not in names:
                raise part.named(self.what).error(f"'{name}' is unknown{meant(name, names)}")
        return parts

    def among(self, names: Iterable[str], what: str) -> str:
        names, text = list(names), self.text()
        if text not in names:
            raise self.error(f"{what} '{text}' is unknown{meant(text, names)}")
        return text

    def named(self, what: str) -> Node:
        return dataclasses.replace(self, what=what)


def meant(text: str, names: list[str]) -> str:
    near = difflib.get_close_matches(text, names, 1)
    return f": {near[0]} is meant?" if near else f": choose one of {', '.join(names)}"


@dataclasses.dataclass(frozen=True)
class Number:
    value: int
    c: str


def number_of(value: int) -> Number:
    return Number(value, str(value) + ("" if value < 2 ** 31 else "u" if value < 2 ** 32 else "ull"))


def quantity(kind: str, value: int) -> str:
    """A value of the record as files say it, in the largest unit that leaves at most three decimals."""
    units = sorted(UNITS.get(kind, {}).items(), key=lambda unit: -unit[1])
    value *= SECTOR_BYTES if kind == "sectors" else 1
    if not units or not value:
        return str(value)
    name, factor = next((unit for unit in units if value >= unit[1] and value * 1000 % unit[1] == 0), units[-1])
    return f"{value / factor:g} {name}"


@dataclasses.dataclass(frozen=True)
class Limit:
    name: str
    number: Number
    header: str  # that defines it, or ""


@dataclasses.dataclass
class Words:
    """A list of choices."""
    name: str
    enum: str
    prefix: str
    count: str
    first: int
    extensions: str
    notes: dict[str, str]
    own: list[str] = dataclasses.field(default_factory=list)  # words of an extension

    def constant(self, word: str) -> str:
        return "_".join(filter(None, ("HZ", self.prefix, word.upper().replace("-", "_"))))

    def number(self, word: str) -> int:
        return self.first + list(self.notes).index(word)


@dataclasses.dataclass
class Key:
    path: str
    at: Node
    help: str
    type: str
    words: Words | None
    choices: list[str]  # of words, as far as this key has them
    least: Number
    most: Number
    default: Number | None
    items: str  # C; "" for a single value
    length: str  # member
    bits: int
    shape: bool
    member: str
    echo: str
    host: bool
    fault: bool

    @property
    def section(self) -> str:
        return self.path.rpartition(".")[0]

    @property
    def key(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def record(self) -> str:
        """Whose part it is, or empty."""
        return self.member.partition(".")[0] if "." in self.member else ""


@dataclasses.dataclass(frozen=True)
class Condition:
    key: Key
    negated: bool
    value: str  # C; of kinds the word


@dataclasses.dataclass(frozen=True)
class Idle:
    keys: list[Key]
    when: list[Condition]
    why: str


@dataclasses.dataclass
class Schema:
    limits: dict[str, Limit] = dataclasses.field(default_factory=dict)
    records: dict[str, str] = dataclasses.field(default_factory=dict)
    words: dict[str, Words] = dataclasses.field(default_factory=dict)
    keys: dict[str, Key] = dataclasses.field(default_factory=dict)
    idle: list[Idle] = dataclasses.field(default_factory=list)

    def limit(self, name: str, at: Node) -> Limit:
        if name not in self.limits:
            raise at.error(f"there is no limit {name}: add it to `limits`")
        return self.limits[name]

    def sections(self) -> Iterator[str]:
        for key in self.keys.values():
            parts = key.section.split(".")
            yield from (".".join(parts[:n]) for n in range(1, len(parts) + 1))


def line_of(text: bytes, position: int) -> int:
    return text[:position].count(b"\n") + 1


def parsed(path: pathlib.Path) -> Node:
    name = str(path.relative_to(TOP)) if path.is_relative_to(TOP) else str(path)
    try:
        text = path.read_bytes()
        tree = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except OSError as error:
        raise SchemaError(f"{name}: {error.strerror}: make it a file that can be read, or remove it") from None
    except yaml.reader.ReaderError as error:
        raise SchemaError(f"{name}:{line_of(text, error.position)}: this is no text in UTF-8: {error.reason}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SchemaError(f"{name}:{line}: this is no YAML: {error.problem}") from None
    if tree is None:
        raise SchemaError(f"{name}:1: the file is empty: remove it, or write `keys:`")
    return Node(name, tree, "", 1)


def read_number(schema: Schema, node: Node, kind: str, what: str) -> Number:
    """In units of the record; kind: of UNITS."""
    text = node.text()
    if text in schema.limits:
        return Number(schema.limits[text].number.value, f"HZ_{text}")
    units = UNITS[kind]
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(?: ([A-Za-z]+))?", text)
    if not found or (found[2] and found[2] not in units):
        raise node.error(f"{what} '{text}' is no number: write a limit's name, or a number" + (f" with {' '.join(units)}" if units else ""))
    exact = fractions.Fraction(found[1]) * units.get(found[2], 1) / (SECTOR_BYTES if kind == "sectors" else 1)
    if exact.denominator != 1:
        raise node.error(f"{what} '{text}' is no whole number of {'sectors of 4 KiB' if kind == 'sectors' else 'units'}: round it")
    return number_of(int(exact))


def read_limits(schema: Schema, node: Node) -> None:
    for name, part in node.parts().items():
        part = part.named(name)
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", name) or name in schema.limits:
            raise part.error("is the name of another limit, or has small letters: choose another name")
        whole = part.known(("value", "of")) if isinstance(part.tree, yaml.MappingNode) else {"value": part}
        if "value" not in whole:
            raise part.error("has no value: add `value: …`")
        schema.limits[name] = Limit(name, read_number(schema, whole["value"].named(name), "limit", "value"), whole["of"].text() if "of" in whole else "")


def read_words(schema: Schema, node: Node, extension: bool) -> None:
    for name, part in node.parts().items():
        part = part.named(name)
        if name in schema.words:
            add_words(schema.words[name], part)
            continue
        if extension:
            raise part.error(f"there is no such list{meant(name, list(schema.words))}")
        lines = part.known(("enum", "prefix", "count", "first", "extensions", "words"))
        if "words" not in lines:
            raise part.error("has no words: add `words:` and a line `word: explanation` for each")
        notes = {word: one.cell("the explanation") for word, one in lines["words"].parts().items()}
        texts = {which: line.text() for which, line in lines.items() if which not in ("words", "first", "extensions")}
        first = lines["first"].among(("0", "1"), "number") if "first" in lines else "0"
        extensions = lines["extensions"].among(notes, "word") if "extensions" in lines else ""
        prefix = texts.get("prefix", name.upper())
        schema.words[name] = Words(name, texts.get("enum", name), "" if prefix == "none" else prefix, texts.get("count", ""), int(first), extensions, notes)


def add_words(words: Words, part: Node) -> None:
    """Of an extension."""
    more = {word: one.cell("the explanation") for word, one in part.parts().items()}
    for word, one in part.parts().items():
        if word in words.notes:
            raise one.error("is a word of this list already: choose another one")
        if not re.fullmatch(r"[a-z][a-z0-9-]*", word):
            raise one.error("is no word: write small letters, digits and dashes")
        if not more[word]:
            raise one.error("has no explanation: add one line that says what it does")
    before = list(words.notes).index(words.extensions) if words.extensions else len(words.notes)
    rows = list(words.notes.items())
    words.notes = dict([*rows[:before], *more.items(), *rows[before:]])
    words.own += more


def unit_name(key: str, kind: str) -> str:
    """The last part of a key, with its unit."""
    if kind in ("duration", "durations"):
        return f"{key}_ns"
    if kind == "sectors":
        return f"{key}_sectors"
    return f"{key}_bytes" if kind == "bytes" and "bytes" not in key.split("_") else key


def read_kind(schema: Schema, at: Node, parts: dict[str, Node]) -> tuple[str, Words | None, list[str]]:
    """Type, and of words the list and those of it that the key has."""
    if "words" not in parts:
        if "before" in parts:
            raise parts["before"].error("before is for `words`: remove it")
        return (parts["type"].among((*NUMBERS, *LISTS), "type") if "type" in parts else "count"), None, []
    if "type" in parts:
        raise parts["type"].error("type and words are both given: remove type")
    words = schema.words[parts["words"].among(schema.words, "list of words")]
    choices = list(words.notes)
    if "before" in parts:
        choices = choices[:choices.index(parts["before"].among(choices, "word"))]
    return "word", words, choices


LEAST_MOST = {"text": ("0", "0"), "harts": ("0", "HZ_MAX_HARTS - 1"), "ranges": ("0", "UINT32_MAX"), "kinds": ("0", "UINT8_MAX"),
              "granularities": ("HZ_LOCKS_FINE", "HZ_LOCKS_GLOBAL")}


def fixed_range(schema: Schema, at: Node, kind: str) -> tuple[Number, Number]:
    """Of a list, by its type."""
    values = {"text": 0, "harts": schema.limit("MAX_HARTS", at).number.value - 1, "ranges": 2 ** 32 - 1, "kinds": 2 ** 8 - 1,
              "granularities": schema.limit("MAX_LOCK_SHARDS", at).number.value + 1}
    return Number(0, LEAST_MOST[kind][0]), Number(values[kind], LEAST_MOST[kind][1])


def read_range(schema: Schema, at: Node, parts: dict[str, Node], kind: str, bits: int) -> tuple[Number, Number]:
    if "range" not in parts:
        return number_of(0), Number(schema.limit("MAX_NS", at).number.value, "HZ_MAX_NS") if kind.startswith("duration") else number_of(2 ** bits - 1)
    ends = [read_number(schema, end, kind, "range") for end in parts["range"].items()]
    if len(ends) != 2 or ends[0].value > ends[1].value:
        raise parts["range"].error("range is not [least, most]: write two numbers, the smaller one first")
    if ends[1].value >= 2 ** bits:
        raise parts["range"].error(f"range ends at {ends[1].value}, but the record has {bits} bits: end at {2 ** bits - 1}, or say `bits: 64`")
    return ends[0], ends[1]


def read_default(schema: Schema, at: Node, parts: dict[str, Node], kind: str, least: Number, most: Number) -> Number | None:
    if "default" not in parts:
        raise at.error("has no default: add `default: …`, or `default: none` if a file must say it")
    node = parts["default"]
    if node.text() == "none":
        return None
    value = read_number(schema, node, kind, "default")
    if not least.value <= value.value <= most.value:
        raise node.error(f"default {value.value} is not in its range, {least.value} to {most.value}: change one of them")
    return value


def read_values(schema: Schema, at: Node, parts: dict[str, Node], kind: str, words: Words | None, choices: list[str],
                bits: int) -> tuple[Number, Number, Number | None]:
    """Least, most and default."""
    if kind in LISTS or words:
        for name in ("range", "default")[:1 if words else 2]:
            if name in parts:
                raise parts[name].error(f"{name} has no effect with {'words' if words else f'type {kind}'}: remove it")
    if words:
        if "default" not in parts:
            raise at.error(f"has no default: add one of {', '.join(choices)}")
        default = parts["default"].among(choices, "default")
        least, most, default_ = (Number(words.number(word), words.constant(word)) for word in (choices[0], choices[-1], default))
        return least, most, default_
    if kind in LISTS:
        return *fixed_range(schema, at, kind), number_of(0)
    least, most = read_range(schema, at, parts, kind, bits)
    return least, most, read_default(schema, at, parts, kind, least, most)


def read_items(schema: Schema, at: Node, parts: dict[str, Node], kind: str) -> tuple[str, str]:
    """Items of the record in C, and the member with their number."""
    if (kind in LISTS) != ("items" in parts):
        raise at.error("has no items: say how many values the record has" if kind in LISTS else f"items has no effect with type {kind}: remove it")
    if (kind in ("harts", "ranges")) != ("length" in parts):
        raise at.error("has no length: name the key that counts its items" if kind in ("harts", "ranges") else "length is for harts and ranges: remove it")
    length = ""
    if "length" in parts:
        length = schema.keys[parts["length"].among(schema.keys, "length: key")].member
    items = read_number(schema, parts["items"], "count", "items") if "items" in parts else None
    if items and not items.value:
        raise parts["items"].error("items is 0: say how many values the record has")
    return (items.c if items else ""), length


def flag(at: Node, parts: dict[str, Node], name: str, word: str) -> bool:
    return name in parts and bool(parts[name].among((word,), name))


def read_key(schema: Schema, path: str, at: Node) -> Key:
    parts = {name: part.named(path) for name, part in at.known(ATTRIBUTES).items()}
    if not all(NAME.fullmatch(part) for part in path.split(".")):
        raise at.error("is no key: write section.key in small letters, digits and _")
    help_text = parts["help"].cell("help") if "help" in parts else ""
    if not help_text:
        raise at.error("has no help: add one line that says what it does")
    kind, words, choices = read_kind(schema, at, parts)
    bits = int(parts["bits"].among(("8", "32", "64"), "bits") if "bits" in parts else "32")
    least, most, default = read_values(schema, at, parts, kind, words, choices, bits)
    items, length = read_items(schema, at, parts, kind)
    if "fault" in parts and least.value:
        raise parts["fault"].error("a fault that is left out is 0: begin its range there")
    usual = unit_name(path.rpartition(".")[2], kind)
    echo = parts["echo"].text() if "echo" in parts else usual
    return Key(path, at, help_text, kind, words, choices, least, most, default, items, length, bits, flag(at, parts, "image", "shape"),
               parts["member"].text() if "member" in parts else usual, "_" if echo == "none" else echo,
               flag(at, parts, "reader", "host"), flag(at, parts, "fault", "true"))


def check_key(schema: Schema, key: Key) -> None:
    """Against those before it."""
    at, before = key.at, list(schema.keys.values())
    if key.path in schema.keys:
        raise at.error(f"is a key already, of {schema.keys[key.path].at.file}: choose another name")
    if not all(NAME.fullmatch(part) for part in key.member.split(".")) or key.member.count(".") > 1:
        raise at.error(f"member '{key.member}' is no name in C: write small letters, digits and _")
    if key.member in RESERVED or key.member in schema.records:
        raise at.error(f"member '{key.member}' is a word of C, or a record: add `member: …` with another name")
    if not re.fullmatch("_|" + NAME.pattern, key.echo):
        raise at.error(f"echo '{key.echo}' is no name: write small letters, digits and _")
    for other in before:
        if other.member == key.member:
            raise at.error(f"member '{key.member}' is that of {other.path}, too: add `member: …` with another name")
        if other.echo == key.echo != "_" and other.section == key.section:
            raise at.error(f"echo '{key.echo}' is that of {other.path}, too: add `echo: …` with another name")
    if key.path in set(schema.sections()) or key.section in schema.keys:
        raise at.error("is a section, too: choose another name")
    if key.record and key.record not in schema.records:
        raise at.error(f"member '{key.member}': {key.record} is no record{meant(key.record, list(schema.records))}")
    if key.record and before[-1].record != key.record and any(other.record == key.record for other in before):
        raise at.error(f"parts of the record {key.record} are apart: put this one behind the others")
    if key.shape and (key.items or key.record):
        raise at.error("image keeps neither lists nor parts of records: remove `image`")


def read_keys(schema: Schema, node: Node, extension: bool) -> None:
    for path, part in node.parts().items():
        key = read_key(schema, path, part.named(path))
        if extension and (key.shape or key.host or key.record):
            raise key.at.error("has image, reader or a part of a record, which only keys of the tree have: remove it")
        check_key(schema, key)
        schema.keys[path] = key
    schema.keys = dict(sorted(schema.keys.items(), key=lambda each: each[1].host))  # the host's own come last


def read_condition(schema: Schema, at: Node, path: str, node: Node) -> Condition:
    node, text = node.named(f"{at.what}: when"), node.text()
    if path not in schema.keys:
        raise node.error(f"there is no key '{path}'{meant(path, list(schema.keys))}")
    key, value = schema.keys[path], text.removeprefix("not ")
    if key.type not in (*NUMBERS, "word", "kinds") or (key.type == "kinds" and value == text):
        raise node.error(f"{path} is no single value: name another key, or of kinds `not` and a kind")
    said = dataclasses.replace(node, tree=yaml.ScalarNode("", value, node.tree.start_mark))
    if key.words:
        value = key.words.constant(said.among(key.choices, "word"))
    elif key.type != "kinds":
        value = read_number(schema, said, key.type, "value").c
    return Condition(key, text.startswith("not "), value)


def read_idle(schema: Schema, node: Node, _: bool) -> None:
    for item in node.items():
        at = item.named("idle")
        parts = at.known(("keys", "when", "why"))
        for name in ("keys", "when", "why"):
            if name not in parts:
                raise at.error(f"has no {name}: add it")
        keys = [schema.keys[one.named("idle").among(schema.keys, "key")] for one in parts["keys"].items()]
        when = [read_condition(schema, at, path, one) for path, one in parts["when"].parts().items()]
        if not keys or not when:
            raise at.error("has no keys, or no condition: write `keys: [key]` and `when: {key: value}`")
        schema.idle.append(Idle(keys, when, parts["why"].cell("why")))


def sections_of(path: pathlib.Path, names: Iterable[str]) -> dict[str, Node]:
    return {name: part.named("idle" if name == "idle" else "") for name, part in parsed(path).known(names).items()}


def load(folder: pathlib.Path | None = None, path: pathlib.Path = TOP / "protocol" / FILE) -> Schema:
    """The tree's keys, and those of an extension's folder. Words first: keys have them all."""
    schema = Schema()
    files = [(False, sections_of(path, ("limits", "records", "words", "keys", "idle")))]
    if folder and os.path.lexists(folder / FILE):
        files.append((True, sections_of(folder / FILE, ("words", "keys", "idle"))))
    tree = files[0][1]
    if "limits" in tree:
        read_limits(schema, tree["limits"])
    if "records" in tree:
        schema.records.update({name: one.text() for name, one in tree["records"].parts().items()})
    for name, read in (("words", read_words), ("keys", read_keys), ("idle", read_idle)):
        for extension, sections in files:
            if name in sections:
                read(schema, sections[name], extension)
    return schema
