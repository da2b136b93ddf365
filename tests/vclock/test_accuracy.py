"""Accuracy: lockbench under QEMU with the plugin equals the event model, hart by hart, operation by operation.

Compared: the common start, operations, wait time and end of every hart, the total, every hart's clock at the end. The
suite runs a cross-section; `--full` every combination of the matrix."""
# SPDX-License-Identifier: BSD-3-Clause
import itertools
import struct
import sys

import lockbench
import model
from suite import LOCKBENCH, LockbenchCase, PLUGIN, main

KINDS = lockbench.EXCLUDING
HARTS = (1, 2, 4, 8, 16, 32)
# think, spread, section
WORK = ((200, 0, 50), (200, 150, 50), (500, 0, 20), (2000, 1900, 50), (2000, 0, 200), (20, 10, 10))
OTHER_COSTS = dict(insn=2, local=3, remote=101, far=101, memory=101, occupancy=67, wake=9, pause=21)
CACHED_COSTS = dict(insn=1, local=2, remote=30, far=95, memory=70, occupancy=20, wake=3, pause=10, data="moves", reads="merge", cluster=3,
                    cache_bytes=512, cache_ways=2)
BUFFERED_COSTS = dict(insn=1, local=2, remote=40, far=40, memory=40, occupancy=20, wake=3, pause=10, store_buffer=4)
# As a chip with one hub, its caches made small, and with a second level.
HUB_COSTS = dict(insn=1, local=3, remote=69, far=69, memory=110, clean=41, busy="access", occupancy=0, wake=0, pause=0, pause_multiple=32, data="ordered",
                 dispatch=4, load=1, mul=8, div=28, div_bit=1, csr=2, cache_bytes=1024, cache_ways=4, l2_bytes=16384, l2_ways=8, l2=50)
TURN_COSTS = dict(HUB_COSTS, arbiter="turns", loop_exit=6)
CLASS_COSTS = dict(insn=1, local=2, remote=40, far=40, memory=40, occupancy=20, wake=0, pause=10, load=2, store=1, mul=4, div=19, branch=3, csr=7)

SETS = ("free", "rocket", "classes", "ideal", "other", "plain", "cached", "buffered", "hub", "turns")


def costs_and_options(name):
    named = {"other": OTHER_COSTS, "cached": CACHED_COSTS, "classes": CLASS_COSTS, "buffered": BUFFERED_COSTS, "hub": HUB_COSTS, "turns": TURN_COSTS}
    if name in named:
        return named[name], ["mhz=1600", *(f"{k}={v}" for k, v in named[name].items())], 1600
    return model.COSTS[name], [f"preset={name}"], 1000


def modelled(before, after, harts, costs, mhz):
    """before: parameter block; after: RAM at the end of the real run, used only for the device
    tree."""
    tree = model.find_device_tree(after)
    ram = bytearray(len(after))
    ram[tree - model.RAM:] = after[tree - model.RAM:]
    model.load_elf(LOCKBENCH, ram)
    offset = lockbench.ADDRESS - model.RAM
    ram[offset:offset + len(before)] = before
    m = model.Model(LOCKBENCH, harts, ram, costs, mhz)
    m.run()
    words = [struct.unpack_from("<4Q", ram, offset + 128 + 64 * h) for h in range(harts)]
    start, protected, total, finished = struct.unpack_from("<4Q", ram, offset + 48)
    return {"start_ns": start, "sum": protected, "total": total, "finished": finished,
            "operations": [w[0] for w in words], "wait_ns": [w[1] for w in words], "end_ns": [w[3] for w in words],
            "clocks": [m.clock(h) for h in m.harts], "fetched": [m.fetches(h) for h in m.harts]}


def measured_and_modelled(kind, harts, work, cost_name, seed=1, duration_ns=100000, waits=0):
    think, spread, section = work
    costs, options, mhz = costs_and_options(cost_name)
    with lockbench.Lockbench(LOCKBENCH, harts, kind, think, section, spread, duration_ns, seed, waits, plugin=PLUGIN,
                             options=options) as m:
        before = m.read(lockbench.ADDRESS, 128)
        code = m.run()
        if code:
            raise AssertionError(f"exit code {code}: {m.output}")
        report = m.report()
        real = m.results()
        with open(m.ram, "rb") as f:
            after = f.read()
    if not report["deterministic"]:
        raise AssertionError(f"no measurement: {report['reason']}")
    real["clocks"] = [h["cycles"] for h in report["harts"]]
    real["fetched"] = [h.get("data", dict(near=0, far=0, memory=0, cycles=0)) for h in report["harts"]]
    return real, modelled(before, after, harts, costs, mhz)


class Accuracy(LockbenchCase):
    def compare(self, cases):
        cases = list(cases)
        for case in cases:
            with self.subTest(case=case):
                real, expected = measured_and_modelled(*case)
                self.assertEqual(real, expected)
                self.assertEqual(real["finished"], 1)
                self.assertEqual(real["sum"], real["total"])
        print(f"{len(cases)} configurations compared", file=sys.stderr)

    def test_every_kind_and_hart_count(self):
        """Each kind at each hart count, work and costs by turns."""
        pairs = itertools.product(KINDS, HARTS)
        self.compare((kind, harts, WORK[n % len(WORK)], SETS[n % len(SETS)], n)
                     for n, (kind, harts) in enumerate(pairs))

    def test_seeds(self):
        self.compare((kind, 4, (200, 150, 50), "free", seed) for kind in KINDS for seed in range(2, 6))

    def test_waits_measured(self):
        """The loop then freezes its clock and reads it twice more per operation."""
        self.compare((kind, harts, (200, 150, 50), "free", 7, 100000, 1) for kind in KINDS for harts in (1, 4, 16))

    def test_no_lock(self):
        self.compare(("none", 1, work, "free") for work in WORK)

    def full_matrix(self):
        """Not part of the suite: minutes on a quiet host, half an hour on a busy one."""
        self.compare((kind, harts, work, costs, seed, 300000) for kind, harts, work, costs, seed
                     in itertools.product(KINDS, HARTS, WORK, SETS, (1, 2)))


class Clusters(LockbenchCase):
    """Purpose of distances: a lock that stays in a cluster wins where leaving it is expensive, and
    only there."""

    def operations(self, kind, far):
        options = ["cluster=4", f"far={far}", "data=moves"]
        with lockbench.Lockbench(LOCKBENCH, 16, kind, 200, 50, 150, 200000, 1, plugin=PLUGIN, options=options) as m:
            self.assertEqual(m.run(), 0, m.output)
            return m.results()["total"]

    def test_a_cohort_lock_is_for_far_clusters(self):
        self.assertGreater(self.operations("cohort", 400), 2 * self.operations("mcs", 400))
        self.assertLess(self.operations("cohort", 40), self.operations("mcs", 40))


if __name__ == "__main__":
    sys.argv = [a if a != "--full" else "Accuracy.full_matrix" for a in sys.argv]
    main()
