#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ZMS, random overwrites through a log-structured host: how much is programmed and how fast, on zones and on a block device."""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, block, cufs, files, frame, plot, report, runs, zms  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "zms-random-write"
MIB = 2 ** 20
CACHE_PER_BYTE = 2 ** 20 / 2 ** 37 # map cache of the block device: 1 MiB, usual in mobile devices
                                   # (zms-random-read), for the paper's 128 GiB
CLEANER = ("--cleaner", files.cleaner(138 // zms.ZONE_MIB)) # the paper's zones have 138 MiB
BUFFERED, SYNCED = "a sync for each MiB", "a sync for 8 blocks"
BLOCK, BLOCK_SSR, BLOCK_CLEANED = "block device", "block device, SSR", "block device, cleaned in time"
BLOCK_IN_PLACE, BLOCK_IN_PLACE_SSR = "block device, in place", "block device, in place, SSR"
ZONES, ZONES_CLEANED, ZMS, ZONES_COPY = "zones", "zones, cleaned in time", "ZMS", "zones, the device copies"
WAYS = {BLOCK: (), BLOCK_SSR: (cufs.SLACK,), BLOCK_CLEANED: CLEANER, ZONES: (), ZONES_CLEANED: CLEANER, ZMS: (*CLEANER, "--iotailor", "--copy-offload"),
        BLOCK_IN_PLACE: ("--in-place",), BLOCK_IN_PLACE_SSR: ("--in-place", cufs.SLACK), ZONES_COPY: ("--copy-offload",)}
COLLECTED = "moved by the device's collector"
ON_BLOCKS = (BLOCK, BLOCK_SSR, BLOCK_CLEANED, BLOCK_IN_PLACE, BLOCK_IN_PLACE_SSR)
ONE_LOG = (BLOCK_SSR, BLOCK, BLOCK_CLEANED, ZONES, ZONES_CLEANED, ZMS)
# What differs from the options, by load. The smallest devices must have 12 % of spare: the block device's collector needs 5 superblocks.
SWEEP = {f"{BUFFERED}, {percent} % full": {"aged": percent} for percent in (60, 85)} \
    | {f"{BUFFERED}, {percent} % spare": {"spare": percent} for percent in (12, 20)} \
    | {f"{BUFFERED}, 12 % spare, a third of the zones, file and updates": {"spare": 12, "part": 3}}
GRID = [(BUFFERED, way) for way in ONE_LOG] + [(load, way) for load in SWEEP for way in (BLOCK_SSR, BLOCK_CLEANED, ZMS)] \
    + [(SYNCED, way) for way in (BLOCK_IN_PLACE_SSR, BLOCK_IN_PLACE, ZONES_COPY)]
QUICK = [(BUFFERED, way) for way in (BLOCK_SSR, BLOCK_CLEANED, ZMS)]


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_number(p, "--zones", 16, 512, 120, f"of {zms.ZONE_MIB} MiB; the block device has as much flash")
    arguments.add_number(p, "--spare", 1, 50, round(100 * block.OVER_PROVISIONING), "percent of the block device's superblocks that its host does not see; at least 5 superblocks")
    arguments.add_number(p, "--file", 4, 1024, 96, "MiB of the file that is overwritten")
    arguments.add_number(p, "--aged", 1, 95, 75, "percent of the room that files have, the overwritten one included")
    arguments.add_number(p, "--warm-up", 1, 10000000, 98304, "updates of 4 KiB, anywhere in the file, before the measured ones")
    arguments.add_number(p, "--updates", 1000, 10000000, 49152, "that are measured; of those with a sync for 8 blocks, and of their warm-up, a quarter")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    args.grid = GRID
    return arguments.quickly(args, zones=24, file=12, warm_up=1024, updates=4096, grid=QUICK)


def of_load(args, load):
    """The options, as far as the load does not say otherwise."""
    here = vars(args) | SWEEP.get(load, {})
    return argparse.Namespace(**here | {name: here[name] // here.get("part", 1) for name in ("zones", "file", "warm_up", "updates")})


def device(here, way):
    """The block device has the same superblocks, and its map in flash."""
    count, slc = here.zones + 1, 40 + here.zones // 4 # room for the staged data of all zones
    over = max(zms.CONVENTIONAL_SPARE, round(here.spare / 100 * count))
    zoned = zms.device(here.zones, slc, over) | {"name": NAME}
    if way not in ON_BLOCKS:
        return zoned
    cache = round(count * zms.ZONE_MIB * MIB * CACHE_PER_BYTE / 4) * 4
    return block.of(zoned, count, over) | {"l2p": {"cache": cache, "levels": "page", "prefetch": 1023, "shards": 1}}


def words_of(here, load, way, seed):
    part, every = (4, 8) if load == SYNCED else (1, 256)
    return ("files", "update", "--aged", here.aged, "--size", here.file, "--warm-up", here.warm_up // part, "--count", here.updates // part,
            "--sync-every", every, "--seed", seed, *WAYS[way])


def points(args):
    here = {load: of_load(args, load) for load, _ in args.grid}
    return [Point({"load": load, "way": way}, f"{load}, {way}",
                  [files.run(f"{i}-{seed}", device(here[load], way), words_of(here[load], load, way, seed)) for seed in args.seeds])
            for i, (load, way) in enumerate(args.grid)]


def check(result, folder):
    if not result["result"]["device"]["programmed_bytes"]:
        raise runs.StudyError(f"the run in {folder} programmed nothing")


def of_run(result):
    found = result["result"]
    at, user = found["device"], found["updates"] * 4096
    return {"per_second": found["per_second"], "waf": at["programmed_bytes"] / user, "host_waf": at["host_write_bytes"] / user,
            "device_waf": at["programmed_bytes"] / at["host_write_bytes"], "moved_mib": found["moved_blocks"] / 256, "collected_mib": at["collected_bytes"] / MIB,
            "staged_mib": at["slc_bytes"] / MIB, "to_dead_mib": result["files"]["slack_blocks"] / 256,
            "writes": sum(result["device"][kind]["count"] for kind in ("write", "durable write")), "worst_ms": found["latency_ns"]["max"] / 1e6,
            "filled": 100 * found["filled"]}


def summarize(results):
    found = [of_run(r) for r in results]
    return {name: mean(f[name] for f in found) for name in found[0]} | {"digests": [r["digest"] for r in results]}


def figures(args, measured):
    out = []
    for load, way in args.grid:
        out += [report.figure(f"{load}, {way}, {what}", measured.value((load, way), field), unit) for what, field, unit in (
            ("updates", "per_second", "/s"), ("programmed for a byte", "waf", ""), ("written by the host for a byte", "host_waf", ""), ("device WAF", "device_waf", ""),
            ("moved by the host", "moved_mib", "MiB"), (COLLECTED, "collected_mib", "MiB"), ("staged", "staged_mib", "MiB"),
            ("written to dead blocks", "to_dead_mib", "MiB"), ("write commands", "writes", ""), ("longest", "worst_ms", "ms"), ("room that files have", "filled", "%"))]
    return out


def times(figure, load, way, base):
    """(throughput, WAF) of one way: improvement factors over another."""
    one, other = ((figure(f"{load}, {name}, updates"), figure(f"{load}, {name}, programmed for a byte")) for name in (way, base))
    return one[0] / other[0], other[1] / one[1]


def rows(figure):
    for way, base, paper in ((ZMS, BLOCK_SSR, ("5x to 13.6x", "2.85x to 6.4x")), (ZMS, BLOCK, ("", "")), (ZMS, BLOCK_CLEANED, ("", "")),
                             (ZONES, BLOCK, ("", ""))):
        faster, lower = times(figure, BUFFERED, way, base)
        yield (f"{BUFFERED}: {way} against {base}: throughput", paper[0],
               f"{faster:.1f}x ({figure(f'{BUFFERED}, {way}, updates'):,.0f} against {figure(f'{BUFFERED}, {base}, updates'):,.0f} a second)")
        yield (f"{BUFFERED}: {way} against {base}: lower write amplification", paper[1],
               f"{lower:.2f}x ({figure(f'{BUFFERED}, {way}, programmed for a byte'):.2f} against {figure(f'{BUFFERED}, {base}, programmed for a byte'):.2f})")
    for way in ONE_LOG:
        yield (f"{BUFFERED}: {way}: written by host x programmed for it; moved by host; by the device's collector; staged; write commands", "",
               f"{figure(f'{BUFFERED}, {way}, written by the host for a byte'):.2f} x {figure(f'{BUFFERED}, {way}, device WAF'):.2f}; "
               + "; ".join(f"{figure(f'{BUFFERED}, {way}, {what}'):.0f}" for what in ("moved by the host", COLLECTED, "staged"))
               + f" MiB; {figure(f'{BUFFERED}, {way}, write commands'):,.0f}")
    for load in SWEEP:
        by_base = [times(figure, load, ZMS, base) for base in (BLOCK_SSR, BLOCK_CLEANED)]
        yield (f"{load}: {ZMS} against {BLOCK_SSR}; {BLOCK_CLEANED}: throughput, lower write amplification", "",
               "; ".join(f"{faster:.1f}x, {lower:.2f}x" for faster, lower in by_base))
    for base in (BLOCK_IN_PLACE_SSR, BLOCK_IN_PLACE):
        faster, lower = times(figure, SYNCED, ZONES_COPY, base)
        yield (f"{SYNCED}: {ZONES_COPY}, against {base}: throughput; lower write amplification", "",
               f"{faster:.2f}x; {lower:.2f}x ({figure(f'{SYNCED}, {ZONES_COPY}, programmed for a byte'):.2f} against "
               f"{figure(f'{SYNCED}, {base}, programmed for a byte'):.2f})")


def directions(figure):
    for base, least in ((BLOCK_SSR, 1.2), (BLOCK_CLEANED, 1.2)):
        faster, lower = times(figure, BUFFERED, ZMS, base)
        yield f"zones are overwritten faster than a {base}, by the same host", faster > least
        yield f"with less that is programmed than on a {base}", lower > least
        yield f"a {base} collects below what the host does", figure(f"{BUFFERED}, {base}, {COLLECTED}") > 1
        yield f"so a {base} programs more for what the host writes", \
            figure(f"{BUFFERED}, {base}, device WAF") > 1.2 * figure(f"{BUFFERED}, {ZMS}, device WAF")
    yield "a device with zones collects nothing", figure(f"{BUFFERED}, {ZMS}, {COLLECTED}") == 0


def show(measured):
    columns = ("per_second", "waf", "host_waf", "device_waf", "moved_mib", "collected_mib", "staged_mib", "to_dead_mib", "writes", "worst_ms")
    report.table(["load", "way", "updates/s", "programmed", "by host", "device WAF", "moved MiB", "collected MiB", "staged MiB", "to dead MiB", "commands",
                  "longest ms", "filled %"],
                 [[load, way, *(p[k] for k in (*columns, "filled"))] for (load, way), p in measured.items()])


def draw(measured):
    fig, (rates, amplification) = plot.figure(2)
    ways = [way for load, way in measured if load == BUFFERED]
    names = [way.replace(", ", "\n") for way in ways]
    plot.bars(rates, names, {BUFFERED: [measured.value((BUFFERED, way), "per_second") / 1e3 for way in ways]}, "Random overwrites", "thousands a second")
    plot.bars(amplification, names, {BUFFERED: [measured.value((BUFFERED, way), "waf") for way in ways]}, "Programmed for a byte", "")
    for ax in (rates, amplification):
        ax.tick_params(axis="x", labelsize=6)
    return fig


def facts(args):
    return {"device": "zms, with kept data", "file_mib": args.file, "aged_percent": args.aged, "updates": args.updates}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
