#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ConZone, figure 6 (b): what it costs when two writers' zones share one write buffer."""
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1])]
import published  # noqa: E402
from common import arguments, conzone, frame, plot, report  # noqa: E402
from common.report import mean, percent_more  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "conzone-fig6b"
PAPER_BANDWIDTH, PAPER_WAF = 65, -24
# Second thread's zone: with two buffers bound by zone number modulo 2, zone 1 has the other buffer, zone 2 shares it with zone 0.
PLACES = {"apart": 1, "shared": 2}
# … and how the one buffer changes hands there (docs/reference/config.md, buffers): the device's way first.
POLL = "1us" # of a dispatcher that goes round two queues: assumed
HANDOVERS = {"kept": {"handover": "kept"}, "fair": {"handover": "fair"}, "polled": {"handover": "polled", "poll": POLL}}
RELEASES = {"programmed": {}, "transferred": {}, "whole": {"flush": "superpage"}} # the last one: written out when it is full, as published
WAYS = {f"{release}, {name}": {"release": release, **flush, **handover} for release, flush in RELEASES.items() for name, handover in HANDOVERS.items()}
OTHERS = list(WAYS)[1:]
WHOLE_APART = "whole, apart" # what the ways of `whole` are compared with: who has a buffer of his own waits for its write-out, too
# A control: the client takes the time that a write takes in the published code, too.
CONTROLS = SLOWER_APART, SLOWER = "whole, apart, slower writes", "whole, kept, slower writes"
SLOWER_US = int(conzone.TURNAROUND.removesuffix("us")) + round(published.WRITE_US)
# The order of requests depends on the phase of two polls.
UNCERTAIN = {f"{what}, {way}": 12 for way in WAYS if "polled" in way
             for what in ("bandwidth, shared buffer", "bandwidth, apart against shared", "WAF, apart against shared")}
# Models of the published code (published.py): name → whether a zone keeps filling a buffer while it
# is written out for another, and how long a write takes in the code. The last one is a control.
MODELS = {"published code": (True, published.WRITE_US), "published code, later": (False, published.WRITE_US),
          "published code, writes in no time": (True, 0.0)}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--pauses 0,500 --quick")
    arguments.add_numbers(p, "--pauses", 0, 1000000, "0",
                          "mean pauses of the clients before each write, in us, exponentially distributed; 0 is the paper's test")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    args.mib = 12
    return arguments.quickly(args, pauses=args.pauses[:2], mib=3)


def workload_of(args, place, pause, seed):
    common = {"read_ratio": 0.0, "block": "48 KiB", "zones": 1, "reset_when_full": False, "total_bytes": f"{args.mib} MiB"}
    if pause:
        common |= {"think": f"{pause}us", "think_distribution": "exponential"}
    return conzone.workload(NAME, seed, threads=2, common=common, each=[{"first_zone": 0}, {"first_zone": PLACES[place]}])


def points(args):
    return [Point({"zones": place, "pause_us": pause}, f"{place}, pauses of {pause} us",
                  [(f"{place}-{pause}-{seed}", conzone.device(), workload_of(args, place, pause, seed)) for seed in args.seeds])
            for pause in args.pauses for place in PLACES] + [
        Point({"zones": name, "pause_us": 0}, f"{place}, {way}",
              [(f"{name.replace(', ', '-')}-{seed}", conzone.device({"buffers": WAYS[way]}), workload_of(args, place, 0, seed))
               for seed in args.seeds]) for name, way, place in [(WHOLE_APART, "whole, kept", "apart"), *((way, way, "shared") for way in OTHERS)]] + [
        Point({"zones": name, "pause_us": 0}, f"{place}, {name}",
              [(folder_of(name, seed), conzone.device({"buffers": WAYS["whole, kept"]}),
                workload_of(args, place, 0, seed) | {"turnaround": f"{SLOWER_US}us"}) for seed in args.seeds])
        for name, place in zip(CONTROLS, PLACES)]


check = conzone.check


def settled_waf(result):
    """Both zones are full in the end: every byte is programmed in its place once, also those that the buffers still hold at the last
    completion. Table pages do not count: ConZone does not write its map."""
    host = result["ftl"]["host_write_bytes"]
    return 1 + sum(row["program_bytes"] for cause, row in result["nand"]["by_cause"].items() if cause not in ("host", "map")) / host


def summarize(results):
    return {
        "mib_s": mean(r["totals"]["write"]["mib_s"] for r in results),
        "waf": mean(settled_waf(r) for r in results),
        "conflicts": mean(r["ftl"]["buffer_flushes"]["conflict"] for r in results),
        "programmed_mib": conzone.flash_mib(results[0]),
        "fold_read_mib": conzone.flash_mib(results[0], "read_bytes").get("fold", 0.0),
        "slc_gc_runs": mean(r["ftl"]["slc_gc_runs"] for r in results),
        "write_mean_us": mean(r["totals"]["write"]["latency_ns"]["mean"] / 1e3 for r in results),
        **conzone.common_figures(results),
    }


def effect(measured, pause, shared="shared", apart="apart"):
    """In %: bandwidth apart against shared, and WAF apart against shared, as the paper states them."""
    return [percent_more(*(measured.value(key, field) for key in ((apart, pause), (shared, pause)))) for field in ("mib_s", "waf")]


def modelled(goes_on, write_us):
    """In %, as effect(): of two whole zones, independent of the options."""
    turnaround = int(conzone.TURNAROUND.removesuffix("us"))
    apart, shared = (published.two_writers((0, second), 12, turnaround, goes_on, write_us) for second in PLACES.values())
    return [percent_more(a, b) for a, b in zip(apart, shared)]


