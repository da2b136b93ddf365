#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which conclusions about locks depend on what is hardware, on the instructions in a cycle, and on the costs of synchronisation?"""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "studies" / "lock-scaling"), str(TOP / "scripts")]
import scaling  # noqa: E402
import schema  # noqa: E402
from common import arguments, costs, frame, plot, report, runs  # noqa: E402
from common.elasticity import Interval  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "hardware-boundary"
# The parity is that of a device with rain.
KEYS = [field["key"] for field in schema.device_fields() if field["section"] == "hardware" and field["key"] != "parity"]
KINDS = ("tas", "ticket", "mcs")
LOCKS = {**{f"one {kind}": (kind, "global") for kind in KINDS}, "fine mcs": ("mcs", "fine")}
PRESETS = ("free", "server", "manycore")  # beside rocket


def clock_at(cycles):
    """Costs of the default preset at so many instructions in a cycle of 1 ns, all else as long as it is."""
    instructions = set(costs.CLASSES["instructions"][1])
    fields = {f"clock.{field['key']}": field["default"] for field in schema.device_fields() if field["section"] == "clock"}
    times = [key for cost in costs.classes() for key in cost.keys if key in fields]
    slower, faster = (2, 1) if cycles == 0.5 else (1, 2)
    changed = {key.split(".")[1]: fields[key] * (slower if key in instructions else faster) for key in times}
    return {**changed, "mhz": fields["clock.mhz"] * faster}


def scenarios():
    """name → changes to the device."""
    return {"as usual": {}, **{f"{key} by firmware": {"hardware": {key: "firmware"}} for key in KEYS}, "all by firmware": {"hardware": dict.fromkeys(KEYS, "firmware")},
            "all but checksums by firmware": {"hardware": dict.fromkeys([key for key in KEYS if key != "checksum"], "firmware")},
            "0.5 instructions a cycle": {"clock": clock_at(0.5)}, "2 instructions a cycle": {"clock": clock_at(2)},
            **{f"costs {name}": {"clock": {"preset": name}} for name in PRESETS}}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    p.set_defaults(seeds=[1, 2, 3])
    arguments.add_number(p, "--workers", 2, 32, 8, "FTL workers, and host threads")
    arguments.add_number(p, "--hil", 1, 16, 4, "harts of the host interface")
    arguments.add_number(p, "--tsu", 1, 32, 8, "TSU harts")
    arguments.add_number(p, "--commands", 10, 100000, 300, "reads of each thread")
    arguments.add_update(p)
    args = arguments.parsed(p, words)
    args.only = ["as usual", "all by firmware"] if args.quick else list(scenarios())
    return arguments.quickly(args, seeds=[1, 2], commands=100)


def device_of(args, changes, kind, granularity):
    device = runs.merged(runs.load_yaml("devices", "lock-scaling"), {
        "harts": {"workers": args.workers, "hils": args.hil, "tsus": args.tsu},
        "locks": {"kind": {"default": kind}, "granularity": {"l2p": None, "default": granularity}, "stats": "all"}})
    device["locks"]["granularity"].pop("l2p")
    return runs.merged(device, changes)


def workload_of(args, seed):
    load = runs.load_yaml("workloads", "lock-scaling")
    for key in ("blocks", "flush_every"):
        load["common"].pop(key)
    return runs.merged(load, {"threads": args.workers, "seed": seed, "common": {
        "read_ratio": 1.0, "block": "4 KiB", "queue_depth": 32, "think": "200ns", "span_bytes": "4 MiB", "total_ops": args.commands}})


def points(args):
    found = scenarios()
    return [Point({"scenario": name, "locks": locks}, f"{name}, {locks}",
                  [(f"{name}-{locks}-{seed}".replace(" ", "-"), device_of(args, found[name], *LOCKS[locks]), workload_of(args, seed)) for seed in args.seeds])
            for name in args.only for locks in LOCKS]


def check(result, folder):
    """The device keeps times only: no data can be verified."""
    if result["violations"] or result["totals"]["errors"]:
        raise runs.StudyError(f"the run in {folder} broke its own rules or had errors")


def spinning(result):
    harts = [h for h in result["harts"] if "worker" in h["role"]]
    return sum(h["spin_ns"] for h in harts) / sum(h["elapsed_ns"] for h in harts)


def summarize(results):
    return {"kiops": mean(map(report.kiops, results)), "kiops_by_seed": [report.kiops(r) for r in results], "harts": len(results[0]["harts"]),
            "busy": scaling.busy(results), "spin": mean(map(spinning, results)), "digests": [r["digest"] for r in results]}


WORDS = {"hil": "host interface", "tsu": "TSU", "worker": "workers"}


def busiest_of(busy):
    """What is busiest, in %. Workers that spin more than they do anything else are at their locks."""
    rest = {name: share for name, share in busy.items() if name != "locks"}
    name = max(rest, key=rest.get)
    return "locks" if busy["locks"] > 50 else WORDS.get(name, name)


def busiest(p):
    return busiest_of({name: 100 * share for name, share in {**p["busy"], "locks": p["spin"]}.items()})


