#!/usr/bin/env python3
"""ConZone, figure 7: random reads over growing ranges, with a page map and with a hybrid map."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, plot, report, runs  # noqa: E402

NAME = "conzone-fig7"
MAPS = {"page": "page", "hybrid": "zone"}  # name in the figure → l2p.levels
ZONE_MIB = 12
PAPER_KIOPS = {("page", 1): 20.2, ("hybrid", 1): 20.2}
PAPER_LOSS = {("page", 16): -16.5, ("page", 1024): -33.5}  # against the same map's 1 MiB, in %
PAPER_TAIL_US = 50                                         # of the hybrid map, whatever the range


def options():
    p = arguments.study_parser(NAME, __doc__, "--ranges 1,48 --volume 4 --seeds 1", seeds="1,2,3")
    arguments.add_numbers(p, "--ranges", 1, 1536, "1,16,1024", "ranges in MiB; the first is what others are compared with")
    arguments.add_number(p, "--volume", 1, 1 << 20, 64, "MiB that each run reads, 4 KiB at a time")
    args = p.parse_args()
    if args.quick:
        args.ranges, args.volume, args.seeds = [1, 48], 4, args.seeds[:1]
    return args


def one_run(args, name, mib, seed):
    device = conzone.device({"l2p": {"levels": MAPS[name]}})
    spec = conzone.workload(NAME, seed, threads=1, each=[{"first_zone": 0}], common={
        "read_ratio": 1.0, "pattern": "random", "block": "4 KiB", "zones": -(-mib // ZONE_MIB), "prefill": 1.0,
        "span_bytes": f"{mib} MiB", "total_bytes": f"{args.volume} MiB"})
    return conzone.run(args.out / f"{name}-{mib}-{seed}", device, spec)


def misses(result):
    hits, missed = (sum(result["l2p"][k].values()) for k in ("hits", "misses"))
    return missed / (hits + missed)


def point(results):
    return {
        "kiops": conzone.mean(r["totals"]["read"]["iops"] / 1e3 for r in results),
        **{f"{p}_us": conzone.mean(conzone.host_us(r, "read", p) for r in results) for p in ("mean", "p99", "p999")},
        "misses": conzone.mean(misses(r) for r in results),
        "fetches_per_miss": conzone.mean(r["l2p"]["fetches"] / max(1, sum(r["l2p"]["misses"].values())) for r in results),
        "die_busy": conzone.mean(conzone.die_busy(r) for r in results),
        "harts_busy": conzone.hart_busy(results[0]),
        "map_read_mib": conzone.mean(conzone.flash_mib(r, "read_bytes").get("map", 0.0) for r in results),
        "digests": [r["digest"] for r in results],
    }


def measure(args):
    progress = report.Progress(len(MAPS) * len(args.ranges) * len(args.seeds))
    points = {}
    for name in MAPS:
        for mib in args.ranges:
            results = []
            for seed in args.seeds:
                progress.step(f"{name} map, {mib} MiB, seed {seed}")
                results.append(one_run(args, name, mib, seed))
            points[name, mib] = point(results)
    progress.end()
    return points


def figures(args, points):
    out = []
    first = args.ranges[0]
    for (name, mib), p in points.items():
        where = f"{name} map, {mib} MiB"
        out.append(report.figure(f"reads, {where}", p["kiops"], "KIOPS", PAPER_KIOPS.get((name, mib))))
        if mib != first:
            loss = conzone.percent_more(p["kiops"], points[name, first]["kiops"])
            out.append(report.figure(f"reads, {where} against {first} MiB", loss, "%", PAPER_LOSS.get((name, mib))))
        out += [report.figure(f"p99, {where}", p["p99_us"], "us", PAPER_TAIL_US if name == "hybrid" else None),
                report.figure(f"p99.9, {where}", p["p999_us"], "us"),
                report.figure(f"L2P misses, {where}", 100 * p["misses"], "%")]
    return out


def print_points(points):
    print()
    report.table(["map", "range", "KIOPS", "mean us", "p99 us", "p99.9 us", "misses %", "fetches/miss", "map MiB read", "dies busy %"],
                 [[name, f"{mib} MiB", p["kiops"], p["mean_us"], p["p99_us"], p["p999_us"], 100 * p["misses"], p["fetches_per_miss"],
                   p["map_read_mib"], 100 * p["die_busy"]] for (name, mib), p in points.items()])


def draw(args, points):
    fig, (speed, tail) = plot.figure(2)
    groups = [f"{mib} MiB" for mib in args.ranges]
    paper = [20.2 * (1 + PAPER_LOSS.get(("page", mib), 0) / 100) if mib in (1, 16, 1024) else None for mib in args.ranges]
    plot.bars(speed, groups, {"page, paper": paper, **{name: [points[name, mib]["kiops"] for mib in args.ranges] for name in MAPS}},
              "4 KiB random reads", "KIOPS")
    plot.bars(tail, groups, {f"{name}, {label}": [points[name, mib][key] for mib in args.ranges]
                             for name in MAPS for label, key in (("p99", "p99_us"), ("p99.9", "p999_us"))}, "Tail latency", "us")
    plot.save(fig, args.out / f"{NAME}.png")


def main():
    args = options()
    points = measure(args)
    rows = figures(args, points)
    conzone.compare(rows)
    print_points(points)
    draw(args, points)
    path = report.write(args.out, NAME, rows, seeds=args.seeds, clock="virtual", device="conzone-paper", turnaround=conzone.TURNAROUND,
                        volume_mib=args.volume, points=[{"map": name, "range_mib": mib, **p} for (name, mib), p in points.items()])
    print(f"\nfigures: {path}   plot: {args.out / (NAME + '.png')}")


if __name__ == "__main__":
    runs.main(main)
