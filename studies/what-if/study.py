#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What would other locks do? Predicted from one recorded run, then run."""
import gc
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "studies" / "what-if"), str(TOP / "scripts")]
import rules  # noqa: E402
import schema  # noqa: E402
import what  # noqa: E402
from common import arguments, frame, plot, report, runs  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point  # noqa: E402
from recording import Recording  # noqa: E402
from replay import Replay  # noqa: E402

NAME = "what-if"
BASE = "as recorded"
DEFAULT_COSTS = {f["key"]: f["default"] for f in schema.device_fields() if f.get("section") == "clock" and f.get("key") in what.SCALED}

def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick --what class,mcs+class")
    arguments.add_number(p, "--workers", 1, 60, 8, "FTL workers; as many host threads")
    arguments.add_number(p, "--hil", 1, 16, 4, "harts of the host interface")
    p.add_argument("--lock", choices=list(rules.KINDS), metavar="|".join(rules.KINDS), default="ttas",
                   help="kind of the locks of the recorded run, of which each thing has its own")
    p.add_argument("--what", type=lambda text: [what.parsed(word) for word in text.split(",")], default="mcs,shards4,class,mcs+class,2x,hold50",
                   metavar="WHAT,...", help="what else to predict and to run: a kind of lock, shardsN, class or global (how many there are), half, 2x or "
                   "ideal (what synchronisation costs), holdN (sections take N %% of their time), or several with a plus")
    arguments.add_number(p, "--ops", 50, 100000, 1000, "commands of each thread")
    arguments.add_config(p, "--workload", "workloads", "small-blocks", "what each host thread does")
    arguments.add_config(p, "--device", "devices", "lock-scaling", "what it runs on")
    args = arguments.parsed(p, words)
    return arguments.quickly(args, workers=4, what=args.what[:2], ops=150)


def device_of(args):
    return runs.merged(runs.load_yaml("devices", args.device), {
        "harts": {"workers": args.workers, "hils": args.hil},
        "locks": {"kind": {"default": args.lock}, "stats": "all"}})


def fine(device):
    """Each thing has its own lock, whatever the device's file says."""
    device["locks"]["granularity"] = {"default": "fine"}
    return device


def workload_of(args, seed):
    return runs.merged(runs.load_yaml("workloads", args.workload), {"threads": args.workers, "seed": seed, "common": {"total_ops": args.ops}})


def file_of(args, run, seed):
    return args.out.resolve() / f"{run}-{seed}" / "locks.rec"


def recorded(args, run, device, options=()):
    """One run for each seed."""
    return [(f"{run}-{seed}", device, workload_of(args, seed), "--vclock", ",".join((*options, f"recording={file_of(args, run, seed)}")))
            for seed in args.seeds]


def points(args):
    device = fine(device_of(args))
    return [Point({"what": BASE}, BASE, recorded(args, "recorded", device)),
            *(Point({"what": one.name}, one.name, recorded(args, one.name, one.device(device, DEFAULT_COSTS), one.options())) for one in args.what)]


def check(*_):
    """The device keeps times only: there is nothing to verify."""


def kiops(result):
    return (result["totals"]["read"]["ops"] + result["totals"]["write"]["ops"]) / result["elapsed_ns"] * 1e6


def summarize(results):
    spin = [sum(h["spin_ns"] for h in r["harts"] if "worker" in h["role"]) / sum(h["elapsed_ns"] for h in r["harts"] if "worker" in h["role"])
            for r in results]
    return {"kiops": mean(map(kiops, results)), "kiops_by_seed": list(map(kiops, results)), "spin": mean(spin),
            "parameters": results[0]["vclock"]["parameters"], "digests": [r["digest"] for r in results]}


def recording_of(args, run, seed, parameters):
    return Recording(file_of(args, run, seed), parameters["local"], parameters["remote"])


def replay_error(args, run, kind, parameters):
    """By how much the replay of a run's own recording differs from its time."""
    recordings = [recording_of(args, run, seed, parameters) for seed in args.seeds]
    return mean(Replay(recording, parameters, kind).run() / recording.cycles - 1 for recording in recordings)


