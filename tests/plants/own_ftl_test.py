"""examples/minimal-ftl, copied to a folder outside the tree, is built as ./hartzone build --with builds it, and its image runs: data end to end, the
collector, what it refuses, what a power cut does to it, and the study that compares it with ours."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "support"))
from hztest.needs import device_problem, study_python  # noqa: E402

MISSING = device_problem("HARTZONE_FIRMWARE", "HARTZONE_PLUGIN", "HARTZONE_DRIVER", "HARTZONE_LIBRARY")
EXAMPLE = TOP / "examples" / "minimal-ftl"
MOST_LINES = 600
INVALID_OPCODE = 1
KEEPS_NOTHING = "it starts on a new image: this one has been written to"


def called(*words, check=True, more=None):
    done = subprocess.run([str(word) for word in words], cwd=TOP, env={**os.environ, "HARTZONE_WITH": str(OWN), **(more or {})}, capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def configured(folder, build):
    return called("cmake", "-S", TOP, "--preset", "firmware", "-B", build, f"-DHZ_WITH={folder}", check=False)


def setUpModule():
    """A build of both images, ours and that of the copied folder."""
    global SCRATCH, OWN, IMAGE, BOTH
    folder = tempfile.TemporaryDirectory(prefix="hz-own-ftl-")
    unittest.addModuleCleanup(folder.cleanup)
    SCRATCH = pathlib.Path(folder.name)
    OWN = SCRATCH / "own-ftl"
    shutil.copytree(EXAMPLE, OWN)
    if MISSING:
        return
    said = configured(OWN, SCRATCH / "build")
    if said.returncode:
        raise AssertionError(said.stderr)
    called("ninja", "-C", SCRATCH / "build", "-j", os.environ.get("HARTZONE_JOBS", str(os.cpu_count())), "firmware")
    ours = SCRATCH / "build/firmware/main/firmware.elf"
    IMAGE = ours.with_name("own-ftl.elf")
    BOTH = {"HARTZONE_FIRMWARE": str(ours)}  # the folder's image lies beside it


def run(*options, check=True):
    device = [] if "--device" in options else ["--device", "minimal"]
    return called(os.environ["HARTZONE_DRIVER"], "run", "--firmware", OWN, *device, "--workload", "minimal", *options, check=check, more=BOTH)


def result(*options):
    out = tempfile.mkdtemp(dir=SCRATCH)
    run("--out", out, *options)
    return json.loads(pathlib.Path(out, "result.json").read_text(encoding="utf-8"))


def changed(pattern, text):
    """A device file: the example's with one thing changed."""
    device, count = re.subn(pattern, text, (OWN / "devices/minimal.yaml").read_text(encoding="utf-8"), flags=re.M)
    if not count:
        raise AssertionError(f"nothing in the device matches {pattern}")
    path = SCRATCH / "changed.yaml"
    path.write_text(device, encoding="utf-8")
    return path


class Source(unittest.TestCase):
    def test_it_is_as_short_as_promised(self):
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in EXAMPLE.glob("ftl/*"))
        self.assertLessEqual(lines, MOST_LINES)

    def test_the_guide_quotes_it(self):
        guide = (TOP / "docs/guide/own-ftl.md").read_text(encoding="utf-8")
        quoted = re.findall(r"```c\n(.*?)```", guide, flags=re.DOTALL)
        self.assertTrue(quoted)
        text = (EXAMPLE / "ftl/minimal.c").read_text(encoding="utf-8")
        for lines in quoted:
            self.assertIn(lines, text)

    def test_it_has_one_lock_and_uses_no_other_ftl(self):
        text = "".join(path.read_text(encoding="utf-8") for path in EXAMPLE.glob("ftl/*"))
        self.assertEqual(text.count("lt_lock_init("), 1)
        used = re.findall(r'#include "([^"]+)"', text)
        self.assertTrue(used)
        self.assertEqual([name for name in used if not name.startswith(("lt/", "port/", "tsu/"))], [])


