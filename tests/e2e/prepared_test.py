"""Prepared devices that are kept: a run that finds one has the result of the run that made it, and nothing else takes one for its own."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest import processes  # noqa: E402
from hztest.needs import HANG_S, device_problem  # noqa: E402

MISSING = device_problem()

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
ZONED = """name: zoned
threads: 3
common: {read_ratio: 0.5, pattern: random, block: 16 KiB, prefill: 0.4, total_ops: 60}
each: [{append: true}, {open_zones: 2}, {prefill: 0}]
"""
LOGGED = """name: logged
mapping: log
threads: 1
common: {read_ratio: 0.5, pattern: random, block: 16 KiB, prefill: 1, total_ops: 100}
"""
BLOCKS = """name: blocks
threads: 2
common: {read_ratio: 0.5, pattern: random, block: 4 KiB, prefill: 0.5, total_ops: 100}
"""
CASES = {"small": ZONED, "small-patched": LOGGED, "small-legacy": BLOCKS, "small-mcmq": BLOCKS}
OF_THE_HOST = ("wall_s", "replay_wall_s", "host")
LONG = "name: long\nthreads: 1\ncommon: {read_ratio: 1.0, block: 4 KiB, prefill: 1.0, total_ops: 10}\n"


@unittest.skipIf(MISSING, MISSING)
class Prepared(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="hz-prepared-")
        self.folder = pathlib.Path(self.temporary.name)
        self.cache = self.folder / "cache"
        self.runs = 0

    def test_flash_is_at_rest_when_measurement_begins(self):
        reads = self.workload("mapping: direct\nthreads: 2\ncommon: {read_ratio: 1.0, pattern: sequential, prefill: 0.3, block: 64 KiB, total_ops: 100}\n")
        self.called("run", "--device", "small", "--workload", reads, "--out", self.folder / "out")
        causes = json.loads((self.folder / "out" / "result.json").read_text())["nand"]["by_cause"]
        self.assertEqual({name: of["programs"] for name, of in causes.items() if of["programs"]}, {}, "what the preparation wrote is not measured")
        self.assertGreater(causes["host"]["reads"], 0)

    def tearDown(self):
        self.temporary.cleanup()

    def workload(self, text):
        file = self.folder / "workload.yaml"
        file.write_text(text)
        return file

    def environment(self, **changes):
        return {**os.environ, "HARTZONE_CACHE": str(self.cache), **changes}

    def called(self, *words, code=0, says="", **environment):
        run = subprocess.run([DRIVER, *map(str, words)], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                             env=self.environment(**environment), cwd=self.folder)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertIn(says, run.stdout + run.stderr)
        if code:
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        return run.stdout

    def run_on(self, device, text, *words, **wanted):
        """(the result without host-dependent entries, origin of its device)"""
        self.runs += 1
        out = self.folder / f"out-{self.runs}"
        said = self.called("run", "--device", device, "--workload", self.workload(text), "--prepared", "kept", "--out", out, *words, **wanted)
        result = json.loads((out / "result.json").read_text())
        for key in OF_THE_HOST:
            result.pop(key, None)
        if result.get("vclock"):
            result["vclock"].pop("host")
        story = [line for line in said.splitlines() if line.startswith("prepared device ")]
        return result, story[0].split(": ", 1)[1] if story else ""

    def kept(self):
        return sorted(self.cache.glob("prepared/*"))

    def test_a_result_does_not_tell_whether_the_device_was_found(self):
        for device, text in CASES.items():
            with self.subTest(device):
                made, story = self.run_on(device, text)
                self.assertTrue(story.startswith(f"made, and kept in {self.cache}/prepared/{made['preparation']['kept']}"), story)
                self.assertEqual(made["workload"]["prepared"], "kept")
                self.assertGreater(made["preparation"]["write_bytes"], 0)
                found, story = self.run_on(device, text)
                self.assertEqual(story, "from an earlier run")
                self.assertEqual(found, made)
                alone, story = self.run_on(device, text, HARTZONE_CACHE="/proc/none")
                self.assertTrue(story.startswith("made; it is not kept: cannot make the folder /proc/none/prepared"), story)
                self.assertEqual(alone, made)
                self.assertEqual((made["violations"], made["failed_commands"]["count"], made["deterministic"]), ([], 0, True))
                self.assertTrue(made["verified_bytes"] or made["device"]["geometry"]["media"] == "timing_only")

    def test_other_machines_share_it(self):
        made, _ = self.run_on("small", ZONED)
        for words in (("--workers", "1"), ("--vclock", "remote=80"), ("--clock-jitter", "3"), ("--race-check",), ("--ahead", "0")):
            other, story = self.run_on("small", ZONED, *words)
            self.assertEqual((story, other["preparation"]), ("from an earlier run", made["preparation"]), words)
        self.assertEqual(self.run_on("small", ZONED, "--clock", "real")[1], "from an earlier run")
        self.assertEqual(self.run_on("small", ZONED.replace("read_ratio: 0.5", "read_ratio: 0.9"))[1], "from an earlier run")

    def test_others_make_their_own(self):
        self.run_on("small", ZONED)
        for device, text, words in (("small", ZONED, ("--seed", "2")), ("small", ZONED, ("--no-verify",)), ("small", ZONED, ("--queue-depth", "3")),
                                    ("small", ZONED.replace("0.4", "0.3"), ()), ("small-patched", ZONED, ())):
            self.assertTrue(self.run_on(device, text, *words)[1].startswith("made, and kept"), (device, words))
        self.assertEqual(len(self.kept()), 6)

    def test_a_trace_is_reported_by_what_is_in_it(self):
        trace = self.folder / "a.csv"
        for lines, expected in ((("0 0 16 8 1", "9 0 0 8 0"), "made, and kept"), (("0 0 16 8 1", "9 0 64 8 1"), "made, and kept"),
                                (("0 0 16 8 1", "9 0 0 8 0"), "from an earlier run")):
            trace.write_text("".join(line + "\n" for line in lines))
            said = self.called("run", "--device", "small-legacy", "--trace", trace, "--format", "mqsim", "--prepared", "kept")
            self.assertIn(": " + expected, said)

    def test_what_cannot_be_together(self):
        file = self.workload(ZONED + "prepared: kept\n")
        self.called("run", "--device", "small", "--workload", file, "--image", "disk.img", code=1,
                    says=f"{file}: prepared: kept: --image has a device of its own: leave one of the two out")
        self.assertFalse((self.folder / "disk.img").exists())
        self.called("serve", "--device", "small", "--clock", "virtual", "--", DRIVER, "run", "--workload", file, "--out", "out", code=1,
                    says="prepared: kept: --attach uses a device that is up already: leave one of the two out")
        self.called("run", "--workload", self.workload("common: {total_ops: 5}\n"), "--prepared", "kept", code=1,
                    says="writes nothing before its measurement")
        self.called("run", "--prepared", "once", code=2, says="anew")
        trace = self.folder / "zones.csv"
        trace.write_text("0 0 16 8 1\n")
        self.called("run", "--device", "small", "--trace", trace, "--format", "mqsim", "--mapping", "direct", "--prepared", "kept", code=1,
                    says="--prepared: a trace that is replayed directly on zones")
        self.assertEqual(self.kept(), [])

    def test_the_command_line_has_the_last_word(self):
        said = self.called("run", "--device", "small", "--workload", self.workload(ZONED + "prepared: kept\n"), "--prepared", "anew")
        self.assertNotIn("prepared device", said)
        trace = self.folder / "zones.csv"
        trace.write_text("0 0 0 8 0\n")
        file = self.workload("prepared: kept\nmapping: direct\ntrace: {file: zones.csv, format: mqsim}\n")
        self.called("run", "--device", "small", "--workload", file, code=1, says="prepared: a trace that is replayed directly on zones")
        self.called("run", "--device", "small", "--workload", file, "--prepared", "anew")
        self.assertEqual(self.kept(), [])

    def test_a_preparation_that_fails_is_kept_by_nobody(self):
        device = self.folder / "faulty.yaml"
        device.write_text("geometry: {blocks_per_plane: 24}\nzones: {count: 3}\nfaults: {failed_die: 1}\n")
        self.called("run", "--device", device, "--workload", self.workload(LONG), "--prepared", "kept", code=1, says="the device could not be prepared: ")
        self.assertEqual(self.kept(), [])

    def test_a_power_cut_is_of_the_measured_device(self):
        self.run_on("small", ZONED, "--power-cut-at", "3", says="the power was cut at flash operation 3")
        self.assertEqual(self.run_on("small", ZONED)[1], "from an earlier run")

    def test_damage_is_reported_with_the_way_out(self):
        self.run_on("small", ZONED)
        place = self.kept()[0]
        (place / "flash").write_bytes(b"short")
        self.run_on_damaged(f"{place}/flash is damaged: remove {place}, and the device is prepared again")
        (place / "host").write_bytes(b"\xff")
        self.run_on_damaged(f"{place}/host is damaged: remove it, and the device is prepared again")
        (place / "host").unlink()
        self.assertTrue(self.run_on("small", ZONED)[1].startswith("made, and kept"))

    def run_on_damaged(self, sentence):
        self.called("run", "--device", "small", "--workload", self.workload(ZONED), "--prepared", "kept", code=1, says=sentence)

    def test_the_folder_keeps_its_size(self):
        self.assertEqual(self.run_on("small", ZONED, HARTZONE_CACHE_SIZE="1 KiB")[1][:14], "made, and kept")
        self.run_on("small", ZONED, "--seed", "2", HARTZONE_CACHE_SIZE="1 KiB")
        self.assertEqual(len(self.kept()), 1)
        self.assertEqual(self.run_on("small", ZONED, "--seed", "3", HARTZONE_CACHE_SIZE="much")[1],
                         "made; it is not kept: HARTZONE_CACHE_SIZE is 'much': give it a size, such as 8 GiB")

    def test_the_folder_is_the_users(self):
        for given, folder in (({"HARTZONE_CACHE": "", "XDG_CACHE_HOME": str(self.folder / "x")}, "x/hartzone"),
                              ({"HARTZONE_CACHE": "", "XDG_CACHE_HOME": "", "HOME": str(self.folder / "h")}, "h/.cache/hartzone")):
            self.assertIn(f"made, and kept in {self.folder / folder}/prepared/", self.run_on("small", ZONED, **given)[1])
        self.assertEqual(self.run_on("small", ZONED, HARTZONE_CACHE="", XDG_CACHE_HOME="", HOME="")[1],
                         "made; it is not kept: there is no folder for it: name one in HARTZONE_CACHE")

    def test_two_at_once_make_one(self):
        file = self.workload(ZONED)
        both = [subprocess.Popen([DRIVER, "run", "--device", "small", "--workload", str(file), "--prepared", "kept"], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, env=self.environment()) for _ in range(2)]
        said = [run.communicate(timeout=HANG_S) for run in both]
        self.assertEqual([run.returncode for run in both], [0, 0], said)
        self.assertEqual(sorted("from an earlier run" in out for out, _ in said), [False, True])
        self.assertEqual(len(self.kept()), 1)

    def test_an_interrupt_leaves_nothing(self):
        base = self.folder / "runs"
        for number in (signal.SIGINT, signal.SIGKILL):
            base.mkdir(exist_ok=True)
            run = subprocess.Popen([DRIVER, "run", "--device", "default", "--workload", str(self.workload(LONG)), "--prepared", "kept"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   env=self.environment(HARTZONE_RUN_BASE=str(base)))
            self.wait_until(lambda: any(base.glob("*/qemu.pid")))
            run.send_signal(number)
            words = run.communicate(timeout=HANG_S)[1]
            self.assertEqual(run.returncode, 130 if number == signal.SIGINT else -signal.SIGKILL, words)
            self.wait_until(lambda: not any(base.iterdir()) and not processes.naming(base))
            self.assertEqual([file for place in self.kept() for file in place.iterdir()], [])

    def wait_until(self, condition):
        end = time.monotonic() + HANG_S
        while not condition():
            self.assertLess(time.monotonic(), end, "nothing changes")
            time.sleep(0.01)


if __name__ == "__main__":
    unittest.main(verbosity=2)
