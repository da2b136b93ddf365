"""Figures of a study: study.json, the table on the terminal, and progress while it runs."""
# SPDX-License-Identifier: BSD-3-Clause
import csv
import json
import sys
import time


def has(figure, name):
    """figure: name → measured. Whether the form that was run has this one."""
    try:
        return figure(name) is not None
    except KeyError:
        return False


def figure(name, measured, unit, paper=None, note=None):
    """One row of study.json; paper is None if the paper gives no figure, measured if a point is
    missing."""
    row = {"name": name, "paper": paper, "measured": measured, "unit": unit}
    if note:
        row["note"] = note
    return row


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def kiops(result):
    """Reads and writes in a millisecond: of the steady state, or of the whole run where that reaches none."""
    ops = {kind: result["totals"][kind]["ops"] for kind in ("read", "write", "trim", "flush", "zone")}
    steady = result.get("steady", {}).get("iops")
    every = steady["mean"] / 1e3 if steady else sum(ops.values()) / result["elapsed_ns"] * 1e6
    return every * (ops["read"] + ops["write"]) / sum(ops.values())


def percent_more(a, b):
    """How much a is more than b, in %; None if one of them is missing."""
    return None if a is None or b is None else 100 * (a / b - 1)


def write(out, study, figures, **facts):
    """study.json: seeds, clock and configuration of the study, and its figures."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "study.json"
    path.write_text(json.dumps({"schema": "hartzone-study-1", "study": study, **facts, "figures": figures}, indent=2) + "\n",
                    encoding="utf-8")
    return path


def flat(values, prefix=""):
    """A point's figures as columns: parts of a dictionary by name, lists joined. Tables within a point are in study.json only."""
    out = {}
    for name, value in values.items():
        if isinstance(value, dict):
            out.update(flat(value, f"{prefix}{name}."))
        elif not isinstance(value, list):
            out[prefix + name] = value
        elif value and not any(isinstance(item, (dict, list)) for item in value):
            out[prefix + name] = " ".join(map(str, value))
    return out


def write_csv(out, points):
    """study.csv: a line for each point."""
    rows = [flat(point) for point in points]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with open(out / "study.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def compare(figures):
    """The table: the paper's figure next to ours, if it gives one."""
    table(["", "paper", "measured", "unit", "note"], [[f["name"], f["paper"], f["measured"], f["unit"], f.get("note", "")] for f in figures])


def table(header, rows):
    print("\n".join(table_lines(header, rows)))


def table_lines(header, rows):
    """Plain columns, numbers to the right."""
    cells = [[text(c) for c in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = ["  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip() for row in cells]
    return [lines[0], "  ".join("-" * w for w in widths), *lines[1:]]


def text(value):
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


class Progress:
    """'3/12 name, about 40 s left' on one line of a terminal; an occasional line elsewhere."""

    EVERY_S = 30

    def __init__(self, total):
        self.total, self.done, self.start = total, 0, time.monotonic()
        self.due = self.start + self.EVERY_S

    def step(self, name):
        now = time.monotonic()
        left = (now - self.start) / self.done * (self.total - self.done) if self.done else None
        text = f"{self.done + 1}/{self.total} {name}" + (f", about {left:.0f} s left" if left is not None else "")
        if sys.stderr.isatty():
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
        elif now >= self.due:
            print(text, file=sys.stderr, flush=True)
            self.due = now + self.EVERY_S
        self.done += 1

    def end(self):
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
