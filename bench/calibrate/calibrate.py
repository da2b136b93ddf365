#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the machine that it runs on, and writes costs of the virtual clock that follow."""
import argparse
import json
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / folder) for folder in ("studies", "tests/support", "scripts", "bench/rtl", "bench/calibrate")]
from common import arguments, report, runs  # noqa: E402
from hztest.needs import qemu_problem  # noqa: E402
import yaml  # noqa: E402
import bench as rtl  # noqa: E402
import curves  # noqa: E402
import fit  # noqa: E402
import host  # noqa: E402
import machines  # noqa: E402
import micro  # noqa: E402
import schema  # noqa: E402

SCHEMA = "hartzone-calibrate-1"
TEXT = """Measures the machine that it runs on, and writes a file with costs of the virtual clock: a section `clock:`,
which is a whole device file, since every other key has a default.

Three steps. Micro-benchmarks on pinned threads, one on each core: instructions, accesses to a line that this core,
another core or only memory has, atomics on one line by all, a hand-over to and fro. From these the costs follow.
Then libthread's lock kinds run on the machine, 1 to N threads, in three cases (L1: think 400±100 cycles, section
100; L2: 50±12, 20; L3: as L1, and the section writes four lines more). They are held out: no cost comes from them.
The virtual clock predicts them with the new costs, and the table has the error of each prediction.

Other programs disturb a measurement. Each is repeated; a median and its spread count, of the half in which others
took the CPUs away for the least time. A cost whose figures are not usable keeps its default, and is listed."""
EXAMPLES = """Examples:
  ./hartzone calibrate
  ./hartzone calibrate --quick --out results/mine.yml
  ./hartzone calibrate --quick --threads 1 --device small --json

docs/guide/calibrate.md says how to read the tables."""
CASES, KINDS = ("L1", "L2", "L3"), ("tas", "ttas", "ticket", "mcs", "clh", "backoff")  # by default
WINDOW_MS, WARM_MS = 0.3, 0.05       # of a lock run on the host
STREAMED, HANDED, ROUNDS = 4000, 500, 40
WALK_MOST, HOPS = 64 << 20, 1000  # bytes of a walk through memory, and steps of an answer (program/micro.c)
REMEMBERED = ("mhz", "insn", "local", "remote", "far", "clean", "memory", "l2", "occupancy", "busy", "wake", "pause", "data", "reads", "cluster", "load", "store",
              "mul", "div", "div_bit", "branch", "store_buffer", "cache_bytes", "cache_ways", "l2_bytes", "l2_ways")


class Formatter(arguments.Formatter, argparse.RawDescriptionHelpFormatter):
    """The examples stay lines."""


def cpus_word(text):
    found = host.cpu_list(text) if re.fullmatch(r"\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*", text, re.ASCII) else []
    if not found or len(set(found)) != len(found):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of CPUs such as 0-3 or 0,2,4, each once")
    return found


def options(words=None):
    p = argparse.ArgumentParser(prog="./hartzone calibrate", description=TEXT, epilog=EXAMPLES, allow_abbrev=False, formatter_class=Formatter)
    arguments.add_path(p, "--out", pathlib.Path("results/calibrate/clock.yml"), "FILE", "the file with the costs, for --device and --costs")
    arguments.add_config(p, "--device", "devices", None, "put the costs into this device: --out is a copy of it then")
    p.add_argument("--cpus", type=cpus_word, metavar="LIST", help="CPUs to measure, such as 0-3 or 0,2,4; default: one of each core that this process may use")
    arguments.add_number(p, "--threads", 1, host.MOST_THREADS, str(host.MOST_THREADS), "the most of these CPUs to use")
    arguments.add_number(p, "--repeats", 3, 1000, 15, "how often each figure is measured")
    arguments.add_names(p, "--cases", CASES, ",".join(CASES), "lock benchmarks")
    arguments.add_names(p, "--locks", curves.schema.excluding_lock_kinds(), ",".join(KINDS), "kinds of locks")
    arguments.add_seed(p)
    p.add_argument("--json", action="store_true", help="print all figures, costs, remarks and curves as JSON, not tables")
    p.add_argument("--quick", action="store_true", help="three repeats, case L1 and three kinds, but for what other options say")
    args = arguments.parsed(p, words)
    args.out = args.out.absolute()
    if args.out.is_dir():
        p.error(f"--out {args.out} is a folder: name a file, such as {args.out / 'clock.yml'}")
    return arguments.quickly(args, repeats=3, cases=["L1"], locks=["tas", "ttas", "mcs"])


