"""Conclusions from the points of the lock study: laws of growth, and significant differences
between kinds of lock. The limit is found by experiment."""
# SPDX-License-Identifier: BSD-3-Clause
import collections

from common import usl
from common.elasticity import Interval
from common.report import mean

ROLES = ("hil", "tsu", "worker")
FALLING = 0.05 # a loss of less is not called one, whatever the seeds say
LIMITS = 1.1 # a lock is called a limit where throughput without it is so many times as high, at the lower end of its interval
DIVIDED = {"class": "one lock for each class", "sharded": "several locks for each class", "fine": "a lock for each object"}


def lost(p):
    """Share of the workers' time spent spinning."""
    return sum(part for use, part in p["time"].items() if use.startswith("spin"))


def locks(p):
    """Number of locks used: one global lock, or those of all classes."""
    return 1 if "global" in p["instances"] else sum(p["instances"].values())


Key = collections.namedtuple("Key", "kind granularity workers costs architecture") # of a point, in the order of its labels


class Line(collections.namedtuple("Line", "kind granularity costs architecture")):
    """Points that differ in their workers only."""

    @property
    def name(self):
        """Non-default properties, except costs."""
        return " ".join([self.kind, *[word for word, usual in ((self.granularity, "device"), (self.architecture, "pipeline")) if word != usual]])

    @property
    def labels(self):
        """As in study.json."""
        return {"lock": self.kind, "granularity": self.granularity, "costs": self.costs, "architecture": self.architecture}

    def key(self, workers):
        """Key of its point with this number of workers."""
        return Key(self.kind, self.granularity, workers, self.costs, self.architecture)


def line_of(key):
    key = Key(*key)
    return Line(key.kind, key.granularity, key.costs, key.architecture)


def lines(measured):
    """Line → its points, ((workers, point), …), fewest workers first."""
    found = {}
    for key, p in sorted(measured.items(), key=lambda item: Key(*item[0]).workers):
        found.setdefault(line_of(key), []).append((Key(*key).workers, p))
    return found


def laws(line):
    """USL and Amdahl of a line's means, and the range of USL's parameters over the seeds; None: too
    few worker counts."""
    means = [(workers, p["kiops"]) for workers, p in line]
    law = usl.usl(means)
    if law is None:
        return None
    seeds = [usl.usl(list(points)) for points in zip(*([(workers, x) for x in p["kiops_by_seed"]] for workers, p in line))]

    def span(part):
        values = [part(seed) if seed else None for seed in seeds]
        return None if None in values else (min(values), max(values))
    return {"sigma": law.sigma, "sigma_seeds": span(lambda s: s.sigma), "kappa": law.kappa, "kappa_seeds": span(lambda s: s.kappa),
            "peak_workers": law.peak, "peak_seeds": span(lambda s: s.peak), "error": law.error, "one_worker_kiops": law.speed,
            "amdahl_sigma": usl.amdahl(means).sigma, "amdahl_error": usl.amdahl(means).error}


def spread(p):
    """Half of the range over seeds, in %."""
    return 50 * (max(p["kiops_by_seed"]) - min(p["kiops_by_seed"])) / p["kiops"]


def ranking(points):
    """Of name → point, by throughput, best first: differences below those of the seeds form one
    group."""
    groups = []
    for kiops, half, name in sorted(((p["kiops"], spread(p), name) for name, p in points.items()), reverse=True):
        if groups and groups[-1][0] * (1 - (groups[-1][1] + half) / 100) <= kiops:
            groups[-1][2].append(name)
        else:
            groups.append((kiops, half, [name]))
    return [sorted(names) for _, _, names in groups]


def in_words(groups):
    return " > ".join(" = ".join(kinds) for kinds in groups)


def growth(name, line, limit=None):
    """One line of points from its fewest to its most workers, and where it falls. limit: result of
    an experiment at its last point."""
    (fewest, first), (most, last) = line[0], line[-1]
    best, top = max(line, key=lambda point: point[1]["kiops"])
    out = (f"{name}: {most} workers reach {last['kiops'] / first['kiops']:.2f} times the throughput of {fewest}.")
    if top["kiops"] * (1 - max((spread(top) + spread(last)) / 100, FALLING)) > last["kiops"]:
        out += f" Throughput falls beyond {best} workers, by {100 * (1 - last['kiops'] / top['kiops']):.0f} %."
    return out + (f" With {most}: {limit}" if limit else "")


