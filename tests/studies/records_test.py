"""README files and RESULTS.md show what the studies' records say, cell by cell; a figure that is not the record's is seen; and nothing
in a plot lies on something else. Nothing runs here."""
# SPDX-License-Identifier: BSD-3-Clause
import copy
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests" / "support"), str(TOP / "linux")]
from hztest.needs import run_by_study_python, study_python  # noqa: E402

run_by_study_python()
if study_python():
    import figures
    import sessions
    from common import plot, readme, recorded, runs
    from common.verdict import verdict

STUDY = "conzone-fig6b"


def found_like(record):
    """The study.json of a study that measures its record again."""
    return {"software": record["software"], "figures": [{"name": name, "measured": value, "unit": "MiB/s"} for name, value in record["figures"].items()],
            "points": [{"name": name, "digests": digests} for name, digests in record["digests"].items()]}


@unittest.skipUnless(study_python(), "python3-matplotlib and python3-yaml are not installed")
class Records(unittest.TestCase):
    def test_every_table_is_the_records(self):
        for path, name, content in readme.blocks():
            text = path.read_text(encoding="utf-8")
            self.assertEqual(readme.replaced(text, name, content, path), text, f"{path}: ./hartzone study --update writes its table {name}")

    def test_every_paper_study_has_a_record_and_every_mark_a_table(self):
        names = readme.shown_studies("rows")
        self.assertGreater(len(names), 3)
        for name in names:
            self.assertTrue(readme.record_path(name).exists(), f"./hartzone study {name} --update makes its record")
        known = {(path, name) for path, name, _ in readme.blocks()} | {(TOP / "studies/README.md", name) for name in readme.shown_studies("tables")}
        marks = {(path, name) for path in [TOP / "README.md", *TOP.glob("studies/**/*.md")]
                 for name in re.findall(r"<!-- measured: (\S+) -->", path.read_text(encoding="utf-8"))}
        self.assertEqual(marks, known)

    def test_a_place_that_is_missing_is_named(self):
        with self.assertRaisesRegex(runs.StudyError, "x.md has no place .*measured: studies"):
            readme.replaced("no marks", "studies", "table", "x.md")

    def test_equal_programs_must_give_equal_figures(self):
        record = readme.record(STUDY)
        found = found_like(record)
        self.assertEqual(list(figures.differences(STUDY, found)), [])
        found["figures"][0]["measured"] *= 1.0001
        found["points"][1]["digests"] = ["0"]
        sentences = list(figures.differences(STUDY, found))
        self.assertEqual(len(sentences), 2)
        self.assertIn(found["figures"][0]["name"], sentences[0])
        self.assertIn("the digests are others", sentences[1])

    def test_other_programs_must_give_near_figures(self):
        record = readme.record(STUDY)
        for factor, far in ((1.02, False), (1.05, True)):
            found = found_like(copy.deepcopy(record))
            found["software"]["firmware"]["sha256"] = "0"
            found["points"][1]["digests"] = ["0"]
            found["figures"][0]["measured"] *= factor
            self.assertEqual(bool(list(figures.differences(STUDY, found))), far, factor)

    def test_update_writes_the_record_and_every_table_that_shows_it(self):
        with tempfile.TemporaryDirectory(prefix="hz-records-") as folder:
            copied = pathlib.Path(folder)
            shutil.copytree(TOP / "studies", copied / "studies")
            shutil.copy(TOP / "README.md", copied)
            found = found_like(readme.record(STUDY)) | {"study": STUDY, "seeds": [1]}
            found["figures"] = [f | {"measured": 1234.5} if f["name"] == "bandwidth, buffers apart" else f for f in found["figures"]]
            (copied / "study.json").write_text(json.dumps(found))
            with unittest.mock.patch.multiple(readme, TOP=copied, STUDIES=copied / "studies"):
                readme.update(STUDY, copied)
                self.assertEqual(readme.record(STUDY)["figures"]["bandwidth, buffers apart"], 1234.5)
            for path in (copied / "studies" / "RESULTS.md", copied / "studies" / STUDY / "README.md"):
                self.assertIn("(1234.5 against", path.read_text(encoding="utf-8"))

    def test_update_is_of_the_default_grid(self):
        run = subprocess.run([sys.executable, str(TOP / "studies" / STUDY / "study.py"), "--update", "--seeds", "1,2"], capture_output=True,
                             text=True, check=False)
        self.assertEqual(run.returncode, 2)
        self.assertIn("--update records the default grid: leave out --seeds", run.stderr)


# Two lanes; the second command of lane 1 ends first. Three reads of block 9 are a mark.
SERVED = """hartzone-record 1 lanes 2 depth 4 turnaround 20000 workers 2 device d
a 0 4096 6 0 0 0 0 1 0 0 0 0 0
s 1 100 1 0 1 0 0 8 0 40000001 0 0 0
s 1 110 2 0 1 0 0 9 0 0 0 0 0
c 1 1 110 130 0 0
c 1 0 100 150 0 0
s 2 160 2 0 1 0 0 9 0 0 0 0 0
s 1 170 2 0 1 0 0 9 0 0 0 0 0
s 1 180 1 0 1 0 0 9 1 7 0 0 0
s 1 190 0 0 1 0 0 0 0 0 0 0 0
c 1 3 180 200 0 0
c 1 4 190 290 0 0
s 1 300 2 0 1 0 0 9 0 0 0 0 0
s 1 310 2 0 1 0 0 9 0 0 0 0 0
s 1 320 2 0 1 0 0 9 0 0 0 0 0
end commands 10 digest 1234
"""


