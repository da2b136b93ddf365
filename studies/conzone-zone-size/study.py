#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Zones of TLC: a power of two whose ends lie in SLC (patched), against what a superblock holds (native). What the host gets, what it costs."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report, runs  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "conzone-zone-size"
DEVICES = {"native": "conzone-paper", "patched": "conzone-patched"}
CAPACITY = {"native": 12, "patched": 16} # MiB that can be written in a zone; zones begin 16 MiB apart on both


def capacity_of(kind):
    """Also of a control's."""
    return CAPACITY[kind.split(",")[0]]


# write: whole zones; write-1: the same by one client. flush: small writes, each followed by a Flush. read: small reads anywhere in full zones.
LOADS = {"write": {"read_ratio": 0.0, "block": "512 KiB", "queue_depth": 2}, "write-1": {"read_ratio": 0.0, "block": "512 KiB", "queue_depth": 2},
         "flush": {"read_ratio": 0.0, "block": "16 KiB", "flush_every": 1},
         "read": {"read_ratio": 1.0, "pattern": "random", "block": "4 KiB", "queue_depth": 4, "prefill": 1.0}}

# Of patched zones: load → its control's name, its device and its workload, as far as they differ.
CONTROLS = {"read": ("patched, SLC read as slowly", {"timing": {"slc": {"read": "32us"}}}, {}),
            "write-1": ("patched, eight commands", {}, {"common": {"queue_depth": 8}})}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_names(p, "--loads", tuple(LOADS), ",".join(LOADS), "what two clients (write-1: one) do, each to zones of its own")
    arguments.add_number(p, "--zones", 1, 32, 4, "zones of each client that are written (of flush: one), or read")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, zones=1)


def workload_of(args, load, seed):
    """Each client has its own buffer (even and odd zones): the comparison is of zone ends, not of
    conflicts."""
    zones = 1 if load == "flush" else args.zones
    end = {"total_ops": 1000 * zones} if load == "read" else {"total_bytes": f"{16 * zones} MiB", "reset_when_full": False}
    clients = 1 if load == "write-1" else 2
    return conzone.workload(NAME, seed, threads=clients, common=LOADS[load] | end | {"zones": zones},
                            each=[{"first_zone": n, "zone_step": 2} for n in range(clients)])


def points(args):
    return [Point({"load": load, "zones": kind}, f"{load}, {kind}",
                  [(f"{load}-{kind}-{seed}", conzone.device({}, name), workload_of(args, load, seed)) for seed in args.seeds])
            for load in args.loads for kind, name in DEVICES.items()] + [
        Point({"load": load, "zones": name}, f"{load}, {name}",
              [(folder_of(load, name, seed), conzone.device(device, DEVICES["patched"]), runs.merged(workload_of(args, load, seed), workload)) for seed in args.seeds])
        for load, (name, device, workload) in CONTROLS.items() if load in args.loads]


check = conzone.check


def blocks(result):
    """(blocks of a plane in all, including SLC ones)"""
    geometry = result["device"]["geometry"]
    return geometry["blocks_per_plane"], geometry["slc_blocks_per_plane"]


def summarize(results):
    host = [r["ftl"]["host_write_bytes"] for r in results]
    reads, flushes = (results[0]["totals"][kind]["ops"] > 0 for kind in ("read", "flush"))
    kind = "read" if reads else "write"
    timed = "flush" if flushes else kind # the command that has to wait for the flash
    return {
        "mib_s": mean(r["totals"][kind]["mib_s"] for r in results),
        "mean_us": mean(conzone.host_us(r, timed, "mean") for r in results),
        "p99_us": mean(conzone.host_us(r, timed, "p99") for r in results),
        "waf": None if reads else mean(1 + sum(row["program_bytes"] for cause, row in r["nand"]["by_cause"].items() if cause != "host") / h
                                       for r, h in zip(results, host)),
        "programs": mean(sum(row["programs"] for row in r["nand"]["by_cause"].values()) for r in results),
        "together": mean(2 * r["nand"]["multi_plane_ops"] / sum(row["programs"] + row["reads"] for row in r["nand"]["by_cause"].values()) for r in results),
        "die_us_per_mib": mean(r["nand"]["die_busy_ns_total"] / 1e3 / (r["totals"][kind]["bytes"] / 2 ** 20) for r in results),
        "misses": mean(conzone.misses(r) for r in results) if reads else None,
        "blocks": blocks(results[0])[0], "slc_blocks": blocks(results[0])[1],
        "programmed_mib": conzone.flash_mib(results[0]), "fold_read_mib": conzone.flash_mib(results[0], "read_bytes").get("fold", 0.0),
        **conzone.common_figures(results),
    }


