"""Runs a point with each cost cheaper and dearer, and finds its limit (costs.py has the costs,
elasticity.py the arithmetic)."""
# SPDX-License-Identifier: BSD-3-Clause
import math

import schema
from common import costs, elasticity, report, runs
from common.elasticity import Interval
from common.sweep import Point, Sweep, folder_of

KINDS = ("read", "write", "trim", "flush", "zone")
HALF = 0.5
EXACT = 1e-6 # relative
BASE = "as it is"
WHOLE = "whole nanoseconds" # the device that is doubled


def measured(result, kind=None):
    """Of one run. kind: the one whose p99 counts; None: the one with the largest total time."""
    totals = {name: result["totals"][name] for name in KINDS if result["totals"][name]["ops"]}
    spent = {name: t["ops"] * t["latency_ns"]["mean"] for name, t in totals.items()}
    kind = kind or max(spent, key=spent.get)
    commands = sum(t["ops"] for t in totals.values())
    return {"throughput": commands / result["elapsed_ns"] * 1e9, "mean": sum(spent.values()) / commands, "p99": totals[kind]["latency_ns"]["p99"],
            "kind": kind, "commands": commands, "elapsed_ns": result["elapsed_ns"], "unsteady": result.get("steady", {}).get("reason")}


def check(result, folder):
    if result["violations"] or result["totals"]["errors"]:
        raise runs.StudyError(f"the run in {folder} broke its own rules or had errors")


