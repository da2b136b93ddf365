#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What parity over the dies (RAIN) is worth and costs: unreadable sectors before and after, bytes programmed, throughput, latency, and locks."""
import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report  # noqa: E402
from common.elasticity import Interval  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "rain-uber"
PPB = 10 ** 9
SECTOR_BITS = 4096 * 8
THREADS = 4
WAYS = {"off": "without parity", "on": "with parity"}
FEW, MANY = 10 ** 7, 4 * 10 ** 7 # pages that cannot be read; with the latter few reads show how many sectors stay lost
LOCKS = "acquisitions of zones' locks for each MiB"
EIGHT = {"geometry": {"chips_per_channel": 4}}


@dataclasses.dataclass(frozen=True)
class Control:
    """Of README's reasons: what differs from the ways."""
    words: str
    rain: str
    lost: int
    device: dict
    filled: float = 1.0 # of the zones that are read


CONTROLS = {
    "on, many lost": Control("four dies", "on", MANY, {}),
    "on, eight dies": Control("eight dies", "on", MANY, EIGHT),
    "off, eight dies": Control("eight dies, without parity", "off", MANY, EIGHT),
    "on, not full": Control("zones that are not full", "on", FEW, {}, 0.9),
    "on, many lost, not full": Control("zones that are not full", "on", MANY, {}, 0.9),
}
WRITES, READS = f"{NAME}-writes", f"{NAME}-reads"


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    p.set_defaults(seeds=list(range(1, 11)))
    arguments.add_numbers(p, "--lost", 0, PPB, f"0,{FEW}", "pages that cannot be read, in 10^-9 of all")
    arguments.add_number(p, "--volume", 1, 1024, 64, "MiB that are written, and MiB that are read")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, lost=[FEW], volume=32, seeds=[1, 2])


def device_of(way, lost, seed, changes=None):
    """Memory is not what is compared: parity takes 1 MiB in the two write buffers, and as much to rebuild."""
    return conzone.device({"seed": seed, "rain": way, "faults": {"read_fail_ppb": lost}, "memory": {"sram": 0}, **(changes or {})})