def chosen_cpus(args):
    """Raises StudyError for a CPU that is not there."""
    allowed = host.allowed()
    missing = sorted(set(args.cpus or ()) - allowed)
    if missing:
        raise runs.StudyError(f"--cpus: this process may not use CPU {missing[0]}, only {', '.join(map(str, sorted(allowed)))}")
    found = [host.cpu(number) for number in args.cpus] if args.cpus else host.cores(allowed)
    return found[:args.threads]


def counts(most):
    """1 to 4 threads, then powers of two, and the most."""
    return sorted({n for n in (1, 2, 3, 4, 8, 16, 32) if n < most} | {most})


def program():
    path = pathlib.Path(os.environ.get("HARTZONE_CALIBRATE", TOP / "build/host/bin/hz-calibrate"))
    if not path.exists():
        raise runs.StudyError(f"{path} is not built: ./hartzone build builds it")
    return path


# --- micro-benchmarks ---
def instructions(architecture):
    """[(name, how many of it a copy has)], in the order of their answers."""
    path = f"bench/calibrate/program/{architecture}.def"
    return [(row["name"], int(row["count"])) for row in schema.rows(path, "INSTRUCTION", ("name", "count", "before", "code"))]


def core_figures(machine, architecture):
    answers, out = machine.answers("core", [0], []), {}
    for i, (name, count) in enumerate([*instructions(architecture), ("turn", 1)]):
        out[name] = host.figure_of([answer.cycles(answer.results[i]) / (host.CHAIN * count) for answer in answers])
    out["ticks_per_ms"] = host.figure_of([answer.ticks_per_ms for answer in answers])
    out["mhz"] = host.figure_of([answer.ticks_per_ms / answer.ticks_per_cycle / 1e3 for answer in answers])
    return out


def of_lines(answer):
    """Cycles of an access, of rounds of 32 lines."""
    return answer.cycles(host.typical(answer.results)) / 32


def of_span(answers_of_each):
    """Cycles of one operation, of as many as all threads did: from the first thread's begin to the last one's end."""
    return lambda answer: answer.cycles(max(answer.results[1::2]) - min(answer.results[0::2])) / answers_of_each


def last_reader(n):
    return lambda answer: answer.cycles(host.typical([max(answer.results[i + 1:i + n]) for i in range(0, len(answer.results), n)]))


