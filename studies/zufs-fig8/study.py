#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ZUFS, figure 8: write throughput by how much is flushed at once, and whether zones share the memory of their buffers."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report, runs  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "zufs-fig8"
PAPER = 26 # % that ZUFS with chunks of 192 KB is over ZMS with 768 KB
# A superpage is one flush unit of the 16 planes, and a buffer holds one: it accepts no data until
# that is programmed.
FIXED = {"buffers": {"pool": 0, "slots": "accounts", "flush": "unit", "flush_unit_planes": 16}}
SCHEMES = {
    "ZMS, 768 KiB": FIXED,
    "ZUFS, 768 KiB": {"buffers": {"flush": "superpage"}},
    "ZUFS, 192 KiB": {},
}
# Of one zone: what the turns of a fixed buffer are made of, each changed by itself.
CONTROLS = {"link of twice the bandwidth": {"link": {"bytes_per_s": "8400 MiB"}},
            "programs of twice the time": {"timing": {"normal": {"program": "1875us"}}}}
TURNS = ("ZMS, 768 KiB", "ZUFS, 192 KiB")
# Six zones with the same SRAM, 2304 KiB: three fixed buffers, or slots, kept in each way.
SHARED = {
    "ZMS, 3 buffers": runs.merged(FIXED, {"buffers": {"count": 3, "binding": "first-free"}}),
    **{f"ZUFS, {slots}": {"buffers": {"slots": slots}} for slots in ("locked", "sharded", "lock-free")},
}
# Cost of each slot scheme without other limits: flash and link take no time, eight zones, eight
# workers.
UNCERTAIN = {"wait for locks of buffers, accounts": 5, "eight zones at once, accounts": 4}
SLOTS = ("accounts", "locked", "sharded", "lock-free")
AT_ONCE = {"timing": {"normal": {"program": "20us"}, "channel_bytes_per_s": 0, "command": 0}, "link": {"bytes_per_s": 0},
           "zones": {"max_open": 8, "max_active": 8}, "buffers": {"count": 9}, "harts": {"workers": 8, "tsus": 2}}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--depths", 1, 64, "4", "commands under way of the one writer, of 192 KiB; 4 is a superpage")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    args.mib, args.zone_mib = 96, 24
    return arguments.quickly(args, mib=24, zone_mib=12, depths=args.depths[:1])


def device(changes):
    """Fewer zones than the paper's: unwritten zones only take boot time."""
    return runs.merged(runs.merged(runs.load_yaml("devices", "zufs"), {"zones": {"count": 16}, "geometry": {"blocks_per_plane": 24}}), changes)


def workload(seed, threads, depth, mib, block="192 KiB"):
    return {"name": NAME, "mapping": "direct", "seed": seed, "verify": False, "threads": threads,
            "common": {"read_ratio": 0.0, "block": block, "queue_depth": depth, "zones": 1, "reset_when_full": False, "total_bytes": f"{mib} MiB"}}


def points(args):
    one = [Point({"scheme": scheme, "depth": depth}, f"one zone, {scheme}, {depth} under way",
                 [(f"one-{i}-{depth}-{seed}", device(changes), workload(seed, 1, depth, args.mib)) for seed in args.seeds])
           for depth in args.depths for i, (scheme, changes) in enumerate(SCHEMES.items())]
    one += [Point({"scheme": f"{scheme}, {control}", "depth": args.depths[0]}, f"one zone, {scheme}, {control}",
                  [(folder_of("one", scheme, control, seed), device(runs.merged(SCHEMES[scheme], changes)), workload(seed, 1, args.depths[0], args.mib))
                   for seed in args.seeds]) for control, changes in CONTROLS.items() for scheme in TURNS]
    return one + [Point({"scheme": scheme, "depth": 0}, f"six zones, {scheme}",
                        [(f"six-{i}-{seed}", device(changes), workload(seed, 6, 1, args.zone_mib, "64 KiB")) for seed in args.seeds])
                  for i, (scheme, changes) in enumerate(SHARED.items())] + [
        Point({"scheme": slots, "depth": -1}, f"eight zones at once, {slots}",
              [(f"eight-{slots}-{seed}", device(runs.merged(AT_ONCE, {"buffers": {"slots": slots}})), workload(seed, 8, 8, 6, "16 KiB"))
               for seed in args.seeds]) for slots in SLOTS]


def check(result, folder):
    if result["violations"] or not result["totals"]["write"]["ops"]:
        raise runs.StudyError(f"the run in {folder} wrote nothing or broke its own rules")


def buffer_wait(result):
    """Share of the workers' time spent waiting for locks of buffers."""
    workers = [h["elapsed_ns"] for h in result["harts"] if h["role"] == "worker"]
    return sum(lock["wait_ns"] for lock in result["locks"] if lock["class"] == "buffer") / sum(workers)


def summarize(results):
    return {
        "mib_s": mean(r["totals"]["write"]["mib_s"] for r in results),
        "write_mean_us": mean(r["totals"]["write"]["latency_ns"]["mean"] / 1e3 for r in results),
        "conflicts": mean(r["ftl"]["buffer_flushes"]["conflict"] for r in results),
        "buffer_wait": mean(buffer_wait(r) for r in results),
        "kiops": mean(r["totals"]["write"]["iops"] / 1e3 for r in results),
        "slc_mib": mean(conzone.flash_mib(r).get("slc", 0.0) for r in results),
        **conzone.common_figures(results),
    }


def waited(measured, slots):
    """% of the workers' time, with eight zones at once."""
    p = measured.get((slots, -1))
    return p and 100 * p["buffer_wait"]