@unittest.skipUnless(study_python(), "python3-matplotlib and python3-yaml are not installed")
class Recordings(unittest.TestCase):
    def test_what_linux_sent_is_read(self):
        found = recorded.Recording(SERVED.splitlines())
        self.assertEqual((len(found.commands), found.digest, found.marks), (9, "1234", [4, 9]))
        first, second = found.commands[:2]
        self.assertEqual((first.kind, first.at, first.blocks, first.durable, first.done), (recorded.WRITE, 8, 2, True, 150))
        self.assertEqual((second.kind, second.blocks, second.durable, second.done), (recorded.READ, 1, False, 130))
        write, flush = found.phase(0)
        self.assertEqual((write.at, write.blocks, flush.kind, flush.blocks), (9 + (1 << 32), 8, recorded.FLUSH, 0))
        self.assertEqual(recorded.busy_ns([first, second]), 50)
        self.assertEqual(recorded.busy_ns([first, write, flush]), 50 + 110)

    def test_blocks_written_again_and_in_order(self):
        def write(at, blocks):
            return types.SimpleNamespace(at=at, blocks=blocks)
        self.assertEqual(recorded.overwritten([write(0, 4), write(4, 4), write(2, 4), write(2, 1)]), 5)
        self.assertEqual(recorded.in_order([write(0, 4), write(8, 2), write(4, 4), write(2, 1), write(10, 1)]), 5)

    def test_the_sessions_of_linux(self):
        """Each is complete, has its marks, and is no larger than two MiB."""
        for name, session in sessions.SESSIONS.items():
            with self.subTest(name):
                self.assertLessEqual(recorded.path_of(name).stat().st_size, 2 << 20)
                found = recorded.of(name)
                self.assertRegex(found.digest, "^[0-9a-f]{16}$")
                self.assertEqual(len(found.marks), session.marks)
                self.assertTrue(all(command.done > command.arrival for command in found.commands))


@unittest.skipUnless(study_python(), "python3-matplotlib and python3-yaml are not installed")
class Verdicts(unittest.TestCase):
    def test_of_cells(self):
        for paper, here, wanted in (
                ("27.4 %", "27.6 %", "reproduced"), ("20.2 KIOPS", "20.1 KIOPS (1.6 % misses)", "reproduced"), ("50 %", "60 %", "not reproduced"),
                ("+65 %", "+18 % (384.5 against 325.4 MiB/s)", "direction only"), ("+10 %", "-20.0 %", "not reproduced"), ("+1 %", "+6.2 %", "reproduced"),
                ("+65 %, -24 %", "+75 %, -5.4 %", "direction only"), ("+65 %, -24 %", "+75 %, +5.4 %", "not reproduced"),
                ("+37 to +44 %", "+40 %", "reproduced"), ("+37 to +44 %", "+70 %", "direction only"), ("5x to 13.6x", "1.3x (34 against 26)", "not reproduced"),
                ("-96 %", "-95.2 %", "reproduced"), ("comparable", "-6.1 % (338 against 360 MiB/s)", "reproduced"), ("comparable", "-24.7 %", "not reproduced"),
                ("higher", "98.1 against 74.0 us", "reproduced"), ("less", "0.0 against 11.8 MiB", "reproduced"), ("slower", "+3 %", "not reproduced"),
                ("about 50 us", "49.3, 49.4, 49.3 us", "reproduced"), ("+15 % on average", "+11.4 % (94 against 85)", "reproduced")):
            self.assertEqual(verdict(paper, here), wanted, (paper, here))

    def test_what_cannot_be_held_against_it_has_none(self):
        for paper, here in (("", "1.78"), ("1, 1 (MQSim)", "0.78, 0.57"), ("falls; rises", "23.3, 18.1"), ("never", "27 of 42"), ("more", "12"), ("+65 %, -24 %", "+75 %")):
            self.assertEqual(verdict(paper, here), "", (paper, here))

    def test_every_verdict_occurs(self):
        found = [verdict(paper, here) for name in readme.shown_studies("rows") for _, paper, here in readme.rows_of(name)]
        for word in ("reproduced", "direction only", "not reproduced"):
            self.assertIn(word, found)


@unittest.skipUnless(study_python(), "python3-matplotlib and python3-yaml are not installed")
class Layout(unittest.TestCase):
    def test_axes_get_what_their_labels_leave(self):
        fig, axes = plot.figure(3)
        for ax, label, most in zip(axes, ("one", "two\nlines\nof it", "three"), (1, 1000000, 10)):
            ax.plot([0, most])
            ax.set(title="a title", xlabel="workers", ylabel=label)
        plot.lay_out(fig)
        boxes = [ax.get_tightbbox() for ax in axes]
        for box in boxes:
            self.assertTrue(box.x0 >= 0 and box.x1 <= fig.bbox.width and box.y0 >= 0 and box.y1 <= fig.bbox.height, boxes)
        for left, right in zip(boxes, boxes[1:]):
            self.assertLess(left.x1, right.x0)
        self.assertEqual(len({(round(ax.bbox.width), round(ax.bbox.y0), round(ax.bbox.height)) for ax in axes}), 1, "a row of equals")
        self.assertGreater(sum(ax.bbox.width for ax in axes), 0.75 * fig.bbox.width, "labels take no more than they need")


if __name__ == "__main__":
    unittest.main(verbosity=2)
