"""Live pictures for report.html: a figure of matplotlib, drawn again by Bokeh. Whoever looks at the page points at marks for their values,
zooms, and hides what a legend names, in all pictures of the page at once. The page has Bokeh's script in itself.

Read from a figure: of each axes its titles, limits, ticks with words, legend; lines (with a group id, that is what they say), points, bars, error bars, areas,
cells of imshow, texts.
"""
# SPDX-License-Identifier: BSD-3-Clause
import functools
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "build" / "tools" / "bokeh"  # scripts/setup installs it there
HEIGHT, LEGEND_ROW = 270, 20  # pixels: without legend, and of each of its rows
DASHES = {"-": "solid", "--": "dashed", ":": "dotted", "-.": "dashdot"}
LONG = 20  # characters of a name that has a row of the legend for itself
WAYS = "pan,box_zoom,wheel_zoom,reset,save"
START = """
const drawn = [];
for (const part of document.querySelectorAll('figure > .live > div')) {
  part.closest('figure').classList.add('lives');
  drawn.push(Bokeh.embed.embed_item(JSON.parse(part.querySelector('script').textContent), part.id));
}
Promise.all(drawn).then(views => {
  const named = new Map();
  for (const item of Bokeh.documents.flatMap(d => [...d._all_models.values()]).filter(m => m.type === 'LegendItem')) {
    const marks = named.get(item.label.value) ?? [];
    named.set(item.label.value, [...marks, ...item.renderers]);
  }
  for (const marks of named.values())
    for (const mark of marks)
      mark.properties.visible.change.connect(() => marks.forEach(other => { other.visible = mark.visible; }));
  document.body.dataset.live = Bokeh.documents.length;
});
"""


@functools.cache
def problem():
    """None where Bokeh is there, else why pictures stay still."""
    if not (FOLDER / "bokeh").is_dir():
        return "Pictures are still ones: Bokeh is not installed (scripts/setup installs it)."
    sys.path.append(str(FOLDER))
    try:
        import bokeh  # noqa: F401, PLC0415
        import jinja2  # noqa: F401, PLC0415
        import tornado  # noqa: F401, PLC0415
    except ImportError as error:
        return f"Pictures are still ones: {error} (scripts/setup installs it)."
    return None


def script():
    """All that a page needs, once."""
    from bokeh.resources import Resources
    return Resources(mode="inline", components=["bokeh"]).render_js() + f"\n<script>{START}</script>"


def place(fig, number):
    """The figure's place in a page: a description of each of its axes, which START draws. number: of the picture in its page."""
    parts = []
    for at, ax in enumerate(fig.axes):
        name = f"live-{number}-{at}"
        parts.append(f'<div id="{name}"><script type="application/json">{_described(_Axes(ax).draw(), name)}</script></div>')
    return f'<div class="live">{"".join(parts)}</div>'


def _described(drawn, name):
    from bokeh.embed import json_item
    found = {}

    def numbered(part):
        """The same with ids that do not depend on what else this process has drawn."""
        if isinstance(part, list):
            return [numbered(one) for one in part]
        if not isinstance(part, dict):
            return part
        return {key: found.setdefault(value, f"m{len(found)}") if key in ("id", "root_id") and isinstance(value, str) else numbered(value)
                for key, value in part.items()}
    return json.dumps(numbered(json_item(drawn, name))).replace("</", "<\\/")


