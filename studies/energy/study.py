#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What energy a byte costs by medium and policy, and what a limit of the flash's power costs: throughput, tails, and energy per byte."""
import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report  # noqa: E402
from common.elasticity import Interval  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "energy"
PLANES, CELLS_MW = 8, 82.5 # of the device; of each of them (energy.cells_uw)
ZONES = 32                 # of the block device, 12 MiB each
FREE_IDLE = {"energy": {"idle_pj": 0}} # changes no time


@dataclasses.dataclass(frozen=True)
class Way:
    """A load on a device. volume: of its bytes, as a factor of --volume."""
    words: str
    load: dict
    device: dict = dataclasses.field(default_factory=dict)
    base: str = "conzone-paper"
    volume: float = 1.0
    threads: int = 2
    many_zones: int = 0 # a second thread writes 20 KiB at a time, flushed, to so many zones in turn


WHOLE = {"read_ratio": 0.0, "pattern": "sequential", "block": "384 KiB", "zones": 2}
SMALL = {**WHOLE, "block": "48 KiB"}
FLUSHED = {**SMALL, "flush_every": 1}
RANDOM = {"read_ratio": 0.0, "pattern": "random", "block": "64 KiB", "queue_depth": 4, "prefill": 1.0}
READS = {"read_ratio": 1.0, "pattern": "random", "block": "4 KiB", "prefill": 1.0, "zones": 1, "queue_depth": 2}
MIXED = {"read_ratio": 0.5, "pattern": "sequential", "block": "96 KiB", "prefill": 0.3, "zones": 4, "queue_depth": 4}


# The least SLC region that the device mounts with; no limit of open zones, which would limit what is staged (studies/conzone-slc-gc).
SMALL_REGION = {"geometry": {"slc_blocks_per_plane": 8, "blocks_per_plane": 138}, "zones": {"max_open": 0, "max_active": 0}}


def block_device(spares):
    return {"geometry": {"blocks_per_plane": 10 + ZONES + spares + 2}, "zones": {"count": ZONES}, "conventional": {"spare_superblocks": spares}}


def limited(planes, more=None):
    return {"timing": {"power_planes": planes}, **(more or {})}


MEDIA = {
    "direct": Way("writes of 384 KiB, directly to TLC", WHOLE),
    "staged": Way("writes of 48 KiB, each flushed: to SLC and then to TLC", FLUSHED),
    "collected": Way("the same while 110 zones have data in SLC, which its collector copies", FLUSHED, SMALL_REGION, volume=2.0, many_zones=110),
    "block, few spares": Way("block device with 4 spare superblocks for 32, random writes of 64 KiB", RANDOM, block_device(4), "legacy", 12.0),
    "block, many spares": Way("block device with 16 spare superblocks for 32, random writes of 64 KiB", RANDOM, block_device(16), "legacy", 12.0),
    "reads of 4 KiB": Way("random reads of 4 KiB", READS, volume=0.25, threads=4),
    "two workers": Way("the same reads, the whole map in RAM (2 workers, as above)", READS, {"l2p": {"cache": 0}, "memory": {"sram": 0}}, volume=0.25, threads=4),
    "eight workers": Way("the same reads, the whole map in RAM, 8 workers", READS, {"l2p": {"cache": 0}, "memory": {"sram": 0}, "harts": {"workers": 8}}, volume=0.25, threads=4),
    "idle": Way("writes of 384 KiB with 20 ms between them", {**WHOLE, "think": "20ms"}),
}
CONTROLS = {
    "small": Way("writes of 48 KiB without a flush", SMALL),
    "collected, nothing to copy": Way("the same while 4 zones have data in SLC", FLUSHED, SMALL_REGION, volume=2.0, many_zones=4),
    "block, sequential": Way("block device with 4 spare superblocks, sequential writes", {**RANDOM, "pattern": "sequential"}, block_device(4), "legacy", 12.0),
    "reads of 16 KiB": Way("random reads of 16 KiB, a whole page", {**READS, "block": "16 KiB"}, threads=4),
    "eight workers, free idle": Way("8 workers, idle cycles cost nothing", READS,
                                    {"l2p": {"cache": 0}, "memory": {"sram": 0}, "harts": {"workers": 8}, **FREE_IDLE}, volume=0.25, threads=4),
    "idle, free": Way("20 ms between writes, idle cycles cost nothing", {**WHOLE, "think": "20ms"}, FREE_IDLE),
}
LIMITS = (2, 3, 4, 6, 8)
LIMITED = {"no limit": Way("reads and writes of 96 KiB, no limit", MIXED, threads=4),
           **{f"{n} planes": Way(f"reads and writes of 96 KiB, limit {n} planes ({n * CELLS_MW:.0f} mW)", MIXED, limited(n), threads=4) for n in LIMITS}}
