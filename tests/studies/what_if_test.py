"""The replay behind the study what-if: locks exclude and serve as they should, times can be worked out by hand, words become devices."""
# SPDX-License-Identifier: BSD-3-Clause
import argparse
import pathlib
import sys
import tempfile
import types
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies" / "what-if"), str(TOP / "scripts")]
import recording as rec  # noqa: E402
import replay  # noqa: E402
import rules  # noqa: E402
import schema  # noqa: E402
import what  # noqa: E402

COSTS = {"local": 2, "remote": 40, "far": 40, "memory": 40, "occupancy": 20, "wake": 0, "ipi": 100, "pause": 10, "reads": "queue"}
LOCK = 1 << 32


def harts_with(sections, rounds, harts=4):
    """Each hart takes one lock again and again, for so many cycles, and thinks as long as its number says."""
    jobs = {}
    for hart in range(harts):
        steps = [(rec.WORK, 7 * hart)]
        for turn in range(rounds):
            steps += [(rec.TAKE, LOCK, 5), (rec.WORK, sections), (rec.GIVE, LOCK), (rec.WORK, 13 * hart + 3 * turn)]
        job = rec.Job(hart, 0, 0, False, None)
        job.steps = [*steps, (rec.COMPLETE, hart, 0)]
        jobs[hart] = [job]
    return types.SimpleNamespace(jobs=jobs, completions=harts, inside=20, tsu_work={})


class Watched(replay.Replay):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.spans, self.asked = [], []

    def take(self, h, lock, inside):
        self.asked.append((h.clock, h.number))
        yield from super().take(h, lock, inside)
        h.since = h.clock

    def give(self, h, lock):
        self.spans.append((h.since, h.clock, h.number))
        yield from super().give(h, lock)


class Rules(unittest.TestCase):
    def test_a_run_with_rules_that_the_replay_lacks_is_refused(self):
        usual = {**COSTS, "store_buffer": 0, "data": "moves", "busy": "occupancy", "lr": "read", "clean": 0, "dispatch": 0, "pause_multiple": 0}
        self.assertIsNone(rules.unknown(usual))
        for key, value in dict(store_buffer=8, data="ordered", busy="access", lr="write", clean=9, dispatch=4, pause_multiple=32).items():
            self.assertIn(f"clock.{key} must be ", rules.unknown({**usual, key: value}))



class Locks(unittest.TestCase):
    def test_each_kind_excludes_and_lets_everybody_in(self):
        for kind in rules.KINDS:
            with self.subTest(kind=kind):
                run = Watched(harts_with(200, 25), COSTS, kind)
                end = run.run()
                self.assertEqual(len(run.spans), 100)
                spans = sorted(run.spans)
                for (_, left, _), (came, _, _) in zip(spans, spans[1:]):
                    self.assertGreaterEqual(came, left, "two are inside")
                self.assertGreater(end, 100 * 200)
                self.assertLess(end, 100 * 700)

    def test_who_queues_is_served_in_turn(self):
        for kind in ("ticket", "mcs", "clh"):
            with self.subTest(kind=kind):
                run = Watched(harts_with(400, 20), COSTS, kind)
                run.run()
                order = [hart for _, _, hart in sorted(run.spans)][8:60]
                self.assertEqual({tuple(sorted(order[i:i + 4])) for i in range(0, 48, 4)}, {(0, 1, 2, 3)})

    def test_alone(self):
        """One hart: the line comes once; from then on it is local. 20 sections of 100 with 5 more inside, 3 + 6 + … between them."""
        for kind, accesses in (("tas", 2), ("ticket", 3), ("mcs", 4), ("clh", 3)):
            with self.subTest(kind=kind):
                end = Watched(harts_with(100, 20, harts=1), COSTS, kind).run()
                least = 20 * 105 + sum(3 * turn for turn in range(20))
                self.assertTrue(least + 20 * accesses * 2 <= end <= least + 20 * (accesses * 2 + 8) + 3 * 40, end)

    def test_sections_of_half_the_length(self):
        whole, half = (replay.Replay(harts_with(1000, 20), COSTS, "mcs", lambda lock: lock, hold).run() for hold in (1.0, 0.5))
        self.assertAlmostEqual(whole - half, 80 * 500, delta=1500)

    def test_apart_nobody_waits(self):
        recording = harts_with(1000, 20)
        for hart, (job,) in recording.jobs.items():
            job.steps = [(step[0], LOCK + hart, *step[2:]) if step[0] in (rec.TAKE, rec.GIVE) else step for step in job.steps]
        self.assertLess(replay.Replay(recording, COSTS, "tas").run(), 20 * 1100 + 4000)
        self.assertGreater(replay.Replay(recording, COSTS, "tas", lambda lock: 0).run(), 80 * 1000)


