"""The JSON Schema of a device file, by which editors complete and check it: docs/device.schema.json, which scripts/update-docs writes."""
# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import json
from typing import Any

import device_keys
import schema

Part = dict[str, Any]
SECTOR = device_keys.SECTOR_BYTES
QUANTITY = r"^[0-9][0-9_]*(\.[0-9_]+)? ?({})?$"
SIZE = QUANTITY.format("B|KiB|MiB|GiB|TiB|KB|MB|GB|TB")
TIME = QUANTITY.format("ns|us|ms|s")
COUNT = r"^[0-9][0-9_]*$"  # 1_000 is no number in YAML 1.2
RANGE = r"^(all|[0-9]+(-[0-9]+)?)$"
SEVERAL, ALONE, STANDS_FOR_ALL = "SHARDED", "SINGLE", "ONE"  # locks of a class


def number(least: int, most: int, pattern: str) -> Part:
    """A plain number within its range, or one that is written in another way."""
    return {"type": ["integer", "string"], "minimum": least, "maximum": most, "pattern": pattern}


def one_or_list(one: Part, most: int) -> Part:
    return {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "maxItems": most}]}


def choice(notes: dict[str, str]) -> Part:
    if not any(notes.values()):
        return {"enum": list(notes)}
    return {"oneOf": [{"const": word, **({"description": note} if note else {})} for word, note in notes.items()]}


def section(properties: Part) -> Part:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def kinds() -> Part:
    kind = {"enum": schema.lock_kind_names()}
    classes = [one["name"] for one in schema.lock_classes() if one["shards"] in (SEVERAL, ALONE, STANDS_FOR_ALL)]
    return section(dict.fromkeys(("default", *classes), kind))


def granularities() -> Part:
    def one_of(*words: str) -> Part:
        return {"anyOf": [{"enum": list(words)}, {"type": "integer", "minimum": 2, "maximum": schema.value_of("HZ_MAX_LOCK_SHARDS")}]}
    classes = [one["name"] for one in schema.lock_classes() if one["shards"] == SEVERAL]
    return section({"default": one_of("fine", "class", "global"), **{name: one_of("fine", "class") for name in classes}})


def items(key: device_keys.Key) -> int:
    return schema.value_of(key.items)


def value(key: device_keys.Key) -> Part:
    least, most = key.least.value, key.most.value
    if key.words:
        return choice({word: key.words.notes[word] for word in key.choices})
    made = {"count": lambda: number(least, most, COUNT),
            "bytes": lambda: number(least, most, SIZE),
            "sectors": lambda: number(least * SECTOR, most * SECTOR, SIZE),
            "duration": lambda: number(least, most, TIME),
            "durations": lambda: one_or_list(number(least, most, TIME), schema.value_of("HZ_PAGE_TYPES")),
            "text": lambda: {"type": "string", "maxLength": items(key) - 1},
            "harts": lambda: {"type": "array", "items": {"type": "integer", "minimum": least, "maximum": most}, "minItems": 1, "maxItems": items(key)},
            "ranges": lambda: one_or_list({"type": ["integer", "string"], "minimum": 0, "pattern": RANGE}, items(key)),
            "kinds": kinds, "granularities": granularities}
    return made[key.type]()


def default(key: device_keys.Key) -> Part:
    if key.words and key.default:
        return {"default": key.choices[key.default.value - key.least.value]}
    if key.type in device_keys.LISTS or key.default is None:
        return {}
    value = key.default.value
    return {"default": value if key.type == "count" or not value else device_keys.quantity(key.type, value)}


def lines(part: Part, indent: str) -> str:
    """Sections over several lines, each key on its own."""
    if "properties" not in part:
        return json.dumps(part, ensure_ascii=False)
    head = [f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in part.items() if name != "properties"]
    below = ",\n".join(f"{indent}  {json.dumps(name)}: {lines(one, indent + '  ')}" for name, one in part["properties"].items())
    return "{" + ", ".join(head) + f', "properties": {{\n{below}\n{indent}}}}}'


def made() -> str:
    root = section({})
    for key in schema.device().keys.values():
        place: Part = root
        for part in key.section.split(".") if key.section else ():
            place = place["properties"].setdefault(part, section({}))
        place["properties"][key.key] = {"description": key.help, **default(key), **value(key)}
    return lines({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A device file of Hartzone", **root}, "") + "\n"
