"""explain: elasticities of systems whose answer is known, each time in exactly one cost, and a real device whose sum must be -1."""
# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import io
import json
import math
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "support"), str(TOP / "studies"), str(TOP / "scripts")]
from hztest.needs import device_problem, study_python  # noqa: E402
import schema  # noqa: E402
from common import costs, elasticity, experiment, runs  # noqa: E402
from common.elasticity import Interval  # noqa: E402

MISSING = device_problem()
VALUES = {"timing.normal.read": [20000] * 4, "timing.channel_bytes_per_s": 10 ** 9, "link.fetch": 500, "workload.think": [1000, 1000],
          "workload.turnaround": 4000, "clock.mhz": 1000, "clock.insn": 1, "clock.remote": 40, "clock.wake": 0}
WEIGHTS = {"timing.normal.read": 0.5, "timing.channel_bytes_per_s": 0.2, "link.fetch": 0.05, "workload.think": 0.05, "workload.turnaround": 0.05,
           "clock.insn": 0.1, "clock.remote": 0.05}


def value_in(device, workload, key):
    """In the files, else as it was."""
    section, name = key.rsplit(".", 1)
    place = workload if section == "workload" else device
    for part in (["common"] if key == "workload.think" else []) if section == "workload" else section.split("."):
        place = place.get(part, {})
    value = place.get(name, VALUES[key])
    return value[0] if isinstance(value, list) else value


def law(device, workload, seed, weights, fixed):
    """Time of a command in a system whose throughput has these elasticities, with none for fixed
    costs."""
    log = 0.0
    for key, weight in weights.items():
        value = value_in(device, workload, key)
        if key.startswith("clock."):
            value /= value_in(device, workload, "clock.mhz")
        log += weight * math.log(value) * (-1 if key.endswith("_per_s") else 1)
    return (math.exp(log) + fixed) * (1 + 0.01 * seed)


class FakeSweep:
    """In place of Sweep: no device runs."""

    weights, fixed, noise = WEIGHTS, 0.0, 0.0
    code = {"": 0.07, "hold_class=3": 0.04, "transfer_class=3": 0.01, "pace_harts=0x1": 0.02, "pace_harts=0x6": 0.08} # elasticities of latency, by the options

    def __init__(self, args, points, summarize, check):
        self.all, self.summarize, self.software, self.interrupted, self.points = points, summarize, None, False, {}

    def result(self, device, workload, vclock="", options="hold=1000"):
        permille, _, part = options.partition("=")[2].partition(",")
        ns = law(device, workload, workload["seed"], self.weights, self.fixed) * (int(permille) / 1000) ** self.code[part]
        ns *= 1 + self.noise * random.Random(f"{device} {workload}").uniform(-1, 1)
        kinds = {name: {"ops": 0, "latency_ns": {"mean": 0, "p99": 0}} for name in experiment.KINDS}
        return {"elapsed_ns": 1000 * ns, "totals": {**kinds, "read": {"ops": 1000, "latency_ns": {"mean": 8 * ns, "p99": 20 * ns}}}}

    def run(self):
        self.points = {p.key: self.summarize([self.result(*run[1:]) for run in p.runs]) for p in self.all}
        return self

    def end(self):
        return 0


def explained(fixed=0.0, weights=None, values=None, noise=0.0, code=None, **options):
    """(exit code, experiment) on the fake."""
    args = types.SimpleNamespace(**{"seeds": [1, 2, 3], "change": 10, "costs": "all", "out": pathlib.Path("unused"), "resume": False, **options})
    fake = type("Fake", (FakeSweep,), {"fixed": fixed, "weights": weights or WEIGHTS, "noise": noise})
    found = experiment.Experiment(args, "fake", {"name": "fake"}, {"threads": 2})
    with unittest.mock.patch.object(experiment, "Sweep", fake), \
            unittest.mock.patch.object(found, "as_understood", lambda: costs.Files(found.device, found.workload, {**VALUES, **(values or {})}, code)):
        return found.run(), found