class Recordings(unittest.TestCase):
    def read(self, lines):
        with tempfile.NamedTemporaryFile("w", suffix=".rec") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            return rec.Recording(file.name, 2, 40)

    def test_a_request_s_way(self):
        """Hart 0 fetches it for 100 cycles. Hart 1 works 300 for it, 200 of them with a lock, and waits 70; flash reads until 4900; hart 1 is
        idle till it takes over again, works 400, and hart 0 completes. Done again, alone, it does not wait."""
        found = self.read(["f 0 1000 0 0 77", "l 0 1100 0 0 77", "r 1 1300 0 0 77", f"A 1 1350 0 0 {LOCK} 10", f"W 1 1420 0 0 {LOCK} 10",
                           f"G 1 1440 0 0 {LOCK} 20", f"R 1 1610 0 0 {LOCK} 100", "o 1 1620 0 0 0", "l 1 1670 0 0 77", "p 2 5000 0 4000 2000 4900 3 0",
                           "x 1 5200 0 3400 77 4900", "r 1 5200 0 3400 77", "d 1 5600 0 3400 77", "l 1 5610 0 3400 77", "r 0 5800 0 4600 77",
                           "c 0 5850 0 4600 0"])
        self.assertEqual((found.completions, found.first, found.last), (1, 1000, 5850))
        worker = [step for job in found.jobs[1] for step in job.steps]
        self.assertIn((rec.TAKE, LOCK, None), worker)
        takes = worker.index((rec.TAKE, LOCK, None))
        self.assertEqual(worker[takes + 1:takes + 3], [(rec.WORK, 180), (rec.GIVE, LOCK)])
        self.assertEqual([job.kind for job in found.jobs[1] if job.kind], ["l", "lx"])
        self.assertEqual(found.read_of(1600, 4900), (2, 3, 2900, 0))
        again = replay.Replay(found, COSTS, "tas").run()
        self.assertTrue(found.cycles - 70 - 800 < again < found.cycles, again)

    def test_a_command_is_not_over_before_its_data_have_crossed(self):
        found = self.read(["f 0 1000 0 0 77", "r 0 1000 0 0 77", "k 0 1100 0 0 77 1700", "c 0 1150 0 0 0", "f 0 2000 0 0 78", "r 0 2000 0 0 78",
                           "k 0 2100 0 0 78 1900", "c 0 2150 0 0 0", "f 0 3000 0 0 79", "r 0 3000 0 0 79", "k 0 3100 0 0 79 3900", "c 0 3150 0 0 0"])
        self.assertEqual(next(iter(found.queues.values())).completions, [1700, 2150, 3900])
        self.assertEqual([step[2] for job in found.jobs[0] for step in job.steps if step[0] == rec.COMPLETE], [550, 0, 750])
        self.assertEqual(replay.Replay(found, COSTS, "tas").run(), found.cycles)

    def test_programs_keep_a_read_from_beginning(self):
        found = self.read(["f 0 1000 0 0 77", "r 0 1000 0 0 77", "p 2 9000 0 0 1500 2500 3 1", "p 2 9000 0 0 2000 3000 3 1", "p 2 9000 0 0 3500 4000 4 1",
                           "p 2 9000 0 0 3200 4900 3 0", "c 0 5850 0 0 0"])
        self.assertEqual(found.read_of(1600, 4900), (2, 3, 1700, 1400))


class Words(unittest.TestCase):
    def test_words(self):
        device = {"locks": {"kind": {"default": "ttas"}, "granularity": {"default": "fine"}}}
        one = what.parsed("mcs+shards4+2x+hold50")
        found = one.device(device, {key: 10 for key in what.SCALED})
        self.assertEqual(found["locks"], {"kind": {"default": "mcs"}, "granularity": {"default": 4}})
        self.assertEqual(found["clock"], {key: 20 for key in what.SCALED})
        self.assertEqual(one.options(), ["hold=500"])
        self.assertEqual(one.parameters(COSTS)["remote"], 80)
        for wrong in ("mutex", "shards1", "hold5", "mcs,", ""):
            with self.assertRaises(argparse.ArgumentTypeError):
                what.parsed(wrong)

    def test_locks_that_stand_for_others(self):
        classes = schema.lock_classes()
        zone, slc = ([c["name"] for c in classes].index(name) for name in ("zone", "slc"))
        tags = [(number + 1) << 32 | index for number in (zone, slc) for index in range(64)]
        for words, most in (("mcs", 128), ("shards4", 4 + 64), ("class", 2), ("global", 1)):
            self.assertEqual(len({what.parsed(words).mapped(classes)(tag) for tag in tags}), most, words)

    def test_a_shard_is_the_firmware_s(self):
        """What lt_lock_shard (libthread/locks/lock.c) returned, compiled."""
        self.assertEqual([what.shard(index, 4) for index in range(12)], [0, 1, 0, 2, 0, 3, 1, 0, 1, 3, 3, 2])
        self.assertEqual((what.shard(123456789, 1000), what.shard(4000000000, 4096)), (728, 3760))


if __name__ == "__main__":
    unittest.main()