def figures(args, measured):
    depth = args.depths[0]
    base = measured.value(("ZMS, 768 KiB", depth), "mib_s")
    out = [report.figure(f"one zone, {scheme}", measured.value((scheme, depth), "mib_s"), "MiB/s") for scheme in SCHEMES]
    out += [report.figure(f"one zone, {scheme} against ZMS, 768 KiB", percent_more(measured.value((scheme, depth), "mib_s"), base), "%",
                          PAPER if "192" in scheme else None) for scheme in list(SCHEMES)[1:]]
    for control in CONTROLS:
        fixed, slots = (measured.value((f"{scheme}, {control}", depth), "mib_s") for scheme in TURNS)
        out += [report.figure(f"one zone, {scheme}, {control}", value, "MiB/s") for scheme, value in zip(TURNS, (fixed, slots))]
        out.append(report.figure(f"one zone, ZUFS, 192 KiB against ZMS, 768 KiB, {control}", percent_more(slots, fixed), "%"))
    for scheme in SHARED:
        out += [report.figure(f"six zones, {scheme}", measured.value((scheme, 0), "mib_s"), "MiB/s"),
                report.figure(f"six zones staged, {scheme}", measured.value((scheme, 0), "slc_mib"), "MiB")]
    for slots in SLOTS:
        out += [report.figure(f"eight zones at once, {slots}", measured.value((slots, -1), "kiops"), "KIOPS"),
                report.figure(f"wait for locks of buffers, {slots}", waited(measured, slots), "%")]
    return out


def rows(figure):
    for scheme, paper in (("ZUFS, 192 KiB", f"{PAPER:+} %"), ("ZUFS, 768 KiB", f"about {PAPER:+} %")):
        yield (f"one zone: {scheme}, against ZMS, 768 KiB", paper,
               f"{figure(f'one zone, {scheme} against ZMS, 768 KiB'):+.1f} % ({figure(f'one zone, {scheme}'):.0f} against "
               f"{figure('one zone, ZMS, 768 KiB'):.0f} MiB/s)")
    for control in CONTROLS:
        fixed, slots = (figure(f"one zone, {scheme}, {control}") for scheme in TURNS)
        yield (f"control, {control}: ZUFS, 192 KiB, against ZMS, 768 KiB", "",
               f"{figure(f'one zone, ZUFS, 192 KiB against ZMS, 768 KiB, {control}'):+.1f} % ({slots:.0f} against {fixed:.0f} MiB/s)")
    for scheme in list(SHARED)[1:]:
        yield (f"six zones, the same SRAM: {scheme}, against ZMS, 3 buffers", "",
               f"{figure(f'six zones, {scheme}'):.0f} against {figure('six zones, ZMS, 3 buffers'):.0f} MiB/s, "
               f"{figure(f'six zones staged, {scheme}'):.0f} against {figure('six zones staged, ZMS, 3 buffers'):.0f} MiB staged")
    for slots in SLOTS[1:]:
        yield (f"eight zones, flash and link that take next to no time: slots {slots}, against accounts under one lock", "",
               f"{figure(f'wait for locks of buffers, {slots}'):.1f} against {figure('wait for locks of buffers, accounts'):.0f} % of the "
               f"workers' time wait for locks of buffers ({figure(f'eight zones at once, {slots}'):.0f} against "
               f"{figure('eight zones at once, accounts'):.0f} KIOPS)")


def directions(figure):
    yield "flushing by die is faster than a fixed superpage", figure("one zone, ZUFS, 192 KiB against ZMS, 768 KiB") > 10
    yield "so are superpages whose memory is shared", figure("one zone, ZUFS, 768 KiB against ZMS, 768 KiB") > 10
    yield ("for one zone it matters little how much is flushed at once",
           abs(figure("one zone, ZUFS, 192 KiB") / figure("one zone, ZUFS, 768 KiB") - 1) < 0.1)
    yield ("a fixed buffer waits for the link and the dies in turn: with a faster link, or longer programs, slots gain less",
           all(figure(f"one zone, ZUFS, 192 KiB against ZMS, 768 KiB, {control}") < figure("one zone, ZUFS, 192 KiB against ZMS, 768 KiB") - 2
               for control in CONTROLS))
    yield ("six zones that share slots stage nothing, three buffers do",
           figure("six zones staged, ZUFS, locked") == 0 < figure("six zones staged, ZMS, 3 buffers"))
    yield ("a zone's own slots keep workers out of each other's way",
           all(figure(f"wait for locks of buffers, {slots}") < 0.1 * figure("wait for locks of buffers, accounts") for slots in SLOTS[1:]))


def show(measured):
    report.table(["zones", "scheme", "under way", "MiB/s", "write us", "conflicts", "staged MiB", "dies busy %", "wait for locks %"],
                 [[{0: "six", -1: "eight"}.get(depth, "one"), scheme, {0: 1, -1: 8}.get(depth, depth), p["mib_s"], p["write_mean_us"],
                   float(p["conflicts"]), p["slc_mib"], 100 * p["die_busy"], 100 * p["buffer_wait"]] for (scheme, depth), p in measured.items()])


def draw(measured):
    depths = sorted({depth for _, depth in measured if depth > 0})
    fig, axes = plot.figure(3)
    plot.bars(axes[0], [str(depth) for depth in depths],
              {scheme: [measured.value((scheme, depth), "mib_s") for depth in depths] for scheme in SCHEMES}, "One zone", "MiB/s")
    axes[0].set(xlabel="commands under way")
    plot.bars(axes[1], [""], {scheme: [measured.value((scheme, 0), "mib_s")] for scheme in SHARED}, "Six zones, the same SRAM", "MiB/s")
    plot.bars(axes[2], [""], {slots: [waited(measured, slots)] for slots in SLOTS}, "Wait for locks of buffers",
              "% of the workers' time")
    return fig


def facts(_):
    return {"device": "zufs"}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
