#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ConZone, figure 6 (a): sequential bandwidth of zoned flash against a legacy device of the same media."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report, runs  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "conzone-fig6a"
ZONE_MIB = 12
DEVICES = ["zoned", "legacy"]
PAPER = {("read", 1): 1, ("read", 4): 10, ("write", 1): 0, ("write", 4): 0}  # zoned against legacy, %; writes are "comparable"

# What README.md looks for the cause in, changed by itself: kind, threads, name → of each device.
WHOLE_MAP, ONE_PLANE = {"l2p": {"cache": "2 MiB"}}, {"geometry": {"page_bytes": "32 KiB", "planes_per_die": 1}, "buffers": {"flush_unit_planes": 1}}
CONTROLS = {("write", 4, "a buffer each"): {"zoned": {"buffers": {"count": 4}}},
            **{("read", threads, "the whole map cached"): {"legacy": WHOLE_MAP} for threads in (1, 4)},
            ("read", 4, "dies of one plane"): dict.fromkeys(DEVICES, ONE_PLANE)}


def changed(device, control):
    return f"{device}, {control}"


CHANGED = [changed(name, control) for (_, _, control), of in CONTROLS.items() for name in of]


# The relative phases of the four readers decide these (README.md): factor of the suite's tolerance
# for other programs.
UNCERTAIN = {f"read, 4 threads, {what}{field}": 8 for what in (*DEVICES, "zoned against legacy", *CHANGED) for field in ("", ", fetches")}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--space 96 --passes 1")
    arguments.add_number(p, "--space", 4 * ZONE_MIB, 1536, 240,
                         f"MiB that all threads together use, a multiple of {4 * ZONE_MIB}: each has whole zones of {ZONE_MIB} MiB")
    arguments.add_number(p, "--passes", 1, 1000, 4, "how often it is read; it is written once")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    if args.space % (4 * ZONE_MIB):
        p.error(f"argument --space: '{args.space}' is not a multiple of {4 * ZONE_MIB}")
    return arguments.quickly(args, space=4 * ZONE_MIB, passes=2)


def device_of(name):
    """For fairness the zoned device aggregates no further than the legacy device prefetches: a chunk, 1024 entries (section IV-C)."""
    return conzone.device({"l2p": {"levels": "chunk"}}) if name == "zoned" else conzone.device(name="legacy")


def workload_of(args, name, kind, threads, seed):
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
    return conzone.workload(NAME, seed, threads=threads, common=common, each=each)


def points(args):
    return [Point({"kind": kind, "threads": threads, "device": name}, f"{name}, {kind}, {threads} threads",
                  [(f"{name}-{kind}-{threads}-{seed}", device_of(name), workload_of(args, name, kind, threads, seed)) for seed in args.seeds])
            for kind, threads in PAPER for name in DEVICES] + [
        Point({"kind": kind, "threads": threads, "device": changed(name, control)}, f"{changed(name, control)}, {kind}, {threads} threads",
              [(folder_of(name, kind, threads, control, seed), runs.merged(device_of(name), changes), workload_of(args, name, kind, threads, seed))
               for seed in args.seeds])
        for (kind, threads, control), of in CONTROLS.items() for name, changes in of.items()]


check = conzone.check


def summarize(results):
    kind = "read" if results[0]["totals"]["read"]["ops"] else "write"
    return {
        "mib_s": mean(r["totals"][kind]["mib_s"] for r in results),
        "mean_us": mean(conzone.host_us(r, kind, "mean") for r in results),
        "misses": mean(sum(r["l2p"]["misses"].values()) for r in results),
        "fetches": mean(r["l2p"]["fetches"] for r in results),
        "both_planes": mean(200 * r["nand"]["multi_plane_ops"] / sum(row["reads"] + row["programs"] for row in r["nand"]["by_cause"].values()) for r in results),
        "evictions": mean(r["l2p"]["evictions"] for r in results),
        "programmed_mib": conzone.flash_mib(results[0]),
        "read_mib": conzone.flash_mib(results[0], "read_bytes"),
        **conzone.common_figures(results),
    }