class _Axes:
    def __init__(self, ax):
        self.ax = ax
        self.legend = {}  # name → marks

    def draw(self):
        from bokeh.plotting import figure
        ax = self.ax
        self.p = figure(title=ax.get_title(), height=HEIGHT, sizing_mode="stretch_width", tools=WAYS, x_axis_label=ax.get_xlabel(),
                        y_axis_label=ax.get_ylabel(), x_range=ax.get_xlim(), y_range=ax.get_ylim(), x_axis_type=_scale(ax.xaxis), y_axis_type=_scale(ax.yaxis))
        self.p.toolbar.logo, self.p.toolbar.autohide = None, True
        self.p.background_fill_color = self.p.border_fill_color = None
        self.p.outline_line_color = None
        self.p.grid.grid_line_alpha = 0.4
        self.p.title.text_font_size, self.p.axis.axis_label_text_font_style = "12px", "normal"
        self.p.axis.minor_tick_line_color = None
        self.ticks(self.p.xaxis, ax.xaxis)
        self.ticks(self.p.yaxis, ax.yaxis)
        self.cells()
        self.areas()
        self.bars()
        self.lines()
        self.points()
        self.texts()
        self.finish()
        return self.p

    def ticks(self, shown, axis):
        if not len(axis.get_majorticklocs()):
            shown.visible = False
        words = _words(axis)
        if words:
            shown.ticker, shown.major_label_overrides = list(words), words

    def mark(self, kind, name, values, hover=True, **look):
        """Adds marks of one kind; values: columns. name: in the legend, which "_…" is not."""
        from bokeh.models import ColumnDataSource, HoverTool
        named = name and not str(name).startswith("_")
        count = len(next(iter(values.values())))
        source = ColumnDataSource({**{key: list(value) for key, value in values.items()}, "name": [name if named else ""] * count})
        drawn = getattr(self.p, kind)(source=source, **{key: key for key in values if key not in ("value", "at")}, **look)
        if named:
            self.legend.setdefault(str(name), []).append(drawn)
        if hover:
            x, y = ("@at", "@value") if "value" in values else ("@x{0,0.[000]}", "@y{0,0.[000]}")
            shown_as = [(self.ax.get_xlabel() or "x", x), (self.ax.get_ylabel() or "y", y)] if "at" in values or "value" not in values else [("", y)]
            self.p.add_tools(HoverTool(renderers=[drawn], visible=False, tooltips=[*([("", "@name")] if named else []), *shown_as]))
        return drawn

    def lines(self):
        spans = {id(line): c for c in self.ax.containers if type(c).__name__ == "ErrorbarContainer" for line in (c.lines[0],) if line}
        caps = {id(cap) for c in self.ax.containers if type(c).__name__ == "ErrorbarContainer" for cap in c.lines[1]}
        for line in self.ax.get_lines():
            if id(line) in caps:
                continue
            owner = spans.get(id(line))
            name, color = (owner.get_label() if owner else line.get_label()), _hex(line.get_color())
            x, y = _numbers(line.get_xdata()), _numbers(line.get_ydata())
            if line.get_linestyle() not in ("None", "none", "", " "):
                dash = DASHES.get(line.get_linestyle(), "dashed")
                said = {"value": [line.get_gid()] * len(x)} if line.get_gid() else {}
                self.mark("line", name, {"x": x, "y": y, **said}, hover=line.get_marker() in ("None", None, ""), line_color=color, line_dash=dash,
                          line_width=max(line.get_linewidth(), 1.5))
            if line.get_marker() not in ("None", None, ""):
                self.mark("scatter", name, {"x": x, "y": y}, color=color, size=7, marker="square" if line.get_marker() == "s" else "circle")
            if owner:
                self.spans(name, owner, color)

    def spans(self, name, owner, color):
        ends = [segment for bars in owner.lines[2] for segment in bars.get_segments()]
        if ends:
            columns = {key: [float(end[which][axis]) for end in ends] for key, which, axis in (("x0", 0, 0), ("y0", 0, 1), ("x1", 1, 0), ("y1", 1, 1))}
            self.mark("segment", name, columns, hover=False, line_color=color, line_width=2)

    def bars(self):
        for bars in (c for c in self.ax.containers if type(c).__name__ == "BarContainer"):
            boxes = [patch.get_bbox() for patch in bars]
            lying = bars.orientation == "horizontal"
            spans = [(box.x0, box.x1, box.y0, box.y1) for box in boxes]
            words = [_nearest(self.ax.yaxis, (low + high) / 2) if lying else _nearest(self.ax.xaxis, (left + right) / 2) for left, right, low, high in spans]
            columns = {key: [float(span[i]) for span in spans] for i, key in enumerate(("left", "right", "bottom", "top"))}
            sizes = [f"{right - left if lying else high - low:.6g}" for left, right, low, high in spans]
            values = {"at": sizes, "value": words} if lying else {"at": words, "value": sizes}
            self.mark("quad", bars.get_label(), {**columns, **values}, fill_color=_hex(bars[0].get_facecolor()) if len(bars) else None, line_color=None)

    def areas(self):
        for area in (c for c in self.ax.collections if type(c).__name__ in ("PolyCollection", "FillBetweenPolyCollection")):
            path = area.get_paths()[0].vertices
            self.mark("patch", area.get_label(), {"x": _numbers(path[:, 0]), "y": _numbers(path[:, 1])}, hover=False,
                      fill_color=_hex(area.get_facecolor()[0]), line_color=None)

    def points(self):
        for cloud in (c for c in self.ax.collections if type(c).__name__ == "PathCollection"):
            at = cloud.get_offsets()
            self.mark("scatter", cloud.get_label(), {"x": _numbers(at[:, 0]), "y": _numbers(at[:, 1])}, color=_hex(cloud.get_facecolor()[0]), size=5)

    def cells(self):
        for image in self.ax.images:
            counts = image.get_array()
            rows, columns = counts.shape
            all_cells = [(row, column) for row in range(rows) for column in range(columns)]
            xs, ys = ([_nearest(axis, at) for at in range(count)] for axis, count in ((self.ax.xaxis, columns), (self.ax.yaxis, rows)))
            self.mark("quad", self.ax.get_title(), {
                "left": [c - 0.5 for _, c in all_cells], "right": [c + 0.5 for _, c in all_cells],
                "bottom": [r - 0.5 for r, _ in all_cells], "top": [r + 0.5 for r, _ in all_cells],
                "at": [xs[c] for _, c in all_cells], "value": [f"{ys[r]}: {counts[r, c]:g}" for r, c in all_cells],
                "fill_color": [_hex(image.cmap(image.norm(counts[r, c]))) for r, c in all_cells]}, line_color=None)
            self.legend.clear()

    def texts(self):
        for text in self.ax.texts:
            x, y = (float(v) for v in (text.xy if hasattr(text, "xy") else text.get_position()))
            if text.get_text():
                self.p.text(x=[x], y=[y], text=[text.get_text()], text_font_size="10px", text_align=text.get_ha(), y_offset=-3, text_color=_hex(text.get_color()),
                            text_baseline={"center": "middle", "center_baseline": "middle", "top": "top"}.get(text.get_va(), "bottom"))

    def finish(self):
        from bokeh.models import Legend, LegendItem
        if not self.legend or not self.ax.get_legend():
            return
        items = [LegendItem(label=name, renderers=marks) for name, marks in self.legend.items()]
        columns = 1 if max(map(len, self.legend)) > LONG else 2
        self.p.add_layout(Legend(items=items, click_policy="hide", border_line_color=None, background_fill_alpha=0, ncols=columns, location="left",
                                 label_text_font_size="11px", glyph_height=14, label_height=14, spacing=8, padding=4), "below")
        self.p.height += LEGEND_ROW * -(-len(items) // columns)


def _scale(axis):
    """Bokeh has no symlog, which draws 0 beside large numbers: such an axis is linear."""
    return "log" if axis.get_scale() == "log" else "linear"


def _words(axis):
    """place → word, of ticks that are words and not the numbers of their places."""
    from matplotlib import ticker
    form = axis.get_major_formatter()
    if not isinstance(form, ticker.FixedFormatter | ticker.FuncFormatter) and type(form).__name__ != "StrCategoryFormatter":
        return {}
    places = [float(at) for at in axis.get_majorticklocs()]
    return {at: str(word) for at, word in zip(places, form.format_ticks(places))}


def _nearest(axis, place):
    """The word of the tick there, or the number."""
    words = _words(axis)
    return words[min(words, key=lambda at: abs(at - place))] if words else f"{place:g}"


def _numbers(values):
    return [float(v) for v in values]


def _hex(color):
    from matplotlib.colors import to_hex
    return to_hex(color)
