"""scripts/bare-root with a debootstrap that makes a root of a shell and little else, and .ci/run: what is counted, said, and left."""
# SPDX-License-Identifier: BSD-3-Clause
import importlib.machinery
import importlib.util
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
HANG_S = 200  # longer than any load explains
# A root of some megabytes: the programs of this machine that the commands below call, and what they link.
DEBOOTSTRAP = """#!/bin/sh -e
[ "$1 $4" = "--variant=minbase bookworm" ]
root=$5
case $BARE_TEST in
    fails) exit 3 ;;
    hangs) echo here >"$root/begun"; sleep 1000 ;;
esac
mkdir -p "$root/etc/apt/sources.list.d" "$root/etc/apt/apt.conf.d" "$root/usr/local/share" "$root/var/cache/apt/archives" "$root/root" \\
    "$root/proc" "$root/sys" "$root/dev" "$root/bin"
echo 12.9 >"$root/etc/debian_version"
for program in sh sleep cat ls; do
    path=$(readlink -f "$(command -v $program)")
    cp "$path" "$root/bin/$program"
    ldd "$path" | grep -o '/[^ ]*' | while read -r library; do mkdir -p "$root${library%/*}"; cp -L "$library" "$root$library"; done
done
"""
APT_GET = "#!/bin/sh\necho 'Debian Backports|Debian Backports|http://wrong.example/|'\necho \"Debian|Debian|$BARE_MIRROR|\\$(SIGNED_BY)\"\n"
APT_CONFIG = """#!/bin/sh
echo 'Acquire::http::Proxy "http://proxy.example:1/";'
echo 'Acquire::IndexTargets::deb::Packages "";'
echo 'APT::Architecture "amd64";'
"""
HARTZONE = "#!/bin/sh\ncase $1 in\n  one) echo 'begun'; echo '3 passed, 2 failed'; exit 1 ;;\n  two) cat README.md ;;\nesac\n"
README = "# T\n\n## Two commands\n\nThese:\n\n    ./hartzone one\n    ./hartzone two\n\n## Others\n\n    ./hartzone three\n"


def can_make_roots():
    apart = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"]
    return os.geteuid() == 0 and shutil.which("git") and subprocess.run(apart, capture_output=True, check=False).returncode == 0


def written(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz-bare-")
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name)
        self.base.chmod(0o755)
        self.tree, self.tools = self.base / "tree", self.base / "tools"
        for name, text in (("debootstrap", DEBOOTSTRAP), ("apt-get", APT_GET), ("apt-config", APT_CONFIG)):
            written(self.tools / name, text)
        for name, text in (("hartzone", HARTZONE), ("README.md", README), ("scripts/bare-root", (TOP / "scripts/bare-root").read_text())):
            written(self.tree / name, text)
        written(self.base / "mirror/dists/bookworm/InRelease", "")
        self.environment = {**os.environ, "PATH": f"{self.tools}:{os.environ['PATH']}", "BARE_MIRROR": f"copy:{self.base}/mirror",
                            "PYTHONDONTWRITEBYTECODE": "1"}

    def begun(self, *words, **environment):
        """bare-root under way."""
        process = subprocess.Popen([sys.executable, self.tree / "scripts/bare-root", *map(str, words)], stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.STDOUT, env={**self.environment, **environment})
        self.addCleanup(process.stdout.close)
        return process

    def ended(self, process):
        """Its exit code and what it said; nothing is left of it but packages and logs."""
        said = process.communicate(timeout=HANG_S)[0].splitlines()
        self.assertEqual(self.roots(), [])
        self.nothing_goes_on()
        return process.returncode, said

    def roots(self):
        return [path for path in (self.tree / "build/bare-root").glob("debian-*") if path.is_dir()]

    def nothing_goes_on(self):
        self.assertNotIn(str(self.base), pathlib.Path("/proc/self/mounts").read_text())
        for link in pathlib.Path("/proc").glob("[0-9]*/root"):
            try:
                self.assertFalse(os.readlink(link).startswith(str(self.base)), link)
            except OSError:  # it ended meanwhile
                pass