class KnownSystems(unittest.TestCase):
    def test_each_cost_has_its_weight_and_the_sum_is_minus_one(self):
        for change in (1, 5, 10, 30):
            code, found = explained(change=change)
            self.assertEqual((code, found.broken()), (0, []))
            intervals = found.column("throughput")
            for name, weight in (("reads", 0.5), ("channel transfers", 0.2), ("link to the device", 0.05), ("think time", 0.05), ("turnaround", 0.05),
                                 ("instructions", 0.1), ("lines of other harts", 0.05)):
                self.assertAlmostEqual(intervals[name].mean, -weight, places=6, msg=f"{name}, {change} %")
            self.assertAlmostEqual(found.sums()["throughput"].mean, -1, places=9)
            for what in ("mean", "p99"):
                self.assertAlmostEqual(found.sums()[what].mean, 1, places=9)
            self.assertAlmostEqual(found.control()["throughput"].mean, -1, places=8)

    def test_groups_add_up_as_their_members_do(self):
        found = explained(costs="groups")[1]
        self.assertAlmostEqual(found.column("throughput")["host"].mean, -0.1, places=9)
        self.assertAlmostEqual(found.sums()["throughput"].mean, -1, places=9)

    def test_the_sentence_names_the_limit_what_half_is_worth_and_what_is_next(self):
        found = explained()[1]
        self.assertAlmostEqual(found.worth.mean, 2 ** 0.5 - 1, places=6)
        self.assertEqual(found.sentence(), "The limit: reads (1 % less gives 0.50 %, 0.50 to 0.50 more throughput); half of it would be worth +41 % of "
                                           "throughput (+41 to +41 %); next: channel transfers (0.20 %, 0.20 to 0.20).")
        self.assertIn(found.sentence(), found.table())
        facts = json.loads(json.dumps(found.facts(), allow_nan=False))
        self.assertEqual((facts["limits"], facts["p99_of"], facts["broken"]), (["reads"], "read", []))

    def test_noise_leaves_the_law_and_proves_no_limit(self):
        code, found = explained(noise=0.1)
        self.assertEqual((code, found.names, found.worth), (0, [], None))
        self.assertRegex(found.verdict()[0], r"^The sum of throughput, .*, is too wide to prove anything about throughput\.$")
        self.assertRegex(found.sentence(), r"^This run proves no limit: the sum of throughput is .*\. What to do: (about|at this spread)")
        self.assertIn(found.sentence(), found.table())

    def test_parts_of_costs_are_rows_that_no_sum_has(self):
        self.assertEqual(explained()[1].by_code, {})
        harts = [{"id": n, "role": role} for n, role in enumerate(("hil", "worker", "worker"))]
        locks = [{"class": name, "acquisitions": n} for name, n in (("l2p", 5), ("zone", 0))]
        parts = costs.code({"harts": harts, "locks": locks, "device": {"locks": {"stats": "all"}}}, ["zone", "open", "buffer", "l2p"])
        code, found = explained(code=parts)
        self.assertEqual(code, 0)
        for name, weight in (("instructions of hil harts", 0.02), ("instructions of worker harts", 0.08), ("sections of locks", 0.07),
                             ("sections of locks, class l2p", 0.04), ("hand-overs of locks", 0.07),
                             ("hand-overs of locks, class l2p", 0.01)):
            self.assertAlmostEqual(found.by_code[name]["throughput"].mean, -weight, places=9, msg=name)
            self.assertIn(f"{name} (in no sum)", found.table())
        self.assertEqual([part["name"] for part in found.facts()["parts"]], list(parts))
        self.assertAlmostEqual(found.sums()["throughput"].mean, -1, places=9)
        self.assertEqual(list(costs.code({"harts": harts, "locks": locks, "device": {"locks": {"stats": "off"}}}, ["l2p"])),
                         ["instructions of hil harts", "instructions of worker harts"])

    def test_a_time_that_is_in_no_cost_is_found_out(self):
        code, found = explained(fixed=1.0)
        self.assertEqual(code, 1)
        self.assertTrue(any("throughput" in line for line in found.broken()))
        self.assertIn("WRONG: ", found.table())
        self.assertEqual(found.sentence(), "No limit is named, since the elasticities do not add up.")

    def test_a_time_too_short_for_the_intervals_is_seen_where_every_cost_is_doubled(self):
        self.assertAlmostEqual(explained()[1].twice, 2, places=12)
        self.assertIn("the commands take 2.000000 times as long: no time is missing.", explained()[1].table())
        code, found = explained(fixed=0.01)
        self.assertEqual((code, found.broken()), (0, []))
        self.assertFalse(experiment.exact(found.twice))
        self.assertIn(f"{found.twice:.6f} times as long: a time is in no cost, or is rounded.", found.table())

    def test_a_cost_that_counts_twice_is_found_out(self):
        with unittest.mock.patch.dict(costs.CLASSES, {"again": ("flash cells", ["timing.normal.read"])}):
            self.assertEqual(explained()[0], 1)


