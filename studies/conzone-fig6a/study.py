#!/usr/bin/env python3
"""ConZone, figure 6 (a): sequential bandwidth of zoned flash against a legacy device of the same media."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, plot, report, runs  # noqa: E402

NAME = "conzone-fig6a"
ZONE_MIB = 12
DEVICES = ["zoned", "legacy"]
PAPER = {("read", 1): 1, ("read", 4): 10, ("write", 1): 0, ("write", 4): 0}  # zoned against legacy, %; writes are "comparable"


def options():
    p = arguments.study_parser(NAME, __doc__, "--space 96 --passes 1 --seeds 1", seeds="1,2")
    arguments.add_number(p, "--space", 4 * ZONE_MIB, 1536, 240,
                         f"MiB that all threads together use, a multiple of {4 * ZONE_MIB}: each has whole zones of {ZONE_MIB} MiB")
    arguments.add_number(p, "--passes", 1, 1000, 4, "how often it is read; it is written once")
    args = p.parse_args()
    if args.space % (4 * ZONE_MIB):
        p.error(f"argument --space: '{args.space}' is not a multiple of {4 * ZONE_MIB}")
    if args.quick:
        args.space, args.passes, args.seeds = 4 * ZONE_MIB, 2, args.seeds[:1]
    return args


def device_of(name):
    """For fairness the zoned device aggregates no further than the legacy device prefetches: a chunk, 1024 entries (section IV-C)."""
    return conzone.device({"l2p": {"levels": "chunk"}}) if name == "zoned" else conzone.device(name="legacy")


def one_run(args, name, kind, threads, seed):
    share = args.space // threads
    passes = args.passes if kind == "read" else 1
    common = {"read_ratio": float(kind == "read"), "pattern": "sequential", "block": "512 KiB", "total_bytes": f"{share * passes} MiB"}
    common |= {"prefill": 1.0} if kind == "read" else {}
    if name == "zoned":
        zones = share // ZONE_MIB
        common |= {"zones": zones}
        each = [{"first_zone": zones * i} for i in range(threads)]
    else:
        common |= {"span_bytes": f"{share} MiB"}
        each = []
    spec = conzone.workload(NAME, seed, threads=threads, common=common, each=each)
    return conzone.run(args.out / f"{name}-{kind}-{threads}-{seed}", device_of(name), spec)


def point(results, kind):
    return {
        "mib_s": conzone.mean(r["totals"][kind]["mib_s"] for r in results),
        "mean_us": conzone.mean(conzone.host_us(r, kind, "mean") for r in results),
        "misses": conzone.mean(sum(r["l2p"]["misses"].values()) for r in results),
        "fetches": conzone.mean(r["l2p"]["fetches"] for r in results),
        "evictions": conzone.mean(r["l2p"]["evictions"] for r in results),
        "programmed_mib": conzone.flash_mib(results[0]),
        "read_mib": conzone.flash_mib(results[0], "read_bytes"),
        "die_busy": conzone.mean(conzone.die_busy(r) for r in results),
        "harts_busy": conzone.hart_busy(results[0]),
        "digests": [r["digest"] for r in results],
    }


def measure(args):
    progress = report.Progress(len(PAPER) * len(DEVICES) * len(args.seeds))
    points = {}
    for kind, threads in PAPER:
        for name in DEVICES:
            results = []
            for seed in args.seeds:
                progress.step(f"{name}, {kind}, {threads} threads, seed {seed}")
                results.append(one_run(args, name, kind, threads, seed))
            points[kind, threads, name] = point(results, kind)
    progress.end()
    return points


def figures(points):
    out = []
    for (kind, threads), paper in PAPER.items():
        zoned, legacy = (points[kind, threads, name]["mib_s"] for name in DEVICES)
        where = f"{kind}, {threads} thread{'s' if threads > 1 else ''}"
        out += [report.figure(f"{where}, zoned", zoned, "MiB/s"), report.figure(f"{where}, legacy", legacy, "MiB/s"),
                report.figure(f"{where}, zoned against legacy", conzone.percent_more(zoned, legacy), "%", paper)]
    return out


def causes(mib):
    return " ".join(f"{cause} {value:.1f}" for cause, value in mib.items())


def print_points(points):
    print()
    report.table(["device", "", "threads", "MiB/s", "us", "L2P misses", "fetches", "evictions", "dies busy %", "programmed MiB", "read MiB"],
                 [[name, kind, threads, p["mib_s"], p["mean_us"], float(p["misses"]), float(p["fetches"]), float(p["evictions"]),
                   100 * p["die_busy"], causes(p["programmed_mib"]), causes(p["read_mib"])] for (kind, threads, name), p in points.items()])


def draw(args, points):
    fig, (speed,) = plot.figure(1)
    plot.bars(speed, [f"{kind}, {threads} thr." for kind, threads in PAPER],
              {name: [points[kind, threads, name]["mib_s"] for kind, threads in PAPER] for name in DEVICES},
              "512 KiB sequential", "MiB/s")
    plot.save(fig, args.out / f"{NAME}.png")


def main():
    args = options()
    points = measure(args)
    rows = figures(points)
    conzone.compare(rows)
    print_points(points)
    draw(args, points)
    path = report.write(args.out, NAME, rows, seeds=args.seeds, clock="virtual", devices=["conzone-paper", "legacy"],
                        turnaround=conzone.TURNAROUND, space_mib=args.space, passes=args.passes,
                        points=[{"kind": kind, "threads": threads, "device": name, **p} for (kind, threads, name), p in points.items()])
    print(f"\nfigures: {path}   plot: {args.out / (NAME + '.png')}")


if __name__ == "__main__":
    runs.main(main)
