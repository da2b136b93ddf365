"""The program and the studies as a user meets them: wrong words, folders that cannot be written, signals."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest import processes  # noqa: E402
from hztest.needs import HANG_S, device_problem, study_python  # noqa: E402

PYTHON, MISSING = study_python(), device_problem()

INTERRUPTED = ("hartzone study: interrupted, everything is cleaned up; 6 of 6 points are not measured, the same command with --resume "
               "goes on\n")
UNWRITABLE = "/proc/hartzone-test"


def called(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options)


SYNCED = """import os
fd = os.open("a", os.O_WRONLY | os.O_CREAT | os.O_DSYNC, 0o600)
os.write(fd, bytes(4096))
os.pwrite(os.dup(fd), bytes(4096), 8192)
fd = os.open("b", os.O_WRONLY | os.O_CREAT, 0o600)
os.write(fd, bytes(4096))
os.pwritev(fd, [bytes(4096)], 4096, os.RWF_DSYNC)
os.sync()
"""


class RecordTrace(unittest.TestCase):
    @unittest.skipUnless(shutil.which("strace"), "strace is not installed (scripts/setup installs it)")
    def test_what_a_program_writes_durably_is_so(self):
        with tempfile.TemporaryDirectory(prefix="hz-record-") as folder:
            file = pathlib.Path(folder) / "t.hzt"
            run = called(TOP / "scripts" / "record-trace", "x", "--out", file, "--", sys.executable, "-c", SYNCED)
            self.assertEqual(run.returncode, 0, run.stderr)
            records = [line.split(" ", 2)[2] for line in file.read_text().splitlines() if line[0].isdigit()]
        self.assertEqual(records, ["write 0 1 durable", "write 2 1 durable", "write 16 1", "write 17 1 durable", "flush"])

    def test_says_in_one_line_what_is_wrong(self):
        for words in (("x", "--out", UNWRITABLE + "/x", "--", "true"), ("x", "--out", UNWRITABLE, "--", "sh", "-c", "echo > f"),
                      ("x", "--", "true"), ("x", "--", "false")):
            run = called(TOP / "scripts" / "record-trace", *words)
            self.assertEqual((run.returncode, len(run.stderr.splitlines())), (1, 1), run.stderr)
            self.assertIn("record-trace: ", run.stderr)


@unittest.skipIf(MISSING, MISSING)
class Program(unittest.TestCase):
    def test_a_number_below_zero_is_no_seed(self):
        for seed in ("-1", "0", "x", "4294967296"):
            run = called(os.environ["HARTZONE_DRIVER"], "run", "--quick", "--seed", seed)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn("from 1 to 4294967295", run.stderr)

    def test_a_result_names_qemu_as_it_does_itself(self):
        version = called(os.environ.get("HARTZONE_QEMU", "qemu-system-riscv64"), "--version").stdout.splitlines()[0]
        with tempfile.TemporaryDirectory(prefix="hz-version-") as out:
            for words in ((), ("--power-cut-at", "3")):
                called(os.environ["HARTZONE_DRIVER"], "run", "--device", "small", "--workload", "small", "--out", out, *words)
                self.assertEqual(json.loads((pathlib.Path(out) / "result.json").read_text())["software"]["qemu"]["version"], version)

    def test_a_limit_of_file_sizes_and_no_proc_are_said(self):
        driver = os.environ["HARTZONE_DRIVER"]
        limited = called("sh", "-c", 'ulimit -f 100; exec "$@"', "sh", driver, "run", "--device", "small", "--workload", "small")
        self.assertEqual((limited.returncode, len(limited.stderr.splitlines())), (1, 1), limited.stderr)
        self.assertIn("File too large (a limit is set: ulimit -f unlimited)", limited.stderr)
        hidden = ("unshare", "--mount", "--map-root-user", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh")
        if called(*hidden, "true").returncode == 0:
            for words in (("run", "--device", "small", "--workload", "small"), ("info", "--device", "small")):
                bare = called(*hidden, driver, *words)
                self.assertEqual((bare.returncode, len(bare.stderr.splitlines())), (1, 1), bare.stderr)
                self.assertIn("/proc is not mounted, and devices are found and watched by it: mount -t proc proc /proc", bare.stderr)

    def test_the_clocks_own_words(self):
        run = called(os.environ["HARTZONE_DRIVER"], "run", "--quick", "--vclock", "nosuch=1")
        self.assertEqual(run.returncode, 1)
        self.assertIn("vclock: option nosuch=1 is unknown", run.stderr)

    def test_the_clocks_jitter(self):
        for words, sentence in ((["0"], "takes a seed of at least 1"), (["x"], "takes a seed"), (["7:"], "1 to 10000 thousandths"),
                                (["7:10001"], "1 to 10000 thousandths"), (["7", "--clock", "real"], "--clock-jitter needs --clock virtual")):
            run = called(os.environ["HARTZONE_DRIVER"], "run", "--clock-jitter", *words)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(sentence, run.stderr)
        with tempfile.TemporaryDirectory(prefix="hz-jitter-") as out:
            digests = set()
            for seed in ("3", "3", "4:500"):
                run = called(os.environ["HARTZONE_DRIVER"], "run", "--quick", "--clock-jitter", seed, "--out", out)
                self.assertEqual(run.returncode, 0, run.stderr)
                number, permille = (seed + ":100").split(":")[:2]
                self.assertIn(f"deterministic: yes, schedule perturbed by seed {number} ({permille} permille)", run.stdout)
                result = json.loads((pathlib.Path(out) / "result.json").read_text())
                self.assertEqual(result["vclock"]["parameters"]["jitter"], {"seed": int(number), "permille": int(permille)})
                digests.add(result["digest"])
            self.assertEqual(len(digests), 2)


@unittest.skipIf(MISSING, MISSING)
class Library(unittest.TestCase):
    def test_a_program_elsewhere_finds_what_it_needs(self):
        """As a user's program does: it lies anywhere, links libhartzone.so, and sets nothing."""
        with tempfile.TemporaryDirectory(prefix="hz-program-") as folder:
            program = shutil.copy(os.environ["HARTZONE_C_API_TEST"], folder)
            environment = {k: v for k, v in os.environ.items() if k not in ("HARTZONE_FIRMWARE", "HARTZONE_PLUGIN")}
            run = called(program, env=environment, cwd=folder)
            if "the firmware image was not found" in run.stderr:
                self.skipTest("the firmware is not built beside the library")
            self.assertEqual((run.returncode, run.stdout), (0, "the C interface works\n"), run.stderr)


