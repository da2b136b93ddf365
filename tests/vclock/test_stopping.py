"""How runs end: deadlock dumps, signals in every state, perturbed runs and their flags, refused options and QEMUs."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import signal
import socket
import subprocess
import sys
import time

from suite import Case, HANG_S, PLUGIN, ProbeCase, main, wait_for_guest


class Deadlock(ProbeCase):
    def test_dump_names_place_word_and_lock(self):
        for harts in (2, 8):
            with self.probe("deadlock", harts) as m:
                begin = time.monotonic()
                self.assertEqual(m.run(), 3)
                self.assertLess(time.monotonic() - begin, 5)
                self.assertIn("DEADLOCK", m.output)
                self.assertRegex(m.output, r"hart 0: waits for lock_b\+0x0 \(0x[0-9a-f]+\), lock l2p\[7\] "
                                           r"since \d+ ns at \w+\+0x")
                self.assertRegex(m.output, r"hart 1: waits for lock_a\+0x0 \(0x[0-9a-f]+\), lock l2p\[8\]")
                self.assertEqual(m.output.count("waits for"), harts)
                report = m.report()
                self.assertEqual((report["end"], report["deterministic"]), ("deadlock", False))

    def test_spinning_waiters_are_found(self):
        """Test-and-set waiters never park: their wait ends the run after spin-limit of device time."""
        for harts in (2, 4):
            with self.probe("spinlock", harts, options=["spin-limit=1000000"]) as m:
                self.assertEqual(m.run(), 3)
                self.assertRegex(m.output, r"hart 0: \w+, lock zone\[2\], last sync point at")
                self.assertRegex(m.output, r"hart 1: \w+, lock zone\[1\]")

    def test_waiting_for_halted_harts(self):
        """All but halted harts wait: a deadlock if no interrupt comes for a second."""
        with self.probe("wfi", 2, think=0) as m:
            begin = time.monotonic()
            self.assertEqual(m.run(), 3, m.output)
            self.assertGreater(time.monotonic() - begin, 1)
            self.assertRegex(m.output, r"DEADLOCK: no hart can ever run again\nvclock:   hart 0: waits for never_written")
            self.assertIn("hart 1: halted by WFI", m.output)

    def test_deadlock_is_the_same_every_time(self):
        hashes = set()
        for _ in range(3):
            with self.probe("deadlock", 4) as m:
                m.run()
                hashes.add(m.report()["order_hash"])
        self.assertEqual(len(hashes), 1)


class Signals(ProbeCase):
    def test_within_a_second_in_every_state(self):
        for scene in ("compute", "spin", "parked", "halted", "ended"):
            for harts in (1, 4, 32):
                for sig in (signal.SIGTERM, signal.SIGINT):
                    with self.subTest(scene=scene, harts=harts, sig=sig), self.probe(scene, harts) as m:
                        m.start()
                        wait_for_guest(m)
                        while scene == "ended" and not m.has_report() and m.process.poll() is None:  # END writes it
                            time.sleep(0.01)
                        self.assertLess(m.stop(sig), 1)
                        self.assertEqual(m.process.returncode, 0, m.output)
                        report = m.report()
                        self.assertEqual(report["deterministic"], scene == "ended", report["reason"])

    def test_at_any_moment_of_the_start(self):
        for ms in range(0, 60, 4):
            with self.probe("spin", 16) as m:
                m.start()
                time.sleep(ms / 1000)
                self.assertLess(m.stop(), 1, f"{ms} ms after the start")


class Qmp:
    def __init__(self, path):
        self.socket = self.connected(path)
        self.file = self.socket.makefile("rw")
        self.file.readline()
        self.do("qmp_capabilities")

    @staticmethod
    def connected(path, seconds=HANG_S):
        """A name that is bound is there before its owner listens: until then a connection is refused."""
        end = time.monotonic() + seconds
        while True:
            client = socket.socket(socket.AF_UNIX)
            try:
                client.connect(path)
                return client
            except (FileNotFoundError, ConnectionRefusedError):
                client.close()
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def do(self, command):
        self.file.write(json.dumps({"execute": command}) + "\n")
        self.file.flush()
        while "return" not in json.loads(self.file.readline()):
            pass

    def close(self):
        self.file.close()
        self.socket.close()


class Perturbed(ProbeCase):
    """A run that was disturbed ends all the same, and says that it is no measurement."""

    def with_qmp(self, *commands):
        with self.probe("order", 4, rounds=60000) as m:
            path = os.path.join(m.folder, "qmp")
            m.command += ["-qmp", f"unix:{path},server=on,wait=off"]
            m.start()
            qmp = Qmp(path)
            wait_for_guest(m)
            for command in commands:
                qmp.do(command)
                time.sleep(0.02)
            code = m.wait()
            qmp.close()
            self.assertEqual(code, 0, m.output)
            return m.report()

    def test_undisturbed(self):
        report = self.with_qmp("query-status")
        self.assertTrue(report["deterministic"], report["reason"])

    def test_stop_and_cont(self):
        report = self.with_qmp("stop", "cont", "stop", "cont")
        self.assertEqual((report["deterministic"], report["reason"], report["end"]), (False, "stopped", "end"))

    def test_reset(self):
        report = self.with_qmp("system_reset")
        self.assertFalse(report["deterministic"])
        self.assertGreater(report["flags"]["reset"], 0)

    def test_flush_is_rescued(self):
        with self.probe("flush", 4, rounds=20, options=["watchdog=100"], extra=["-accel", "tcg,tb-size=1"]) as m:
            self.assertEqual(m.run(), 0, m.output)
            report = m.report()
        self.assertEqual((report["deterministic"], report["reason"]), (False, "flushed"))
        self.assertGreater(report["flags"]["flushed"], 0)
        self.assertGreater(report["flags"]["rescued"], 0)

    def test_wake_from_wfi(self):
        with self.probe("wfi", 2) as m:
            self.assertEqual(m.run(), 0, m.output)
            self.assertEqual(m.report()["reason"], "wfi-woke")

    def test_host_wait_with_the_clock_running(self):
        with self.probe("unfrozen", 1) as m:
            self.assertEqual(m.run(), 0, m.output)
            self.assertEqual(m.report()["reason"], "unfrozen-host-wait")


class Marks(ProbeCase):
    """HZ_FROZEN: the plugin counts no instruction of this code, since its hart's clock stands."""

    def counts(self, *options):
        with self.probe("marked", 1, rounds=100, think=0, options=options) as m:
            self.assertEqual(m.run(), 0, m.output)
            report = m.report()
        return report["harts"][0]["counted"], report["host"]["retired"]

    def test_marked_code_is_not_counted(self):
        counted, retired = self.counts()
        exact, all_retired = self.counts("count=insn")
        self.assertEqual(counted, exact)
        self.assertEqual(all_retired - retired, 100 * 21)

    def test_marked_code_with_the_clock_running_is_found(self):
        for option in ("count=insn", "race-check=on"):
            with self.probe("marked", 1, rounds=1, think=1, options=[option]) as m:
                self.assertEqual(m.run(), 3, m.output)
                self.assertRegex(m.output, r"UNFROZEN: hart 0 runs marked\+0x0 \(0x[0-9a-f]+\), which is marked HZ_FROZEN")
                self.assertEqual((m.report()["end"], m.report()["deterministic"]), ("unfrozen", False))


