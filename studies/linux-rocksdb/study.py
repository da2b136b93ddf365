#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""RocksDB on Linux's F2FS, from recordings of what it sent to the device, next to our own store of RocksDB's files; what a Flush for nothing is worth."""
import functools
import lzma
import pathlib
import re
import sys
import types

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "linux")]
import sessions  # noqa: E402
from common import arguments, frame, plot, recorded, report, runs  # noqa: E402
from common.report import percent_more  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "linux-rocksdb"
LOADS = ("fillseq", "overwrite", "synced fillseq") # phases of the recordings
FILLSEQ, OVERWRITE, SYNCED = LOADS
KEYS = {FILLSEQ: sessions.KEYS, OVERWRITE: sessions.KEYS, SYNCED: sessions.SYNCED_KEYS}
DATA_KIB = 900 / 1024 # of a key and its value
ZONES, BLOCK, STORE, VOLATILE = "F2FS, zones", "F2FS, block device", "our store, zones", "our store, log volatile"
RECORDINGS = {ZONES: "rocksdb-f2fs-zones", BLOCK: "rocksdb-f2fs-block"}
# Traces of the store, and in the first one the position of overwrite's first command.
STORED, STORED_SYNCED, FILLED = "rocksdb-store", "rocksdb-store-synced", 1274
# The buffers share memory, which capacitors keep alive or not: of it, a flush unit of each buffer is volatile.
POOL_MIB, KEPT_MIB = 12, 9
POOLED = {"none": {"mode": "none", "bytes": 0}, "full": {"mode": "full", "bytes": f"{KEPT_MIB} MiB"}}
PROTECTED = (ZONES, STORE)
WRITES = (recorded.WRITE, recorded.APPEND)
SHOWN = (("KiB written for a key", "kib", "KiB"), ("mean write", "write_kib", "KiB"), ("largest write", "largest_kib", "KiB"), ("FUA", "fua", "%"),
         ("written in order", "in_order", "%"), ("Flushes for 1,000 keys", "flushes", ""), ("resets and trims for 1,000 keys", "freed", ""),
         ("KiB read for a key", "read_kib", "KiB"), ("commands at a time", "depth", ""))


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick", random=False) # a recording draws nothing
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    args.loads = list(LOADS)
    return arguments.quickly(args, loads=[FILLSEQ])


def device(way, protection=None):
    zoned = sessions.SESSIONS[RECORDINGS.get(way, RECORDINGS[ZONES])].device()
    if not protection:
        return zoned
    return runs.merged(zoned, {"buffers": {"count": zoned["zones"]["max_open"], "pool": f"{POOL_MIB} MiB"}, "plp": POOLED[protection]})


def stored_run(folder, built, name, durable=True, most=None):
    """One command at a time, as the store sends them; durable: with the FUA of its log."""
    trace = {"file": str(TOP / "traces" / f"{name}.hzt.xz"), "threads": 1, "queue_depth": 1, "durable": durable} | ({"max_ops": most} if most else {})
    return folder, built, {"name": NAME, "mapping": "direct", "verify": False, "trace": trace}


def runs_of(args, way, protection=None):
    """Each a prefix of a recording, or the store's trace: loads are differences of them."""
    built, folder = device(way, protection), f"{way}-{protection or 'as-recorded'}".replace(", ", "-").replace(" ", "-")
    if way in RECORDINGS:
        name = RECORDINGS[way]
        return [recorded.run(f"{folder}-{i}", built, name, recorded.of(name).marks[i]) for i in range(len(args.loads) + 1)]
    parts = ((STORED, FILLED), (STORED, None), (STORED_SYNCED, None))
    return [stored_run(f"{folder}-{i}", built, name, way == STORE, most) for i, (name, most) in enumerate(parts[:len(args.loads)])]


def name_of(way, protection):
    return f"{way}, shared buffers, protection {protection}"


def points(args):
    plain = [Point({"way": way}, way, runs_of(args, way)) for way in (ZONES, BLOCK, STORE, VOLATILE)]
    return plain + [Point({"way": name_of(way, protection)}, name_of(way, protection), runs_of(args, way, protection))
                    for way in PROTECTED for protection in POOLED]


def check(result, folder):
    if result["failed_commands"]["count"]:
        raise runs.StudyError(f"a command of the recording failed in {folder}")


