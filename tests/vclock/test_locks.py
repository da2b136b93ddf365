"""The lock profile (locks=on) against the firmware's own statistics of thread_check.elf, which are kept apart from it: same counts, same
times, same percentiles; and what else it says of them adds up."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import sys

from suite import Case, FIRMWARE, PLUGIN, main
from hztest.clock_machine import Machine

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import schema  # noqa: E402

IMAGE = os.path.join(FIRMWARE, "firmware/images/thread_check.elf")
LINE = re.compile(r"lock kind \d+: (\d+) acquisitions, (\d+) contended, wait (\d+) ns, hold (\d+) ns, p99 (\d+) and (\d+) ns, (\d+) handovers")
# By number, as many as the image has locks: one of each kind, and two more that readers share, whose classes a device does not have.
CLASSES = [one["name"] for one in schema.lock_classes()][:10] + ["other"] * 2
LOCKS = [*((name, i) for i, name in enumerate(CLASSES[:10])), ("other", 0), ("other", 1)]


def by_name(profile):
    """The lock profile's locks, and their classes, by class and index."""
    locks = {(lock["class"], lock["index"]): lock for lock in profile["locks"]}
    return locks, dict(zip(LOCKS, profile["classes"]))


class LockProfile(Case):
    images = (("thread_check.elf", IMAGE),)

    def of(self, harts, *options):
        """The firmware's statistics of each lock, and the lock profile."""
        machine = Machine(IMAGE, harts, plugin=PLUGIN, options=options, extra=["-append", "stats=2"])
        console = os.path.join(machine.folder, "console")
        machine.command[machine.command.index("-serial") + 1] = f"file:{console}"
        with machine:
            self.assertEqual(machine.run(), 0, machine.output)
            with open(console) as file:
                lines = [tuple(map(int, words)) for words in LINE.findall(file.read())]
            return lines, machine.report().get("locks")

    def test_equals_what_the_firmware_measured(self):
        for harts in (1, 8):
            with self.subTest(harts=harts):
                lines, profile = self.of(harts, "locks=on")
                self.assertEqual(len(lines), len(CLASSES))
                locks, classes = by_name(profile)
                self.assertEqual([one["class"] for one in profile["classes"]], CLASSES)
                found = []
                for name in LOCKS:
                    lock, one = locks[name], classes[name]
                    found.append((lock["acquisitions"], lock["contended"], lock["wait_ns"], lock["hold_ns"],
                                  one["wait"]["p99"], one["hold"]["p99"], lock["handovers"]))
                self.assertEqual(found, lines)
                self.assertEqual(lines[-2][1] > 0, harts > 1, "nobody waited")

    def test_adds_up(self):
        for harts in (1, 8):
            with self.subTest(harts=harts):
                _, profile = self.of(harts, "locks=on")
                self.of_classes(profile, harts)
                self.of_locks(profile["locks"], harts)
                self.of_blame(profile)
                self.assertEqual(profile["nesting"], [], "the image holds one lock at a time")

    def of_classes(self, profile, harts):
        locks, classes = by_name(profile)
        for name, one in classes.items():
            lock = locks[name]
            self.assertEqual((one["hold"]["count"], one["hold"]["ns"]), (lock["acquisitions"], lock["hold_ns"]))
            self.assertEqual((one["wait"]["count"], one["wait"]["ns"]), (lock["contended"], lock["wait_ns"]))
            for times in one["wait"], one["hold"]:
                self.assertTrue(0 <= times["p50"] <= times["p90"] <= times["p99"] <= times["p999"] <= times["max"] <= times["ns"])
                self.assertAlmostEqual(times["mean"], times["ns"] / times["count"] if times["count"] else 0, delta=0.00051) # three places
                self.assertEqual(times["max"] > 0, times["ns"] > 0)
            pairs = [(before, behind) for before, behind, _ in one["handovers"]]
            self.assertEqual(pairs, sorted(set(pairs)))
            self.assertTrue(all(before != behind and max(before, behind) < harts for before, behind in pairs))
            self.assertEqual(sum(times for _, _, times in one["handovers"]), lock["handovers"])

    def of_locks(self, locks, harts):
        self.assertEqual(sorted((lock["class"], lock["index"]) for lock in locks), sorted(LOCKS))
        order = [(-lock["wait_ns"], LOCKS.index((lock["class"], lock["index"]))) for lock in locks]
        self.assertEqual(order, sorted(order), "the longest waits come first")
        for lock in locks:
            counts = lock["by_hart"]
            self.assertEqual(len(counts), harts)
            self.assertEqual(sum(counts), lock["acquisitions"])
            fair = sum(counts) ** 2 / (sum(count > 0 for count in counts) * sum(count ** 2 for count in counts))
            self.assertAlmostEqual(lock["fairness"], fair, places=4)
            self.assertTrue(0 <= lock["depth_mean"] <= lock["depth_max"] < max(harts - 1, 1))
            if lock["class"] != "other":  # their readers are in no streak
                self.assertGreaterEqual(lock["longest_streak"] * (lock["handovers"] + 1), lock["acquisitions"])
                self.assertLessEqual(lock["longest_streak"], lock["acquisitions"] - lock["handovers"])
        self.assertEqual(max(lock["depth_max"] for lock in locks) > 1, harts > 1)

    def of_blame(self, profile):
        blame = profile["blame"]
        self.assertLess(len(blame), 32, "all of it is shown")
        self.assertEqual(sum(one["waits"] for one in blame), sum(lock["contended"] for lock in profile["locks"]))
        self.assertEqual(sum(one["wait_ns"] for one in blame), sum(lock["wait_ns"] for lock in profile["locks"]))
        self.assertEqual([one["wait_ns"] for one in blame], sorted((one["wait_ns"] for one in blame), reverse=True))
        for one in blame:
            self.assertRegex(one["waiter"], r"^\w+\+0x[0-9a-f]+ \(0x[0-9a-f]+\)$")
            self.assertRegex(one["holder"], r"^\w+\+0x[0-9a-f]+ \(0x[0-9a-f]+\)$")

    def test_is_kept_when_asked_for_only(self):
        _, profile = self.of(2)
        self.assertIsNone(profile)


if __name__ == "__main__":
    main()