class Proof(unittest.TestCase):
    def test_students_factors_are_those_of_the_tables(self):
        for freedom, confidence, factor in ((1, 0.95, 12.706), (2, 0.95, 4.303), (4, 0.95, 2.776), (9, 0.95, 2.262), (4, 0.99, 4.604), (30, 0.95, 2.042)):
            self.assertAlmostEqual(elasticity.student(freedom, confidence), factor, places=2)

    def test_one_seed_proves_nothing(self):
        self.assertEqual(elasticity.limits({"a": Interval([-0.9]), "b": Interval([-0.1])}), ([], None))

    def test_the_limit_is_one_of_those_that_cannot_be_kept_apart(self):
        found = {"a": Interval([-0.50, -0.40, -0.46]), "b": Interval([-0.42, -0.46, -0.41]), "c": Interval([-0.10, -0.11, -0.10])}
        self.assertEqual(elasticity.limits(found), (["a", "b"], "c"))
        self.assertIn("one of a and b", elasticity.sentence(found))

    def test_no_limit_is_named_while_an_uncertain_cost_could_be_it(self):
        found = {"a": Interval([-0.50, -0.49, -0.51]), "b": Interval([-0.70, 0.01, -0.50]), "c": Interval([0.20, -0.50, 0.01])}
        self.assertEqual(elasticity.limits(found), ([], None))
        self.assertRegex(elasticity.sentence(found), r"^This run proves no limit: a minus b is .* \(and 1 more of the kind\)\. What to do: about")

    def test_no_limit_is_named_where_the_sum_proves_nothing(self):
        found = {"a": Interval([-0.90, -0.88, -0.91]), "b": Interval([0.2, -0.3, 0.05])}
        self.assertEqual(elasticity.limits(found), ([], None))
        self.assertEqual(elasticity.sentence(found), "This run proves no limit: the sum of throughput is -0.91 (-2.45 to +0.62). What to do: about 6 seeds "
                         "(--seeds), or 10 times the commands (--commands), if mean and spread stay.")

    def test_no_limit_is_named_that_a_time_in_no_cost_could_exceed(self):
        found = {"a": Interval([-0.30, -0.29, -0.31]), "b": Interval([-0.10, -0.11, -0.10])}
        self.assertEqual(elasticity.limits(found), ([], None), "the costs leave 0.6 of the law")
        self.assertIn("a minus what is in no cost is +0.", elasticity.sentence(found))

    def test_the_advice_is_enough(self):
        values = [-0.5, 0.3, -0.4, 0.2]
        for narrow in (0.5, 0.2):
            seeds = elasticity.needed(Interval(values), narrow)
            wide, enough = ((values * seeds)[:n] for n in (seeds - 4, seeds + 4))
            self.assertTrue(Interval(enough).half < narrow < Interval(wide).half, seeds)
        self.assertIsNone(elasticity.needed(Interval(values), 0.001))

    def test_a_worth_whose_interval_crosses_nothing_is_not_printed(self):
        found = {"a": Interval([-0.9, -0.91, -0.9]), "b": Interval([-0.1, -0.1, -0.11])}
        self.assertNotIn("half", elasticity.sentence(found, Interval([0.5, -0.4, 0.1])))
        self.assertIn("half of it", elasticity.sentence(found, Interval([0.5, 0.51, 0.5])))


