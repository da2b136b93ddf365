"""Runs, as printed, every command of a document or of the help texts, and looks for what it promises.

  printed_test.py README.md     the commands of that document which no earlier one prints
  printed_test.py help          every --help, and the examples in it
"""
# SPDX-License-Identifier: BSD-3-Clause
import json
import re
import resource
import shlex
import shutil
import subprocess
import sys
import unittest

from printed import TOP, all_commands, commands, filled, in_help
from scratch import Scratch

sys.path[:0] = [str(TOP / "studies"), str(TOP / "tests" / "studies"), str(TOP / "tests" / "support")]
from hztest.needs import device_problem, fio_problem, run_by_study_python  # noqa: E402

run_by_study_python()
MISSING = device_problem()
import quick_forms  # noqa: E402
if not MISSING:
    import figures
    import mechanisms

# First words of commands that cannot run inside the suite, and their replacements.
NOT_HERE = {
    "./hartzone test": "it is the suite that runs this; commands.script gives it stand-ins for its tools",
    "./hartzone setup": "it installs packages; scripts/setup --check only looks",
    "scripts/setup --snakemake": "it installs packages",
    "scripts/bare-root": "it installs a system and runs the suite; build.bare_root tries it with a small one",
    "./hartzone bench rtl": "it builds a multi-core's RTL for five minutes; bench.rtl holds the preset against its record",
    "./hartzone build --with": "it builds all programs anew; plants builds and runs the same folder",
    "./hartzone build --without": "as build --with",
    "./hartzone run --device patience": "it needs the firmware of build --with; plants runs it",
    "./hartzone study patience": "it needs the firmware of build --with; plants runs it",
    "./hartzone run --device minimal": "it needs the image of build --with; own_ftl builds and runs it",
    "./hartzone study lock-scaling --case block-reads --firmware": "it needs the image of build --with; own_ftl calls it",
    "./hartzone study lock-scaling --engine snakemake": "it needs snakemake; studies.snakemake makes such runs and dry runs",
    "./hartzone clean": "commands.script calls it where it can do no harm",
    "scripts/linux-cuts": "it boots guests for an hour; e2e.linux_cuts makes a few rounds where the guest is there",
    "./hartzone linux": "it fetches a guest's packages and boots it; e2e.linux runs a session where the guest is there",
    "./hartzone record-trace sqlite-f2fs-zones": "it boots a guest and records for minutes; studies repeats what was recorded",
    "./hartzone explain": "it makes dozens of runs; studies.explain has a device explained",
    "./hartzone study --update": "it takes half an hour and changes README files; studies.records tries what it does with figures",
}
RECORDER = "record-trace"


def not_here(command):
    return next((why for words, why in NOT_HERE.items() if (command + " ").startswith(words + " ")), None)


def is_quick_form(command):
    """The quick form of a study, as its help prints it: the suite's studies run it, with an --out of their own."""
    return command in map(quick_forms.command, quick_forms.NAMES)


def recording_is_possible():
    return shutil.which("strace") and subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode == 0


def ended(command):
    """A device that stays up until Ctrl-C gets a command to end with; its recording is then one of nothing."""
    stays_up = command.split()[:2] == ["./hartzone", "serve"] and not {"--", "--list", "--help"} & set(command.split())
    return f"{command} -- true" if stays_up else command


def option(words, name, default):
    return words[words.index(name) + 1] if name in words else default


