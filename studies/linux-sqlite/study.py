#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SQLite's inserts (write-ahead log) on Linux's F2FS and ext4, from recordings of what they sent to the device, next to hzfs, our model of F2FS."""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "linux")]
import sessions  # noqa: E402
from common import arguments, files, frame, plot, recorded, report, runs  # noqa: E402
from common.report import percent_more  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "linux-sqlite"
ZONES, BLOCK, EXT4, ONE = "F2FS, zones", "F2FS, block device", "ext4, block device", "F2FS, zones, 1 worker"
RECORDINGS = {ZONES: "sqlite-f2fs-zones", BLOCK: "sqlite-f2fs-block", EXT4: "sqlite-ext4-block", ONE: "sqlite-f2fs-zones"}
HZFS_ZONES, HZFS_BLOCK = "hzfs, zones", "hzfs, block device, in place"
MODELS = {HZFS_ZONES: ("sqlite-f2fs-zones",), HZFS_BLOCK: ("sqlite-f2fs-block", "--in-place")}
PAIRS = ((ZONES, BLOCK), (HZFS_ZONES, HZFS_BLOCK), (EXT4, BLOCK), (ONE, ZONES))
WAYS = (*RECORDINGS, *MODELS)
WRITES = (recorded.WRITE, recorded.APPEND)
KINDS = ("read", "write", "flush")
HZFS_KINDS = {"read": ("read",), "write": ("write", "durable write", "in place"), "flush": ("flush",)}
SHOWN = (("device time", "us", "us"), ("writes", "write", ""), ("FUA", "durable", ""), ("Flushes", "flush", ""), ("written", "kib", "KiB"),
         ("overwritten", "overwritten", "KiB"))


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick", random=False) # a recording draws nothing
    arguments.add_number(p, "--inserts", 10, sessions.INSERTS, sessions.INSERTS, "inserts: the first ones of the recordings, and of hzfs")
    arguments.add_update(p)
    return arguments.quickly(arguments.parsed(p, words), inserts=500)


def first_inserts(name, most):
    """Their commands. Each insert ends with a sync, as do SQLite's checkpoints, two in a thousand: writes, and a Flush of each device that they went
    to."""
    commands = recorded.of(name).phase(0)
    seen = written = 0
    for i, command in enumerate(commands):
        if command.kind in WRITES:
            if seen == most:
                return commands[:i]
            written = True
        elif command.kind == recorded.FLUSH:
            seen, written = seen + written, False
    return commands


def recorded_runs(args, way):
    """Up to the end of the inserts, and up to their begin: the inserts are the difference."""
    name, more = RECORDINGS[way], ("--workers", 1) if way == ONE else ()
    at, before = list(RECORDINGS).index(way), recorded.of(name).marks[0]
    return [recorded.run(f"{at}-{part}", sessions.SESSIONS[name].device(), name, most, more)
            for part, most in (("inserts", before + len(first_inserts(name, args.inserts))), ("before", before))]


def model_run(args, way):
    name, *more = MODELS[way]
    # From a pipe of the shell, since a command line is too short.
    words = ("sqlite", "--seed", 1, "--page-cache", "64MiB", *more, "mobibench.db", "pragma journal_mode=wal; create table t(k integer primary key, v text);",
             f".read '|yes \"{sessions.INSERT}\" | head -n {args.inserts}'")
    return files.run(f"hzfs-{list(MODELS).index(way)}", sessions.SESSIONS[name].device(), words)


def points(args):
    return [Point({"way": way}, way, recorded_runs(args, way)) for way in RECORDINGS] + \
        [Point({"way": way}, way, [model_run(args, way)]) for way in MODELS]


def check(result, folder):
    if "as_recorded" in result and result["failed_commands"]["count"]:
        raise runs.StudyError(f"a command of the recording failed in {folder}")


def of_recording(results):
    whole, before = results
    found = recorded.of(pathlib.Path(whole["workload"]["trace"]["file"]).name.removesuffix(".hzr.xz"))
    commands = found.commands[found.marks[0]:found.marks[0] + whole["as_recorded"]["commands"] - before["as_recorded"]["commands"]]
    us = {kind: recorded.spent_us(whole)[kind] - recorded.spent_us(before)[kind] for kind in KINDS}
    writes = [c for c in commands if c.kind in WRITES]
    return {"us": us, "write": len(writes), "flush": sum(c.kind == recorded.FLUSH for c in commands), "durable": sum(c.durable for c in writes),
            "kib": 4 * sum(c.blocks for c in writes), "overwritten": 4 * recorded.overwritten(writes),
            "digests": [result["as_recorded"]["digest"] for result in results]}


