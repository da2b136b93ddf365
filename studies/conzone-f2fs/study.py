#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""F2FS's metadata on conventional zones beside its logs on sequential ones: what each costs alone, and what they take from each other."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report, runs  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "conzone-f2fs"
ZONES = 136 # 8 of them conventional
# conzone-f2fs with blocks of a quarter: zones of 3 MiB, so that the collector has work after seconds.
SMALL = {"geometry": {"pages_per_block": 24, "slc_blocks_per_plane": 20, "blocks_per_plane": 180}, "zones": {"count": ZONES},
         "l2p": {"chunk": "1 MiB"}}
# Backing zones beyond the 24 MiB of conventional ones (15 and 21 MiB), and streams of host writes;
# each has a buffer.
DEVICES = {"preset": {"spare_superblocks": 5}, "two streams": {"spare_superblocks": 5, "streams": 2, "buffers": 2}, "roomy": {"spare_superblocks": 7},
           "two streams and a spare": {"spare_superblocks": 6, "streams": 2, "buffers": 2}}
CLIENTS = {
    # checkpoint, node and segment tables: overwritten in place, mostly in a few places, with an
    # occasional Flush
    "metadata": {"area": "conventional", "pattern": "random", "distribution": "zipf", "zipf_theta": 0.9, "read_ratio": 0.3, "block": "4 KiB",
                 "flush_every": 16, "prefill": 1.0},
    "node": {"read_ratio": 0.4, "open_zones": 3, "zones": 12, "write_pattern": "random", "flush_every": 32,
             "blocks": [{"size": "4 KiB", "weight": 3}, {"size": "16 KiB", "weight": 1}]},
    "data": {"read_ratio": 0.5, "open_zones": 3, "zones": 40, "write_pattern": "random",
             "blocks": [{"size": "64 KiB", "weight": 1}, {"size": "256 KiB", "weight": 2}]},
}
NO_FLUSH = "metadata without Flush"
CLIENTS[NO_FLUSH] = {key: value for key, value in CLIENTS["metadata"].items() if key != "flush_every"}
LOADS = {"metadata": ["metadata"], "logs": ["node", "data"], "both": ["metadata", "node", "data"], NO_FLUSH: [NO_FLUSH]}
POINTS = [*(("preset", load) for load in LOADS), *((name, "both") for name in list(DEVICES)[1:])]


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    p.set_defaults(seeds="1,2,3")
    arguments.add_names(p, "--devices", tuple(DEVICES), ",".join(DEVICES), "backing zones and streams of the conventional zones")
    arguments.add_number(p, "--ops", 300, 1000000, 6000, "commands of the metadata; node blocks: a third of it, data: a MiB for each hundred")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, devices=args.devices[:1], ops=3000, seeds=[1])


