#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Selective power-loss protection, figure 13: how long capacitors must last, in-place against balanced flush."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, frame, plot, plp, report  # noqa: E402
from common.report import percent_more  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "plp-fig13"
VOLATILE, PAPER = 32, -96
FLUSHES = ["in-place", "balanced"]
FIRST_MS, LAST_MS = 500, 8000 # of device time: interval of the power cuts

summarize, check = plp.summarize_cuts, plp.check_cut


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--sizes", 1, 480, "32,64,128,256", "MiB of write buffers that outlast a loss of power, beside 32 that do not")
    arguments.add_number(p, "--cuts", 1, 1000, 8, f"times at which power goes, drawn from {FIRST_MS} to {LAST_MS} ms of device time")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, sizes=args.sizes[:1], cuts=2)


# The same state for both: the same load on the same device up to the same instant; the devices
# differ in this key only.
def points(args):
    first, last = (1000, 2500) if args.quick else (FIRST_MS, LAST_MS)

    def cuts(flush, size):
        shape = plp.device("selective", size + VOLATILE, size, flush=flush)
        return [run for seed in args.seeds
                for run in plp.cut_runs(NAME, seed, "selective", 0, plp.instants(seed, args.cuts, first, last), (shape, f"{flush}-{size}"))]
    return [Point({"flush": flush, "protected_mib": size}, f"{flush}, {size} MiB", cuts(flush, size)) for size in args.sizes for flush in FLUSHES]


def less(measured, size):
    return percent_more(measured.value(("balanced", size), "took_ms"), measured.value(("in-place", size), "took_ms"))


def figures(args, measured):
    out = []
    for size in args.sizes:
        out += [report.figure(f"time on capacitors, {flush}, {size} MiB", measured.value((flush, size), "took_ms"), "ms") for flush in FLUSHES]
        out.append(report.figure(f"time, balanced against in place, {size} MiB", less(measured, size), "%"))
    known = [value for value in (less(measured, size) for size in args.sizes) if value is not None]
    return [*out, report.figure("time, balanced against in place, mean", report.mean(known) if known else None, "%", PAPER)]


def derived(args, measured):
    """Whether both kinds of a size began with the same data at each cut."""
    return {"same_data": {size: measured["in-place", size]["kept_bytes_each"] == measured["balanced", size]["kept_bytes_each"]
                          for size in args.sizes if all((flush, size) in measured for flush in FLUSHES)}}


def directions(figure):
    yield "a balanced flush takes a tenth of the time or so", figure("time, balanced against in place, mean") < -80


def rows(figure):
    yield "time on capacitors, balanced against in place, mean over 32 to 256 MiB", f"{PAPER} %", f"{figure('time, balanced against in place, mean'):.1f} %"
    for size in (32, 256):
        yield (f"the same with {size} MiB protected", "", f"{figure(f'time, balanced against in place, {size} MiB'):.1f} % "
               f"({figure(f'time on capacitors, balanced, {size} MiB'):.0f} against {figure(f'time on capacitors, in-place, {size} MiB'):.0f} ms)")


def show(measured):
    report.table(["flush", "MiB protected", "MiB kept, mean", "ms, mean", "% of programs in place", "mJ, mean"],
                 [[flush, size, p["kept_mib"], p["took_ms"], 100 * p["programs_in_place"], p["energy_mj"]] for (flush, size), p in measured.items()])


def draw(measured):
    sizes = sorted({size for _, size in measured})
    fig, (left,) = plot.figure(1)
    plot.bars(left, [f"{size} MiB" for size in sizes],
              {flush: [measured[flush, size]["took_ms"] if (flush, size) in measured else 0 for size in sizes] for flush in FLUSHES},
              "Time on capacitors, mean over cuts", "ms")
    return fig


def facts(args):
    return {"device": "plp", "trace": "rocksdb-fillseq", "cuts": args.cuts, "volatile_mib": VOLATILE}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