LIMITED_CONTROLS = {
    "2 planes, free idle": Way("limit 2 planes, idle cycles cost nothing", MIXED, limited(2, FREE_IDLE), threads=4),
    "no limit, free idle": Way("no limit, idle cycles cost nothing", MIXED, FREE_IDLE, threads=4),
    "2 planes, reads": Way("reads alone, limit 2 planes", {**MIXED, "read_ratio": 1.0, "prefill": 1.0}, limited(2), threads=4),
    "no limit, reads": Way("reads alone, no limit", {**MIXED, "read_ratio": 1.0, "prefill": 1.0}, threads=4),
}
ALL = MEDIA | CONTROLS | LIMITED | LIMITED_CONTROLS
QUICK = [name for name in ALL if name not in ("3 planes", "4 planes", "6 planes", "block, many spares", "collected", "collected, nothing to copy")]


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    p.set_defaults(seeds="1,2,3")
    arguments.add_number(p, "--volume", 4, 1024, 48, "MiB that the writes of most rows have")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, volume=8, seeds=[1])


def ways_of(args):
    return QUICK if args.quick else list(ALL)


def workload_of(args, way, seed):
    volume = way.volume / 2 if args.quick and way.base == "legacy" else way.volume
    total = int(args.volume * volume * 1024 / way.threads)
    if not way.many_zones:
        return conzone.workload(NAME, seed, threads=way.threads, common={**way.load, "total_bytes": f"{total // 384 * 384 or 384} KiB"})
    fast = {"block": "48 KiB", "zones": 8, "open_zones": 2, "total_bytes": f"{int(args.volume * way.volume)} MiB"}
    slow = {"block": "20 KiB", "zones": way.many_zones, "open_zones": way.many_zones, "think": "1ms", "think_distribution": "exponential",
            "total_ops": int(6 * args.volume * way.volume)}
    return conzone.workload(NAME, seed, threads=2, each=[fast, slow], common={"read_ratio": 0.0, "write_pattern": "random", "flush_every": 1})


def points(args):
    return [Point({"way": name}, ALL[name].words,
                  [(folder_of(name, seed), conzone.device({"seed": seed, **ALL[name].device}, ALL[name].base), workload_of(args, ALL[name], seed)) for seed in args.seeds])
            for name in ways_of(args)]


check = conzone.check


def per_gib(result, *parts):
    """mJ of these parts for each GiB that the host read and wrote."""
    energy = result["energy"]
    return sum(mj for name, mj in energy["parts_mj"].items() if name.startswith(parts)) / energy["link_bytes"] * 2 ** 30


def cells_mw(result):
    """What the cells draw on average."""
    return sum(mj for name, mj in result["energy"]["parts_mj"].items() if name.startswith(("slc", "normal"))) / result["nand"]["elapsed_ns"] * 1e9


def held_us(result, kind):
    held = result["energy"]["held"]
    return held[f"{kind}_ns"] / held[f"{kind}s"] / 1e3 if held[f"{kind}s"] else 0.0


def p99(result, kind):
    return conzone.host_us(result, kind, "p99") if result["totals"][kind]["ops"] else 0.0