class Options(ProbeCase):
    def refusal(self, words, harts=1):
        with self.probe("charge", harts) as m:
            at = m.command.index("-plugin") + 1
            m.command[at] = ",".join([PLUGIN, *(w.replace("RAM", m.ram) for w in words)])
            self.assertNotEqual(m.run(), 0, words)
            return m.output

    def test_each_error_is_one_sentence(self):
        for words, sentence in (
                (["ram=RAM", "colour=red"], "option colour=red is unknown"),
                (["ram=RAM", "harts"], "option harts"),
                (["ram=RAM", "remote=-1"], "option remote=-1 has a value that is not allowed"),
                (["ram=RAM", "remote=12x"], "option remote=12x has a value that is not allowed"),
                (["ram=RAM", "mhz=0"], "option mhz=0 has a value"),
                (["ram=RAM", "pin=left"], "option pin=left has a value"),
                (["ram=RAM", "switch=fibre"], "option switch=fibre has a value"),
                (["ram=RAM", "jitter=0"], "option jitter=0 has a value"),
                (["ram=RAM", "jitter=1:"], "option jitter=1: has a value"),
                (["ram=RAM", "jitter=1:0"], "option jitter=1:0 has a value"),
                (["ram=RAM", "jitter=1:10001"], "option jitter=1:10001 has a value"),
                (["ram=RAM", "jitter=" + 30 * "9"], "option jitter=999"),
                (["ram=RAM", "preset=fast"], "preset=fast is unknown: free ideal plain single small clustered server"),
                (["ram=RAM", "data=on"], "option data=on has a value"),
                (["ram=RAM", "reads=both"], "option reads=both has a value"),
                (["ram=RAM", "cache_ways=0"], "option cache_ways=0 has a value"),
                (["ram=RAM", "cache_bytes=1000"], "option cache_bytes=1000 is not possible with 4 ways of 64 bytes"),
                (["ram=RAM", "cache_bytes=1536"], "option cache_bytes=1536 is not possible with 4 ways of 64 bytes"),
                (["ram=RAM", "harts=2"], "option harts=2, but the machine has 1"),
                (["ram=RAM", "elf=/dev/null"], "option elf=/dev/null is unusable"),
                (["ram=RAM", "trace=/nonexistent/trace"], "option trace=/nonexistent/trace is unusable"),
                ([], "option ram=FILE is missing"),
                (["ram=/nonexistent"], "cannot map /nonexistent: No such file")):
            output = self.refusal(words)
            self.assertIn("vclock: " + sentence, output)

    def test_preset_and_single_costs(self):
        for words in (["preset=ideal", "remote=77"], ["remote=77", "preset=ideal"]):
            with self.probe("charge", 1, options=words) as m:
                self.assertEqual(m.run(), 0, m.output)
                p = m.report()["parameters"]
                self.assertEqual((p["preset"], p["local"], p["remote"], p["occupancy"]), ("ideal", 0, 77, 0))

    def test_presets_choose_the_memory_too(self):
        for preset, expected in (("free", ("free", "queue", 0, 0, 40)), ("plain", ("moves", "queue", 0, 0, 40)),
                                 ("small", ("moves", "queue", 0, 32768, 120)), ("single", ("moves", "queue", 0, 32768, 120)),
                                 ("clustered", ("moves", "queue", 4, 32768, 120)),
                                 ("server", ("moves", "merge", 14, 262144, 270)), ("manycore", ("moves", "merge", 0, 32768, 170)),
                                 ("arm", ("moves", "merge", 0, 1048576, 203))):
            with self.probe("charge", 1, options=[f"preset={preset}"]) as m:
                self.assertEqual(m.run(), 0, m.output)
                p = m.report()["parameters"]
                self.assertEqual(tuple(p[key] for key in ("data", "reads", "cluster", "cache_bytes", "memory")), expected)