class Experiment:
    """One point. plugin_words: seed → options of the virtual clock. parts: whether to look into instructions and locks, which are in no sum."""

    def __init__(self, args, name, device, workload, plugin_words=lambda seed: [], parts=True):
        self.parts = parts
        self.args, self.name, self.device, self.workload, self.plugin_words = args, name, device, workload, plugin_words
        self.by_cost, self.spans, self.worth, self.sweeps, self.base, self.names, self.by_code, self.twice = {}, {}, None, [], None, [], {}, None

    def run(self):
        """The exit code."""
        self.files = self.as_understood()
        self.asked = [cost for cost in (costs.groups() if self.args.costs == "groups" else costs.classes()) if self.files.has(cost)]
        found = self.sweep(self.points())
        if not self.complete():
            return self.end()
        self.take(found)
        self.double()
        self.names, _ = elasticity.limits(self.column("throughput"))
        if self.names:
            self.halve(self.names[0])
        return self.end()

    def run_parts(self, names):
        """Only what these parts of the code are worth, which no law can check: a sixth of the runs. The exit code."""
        self.files = self.as_understood()
        self.files.code = {name: self.files.code[name] for name in names}
        change = self.args.change / 100
        found = self.sweep([self.point_of_code(name, by) for name in names for by in (-change, change)])
        if self.complete():
            self.take_parts({key: [measured(result) for result in point["runs"]] for key, point in found.items()})
        return max(sweep.end() for sweep in self.sweeps)

    def end(self):
        code = max(sweep.end() for sweep in self.sweeps)
        return code or int(bool(self.complete() and self.broken()))

    def complete(self):
        """The first sweep is complete; the run with a halved cost may be missing."""
        return bool(self.sweeps) and len(self.sweeps[0].points) == len(self.sweeps[0].all)

    def as_understood(self):
        """A first run resolves the files: values of presets, and defaults."""
        out = self.args.out / "asked"
        device, workload = self.device, {**self.workload, "seed": self.args.seeds[0]} # a seed of a trace would be in its turnaround
        result = runs.earlier(out, device, workload) if self.args.resume else None
        result = result or runs.run(out, device, workload)
        classes = [row["name"] for row in schema.lock_classes()] if self.args.costs == "all" else []
        return costs.Files(self.device, self.workload, costs.echoed(result, schema.device_fields()), costs.code(result, classes) if self.parts else {})

    def seeded(self, device, workload, seed):
        return device, runs.seeded(workload, seed)

    def run_of(self, folder, device, workload, seed, *words):
        return (folder, *self.seeded(device, workload, seed), *runs.plugin_options(*words, *self.plugin_words(seed)))

    def point(self, cost, change):
        """cost None: as it is."""
        name = BASE if cost is None else f"{cost.name} {change:+.0%}"
        device, workload, span = self.files.scaled(cost, 1 + change)
        self.spans[cost.name if cost else BASE, change] = span
        return Point({"cost": cost.name if cost else BASE, "change": change}, name,
                     [self.run_of(folder_of(cost.name if cost else "base", f"{100 * change:+.0f}", seed), device, workload, seed)
                      for seed in self.args.seeds])

    def points(self):
        change = self.args.change / 100
        return [self.point(None, 0.0)] + [self.point(cost, by) for cost in [*self.asked, costs.everything()] for by in (-change, change)] + \
            [self.point_of_code(name, by) for name in self.files.code for by in (-change, change)]

    def point_of_code(self, name, change):
        device, workload, _ = self.files.scaled(None, 1)
        options = self.files.code[name].format(round(1000 * (1 + change)))
        return Point({"cost": name, "change": change}, f"{name} {change:+.0%}",
                     [self.run_of(folder_of(name, f"{100 * change:+.0f}", seed), device, workload, seed, options) for seed in self.args.seeds])

    def sweep(self, points):
        sweep = Sweep(self.args, points, lambda results: {"runs": results}, check)
        self.sweeps.append(sweep)
        return sweep.run().points

    def take(self, found):
        """found: (cost, change) → results by seed."""
        kind = measured(found[BASE, 0.0]["runs"][0])["kind"]
        by_point = {key: [measured(result, kind) for result in point["runs"]] for key, point in found.items()}
        self.base, change = by_point[BASE, 0.0], self.args.change / 100
        for name in [cost.name for cost in self.asked] + [costs.EVERYTHING]:
            span = self.spans[name, change] - self.spans[name, -change]
            if span > 0: # else the cost is so small that its whole numbers stay the same
                self.by_cost[name] = self.elasticities(by_point[name, change], by_point[name, -change], span)
        self.take_parts(by_point)

    def take_parts(self, by_point):
        change = self.args.change / 100
        for name in self.files.code:
            self.by_code[name] = self.elasticities(by_point[name, change], by_point[name, -change], math.log((1 + change) / (1 - change)))

    def elasticities(self, dearer, cheaper, span):
        return {what: Interval(elasticity.elasticity([p[what] for p in dearer], [p[what] for p in cheaper], span)) for what in elasticity.LAW}

    def column(self, what):
        """cost → Interval, for single costs."""
        return {cost: by[what] for cost, by in self.by_cost.items() if cost != costs.EVERYTHING}

    def halve(self, name):
        cost = next(cost for cost in self.asked if cost.name == name)
        found = self.sweep([self.point(cost, -HALF)])
        if found:
            kind = self.base[0]["kind"]
            faster = [measured(result, kind)["throughput"] for result in found[name, -HALF]["runs"]]
            self.worth = Interval([fast / base["throughput"] - 1 for fast, base in zip(faster, self.base)])

    def double(self):
        """The law without a spread: with every cost doubled, each command takes twice as long, to the nanosecond."""
        seed = self.args.seeds[0]
        found = self.sweep([Point({"cost": WHOLE, "change": change}, f"{WHOLE} {change:+.0%}", [(folder_of(WHOLE, f"{100 * change:+.0f}", seed), device,
                           {**workload, "seed": seed}, *runs.plugin_options(*self.plugin_words(seed)))])
                            for change, (device, workload) in zip((0.0, 1.0), self.files.doubled())])
        if len(found) == 2:
            once, twice = (found[WHOLE, change]["runs"][0]["elapsed_ns"] for change in (0.0, 1.0))
            self.twice = twice / once

    def sums(self):
        return {what: elasticity.of_family(elasticity.total([i.values for i in self.column(what).values()])) for what in elasticity.LAW}

    def control(self):
        return {what: elasticity.of_family(self.by_cost[costs.EVERYTHING][what].values) for what in elasticity.LAW}

    def broken(self):
        return elasticity.broken(self.sums(), self.control())

    def immovable(self):
        return [cost.name for cost in self.asked if cost.name not in self.by_cost]

    def verdict(self):
        """Sentences: whether the law holds."""
        broken, sums, wide = self.broken(), self.sums(), elasticity.unjudged(self.sums())
        out = [f"WRONG: {line}: a time is in no cost, or the run is not steady." for line in broken]
        out += [f"The sum of {name}, {elasticity.words(sums[what])}, is too wide to prove anything about {name}."
                for what, name in elasticity.NAMES.items() if what in wide]
        if self.twice:
            out.append(f"With every cost twice as large, and all times whole nanoseconds, the commands take {self.twice:.6f} times as long: "
                       + ("no time is missing." if exact(self.twice) else "a time is in no cost, or is rounded."))
        reasons = sorted({p["unsteady"] for p in self.base if p["unsteady"]})
        if reasons:
            out.append(f"The elasticities are of a run with its warm-up, since it reaches no steady state ({'; '.join(reasons)}).")
        if self.immovable():
            out.append(f"Too small to change by {self.args.change} %: {', '.join(self.immovable())}.")
        return out if broken or wide else ["The elasticities add up to -1, +1 and +1 within their intervals.", *out]

    def sentence(self):
        if self.broken():
            return "No limit is named, since the elasticities do not add up."
        return elasticity.sentence(self.column("throughput"), self.worth)

    def table(self):
        """For people."""
        mean = {what: report.mean(p[what] for p in self.base) for what in ("throughput", "mean", "p99", "elapsed_ns", "commands")}
        head = (f"{self.name}: {mean['throughput'] / 1e3:,.1f} KIOPS, mean {mean['mean'] / 1e3:,.1f} us, p99 of {self.base[0]['kind']}s "
                f"{mean['p99'] / 1e3:,.1f} us; {mean['commands']:,.0f} commands in {mean['elapsed_ns'] / 1e6:,.1f} ms of device time, seeds "
                f"{', '.join(map(str, self.args.seeds))}")
        rows = [[name, *(elasticity.words(by[what]) for what in elasticity.LAW)]
                for name, by in sorted(self.column_rows(), key=lambda row: row[1]["throughput"].mean)]
        rows += [[name, *(elasticity.words(of[what]) for what in elasticity.LAW)] for name, of in
                 (("sum (must hold -1, +1, +1)", self.sums()), ("all at once (the same)", self.control()))]
        rows += [[f"{name} (in no sum)", *(elasticity.words(by[what]) for what in elasticity.LAW)] for name, by in self.by_code.items()]
        lines = report.table_lines([f"cost, {self.args.change} % cheaper and dearer", *elasticity.NAMES.values()], rows)
        return "\n".join([head, "", *lines, "", *self.verdict(), "", self.sentence()])

    def column_rows(self):
        return [(name, by) for name, by in self.by_cost.items() if name != costs.EVERYTHING]

    def facts(self):
        def of(intervals):
            return {what: {k: finite(v) for k, v in interval.facts().items()} for what, interval in intervals.items()}
        members = {cost.name: {"group": cost.group, "keys": [key.lstrip("-") for key in cost.keys]} for cost in self.asked}
        return {"schema": "hartzone-explain-1", "point": self.name, "seeds": self.args.seeds, "change": self.args.change / 100,
                "software": self.sweeps[0].software, "interrupted": any(sweep.interrupted for sweep in self.sweeps),
                "cycle_parts": self.files.parts, "base": self.base, "p99_of": self.base[0]["kind"],
                "costs": [{"name": name, **members[name], **of(by)} for name, by in self.column_rows()], "too_small": self.immovable(),
                "parts": [{"name": name, **of(by)} for name, by in self.by_code.items()], "sum": of(self.sums()), "all_at_once": of(self.control()), "twice": self.twice,
                "broken": self.broken(), "limits": self.names,
                "half": self.worth.facts() if self.worth else None, "verdict": self.verdict(), "sentence": self.sentence()}


def exact(twice):
    return abs(twice / costs.TWICE - 1) < EXACT


def finite(value):
    return None if isinstance(value, float) and not math.isfinite(value) else value
