"""A self-contained page of HTML: text, tables and pictures, for a screen of 1280 pixels and for
paper."""
# SPDX-License-Identifier: BSD-3-Clause
import html
import io
import pathlib

from common import plot, report

STYLE = (pathlib.Path(__file__).resolve().parents[2] / "host-driver/report/report.css").read_text(encoding="utf-8")  # of run pages too


WHOLE = 24 # words up to this length are never broken: numbers are not, hashes are


def cell(kind, value):
    text = report.text(value)
    long = ' class="long"' if any(len(word) > WHOLE for word in text.split()) else ""
    return f"<{kind}{long}>{html.escape(text)}</{kind}>"


class Page:
    def __init__(self, title, subtitle):
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
        self.parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>")

    def folded_table(self, title, header, rows):
        """Shown when its title is clicked, since it is long."""
        self.parts.append(f"<details><summary>{html.escape(title)}</summary>")
        self.table(header, rows)
        self.parts.append("</details>")

    def picture(self, fig, caption):
        """A figure of matplotlib, as text: the same figure gives the same bytes."""
        import matplotlib
        drawn = io.StringIO()
        plot.lay_out(fig)
        with matplotlib.rc_context({"svg.hashsalt": self.title, "svg.fonttype": "path"}):
            fig.savefig(drawn, format="svg", metadata={"Date": None})
        svg = drawn.getvalue()
        self.parts.append(f"<figure>{svg[svg.index('<svg'):]}<figcaption>{html.escape(caption)}</figcaption></figure>")

    def write(self, path):
        path.write_text("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                        f"<title>{html.escape(self.title)}</title><style>{STYLE}</style></head><body>\n"
                        + "\n".join(self.parts) + "\n</body></html>\n", encoding="utf-8")
