"""calibrate: known costs come back from figures made of them, hosts of all kinds are read rightly, and what it writes can be used. Nothing
here depends on how fast this host is."""
# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import io
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
sys.path.insert(0, str(TOP / "tests/support"))
from hztest.needs import device_problem, run_by_study_python  # noqa: E402

run_by_study_python() # device files are read and written here
MISSING = device_problem()
sys.path[:0] = [str(TOP / folder) for folder in ("studies", "scripts", "bench/rtl", "bench/calibrate")]
import calibrate  # noqa: E402
import fit  # noqa: E402
import host  # noqa: E402
import yaml  # noqa: E402
from common import runs  # noqa: E402

COMMAND = [sys.executable, str(TOP / "bench/calibrate/calibrate.py")]
DRIVER = os.environ.get("HARTZONE_DRIVER", "")
KNOWN = {"preset": "free", "mhz": 2600, "local": 17, "remote": 120, "far": 310, "clean": 90, "memory": 250, "l2": 45, "occupancy": 60, "busy": "occupancy", "pause": 42, "load": 0,
         "store": 0, "mul": 0, "div": 12, "div_bit": 1, "branch": 0, "store_buffer": 40, "reads": "merge", "insn": 1, "data": "moves",
         "cache_bytes": 1 << 20, "cache_ways": 16, "l2_bytes": 8 << 20, "l2_ways": 16, "cluster": 8}
CACHES = fit.Caches((1 << 20, 16), (8 << 20, 16), 8)
HARTS = [1, 2, 4, 16]


def synthetic(costs):
    """What a host with these costs shows."""
    hit, own = 4, costs["local"] + 1
    f = {"mhz": costs["mhz"], "apart": 0.3, "turn": 1.0, "load": 0.5, "load_wanted": hit, "store": 1, "mul": 1, "mul_wanted": 3, "pause": costs["pause"] + 1,
         "div_short": costs["div"] + 1 + fit.SHORT_BITS * costs["div_bit"], "div_long": costs["div"] + 1 + fit.DIV_BITS * costs["div_bit"],
         "access load own_dirty": hit, "access load nowhere": hit + costs["memory"], "walk shared": hit + costs["l2"], "access amo own_dirty": own,
         "access amo dirty": own + costs["remote"], "access amo clean": own + costs["clean"], "access amo dirty far": own + costs["far"]}
    f.update({f"stream {n}": costs["occupancy"] for n in (2, 4, 16)})
    f.update({f"fanout {n}": 400 + (60 * n if costs["reads"] == "queue" else n) for n in (2, 4, 16)})
    f.update({f"stores {n}": 90 + n + (costs["memory"] if n > costs["store_buffer"] else 0) for n in fit.STORES})
    return {name: host.Figure(float(value), 0.01) for name, value in f.items()}


