"""One page of HTML that needs nothing but itself: text, tables and pictures, for a screen of 1280 pixels and for paper."""
# SPDX-License-Identifier: BSD-3-Clause
import html
import io

from common import report

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 1180px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; margin-bottom: 0; } h2 { font-size: 1.2em; margin: 1.8em 0 .4em; border-bottom: 1px solid #ccc; }
p.sub { color: #555; margin-top: .2em; } li { margin: .2em 0; }
table { border-collapse: collapse; margin: .6em 0; font-size: .9em; font-variant-numeric: tabular-nums; }
th, td { padding: .2em .7em; text-align: right; border-bottom: 1px solid #e4e4e4; } th { border-bottom: 1px solid #888; }
th:first-child, td:first-child { text-align: left; } tr { break-inside: avoid; }
figure { margin: .8em 0; break-inside: avoid; } figure svg { max-width: 100%; height: auto; } figcaption { color: #555; font-size: .9em; }
@media print { body { margin: 0; font-size: 11px; } h2 { break-after: avoid; } }
"""


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
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(report.text(cell))}</td>" for cell in row) + "</tr>\n" for row in rows)
        self.parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>")

    def picture(self, fig, caption):
        """A figure of matplotlib, as text: the same figure gives the same bytes."""
        import matplotlib
        drawn = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": self.title, "svg.fonttype": "path"}):
            fig.savefig(drawn, format="svg", metadata={"Date": None})
        svg = drawn.getvalue()
        self.parts.append(f"<figure>{svg[svg.index('<svg'):]}<figcaption>{html.escape(caption)}</figcaption></figure>")

    def write(self, path):
        path.write_text("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                        f"<title>{html.escape(self.title)}</title><style>{STYLE}</style></head><body>\n"
                        + "\n".join(self.parts) + "\n</body></html>\n", encoding="utf-8")
