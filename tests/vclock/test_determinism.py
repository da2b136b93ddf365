"""Determinism: equal runs give equal order hashes, clocks, counts and line statistics, whatever the host does."""
# SPDX-License-Identifier: BSD-3-Clause
import os
import pathlib
import subprocess
import sys

import lockbench
from suite import LOCKBENCH, LockbenchCase, PLUGIN, ProbeCase, fingerprint, main, wait_for_guest


class Hogs:
    """Processes that alternate between load and sleep for random times: each start takes a core
    from another process, unlike a steady load."""

    PROGRAM = """
import random, time
while True:
    end = time.monotonic() + random.random() * 0.004
    while time.monotonic() < end:
        pass
    time.sleep(random.random() * 0.004)
"""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.processes = [subprocess.Popen([sys.executable, "-S", "-c", self.PROGRAM]) for _ in range(self.count)]

    def __exit__(self, *unused):
        for p in self.processes:
            p.kill()
        for p in self.processes:
            p.wait()


SITUATIONS = [("auto", 0), ("0", 0), ("off", 0), ("off", 0), ("auto", 2 * os.cpu_count()), ("off", os.cpu_count())]


class Determinism(LockbenchCase):
    def outcome(self, kind, harts, pin):
        with lockbench.Lockbench(LOCKBENCH, harts, kind, 300, 60, 250, 300000, plugin=PLUGIN, pin=pin) as m:
            self.assertEqual(m.run(), 0, m.output)
            report = m.report()
            self.assertTrue(report["deterministic"], report["reason"])
            return fingerprint(report), m.results()

    def test_one_outcome_on_any_host(self):
        for kind in lockbench.EXCLUDING:
            for harts in (4, 16):
                expected = None
                for pin, hogs in SITUATIONS:
                    with self.subTest(kind=kind, harts=harts, pin=pin, hogs=hogs), Hogs(hogs):
                        outcome = self.outcome(kind, harts, pin)
                        expected = expected or outcome
                        self.assertEqual(outcome, expected)

    def test_one_outcome_however_harts_are_switched(self):
        outcomes, auto_takes = [], None
        for switch in ("auto", "user", "futex"):
            with lockbench.Lockbench(LOCKBENCH, 8, "mcs", 300, 60, 250, 300000, plugin=PLUGIN, options=[f"switch={switch}"]) as m:
                if m.run() and (switch, auto_takes) == ("user", "futex") and "thread pointer" in m.output:
                    continue  # this machine can only wake threads
                report = m.report()
                auto_takes = auto_takes or report["host"]["switch"]
                self.assertIn(report["host"]["switch"], ("user", "futex") if switch == "auto" else (switch,))
                outcomes.append((fingerprint(report), m.results()))
        self.assertGreater(len(outcomes), 1)
        self.assertEqual(outcomes[1:], outcomes[:-1])

    def test_seed_changes_the_outcome(self):
        """The comparison above could otherwise hold for runs that compare nothing."""
        hashes = set()
        for seed in range(4):
            with lockbench.Lockbench(LOCKBENCH, 4, "ticket", 300, 60, 250, 100000, seed, plugin=PLUGIN) as m:
                self.assertEqual(m.run(), 0, m.output)
                hashes.add(m.report()["order_hash"])
        self.assertEqual(len(hashes), 4)


class Trace(ProbeCase):
    def test_trace_lists_every_sync_point(self):
        with self.probe("order", 4) as m:
            trace = os.path.join(m.folder, "trace")
            m.command[m.command.index("-plugin") + 1] += f",trace={trace}"
            self.assertEqual(m.run(), 0, m.output)
            with open(trace) as f:
                lines = [line.split() for line in f]
            self.assertEqual(len(lines), m.report()["orders"])
            keys = [(int(clock), int(hart)) for clock, hart, _, _ in lines]
            self.assertEqual(keys, sorted(keys))


class Profile(ProbeCase):
    def profiled(self, *options):
        with self.probe("ping", 4, options=options) as m:
            file = os.path.join(m.folder, "profile")
            m.command[m.command.index("-plugin") + 1] += f",profile={file}"
            self.assertEqual(m.run(), 0, m.output)
            with open(file) as f:
                return [[int(word, 0) for word in line.split()] for line in f], m.report()

    def test_profile_has_every_counted_instruction(self):
        lines, report = self.profiled()
        counted = {h["hart"]: 0 for h in report["harts"]}
        for hart, _, instructions, runs in lines:
            counted[hart] += instructions * runs
        self.assertEqual(counted, {h["hart"]: h["counted"] for h in report["harts"]})
        self.assertEqual(lines, self.profiled("count=insn")[0])


