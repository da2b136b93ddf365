#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Selective power-loss protection: RocksDB's threads beside each other, over where a zone lies and how long the host computes."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, frame, plot, plp, report, runs  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME, TOTAL = "plp-overlap", 64 # MiB of write buffers
MODES = ("none", "selective", "full")
LAYOUTS = {"one chip": "PCWD", "four chips": "CWDP"} # of a zone's four blocks: on planes, or on channels
CHAIN = "one chain"

check, summarize = plp.check, plp.summarize


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_number(p, "--records", 1000, 10 ** 9, 3000, "records of the trace that are replayed, at most")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    args.grid = [(layout, order) for layout in LAYOUTS for order in (CHAIN, 1, 3)]
    return arguments.quickly(args, records=1000, grid=[("four chips", CHAIN), ("four chips", 3)])


def device(layout, mode):
    return runs.merged(plp.device(mode, TOTAL), {"geometry": {"plane_scheme": LAYOUTS[layout]}})


def workload(args, mode, order, seed):
    """order: the recorded commands as one chain, or each thread's own, with its computing so many times as long as recorded."""
    found = plp.workload(NAME, "fillseq-streams", seed, mode, args.records)
    found["trace"] |= {} if order == CHAIN else {"order": "streams", "think_scale": order, "queue_depth": 4}
    return found


def words_of(order):
    return order if order == CHAIN else f"threads, computing x {order}"


def points(args):
    return [Point({"zone": layout, "order": order, "protection": mode}, f"{layout}, {words_of(order)}, {mode}",
                  [(f"{i}-{mode}-{seed}", device(layout, mode), workload(args, mode, order, seed)) for seed in args.seeds])
            for i, (layout, order) in enumerate(args.grid) for mode in MODES]


def figures(args, measured):
    return [report.figure(f"{layout}, {words_of(order)}, {mode}", measured.value((layout, order, mode), "write_mib_s"), "MiB/s")
            for layout, order in args.grid for mode in MODES]


def rows(figure):
    for layout in LAYOUTS:
        for order in (CHAIN, 1, 3):
            none, selective, full = (figure(f"{layout}, {words_of(order)}, {mode}") for mode in MODES)
            yield (f"a zone on {layout}, {words_of(order)}: selective, full against none", "+15 %, about as selective" if order == 3 else "",
                   f"{100 * selective / none - 100:+.1f} %, {100 * full / none - 100:+.1f} % ({selective:.0f}, {full:.0f} against {none:.0f} MiB/s)")


def directions(figure):
    def more(order):
        return figure(f"four chips, {words_of(order)}, full") / figure(f"four chips, {words_of(order)}, selective")
    for order in (CHAIN, 3):
        none, selective = (figure(f"four chips, {words_of(order)}, {mode}") for mode in MODES[:2])
        yield f"protection of the log makes none faster: {words_of(order)}", selective > none
    yield "as one chain full protection is several times as fast as selective", more(CHAIN) > 3
    yield "beside a host that computes it is hardly faster", more(3) < 1.5


def show(measured):
    report.table(["zone on", "order", "protection", "MiB/s written", "MiB programmed", "MiB dropped", "write p99 us"],
                 [[layout, words_of(order), mode, p["write_mib_s"], p["programmed_mib"], p["dropped_mib"], p["write_p99_us"]]
                  for (layout, order, mode), p in measured.items()])


def draw(measured):
    fig, (left,) = plot.figure(1)
    grid = list(dict.fromkeys(key[:2] for key in measured))
    plot.bars(left, [f"{layout}\n{words_of(order)}" for layout, order in grid],
              {mode: [measured[(*key, mode)]["write_mib_s"] if (*key, mode) in measured else 0 for key in grid] for mode in MODES}, "RocksDB, fillseq", "MiB/s")
    for ax in (left,):
        ax.tick_params(axis="x", labelsize=6)
    return fig


def facts(args):
    return {"device": "plp", "trace": "rocksdb-fillseq-streams", "records": args.records}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