def keys():
    return [key.lstrip("-") for cost in costs.classes() for key in cost.keys]


class EveryTime(unittest.TestCase):
    def test_no_key_is_in_two_costs(self):
        self.assertEqual(len(keys()), len(set(keys())))

    def test_each_time_and_rate_of_a_device_is_in_one(self):
        for field in schema.device_fields():
            key = f"{field['section']}.{field['key']}".lstrip(".")
            is_time = field["type"] in ("duration", "durations") or key.endswith("_per_s") or \
                (field["section"] == "clock" and field["type"] != "word")
            with self.subTest(key=key):
                self.assertEqual((key in keys()) + (key in costs.NO_TIMES), int(is_time))
                if key.endswith("_per_s"):
                    self.assertTrue(any(f"-{key}" in cost.keys for cost in costs.classes()), "a rate goes the other way")

    def test_each_duration_of_a_workload_is_in_one(self):
        text = (TOP / "host-driver" / "workload" / "spec_yaml.cpp").read_text()
        durations = set(re.findall(r'\.duration\("(\w+)"', text))
        self.assertEqual({f"workload.{name}" for name in durations - {"time_unit"}}, {key for key in keys() if key.startswith("workload.")}
                         - {"workload.time_scale"}, "time_unit says how a trace is read, time_scale how it is replayed")

    def test_the_schemas_sections_are_those_of_the_keys(self):
        known = {f"{field['section']}.{field['key']}" for field in schema.device_fields()}
        self.assertEqual({key for key in keys() if not key.startswith("workload.")} - known, set())


