"""Deadlines, wakes, freezing, charging, and the host in the loop, on the probe image."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import random
import struct
import tempfile
import threading
import time

from probe_image import BELL, QUESTION
from hztest.clock_machine import RAM_BASE
from suite import HANG_S, ProbeCase, fingerprint, main


class Waiting(ProbeCase):
    def outcome(self, scene, harts, **more):
        with self.probe(scene, harts, **more) as m:
            self.assertEqual(m.run(), 0, m.output)
            report = m.report()
            self.assertTrue(report["deterministic"], report["reason"])
            self.hand_overs = report["host"]["hand_overs"]
            return fingerprint(report), m.values(), m.log(512)

    def test_deadline_of_wrs_sto(self):
        """Woken at the deadline to the nanosecond: exactly while frozen, else a few counted instructions later."""
        for harts in (1, 2, 8):
            for mhz in (1000, 1600, 333):
                _, values, log = self.outcome("deadline", harts, rounds=20, options=[f"mhz={mhz}"])
                self.assertEqual(log[2:40:4], (0,) * 10, mhz)
                self.assertTrue(all(t <= 4 * 1000 // mhz + 3 for t in log[0:40:4]), log[0:40:4])
                self.assertTrue(all(v >= 20 * (1000 + 7 * h) for h, v in enumerate(values)), values)

    def test_ping_of_waits_and_wakes(self):
        """No wake is lost: no wait ends by its deadline; every hop costs at least the IPI."""
        for harts in (2, 4, 8):
            outcomes = [self.outcome("ping", harts, rounds=50, think=100, pin=pin) for pin in ("auto", "off", "auto")]
            self.assertEqual(outcomes[0], outcomes[1])
            self.assertEqual(outcomes[0], outcomes[2])
            self.assertTrue(all(v & 0xFF == 0 and v >> 8 >= 50 * 100 for v in outcomes[0][1]))

    def test_parcels_are_taken(self):
        """None is lost or late, and a look that finds nothing costs no hand-over: fewer than with LR, WRS.STO, AMOSWAP."""
        for harts in (2, 5, 16):
            hand_overs = {}
            for think in (0, 1):
                outcomes = [self.outcome("take", harts, rounds=50, think=think, pin=pin) for pin in ("auto", "off")]
                self.assertEqual(*outcomes)
                self.assertEqual(outcomes[0][1], (0,) * harts)
                hand_overs[think] = self.hand_overs
            self.assertLess(hand_overs[1], 0.95 * hand_overs[0])

    def test_wake_is_remembered(self):
        """A wake long before the wait ends that wait at once, and only that one."""
        _, _, log = self.outcome("late", 2)
        self.assertGreaterEqual(log[0], 10000)
        self.assertLess(log[0], 10100)
        self.assertGreaterEqual(log[1], log[0] + 500)
        self.assertLess(log[1], log[0] + 520)

    def test_charge_and_freeze(self):
        t = self.outcome("charge", 1)[2]
        self.assertEqual(t[2] - t[1] - 12345, t[1] - t[0])       # CHARGE: its time, plus the same few instructions
        self.assertLessEqual(t[3] - t[2], 4)                     # inner freeze: 2000 instructions and an AMO are free
        self.assertEqual(t[4], t[3])                             # one THAW of two: still frozen
        self.assertGreaterEqual(t[5] - t[4], 2000)               # and counting again

    def test_charge_is_rounded_to_cycles(self):
        t = self.outcome("charge", 1, options=["mhz=2000"])[2]
        self.assertLessEqual(abs(t[2] - t[1] - 12345 - (t[1] - t[0])), 1)


class Answerer(threading.Thread):
    """Answers the probe's questions in its RAM file after random host delays."""

    def __init__(self, ram, seed, longest_s, rounds):
        super().__init__()
        self.ram, self.random, self.longest_s, self.rounds = ram, random.Random(seed), longest_s, rounds

    def run(self):
        deadline = time.monotonic() + HANG_S
        with open(self.ram, "r+b", buffering=0) as f:
            for question in range(1, self.rounds + 1):
                while time.monotonic() < deadline:
                    f.seek(QUESTION - RAM_BASE)
                    if struct.unpack("<I", f.read(4))[0] == question:
                        break
                    time.sleep(0.0002)
                time.sleep(self.random.uniform(0, self.longest_s))
                f.seek(BELL - RAM_BASE)
                f.write(struct.pack("<I", question))


class Host(ProbeCase):
    rounds = 40

    def outcome(self, seed, longest_s, harts=4, shm=None):
        with self.probe("host", harts, rounds=self.rounds, shm=shm) as m:
            answerer = Answerer(m.ram, seed, longest_s, self.rounds)
            answerer.start()
            code = m.run()
            answerer.join()
            self.assertEqual(code, 0, m.output)
            report = m.report()
            self.assertTrue(report["deterministic"], report["reason"])
            self.assertGreaterEqual(report["host"]["host_waits"], 1)
            return fingerprint(report), m.values(), m.log(self.rounds)

    def test_slow_hosts_change_nothing(self):
        expected = self.outcome(0, 0)
        for seed in range(1, 5):
            self.assertEqual(self.outcome(seed, 0.01), expected)

    def test_futex_in_shared_memory(self):
        with tempfile.NamedTemporaryFile(prefix="hz-shm-") as shm:
            shm.truncate(8 << 20)
            self.assertEqual(self.outcome(7, 0.005, shm=shm.name), self.outcome(8, 0))

    def test_waiting_for_the_host_costs_no_processor(self):
        """One second without an answer: the vCPU threads sleep nearly all of it."""
        with self.probe("parked", 4) as m:
            process = m.start()
            time.sleep(0.5)
            begin = cpu_seconds(process.pid)
            time.sleep(1)
            used = cpu_seconds(process.pid) - begin
            m.stop()
        self.assertLess(used, 0.5)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
