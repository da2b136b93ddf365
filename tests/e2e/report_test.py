"""report.html of runs and studies in a real browser: it needs nothing else, everything in it is seen, and what is drawn is what was
measured."""
# SPDX-License-Identifier: BSD-3-Clause
import html
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
from hztest.needs import HANG_S, device_problem, study_python  # noqa: E402

DRIVER = os.environ.get("HARTZONE_DRIVER", "")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MISSING = device_problem() or ("" if BROWSER else "there is no chromium to show pages in: ./hartzone setup installs it")
WIDTH = 1280
LIVE = (TOP / "build" / "tools" / "bokeh" / "bokeh").is_dir()
# Marks are rectangles and circles with a title: "row, series: value unit".
LOOK = """<script>
const box = e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; };
const text = e => ({text: e.textContent, box: box(e)});
document.querySelectorAll('details').forEach(d => d.open = true);
document.querySelectorAll('figure').forEach(f => f.classList.remove('lives'));
const seen = {
  title: document.title, loaded: performance.getEntriesByType('resource').map(r => r.name), width: document.documentElement.scrollWidth,
  headings: [...document.querySelectorAll('h2')].map(h => h.textContent), words: document.body.innerText,
  charts: [...document.querySelectorAll('svg')].map(svg => ({
    box: box(svg), texts: [...svg.querySelectorAll('text')].map(text),
    marks: [...svg.querySelectorAll('title')].map(t => ({text: t.textContent, kind: t.parentNode.nodeName, box: box(t.parentNode)}))}))};
document.body.innerHTML = ''; const out = document.createElement('pre'); out.textContent = JSON.stringify(seen); document.body.append(out);
</script>"""

# What a person does with a page: hides what the first legend names first, sorts the first table by its third column.
USE = """<script>
const ready = setInterval(() => {
  if (!document.body.dataset.live) return;
  clearInterval(ready);
  const models = Bokeh.documents.flatMap(d => [...d._all_models.values()]), of = type => models.filter(m => m.type === type);
  const items = of('LegendItem'), name = items[0].label.value, same = items.filter(i => i.label.value === name).flatMap(i => i.renderers);
  const inked = c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((v, i) => i % 4 == 3 && v).length;
  const canvases = (function all(root) { return [...root.querySelectorAll('*')].flatMap(e =>
    [...(e.nodeName === 'CANVAS' && e.width * e.height ? [e] : []), ...(e.shadowRoot ? all(e.shadowRoot) : [])]); })(document);
  const inks = canvases.map(inked);
  items[0].renderers[0].visible = false;
  const table = document.querySelector('table'), column = () => [...table.tBodies[0].rows].map(r => Number(r.cells[2].textContent.replace(/,/g, '')));
  const unsorted = column(), head = table.tHead.rows[0].cells[2];
  head.click();
  const sorted = column();
  head.click();
  const seen = {documents: Bokeh.documents.length, titles: of('Title').map(t => t.text), values: of('ColumnDataSource').map(s => s.data.value ?? []),
    still: [...document.querySelectorAll('.still')].filter(e => e.offsetHeight).length, ink: Math.max(...inks), canvases: canvases.length,
    hidden: same.map(r => r.visible), name, width: document.documentElement.scrollWidth, unsorted, sorted, reversed: column()};
  document.body.innerHTML = ''; const out = document.createElement('pre'); out.textContent = JSON.stringify(seen); document.body.append(out);
}, 50);
</script>"""


