#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fragments of a file on Linux's F2FS that files have fragmented, on zones and on a block device, from recordings, next to hzfs and ZUFS's Table 2."""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "linux")]
import sessions  # noqa: E402
from common import arguments, cufs, files, frame, plot, recorded, report, runs  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "linux-fragments"
ZONES, BLOCK = "F2FS, zones", "F2FS, block device"
RECORDINGS = {ZONES: "aged-f2fs-zones", BLOCK: "aged-f2fs-block"}
HZFS_ZONES, HZFS_SSR = "hzfs, zones", "hzfs, block device, SSR"
MODELS = {HZFS_ZONES: ("aged-f2fs-zones",), HZFS_SSR: ("aged-f2fs-block", cufs.SLACK)}
WRITES = (recorded.WRITE, recorded.APPEND)


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick", random=False) # a recording draws nothing
    arguments.add_number(p, "--commands", 100, 10000000, 10000000, "commands of each recording that are repeated, at most all")
    arguments.add_number(p, "--iterations", 3, 10000, 10000, "iterations of hzfs, at most until the device is full")
    arguments.add_update(p)
    return arguments.quickly(arguments.parsed(p, words), commands=1200, iterations=12)


def model_run(args, way):
    name, *more = MODELS[way]
    words = ("files", "fragment", "--small-files", 64, "--size", 2, "--reread", 32, "--count", args.iterations, "--seed", 1, *more)
    return files.run(f"hzfs-{list(MODELS).index(way)}", sessions.SESSIONS[name].device(), words)


def points(args):
    repeats = [Point({"way": way}, way, [recorded.run(f"f2fs-{i}", sessions.SESSIONS[name].device(), name, args.commands)])
               for i, (way, name) in enumerate(RECORDINGS.items())]
    return repeats + [Point({"way": way}, way, [model_run(args, way)]) for way in MODELS]


def check(result, folder):
    if "as_recorded" in result and result["failed_commands"]["count"]:
        raise runs.StudyError(f"a command of the recording failed in {folder}")


def kib_of(kinds):
    return sum(one["bytes"] for one in kinds) / 1024 / sum(one["count"] for one in kinds)


def summarize(results):
    result, = results
    if "as_recorded" in result:
        totals = result["totals"]
        return {"digests": [result["as_recorded"]["digest"]], "waf": result["waf"],
                **{f"{kind}_us": totals[kind]["latency_ns"]["mean"] / 1e3 for kind in ("read", "write")}}
    late = result["result"]["iterations"][-max(1, len(result["result"]["iterations"]) // 3):]
    return {"digests": [result["digest"]], "read_kib": mean(kib_of([one["commands"]["read"]]) for one in late),
            "write_kib": mean(kib_of([one["commands"][kind] for kind in ("write", "durable write")]) for one in late)}


def data_of(commands):
    """Reads of a photo. Those of one block are of nodes, which name the places of its data."""
    reads = [c for c in commands if c.kind == recorded.READ and c.blocks > 1]
    if 4 * sum(c.blocks for c in reads) != sessions.PHOTO_KIB:
        raise runs.StudyError("the reads of a photo are not those of its data: make the recording again")
    return reads


def fragments(reads):
    """Runs of neighbouring blocks."""
    ends, count = -1, 0
    for at, end in sorted((c.at, c.at + c.blocks) for c in reads):
        count += at != ends
        ends = end
    return count


def of_photos(name):
    """As it was recorded: how they were written, in one phase, and read, in one phase for each."""
    found = recorded.of(name)
    written, reads = found.phase(0), [data_of(found.phase(2 + i)) for i in range(sessions.PHOTOS)]
    counts, commands, data = [fragments(one) for one in reads], [c for one in reads for c in one], [c for c in written if c.kind in WRITES]
    mib = sessions.PHOTOS * sessions.PHOTO_KIB / 1024
    return {"fragments": mean(counts), "most": max(counts), "length": sessions.PHOTO_KIB / mean(counts), "read_kib": mean(4 * c.blocks for c in commands),
            "read_ms": recorded.busy_ns(commands) / 1e6 / mib, "write_kib": mean(4 * c.blocks for c in data),
            "write_ms": recorded.busy_ns(written) / 1e6 / mib}


SHOWN = (("fragments of a file", "fragments", ""), ("most fragments", "most", ""), ("KiB of a fragment", "length", "KiB"), ("KiB of a read", "read_kib", "KiB"), ("read, ms of a MiB", "read_ms", "ms"),
         ("KiB of a write", "write_kib", "KiB"), ("write, ms of a MiB", "write_ms", "ms"))


def figures(_, measured):
    out = [report.figure(f"{what}, {way}", of_photos(name)[field], unit) for way, name in RECORDINGS.items() for what, field, unit in SHOWN]
    out += [report.figure(f"mean of a {kind}, {way}", measured.value(way, f"{kind}_us"), "us") for way in RECORDINGS for kind in ("read", "write")]
    return out + [report.figure(f"KiB of a {kind}, {way}", measured.value(way, f"{kind}_kib"), "KiB") for way in MODELS for kind in ("read", "write")]


def rows(figure):
    for what, papers, digits in (("fragments of a file", ("46.29", "2.31"), 1), ("KiB of a fragment", ("97 (99 KB)", "1933 (1,979 KB)"), 0)):
        for way, paper in zip((BLOCK, ZONES), papers):
            yield f"{what}, {way}", paper, f"{figure(f'{what}, {way}'):.{digits}f}"
    yield "most fragments of a file: on zones, on a block device", "", ", ".join(f"{figure(f'most fragments, {way}'):.0f}" for way in RECORDINGS)
    for kind in ("read", "write"):
        yield (f"KiB of a {kind}: F2FS on zones, on a block device; hzfs on zones, on a block device (SSR)", "",
               "; ".join(", ".join(f"{figure(f'KiB of a {kind}, {way}'):.0f}" for way in ways) for ways in (RECORDINGS, MODELS)))
        yield (f"{kind}: device time of a MiB, F2FS on zones, on a block device", "",
               ", ".join(f"{figure(f'{kind}, ms of a MiB, {way}'):.2f}" for way in RECORDINGS) + " ms")


def directions(figure):
    yield "a block device fragments files more than zones", figure(f"fragments of a file, {BLOCK}") > 1.5 * figure(f"fragments of a file, {ZONES}")
    yield "so reads of it are smaller", figure(f"KiB of a read, {BLOCK}") < figure(f"KiB of a read, {ZONES}")


def show(measured):
    report.table(["way", *(what for what, _, _ in SHOWN)], [[way, *(of_photos(name)[field] for _, field, _ in SHOWN)] for way, name in RECORDINGS.items()])
    report.table(["way", "read, us", "write, us", "KiB of a read", "KiB of a write"],
                 [[way, *(p.get(field) for field in ("read_us", "write_us", "read_kib", "write_kib"))] for way, p in measured.items()])


def draw(_):
    fig, axes = plot.figure(2)
    found = {way: of_photos(name) for way, name in RECORDINGS.items()}
    plot.bars(axes[0], [""], {way: [one["fragments"]] for way, one in found.items()}, "Fragments of a file", "")
    plot.bars(axes[1], ["read", "write"], {way: [one["read_kib"], one["write_kib"]] for way, one in found.items()}, "Size of a command", "KiB")
    return fig


def facts(_):
    return {"device": "zms, smaller, with kept data", "recordings": {way: f"traces/{name}.hzr.xz" for way, name in RECORDINGS.items()}}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
