#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MCMQ, figure 7: four flows on one namespace, on namespaces that share the flash, and on namespaces with channels of their own."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, frame, mcmq, plot, report  # noqa: E402
from common.report import percent_more  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "mcmq-fig7"
FLOWS = 4
SHARED, QUARTERS, WHOLE, APART = "shared namespace", "shared storage", "shared storage, each as large", "no sharing"
CASES = (SHARED, QUARTERS, WHOLE, APART)
CACHES = [4, 16]  # MiB of the whole device, for 64 MiB in use
# The quick form.
FORM = [(flash, case) for flash in mcmq.FLASH for case in CASES if not mcmq.FLASH[flash] or case in (SHARED, QUARTERS)]
# Superblocks of the whole device, divisible among four namespaces, and its write buffers.
SLC, DATA, SPARES, BAD, BUFFERS = 32, mcmq.DATA, 16, 4, 4


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--caches", 1, 64, ",".join(map(str, CACHES)), "MiB of data cache, in all")
    arguments.add_number(p, "--ops", 200, 10000, 4000, "requests of each flow")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    return arguments.quickly(args, caches=[args.caches[-1]], ops=3000)


def shape(case):
    """Sections of the device's file with the size of each namespace. Over all planes a quarter of
    the superblocks; over a quarter of the planes as many, of a quarter of the size."""
    parts = {SHARED: 1, APART: 1}.get(case, FLOWS)
    spaces = {SHARED: {}, APART: {"namespaces": {"channels": [f"{2 * i}-{2 * i + 1}" for i in range(FLOWS)]}}}
    return spaces.get(case, {"namespaces": {"count": FLOWS}}) | {
        "geometry": {"slc_blocks_per_plane": SLC, "blocks_per_plane": SLC + DATA + SPARES + BAD},
        "zones": {"count": DATA // parts, "spare_superblocks": BAD // parts},
        "conventional": {"spare_superblocks": SPARES // parts, "buffers": BUFFERS // parts}}


def device(case, flash, cache_mib):
    each = cache_mib * 1024 // (1 if case == SHARED else FLOWS)
    return mcmq.device(FLOWS, shape(case), {"data_cache": {"bytes": f"{each} KiB"}}, mcmq.FLASH[flash])


def workload(case, seed, ops):
    """Each flow has a namespace, or a quarter of the single one."""
    out = mcmq.flows(NAME, seed, FLOWS, ops)
    if case != SHARED:
        out["namespaces"] = list(range(1, FLOWS + 1))
    if case == WHOLE:
        out["common"]["span_bytes"] = f"{mcmq.SPACE_MIB} MiB"
    return out


def points(args):
    def one(case, flash, cache, seed):
        return folder_of(flash, cache, case, seed), device(case, flash, cache), workload(case, seed, args.ops)
    return [Point({"flash": flash, "cache_mib": cache, "case": case}, f"{flash}, {cache} MiB, {case}",
                  [one(case, flash, cache, seed) for seed in args.seeds]) for flash in mcmq.FLASH for cache in args.caches for case in CASES
            if not args.quick or (flash, case) in FORM]


check = mcmq.check
summarize = mcmq.summarize


def figures(args, measured):
    out = []
    for flash, cache, case in [p.key for p in points(args)]:
        at, p, base = f"{flash}, {cache} MiB, {case}", measured.get((flash, cache, case)), measured.get((flash, cache, SHARED))
        out += [report.figure(f"throughput of a flow, {at}", p and p["kiops"], "KIOPS"),
                report.figure(f"against a shared namespace, {at}", p and base and percent_more(p["kiops"], base["kiops"]), "%"),
                report.figure(f"hits of the cache, {at}", p and 100 * p["cache_hits"], "%"),
                report.figure(f"lines written back for a request, {at}", p and p["write_backs"] / (FLOWS * args.ops), ""),
                report.figure(f"time spinning, {at}", p and 100 * p["spin"], "%"),
                report.figure(f"dies busy, {at}", p and 100 * p["die_busy"], "%")]
    return out


def rows(figure):
    for flash in mcmq.FLASH:
        for cache in CACHES:
            def of(what, form, flash=flash, cache=cache):
                return ", ".join(form.format(figure(f"{what}, {flash}, {cache} MiB, {case}")) for case in CASES)
            yield (f"{flash}, cache of {cache} MiB: {'; '.join(CASES)}: a flow's KIOPS", "second is less, last is significantly more",
                   f"{of('throughput of a flow', '{:.1f}')} (hits {of('hits of the cache', '{:.0f}')} %, lines written back for a request "
                   f"{of('lines written back for a request', '{:.2f}')}, spinning {of('time spinning', '{:.0f}')} %, dies busy "
                   f"{of('dies busy', '{:.0f}')} %)")


def directions(figure):
    cache = f"{CACHES[-1]} MiB"

    def of(what, flash, case):
        return figure(f"{what}, {flash}, {cache}, {case}")
    own, fast = mcmq.FLASH
    yield "a quarter of the cache for as large a namespace hits less", (of("hits of the cache", own, WHOLE)
                                                                        < 0.5 * of("hits of the cache", own, SHARED))
    yield "… writes back more", (of("lines written back for a request", own, WHOLE)
                                 > 1.1 * of("lines written back for a request", own, SHARED))
    yield "… and is slower, as in the paper", of("against a shared namespace", own, WHOLE) < -5
    yield "no sharing is faster than that, as in the paper", of("throughput of a flow", own, APART) > 1.08 * of("throughput of a flow", own, WHOLE)
    yield "… but not than a shared namespace, unlike the paper", abs(of("against a shared namespace", own, APART)) < 8
    yield "the dies are busy in both", min(of("dies busy", own, case) for case in (SHARED, APART)) > 85
    yield "where flash is not shared, own namespaces are what counts", of("against a shared namespace", fast, QUARTERS) > 30
    yield "since none waits for another's locks", of("time spinning", fast, SHARED) > 10 > 100 * of("time spinning", fast, QUARTERS)


def show(measured):
    header, found = mcmq.table(measured)
    report.table(["flash", "cache MiB", "namespaces", *header], found)


def draw(measured):
    fig, axes = plot.figure(len(mcmq.FLASH), height=4.0)
    caches = sorted({cache for _, cache, _ in measured})
    for ax, flash in zip(axes, mcmq.FLASH):
        plot.bars(ax, [f"{cache} MiB of cache" for cache in caches],
                  {case: [measured.value((flash, cache, case), "kiops") for cache in caches] for case in CASES}, flash, "KIOPS of a flow")
        ax.margins(y=0.4) # the legend's
    return fig


def facts(args):
    return {"devices": {case: device(case, "MCMQ's flash", args.caches[-1]) for case in CASES}, "ops": args.ops, "unshared": mcmq.UNSHARED}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
