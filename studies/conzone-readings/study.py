#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ConZone, figure 6: writers that share buffers, under each reading of what the paper leaves open."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, readme, report  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "conzone-readings"
FIG6B = readme.module("conzone-fig6b")
PLACES = FIG6B.PLACES
FOUR_MIB = 36 # of each of four writers: three zones, so that two of them share each buffer all the time, as in figure 6 (a)
CACHED = {"cache_program": "on", "cache_busy": "3us"}
ONE_PLANE = {"planes_per_die": 1, "page_bytes": "32 KiB"}


def hands(release, handover, **more):
    poll = {"poll": FIG6B.POLL} if handover == "polled" else {}
    return {"buffers": {"release": release, "handover": handover, **poll, **more}}


# name → (preset, changes of it, commands of a client at a time)
READINGS = {
    "as conzone-fig6b: programmed, kept": ("conzone-paper", {}, 1),
    "programmed, fair": ("conzone-paper", hands("programmed", "fair"), 1),
    "transferred, kept": ("conzone-paper", hands("transferred", "kept"), 1),
    "transferred, kept, two commands at a time": ("conzone-paper", hands("transferred", "kept"), 2),
    "transferred, polled, cached programs": ("conzone-paper", {**hands("transferred", "polled"), "timing": CACHED}, 1),
    "programmed, polled, four commands at a time": ("conzone-paper", hands("programmed", "polled"), 4),
    "dies of one plane, transferred, polled": ("conzone-paper", {**hands("transferred", "polled", flush_unit_planes=1), "geometry": ONE_PLANE}, 1),
    "SLC programs of 16 KiB, programmed, fair": ("conzone-paper", {**hands("programmed", "fair"), "geometry": {"slc_program_sectors": 4}}, 1),
    "zones of 16 MiB, patched, programmed, fair": ("conzone-patched", hands("programmed", "fair"), 1),
    "zones of 16 MiB, patched, transferred, kept, two commands at a time": ("conzone-patched", hands("transferred", "kept"), 2),
}
# Also measured with four writers: how a buffer changes its owner.
FOUR = list(READINGS)[:3]
QUICK = FOUR
LEGACY = "legacy"
# The order of requests depends on the phase of two polls.
UNCERTAIN = {f"{what}, {reading}": 12 for reading in READINGS if "polled" in reading
             for what in ("bandwidth, shared buffer", "bandwidth, apart against shared", "WAF, apart against shared")}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    args.readings = QUICK if args.quick else list(READINGS)
    return args


def two_writers(args, reading, place, seed):
    preset, changes, depth = READINGS[reading]
    mib = 3 if args.quick else 16 if preset == "conzone-patched" else 12
    common = {"read_ratio": 0.0, "block": "48 KiB", "zones": 1, "reset_when_full": False, "total_bytes": f"{mib} MiB", "queue_depth": depth}
    load = conzone.workload(NAME, seed, threads=2, common=common, each=[{"first_zone": 0}, {"first_zone": PLACES[place]}])
    return conzone.device(changes, preset), load


def four_writers(args, reading, seed):
    mib = 12 if args.quick else FOUR_MIB
    common = {"read_ratio": 0.0, "pattern": "sequential", "block": "512 KiB", "total_bytes": f"{mib} MiB"}
    if reading == LEGACY:
        return conzone.device(name="legacy"), conzone.workload(NAME, seed, threads=4, common={**common, "span_bytes": f"{mib} MiB"})
    zones = mib // 12
    load = conzone.workload(NAME, seed, threads=4, common={**common, "zones": zones}, each=[{"first_zone": zones * i} for i in range(4)])
    return conzone.device(READINGS[reading][1], READINGS[reading][0]), load


