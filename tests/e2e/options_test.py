"""Every option of every command refuses what it cannot use, before anything is built, booted or written. The options and their ranges
are read from the help texts, so an option that shows no range, and has no bad values here, fails."""
# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import importlib.util
import io
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem, fio_problem, run_by_study_python  # noqa: E402

run_by_study_python()  # the studies are imported here

MISSING = device_problem()

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
UNWRITABLE = "/proc/hartzone-test"
TRACE = TOP / "traces/git.hzt.xz"
OPTION = re.compile(r"^ {2}(?:-h, ?)?(--[a-z-]+)(?: (\S+))?(?: |$)", re.M)
EXAMPLE = re.compile(r"^ *(?:Example: )?\./hartzone (.*)$", re.M)
NO_NUMBER = ["", "x", "nan", "inf", "-1", "+1", "0x1", "1e3", "1.5", "1 ", " 1", "99999999999999999999999"]
NO_REAL = ["", "x", "nan", "inf", "-1", "1,5", "1 ", "1e999"]
# For options with values other than numbers and words of a list: by command and option, by option,
# or by the form in the help.
BAD_TEXTS = {
    "FILE|NAME": ["", "nosuch", "/nonexistent.yaml", "/tmp"],
    "NAME": ["", "nosuch", "../devices/default"],
    "NAME,...": ["", "nosuch", "mcs,", "mcs nosuch"],
    "REGEX": ["", "["],
    "KEY=VALUE,...": [""],
    "NSID[,NSID]...": ["", "0", "-1", "1,", "1,x", "17", "4294967296"],
    "NUMBER|TIME": ["", "0", "-1", "0ns", "1.5", "nan", "5 minutes", "5m", "99999999s"],
    "ns|us|ms|s|TIME": ["", "0", "0ns", "2s", "1h", "us us", "-1us", "nan"],
    ("run", "--trace"): ["", "/nonexistent", "/tmp", "/dev/null"],
    ("run", "--timeline"): ["", UNWRITABLE + "/x", "/tmp"],
    ("run", "--out"): ["", UNWRITABLE, "/dev/null/x"],
    "SEED[:PERMILLE]": ["", "0", "x", "-1", "7:", "7:0", "7:10001", "7:1.5", "7:x", ":5", "99999999999999999999999"],
    "FOLDER": [""],
    "PERCENT": ["", "x", "-1", "0", "1000"],
    "NQN": ["", "host", "nqn.a b", "nqn." + "x" * 220],
    "FILE|KEY": ["", "nosuch", "/tmp", "/dev/null", "DHHC-1:01:AAAA:", "DHHC-1:09:AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAl7OaH:"],
    ("study lock-scaling", "--trace"): ["/nonexistent", "/nonexistent/x.hzt"],
    ("run", "--record"): ["", UNWRITABLE + "/x", "/tmp"],
    ("serve", "--record"): ["", UNWRITABLE + "/x", "/tmp"],
    "[ADDRESS:PORT]": ["x", "localhost:0", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:0x1", "300.0.0.1:0", ":::1", "0.0.0.0:0"],
    "WORD": ["", "a b", "a/b", "\u00fc", "x" * 224],
    "WORDS": ["", "--jobs 1"], # of an engine that was not chosen
    "--console": ["", UNWRITABLE + "/x", "/tmp"],
    "--firmware": ["", "/nonexistent", "/tmp"],
    "--image": [""],
    "--baseline": [""],
    ("record-trace", "--out"): ["", UNWRITABLE + "/x"],
    **{(f"trace {name}", "--out"): ["", UNWRITABLE + "/x"] for name in ("convert", "cut", "scale")},
    "TIME": ["", "x", "-1s", "10", "1.5", "10 minutes", "1e3s", "99999999999999999999s"],
}


MAY_BE_ALONE = {("serve", "--nvme-tcp")}  # its value has a default


def bad_values(command, option, allowed):
    """None: no bad values are known for it."""
    numbers = re.fullmatch(r"(\d+)\.\.(\d*)(,\.\.\.)?", allowed)
    if numbers:
        low, high, several = numbers.groups()
        beyond = [str(int(low) - 1)] + ([str(int(high) + 1)] if high else [])
        return NO_NUMBER + beyond + ([f"{low},", f"{low},{beyond[0]}"] if several else [])
    reals = re.fullmatch(r"([\d.e+-]+?)\.\.([\d.e+-]+)", allowed)
    if reals:
        return NO_REAL + [str(float(reals[1]) / 2), str(float(reals[2]) * 2)]
    for key in ((command, option), option, allowed):
        if key in BAD_TEXTS:
            return BAD_TEXTS[key]
    if "|" in allowed:
        words = allowed.split("|")
        return ["", "nosuch", words[0].upper() + "x", ",".join(words), words[0] + " "]
    return None


class Called:
    """A command as a program."""

    def __init__(self, *command, before=(), after=()):
        self.command, self.before, self.after = [str(word) for word in command], list(before), list(after)

    def __call__(self, *words):
        words = [*self.before, *words, *self.after] if "--help" not in words else words
        return subprocess.run([*self.command, *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              env={**os.environ, "HARTZONE_QEMU": "/bin/false"})


class Imported:
    """A study or bench: only its options(), which is much faster."""

    def __init__(self, script):
        spec = importlib.util.spec_from_file_location(f"{script.parent.name}_{script.stem}".replace("-", "_"), script)
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)

    def __call__(self, *words):
        out, err, argv = io.StringIO(), io.StringIO(), sys.argv
        sys.argv = ["x", *words]
        code = 0
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                self.args = self.module.options()
        except SystemExit as end:
            code = end.code
        finally:
            sys.argv = argv
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def commands():
    found = {"run": Called(DRIVER, "run"), "info": Called(DRIVER, "info"), "test": Called(TOP / "hartzone", "test"),
             "image check": Called(DRIVER, "image", "check", before=["x"]),
             "compare": Called(DRIVER, "compare", "/nonexistent", "/nonexistent"),
             "nvme": Called(DRIVER, "nvme", after=["id-ctrl"]), "serve": Called(DRIVER, "serve"),
             "verify": Called(DRIVER, "verify", before=["--image", "/nonexistent"]),
             "record-trace": Called(TOP / "scripts" / "record-trace", before=["x"], after=["--", "true"]),
             **{f"trace {name}": Called(DRIVER, "trace", name, TRACE) for name in ("detect", "summary")},
             **{f"trace {name}": Called(DRIVER, "trace", name, TRACE, before=["--out", "-"]) for name in ("convert", "cut", "scale")},
             "setup": Called(TOP / "scripts" / "setup")}
    if not fio_problem():
        found["fio"] = Called(DRIVER, "fio", after=["--name=a"])
    found["explain"] = Imported(TOP / "studies" / "explain" / "explain.py")
    for script in [*sorted(TOP.glob("studies/*/study.py")), *sorted(TOP.glob("bench/*/bench.py"))]:
        found[f"{script.stem} {script.parent.name}"] = Imported(script)
    return found


def options(call):
    return [(name, allowed) for name, allowed in OPTION.findall(call("--help").stdout) if name != "--help"]


@unittest.skipIf(MISSING, MISSING)
class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.commands = commands()

    def setUp(self):
        self.folder, self.home = tempfile.TemporaryDirectory(prefix="hz-options-"), os.getcwd()
        os.chdir(self.folder.name)

    def tearDown(self):
        left = os.listdir()
        os.chdir(self.home)
        self.folder.cleanup()
        self.assertEqual(left, [], "a call that was refused left files")

    def refused(self, call, *words, says=""):
        run = call(*words)
        self.assertIn(run.returncode, (1, 2), (words, run.stdout, run.stderr))
        self.assertIn(says, run.stderr, words)
        self.assertNotIn("Traceback", run.stderr, words)
        self.assertNotIn("QEMU ended", run.stderr, f"{words} came as far as booting a machine")

    def test_the_help_shows_every_range(self):
        count = 0
        for command, call in self.commands.items():
            for option, allowed in options(call):
                count += 1
                if allowed:
                    self.assertIsNotNone(bad_values(command, option, allowed),
                                         f"{command} {option} {allowed}: show a range in the help, or list bad values in BAD_TEXTS")
        self.assertGreater(count, 60, "the help texts were not understood")

    def test_bad_values(self):
        for command, call in self.commands.items():
            for option, allowed in options(call):
                for value in bad_values(command, option, allowed) or [] if allowed else []:
                    with self.subTest(command=command, option=option, value=value):
                        self.refused(call, option, value, says=option.strip("-") if option == "--trace" and value else option)

    def test_a_value_is_needed_once_and_a_flag_takes_none(self):
        for command, call in self.commands.items():
            for option, allowed in options(call):
                if (command, option) in MAY_BE_ALONE:
                    continue
                with self.subTest(command=command, option=option):
                    alone = Called(DRIVER, command) if command in ("nvme", "fio") else call  # whose next word would be taken for the value
                    self.refused(alone, *([option] if allowed else [option + "=3"]), says=option)

    def test_what_is_missing_is_named_with_an_example(self):
        for words, said in (("serve --nvme-tcp --allow-host", "--allow-host needs a value, NQN: The name of a host that may connect, as its "
                                                              "/etc/nvme/hostnqn has it; no other may that is not named too. E.g. --allow-host nqn."),
                            ("run --seed", "--seed needs a value, 1..4294967295: Seed of everything random"),
                            ("run --seed 1 --seed 2", "--seed takes one value, once (./hartzone run --help has more)"),
                            ("trace cut", "file is missing: The trace, plain or compressed by xz, gzip or zstd (./hartzone trace cut --help has more)"),
                            ("trace", "trace needs a word behind it: detect, summary, convert, cut or scale (./hartzone trace --help has more)"),
                            ("compare results", "B is missing: The folder or result.json to compare it with (./hartzone compare --help has more)")):
            with self.subTest(words=words):
                self.refused(Called(DRIVER), *words.split(), says=said)

    def test_fio_without_its_engine(self):
        run = subprocess.run([DRIVER, "fio", "--device", "small", "--name=a"], capture_output=True, text=True, check=False,
                             env={**os.environ, "HARTZONE_QEMU": "/bin/false", "HARTZONE_FIO_ENGINE": "/nonexistent"})
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (1, 1), run.stderr)
        self.assertRegex(run.stderr, r"the engine for fio, .*fio's source package \(build/setup-fio.log says .*was not found")

    def test_unknown_words(self):
        for command, call in self.commands.items():
            for words in (["--nosuch"], ["nosuch", "again"], ["-x"]):
                with self.subTest(command=command, words=words):
                    self.refused(call, *words)

    NEEDS = {"--most-seeds": ("--until", "5%")}  # what an option needs beside it

    def test_the_ends_of_a_range_are_in_it(self):
        for command, call in self.commands.items():
            if not isinstance(call, Imported):
                continue
            for option, allowed in options(call):
                for value in re.findall(r"\d+", allowed) if re.match(r"\d+\.\.", allowed) else []:
                    self.assertEqual(call(option, value, *self.NEEDS.get(option, ())).returncode, 0, (command, option, value))

    def test_the_quick_form_keeps_what_is_named(self):
        count = 0
        for command, call in self.commands.items():
            allowed = dict(options(call)) if isinstance(call, Imported) else {}
            for option, low in {option: m[1] for option, of in allowed.items() if "--quick" in allowed and (m := re.match(r"(\d+)\.\.", of))}.items():
                count += 1
                values = []
                for words in ([], ["--quick"]):
                    self.assertEqual(call(*words, option, low, *self.NEEDS.get(option, ())).returncode, 0, (command, option))
                    values.append(getattr(call.args, option.strip("-").replace("-", "_")))
                self.assertEqual(values[1], values[0], (command, option))
        self.assertGreater(count, 60)

    def test_the_examples_of_studies_and_benches_are_legal(self):
        for command, call in self.commands.items():
            examples = EXAMPLE.findall(call("--help").stdout)
            self.assertTrue(examples or command == "setup", f"{command} --help has no example")
            for example in examples if isinstance(call, Imported) else []:
                words = command.split()
                self.assertEqual(example.split()[:len(words)], words)
                run = call(*shlex.split(example)[len(words):])
                self.assertEqual(run.returncode, 0, run.stderr)