@unittest.skipIf(MISSING, MISSING)
class Printed(unittest.TestCase):
    def setUp(self):
        self.scratch = Scratch()
        self.addCleanup(self.scratch.close)

    def run_printed(self, command):
        """One command, to its promises. Whatever it leaves outside its results must be among them."""
        if RECORDER in command and not recording_is_possible():
            print(f"passed over, nothing can be recorded here: {command}", file=sys.stderr)
            return
        if "./hartzone fio " in command and fio_problem():
            print(f"passed over, {fio_problem()}: {command}", file=sys.stderr)
            return
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = self.scratch.run(ended(command))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f} s of CPU time: {command}", file=sys.stderr)
        self.assertEqual(run.returncode, 0, f"{command}\n{run.stdout}{run.stderr}")
        self.assertEqual(set(self.scratch.changed()) - self.kept(shlex.split(command, comments=True)), set(), command)
        self.assertEqual(list(self.scratch.run_base.iterdir()), [], f"{command} left its run directory behind")

    def kept(self, words):
        """Checks the promises for this kind of command; returns the files that it may leave outside
        of results/."""
        if words[:2] == ["./hartzone", "run"]:
            self.check_run(words)
        elif words[:2] == ["./hartzone", "study"] and len(words) > 2:
            self.check_study(words)
        elif words[:2] == ["./hartzone", "bench"] and len(words) > 2:
            return self.check_bench(words)
        elif any(RECORDER in word for word in words[:2]) and "--help" not in words:
            name = words[words.index(RECORDER) + 1] if RECORDER in words else words[1]
            return {f"traces/{name}.hzt.xz"}
        elif words[0] == "cc":
            return {"a.out"}
        if "--record" in words:
            return {option(words, "--record", "")}
        if "--image" in words:  # a run, or verify's mount after a power cut; and what was promised of it
            image = words[words.index("--image") + 1]
            return {image, image + ".acked", option(words, "--acked", image)}
        return set()

    def check_run(self, words):
        if "--out" in words:
            result = json.loads((self.scratch.tree / option(words, "--out", "") / "result.json").read_text())
            self.assertTrue(result["deterministic"], result["deterministic_reason"])
            self.assertEqual((result["violations"], result["failed_commands"]["count"]), ([], 0))

    def check_study(self, words):
        name = words[2]
        out = self.scratch.tree / option(words, "--out", f"results/{name}")
        found = json.loads((out / "study.json").read_text())
        self.assertEqual((found["study"], found["failed"], found["interrupted"]), (name, [], False))
        self.assertTrue(all(f["measured"] is not None for f in found["figures"]))
        for point in found["points"]:
            self.assertTrue(point["digests"] and len(point["digests"]) % point.get("seeds", len(found["seeds"])) == 0, point)
        if figures.has_plot(name):
            self.assertGreater((out / f"{name}.png").stat().st_size, 1000)
        mechanisms.directions_hold(self, name, found)
        if words[3:] == ["--quick"] and name in mechanisms.SHOWS:
            mechanisms.quick_form_shows(self, name, found)
        if set(words[3:]) <= {"--out", option(words, "--out", "")}:
            self.assertEqual(list(figures.differences(name, found)), [], f"what the README files show of {name} is not what it measures")

    def check_bench(self, words):
        out = self.scratch.tree / option(words, "--out", f"results/bench-{words[2]}")
        self.assertTrue(list(out.glob("*.json")), words)
        return {"bench/ftl/baseline.json"} if "--update" in words else set()

    def test_document(self):
        for command in commands(DOCUMENT):
            with self.subTest(command=command):
                if not_here(command):
                    self.check_without_running(command)
                elif command.startswith("cc "):
                    self.write_program()
                    self.run_printed(command)
                else:
                    self.run_printed(command)

    def check_without_running(self, command):
        """Its options are known to its own help."""
        words = shlex.split(command, comments=True)
        whose = 3 if words[1] in ("bench", "study") else 2
        text = self.scratch.run(f"{shlex.join(words[:whose])} --help").stdout
        for word in words[whose:]:
            if word.startswith("-"):
                self.assertIn(word, text, command)

    def write_program(self):
        """The C program that the document shows above the compiler's call."""
        lines = (TOP / DOCUMENT).read_text().splitlines()
        first = next(i for i, line in enumerate(lines) if line.strip() == "#include <hartzone.h>")
        last = next(i for i in range(first, len(lines)) if lines[i] == "    }")
        (self.scratch.tree / "program.c").write_text("\n".join(line[4:] for line in lines[first:last + 1]) + "\n")
        self.scratch.changed()

    def test_help(self):
        texts = {command: self.help_of(command) for command in self.every_command()}
        examples = dict.fromkeys(filled(line) for text in texts.values() for line in in_help(text))
        self.assertGreater(len(examples), 10)
        printed = all_commands()
        for command in examples:
            with self.subTest(command=command):
                if not not_here(command) and not is_quick_form(command) and command not in printed:
                    self.run_printed(command)

    def help_of(self, command):
        run = self.scratch.run(f"{command} --help")
        self.assertEqual((run.returncode, run.stderr), (0, ""), command)
        self.assertRegex(run.stdout.lower(), "usage", command)
        self.assertEqual(self.scratch.changed(), [], f"{command} --help is more than help")
        return run.stdout

    def every_command(self):
        """The script's commands, and the names below study and bench, as their own lists say."""
        listed = re.findall(r"^  ([a-z][a-z-]+) ", self.scratch.run("./hartzone --help").stdout, re.MULTILINE)
        self.assertLessEqual({"run", "test", "study", "bench", "info"}, set(listed))
        yield "./hartzone"
        for command in listed:
            yield f"./hartzone {command}"
            if command in ("study", "bench"):
                names = re.findall(r"^  ([a-z0-9-]+) ", self.scratch.run(f"./hartzone {command}").stdout, re.MULTILINE)
                self.assertGreater(len(names), 2)
                yield from (f"./hartzone {command} {name}" for name in names)
            parts = self.scratch.run(f"./hartzone {command} --help").stdout.partition("Subcommands:")[2]
            yield from (f"./hartzone {command} {name}" for name in re.findall(r"^  ([a-z-]+) ", parts, re.MULTILINE))


if __name__ == "__main__":
    DOCUMENT = sys.argv.pop()
    unittest.main(verbosity=2, argv=[sys.argv[0], "Printed.test_help" if DOCUMENT == "help" else "Printed.test_document"])
