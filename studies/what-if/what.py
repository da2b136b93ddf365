"""What else could be: words such as mcs, class, shards4, 2x, hold50, or several of them with a plus, as a device, and as a replay."""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import dataclasses
import re

import rules

COSTS = {"half": 0.5, "2x": 2, "ideal": 0}
SCALED = ("local", "remote", "far", "memory", "occupancy", "wake", "ipi")


def shard(index, shards):
    """As lt_lock_shard (libthread/locks/lock.c)."""
    most = 0xffffffff
    index = (index ^ index >> 16) * 0x85ebca6b & most
    index = (index ^ index >> 13) * 0xc2b2ae35 & most
    index ^= index >> 16
    return index * shards >> 32


@dataclasses.dataclass
class What:
    """None: as it is."""
    name: str
    kind: str | None = None
    granularity: str | int | None = None
    costs: str | None = None
    hold: int = 100 # % of the time that sections take

    def device(self, device, defaults):
        """The same device but for this. defaults: costs of the clock."""
        locks = dict(device["locks"])
        if self.kind:
            locks["kind"] = {"default": self.kind}
        if self.granularity:
            locks["granularity"] = {"default": self.granularity}
        clock = {key: int(defaults[key] * COSTS[self.costs]) for key in SCALED} if self.costs else {}
        return {**device, "locks": locks, **({"clock": clock} if clock else {})}

    def options(self):
        """Of the virtual clock."""
        return [f"hold={10 * self.hold}"] if self.hold != 100 else []

    def parameters(self, parameters):
        factor = COSTS[self.costs] if self.costs else 1
        return {**parameters, **{key: int(parameters[key] * factor) for key in SCALED}}

    def mapped(self, classes):
        """The lock that stands for another, which is (class + 1) << 32 | index. classes: as scripts/schema.py reads them."""
        single = {number for number, one in enumerate(classes) if one["shards"] != "SHARDED"}
        chosen = self.granularity

        def lock(tag):
            number, index = (tag >> 32) - 1, tag & 0xffffffff
            if chosen == "global":
                return 0
            if chosen == "class":
                return number
            return (number, shard(index, chosen)) if number not in single else tag
        return lock if chosen else lambda tag: tag


def parsed(words):
    """One of them, or argparse's complaint."""
    out = What(words)
    for word in words.split("+"):
        number = re.fullmatch(r"(shards|hold)(\d{1,4})", word)
        if word in rules.KINDS:
            out.kind = word
        elif word in ("class", "global"):
            out.granularity = word
        elif word in COSTS:
            out.costs = word
        elif number and number[1] == "shards" and 2 <= int(number[2]) <= 4096:
            out.granularity = int(number[2])
        elif number and number[1] == "hold" and 10 <= int(number[2]) <= 1000:
            out.hold = int(number[2])
        else:
            raise argparse.ArgumentTypeError(f"'{word}' is not one of {', '.join([*rules.KINDS, 'class', 'global', *COSTS])}, shards2 … shards4096, "
                                             "hold10 … hold1000")
    return out