@unittest.skipIf(MISSING, MISSING)
class Scripts(unittest.TestCase):
    def test_folders_that_cannot_be_made(self):
        for script in [*TOP.glob("studies/*/study.py"), *TOP.glob("bench/*/bench.py")]:
            run = called(PYTHON, script, "--out", UNWRITABLE)
            self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
            self.assertIn(UNWRITABLE, run.stderr)

    def test_signals_end_a_study_and_its_run(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -signal.SIGKILL)):
            with tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
                base = pathlib.Path(folder) / "runs"
                base.mkdir()
                study = subprocess.Popen([PYTHON, str(TOP / "studies/conzone-fig8/study.py"), "--out", folder],
                                         env={**os.environ, "HARTZONE_RUN_BASE": str(base)}, stderr=subprocess.PIPE, text=True)
                self.wait_until(lambda base=base: any(base.iterdir()))
                study.send_signal(number)
                _, words = study.communicate(timeout=HANG_S)
                self.assertEqual(study.returncode, code, words)
                self.assertEqual(words, INTERRUPTED if code > 0 else "")
                self.wait_until(lambda base=base, folder=folder: not any(base.iterdir()) and not processes.naming(folder))

    def test_an_interrupt_keeps_what_was_measured(self):
        with tempfile.TemporaryDirectory(prefix="hz-study-") as folder:
            command = [PYTHON, str(TOP / "studies/conzone-fig8/study.py"), "--quick", "--out", folder]
            study = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "HARTZONE_JOBS": "1"})
            self.wait_until(lambda: os.path.exists(f"{folder}/multiple-1/run.log"))
            study.send_signal(signal.SIGINT)
            text, words = study.communicate(timeout=HANG_S)
            found = json.loads(pathlib.Path(folder, "study.json").read_text())
            self.assertEqual((study.returncode, found["interrupted"]), (130, True), words)
            self.assertEqual([p["strategy"] for p in found["points"]][:1], ["bitmap"])
            self.assertIn("bitmap ", text)
            resumed = called(*command, "--resume")
            self.assertEqual(resumed.returncode, 0, resumed.stderr)
            self.assertIn("were there already", resumed.stdout)

    def wait_until(self, condition):
        end = time.monotonic() + HANG_S
        while not condition():
            self.assertLess(time.monotonic(), end, "nothing changes")
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main(verbosity=2)