def where(kind, threads):
    return f"{kind}, {threads} thread{'s' if threads > 1 else ''}"


def figures(_, measured):
    out = []
    for (kind, threads), paper in PAPER.items():
        zoned, legacy = (measured.value((kind, threads, name), "mib_s") for name in DEVICES)
        at = where(kind, threads)
        out += [report.figure(f"{at}, zoned", zoned, "MiB/s"), report.figure(f"{at}, legacy", legacy, "MiB/s"),
                report.figure(f"{at}, zoned against legacy", percent_more(zoned, legacy), "%", paper)]
        out += [report.figure(f"{at}, {name}, {what}", measured.value((kind, threads, name), field), unit)
                for name in DEVICES if kind == "read" for what, field, unit in (("fetches", "fetches", ""), ("on both planes", "both_planes", "%"))]
    for (kind, threads, control), of in CONTROLS.items():
        for name in of:
            key = kind, threads, changed(name, control)
            out += [report.figure(f"{where(kind, threads)}, {key[2]}{what}", measured.value(key, field), unit)
                    for what, field, unit in (("", "mib_s", "MiB/s"), (", fetches", "fetches", "")) if kind == "read" or not what]
    return out


def rows(figure):
    for (kind, threads), paper in PAPER.items():
        at = where(kind, threads)
        yield (f"{at}: zoned against legacy", f"{paper:+} %" if paper else "comparable",
               f"{figure(f'{at}, zoned against legacy'):+.1f} % ({figure(f'{at}, zoned'):,.0f} against {figure(f'{at}, legacy'):,.0f} MiB/s)")
    for (kind, threads, control), of in CONTROLS.items():
        for what in (f"{where(kind, threads)}, {changed(name, control)}" for name in of):
            yield f"control, {what}", "", f"{figure(what):,.0f} MiB/s" + (f", {figure(f'{what}, fetches'):,.0f} fetches" if kind == "read" else "")


def directions(figure):
    yield "with a buffer each four writers lose nothing against legacy", \
        figure("write, 4 threads, zoned, a buffer each") > 0.99 * figure("write, 4 threads, legacy") > figure("write, 4 threads, zoned")
    cached = figure("read, 4 threads, legacy, the whole map cached")
    yield "four readers of a legacy device with the whole map cached fetch less", \
        figure("read, 4 threads, legacy, the whole map cached, fetches") < 0.7 * figure("read, 4 threads, legacy, fetches")
    yield "and are no faster", abs(cached / figure("read, 4 threads, legacy") - 1) < 0.05
    yield "with dies of one plane they are as fast on both devices", \
        abs(figure("read, 4 threads, zoned, dies of one plane") / figure("read, 4 threads, legacy, dies of one plane") - 1) < 0.1


def causes(mib):
    return " ".join(f"{cause} {value:.1f}" for cause, value in mib.items())


def show(measured):
    report.table(["device", "", "threads", "MiB/s", "us", "L2P misses", "fetches", "evictions", "both planes %", "dies busy %", "programmed MiB", "read MiB"],
                 [[name, kind, threads, p["mib_s"], p["mean_us"], float(p["misses"]), float(p["fetches"]), float(p["evictions"]), p["both_planes"],
                   100 * p["die_busy"], causes(p["programmed_mib"]), causes(p["read_mib"])] for (kind, threads, name), p in measured.items()])


def draw(measured):
    fig, (speed,) = plot.figure(1)
    plot.bars(speed, [f"{kind}, {threads} thr." for kind, threads in PAPER],
              {name: [measured.value((kind, threads, name), "mib_s") for kind, threads in PAPER] for name in DEVICES},
              "512 KiB sequential", "MiB/s")
    return fig


def facts(args):
    return {"devices": ["conzone-paper", "legacy"], "turnaround": conzone.TURNAROUND, "space_mib": args.space, "passes": args.passes}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
