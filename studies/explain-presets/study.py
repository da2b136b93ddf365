#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What limits ten devices, by experiment, and whether the elasticities of each one add up: a record of explain."""
import argparse
import itertools
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "scripts")]
from common import arguments, elasticity, experiment, frame, report, runs  # noqa: E402
from common.elasticity import LAW, NAMES  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "explain-presets"
# DEVICE/WORKLOAD → commands of each thread, of a trace in all: enough for a judged sum
PAIRS = {"default/default": 20000, "small/small": 400, "lock-scaling/lock-scaling": 2500, "conzone-paper/small-blocks": 4000, "mcmq/small": 2500,
         "zms/append": 2000, "zufs/append": 4000, "plp/mixed": 200, "legacy/small-blocks": 2500, "cufs/small": 3000}
QUICK = "small/small"
QUICK_COMMANDS = 100
KINDS = ("sum", "change at once") # of the elasticities over all groups; of every cost together
ENDS = {"": "mean", ", least": "low", ", most": "high"} # of an interval


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    p.set_defaults(seeds=[1, 2, 3, 4, 5])
    arguments.add_names(p, "--points", tuple(PAIRS), ",".join(PAIRS), "what is explained: DEVICE/WORKLOAD, both as configs has them")
    arguments.add_update(p)
    return arguments.quickly(arguments.parsed(p, words), points=[QUICK], seeds=[1, 2, 3])


def files(args, pair):
    """Device and workload, with as many commands as this form has."""
    device, workload = (runs.load_yaml(folder, name) for folder, name in zip(("devices", "workloads"), pair.split("/")))
    commands = QUICK_COMMANDS if args.quick else PAIRS[pair]
    if "trace" in workload:
        return device, runs.merged(workload, {"trace": {"max_ops": commands}})
    workload = runs.merged(workload, {"common": {"total_ops": commands}})
    workload["common"].pop("total_bytes", None)
    return device, workload


def point(args, pair):
    if len(set(args.seeds)) < 2:
        raise runs.StudyError("--seeds: an interval takes two seeds or more, each another one")
    device, workload = files(args, pair)
    return Point({"point": pair}, pair, [(f"{pair.replace('/', '-')}-{seed}", device, runs.seeded(workload, seed)) for seed in args.seeds])


def points(args):
    return [point(args, pair) for pair in args.points]


check = experiment.check


def summarize(results):
    seeds = [experiment.measured(result) for result in results]
    return {"kiops": mean(seed["throughput"] / 1e3 for seed in seeds), "mean_us": mean(seed["mean"] / 1e3 for seed in seeds),
            "p99_us": mean(seed["p99"] / 1e3 for seed in seeds), "p99_of": seeds[0]["kind"], "commands": seeds[0]["commands"],
            "digests": [result["digest"] for result in results]}


def follow(args, sweep):
    """The experiment about each point that could be run as it is. That a sum is wrong is an answer, which the record keeps."""
    args.found_limits, code = {}, 0
    for pair in [one.key for one in sweep.all if one.key in sweep.points]:
        if sweep.interrupted:
            break
        below = f"explain-{pair.replace('/', '-')}"
        asked = argparse.Namespace(out=args.out / below, seeds=args.seeds, change=10, costs="groups", resume=args.resume)
        one = experiment.Experiment(asked, pair, *files(args, pair), parts=False)
        one.run()
        code = max(code, *(part.end() for part in one.sweeps))
        for part in one.sweeps:
            sweep.also(part, f"{below}/")
        if one.complete():
            args.found_limits[pair] = one
    return code


def said(one):
    """The limit and what half of it is worth, or why none is named."""
    found = one.column("throughput")
    if one.broken():
        return "WRONG: " + "; ".join(one.broken())
    if not one.names:
        return f"no limit is proven: {elasticity.obstacles(found)[0][0]}"
    half = f"; half of {'it' if len(one.names) == 1 else one.names[0]}: {100 * one.worth.mean:+.0f} % ({100 * one.worth.low:+.0f} to {100 * one.worth.high:+.0f})" \
        if one.worth else ""
    named = " or ".join(f"{name} {elasticity.words(found[name])}" for name in one.names)
    return f"limit: {named}{half}"


def figures(args, measured):
    out = []
    for pair in args.points:
        one = getattr(args, "found_limits", {}).get(pair) if pair in measured else None
        for kind, intervals in zip(KINDS, (one.sums(), one.control()) if one else [dict.fromkeys(LAW)] * 2):
            out += [report.figure(f"{pair}, {kind} of {NAMES[what]}{which}", getattr(interval, end) if interval else None, "")
                    for what, interval in intervals.items() for which, end in ENDS.items()]
        out.append(report.figure(f"{pair}, time with every cost doubled", one.twice if one else None, ""))
        out.append(report.figure(f"{pair}, answer", said(one) if one else None, ""))
    return out


def recorded(figure):
    """The points whose figures there are, as far as they are known here."""
    return [pair for pair in PAIRS if report.has(figure, f"{pair}, answer")]


def directions(figure):
    for pair in recorded(figure):
        if report.has(figure, f"{pair}, time with every cost doubled"):
            yield f"{pair}: with every cost doubled all times are doubled", experiment.exact(figure(f"{pair}, time with every cost doubled"))
    for pair, kind, (what, law) in itertools.product(recorded(figure), KINDS, LAW.items()):
        low, high = (figure(f"{pair}, {kind} of {NAMES[what]}{end}") for end in (", least", ", most"))
        yield f"{pair}: the {kind} of {NAMES[what]} holds its law", low - elasticity.NEAR <= law <= high + elasticity.NEAR


def rows(figure):
    for pair in recorded(figure):
        for kind in KINDS:
            intervals = ["{:+.2f} ({:+.2f} to {:+.2f})".format(*(figure(f"{pair}, {kind} of {NAMES[what]}{end}") for end in ENDS)) for what in LAW]
            yield f"`{pair}`: {kind} of {', '.join(NAMES[what] for what in LAW)}", "", ", ".join(intervals)
        if report.has(figure, f"{pair}, time with every cost doubled"):
            yield f"`{pair}`: time with every cost doubled", "", f"{figure(f'{pair}, time with every cost doubled'):.6f} times as long"
        yield f"`{pair}`: the answer", "", figure(f"{pair}, answer")


def show(measured):
    report.table(["point", "KIOPS", "mean us", "p99 us", "of", "commands"],
                 [[pair, p["kiops"], p["mean_us"], p["p99_us"], f"{p['p99_of']}s", p["commands"]] for pair, p in measured.items()])


def show_followed(args):
    found = args.found_limits
    print()
    report.table(["point", *(f"sum of {NAMES[what]}" for what in LAW)],
                 [[pair, *(elasticity.words(interval) for interval in one.sums().values())] for pair, one in found.items()])
    print()
    for pair, one in found.items():
        print(f"{pair}: {said(one)}")


def facts(args):
    return {"costs": "groups", "change": 0.1}


def derived(args, measured):
    return {"explained": [one.facts() for one in args.found_limits.values()]}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
