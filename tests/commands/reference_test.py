"""The page of commands, the man page and the completions are what the help texts yield, and the completions of bash complete."""
# SPDX-License-Identifier: BSD-3-Clause
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem  # noqa: E402

REFERENCE = TOP / "docs/reference"
MISSING = device_problem()  # studies' help needs the modules of studies, as a device does


def completed(*words, folder=TOP):
    """What the last of these words may become."""
    script = f"""source {shlex.quote(str(REFERENCE / 'hartzone.bash'))}
        COMP_WORDS=({shlex.join(words)}) COMP_CWORD={len(words) - 1}
        _hartzone {shlex.quote(words[0])} 2>/dev/null # compopt knows of no completion here
        printf '%s\\n' "${{COMPREPLY[@]}}\""""
    return set(subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=True).stdout.split())


class Reference(unittest.TestCase):
    @unittest.skipIf(MISSING, MISSING)
    def test_files_are_what_the_help_texts_yield(self):
        run = subprocess.run([sys.executable, TOP / "scripts/update-cli", "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_options_are_in_all_of_them(self):
        for name in ("cli.md", "hartzone.1", "hartzone.bash", "hartzone.zsh"):
            text = (REFERENCE / name).read_text().replace("\\-", "-")
            for option in ("--power-cut-at", "--queue-depth", "--nvme-tcp", "--strict", "--kernel"):
                self.assertIn(option, text, name)

    def test_bash_completes(self):
        self.assertLessEqual({"run", "trace", "study"}, completed("./hartzone", ""))
        self.assertEqual(completed("./hartzone", "ru"), {"run"})
        self.assertEqual(completed("./hartzone", "run", "--clock", ""), {"virtual", "real"})
        self.assertEqual(completed("./hartzone", "trace", "cu"), {"cut"})
        self.assertEqual(completed("./hartzone", "trace", "cut", "--fr"), {"--from"})
        self.assertLessEqual({"zms", "zufs"}, completed("./hartzone", "run", "--device", "z"))
        self.assertEqual(completed("./hartzone", "run", "--image", "READ"), {"README.md"})
        self.assertEqual(completed("./hartzone", "run", "--threads", ""), set())
        self.assertEqual(completed("./hartzone", "run", "--vclock", "l2"), {"l2=", "l2_bytes=", "l2_ways="})

    def test_commands_of_a_tree_are_offered_there_only(self):
        self.assertNotIn("study", completed("hartzone", "", folder="/"))

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_the_man_page_is_one(self):
        run = subprocess.run(["man", "--warnings=w", "-l", REFERENCE / "hartzone.1"], capture_output=True, text=True, check=True, env={"MANWIDTH": "100", "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
        wrong = [line for line in run.stderr.splitlines() if not re.search(r"cannot adjust line|can't break line", line)]
        self.assertEqual(wrong, [])
        for head in ("NAME", "SYNOPSIS", "COMMANDS", "ENVIRONMENT"):
            self.assertRegex(run.stdout, rf"(?m)^{head}$")


if __name__ == "__main__":
    unittest.main(verbosity=2)
