#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What collecting the SLC region costs: victim policies and sizes of the region, against write amplification and tail latency."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "conzone-slc-gc"
POLICIES = ["greedy", "cost-benefit", "fifo"]
NORMAL_BLOCKS = 130 # of each plane of conzone-paper, besides those of SLC
# Zones that the slow writer cycles through: the staged data of each stay valid until its program
# unit is complete.
LOADS = {"few": 4, "many": 110}
SHORT_ERASES = "greedy, short erases" # a control of the tails: the region's erases take a tenth


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--blocks", 8, 64, "8,10,16", "SLC blocks of each plane, 4 MiB over all planes: the size of the region; 8 is the least "
                                                           "that this device mounts with, 10 is the preset's")
    arguments.add_names(p, "--policies", POLICIES, ",".join(POLICIES), "which SLC superblock is collected next")
    arguments.add_number(p, "--volume", 16, 4096, 128, "MiB that the fast writer writes; the slow one makes six writes of 20 KiB for each")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, blocks=args.blocks[:1], policies=list(dict.fromkeys([args.policies[0], args.policies[-1]])))


def device_of(blocks, policy):
    """Without limits on open and active zones: with the preset's six, no more than six units are staged at a time."""
    return conzone.device({"geometry": {"slc_blocks_per_plane": blocks, "blocks_per_plane": NORMAL_BLOCKS + blocks}, "slc": {"gc": policy.split(",")[0]},
                           "zones": {"max_open": 0, "max_active": 0}, **({"timing": {"slc": {"erase": "350us"}}} if policy == SHORT_ERASES else {})})


def workload_of(args, load, seed):
    """Every write is flushed, so an incomplete program unit is staged: half of the fast writer's
    data, and all of the slow one's."""
    fast = {"block": "48 KiB", "zones": 8, "open_zones": 2, "total_bytes": f"{args.volume} MiB"}
    slow = {"block": "20 KiB", "zones": LOADS[load], "open_zones": LOADS[load], "think": "1ms", "think_distribution": "exponential",
            "total_ops": 6 * args.volume}
    return conzone.workload(NAME, seed, threads=2, each=[fast, slow], common={"read_ratio": 0.0, "write_pattern": "random", "flush_every": 1})


def points(args):
    return [Point({"load": load, "blocks": blocks, "policy": policy}, f"{load} zones, {blocks} blocks, {policy}",
                  [(folder_of(load, blocks, policy, seed), device_of(blocks, policy), workload_of(args, load, seed)) for seed in args.seeds])
            for load in LOADS for blocks in args.blocks for policy in (*args.policies, *([SHORT_ERASES] if POLICIES[0] in args.policies else []))
            if load == "many" or policy != SHORT_ERASES and blocks == args.blocks[0] and (policy == args.policies[-1] or not args.quick)]


check = conzone.check


def summarize(results):
    """`moved`: sectors copied by a collection, of those in its superblock; `cost`: bytes copied for
    a byte staged."""
    runs = [r["ftl"] for r in results]
    superblock = mean(r["device"]["shape"]["slc_superblock_sectors"] * 4096 for r in results)
    return {
        "waf": mean(r["waf"] for r in results),
        "collections": mean(f["slc_gc_runs"] for f in runs),
        "moved": mean(f["slc_gc_bytes"] / f["slc_gc_runs"] if f["slc_gc_runs"] else 0.0 for f in runs) / superblock,
        "cost": mean(f["slc_gc_bytes"] / f["slc_bytes"] for f in runs),
        "write_p99_us": mean(conzone.host_us(r, "write", "p99") for r in results),
        "write_p999_us": mean(conzone.host_us(r, "write", "p999") for r in results),
        "flush_p99_us": mean(conzone.host_us(r, "flush", "p99") for r in results),
        "waits_ms": mean(conzone.logical_wait_ns(r, "slc") for r in results) / 1e6,
        "programmed_mib": conzone.flash_mib(results[0]),
        **conzone.common_figures(results),
    }


