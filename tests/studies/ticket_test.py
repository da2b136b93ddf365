"""The model of a ticket lock behind the study lock-scaling: its limits are those of the theory of queues, a simulation of harts that queue agrees
with it, and it is fed with what one worker counted."""
# SPDX-License-Identifier: BSD-3-Clause
import heapq
import math
import pathlib
import random
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "studies" / "lock-scaling")]
import predicted  # noqa: E402
import scaling  # noqa: E402
from common import ticket  # noqa: E402
from common.ticket import Handover, speedup  # noqa: E402

IDEAL = Handover(0.0, 0.0)


def machine_repair(machines, up, repair):
    """Speed-up of the closed M/M/1 queue with this number of customers, by its textbook solution:
    the server's utilisation over that of one."""
    def busy(n):
        return 1 - 1 / sum(math.factorial(n) / math.factorial(n - k) * (repair / up) ** k for k in range(n + 1))
    return busy(machines) / busy(1)


def mean_value(workers, between, section, locks):
    """The same with several locks that are chosen alike, by mean value analysis (Reiser and Lavenberg, 1980)."""
    at_each = 0.0
    for n in range(1, workers + 1):
        stay = section * (1 + at_each)
        rate = n / (between + stay)
        at_each = rate * stay / locks
    return rate * (between + section)


class Simulation:
    """Harts that work, come to one of the locks, and are served in turn: sections and work have
    random lengths, and a hand-over's cost depends on the number of waiters at the release."""

    def __init__(self, harts, between, section, handover, locks=1):
        self.dice, self.between, self.section, self.handover = random.Random(7), between, section, handover
        self.queues, self.now, self.passed = [[] for _ in range(locks)], 0.0, 0
        self.events = [(self.draw(between), hart, None) for hart in range(harts)]
        heapq.heapify(self.events)

    def draw(self, mean):
        return self.dice.expovariate(1 / mean)

    def later(self, delay, hart, leaves):
        heapq.heappush(self.events, (self.now + delay, hart, leaves))

    def comes(self, hart):
        lock = self.dice.randrange(len(self.queues))
        self.queues[lock].append(hart)
        if len(self.queues[lock]) == 1:
            self.later(self.draw(self.section), hart, lock)

    def leaves(self, hart, lock):
        self.queues[lock].pop(0)
        self.passed += 1
        self.later(self.draw(self.between), hart, None)
        waiting = len(self.queues[lock])
        if waiting:
            self.later(self.handover.time(waiting) + self.draw(self.section), self.queues[lock][0], lock)

    def speedup(self, passes):
        while self.passed < passes:
            self.now, hart, lock = heapq.heappop(self.events)
            if lock is None:
                self.comes(hart)
            else:
                self.leaves(hart, lock)
        return self.passed / self.now * (self.between + self.section)


