"""protocol/device_keys.yaml: a wrong file is refused with its line, its key and what would be right; and the JSON Schema made of it."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts"))
import device_json  # noqa: E402
import device_keys  # noqa: E402

GOOD = """limits:
  MAX_NS: 1 s
  MAX_HARTS: {value: 64, of: base.h}
  MAX_LOCK_SHARDS: 4096
  MAX_CHANNELS: 64
records:
  slc: hz_region_timing
words:
  gc:
    enum: gc_policy
    count: GC_POLICIES
    extensions: wear
    words:
      greedy: fewest valid sectors
      wear: less worn
keys:
  geometry.channels:
    help: channels, each with its own bus
    range: [1, MAX_CHANNELS]
    default: 2
  geometry.page_bytes:
    help: bytes of a page
    type: bytes
    range: [4 KiB, 256 KiB]
    default: 16 KiB
  timing.slc.read:
    help: array time of a read
    type: durations
    default: 20 us
    member: slc.read_ns
  slc.gc:
    help: which is collected next
    words: gc
    before: wear
    default: greedy
  zones.size:
    help: distance of the starts of zones
    type: sectors
    bits: 64
    range: [0, 32 TiB]
    default: 64 KiB
  harts.hils:
    help: harts of the host interface
    range: [1, 16]
    default: 1
    member: hil_count
    echo: none
  harts.hil:
    help: their numbers
    type: harts
    length: harts.hils
    items: 16
    bits: 8
    member: hil_hart
idle:
- keys: [zones.size]
  when: {geometry.channels: 1}
  why: there is one channel