def points(args):
    def point(figure, reading, place, made):
        folder = f"{figure}-{list(READINGS).index(reading) if reading in READINGS else reading}-{place}"
        return Point({"figure": figure, "reading": reading, "zones": place}, f"{figure}, {reading}, {place}",
                     [(f"{folder}-{seed}", *made(seed)) for seed in args.seeds])

    two = [point("6b", reading, place, lambda seed, r=reading, p=place: two_writers(args, r, p, seed))
           for reading in args.readings for place in PLACES]
    return two + [point("6a", reading, "four", lambda seed, r=reading: four_writers(args, r, seed)) for reading in [LEGACY, *FOUR]]


check = conzone.check


def summarize(results):
    return {
        "mib_s": mean(r["totals"]["write"]["mib_s"] for r in results),
        "waf": mean(FIG6B.settled_waf(r) for r in results),
        "write_mean_us": mean(r["totals"]["write"]["latency_ns"]["mean"] / 1e3 for r in results),
        "programmed_mib": conzone.flash_mib(results[0]),
        **conzone.common_figures(results),
    }


def figures(args, measured):
    out = []
    for reading in args.readings:
        apart, shared = ((("6b", reading, place)) for place in PLACES)
        bandwidth, waf = (percent_more(measured.value(apart, field), measured.value(shared, field)) for field in ("mib_s", "waf"))
        out += [report.figure(f"bandwidth, shared buffer, {reading}", measured.value(shared, "mib_s"), "MiB/s"),
                report.figure(f"bandwidth, apart against shared, {reading}", bandwidth, "%", FIG6B.PAPER_BANDWIDTH),
                report.figure(f"WAF, apart against shared, {reading}", waf, "%", FIG6B.PAPER_WAF)]
    legacy = measured.value(("6a", LEGACY, "four"), "mib_s")
    return out + [report.figure(f"four writers against legacy, {reading}", percent_more(measured.value(("6a", reading, "four"), "mib_s"), legacy),
                                "%", 0) for reading in FOUR]


def rows(figure):
    for reading in READINGS:
        yield (f"two writers, bandwidth and amplification: {reading}", f"{FIG6B.PAPER_BANDWIDTH:+} %, {FIG6B.PAPER_WAF:+} %",
               f"{figure(f'bandwidth, apart against shared, {reading}'):+.0f} %, {figure(f'WAF, apart against shared, {reading}'):+.1f} % "
               f"({figure(f'bandwidth, shared buffer, {reading}'):.0f} MiB/s)")
    for reading in FOUR:
        yield f"four writers against legacy: {reading}", "comparable", f"{figure(f'four writers against legacy, {reading}'):+.1f} %"


def directions(figure):
    kept, fair = (figure(f"bandwidth, apart against shared, {reading}") for reading in FOUR[:2])
    yield "an owner that goes on costs less bandwidth", kept < fair
    kept, fair = (figure(f"WAF, apart against shared, {reading}") for reading in FOUR[:2])
    yield "an owner that goes on stages less", kept > fair


def show(measured):
    report.table(["figure", "reading", "zones", "MiB/s", "write us", "WAF", "dies busy %"],
                 [[figure, reading, place, p["mib_s"], p["write_mean_us"], p["waf"], 100 * p["die_busy"]]
                  for (figure, reading, place), p in measured.items()])


def draw(measured):
    fig, (ax,) = plot.figure(1)
    found = [(reading, percent_more(*(measured.value(("6b", reading, place), "waf") for place in PLACES)),
              percent_more(*(measured.value(("6b", reading, place), "mib_s") for place in PLACES))) for reading in READINGS
             if ("6b", reading, "shared") in measured]
    for reading, waf, bandwidth in found:
        ax.plot(plot.numbers([waf]), plot.numbers([bandwidth]), marker="o", linestyle="", label=reading)
    ax.plot([FIG6B.PAPER_WAF], [FIG6B.PAPER_BANDWIDTH], marker="*", markersize=12, linestyle="", label="the paper")
    ax.set(xlabel="write amplification, apart against shared, %", ylabel="bandwidth, apart against shared, %", title="Two writers")
    ax.legend(frameon=False, fontsize=6)
    return fig


def facts(_):
    return {"device": "conzone-paper, conzone-patched, legacy", "turnaround": conzone.TURNAROUND}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