class Files(unittest.TestCase):
    def test_a_trace_is_found_from_any_folder(self):
        file = pathlib.Path(runs.load_yaml("workloads", "default")["trace"]["file"])
        self.assertEqual(file, TOP / "traces/sqlite-wal.hzt.xz")
        with tempfile.TemporaryDirectory(prefix="hz-explain-") as folder:
            other = pathlib.Path(folder) / "other.yaml"
            other.write_text("trace: {file: in-the-current-directory.hzt}\n")
            self.assertEqual(runs.load_yaml("workloads", str(other))["trace"]["file"], "in-the-current-directory.hzt")

    def read(self, content):
        with tempfile.TemporaryDirectory(prefix="hz-explain-") as folder:
            file = pathlib.Path(folder) / "device.yaml"
            file.write_bytes(content)
            try:
                return runs.load_yaml("devices", str(file))
            except runs.StudyError as error:
                return str(error).replace(str(file), "FILE")

    def test_words_and_numbers_are_those_of_the_program(self):
        """YAML 1.1 has `on` as true, 010 as eight, 1:30 as ninety, and dates. What a run gets is what its file says."""
        read = self.read(b"rain: on\nseed: 010\nl2p: {compress: off}\nlink: {doorbell: 0200, fetch: 1_000, interrupt: 1:30}\nverify: false\n")
        self.assertEqual(read, {"rain": "on", "seed": 10, "l2p": {"compress": "off"}, "link": {"doorbell": 200, "fetch": 1000, "interrupt": "1:30"},
                                "verify": False})
        read = self.read(b"zipf_theta: 0.90\ngain: 1.5e-3\nover_provisioning: 1:30.5\nratio: 1_0.5\nthink: .inf\nname: 2026-13-01\nnothing: ~\n<<: {a: 1}\n")
        self.assertEqual(read, {"zipf_theta": 0.9, "gain": 0.0015, "over_provisioning": "1:30.5", "ratio": "1_0.5", "think": ".inf", "name": "2026-13-01",
                                "nothing": None, "<<": {"a": 1}})
        text = runs.texts(runs.load_yaml("devices", "small-rain"), {})["device.yaml"]
        self.assertIn("rain: 'on'\n", text)

    def test_a_file_that_is_none_is_one_sentence(self):
        for content, sentence in ((b"", "FILE: the file has no keys: write `key: value` lines"), (b"- 1\n", "FILE: the file has no keys"),
                                  (b"a: \xff\n", "FILE: this is no text in UTF-8: "), (b"\0", "FILE: this is no text in UTF-8: "),
                                  (b"a: [b\n", "FILE:2: "), (b"a: 1\n---\nb: 2\n", "FILE:2: "), (b"? [a]\n: b\n", "FILE:1: "),
                                  (b"clock: {mhz: 1,\n  mhz: 2}\n", "FILE:2: 'mhz' is given twice"),
                                  (b"a: 1\nb: !!int abc\n", "FILE:2: 'abc' is no int"), (b"a: !!bool maybe\n", "FILE:1: 'maybe' is no bool"),
                                  (b"a: !!timestamp x\n", "FILE:1: 'x' is no timestamp"), (b"a: !!float 1x\n", "FILE:1: '1x' is no float"),
                                  (b"memory: 5\n", "FILE: memory: expected 'key: value' lines below it"),
                                  (b"trace: here\n", "FILE: trace: expected 'key: value' lines below it")):
            with self.subTest(content):
                said = self.read(content)
                self.assertTrue(str(said).startswith(sentence), said)
                self.assertNotIn("\n", str(said))

    def scaled(self, name, factor, values=None, workload=None):
        files = costs.Files({}, workload or {"threads": 2}, {**VALUES, **(values or {})})
        cost = costs.everything() if name == costs.EVERYTHING else next(c for c in costs.classes() if c.name == name)
        return files.scaled(cost, factor)

    def test_one_cycle_can_change_by_a_tenth(self):
        device, _, log = self.scaled("instructions", 1.1)
        self.assertEqual(device["clock"], {"mhz": 100000, "insn": 110, "remote": 4000})
        self.assertAlmostEqual(log, math.log(1.1))

    def test_the_finest_cycle_keeps_to_the_limits(self):
        device, _, _ = self.scaled("instructions", 1.5, {"clock.mhz": 3000, "clock.remote": 30000})
        self.assertEqual(device["clock"], {"mhz": 48000, "insn": 24, "remote": 480000})

    def test_what_is_rounded_counts_as_it_is(self):
        device, _, log = self.scaled("link to the device", 1.1, {"link.fetch": 7})
        self.assertEqual(device["link"]["fetch"], 8)
        self.assertAlmostEqual(log, math.log(8 / 7))

    def test_rates_go_the_other_way(self):
        device, _, log = self.scaled("channel transfers", 1.25)
        self.assertEqual(device["timing"]["channel_bytes_per_s"], 8 * 10 ** 8)
        self.assertAlmostEqual(log, math.log(1.25))

    def test_each_thread_keeps_its_own_think_time(self):
        _, workload, _ = self.scaled("think time", 1.1, {"workload.think": [1000, 2000]}, {"threads": 2, "each": [{"read_ratio": 1}]})
        self.assertEqual(workload["each"], [{"read_ratio": 1, "think": 1100}, {"think": 2200}])

    def test_nothing_else_changes(self):
        device, workload, _ = self.scaled("reads", 0.9)
        self.assertEqual((device["timing"], "link" in device, workload), ({"normal": {"read": [18000]}}, False, {"threads": 2}))


def command(folder, *arguments):
    return [study_python(), str(TOP / "studies" / "explain" / "explain.py"), "--out", folder, *arguments]


