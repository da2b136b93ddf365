#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""libthread's locks on the RTL of a real multi-core, and under the virtual clock with costs measured there: curves, errors, ranks."""
import argparse
import json
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / folder) for folder in ("studies", "tests/support", "scripts", "bench/rtl")]
from common import arguments, report, runs  # noqa: E402
from hztest.needs import qemu_problem  # noqa: E402
import curves  # noqa: E402
import machines  # noqa: E402
import micro  # noqa: E402

DEFAULT = "LitexFull4DConfig"
RECORD = TOP / "bench" / "rtl" / "measured.json"
SCHEMA = "hartzone-bench-rtl-1"
RECORDED = ("config", "latency", "accesses", "harts", "seed", "micro", "cache", "options", "rtl", "clock")
WHOLE = ("seed", "cases", "locks", "clock", "quick") # options that restrict the record


def option_words(text):
    """Options of the plugin, as typed after --clock."""
    if not re.fullmatch(r"[a-z0-9_-]+=[^\s,=]+(,[a-z0-9_-]+=[^\s,=]+)*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of options such as preset=rocket")
    return text


def percent(text):
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 < value < 1000:
        raise arguments.argparse.ArgumentTypeError(f"'{text}' is not a number of per cent above 0")
    return value


def options():
    p = arguments.parser("rtl", __doc__, "--quick", word="bench")
    arguments.add_quick(p)
    arguments.add_seed(p)
    p.add_argument("--config", choices=machines.CONFIGURATIONS, default=DEFAULT, metavar="NAME",
                   help=f"configuration of the package: {', '.join(machines.CONFIGURATIONS)}")
    arguments.add_number(p, "--latency", 1, 1000, 20, "cycles in which the memory behind the RTL answers")
    p.add_argument("--accesses", choices=("plain", "lr"), default="plain", metavar="plain|lr",
                   help="what reads and writes shared words on the RTL: loads and stores with fences, or LR and AMOSWAP")
    arguments.add_names(p, "--cases", list(curves.CASES), ",".join(curves.CASES), "lock benchmarks")
    arguments.add_names(p, "--locks", curves.schema.excluding_lock_kinds(), ",".join(curves.KINDS), "kinds of locks")
    p.add_argument("--clock", type=option_words, metavar="WORDS", help="hold these options of the virtual clock against the RTL, such as preset=rocket, not "
                                                    "those that follow from the micro-benchmarks")
    p.add_argument("--bound", type=percent, default="15", metavar="PERCENT", help="fail if the mean error of the curves is above it")
    p.add_argument("--record", action="store_true", help=f"write what was measured of this configuration and latency to {RECORD.relative_to(TOP)}")
    args = arguments.parsed(p)
    if not curves.cells(args.cases, args.locks, [1]):
        p.error(f"case {args.cases[0]} has only the kinds {', '.join(curves.CASES[args.cases[0]]['kinds'])}")
    left_out = sorted(args.named & set(WHOLE))
    if args.record and left_out:
        p.error(f"--record takes all locks and cases: leave out --{left_out[0]}")
    return arguments.quickly(args, cases=["L1"], locks=["tas", "ttas", "mcs"])


def plugin():
    path = pathlib.Path(os.environ.get("HARTZONE_PLUGIN", TOP / "build/host/vclock/libvclock.so"))
    if not path.exists():
        raise runs.StudyError(f"{path} is not built: start benches with ./hartzone bench")
    return str(path)


def asked(machine, scenes, progress, where):
    """name → the machine's answers, for scenes by name."""
    def one(name):
        progress.step(f"{where}: {name}")
        return machine.ask(*scenes[name])
    return dict(zip(scenes, machines.together(one, list(scenes))))


def lock_scenes(cells, seed):
    return {cell: ("lock", cell[2], curves.words(cell, seed)) for cell in cells}


def rates(machine, cells, seed, progress, where):
    answers = asked(machine, lock_scenes(cells, seed), progress, where)
    return {cell: curves.rate(answers[cell], cell) for cell in cells}


