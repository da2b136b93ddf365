#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ZMS, writing to three zones at once: what IOTailor saves of SLC, and what it costs the host."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, frame, plot, report, runs  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "zms-multizone"
# Load of each writer. The first is the slides' fio: 512 KiB at a time.
LOADS = {
    "512 KiB": {"block": "512 KiB"},
    "512 KiB, pauses": {"block": "512 KiB", "think": "2ms", "think_distribution": "exponential"},
    "48 KiB, pauses": {"block": "48 KiB", "think": "500us", "think_distribution": "exponential"},
}
WAYS = {"as they are": {}, "IOTailor": {"iotailor": {"unit": "384 KiB"}}}
ALONE = "one writer"
THREE = "three buffers" # the control: one for each writer


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--depths", 1, 64, "1", "writes under way of each writer")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    args.mib = 48
    return arguments.quickly(args, mib=6, depths=args.depths[:1])


def device(buffers=2):
    """Fewer zones than the paper's: unwritten zones only take boot time."""
    return runs.merged(runs.load_yaml("devices", "zms"), {"zones": {"count": 12}, "geometry": {"blocks_per_plane": 40}, "buffers": {"count": buffers}})


def workload(args, load, way, depth, seed, threads=3):
    return {"name": NAME, "mapping": "direct", "seed": seed, "verify": False, "threads": threads, **WAYS[way],
            "common": {"read_ratio": 0.0, "queue_depth": depth, "zones": 1, "reset_when_full": False, "total_bytes": f"{args.mib} MiB", **LOADS[load]}}


def points(args):
    three = [Point({"load": load, "way": way, "depth": depth}, f"{load}, {way}, {depth} under way",
                   [(f"three-{i}-{j}-{depth}-{seed}", device(), workload(args, load, way, depth, seed)) for seed in args.seeds])
             for depth in args.depths for i, load in enumerate(LOADS) for j, way in enumerate(WAYS)]
    three += [Point({"load": load, "way": THREE, "depth": args.depths[0]}, f"{load}, {THREE}",
                    [(f"three-{i}-buffers-{seed}", device(3), workload(args, load, "as they are", args.depths[0], seed)) for seed in args.seeds])
              for i, load in enumerate(LOADS)]
    return three + [Point({"load": ALONE, "way": "as they are", "depth": args.depths[0]}, ALONE,
                          [(f"one-{seed}", device(), workload(args, "512 KiB", "as they are", args.depths[0], seed, 1)) for seed in args.seeds])]


def check(result, folder):
    if result["violations"] or result["failed_commands"]["count"] or not result["totals"]["write"]["ops"]:
        raise runs.StudyError(f"the run in {folder} wrote nothing or broke its own rules")


def summarize(results):
    out = {
        "mib_s": mean(r["totals"]["write"]["mib_s"] for r in results),
        "slc_mib": mean(r["ftl"]["slc_bytes"] / 2 ** 20 for r in results),
        "conflicts": mean(r["ftl"]["buffer_flushes"]["conflict"] for r in results),
        "waf": mean(r["waf"] for r in results),
        "digests": [r["digest"] for r in results],
    }
    if results[0]["iotailor"]:
        tailors = [r["iotailor"] for r in results]
        out["host"] = {
            "writes": mean(t["writes"] for t in tailors), "split": mean(t["split"] for t in tailors), "grouped": mean(t["grouped"] for t in tailors),
            "superpages": mean(t["superpages"] for t in tailors), "smaller": mean(sum(t["partial"].values()) for t in tailors),
            "held_us": mean(t["held_ns"]["mean"] / 1e3 for t in tailors), "held_max_us": max(t["held_ns"]["max"] / 1e3 for t in tailors),
            "held_kib": max(t["most_held_bytes"] / 1024 for t in tailors), "latency_us": mean(t["latency_ns"]["mean"] / 1e3 for t in tailors),
        }
    else:
        out["latency_us"] = mean(r["totals"]["write"]["latency_ns"]["mean"] / 1e3 for r in results)
    return out