"""
# What replaces what, the line of the sentence, the sentence.
WRONG = {
    "an unknown type": ("type: bytes", "type: byte", 23, "geometry.page_bytes: type 'byte' is unknown: bytes is meant?"),
    "a type that is like none": ("type: bytes", "type: number", 23, "geometry.page_bytes: type 'number' is unknown: choose one of count, bytes, sectors"),
    "a default above its range": ("default: 2\n", "default: 65\n", 20, "geometry.channels: default 65 is not in its range, 1 to 64: change one of them"),
    "a default below its range": ("default: 16 KiB", "default: 1 KiB", 25, "geometry.page_bytes: default 1024 is not in its range, 4096 to 262144"),
    "a default with another unit": ("default: 16 KiB", "default: 16 us", 25, "default '16 us' is no number: write a limit's name, or a number with B KiB MiB"),
    "no default": ("    default: 16 KiB\n", "", 21, "geometry.page_bytes: has no default: add `default: …`"),
    "a key twice": ("  zones.size:\n", "  geometry.channels:\n", 36, "geometry.channels: is given twice, first on line 17: rename or remove one"),
    "an attribute twice": ("    type: bytes\n", "    type: bytes\n    type: bytes\n", 24, "geometry.page_bytes.type: is given twice, first on line 23"),
    "a member twice": ("member: hil_count", "member: channels", 42, "harts.hils: member 'channels' is that of geometry.channels, too"),
    "an echo twice": ("    range: [4 KiB, 256 KiB]", "    echo: channels\n    range: [4 KiB, 256 KiB]", 21, "geometry.page_bytes: echo 'channels' is that of geometry.channels"),
    "no help": ("    help: channels, each with its own bus\n", "", 17, "geometry.channels: has no help: add one line that says what it does"),
    "an empty help": ("help: channels, each with its own bus", "help:", 17, "geometry.channels: has no help: add one line"),
    "an unknown attribute": ("    range: [1, MAX", "    rnage: [1, MAX", 19, "geometry.channels: 'rnage' is unknown: range is meant?"),
    "a range the wrong way": ("[4 KiB, 256 KiB]", "[256 KiB, 4 KiB]", 24, "range is not [least, most]: write two numbers, the smaller one first"),
    "a range beyond the member": ("    bits: 64\n", "", 39, "zones.size: range ends at 8589934592, but the record has 32 bits: end at 4294967295, or say `bits: 64`"),
    "an unknown limit": ("MAX_CHANNELS]", "MAX_CHANELS]", 19, "geometry.channels: range 'MAX_CHANELS' is no number: write a limit's name"),
    "part of a sector": ("default: 64 KiB", "default: 1 KiB", 41, "zones.size: default '1 KiB' is no whole number of sectors of 4 KiB"),
    "an unknown list of words": ("words: gc\n", "words: gcc\n", 33, "slc.gc: list of words 'gcc' is unknown: gc is meant?"),
    "a word beyond the last one": ("default: greedy", "default: wear", 35, "slc.gc: default 'wear' is unknown: choose one of greedy"),
    "an unknown record": ("member: slc.read_ns", "member: scl.read_ns", 26, "timing.slc.read: member 'scl.read_ns': scl is no record: slc is meant?"),
    "a list without items": ("    items: 16\n", "", 48, "harts.hil: has no items: say how many values the record has"),
    "a list of an unknown length": ("length: harts.hils", "length: harts.hls", 51, "harts.hil: length: key 'harts.hls' is unknown: harts.hils is meant?"),
    "a section's name": ("  harts.hils:\n", "  geometry:\n", 42, "geometry: is a section, too: choose another name"),
    "a condition of an unknown key": ("when: {geometry.channels: 1}", "when: {geometry.chanels: 1}", 57, "idle: when: there is no key 'geometry.chanels': geometry.channels is meant?"),
    "an image with a part of a record": ("    member: slc.read_ns", "    image: shape\n    member: slc.read_ns", 26, "timing.slc.read: image keeps neither lists nor parts of records"),
    "a missing limit": ("  MAX_NS: 1 s\n", "", 25, "timing.slc.read: there is no limit MAX_NS: add it to `limits`"),
    "an unknown place of extensions": ("extensions: wear", "extensions: waer", 12, "gc.extensions: word 'waer' is unknown: wear is meant?"),
    "a fault that cannot be left out": ("    default: 2\n", "    default: 2\n    fault: true\n", 21, "geometry.channels: a fault that is left out is 0: begin its range there"),
    "no YAML": ("help: which is", "help: [which is", 33, "this is no YAML"),
    "a name of several parts": ("  slc: hz_region_timing\n", "  slc: hz_region_timing\n  ? [a, b]\n  : c\n", 8, "a list or a section is no name: write `name: value`"),
    "a word of C": ("member: hil_count", "member: default", 42, "harts.hils: member 'default' is a word of C, or a record: add `member: …`"),
    "a word of C++": ("member: hil_count", "member: static_cast", 42, "harts.hils: member 'static_cast' is a word of C, or a record: add `member: …`"),
    "a record's name": ("member: hil_count", "member: slc", 42, "harts.hils: member 'slc' is a word of C, or a record: add `member: …`"),
    "an echo that is no name": ("echo: none", "echo: 1+", 42, "harts.hils: echo '1+' is no name: write small letters, digits and _"),
    "no items": ("items: 16", "items: 0", 52, "harts.hil: items is 0: say how many values the record has"),
    "an explanation of two lines": ("wear: less worn", 'wear: "less\\nworn"', 15, "wear: the explanation has | or several lines"),
    "a reason of two cells": ("why: there is one", "why: there | is one", 58, "idle.why: why has | or several lines"),
    "no condition": ("when: {geometry.channels: 1}", "when: {}", 56, "idle: has no keys, or no condition: write"),
    "a control character": ("less worn", "less\x01 worn", 15, "this is no text in UTF-8: control characters are not allowed"),
    "a list of values": ("help: bytes of a page", "help: [bytes, of a page]", 22, "geometry.page_bytes: is a list or a section: write one value"),
}


class WrongFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-keys-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refusal(self, text, own=None):
        path = self.folder / "keys.yaml"
        path.write_text(text, encoding="utf-8")
        if own is not None:
            (self.folder / "device_keys.yaml").write_text(own, encoding="utf-8")
        try:
            device_keys.load(self.folder, path)
        except device_keys.SchemaError as error:
            return str(error).replace(f"{self.folder}/", "")
        return ""

    def test_a_good_file_is_not_refused(self):
        self.assertEqual(self.refusal(GOOD), "")

    def test_each_mistake_is_said_with_its_line(self):
        for name, (old, new, line, sentence) in WRONG.items():
            with self.subTest(name):
                self.assertEqual(GOOD.count(old), 1)
                said = self.refusal(GOOD.replace(old, new))
                self.assertTrue(said.startswith(f"keys.yaml:{line}: "), said)
                self.assertIn(sentence, said)
                self.assertEqual(said.count("\n"), 0, "one sentence")

    def test_mistakes_of_an_extension(self):
        key = "keys:\n  slc.own:\n    help: own\n    default: 0\n"
        for own, sentence in ((key, ""), (key.replace("slc.own", "slc.gc"), "device_keys.yaml:2: slc.gc: is a key already, of "),
                              (key + "    image: shape\n", "device_keys.yaml:2: slc.own: has image, reader or a part of a record"),
                              (key.replace("    help: own\n", ""), "device_keys.yaml:2: slc.own: has no help"),
                              ("words:\n  gc:\n    wear: mine\n", "device_keys.yaml:3: gc.wear: is a word of this list already"),
                              ("words:\n  gc:\n    own:\n", "device_keys.yaml:3: gc.own: has no explanation"),
                              ("words:\n  g:\n    own: mine\n", "device_keys.yaml:2: g: there is no such list: gc is meant?"),
                              ("limits:\n  MAX: 1\n", "device_keys.yaml:1: 'limits' is unknown: choose one of words, keys, idle"),
                              ("", "device_keys.yaml:1: the file is empty")):
            with self.subTest(own):
                said = self.refusal(GOOD, own)
                self.assertTrue(said.startswith(sentence) if sentence else not said, said)

    def test_an_extension_that_cannot_be_read(self):
        own = self.folder / "device_keys.yaml"
        own.write_bytes(b"keys:\n  slc.\xff: 1\n")
        self.assertIn("device_keys.yaml:2: this is no text in UTF-8: ", self.refusal(GOOD))
        own.unlink()
        own.mkdir()
        self.assertEqual(self.refusal(GOOD), "device_keys.yaml: Is a directory: make it a file that can be read, or remove it")
        own.rmdir()
        own.symlink_to(self.folder / "gone")
        self.assertEqual(self.refusal(GOOD), "device_keys.yaml: No such file or directory: make it a file that can be read, or remove it")

    def test_the_program_of_the_build_says_it_and_makes_nothing(self):
        path, out = self.folder / "keys.yaml", self.folder / "out"
        path.write_text(GOOD.replace("default: 2\n", "default: 65\n"), encoding="utf-8")
        run = subprocess.run([sys.executable, "-B", TOP / "scripts/device-headers", "--keys", path, "--out", out], capture_output=True, text=True, check=False)
        self.assertEqual((run.returncode, run.stdout, out.exists()), (1, "", False))
        self.assertEqual(run.stderr, f"{path}:20: geometry.channels: default 65 is not in its range, 1 to 64: change one of them\n")


class Headers(unittest.TestCase):
    def test_what_has_not_changed_is_not_written_again(self):
        """A configuration compiles nothing again that it does not touch."""
        with tempfile.TemporaryDirectory(prefix="hz-keys-") as folder:
            def made():
                subprocess.run([sys.executable, "-B", TOP / "scripts/device-headers", "--out", folder], check=True)
                return {path.name: path.stat().st_mtime_ns for path in pathlib.Path(folder).iterdir()}
            first = made()
            self.assertEqual(sorted(first), ["device_choices.h", "device_fields.def", "device_idle.def", "device_limits.h"])
            self.assertEqual(made(), first)

    def test_words_of_an_extension_come_before_those_of_the_slc_log_end(self):
        schema = device_keys.load(TOP / "examples/extension")
        self.assertEqual(list(schema.words["gc"].notes)[-2:], ["youngest", "wear"])
        self.assertEqual(schema.keys["slc.gc"].choices[-1], "youngest")


def complaints(schema, value, place=""):
    """What the keywords of device.schema.json have against a value; an unknown keyword is a KeyError."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int}
    wrong = {
        "type": lambda names: not isinstance(value, tuple(kinds[name] for name in ([names] if isinstance(names, str) else names))),
        "minimum": lambda least: isinstance(value, int) and value < least,
        "maximum": lambda most: isinstance(value, int) and value > most,
        "pattern": lambda pattern: isinstance(value, str) and not re.search(pattern, value),
        "maxLength": lambda most: len(value) > most,
        "minItems": lambda least: isinstance(value, list) and len(value) < least,
        "maxItems": lambda most: isinstance(value, list) and len(value) > most,
        "enum": lambda words: value not in words,
        "const": lambda word: value != word,
        "anyOf": lambda some: all(complaints(one, value, place) for one in some),
        "oneOf": lambda some: sum(not complaints(one, value, place) for one in some) != 1,
        "items": lambda one: isinstance(value, list) and any(complaints(one, item, place) for item in value),
        "additionalProperties": lambda may: not may and isinstance(value, dict) and value.keys() - schema["properties"].keys(),
        "properties": lambda _: False, "description": lambda _: False, "default": lambda _: False, "$schema": lambda _: False, "title": lambda _: False,
    }
    found = [f"{place}: {keyword}" for keyword, wanted in schema.items() if wrong[keyword](wanted)]
    for name, one in schema.get("properties", {}).items():
        if isinstance(value, dict) and name in value:
            found += complaints(one, value[name], f"{place}.{name}".lstrip("."))
    return found