def workload_of(args, name, seed, filled=1.0):
    """Each thread fills zones of its own; or reads sectors at random places of them."""
    keys = {"pattern": "sequential", "block": "384 KiB", "read_ratio": 0.0} if name == WRITES else \
           {"pattern": "random", "block": "4 KiB", "read_ratio": 1.0, "prefill": filled, "zones": max(1, args.volume // 64)}
    return conzone.workload(name, seed, threads=THREADS, accept_unreadable=True,
                            common={**keys, "total_bytes": f"{args.volume // THREADS} MiB" if name == WRITES else f"{args.volume // THREADS // 4 * 1024} KiB"})


def runs_of(args, way, control, seeds):
    return [(folder_of(way, control.lost, name, seed), device_of(control.rain, control.lost, seed, control.device), workload_of(args, name, seed, control.filled))
            for seed in seeds for name in (WRITES, READS)]


def points(args):
    return [Point({"way": way, "lost": lost}, f"{words}, {lost} of 10^9 pages lost", runs_of(args, way, Control(words, way, lost, {}), args.seeds))
            for lost in args.lost for way, words in WAYS.items()] + [
        Point({"way": way, "lost": control.lost}, f"control: {control.words}", runs_of(args, way, control, args.seeds[:1] if args.quick else args.seeds))
        for way, control in CONTROLS.items()]


def check(result, folder):
    conzone.check(result, folder)


def uber(result):
    """Unreadable sectors for each bit read."""
    reads = result["totals"]["read"]
    return reads["errors"] / ((reads["ops"] + reads["errors"]) * SECTOR_BITS)


def programmed(result):
    return sum(row["program_bytes"] for row in result["nand"]["by_cause"].values()) / result["ftl"]["host_write_bytes"]


def zone_locks(result):
    """Acquisitions of zones' locks for each MiB written."""
    return sum(lock["acquisitions"] for lock in result["locks"] if lock["class"] == "zone") / (result["ftl"]["host_write_bytes"] / 2 ** 20)


def summarize(results):
    writes = [r for r in results if r["workload"]["name"] == WRITES]
    reads = [r for r in results if r["workload"]["name"] == READS]
    found, speed = Interval([uber(r) for r in reads]), Interval([r["totals"]["write"]["mib_s"] for r in writes])
    several = len(writes) > 1
    return {
        "seeds": len(reads), "uber": found.mean, "uber_half": found.half if several else None, "uber_by_seed": found.values,
        "mib_s": speed.mean, "mib_s_half": speed.half if several else None,
        "waf": mean(programmed(r) for r in writes),
        "locks": mean(zone_locks(r) for r in writes),
        "read_p99_us": mean(conzone.host_us(r, "read", "p99") for r in reads),
        "rebuilt": mean(r["ftl"]["rebuilt_bytes"]["reads"] // 4096 for r in reads),
        "not_rebuilt": mean(r["ftl"]["not_rebuilt_bytes"] // 4096 for r in reads),
        "moved_zones": mean(r["ftl"]["refreshed_zones"]["rebuilt"] for r in reads),
        "stayed_zones": mean(r["ftl"]["refresh_failures"] for r in reads),
        **conzone.common_figures(results),
    }


FIGURES = [("unreadable sectors for each bit read", "uber", ""), ("95 % interval of these to each side", "uber_half", ""),
           ("bytes programmed for a byte written", "waf", ""), ("writes", "mib_s", "MiB/s"), ("95 % interval of the writes to each side", "mib_s_half", "MiB/s"),
           (LOCKS, "locks", ""), ("p99 of reads", "read_p99_us", "us"),
           ("sectors rebuilt", "rebuilt", ""), ("zones moved since a sector was rebuilt", "moved_zones", ""),
           ("moves given up since a sector is lost", "stayed_zones", "")]


def figures(args, measured):
    return [report.figure(f"{what}, {lost} of 10^9 pages lost, {way}", measured.value((way, lost), field), unit)
            for lost in args.lost for way in WAYS for what, field, unit in FIGURES] + [
        report.figure(f"{what}, control, {way}", measured.value((way, control.lost), field), unit) for way, control in CONTROLS.items()
        for what, field, unit in FIGURES if not (args.quick and field.endswith("half"))]


def lost_share(figure, way):
    """Sectors of a control that stay unreadable, for each sector read."""
    return figure(f"unreadable sectors for each bit read, control, {way}") * SECTOR_BITS


def two_lost(dies):
    """The same, if a sector stays unreadable whose own page is lost and another one of its stripe."""
    lost = MANY / PPB
    return lost * (1 - (1 - lost) ** (dies - 1))


def rates(figure):
    """Those of the form that was run."""
    return [lost for lost in (0, 1000000, FEW) if report.has(figure, f"writes, {lost} of 10^9 pages lost, on")]


def directions(figure):
    for lost in rates(figure):
        at = {way: f"{lost} of 10^9 pages lost, {way}" for way in WAYS}
        bits = {way: figure(f"unreadable sectors for each bit read, {name}") for way, name in at.items()}
        waf = {way: figure(f"bytes programmed for a byte written, {name}") for way, name in at.items()}
        if lost:
            yield f"{lost}: parity saves nine of ten sectors, or more", bits["on"] < bits["off"] / 10
        else:
            yield "nothing is lost without faults", bits["on"] == bits["off"] == 0
        yield f"{lost}: a die of four has parity, so a third more is programmed", 1.3 < waf["on"] / waf["off"] < 1.4
    for way, dies in (("on, many lost", 4), ("on, eight dies", 8)):
        yield f"{way}: a sector stays unreadable where two pages of its stripe are lost", 0.5 < lost_share(figure, way) / two_lost(dies) < 1.5
    for what, least in (("bytes programmed for a byte written", 0.02), (LOCKS, 0.02)):
        of = {way: figure(f"{what}, control, {way}") for way in CONTROLS}
        yield f"parity of one die of eight costs less than of four: {what}", of["off, eight dies"] + least < of["on, eight dies"] < of["on, many lost"]
    writes = {way: figure(f"writes, control, {way}") for way in CONTROLS}
    yield "and takes an eighth of the throughput", 0.8 < writes["on, eight dies"] / writes["off, eight dies"] < 0.93
    moves = {at: sum(figure(f"{what}, {at}") for what, _, _ in FIGURES[-2:]) for at in (f"{FEW} of 10^9 pages lost, on", *(f"control, {way}" for way in CONTROLS))}
    yield "full zones with lost pages move, or begin to", min(moves[f"{FEW} of 10^9 pages lost, on"], moves["control, on, many lost"]) > 0
    yield "zones that are not full do not", moves["control, on, not full"] == moves["control, on, many lost, not full"] == 0
    tail = {way: figure(f"p99 of reads, {way}") for way in (f"{FEW} of 10^9 pages lost, on", "control, on, not full", "control, on, many lost, not full")}
    yield "and their reads wait for no moves, rebuilt or not", max(tail["control, on, not full"], tail["control, on, many lost, not full"]) < \
        0.5 * tail[f"{FEW} of 10^9 pages lost, on"]


def rows(figure):
    for lost in rates(figure):
        for way, words in WAYS.items():
            at, there = f"{lost} of 10^9 pages lost, {way}", f"{100 * lost / PPB:g} % of the pages lost, {words}"
            half = figure(f"95 % interval of these to each side, {at}")
            yield (f"unreadable sectors for each bit read, {there}", "",
                   f"{figure(f'unreadable sectors for each bit read, {at}'):.1e}" + (f" ± {half:.1e}" if half is not None else "")
                   + f" ({figure(f'sectors rebuilt, {at}'):.0f} rebuilt in a run)")
            yield (f"bytes programmed for a byte written, {there}", "",
                   f"{figure(f'bytes programmed for a byte written, {at}'):.2f} ({figure(f'writes, {at}'):.0f} MiB/s)")
            yield (f"acquisitions of zones' locks for each MiB written, {there}", "",
                   f"{figure(f'{LOCKS}, {at}'):.1f}")
            yield f"p99 of reads, {there}", "", f"{figure(f'p99 of reads, {at}'):,.0f} us"
    for way, control in CONTROLS.items():
        at = f"control, {way}"
        yield (f"control, {100 * control.lost / PPB:g} % of the pages lost: {control.words}", "",
               f"{figure(f'unreadable sectors for each bit read, {at}'):.1e} ± {figure(f'95 % interval of these to each side, {at}'):.1e} a bit; "
               f"{figure(f'bytes programmed for a byte written, {at}'):.2f} for a byte, {figure(f'writes, {at}'):.0f} MiB/s; "
               f"{figure(f'{LOCKS}, {at}'):.1f} acquisitions a MiB; reads p99 {figure(f'p99 of reads, {at}'):,.0f} us, "
               f"{figure(f'zones moved since a sector was rebuilt, {at}'):.0f} zones moved, {figure(f'moves given up since a sector is lost, {at}'):.0f} moves given up")


def show(measured):
    report.table(["parity", "lost / 10^9", "UBER", "± (95 %)", "WAF", "MiB/s", "± (95 %)", "zone locks / MiB", "p99 read, us", "rebuilt", "zones moved"],
                 [[way, lost, p["uber"], p["uber_half"], p["waf"], p["mib_s"], p["mib_s_half"], p["locks"], p["read_p99_us"], p["rebuilt"], p["moved_zones"]]
                  for (way, lost), p in measured.items()])


def draw(measured):
    lost = sorted({n for way, n in measured if way in WAYS})
    return plot.amplification([f"{n / 10 ** 7:g} % lost" for n in lost], lambda field: {
        way: [measured[way, n][field] if (way, n) in measured else None for n in lost] for way in WAYS})


def facts(args):
    return {"device": "conzone-paper", "volume_mib": args.volume}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
