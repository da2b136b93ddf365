#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MCMQ, figure 5: throughput and latency of each flow as FTL threads are added, one namespace; and what owns the loss."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, frame, mcmq, plot, report  # noqa: E402
from common.report import percent_more  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "mcmq-fig5"
WORKERS = [1, 2, 4, 6]
LOCKS = {"one lock": {"locks": {"granularity": {"default": "global"}}}, "many locks": {}, "many superblocks": {}, "free locks": mcmq.FREE}


def superblocks(locks, workers):
    """Many: each worker writes to its own. The collector has one, too."""
    return {"conventional": {"frontiers": workers, "buffers": workers + 1}} if locks == "many superblocks" else {}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--workers", 1, 16, ",".join(map(str, WORKERS)), "FTL threads, and as many flows")
    arguments.add_number(p, "--ops", 200, 10000, 3000, "requests of each flow")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, workers=[args.workers[0], args.workers[-1]], ops=500)


def points(args):
    def one(flash, locks, workers, seed):
        device = mcmq.device(workers, mcmq.FLASH[flash], LOCKS[locks], superblocks(locks, workers))
        return folder_of(flash, locks, workers, seed), device, mcmq.flows(NAME, seed, workers, args.ops)
    return [Point({"flash": flash, "locks": locks, "workers": workers}, f"{flash}, {locks}, {workers}",
                  [one(flash, locks, workers, seed) for seed in args.seeds])
            for flash in mcmq.FLASH for locks in LOCKS for workers in args.workers]


check = mcmq.check
summarize = mcmq.summarize


def figures(args, measured):
    out = []
    for key in [p.key for p in points(args)]:
        at, p, one = ", ".join(map(str, key)), measured.get(key), measured.get((*key[:2], args.workers[0]))
        out += [report.figure(f"throughput of a flow, {at}", p and p["kiops"], "KIOPS"),
                report.figure(f"mean latency, {at}", p and p["mean_us"], "us"),
                report.figure(f"time spinning, {at}", p and 100 * p["spin"], "%"),
                report.figure(f"dies busy, {at}", p and 100 * p["die_busy"], "%")]
        if key[2] == args.workers[-1]:
            out.append(report.figure(f"a flow against one alone, {', '.join(key[:2])}", p and one and percent_more(p["kiops"], one["kiops"]), "%"))
    return out


def rows(figure):
    for flash in mcmq.FLASH:
        for locks in LOCKS:
            def of(what, form, flash=flash, locks=locks):
                return ", ".join(form.format(figure(f"{what}, {flash}, {locks}, {n}")) for n in WORKERS)
            yield (f"{flash}, {locks}, {', '.join(map(str, WORKERS))} FTL threads: a flow's KIOPS; mean latency, us",
                   "falls; rises" if (flash, locks) == ("MCMQ's flash", "many locks") else "",
                   f"{of('throughput of a flow', '{:.1f}')}; {of('mean latency', '{:.0f}')} (spinning {of('time spinning', '{:.0f}')} %, dies busy "
                   f"{of('dies busy', '{:.0f}')} %)")


def directions(figure):
    most, fewest = WORKERS[-1], WORKERS[0]
    for flash in mcmq.FLASH:
        for locks in LOCKS:
            if (flash, locks) == ("unshared flash", "many superblocks"):
                continue
            yield f"a flow's throughput falls: {flash}, {locks}", figure(f"a flow against one alone, {flash}, {locks}") < -20
            yield f"its latency rises: {flash}, {locks}", (figure(f"mean latency, {flash}, {locks}, {most}")
                                                          > 1.2 * figure(f"mean latency, {flash}, {locks}, {fewest}"))
    # Of what a flow has alone with the same locks: where lines cost nothing, data are faster too.
    kept = {locks: 100 + figure(f"a flow against one alone, unshared flash, {locks}") for locks in LOCKS}
    yield "on unshared flash a superblock for each worker keeps most of what a flow has alone", kept["many superblocks"] > 70
    yield "more than free locks do", kept["many superblocks"] > 1.3 * kept["free locks"]
    change = {}
    for flash in mcmq.FLASH:
        many = figure(f"throughput of a flow, {flash}, many locks, {most}")
        change[flash] = {locks: abs(figure(f"throughput of a flow, {flash}, {locks}, {most}") / many - 1) for locks in ("one lock", "free locks")}
    yield "on MCMQ's flash free locks change less than a tenth of what they change on unshared flash", \
        change["MCMQ's flash"]["free locks"] < 0.1 * change["unshared flash"]["free locks"]
    yield "one lock for all, which spins a tenth of the time, changes less than a fifth of what it changes there", \
        change["MCMQ's flash"]["one lock"] < 0.2 * change["unshared flash"]["one lock"]
    yield "its dies are busy", figure(f"dies busy, MCMQ's flash, many locks, {most}") > 85
    yield "flash that is not shared is idle", figure(f"dies busy, unshared flash, free locks, {most}") < 20
    yield "there locks own a part: one lock keeps least, free ones most", kept["one lock"] < 0.85 * kept["many locks"] < 0.95 * 0.85 * kept["free locks"]


def show(measured):
    header, found = mcmq.table(measured)
    report.table(["flash", "locks", "FTL threads", *header], found)


def draw(measured):
    fig, axes = plot.figure(4)
    for column, flash in enumerate(mcmq.FLASH):
        for locks in LOCKS:
            counts = sorted(workers for *of, workers in measured if of == [flash, locks])
            for ax, field in zip(axes[2 * column:], ("kiops", "mean_us")):
                ax.plot(counts, [measured[flash, locks, n][field] for n in counts], marker="o", label=locks)
        axes[2 * column].set(xlabel="FTL threads", ylabel="KIOPS of a flow", title=f"Throughput, {flash}", ylim=(0, None))
        axes[2 * column + 1].set(xlabel="FTL threads", ylabel="us", title=f"Mean latency, {flash}", ylim=(0, None))
    axes[0].legend(frameon=False, fontsize=8)
    return fig


def facts(args):
    return {"device": mcmq.device(args.workers[-1]), "unshared": mcmq.UNSHARED, "ops": args.ops}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
