#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ConZone's three shared structures, zone map, L2P cache and write buffers, from 1 to 12 workers: which contends, under which lock?"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from common import arguments, conzone, frame, plot, report, runs  # noqa: E402
from common.elasticity import Interval  # noqa: E402
from common.report import mean  # noqa: E402
from common.sweep import Point, folder_of  # noqa: E402

NAME = "conzone-contention"
# Structure → its spin lock's class, and the logical lock that it is waited for in a queue (docs/reference/locks.md).
STRUCTURES = {"zone map": ("zone", "zone"), "L2P cache": ("l2p", "fetch"), "write buffers": ("buffer", "buffer")}
# Readers avoid the zone that was prefilled last: units of it may still be on their way to flash.
LOADS = {"read": {"read_ratio": 1.0, "pattern": "random", "prefill": 1.0, "zones": 2, "span": 0.5},
         "write": {"read_ratio": 0.0, "write_pattern": "random", "open_zones": 2, "zones": 2},
         "mixed": {"read_ratio": 0.5, "pattern": "random", "prefill": 0.25, "open_zones": 2, "zones": 2, "flush_every": 32}}
DIVIDED = "read, cache of 16 parts" # a control, on fast flash: each part of the L2P cache has its lock
WORKERS = [1, 4, 12]
LEAST = 4 # clients whose commands a run has, so that it gets steady


def fast():
    """The flash and the link of the device for lock studies."""
    device = runs.load_yaml("devices", "lock-scaling")
    return {"timing": device["timing"], "link": device["link"], "harts": {"tsus": 2, "hils": 4}}


FLASH = {"paper": dict, "fast": fast}


def options(words=None):
    p = arguments.study_parser(NAME, __doc__, "--quick")
    arguments.add_numbers(p, "--workers", 1, 40, ",".join(map(str, WORKERS)),
                          "FTL workers: each number with as many clients, and the smallest one with as many as the largest; each client has a queue")
    arguments.add_names(p, "--loads", tuple(LOADS), ",".join(LOADS), "what each client does, in 4 KiB, in zones of its own")
    arguments.add_names(p, "--flash", tuple(FLASH), ",".join(FLASH), "times of flash and link: the paper's device's, or those of the device lock-scaling")
    arguments.add_number(p, "--ops", 20, 100000, 2000, f"commands of each client; one alone has {LEAST} times as many")
    arguments.add_update(p)
    p.set_defaults(seeds="1,2,3")
    args = arguments.parsed(p, words)
    return arguments.quickly(args, workers=args.workers[-1:], ops=60, seeds=[1])


def device_of(load, flash, workers):
    """The preset's six open zones do not suffice for twelve writers; its cache is one list under one lock, as in the other studies."""
    changes = {"zones": {"max_open": 0, "max_active": 0}, "harts": {"workers": workers}, "locks": {"stats": "all"},
               **({"l2p": {"shards": 16}} if load == DIVIDED else {})}
    return conzone.device(runs.merged(FLASH[flash](), changes))


