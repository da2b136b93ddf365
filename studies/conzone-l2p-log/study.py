#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What it costs to bring the map to flash: size of its log, written in the background or blocking, and who waits for it."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "conzone-l2p-log"
POLICIES = ["background", "blocking"]
# zones: map changes of a zone are contiguous. block: the same media as a block device, whose
# entries change one by one.
LOADS = {"zones": "conzone-paper", "block": "legacy"}
SIZES = [256, 1024, 4096]


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--entries", 256, 1 << 20, ",".join(map(str, SIZES)), "changed entries that the log holds; 1024 is the preset's")
    arguments.add_names(p, "--policies", POLICIES, ",".join(POLICIES), "when it is written (docs/reference/config.md, l2p)")
    arguments.add_number(p, "--volume", 1, 1024, 24, "MiB that each of the two writers writes")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, entries=args.entries[:2], volume=8)


def workload_of(args, load, seed):
    common = {"read_ratio": 0.0, "block": "16 KiB", "queue_depth": 4, "total_bytes": f"{args.volume} MiB"}
    if load == "block":
        return conzone.workload(NAME, seed, threads=2, common=common | {"pattern": "random"})
    # One zone and one buffer for each: writers wait for the log, not for a buffer.
    return conzone.workload(NAME, seed, threads=2, common=common | {"zones": 4}, each=[{"first_zone": n, "zone_step": 2} for n in (0, 1)])


def points(args):
    return [Point({"load": load, "entries": entries, "policy": policy}, f"{load}, {entries} entries, {policy}",
                  [(f"{load}-{entries}-{policy}-{seed}",
                    conzone.device({"l2p": {"log_entries": entries, "log_policy": policy}}, LOADS[load]), workload_of(args, load, seed))
                   for seed in args.seeds])
            for load in LOADS for entries in args.entries for policy in args.policies]


check = conzone.check


def summarize(results):
    """`per_update`: bytes of table pages written for each changed entry of 4 bytes."""
    maps = [r["l2p"] for r in results]
    return {
        "mib_s": mean(r["totals"]["write"]["mib_s"] for r in results),
        "write_p99_us": mean(conzone.host_us(r, "write", "p99") for r in results),
        "write_max_us": mean(conzone.host_us(r, "write", "max") for r in results),
        "flushes": mean(m["flushes"] for m in maps),
        "pages_per_flush": mean(m["table_pages_written"] / m["flushes"] if m["flushes"] else 0.0 for m in maps),
        "per_update": mean(4096 * m["table_pages_written"] / m["updates"] for m in maps),
        "map_waf": mean(r["nand"]["by_cause"]["map"]["program_bytes"] / r["ftl"]["host_write_bytes"] for r in results),
        "stalls": mean(m["stalls"] for m in maps),
        "stall_us": mean(m["stall_ns"] / m["stalls"] / 1e3 if m["stalls"] else 0.0 for m in maps),
        "programmed_mib": conzone.flash_mib(results[0]),
        **conzone.common_figures(results),
    }


FIGURES = (("mib_s", "writes", "MiB/s"), ("write_p99_us", "p99 of writes", "us"), ("map_waf", "map bytes for a byte written", ""),
           ("stalls", "stalls", ""))


def figures(args, measured):
    return [report.figure(f"{name}, {load}, {entries} entries, {policy}", measured.value((load, entries, policy), field), unit)
            for load, entries, policy in [p.key for p in points(args)] for field, name, unit in FIGURES]


def directions(figure):
    small, large = (256, 1024)
    for policy in POLICIES:
        yield f"a larger log writes fewer table pages ({policy})", (figure(f"map bytes for a byte written, block, {large} entries, {policy}")
                                                                   < figure(f"map bytes for a byte written, block, {small} entries, {policy}"))
        yield f"… and is faster ({policy})", (figure(f"writes, block, {large} entries, {policy}")
                                              > 1.1 * figure(f"writes, block, {small} entries, {policy}"))
        yield f"zones write less of the map ({policy})", (figure(f"map bytes for a byte written, zones, {small} entries, {policy}")
                                                          < 0.5 * figure(f"map bytes for a byte written, block, {small} entries, {policy}"))
    yield "blocking is the longer tail", (figure(f"p99 of writes, block, {large} entries, blocking")
                                          > 1.3 * figure(f"p99 of writes, block, {large} entries, background"))
    yield "nobody waits for a log that zones write to in the background", figure(f"stalls, zones, {large} entries, background") == 0


def rows(figure):
    for load in LOADS:
        for entries in SIZES:
            at = [f"{load}, {entries} entries, {policy}" for policy in POLICIES]
            speed, tail, waf, stalls = ([figure(f"{name}, {a}") for a in at] for _, name, _ in FIGURES)
            yield (f"{load}, log of {entries:,} entries, {' / '.join(POLICIES)}", "",
                   f"{speed[0]:.0f} / {speed[1]:.0f} MiB/s, p99 {tail[0] / 1e3:.1f} / {tail[1] / 1e3:.1f} ms, map {waf[0]:.3f} / {waf[1]:.3f} bytes "
                   f"for a byte, {stalls[0]:.0f} / {stalls[1]:.0f} stalls")


def show(measured):
    report.table(["load", "log entries", "policy", "MiB/s", "p99, us", "most, us", "flushes", "pages each", "bytes per update", "map WAF", "stalls",
                  "each, us"],
                 [[load, entries, policy, p["mib_s"], p["write_p99_us"], p["write_max_us"], p["flushes"], p["pages_per_flush"], p["per_update"],
                   p["map_waf"], p["stalls"], p["stall_us"]] for (load, entries, policy), p in measured.items()])


def draw(measured):
    sizes = sorted({entries for _, entries, _ in measured})
    fig, axes = plot.figure(3)
    for ax, field, title, unit in zip(axes, ("mib_s", "write_p99_us", "map_waf"), ("Writes", "99 % of writes", "Map"),
                                      ("MiB/s", "us", "bytes programmed for a byte written")):
        for load, policy in dict.fromkeys((load, policy) for load, _, policy in measured):
            ax.plot(sizes, plot.numbers(measured.value((load, entries, policy), field) for entries in sizes), marker="o", label=f"{load}, {policy}")
        ax.set(xscale="log", xlabel="entries of the log", ylabel=unit, title=title)
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False, fontsize=8)
    return fig


def facts(args):
    return {"devices": LOADS, "volume_mib": args.volume}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
