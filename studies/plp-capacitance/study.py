#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Selective power-loss protection: the energy that capacitors must hold, selective against full."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, frame, plot, plp, report  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "plp-capacitance"
MODES = ["selective", "full"]
FIRST_MS, LAST_MS = 200, 2000 # of device time: interval of the power cuts

summarize, check = plp.summarize_cuts, plp.check_cut


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--sizes", 64, 512, "64,128,256,512", "MiB of write buffers in all; 32 of them are protected under selective")
    arguments.add_number(p, "--cuts", 1, 1000, 6, f"times at which power goes, drawn from {FIRST_MS} to {LAST_MS} ms of device time")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, sizes=args.sizes[:1], cuts=1)


def points(args):
    def cuts(mode, size):
        return [run for seed in args.seeds
                for run in plp.cut_runs(NAME, seed, mode, 0, plp.instants(seed, args.cuts, FIRST_MS, LAST_MS), (plp.device(mode, size), f"{mode}-{size}"))]
    return [Point({"protection": mode, "total_mib": size}, f"{mode}, {size} MiB", cuts(mode, size)) for size in args.sizes for mode in MODES]


def share(measured, size, field):
    """Selective as % of full."""
    one, all_of_it = (measured.value((mode, size), field) for mode in MODES)
    return None if one is None or all_of_it is None else 100 * one / all_of_it


def figures(args, measured):
    out = []
    for size in args.sizes:
        paper = {64: 50, 512: 6}.get(size)
        out += [report.figure(f"energy to be held, selective of full, {size} MiB", share(measured, size, "worst_case_mj"), "%", paper),
                report.figure(f"most energy that a cut took, selective of full, {size} MiB", share(measured, size, "energy_mj_most"), "%")]
        out += [report.figure(f"energy to be held, {mode}, {size} MiB", measured.value((mode, size), "worst_case_mj"), "mJ") for mode in MODES]
        out += [report.figure(f"most energy that a cut took, {mode}, {size} MiB", measured.value((mode, size), "energy_mj_most"), "mJ") for mode in MODES]
    return out


def directions(figure):
    yield "32 of 64 MiB need about half", 45 < figure("energy to be held, selective of full, 64 MiB") < 60
    yield "no cut takes more than what must be held", all(figure(f"most energy that a cut took, {mode}, 64 MiB")
                                                        <= figure(f"energy to be held, {mode}, 64 MiB") for mode in MODES)


def rows(figure):
    for size, paper in ((64, "50 %"), (512, "6 %")):
        yield (f"energy that capacitors must hold, selective of full, {size} MiB of buffers", paper,
               f"{figure(f'energy to be held, selective of full, {size} MiB'):.1f} % "
               f"({figure(f'energy to be held, selective, {size} MiB'):.0f} of {figure(f'energy to be held, full, {size} MiB'):.0f} mJ)")
        yield (f"most that a cut of fillseq took, {size} MiB", "",
               f"{figure(f'most energy that a cut took, selective of full, {size} MiB'):.1f} % "
               f"({figure(f'most energy that a cut took, selective, {size} MiB'):.0f} of {figure(f'most energy that a cut took, full, {size} MiB'):.0f} mJ)")


def show(measured):
    report.table(["protection", "MiB of buffers", "MiB kept, mean", "mJ, mean", "mJ, most", "mJ to be held"],
                 [[mode, size, p["kept_mib"], p["energy_mj"], p["energy_mj_most"], p["worst_case_mj"]] for (mode, size), p in measured.items()])


def draw(measured):
    sizes = sorted({size for _, size in measured})
    fig, axes = plot.figure(2)
    for ax, field, title in zip(axes, ("worst_case_mj", "energy_mj_most"), ("Energy to be held", "Most that a cut took")):
        plot.bars(ax, [f"{size} MiB" for size in sizes],
                  {mode: [measured[mode, size][field] if (mode, size) in measured else 0 for size in sizes] for mode in MODES}, title, "mJ")
    return fig


def facts(args):
    return {"device": "plp", "trace": "rocksdb-fillseq", "cuts": args.cuts}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
