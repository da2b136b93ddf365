#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What trims are worth: write amplification of a block device's collector against zones that the host collects, on the same media."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "trim-waf"
PAGES, QUICK_PAGES = 96, 48 # of a block, for superblocks of 12 MiB, or 6
ZONES, SPARES = 32, 4 # superblocks: the block device offers 32 of its 36 backing zones, the host's log hides as many
BLOCKS = 10 + ZONES + SPARES + 2 # SLC, data, spares of both, bad blocks
BLOCK_KIB = 64
DEVICES = ["block", "zones"]
IN_RAM = "block, map in RAM" # a control: no table of places is written


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--trims", 0, 45, "0,10,20,30,40", "trims in %% of the commands; the others write")
    arguments.add_number(p, "--volume", 1, 1 << 20, 1152, "MiB that the commands write or trim in all, after the space of 384 MiB (with --quick 192) was written once")
    arguments.add_update(p)
    p.set_defaults(pages=PAGES)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, trims=[args.trims[0], args.trims[-1]], volume=60, pages=QUICK_PAGES)


def device_of(args, kind):
    geometry = {"blocks_per_plane": BLOCKS, "pages_per_block": args.pages}
    if kind != "zones":
        return conzone.device({"geometry": geometry, "zones": {"count": ZONES}, "conventional": {"spare_superblocks": SPARES},
                               **({"l2p": {"cache": 0}} if kind == IN_RAM else {})}, "legacy")
    return conzone.device({"geometry": geometry, "zones": {"count": ZONES + SPARES}})


def workload_of(args, kind, trims, seed):
    log = {"mapping": "log", "over_provisioning": SPARES / (ZONES + SPARES), "gc_low_zones": 2} if kind == "zones" else {}
    return conzone.workload(NAME, seed, threads=1, common={
        "read_ratio": 0.0, "trim_ratio": trims / 100, "pattern": "random", "block": f"{BLOCK_KIB} KiB", "queue_depth": 8, "prefill": 1.0,
        "total_bytes": f"{args.volume} MiB"}, **log)


def ends(trims):
    return list(dict.fromkeys((trims[0], trims[-1])))


def points(args):
    return [Point({"device": kind, "trims": trims}, f"{kind}, {trims} % trims",
                  [(folder_of(kind, trims, seed), device_of(args, kind), workload_of(args, kind, trims, seed)) for seed in args.seeds])
            for kind in (*DEVICES, IN_RAM) for trims in (args.trims if kind != IN_RAM else ends(args.trims))]


check = conzone.check


def amplification(result):
    """(by the host's collector, by the device)"""
    host = (result["mapping"] or {}).get("host_waf", 1.0)
    return host, result["waf"]


def summarize(results):
    return {
        "waf": mean(host * device for host, device in map(amplification, results)),
        "host_waf": mean(amplification(r)[0] for r in results),
        "device_waf": mean(amplification(r)[1] for r in results),
        "mib_s": mean(r["totals"]["write"]["mib_s"] for r in results),
        "p99_us": mean(conzone.host_us(r, "write", "p99") for r in results),
        **conzone.common_figures(results),
    }


def figures(args, measured):
    out = []
    for trims in args.trims:
        for kind in (*DEVICES, *([IN_RAM] if trims in ends(args.trims) else [])):
            at = f"{kind}, {trims} % trims"
            out += [report.figure(f"bytes programmed for a byte written, {at}", measured.value((kind, trims), "waf"), ""),
                    report.figure(f"writes, {at}", measured.value((kind, trims), "mib_s"), "MiB/s"),
                    report.figure(f"p99 of writes, {at}", measured.value((kind, trims), "p99_us"), "us")]
    return out


def directions(figure):
    most = next(t for t in (40, 30, 20, 10) if has(figure, t))
    for kind in DEVICES:
        yield f"{kind}: trims save copies", (figure(f"bytes programmed for a byte written, {kind}, {most} % trims")
                                             < figure(f"bytes programmed for a byte written, {kind}, 0 % trims"))


    for trims in (0, most):
        usual, in_ram, zones = (figure(f"bytes programmed for a byte written, {kind}, {trims} % trims") for kind in ("block", IN_RAM, "zones"))
        yield f"{trims} % trims: a block device whose map is in RAM programs less", in_ram < usual / 1.01
        if has(figure, 10): # the quick form's collectors have just begun
            yield f"{trims} % trims: it programs as much as zones", abs(in_ram / zones - 1) < 0.03


def has(figure, trims):
    return report.has(figure, f"bytes programmed for a byte written, block, {trims} % trims")


def rows(figure):
    for trims in (0, 10, 20, 30, 40):
        waf, speed = ([figure(f"{what}, {kind}, {trims} % trims") for kind in DEVICES] for what in ("bytes programmed for a byte written", "writes"))
        yield (f"bytes programmed for a byte written, {trims} % trims, block device against zones", "",
               f"{waf[0]:.2f} / {waf[1]:.2f} ({speed[0]:.0f} / {speed[1]:.0f} MiB/s)")


    for trims in (0, 40):
        at = f"{IN_RAM}, {trims} % trims"
        yield (f"control, {at}", "", f"{figure(f'bytes programmed for a byte written, {at}'):.2f} ({figure(f'writes, {at}'):.0f} MiB/s)")


def show(measured):
    report.table(["device", "trims, %", "WAF", "of the host", "of the device", "MiB/s", "p99, us"],
                 [[kind, trims, p["waf"], p["host_waf"], p["device_waf"], p["mib_s"], p["p99_us"]] for (kind, trims), p in measured.items()])


def draw(measured):
    trims = sorted({t for _, t in measured})
    return plot.amplification([f"{t} %" for t in trims], lambda field: {
        kind: [measured[kind, t][field] if (kind, t) in measured else None for t in trims] for kind in DEVICES})


def facts(args):
    return {"device": "legacy, conzone-paper", "zones": ZONES, "spares": SPARES, "volume_mib": args.volume}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