class Counting(ProbeCase):
    def test_counting_by_segment_equals_counting_each_instruction(self):
        for scene in ("order", "deadline", "ping", "charge", "take"):
            reports = []
            for count in ("segment", "insn"):
                with self.probe(scene, 4, options=[f"count={count}"]) as m:
                    self.assertEqual(m.run(), 0, m.output)
                    report = fingerprint(m.report())
                    del report["parameters"]
                    reports.append(report)
            self.assertEqual(*reports, scene)

    def counted(self, count, think):
        with self.probe("mmio", 1, rounds=50, think=think, options=[f"count={count}"]) as m:
            self.assertEqual(m.run(), 0, m.output)
            self.assertEqual(m.report()["host"]["hand_overs"], 0, "one hart has nobody to hand over to")
            return m.report()["harts"][0]["counted"]

    def test_an_access_to_a_device_is_counted_twice_by_segment_and_outside_a_freeze_only(self):
        self.assertEqual(self.counted("segment", 0), self.counted("insn", 0))
        self.assertGreaterEqual(self.counted("segment", 1), self.counted("insn", 1) + 50 * 20)

    def test_vcpus_run_on_the_core_that_was_asked_for(self):
        for pin, alone in (("auto", True), ("0", True), ("off", os.cpu_count() == 1)):
            with self.probe("parked", 4, pin=pin, extra=["-name", "probe,debug-threads=on"]) as m:
                process = m.start()
                wait_for_guest(m)
                threads = {int(thread): pathlib.Path(f"/proc/{process.pid}/task/{thread}/comm").read_text()
                           for thread in os.listdir(f"/proc/{process.pid}/task")}
                # The watchdog is a child of a vCPU's thread and has its name.
                cores = {name: os.sched_getaffinity(thread) for thread, name in threads.items() if name.startswith("CPU ")}
                m.stop()
            self.assertEqual(len(cores), 4)
            self.assertEqual(len(set(map(tuple, cores.values()))) == 1 and len(cores["CPU 0/TCG\n"]) == 1, alone, cores)

    def test_the_report_names_its_parameters(self):
        asked = {"mhz": 900, "insn": 2, "local": 3, "remote": 41, "far": 51, "memory": 61, "occupancy": 21, "wake": 9, "pause": 11, "ipi": 75,
                 "load": 1, "store": 2, "mul": 3, "div": 4, "branch": 5, "csr": 6, "cluster": 2, "cache_bytes": 8192, "cache_ways": 2, "layout": 12, "store_buffer": 7, "data": "ordered", "reads": "merge", "busy": "access", "lr": "write", "clean": 31,
                 "dispatch": 5, "pause_multiple": 8, "div_bit": 2, "l2": 33, "l2_bytes": 16384, "l2_ways": 4, "arbiter": "turns", "loop_exit": 6, "count": "insn"}
        more = ["spin-limit=123456", "race-check=on", "jitter=5:70"]
        with self.probe("order", 3, options=[f"{k}={v}" for k, v in asked.items()] + more) as m:
            self.assertEqual(m.run(), 0, m.output)
            self.assertEqual(m.report()["parameters"], {**asked, "preset": "free", "harts": 3, "spin_limit_ns": 123456, "hold": 1000, "hold_class": 16, "transfer": 1000,
                                                        "transfer_class": 16, "pace": 1000,
                                                        "pace_harts": 0, "race_check": True,
                                                        "jitter": {"seed": 5, "permille": 70}})
        with self.probe("order", 2) as m:
            self.assertEqual(m.run(), 0, m.output)
            parameters = m.report()["parameters"]
            self.assertEqual((parameters["harts"], parameters["race_check"], parameters["jitter"]), (2, False, None))
            host = m.report()["host"]
            self.assertTrue(0 < host["wall_ns"] < 60e9, host)
            self.assertGreaterEqual(host["retired"], sum(hart["counted"] for hart in m.report()["harts"]))

    def test_sixty_four_harts(self):
        with self.probe("order", 64, rounds=20) as m:
            self.assertEqual(m.run(), 0, m.output)
            self.assertTrue(m.report()["deterministic"])


if __name__ == "__main__":
    main()