def figures(args, measured):
    depth = args.depths[0]
    out = [report.figure(f"{ALONE}, {what}", measured.value((ALONE, "as they are", depth), field), unit)
           for what, field, unit in (("bandwidth", "mib_s", "MiB/s"), ("SLC", "slc_mib", "MiB"))]
    for load in LOADS:
        plain, tailored = ((load, way, depth) for way in WAYS)
        for way, key in zip((*WAYS, THREE), (plain, tailored, (load, THREE, depth))):
            out += [report.figure(f"{load}, {what}, {way}", measured.value(key, field), unit)
                    for what, field, unit in (("bandwidth", "mib_s", "MiB/s"), ("SLC", "slc_mib", "MiB"), ("conflicts", "conflicts", ""))]
        host = measured.value(tailored, "host") or {}
        out += [report.figure(f"{load}, IOTailor against as they are", percent_more(*(measured.value(key, "mib_s") for key in (tailored, plain))), "%"),
                report.figure(f"{load}, a write ends, as they are", measured.value(plain, "latency_us"), "us")]
        out += [report.figure(f"{load}, {what}", host.get(field), unit)
                for what, field, unit in (("a write is held", "held_us", "us"), ("a write ends, IOTailor", "latency_us", "us"),
                                          ("most held by a writer", "held_kib", "KiB"), ("writes split", "split", ""),
                                          ("writes grouped", "grouped", ""), ("superpages", "superpages", ""), ("smaller commands", "smaller", ""))]
    return out


def rows(figure):
    for load in LOADS:
        yield (f"three writers, {load}: bandwidth, IOTailor against as they are", "higher",
               f"{figure(f'{load}, IOTailor against as they are'):+.0f} % ({figure(f'{load}, bandwidth, IOTailor'):.0f} against "
               f"{figure(f'{load}, bandwidth, as they are'):.0f} MiB/s)")
        yield (f"three writers, {load}: staged in SLC", "less",
               f"{figure(f'{load}, SLC, IOTailor'):.1f} against {figure(f'{load}, SLC, as they are'):.1f} MiB")
        yield (f"three writers, {load}: what it costs the host", "",
               f"{figure(f'{load}, writes split'):.0f} writes split, {figure(f'{load}, writes grouped'):.0f} grouped, held "
               f"{figure(f'{load}, a write is held') / 1e3:.1f} ms on average, {figure(f'{load}, most held by a writer'):.0f} KiB of a writer at most; "
               f"a write ends after {figure(f'{load}, a write ends, IOTailor') / 1e3:.1f} instead of "
               f"{figure(f'{load}, a write ends, as they are') / 1e3:.1f} ms")
    for load in LOADS:
        yield (f"control, three writers, {load}, {THREE}, as they are", "",
               f"{figure(f'{load}, bandwidth, {THREE}'):.0f} MiB/s, {figure(f'{load}, SLC, {THREE}'):.1f} MiB in SLC")
    yield ("one writer alone, 512 KiB", "", f"{figure(f'{ALONE}, bandwidth'):.0f} MiB/s, {figure(f'{ALONE}, SLC'):.1f} MiB in SLC")


def directions(figure):
    yield "one writer stages nothing", figure(f"{ALONE}, SLC") == 0
    for load in LOADS:
        yield f"three writers of {load} stage", figure(f"{load}, SLC, as they are") > 1
        yield f"with a buffer each they stage nothing: {load}", figure(f"{load}, SLC, {THREE}") == figure(f"{load}, conflicts, {THREE}") == 0
        yield f"IOTailor avoids nearly all of it: {load}", figure(f"{load}, SLC, IOTailor") < 0.1 * figure(f"{load}, SLC, as they are")
        yield f"which makes them faster: {load}", figure(f"{load}, IOTailor against as they are") > 5
        yield (f"by superpages: {load}", figure(f"{load}, superpages") > 8 * figure(f"{load}, smaller commands"))
        yield f"for which writes wait in the host: {load}", figure(f"{load}, a write is held") > 0


def show(measured):
    report.table(["writer", "way", "under way", "MiB/s", "conflicts", "SLC MiB", "WAF", "superpages", "smaller", "held us", "held KiB"],
                 [[load, way, depth, p["mib_s"], float(p["conflicts"]), p["slc_mib"], p["waf"],
                   *(float(p["host"][k]) if "host" in p else "" for k in ("superpages", "smaller", "held_us", "held_kib"))]
                  for (load, way, depth), p in measured.items()])


def draw(measured):
    depth = min(depth for _, _, depth in measured)
    fig, axes = plot.figure(3)
    for ax, (field, title, unit) in zip(axes, (("mib_s", "Three writers", "MiB/s"), ("slc_mib", "Staged in SLC", "MiB"))):
        plot.bars(ax, list(LOADS), {way: [measured.value((load, way, depth), field) for load in LOADS] for way in WAYS}, title, unit)
    hosts = [measured.value((load, "IOTailor", depth), "host") or {} for load in LOADS]
    plot.bars(axes[2], list(LOADS), {"held": [host.get("held_us") and host["held_us"] / 1e3 for host in hosts],
                                     "until it ends": [host.get("latency_us") and host["latency_us"] / 1e3 for host in hosts]},
              "A write in IOTailor", "ms")
    return fig


def facts(_):
    return {"device": "zms"}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
