#!/usr/bin/env python3
"""ConZone, figure 6 (b): what it costs when two writers' zones share one write buffer."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, plot, report, runs  # noqa: E402

NAME = "conzone-fig6b"
PAPER_BANDWIDTH, PAPER_WAF = 65, -24
# Second thread's zone: with two buffers bound by zone number modulo 2, zone 1 has the other buffer, zone 2 shares it with zone 0.
PLACES = {"apart": 1, "shared": 2}
# Mean of a client's exponentially distributed pause before each write. 0 is the paper's test: both write as fast as they can.
PAUSES_US = "0,250,500,750,1000,2000"


def options():
    p = arguments.study_parser(NAME, __doc__, "--pauses 0,500 --quick", seeds="1,2,3")
    arguments.add_numbers(p, "--pauses", 0, 1000000, PAUSES_US, "mean pauses of the clients in us; 0 is the paper's test")
    args = p.parse_args()
    if 0 not in args.pauses:
        args.pauses.insert(0, 0)
    if args.quick:
        args.pauses, args.seeds = args.pauses[:2], args.seeds[:1]
    return args


def one_run(args, place, pause, seed):
    common = {"read_ratio": 0.0, "block": "48 KiB", "zones": 1, "reset_when_full": False, "total_bytes": "3 MiB" if args.quick else "12 MiB"}
    if pause:
        common |= {"think": f"{pause}us", "think_distribution": "exponential"}
    spec = conzone.workload(NAME, seed, threads=2, common=common, each=[{"first_zone": 0}, {"first_zone": PLACES[place]}])
    return conzone.run(args.out / f"{place}-{pause}-{seed}", conzone.device(), spec)


def settled_waf(result):
    """Both zones are full in the end: every byte is programmed in its place once, also those that the buffers still hold at the last
    completion. Table pages do not count: ConZone does not write its map."""
    host = result["ftl"]["host_write_bytes"]
    return 1 + sum(row["program_bytes"] for cause, row in result["nand"]["by_cause"].items() if cause not in ("host", "map")) / host


def point(results):
    return {
        "mib_s": conzone.mean(r["totals"]["write"]["mib_s"] for r in results),
        "waf": conzone.mean(settled_waf(r) for r in results),
        "conflicts": conzone.mean(r["ftl"]["buffer_flushes"]["conflict"] for r in results),
        "programmed_mib": conzone.flash_mib(results[0]),
        "fold_read_mib": conzone.flash_mib(results[0], "read_bytes").get("fold", 0.0),
        "slc_gc_runs": conzone.mean(r["ftl"]["slc_gc_runs"] for r in results),
        "write_mean_us": conzone.mean(r["totals"]["write"]["latency_ns"]["mean"] / 1e3 for r in results),
        "die_busy": conzone.mean(conzone.die_busy(r) for r in results),
        "harts_busy": conzone.hart_busy(results[0]),
        "digests": [r["digest"] for r in results],
    }


def measure(args):
    progress = report.Progress(len(PLACES) * len(args.pauses) * len(args.seeds))
    points = {}
    for pause in args.pauses:
        for place in PLACES:
            results = []
            for seed in args.seeds:
                progress.step(f"{place}, pauses of {pause} us, seed {seed}")
                results.append(one_run(args, place, pause, seed))
            points[place, pause] = point(results)
    progress.end()
    return points


def effect(points, pause):
    """In %: bandwidth apart against shared, and WAF apart against shared, as the paper states them."""
    apart, shared = points["apart", pause], points["shared", pause]
    return conzone.percent_more(apart["mib_s"], shared["mib_s"]), conzone.percent_more(apart["waf"], shared["waf"])


def at_papers_waf(args, points):
    """Bandwidth effect where as many writes collide as in the paper, between the two pauses whose WAF effects enclose the paper's."""
    effects = sorted((effect(points, pause) for pause in args.pauses), key=lambda e: e[1])
    for (low_bandwidth, low), (high_bandwidth, high) in zip(effects, effects[1:]):
        if low <= PAPER_WAF <= high:
            return low_bandwidth + (high_bandwidth - low_bandwidth) * (PAPER_WAF - low) / (high - low)
    return None


def figures(args, points):
    bandwidth, waf = effect(points, 0)
    out = [report.figure("bandwidth, buffers apart", points["apart", 0]["mib_s"], "MiB/s"),
           report.figure("bandwidth, shared buffer", points["shared", 0]["mib_s"], "MiB/s"),
           report.figure("bandwidth, apart against shared", bandwidth, "%", PAPER_BANDWIDTH),
           report.figure("WAF, buffers apart", points["apart", 0]["waf"], "x"),
           report.figure("WAF, shared buffer", points["shared", 0]["waf"], "x"),
           report.figure("WAF, apart against shared", waf, "%", PAPER_WAF)]
    same = at_papers_waf(args, points)
    if same is not None:
        out.append(report.figure("bandwidth, apart against shared, where WAF is -24 %", same, "%", PAPER_BANDWIDTH, "between two pauses"))
    for pause in args.pauses[1:]:
        bandwidth, waf = effect(points, pause)
        out += [report.figure(f"bandwidth, apart against shared, pauses of {pause} us", bandwidth, "%"),
                report.figure(f"WAF, apart against shared, pauses of {pause} us", waf, "%")]
    return out


def print_points(points):
    print()
    report.table(["clients' pause", "zones", "MiB/s", "write us", "WAF", "conflicts", "programmed MiB", "fold reads MiB", "dies busy %"],
                 [[f"{pause} us", place, p["mib_s"], p["write_mean_us"], p["waf"], float(p["conflicts"]),
                   " ".join(f"{c} {v:.1f}" for c, v in p["programmed_mib"].items()), p["fold_read_mib"], 100 * p["die_busy"]]
                  for (place, pause), p in points.items()])


def draw(args, points):
    fig, (speed, waf, sweep) = plot.figure(3)
    places = list(PLACES)
    plot.bars(speed, places, {"measured": [points[p, 0]["mib_s"] for p in places]}, "Write bandwidth, no pauses", "MiB/s")
    plot.bars(waf, places, {"measured": [points[p, 0]["waf"] for p in places]}, "Write amplification, no pauses", "x")
    for label, which in (("bandwidth", 0), ("WAF", 1)):
        sweep.plot(args.pauses, [effect(points, pause)[which] for pause in args.pauses], marker="o", label=label)
    for value in (PAPER_BANDWIDTH, PAPER_WAF):
        sweep.axhline(value, color="grey", linestyle=":")
    sweep.set(xlabel="mean pause of a client, us", ylabel="apart against shared, %", title="Fewer collisions (dotted: paper)",
              xscale="symlog", yscale="symlog")
    sweep.legend(frameon=False)
    plot.save(fig, args.out / f"{NAME}.png")


def main():
    args = options()
    points = measure(args)
    rows = figures(args, points)
    conzone.compare(rows)
    print_points(points)
    draw(args, points)
    path = report.write(args.out, NAME, rows, seeds=args.seeds, clock="virtual", device="conzone-paper", turnaround=conzone.TURNAROUND,
                        points=[{"zones": place, "pause_us": pause, **p} for (place, pause), p in points.items()])
    print(f"\nfigures: {path}   plot: {args.out / (NAME + '.png')}")


if __name__ == "__main__":
    runs.main(main)
