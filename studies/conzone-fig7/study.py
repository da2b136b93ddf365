#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ConZone, figure 7: random reads over growing ranges, with a page map and with a hybrid map."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "conzone-fig7"
MAPS = {"page": "page", "hybrid": "zone"}  # name in the figure → l2p.levels
ZONE_MIB = 12
RANGES = [1, 16, 1024]
PAPER_KIOPS = {("page", 1): 20.2, ("hybrid", 1): 20.2}
PAPER_LOSS = {("page", 16): -16.5, ("page", 1024): -33.5, ("hybrid", 16): 0, ("hybrid", 1024): 0}  # against the same map's 1 MiB, in %
PAPER_TAIL_US = 50                                         # of the hybrid map, for any range

# A control: the hybrid map on harts whose caches hold every line that they have had.
CACHES, CACHED = {"clock": {"cache_bytes": 0}}, "hybrid, caches without limit"


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--ranges 1,48 --volume 4")
    arguments.add_numbers(p, "--ranges", 1, 1536, ",".join(map(str, RANGES)), "ranges in MiB; the first is what others are compared with")
    arguments.add_number(p, "--volume", 1, 1 << 20, 64, "MiB that each run reads, 4 KiB at a time")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, ranges=[1, 48], volume=4)


def workload_of(args, mib, seed):
    return conzone.workload(NAME, seed, threads=1, each=[{"first_zone": 0}], common={
        "read_ratio": 1.0, "pattern": "random", "block": "4 KiB", "zones": -(-mib // ZONE_MIB), "prefill": 1.0,
        "span_bytes": f"{mib} MiB", "total_bytes": f"{args.volume} MiB"})


def points(args):
    return [Point({"map": name, "range_mib": mib}, f"{name} map, {mib} MiB",
                  [(f"{name}-{mib}-{seed}", conzone.device({"l2p": {"levels": MAPS[name]}}), workload_of(args, mib, seed))
                   for seed in args.seeds])
            for name in MAPS for mib in args.ranges] + [
        Point({"map": CACHED, "range_mib": mib}, f"{CACHED}, {mib} MiB",
              [(folder_of(CACHED, mib, seed), conzone.device({"l2p": {"levels": MAPS["hybrid"]}, **CACHES}), workload_of(args, mib, seed)) for seed in args.seeds])
        for mib in (args.ranges[0], args.ranges[-1])]


check = conzone.check


def summarize(results):
    return {
        "kiops": mean(r["totals"]["read"]["iops"] / 1e3 for r in results),
        **{f"{p}_us": mean(conzone.host_us(r, "read", p) for r in results) for p in ("mean", "p99", "p999")},
        "misses": mean(conzone.misses(r) for r in results),
        "work_us": mean(sum(h["work_ns"] for h in r["harts"] if h["role"] == "worker") / 1e3 / r["totals"]["read"]["ops"] for r in results),
        "fetches_per_miss": mean(r["l2p"]["fetches"] / max(1, sum(r["l2p"]["misses"].values())) for r in results),
        "map_read_mib": mean(conzone.flash_mib(r, "read_bytes").get("map", 0.0) for r in results),
        **conzone.common_figures(results),
    }


def percent(part):
    return None if part is None else 100 * part


def figures(args, measured):
    out = []
    first = args.ranges[0]
    for name in MAPS:
        for mib in args.ranges:
            at = f"{name} map, {mib} MiB"
            kiops, base, p99, p999, missed = (measured.value(key, field) for key, field in (
                ((name, mib), "kiops"), ((name, first), "kiops"), ((name, mib), "p99_us"), ((name, mib), "p999_us"), ((name, mib), "misses")))
            out.append(report.figure(f"reads, {at}", kiops, "KIOPS", PAPER_KIOPS.get((name, mib))))
            if mib != first:
                out.append(report.figure(f"reads, {at} against {first} MiB", percent_more(kiops, base), "%", PAPER_LOSS.get((name, mib))))
            out += [report.figure(f"p99, {at}", p99, "us", PAPER_TAIL_US if name == "hybrid" else None),
                    report.figure(f"p99.9, {at}", p999, "us"), report.figure(f"L2P misses, {at}", percent(missed), "%")]
    for name in ("hybrid", CACHED):
        out += [report.figure(f"work of the workers for a read, {name}, {mib} MiB", measured.value((name, mib), "work_us"), "us") for mib in (first, args.ranges[-1])]
    last = args.ranges[-1]
    lost = percent_more(*(measured.value((CACHED, mib), "kiops") for mib in (last, first)))
    return [*out, report.figure(f"reads, {CACHED}, {last} MiB against {first} MiB", lost, "%")]


def rows(figure):
    for name in MAPS:
        for mib in RANGES:
            at = f"{name} map, {mib} MiB"
            missed = f"{figure(f'L2P misses, {at}'):.1f} % misses"
            if mib == RANGES[0]:
                yield f"4 KiB random reads, {at} (client fitted)", f"{PAPER_KIOPS[name, mib]} KIOPS", f"{figure(f'reads, {at}'):.1f} KIOPS ({missed})"
                continue
            paper = PAPER_LOSS[name, mib]
            yield (f"{at} against {RANGES[0]} MiB", f"{paper:+} %" if paper else "the same",
                   f"{figure(f'reads, {at} against {RANGES[0]} MiB'):+.1f} % ({figure(f'reads, {at}'):.1f} KIOPS, {missed})")
    yield ("hybrid map, 99th percentile, 1, 16 and 1024 MiB", f"about {PAPER_TAIL_US} us",
           ", ".join(f"{figure(f'p99, hybrid map, {mib} MiB'):.1f}" for mib in RANGES) + " us")
    first, last = RANGES[0], RANGES[-1]
    yield (f"control, {CACHED}: {last} MiB against {first} MiB", "", f"{figure(f'reads, {CACHED}, {last} MiB against {first} MiB'):+.1f} %")
    for name in ("hybrid", CACHED):
        yield (f"work of the workers for a read, {name}: {first}, {last} MiB", "",
               ", ".join(f"{figure(f'work of the workers for a read, {name}, {mib} MiB'):.2f}" for mib in (first, last)) + " us")


def directions(figure):
    last = max(mib for mib in (48, RANGES[-1]) if report.has(figure, f"reads, hybrid map, {mib} MiB"))
    more = {name: figure(f"work of the workers for a read, {name}, {last} MiB") - figure(f"work of the workers for a read, {name}, {RANGES[0]} MiB")
            for name in ("hybrid", CACHED)}
    yield "with caches without limit a read over a large range takes less of a worker's time", more[CACHED] < 0.9 * more["hybrid"]


def show(measured):
    report.table(["map", "range", "KIOPS", "mean us", "p99 us", "p99.9 us", "misses %", "fetches/miss", "map MiB read", "work us", "dies busy %"],
                 [[name, f"{mib} MiB", p["kiops"], p["mean_us"], p["p99_us"], p["p999_us"], 100 * p["misses"], p["fetches_per_miss"],
                   p["map_read_mib"], p["work_us"], 100 * p["die_busy"]] for (name, mib), p in measured.items()])


def draw(measured):
    ranges = list(dict.fromkeys(mib for _, mib in measured))
    fig, (speed, tail) = plot.figure(2)
    groups = [f"{mib} MiB" for mib in ranges]
    paper = [20.2 * (1 + PAPER_LOSS.get(("page", mib), 0) / 100) if mib in RANGES else None for mib in ranges]
    plot.bars(speed, groups, {"page, paper": paper, **{name: [measured.value((name, mib), "kiops") for mib in ranges] for name in MAPS}},
              "4 KiB random reads", "KIOPS")
    plot.bars(tail, groups, {f"{name}, {label}": [measured.value((name, mib), key) for mib in ranges]
                             for name in MAPS for label, key in (("p99", "p99_us"), ("p99.9", "p999_us"))}, "Tail latency", "us")
    return fig


def facts(args):
    return {"device": "conzone-paper", "turnaround": conzone.TURNAROUND, "volume_mib": args.volume}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
