#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The devices of all papers under one workload: bandwidth, latency, write amplification, memory, and what the firmware spends."""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parent)]
import shapes  # noqa: E402
from common import arguments, conzone, frame, plot, report, runs  # noqa: E402
from common.page import Page  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "papers-side-by-side"
# Preset → its replacement in the quick form.
TWINS = {"conzone-paper": "small", "conzone-1tb": None, "legacy": "small-legacy", "zms": "small-zms", "zufs": "small-zufs", "cufs": "small-cufs",
         "plp": "small-plp", "mcmq": "small-mcmq"}
QUEUES, DEPTH = 3, 16  # the log on zones writes two zones for each queue, and most devices allow six
LOADS = {"sequential write": ("write", "mib_s"), "sequential read": ("read", "mib_s"), "random read": ("read", "kiops"),
         "overwrite": ("write", "kiops")}
UNITS = {"mib_s": "MiB/s", "kiops": "KIOPS"}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_names(p, "--devices", tuple(TWINS), ",".join(TWINS), "whose preset")
    arguments.add_number(p, "--mib", 1, 1024, 64, "MiB that each queue writes and reads in order, and reads at random")
    arguments.add_number(p, "--reads", 100, 1000000, 4000, "random reads of each queue")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    args.superblock, args.loads = 6 << 20, list(LOADS)
    if args.quick:
        args.devices, args.superblock = [TWINS[name] for name in args.devices if TWINS[name]], 768 << 10
    return arguments.quickly(args, mib=1, reads=300, loads=["random read", "overwrite"])