@unittest.skipUnless(can_make_roots(), "making a root needs root rights, git, and spaces of mounts and processes")
class Roots(Scratch):
    def setUp(self):
        super().setUp()
        for words in (["init", "--quiet"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "-m", "t"]):
            subprocess.run(["git", "-C", self.tree, *words], check=True)

    def test_the_commands_of_the_readme_on_what_is_committed(self):
        with (self.tree / "README.md").open("a", encoding="utf-8") as readme:
            readme.write("not committed\n")
        code, said = self.ended(self.begun())
        self.assertEqual((code, said[-1]), (1, "4 passed, 2 failed"), said)
        self.assertIn("bare-root: what is not committed is not tried", said)
        self.assertIn("debian 12: 3 passed, 2 failed", said, "a line that is not the last one looks otherwise")
        self.assertIn("debian 12: # T", said)
        self.assertNotIn("debian 12: not committed", said)

    def test_how_this_machine_reaches_the_mirror(self):
        code, said = self.ended(self.begun("--", "cat /etc/apt/sources.list.d/debian.sources /etc/apt/apt.conf.d/90machine"))
        self.assertEqual((code, said[-1]), (0, "1 passed, 0 failed"), said)
        self.assertIn(f"debian 12: URIs: copy:{self.base}/mirror", said)
        self.assertIn('debian 12: Acquire::http::Proxy "http://proxy.example:1/";', said)
        self.assertFalse([line for line in said if "IndexTargets" in line or "Architecture" in line])

    def test_a_command_has_its_own_processes(self):
        """The orphans of a command are no zombies, and end with it."""
        orphans = "sh -c 'sleep 0.1 & sleep 1000 &'; sleep 0.5; for p in /proc/[0-9]*; do while read -r a b; do case $a in State:) echo $b;; esac; done <$p/status; done"
        code, said = self.ended(self.begun("--", orphans))
        self.assertEqual(code, 0, said)
        self.assertFalse([line for line in said if "zombie" in line])

    def test_stopped(self):
        for number, words in ((signal.SIGINT, {}), (signal.SIGTERM, {}), (signal.SIGINT, {"BARE_TEST": "hangs"})):
            with self.subTest(number=number, words=words):
                process = self.begun("--", "echo here; sleep 1000 & sleep 1000", **words)
                deadline = time.monotonic() + HANG_S
                if words:
                    while not any((root / "begun").exists() for root in self.roots()):
                        self.assertLess(time.monotonic(), deadline)
                        time.sleep(0.02)
                else:
                    while (line := process.stdout.readline()) != "debian 12: here\n":
                        self.assertTrue(line)
                process.send_signal(number)
                self.assertEqual(self.ended(process)[0], 128 + number)

    def test_kept(self):
        process = self.begun("--keep", "--", ":")
        said = process.communicate(timeout=HANG_S)[0].splitlines()
        root, = self.roots()
        self.assertIn(f"bare-root: the root is kept: {root}", said)
        process = self.begun("--in", root, "--", "ls /root/hartzone", "exit 75", "exit 3")
        said = process.communicate(timeout=HANG_S)[0].splitlines()
        self.assertIn("debian 12: README.md", said)
        self.assertEqual((process.returncode, said[-1]), (1, "1 passed, 1 failed, 1 skipped"))
        self.assertEqual(self.roots(), [root])
        self.nothing_goes_on()

    def test_a_network_without_answer_is_no_failure(self):
        code, said = self.ended(self.begun(BARE_MIRROR="http://127.0.0.1:9"))
        self.assertEqual((code, said[-1]), (75, "0 passed, 0 failed, 1 skipped"))
        self.assertRegex(said[-2], "^bare-root: skipped: the mirror does not answer for bookworm: ")
        code, said = self.ended(self.begun("--", "exit 75"))
        self.assertEqual((code, said[-1]), (75, "0 passed, 0 failed, 1 skipped"))

    def test_a_failure_of_debootstrap_is_one(self):
        code, said = self.ended(self.begun(BARE_TEST="fails"))
        self.assertEqual((code, said[-1]), (1, "0 passed, 1 failed"))
        self.assertIn("debootstrap ended with code 3", said[-2])

    def test_what_is_missing(self):
        (self.tools / "debootstrap").unlink()
        (self.tools / "git").symlink_to(shutil.which("git"))
        code, said = self.ended(self.begun(PATH=str(self.tools)))
        self.assertEqual((code, said[-1]), (75, "0 passed, 0 failed, 1 skipped"))
        self.assertEqual(said[-2], "bare-root: skipped: debootstrap is not installed: scripts/setup installs debootstrap")
        run = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", sys.executable, self.tree / "scripts/bare-root"], text=True,
                             capture_output=True, check=False, env=self.environment)
        self.assertEqual((run.returncode, run.stdout.splitlines()[-2]),
                         (75, "bare-root: skipped: making a root needs root rights: call this as root, or by sudo"))

    def test_a_container_that_allows_no_spaces_is_skipped(self):
        written(self.tools / "unshare", "#!/bin/sh\necho unshare: Operation not permitted >&2\nexit 1\n")
        run = subprocess.run([sys.executable, self.tree / "scripts/bare-root"], text=True, capture_output=True, check=False, env=self.environment)
        self.assertEqual((run.returncode, run.stdout.splitlines()),
                         (75, ["bare-root: skipped: processes and mounts of their own are not allowed here: unshare: Operation not permitted",
                               "0 passed, 0 failed, 1 skipped"]))


