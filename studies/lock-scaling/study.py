#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far does the firmware scale with FTL workers, and which lock takes the rest?"""
import argparse
import collections
import itertools
import pathlib
import sys
import textwrap

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "studies" / "lock-scaling"), str(TOP / "scripts")]
import drawing  # noqa: E402
import lock_profile  # noqa: E402
import open_loop  # noqa: E402
import predicted  # noqa: E402
import scaling  # noqa: E402
import schema  # noqa: E402
from common import arguments, costs, experiment, frame, report, runs  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point, Sweep, Until, folder_of, seeds_in_order  # noqa: E402
from inputs import as_the_case_says, case_of, case_of_trace, cases, cost_models, costs_word, device_of, workload_of  # noqa: E402

NAME = "lock-scaling"
KINDS = schema.excluding_lock_kinds()
GRANULARITIES = ("device", "global", "class", "sharded", "fine", "owner")
OPEN = "open"
WIDTH = 120 # columns of the printed table
LOADS = (scaling.GROWING, "fixed", OPEN)
TRACE_CASES = ("block-trace", "zoned-trace")
LAYOUTS = DRAWN, AS_BUILT = ("drawn", "image")
ARCHITECTURES = tuple(name for name, _ in schema.choices("architecture"))


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--workers 1,2 --locks mcs --quick")
    arguments.add_until(p)
    arguments.add_numbers(p, "--workers", 1, 60, "1,2,4,8", "FTL worker counts")
    arguments.add_names(p, "--load", LOADS, scaling.GROWING,
                        "how many host threads there are: as many as workers (growing: weak scaling), or at each number of workers as many as "
                        "at the most of them (fixed: strong scaling); growing,fixed: both, side by side; open, or fixed,open: after that, commands that come "
                        "at random times (those of a trace: at its own times, scaled) at 50, 80 and 95 %% of each point's throughput, with percentiles "
                        "of their latency")
    arguments.add_number(p, "--hil", 1, 16, 1, "harts of the host interface in the pipeline")
    arguments.add_names(p, "--architecture", ARCHITECTURES, "pipeline",
                        "who serves the queue pairs: harts of the host interface (pipeline), or each worker its own (completion)")
    arguments.add_number(p, "--tsu", 0, 32, 0, "TSU harts, in all runs; 0: as many as the device's file says")
    arguments.add_names(p, "--locks", KINDS, "tas,ticket,mcs", "lock kinds, for all classes")
    arguments.add_names(p, "--granularity", GRANULARITIES, "device",
                        "how many locks there are: for the whole FTL one (global), for each class one or --shards, or one for each thing that "
                        "is protected; device: as its file says; owner: so too, but commands go to the workers that own their zones")
    arguments.add_number(p, "--shards", 2, 4096, 4, "locks of a class under --granularity sharded")
    p.add_argument("--costs", type=costs_word, default="rocket", metavar="NAME|FILE,...",
                   help="what synchronisation costs the harts (docs/internals/clock-costs.md); 2x: twice the default, ideal: nothing; a file: its section "
                        f"clock, such as ./hartzone calibrate writes: {', '.join(cost_models())}")
    p.add_argument("--layout", choices=LAYOUTS, default=DRAWN, metavar="|".join(LAYOUTS),
                   help="where the firmware's memory lies in the harts' caches. drawn: each seed moves it, as another image would have it "
                        "elsewhere, so that intervals over seeds hold for such images, too; image: as this image has it. Default: drawn")
    p.add_argument("--case", choices=sorted(cases()), default="mixed", metavar="NAME",
                   help="what the workers meet at: locks-only (reads on a device that does not queue; compares granularities with 1 to 16 "
                        "workers), read-ram and read-cached, mixed, sequential, buffers (small writes want few), collection (overwrites), "
                        "block-reads (from a block namespace), zipf (the same, from popular places), writes-random, writes-mixed, writes-zones and "
                        "writes-overwrite (on flash that is fast for them), block-trace and zoned-trace (devices for --trace), as the files in "
                        "studies/lock-scaling/cases have it")
    arguments.add_path(p, "--trace", None, "FILE",
                       "replay this trace, of any format that ./hartzone trace reads, instead of a workload: as many threads share it as there are "
                       "host threads. Without --case the device is that of the case block-trace or, for operations on zones, zoned-trace. A seed then "
                       "is a host whose turnaround is so many ns longer")
    arguments.add_config(p, "--workload", "workloads", "lock-scaling", "what each worker's host thread does")
    arguments.add_config(p, "--device", "devices", "lock-scaling", "what it runs on")
    arguments.add_firmware(p, "measure this firmware image, too (an ELF file), or that of the folder of an FTL, as given to ./hartzone build "
                              "--with: each point with ours and with it, side by side")
    p.add_argument("--explain", action="store_true",
                   help="find by experiment what limits each line at its most workers, as ./hartzone explain does with groups of costs: some "
                        "twenty more runs for each seed and line, of which there must be two or more seeds")
    p.add_argument("--no-explain", action="store_true",
                   help="do not test by experiment whether one lock for the whole FTL is the limit where dividing it helps (some twelve more runs for "
                        "each such line)")
    args = checked(p, as_the_case_says(with_trace(p, arguments.parsed(p, words))))
    return arguments.quickly(args, workers=args.workers[:2], locks=args.locks[:2], granularity=list(dict.fromkeys((args.granularity[0], args.granularity[-1]))))