def workload_of(args, load, clients, seed):
    return conzone.workload(NAME, seed, threads=clients, turnaround="4us", common=LOADS[load.split(",")[0]] | {
        "block": "4 KiB", "queue_depth": 8, "total_ops": max(args.ops, LEAST * args.ops // clients), "think": "1us", "think_distribution": "exponential"})


def scaled(args):
    """(workers, clients): the load grows with the workers; or the fewest have the load of the most."""
    return list(dict.fromkeys([(n, n) for n in args.workers] + [(min(args.workers), max(args.workers))]))


def where(load, flash, workers, clients):
    return f"{load}, {flash} flash, {workers} workers, {clients} clients"


def cases(args):
    divided = [(DIVIDED, "fast", n, n) for n in args.workers if n > 1 and "read" in args.loads and "fast" in args.flash]
    return [(load, flash, *at) for load in args.loads for flash in args.flash for at in scaled(args)] + divided


def points(args):
    return [Point({"load": load, "flash": flash, "workers": workers, "clients": clients}, where(load, flash, workers, clients),
                  [(folder_of(load, flash, workers, clients, seed), device_of(load, flash, workers), workload_of(args, load, clients, seed))
                   for seed in args.seeds])
            for load, flash, workers, clients in cases(args)]


check = conzone.check


def spin(result, of_class):
    """Share of the workers' time."""
    harts = [h for h in result["harts"] if "worker" in h["role"]]
    return sum(h["spin_by_class"].get(of_class, 0) for h in harts) / sum(h["elapsed_ns"] for h in harts)


def contended(result, of_class):
    """Share of contended acquisitions over all locks of the class."""
    locks = [lock for lock in result["locks"] if lock["class"] == of_class]
    taken = sum(lock["acquisitions"] for lock in locks)
    return sum(lock["contended"] for lock in locks) / taken if taken else 0.0


def worst(result):
    """The lock that was waited for longest, in words."""
    lock = max(result["locks"], key=lambda one: one["wait_ns"], default=None)
    return f"{lock['class']} {lock['index']}" if lock and lock["wait_ns"] else "none"


def summarize(results):
    steady = all(r["steady"]["iops"] for r in results) # else its throughput would be that of a beginning and an end
    return {
        "kiops": mean(map(report.kiops, results)) if steady else None, "kiops_by_seed": [report.kiops(r) for r in results] if steady else [],
        "spin": {name: mean(spin(r, of_class) for r in results) for name, (of_class, _) in STRUCTURES.items()},
        "spin_others": mean(sum(spin(r, c) for c in ("open", "slc", "block")) for r in results),
        "contended": {name: mean(contended(r, of_class) for r in results) for name, (of_class, _) in STRUCTURES.items()},
        "queued": {name: mean(conzone.logical_wait_ns(r, logical) / r["elapsed_ns"] for r in results) for name, (_, logical) in STRUCTURES.items()},
        "worst": worst(results[0]),
        **conzone.common_figures(results),
    }


def figures(args, measured):
    out = []
    for key in [p.key for p in points(args)]:
        at, p = where(*key), measured.get(key)
        if not p or p["kiops"]: # without a steady state there is no figure
            out.append(report.figure(f"throughput, {at}", p and p["kiops"], "KIOPS"))
            if len(args.seeds) > 1:
                out.append(report.figure(f"half of the 95 % interval, {at}", p and Interval(p["kiops_by_seed"]).half, "KIOPS"))
        for name in STRUCTURES:
            out += [report.figure(f"spinning for the {name}, {at}", p and 100 * p["spin"][name], "%"),
                    report.figure(f"waiting in queues of the {name}, {at}", p and p["queued"][name], "")]
    return out


def directions(figure):
    at = "12 workers, 12 clients"
    for flash in FLASH:
        yield f"readers spin for the L2P cache alone ({flash})", (figure(f"spinning for the L2P cache, read, {flash} flash, {at}")
                                                                  > 10 * figure(f"spinning for the zone map, read, {flash} flash, {at}"))
        yield f"writers queue for the buffers ({flash})", figure(f"waiting in queues of the write buffers, write, {flash} flash, {at}") > 3
        yield f"… and spin for none of them ({flash})", figure(f"spinning for the write buffers, write, {flash} flash, {at}") < 0.5
    yield "the paper's flash hides the lock that fast flash shows", (figure(f"spinning for the L2P cache, read, fast flash, {at}")
                                                                     > 5 * figure(f"spinning for the L2P cache, read, paper flash, {at}"))
    yield "with a lock for each part of the cache readers do not spin", (figure(f"spinning for the L2P cache, {DIVIDED}, fast flash, {at}")
                                                                         < 0.1 * figure(f"spinning for the L2P cache, read, fast flash, {at}"))
    one, divided = (f"throughput, {load}, fast flash, {at}" for load in ("read", DIVIDED))
    if report.has(figure, one) and report.has(figure, divided):
        yield "and twelve workers read more", figure(divided) > 1.5 * figure(one)


def rows(figure):
    def kiops(at):
        try:
            return f"{figure(f'throughput, {at}'):.0f} ± {figure(f'half of the 95 % interval, {at}'):.0f}"
        except KeyError:
            return "not steady"
    most, counts = WORKERS[-1], ", ".join(map(str, WORKERS))
    for flash in FLASH:
        for load in LOADS:
            at = where(load, flash, most, most)
            growing, fixed = ", ".join(kiops(where(load, flash, n, n)) for n in WORKERS), kiops(where(load, flash, WORKERS[0], most))
            waits = ", ".join(f"{name} {figure(f'spinning for the {name}, {at}'):.2f} % / {figure(f'waiting in queues of the {name}, {at}'):.1f}"
                              for name in STRUCTURES)
            yield (f"{load}, {flash} flash: KIOPS of {counts} workers with as many clients; of {WORKERS[0]} worker with {most} clients; time spinning / "
                   f"waiting in queues at a time with {most} of both", "", f"{growing}; {fixed}; {waits}")
    yield (f"control, {DIVIDED}, fast flash: KIOPS of {', '.join(map(str, WORKERS[1:]))} workers with as many clients; time spinning for the L2P cache with {most} of both", "",
           ", ".join(kiops(where(DIVIDED, "fast", n, n)) for n in WORKERS[1:])
           + f"; {figure('spinning for the L2P cache, ' + where(DIVIDED, 'fast', most, most)):.2f} %")


def show(measured):
    report.table(["load", "flash", "workers", "clients", "KIOPS", *(f"{name}: spin %" for name in STRUCTURES), "others", *(f"{name}: contended %" for name in STRUCTURES),
                  *(f"{name}: queued" for name in STRUCTURES), "worst lock", "dies busy %"],
                 [[*key, p["kiops"], *(100 * v for v in p["spin"].values()), 100 * p["spin_others"],
                   *(100 * v for v in p["contended"].values()), *p["queued"].values(), p["worst"], 100 * p["die_busy"]]
                  for key, p in measured.items()])


def draw(measured):
    counts = sorted({workers for _, _, workers, _ in measured})
    lines = list(dict.fromkeys((load, flash) for load, flash, *_ in measured))
    fig, axes = plot.figure(3)
    most = counts[-1]
    for ax, at, words in ((axes[0], [(n, n) for n in counts], "as many clients"), (axes[1], [(counts[0], most), (most, most)], f"{most} clients")):
        for load, flash in lines:
            ax.plot([n for n, _ in at], plot.numbers(measured.value((load, flash, *of), "kiops") for of in at), marker="o", label=f"{load}, {flash} flash")
        ax.set(xlabel="workers", ylabel="KIOPS", title=f"Throughput, {words}", yscale="log")
    axes[0].legend(frameon=False, fontsize=8)
    plot.bars(axes[2], [f"{load},\n{flash}" for load, flash in lines],
              {name: [100 * measured[key]["spin"][name] if (key := (*line, counts[-1], counts[-1])) in measured else None for line in lines]
               for name in STRUCTURES}, f"Spinning, {counts[-1]} workers", "% of the workers' time")
    return fig


def facts(_):
    return {"device": "conzone-paper", "fast": fast()}


if __name__ == "__main__":
    frame.main(sys.modules[__name__])