def summarize(results):
    """us: load → kind → sum of the latencies; waf: up to the end of overwrite."""
    again, sums = bool(results[0].get("as_recorded")), [recorded.spent_us(result) for result in results]
    befores = sums[:-1] if again else [None, sums[0], None]
    us = {load: {kind: whole[kind] - (before[kind] if before else 0) for kind in recorded.KINDS}
          for load, whole, before in zip(LOADS, sums[1:] if again else sums, befores)}
    return {"us": us, "waf": results[:3 if again else 2][-1]["waf"], "digests": [(result["as_recorded"] if again else result)["digest"] for result in results]}


@functools.lru_cache
def stored(name):
    """The store's commands, in the form of a recording's; a zone begins where none before it ends."""
    kinds = {"write": recorded.WRITE, "read": recorded.READ, "flush": recorded.FLUSH, "reset": recorded.ZONE_SEND}
    found = []
    with lzma.open(TOP / "traces" / f"{name}.hzt.xz", "rt", encoding="ascii") as lines:
        for line in lines:
            if m := re.match(r"\d+ \d+ (\w+)(?: z(\d+)\+(\d+))?(?: (\d+))?( durable)?", line):
                found.append(types.SimpleNamespace(kind=kinds[m[1]], at=(int(m[2] or 0) << 32) + int(m[3] or 0) // 4096, blocks=int(m[4] or 0) // 4096,
                                                   durable=bool(m[5])))
    return found


def commands_of(way, load):
    if way in RECORDINGS:
        return recorded.of(RECORDINGS[way]).phase(LOADS.index(load))
    return {FILLSEQ: stored(STORED)[:FILLED], OVERWRITE: stored(STORED)[FILLED:], SYNCED: stored(STORED_SYNCED)}[load]


def sent(way, load):
    """Of the commands, as they were recorded."""
    commands, keys = commands_of(way, load), KEYS[load]
    writes = [c for c in commands if c.kind in WRITES]
    blocks = sum(c.blocks for c in writes)
    depth = sum(c.done - c.arrival for c in commands) / recorded.busy_ns(commands) if way in RECORDINGS else 1.0
    return {"kib": 4 * blocks / keys, "write_kib": 4 * blocks / len(writes), "largest_kib": 4 * max(c.blocks for c in writes),
            "fua": 100 * sum(c.blocks for c in writes if c.durable) / blocks, "in_order": 100 * recorded.in_order(writes) / blocks,
            "flushes": 1000 * sum(c.kind == recorded.FLUSH for c in commands) / keys,
            "freed": 1000 * sum(c.kind in (recorded.ZONE_SEND, recorded.TRIM) for c in commands) / keys,
            "read_kib": 4 * sum(c.blocks for c in commands if c.kind == recorded.READ) / keys, "depth": depth}


def figures(args, measured):
    out = [report.figure(f"write amplification, {way}", measured.value(way, "waf"), "") for way in (ZONES, BLOCK, STORE, VOLATILE)]
    for load in args.loads:
        for way in (ZONES, BLOCK, STORE, VOLATILE, *(name_of(way, protection) for way in PROTECTED for protection in POOLED)):
            us = measured[way]["us"][load] if way in measured else None
            out += [report.figure(f"{load}, device time of a key, {way}", us and sum(us.values()) / KEYS[load], "us"),
                    report.figure(f"{load}, part of it in Flush, {way}", us and 100 * us["flush"] / sum(us.values()), "%")]
        for way in (ZONES, BLOCK, STORE):
            found, us = sent(way, load), measured[way]["us"][load] if way in measured else None
            out += [report.figure(f"{load}, device time of a written MiB, {way}", us and sum(us.values()) / KEYS[load] / found["kib"] * 1.024, "ms")]
            out += [report.figure(f"{load}, {what}, {way}", found[field], unit) for what, field, unit in SHOWN]
    return out