@unittest.skipIf(MISSING, MISSING)
class Combinations(unittest.TestCase):
    """Options that would have no effect are refused too."""

    def test_each(self):
        trace = str(TOP / "traces/git.hzt.xz")
        for words, says in (
                (["--workload", "mixed", "--split", "stream"], "--split is for traces"),
                (["--workload", "mixed", "--format", "msr"], "--format is for traces"),
                (["--workload", "mixed", "--max-ops", "5"], "--max-ops is for traces"),
                (["--workload", "mixed", "--skip-bad", "5"], "--skip-bad is for traces"),
                (["--workload", "mixed", "--time-unit", "us"], "--time-unit is for traces"),
                (["--workload", "mixed", "--timestamps"], "--timestamps is for traces"),
                (["--workload", "mixed", "--time-scale", "2"], "--time-scale is for traces"),
                (["--workload", "mixed", "--trace", trace], "the workload mixed generates its commands"),
                (["--trace", trace, "--time-scale", "2"], "give --timestamps too"),
                (["--trace", trace, "--time-unit", "us"], "the times of a native trace are in ns"),
                (["--clock", "real", "--vclock", "remote=80"], "--vclock changes the virtual clock"),
                (["--clock", "real", "--race-check"], "--race-check needs --clock virtual"),
                (["--clock", "real", "--ahead", "4"], "--ahead needs --clock virtual"),
                (["--image", "none", "--ahead", "4"], "--ahead has no effect with --image")):
            run = Called(DRIVER, "run")(*words)
            self.assertEqual(run.returncode, 1, words)
            self.assertIn(says, run.stderr)
            self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)