class Model(unittest.TestCase):
    def test_one_worker_hands_over_to_nobody(self):
        for handover in (IDEAL, Handover(80, 20), Handover(1e4, 1e4)):
            for shares in ((1.0,), (0.3, 0.7)):
                self.assertAlmostEqual(speedup(1, 300, 400, handover, shares), 1.0, places=12)

    def test_without_hand_over_it_is_the_machine_repair_queue(self):
        for n in (1, 2, 3, 8, 16, 60):
            for between, section in ((2000, 100), (300, 400), (10, 1000)):
                self.assertAlmostEqual(speedup(n, between, section, IDEAL), machine_repair(n, between, section), places=9)

    def test_several_locks_are_a_network(self):
        for n in (2, 8, 32):
            for locks in (2, 5, 16):
                self.assertAlmostEqual(speedup(n, 300, 400, IDEAL, [1 / locks] * locks), mean_value(n, 300, 400, locks), places=9)

    def test_balance(self):
        """As many go from k to k + 1 as come back, with the paper's hand-over of c · waiting / 2, and the whole is 1."""
        n, between, section, c = 12, 2000.0, 100.0, 40.0
        found = ticket.chances(n, between, section, Handover(c / 2, c), (1.0,))
        self.assertAlmostEqual(sum(found), 1.0, places=12)
        for k in range(n):
            self.assertAlmostEqual(found[k] * (n - k) / between, found[k + 1] / (section + c * k / 2), places=15)

    def test_bounds(self):
        """No more than the workers, nor than the section lets pass; and with nothing else in the way, that."""
        grown = [speedup(n, 2000, 100, IDEAL) for n in range(1, 61)]
        self.assertEqual(grown, sorted(grown))
        for n, times in enumerate(grown, 1):
            self.assertLess(times, min(n, 21) + 1e-9)
        self.assertAlmostEqual(grown[-1], 21, places=6)

    def test_a_large_hand_over_makes_it_fall(self):
        falling = [speedup(n, 2000, 100, Handover(500, 1000)) for n in range(6, 61)]
        self.assertEqual(falling, sorted(falling, reverse=True))
        self.assertLess(speedup(48, 2000, 100, Handover(500, 1000)), 0.1)
        by_cost = [speedup(16, 2000, 100, Handover(c / 2, c)) for c in (0, 20, 40, 100, 400)]
        self.assertEqual(by_cost, sorted(by_cost, reverse=True))

    def test_a_simulation_agrees(self):
        """Away from the knee: where a queue of all and a queue of none both last, a chain that forgets is too fast by up to 15 %."""
        for harts, between, section, handover, locks in ((2, 320, 447, Handover(80, 20), 1), (8, 2000, 100, Handover(20, 40), 1),
                                                         (16, 320, 447, Handover(80, 20), 1), (24, 2000, 100, Handover(50, 100), 1),
                                                         (8, 450, 580, Handover(80, 20), 4)):
            with self.subTest(harts=harts, between=between, locks=locks):
                simulated = Simulation(harts, between, section, handover, locks).speedup(20000)
                self.assertAlmostEqual(speedup(harts, between, section, handover, [1 / locks] * locks) / simulated, 1.0, delta=0.035)


COSTS = {"mhz": 500, "remote": 40, "far": 100, "cluster": 0, "occupancy": 20, "reads": "queue", "busy": "occupancy", "local": 3, "wake": 0}


