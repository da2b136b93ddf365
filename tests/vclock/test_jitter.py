"""Perturbed schedules: another order for every seed, the same one for one seed, whatever the host does."""
# SPDX-License-Identifier: BSD-3-Clause
import lockbench
from suite import LOCKBENCH, LockbenchCase, PLUGIN, ProbeCase, fingerprint, main


class Jitter(ProbeCase):
    def report(self, scene, harts, jitter=None, **more):
        with self.probe(scene, harts, options=[f"jitter={jitter}"] if jitter else [], **more) as m:
            self.assertEqual(m.run(), 0, m.output)
            report = fingerprint(m.report())
            self.assertTrue(report["deterministic"], report["reason"])
            return report

    def test_one_order_for_each_seed(self):
        hashes = {self.report("order", 4)["order_hash"]}
        for seed in range(1, 9):
            first = self.report("order", 4, seed)
            self.assertEqual(first["parameters"]["jitter"], {"seed": seed, "permille": 100})
            for pin in ("off", "auto"):
                self.assertEqual(self.report("order", 4, seed, pin=pin), first)
            hashes.add(first["order_hash"])
        self.assertEqual(len(hashes), 9)

    def test_off_by_default(self):
        self.assertIsNone(self.report("order", 2)["parameters"]["jitter"])

    def test_the_mean_is_what_was_asked_for(self):
        """Cycles beyond those of the run without, per instruction counted. Draws have a long tail, so the mean of one hart is rough."""
        plain = self.report("order", 1, rounds=20000)["harts"][0]
        for permille in (10, 100, 1000):
            means = []
            for seed in range(1, 6):
                hart = self.report("order", 1, f"{seed}:{permille}", rounds=20000)["harts"][0]
                self.assertEqual(hart["counted"], plain["counted"])
                means.append((hart["cycles"] - plain["cycles"]) / hart["counted"] * 1000)
            self.assertEqual(len(set(means)), 5)
            self.assertAlmostEqual(sum(means) / 5, permille, delta=permille * 0.3)

    def test_waits_end_by_the_same_rules(self):
        """No wake is lost and no deadline missed under any seed."""
        for seed in range(1, 6):
            with self.probe("ping", 4, rounds=50, options=[f"jitter={seed}:1000"]) as m:
                self.assertEqual(m.run(), 0, m.output)
                self.assertTrue(all(v & 0xFF == 0 for v in m.values()))
            with self.probe("take", 4, rounds=50, think=1, options=[f"jitter={seed}:1000"]) as m:
                self.assertEqual(m.run(), 0, m.output)
                self.assertEqual(m.values(), (0,) * 4)


class Locks(LockbenchCase):
    def test_every_lock_excludes_under_every_seed(self):
        for kind in lockbench.EXCLUDING:
            totals = set()
            for seed in range(1, 7):
                with lockbench.Lockbench(LOCKBENCH, 4, kind, 100, 30, 80, 50000, plugin=PLUGIN, options=[f"jitter={seed}:500"]) as m:
                    self.assertEqual(m.run(), 0, m.output)
                    results = m.results()
                    self.assertEqual(results["sum"], results["total"], kind)
                    totals.add(m.report()["order_hash"])
            self.assertEqual(len(totals), 6)


if __name__ == "__main__":
    main()
