"""A lock kind, a device key, a GC policy, a preset and a study are each added to a copy of the tree as CONTRIBUTING.md says: no more files
are touched than it says, and the copy, built once with all five, runs and shows what each of them does."""
# SPDX-License-Identifier: BSD-3-Clause
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import plants

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "support"), str(TOP / "scripts")]
import sources  # noqa: E402
from hztest.needs import qemu_problem, study_python  # noqa: E402

PYTHON = study_python()
MISSING = qemu_problem() or ("" if PYTHON else "python3-matplotlib and python3-yaml are not installed")
WORKLOAD = pathlib.Path(__file__).resolve().parent / "workload.yaml"
NO_SOURCES = ("build", "results")  # folders at the top
# Half of the full programs' compile time; warnings are errors here too.
QUICK_FIRMWARE = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1"]
QUICK = ["-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0",
         "-DCMAKE_CXX_FLAGS_DEBUG=-O0"]


def called(folder, *words, check=True, more=None):
    """A command in the copy, which shall find nothing of the tree that this test is in; ccache shall forget the copy's own name."""
    clean = {name: value for name, value in os.environ.items() if name not in ("HARTZONE_FIRMWARE", "HARTZONE_PLUGIN", "HARTZONE_DRIVER")}
    done = subprocess.run([str(word) for word in words], cwd=folder, env={**clean, "CCACHE_BASEDIR": str(folder), "CCACHE_NOHASHDIR": "1", **(more or {})},
                          capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if check and done.returncode:
        raise AssertionError(f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def copied(tree):
    sources.copy_to(tree)
    if (TOP / "build" / "tools").exists(): # programs that setup has built
        (tree / "build").mkdir()
        (tree / "build" / "tools").symlink_to((TOP / "build" / "tools").resolve())


def state(tree):
    """file → digest of its content"""
    return {str(path.relative_to(tree)): hashlib.sha256(path.read_bytes()).digest() for path in tree.rglob("*")
            if path.is_file() and path.relative_to(tree).parts[0] not in NO_SOURCES and "__pycache__" not in path.parts}


def planted(tree, plant):
    """Files that the plant changed or added. Later output of update-docs does not count."""
    before = state(tree)
    plant(tree)
    after = state(tree)
    called(tree, sys.executable, "scripts/update-docs")
    called(tree, sys.executable, "scripts/update-docs", "--check")
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def build(tree):
    jobs = os.environ.get("HARTZONE_JOBS", str(os.cpu_count()))
    options_of_all = [f"-DHZ_WITH={EXTENSION}"]
    for preset, options, targets in (("firmware", QUICK_FIRMWARE, ["firmware"]), ("host", QUICK, ["hartzone", "hz_vclock"])):
        called(tree, "cmake", "--preset", preset, *options, *options_of_all)
        called(tree, "ninja", "-C", f"build/{preset}", "-j", jobs, *targets)


def setUpModule():
    """The copy with all five, for both classes."""
    global SCRATCH, TREE, TOUCHED, EXTENSION
    folder = tempfile.TemporaryDirectory(prefix="hz-plants-")
    unittest.addModuleCleanup(folder.cleanup)
    SCRATCH = pathlib.Path(folder.name)
    TREE = SCRATCH / "tree"
    copied(TREE)
    EXTENSION = SCRATCH / "own"
    shutil.copytree(TOP / "examples" / "extension", EXTENSION)
    TOUCHED = {plant: planted(TREE, plant) for plant in plants.LIMITS}


class Sources(unittest.TestCase):
    def test_each_touches_no_more_files_than_the_recipe_says(self):
        for plant, most in plants.LIMITS.items():
            touched = TOUCHED[plant]
            if plant is plants.study:
                touched = sorted({"/".join(name.split("/")[:2]) for name in touched})
            with self.subTest(plant.__name__):
                self.assertTrue(touched, "it touched nothing")
                self.assertLessEqual(len(touched), most, f"more than CONTRIBUTING.md says: {', '.join(touched)}")

    def test_the_documents_name_them(self):
        text = "".join((TREE / "docs" / name).read_text(encoding="utf-8") for name in ("reference/config.md", "reference/locks.md"))
        for row in ("| `planted` | none | the lock, written by each retry |", "| `planted` | 0 to 1 s | 0 | added to the array time of each read |",
                    "`planted`: youngest of those at most half valid", "| planted.yaml | small-mixed.yaml with the planted lock kind"):
            self.assertIn(row, text)


class Extension(unittest.TestCase):
    """examples/extension as ./hartzone build --with reads it, without building."""
    def test_lists_have_its_lines_beside_those_of_the_tree(self):
        text = "import schema; print(schema.lock_kind_names()[-1], [w for w, _ in schema.choices('gc')], [f['key'] for f in schema.device_fields()])"
        for folder, expected in ((EXTENSION, ("patient", "youngest", "youngest_percent")), ("", ("planted", "planted", "idle_pj"))):
            said = subprocess.run([sys.executable, "-c", text], cwd=TREE / "scripts", env={**os.environ, "HARTZONE_WITH": str(folder)},
                                  capture_output=True, text=True, check=True).stdout
            for word in expected:
                self.assertIn(word, said)

    def test_a_bad_line_is_named(self):
        bad = SCRATCH / "bad"
        bad.mkdir()
        (bad / "device_keys.yaml").write_text("words:\n  gc:\n    Upper: no\n", encoding="utf-8")
        said = called(TREE, "cmake", "-S", TREE, "--preset", "firmware", "-B", SCRATCH / "bad-build", f"-DHZ_WITH={bad}", check=False)
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("device_keys.yaml:3: gc.Upper: is no word: write small letters, digits and dashes", said.stderr)

    def test_a_list_of_earlier_versions_is_refused(self):
        old = SCRATCH / "old"
        old.mkdir()
        (old / "device_fields.def").write_text("HZ_FIELD(uint32_t, one, , one, one, COUNT, 0, 1, 0, FREE, \"\")\n", encoding="utf-8")
        said = called(TREE, "cmake", "-S", TREE, "--preset", "firmware", "-B", SCRATCH / "old-build", f"-DHZ_WITH={old}", check=False)
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("keys and policies are in device_keys.yaml now (docs/extend.md)", " ".join(said.stderr.split()))

    def test_a_folder_that_is_not_there_is_refused(self):
        said = called(TREE, "./hartzone", "build", "--with", SCRATCH / "nowhere", check=False)
        self.assertEqual(said.returncode, 2)
        self.assertIn("there is no folder", said.stderr)

    def test_a_folder_whose_name_is_a_pattern_is_refused(self):
        """Its keys and C files would be left out in silence."""
        for name in ("mine[1]", "mine;1", "m*", 'a"b', "a\\b"):
            (SCRATCH / name).mkdir()
            said = called(TREE, "./hartzone", "build", "--with", SCRATCH / name, check=False)
            self.assertEqual(said.returncode, 2)
            self.assertIn(f"the build finds no file below {SCRATCH / name}: move it to a path without", said.stderr)
            self.assertFalse((TREE / "build/.with").exists() and name in (TREE / "build/.with").read_text(encoding="utf-8"))


def hartzone(*words, **options):
    return called(TREE, TREE / "build/host/bin/hartzone", *words, **options)


def result(device):
    """Of a sound run under the virtual clock."""
    out = tempfile.mkdtemp(dir=SCRATCH)
    hartzone("run", "--device", device, "--workload", WORKLOAD, "--clock", "virtual", "--out", out)
    found = json.loads(pathlib.Path(out, "result.json").read_text(encoding="utf-8"))
    unsound = [*found["violations"], *found["read_back"]["errors"]]
    if unsound or found["failed_commands"]["count"] or not found["deterministic"] or not found["verified_bytes"]:
        raise AssertionError(f"the run on {device} is unsound: {unsound} {found['failed_commands']} {found['deterministic_reason']}")
    return found


def changed(pattern, text):
    """The result of the planted preset with one thing changed."""
    preset, count = re.subn(pattern, text, (TREE / "configs/devices/planted.yaml").read_text(encoding="utf-8"), flags=re.M)
    if not count:
        raise AssertionError(f"nothing in the planted preset matches {pattern}")
    path = SCRATCH / "changed.yaml"
    path.write_text(preset, encoding="utf-8")
    return result(path)


@unittest.skipIf(MISSING, MISSING)
class Running(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build(TREE)
        cls.found = result("planted")

    def test_the_lock_kind_is_every_classes(self):
        found = self.found
        self.assertEqual(set(found["device"]["locks"]["kind"].values()), {"planted"})
        self.assertEqual({lock["kind"] for lock in found["locks"]}, {"planted"})
        for name in ("block", "buffer", "l2p", "slc", "zone"):
            self.assertGreater(sum(lock["acquisitions"] for lock in found["locks"] if lock["class"] == name), 0, name)
        self.assertGreater(sum(lock["contended"] for lock in found["locks"]), 0, "nobody ever waited for the planted lock")

    def test_the_key_makes_reads_slower(self):
        slow, fast = self.found, changed(r"^  planted: .*\n", "")
        added = slow["device"]["timing"]["planted_ns"]
        self.assertEqual((added, fast["device"]["timing"]["planted_ns"]), (500000, 0))
        read_ns = [found["totals"]["read"]["latency_ns"]["mean"] for found in (slow, fast)]
        self.assertGreater(read_ns[0], read_ns[1] + added / 2)
        self.assertGreater(slow["elapsed_ns"], fast["elapsed_ns"])

    def test_the_policy_chooses_for_both_collectors(self):
        youngest, greedy = self.found, changed(r"gc: planted$", "gc: greedy")
        for section in ("slc", "conventional"):
            self.assertEqual((youngest["device"][section]["gc"], greedy["device"][section]["gc"]), ("planted", "greedy"))
        self.assertGreater(youngest["ftl"]["slc_gc_runs"], 0)
        self.assertGreater(youngest["ftl"]["conventional_gc_bytes"], greedy["ftl"]["conventional_gc_bytes"], "the youngest has most to copy")

    def test_an_extension_runs_by_its_names(self):
        own = {"HARTZONE_WITH": str(EXTENSION)}
        out = SCRATCH / "patience"
        hartzone("run", "--device", "patience", "--workload", WORKLOAD, "--clock", "virtual", "--out", out, more=own)
        found = json.loads((out / "result.json").read_text(encoding="utf-8"))
        self.assertEqual((found["violations"], found["failed_commands"]["count"], found["deterministic"]), ([], 0, True))
        self.assertEqual({lock["kind"] for lock in found["locks"]}, {"patient"})
        self.assertEqual(found["device"]["conventional"]["gc"], "youngest")
        self.assertEqual(found["device"]["conventional"]["youngest_percent"], 50)
        greedy = SCRATCH / "greedy.yaml"
        greedy.write_text((EXTENSION / "devices/patience.yaml").read_text(encoding="utf-8").replace("gc: youngest", "gc: greedy"), encoding="utf-8")
        self.assertGreater(found["ftl"]["conventional_gc_bytes"], result(greedy)["ftl"]["conventional_gc_bytes"], "the youngest has most to copy")
        called(TREE, PYTHON, EXTENSION / "studies/patience/study.py", "--quick", "--out", SCRATCH / "patience-study",
               more={**own, "PYTHONPATH": str(TREE / "studies")})
        study = json.loads((SCRATCH / "patience-study/study.json").read_text(encoding="utf-8"))
        self.assertEqual([figure["name"] for figure in study["figures"]], ["elapsed, patient", "elapsed, ticket"])

    def test_the_preset_is_known_by_its_name(self):
        self.assertEqual(self.found["device"]["name"], "planted")
        refused = hartzone("run", "--device", "nosuch", "--out", SCRATCH / "nosuch", check=False)
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertRegex(refused.stderr, r"configs/devices has only .*\bplanted\b")

    def test_the_study_is_listed_and_runs(self):
        self.assertRegex(called(TREE, "./hartzone", "study").stdout, r"(?m)^  planted +Planted: what the planted key does to reads\.$")
        self.assertIn("--added", called(TREE, "./hartzone", "study", "planted", "--help").stdout)
        called(TREE, PYTHON, "studies/planted/study.py", "--quick", "--out", SCRATCH / "study")
        found = json.loads((SCRATCH / "study/study.json").read_text(encoding="utf-8"))
        fast, slow = [figure["measured"] for figure in found["figures"]]
        self.assertGreater(slow, fast + 250)


if __name__ == "__main__":
    unittest.main(verbosity=2)