FIGURES = (("waf", "WAF", "x", 1), ("moved", "valid part of a victim", "%", 100), ("write_p999_us", "p99.9 of writes", "us", 1),
           ("flush_p99_us", "p99 of flushes", "us", 1))


def figures(args, measured):
    out = []
    for load, blocks, policy in [p.key for p in points(args)]:
        for field, name, unit, times in FIGURES:
            value = measured.value((load, blocks, policy), field)
            out.append(report.figure(f"{name}, {load} zones, {blocks} blocks, {policy}", None if value is None else times * value, unit))
    return out


def directions(figure):
    least = 8
    yield "with few zones being written no victim has much that is valid", figure(f"valid part of a victim, few zones, {least} blocks, fifo") < 5
    yield "with many, some has", figure(f"valid part of a victim, many zones, {least} blocks, fifo") > 10
    yield "greedy moves less than fifo", (figure(f"valid part of a victim, many zones, {least} blocks, greedy")
                                          < 0.9 * figure(f"valid part of a victim, many zones, {least} blocks, fifo"))
    for blocks in (8, 16):
        if report.has(figure, f"WAF, many zones, {blocks} blocks, {SHORT_ERASES}"):
            usual, short = (figure(f"p99.9 of writes, many zones, {blocks} blocks, {policy}") for policy in ("greedy", SHORT_ERASES))
            yield f"{blocks} blocks: the tail of writes is that of erases", short < 0.6 * usual


def rows(figure):
    for load, sizes in (("few", (8,)), ("many", (8, 10, 16))):
        for blocks in sizes:
            at = [f"{load} zones, {blocks} blocks, {policy}" for policy in POLICIES]
            yield (f"{load} zones, {blocks} SLC blocks, {', '.join(POLICIES)}: WAF (valid part of a victim)", "",
                   ", ".join(f"{figure(f'WAF, {a}'):.2f} ({figure(f'valid part of a victim, {a}'):.0f} %)" for a in at))
    tails = ["; ".join(", ".join(f"{figure(f'{what}, many zones, {blocks} blocks, {policy}') / 1e3:.1f}" for policy in POLICIES) for blocks in (8, 16))
             for what in ("p99.9 of writes", "p99 of flushes")]
    yield "many zones, 8; 16 SLC blocks: 99.9th percentile of writes, 99th of Flushes", "", f"{tails[0]} ms, {tails[1]} ms"
    yield (f"control, {SHORT_ERASES}: the same", "", ", ".join("; ".join(f"{figure(f'{what}, many zones, {blocks} blocks, {SHORT_ERASES}') / 1e3:.1f}" for blocks in (8, 16))
                                                               + " ms" for what in ("p99.9 of writes", "p99 of flushes")))


def show(measured):
    report.table(["zones", "SLC blocks", "policy", "WAF", "collections", "valid, %", "copied per staged", "write p99, us", "p99.9", "flush p99, us",
                  "waits, ms"],
                 [[load, blocks, policy, p["waf"], p["collections"], 100 * p["moved"], p["cost"], p["write_p99_us"], p["write_p999_us"],
                   p["flush_p99_us"], p["waits_ms"]] for (load, blocks, policy), p in measured.items()])


def draw(measured):
    sizes = sorted({blocks for _, blocks, _ in measured})
    fig, axes = plot.figure(3)
    for ax, field, title, unit in zip(axes, ("waf", "moved", "write_p999_us"), ("Write amplification", "Valid part of a victim", "99.9 % of writes"),
                                      ("x", "", "us")):
        plot.bars(ax, [f"{load}, {b}" for load in LOADS for b in sizes],
                  {policy: [measured.value((load, b, policy), field) for load in LOADS for b in sizes]
                   for policy in dict.fromkeys(p for _, _, p in measured if p != SHORT_ERASES)}, title, unit)
        ax.set(xlabel="zones being written, SLC blocks of a plane")
    return fig


def facts(args):
    return {"device": "conzone-paper", "zones": LOADS, "volume_mib": args.volume}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