def summarize(results):
    cost = Interval([r["energy"]["mj_per_gib"] for r in results])
    return {
        "seeds": len(results), "mj_gib": cost.mean, "mj_half": cost.half if len(results) > 1 else None,
        "slc_mj": mean(per_gib(r, "slc") for r in results), "tlc_mj": mean(per_gib(r, "normal") for r in results),
        "bus_mj": mean(per_gib(r, "channel", "link") for r in results),
        "busy_mj": mean(per_gib(r, "hart_busy") for r in results), "idle_mj": mean(per_gib(r, "hart_idle") for r in results),
        "cells_mw": mean(map(cells_mw, results)), "cells_most_mw": max(map(cells_mw, results)), "all_mw": mean(r["energy"]["mean_mw"] for r in results),
        "collected_mib": mean(r["ftl"]["slc_gc_bytes"] for r in results) / 2 ** 20,
        "mib_s": mean(sum(r["totals"][k]["mib_s"] for k in ("read", "write")) for r in results),
        "read_p99_us": mean(p99(r, "read") for r in results), "write_p99_us": mean(p99(r, "write") for r in results),
        **{f"held_{kind}s": mean(r["energy"]["held"][f"{kind}s"] for r in results) for kind in ("read", "program", "erase")},
        **{f"{kind}_held_us": mean(held_us(r, kind) for r in results) for kind in ("read", "program")},
        **conzone.common_figures(results),
    }


COST = "energy"
FIGURES = [(COST, "mj_gib", "mJ/GiB"), ("95 % interval of the energy to each side", "mj_half", "mJ/GiB"), ("SLC cells", "slc_mj", "mJ/GiB"),
           ("TLC cells", "tlc_mj", "mJ/GiB"), ("channels and link", "bus_mj", "mJ/GiB"), ("busy harts", "busy_mj", "mJ/GiB"),
           ("idle harts", "idle_mj", "mJ/GiB"), ("power of the cells", "cells_mw", "mW"), ("most power of the cells", "cells_most_mw", "mW"),
           ("power", "all_mw", "mW"), ("copied within SLC", "collected_mib", "MiB"),
           ("throughput", "mib_s", "MiB/s"), ("p99 of reads", "read_p99_us", "us"), ("p99 of writes", "write_p99_us", "us"),
           ("reads held up", "held_reads", ""), ("programs held up", "held_programs", ""), ("wait of these reads", "read_held_us", "us"),
           ("wait of these programs", "program_held_us", "us")]


def figures(args, measured):
    return [report.figure(f"{what}, {name}", measured.value(name, field), unit) for name in ways_of(args) for what, field, unit in FIGURES
            if not (args.quick and field.endswith("half"))]


def measured_ways(figure):
    return [name for name in ALL if report.has(figure, f"{COST}, {name}")]


def directions(figure):
    def of(what, name):
        return figure(f"{what}, {name}")

    yield "staged data cost the SLC cells, too", of("SLC cells", "staged") > 0.15 * of("TLC cells", "staged")
    yield "small writes as such cost no more", abs(of(COST, "small") / of(COST, "direct") - 1) < 0.15 and of("SLC cells", "small") < 0.2 * of("SLC cells", "staged")
    if report.has(figure, f"{COST}, collected"):
        yield "copies of the region's collector cost SLC energy", of("SLC cells", "collected") > 1.02 * of("SLC cells", "collected, nothing to copy")
        yield "which copies nothing where few zones are staged", \
            of("copied within SLC", "collected") > 1 > 100 * of("copied within SLC", "collected, nothing to copy")
    yield "a collector's copies cost", of(COST, "block, few spares") > 1.2 * of(COST, "block, sequential")
    if report.has(figure, f"{COST}, block, many spares"):
        yield "and fewer of them with more spares", of(COST, "block, many spares") < 0.9 * of(COST, "block, few spares")
    yield "a read of 4 KiB senses a whole page", of("TLC cells", "reads of 4 KiB") > 3 * of("TLC cells", "reads of 16 KiB")
    yield "more workers idle more", of("idle harts", "eight workers") > 1.5 * of("idle harts", "two workers")
    yield "and cost nothing else", abs(of(COST, "eight workers, free idle") / (of(COST, "eight workers") - of("idle harts", "eight workers")) - 1) < 0.001
    yield "an idle device costs its harts", of(COST, "idle") - of(COST, "direct") > 0.8 * (of("idle harts", "idle") - of("idle harts", "direct")) > 0
    yield "and nothing else", abs(of(COST, "idle, free") / (of(COST, "direct") - of("idle harts", "direct")) - 1) < 0.1
    limits = [n for n in LIMITS if report.has(figure, f"{COST}, {n} planes")]
    for n in limits:
        yield f"{n} planes: the cells draw no more than the limit", of("most power of the cells", f"{n} planes") <= n * CELLS_MW
    speeds = [of("throughput", f"{n} planes") for n in limits]
    yield "a lower limit takes throughput", all(a < 1.02 * b for a, b in zip(speeds, speeds[1:])) and speeds[0] < 0.7 * speeds[-1]
    yield "a limit of all planes takes none", of("throughput", "8 planes") == of("throughput", "no limit") and of("programs held up", "8 planes") == 0
    yield "reads wait for programs", of("p99 of reads", "2 planes") > 1.5 * of("p99 of reads", "no limit") and \
        of("wait of these reads", "2 planes") > 3 * of("wait of these reads", "2 planes, reads")
    yield "a lower limit is not more efficient", of(COST, "2 planes") > of(COST, "no limit")
    yield "but for the idle harts it costs the same", abs(of(COST, "2 planes, free idle") / of(COST, "no limit, free idle") - 1) < 0.05