def with_trace(p, args):
    """A trace says which case's device it needs."""
    if not args.trace and "case" in args.named and args.case in TRACE_CASES:
        p.error(f"--case {args.case} is a device for a trace: name one, such as --trace traces/sqlite-wal.hzt.xz")
    if args.trace and not args.trace.is_file():
        p.error(f"--trace: there is no file {args.trace}")
    if args.trace and "workload" in args.named:
        p.error("--workload and --trace both say what the host does: leave one out")
    if args.trace and "case" not in args.named:
        args.case = case_of_trace(args.trace)
    return args


def checked(p, args):
    arguments.until_is_sound(p, args)
    if OPEN in args.load and not args.trace and {"think", "queue_depth"} & {key for part in runs.load_yaml("workloads", args.workload).get("each") or () for key in part or ()}:
        p.error(f"--load open sets think and queue_depth of all threads, and the workload {args.workload} has them under `each`: take them out there")
    if args.explain and len(set(args.seeds)) < 2:
        p.error("--explain takes two seeds or more, such as --seeds 1,2,3: one has no interval")
    if args.explain and args.no_explain:
        p.error("--explain asks for more experiments, --no-explain for none: leave one out")
    if args.explain and args.firmware:
        p.error("--explain finds the limits of our own firmware: leave out --firmware")
    if args.hil > 1 and "pipeline" not in args.architecture:
        p.error("--hil: no other hart of the host interface serves queue pairs with --architecture completion")
    return args


def firmwares(args):
    """name → options of a run with it; ours first."""
    if not args.firmware:
        return {scaling.OURS: []}
    name = args.firmware.stem if args.firmware.stem != scaling.OURS else str(args.firmware)
    return {scaling.OURS: [], name: ["--firmware", str(args.firmware)]}


def plugin_words(args, seed):
    """Words for the plugin, of a run with this seed."""
    return [f"layout={seed}"] if args.layout == DRAWN else []


def closed_loads(args):
    """How many threads there are, where each waits for its commands."""
    return [load for load in args.load if load != OPEN] or [scaling.GROWING]


def points(args):
    images = firmwares(args)

    def point(load, costs, architecture, granularity, kind, workers, firmware):
        unusual = [word for word, usual in ((granularity, "device"), (architecture, "pipeline"), (load, scaling.GROWING), (firmware, scaling.OURS))
                   if word != usual]
        folder = "-".join([kind, str(workers), *unusual, *[costs] * (costs != "rocket")]).replace("/", "_")
        name = ", ".join([kind, f"{workers} workers", *unusual, *[f"costs {costs}"] * (costs != "rocket")])
        labels_of_it = {"lock": kind, "granularity": granularity, "workers": workers, "costs": costs, "architecture": architecture, "load": load,
                        "firmware": firmware}

        def run(seed):
            return (folder_of(folder, *["as-built"] * (args.layout == AS_BUILT), seed),
                    device_of(args, kind, granularity, workers, costs, architecture), workload_of(args, workers, load, seed),
                    *images[firmware], *runs.plugin_options(*plugin_words(args, seed)))
        return Point(labels_of_it, name, list(map(run, args.seeds)), run)
    return [point(*axes) for axes in itertools.product(closed_loads(args), args.costs, args.architecture, args.granularity, args.locks, args.workers, images)]


