#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What placement by the host is worth to locks: writes of many workers to a block device, where each thread names a reclaim unit handle of its own (FDP)."""
import dataclasses
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "scripts")]
from common import arguments, conzone, experiment, frame, report, runs  # noqa: E402
from common.elasticity import Interval  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "fdp-locks"
MANY = 8 # handles, frontiers, threads
SPARES = 48 # backing superblocks beyond the capacity: nothing is collected
# lock-scaling, on flash and a link that are fast for writes, too: no write waits for them
DEVICE = {"geometry": {"chips_per_channel": 4, "pages_per_block": 6, "blocks_per_plane": 32, "superblock_planes": 32},
          "zones": {"namespace": "block", "count": 32, "max_open": None, "max_active": None}, "buffers": {"count": None, "binding": None},
          "timing": {"slc": {"read": "500ns", "program": "5us", "erase": "50us"}, "normal": {"read": "500ns", "program": "5us", "erase": "50us"},
                     "channel_bytes_per_s": "64000 MiB", "command": "10ns"},
          "link": {"bytes_per_s": "320000 MiB"}, "locks": {"kind": {"default": "mcs"}, "granularity": {"l2p": "fine"}, "stats": "all"}}
CONVENTIONAL = {"spare_superblocks": SPARES, "streams": 1, "buffers": 2 * MANY, "gc": "greedy", "gc_low": 14}
WORKLOAD = {"read_ratio": 0.0, "write_pattern": "random", "block": "4 KiB", "queue_depth": 16, "think": "200ns", "think_distribution": "exponential", "prefill": 0.5}


@dataclasses.dataclass(frozen=True)
class Way:
    words: str
    frontiers: int = 1
    handles: int = 0
    names: tuple = () # handle of each thread


WAYS = {"one": Way("one frontier for all"),
        "dealt": Way("a frontier for each worker", frontiers=MANY),
        "placed": Way("a handle for each thread", handles=MANY, names=tuple(range(MANY))),
        "same": Way("control: as many handles, and all threads name the same", handles=MANY, names=(0,) * MANY),
        "pairs": Way("control: as many handles, and two threads name the same", handles=MANY, names=tuple(n // 2 for n in range(MANY)))}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    p.set_defaults(seeds="1,2,3,4,5")
    arguments.add_numbers(p, "--workers", 1, MANY, f"1,{MANY}", "FTL worker counts")
    arguments.add_number(p, "--ops", 100, 1000000, 4000, "writes of each of the eight threads")
    arguments.add_update(p)
    return arguments.quickly(arguments.parsed(p, words), ops=600, seeds=[1, 2])


def device_of(way, workers):
    device = runs.merged(runs.load_yaml("devices", "lock-scaling"), DEVICE)
    device["conventional"] = {**CONVENTIONAL, "frontiers": min(way.frontiers, workers)}
    device["harts"] = {**device["harts"], "workers": workers, "tsus": MANY, "architecture": "completion"}
    return runs.merged(without_nulls(device), {"fdp": {"handles": way.handles}} if way.handles else {})


def without_nulls(value):
    return {k: without_nulls(v) for k, v in value.items() if v is not None} if isinstance(value, dict) else value


def workload_of(args, way, seed):
    return {"name": NAME, "mapping": "direct", "verify": False, "seed": seed, "threads": MANY, "common": {**WORKLOAD, "total_ops": args.ops},
            **({"each": [{"placement": handle} for handle in way.names]} if way.names else {})}


def points(args):
    return [Point({"way": name, "workers": workers}, f"{name}, {workers} workers",
                  [(folder_of(name, workers, seed), device_of(way, workers), workload_of(args, way, seed)) for seed in args.seeds])
            for workers in args.workers for name, way in WAYS.items()]


check = experiment.check


def spun(result):
    """Time of the workers in zones' locks, in %."""
    workers = [h for h in result["harts"] if "worker" in h["role"]]
    return 100 * sum(h["spin_by_class"].get("zone", 0) for h in workers) / sum(h["elapsed_ns"] for h in workers)


def summarize(results):
    kiops = Interval([r["totals"]["write"]["ops"] / r["elapsed_ns"] * 1e6 for r in results])
    return {"kiops": kiops.mean, "kiops_half": kiops.half if len(results) > 1 else None, "kiops_by_seed": kiops.values, "spin": mean(spun(r) for r in results),
            "collected": sum(conzone.flash_mib(r).get("gc", 0) for r in results), **conzone.common_figures(results)}


FIGURES = [("writes", "kiops", "KIOPS"), ("95 % interval of these to each side", "kiops_half", "KIOPS"), ("workers' time in zones' locks", "spin", "%"),
           ("copied by the collector", "collected", "MiB")]


def figures(args, measured):
    return [report.figure(f"{what}, {workers} workers, {way}", measured.value((way, workers), field), unit)
            for workers in args.workers for way in WAYS for what, field, unit in FIGURES]


def counts(figure):
    return [n for n in range(1, MANY + 1) if report.has(figure, f"writes, {n} workers, one")]


def by_way(figure, what, workers):
    return {way: figure(f"{what}, {workers} workers, {way}") for way in WAYS}


def directions(figure):
    for workers in filter(lambda n: n == MANY, counts(figure)):
        kiops, spin = (by_way(figure, what, workers) for what in ("writes", "workers' time in zones' locks"))
        yield "nothing is collected", not any(by_way(figure, "copied by the collector", workers).values())
        yield "a handle for each thread serves more writes than one frontier", kiops["placed"] > 3 * kiops["one"]
        yield "handles gain nothing if all threads name the same", kiops["same"] < 1.1 * kiops["one"]
        yield "two threads for a handle wait for each other", kiops["pairs"] < kiops["placed"] and spin["pairs"] > spin["placed"]
        yield "the workers wait in zones' locks for one frontier", spin["one"] > 50 > 10 > spin["placed"]


def rows(figure):
    for workers in counts(figure):
        for way, kind in WAYS.items():
            at = f"{workers} workers, {way}"
            yield f"{'one worker' if workers == 1 else f'{workers} workers'}: {kind.words}", "", (f"{figure(f'writes, {at}'):,.0f} ± {figure(f'{FIGURES[1][0]}, {at}'):,.0f} KIOPS "
                                                         f"({figure(f'{FIGURES[2][0]}, {at}'):.0f} % of the workers' time in zones' locks)")


def show(measured):
    report.table(["way", "workers", "KIOPS", "± (95 %)", "in zones' locks, %"],
                 [[way, workers, p["kiops"], p["kiops_half"], p["spin"]] for (way, workers), p in measured.items()])


def facts(args):
    return {"device": "lock-scaling", "ops": args.ops}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
