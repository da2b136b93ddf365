"""Elasticities of throughput and latency to a change of a cost: means over seeds, with intervals,
and the conclusions that they prove.

An elasticity is d ln X / d ln c, here of two runs that differ in the cost c only: (ln X+ - ln X-) /
(ln c+ - ln c-). In a closed system with all times longer by a factor, throughput falls by that
factor, so the elasticities over all costs add up to -1, and those of every latency to +1.
"""
# SPDX-License-Identifier: BSD-3-Clause
import functools
import math

LAW = {"throughput": -1.0, "mean": 1.0, "p99": 1.0}
NAMES = {"throughput": "throughput", "mean": "mean latency", "p99": "p99"} # for people
CONFIDENCE = 0.95
TOGETHER = 2 * len(LAW) # sums and controls that are asked at once
NEAR = 0.02 # a sum that is as near to its law keeps it: times are whole nanoseconds, and changes are no differentials
WIDE = 0.5 # an interval of a sum that reaches farther to each side proves nothing
REST = "what is in no cost"
MOST_SEEDS = 64 # that one would ask for


@functools.cache
def student(freedom, confidence=CONFIDENCE):
    """Number of standard errors to each side that hold the mean with this probability."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)

    def within(t, steps=400): # t = sqrt(freedom) * tan(angle) makes the integrand a power of a cosine
        end = math.atan(t / math.sqrt(freedom))
        values = [math.cos(end * i / steps) ** (freedom - 1) * (1 if i in (0, steps) else 4 if i % 2 else 2) for i in range(steps + 1)]
        return 2 * scale * math.sqrt(freedom) * sum(values) * end / steps / 3
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) < confidence else (low, middle)
    return high


class Interval:
    """A mean over seeds with its confidence interval. With one seed the interval is unbounded."""

    def __init__(self, values, confidence=CONFIDENCE):
        self.values, self.mean, self.confidence = list(values), sum(values) / len(values), confidence
        n = len(self.values)
        self.deviation = math.sqrt(sum((v - self.mean) ** 2 for v in self.values) / (n - 1)) if n > 1 else math.inf
        self.half = student(n - 1, confidence) * self.deviation / math.sqrt(n) if n > 1 else math.inf
        self.low, self.high = self.mean - self.half, self.mean + self.half

    def holds(self, value, slack=0.0):
        return self.low - slack <= value <= self.high + slack

    def __sub__(self, other):
        """Of the differences of each seed."""
        return Interval([a - b for a, b in zip(self.values, other.values)])

    def facts(self):
        ends = [self.low, self.high] if math.isfinite(self.half) else None
        return {"mean": self.mean, "interval": ends, "by_seed": self.values}


def elasticity(dearer, cheaper, log_span):
    """By seed, from measurements with the dearer and with the cheaper cost."""
    return [(math.log(more) - math.log(less)) / log_span for more, less in zip(dearer, cheaper)]


def total(columns):
    """By seed, over the costs."""
    return [sum(column) for column in zip(*columns)]


def of_family(values):
    """Interval of a sum, widened so that all sums and controls hold at once."""
    return Interval(values, 1 - (1 - CONFIDENCE) / TOGETHER)


def broken(sums, control):
    """Sentences about laws that do not hold, or cannot be judged."""
    found = []
    for name, target in LAW.items():
        for what, interval in ((f"the elasticities of {NAMES[name]}", sums[name]), (f"{NAMES[name]} with every cost changed at once", control[name])):
            if not interval.holds(target, NEAR):
                found.append(f"{what}: {words(interval)} instead of {target:+.0f}")
    return found


def unjudged(sums):
    return [name for name in LAW if sums[name].half > WIDE]


def words(interval):
    return f"{interval.mean:+.2f} ({interval.low:+.2f} to {interval.high:+.2f})"


def order(found):
    """Names of costs proven to limit throughput, largest first. found: name → Interval."""
    return [name for name, interval in sorted(found.items(), key=lambda item: item[1].mean) if interval.high < 0]


def rest(found):
    """What the costs leave of the law, by seed: a time that is in none of them could be worth as much."""
    return Interval([LAW["throughput"] - value for value in total([i.values for i in found.values()])])


def candidates(found):
    """What a limit must be proven to be more than."""
    return {**found, REST: rest(found)}


def judged(found):
    """Whether the interval of the sum proves anything."""
    return of_family(rest(found).values).half <= WIDE


def doubts(found, first):
    """name → Interval of first less that, of the costs that could be more than the first for all that the seeds say."""
    differences = {name: found[first] - interval for name, interval in candidates(found).items() if name != first}
    return {name: difference for name, difference in differences.items() if difference.high >= 0}


def limits(found):
    """(names that limit, name that is next). Several names: the limit is one of them. Nothing that is not proven is named."""
    ranked = order(found)
    if not ranked or not judged(found):
        return [], None
    together = [ranked[0], *[name for name in ranked[1:] if name in doubts(found, ranked[0])]]
    if set(doubts(found, ranked[0])) - set(together):
        return [], None
    left = [name for name in ranked if name not in together]
    follows = left[0] if left and not set(doubts(found, left[0])) - set(together) else None
    return together, follows


def obstacles(found):
    """Why no limit is proven: (in words, interval, how narrow it would have to be to each side), the widest first."""
    first, left = min(found, key=lambda name: found[name].mean), of_family(rest(found).values)
    if left.half > WIDE:
        return [(f"the sum of throughput is {words(of_family(total([i.values for i in found.values()])))}", left, WIDE)]
    own = [(f"{first} is {words(found[first])}", found[first], abs(found[first].mean))] if found[first].high >= 0 else []
    others = [(f"{first} minus {name} is {words(less)}", less, abs(less.mean)) for name, less in doubts(found, first).items() if name not in order(found)]
    return sorted(own + others, key=lambda one: excess(*one[1:]), reverse=True)


def excess(interval, narrow):
    """How many times too wide it is."""
    return interval.half / narrow if narrow else math.inf


def needed(interval, narrow):
    """Seeds that would make the interval narrower than that, if mean and spread stay; None: more than MOST_SEEDS."""
    return next((n for n in range(len(interval.values) + 1, MOST_SEEDS + 1)
                 if student(n - 1, interval.confidence) * interval.deviation / math.sqrt(n) < narrow), None)


def unproven(found):
    """Sentences: that no limit is proven, why, and what to do."""
    (what, interval, narrow), *others = obstacles(found)
    seeds, more = needed(interval, narrow), f" (and {len(others)} more of the kind)" if others else ""
    do = f"at this spread more than {MOST_SEEDS} seeds would be needed, so make the runs longer (--commands)" if seeds is None else \
        f"about {seeds} seeds (--seeds), or {math.ceil(excess(interval, narrow) ** 2)} times the commands (--commands), if mean and spread stay"
    return f"This run proves no limit: {what}{more}. What to do: {do}."


def sentence(found, worth=None):
    """worth: Interval of throughput with what limits halved, over that as it is, less 1."""
    names, follows = limits(found)
    if not names:
        return unproven(found)
    share = lambda name: f"{-found[name].mean:.2f} %, {-found[name].high:.2f} to {-found[name].low:.2f}"  # noqa: E731
    out = f"The limit: {names[0]} (1 % less gives {share(names[0])} more throughput)" if len(names) == 1 else \
        f"The limit is one of {' and '.join(names)} ({'; '.join(share(name) for name in names)} more throughput for 1 % less of each)"
    if worth and (worth.low > 0 or worth.high < 0):
        out += f"; half of {'it' if len(names) == 1 else names[0]} would be worth {100 * worth.mean:+.0f} % of throughput ({100 * worth.low:+.0f} to {100 * worth.high:+.0f} %)"
    return out + (f"; next: {follows} ({share(follows)})" if follows else "") + "."
