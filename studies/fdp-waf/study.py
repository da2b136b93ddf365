#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What placement by the host is worth: write amplification of a block device whose writes name a reclaim unit handle (FDP), against none."""
import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report  # noqa: E402
from common.elasticity import Interval  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "fdp-waf"
ZONES, SPARES = 32, 7 # superblocks: offered, and beyond that, as few as four handles may have
PAGES, QUICK_PAGES = 96, 36 # of a block, for superblocks of 12 MiB, or 4.5
BLOCK_KIB = 64
LOG, HOT = "sequential", "random"
# By number of handles: of each thread, which has an eighth of the space, its pattern, its commands at a time, and its handle.
STREAMS = {2: [(LOG, 1, 0)] * 7 + [(HOT, 7, 1)],
           4: [(LOG, 1, 0)] * 5 + [(HOT, 1, 1), (HOT, 2, 2), (HOT, 4, 3)]}


@dataclasses.dataclass(frozen=True)
class Way:
    words: str
    streams: int = 1         # of the device's own: 2 guess hot and cold
    has_handles: bool = False
    names: bool = True       # the threads name their handles, if there are any; else all name handle 0
    log: str = LOG           # pattern of the threads of handle 0
    active: tuple = (LOG, HOT) # whose threads write more than one command, behind the filling of the space
    spares: int = SPARES


WAYS = {"none": Way("no placement"), "guessed": Way("the device guesses hot and cold", streams=2), "placed": Way("the host names a handle", has_handles=True)}
ONE_HANDLE = "one handle" # four streams have this control, too, for their locks
# Each changes what one reason of the README is about.
CONTROLS = {
    ONE_HANDLE: Way("as many handles, and all writes name the same", has_handles=True, names=False),
    "no logs": Way("no placement, and the logs write at random", log=HOT),
    "no logs, placed": Way("the host names a handle, and the logs write at random", has_handles=True, log=HOT),
    "logs alone": Way("the host names a handle, and only the logs write", has_handles=True, active=(LOG,)),
    "random alone": Way("the host names a handle, and only the others write", has_handles=True, active=(HOT,)),
    "guessed, a spare more": Way("the device guesses, with one more spare superblock", streams=2, spares=SPARES + 1),
}
ALL = WAYS | CONTROLS


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    p.set_defaults(seeds="1,2,3", pages=PAGES)
    arguments.add_numbers(p, "--streams", 2, 4, "2,4", "streams of different temperature: 2 or 4")
    arguments.add_number(p, "--volume", 1, 1 << 20, 576, "MiB that are written in all, after the space of 384 MiB (with --quick 144) was written once")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    for streams in args.streams:
        if streams not in STREAMS:
            p.error(f"--streams: {streams} is neither 2 nor 4")
    return arguments.quickly(args, streams=args.streams[:1], volume=78, pages=QUICK_PAGES, seeds=[1, 2])


def device_of(args, way, streams):
    """The same media and buffers for all: one for each handle, and the collector's."""
    return conzone.device({"geometry": {"blocks_per_plane": 10 + ZONES + way.spares + 2, "pages_per_block": args.pages}, "zones": {"count": ZONES},
                           "conventional": {"spare_superblocks": way.spares, "buffers": 1 + streams, "streams": way.streams},
                           **({"fdp": {"handles": streams}} if way.has_handles else {})}, "legacy")


def thread_of(args, way, thread, commands):
    pattern, depth, handle = thread
    kib = args.volume * 1024 * depth // commands // BLOCK_KIB * BLOCK_KIB if pattern in way.active else BLOCK_KIB
    return {"pattern": way.log if pattern == LOG else pattern, "queue_depth": depth, "total_bytes": f"{kib} KiB",
            **({"placement": handle if way.names else 0} if way.has_handles else {})}


def workload_of(args, way, streams, seed):
    threads = STREAMS[streams]
    commands = sum(depth for _, depth, _ in threads)
    return conzone.workload(NAME, seed, threads=len(threads), each=[thread_of(args, way, thread, commands) for thread in threads],
                            common={"read_ratio": 0.0, "block": f"{BLOCK_KIB} KiB", "prefill": 1.0, "total_bytes": "1 MiB"})


def ways_of(streams):
    return {name: way for name, way in ALL.items() if name in (*WAYS, ONE_HANDLE) or streams == 2}


