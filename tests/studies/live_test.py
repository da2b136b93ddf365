"""Live pictures: what Bokeh is given is what the figure of matplotlib shows, kind of mark by kind."""
# SPDX-License-Identifier: BSD-3-Clause
import json
import pathlib
import re
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "studies"), str(TOP / "tests" / "support")]
from hztest.needs import run_by_study_python, study_python  # noqa: E402

run_by_study_python()
MISSING = "" if study_python() else "python3-matplotlib and python3-yaml are not installed"
if not MISSING:
    from common import live, plot  # noqa: E402
    MISSING = live.problem() or ""


def described(fig):
    """Each axes' description, as it is in the page."""
    return [json.loads(text.replace("<\\/", "</")) for text in re.findall(r'<script type="application/json">(.*?)</script>', live.place(fig, 1), re.S)]


def models(part, kind):
    """All objects of that name in a description."""
    if isinstance(part, list):
        return [found for one in part for found in models(one, kind)]
    if not isinstance(part, dict):
        return []
    return ([part] if part.get("name") == kind and "attributes" in part else []) + models(list(part.values()), kind)


def columns(item):
    """The data of each row of marks."""
    return [dict(source["attributes"]["data"]["entries"]) for source in models(item, "ColumnDataSource")]


@unittest.skipIf(MISSING, MISSING)
class Live(unittest.TestCase):
    def draw(self, *calls):
        fig, (ax,) = plot.figure()
        for call in calls:
            call(ax)
        (item,) = described(fig)
        return item

    def legend(self, item):
        return [one["attributes"]["label"]["value"] for one in models(item, "LegendItem")]

    def test_lines_points_and_their_intervals(self):
        item = self.draw(lambda ax: ax.plot([1, 2, 4], [10, 20, 30.5], label="mcs"), lambda ax: ax.plot([1, 2], [5, 6], "s--", label="_unnamed"),
                         lambda ax: ax.errorbar([1, 2], [7, 8], yerr=[[1, 2], [3, 4]], marker="o", linestyle="none", label="measured"),
                         lambda ax: ax.legend())
        drawn = columns(item)
        self.assertEqual([(c["x"], c["y"], set(c["name"])) for c in drawn if "x" in c],
                         [([1, 2, 4], [10, 20, 30.5], {"mcs"}), ([1, 2], [5, 6], {""}), ([1, 2], [5, 6], {""}), ([1, 2], [7, 8], {"measured"})])
        self.assertEqual([(c["x0"], c["y0"], c["x1"], c["y1"]) for c in drawn if "x0" in c], [([1, 2], [6, 6], [1, 2], [10, 12])])
        self.assertEqual(self.legend(item), ["mcs", "measured"])
        self.assertEqual(len(models(item, "Line")), len(re.findall('"name": "Line"', json.dumps(item))))

    def test_a_line_says_its_own_words(self):
        item = self.draw(lambda ax: ax.plot([0, 1], [0.5, 0.75], linewidth=6, label="class zone")[0].set_gid("read_run → write_run: 3 waits"),
                         lambda ax: ax.text(-0.1, 0.5, "read_run", ha="right", va="center"), lambda ax: ax.legend(), lambda ax: ax.set_yticks([]))
        self.assertIn({"x": [0, 1], "y": [0.5, 0.75], "value": ["read_run → write_run: 3 waits"] * 2, "name": ["class zone"] * 2}, columns(item))
        self.assertEqual([tool["attributes"]["tooltips"] for tool in models(item, "HoverTool")], [[["", "@name"], ["", "@value"]]])
        widths = [line["attributes"]["line_width"] for line in models(item, "Line")]
        self.assertIn(6, [width["value"] if isinstance(width, dict) else width for width in widths])
        self.assertEqual([axis["attributes"].get("visible", True) for axis in models(item, "LinearAxis")], [False, True], "no ticks, no axis: that of y, which comes first")

    def test_bars_have_their_value_and_their_group(self):
        item = self.draw(lambda ax: plot.bars(ax, ["zms", "block"], {"here": [3, None], "paper": [1.5, 2]}, "Rates", "MiB/s"))
        self.assertEqual([(c["at"], c["value"], [t - b for t, b in zip(c["top"], c["bottom"])], c["name"]) for c in columns(item) if "top" in c],
                         [(["zms"], ["3"], [3], ["here"]), (["zms", "block"], ["1.5", "2"], [1.5, 2], ["paper"] * 2)])
        self.assertEqual(models(item, "Title")[0]["attributes"]["text"], "Rates")
        words = [dict(axis["attributes"]["major_label_overrides"]["entries"]) for axis in models(item, "LinearAxis") if "major_label_overrides" in axis["attributes"]]
        self.assertEqual(words, [{0.0: "zms", 1.0: "block"}])
        self.assertEqual(sorted(text for c in columns(item) for text in c.get("text", [])), ["1.5", "2", "3"])

    def test_stacked_and_lying_bars(self):
        item = self.draw(lambda ax: ax.bar([0], [2], label="work"), lambda ax: ax.bar([0], [3], bottom=[2], label="idle"))
        self.assertEqual([(c["bottom"], c["top"], c["value"]) for c in columns(item)], [([0], [2], ["2"]), ([2], [5], ["3"])])
        item = self.draw(lambda ax: ax.barh(["zone 1", "zone 2"], [7, 4]), lambda ax: ax.invert_yaxis())
        self.assertEqual([(c["left"], c["right"], c["at"], c["value"]) for c in columns(item)], [([0, 0], [7, 4], ["7", "4"], ["zone 1", "zone 2"])])
        self.assertGreater(*(models(item, "Range1d")[1]["attributes"][end] for end in ("start", "end")), "the first is on top, as it was drawn")

    def test_cells_areas_and_clouds(self):
        item = self.draw(lambda ax: ax.imshow([[0, 5], [2, 0]]), lambda ax: ax.set_xticks([0, 1], ["a", "b"]), lambda ax: ax.set_yticks([0, 1], [8, 9]))
        self.assertEqual([(c["at"], c["value"]) for c in columns(item)], [(["a", "b", "a", "b"], ["8: 0", "8: 5", "9: 2", "9: 0"])])
        item = self.draw(lambda ax: ax.stackplot([0, 1], [1, 1], [2, 3], labels=["free", "valid"]), lambda ax: ax.scatter([1, 2], [3, 4], label="worst"), lambda ax: ax.legend())
        self.assertEqual(self.legend(item), ["free", "valid", "worst"])
        self.assertEqual([max(c["y"]) for c in columns(item)], [1, 4, 4])

    def test_scales_and_limits(self):
        item = self.draw(lambda ax: ax.plot([1, 2], [1, 1000]), lambda ax: ax.set(yscale="log", ylim=(1, 2000), xlabel="workers"))
        self.assertEqual((len(models(item, "LogAxis")), models(item, "LinearAxis")[0]["attributes"]["axis_label"]), (1, "workers"))
        self.assertEqual(models(item, "Range1d")[1]["attributes"], {"start": 1, "end": 2000})

    def test_an_axis_that_bokeh_does_not_have_is_linear(self):
        item = self.draw(lambda ax: ax.plot([0, 500, 2000], [1, 2, 3]), lambda ax: ax.set_xscale("symlog", linthresh=100))
        self.assertEqual(len(models(item, "LinearAxis")), 2)

    def test_the_same_figure_gives_the_same_text_and_ends_no_script(self):
        texts = []
        for _ in range(2):
            fig, (ax,) = plot.figure()
            ax.plot([1], [1], "o", label="</script><b>")
            ax.legend()
            texts.append(live.place(fig, 1))
        self.assertEqual(*texts)
        self.assertEqual(texts[0].count("</script>"), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
