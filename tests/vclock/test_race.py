"""Race check: planted races are found with both places named; synchronised work is clean."""
# SPDX-License-Identifier: BSD-3-Clause
import struct

import lockbench
from probe_image import PARAMETERS, SCENES
from suite import LOCKBENCH, LockbenchCase, PLUGIN, ProbeCase, fingerprint, main


class Planted(ProbeCase):
    def test_both_races_are_found(self):
        """A plain polling load, and a counter without a lock."""
        with self.probe("race", 2, options=["race-check=on"]) as m:
            self.assertEqual(m.run(), 0, m.output)
            races = m.report()["races"]
        self.assertTrue(any("plain_flag+0x0" in r for r in races), races)
        self.assertTrue(any("plain_count+0x0" in r for r in races), races)
        for race in races:
            self.assertRegex(race, r"hart \d (load|store) at \w+\+0x[0-9a-f]+ \(0x[0-9a-f]+\), then "
                                   r"hart \d (load|store) at \w+\+0x[0-9a-f]+ \(0x[0-9a-f]+\), of \w+\+0x")
        self.assertEqual(m.output.count("vclock: RACE: "), len(races))

    def test_races_before_a_failure_are_reported(self):
        """The harts wait for a third that is not there."""
        with self.probe("race", 2, options=["race-check=on"]) as m:
            m.write(PARAMETERS, struct.pack("<2Q", SCENES.index("race"), 3))
            self.assertEqual(m.run(), 3, m.output)
            report = m.report()
        self.assertEqual(report["end"], "deadlock")
        self.assertGreaterEqual(len(report["races"]), 2)
        self.assertEqual(m.output.count("vclock: RACE: "), len(report["races"]))

    def test_synchronised_work_is_clean(self):
        for scene in ("clean", "order", "ping", "late", "deadline", "take"):
            for harts in (2, 8):
                with self.probe(scene, harts, options=["race-check=on"]) as m:
                    self.assertEqual(m.run(), 0, m.output)
                    self.assertEqual(m.report()["races"], [], scene)

    def test_fences_order_relaxed_atomics(self):
        for think, places in ((1, 0), (0, 1)):
            with self.probe("fenced", 2, think=think, options=["race-check=on"]) as m:
                self.assertEqual(m.run(), 0, m.output)
                races = m.report()["races"]
                self.assertEqual(len(races), places, races)
                self.assertTrue(all("plain_flag" in r for r in races))

    def test_time_is_the_same_with_the_check(self):
        reports = []
        for check in ("off", "on"):
            with self.probe("clean", 4, options=[f"race-check={check}"]) as m:
                self.assertEqual(m.run(), 0, m.output)
                report = fingerprint(m.report())
                report.pop("races", None)
                del report["parameters"]
                reports.append(report)
        self.assertEqual(*reports)


class Locks(LockbenchCase):
    def run_check(self, kind, harts):
        options = ["race-check=on"]
        with lockbench.Lockbench(LOCKBENCH, harts, kind, 100, 30, 80, 50000, plugin=PLUGIN, options=options) as m:
            m.run()
            return m.report()["races"]

    def test_every_lock_orders_its_sections(self):
        for kind in lockbench.EXCLUDING:
            for harts in (2, 8):
                self.assertEqual(self.run_check(kind, harts), [], kind)

    def test_without_a_lock_the_counter_races(self):
        races = self.run_check("none", 2)
        self.assertTrue(any("protected_sum" in r for r in races), races)


if __name__ == "__main__":
    main()