def of_model(result):
    kinds = {kind: [result["device"][name] for name in names if name in result["device"]] for kind, names in HZFS_KINDS.items()}
    us = {kind: sum(one["count"] * (one["latency_ns"]["mean"] or 0) for one in found) / 1e3 for kind, found in kinds.items()}
    return {"us": us, "write": sum(one["count"] for one in kinds["write"]), "flush": result["device"]["flush"]["count"],
            "durable": result["device"]["durable write"]["count"], "kib": sum(one["bytes"] for one in kinds["write"]) / 1024,
            "overwritten": 4 * result["files"]["in_place_blocks"], "digests": [result["digest"]]}


def summarize(results):
    """Sums over the inserts."""
    found = of_recording(results) if "as_recorded" in results[0] else of_model(results[0])
    by_kind = found.pop("us")
    return found | {"us": sum(by_kind.values()), "write_us": by_kind["write"] / found["write"], "flush_us": by_kind["flush"] / found["flush"]}


def figures(args, measured):
    each = {(way, field): measured[way][field] / args.inserts if way in measured else None for way in WAYS for _, field, _ in SHOWN}
    out = [report.figure(f"{what} of an insert, {way}", each[way, field], unit) for way in WAYS for what, field, unit in SHOWN]
    out += [report.figure(f"mean of a {kind}, {way}", measured.value(way, f"{kind}_us"), "us") for way in WAYS for kind in ("write", "flush")]
    rate = {way: 1e6 / each[way, "us"] if way in measured else None for way in WAYS}
    out += [report.figure(f"inserts of a second of device time, {way}", rate[way], "/s") for way in WAYS]
    return out + [report.figure(f"{zones} against {block}", percent_more(rate[zones], rate[block]), "%") for zones, block in PAIRS]


def rows(figure):
    for (zones, block), paper in zip(PAIRS, ("+60 to +100 %", "+60 to +100 %", "", "")):
        yield (f"inserts, {zones}, against {block}", paper, f"{figure(f'{zones} against {block}'):+.0f} % "
               f"({figure(f'inserts of a second of device time, {zones}'):,.0f} against {figure(f'inserts of a second of device time, {block}'):,.0f} "
               "in a second of device time)")
    for way in WAYS:
        one = {field: figure(f"{what} of an insert, {way}") for what, field, _ in SHOWN}
        yield (f"an insert, {way}", "", f"{one['us']:.0f} us: {one['write']:.2f} writes ({one['durable']:.2f} with FUA) of {figure(f'mean of a write, {way}'):.0f} "
               f"us, {one['flush']:.2f} Flushes of {figure(f'mean of a flush, {way}'):.0f} us; {one['kib']:.1f} KiB, {one['overwritten']:.1f} KiB of them over "
               "earlier ones")


def directions(figure):
    for way in (ZONES, BLOCK):
        yield f"F2FS makes a sync durable by Flush, not by FUA: {way}", figure(f"FUA of an insert, {way}") < 0.1 < 0.9 < figure(f"Flushes of an insert, {way}")
    for way in MODELS:
        yield f"hzfs does it by FUA: {way}", figure(f"Flushes of an insert, {way}") < 0.1 < 0.9 < figure(f"FUA of an insert, {way}")
    yield "F2FS flushes each device that it wrote to", figure(f"Flushes of an insert, {ZONES}") > 1.1 * figure(f"Flushes of an insert, {BLOCK}")
    yield "F2FS overwrites nothing on zones", figure(f"overwritten of an insert, {ZONES}") < 0.1
    yield "zones give F2FS no more inserts", figure(f"{ZONES} against {BLOCK}") < 10
    yield "nor hzfs", figure(f"{HZFS_ZONES} against {HZFS_BLOCK}") < 10
    yield "one worker is hardly slower", abs(figure(f"{ONE} against {ZONES}")) < 20


def show(measured):
    report.table(["way", *(f"{what}{', ' + unit if unit else ''}" for what, _, unit in SHOWN), "a write, us", "a Flush, us"],
                 [[way, *(p[field] for _, field, _ in SHOWN), p["write_us"], p["flush_us"]] for way, p in measured.items()])


def draw(measured):
    fig, axes = plot.figure(2)
    for ax, field, title, unit, factor in ((axes[0], "us", "Device time of all inserts", "s", 1e-6), (axes[1], "kib", "Written for them", "MiB", 1 / 1024)):
        plot.bars(ax, [""], {way: [p[field] * factor] for way, p in measured.items()}, title, unit)
    return fig


def facts(_):
    return {"device": "zms, smaller, with kept data", "recordings": {way: f"traces/{name}.hzr.xz" for way, name in RECORDINGS.items()}}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