class Fit(unittest.TestCase):
    def test_known_costs_come_back(self):
        for changes in ({}, {"reads": "queue", "remote": 300, "div_bit": 0, "store_buffer": 8}):
            costs, remarks = fit.costs(synthetic({**KNOWN, **changes}), CACHES, HARTS)
            self.assertEqual(costs, {**KNOWN, **changes})
            self.assertEqual(remarks, [])

    def test_a_line_that_is_busy_for_the_whole_access(self):
        costs, _ = fit.costs(synthetic({**KNOWN, "occupancy": 137}), CACHES, HARTS)
        self.assertEqual(costs["busy"], "access")
        self.assertNotIn("occupancy", costs)

    def test_a_core_of_one_instruction_at_a_time(self):
        figures = synthetic(KNOWN)
        figures.update(apart=host.Figure(1.0, 0.0), load=host.Figure(1.0, 0.0), load_wanted=host.Figure(2.0, 0.0), turn=host.Figure(3.0, 0.0))
        costs, _ = fit.costs(figures, CACHES, HARTS)
        self.assertEqual({key: costs[key] for key in ("load", "mul", "branch")}, {"load": 1, "mul": 2, "branch": 1})

    def test_a_spread_or_a_robbed_figure_keeps_the_default_and_says_so(self):
        for bad in (host.Figure(138.0, 0.3), host.Figure(138.0, 0.01, 0.2)):
            costs, remarks = fit.costs({**synthetic(KNOWN), "access amo dirty": bad}, CACHES, HARTS)
            self.assertEqual([one["cost"] for one in remarks], ["remote", "clean", "occupancy", "reads"])
            self.assertEqual([one["kept"] for one in remarks], [40, 0, 20, "queue"])
            self.assertTrue(all("access amo dirty" in one["why"] for one in remarks))
            self.assertFalse({"remote", "clean", "occupancy", "reads"} & costs.keys())

    def test_one_core(self):
        alone = {name: figure for name, figure in synthetic(KNOWN).items()
                 if not name.startswith(("stream", "fanout", "access amo dirty", "access amo clean"))}
        costs, remarks = fit.costs(alone, fit.Caches(), [1])
        self.assertEqual({one["cost"] for one in remarks}, {"remote", "far", "clean", "occupancy", "reads"})
        self.assertEqual({one["why"] for one in remarks}, {fit.TWO, "needs three cores"})
        self.assertEqual((costs["local"], costs["memory"]), (17, 250))

    def test_caches_that_the_clock_cannot_have(self):
        costs, remarks = fit.costs(synthetic(KNOWN), fit.Caches((48 << 10, 12), (260 << 20, 20), 0), HARTS)
        self.assertEqual((costs["cache_bytes"], costs["cache_ways"]), (48 << 10, 12))
        self.assertEqual((costs["l2_bytes"], costs["l2_ways"]), (16 << 20, 16))
        self.assertEqual([(one["cost"], one["kept"]) for one in remarks], [("l2_bytes", 16 << 20)])

    def test_the_wait_of_a_hand_over(self):
        self.assertEqual((fit.wake(300.4, 240.0), fit.wake(200.0, 240.0)), (60, 0))

    def test_a_median_is_of_the_answers_that_were_robbed_least(self):
        figure = host.figure_of([10, 11, 12, 90, 95], [0, 0.01, 0, 0.5, 0.6])
        self.assertEqual((figure.value, figure.lost), (11, 0))
        self.assertFalse(host.figure_of([10.0, 10.0, 10.0], [0.3, 0.4, 0.5]).usable())
        self.assertEqual(host.typical([1000, 10, 12, 11, 0, 13, 10, 11]), 11)


def system_of(folder, cpus):
    """/sys/devices/system/cpu with (package, siblings, caches) of each CPU; a cache: level, type, size, ways, CPUs."""
    for number, (package, siblings, caches) in enumerate(cpus):
        for path, text in [("topology/physical_package_id", package), ("topology/thread_siblings_list", siblings)] + [
                (f"cache/index{i}/{name}", word) for i, cache in enumerate(caches)
                for name, word in zip(("level", "type", "size", "ways_of_associativity", "shared_cpu_list"), cache)]:
            file = folder / f"cpu{number}" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{text}\n")
    return folder


