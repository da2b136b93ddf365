#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ZMS, random reads over 8 GiB: a map of zones against a map of pages whose cache misses, by the size of that cache."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, block, conzone, frame, plot, report, runs  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "zms-random-read"
PAPER_MISSES = 27.1
ZONE_MIB, SLC, SPARE = 138, 24, 4  # of zms.yaml
ZMS, PLAIN, PACKED = "ZMS", "pages", "pages, compressed"
RANGE = 8192                       # MiB
USUAL = 1024                       # KiB: usual map cache of mobile devices, by Kim et al. (FAST
                                   # 2026, section 2.2)
CACHES = [USUAL, 4096, 6144]       # a map of RANGE takes 8192


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_number(p, "--range", 512, 65536, RANGE, "MiB that are read")
    arguments.add_numbers(p, "--caches", 64, 65536, ",".join(map(str, CACHES)),
                          f"caches of the map of pages, in KiB for a range of {RANGE} MiB: of another range, as much smaller or larger")
    arguments.add_number(p, "--reads", 100, 10000000, 30000, "reads of each run")
    arguments.add_number(p, "--depth", 1, 256, 1, "reads under way")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, range=1024, caches=[CACHES[0], CACHES[-1]], reads=8000)


def zones_of(args):
    return -(-args.range // ZONE_MIB)


def device(args, kind, cache):
    """zms.yaml with as many zones as the range takes: others are not read. The block device has the same flash and as much memory for buffers."""
    base, zones = runs.load_yaml("devices", "zms"), zones_of(args)
    if kind == ZMS:
        return runs.merged(base, {"geometry": {"blocks_per_plane": SLC + zones + SPARE}, "zones": {"count": zones}})
    over = max(5, round(block.OVER_PROVISIONING * zones))
    larger = runs.merged(base, {"geometry": {"blocks_per_plane": SLC + zones + over + SPARE}})
    return block.of(larger, zones, over, gc_low=3) | {"l2p": {
        "cache": f"{cache * args.range // RANGE} KiB", "levels": "page", "prefetch": 1023, "shards": 1, "compress": "on" if kind == PACKED else "off"}}


def workload(args, kind, seed):
    zones = {"zones": zones_of(args), "prefill": min(1.0, (args.range + 1) / ZONE_MIB / zones_of(args))} if kind == ZMS else {"prefill": 1.0}
    return {"name": NAME, "mapping": "direct", "seed": seed, "verify": False, "threads": 1,
            "common": {"read_ratio": 1.0, "pattern": "random", "block": "4 KiB", "queue_depth": args.depth, "span_bytes": f"{args.range} MiB",
                       "total_ops": args.reads, **zones}}


def caches_of(args):
    return [(PLAIN, cache) for cache in args.caches] + [(PACKED, USUAL)]


def points(args):
    return [Point({"map": kind, "cache": cache}, f"{kind}, {cache} KiB" if cache else kind,
                  [(f"{i}-{seed}", device(args, kind, cache), workload(args, kind, seed)) for seed in args.seeds])
            for i, (kind, cache) in enumerate([(ZMS, 0), *caches_of(args)])]


def check(result, folder):
    if result["violations"] or not result["totals"]["read"]["ops"] or result["ftl"]["unmapped_read_bytes"]:
        raise runs.StudyError(f"the run in {folder} read what was never written, or broke its own rules")


def missed(result):
    """Share of reads, each with one look-up; a map of zones has no cache."""
    return sum(result["l2p"]["misses"].values()) / result["totals"]["read"]["ops"]


def summarize(results):
    return {
        "kiops": mean(r["totals"]["read"]["iops"] / 1e3 for r in results),
        "mean_us": mean(r["totals"]["read"]["latency_ns"]["mean"] / 1e3 for r in results),
        "misses": mean(map(missed, results)),
        "fetches": mean(r["l2p"]["fetches"] for r in results),
        "turnaround_us": results[0]["workload"]["turnaround_ns"] / 1e3,
        **conzone.common_figures(results),
    }


def figures(args, measured):
    zms = measured.get((ZMS, 0))
    out = [report.figure(ZMS, zms and zms["kiops"], "KIOPS"), report.figure(f"{ZMS}, a read", zms and zms["mean_us"], "us"),
           report.figure(f"{ZMS}, misses", zms and 100 * zms["misses"], "%", 0)]
    for at in caches_of(args):
        name, p = f"{at[0]}, {at[1]} KiB", measured.get(at)
        out += [report.figure(f"{name}, misses", p and 100 * p["misses"], "%"),
                report.figure(f"{ZMS} against {name}", zms and p and percent_more(zms["kiops"], p["kiops"]), "%")]
        if at[0] == PLAIN:
            adds = (p["mean_us"] - zms["mean_us"]) / p["misses"] if zms and p and p["misses"] else None
            out.append(report.figure(f"{name}, what a miss adds to a read", adds, "us"))
    return out


def named(caches, what, figure):
    return [figure(what.format(f"{PLAIN}, {cache} KiB")) for cache in caches]


def rows(figure):
    def each(what, form):
        return ", ".join(f"{value:{form}}" for value in named(CACHES, what, figure))
    packed = f"{PACKED}, {USUAL} KiB"
    yield ("misses: ZMS", "none", f"{figure(f'{ZMS}, misses'):.0f} %")
    yield (f"misses: a map of pages, whose cache has {', '.join(f'{cache / 1024:g}' for cache in CACHES)} MiB", f"{PAPER_MISSES} %; of which cache it does not say",
           each("{}, misses", ".1f") + " %")
    yield ("random reads: ZMS against it", "+37 to +44 %", each(f"{ZMS} against {{}}", "+.0f") + f" % ({figure(ZMS):.1f} KIOPS)")
    yield ("what a miss adds to a read; a read without", "1.4 to 1.6 times a read, if all is due to misses",
           each("{}, what a miss adds to a read", ".0f") + f"; {figure(f'{ZMS}, a read'):.0f} us")
    yield (f"{USUAL // 1024} MiB, where an entry may stand for 4 MiB that lie in order: misses; ZMS against it", "",
           f"{figure(f'{packed}, misses'):.1f} %; {figure(f'{ZMS} against {packed}'):+.0f} %")


def directions(figure):
    ends = (CACHES[0], CACHES[-1])
    least, most = named(ends, "{}, misses", figure)
    slow, fast = named(ends, f"{ZMS} against {{}}", figure)
    yield "a map of zones never misses", figure(f"{ZMS}, misses") == 0
    yield "the larger the cache, the fewer misses", least > most + 20 > 20
    yield "what misses costs reads, and more misses cost more", slow > fast + 10 > 20
    yield "a miss costs at least what the cells of a table page take", min(named(ends, "{}, what a miss adds to a read", figure)) > 20
    yield "what lies in order takes few entries", figure(f"{PACKED}, {USUAL} KiB, misses") < most


def show(measured):
    report.table(["map", "cache KiB", "KIOPS", "mean us", "misses %", "fetches", "dies busy %"],
                 [[kind, cache, p["kiops"], p["mean_us"], 100 * p["misses"], p["fetches"], 100 * p["die_busy"]] for (kind, cache), p in measured.items()])


def draw(measured):
    fig, (reads, misses) = plot.figure(2)
    names = [f"{kind}\n{cache / 1024:g} MiB" if cache else kind for kind, cache in measured]
    plot.bars(reads, names, {"reads": [p["kiops"] for _, p in measured.items()]}, "4 KiB random reads", "KIOPS")
    plot.bars(misses, names, {"misses": [100 * p["misses"] for _, p in measured.items()]}, f"Misses of the map's cache (paper: {PAPER_MISSES} %)", "% of reads")
    return fig


def facts(args):
    return {"device": "zms", "range_mib": args.range, "reads": args.reads, "depth": args.depth}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
