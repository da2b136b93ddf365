#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ZUFS, figure 7: throughput of zoned and of conventional UFS, by range and by request size of random reads."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report, runs  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "zufs-fig7"
SCALE = 256                # factor by which the paper's GB and the map cache are reduced: 1 MiB
                           # becomes 4 KiB
RANGES = [4, 16, 64, 256]  # GB of the paper; request sizes are compared over the last one
BLOCKS = [16, 64, 128, 512]  # KiB, besides the 4 of the ranges
# Writers of the range: one thread, so that it is contiguous, or four at once, with interleaved
# pieces of 512 KiB. The last one is a control.
CACHED = "CUFS, in pieces, the whole map cached"
DEVICES = {"ZUFS": 4, "CUFS, in order": 1, "CUFS, in pieces": 4, CACHED: 4}
ZONE_MIB = 1056


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--ranges", 4, 1024, ",".join(map(str, RANGES)), "ranges in the paper's GB; here MiB are read, 4 for each of them. Request sizes are compared over the widest")
    arguments.add_numbers(p, "--blocks", 8, 512, ",".join(map(str, BLOCKS)), "request sizes in KiB, beside 4")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    args.ops, args.mib = 6000, 64
    args.ranges = sorted(set(args.ranges))
    return arguments.quickly(args, ranges=[4, 16], blocks=[512], ops=1500, mib=16)


def device(name):
    if name == "ZUFS":
        return runs.merged(runs.load_yaml("devices", "zufs"), {"zones": {"count": 16}, "geometry": {"blocks_per_plane": 24}})
    return runs.merged(runs.load_yaml("devices", "cufs"), {"l2p": {"cache": "2 MiB" if name == CACHED else f"{(1 << 20) // SCALE // 1024} KiB"}})


def workload(name, mib, seed, threads, depth, **keys):
    """Each thread has its own part of the range: zones, or a part of the address space."""
    part = mib // threads
    zones = {"zones": 1, "prefill": min(1.0, (part + 1) / ZONE_MIB)} if name == "ZUFS" else {"prefill": 1.0}
    return {"name": NAME, "mapping": "direct", "seed": seed, "verify": False, "threads": threads,
            "common": {"queue_depth": depth, "span_bytes": f"{part} MiB", **zones, **keys}}


