"""What the points of the lock study mean: laws of growth, and which kinds of lock differ. The limit is found by experiment."""
# SPDX-License-Identifier: BSD-3-Clause
import collections

from common import usl
from common.elasticity import Interval
from common.report import mean

ROLES = ("hil", "tsu", "worker")
FALLING = 0.05 # a loss is reported where its interval is beyond this
LIMITS = 1.1 # a lock is called a limit where throughput without it is so many times as high, at the lower end of its interval
DIVIDED = {"class": "one lock for each class", "sharded": "several locks for each class", "fine": "a lock for each object"}


def lost(p):
    """Share of the workers' time spent spinning."""
    return sum(part for use, part in p["time"].items() if use.startswith("spin"))


def locks(p):
    """Number of locks used: one global lock, or those of all classes."""
    return 1 if "global" in p["instances"] else sum(p["instances"].values())


GROWING = "growing" # the usual load: a host thread for each worker
OURS = "firmware" # name of the tree's own image
Key = collections.namedtuple("Key", "kind granularity workers costs architecture load firmware", defaults=[GROWING, OURS]) # of a point, in the order of its labels


class Line(collections.namedtuple("Line", "kind granularity costs architecture load firmware", defaults=[GROWING, OURS])):
    """Points that differ in their workers only, or in their workers and host threads."""

    @property
    def name(self):
        """Non-default properties, except costs."""
        return " ".join([self.kind, *[word for word, usual in ((self.granularity, "device"), (self.architecture, "pipeline"), (self.load, GROWING),
                                                               (self.firmware, OURS)) if word != usual]])

    @property
    def labels(self):
        """As in study.json."""
        return {"lock": self.kind, "granularity": self.granularity, "costs": self.costs, "architecture": self.architecture, "load": self.load,
                "firmware": self.firmware}

    def key(self, workers):
        """Key of its point with this number of workers."""
        return Key(self.kind, self.granularity, workers, self.costs, self.architecture, self.load, self.firmware)


def line_of(key):
    key = Key(*key)
    return Line(key.kind, key.granularity, key.costs, key.architecture, key.load, key.firmware)


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
    """How far the interval of throughput reaches to each side, as a share of the mean."""
    return Interval(p["kiops_by_seed"]).half / p["kiops"]


def stopped(measured, share, most):
    """Sentences about an early stop at this share; None: there was none."""
    if not share:
        return []
    used = [p["seeds"] for p in measured.values()]
    wide = sum(spread(p) > share for p in measured.values())
    return [f"Seeds ended where the 95 % interval of throughput reached {100 * share:g} % to each side: {min(used)} to {max(used)} a point, {sum(used)} in all"
            + (f"; {wide} points stayed wider with {most}." if wide else ".")]


def gain(p, over):
    """Interval of this point's throughput over the other's less 1, by seed that both have."""
    return Interval([here / there - 1 for here, there in zip(p["kiops_by_seed"], over["kiops_by_seed"])])


def ranking(points):
    """Of name → point, by throughput, best first. Groups part where each of one is proven to be faster than each of the next."""
    names = sorted(points, key=lambda name: (points[name]["kiops"], name), reverse=True)
    groups = [names[:1]]
    for at, name in enumerate(names[1:], 1):
        if all(gain(points[slower], points[faster]).high < 0 for faster in names[:at] for slower in names[at:]):
            groups.append([])
        groups[-1].append(name)
    return [sorted(group) for group in groups]


def in_words(groups):
    return " > ".join(" = ".join(kinds) for kinds in groups)


def percent(interval):
    """Of a loss: its ends, unless they are equal."""
    low, high = (f"{-100 * end:.0f}" for end in (interval.high, interval.low))
    return f"{low} to {high} %" if low != high else f"{low} %"


def growth(name, line, limit=None):
    """One line of points from its fewest to its most workers, and where it falls. limit: result of
    an experiment at its last point."""
    (fewest, first), (most, last) = line[0], line[-1]
    best, top = max(line, key=lambda point: point[1]["kiops"])
    out = f"{name}: {most} workers reach {last['kiops'] / first['kiops']:.2f} times the throughput of {fewest}."
    lost_since = gain(last, top)
    if lost_since.high < -FALLING:
        out += f" Throughput falls beyond {best} workers, by {percent(lost_since)}."
    return out + (f" With {most}: {limit}" if limit else "")


def divisions(measured, most):
    """(interval of the gain, line), most gain first: what dividing the one lock does at the most workers; the same seeds with other locks, and nothing
    else changed."""
    at_most, found = {line_of(key): p for key, p in measured.items() if Key(*key).workers == most}, []
    for line, p in at_most.items():
        one = at_most.get(line._replace(granularity="global"))
        if line.granularity in DIVIDED and one:
            found.append((Interval([a / b for a, b in zip(p["kiops_by_seed"], one["kiops_by_seed"])]), line))
    return sorted(found, key=lambda item: -item[0].mean)


