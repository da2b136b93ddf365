"""./hartzone compare: differences between two results, and their amounts."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

DRIVER = os.environ.get("HARTZONE_DRIVER", "")


def kind(ops, iops):
    return {"ops": ops, "iops": iops, "mib_s": iops / 256, "latency_ns": {"mean": 1.5, "p50": 10, "p99": 20, "p999": 30, "max": 40}}


def result(**changes):
    none = kind(0, 0.0)
    return {"schema": "hartzone-result-1", "digest": "aa", "elapsed_ns": 1000, "waf": 1.25, "device": {"zones": {"count": 12}, "lock": "tas"},
            "workload": {"threads": [{"queue_depth": 1}]}, "clock": "virtual", "seed": 1, "wall_s": 3.5,
            "totals": {"read": kind(10, 100.0), "write": none, "flush": none, "zone": none, "gc_read": none, "gc_write": none,
                       "trim": none}, **changes}


@unittest.skipUnless(os.path.exists(DRIVER), f"{DRIVER or 'HARTZONE_DRIVER'} is not built")
class Compare(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="hz-compare-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, name, content):
        (self.folder / name).mkdir()
        (self.folder / name / "result.json").write_text(content if isinstance(content, str) else json.dumps(content))
        return str(self.folder / name)

    def compare(self, *words):
        return subprocess.run([DRIVER, "compare", *words], capture_output=True, text=True, check=False)

    def compared(self, a, b):
        run = self.compare(self.write("a", a), self.write("b", b) + "/result.json", "--json")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return json.loads(run.stdout)

    def test_the_same(self):
        found = self.compared(result(), result(wall_s=9.0))
        self.assertEqual((found["changed"], found["same_digest"]), ({}, True))
        self.assertEqual({figure["change"] for figure in found["figures"]}, {0})
        text = self.compare(str(self.folder / "a"), str(self.folder / "b")).stdout
        self.assertIn("nothing was changed", text)
        self.assertIn("same digest", text)

    def test_what_was_changed_and_by_how_much(self):
        other = result(device={"zones": {"count": 24}}, digest="bb", elapsed_ns=500, workers=4)
        other["totals"]["read"] = kind(10, 150.0)
        other["totals"]["write"] = kind(5, 7.0)
        found = self.compared(result(), other)
        self.assertEqual(found["changed"], {"device/zones/count": [12, 24], "device/lock": ["tas", None], "workers": [None, 4]})
        self.assertFalse(found["same_digest"])
        changes = {figure["name"]: figure["change"] for figure in found["figures"]}
        self.assertEqual((changes["elapsed_ns"], changes["totals/read/iops"], changes["totals/read/latency_ns/p99"]), (-0.5, 0.5, 0))
        self.assertIsNone(changes["totals/write/iops"], "there is no change from nothing")
        self.assertNotIn("totals/flush/ops", changes, "neither has any")
        text = self.compare(str(self.folder / "a"), str(self.folder / "b")).stdout
        for line in (r"device/zones/count +12 -> 24", r"read/iops +100.00 +150.00 +\+50.0 %", r"elapsed_ns +1000 +500 +-50.0 %"):
            self.assertRegex(text, line)

    def test_an_image_is_a_change(self):
        found = self.compared(result(digest="aa", image_starts=0), result(digest="bb", image_starts=1))
        self.assertEqual(found["changed"], {"image_starts": [0, 1]})

    def test_a_run_without_figures(self):
        good = self.write("good", result())
        for name, content, why in (("failed", {"error": "no room"}, "the run failed: no room"), ("cut", {"power_cut": {}}, "the run ended in a power cut"),
                                   ("later", {**result(), "schema": "hartzone-result-2"},
                                    "its schema is hartzone-result-2, and this program compares hartzone-result-1")):
            run = self.compare(good, self.write(name, {"schema": "hartzone-result-1", **content}))
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertEqual(run.stderr, f"hartzone: {self.folder}/{name}/result.json cannot be compared: {why}\n")

    def test_what_is_no_result(self):
        good = self.write("good", result())
        for name, content in (("text", "no JSON"), ("list", "[]"), ("other", "{\"schema\": \"x\"}")):
            run = self.compare(good, self.write(name, content))
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertEqual(run.stderr, f"hartzone: {self.folder}/{name}/result.json is no result of ./hartzone run\n")
        run = self.compare(good, str(self.folder / "missing"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("missing cannot be read: name a folder", run.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
