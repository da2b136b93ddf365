#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MCMQ, Table I: how long flash operations take on the device under load, beside real flash and MCMQ's emulator."""
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report, runs  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "mcmq-table1"
# Operation → mean and deviation of real flash, and of MCMQ, us.
PAPER = {"read, LSB": (56.2, 1.6, 60.7, 17.2), "read, MSB": (71.5, 8.4, 71.3, 26.6), "program, LSB": (381.2, 157.3, 381.3, 96.1),
         "program, MSB": (1578.5, 68.5, 1584.6, 323.6), "erase": (1200.0, 8.0, 1200.0, 300.0)}
NO_CHANNEL = {"channel_bytes_per_s": 0, "command": 0} # so that a die is busy with its array only
TIMELINE = "timeline.json"
FLASH_PROCESS = 2 # in a timeline (docs/reference/results.md)
CUT = {"blocks_per_plane": 40, "pages_per_block": 8}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_number(p, "--mib", 16, 64, 48, "MiB that each of four queues reads and writes, half of each")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, mib=16)


def device():
    """Flash and times of the preset, with fewer blocks and pages, below zones that are reset when
    full, so that blocks are erased."""
    preset = runs.load_yaml("devices", "mcmq")
    return {"name": NAME, "geometry": preset["geometry"] | CUT, "timing": preset["timing"] | NO_CHANNEL,
            "zones": {"count": 20, "spare_superblocks": 4, "max_open": 8, "max_active": 8},
            "buffers": {"count": 8, "binding": "first-free", "flush_unit_planes": 1}, "harts": preset["harts"]}


def workload(args, seed):
    return {"name": NAME, "mapping": "direct", "seed": seed, "verify": False, "threads": 4, "common": {
        "read_ratio": 0.5, "block": "8 KiB", "queue_depth": 16, "zones": 2, "prefill": 0.5, "total_bytes": f"{args.mib} MiB"}}


def points(args):
    return [Point({"measured": "the array"}, "the array", [(str(seed), device(), workload(args, seed), "--timeline", args.out / str(seed) / TIMELINE)
                                                          for seed in args.seeds])]


def kind_of(name, us):
    """An operation's row of Table I: LSB or MSB, by the nearest configured time."""
    op = name.split()[0]
    return min((kind for kind in PAPER if kind.split(",")[0] == op), key=lambda kind: abs(PAPER[kind][0] - us))


def check(result, folder):
    """Takes the operations from the run's timeline, except those that began before it did."""
    if result["violations"] or result["totals"]["errors"]:
        raise runs.StudyError(f"the run in {folder} broke its own rules or had errors")
    found = {kind: [] for kind in PAPER}
    for event in json.loads((folder / TIMELINE).read_text(encoding="utf-8"))["traceEvents"]:
        if event["ph"] == "X" and event["pid"] == FLASH_PROCESS and event["ts"] > 0:
            found[kind_of(event["name"], event["dur"])].append(event["dur"])
    if not all(found.values()):
        raise runs.StudyError(f"the run in {folder} had no operations of some kind: it needs to be longer")
    result["operations"] = found


def summarize(results):
    found = {kind: [us for r in results for us in r["operations"][kind]] for kind in PAPER}
    return {"count": {kind: len(us) for kind, us in found.items()}, "mean_us": {kind: statistics.fmean(us) for kind, us in found.items()},
            "sigma_us": {kind: statistics.pstdev(us) for kind, us in found.items()}, **conzone.common_figures(results)}


def figures(_, measured):
    out, p = [], measured.get("the array")
    for kind, (real, real_sigma, *_) in PAPER.items():
        out += [report.figure(kind, p and p["mean_us"][kind], "us", real, "paper: real flash"),
                report.figure(f"deviation, {kind}", p and p["sigma_us"][kind], "us", real_sigma),
                report.figure(f"operations, {kind}", p and p["count"][kind], "", 100)]
    return out


def rows(figure):
    for kind, (real, real_sigma, emulated, emulated_sigma) in PAPER.items():
        yield (kind, f"real {real} ± {real_sigma}, MCMQ {emulated} ± {emulated_sigma} us",
               f"{figure(kind):.1f} ± {figure(f'deviation, {kind}'):.1f} us ({figure(f'operations, {kind}'):,} operations)")


def directions(figure):
    for kind, (real, *_) in PAPER.items():
        yield f"{kind} takes what is configured, which is the real mean", abs(figure(kind) - real) < 1e-6
        yield f"{kind}, each time", figure(f"deviation, {kind}") < 1e-6
        yield f"{kind}: a hundred times or more, as on the paper's board", figure(f"operations, {kind}") >= 100


def show(measured):
    report.table(["operation", "operations", "mean us", "± us", "real us", "± us", "MCMQ us", "± us"],
                 [[kind, p["count"][kind], p["mean_us"][kind], p["sigma_us"][kind], *PAPER[kind]] for p in measured.values() for kind in PAPER])


def draw(measured):
    fig, axes = plot.figure(2)
    p = measured.get("the array")
    for ax, at, field, title in ((axes[0], 0, "mean_us", "Mean"), (axes[1], 1, "sigma_us", "Standard deviation")):
        plot.bars(ax, list(PAPER), {"real flash": [PAPER[kind][at] for kind in PAPER], "MCMQ": [PAPER[kind][at + 2] for kind in PAPER],
                                    "here": [p and p[field][kind] for kind in PAPER]}, title, "us")
        ax.tick_params(axis="x", rotation=20)
    return fig


def facts(args):
    return {"device": device(), "mib": args.mib}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