LOADER = """
import ctypes, os, sys
class Version(ctypes.Structure): _fields_ = [("min", ctypes.c_int), ("cur", ctypes.c_int)]
class Info(ctypes.Structure):
    _fields_ = [("target", ctypes.c_char_p), ("version", Version), ("system", ctypes.c_bool), ("smp", ctypes.c_int),
                ("max", ctypes.c_int)]
plugin = ctypes.CDLL(sys.argv[1], mode=os.RTLD_LAZY)
versions = Version(int(sys.argv[3]), int(sys.argv[4]))
info = Info(sys.argv[2].encode(), versions, bool(int(sys.argv[5])), int(sys.argv[6]), 64)
argv = (ctypes.c_char_p * 1)(b"ram=/x")
sys.exit(plugin.qemu_plugin_install(ctypes.c_uint64(0), ctypes.byref(info), 1, argv))
"""


class Refusal(Case):
    """The plugin is loaded by a program that says it is another QEMU."""

    def test_unsupported_qemu(self):
        for words, sentence in (
                (("riscv64", 0, 3, 1, 4),
                 "this QEMU serves plugin API versions 0 to 3, but version 4 is needed: use QEMU 10.0 or later"),
                (("riscv64", 7, 9, 1, 4), "this QEMU serves plugin API versions 7 to 9"),
                (("aarch64", 2, 4, 1, 4), "target aarch64: use qemu-system-riscv64"),
                (("riscv64", 2, 4, 0, 4), "user emulation"),
                (("riscv64", 2, 4, 1, 65), "the machine has 65 harts, at most 64 are possible")):
            r = subprocess.run([sys.executable, "-c", LOADER, PLUGIN, *map(str, words)], capture_output=True, text=True)
            self.assertEqual(r.returncode, 1, r.stderr)
            self.assertIn(sentence, r.stderr)
            self.assertEqual(r.stderr.count("\n"), 1)


if __name__ == "__main__":
    main()