def until(args):
    """When a point has seeds enough; None: it has those of --seeds."""
    return Until(args.until, seeds_in_order(args.seeds, args.most_seeds), report.kiops) if args.until else None


def check(result, folder):
    """The device keeps times only: no data can be verified."""
    if result["violations"] or result["totals"]["errors"]:
        raise runs.StudyError(f"the run in {folder} broke its own rules or had errors")


def follow(args, sweep):
    """The open loop, at shares of what the closed one reached."""
    if OPEN not in args.load or sweep.interrupted:
        return 0
    commands = 0 if args.quick else open_loop.COMMANDS
    opened = Sweep(args, [open_loop.point_of(point, share, sweep.points[point.key]["commands_a_second"], commands,
                                              sweep.points[point.key]["recorded"])
                          for point in sweep.all if point.key in sweep.points for share in open_loop.SHARES], open_loop.summarize, check).run()
    args.found_open = {(key[:-1], key[-1]): p for key, p in opened.points.items()}
    sweep.also(opened)
    return opened.end()


def of_open_loop(args):
    """(key of the point, share) → figures; nothing without --load open."""
    return getattr(args, "found_open", {})


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
        "seeds": len(results),
        "commands_a_second": mean(map(open_loop.commands_a_second, results)),
        "recorded": open_loop.recorded(results),
        "read_mean_us": mean(t["read"]["latency_ns"]["mean"] / 1e3 for t in totals),
        "read_p99_us": mean(t["read"]["latency_ns"]["p99"] / 1e3 for t in totals),
        "contended": mean(contended(r) for r in results),
        "busy": scaling.busy(results),
        "queueing": mean(queueing(r) for r in results),
        "harts": len(results[0]["harts"]),
        "time": {use: mean(s.get(use, 0.0) for s in by_use) for use in uses},
        "lock_profile": lock_profile.of_run(results[0]),
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
    seeds = any(p["seeds"] > 1 for p in measured.values())
    header = [*(name for _, name in shown), "KIOPS", *["seeds", "± %"] * seeds, "ticket model", "read µs", "p99 µs", "locks", "contended %", "work %", "idle %",
              *(f"{c} %" for c in classes), "HIL busy %", "TSU busy %", "link busy %", "queues %", "all harts"]
    return header, [[*(key[at] for at, _ in shown), p["kiops"], *[p["seeds"], 100 * scaling.spread(p)] * seeds, by_model.get(key), p["read_mean_us"], p["read_p99_us"], scaling.locks(p),
                     100 * p["contended"], 100 * p["time"]["work"], 100 * p["time"]["idle"], *(100 * p["time"].get(c, 0.0) for c in classes),
                     100 * p["busy"]["hil"], 100 * p["busy"]["tsu"], 100 * p["busy"]["link"], 100 * p["queueing"], p["harts"]] for key, p in measured.items()]


def narrowed(header, rows, first):
    """The leading columns and as many of the others, in order of their worth, as a terminal has room for; and the names of those left out."""
    worth = ["KIOPS", "± %", "seeds", "ticket model", "read µs", "queues %", "p99 µs", "work %", "HIL busy %", "TSU busy %", "contended %", "idle %"]
    spins = sorted((at for at, name in enumerate(header) if name.startswith("spin")), key=lambda at: -max(row[at] for row in rows))
    order = [*(header.index(name) for name in worth[:6] if name in header), *spins[:2], *(header.index(name) for name in worth[6:] if name in header)]
    order += [at for at in range(len(header)) if at >= first and at not in order]
    kept = list(range(first))
    for at in order:
        wider = sorted([*kept, at])
        if max(map(len, report.table_lines([header[i] for i in wider], [[row[i] for i in wider] for row in rows]))) <= WIDTH:
            kept = wider
    return [header[i] for i in kept], [[row[i] for i in kept] for row in rows], [name for at, name in enumerate(header) if at not in kept]


