#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ZUFS, figure 4, over a population: block devices of drawn use and age, how fragmented they are, and how long a MB takes on each."""
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, cufs, files, frame, plot, report, runs  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "zufs-population"
SMALL_FILES, LARGE_MIB, REREAD, LAST = 24, 1, 12, 5 # of an iteration: files of 128 KiB, a large one, reads; iterations that are measured
LEAST = 4  # an iteration alone needs 3.4 % of the space
USE = ((0, 3), (0.5, 27), (0.95, 70), (1, 86)) # the paper's phones: part of them, and the percentage of the space that at most that part uses
KINDS = {"read": ("read",), "write": ("write", "durable write")}
OFTEN, SEVERE = 0.4, 0.8


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_number(p, "--devices", 5, 10000, 100, "that are drawn")
    arguments.add_number(p, "--superblocks", 48, 4096, 48, f"of {cufs.SUPERBLOCK_MIB} MiB that the host of a device sees")
    arguments.add_number(p, "--fills", 1, 100, 3, "most that a host has written, in sizes of its device; each from nothing to this is as likely")
    arguments.add_update(p)
    return arguments.quickly(arguments.parsed(p, words), devices=8, fills=2)


def use_of(part):
    """Percent of the space: that part of the population uses less."""
    (low, least), (high, most) = next(pair for pair in zip(USE, USE[1:]) if part <= pair[1][0])
    return least + (most - least) * (part - low) / (high - low)


def drawn(args, seed):
    """(use in percent, iterations) of each device. Uses are spread evenly over the distribution, ages are drawn."""
    draw = random.Random(seed)
    written = args.superblocks * cufs.SUPERBLOCK_MIB * args.fills / (SMALL_FILES / 8 + LARGE_MIB)
    return [(max(LEAST, round(use_of((i + 0.5) / args.devices))), max(LAST, round(draw.random() * written))) for i in range(args.devices)]


def points(args):
    device = cufs.device(NAME, args.superblocks, cufs.slc(args.superblocks))
    return [Point({"device": i}, f"device {i}, {use} % used, {iterations} iterations",
                  [files.run(f"{i}-{seed}", device, ("files", "fragment", cufs.SLACK, "--small-files", SMALL_FILES, "--size", LARGE_MIB, "--reread", REREAD,
                                                     "--hold", use, "--count", iterations, "--seed", 1 + (seed + i) % 2 ** 31))])
            for seed in args.seeds[:1] for i, (use, iterations) in enumerate(drawn(args, seed))]


def check(result, folder):
    if len(result["result"]["iterations"]) < LAST:
        raise runs.StudyError(f"the run in {folder} ended after {len(result['result']['iterations'])} iterations")


def ms_per_mb(iterations, kind):
    """As counted by the block layer: the time of all requests divided by their data."""
    commands = [one["commands"][name] for one in iterations for name in KINDS[kind]]
    return sum(c["count"] * c["latency_ns"]["mean"] for c in commands) / 1e6 / (sum(c["bytes"] for c in commands) / 1e6)


def summarize(results):
    found = results[0]
    last = found["result"]["iterations"][-LAST:]
    return {"level": files.level(last[-1]), "used": 100 * found["files"]["used_blocks"] / found["files"]["total_blocks"],
            "iterations": len(found["result"]["iterations"]), "digests": [found["digest"]], **{kind: ms_per_mb(last, kind) for kind in KINDS}}


def correlation(one, other):
    a, b = mean(one), mean(other)
    spread = [sum((x - m) ** 2 for x in values) for values, m in ((one, a), (other, b))]
    return sum((x - a) * (y - b) for x, y in zip(one, other)) / (spread[0] * spread[1]) ** 0.5 if all(spread) else 0