def best(points):
    """The one lock's kinds, best first; = joins what the seeds do not tell apart."""
    return scaling.in_words(scaling.ranking({kind: points[f"one {kind}"] for kind in KINDS}))


def over(points, locks):
    """By how many times these locks are faster than one MCS lock."""
    return Interval([a / b for a, b in zip(points[locks]["kiops_by_seed"], points["one mcs"]["kiops_by_seed"])])


def by_scenario(measured):
    """scenario → locks → point, of those with all of them."""
    found = {}
    for (name, locks), p in measured.items():
        found.setdefault(name, {})[locks] = p
    return {name: points for name, points in found.items() if len(points) == len(LOCKS)}


def figures(_, measured):
    out = []
    for name, found in by_scenario(measured).items():
        out += [report.figure(f"{kind}, one lock, {name}", found[f"one {kind}"]["kiops"], "KIOPS") for kind in KINDS]
        for kind in KINDS[:-1]:
            ratio = over(found, f"one {kind}")
            out += [report.figure(f"{kind} over mcs, {name}", ratio.mean, ""), report.figure(f"half of its interval: {kind} over mcs, {name}", ratio.half, "")]
        gain = over(found, "fine mcs")
        out += [report.figure(f"fine locks over one, {name}", gain.mean, ""), report.figure(f"half of its interval: fine locks over one, {name}", gain.half, "")]
        for locks in ("one mcs", "fine mcs"):
            p = found[locks]
            out += [report.figure(f"{part} busy, {locks}, {name}", 100 * share, "%") for part, share in {**p["busy"], "locks": p["spin"]}.items()]
        out.append(report.figure(f"harts, {name}", found["one mcs"]["harts"], ""))
    return out


def rows(figure):
    def ratio(what, name):
        return f"{figure(f'{what}, {name}'):.2f} ± {figure(f'half of its interval: {what}, {name}'):.2f}"
    for name in scenarios():
        parts = [busiest_of({part: figure(f"{part} busy, {locks}, {name}") for part in (*scaling.ROLES, "link", "locks")}) for locks in ("one mcs", "fine mcs")]
        yield (f"{name}: KIOPS with one MCS lock on {figure(f'harts, {name}'):.0f} harts; TAS, ticket lock over it; fine locks over it; busiest part with one lock, fine ones",
               "", f"{figure(f'mcs, one lock, {name}'):.0f}; {ratio('tas over mcs', name)}, {ratio('ticket over mcs', name)}; "
               f"{ratio('fine locks over one', name)}; {parts[0]}, {parts[1]}")


def directions(figure):
    yield "work of engines that harts do costs throughput with fine locks", (
        figure("mcs, one lock, all by firmware") * figure("fine locks over one, all by firmware")
        < 0.9 * figure("mcs, one lock, as usual") * figure("fine locks over one, as usual"))
    yield "one lock costs throughput where engines do it", figure("fine locks over one, as usual") > 1


HEADER = ["", "all harts", "one mcs lock, KIOPS", "best kind of one lock", "fine locks over one", "busiest part with one lock", "with fine locks"]


def table(measured):
    for name, found in by_scenario(measured).items():
        gain, speed = over(found, "fine mcs"), Interval(found["one mcs"]["kiops_by_seed"])
        yield [name, found["one mcs"]["harts"], f"{speed.mean:.0f} ± {speed.half:.0f}", best(found), f"{gain.mean:.2f} ± {gain.half:.2f}",
               busiest(found["one mcs"]), busiest(found["fine mcs"])]


def show(measured):
    report.table(HEADER, list(table(measured)))


def draw(measured):
    found = by_scenario(measured)
    fig, axes = plot.figure(1)
    plot.bars(axes[0], list(found), {locks: [points[locks]["kiops"] for points in found.values()] for locks in LOCKS}, "Throughput", "KIOPS")
    return fig


def proven(points):
    """Pairs of kinds, the faster one first, that the seeds tell apart."""
    groups = scaling.ranking({kind: points[f"one {kind}"] for kind in KINDS})
    return {(better, worse) for at, group in enumerate(groups) for better in group for later in groups[at + 1:] for worse in later}


def derived(_, measured):
    """Which conclusions of the usual machine are not those of another."""
    found = by_scenario(measured)
    usual, out = found.get("as usual"), []
    for name, points in found.items() if usual else ():
        if proven(usual) - proven(points):
            out.append(f"{name}: the kinds of one lock rank {best(points)}, usually {best(usual)}.")
        for locks, words in (("one mcs", "one lock"), ("fine mcs", "fine locks")):
            if busiest(points[locks]) != busiest(usual[locks]):
                out.append(f"{name}: with {words} the busiest part is {busiest(points[locks])}, usually {busiest(usual[locks])}.")
    return {"conclusions": out or ["No conclusion depends on what was changed."]}


def facts(args):
    return {"device": "lock-scaling", "workers": args.workers, "hils": args.hil, "tsus": args.tsu, "commands": args.commands}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
