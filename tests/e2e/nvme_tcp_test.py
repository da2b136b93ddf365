"""The device as an NVMe/TCP target: hosts (tests/fabrics/load.cpp) at once and in turn, one that is killed, both parts of a device with
conventional zones, a recording that is repeated to the nanosecond, and what is refused before anything is booted."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem  # noqa: E402

MISSING = device_problem()
DRIVER, LOAD = os.environ.get("HARTZONE_DRIVER", ""), os.environ.get("HARTZONE_NVME_TCP_LOAD", "")
KEY = "DHHC-1:01:AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAl7OaH:"
TARGET_KEY = "DHHC-1:00:AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAl7OaH:"
HOST_NAME = "nqn.2014-08.org.nvmexpress:uuid:6861727a-6f6e-4865-8000-6c696e757800"
HANG_S = 200  # longer than any load explains
# Words of $HARTZONE_NVME_CONNECT: nvme connect -t tcp -a ADDRESS -s PORT -n NAME
HOST = f'set -- $HARTZONE_NVME_CONNECT; load="{LOAD} $8 ${{10}}"; '


@unittest.skipIf(MISSING, MISSING)
class NvmeTcp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-tcp-")
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name)
        (self.base / "runs").mkdir()
        self.mixed = TOP / "configs/devices/small-mixed.yaml"
        self.environment = {**os.environ, "HARTZONE_RUN_BASE": str(self.base / "runs")}

    def call(self, *words):
        return subprocess.run([DRIVER, *map(str, words)], capture_output=True, check=False, env=self.environment, timeout=HANG_S, text=True)

    def serve(self, script, *words, device=None):
        run = self.call("serve", "--device", device or self.mixed, "--nvme-tcp", "0", *words, "--", "sh", "-ec", HOST + script)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def repeat(self, record, *words, way="--as-recorded"):
        out = self.base / "out"
        run = self.call("run", "--device", self.mixed, "--trace", record, way, "--out", out, *words)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return json.loads((out / "result.json").read_text())["as_recorded"], run.stdout

    def require_same(self, record, digest):
        """Twice at the recorded arrivals, and by dependencies."""
        for way in ("--as-recorded", "--as-recorded", "--by-dependencies"):
            same, said = self.repeat(record, way=way)
            self.assertEqual((same["differ"], same["digest"], same["recorded_digest"]), (0, digest, digest), (way, same["first_difference"]))
            self.assertIn("to the nanosecond", said)
            self.assertGreater(same["commands"], 20 * 38)
            self.assertEqual(same["moved_arrivals"], 0)

    def test_both_parts_of_a_device_and_the_recording_of_it(self):
        record = self.base / "mixed.hzr"
        said = self.serve("$load zones; $load blocks; $load 2 write 0.5 4; $load 2 mixed 0.5 16; $load 2 read 0.5 1", "--record", record)
        self.assertEqual(said.count("all as it should be"), 2)
        self.assertEqual(len(re.findall(r"(?m)^(?:write|mixed|read), .* 0 failed$", said)), 3, said)
        self.assertRegex(said, r"10 connections of hosts; \d+ commands; \d+ of them .* handed over late")
        digest = re.search(r"mixed.hzr: digest (\w+)", said)[1]
        self.require_same(record, digest)
        other, said = self.repeat(record, "--workers", "1")
        self.assertGreater(other["differ"], 0, "one worker is another device")
        self.assertIn("ended otherwise than recorded", said)

    def test_the_own_recording_of_f2fs(self):
        """Twice the same; whether to the nanosecond as it was recorded, depends on the firmware since."""
        record, out, digests = TOP / "traces/f2fs.hzr.xz", self.base / "out", set()
        for _ in range(2):
            run = self.call("run", "--device", "conzone-f2fs-patched", "--trace", record, "--as-recorded", "--out", out)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            result = json.loads((out / "result.json").read_text())
            self.assertEqual((result["failed_commands"]["count"], result["totals"]["errors"]), (0, []))
            self.assertEqual([result["totals"][kind]["ops"] for kind in ("read", "write", "flush", "zone", "trim")], [1692, 256, 147, 16, 1])
            digests.add(result["as_recorded"]["digest"])
        self.assertEqual(len(digests), 1)

    def timed(self, name, changes, *words):
        """The recording of F2FS by dependencies on a device whose flash is so many times slower: what it took, and the recording of that."""
        device, record, out = self.base / f"{name}.yaml", self.base / f"{name}.hzr", self.base / "out"
        text = (TOP / "configs/devices/conzone-f2fs-patched.yaml").read_text()
        for old, new in changes.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        device.write_text(text)
        run = self.call("run", "--device", device, "--trace", TOP / "traces/f2fs.hzr.xz", "--by-dependencies", "--record", record, "--out", out, *words)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, r"\d+ commands waited for \d+ completions; all took [\d.]+ s of device time, and 56.522426 s when")
        result = json.loads((out / "result.json").read_text())
        self.assertEqual((result["failed_commands"]["count"], result["as_recorded"]["commands"], result["as_recorded"]["replay"]), (0, 2112, "dependencies"))
        return result["elapsed_ns"], result["as_recorded"]["digest"], record

    def require_order(self, record):
        """No command comes before the one in front of it, nor before an answer to the completions in front of it."""
        answered = front = 0
        for words in map(str.split, record.read_text().splitlines()):
            if words[0] == "c":
                answered = max(answered, int(words[4]) + 20_000)
            elif words[0] == "s":
                self.assertGreaterEqual(int(words[2]), max(answered, front))
                front = int(words[2])

    def test_dependencies_on_faster_and_slower_flash(self):
        read, program = "{read: 20us, program: 75us, erase: 3.5ms}", "{read: 32us, program: 937.5us, erase: 3.5ms}"
        took, digest, same = self.timed("same", {})
        slow, _, slower = self.timed("slower", {read: "{read: 200us, program: 750us, erase: 35ms}", program: "{read: 320us, program: 9375us, erase: 35ms}"})
        fast, _, faster = self.timed("faster", {read: "{read: 2us, program: 7us, erase: 350us}", program: "{read: 3us, program: 93us, erase: 350us}"})
        one, _, _ = self.timed("one", {}, "--workers", "1")
        self.assertLess(fast, took)
        self.assertLess(took, slow)
        self.assertNotEqual(one, took)
        for record in (same, slower, faster):
            self.require_order(record)
        self.mixed = self.base / "same.yaml"
        for way in ("--as-recorded", "--by-dependencies"):
            again, said = self.repeat(same, way=way)
            self.assertEqual((again["differ"], again["digest"], again["recorded_digest"]), (0, digest, digest), again["first_difference"])
        self.mixed, part = self.base / "faster.yaml", self.base / "part.hzr"
        cut, said = self.repeat(same, "--max-ops", "300", "--record", part, way="--by-dependencies")
        self.assertEqual((cut["commands"], cut["recorded_digest"]), (300, ""), said)
        again, said = self.repeat(part)
        self.assertEqual((again["commands"], again["differ"], again["digest"], again["recorded_digest"]), (300, 0, cut["digest"], cut["digest"]), said)
        again, said = self.repeat(slower, way="--by-dependencies")
        self.assertGreater(again["recorded_elapsed_ns"], slow - 1)
        self.assertEqual((again["moved_arrivals"], again["dependencies"]["commands"]), (0, 1206), said)

    def test_admin_commands_under_load_are_repeated_in_their_place(self):
        record = self.base / "admin.hzr"
        said = self.serve("$load blocks; $load 2 mixed 3 8 & $load admin; $load admin; wait", "--record", record)
        self.assertEqual(said.count("100 admin commands: all as it should be"), 2)
        self.assertRegex(said, r"mixed, depth 8: .* 0 failed")
        kinds = "".join(line[0] for line in record.read_text().splitlines() if line[:2] in ("s ", "a "))
        self.assertGreater(len(re.findall("sa+s", kinds)), 10, "admin commands between I/O commands")
        digest = re.search(r"admin.hzr: digest (\w+)", said)[1]
        self.require_same(record, digest)

    def test_namespaces_come_and_go_under_load(self):
        """Two hosts, the second of which has another controller's id than the device's."""
        self.mixed = self.base / "two.yaml"
        small = (TOP / "configs/devices/small-legacy.yaml").read_text()
        doubled = re.sub(r"(blocks_per_plane: )(\d+)", lambda found: f"{found[1]}{2 * int(found[2])}", small)
        self.mixed.write_text(doubled + "namespaces: {count: 2}\n")
        record = self.base / "namespaces.hzr"
        said = self.serve("$load 1 write 0.2 16; $load 1 mixed 4 8 & sleep 0.5; $load namespaces; wait", "--record", record)
        self.assertIn("10 namespaces: all as it should be", said)
        self.assertRegex(said, r"mixed, depth 8: .* 0 failed")
        digest = re.search(r"namespaces.hzr: digest (\w+)", said)[1]
        self.require_same(record, digest)

    def test_events_of_placement(self):
        self.assertIn("3 events: all", self.serve("$load events", device=TOP / "configs/devices/small-fdp.yaml"))

    def test_a_format_that_needs_more_device_time_than_hosts_let_pass(self):
        """Its erases take longer than the wall clock gives the device: after ten seconds nothing holds its time any more."""
        self.assertIn("a format: all", self.serve("$load format", "--slow-down", "10000", device=TOP / "configs/devices/small-legacy.yaml"))

    def test_threads_of_host_and_repeat_that_are_slow(self):
        """Several lanes, and admin commands that begin parts of the recording."""
        record, self.environment["HARTZONE_TEST_DELAY_US"] = self.base / "slow.hzr", "3000"
        said = self.serve("$load blocks; for i in 1 2; do $load 2 write 0.5 16 & $load 2 mixed 1 4 & $load admin & $load 2 read 0.5 2 & wait; done", "--record", record)
        digest = re.search(r"slow.hzr: digest (\w+)", said)[1]
        self.require_same(record, digest)

    def test_device_time_that_is_slower_than_the_emulation(self):
        """The device is ahead of the host: work in the background waits for its promise, as does a lane that was idle while others were full."""
        record = self.base / "ahead.hzr"
        said = self.serve("$load 2 write 3 64 & $load 2 mixed 4 4 & sleep 1; $load admin; $load 2 write 1 1 & $load 1 read 2 1 & $load admin; wait",
                          "--slow-down", "30", "--record", record)
        digest = re.search(r"ahead.hzr: digest (\w+)", said)[1]
        self.require_same(record, digest)
        for workers in (1, 4):  # on a slower device I/O commands end after the doorbell of the admin command behind them
            other, _ = self.repeat(record, "--workers", workers)
            self.assertGreater(other["differ"], 0)

    def test_lanes_of_a_part_begin_together(self):
        """The first lane's first command arrives last: device time does not run there before the others take part."""
        lines, part_ns = ["hartzone-record 1 lanes 4 depth 128 turnaround 20000 workers 2 device small-mixed"], 3_000_000
        for at in range(20_000_000, 20_000_000 + 40 * part_ns, part_ns):
            lines += [f"s {lane} {at + (4 - lane) * 500_000} {1 + lane % 2} 0 1 0 0 {lane:x} 0 0 0 0 0" for lane in range(1, 5)]
            lines.append(f"a {at + part_ns - 500_000} 4096 6 0 1 0 0 0 0 0 0 0 0")
        record, digests = self.base / "parts.hzr", set()
        record.write_text("\n".join(lines) + "\n")
        for delay in ("20000", "20000", "0"):
            self.environment["HARTZONE_TEST_DELAY_US"] = delay
            same, _ = self.repeat(record)
            digests.add(same["digest"])
        self.assertEqual(len(digests), 1)

    def test_its_value_may_be_left_out_in_front_of_a_command(self):
        for words in (["--nvme-tcp", "0"], ["--nvme-tcp=0"], ["--nvme-tcp", "0", "--lanes", "1"]):
            run = self.call("serve", "--device", "small", *words, "--", "sh", "-ec", "echo $HARTZONE_NVME_CONNECT")
            self.assertRegex(run.stdout, "nvme connect -t tcp -a 127.0.0.1", run.stderr)
        self.refused("there is no program nosuch", "serve", "--nvme-tcp", "--", "nosuch", "-x")

    def test_a_recording_that_was_cut_off_is_repeated_as_far_as_it_goes(self):
        record = self.base / "cut.hzr"
        self.serve("$load zones", "--record", record)
        lines = record.read_text().splitlines(keepends=True)
        record.write_text("".join(lines[:-1]))
        same, said = self.repeat(record)
        self.assertEqual((same["differ"], same["recorded_digest"]), (0, ""))
        self.assertIn("its end is missing", said)
        record.write_text("".join(lines[:5]) + "s 1 x\n")
        run = self.call("run", "--trace", record, "--as-recorded")
        self.assertEqual(run.returncode, 1)
        self.assertIn("cut.hzr:6: the arrival should be a number", run.stderr)

    def test_the_power_goes_under_hosts(self):
        """Who have a connection no more, nor the command, which would else go on; the next start has what is on flash."""
        image, record = self.base / "image", self.base / "dark.hzr"
        words = ("serve", "--device", self.mixed, "--nvme-tcp", "0", "--image", image)
        run = self.call(*words, "--power-cut-at", 200, "--record", record, "--", "sh", "-ec",
                        HOST + "$load 2 write 100 8 2>&1 && exit 9; echo the host has ended; exec sleep 1000")
        self.assertEqual((run.returncode, run.stderr), (4, ""), run.stdout)
        self.assertRegex(run.stdout, "(?s)the host has ended\n.*the power was cut at flash operation 200, as asked\n"
                                     f"the next start on {image} recovers what is on flash\n$")
        for way in ("--as-recorded", "--by-dependencies"):
            same, said = self.repeat(record, way=way)
            self.assertEqual((same["differ"], same["recorded_digest"]), (0, ""))
            self.assertIn("its end is missing", said)
            self.assertGreater(same["commands"], 20)
        whole = self.base / "whole.hzr"
        self.repeat(record, "--record", whole, way="--by-dependencies")
        again, said = self.repeat(whole)
        self.assertEqual((again["differ"], again["digest"]), (0, same["digest"]), said)
        lines = [line[:2] for line in whole.read_text().splitlines()]
        self.assertEqual(lines.count("s "), lines.count("c "), "what the cut had left under way ends, too")
        again = self.call(*words, "--power-cut-at", 10000000, "--", "sh", "-ec", HOST + "$load 2 mixed 0.5 8")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertRegex(again.stdout, r"mixed, depth 8: .* 0 failed")
        self.assertIn("the device was shut down before the power cut at flash operation 10000000\n", again.stdout)
        check = self.call("image", "check", image)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        self.assertEqual(list((self.base / "runs").iterdir()), [])

    def test_the_power_goes_without_hosts(self):
        for words in ((), ("--nvme-tcp", "0")):
            run = self.call("serve", "--device", "small", "--clock", "real", *words, "--power-cut-at", "50ms")
            self.assertEqual((run.returncode, run.stderr), (4, ""), run.stdout)
            self.assertIn("the power was cut at 50000000 ns of device time, as asked; the temporary image is gone", run.stdout)

    def test_hosts_at_once_and_one_that_is_killed(self):
        said = self.serve("$load 2 write 60 64 & victim=$!; $load 2 mixed 1 8 & $load zones; kill -9 $victim; wait %2; $load zones",
                          "--lanes", "2", "--slow-down", "4")
        self.assertEqual(said.count("all as it should be"), 2)
        self.assertRegex(said, r"mixed, depth 8: .* 0 failed")

    def test_it_works_in_wall_clock_time_too(self):
        said = self.serve("$load zones", "--clock", "real", device="small")
        self.assertIn("all as it should be", said)
        self.assertIn("2 connections of hosts\n", said)

    def test_a_target_until_a_signal(self):
        device = subprocess.Popen([DRIVER, "serve", "--device", "small-mixed", "--nvme-tcp", "127.0.0.1:0", "--name", "left", "--image",
                                   str(self.base / "image")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, text=True)
        self.addCleanup(device.stderr.close)
        self.addCleanup(device.stdout.close)
        self.addCleanup(device.wait)
        self.addCleanup(device.kill)
        words = []
        while not words:
            words = re.findall(r"nvme connect -t tcp -a 127.0.0.1 -s (\d+) -n (\S+)", device.stdout.readline())
        self.assertEqual(words[0][1], "nqn.2026-11.org.hartzone:left")
        self.assertRegex(device.stdout.readline(), "namespace 1, .* zones of .*: Linux takes it\n")
        host = subprocess.run([LOAD, *words[0], "zones"], capture_output=True, check=False, timeout=HANG_S, text=True)
        self.assertEqual(host.returncode, 0, host.stderr)
        device.send_signal(signal.SIGINT)
        self.assertEqual((device.wait(HANG_S), device.stderr.read()), (0, ""))
        self.assertEqual(list((self.base / "runs").iterdir()), [])
        check = self.call("image", "check", self.base / "image")
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_only_hosts_with_the_key_get_in_and_it_is_shown_to_nobody(self):
        file = self.base / "host.key"
        file.write_text(KEY + "\n")
        script = "echo keys $HARTZONE_DHCHAP_SECRET $HARTZONE_DHCHAP_CTRL_SECRET; $load zones 2>&1 && exit 3; true"
        said = self.serve(script, "--allow-host", HOST_NAME, "--allow-host", "nqn.other", "--dhchap-secret", file, "--dhchap-ctrl-secret", TARGET_KEY)
        self.assertIn(f"keys {KEY} {TARGET_KEY}\n", said)
        self.assertIn("failed with status 388", said, "a host of another name: 184h")
        said = self.serve(script, "--dhchap-secret", KEY)
        self.assertIn("failed with status 401", said, "a host that does not authenticate: 191h")
        self.environment["HARTZONE_DHCHAP_SECRET"] = KEY
        self.assertIn("failed with status 401", self.serve(script))
        self.assertIn("all as it should be", self.serve("$load zones", "--open"))
        device = subprocess.Popen([DRIVER, "serve", "--device", "small", "--nvme-tcp", "0.0.0.0:0", "--allow-host", HOST_NAME], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, env=self.environment, text=True)
        self.addCleanup(device.stdout.close)
        self.addCleanup(device.wait)
        self.addCleanup(device.kill)
        said = ""
        while "nvme connect" not in said:
            said += device.stdout.readline()
        device.send_signal(signal.SIGINT)
        said += device.stdout.read()
        self.assertEqual(device.wait(HANG_S), 0, said)
        self.assertRegex(said, r"nvme connect .* --dhchap-secret KEY\n")
        self.assertNotIn(KEY[10:20], said)

    def refused(self, sentence, *words):
        run = self.call(*words)
        self.assertNotEqual(run.returncode, 0, words)
        self.assertIn(sentence, run.stderr)

    def test_what_cannot_be_had_is_refused_before_the_boot(self):
        self.refused("whoever reaches it", "serve", "--nvme-tcp", "0.0.0.0:0")
        self.refused("add --allow-host and --dhchap-secret, or --open", "serve", "--nvme-tcp", "0.0.0.0:0")
        self.refused("add --dhchap-secret, or --open", "serve", "--nvme-tcp", "0.0.0.0:0", "--allow-host", HOST_NAME)
        self.refused("add --allow-host, or --open", "serve", "--nvme-tcp", "[::]:0", "--dhchap-secret", KEY)
        self.refused("--open lets everyone in", "serve", "--nvme-tcp", "0.0.0.0:0", "--dhchap-secret", KEY, "--open")
        self.refused("add --dhchap-secret", "serve", "--nvme-tcp", "0", "--dhchap-ctrl-secret", KEY)
        self.refused("takes the NQN of a host", "serve", "--nvme-tcp", "0", "--allow-host", "me")
        self.environment["HARTZONE_DHCHAP_SECRET"] = damaged = KEY[:-8] + "AAAAAAA:"
        self.refused("$HARTZONE_DHCHAP_SECRET is a key with a wrong checksum", "serve", "--nvme-tcp", "0")
        for text in (damaged, damaged[1:]):
            run = self.call("serve", "--nvme-tcp", "0", "--dhchap-secret", text)
            self.assertNotEqual(run.returncode, 0)
            self.assertNotIn(KEY[10:20], run.stdout + run.stderr)
        del self.environment["HARTZONE_DHCHAP_SECRET"]
        self.refused("takes ADDRESS:PORT", "serve", "--nvme-tcp", "127.0.0.1:70000")
        self.refused("takes an IP address, which localhost is not", "serve", "--nvme-tcp", "localhost:0")
        self.refused("--record is for hosts on a network: add --nvme-tcp", "serve", "--record", self.base / "r")
        self.refused("--slow-down needs device time", "serve", "--nvme-tcp", "0", "--clock", "real", "--slow-down", "4")
        self.refused("takes letters", "serve", "--nvme-tcp", "0", "--name", "a b")
        self.refused("name it with --trace", "run", "--as-recorded")
        record = self.base / "r.hzr"
        record.write_text("hartzone-record 1 lanes 1 depth 64 turnaround 20000 workers 1 device small\n")
        self.refused("add --as-recorded or --by-dependencies", "run", "--trace", record)
        self.refused("--threads has no effect with --as-recorded", "run", "--trace", record, "--as-recorded", "--threads", "2")
        self.refused("leave out --clock real", "run", "--trace", record, "--as-recorded", "--clock", "real")
        self.refused("two ways to repeat a recording", "run", "--trace", record, "--as-recorded", "--by-dependencies")
        self.refused("--record has no effect with --as-recorded", "run", "--trace", record, "--as-recorded", "--record", self.base / "r2")
        self.refused("give --by-dependencies, too", "run", "--trace", record, "--record", self.base / "r2")
        self.refused("--timestamps has no effect with --by-dependencies", "run", "--trace", record, "--by-dependencies", "--timestamps")
        self.refused("--by-dependencies repeats a recording: name it", "run", "--by-dependencies")
        line = "1 0 1 0 0 0 0 0 0 0 0"
        record.write_text(f"{record.read_text()}s 1 100 {line}\nc 1 0 100 5000 0 0\ns 1 24999 {line}\n")
        self.refused(f"{record}:4: the command arrives at 24999 ns, before a host could answer", "run", "--trace", record, "--by-dependencies")
        record.write_text("hartzone-record 2\n")
        self.refused("reads version 1 of recordings, not 2", "run", "--trace", record, "--as-recorded")


if __name__ == "__main__":
    unittest.main()