def figures(args, measured):
    at = [point for _, point in measured.items()]
    levels = [p["level"] for p in at]
    out = [report.figure("devices", len(at) if len(at) == args.devices else None, ""), report.figure("use", mean(p["used"] for p in at), "%"),
           report.figure("level and use: correlation", correlation(levels, [p["used"] for p in at]), "", 0.74),
           report.figure("level above 0.7", 100 * mean(level > 0.7 for level in levels), "%", 30),
           report.figure("level above 0.7, of those that use less than 27 %", 100 * mean([p["level"] > 0.7 for p in at if p["used"] < 27] or [0]), "%")]
    for kind in KINDS:
        every = [p[kind] for p in at]
        out += [report.figure(f"{kind}, mean", mean(every), "ms/MB"), report.figure(f"{kind}, worst", max(every), "ms/MB")]
        for name, low, high in (("below 0.4", 0, OFTEN), ("0.4 to 0.8", OFTEN, SEVERE), ("above 0.8", SEVERE, 1.01)):
            here = [p[kind] for p in at if low <= p["level"] < high]
            if here: # few devices may have none so fragmented
                out += [report.figure(f"{kind}, {name}, mean", mean(here), "ms/MB"), report.figure(f"{kind}, {name}, spread", max(here) / min(here), "")]
    return out


def rows(figure):
    yield "devices: use on average", "10,000: 32 %", f"{figure('devices'):.0f}: {figure('use'):.0f} %"
    yield "level of fragmentation and use: correlation", "0.74", f"{figure('level and use: correlation'):.2f}"
    yield "devices with a level above 0.7", "30 %", f"{figure('level above 0.7'):.0f} %"
    yield "the same of those that use less than 27 %", "many", f"{figure('level above 0.7, of those that use less than 27 %'):.0f} %"
    for kind, worst, shape in (("read", "5.2 times", "spread grows above 0.4"), ("write", "11 times", "rises sharply above 0.8")):
        yield f"{kind}: the worst device against the mean", worst, f"{figure(f'{kind}, worst') / figure(f'{kind}, mean'):.1f} times"
        yield (f"{kind}: level below 0.4; 0.4 to 0.8; above 0.8: ms for a MB (worst by best device)", shape,
               "; ".join(f"{figure(f'{kind}, {name}, mean'):.2f} ({figure(f'{kind}, {name}, spread'):.1f} times)" for name in ("below 0.4", "0.4 to 0.8", "above 0.8")))


def directions(figure):
    yield "devices that use more are more fragmented", figure("level and use: correlation") > 0.3
    yield "there are severely fragmented devices", figure("level above 0.7") > 5
    yield "reads differ more from device to device above a level of 0.4", figure("read, 0.4 to 0.8, spread") > 1.3 * figure("read, below 0.4, spread")
    if report.has(figure, "write, above 0.8, mean"):
        yield "writes take longer above a level of 0.8", figure("write, above 0.8, mean") > 1.2 * figure("write, 0.4 to 0.8, mean")


def show(measured):
    report.table(["device", "used %", "iterations", "level", "read ms/MB", "write ms/MB"],
                 [[key, *(p[k] for k in ("used", "iterations", "level", "read", "write"))] for key, p in measured.items()])


def draw(measured):
    at = [point for _, point in measured.items()]
    fig, (cdf, use, *times) = plot.figure(4)
    levels = sorted(p["level"] for p in at)
    cdf.plot(levels, [(i + 1) / len(levels) for i in range(len(levels))])
    cdf.set(title="Devices of at most this level", xlabel="fragmentation level", ylabel="part", ylim=(0, 1))
    use.scatter([p["used"] for p in at], [p["level"] for p in at], s=10)
    use.set(title="Use and fragmentation", xlabel="% used", ylabel="level", ylim=(0, 1))
    for ax, kind in zip(times, KINDS):
        ax.scatter([p["level"] for p in at], [p[kind] for p in at], s=10)
        ax.set(title=f"Time of a MB, {kind}", xlabel="fragmentation level", ylabel="ms", ylim=(0, None))
    return fig


def facts(args):
    return {"device": "cufs, smaller, with kept data", "devices": args.devices}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