def figures(args, measured):
    out = []
    for pause in args.pauses:
        at = f", pauses of {pause} us" if pause else ""
        bandwidth, waf = effect(measured, pause)
        for field, name, unit in (("mib_s", "bandwidth", "MiB/s"), ("waf", "WAF", "x")):
            out += [report.figure(f"{name}, buffers apart{at}", measured.value(("apart", pause), field), unit),
                    report.figure(f"{name}, shared buffer{at}", measured.value(("shared", pause), field), unit)]
        out += [report.figure(f"bandwidth, apart against shared{at}", bandwidth, "%", None if pause else PAPER_BANDWIDTH),
                report.figure(f"WAF, apart against shared{at}", waf, "%", None if pause else PAPER_WAF)]
    for way in OTHERS:
        bandwidth, waf = effect(measured, 0, way, WHOLE_APART if way.startswith("whole") else "apart")
        out += [report.figure(f"bandwidth, shared buffer, {way}", measured.value((way, 0), "mib_s"), "MiB/s"),
                report.figure(f"bandwidth, apart against shared, {way}", bandwidth, "%", PAPER_BANDWIDTH),
                report.figure(f"WAF, apart against shared, {way}", waf, "%", PAPER_WAF)]
    out.append(report.figure(f"bandwidth, {WHOLE_APART}", measured.value((WHOLE_APART, 0), "mib_s"), "MiB/s"))
    out.append(report.figure(f"bandwidth, apart against shared, {SLOWER}", effect(measured, 0, SLOWER, SLOWER_APART)[0], "%"))
    for name, rules in MODELS.items():
        bandwidth, waf = modelled(*rules)
        out += [report.figure(f"bandwidth, apart against shared, model of the {name}", bandwidth, "%", PAPER_BANDWIDTH),
                report.figure(f"WAF, apart against shared, model of the {name}", waf, "%", PAPER_WAF)]
    return out


def rows(figure):
    yield ("two writers, bandwidth: buffers apart against shared", f"{PAPER_BANDWIDTH:+} %",
           f"{figure('bandwidth, apart against shared'):+.0f} % ({figure('bandwidth, buffers apart'):.1f} against "
           f"{figure('bandwidth, shared buffer'):.1f} MiB/s)")
    yield ("two writers, write amplification: buffers apart against shared", f"{PAPER_WAF:+} %",
           f"{figure('WAF, apart against shared'):+.1f} % ({figure('WAF, buffers apart'):.2f} against {figure('WAF, shared buffer'):.2f})")
    for way in OTHERS:
        yield (f"the same with a buffer that changes hands otherwise: {way}", f"{PAPER_BANDWIDTH:+} %, {PAPER_WAF:+} %",
               f"{figure(f'bandwidth, apart against shared, {way}'):+.0f} %, {figure(f'WAF, apart against shared, {way}'):+.1f} % "
               f"({figure(f'bandwidth, shared buffer, {way}'):.1f} MiB/s)")
    yield (f"control, {SLOWER} ({SLOWER_US} us of the client): bandwidth", "", f"{figure(f'bandwidth, apart against shared, {SLOWER}'):+.0f} %")
    for name, what in zip(MODELS, ("the paper's revision", "later revisions", "control: the paper's revision, writes in no time")):
        yield (f"a model of the published code, {what}", "" if "control" in what else f"{PAPER_BANDWIDTH:+} %, {PAPER_WAF:+} %",
               f"{figure(f'bandwidth, apart against shared, model of the {name}'):+.0f} %, "
               f"{figure(f'WAF, apart against shared, model of the {name}'):+.1f} %")


def directions(figure):
    code, no_time = (figure(f"bandwidth, apart against shared, model of the published code{what}") for what in ("", ", writes in no time"))
    yield "in the model the time of a write makes a part of the loss", 0 < no_time < code - 10
    slower, usual = (figure(f"bandwidth, apart against shared, {way}") for way in (SLOWER, "whole, kept"))
    yield "and on our firmware, too", slower > usual + 5


def show(measured):
    report.table(["clients' pause", "zones", "MiB/s", "write us", "WAF", "conflicts", "programmed MiB", "fold reads MiB", "dies busy %"],
                 [[f"{pause} us", place, p["mib_s"], p["write_mean_us"], p["waf"], float(p["conflicts"]),
                   " ".join(f"{c} {v:.1f}" for c, v in p["programmed_mib"].items()), p["fold_read_mib"], 100 * p["die_busy"]]
                  for (place, pause), p in measured.items()])


def draw(measured):
    pauses = sorted({pause for place, pause in measured if place in PLACES})
    fig, axes = plot.figure(3 if len(pauses) > 1 else 2)
    groups = [f"{pause} us" for pause in pauses]
    for ax, field, title, unit in zip(axes, ("mib_s", "waf"), ("Write bandwidth", "Write amplification"), ("MiB/s", "x")):
        plot.bars(ax, groups, {place: [measured.value((place, pause), field) for pause in pauses] for place in PLACES}, title, unit)
        ax.set(xlabel="mean pause of a client")
    if len(pauses) > 1:
        for label, which in (("bandwidth", 0), ("WAF", 1)):
            axes[2].plot(pauses, plot.numbers(effect(measured, pause)[which] for pause in pauses), marker="o", label=label)
        axes[2].set(xlabel="mean pause of a client, us", ylabel="apart against shared, %", title="Fewer collisions", xscale="symlog",
                    yscale="symlog")
        axes[2].legend(frameon=False)
    return fig


def facts(_):
    return {"device": "conzone-paper", "turnaround": conzone.TURNAROUND}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