def blamed(measured, most):
    """Lines of our firmware with one lock that dividing it proves to be the limit."""
    return list(dict.fromkeys(line._replace(granularity="global") for gain, line in divisions(measured, most) if gain.low > LIMITS and line.firmware == OURS))


def gains(measured, most, parts=None):
    """Sentences. parts: line with one lock → what its sections and hand-overs are worth, by experiment."""
    return [gained(gain, line, most, (parts or {}).get(line._replace(granularity="global"))) for gain, line in divisions(measured, most)]


def worth(parts):
    """What an experiment says of the one lock, behind "the limit"."""
    def said(part):
        mean, low, high = (f"{round(-end, 2) + 0.0:.2f}" for end in (part.mean, part.high, part.low)) # no -0.00
        return f"{mean} % ({low} to {high})"
    both = Interval([a + b for a, b in zip(*(part.values for part in parts))])
    if both.high >= 0:
        return ", but neither shorter sections nor quicker hand-overs prove to help, so another limit is near"
    return f"; 1 % less time in its sections gives {said(parts[0])} more throughput, and 1 % quicker hand-overs {said(parts[1])}"


def gained(gain, line, most, parts=None):
    verdict = ("the one lock is the limit" + (worth(parts) if parts else "") if gain.low > LIMITS else "that costs throughput" if gain.high < 1 else
               "that is not enough" if gain.high < LIMITS else "whether that helps is not proven")
    what = ", ".join([line.kind, *[line.architecture] * (line.architecture != "pipeline"), *[f"costs {line.costs}"] * (line.costs != "rocket"),
                      *[f"{line.load} load"] * (line.load != GROWING), *[line.firmware] * (line.firmware != OURS)])
    return (f"{what}, {most} workers: {DIVIDED[line.granularity]} in place of one lock for the whole FTL, all else equal, gives {gain.mean:.2f} times the "
            f"throughput ({gain.low:.2f} to {gain.high:.2f}, 95 % over the seeds): {verdict}.")


def side_by_side(measured):
    """Each line of another firmware beside ours, worker count by worker count."""
    found, out = lines(measured), []
    for line, points in found.items():
        ours = dict(found.get(line._replace(firmware=OURS), ()))
        both = [(workers, p, ours[workers]) for workers, p in points if line.firmware != OURS and workers in ours]
        if both:
            def row(value, both=both):
                return ", ".join(value(p, own) for _, p, own in both)
            out.append(f"{line.name}, costs {line.costs}: with {', '.join(str(workers) for workers, *_ in both)} workers "
                       f"{row(lambda p, own: format(p['kiops'] / own['kiops'], '.2f'))} times the throughput of ours; locks take "
                       f"{row(lambda p, _: format(100 * lost(p), '.1f'))} % of its workers' time, and {row(lambda _, own: format(100 * lost(own), '.1f'))} % of "
                       "our workers'.")
    return out


def conclusions(measured, seeds, limits=None, parts=None):
    """Sentences proven by their figures. limits: line → result of an experiment at its most
    workers; parts: as in gains."""
    most = max(Key(*key).workers for key in measured)
    out = side_by_side(measured) + (gains(measured, most, parts) if len(seeds) > 1 else [])
    out += [growth(f"{line.name}, costs {line.costs}", points, (limits or {}).get(line)) for line, points in lines(measured).items() if len(points) > 1]
    if len(seeds) == 1:
        return out + ["One seed has no intervals, so it proves no difference, and no fall of a line (--seeds 1,2,3)."]
    at_most = {line_of(key): p for key, p in measured.items() if Key(*key).workers == most}
    for axis, plural, subject in (("kind", "Kinds", "lock kinds"), ("granularity", "Granularities", "granularity"),
                                  ("architecture", "Architectures", "architecture"), ("firmware", "Firmware images", "firmware")):
        for others in dict.fromkeys(line._replace(**{axis: None}, costs=None) for line in at_most):
            order = {costs: ranking({getattr(line, axis): p for line, p in at_most.items()
                                     if line._replace(**{axis: None}, costs=None) == others and line.costs == costs})
                     for costs in all_costs(measured)}
            out += compared(order, f"{plural}{of_others(others)} at {most} workers", subject)
    return out


def of_others(line):
    """What all lines of a comparison have, where it is not as usual."""
    fixed = [f"granularity {line.granularity}"] * (line.granularity not in (None, "device")) + [line.architecture] * (line.architecture not in (None, "pipeline"))
    fixed += [f"{line.load} load"] * (line.load != GROWING) + [line.firmware] * (line.firmware not in (None, OURS))
    return (f" of {line.kind}" if line.kind else "") + (f" ({', '.join(fixed)})" if fixed else "")


def all_costs(measured):
    return list(dict.fromkeys(Key(*key).costs for key in measured))


def compared(order, what, subject):
    """order: costs → ranking. "=" joins what the seeds do not tell apart."""
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