def workload_of(args, load, seed):
    ends = {"metadata": {"total_ops": args.ops}, NO_FLUSH: {"total_ops": args.ops}, "node": {"total_ops": args.ops // 3}, "data": {"total_bytes": f"{args.ops // 100} MiB"}}
    return conzone.workload(NAME, seed, threads=len(LOADS[load]), common={"queue_depth": 4, "think": "20us", "think_distribution": "exponential"},
                            each=[CLIENTS[client] | ends[client] for client in LOADS[load]])


def points(args):
    return [Point({"device": name, "load": load}, f"{name}, {load}",
                  [(folder_of(name, load, seed), conzone.device(runs.merged(SMALL, {"conventional": DEVICES[name]}), "conzone-f2fs"),
                    workload_of(args, load, seed)) for seed in args.seeds]) for name, load in POINTS if name in args.devices]


check = conzone.check


def client_us(results, load, client, kind, percentile):
    """None: the client is not there."""
    if client not in LOADS[load]:
        return None
    at = LOADS[load].index(client)
    return mean(r["queues"][at][kind]["latency_ns"][percentile] / 1e3 for r in results)


def load_of(result):
    """Identified by its number of clients."""
    return next(load for load, clients in LOADS.items() if len(clients) == len(result["workload"]["threads"]))


def programmed(result, *causes):
    return sum(row["program_bytes"] for cause, row in result["nand"]["by_cause"].items() if cause in causes)


def summarize(results):
    load, host = load_of(results[0]), [r["ftl"]["host_write_bytes"] for r in results]
    return {
        **{f"{client} {kind} {rank}": client_us(results, load, client, kind, rank)
           for client, kind in (("metadata", "write"), ("metadata", "flush"), ("metadata", "read"), ("node", "write"), ("data", "write"), ("data", "read"))
           for rank in ("mean", "p99")},
        "waf": mean(r["waf"] for r in results),
        "copied": mean(r["ftl"]["conventional_gc_bytes"] / h for r, h in zip(results, host)),
        "staged": mean(programmed(r, "slc") / h for r, h in zip(results, host)),
        "collections": mean(r["ftl"]["conventional_gc_runs"] for r in results),
        "conflicts": mean(r["ftl"]["buffer_flushes"]["conflict"] for r in results),
        "stalls": mean(r["ftl"]["conventional_stalls"] for r in results),
        "programmed_mib": conzone.flash_mib(results[0]),
        **conzone.common_figures(results),
    }


SHOWN = (("metadata write mean", "metadata writes, mean"), ("metadata write p99", "metadata writes, p99"), ("metadata flush mean", "metadata Flushes, mean"),
         ("node write mean", "node writes, mean"), ("data write mean", "data writes, mean"), ("data read mean", "data reads, mean"))


def figures(args, measured):
    out = []
    for name, load in [p.key for p in points(args)]:
        for field, what in SHOWN:
            if field.split()[0] in LOADS[load]:
                out.append(report.figure(f"{what}, {name}, {load}", measured.value((name, load), field), "us"))
        out.append(report.figure(f"WAF, {name}, {load}", measured.value((name, load), "waf"), "x"))
        out.append(report.figure(f"staged for a byte written, {name}, {load}", measured.value((name, load), "staged"), ""))
        if "metadata" in LOADS[load]:
            out.append(report.figure(f"copied for a byte written, {name}, {load}", measured.value((name, load), "copied"), ""))
    return out


def directions(figure):
    yield "metadata's collector copies", figure("copied for a byte written, preset, metadata") > 0
    yield "logs alone are written with less amplification than metadata", figure("WAF, preset, logs") < figure("WAF, preset, metadata")
    yield "metadata slow the logs down", figure("data writes, mean, preset, both") > 1.1 * figure("data writes, mean, preset, logs")
    yield "logs slow the metadata down", figure("metadata Flushes, mean, preset, both") > 1.1 * figure("metadata Flushes, mean, preset, metadata")
    yield "metadata are staged for their Flushes", \
        figure(f"staged for a byte written, preset, {NO_FLUSH}") < 0.3 * figure("staged for a byte written, preset, metadata")
    if report.has(figure, "WAF, roomy, both"):
        yield "node writes do not wait for the collector's copies", figure("node writes, mean, roomy, both") > 0.85 * figure("node writes, mean, preset, both")
        yield "two streams pay where they have one more superblock", \
            figure("WAF, two streams and a spare, both") < figure("WAF, preset, both") < figure("WAF, two streams, both")


def rows(figure):
    for what in ("metadata writes, mean", "metadata writes, p99", "metadata Flushes, mean", "node writes, mean", "data writes, mean", "data reads, mean"):
        alone = "metadata" if what.startswith("metadata") else "logs"
        before, after = (figure(f"{what}, preset, {load}") for load in (alone, "both"))
        yield f"{what}: alone / beside the others", "", f"{before / 1e3:.2f} / {after / 1e3:.2f} ms ({percent_more(after, before):+.0f} %)"
    yield ("write amplification: metadata alone, logs alone, both", "",
           ", ".join(f"{figure(f'WAF, preset, {load}'):.2f}" for load in ("metadata", "logs", "both")))
    yield ("staged, and copied by the collector, for a byte written: metadata alone; roomy, beside the others", "",
           "; ".join(f"{figure(f'staged for a byte written, {at}'):.2f}, {figure(f'copied for a byte written, {at}'):.2f}"
                     for at in ("preset, metadata", "roomy, both")))
    yield ("control, metadata without Flush: write amplification, staged for a byte written", "",
           f"{figure(f'WAF, preset, {NO_FLUSH}'):.2f}, {figure(f'staged for a byte written, preset, {NO_FLUSH}'):.2f}")
    yield ("control, roomy, beside the others: node writes, data writes, data reads, mean", "",
           ", ".join(f"{figure(f'{what}, mean, roomy, both') / 1e3:.2f}" for what in ("node writes", "data writes", "data reads")) + " ms")
    yield ("both, " + ", ".join(DEVICES) + ": write amplification; metadata writes, p99", "",
           ", ".join(f"{figure(f'WAF, {name}, both'):.2f}" for name in DEVICES) + "; "
           + ", ".join(f"{figure(f'metadata writes, p99, {name}, both') / 1e3:.1f}" for name in DEVICES) + " ms")


def show(measured):
    report.table(["device", "load", "metadata write, us", "p99", "flush, us", "node write, us", "data write, us", "data read, us", "WAF", "copied", "staged",
                  "collections", "conflicts", "stalls", "dies busy %", "programmed MiB"],
                 [[name, load, *(p[field] for field, _ in SHOWN), p["waf"], p["copied"], p["staged"], p["collections"], p["conflicts"], p["stalls"],
                   100 * p["die_busy"], " ".join(f"{c} {v:.1f}" for c, v in p["programmed_mib"].items())] for (name, load), p in measured.items()])


def draw(measured):
    keys = list(measured)
    fig, axes = plot.figure(3)
    for ax, fields, title in zip(axes, (SHOWN[:3], SHOWN[3:]), ("Metadata", "Logs")):
        plot.bars(ax, [f"{name},\n{load}" for name, load in keys], {what: [measured[key][field] for key in keys] for field, what in fields}, title, "us")
    plot.bars(axes[2], [f"{name},\n{load}" for name, load in keys],
              {"WAF": [measured[key]["waf"] for key in keys], "copied": [measured[key]["copied"] for key in keys]}, "Write amplification", "x")
    return fig


def facts(args):
    return {"device": "conzone-f2fs", "changes": SMALL, "conventional": {name: DEVICES[name] for name in args.devices}, "ops": args.ops}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