def points(args):
    def seeds_of(name):
        return args.seeds[:1] if args.quick and name in CONTROLS else args.seeds

    return [Point({"way": name, "streams": streams}, f"{name}, {streams} streams",
                  [(folder_of(name, streams, seed), device_of(args, way, streams), workload_of(args, way, streams, seed)) for seed in seeds_of(name)])
            for streams in args.streams for name, way in ways_of(streams).items()]


check = conzone.check


def zone_locks(result):
    """Acquisitions of zones' locks that met another hart, in %."""
    locks = [lock for lock in result["locks"] if lock["class"] == "zone"]
    taken = sum(lock["acquisitions"] for lock in locks)
    return 100 * sum(lock["contended"] for lock in locks) / taken if taken else 0.0


def summarize(results):
    found, copied = Interval([r["waf"] for r in results]), Interval([conzone.flash_mib(r).get("gc", 0) for r in results])
    return {
        "seeds": len(results),
        "waf": found.mean,
        "waf_half": found.half if len(results) > 1 else None,
        "waf_by_seed": found.values,
        "copied_mib": copied.mean,
        "copied_half": copied.half if len(results) > 1 else None,
        "mib_s": mean(r["totals"]["write"]["mib_s"] for r in results),
        "p99_us": mean(conzone.host_us(r, "write", "p99") for r in results),
        "contended": mean(zone_locks(r) for r in results),
        **conzone.common_figures(results),
    }


FIGURES = [("bytes programmed for a byte written", "waf", ""), ("95 % interval of these to each side", "waf_half", ""),
           ("copied by the collector", "copied_mib", "MiB"), ("95 % interval of the copies to each side", "copied_half", "MiB"),
           ("writes", "mib_s", "MiB/s"), ("p99 of writes", "p99_us", "us"), ("acquisitions of zones' locks that wait", "contended", "%")]


def figures(args, measured):
    """A control of the quick form has one seed, and no intervals."""
    return [report.figure(f"{what}, {streams} streams, {way}", measured.value((way, streams), field), unit)
            for streams in args.streams for way in ways_of(streams) for what, field, unit in FIGURES
            if not (args.quick and way in CONTROLS and field.endswith("half"))]


def has(figure, streams):
    return report.has(figure, f"bytes programmed for a byte written, {streams} streams, none")


def by_way(figure, what, streams):
    return {way: figure(f"{what}, {streams} streams, {way}") for way in ways_of(streams)}


def directions(figure):
    for streams in filter(lambda n: has(figure, n), STREAMS):
        waf, copied, waits = (by_way(figure, what, streams) for what, _, _ in (FIGURES[0], FIGURES[2], FIGURES[6]))
        yield f"{streams} streams: placement by the host saves copies", waf["placed"] < waf["none"]
        yield f"{streams} streams: the host knows more than the device guesses", waf["placed"] < waf["guessed"]
        yield f"{streams} streams: handles save nothing if all writes name the same", copied[ONE_HANDLE] > 0.9 * copied["none"]
        if streams == 2:
            yield "without logs handles save a smaller part", copied["no logs, placed"] > (copied["placed"] / copied["none"] + 0.1) * copied["no logs"]
            yield "logs alone need no copies", copied["logs alone"] < 0.01 * copied["none"]
            yield "most of what is copied with handles is copied without logs, too", 0.5 * copied["placed"] < copied["random alone"] < 1.1 * copied["placed"]
            yield "the guess copies more, and less of it with one more spare superblock", \
                max(copied["none"], 1.1 * copied["guessed, a spare more"]) < copied["guessed"]
        else:
            yield "threads that name the same handle meet more often at a lock", waits[ONE_HANDLE] > 1.5 * waits["placed"]


def with_half(figure, what, at, digits):
    name = {FIGURES[0][0]: FIGURES[1][0], FIGURES[2][0]: FIGURES[3][0]}[what]
    half = figure(f"{name}, {at}") if report.has(figure, f"{name}, {at}") else None
    return f"{figure(f'{what}, {at}'):.{digits}f}" + (f" ± {half:.{digits}f}" if half is not None else "")


def rows(figure):
    for streams in filter(lambda n: has(figure, n), STREAMS):
        for way, kind in ways_of(streams).items():
            at = f"{streams} streams, {way}"
            yield (f"{'control' if way in CONTROLS else FIGURES[0][0]}, {streams} streams: {kind.words}", "",
                   f"{with_half(figure, FIGURES[0][0], at, 2)} ({figure(f'writes, {at}'):.0f} MiB/s; {with_half(figure, FIGURES[2][0], at, 0)} MiB copied; "
                   f"{figure(f'{FIGURES[6][0]}, {at}'):.1f} % of the acquisitions wait)")


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
