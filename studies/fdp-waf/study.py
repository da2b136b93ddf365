#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What placement by the host is worth: write amplification of a block device whose writes name a reclaim unit handle (FDP), against none."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report  # noqa: E402
from common.elasticity import Interval  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "fdp-waf"
ZONES, SPARES = 32, 7 # superblocks of 12 MiB: offered, and beyond that, as few as four handles may have
BLOCK_KIB = 64
LOG, HOT = "sequential", "random"
# By number of handles: of each thread, which has an eighth of the space, its pattern, its commands at a time, and its handle.
STREAMS = {2: [(LOG, 1, 0)] * 7 + [(HOT, 7, 1)],
           4: [(LOG, 1, 0)] * 5 + [(HOT, 1, 1), (HOT, 2, 2), (HOT, 4, 3)]}
WAYS = {"none": "no placement", "guessed": "the device guesses hot and cold", "placed": "the host names a handle"}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    p.set_defaults(seeds="1,2,3")
    arguments.add_numbers(p, "--streams", 2, 4, "2,4", "streams of different temperature: 2 or 4")
    arguments.add_number(p, "--volume", 1, 1 << 20, 576, "MiB that are written in all, after the space of 384 MiB was written once")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    for streams in args.streams:
        if streams not in STREAMS:
            p.error(f"--streams: {streams} is neither 2 nor 4")
    return arguments.quickly(args, streams=args.streams[:1], volume=240, seeds=[1, 2])


def device_of(way, streams):
    """The same media and buffers for all: one for each handle, and the collector's."""
    keys = {"none": {}, "guessed": {"conventional": {"streams": 2}}, "placed": {"fdp": {"handles": streams}}}[way]
    same = {"geometry": {"blocks_per_plane": 10 + ZONES + SPARES + 2}, "zones": {"count": ZONES},
            "conventional": {"spare_superblocks": SPARES, "buffers": 1 + streams, "streams": 1}}
    same["conventional"].update(keys.get("conventional", {}))
    return conzone.device({**same, **{name: keys[name] for name in keys if name != "conventional"}}, "legacy")


def workload_of(args, way, streams, seed):
    threads = STREAMS[streams]
    commands = sum(depth for _, depth, _ in threads)
    each = [{"pattern": pattern, "queue_depth": depth, "total_bytes": f"{args.volume * 1024 * depth // commands // BLOCK_KIB * BLOCK_KIB} KiB",
             **({"placement": handle} if way == "placed" else {})} for pattern, depth, handle in threads]
    return conzone.workload(NAME, seed, threads=len(threads), common={"read_ratio": 0.0, "block": f"{BLOCK_KIB} KiB", "prefill": 1.0,
                                                                      "total_bytes": "1 MiB"}, each=each)


def points(args):
    return [Point({"way": way, "streams": streams}, f"{way}, {streams} streams",
                  [(f"{way}-{streams}-{seed}", device_of(way, streams), workload_of(args, way, streams, seed)) for seed in args.seeds])
            for streams in args.streams for way in WAYS]


check = conzone.check


def zone_locks(result):
    """Acquisitions of zones' locks that met another hart, in %."""
    locks = [lock for lock in result["locks"] if lock["class"] == "zone"]
    taken = sum(lock["acquisitions"] for lock in locks)
    return 100 * sum(lock["contended"] for lock in locks) / taken if taken else 0.0


def summarize(results):
    found = Interval([r["waf"] for r in results])
    return {
        "waf": found.mean,
        "waf_half": found.half if len(results) > 1 else None,
        "waf_by_seed": found.values,
        "copied_mib": mean(conzone.flash_mib(r).get("gc", 0) for r in results),
        "mib_s": mean(r["totals"]["write"]["mib_s"] for r in results),
        "p99_us": mean(conzone.host_us(r, "write", "p99") for r in results),
        "contended": mean(zone_locks(r) for r in results),
        **conzone.common_figures(results),
    }


def figures(args, measured):
    out = []
    for streams in args.streams:
        for way in WAYS:
            at = f"{streams} streams, {way}"
            out += [report.figure(f"bytes programmed for a byte written, {at}", measured.value((way, streams), "waf"), ""),
                    report.figure(f"95 % interval of these to each side, {at}", measured.value((way, streams), "waf_half"), ""),
                    report.figure(f"copied by the collector, {at}", measured.value((way, streams), "copied_mib"), "MiB"),
                    report.figure(f"writes, {at}", measured.value((way, streams), "mib_s"), "MiB/s"),
                    report.figure(f"p99 of writes, {at}", measured.value((way, streams), "p99_us"), "us"),
                    report.figure(f"acquisitions of zones' locks that wait, {at}", measured.value((way, streams), "contended"), "%")]
    return out


def has(figure, streams):
    return report.has(figure, f"bytes programmed for a byte written, {streams} streams, none")


def directions(figure):
    for streams in filter(lambda n: has(figure, n), STREAMS):
        waf = {way: figure(f"bytes programmed for a byte written, {streams} streams, {way}") for way in WAYS}
        yield f"{streams} streams: placement by the host saves copies", waf["placed"] < waf["none"]
        yield f"{streams} streams: the host knows more than the device guesses", waf["placed"] < waf["guessed"]


def rows(figure):
    for streams in filter(lambda n: has(figure, n), STREAMS):
        for way, words in WAYS.items():
            at = f"{streams} streams, {way}"
            half = figure(f"95 % interval of these to each side, {at}")
            yield (f"bytes programmed for a byte written, {streams} streams: {words}", "",
                   f"{figure(f'bytes programmed for a byte written, {at}'):.2f}" + (f" ± {half:.2f}" if half is not None else "")
                   + f" ({figure(f'writes, {at}'):.0f} MiB/s)")


def show(measured):
    report.table(["way", "streams", "WAF", "± (95 %)", "copied, MiB", "MiB/s", "p99, us", "contended, %"],
                 [[way, streams, p["waf"], p["waf_half"], p["copied_mib"], p["mib_s"], p["p99_us"], p["contended"]] for (way, streams), p in measured.items()])


def draw(measured):
    streams = sorted({n for _, n in measured})
    return plot.amplification([f"{n} streams" for n in streams], lambda field: {
        way: [measured[way, n][field] if (way, n) in measured else None for n in streams] for way in WAYS})


def facts(args):
    return {"device": "legacy", "zones": ZONES, "spares": SPARES, "volume_mib": args.volume}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