@unittest.skipIf(MISSING, MISSING)
class FilesThatWouldBeLost(unittest.TestCase):
    """A file that a command writes is none of its others, by whatever name, and --format-image empties images only."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-apart-")
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "file"
        self.alias = pathlib.Path(folder.name) / "alias"
        self.alias.symlink_to("file")

    def refused(self, content, option, of, *words):
        self.file.write_bytes(content)
        run = subprocess.run([DRIVER, *map(str, words)], capture_output=True, text=True, check=False, cwd=TOP, timeout=60)
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertEqual(run.stderr, f"hartzone: {option} would overwrite {self.file}, the file of {of}: give it a file of its own\n")
        self.assertEqual(self.file.read_bytes(), content)

    def booted(self, *words):
        run = subprocess.run([DRIVER, "run", "--device", "small", "--workload", "small", "--quick", *words], capture_output=True, text=True, check=False,
                             timeout=120)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_a_file_of_another_option(self):
        device, recording = (TOP / "configs/devices/small.yaml").read_bytes(), (TOP / "traces/f2fs.hzr.xz").read_bytes()
        run = ("run", "--device", "small", "--workload", "small")
        for option in ("--console", "--timeline"):
            self.refused(b"kept", option, "--image", *run, "--image", self.file, option, self.alias)
            self.refused(device, option, "--device", "run", "--device", self.file, "--workload", "small", option, self.alias)
            self.refused((TOP / "configs/workloads/small.yaml").read_bytes(), option, "--workload",
                         "run", "--device", "small", "--workload", self.file, option, self.alias)
        self.refused(device, "--image", "--device", "run", "--device", self.file, "--workload", "small", "--image", self.alias, "--format-image")
        for option in ("--console", "--record"):
            self.refused(recording, option, "--trace", "run", "--device", "conzone-f2fs-patched", "--trace", self.file, "--by-dependencies",
                         option, self.alias)
        self.refused(b"kept", "--console", "--image", "verify", "--image", self.file, "--console", self.alias)
        self.refused(b"kept", "--console", "--image", "info", "--image", self.file, "--console", self.alias)
        self.refused(b"kept", "--record", "--image", "serve", "--device", "small", "--nvme-tcp", "--image", self.file, "--record", self.alias)
        self.refused(b"kept", "--record", "--firmware", "serve", "--device", "small", "--nvme-tcp", "--firmware", self.file, "--record", self.alias)

    def test_the_trace_of_a_workload_and_files_of_out(self):
        folder = self.file.parent
        load = folder / "load.yaml"
        load.write_text("name: replay\nover_provisioning: 0.2\ntrace: {file: file, threads: 1, max_ops: 10}\n")
        trace = (TOP / "traces/sqlite-wal.hzt.xz").read_bytes()
        run = ("run", "--device", "small", "--workload", load)
        for option in ("--console", "--timeline"):
            self.refused(trace, option, "trace.file of the workload", *run, option, self.alias)
            for name in ("result.json", "report.html"):
                said = Called(DRIVER, "run")("--device", "small", "--workload", "small", "--out", str(folder), option, str(folder / name))
                self.assertIn(f"{option} would overwrite {folder / name}, the file of --out", said.stderr)

    def test_a_link_to_a_file_that_is_not_there_yet(self):
        other = self.alias.parent / "alias of the alias"
        other.symlink_to("alias")
        for link in (self.alias, other):
            run = Called(DRIVER, "run")("--device", "small", "--image", str(self.file), "--console", str(link))
            self.assertIn("--console would overwrite", run.stderr)
            self.assertFalse(self.file.exists())

    def test_files_that_are_not_there_yet(self):
        self.alias.unlink()
        run = Called(DRIVER, "run")("--device", "small", "--image", str(self.file), "--console", f"{self.file.parent}/./file")
        self.assertIn("--console would overwrite", run.stderr)
        self.assertFalse(self.file.exists())

    def test_a_device_file_of_the_system_holds_nothing(self):
        """It stays what it is, and so does a link."""
        null = self.file.parent / "null"
        null.symlink_to("/dev/null")
        self.booted("--timeline", null, "--console", null)
        self.assertTrue(null.is_symlink())
        self.booted("--timeline", self.alias)
        self.assertTrue(self.alias.is_symlink())
        self.assertIn(b"traceEvents", self.file.read_bytes())

    def test_what_is_no_image_is_not_emptied(self):
        for content in (b"a letter", b"a long letter " * 2000):
            self.file.write_bytes(content)
            run = Called(DRIVER, "run")("--device", "small", "--workload", "small", "--image", str(self.alias), "--format-image")
            self.assertEqual(run.returncode, 1)
            self.assertIn(f"--format-image would empty {self.alias}, which is no NAND image of this program: remove that file", run.stderr)
            self.assertEqual(self.file.read_bytes(), content)
        self.file.write_bytes(b"")
        self.booted("--image", self.alias, "--format-image")


@unittest.skipIf(MISSING, MISSING)
class Output(unittest.TestCase):
    def test_a_full_standard_output_is_a_failure(self):
        for command in ([DRIVER], [DRIVER, "run"], [DRIVER, "info"], ["./hartzone"], ["./hartzone", "test"], ["./hartzone", "study"]):
            run = self.into_full(*command, "--help")
            self.assertNotEqual(run.returncode, 0, command)
            self.assertNotEqual(run.stderr, "", command)
        study = self.into_full(sys.executable, "-c", "import sys; sys.path.insert(0, 'studies'); from common import runs; "
                               "runs.main(lambda: print('a table'))")
        self.assertEqual((study.returncode, study.stderr), (1, "hartzone study: standard output: No space left on device\n"))

    def into_full(self, *command):
        with open("/dev/full", "w", encoding="utf-8") as full:
            return subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=TOP)

    def test_a_result_that_nobody_can_read_is_a_failure(self):
        with tempfile.TemporaryDirectory(prefix="hz-output-") as folder:
            run = self.into_full(DRIVER, "run", "--device", "small", "--workload", "small", "--quick", "--out", folder)
            self.assertEqual((run.returncode, run.stderr), (1, "hartzone: standard output cannot be written: No space left on device\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