def workload_of(args, device, load, seed):
    """Each queue has its own part of the device: zones, or an equal part of the sectors."""
    kind = LOADS[load][0]
    common = {"queue_depth": DEPTH, "read_ratio": float(kind == "read"), "pattern": load.split()[0] if " " in load else "random",
              "block": "128 KiB" if load.startswith("sequential") else "4 KiB"}
    whole = {"name": NAME, "mapping": "direct", "seed": seed, "verify": False, "threads": QUEUES}
    if load == "overwrite":
        return shapes.overwriting(device, whole, common)
    zoned = not shapes.is_block(device)
    if zoned:
        common["zones"] = -(-((args.mib << 20) + (128 << 10)) // shapes.superblock(device))
    if kind == "read":
        common["span_bytes"] = f"{args.mib} MiB"
        common["prefill"] = min(1.0, 1.01 * (args.mib << 20) / (common["zones"] * shapes.superblock(device))) if zoned else 1.0
    else:
        common["flush_every"] = args.mib * 8  # once, before one write more
    volume = {"total_ops": args.reads} if load == "random read" else {"total_bytes": f"{args.mib * 1024 + 128 * (kind == 'write')} KiB"}
    return whole | {"common": common | volume}


def device_of(args, name, load):
    device = runs.merged(runs.load_yaml("devices", name), {"locks": {"stats": "all"}})
    return shapes.equal_share(device, QUEUES, args.superblock) if load == "overwrite" else device


def points(args):
    def one(name, load, seed):
        device = device_of(args, name, load)
        return folder_of(name, load, seed), device, workload_of(args, device, load, seed)
    return [Point({"device": name, "load": load}, f"{name}, {load}", [one(name, load, seed) for seed in args.seeds])
            for name in args.devices for load in args.loads]


def check(result, folder):
    if result["violations"] or result["totals"]["errors"]:
        raise runs.StudyError(f"the run in {folder} broke its own rules or had errors")
    if result["ftl"]["unmapped_read_bytes"]:
        raise runs.StudyError(f"the run in {folder} read what was never written")


def kind_of(result):
    return "read" if result["totals"]["read"]["ops"] else "write"


def commands(result):
    return result["totals"][kind_of(result)]["ops"]


def host_waf(result):
    return (result["mapping"] or {}).get("host_waf", 1.0)


def missed(result):
    """Share of map look-ups that miss; None if the map is not cached."""
    return conzone.misses(result) if any(sum(result["l2p"][k].values()) for k in ("hits", "misses")) else None


def summarize(results):
    """Instructions are the sum over all harts: each takes one cycle, plus stalls."""
    of = [r["totals"][kind_of(r)] for r in results]
    accounts = [r["vclock"]["locks"]["accounts"] for r in results]
    out = {
        "mib_s": mean(t["mib_s"] for t in of), "kiops": mean(t["iops"] / 1e3 for t in of),
        "mean_us": mean(t["latency_ns"]["mean"] / 1e3 for t in of), "p99_us": mean(t["latency_ns"]["p99"] / 1e3 for t in of),
        "instructions": mean(sum(sum(hart["work"].values()) for hart in a) / commands(r) for a, r in zip(accounts, results)),
        "spin": mean(sum(sum(hart["spin"].values()) for hart in a) / sum(hart["cycles"] for hart in a) for a in accounts),
        "queued_us": mean(sum(c["wait"]["ns"] for c in r["vclock"]["locks"]["logical"]) / commands(r) / 1e3 for r in results),
        "channel_busy": mean(map(conzone.channel_busy, results)),
        **conzone.common_figures(results),
    }
    if kind_of(results[0]) == "write":
        out |= {"device_waf": mean(r["waf"] for r in results), "host_waf": mean(map(host_waf, results)),
                "waf": mean(r["waf"] * host_waf(r) for r in results), "by_cause_mib": conzone.flash_mib(results[0])}
    elif missed(results[0]) is not None:
        out["misses"] = mean(map(missed, results))
    return out


def figures(args, measured):
    out = []
    for name, load in [p.key for p in points(args)]:
        p, field = measured.get((name, load)), LOADS[load][1]
        out += [report.figure(f"{load}, {name}", p and p[field], UNITS[field]),
                report.figure(f"mean latency, {load}, {name}", p and p["mean_us"], "us"),
                report.figure(f"p99, {load}, {name}", p and p["p99_us"], "us"),
                report.figure(f"instructions for a command, {load}, {name}", p and p["instructions"], ""),
                report.figure(f"time spinning, {load}, {name}", p and 100 * p["spin"], "%")]
        if LOADS[load][0] == "write":
            out += [report.figure(f"bytes programmed for a byte written, {load}, {name}", p and p["waf"], ""),
                    report.figure(f"bytes that the host writes for one of its own, {load}, {name}", p and p["host_waf"], "")]
        if p and "misses" in p:
            out.append(report.figure(f"misses of the map, {load}, {name}", 100 * p["misses"], "%"))
    for name in args.devices:
        for memory, kib in shapes.memory(name).items():
            out.append(report.figure(f"{memory}, {name}", kib, "KiB"))
    return out


def rows(figure):
    yield ("each row", "", "MiB/s of sequential write and read; KIOPS of random read and overwrite; bytes programmed for a byte written, "
           "sequentially and over others; p99 of all four, us; instructions of a random read and of an overwrite; MiB of SRAM + DRAM")
    for name in TWINS:
        def of(what, form, loads=tuple(LOADS), name=name):
            return ", ".join(form.format(figure(f"{what}{load}, {name}")) for load in loads)
        writes, small = ("sequential write", "overwrite"), ("random read", "overwrite")
        yield name, "", "; ".join([
            of("", "{:.0f}", ("sequential write", "sequential read")), of("", "{:.1f}", small),
            of("bytes programmed for a byte written, ", "{:.2f}", writes), of("p99, ", "{:.0f}"), of("instructions for a command, ", "{:.0f}", small),
            " + ".join(f"{figure(f'{memory}, {name}') / 1024:.1f}" for memory in ("SRAM", "DRAM"))])


def form(figure):
    """Preset → its replacement in these figures."""
    try:
        figure("random read, zms")
        return {name: name for name in TWINS}
    except KeyError:
        return {name: twin for name, twin in TWINS.items() if twin}


def directions(figure):
    names, blocks = form(figure), [name for name in TWINS if shapes.is_block(runs.load_yaml("devices", name))]
    missed = {name: figure(f"misses of the map, random read, {names[name]}") for name in ("legacy", "cufs")}
    yield "page maps outgrow their caches, and most where entries stand for one page", missed["legacy"] > missed["cufs"] > 30
    yield "misses cost instructions", (figure(f"instructions for a command, random read, {names['legacy']}")
                                       > 2 * figure(f"instructions for a command, random read, {names['conzone-paper']}"))
    for name in names.values():
        yield f"what is overwritten is collected: {name}", figure(f"bytes programmed for a byte written, overwrite, {name}") > 1.5
    host = "bytes that the host writes for one of its own, overwrite, "
    yield "by the host on zones", min(figure(host + names[name]) for name in names if name not in blocks) > 1.5
    yield "by the device otherwise", max(figure(host + names[name]) for name in blocks) == 1
    yield "six zones that share two buffers write twice", (figure(f"bytes programmed for a byte written, overwrite, {names['zms']}")
                                                           > 1.5 * figure(f"bytes programmed for a byte written, overwrite, {names['zufs']}"))


def table(measured):
    return (["device", "load", "MiB/s", "KIOPS", "mean us", "p99 us", "WAF", "of it host", "misses %", "insns/command", "spin %", "queued us",
             "dies busy %", "channels busy %"],
            [[name, load, p["mib_s"], p["kiops"], p["mean_us"], p["p99_us"], p.get("waf"), p.get("host_waf"),
              100 * p["misses"] if "misses" in p else None, p["instructions"], 100 * p["spin"], p["queued_us"], 100 * p["die_busy"],
              100 * p["channel_busy"]] for (name, load), p in measured.items()])


def show(measured):
    report.table(*table(measured))


def draw(measured):
    names = list(dict.fromkeys(name for name, _ in measured))
    fig, axes = plot.figure(3, height=4.2)

    def bars(ax, loads, field, title, unit):
        plot.bars(ax, names, {load: [measured[name, load].get(field) if (name, load) in measured else None for name in names] for load in loads},
                  title, unit)
        ax.tick_params(axis="x", rotation=30)
    bars(axes[0], ("sequential write", "sequential read"), "mib_s", "128 KiB in order", "MiB/s")
    bars(axes[1], ("random read", "overwrite"), "kiops", "4 KiB at random", "KIOPS")
    bars(axes[2], ("sequential write", "overwrite"), "waf", "Bytes programmed for a byte written", "")
    return fig


def page(args, sweep, fig):
    shown = Page(__doc__, f"Hartzone, study {NAME}: {QUEUES} queues of {DEPTH} commands, seeds {', '.join(map(str, args.seeds))}, virtual clock")
    shown.picture(fig, "Each bar has its value on top. Overwriting is through a log of the host where there are zones.")
    shown.heading("All figures")
    shown.table(*table(sweep.points))
    shown.heading("Memory that the firmware holds, KiB")
    memory = {name: shapes.memory(name) for name in args.devices}
    shown.table(["device", "SRAM", "DRAM"], [[name, *found.values()] for name, found in memory.items()])
    return shown


def facts(args):
    return {"devices": args.devices, "queues": QUEUES, "depth": DEPTH, "mib": args.mib, "reads": args.reads, "superblock_bytes": args.superblock}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