class Topology(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hz-calibrate-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def test_two_sockets_with_two_threads_a_core(self):
        """CPUs 0 to 3 are first threads of four cores, 4 to 7 second ones; packages alternate."""
        def caches(number):
            package = "0,2,4,6" if number % 2 == 0 else "1,3,5,7"
            own = f"{number % 4},{number % 4 + 4}"
            return [(1, "Data", "32K", 8, own), (1, "Instruction", "32K", 8, own), (2, "Unified", "1024K", 16, own), (3, "Unified", "16M", 16, package)]
        system = system_of(self.folder, [(n % 2, f"{n % 4},{n % 4 + 4}", caches(n)) for n in range(8)])
        found = host.cores(range(8), system)
        self.assertEqual([one.number for one in found], [0, 2, 1, 3])
        self.assertEqual((host.cluster_of(found), host.near_and_far(found)), (2, (1, 3)))
        self.assertEqual([cache.bytes for cache in host.private_and_shared(found[0])], [1 << 20, 16 << 20])
        asked = calibrate.scenes(found, calibrate.caches_of(found), "x86_64")
        self.assertEqual(asked["access amo dirty"][1], [0, 1])
        self.assertEqual(asked["access amo dirty far"][1], [0, 3])

    def test_one_package_whose_last_cache_is_not_named(self):
        system = system_of(self.folder, [(0, str(n), [(1, "Data", "64K", 4, str(n)), (2, "Unified", "1M", 8, str(n))]) for n in range(4)])
        found = host.cores(range(4), system)
        self.assertEqual((host.cluster_of(found), host.near_and_far(found)), (0, (1, None)))
        self.assertEqual(calibrate.caches_of(found), fit.Caches((1 << 20, 8), (0, 0), 0))

    def test_nothing_is_known(self):
        found = host.cores([3], self.folder)
        self.assertEqual([(one.number, one.siblings, one.caches) for one in found], [(3, [3], [])])
        asked = calibrate.scenes(found, calibrate.caches_of(found), "riscv64")
        self.assertEqual(set(asked), {"access load own_dirty", "access store own_dirty", "access amo own_dirty"})

    def test_lists_of_cpus_and_thread_counts(self):
        self.assertEqual(host.cpu_list("0-2,5"), [0, 1, 2, 5])
        self.assertEqual([calibrate.counts(n) for n in (1, 2, 3, 6, 64)], [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4, 6], [1, 2, 3, 4, 8, 16, 32, 64]])

    def test_architectures(self):
        self.assertEqual([host.architecture(word) for word in ("x86_64", "arm64", "aarch64", "riscv64")], ["x86_64", "aarch64", "aarch64", "riscv64"])
        with self.assertRaisesRegex(runs.StudyError, "this host is ppc64le: calibrate knows x86-64, AArch64 and RV64"):
            host.architecture("ppc64le")

    def test_every_architecture_has_the_figures_that_the_costs_want(self):
        needed = {name for rule in fit.rules(fit.Caches(), [1, 2, 3]) for name in rule.of if " " not in name} - {"mhz", "turn"}
        for architecture in set(host.ARCHITECTURES.values()):
            self.assertLessEqual(needed, {name for name, _ in calibrate.instructions(architecture)}, architecture)


class Verdicts(unittest.TestCase):
    def test_what_is_not_to_be_trusted_is_in_no_mean_and_no_rank(self):
        cells = [("L1", "tas", 1), ("L1", "mcs", 1), ("L1", "tas", 2), ("L1", "mcs", 2)]
        m = {"host": dict(zip(cells, (2.0, 3.0, 1.0, 3.0))), "clock": dict(zip(cells, (1.0, 3.0, 9.0, 1.5))), "doubtful": ["L1 tas 2"]}
        self.assertEqual(calibrate.summary_of(m), dict.fromkeys(("L1", "all"), {"mean": 1 / 3, "most": 0.5}))
        self.assertEqual(list(calibrate.ranks_of(m)), [("L1", 1)])
        nothing = {**m, "doubtful": [" ".join(map(str, cell)) for cell in cells]}
        self.assertEqual((calibrate.summary_of(nothing), calibrate.ranks_of(nothing)), ({}, {}))


