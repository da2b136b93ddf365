"""./hartzone linux without a guest: its words, what it hands to serve and QEMU (a stand-in), what comes back, the archive that it makes."""
# SPDX-License-Identifier: BSD-3-Clause
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "linux"))
import command  # noqa: E402
import image  # noqa: E402

SERVES = {"--device": True, "--workers": True, "--record": True, "--race-check": False}
# As QEMU: finds its channels, does what the script in $PLAY says with them.
QEMU = """#!/usr/bin/env python3
import json, os, re, signal, sys, time
words = sys.argv[1:]
at = {m[1]: m[2] for word in words if (m := re.fullmatch(r"file,id=(\\w+),path=(.*)", word))}
given = {m[1]: open(m[2]).read() for word in words if (m := re.fullmatch(r"name=opt/org.hartzone/(\\w+),file=(.*)", word))}
def to(name, data):
    with open(at[name], "wb", buffering=0) as file:
        file.write(data)
with open(os.environ["SEEN"], "a") as seen:
    print(json.dumps({"words": words, "given": given, "pid": os.getpid()}), file=seen)
exec(os.environ["PLAY"])
"""


class Words(unittest.TestCase):
    def test_whose_an_option_is(self):
        self.assertEqual(command.split("--device small --memory 2048 --race-check --kernel=linux-image-x --workers=2".split(), SERVES),
                         ({"--memory": "2048", "--kernel": "linux-image-x"}, ["--device", "small", "--race-check", "--workers=2"]))
        self.assertEqual(command.split(["--record", "--memory"], SERVES), ({}, ["--record", "--memory"]))

    def test_wrong_words(self):
        for words, sentence in ((["mkfs.f2fs", "/dev/zones"], "goes behind --"), (["--race-check", "sh"], "goes behind --"), (["--nosuch"], "no option '--nosuch'"),
                                (["--memory", "lots"], "takes MiB"), (["--memory"], "takes MiB"), (["--accel", "xen"], "auto, kvm or tcg"),
                                (["--kernel", "../x"], "a package's name"), (["--device"], "takes a value"), (["--nvme-tcp", "0"], "free port"),
                                (["--list"], "boots nothing")):
            with self.subTest(words=words), self.assertRaisesRegex(command.Wrong, sentence):
                command.split(words, SERVES)

    def call(self, *words, **environment):
        return subprocess.run([sys.executable, TOP / "linux/command.py", *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              env={**os.environ, **environment})

    def test_what_is_wrong_is_said_before_anything_is_fetched(self):
        driver = "/bin/true"
        for words, sentence in ((["sh"], "a command goes behind --"), (["--"], "no command behind --"), ([], "no terminal")):
            run = self.call(*words, HARTZONE_DRIVER=driver)
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertIn(sentence, run.stderr)
        run = self.call("--", "true", HARTZONE_DRIVER=driver, HARTZONE_QEMU_X86="hz-no-qemu")
        self.assertEqual(run.returncode, 1)
        self.assertIn("no hz-no-qemu", run.stderr)

    def test_help_of_the_guests_command_is_its_own(self):
        self.assertIn("Examples:", self.call("--help").stdout)
        self.assertNotIn("Examples:", self.call("--", "mkfs.f2fs", "--help", HARTZONE_DRIVER="/bin/true", HARTZONE_QEMU_X86="hz-no-qemu").stdout)


class Guest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hz linux ")
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name)
        (self.base / "tmp").mkdir()
        (self.base / "qemu").write_text(QEMU)
        (self.base / "qemu").chmod(0o755)

    def begin(self, play, *words):
        environment = {**os.environ, "HARTZONE_QEMU_X86": str(self.base / "qemu"), "PLAY": play, "SEEN": str(self.base / "seen"),
                       "TMPDIR": str(self.base / "tmp"), "HARTZONE_NVME_CONNECT": "nvme connect -t tcp -a 127.0.0.1 -s 4711 -n nqn.x"}
        return subprocess.Popen([sys.executable, TOP / "linux/guest.py", "--image", "an image", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=environment)

    def boot(self, play, *words):
        process = self.begin(play, *words)
        output, errors = process.communicate(timeout=100)
        self.assertEqual(list((self.base / "tmp").iterdir()), [], "something was left")
        return process.returncode, output, errors.decode()

    def seen(self):
        return [json.loads(line) for line in (self.base / "seen").read_text().splitlines()]

    def test_what_the_command_does_comes_back(self):
        words = ["sh", "-c", "echo \"$1\" \"it's\"", "x", "a  b\n*", ""]
        code, output, errors = self.boot("to('control', b'ready\\n'); to('output', bytes(range(256)) * 999); to('errors', b'oh'); to('control', b'7\\n')",
                                         "--accel", "tcg", "--", *words)
        self.assertEqual((code, output, errors), (7, bytes(range(256)) * 999, "oh"))
        given = self.seen()[0]["given"]
        self.assertEqual(given["connect"], "nvme connect -t tcp -a 10.0.2.2 -s 4711 -n nqn.x")
        again = subprocess.run(["sh", "-c", given["command"]], capture_output=True, text=True, check=True).stdout
        self.assertEqual(again, "a  b\n* it's\n")

    def test_keys_go_to_the_guest_and_not_to_the_command_line(self):
        keys = {"HARTZONE_DHCHAP_SECRET": "DHHC-1:00:one:", "HARTZONE_DHCHAP_CTRL_SECRET": "DHHC-1:00:two:"}
        with unittest.mock.patch.dict(os.environ, keys):
            self.assertEqual(self.boot("to('control', b'ready\\n0\\n')", "--accel", "tcg", "--", "true")[0], 0)
        seen = self.seen()[0]
        self.assertEqual((seen["given"]["key"], seen["given"]["target_key"]), ("DHHC-1:00:one:", "DHHC-1:00:two:"))
        self.assertNotIn("DHHC", " ".join(seen["words"]))

    def test_a_guest_that_ends_without_a_code_says_why(self):
        for play, sentence in (("to('console', b'Kernel panic - not syncing: VFS\\n')", "Kernel panic"),
                               ("to('control', b'failed: no such subsystem\\n')", "could not attach the device: no such subsystem"),
                               ("sys.exit('cannot set up guest memory: Cannot allocate memory')", r"--memory"),
                               ("to('control', b'ready\\n')", "ended before its command did")):
            code, output, errors = self.boot(play, "--accel", "tcg", "--", "true")
            self.assertEqual((code, output), (1, b""))
            self.assertRegex(errors, sentence)

    def test_a_kvm_that_runs_no_guest_is_left(self):
        """It says why, or is silent."""
        for saying, silence_s in (("sys.stderr.write('KVM internal error. Suberror: 1'); sys.stderr.flush()", 1000), ("to('console', b'Probing EDD')", 1)):
            with self.subTest(saying=saying):
                self.kvm_is_left(saying, silence_s)

    def kvm_is_left(self, saying, silence_s):
        play = f"if 'kvm' in words:\n    {saying}; time.sleep(1000)\nto('control', b'ready\\n0\\n')"
        driver = (f"import os, sys; sys.path.insert(0, 'linux'); import guest; guest.kvm_is_there = lambda: True; guest.KVM_SILENCE_S = {silence_s}; "
                  "sys.exit(guest.main())")
        environment = {**os.environ, "HARTZONE_QEMU_X86": str(self.base / "qemu"), "PLAY": play, "SEEN": str(self.base / "seen"), "HARTZONE_NVME_CONNECT": "x"}
        run = subprocess.run([sys.executable, "-c", driver, "--image", "x", "--", "true"], cwd=TOP, env=environment, capture_output=True, text=True,
                             check=False, timeout=100, stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("it is emulated", run.stderr)
        kvm, tcg = self.seen()[-2:]
        self.assertIn("kvm", kvm["words"])
        self.assertIn("tcg,thread=single", tcg["words"])
        self.assertRaises(ProcessLookupError, os.kill, kvm["pid"], 0)

    def test_a_signal_ends_it_all(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            play = "signal.signal(signal.SIGTERM, lambda *_: (to('output', b' and ended'), sys.exit())); to('output', b'begun'); time.sleep(1000)"
            process = self.begin(play, "--accel", "tcg", "--", "true")
            self.assertEqual(process.stdout.read(5), b"begun")
            process.send_signal(number)
            self.assertEqual(process.communicate(timeout=100)[0], b" and ended", "what it said before its end")
            self.assertEqual(process.returncode, 128 + number)
            self.assertEqual(list((self.base / "tmp").iterdir()), [])
            self.assertRaises(ProcessLookupError, os.kill, self.seen()[-1]["pid"], 0)


# As apt-get: lists what its own folder of packages does not have, downloads into the working directory.
APT = """#!/bin/sh
for word; do case $word in Dir::Cache=*) cache=${word#*=} ;; esac; done
case "$*" in
*--print-uris*) for name in one two; do [ -e "$cache/archives/${name}_1.deb" ] || echo "'http://x/$name' ${name}_1.deb 1 x"; done ;;
*download*) touch one_1.deb two_1.deb ;;
esac
"""


class Made(unittest.TestCase):
    def test_a_second_kernel_needs_packages_that_are_there(self):
        with tempfile.TemporaryDirectory() as name:
            (at := pathlib.Path(name) / "apt-get").write_text(APT)
            at.chmod(0o755)
            with unittest.mock.patch.dict(os.environ, PATH=f"{name}:{os.environ['PATH']}"):
                apt = image.Apt(pathlib.Path(name) / "apt")
                for _ in range(2):
                    self.assertEqual(apt.closure(["two"]), ["one", "two"])
                    self.assertEqual([path.name for path in apt.fetch(["one", "two"])], ["one_1.deb", "two_1.deb"])

    def test_a_list_of_packages_is_of_its_tools(self):
        with tempfile.TemporaryDirectory() as name:
            (at := pathlib.Path(name) / "apt-get").write_text(APT)
            at.chmod(0o755)
            made = image.Image(cache=pathlib.Path(name) / "cache")
            made.folder.mkdir(parents=True)
            with unittest.mock.patch.dict(os.environ, PATH=f"{name}:{os.environ['PATH']}"), \
                    unittest.mock.patch.object(image, "TOP", pathlib.Path(name)):
                found = made.packages()
                self.assertEqual([path.name for path in found], ["one_1.deb", "two_1.deb"])
                at.write_text("#!/bin/sh\nexit 1\n")
                self.assertEqual(made.packages(), found)
                with unittest.mock.patch.object(image, "TOOLS", (*image.TOOLS, "another")), self.assertRaises(image.Problem):
                    made.packages()

    def test_the_archive_is_one(self):
        file = io.BytesIO()
        archive = image.Archive(file)
        archive.program("a/b/program", b"12345")
        archive.link("a/link", "b/program")
        archive.program("a/b/program", b"a second one")
        archive.end()
        data, found = file.getvalue(), []
        while data:
            self.assertEqual(data[:6], b"070701")
            fields = [int(data[6 + 8 * i:14 + 8 * i], 16) for i in range(13)]
            size, length = fields[6], fields[11]
            body = 110 + length + -(110 + length) % 4
            found.append((data[110:110 + length - 1].decode(), oct(fields[1]), data[body:body + size]))
            data = data[body + size + -size % 4:]
        self.assertEqual(found, [("a", "0o40755", b""), ("a/b", "0o40755", b""), ("a/b/program", "0o100755", b"12345"), ("a/link", "0o120777", b"b/program"),
                                 ("TRAILER!!!", "0o0", b"")])

    def test_modules_come_behind_what_they_need(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name) / "lib/modules/6.1/kernel"
            folder.mkdir(parents=True)
            for module, needs in (("nvme-tcp", "nvme-core,nvme-fabrics"), ("nvme-core", ""), ("nvme-fabrics", "nvme-core"), ("crc32c_generic", "")):
                (folder / f"{module}.ko").write_bytes(b"\x7fELF\0license=GPL\0depends=" + needs.encode() + b"\0name=x\0")
            order = [module for module, _ in image.modules_in_order(image.module_files(pathlib.Path(name)), ("nvme_tcp", "built_in"))]
        self.assertEqual(order, ["crc32c_generic.ko", "nvme-core.ko", "nvme-fabrics.ko", "nvme-tcp.ko"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