def predicted(args, measured):
    """what → KIOPS by seed, and of the recorded run by how much its replay's time differs from its own."""
    out, base = {one.name: [] for one in args.what}, measured[BASE]
    errors = []
    unknown = rules.unknown(base["parameters"])
    if unknown:
        raise runs.StudyError(f"{args.device}: {unknown}")
    for seed, speed in zip(args.seeds, base["kiops_by_seed"]):
        recording = recording_of(args, "recorded", seed, base["parameters"])
        control = Replay(recording, base["parameters"], args.lock).run()
        errors.append(control / recording.cycles - 1)
        for one in args.what:
            rules_of = (recording, one.parameters(base["parameters"]), one.kind or args.lock, one.mapped(schema.lock_classes()), one.hold / 100)
            first = Replay(*rules_of).run()
            out[one.name].append(speed * control / Replay(*rules_of, kept=control / first).run())
    return out, errors


def predict(args, measured):
    """Puts the predictions beside what was measured."""
    if BASE not in measured or "replay_error" in measured[BASE]:
        return
    found, errors = predicted(args, measured)
    measured[BASE]["replay_error"] = mean(errors)
    for one in args.what:
        p, speeds = measured.get(one.name), found[one.name]
        if p:
            p.update(predicted=mean(speeds), error=mean(s / m - 1 for s, m in zip(speeds, p["kiops_by_seed"])),
                     replay_error=replay_error(args, one.name, one.kind or args.lock, p["parameters"]))


def figures(args, measured):
    predict(args, measured)
    out = []
    for name, p in measured.items():
        out.append(report.figure(f"throughput, {name}", p["kiops"], "KIOPS"))
        if "predicted" in p:
            out += [report.figure(f"predicted, {name}", p["predicted"], "KIOPS"), report.figure(f"error, {name}", 100 * p["error"], "%"),
                    report.figure(f"replay of its own recording, {name}", 100 * p["replay_error"], "%")]
    return out


def show(measured):
    def percent(p, what):
        return 100 * p[what] if what in p else None
    report.table(["what if", "predicted KIOPS", "measured KIOPS", "error %", "its own replay, error %", "time lost to spin %"],
                 [[name, p.get("predicted"), p["kiops"], percent(p, "error"), percent(p, "replay_error"), 100 * p["spin"]] for name, p in measured.items()])


def conclusions(measured):
    out = []
    if "replay_error" in measured.get(BASE, {}):
        out.append(f"The replay of the recorded run itself misses its time by {100 * measured[BASE]['replay_error']:+.1f} %; predictions are "
                   "relative to that.")
    errors = {name: abs(p["error"]) for name, p in measured.items() if "error" in p}
    if errors:
        worst = max(errors, key=errors.get)
        good = sum(error <= 0.05 for error in errors.values())
        own = max(abs(measured[name]["replay_error"]) for name in errors)
        out.append(f"{good} of {len(errors)} predictions are within 5 %; the worst is {worst} with {100 * measured[worst]['error']:+.1f} %.")
        out.append(f"From its own recording the replay tells each run's time to {100 * own:.1f} %: what a prediction misses beyond that is work that one "
                   "run did and the other did not.")
    return out


def derived(_, measured):
    return {"conclusions": conclusions(measured)}


def draw(measured):
    names = list(measured)
    fig, (ax,) = plot.figure(1)
    plot.bars(ax, names, {"predicted": [measured[name].get("predicted") for name in names], "measured": [measured[name]["kiops"] for name in names]},
              "What if", "KIOPS (device time)")
    ax.tick_params(axis="x", labelrotation=30)
    return fig


def facts(args):
    return {"device": args.device, "workload": args.workload, "workers": args.workers, "lock": args.lock}


if __name__ == "__main__":
    gc.set_threshold(200_000, 20, 100) # recordings are a million small objects, of which none is garbage: a fifth of the time
    frame.main(sys.modules[__name__])