def rows(figure):
    for name in measured_ways(figure):
        half = figure(f"{FIGURES[1][0]}, {name}") if report.has(figure, f"{FIGURES[1][0]}, {name}") else None
        cost = f"{figure(f'{COST}, {name}'):,.0f}" + (f" ± {half:,.0f}" if half is not None else "")
        if name in LIMITED or name in LIMITED_CONTROLS:
            yield (("control: " if name in LIMITED_CONTROLS else "") + ALL[name].words, "",
                   f"{figure(f'throughput, {name}'):.0f} MiB/s; p99 of reads {figure(f'p99 of reads, {name}'):,.0f} us, of writes "
                   f"{figure(f'p99 of writes, {name}'):,.0f} us; cells {figure(f'power of the cells, {name}'):.0f} mW; {cost} mJ/GiB, idle harts "
                   f"{figure(f'idle harts, {name}'):.0f}; {figure(f'reads held up, {name}'):.0f} reads wait {figure(f'wait of these reads, {name}'):.0f} us each, "
                   f"{figure(f'programs held up, {name}'):.0f} programs {figure(f'wait of these programs, {name}'):.0f} us")
        else:
            yield (("control: " if name in CONTROLS else "") + ALL[name].words, "",
                   f"{cost} mJ/GiB: SLC {figure(f'SLC cells, {name}'):,.0f}, TLC {figure(f'TLC cells, {name}'):,.0f}, channels and link "
                   f"{figure(f'channels and link, {name}'):.0f}, busy harts {figure(f'busy harts, {name}'):.0f}, idle harts "
                   f"{figure(f'idle harts, {name}'):.0f}; {figure(f'power, {name}'):.0f} mW, {figure(f'throughput, {name}'):.0f} MiB/s"
                   + (f"; {figure(f'copied within SLC, {name}'):.0f} MiB copied within SLC" if ALL[name].many_zones else ""))


def show(measured):
    report.table(["way", "mJ/GiB", "± (95 %)", "SLC", "TLC", "busy harts", "idle harts", "cells, mW", "MiB/s", "p99 read, us", "p99 write, us"],
                 [[way, p["mj_gib"], p["mj_half"], p["slc_mj"], p["tlc_mj"], p["busy_mj"], p["idle_mj"], p["cells_mw"], p["mib_s"], p["read_p99_us"],
                   p["write_p99_us"]] for way, p in measured.items()])


def draw(measured):
    fig, (speed, cost) = plot.figure(2)
    limits = [n for n in LIMITS if f"{n} planes" in measured]
    for ax, field, unit in ((speed, "mib_s", "MiB/s"), (cost, "mj_gib", "mJ/GiB")):
        ax.plot([n * CELLS_MW for n in limits], [measured[f"{n} planes"][field] for n in limits], "o-")
        ax.set(xlabel="limit of the cells' power, mW", ylabel=unit, ylim=(0, None))
    return fig


def facts(args):
    return {"device": "conzone-paper, legacy", "volume_mib": args.volume, "planes": PLANES}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
