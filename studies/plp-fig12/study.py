#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Selective power-loss protection, figure 12: RocksDB's fillseq over the size of the protected buffer."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, frame, plot, plp, report  # noqa: E402
from common.report import percent_more  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "plp-fig12"
VOLATILE = 32 # MiB besides the protected ones

check, summarize = plp.check, plp.summarize


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--sizes", 1, 480, "8,16,32,64,128", "MiB of write buffers that outlast a loss of power, beside 32 that do not")
    plp.add_records(p)
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, records=plp.QUICK_RECORDS, sizes=args.sizes[:4:3])


def points(args):
    def run(size, seed):
        return f"selective-{size}-{seed}", plp.device("selective", size + VOLATILE, size), plp.workload(NAME, "fillseq", seed, "selective", args.records)
    return [Point({"protected_mib": size}, f"{size} MiB protected", [run(size, seed) for seed in args.seeds]) for size in args.sizes]


def figures(args, measured):
    first = args.sizes[0]
    out = [report.figure(f"writes, {size} MiB protected", measured.value(size, "write_mib_s"), "MiB/s") for size in args.sizes]
    out += [report.figure(f"{size} MiB protected against {before}",
                          percent_more(measured.value(size, "write_mib_s"), measured.value(before, "write_mib_s")), "%")
            for before, size in zip(args.sizes, args.sizes[1:])]
    return out + [report.figure(f"log programmed, {first} MiB protected", measured.value(first, "programmed_mib"), "MiB")]


def directions(figure):
    yield "a buffer that holds the log helps", figure("writes, 64 MiB protected") > 1.02 * figure("writes, 8 MiB protected")


def rows(figure):
    for before, size, paper in ((8, 16, "more"), (16, 32, "more"), (32, 64, "no more"), (64, 128, "no more")):
        yield (f"fillseq, {size} MiB of protected buffer against {before}", paper,
               f"{figure(f'{size} MiB protected against {before}'):+.1f} % ({figure(f'writes, {size} MiB protected'):.0f} MiB/s)")


def show(measured):
    report.table(["MiB protected", "MiB/s written", "% of time in Flush", "MiB programmed", "MiB dropped", "write p99 us"],
                 [[size, p["write_mib_s"], 100 * p["flush_part"], p["programmed_mib"], p["dropped_mib"], p["write_p99_us"]]
                  for size, p in measured.items()])


def draw(measured):
    fig, (left,) = plot.figure(1)
    plot.bars(left, [f"{size} MiB" for size in measured], {"selective": [p["write_mib_s"] for p in measured.values()]},
              "RocksDB, fillseq, by the protected part of the buffers", "MiB/s")
    return fig


def facts(args):
    return {"device": "plp", "trace": "rocksdb-fillseq", "records": args.records, "volatile_mib": VOLATILE}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
