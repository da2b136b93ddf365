"""A self-contained page of HTML: text, tables and pictures, for a wide or narrow screen, light or dark, and for paper. Its tables can be sorted
and searched. Its pictures are live ones (common/live.py) and, on paper and where there is no Bokeh, still ones."""
# SPDX-License-Identifier: BSD-3-Clause
import html
import io
import pathlib

from common import live, plot, report

STYLE = (pathlib.Path(__file__).resolve().parents[2] / "host-driver/report/report.css").read_text(encoding="utf-8")  # of run pages too


MANY = 12 # rows of a table that is worth a search
TABLES = """
const number = text => { const n = parseFloat(text.replace(/,/g, '')); return isNaN(n) ? null : n; };
const compare = (a, b) => number(a) !== null && number(b) !== null ? number(a) - number(b) : a.localeCompare(b);
for (const head of document.querySelectorAll('th')) {
  head.title = 'Click to sort';
  head.addEventListener('click', () => {
    const body = head.closest('table').tBodies[0], at = head.cellIndex, down = head.dataset.sorted !== 'up';
    for (const other of head.parentNode.cells) delete other.dataset.sorted;
    head.dataset.sorted = down ? 'up' : 'down';
    const text = row => row.cells[at]?.textContent ?? '';
    body.append(...[...body.rows].sort((a, b) => (down ? 1 : -1) * compare(text(a), text(b))));
  });
}
for (const search of document.querySelectorAll('input.search'))
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\\s+/).filter(w => w);
    for (const row of search.nextElementSibling.tBodies[0].rows)
      row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
  });
"""
WHOLE = 24 # words up to this length are never broken: numbers are not, hashes are


def cell(kind, value):
    text = report.text(value)
    long = ' class="long"' if any(len(word) > WHOLE for word in text.split()) else ""
    return f"<{kind}{long}>{html.escape(text)}</{kind}>"


class Page:
    def __init__(self, title, subtitle):
        self.pictures = 0
        self.title, self.parts = title, [f"<h1>{html.escape(title)}</h1>", f'<p class="sub">{html.escape(subtitle)}</p>']

    def heading(self, text):
        self.parts.append(f"<h2>{html.escape(text)}</h2>")

    def text(self, text):
        self.parts.append(f"<p>{html.escape(text)}</p>")

    def list(self, lines):
        self.parts.append("<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>")

    def table(self, header, rows):
        head = "".join(cell("th", name) for name in header)
        body = "".join("<tr>" + "".join(cell("td", value) for value in row) + "</tr>\n" for row in rows)
        search = '<input class="search" type="search" placeholder="Rows that contain these words" aria-label="search">' if len(rows) >= MANY else ""
        self.parts.append(f"{search}<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>")

    def folded_table(self, title, header, rows):
        """Shown when its title is clicked, since it is long."""
        self.parts.append(f"<details><summary>{html.escape(title)}</summary>")
        self.table(header, rows)
        self.parts.append("</details>")

    def picture(self, fig, caption):
        """A figure of matplotlib: the same figure gives the same bytes."""
        import matplotlib
        drawn = io.StringIO()
        plot.lay_out(fig)
        with matplotlib.rc_context({"svg.hashsalt": self.title, "svg.fonttype": "path"}):
            fig.savefig(drawn, format="svg", metadata={"Date": None})
        svg = drawn.getvalue()
        self.pictures += 1
        moving = "" if live.problem() else live.place(fig, self.pictures)
        self.parts.append(f"<figure>{moving}<div class=\"still\">{svg[svg.index('<svg'):]}</div><figcaption>{html.escape(caption)}</figcaption></figure>")

    def write(self, path):
        if self.pictures and live.problem():
            self.text(live.problem())
        scripts = live.script() if self.pictures and not live.problem() else ""
        path.write_text("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
                        f"<title>{html.escape(self.title)}</title><style>{STYLE}</style></head><body>\n"
                        + "\n".join(self.parts) + f"\n<script>{TABLES}</script>\n{scripts}\n</body></html>\n", encoding="utf-8")