@unittest.skipIf(MISSING, MISSING)
class Device(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hz-explain-")
        self.addCleanup(scratch.cleanup)
        self.out = pathlib.Path(scratch.name) / "out"

    def test_the_small_devices_costs_add_up(self):
        run = subprocess.run(command(str(self.out), "small/small", "--quick", "--commands", "100"), capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        found = json.loads((self.out / "explain.json").read_text())
        for what, target in elasticity.LAW.items():
            for of in ("sum", "all_at_once"):
                low, high = found[of][what]["interval"]
                self.assertTrue(low - elasticity.NEAR <= target <= high + elasticity.NEAR, f"{of} of {what}: {low} to {high}")
        self.assertAlmostEqual(found["all_at_once"]["throughput"]["mean"], -1, places=3)
        low, high = found["sum"]["throughput"]["interval"]
        self.assertLess(high - low, 0.5, "else it proves little")
        self.assertEqual(found["limits"], ["flash cells"])
        self.assertIn(found["sentence"], run.stdout)
        self.assertEqual({part["name"] for part in found["parts"]},
                         {"instructions of hil harts", "instructions of tsu harts", "instructions of worker harts", "sections of locks", "hand-overs of locks"})
        digests = [json.loads((self.out / name / "result.json").read_text())["digest"] for name in ("asked", "base-+0-1")]
        self.assertEqual(*digests, "counting parts of cycles changes nothing")

    def test_no_preset_has_a_time_that_is_in_no_cost(self):
        pairs = {"default/default": 2000, "lock-scaling/lock-scaling": 500, "conzone-paper/small-blocks": 500, "mcmq/small": 500, "zms/append": 300,
                 "zufs/append": 500, "plp/mixed": 20, "legacy/small-blocks": 500, "cufs/small": 500}
        for pair, commands in pairs.items():
            self.assertEqual(self.twice(pair, commands), costs.TWICE, pair)

    def test_without_one_cost_not_all_times_are_doubled(self):
        for left_out in ("instructions", "link to the host", "programs"):
            with unittest.mock.patch.dict(costs.CLASSES):
                del costs.CLASSES[left_out]
                self.assertFalse(math.isclose(self.twice("legacy/small-blocks", 50), costs.TWICE, rel_tol=1e-4), left_out)

    def twice(self, pair, commands):
        device, workload = (runs.load_yaml(folder, name) for folder, name in zip(("devices", "workloads"), pair.split("/")))
        count = {"trace": {"max_ops": commands}} if "trace" in workload else {"common": {"total_ops": commands}}
        workload = runs.merged(workload, count)
        workload.get("common", {}).pop("total_bytes", None)
        args = types.SimpleNamespace(out=self.out / pair.replace("/", "-"), seeds=[1], change=10, costs="groups", resume=False)
        found = experiment.Experiment(args, pair, device, workload)
        found.files = found.as_understood()
        with contextlib.redirect_stderr(io.StringIO()):
            found.double()
        return found.twice

    def test_an_interrupt_leaves_nothing_behind(self):
        with subprocess.Popen(command(str(self.out), "small/small", "--quick", "--commands", "100"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as child:
            while not (self.out / "asked").exists():
                self.assertIsNone(child.poll())
            child.send_signal(signal.SIGINT)
            said = child.communicate(timeout=60)
        self.assertEqual(child.returncode, runs.INTERRUPTED, said)
        self.assertIn("everything is cleaned up", said[1])

    def test_a_wrong_point_is_one_sentence(self):
        run = subprocess.run(command(str(self.out), "small/nothing"), capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("is neither DEVICE/WORKLOAD", run.stderr)

    def test_one_seed_is_refused(self):
        run = subprocess.run(command(str(self.out), "small/small", "--seeds", "3,3"), capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn("an interval takes two seeds or more", run.stderr)


if __name__ == "__main__":
    unittest.main()