def show(measured):
    header, rows, left_out = narrowed(*table(measured), len(labels(measured)))
    report.table(header, rows)
    if left_out:
        print(textwrap.fill(f"Left out for width (report.html and study.json have them): {', '.join(left_out)}.", WIDTH))


def show_followed(args):
    found = of_open_loop(args)
    if found:
        print()
        report.table(*open_loop.table(found))
        print(open_loop.few(found) or "")


def draw(measured):
    return drawing.overview(measured, scaling.all_costs(measured)[0])


def page(args, sweep, fig):
    return drawing.page(args, sweep, fig, table(sweep.points), conclusions(args, sweep.points))


def facts(args):
    return {"device": args.device, "workload": str(args.trace) if args.trace else args.workload, "case": args.case, "layout": args.layout}


def experiment_of(args, line, workers, folder):
    """Not begun."""
    point = [line.kind, line.granularity, workers, line.costs, line.architecture]
    options = argparse.Namespace(out=args.out / folder / "-".join(map(str, [*point, line.load])), seeds=args.seeds, change=10, costs="groups", resume=args.resume)
    return experiment.Experiment(options, ", ".join(map(str, point)), device_of(args, *point), workload_of(args, workers, line.load, 0),
                                 lambda seed: plugin_words(args, seed))


def limits(args, measured):
    """line → experiment at its most workers, with --explain; made once. One that misses runs is left out."""
    if args.explain and not hasattr(args, "found_limits"):
        found = {line: experiment_of(args, line, points[-1][0], "explain") for line, points in scaling.lines(measured).items()}
        for one in found.values():
            one.run()
        args.found_limits = {line: one for line, one in found.items() if one.complete()}
    return getattr(args, "found_limits", {})


def causes(args, measured):
    """Line with one lock → experiment about that lock, where the study would call it the limit; made once."""
    if not hasattr(args, "found_causes"):
        args.found_causes = {line: one for line, one in limits(args, measured).items() if line.granularity == "global"}
        blamed = [] if args.no_explain or args.explain or len(args.seeds) < 2 else scaling.blamed(measured, max(args.workers))
        for line in blamed:
            one = experiment_of(args, line, max(args.workers), "cause")
            one.run_parts((costs.SECTIONS, costs.HANDOVERS))
            if one.complete():
                args.found_causes[line] = one
    return args.found_causes


def serial(one):
    """What the two parts of a lock's time are worth: throughput's elasticities to time in sections, and to hand-overs."""
    return tuple(one.by_code[name]["throughput"] for name in (costs.SECTIONS, costs.HANDOVERS))


def conclusions(args, measured):
    if not measured:
        return []
    said = {line: one.sentence() for line, one in limits(args, measured).items()}
    parts = {line: serial(one) for line, one in causes(args, measured).items()}
    return (scaling.conclusions(measured, args.seeds, said, parts) + scaling.stopped(measured, args.until, args.most_seeds)
            + open_loop.sentences(of_open_loop(args)) + predicted.sentences(measured))


def derived(args, measured):
    """What study.json says beyond the points: laws by line, the model of a ticket lock, limits by experiment, and the conclusions."""
    check_queueing(args, measured)
    fits = [{**line.labels, **found} for line, points in scaling.lines(measured).items() if (found := scaling.laws(points))]
    models = [{**line.labels, **found} for line, found in predicted.models(measured).items()]
    return {"laws": fits, "ticket_model": models, "conclusions": conclusions(args, measured),
            "open_loop": [{**scaling.line_of(key).labels, "workers": scaling.Key(*key).workers, "share": share, **p} for (key, share), p in of_open_loop(args).items()],
            "causes": [{**line.labels, **dict(zip(("sections", "handovers"), (part.facts() for part in serial(one))))}
                       for line, one in causes(args, measured).items()],
            "explained": [{**line.labels, **one.facts()} for line, one in limits(args, measured).items()]}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
