#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ConZone, figure 8: what a miss of the L2P cache costs when its level is known, searched for, or pinned."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "conzone-fig8"
STRATEGIES = ["bitmap", "multiple", "pinned"]
PAPER_MISSES, PAPER_LOSS = 27.4, -10  # of BITMAP; KIOPS of MULTIPLE against it
# A zone that is not full: two chunks of 4 MiB have an entry each, the third one's sectors still
# have their own. 895 of the 2943 sectors read are such, so a cache that holds few of them misses
# nearly a third of all reads. Its size is fitted to the paper's miss ratio, which the paper does
# not explain.
WRITTEN, READ = 0.9583, "11772 KiB"
CACHE_BYTES = 344
# Each strategy over a full zone, which has an entry of its own.
CONTROLS = {f"{strategy}, full zone": strategy for strategy in STRATEGIES}
LOG_ENTRIES = 256  # the smallest: changes in the log need no cache


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--cache 512 --quick")
    arguments.add_number(p, "--cache", 64, 64 << 20, CACHE_BYTES, "bytes of the L2P cache, 4 for each entry")
    arguments.add_number(p, "--volume", 1, 1 << 20, 64, "MiB that each run reads, 4 KiB at a time")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, volume=8)


def points(args):
    def run(name, strategy, seed, written):
        device = conzone.device({"l2p": {"strategy": strategy, "cache": args.cache, "log_entries": LOG_ENTRIES}})
        return folder_of(name, seed), device, conzone.workload(NAME, seed, threads=1, each=[{"first_zone": 0}], common={
            "read_ratio": 1.0, "pattern": "random", "block": "4 KiB", "zones": 1, "prefill": written, "span_bytes": READ,
            "total_bytes": f"{args.volume} MiB"})
    return [Point({"strategy": strategy}, strategy, [run(strategy, strategy, seed, WRITTEN) for seed in args.seeds])
            for strategy in STRATEGIES] + [
        Point({"strategy": name}, name, [run(name, strategy, seed, 1.0) for seed in args.seeds]) for name, strategy in CONTROLS.items()]


check = conzone.check


def misses(result):
    l2p = result["l2p"]
    missed = sum(l2p["misses"].values())
    return missed / (missed + sum(l2p["hits"].values()) + l2p["log_hits"])


def summarize(results):
    return {
        "kiops": mean(r["totals"]["read"]["iops"] / 1e3 for r in results),
        **{f"{p}_us": mean(conzone.host_us(r, "read", p) for r in results) for p in ("mean", "p50", "p99", "p999")},
        "misses": mean(misses(r) for r in results),
        "fetches_per_miss": mean(r["l2p"]["fetches"] / max(1, sum(r["l2p"]["misses"].values())) for r in results),
        "map_read_mib": mean(conzone.flash_mib(r, "read_bytes").get("map", 0.0) for r in results),
        "hits_by_level": {level: mean(r["l2p"]["hits"][level] for r in results) for level in ("page", "chunk", "zone")},
        **conzone.common_figures(results),
    }


def figures(_, measured):
    out = []
    for strategy in STRATEGIES:
        kiops, missed = measured.value(strategy, "kiops"), measured.value(strategy, "misses")
        fitted = {"paper": PAPER_MISSES, "note": "fitted by the size of the cache"} if strategy == "bitmap" else {}
        out += [report.figure(f"L2P misses, {strategy}", missed and 100 * missed, "%", **fitted),
                report.figure(f"reads, {strategy}", kiops, "KIOPS")]
        if strategy != "bitmap":
            out.append(report.figure(f"reads, {strategy} against bitmap", percent_more(kiops, measured.value("bitmap", "kiops")), "%",
                                     PAPER_LOSS if strategy == "multiple" else None))
        out += [report.figure(f"p99, {strategy}", measured.value(strategy, "p99_us"), "us"),
                report.figure(f"p99.9, {strategy}", measured.value(strategy, "p999_us"), "us"),
                report.figure(f"fetches per miss, {strategy}", measured.value(strategy, "fetches_per_miss"), "")]
    for name in CONTROLS:
        out += [report.figure(f"reads, {name}", measured.value(name, "kiops"), "KIOPS"), report.figure(f"p99, {name}", measured.value(name, "p99_us"), "us")]
    return out


def rows(figure):
    yield "L2P misses of BITMAP (fitted)", f"{PAPER_MISSES} %", f"{figure('L2P misses, bitmap'):.1f} %"
    yield ("4 KiB random reads, MULTIPLE against BITMAP", f"{PAPER_LOSS:+} %",
           f"{figure('reads, multiple against bitmap'):+.1f} % ({figure('reads, multiple'):.1f} against {figure('reads, bitmap'):.1f} KIOPS)")
    yield ("99th percentile, MULTIPLE against BITMAP", "higher",
           f"{figure('p99, multiple'):.1f} against {figure('p99, bitmap'):.1f} us")
    yield ("reads, PINNED against BITMAP", "", f"{figure('reads, pinned against bitmap'):+.1f} %")
    kiops, p99 = (", ".join(f"{figure(f'{what}, {name}'):.1f}" for name in CONTROLS) for what in ("reads", "p99"))
    yield "control, a full zone: BITMAP, MULTIPLE, PINNED", "", f"{kiops} KIOPS, p99 {p99} us"


def directions(figure):
    reads = [figure(f"reads, {name}") for name in CONTROLS]
    yield "in a full zone all strategies are equally fast", max(reads) < 1.01 * min(reads)
    yield "and faster than in one that is being filled", min(reads) > 1.1 * figure("reads, bitmap")


def show(measured):
    report.table(["strategy", "KIOPS", "mean us", "p50 us", "p99 us", "p99.9 us", "misses %", "fetches/miss", "map MiB read"],
                 [[name, p["kiops"], p["mean_us"], p["p50_us"], p["p99_us"], p["p999_us"], 100 * p["misses"], p["fetches_per_miss"],
                   p["map_read_mib"]] for name, p in measured.items()])


def draw(measured):
    names = [name for name in measured if name in STRATEGIES]
    fig, (speed, tail) = plot.figure(2)
    plot.bars(speed, names, {"measured": [measured[s]["kiops"] for s in names]},
              f"4 KiB random reads, {100 * measured[names[0]]['misses']:.1f} % misses", "KIOPS")
    plot.bars(tail, names, {"p99": [measured[s]["p99_us"] for s in names], "p99.9": [measured[s]["p999_us"] for s in names]},
              "Tail latency", "us")
    return fig


def facts(args):
    return {"device": "conzone-paper", "turnaround": conzone.TURNAROUND, "cache_bytes": args.cache, "volume_mib": args.volume}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