def gains(measured, most):
    """What dividing the one lock does at the most workers: the same seeds with other locks, and nothing else changed. Most gain first."""
    at_most, found = {line_of(key): p for key, p in measured.items() if Key(*key).workers == most}, []
    for line, p in at_most.items():
        one = at_most.get(line._replace(granularity="global"))
        if line.granularity in DIVIDED and one:
            found.append((Interval([a / b for a, b in zip(p["kiops_by_seed"], one["kiops_by_seed"])]), line))
    return [gained(gain, line, most) for gain, line in sorted(found, key=lambda item: -item[0].mean)]


def gained(gain, line, most):
    verdict = ("the one lock is the limit" if gain.low > LIMITS else "that is not enough" if gain.high < LIMITS else "whether that helps is not proven")
    what = ", ".join([line.kind, *[line.architecture] * (line.architecture != "pipeline"), *[f"costs {line.costs}"] * (line.costs != "default")])
    return (f"{what}, {most} workers: {DIVIDED[line.granularity]} in place of one lock for the whole FTL, all else equal, gives {gain.mean:.2f} times the "
            f"throughput ({gain.low:.2f} to {gain.high:.2f}, 95 % over the seeds): {verdict}.")


def conclusions(measured, seeds, limits=None):
    """Sentences proven by their figures. limits: line → result of an experiment at its most
    workers."""
    most = max(Key(*key).workers for key in measured)
    out = gains(measured, most) if len(seeds) > 1 else []
    out += [growth(f"{line.name}, costs {line.costs}", points, (limits or {}).get(line)) for line, points in lines(measured).items() if len(points) > 1]
    if len(seeds) == 1:
        return out + ["One seed says nothing about differences of a few percent, such as those between kinds of lock (--seeds 1,2,3)."]
    at_most = {line_of(key): p for key, p in measured.items() if Key(*key).workers == most}
    for axis, plural, subject in (("kind", "Kinds", "lock kinds"), ("granularity", "Granularities", "granularity"),
                                  ("architecture", "Architectures", "architecture")):
        for others in dict.fromkeys(line._replace(**{axis: None}, costs=None) for line in at_most):
            order = {costs: ranking({getattr(line, axis): p for line, p in at_most.items()
                                     if line._replace(**{axis: None}, costs=None) == others and line.costs == costs})
                     for costs in all_costs(measured)}
            out += compared(order, f"{plural}{of_others(others)} at {most} workers", subject)
    return out


def of_others(line):
    """What is fixed in a comparison, where it is not as usual."""
    fixed = [f"granularity {line.granularity}"] * (line.granularity not in (None, "device")) + [line.architecture] * (line.architecture not in (None, "pipeline"))
    return (f" of {line.kind}" if line.kind else "") + (f" ({', '.join(fixed)})" if fixed else "")


def all_costs(measured):
    return list(dict.fromkeys(Key(*key).costs for key in measured))


def compared(order, what, subject):
    """order: costs → ranking. Names within the noise of the seeds are equal."""
    out = [f"{what}, costs {costs}: {in_words(groups)}." for costs, groups in order.items() if sum(map(len, groups)) > 1]
    if out and len(order) > 1:
        same = len({in_words(groups) for groups in order.values()}) == 1
        out.append("This order is the same under every cost model that was tried." if same else
                   f"The order depends on the cost model: none of it is a finding about {subject} as such.")
    return out


def busy(results):
    """role → busy share of its busiest hart, a mean over the runs. A hart may have several roles;
    one that serves queue pairs in addition to a worker counts as the worker's. The link counts as
    one, by the direction that carries more data."""
    def busiest(result, role):
        return max(1 - h["idle_ns"] / h["elapsed_ns"] for h in result["harts"] if role in h["role"] and (role, h["role"]) != ("hil", "hil+worker"))
    def carried(result):
        most = max(result["totals"][direction]["bytes"] for direction in ("read", "write"))
        return min(1.0, most / result["device"]["link"]["bytes_per_s"] / (result["elapsed_ns"] / 1e9))
    return {**{role: mean(busiest(r, role) for r in results) for role in ROLES}, "link": mean(carried(r) for r in results)}