def reads(args, name, gb, kib, seed):
    threads = DEVICES[name]
    ops = max(args.ops // 6, args.ops * 4 // max(4, kib // 2))
    return workload(name, gb * 1024 // SCALE, seed, threads, 64 // threads, read_ratio=1.0, pattern="random", block=f"{kib} KiB",
                    total_ops=ops // threads)


def basic(args, name, kind, seed):
    keys = {"read_ratio": float(kind == "read"), "pattern": "sequential", "block": "512 KiB", "total_bytes": f"{args.mib} MiB"}
    load = workload(name, args.mib, seed, 1, 16, **keys)
    if kind == "write":
        load["common"]["prefill"] = 0.0
        if name == "ZUFS":
            del load["common"]["span_bytes"]
    return load


def point(args, what, name, at, make):
    return Point({"what": what, "device": name, "at": at}, f"{what}, {name}, {at}",
                 [(folder_of(what, name, at, seed), device(name), make(seed)) for seed in args.seeds])


def points(args):
    out = [point(args, "sequential", name, kind, lambda seed, n=name, k=kind: basic(args, n, k, seed))
           for kind in ("read", "write") for name in ("ZUFS", "CUFS, in order")]
    out += [point(args, "range", name, gb, lambda seed, n=name, g=gb: reads(args, n, g, 4, seed)) for gb in args.ranges for name in DEVICES]
    return out + [point(args, "block", name, kib, lambda seed, n=name, k=kib: reads(args, n, args.ranges[-1], k, seed))
                  for kib in args.blocks for name in ("ZUFS", "CUFS, in pieces")]


def check(result, folder):
    kind = result["totals"]["read"]["ops"] + result["totals"]["write"]["ops"]
    if result["violations"] or not kind:
        raise runs.StudyError(f"the run in {folder} did nothing or broke its own rules")
    if result["totals"]["read"]["ops"] and result["ftl"]["unmapped_read_bytes"]:
        raise runs.StudyError(f"the run in {folder} read what was never written")


def missed(result):
    return 0.0 if not sum(result["l2p"]["hits"].values()) + sum(result["l2p"]["misses"].values()) else conzone.misses(result)


def summarize(results):
    kind = "read" if results[0]["totals"]["read"]["ops"] else "write"
    return {
        "mib_s": mean(r["totals"][kind]["mib_s"] for r in results),
        "kiops": mean(r["totals"][kind]["iops"] / 1e3 for r in results),
        "mean_us": mean(r["totals"][kind]["latency_ns"]["mean"] / 1e3 for r in results),
        "misses": mean(missed(r) for r in results),
        "multi_plane": mean(r["nand"]["multi_plane_ops"] / max(1, r["totals"][kind]["ops"]) for r in results),
        "fetches_per_read": mean(r["l2p"]["fetches"] / max(1, r["totals"][kind]["ops"]) for r in results),
        **conzone.common_figures(results),
    }


def block_point(widest, name, kib):
    return ("range", name, widest) if kib == 4 else ("block", name, kib)


def percent(part):
    return None if part is None else 100 * part


def figures(args, measured):
    out = []
    for kind in ("read", "write"):
        zoned, plain = (measured.value(("sequential", name, kind), "mib_s") for name in ("ZUFS", "CUFS, in order"))
        out += [report.figure(f"sequential {kind}, ZUFS", zoned, "MiB/s"),
                report.figure(f"sequential {kind}, ZUFS against CUFS", percent_more(zoned, plain), "%", 0)]
    out.append(report.figure("widest range", args.ranges[-1], "GB"))
    for gb in args.ranges:
        base = measured.value(("range", "ZUFS", gb), "kiops")
        for name in DEVICES:
            at = ("range", name, gb)
            out += [report.figure(f"{gb} GB, {name}", measured.value(at, "kiops"), "KIOPS"),
                    report.figure(f"{gb} GB, {name}, misses", percent(measured.value(at, "misses")), "%")]
            if name != "ZUFS":
                out.append(report.figure(f"{gb} GB, {name} against ZUFS", percent_more(measured.value(at, "kiops"), base), "%"))
    for kib in [4, *args.blocks]:
        zoned, plain = (measured.value(block_point(args.ranges[-1], name, kib), "mib_s") for name in ("ZUFS", "CUFS, in pieces"))
        out += [report.figure(f"{kib} KiB, ZUFS", zoned, "MiB/s"),
                report.figure(f"{kib} KiB, CUFS against ZUFS", percent_more(plain, zoned), "%")]
    return out


def rows(figure):
    for kind in ("read", "write"):
        yield (f"(a) sequential {kind}: ZUFS against CUFS", "the same",
               f"{figure(f'sequential {kind}, ZUFS against CUFS'):+.1f} % ({figure(f'sequential {kind}, ZUFS'):.0f} MiB/s)")
    for name, paper in (("CUFS, in order", ""), ("CUFS, in pieces", "CUFS slightly ahead at 4 GB, then falls"), (CACHED, "")):
        yield (f"{'control: ' if name == CACHED else ''}(b) 4 KiB random reads over {', '.join(map(str, RANGES))} GB / {SCALE}: {name}, against ZUFS", paper,
               ", ".join(f"{figure(f'{gb} GB, {name} against ZUFS'):+.1f}" for gb in RANGES) + " % (misses " +
               ", ".join(f"{figure(f'{gb} GB, {name}, misses'):.0f}" for gb in RANGES) + " %)")
    yield ("(b) ZUFS over the same ranges", "flat", ", ".join(f"{figure(f'{gb} GB, ZUFS'):.1f}" for gb in RANGES) + " KIOPS")
    yield (f"(c) random reads of {', '.join(map(str, [4, *BLOCKS]))} KiB: CUFS in pieces, against ZUFS", "closes above 128 KiB",
           ", ".join(f"{figure(f'{kib} KiB, CUFS against ZUFS'):+.1f}" for kib in [4, *BLOCKS]) + " %")


def directions(figure):
    wide = f"{figure('widest range'):.0f} GB"
    # Over 16 MiB, two of 64 commands may want the same row of a die, and be combined: the paper's 4
    # GB rarely allow that.
    yield "ZUFS is flat, but for reads that run together", abs(percent_more(figure(f"{wide}, ZUFS"), figure("4 GB, ZUFS"))) < 20
    if wide != "16 GB":
        yield "it is where few do", abs(percent_more(figure(f"{wide}, ZUFS"), figure("16 GB, ZUFS"))) < 10
    yield "ZUFS never misses", figure(f"{wide}, ZUFS, misses") == 0
    yield "a range that does not fit the cache costs CUFS reads", figure(f"{wide}, CUFS, in pieces against ZUFS") < -5
    yield "most of that is due to misses", figure(f"{wide}, {CACHED} against ZUFS") > 0.5 * figure(f"{wide}, CUFS, in pieces against ZUFS")
    yield "the wider the range, the more look-ups miss", figure(f"{wide}, CUFS, in pieces, misses") > figure("4 GB, CUFS, in pieces, misses")
    yield "what lies in order misses little", figure(f"{wide}, CUFS, in order, misses") < 10
    yield "large requests are no slower", figure("512 KiB, CUFS against ZUFS") > figure("4 KiB, CUFS against ZUFS")


def show(measured):
    report.table(["", "device", "at", "MiB/s", "KIOPS", "mean us", "misses %", "fetches/read", "dies busy %", "multi-plane/op"],
                 [[what, name, at, p["mib_s"], p["kiops"], p["mean_us"], 100 * p["misses"], p["fetches_per_read"], 100 * p["die_busy"], p["multi_plane"]]
                  for (what, name, at), p in measured.items()])


def draw(measured):
    fig, (ranges, blocks) = plot.figure(2)
    wide = max(at for what, _, at in measured if what == "range")
    gbs, kibs = ([at for what, name, at in measured if what == kind and name == "ZUFS"] for kind in ("range", "block"))
    kibs.insert(0, 4)
    plot.bars(ranges, [f"{gb} GB" for gb in gbs], {name: [measured.value(("range", name, gb), "kiops") for gb in gbs] for name in DEVICES},
              f"4 KiB random reads, ranges / {SCALE}", "KIOPS")
    plot.bars(blocks, [f"{kib} KiB" for kib in kibs],
              {name: [measured.value(block_point(wide, name, kib), "mib_s") for kib in kibs] for name in ("ZUFS", "CUFS, in pieces")},
              f"Random reads over {wide} GB / {SCALE}", "MiB/s")
    return fig


def facts(args):
    return {"devices": ["zufs", "cufs"], "scale": SCALE, "ops": args.ops}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
