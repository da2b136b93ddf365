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
CONFIDENCE = 0.95
TOGETHER = 2 * len(LAW) # sums and controls that are asked at once
NEAR = 0.02 # a sum that is as near to its law keeps it: times are whole nanoseconds, and changes are no differentials
WIDE = 0.5 # a wider interval of a sum proves nothing


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
        self.values, self.mean = list(values), sum(values) / len(values)
        n = len(self.values)
        spread = math.sqrt(sum((v - self.mean) ** 2 for v in self.values) / (n - 1) / n) if n > 1 else math.inf
        self.half = student(n - 1, confidence) * spread if n > 1 else math.inf
        self.low, self.high = self.mean - self.half, self.mean + self.half

    def holds(self, value, slack=0.0):
        return self.low - slack <= value <= self.high + slack

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
        for what, interval in ((f"the elasticities of {name}", sums[name]), (f"{name} with every cost changed at once", control[name])):
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


def leads(found, first, second):
    """Whether the first is proven larger than the second: by the differences of each seed."""
    return Interval([a - b for a, b in zip(found[first].values, found[second].values)]).high < 0


def limits(found):
    """(names that limit, name that is next): indistinguishable costs limit together; only proven
    names."""
    ranked = order(found)
    if not ranked:
        return [], None
    together = [ranked[0], *[name for name in ranked[1:] if not leads(found, ranked[0], name)]]
    doubtful = [name for name, i in found.items() if name not in ranked and not leads(found, ranked[0], name)]
    rest = [name for name in ranked if name not in together]
    follows = rest[0] if rest and all(leads(found, rest[0], name) for name in found if name not in together and name != rest[0]) else None
    return ([] if doubtful else together), follows


def sentence(found, worth=None):
    """One sentence. worth: Interval of the relative gain in throughput with the limiting cost
    halved."""
    names, follows = limits(found)
    if not names:
        return "No cost is proven to be the limit: more seeds or more commands make the intervals narrower."
    share = lambda name: f"{-found[name].mean:.2f} %, {-found[name].high:.2f} to {-found[name].low:.2f}"  # noqa: E731
    out = f"The limit: {names[0]} (1 % less gives {share(names[0])} more throughput)" if len(names) == 1 else \
        f"The limit is shared by {' and '.join(names)} ({'; '.join(share(name) for name in names)} more throughput for 1 % less of each)"
    if worth and (worth.low > 0 or worth.high < 0):
        out += f"; half of {'it' if len(names) == 1 else names[0]} would be worth {100 * worth.mean:+.0f} % of throughput ({100 * worth.low:+.0f} to {100 * worth.high:+.0f} %)"
    out += f"; next: {follows} ({share(follows)})" if follows else "; which cost is next is not proven"
    return out + "."
