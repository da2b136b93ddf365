"""Shared by plp-fig10 and plp-fig11: a load of RocksDB over sizes of the write buffers, under every
kind of protection."""
# SPDX-License-Identifier: BSD-3-Clause
from common import arguments, plot, plp, report
from common.sweep import Point
from common.verdict import VERDICTS, near

SIZES = "64,128,256,512"


def options(name, text, words):
    p = arguments.study_parser(name, text, "--quick")
    arguments.add_numbers(p, "--sizes", 64, 512, SIZES, "MiB of write buffers in all")
    plp.add_records(p)
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, records=plp.QUICK_RECORDS, sizes=args.sizes[:1])


def points(name, load, args):
    def run(mode, size, seed):
        folder = f"{mode.replace(', ', '-').lower()}-{size}-{seed}"
        return folder, plp.device(mode, size), plp.workload(name, load, seed, mode, args.records)
    return [Point({"protection": mode, "total_mib": size}, f"{mode}, {size} MiB", [run(mode, size, seed) for seed in args.seeds])
            for size in args.sizes for mode in plp.MODES]


def figures(args, measured, paper):
    """paper: mode → % more than none, of an average over the sizes."""
    out = [report.figure(f"writes, {mode}, {size} MiB", measured.value((mode, size), "write_mib_s"), "MiB/s")
           for size in args.sizes for mode in plp.MODES]
    for mode in list(plp.MODES)[1:]:
        each = [plp.more_than_none(measured, (mode, size)) for size in args.sizes]
        known = [value for value in each if value is not None]
        out.append(report.figure(f"{mode} against none, mean over sizes", report.mean(known) if known else None, "%", paper.get(mode)))
    return out


def rows(figure, load, paper):
    """paper: mode → in words"""
    for mode in list(plp.MODES)[1:]:
        ends = ", ".join(f"{figure(f'writes, {mode}, {size} MiB'):.0f} against {figure(f'writes, none, {size} MiB'):.0f} MiB/s with {size} MiB"
                         for size in (64, 512))
        found = figure(f"{mode} against none, mean over sizes")
        row = f"{load}, {mode} against none, mean over 64 to 512 MiB", paper.get(mode, ""), f"{found:+.1f} % ({ends})"
        as_selective = near(100 + found, 100 + figure("selective against none, mean over sizes"))
        yield (*row, VERDICTS[0 if as_selective else -1]) if mode == "full" else row # which the paper holds against selective


def directions(figure):
    """For any form: with 64 MiB of buffers."""
    none, fua, selective, full = (figure(f"writes, {mode}, 64 MiB") for mode in plp.MODES)
    yield "protection of the log makes none faster", selective > none
    yield "full protection costs no less than selective", full >= selective
    yield "the same promise by FUA is the slowest", fua < 0.8 * none


def show(measured):
    report.table(["protection", "MiB of buffers", "MiB/s written", "% of time in Flush", "MiB programmed", "MiB dropped", "write p99 us"],
                 [[mode, size, p["write_mib_s"], 100 * p["flush_part"], p["programmed_mib"], p["dropped_mib"], p["write_p99_us"]]
                  for (mode, size), p in measured.items()])


def draw(measured, title):
    sizes = sorted({size for _, size in measured})
    fig, (left,) = plot.figure(1)
    plot.bars(left, [f"{size} MiB" for size in sizes],
              {mode: [measured[mode, size]["write_mib_s"] if (mode, size) in measured else 0 for size in sizes] for mode in plp.MODES}, title, "MiB/s")
    return fig
