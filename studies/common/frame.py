"""What every study does: options, sweep, study.json, tables, plot. A study is a module with

NAME                       its folder's name
options(words)             parsed arguments, of the command line if words is None
points(args)               what to run: a list of Point
check(result, folder)      raises StudyError where a run cannot be used
summarize(results)         of one point's runs: a dictionary of figures
figures(args, points)      rows of study.json, made by report.figure
show(points)               prints a table of the points
draw(points, path)         the plot, if it has one
page(args, sweep)          a page.Page for report.html, if it has one
facts(args)                more entries of study.json
derived(args, points)      the same of what was measured, if there is more than figures; the sentences of `conclusions` are printed
rows(figure)               the table in README files: (what, paper, here) in words; figure(name) is a measured value;
                           studies of no paper have none
tables(figures)            of the recorded figures: what studies/README.md shows of a study that has no rows
UNCERTAIN                  figure → factor of what the suite allows a figure to differ with other programs; 1 where it is not told
"""
# SPDX-License-Identifier: BSD-3-Clause
from common import plot, readme, report, runs
from common.sweep import Sweep


def run(study, words=None):
    args = study.options(words)
    sweep = Sweep(args, study.points(args), study.summarize, study.check).run()
    rows = study.figures(args, sweep.points)
    more = study.derived(args, sweep.points) if hasattr(study, "derived") else {}
    path = report.write(args.out, study.NAME, rows, seeds=args.seeds, clock="virtual", **study.facts(args), **sweep.facts(), **more)
    report.write_csv(args.out, sweep.facts()["points"])
    if any(row["paper"] is not None for row in rows):
        report.compare(rows)
        print()
    study.show(sweep.points)
    if more.get("conclusions"):
        print("\n" + "\n".join(f"- {line}" for line in more["conclusions"]))
    print(f"\nfigures: {path}" + drawn(study, args, sweep))
    code = sweep.end()
    if getattr(args, "update", False) and code == 0:
        readme.update(study.NAME, args.out)
    return code


def drawn(study, args, sweep):
    """Draws, if the study has a plot or a page and there is something to draw, and says where."""
    said = ""
    if sweep.points and hasattr(study, "draw"):
        picture = args.out / f"{study.NAME}.png"
        plot.try_to(lambda: study.draw(sweep.points, picture))
        said += f"   plot: {picture}"
    if sweep.points and hasattr(study, "page"):
        page = args.out / "report.html"
        plot.try_to(lambda: study.page(args, sweep).write(page))
        said += f"   report: {page}"
    return said


def main(study):
    runs.main(lambda: run(study))
