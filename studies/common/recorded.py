"""Recordings of what Linux sent to a served device (traces/*.hzr.xz, docs/reference/format.md), read for their figures, and repeated as runs."""
# SPDX-License-Identifier: BSD-3-Clause
import functools
import lzma
import pathlib

from common import runs

TRACES = runs.TOP / "traces"
FLUSH, WRITE, READ, ZEROES, TRIM, COPY, ZONE_SEND, ZONE_RECEIVE, APPEND = 0x00, 0x01, 0x02, 0x08, 0x09, 0x19, 0x79, 0x7A, 0x7D
FUA = 1 << 30
KINDS = ("read", "write", "flush", "zone", "trim") # of result.json
MARK = 3 # reads of the same block, one after the other


class Command:
    """kind: one of the opcodes; at, blocks: of reads and writes, in blocks of 4 KiB; ns: from arrival to completion."""

    __slots__ = ("arrival", "at", "blocks", "done", "durable", "kind", "lane", "nsid")

    def __init__(self, words):
        self.lane, self.arrival, self.kind, self.nsid = int(words[1]), int(words[2]), int(words[3], 16), int(words[5], 16)
        cdw10, cdw11, cdw12 = (int(word, 16) for word in words[8:11])
        self.at = cdw10 | cdw11 << 32
        self.blocks = (cdw12 & 0xFFFF) + 1 if self.kind in (WRITE, READ, ZEROES, APPEND) else 0
        self.durable = self.kind in (WRITE, APPEND) and bool(cdw12 & FUA)
        self.done = 0


class Recording:
    """commands: the I/O commands in their order of arrival; marks: positions in it behind each mark of linux/sessions.py."""

    def __init__(self, lines):
        self.commands, self.digest, lanes = [], "", {}
        for line in lines:
            words = line.split()
            if words[0] == "s":
                self.commands.append(command := Command(words))
                lanes.setdefault(command.lane, []).append(command)
            elif words[0] == "c":
                lanes[int(words[1])][int(words[2])].done = int(words[4])
            elif words[0] == "end":
                self.digest = words[4]
        self.marks = list(self.find_marks())

    def find_marks(self):
        same = 0
        for i, command in enumerate(self.commands):
            before = self.commands[i - 1] if i else None
            repeated = before and command.kind == READ and (command.kind, command.at, command.blocks) == (before.kind, before.at, 1)
            same = same + 1 if repeated else 1
            if same == MARK:
                yield i + 1

    def phase(self, number):
        """The commands between a mark (from 0 on) and the next one."""
        return self.commands[self.marks[number]:self.marks[number + 1] - MARK]


def overwritten(writes):
    """Blocks that were written before by one of these."""
    seen, again = set(), 0
    for command in writes:
        blocks = range(command.at, command.at + command.blocks)
        again += sum(block in seen for block in blocks)
        seen.update(blocks)
    return again


def in_order(writes):
    """Blocks of these that begin where an earlier one of them ended."""
    ends, found = set(), 0
    for command in writes:
        found += command.blocks if command.at in ends else 0
        ends.add(command.at + command.blocks)
    return found


def busy_ns(commands):
    """Device time in which at least one of them is under way; they are in order of arrival."""
    busy = end = 0
    for command in commands:
        busy += max(0, command.done - max(command.arrival, end))
        end = max(end, command.done)
    return busy


def spent_us(result):
    """Of a repetition: the sum of its commands' latencies, by kind."""
    return {kind: total["ops"] * total["latency_ns"]["mean"] / 1e3 if (total := result["totals"][kind])["ops"] else 0.0 for kind in KINDS}


@functools.lru_cache
def read(path):
    opened = lzma.open if str(path).endswith(".xz") else open
    with opened(path, "rt", encoding="ascii") as lines:
        return Recording(lines)


def path_of(name):
    return TRACES / f"{name}.hzr.xz"


def of(name):
    return read(path_of(name))


def run(folder, device, name, most=None, options=(), way="--as-recorded"):
    """Of a Point: the recording on this device, its first commands if most is a number."""
    words = ("run", "--trace", pathlib.Path("traces") / f"{name}.hzr.xz", way, *(("--max-ops", most) if most else ()), *options)
    return folder, device, {"command": " ".join(map(str, words))}, "run", "--trace", path_of(name), *words[3:]