class CommandLine(unittest.TestCase):
    def refused(self, *words):
        text = io.StringIO()
        with contextlib.redirect_stderr(text), self.assertRaises(SystemExit) as end:
            calibrate.options(words)
        self.assertEqual(end.exception.code, 2)
        return text.getvalue()

    def test_wrong_words(self):
        for words, said in ((["--cpus", "1-"], "is not a list of CPUs"), (["--cpus", "0,0"], "each once"), (["--cpus", ""], "is not a list of CPUs"),
                            (["--repeats", "2"], "from 3 to 1000"), (["--threads", "0"], "from 1 to 64"), (["--locks", "mutex"], "'mutex' is not one of"),
                            (["--cases", "L9"], "'L9' is not one of"), (["--device", "nothing"], "there is no file nothing"),
                            (["--out", str(TOP)], "is a folder: name a file")):
            self.assertIn(said, self.refused(*words), words)

    def test_quick_yields_to_other_options(self):
        args = calibrate.options(["--quick", "--locks", "clh"])
        self.assertEqual((args.repeats, args.cases, args.locks), (3, ["L1"], ["clh"]))

    def test_a_cpu_that_is_not_there(self):
        with self.assertRaisesRegex(runs.StudyError, "this process may not use CPU 4095"):
            calibrate.chosen_cpus(calibrate.options(["--cpus", "4095"]))

    def test_a_program_that_is_not_built(self):
        before = os.environ.get("HARTZONE_CALIBRATE")
        os.environ["HARTZONE_CALIBRATE"] = "/nowhere/hz-calibrate"
        self.addCleanup(lambda: os.environ.update(HARTZONE_CALIBRATE=before) if before else os.environ.pop("HARTZONE_CALIBRATE"))
        with self.assertRaisesRegex(runs.StudyError, "/nowhere/hz-calibrate is not built"):
            calibrate.program()


@unittest.skipIf(MISSING, MISSING)
@unittest.skipUnless(os.path.exists(os.environ.get("HARTZONE_CALIBRATE", "")), "hz-calibrate is not built: this host is of another architecture")
class Measured(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hz-calibrate-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def calibrated(self, *words):
        file = self.folder / "mine.yaml"
        run = subprocess.run([*COMMAND, "--quick", "--json", "--out", str(file), *words], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["mine.yaml"])
        return json.loads(run.stdout), file

    def used(self, *words):
        run = subprocess.run([DRIVER, *words], capture_output=True, text=True, check=False, cwd=self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_the_file_is_a_device_and_its_costs_are_used(self):
        found, file = self.calibrated("--locks", "tas,mcs")
        costs = yaml.safe_load(file.read_text())["clock"]
        self.assertEqual(costs, found["costs"])
        cells = {f"L1 {kind} {n}" for kind in ("tas", "mcs") for n in calibrate.counts(len(found["cpus"]))}
        self.assertEqual({key: set(found[key]) for key in ("host", "clock", "errors", "spreads")}, dict.fromkeys(("host", "clock", "errors", "spreads"), cells))
        self.assertTrue(all(rate > 0 for rate in found["host"].values()))
        self.used("run", "--device", str(file), "--workload", "small", "--clock", "virtual", "--out", "out")
        clock = json.loads((self.folder / "out/result.json").read_text())["device"]["clock"]
        self.assertEqual({key: clock[key] for key in costs}, costs)

    def test_one_core_into_a_device_of_ones_own(self):
        found, file = self.calibrated("--threads", "1", "--locks", "ttas", "--device", "small")
        self.assertEqual(list(found["host"]), ["L1 ttas 1"])
        self.assertIn({"cost": "remote", "why": fit.TWO, "kept": 40}, found["remarks"])
        self.assertIn("# remote: needs two cores; kept: 40", file.read_text())
        device, small = yaml.safe_load(file.read_text()), yaml.safe_load((TOP / "configs/devices/small.yaml").read_text())
        self.assertEqual({**device, "clock": None}, {**small, "clock": None})
        self.used("info", "--device", str(file))

    def test_an_interrupt_leaves_nothing(self):
        child = subprocess.Popen([*COMMAND, "--out", str(self.folder / "mine.yaml")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        children = pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children")
        while child.poll() is None and not children.read_text(encoding="ascii"): # until it measures
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate()
        self.assertEqual((child.returncode, list(self.folder.iterdir())), (runs.INTERRUPTED, []))
        self.assertIn("interrupted, everything is cleaned up", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