def figures(args, measured):
    out = []
    for load in args.loads:
        for kind in DEVICES:
            out += [report.figure(f"die time, {load}, {kind}", measured.value((load, kind), "die_us_per_mib"), "us per MiB"),
                    report.figure(f"{load}, {kind}", measured.value((load, kind), "mib_s"), "MiB/s"),
                    report.figure(f"p99, {load}, {kind}", measured.value((load, kind), "p99_us"), "us")]
            if load != "read":
                out.append(report.figure(f"WAF, {load}, {kind}", measured.value((load, kind), "waf"), "x"))
        out.append(report.figure(f"{load}, patched against native", percent_more(*(measured.value((load, k), "mib_s") for k in ("patched", "native"))),
                                 "%"))
        if load in CONTROLS:
            key = load, CONTROLS[load][0]
            out += [report.figure(", ".join(key), measured.value(key, "mib_s"), "MiB/s"),
                    report.figure(f"{', '.join(key)}, on both planes", measured.value(key, "together"), "of the operations")]
    first = args.loads[0]
    return out + [report.figure(f"blocks of a plane, {kind}", measured.value((first, kind), "blocks"), "") for kind in DEVICES]


def directions(figure):
    yield "two writers lose less than 15 % to patches", abs(figure("write, patched against native")) < 15
    yield "one writer loses more than 8 %", figure("write-1, patched against native") < -8
    yield "also with eight commands at a time", figure("write-1, patched, eight commands") < 0.92 * figure("write-1, native")
    yield "reads of patches are faster by what SLC is read faster", \
        figure("read, patched, SLC read as slowly") < 1.02 * figure("read, native") < figure("read, patched")
    yield "a patched device needs more blocks for the same capacity", figure("blocks of a plane, patched") > 1.3 * figure("blocks of a plane, native")


def rows(figure):
    for load, what in (("write", "whole zones, two writers"), ("write-1", "whole zones, one writer"), ("flush", "16 KiB, each with a Flush, two writers"),
                       ("read", "4 KiB random reads, two readers")):
        yield (f"{what}: patched against native", "", f"{figure(f'{load}, patched against native'):+.1f} % ({figure(f'{load}, patched'):.0f} against "
               f"{figure(f'{load}, native'):.0f} MiB/s), p99 {figure(f'p99, {load}, patched') / 1e3:.2f} against "
               f"{figure(f'p99, {load}, native') / 1e3:.2f} ms")
    for load, (name, _, _) in CONTROLS.items():
        yield f"control, {load}: {name}", "", f"{figure(f'{load}, {name}'):.0f} MiB/s"
    yield ("write amplification, patched against native: whole zones; with Flushes", "",
           "; ".join(f"{figure(f'WAF, {load}, patched'):.3f} against {figure(f'WAF, {load}, native'):.3f}" for load in ("write", "flush")))
    yield ("time of a die for a MiB written, patched against native: two writers; one", "",
           "; ".join(f"{figure(f'die time, {load}, patched') / 1e3:.1f} against {figure(f'die time, {load}, native') / 1e3:.1f} ms"
                     for load in ("write", "write-1")))
    yield ("blocks of a plane for 1.5 GiB, patched against native", "",
           f"{figure('blocks of a plane, patched'):.0f} against {figure('blocks of a plane, native'):.0f}")


def show(measured):
    report.table(["load", "zones", "MiB/s", "mean, us", "p99, us", "WAF", "programs", "programmed MiB", "fold reads MiB", "L2P misses %", "dies busy %",
                  "ms of a die per MiB", "both planes %", "blocks of a plane", "of SLC"],
                 [[load, f"{kind}, {capacity_of(kind)} MiB", p["mib_s"], p["mean_us"], p["p99_us"], p["waf"], p["programs"],
                   " ".join(f"{c} {v:.1f}" for c, v in p["programmed_mib"].items()), p["fold_read_mib"],
                   None if p["misses"] is None else 100 * p["misses"], 100 * p["die_busy"], p["die_us_per_mib"] / 1e3, 100 * p["together"],
                   p["blocks"], p["slc_blocks"]]
                  for (load, kind), p in measured.items()])


def draw(measured):
    loads = list(dict.fromkeys(load for load, _ in measured))
    fig, axes = plot.figure(2)
    for ax, field, title, unit in zip(axes, ("mib_s", "p99_us"), ("Bandwidth", "99 % of commands"), ("MiB/s", "us")):
        plot.bars(ax, loads, {kind: [measured.value((load, kind), field) for load in loads] for kind in DEVICES}, title, unit)
    return fig


def facts(args):
    return {"devices": DEVICES, "zones_of_a_client": args.zones}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