@unittest.skipIf(MISSING, MISSING)
class Building(unittest.TestCase):
    def test_a_folder_that_would_take_our_images_name_is_refused(self):
        for name in ("firmware", "two words"):
            folder = SCRATCH / name
            shutil.copytree(EXAMPLE, folder)
            said = configured(folder, SCRATCH / "refused")
            self.assertNotEqual(said.returncode, 0)
            self.assertIn("the image is named after the folder of the FTL", " ".join(said.stderr.split()))

    def test_a_folder_without_an_image_is_named(self):
        bare = SCRATCH / "bare"
        (bare / "ftl").mkdir(parents=True)
        for words in ((os.environ["HARTZONE_DRIVER"], "run"), (os.environ["HARTZONE_DRIVER"], "verify", "--image", "none"),
                      (study_python(), "studies/lock-scaling/study.py")):
            said = called(*words, "--firmware", bare, check=False, more={**BOTH, "PYTHONPATH": str(TOP / "studies")})
            self.assertNotEqual(said.returncode, 0)
            self.assertRegex(said.stderr, rf"--firmware: the folder {bare} has no image \S+/bare\.elf: ./hartzone build --with {bare} makes one")


@unittest.skipIf(MISSING, MISSING)
class Running(unittest.TestCase):
    def test_data_come_back_while_the_collector_works(self):
        found = result()
        self.assertEqual((found["violations"], found["failed_commands"]["count"], found["read_back"]["errors"]), ([], 0, []))
        self.assertTrue(found["deterministic"], found["deterministic_reason"])
        self.assertGreater(found["verified_bytes"], 0)
        self.assertGreater(found["read_back"]["bytes"], 0)
        self.assertGreater(found["ftl"]["conventional_gc_runs"], 2)
        self.assertGreater(found["ftl"]["conventional_gc_bytes"], 0)
        self.assertGreater(found["totals"]["flush"]["ops"], 0)
        self.assertEqual([(lock["class"], lock["index"]) for lock in found["locks"]], [("l2p", 0)], "it has one lock")
        self.assertGreater(found["locks"][0]["contended"], 0)
        self.assertEqual(result()["digest"], found["digest"])

    def test_another_schedule_and_more_workers(self):
        for options in (("--clock-jitter", "3:1000"), ("--workers", "1"), ("--workers", "7", "--threads", "7", "--queue-depth", "32")):
            found = result(*options)
            self.assertEqual((found["violations"], found["failed_commands"]["count"], found["read_back"]["errors"]), ([], 0, []), options)
            self.assertGreater(found["ftl"]["conventional_gc_runs"], 2)

    def test_two_namespaces_have_an_ftl_each(self):
        device = changed(r"slc_blocks_per_plane: 6", "slc_blocks_per_plane: 8")
        text = device.read_text(encoding="utf-8")
        device.write_text(text.replace("count: 12", "count: 5").replace("spare_superblocks: 4", "spare_superblocks: 6")
                          + "namespaces: {count: 2, channels: [0, 1]}\n", encoding="utf-8")
        found = result("--device", device, "--namespaces", "1,2")
        self.assertEqual((found["violations"], found["failed_commands"]["count"], found["read_back"]["errors"]), ([], 0, []))
        self.assertEqual(len(found["locks"]), 2)
        self.assertGreater(found["ftl"]["conventional_gc_runs"], 2)

    def test_no_hart_touches_what_it_should_not(self):
        self.assertIn("the race check found nothing", run("--race-check", "--quick").stdout)

    def test_a_path_to_the_image_does_the_same(self):
        said = called(os.environ["HARTZONE_DRIVER"], "run", "--firmware", IMAGE, "--device", "minimal", "--workload", "minimal", "--quick")
        self.assertIn(re.search("digest [0-9a-f]+", run("--quick").stdout)[0], said.stdout)

    def test_nothing_outlasts_a_power_cut_and_it_says_so(self):
        image = SCRATCH / "disk.img"
        self.assertIn("the power was cut", run("--image", image, "--power-cut-at", "20ms").stdout)
        for command in (("run", "--device", "minimal", "--workload", "minimal"), ("verify",)):
            said = called(os.environ["HARTZONE_DRIVER"], *command, "--firmware", OWN, "--image", image, check=False, more=BOTH)
            self.assertNotEqual(said.returncode, 0)
            self.assertIn(KEEPS_NOTHING, said.stderr)
        self.assertIn("digest", run("--image", image, "--format-image", "--quick").stdout)

    def test_an_orderly_end_keeps_nothing_either(self):
        image = SCRATCH / "ended.img"
        run("--image", image, "--quick")
        self.assertIn(KEEPS_NOTHING, run("--image", image, "--quick", check=False).stderr)

    def test_a_device_that_it_does_not_know_does_not_start(self):
        spare = r"spare_superblocks: 4"
        for pattern, text, sentence in ((spare, "spare_superblocks: 5, streams: 2", "one open block of normal flash"),
                                        (r"^harts: \{", "harts: {routing: owner, ", "does not know .*harts.routing"),
                                        (r"\Z", "protection: type1\n", "does not know .*protection"),
                                        (r"\Z", "buffers: {idle: 1ms}\n", "does not know .*buffers.pool and idle"),
                                        (r"\Z", "faults: {program_fail_ppb: 1000}\n", "retires no blocks")):
            said = run("--quick", "--device", changed(pattern, text), check=False)
            self.assertNotEqual(said.returncode, 0, text)
            self.assertRegex(said.stderr, sentence)
        self.assertIn("has block namespaces only", run("--device", "small", check=False).stderr)

    def test_commands_that_it_does_not_know_end_with_invalid_opcode(self):
        code = f"import hartzone\nDEVICE = {str(OWN / 'devices/minimal.yaml')!r}\n" + """
with hartzone.Device(DEVICE) as device, device.queue() as queue:
    data = bytes(range(256)) * 16
    queue.write(5, data, fua=True)
    for name, words in (("compare", (5, data)), ("verify", (5,)), ("write_zeroes", (5, 1)), ("deallocate", ((5, 1),)), ("copy", (9, (5, 1)))):
        try:
            getattr(queue, name)(*words)
            print(name, "was done")
        except hartzone.StatusError as error:
            print(name, error.status)
    assert queue.read(4, 3) == bytes(4096) + data + bytes(4096)
"""
        said = called(study_python(), "-c", code, more={"HARTZONE_FIRMWARE": str(IMAGE), "PYTHONPATH": str(TOP / "python")}).stdout
        self.assertEqual(said.splitlines(), [f"{name} {INVALID_OPCODE}" for name in ("compare", "verify", "write_zeroes", "deallocate", "copy")])

    @unittest.skipUnless(shutil.which("nvme"), "nvme-cli is not installed")
    def test_a_namespace_cannot_be_deleted(self):
        said = called(os.environ["HARTZONE_DRIVER"], "nvme", "--firmware", OWN, "--device", "minimal", "delete-ns", "--namespace-id=1", check=False, more=BOTH)
        self.assertIn("Invalid Command Opcode", said.stdout + said.stderr)

    def test_the_study_measures_both_side_by_side(self):
        out = SCRATCH / "study"
        words = (study_python(), "studies/lock-scaling/study.py", "--case", "block-reads", "--quick", "--locks", "mcs", "--workers", "1,4", "--seeds", "1", "--no-pictures",
                 "--firmware", OWN, "--out", out)
        said = called(*words, more={**BOTH, "PYTHONPATH": str(TOP / "studies")}).stdout
        self.assertRegex(said, r"own-ftl, costs rocket: with 1, 4 workers \S+, \S+ times the throughput of ours")
        points = json.loads((out / "study.json").read_text(encoding="utf-8"))["points"]
        self.assertEqual([(p["firmware"], p["workers"]) for p in points], [("firmware", 1), ("own-ftl", 1), ("firmware", 4), ("own-ftl", 4)])
        ours, theirs = points[2:]
        self.assertEqual(set(theirs["instances"]), {"l2p"})
        self.assertGreater(theirs["contended"], ours["contended"], "everything is under the one lock")
        again = called(*words, "--resume", more={**BOTH, "PYTHONPATH": str(TOP / "studies")}).stdout
        self.assertIn("4 runs were there already", again)
        refused = called(*words, "--explain", "--seeds", "1,2", check=False, more={**BOTH, "PYTHONPATH": str(TOP / "studies")})
        self.assertIn("leave out --firmware", refused.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