def as_editors_read(text):
    """YAML 1.2: `on` and 1_000 are words."""
    def of(node):
        if isinstance(node, dict):
            return {key: of(one) for key, one in node.items()}
        if isinstance(node, list):
            return [of(one) for one in node]
        return int(node) if re.fullmatch(r"[0-9]+", node) else node
    return of(yaml.load(text, Loader=yaml.BaseLoader))


class JsonSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads((TOP / "docs/device.schema.json").read_text(encoding="utf-8"))

    def complaints(self, text):
        return complaints(self.schema, as_editors_read(text))

    def test_it_is_that_of_the_keys(self):
        self.assertEqual(device_json.made(), (TOP / "docs/device.schema.json").read_text(encoding="utf-8"))

    def test_every_device_of_the_tree_is_sound_by_it(self):
        files = sorted((TOP / "configs/devices").glob("*.yaml"))
        self.assertGreater(len(files), 20)
        for path in files:
            with self.subTest(path.name):
                self.assertEqual(self.complaints(path.read_text(encoding="utf-8")), [])

    def test_every_key_takes_its_default(self):
        for key in device_keys.load().keys.values():
            part = self.schema
            for name in filter(None, key.path.split(".")):
                part = part["properties"][name]
            with self.subTest(key.path):
                self.assertEqual(part["description"], key.help)
                if "default" in part:
                    self.assertEqual(complaints(part, part["default"]), [])

    def test_what_the_parser_takes(self):
        for text in ("seed: 1_000", "geometry: {page_bytes: 16KiB, cell: tlc}", "timing: {slc: {read: [20us, 30.5 us]}, command: 200, cache_read: on}",
                     "zones: {size: 16 MiB}", "namespaces: {channels: [0-3, all, 1]}", "harts: {hil: [0], tsu: [1], worker: [2, 3]}",
                     "locks: {kind: {default: mcs}, granularity: {default: 16, l2p: class}}"):
            with self.subTest(text):
                self.assertEqual(self.complaints(text), [])

    def test_what_it_refuses(self):
        for text, place in (("geometry: {chanels: 2}", "geometry: additionalProperties"), ("geometry: {channels: 65}", "geometry.channels: maximum"),
                            ("geometry: {page_bytes: 16 KB B}", "geometry.page_bytes: pattern"), ("geometry: {cell: plc}", "geometry.cell: oneOf"),
                            ("timing: {cache_read: yes}", "timing.cache_read: enum"), ("timing: {command: 1 hour}", "timing.command: pattern"),
                            ("timing: {slc: {read: [1, 2, 3, 4, 5]}}", "timing.slc.read: anyOf"), ("harts: {hil: 0}", "harts.hil: type"),
                            ("locks: {kind: {default: spin}}", "locks.kind.default: enum"), ("locks: {granularity: {admin: 4}}", "locks.granularity: additionalProperties"),
                            ("name: a name that has more letters than the record", "name: maxLength"), ("slc: {gc: wear}", "slc.gc: oneOf")):
            with self.subTest(text):
                self.assertEqual(self.complaints(text), [place])


if __name__ == "__main__":
    unittest.main()