def shown(page, scratch, script=LOOK, width=WIDTH):
    """The page as rendered by a browser."""
    looked = scratch / "looked.html"
    looked.write_text(page.read_text(encoding="utf-8").replace("</body>", script + "</body>"), encoding="utf-8")
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={scratch}/browser",
                           f"--window-size={width},2000", "--virtual-time-budget=20000", "--dump-dom", looked.as_uri()], capture_output=True, text=True, check=True, timeout=HANG_S)
    return json.loads(html.unescape(re.search("<pre>(.*)</pre>", done.stdout, re.S)[1]))


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@unittest.skipIf(MISSING, MISSING)
class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hz-report-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def run_once(self, name, *words):
        done = subprocess.run([DRIVER, "run", "--quick", "--device", "small", "--out", self.folder / name, *words], capture_output=True, text=True,
                              check=False)
        return done, self.folder / name / "report.html"

    def look(self, page):
        seen = shown(page, self.folder)
        self.assertEqual(seen["loaded"], [], "the page needs nothing else")
        self.assertLessEqual(seen["width"], WIDTH)
        for chart in seen["charts"]:
            left, top, right, bottom = chart["box"]
            self.assertGreater(min(right - left, bottom - top), 50)
            for part in chart["texts"] + chart["marks"]:
                x, y, end, low = part["box"]
                self.assertTrue(left - 1 <= x <= end <= right + 1 and top - 1 <= y <= low <= bottom + 1, f"{part} is cut off: {chart['box']}")
            for i, one in enumerate(chart["texts"]):
                for other in chart["texts"][:i]:
                    self.assertFalse(overlap(one["box"], other["box"]), f"{one['text']!r} lies on {other['text']!r}")
        return seen

    def test_the_page_of_a_run(self):
        done, page = self.run_once("run", "--workload", "small", "--workers", "8")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads((self.folder / "run" / "result.json").read_text())
        seen = self.look(page)
        hashed = f'<td class="long">{result["software"]["firmware"]["sha256"]}</td>'
        self.assertTrue(hashed in page.read_text(encoding="utf-8"), "a hash may be broken to fit")
        self.assertEqual(seen["title"], "Hartzone: small on small")
        for heading in ("Commands", "What the harts did", "Flash", "Where requests spend their time", "Waits for logical locks", "Provenance", "Configuration"):
            self.assertIn(heading, seen["headings"])
        for fact in (result["digest"], result["software"]["firmware"]["sha256"], result["software"]["firmware"]["compiler"],
                     result["software"]["driver"]["build_id"], "geometry/dies_per_chip", "threads/0/queue_depth"):
            self.assertIn(fact, seen["words"])
        latency = seen["charts"][0]
        self.assertEqual({m["text"].split(",")[0] for m in latency["marks"]}, {"read", "write"})
        high = {m["text"]: m["box"][1] for m in latency["marks"]}
        least, most = (next(y for text, y in high.items() if text.startswith(f"read, {point}:")) for point in ("least", "most"))
        self.assertGreater(least, most, "what took longer is drawn higher")
        self.lengths_are_the_shares(result, seen["charts"][1])

    def lengths_are_the_shares(self, result, chart):
        at = {part["text"]: sum(part["box"][::2]) / 2 for part in chart["texts"]}
        for hart in result["harts"]:
            for use in ("work", "spin", "idle"):
                bar = next(m["box"] for m in chart["marks"] if m["text"].startswith(f"{hart['id']} {hart['role']}, {use}: "))
                length = 100 * (bar[2] - bar[0]) / (at["100"] - at["0"])
                self.assertAlmostEqual(length, 100 * hart[f"{use}_ns"] / hart["elapsed_ns"], delta=0.2)

    def test_names_are_shown_as_they_are(self):
        workload = self.folder / "odd.yaml"
        text = (TOP / "configs" / "workloads" / "small.yaml").read_text()
        workload.write_text(re.sub("^name:.*$", "name: '<b>&\"ü'", text, flags=re.M))
        done, page = self.run_once("odd", "--workload", workload)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.look(page)["title"], 'Hartzone: <b>&"ü on small')

    def test_what_has_no_figures_says_why(self):
        done, page = self.run_once("cut", "--workload", "small", "--power-cut-at", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('The power was cut, as asked, at: {"operation":3}', self.look(page)["words"])

    def test_a_study_is_reported_by_its_page(self):
        out = self.folder / "study"
        subprocess.run([study_python(), TOP / "studies" / "conzone-fig8" / "study.py", "--quick", "--volume", "1", "--out", out], capture_output=True, check=True)
        run = json.loads((out / "pinned-1" / "result.json").read_text())
        seen = self.look(out / "report.html")
        self.assertEqual(len(seen["charts"]), 1)
        for fact in (run["digest"], run["software"]["firmware"]["sha256"], "reads, multiple against bitmap", "--cache"):
            self.assertIn(fact, seen["words"])
        self.assertTrue((out / "pinned-1" / "report.html").is_file())
        self.lives(out / "report.html", json.loads((out / "study.json").read_text()))

    def lives(self, page, study):
        if not LIVE:
            self.skipTest("the still pictures are right; Bokeh, for live ones, is not installed (scripts/setup installs it)")
        for width in (WIDTH, 500):
            seen = shown(page, self.folder, USE, width)
            self.assertEqual((seen["documents"], seen["still"]), (len(seen["titles"]), 0))
            self.assertGreater(seen["ink"], 1000, "something is drawn")
            self.assertLessEqual(seen["width"], width)
            self.assertEqual(set(seen["hidden"]), {False}, f"{seen['name']} is hidden wherever it is")
            self.assertEqual([sorted(seen["sorted"]), seen["reversed"]], [sorted(seen["unsorted"]), seen["sorted"][::-1]])
        drawn = {float(value) for values in seen["values"] for value in values}
        measured = [row["measured"] for row in study["figures"]
                    if row["unit"] == "KIOPS" and row["measured"] and "full zone" not in row["name"]] # the control stands in the table only
        self.assertTrue(measured)
        for value in measured:
            self.assertTrue(any(abs(value - one) < 1e-4 * value for one in drawn), f"{value} is not in {drawn}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