def rows(figure):
    for load in LOADS:
        us = {way: figure(f"{load}, device time of a key, {way}") for way in (ZONES, BLOCK, STORE, VOLATILE)}
        mib = {way: figure(f"{load}, device time of a written MiB, {way}") for way in (ZONES, BLOCK, STORE)}
        yield (f"{load}, device time of a key: F2FS on zones against a block device", "", f"{percent_more(us[ZONES], us[BLOCK]):+.0f} % "
               f"({us[ZONES]:.2f} against {us[BLOCK]:.2f} us)")
        yield (f"{load}, device time of a written MiB: F2FS on zones, on a block device; our store", "", "; ".join(f"{one:.2f}" for one in mib.values()) + " ms")
        if load != SYNCED:
            yield (f"{load}, device time of a key: our store; its writes without FUA", "", f"{us[STORE]:.2f}; {us[VOLATILE]:.2f} us")
    yield ("write amplification of fillseq and overwrite: F2FS on zones, on a block device; our store; its writes without FUA", "",
           "; ".join(f"{figure(f'write amplification, {way}'):.2f}" for way in (ZONES, BLOCK, STORE, VOLATILE)))
    for load in LOADS:
        for way in (ZONES, BLOCK, STORE):
            one = {field: figure(f"{load}, {what}, {way}") for what, field, _ in SHOWN}
            yield (f"{load}, {way}", "", f"{one['kib']:.2f} KiB of a key in writes of {one['write_kib']:.0f} KiB, at most {one['largest_kib']:.0f}; "
                   f"{one['fua']:.1f} % with FUA, {one['in_order']:.0f} % in order; for 1,000 keys {one['flushes']:.1f} Flushes, {one['freed']:.2f} resets and "
                   f"trims; {one['read_kib']:.2f} KiB read of a key; {one['depth']:.2f} commands at a time")
    for load in LOADS:
        for way in PROTECTED:
            none, full = (figure(f"{load}, device time of a key, {name_of(way, protection)}") for protection in POOLED)
            part = figure(f"{load}, part of it in Flush, {name_of(way, 'none')}")
            yield (f"{load}, {way}: full protection against none", "", f"{none / full:.1f} times as fast ({full:.2f} against {none:.2f} us a key; "
                   f"{part:.0f} % of none in Flush)")


def directions(figure):
    def has(load, what, way):
        return figure(f"{load}, {what}, {way}")
    for way in (ZONES, BLOCK):
        yield f"F2FS sends hardly any of an unsynced log: {way}", has(FILLSEQ, "KiB written for a key", way) < 1.3 * DATA_KIB
    yield "our store sends all of it", has(FILLSEQ, "KiB written for a key", STORE) > 1.9 * DATA_KIB
    yield "and waits for each piece", has(FILLSEQ, "device time of a key", STORE) > 1.2 * has(FILLSEQ, "device time of a key", VOLATILE)
    for way in PROTECTED:
        none, full = (has(FILLSEQ, "device time of a key", name_of(way, protection)) for protection in POOLED)
        yield f"full protection makes fillseq faster: {way}", none > 1.5 * full
    yield "F2FS sends larger writes", has(FILLSEQ, "largest write", ZONES) >= 4 * has(FILLSEQ, "largest write", STORE)
    if report.has(figure, f"{SYNCED}, device time of a key, {ZONES}"):
        yield "a sync is a Flush in F2FS", has(SYNCED, "FUA", ZONES) < 5 and has(SYNCED, "Flushes for 1,000 keys", ZONES) > 950
        yield "and FUA in our store", has(SYNCED, "FUA", STORE) > 99


def show(measured):
    report.table(["way", "load", "us a key", *(f"{kind}, us" for kind in recorded.KINDS)],
                 [[way, load, sum(us.values()) / KEYS[load], *(us[kind] / KEYS[load] for kind in recorded.KINDS)]
                  for way, p in measured.items() for load, us in p["us"].items()])


def draw(measured):
    fig, axes = plot.figure(2)
    ways = [way for way in (ZONES, BLOCK, STORE) if way in measured]
    loads = [load for load in (FILLSEQ, OVERWRITE) if all(load in measured[way]["us"] for way in ways)]
    plot.bars(axes[0], loads, {way: [sum(measured[way]["us"][load].values()) / KEYS[load] for load in loads] for way in ways}, "Device time of a key", "us")
    plot.bars(axes[1], loads, {way: [sent(way, load)["kib"] for load in loads] for way in ways}, "Written for a key", "KiB")
    return fig


def facts(_):
    return {"device": "zms, smaller, with kept data",
            "recordings": [*(f"traces/{name}.hzr.xz" for name in RECORDINGS.values()), *(f"traces/{name}.hzt.xz" for name in (STORED, STORED_SYNCED))]}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