def run(workers, locks, spin_ns=0, commands=100, **costs):
    """result.json of a run of 1000 µs. locks: (class, acquisitions, hold_ns) each; two harts are no
    workers."""
    harts = [{"role": role, "elapsed_ns": 1_000_000, "spin_ns": 0} for role in ("hil", "tsu")]
    harts += [{"role": "worker", "elapsed_ns": 1_000_000, "spin_ns": spin_ns} for _ in range(workers)]
    return {"harts": harts, "locks": [{"class": name, "acquisitions": n, "hold_ns": held} for name, n, held in locks],
            "totals": {"read": {"ops": commands // 2}, "write": {"ops": commands - commands // 2}}, "vclock": {"parameters": {**COSTS, **costs}}}


ALONE, MANY = (("zone", 600, 300_000), ("zone", 200, 100_000), ("zone", 0, 0), ("slc", 100, 5_000), ("open", 0, 0)), (("zone", 900, 600_000), ("slc", 300, 20_000))


def point(kiops, *runs, **spins):
    spun = {f"spin {name}": share for name, share in spins.items()}
    return {"kiops": kiops, "kiops_by_seed": [kiops] * len(runs), "time": {"work": 1 - sum(spins.values()), **spun},
            "locks_by_seed": [predicted.of_run(one) for one in runs]}


class Inputs(unittest.TestCase):
    def test_times_of_a_class_are_those_of_the_workers(self):
        zone = predicted.of_run(run(1, ALONE, spin_ns=40_000))["classes"]["zone"]
        self.assertEqual((zone["hold_ns"], zone["per_command"], zone["shares"]), (500.0, 8.0, [0.75, 0.25]))
        self.assertEqual(zone["between_ns"], (1_000_000 - 40_000 - 400_000) / 800)
        self.assertNotIn("open", predicted.of_run(run(1, ALONE))["classes"], "a lock that nobody takes")

    def test_a_hand_over_costs_what_the_cost_model_says(self):
        def of(**costs):
            return predicted.of_run(run(1, ALONE, **costs))["handover"]
        self.assertEqual(of(), {"least_ns": 160.0, "each_ns": 40.0}, "two transfers, at 2 ns a cycle")
        self.assertEqual(of(mhz=1000, wake=5), {"least_ns": 85.0, "each_ns": 20.0})
        self.assertEqual(of(reads="merge")["each_ns"], 0.0)
        self.assertEqual(of(busy="access")["each_ns"], 86.0, "the line is busy for the transfer and the access")
        self.assertEqual(of(cluster=4)["least_ns"], 400.0)


class Predictions(unittest.TestCase):
    def line(self, first=None, zone=0.3):
        first = first or point(100.0, run(1, ALONE), run(1, ALONE, commands=50))
        return [(1, first), (4, point(150.0, run(4, MANY, commands=100), run(4, MANY, commands=50), zone=zone, slc=0.01))]

    def test_the_class_that_takes_most_is_the_one_and_one_worker_its_source(self):
        found = predicted.model(self.line())
        self.assertEqual((found["class"], found["hold_ns"], found["between_ns"], found["handover_ns"], found["handover_each_ns"]),
                         ("zone", 500.0, 750.0, 160.0, 40.0))
        one, four = found["points"]
        self.assertAlmostEqual(one["model"], 1.0)
        self.assertEqual((four["workers"], four["locks"], four["measured"]), (4, 1, 1.5))
        self.assertAlmostEqual(four["model"], speedup(4, 750, 500, Handover(160, 40)), places=12)
        self.assertAlmostEqual(four["acquisitions"], 1.5 * (9 + 18) / (8 + 16))
        self.assertEqual(four["model_seeds"], [four["model"]] * 2)

    def test_seeds_have_a_range(self):
        slower = tuple((name, n, 2 * held) for name, n, held in ALONE)
        four = predicted.model(self.line(point(100.0, run(1, ALONE), run(1, slower))))["points"][1]
        self.assertLess(four["model_seeds"][0], four["model_seeds"][1])
        self.assertAlmostEqual(four["model"], sum(four["model_seeds"]) / 2)

    def test_shares_are_those_of_the_point(self):
        two = [(1, point(1.0, run(1, ALONE))), (8, point(3.0, run(8, ALONE), zone=0.2))]
        self.assertAlmostEqual(predicted.model(two)["points"][1]["model"], speedup(8, 750, 500, Handover(160, 40), (0.75, 0.25)), places=12)

    def test_what_locks_take_is_reported_without_a_verdict(self):
        for share in (0.08, 0.2):
            sentence = predicted.sentence("mcs", predicted.model(self.line(zone=share)))
            self.assertIn(f"locks of class zone take {100 * share:.1f} % of the workers' time with 4 workers; by the model", sentence)
            self.assertIn("measured 1.50, and 1.69 times the acquisitions.", sentence)
            self.assertNotIn("matters", sentence)

    def test_what_the_model_cannot_say_has_a_reason(self):
        (_, one), (_, four) = self.line()
        silent = {**four, "time": {"work": 1.0, "spin zone": 0.0}}
        unused = {**four, "time": {"spin l2p": 0.5}}
        for line, reason in (([(2, one), (4, four)], "one worker's times"), ([(1, one), (4, silent)], "no worker waits"),
                             ([(1, one), (4, unused)], "class l2p, which takes most")):
            found = predicted.model(line)
            self.assertEqual(list(found), ["reason"])
            self.assertIn(reason, predicted.sentence("mcs", found))

    def test_points_have_the_throughput_of_the_model(self):
        measured = {scaling.Key("mcs", "device", workers, "rocket", "pipeline"): p for workers, p in self.line()}
        measured["tas", "device", 1, "rocket", "pipeline"] = self.line()[1][1]
        found = predicted.kiops(measured)
        self.assertEqual(set(found), {scaling.Key("mcs", "device", n, "rocket", "pipeline") for n in (1, 4)}, "one point is no line")
        self.assertAlmostEqual(found[scaling.Key("mcs", "device", 4, "rocket", "pipeline")], 100 * speedup(4, 750, 500, Handover(160, 40)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