def clock_words(costs):
    return [f"{key}={value}" for key, value in costs.items()]


def yaml_section(costs):
    return "\n".join(["clock:", *(f"  {key}: {value}" for key, value in costs.items())])


def measure(args):
    """Everything that was measured, by name."""
    chip = machines.Chip(args.config, args.latency, args.accesses)
    cells = curves.cells(args.cases, args.locks, range(1, chip.harts + 1))
    scenes = micro.scenes(chip.harts)
    progress = report.Progress(2 * len(scenes) + 2 * len(cells))
    figures = micro.figures(asked(chip, scenes, progress, "RTL"))
    cache = micro.walks(chip.ask)
    costs = micro.costs(figures, cache)
    rtl = rates(chip, cells, args.seed, progress, "RTL")
    clock = machines.Clock(plugin(), args.clock.split(",") if args.clock else clock_words(costs))
    modelled = micro.figures(asked(clock, scenes, progress, "virtual clock"))
    model = rates(clock, cells, args.seed, progress, "virtual clock")
    progress.end()
    return {"config": args.config, "latency": args.latency, "accesses": args.accesses, "harts": chip.harts, "seed": args.seed, "micro": figures, "cache": cache,
            "micro of the clock": modelled, "costs": costs, "options": clock.options, "rtl": rtl, "clock": model}


def show(m):
    report.table(["micro-benchmark, cycles", "RTL", "virtual clock"],
                 [[name, value, m["micro of the clock"].get(name)] for name, value in m["micro"].items()])
    print(f"\nThe section of a device file that follows:\n\n{yaml_section(m['costs'])}\n")
    report.table(["sections per 1000 cycles, RTL/clock", *(f"{n} harts" for n in range(1, m["harts"] + 1))], curves.rows(m["rtl"], m["clock"]))
    print()
    for name, of in curves.summary(m["rtl"], m["clock"]).items():
        print(f"{name}: mean error {100 * of['mean']:.1f} %, greatest {100 * of['most']:.1f} %")
    for (case, n), of in curves.ranks(m["rtl"], m["clock"]).items():
        if n == m["harts"]:
            print(f"{case}, {n} harts, best first: RTL {' '.join(of['rtl'])}; clock {' '.join(of['clock'])}; "
                  f"{'as on the RTL' if not of['swapped'] else 'swapped: ' + ', '.join('-'.join(pair) for pair in of['swapped'])}")


def facts(m):
    """For JSON: cells by name."""
    named = {key: {" ".join(map(str, cell)): rate for cell, rate in m[key].items()} for key in ("rtl", "clock")}
    errors = {" ".join(map(str, cell)): e for cell, e in curves.errors(m["rtl"], m["clock"]).items()}
    ranks = {f"{case} {n}": of for (case, n), of in curves.ranks(m["rtl"], m["clock"]).items()}
    return {**m, **named, "errors": errors, "ranks": ranks, "summary": curves.summary(m["rtl"], m["clock"])}


def run_name(m):
    return f"{m['config']} latency {m['latency']} {m['accesses']}"


def update_record(m):
    """Measurements of this chip replace those in the record."""
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {"schema": SCHEMA, "runs": {}}
    known = facts(m)
    record["runs"][run_name(m)] = {key: known[key] for key in RECORDED}
    record["runs"] = dict(sorted(record["runs"].items()))
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def bench():
    args = options()
    problem = qemu_problem()
    if problem:
        raise runs.StudyError(problem)
    args.out.mkdir(parents=True, exist_ok=True)
    measured = measure(args)
    show(measured)
    (args.out / "bench.json").write_text(json.dumps({"schema": SCHEMA, **facts(measured)}, indent=2) + "\n", encoding="utf-8")
    if args.record:
        update_record(measured)
    error = 100 * curves.summary(measured["rtl"], measured["clock"])["all"]["mean"]
    if error > args.bound:
        raise runs.StudyError(f"the mean error of the curves is {error:.1f} %, above the bound of {args.bound:g} %")


if __name__ == "__main__":
    runs.main(bench, "bench")
