#!/usr/bin/env python3
"""ConZone, figure 8: what a miss of the L2P cache costs when its level is known, searched for, or pinned."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, plot, report, runs  # noqa: E402

NAME = "conzone-fig8"
STRATEGIES = ["bitmap", "multiple", "pinned"]
PAPER_MISSES, PAPER_LOSS = 27.4, -10  # of BITMAP; KIOPS of MULTIPLE against it
# A zone that is not full: two chunks of 4 MiB have an entry each, the third one's sectors still have their own. 895 of the 2943
# sectors that are read are such, so a cache that holds few of them misses nearly a third of all reads; its size sets the paper's ratio.
WRITTEN, READ = 0.9583, "11772 KiB"
CACHE_BYTES = 344
LOG_ENTRIES = 256  # the smallest: what the log of changes holds needs no cache


def options():
    p = arguments.study_parser(NAME, __doc__, "--cache 512 --quick", seeds="1,2,3")
    arguments.add_number(p, "--cache", 64, 64 << 20, CACHE_BYTES, "bytes of the L2P cache, 4 for each entry")
    arguments.add_number(p, "--volume", 1, 1 << 20, 64, "MiB that each run reads, 4 KiB at a time")
    args = p.parse_args()
    if args.quick:
        args.volume, args.seeds = 8, args.seeds[:1]
    return args


def one_run(args, strategy, seed):
    device = conzone.device({"l2p": {"strategy": strategy, "cache": args.cache, "log_entries": LOG_ENTRIES}})
    spec = conzone.workload(NAME, seed, threads=1, each=[{"first_zone": 0}], common={
        "read_ratio": 1.0, "pattern": "random", "block": "4 KiB", "zones": 1, "prefill": WRITTEN, "span_bytes": READ,
        "total_bytes": f"{args.volume} MiB"})
    return conzone.run(args.out / f"{strategy}-{seed}", device, spec)


def misses(result):
    l2p = result["l2p"]
    missed = sum(l2p["misses"].values())
    return missed / (missed + sum(l2p["hits"].values()) + l2p["log_hits"])


def point(results):
    return {
        "kiops": conzone.mean(r["totals"]["read"]["iops"] / 1e3 for r in results),
        **{f"{p}_us": conzone.mean(conzone.host_us(r, "read", p) for r in results) for p in ("mean", "p50", "p99", "p999")},
        "misses": conzone.mean(misses(r) for r in results),
        "fetches_per_miss": conzone.mean(r["l2p"]["fetches"] / max(1, sum(r["l2p"]["misses"].values())) for r in results),
        "map_read_mib": conzone.mean(conzone.flash_mib(r, "read_bytes").get("map", 0.0) for r in results),
        "hits_by_level": {level: conzone.mean(r["l2p"]["hits"][level] for r in results) for level in ("page", "chunk", "zone")},
        "harts_busy": conzone.hart_busy(results[0]),
        "digests": [r["digest"] for r in results],
    }


def measure(args):
    progress = report.Progress(len(STRATEGIES) * len(args.seeds))
    points = {}
    for strategy in STRATEGIES:
        results = []
        for seed in args.seeds:
            progress.step(f"{strategy}, seed {seed}")
            results.append(one_run(args, strategy, seed))
        points[strategy] = point(results)
    progress.end()
    return points


def figures(points):
    base = points["bitmap"]
    out = [report.figure("L2P misses, bitmap", 100 * base["misses"], "%", PAPER_MISSES, "set by the size of the cache")]
    for strategy, p in points.items():
        out.append(report.figure(f"reads, {strategy}", p["kiops"], "KIOPS"))
        if p is not base:
            out.append(report.figure(f"reads, {strategy} against bitmap", conzone.percent_more(p["kiops"], base["kiops"]), "%",
                                     PAPER_LOSS if strategy == "multiple" else None))
        out += [report.figure(f"p99, {strategy}", p["p99_us"], "us"), report.figure(f"p99.9, {strategy}", p["p999_us"], "us"),
                report.figure(f"fetches per miss, {strategy}", p["fetches_per_miss"], "")]
    return out


def print_points(points):
    print()
    report.table(["strategy", "KIOPS", "mean us", "p50 us", "p99 us", "p99.9 us", "misses %", "fetches/miss", "map MiB read"],
                 [[name, p["kiops"], p["mean_us"], p["p50_us"], p["p99_us"], p["p999_us"], 100 * p["misses"], p["fetches_per_miss"],
                   p["map_read_mib"]] for name, p in points.items()])


def draw(args, points):
    fig, (speed, tail) = plot.figure(2)
    plot.bars(speed, STRATEGIES, {"measured": [points[s]["kiops"] for s in STRATEGIES]},
              f"4 KiB random reads, {100 * points['bitmap']['misses']:.1f} % misses", "KIOPS")
    plot.bars(tail, STRATEGIES, {"p99": [points[s]["p99_us"] for s in STRATEGIES], "p99.9": [points[s]["p999_us"] for s in STRATEGIES]},
              "Tail latency", "us")
    plot.save(fig, args.out / f"{NAME}.png")


def main():
    args = options()
    points = measure(args)
    rows = figures(points)
    conzone.compare(rows)
    print_points(points)
    draw(args, points)
    path = report.write(args.out, NAME, rows, seeds=args.seeds, clock="virtual", device="conzone-paper", turnaround=conzone.TURNAROUND,
                        cache_bytes=args.cache, volume_mib=args.volume, points=[{"strategy": s, **p} for s, p in points.items()])
    print(f"\nfigures: {path}   plot: {args.out / (NAME + '.png')}")


if __name__ == "__main__":
    runs.main(main)
