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
# Fewer blocks, and dies of one plane: planes that work together take the slowest one's time.
CUT = {"blocks_per_plane": 40, "pages_per_block": 8, "planes_per_die": 1}
# Name of a point → kinds with a spread. Reads of LSB and MSB pages overlap, so only one of them has it
# at a time: the other kind is known by its exact time.
SPREAD = {"no spread": (), "spread of LSB and erases": ("LSB", "erase"), "spread of MSB": ("MSB",)}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_number(p, "--mib", 16, 64, 48, "MiB that each of four queues reads and writes, half of each")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, mib=16)


def sigmas(spread, pages):
    """Keys of a region with these page types: deviations of real flash for the kinds of `spread`."""
    keys = {f"{op}_sigma": [f"{PAPER[f'{op}, {page}'][1] if page in spread else 0}us" for page in pages] for op in ("read", "program")}
    return keys | {"erase_sigma": f"{PAPER['erase'][1] if 'erase' in spread else 0}us"}


def device(spread=()):
    """Flash and times of the preset, with fewer blocks and pages, below zones that are reset when
    full, so that blocks are erased. SLC blocks have the times of LSB pages."""
    preset = runs.load_yaml("devices", "mcmq")
    timing = preset["timing"] | {"slc": preset["timing"]["slc"] | sigmas(spread, ["LSB"]),
                                 "normal": preset["timing"]["normal"] | sigmas(spread, ["LSB", "MSB"])}
    return {"name": NAME, "geometry": preset["geometry"] | CUT, "timing": timing | NO_CHANNEL,
            "zones": {"count": 20, "spare_superblocks": 4, "max_open": 8, "max_active": 8},
            "buffers": {"count": 8, "binding": "first-free", "flush_unit_planes": 1}, "harts": preset["harts"]}


def workload(args, seed):
    return {"name": NAME, "mapping": "direct", "seed": seed, "verify": False, "threads": 4, "common": {
        "read_ratio": 0.5, "block": "8 KiB", "queue_depth": 16, "zones": 2, "prefill": 0.5, "total_bytes": f"{args.mib} MiB"}}


def points(args):
    return [Point({"measured": name}, name, [(f"{name.replace(' ', '-')}/{seed}", device(spread) | {"seed": seed}, workload(args, seed),
                                              "--timeline", args.out / name.replace(" ", "-") / str(seed) / TIMELINE) for seed in args.seeds])
            for name, spread in SPREAD.items()]


def kind_of(name, ns, timing):
    """An operation's row of Table I. A time that a kind without a spread has is of that kind; any
    other one is of the kind with a spread."""
    op = name.split()[0]
    if op == "erase":
        return op
    pages = list(zip(("LSB", "MSB"), timing[f"{op}_ns"], timing[f"{op}_sigma_ns"]))
    exact = [page for page, time, sigma in pages if not sigma and time == ns]
    drawn = [page for page, _, sigma in pages if sigma]
    if not exact and not drawn:
        raise runs.StudyError(f"a {op} took {ns} ns, which no page is configured to take")
    return f"{op}, {(exact or drawn)[0]}"


def check(result, folder):
    """Takes the operations from the run's timeline, except those that began before it did."""
    if result["violations"] or result["totals"]["errors"]:
        raise runs.StudyError(f"the run in {folder} broke its own rules or had errors")
    found = {kind: [] for kind in PAPER}
    for event in json.loads((folder / TIMELINE).read_text(encoding="utf-8"))["traceEvents"]:
        if event["ph"] == "X" and event["pid"] == FLASH_PROCESS and event["ts"] > 0:
            found[kind_of(event["name"], round(event["dur"] * 1000), result["device"]["timing"]["normal"])].append(event["dur"])
    if not all(found.values()):
        raise runs.StudyError(f"the run in {folder} had no operations of some kind: it needs to be longer")
    result["operations"] = found


def summarize(results):
    found = {kind: [us for r in results for us in r["operations"][kind]] for kind in PAPER}
    return {"count": {kind: len(us) for kind, us in found.items()}, "mean_us": {kind: statistics.fmean(us) for kind, us in found.items()},
            "sigma_us": {kind: statistics.pstdev(us) for kind, us in found.items()}, **conzone.common_figures(results)}


def drawn_in(kind):
    """The point in which this kind has a spread."""
    return next(name for name, spread in SPREAD.items() if kind.split(", ")[-1] in spread)


def figures(_, measured):
    out, plain = [], measured.get("no spread")
    for kind, (real, real_sigma, *_) in PAPER.items():
        p = measured.get(drawn_in(kind))
        out += [report.figure(kind, p and p["mean_us"][kind], "us", real, "paper: real flash"),
                report.figure(f"deviation, {kind}", p and p["sigma_us"][kind], "us", real_sigma),
                report.figure(f"operations, {kind}", p and p["count"][kind], "", 100),
                report.figure(f"no spread, {kind}", plain and plain["mean_us"][kind], "us", real),
                report.figure(f"no spread, deviation, {kind}", plain and plain["sigma_us"][kind], "us")]
    return out


def rows(figure):
    for kind, (real, real_sigma, emulated, emulated_sigma) in PAPER.items():
        yield (kind, f"real {real} ± {real_sigma}, MCMQ {emulated} ± {emulated_sigma} us",
               f"{figure(kind):.1f} ± {figure(f'deviation, {kind}'):.1f} us ({figure(f'operations, {kind}'):,} operations); without a spread "
               f"{figure(f'no spread, {kind}'):.1f} ± {figure(f'no spread, deviation, {kind}'):.1f} us")


def directions(figure):
    for kind, (real, real_sigma, *_) in PAPER.items():
        count = figure(f"operations, {kind}")
        yield f"{kind}: the real mean, within four standard errors", abs(figure(kind) - real) < 4 * real_sigma / count ** 0.5
        yield (f"{kind}: the real deviation, but for 2 % that the cut takes of the widest, within four standard errors",
               abs(figure(f"deviation, {kind}") / real_sigma - 1) < 0.03 + 4 / (2 * count) ** 0.5)
        yield f"{kind}: a hundred times or more, as on the paper's board", count >= 100
        yield f"{kind} takes what is configured without a spread", abs(figure(f"no spread, {kind}") - real) < 1e-6
        yield f"{kind}, each time", figure(f"no spread, deviation, {kind}") < 1e-6


def show(measured):
    report.table(["point", "operation", "operations", "mean us", "± us", "real us", "± us", "MCMQ us", "± us"],
                 [[name, kind, p["count"][kind], p["mean_us"][kind], p["sigma_us"][kind], *PAPER[kind]]
                  for name, p in measured.items() for kind in PAPER])


def draw(measured):
    fig, axes = plot.figure(2)
    points = {kind: measured.get(drawn_in(kind)) for kind in PAPER}
    for ax, at, field, title in ((axes[0], 0, "mean_us", "Mean"), (axes[1], 1, "sigma_us", "Standard deviation")):
        plot.bars(ax, list(PAPER), {"real flash": [PAPER[kind][at] for kind in PAPER], "MCMQ": [PAPER[kind][at + 2] for kind in PAPER],
                                    "here": [p and p[field][kind] for kind, p in points.items()]}, title, "us")
        ax.tick_params(axis="x", rotation=20)
    return fig


def facts(args):
    return {"devices": {name: device(spread) for name, spread in SPREAD.items()}, "mib": args.mib}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