class Readme(unittest.TestCase):
    def test_it_has_two_commands(self):
        loader = importlib.machinery.SourceFileLoader("bare_root", str(TOP / "scripts/bare-root"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bare_root", loader))
        loader.exec_module(module)
        commands = module.readme_commands()
        self.assertEqual([command.split()[1] for command in commands], ["run", "test"])
        run = (TOP / ".ci/run").read_text()
        self.assertIn(commands[1] + " --all --strict", run)
        self.assertIn("scripts/bare-root --debian 12\n", run, "without commands of its own it takes those of the README")


class Ci(unittest.TestCase):
    """.ci/run with stand-ins for its parts."""

    def run_ci(self, test, bare):
        with tempfile.TemporaryDirectory(prefix="hz-ci-") as folder:
            tree = pathlib.Path(folder)
            for name, text in (("hartzone", test), ("scripts/bare-root", bare), (".ci/run", (TOP / ".ci/run").read_text())):
                written(tree / name, text if name == ".ci/run" else f"#!/bin/sh\n{text}\n")
            return subprocess.run(["bash", tree / ".ci/run", "--filter", "x"], capture_output=True, text=True, check=False)

    def test_it_adds_up(self):
        good, skipped = "echo 5 passed, 0 failed", "echo why; echo 0 passed, 0 failed, 1 skipped; exit 75"
        for test, bare, last, code in ((good, good, ["10 passed, 0 failed"], 0), (good, "echo 1 passed, 2 failed; exit 1", ["6 passed, 2 failed"], 1),
                                       ("echo 4 passed, 1 failed; exit 1", skipped, ["1 skipped", "4 passed, 1 failed"], 1),
                                       (good, skipped, ["1 skipped", "5 passed, 0 failed"], 0), ("exit 75", good, ["5 passed, 1 failed"], 1),
                                       (good, "echo begun; exit 124", ["1 skipped", "5 passed, 0 failed"], 0),
                                       (good, "exit 137", ["5 passed, 1 failed"], 1), (good + "; exit 1", good, ["10 passed, 1 failed"], 1)):
            run = self.run_ci(test, bare)
            self.assertEqual((run.returncode, run.stdout.splitlines()[-len(last):]), (code, last), run.stdout)

    def test_what_it_calls(self):
        run = self.run_ci('echo "$@"; echo 5 passed, 0 failed', 'echo "$@"; echo why; echo 0 passed, 0 failed, 1 skipped; exit 75')
        self.assertEqual(run.stdout.splitlines(), ["test --all --strict --filter x", "test alone had 5 passed, 0 failed", "--debian 12", "why",
                                                   "bare-root alone had 0 passed, 0 failed, 1 skipped", "1 skipped", "5 passed, 0 failed"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