def scenes(cpus, caches, architecture):
    """name → (scene, positions of its CPUs, words, an answer → cycles)."""
    near, far = host.near_and_far(cpus)
    other = near if near is not None else far
    asked = {}

    def access(how, prior, places, suffix=""):
        asked[f"access {how} {prior}{suffix}"] = ("access", places, [micro.ACCESSES.index(how), micro.PRIORS.index(prior)], of_lines)
    for how in ("load", "store", "amo"):
        access(how, "own_dirty", [0])
        if architecture != "riscv64":
            access(how, "nowhere", [0])
    if other is not None:
        for how, prior in (("amo", "dirty"), ("amo", "clean"), ("load", "dirty"), ("store", "dirty")):
            access(how, prior, [0, other])
        asked["handover"] = ("handover", [0, other], [HANDED], of_span(2 * HANDED))
    if near is not None and far is not None:
        access("amo", "dirty", [0, far], " far")
    for n in counts(len(cpus))[1:]:
        asked[f"stream {n}"] = ("stream", list(range(n)), [micro.ACCESSES.index("amo"), STREAMED], of_span(STREAMED * n))
        asked[f"fanout {n}"] = ("fanout", list(range(n)), [ROUNDS], last_reader(n))
    if architecture != "riscv64":
        asked.update({f"stores {n}": ("stores", [0], [n], lambda answer: answer.cycles(host.typical(answer.results))) for n in fit.STORES})
    if caches.shared[0]:
        walk = min(max(4 * caches.private[0], 1 << 20), caches.shared[0] // 2, WALK_MOST)
        asked["walk shared"] = ("memory", [0], [walk], lambda answer: answer.cycles(host.typical(answer.results)) / HOPS)
    return asked


def caches_of(cpus):
    private, shared = host.private_and_shared(cpus[0])
    pair = [(cache.bytes, cache.ways) if cache else (0, 0) for cache in (private, shared)]
    return fit.Caches(*pair, host.cluster_of(cpus))


# --- the lock curves ---
def lock_words(cell, seed, turns, ticks_per_ms):
    """The words of curves.words with times of this host; a turn of the clock's loop is this many turns of the host's."""
    kind, think, spread, section, lines, *_ = curves.words(cell, seed)
    think, spread, section = (max(1, round(turns * number)) for number in (think, spread, section))
    return [kind, think, spread, section, lines, int(WARM_MS * ticks_per_ms), int(WINDOW_MS * ticks_per_ms), seed]


def lock_rate(ticks):
    """The figure of answers that took this many ticks in all."""
    def rate(answer):
        if answer.results[0] != 1:
            raise runs.StudyError("a lock did not exclude on this machine")
        return 1000 * sum(answer.results[1:]) / answer.cycles(ticks)
    return rate


def lock_figures(machine, cells, args, turns, per_ms, progress):
    out = {}
    for cell in cells:
        progress.step(f"this machine: {' '.join(map(str, cell))}")
        out[cell] = machine.figure("lock", list(range(cell[2])), lock_words(cell, args.seed, turns, per_ms), lock_rate(int(WINDOW_MS * per_ms)))
    return out


# --- all of it ---
def waiting_cost(clock, figures, costs, remarks):
    """The cost `wake`, which makes the virtual clock's hand-over as long as the machine's."""
    if "handover" not in figures or "remote" not in costs or not figures["handover"].usable():
        remarks.append({"cost": "wake", "why": fit.TWO if "handover" not in figures else "the hand-over or `remote` is not usable", "kept": 0})
        return
    answer = clock.ask("handover", 2, [micro.HANDED])
    costs["wake"] = fit.wake(figures["handover"].value, micro.figures({"core": [0] * 2 * len(micro.instructions()), "handover": answer})["handover"])


def measured_figures(machine, asked, architecture, progress):
    progress.step("this machine: instructions")
    figures = core_figures(machine, architecture)
    for name, (scene, places, words, reduced) in asked.items():
        progress.step(f"this machine: {name}")
        figures[name] = machine.figure(scene, places, words, reduced)
    return figures


def measure(args):
    architecture, cpus = host.architecture(), chosen_cpus(args)
    machine, caches = host.Host(program(), cpus, args.repeats), caches_of(cpus)
    cells = curves.cells(args.cases, args.locks, counts(len(cpus)))
    asked = scenes(cpus, caches, architecture)
    progress = report.Progress(1 + len(asked) + 2 * len(cells))
    figures = measured_figures(machine, asked, architecture, progress)
    costs, remarks = fit.costs(figures, caches, counts(len(cpus)))
    waiting_cost(machines.Clock(rtl.plugin(), rtl.clock_words(costs)), figures, costs, remarks)
    costs = {key: costs[key] for key in REMEMBERED if key in costs}
    real = lock_figures(machine, cells, args, (2 + costs.get("branch", 0)) / figures["turn"].value,
                        figures["ticks_per_ms"].value, progress)
    model = rtl.rates(machines.Clock(rtl.plugin(), rtl.clock_words(costs)), cells, args.seed, progress, "virtual clock")
    progress.end()
    return {"architecture": architecture, "cpus": [one.number for one in cpus], "repeats": args.repeats, "seed": args.seed, "figures": figures,
            "costs": costs, "remarks": remarks, "not_shown": fit.NOT_SHOWN, "host": {cell: one.value for cell, one in real.items()},
            "spreads": {cell: one.spread for cell, one in real.items()}, "doubtful": [" ".join(map(str, cell)) for cell, one in real.items() if not one.usable()],
            "clock": model}


# --- what it says ---
def trusted(m):
    """Both rates of the cells that are not doubtful."""
    cells = [cell for cell in m["host"] if " ".join(map(str, cell)) not in m["doubtful"]]
    return [{cell: m[key][cell] for cell in cells} for key in ("host", "clock")]


def summary_of(m):
    """Mean and greatest error by case, of cells that are to be trusted; empty: there are none."""
    real, model = trusted(m)
    return curves.summary(real, model) if real else {}


def ranks_of(m):
    """As curves.ranks, where every kind of the case is to be trusted."""
    whole = {(case, n) for case, _, n in m["host"]} - {(case, n) for case, kind, n in m["host"] if f"{case} {kind} {n}" in m["doubtful"]}
    return curves.ranks(*({cell: rate for cell, rate in m[key].items() if (cell[0], cell[2]) in whole} for key in ("host", "clock")))


def text_of_file(m, args):
    """The costs, with where they come from; or the device with them."""
    head = [f"# Costs of a host for the virtual clock: {m['architecture']}, CPUs {','.join(map(str, m['cpus']))}; ./hartzone calibrate wrote this file.",
            "# Held out: mean error of the lock curves that are to be trusted: "
            + ("; ".join(f"{name} {100 * of['mean']:.0f} %" for name, of in summary_of(m).items()) or "none is") + "."]
    head += [f"# {one['cost']}: {one['why']}; kept: {one['kept']}" for one in m["remarks"]]
    body = rtl.yaml_section(m["costs"])
    if args.device:
        device = {**runs.read_yaml(arguments.config_file("devices", args.device)), "clock": m["costs"]}
        body = yaml.dump(device, sort_keys=False).rstrip()
    return "\n".join([*head, body]) + "\n"


def percent(part):
    return f"{100 * part:.0f} %"


def show(m, args):
    print(f"{m['architecture']}, CPUs {', '.join(map(str, m['cpus']))}, {m['figures']['mhz'].value:.0f} MHz while it measured\n")
    report.table(["micro-benchmark", "cycles", "spread", "lost to others"],
                 [[name, one.value, percent(one.spread), percent(one.lost)] for name, one in m["figures"].items() if name not in ("mhz", "ticks_per_ms")])
    print(f"\nThe costs that follow, in {args.out}:\n\n{rtl.yaml_section(m['costs'])}\n")
    for one in m["remarks"]:
        print(f"{one['cost']}: {one['why']}; kept: {one['kept']}")
    print("\nNo host shows:")
    for cost, why in m["not_shown"].items():
        print(f"  {cost}: {why}")
    print()
    show_curves(m)


def show_curves(m):
    report.table(["sections per 1000 cycles, machine/clock", *(f"{n} threads" for n in sorted({cell[2] for cell in m["host"]}))],
                 curves.rows(m["host"], m["clock"]))
    print()
    if m["doubtful"]:
        print(f"Not to be trusted, with a spread above {percent(host.USABLE)} or more than {percent(host.ROBBED)} of their time taken by other programs: "
              f"{', '.join(m['doubtful'])}\nThese are in no mean and no rank below.")
    for name, of in summary_of(m).items():
        print(f"{name}: mean error {100 * of['mean']:.1f} %, greatest {100 * of['most']:.1f} %")
    most = max(cell[2] for cell in m["host"])
    ranks = ranks_of(m)
    for case, n in dict.fromkeys((case, most) for case, _, _ in m["host"] if most > 1):
        of = ranks.get((case, n))
        if not of:
            print(f"{case}, {n} threads: no rank, since not all of its rates are to be trusted")
        else:
            print(f"{case}, {n} threads, best first: machine {' '.join(of['rtl'])}; clock {' '.join(of['clock'])}; "
                  f"{'ranks agree' if not of['swapped'] else 'swapped: ' + ', '.join('-'.join(pair) for pair in of['swapped'])}")
    if most == 1:
        print("One core: what several want, and ranks of lock kinds, cannot be measured.")


def facts(m):
    named = {key: {" ".join(map(str, cell)): value for cell, value in m[key].items()} for key in ("host", "clock", "spreads")}
    errors = {" ".join(map(str, cell)): e for cell, e in curves.errors(m["host"], m["clock"]).items()}
    ranks = {f"{case} {n}": {"host": of["rtl"], "clock": of["clock"], "swapped": of["swapped"]} for (case, n), of in ranks_of(m).items()}
    figures = {name: {"value": one.value, "spread": one.spread, "lost": one.lost} for name, one in m["figures"].items()}
    return {"schema": SCHEMA, **m, **named, "figures": figures, "errors": errors, "ranks": ranks, "summary": summary_of(m)}


def calibrate():
    args = options()
    host.architecture()
    problem = qemu_problem()
    if problem:
        raise runs.StudyError(problem)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    measured = measure(args)
    new = args.out.with_name(f"{args.out.name}.{os.getpid()}")
    new.write_text(text_of_file(measured, args), encoding="utf-8")
    new.replace(args.out)
    if args.json:
        print(json.dumps(facts(measured), indent=2))
    else:
        show(measured, args)


if __name__ == "__main__":
    runs.main(calibrate, "calibrate")
