#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far does the firmware scale with FTL workers, and which lock takes the rest?"""
import argparse
import collections
import itertools
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "studies" / "lock-scaling"), str(TOP / "scripts")]
import drawing  # noqa: E402
import ledger  # noqa: E402
import predicted  # noqa: E402
import scaling  # noqa: E402
import schema  # noqa: E402
from common import arguments, experiment, frame, report, runs  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point  # noqa: E402

NAME = "lock-scaling"
KINDS = schema.excluding_lock_kinds()
GRANULARITIES = ("device", "global", "class", "sharded", "fine", "owner")
LOADS = (scaling.GROWING, "fixed")
ARCHITECTURES = tuple(name for name, _ in schema.choices("ARCHITECTURE"))
COHERENCE = ("local", "remote", "far", "memory", "clean", "dispatch", "occupancy", "wake", "ipi")  # keys of the device file's clock section


def cost_models():
    """name → the device file's clock section."""
    defaults = {f["key"]: f["default"] for f in schema.device_fields() if f.get("section") == "clock" and f.get("key") in COHERENCE}
    presets = {name: {"preset": name} for name, _ in schema.choices("CLOCK_PRESET") if name != "rocket"}
    return {"rocket": {}, **presets, "buffered": {"store_buffer": 8}, "half": {key: value // 2 for key, value in defaults.items()},
            "2x": {key: value * 2 for key, value in defaults.items()}}


def cases():
    """name → its file: its changes to the device and to the workload; a null leaves a key out."""
    return {path.stem: path for path in sorted((TOP / "studies" / "lock-scaling" / "cases").glob("*.yaml"))}


def case_of(args, part):
    return runs.read_yaml(cases()[args.case]).get(part, {})


def as_the_case_says(args):
    """A case may name what it compares, where the command line does not."""
    for key, value in case_of(args, "study").items():
        if key not in args.named:
            setattr(args, key, value)
    return args


def without_nulls(values):
    return {key: without_nulls(value) if isinstance(value, dict) else value for key, value in values.items() if value is not None}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--workers 1,2 --locks mcs --quick")
    arguments.add_numbers(p, "--workers", 1, 60, "1,2,4,8", "FTL worker counts")
    arguments.add_names(p, "--load", LOADS, scaling.GROWING,
                        "how many host threads there are: as many as workers (growing: weak scaling), or at each number of workers as many as "
                        "at the most of them (fixed: strong scaling); growing,fixed: both, side by side")
    arguments.add_number(p, "--hil", 1, 16, 1, "harts of the host interface in the pipeline")
    arguments.add_names(p, "--architecture", ARCHITECTURES, "pipeline",
                        "who serves the queue pairs: harts of the host interface (pipeline), or each worker its own (completion)")
    arguments.add_number(p, "--tsu", 0, 32, 0, "TSU harts, in all runs; 0: as many as the device's file says")
    arguments.add_names(p, "--locks", KINDS, "tas,ticket,mcs", "lock kinds, for all classes")
    arguments.add_names(p, "--granularity", GRANULARITIES, "device",
                        "how many locks there are: for the whole FTL one (global), for each class one or --shards, or one for each thing that "
                        "is protected; device: as its file says; owner: so too, but commands go to the workers that own their zones")
    arguments.add_number(p, "--shards", 2, 4096, 4, "locks of a class under --granularity sharded")
    arguments.add_names(p, "--costs", tuple(cost_models()), "rocket",
                        "what synchronisation costs the harts (docs/internals/clock-costs.md); 2x: twice the default, ideal: nothing")
    p.add_argument("--case", choices=sorted(cases()), default="mixed", metavar="NAME",
                   help="what the workers meet at: locks-only (reads on a device that does not queue; compares granularities with 1 to 16 "
                        "workers), read-ram and read-cached, mixed, sequential, buffers (small writes want few), collection (overwrites), "
                        "block-reads (from a block namespace), as the files in studies/lock-scaling/cases have it")
    arguments.add_config(p, "--workload", "workloads", "lock-scaling", "what each worker's host thread does")
    arguments.add_config(p, "--device", "devices", "lock-scaling", "what it runs on")
    arguments.add_firmware(p, "measure this firmware image, too (an ELF file), or that of the folder of an FTL, as given to ./hartzone build "
                              "--with: each point with ours and with it, side by side")
    p.add_argument("--explain", action="store_true",
                   help="find by experiment what limits each line at its most workers, as ./hartzone explain does with groups of costs: some "
                        "twenty more runs for each seed and line, of which there must be two or more seeds")
    args = as_the_case_says(arguments.parsed(p, words))
    if args.explain and len(set(args.seeds)) < 2:
        p.error("--explain takes two seeds or more, such as --seeds 1,2,3: one has no interval")
    if args.explain and args.firmware:
        p.error("--explain finds the limits of our own firmware: leave out --firmware")
    if args.hil > 1 and "pipeline" not in args.architecture:
        p.error("--hil: no other hart of the host interface serves queue pairs with --architecture completion")
    return arguments.quickly(args, workers=args.workers[:2], locks=args.locks[:2], granularity=list(dict.fromkeys((args.granularity[0], args.granularity[-1]))))


def device_of(args, kind, granularity, workers, costs, architecture):
    device = without_nulls(runs.merged(runs.load_yaml("devices", args.device), case_of(args, "device")))
    device = runs.merged(device, {"harts": {"workers": workers}, "locks": {"kind": {"default": kind}, "stats": "all"}})
    if architecture != "pipeline":
        device["harts"]["architecture"] = architecture
    elif args.hil > 1:
        device["harts"]["hils"] = args.hil
    if args.tsu:
        device["harts"]["tsus"] = args.tsu
    if granularity == "owner":
        device["harts"]["routing"] = "owner"
    elif granularity != "device":
        device["locks"]["granularity"] = {"default": args.shards if granularity == "sharded" else granularity}
    if cost_models()[costs]:
        device = runs.merged(device, {"clock": cost_models()[costs]})
    return device


def workload_of(args, workers, load, seed):
    workload = without_nulls(runs.merged(runs.merged(runs.load_yaml("workloads", args.workload), case_of(args, "workload")),
                                         {"threads": workers if load == scaling.GROWING else max(args.workers), "seed": seed}))
    if args.quick: # half of a case's commands, enough for its purpose
        workload["common"]["total_ops"] = case_of(args, "workload").get("common", {}).get("total_ops", 400) // 2
    return workload


def firmwares(args):
    """name → options of a run with it; ours first."""
    if not args.firmware:
        return {scaling.OURS: []}
    name = args.firmware.stem if args.firmware.stem != scaling.OURS else str(args.firmware)
    return {scaling.OURS: [], name: ["--firmware", str(args.firmware)]}


def points(args):
    images = firmwares(args)

    def point(load, costs, architecture, granularity, kind, workers, firmware):
        unusual = [word for word, usual in ((granularity, "device"), (architecture, "pipeline"), (load, scaling.GROWING), (firmware, scaling.OURS))
                   if word != usual]
        folder = "-".join([kind, str(workers), *unusual, *[costs] * (costs != "rocket")]).replace("/", "_")
        name = ", ".join([kind, f"{workers} workers", *unusual, *[f"costs {costs}"] * (costs != "rocket")])
        labels_of_it = {"lock": kind, "granularity": granularity, "workers": workers, "costs": costs, "architecture": architecture, "load": load,
                        "firmware": firmware}
        return Point(labels_of_it, name, [(f"{folder}-{seed}", device_of(args, kind, granularity, workers, costs, architecture),
                                           workload_of(args, workers, load, seed), *images[firmware]) for seed in args.seeds])
    return [point(*axes) for axes in itertools.product(args.load, args.costs, args.architecture, args.granularity, args.locks, args.workers, images)]


def check(result, folder):
    """The device keeps times only: no data can be verified."""
    if result["violations"] or result["totals"]["errors"]:
        raise runs.StudyError(f"the run in {folder} broke its own rules or had errors")


def shares(result):
    """Worker time by use, as parts of elapsed: work, idle, and spin by lock class."""
    harts = [h for h in result["harts"] if "worker" in h["role"]]
    total = sum(h["elapsed_ns"] for h in harts)
    out = {"work": sum(h["work_ns"] for h in harts) / total, "idle": sum(h["idle_ns"] for h in harts) / total}
    for h in harts:
        for name, ns in h["spin_by_class"].items():
            out[f"spin {name}"] = out.get(f"spin {name}", 0) + ns / total
    return out


def contended(result):
    """Share of contended acquisitions: of the one global lock, if there is one, not of its parts.
    """
    locks = [lock for lock in result["locks"] if lock["class"] == "global"] or result["locks"]
    taken = sum(lock["acquisitions"] for lock in locks)
    return sum(lock["contended"] for lock in locks) / taken if taken else 0.0


def queueing(result):
    """Share of the requests' time in which they wait for dies, channels or the link."""
    requests = [request["all"] for request in result["vclock"]["locks"]["requests"]]
    return sum(r["flash_queue"] + r["link"] for r in requests) / sum(r["cycles"] for r in requests)


def check_queueing(args, measured):
    """A case about locks alone means nothing where requests wait for flash or the link."""
    most = case_of(args, "queueing") or 1.0
    for key, p in measured.items():
        if p["queueing"] > most:
            raise runs.StudyError(f"case {args.case} is about locks, but with {' '.join(map(str, key))} requests wait for flash and the link in "
                                  f"{100 * p['queueing']:.0f} % of their time, not in at most {100 * most:.0f} %: take a faster device")


def instances(result):
    """class → number of its locks used."""
    return collections.Counter(lock["class"] for lock in result["locks"])


def summarize(results):
    totals = [r["totals"] for r in results]
    by_use = [shares(r) for r in results]
    uses = sorted({use for s in by_use for use in s})
    return {
        "kiops": mean(map(report.kiops, results)),
        "kiops_by_seed": [report.kiops(r) for r in results],
        "read_mean_us": mean(t["read"]["latency_ns"]["mean"] / 1e3 for t in totals),
        "read_p99_us": mean(t["read"]["latency_ns"]["p99"] / 1e3 for t in totals),
        "contended": mean(contended(r) for r in results),
        "busy": scaling.busy(results),
        "queueing": mean(queueing(r) for r in results),
        "time": {use: mean(s.get(use, 0.0) for s in by_use) for use in uses},
        "ledger": ledger.of_run(results[0]),
        "locks_by_seed": [predicted.of_run(r) for r in results],
        "instances": dict(sorted(instances(results[0]).items())),
        "digests": [r["digest"] for r in results],
    }


def figures(_, measured):
    out = []
    for key, p in measured.items():
        line, workers = scaling.line_of(key), scaling.Key(*key).workers
        where = f"{line.name}, {workers} workers" + (f", costs {line.costs}" if line.costs != "rocket" else "")
        out += [report.figure(f"throughput, {where}", p["kiops"], "KIOPS"),
                report.figure(f"read latency, {where}", p["read_mean_us"], "us"),
                report.figure(f"time lost to locks, {where}", 100 * scaling.lost(p), "% of worker time"),
                report.figure(f"contended acquisitions, {where}", 100 * p["contended"], "%"),
                report.figure(f"busiest HIL hart, {where}", 100 * p["busy"]["hil"], "%"),
                report.figure(f"busiest TSU hart, {where}", 100 * p["busy"]["tsu"], "%"),
                report.figure(f"link to the host, {where}", 100 * p["busy"]["link"], "%"),
                report.figure(f"waits for flash and link, {where}", 100 * p["queueing"], "% of request time")]
    return out


def labels(measured):
    """(place in a point's key, name) of the informative ones."""
    names = (("lock", None), ("granularity", "device"), ("workers", None), ("costs", "rocket"), ("architecture", "pipeline"), ("load", scaling.GROWING),
             ("firmware", scaling.OURS))
    return [(at, name) for at, (name, usual) in enumerate(names) if {key[at] for key in measured} != {usual}]


def table(measured):
    """Header and rows: a point each."""
    classes, shown = sorted({use for p in measured.values() for use in p["time"] if use.startswith("spin")}), labels(measured)
    by_model = predicted.kiops(measured)
    header = [*(name for _, name in shown), "KIOPS", "ticket model", "read µs", "p99 µs", "locks", "contended %", "work %", "idle %",
              *(f"{c} %" for c in classes), "HIL busy %", "TSU busy %", "link busy %", "queues %"]
    return header, [[*(key[at] for at, _ in shown), p["kiops"], by_model.get(key), p["read_mean_us"], p["read_p99_us"], scaling.locks(p),
                     100 * p["contended"], 100 * p["time"]["work"], 100 * p["time"]["idle"], *(100 * p["time"].get(c, 0.0) for c in classes),
                     100 * p["busy"]["hil"], 100 * p["busy"]["tsu"], 100 * p["busy"]["link"], 100 * p["queueing"]] for key, p in measured.items()]


def show(measured):
    report.table(*table(measured))


def draw(measured):
    return drawing.overview(measured, scaling.all_costs(measured)[0])


def page(args, sweep, fig):
    return drawing.page(args, sweep, fig, table(sweep.points), conclusions(args, sweep.points))


def facts(args):
    return {"device": args.device, "workload": args.workload, "case": args.case}


def explained(args, line, workers):
    """Experiment at one point; None: some of its runs are missing."""
    point = [line.kind, line.granularity, workers, line.costs, line.architecture]
    options = argparse.Namespace(out=args.out / "explain" / "-".join(map(str, [*point, line.load])), seeds=args.seeds, change=10, costs="groups", resume=args.resume)
    found = experiment.Experiment(options, ", ".join(map(str, point)), device_of(args, *point), workload_of(args, workers, line.load, args.seeds[0]))
    found.run()
    return found if found.complete() else None


def limits(args, measured):
    """line → experiment at its most workers, if requested; made once."""
    if args.explain and not hasattr(args, "found_limits"):
        found = {line: explained(args, line, points[-1][0]) for line, points in scaling.lines(measured).items()}
        args.found_limits = {line: one for line, one in found.items() if one}
    return getattr(args, "found_limits", {})


def conclusions(args, measured):
    said = {line: one.sentence() for line, one in limits(args, measured).items()}
    return scaling.conclusions(measured, args.seeds, said) + predicted.sentences(measured) if measured else []


def derived(args, measured):
    """What study.json says beyond the points: laws by line, the model of a ticket lock, limits by experiment, and the conclusions."""
    check_queueing(args, measured)
    fits = [{**line.labels, **found} for line, points in scaling.lines(measured).items() if (found := scaling.laws(points))]
    models = [{**line.labels, **found} for line, found in predicted.models(measured).items()]
    return {"laws": fits, "ticket_model": models, "conclusions": conclusions(args, measured),
            "explained": [{**line.labels, **one.facts()} for line, one in limits(args, measured).items()]}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
