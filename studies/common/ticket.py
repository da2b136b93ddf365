"""How throughput grows with workers that meet at a ticket lock (Boyd-Wickizer, Kaashoek, Morris, Zeldovich, "Non-scalable locks are
dangerous", Linux Symposium 2012), from times that are known beforehand: nothing is fitted.

A Markov chain. With k of n workers at the lock, of which one holds it and the others wait, the next one comes at the rate (n − k) / between,
and one leaves at the rate 1 / (section + hand-over to one of k − 1). So the chance of k is in proportion to the product of the latter times
· between^(n − k) / (n − k)!. Those who are not at the lock come to it at the rate 1 / between each, which is the throughput, and one worker
alone has 1 / (between + section):

    speed-up(n) = (n − mean of k) · (between + section) / between

Several locks of which each is chosen with a fixed chance are a network of such, in which the chances multiply too."""
# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Handover:
    """From one worker to the next: all waiters poll one word, and the next holder is in the middle
    of them. With c / 2 and c it is the paper's c · waiting / 2."""
    least: float # to the only one that waits
    each: float  # that a look keeps the word from the others

    def time(self, waiting):
        return self.least + self.each * (waiting - 1) / 2 if waiting else 0.0


def weights(workers, share, section, handover):
    """Of 0, 1, … workers at a lock chosen with this probability: the product of their times."""
    out = [1.0]
    for here in range(1, workers + 1):
        out.append(out[-1] * share * (section + handover.time(here - 1)))
    return out


def joined(a, b):
    """Joint weights of worker counts at two locks."""
    return [sum(a[i] * b[k - i] for i in range(k + 1)) for k in range(len(a))]


def chances(workers, between, section, handover, shares):
    """Probability of each number of workers at a lock, from none to all."""
    unit = between + section # the products stay small
    at_locks = [1.0] + [0.0] * workers
    for share in shares:
        at_locks = joined(at_locks, weights(workers, share, section / unit, Handover(handover.least / unit, handover.each / unit)))
    found = [weight * (between / unit) ** (workers - k) / math.factorial(workers - k) for k, weight in enumerate(at_locks)]
    return [weight / sum(found) for weight in found]


def speedup(workers, between, section, handover, shares=(1.0,)):
    """Against one worker. between: from a release to the next acquisition; section: from an
    uncontended acquisition to its release; shares: probability of each lock."""
    busy = workers - sum(k * chance for k, chance in enumerate(chances(workers, between, section, handover, shares)))
    return busy * (between + section) / between
